# SPDX-License-Identifier: BSD-3-Clause
"""``--items``: features from a second file, in the commands that take it."""

import json

import numpy as np
import polars as pl
import pytest

from tiebreak import LogisticCompare, Pairs, load
from tiebreak.io import ReadOptions, read_file
from tiebreak.pipeline.held_out import columns_for, fit_data, predict_held_out
from tiebreak.pipeline.leaderboard import item_utilities
from tiebreak.pipeline.models import choose_model, fitting_models
from tiebreak.pipeline.source import Source

NAMES = np.array(["Ada", "Bo", "=cmd", "<b>Cy</b>", "Dée", "a,b"])


@pytest.fixture
def files(tmp_path):
    """Write votes with weights, and a table of their items and of two more."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 2))
    left = rng.integers(0, 6, 240)
    right = (left + rng.integers(1, 6, 240)) % 6
    u = X @ [1, -0.5]
    d = u[right] - u[left] + rng.logistic(size=240)
    outcome = np.where(np.abs(d) < 0.5, "tie", np.where(d > 0, "right", "left"))
    votes = pl.DataFrame(
        {
            "left": NAMES[left],
            "right": NAMES[right],
            "outcome": outcome,
            "weight": rng.integers(1, 4, 240),
        }
    )
    votes.write_csv(tmp_path / "votes.csv")
    items = pl.DataFrame(
        {
            "item": [*NAMES, "New", "Newer"],
            "x": X[:, 0],
            "z": X[:, 1] * 100,
            "organic": ["yes", "no"] * 4,
        }
    )
    items.write_csv(tmp_path / "items.csv")
    return tmp_path / "votes.csv", tmp_path / "items.csv"


@pytest.fixture
def known(files):
    return read_file(files[0], ReadOptions(items=files[1])).data


def test_all_items_of_the_table_are_read(known):
    assert known.names.tolist() == [*NAMES, "New", "Newer"]
    assert known.items.feature_names == ("x", "z", "organic")
    assert known.touched().tolist() == [*range(6)]
    named = known.by_name().pairs
    assert named.names.tolist() == NAMES.tolist()
    assert not named.has_features
    sides = named.names[named.left]
    assert sides.tolist() == known.pairs.names[known.pairs.left].tolist()


def test_the_default_learns_from_features_and_names(known):
    source = Source(known, [])
    choice = choose_model("auto", source)
    assert choice.name == "logistic-compare"
    assert choice.model[-1].identity == 1.0
    assert "features and names" in choice.reason
    fitting = fitting_models(source)
    assert {"logistic-compare", "rank-svm", "svm-compare"} <= set(fitting)
    assert not {"elo", "swap-svm", "threshold-compare"} & set(fitting)
    with pytest.raises(ValueError, match="names only; leave --items out"):
        choose_model("elo", source)
    assert choose_model("elo", source, None, by_name_too=True).name == "elo"


def test_a_choice_is_refused_in_words(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("home,away,winner\nAda,Bo,Ada\n")
    named = Source(read_file(path).data, [])
    with pytest.raises(
        ValueError, match="does not learn from comparisons of items without"
    ):
        choose_model("logistic-compare", named)
    elo = choose_model("elo", named)
    assert elo.model.advantage == "auto"
    for choice in (elo, choose_model("bradley-terry", named)):
        assert "advantage" not in choice.reason
    path.write_text("query,grade,x\nq,1,5\nq,2,6\n")
    choice = choose_model("auto", Source(read_file(path).data, []))
    assert choice.name == "rank-svm" and choice.model[-1].kernel == "linear"


def test_a_pipeline_is_fitted_with_the_weights(known):
    model = choose_model("logistic-compare", Source(known, [])).model
    fitted = fit_data(model, known)
    weight = known.weight.astype(int)
    rows = np.repeat(np.arange(len(weight)), weight)
    again = choose_model("logistic-compare", Source(known, [])).model
    again.fit(known.pairs[rows], known.y[rows])
    np.testing.assert_allclose(fitted[-1].coef_, again[-1].coef_, rtol=1e-6)
    plain = choose_model("logistic-compare", Source(known, [])).model.fit(
        known.pairs, known.y
    )
    assert np.abs(plain[-1].coef_ - fitted[-1].coef_).max() > 1e-3


def test_held_out_rows_are_weighted_in_training_too(known):
    model = choose_model("logistic-compare", Source(known, [])).model
    result = predict_held_out({"logistic": model}, known)
    assert len(result.row) == 240
    first = result.row[result.split == 0]
    train = np.setdiff1d(np.arange(240), first)
    weight = known.weight
    steps = columns_for(model, {"sample_weight": weight[train]})
    expected = model.fit(known.pairs[train], known.y[train], **steps)
    np.testing.assert_allclose(
        result.proba["logistic"][result.split == 0],
        expected.predict_proba(known.pairs[first]),
        atol=1e-9,
    )


def test_rank_then_evaluate_then_predict(run, files, known, tmp_path):
    votes, items = files
    out = tmp_path / "out"
    done = run("rank", votes, "--items", items, "--out", out)
    assert done.code == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "items.csv has 8 items, named by item, with 3 features" in text
    assert "In organic, true and false became 1 and 0." in text
    assert "2 items of the table are in no comparison" in text
    assert "Model: logistic-compare, as items have features and names" in text
    model = load(out / "model.tiebreak")
    names = known.pairs.names
    found = item_utilities(model, known.items, names)
    # The same model by hand: scaled features of the compared items, and the weights.
    X = known.items.values
    seen = X[:6]
    scaled = (X - seen.mean(axis=0)) / seen.std(axis=0)
    pairs = Pairs(scaled, known.pairs.left, known.pairs.right, names=names)
    weight = known.weight
    expected = LogisticCompare(identity=1.0).fit(pairs, known.y, sample_weight=weight)
    np.testing.assert_allclose(found, expected.utility(scaled, names), atol=1e-6)

    saved = out / "model.tiebreak"
    done = run("evaluate", saved, votes, "--items", items, "--json")
    assert done.code == 0, done.stderr
    right = expected.predict(pairs) == known.y
    accuracy = np.average(right, weights=weight)
    assert json.loads(done.stdout)["model"]["accuracy"] == pytest.approx(accuracy)

    asked = tmp_path / "asked.csv"
    asked.write_text("left,right\nNewer,New\nAda,New\n")
    done = run("predict", saved, asked, "--items", items, "--json")
    assert done.code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "rated by features alone: 'New', 'Newer'" in " ".join(answer["recognized"])
    difference = [row["difference"] for row in answer["predictions"]]
    assert difference == pytest.approx([found[6] - found[7], found[6] - found[0]])


def test_compare_has_models_of_names_and_of_features(run, files):
    models = "logistic-compare identity=1,logistic-compare,bradley-terry"
    done = run("compare", files[0], "--items", files[1], "--models", models, "--json")
    assert done.code == 0, done.stderr
    table = json.loads(done.stdout)["table"]
    assert [row["model"] for row in table] == [*models.split(","), "baseline"]
    assert {row["n_test"] for row in table} == {240}


def test_convert_writes_the_features_of_both_sides(run, files, tmp_path, known):
    out = tmp_path / "wide.csv"
    assert run("convert", files[0], out, "--items", files[1]).code == 0
    found = pl.read_csv(out)
    assert found.columns[-6:] == [
        "x of left", "x of right", "z of left", "z of right",
        "organic of left", "organic of right",
    ]  # fmt: skip
    rows = np.asarray(known.pairs)
    np.testing.assert_allclose(found["z of right"], rows[:, 1, 1])
    assert "'=cmd" in found["left"].to_list()
    again = read_file(out)
    assert again.data.y.tolist() == known.y.tolist()
