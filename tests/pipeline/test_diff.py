# SPDX-License-Identifier: BSD-3-Clause
"""Two runs: changes, their intervals, and what both files share."""

import json

import numpy as np
import polars as pl
import pytest

from tests.extended import RUNS_ALL
from tiebreak import BradleyTerry, Pairs
from tiebreak.io import FileError, ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.diff import diff_files, shared_rows
from tiebreak.ratings.changes import (
    Rated,
    find_changes,
)

NAMES = np.array([f"item {k}" for k in range(8)])


def draw(rng, theta, n, opinion=None):
    """Draw results of Davidson's model, of raters with opinions if there are any."""
    n_items = len(theta)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d, columns = theta[right] - theta[left], {}
    if opinion is not None:
        rater = rng.integers(0, len(opinion), n)
        d = d + opinion[rater, right] - opinion[rater, left]
        columns["rater"] = rater
    odds = np.stack([np.exp(-d / 2), np.full(n, 0.7), np.exp(d / 2)], axis=1)
    share = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :2]
    y = (rng.random((n, 1)) > share).sum(axis=1) - 1
    sides = {"left": NAMES[left], "right": NAMES[right]}
    words = np.array(["left", "tie", "right"])[y + 1]
    return pl.DataFrame(sides | {"outcome": words} | columns)


@pytest.fixture
def written(tmp_path):
    """Give a function that writes tables and gives their paths."""

    def write(**tables):
        paths = []
        for name, table in tables.items():
            paths.append(tmp_path / f"{name}.csv")
            table.write_csv(paths[-1])
        return paths

    return write


def compare(paths, **options):
    reference = options.pop("reference", None)
    asked = RankOptions(**options)
    return diff_files(*paths, ReadOptions(), asked, reference=reference)


def test_changes_are_those_of_two_fits(rng, written):
    theta = rng.normal(size=5)
    old, new = draw(rng, theta, 800), draw(rng, theta + 1.5 * (np.arange(5) == 0), 900)
    found = compare(written(old=old, new=new), ties="davidson")
    models = []
    for table in (old, new):
        y = table["outcome"].replace_strict({"left": -1, "tie": 0, "right": 1})
        pairs = Pairs(None, table["left"].to_numpy(), table["right"].to_numpy())
        models.append(BradleyTerry("davidson", alpha=0).fit(pairs, y.to_numpy()))
    place = [dict(zip(m.items_.tolist(), m.strength_, strict=True)) for m in models]
    unit = 400 / np.log(10)
    for row in found.changes.iter_rows(named=True):
        change = unit * (place[1][row["item"]] - place[0][row["item"]])
        assert row["change"] == pytest.approx(change, abs=1e-6)
        assert row["rating_new"] - row["rating_old"] == pytest.approx(change, abs=1e-6)
    # Independent samples: variances add up.
    errors = [
        dict(zip(m.items_.tolist(), np.diag(m.covariance()), strict=True))
        for m in models
    ]
    for row in found.changes.iter_rows(named=True):
        error = unit * np.sqrt(errors[0][row["item"]] + errors[1][row["item"]])
        assert row["upper"] - row["lower"] == pytest.approx(2 * 1.96 * error, rel=1e-4)
    best = found.changes.filter(pl.col("item") == "item 0").row(0, named=True)
    assert best["more_than_noise"] and best["change"] > 150
    assert found.notes[-1].startswith("Nothing is taken to be in both")


def test_items_that_come_and_go_and_another_zero(rng, written):
    theta = rng.normal(size=6)
    old = draw(rng, theta, 600).filter(
        pl.all_horizontal(pl.col("left", "right") != NAMES[0])
    )
    new = draw(rng, theta, 600).filter(
        pl.all_horizontal(pl.col("left", "right") != NAMES[1])
    )
    paths = written(old=old, new=new)
    found = compare(paths)
    assert (found.new, found.lost) == ([NAMES[0]], [NAMES[1]])
    assert set(found.changes["item"]) == set(NAMES[2:6])
    assert found.changes["change"].sum() == pytest.approx(0, abs=1e-6)
    moved = compare(paths, reference="item 2")
    row = moved.changes.filter(pl.col("item") == NAMES[2]).row(0, named=True)
    assert (row["change"], row["lower"], row["p_value"]) == (0, 0, 1)
    with pytest.raises(ValueError, match="reference 'item 0' is not in both"):
        compare(paths, reference="item 0")
    with pytest.raises(ValueError, match="have 0 item"):
        other = old.with_columns(pl.col("left", "right").str.to_uppercase())
        compare(written(old=old, other=other))


