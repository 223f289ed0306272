# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak predict``: answers of saved models, and model files that are none."""

import json
import zipfile

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Elo,
    LogisticCompare,
    MajorityCompare,
    OnItems,
    Pairs,
    RankSVM,
    save,
)
from tiebreak.data.items import as_items
from tiebreak.io import FileError, Wanted
from tiebreak.metrics.scorers import difference_of
from tiebreak.pipeline.leaderboard import item_utilities, ranks_within
from tiebreak.pipeline.saved_model import load_model

NAMES = np.array(
    ["Ada", "=cmd", "[red]Bo[/red]", "<b>Cy</b>", "\x1b[31mDi", "עברית", "🍣" * 60]
)


@pytest.fixture
def results():
    """Give comparisons of nasty names, of which none wins or loses everything."""
    rng = np.random.default_rng(1)
    left = rng.integers(0, 7, 400)
    right = (left + rng.integers(1, 7, 400)) % 7
    d = (right - left) / 4 + rng.logistic(size=400)
    y = np.where(np.abs(d) < 0.6, 0, np.sign(d)).astype(int)
    return Pairs(None, NAMES[left], NAMES[right]), y


def last_line(done):
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_pairs_of_names(run, results, tmp_path):
    pairs, y = results
    model = BradleyTerry().fit(pairs, y)
    save(model, tmp_path / "model")
    asked = pairs[:25]
    names = asked.names
    frame = pl.DataFrame(
        {
            "left": names[asked.left].tolist(),
            "right": names[asked.right].tolist(),
            "outcome": ["nobody knows"] * 25,
        }
    )
    frame.write_csv(tmp_path / "asked.csv")

    done = run("predict", tmp_path / "model", tmp_path / "asked.csv")
    assert done.code == 0, done.stderr
    assert "Not looked at: outcome." in done.stdout
    assert "5 more rows are not shown" in done.stdout
    assert "[red]Bo[/red]" in done.stdout
    assert "<b>Cy</b>" in done.stdout
    assert "\x1b" not in done.stdout
    assert "🍣" * 40 not in done.stdout

    done = run("predict", tmp_path / "model", tmp_path / "asked.csv", "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    rows = found["predictions"]
    assert found["n"] == len(rows) == 25
    assert [row["left"] for row in rows] == names[asked.left].tolist()
    words = np.array(["left", "tie", "right"])[model.predict(asked) + 1]
    assert [row["predicted"] for row in rows] == words.tolist()
    shares = [[row[f"p_{word}"] for word in ("left", "tie", "right")] for row in rows]
    np.testing.assert_allclose(shares, model.predict_proba(asked), atol=1e-12)
    difference = [row["difference"] for row in rows]
    np.testing.assert_allclose(difference, model.difference(asked), atol=1e-12)


def test_names_that_the_model_has_not_seen(run, results, tmp_path):
    pairs, y = results
    save(BradleyTerry().fit(pairs, y), tmp_path / "model")
    save(Elo(unseen="prior").fit(pairs, y), tmp_path / "elo")
    asked, out = tmp_path / "asked.csv", tmp_path / "out.csv"
    asked.write_text("a,b\nAda,Zoe\nYves,'=cmd\nZoe,Yves\n")
    options = ("--left", "a", "--right", "b", "--out", out)
    done = run("predict", tmp_path / "model", asked, *options)
    assert done.code == 4
    assert "has not seen 2 items: 'Zoe', 'Yves'" in last_line(done)
    assert not out.exists()
    done = run("predict", tmp_path / "elo", asked, *options)
    assert done.code == 0, done.stderr
    assert "2 items new to the model, rated as newcomers: 'Zoe', 'Yves'" in done.stdout
    written = pl.read_csv(out)
    assert written.columns == [
        "left", "right", "predicted", "p_left", "p_tie", "p_right", "difference",
    ]  # fmt: skip
    assert written["difference"][2] == 0
    # A cell that a spreadsheet would run is made text.
    assert written["right"].to_list() == ["Zoe", "'=cmd", "Yves"]


def test_an_advantage_counts_where_the_model_knows_it(run, results, tmp_path):
    pairs, y = results
    home = np.ones(len(y))
    model = BradleyTerry().fit(pairs, np.where(y == 0, -1, y), advantage=home)
    save(model, tmp_path / "model")
    asked, out = tmp_path / "asked.csv", tmp_path / "out.parquet"
    asked.write_text("home,away,neutral\nAda,=cmd,no\nAda,=cmd,yes\n")
    done = run("predict", tmp_path / "model", asked, "--out", out, "-q")
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    found = pl.read_parquet(out)
    difference = found["difference"].to_numpy()
    assert difference[1] - difference[0] == pytest.approx(model.advantage_)
    assert found["right"].to_list() == ["=cmd", "=cmd"]
    asked.write_text("left,right\nAda,=cmd\n")
    done = run("predict", tmp_path / "model", asked, "--json")
    said = json.loads(done.stdout)
    assert said["predictions"][0]["difference"] == pytest.approx(difference[1])
    assert said["recognized"][-1].endswith(
        "so none is counted; columns named home and away say it, or --advantage."
    )
    done = run("predict", tmp_path / "model", asked, "--out", tmp_path / "out.txt")
    assert "must end with .csv, .tsv or .parquet" in done.line
    assert not (tmp_path / "out.txt").exists()


@pytest.fixture
def wines(tmp_path):
    """Save a model of features and names, and a table of items to ask about."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6, 2)) * [1, 100]
    left = rng.integers(0, 6, 200)
    right = (left + rng.integers(1, 6, 200)) % 6
    u = X @ [1, 0.01]
    y = np.sign(u[right] - u[left] + rng.logistic(size=200)).astype(int)
    frame = pl.DataFrame(X, schema=["alcohol", "sugar"])
    pairs = Pairs(frame, NAMES[left], NAMES[right], names=NAMES[:6])
    model = make_pipeline(OnItems(StandardScaler()), LogisticCompare(identity=1.0))
    save(model.fit(pairs, y), tmp_path / "model")
    return model, pairs


def test_items_with_features(run, wines, tmp_path):
    model, _ = wines
    asked = tmp_path / "items.csv"
    asked.write_text(
        "session_id,item,sugar,alcohol,grade\n"
        "s,Ada,10,1,0\nt,Ada,10,1,0\ns,New,10,1,x\ns,Newer,10,1,x\nt,Other,-5,0,1\n"
    )
    done = run("predict", tmp_path / "model", asked, "--json")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    rows = found["predictions"]
    assert list(rows[0]) == ["query", "item", "utility", "rank"]
    assert [row["query"] for row in rows] == ["s", "t", "s", "s", "t"]
    # What the features say is scaled by the pipeline; only Ada has more than that.
    scaler, last = model[0].transformer_, model[-1]
    scaled = (np.array([[1, 10], [0, -5]]) - scaler.mean_) / scaler.scale_
    plain = scaled @ last.coef_
    own = last.item_effect_[last.effect_names_.tolist().index("Ada")]
    assert [row["utility"] for row in rows] == pytest.approx(
        [plain[0] + own, plain[0] + own, plain[0], plain[0], plain[1]]
    )
    better = 1 if own > 0 else 3
    assert [row["rank"] for row in rows if row["query"] == "s"] == (
        [1, 2, 2] if better == 1 else [3, 1, 1]
    )
    text = " ".join(found["recognized"])
    assert "3 items new to the model, rated by features alone: 'New', 'Newer'" in text
    assert "was not fitted on them: grade" in text


def test_a_model_file_that_is_none_is_one_line(run, wines, tmp_path):
    asked = tmp_path / "items.csv"
    asked.write_text("item,sugar,alcohol\nAda,10,1\n")
    whole = (tmp_path / "model").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="damaged") as caught:
        load_model(tmp_path / "cut")
    assert str(caught.value).count(str(tmp_path / "cut")) == 1
    # A file that is well formed and holds weights of another length.
    with (
        zipfile.ZipFile(tmp_path / "model") as source,
        zipfile.ZipFile(tmp_path / "hostile", "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".npy"):
                array = np.load(source.open(name))
                if array.dtype == float and array.shape == (2,):
                    with target.open(name, "w") as stream:
                        np.save(stream, np.full(3, np.nan))
                    continue
            target.writestr(name, content)
    done = run("predict", tmp_path / "hostile", asked)
    assert done.code == 3
    assert f"{tmp_path / 'hostile'}: has in LogisticCompare.coef_" in last_line(done)


def test_a_folder_and_a_transformer_are_no_models(tmp_path):
    with pytest.raises(FileError, match="Is a directory"):
        load_model(tmp_path)
    with pytest.raises(FileError, match="No such file"):
        load_model(tmp_path / "absent")
    table = as_items([[1.0], [2.0]])
    save(OnItems(StandardScaler()).fit(table), tmp_path / "scaler")
    with pytest.raises(FileError, match="holds OnItems, which predicts nothing"):
        load_model(tmp_path / "scaler")


def test_what_a_model_asks_for(wines, tmp_path):
    saved = load_model(tmp_path / "model")
    assert saved.wanted == Wanted(2, ("alcohol", "sugar"))
    assert saved.known == set(NAMES[:6])
    with pytest.raises(ValueError, match="--items"):
        saved.check(Pairs(None, ["Ada"], ["Bo"]))
    pairs = Pairs([[1.0], [2.0]], [0, 1], [1, 0])
    save(RankSVM(kernel="linear").fit(pairs, [1, -1]), tmp_path / "unnamed")
    unnamed = load_model(tmp_path / "unnamed")
    assert (unnamed.wanted, unnamed.known) == (Wanted(1), None)
    save(MajorityCompare().fit(Pairs(None, ["a"], ["b"]), [1]), tmp_path / "majority")
    majority = load_model(tmp_path / "majority")
    assert (majority.wanted, majority.known) == (None, None)
    assert majority.check(Pairs(None, ["x"], ["y"])) == []
    with pytest.raises(ValueError, match="only features"):
        majority.check(pairs)


def test_names_that_are_numbers_in_the_model_are_text_in_a_file(tmp_path):
    games = Pairs(None, np.array([7, 8, 7]), np.array([8, 9, 9]))
    model = RankSVM(kernel="linear").fit(games, [-1, -1, -1])
    save(model, tmp_path / "model")
    saved = load_model(tmp_path / "model")
    asked = saved.own_pairs(Pairs(None, ["7"], ["9"]))
    assert saved.check(asked) == []
    assert saved.model.predict(asked).tolist() == [-1]
    with pytest.raises(ValueError, match="has not seen 1 item: '10'"):
        saved.check(saved.own_pairs(Pairs(None, ["7"], ["10"])))


def test_utilities_are_what_differences_are_made_of(wines):
    model, pairs = wines
    found = item_utilities(model, pairs.items, pairs.names)
    difference = found[pairs.right] - found[pairs.left]
    np.testing.assert_allclose(difference, difference_of(model, pairs), atol=1e-12)
    plain = item_utilities(model, pairs.items)
    np.testing.assert_allclose(found - plain, model[-1].item_effect_, atol=1e-12)


def test_ranks_within_groups(rng):
    utility = rng.integers(0, 4, 60).astype(float)
    group = rng.integers(0, 5, 60)
    naive = [1 + sum((utility > utility[i]) & (group == group[i])) for i in range(60)]
    assert ranks_within(utility, group).tolist() == naive