def test_rows_of_both_files_are_found(rng):
    kinds = rng.integers(0, 30, 2000).astype(np.uint64)
    nothing = shared_rows(kinds[:1000], kinds[1000:])
    assert len(nothing[0]) == 0
    for old, new in (
        (kinds[:800], kinds),  # appended to
        (kinds[1200:], kinds),  # the newest first
        (kinds[:1200], kinds[700:]),  # a window that moved
        (kinds[700:], kinds[:1200]),
    ):
        first, second = shared_rows(old, new)
        assert len(first) == len(second) > 400
        assert (old[first] == new[second]).all()
    assert len(shared_rows(kinds, kinds)[0]) == 2000
    # Two kinds of rows are equal by chance.
    few = np.array([1, 2, 1, 2, 1, 2, 1], dtype=np.uint64)
    assert len(shared_rows(few, few[1:])[0]) == 0
    own = rng.permutation(5000).astype(np.uint64)
    first, second = shared_rows(
        rng.permutation(own[:3000]), rng.permutation(own[2000:])
    )
    assert len(first) == 1000


def test_a_file_that_was_added_to_is_no_independent_sample(rng, written):
    theta = rng.normal(size=6)
    rows = draw(rng, theta, 2000)
    paths = written(old=rows.head(1000), new=rows)
    found = compare(paths, ties="davidson")
    assert "The new file has all rows of the old one." in found.notes
    apart = compare(written(old=rows.head(1000), new=rows.reverse()), ties="davidson")
    width = (pl.col("upper") - pl.col("lower")).mean()
    narrow, wide = (f.changes.select(width).item() for f in (found, apart))
    # Var(new - old) = Var(old) - Var(new): here half of Var(old), not three halves.
    assert narrow == pytest.approx(wide * np.sqrt((1 - 0.5) / (1 + 0.5)), rel=0.1)
    same = compare(written(old=rows, new=rows))
    assert (same.changes["change"] == 0).all() and (same.changes["p_value"] == 1).all()
    assert (same.changes["upper"] == 0).all()


def worlds(rng, written, n_old, n_new, overlap=False, raters=0, **options):
    """Say in how many worlds without a change one is more than noise."""
    fired, covered = [], []
    for _ in range(120):
        theta = rng.normal(size=6)
        opinion = rng.normal(0, 0.8, (raters, 6)) if raters else None
        old, new = (draw(rng, theta, n, opinion) for n in (n_old, n_new))
        paths = written(old=old, new=pl.concat([old, new]) if overlap else new)
        table = compare(paths, ties="davidson", **options).changes
        fired.append(table["more_than_noise"].any())
        covered.append(((table["lower"] <= 0) & (table["upper"] >= 0)).mean())
    return np.mean(fired), np.mean(covered)


CASES = {
    "halves": {"n_old": 600, "n_new": 600},
    "unequal": {"n_old": 300, "n_new": 2000},
    "contained": {"n_old": 600, "n_new": 300, "overlap": True},
    "raters": {"n_old": 1500, "n_new": 1500, "raters": 50},
    "prior": {"n_old": 50, "n_new": 800, "settings": {"alpha": 0.056}},
}


@pytest.mark.extended
@pytest.mark.parametrize("case", CASES)
def test_unchanged_worlds_have_changes_in_at_most_five_percent(rng, written, case):
    fired, covered = worlds(rng, written, **CASES[case])
    assert fired <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)
    assert 0.92 <= covered <= 0.99


def test_files_that_need_a_prior_have_a_wide_one_both(rng, written):
    theta = rng.normal(size=5)
    old = pl.DataFrame({"left": ["item 0"] * 3, "right": NAMES[1:4], "outcome": "left"})
    found = compare(written(old=old, new=draw(rng, theta, 400)))
    assert any("strengths need a prior" in note for note in found.notes)
    assert not found.changes["more_than_noise"].any()
    learned = compare(
        written(old=old, new=draw(rng, theta, 400)), settings={"alpha": "auto"}
    )
    assert any("that looks like a change" in note for note in learned.notes)


def test_both_are_fitted_with_the_same_model_of_ties(rng, written):
    theta = np.linspace(-1.5, 1.5, 6)
    for _ in range(6):  # of which some would choose differently
        tables = draw(rng, theta, 1000), draw(rng, theta, 1000)
        found = compare(written(old=tables[0], new=tables[1]))
        spread = [found.changes[f"rating_{which}"].std() for which in ("old", "new")]
        assert 0.7 < spread[0] / spread[1] < 1.4


def test_results_and_models_and_the_exit_code(run, rng, tmp_path, written):
    theta = rng.normal(size=5)
    better = theta + np.array([0, 0, 0, 0, 1.5])
    old, new = draw(rng, better, 700), draw(rng, theta, 700)
    paths = written(old=old, new=new)
    results = []
    for path in paths:
        out = tmp_path / path.stem
        done = run("rank", path, "--out", out, "--json", "--ties", "davidson")
        assert done.code == 0, done.stderr
        results.append(tmp_path / f"{path.stem}.json")
        results[-1].write_text(done.stdout)
    plain = run(
        "diff", *paths, "--fail-if-worse", "item 4", "--json", "--ties", "davidson"
    )
    assert plain.code == 7, plain.stderr
    found = json.loads(plain.stdout)
    assert found["worse"] == ["item 4"]
    change = {row["item"]: row for row in found["changes"]}
    kinds = (results, [tmp_path / "old", tmp_path / "new"], [paths[0], results[1]])
    for pair in kinds if RUNS_ALL else kinds[:1]:
        done = run("diff", *pair, "--json")
        assert done.code == 0, done.stderr
        other = json.loads(done.stdout)
        for row in other["changes"]:
            ours = change[row["item"]]
            assert row["change"] == pytest.approx(ours["change"], abs=15)
            width = ours["upper"] - ours["lower"]
            assert row["upper"] - row["lower"] == pytest.approx(width, rel=0.2)
    done = run("diff", *paths, "--fail-if-worse", "item 0")
    assert done.code == 0, done.stderr
    assert "Worse, by more than noise: item 4." in " ".join(done.stdout.split())
    done = run("diff", *paths, "--fail-if-worse", "nobody")
    assert (done.code, done.stdout) == (4, "")
    assert "'nobody', which is not in both" in done.stderr
    done = run("diff", paths[0], tmp_path / "no.csv")
    assert done.code == 3
    assert run("diff", *paths, "--ties", "x").code == 2


def test_what_cannot_be_compared(rng, tmp_path, written):
    [path] = written(old=draw(rng, rng.normal(size=4), 200))
    board = json.dumps({"leaderboard": [{"item": "a", "rating": 1, "lower": None,
                        "upper": None, "rank": 1}], "level": 0.95})  # fmt: skip
    (tmp_path / "elo.json").write_text(board)
    with pytest.raises(FileError, match="no intervals"):
        compare([path, tmp_path / "elo.json"])
    graded = tmp_path / "graded.csv"
    graded.write_text("query,grade,x\n1,2,3\n1,1,2\n")
    with pytest.raises(FileError, match="expected one comparison per row"):
        compare([path, graded])
    rated = Rated(["a", "b"], np.array([1, 2]), np.zeros(2), np.eye(2))
    other = find_changes(rated, rated)
    assert other["change"].to_list() == [0, 0]
    with pytest.raises(ValueError, match="margin of error"):
        Rated.of(None)
