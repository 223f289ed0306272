# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import numpy as np
import pytest

from tests.ratings.test_prior_by import two_classes
from tiebreak import BradleyTerry, rank
from tiebreak.io import ReadOptions, read_file
from tiebreak.options import RankOptions
from tiebreak.pipeline.held_out import (
    check_data,
    fit_data,
    predict_held_out,
)
from tiebreak.pipeline.order_quality import score_order
from tiebreak.pipeline.read import select_rows


@pytest.fixture
def panel():
    """Six products in the order of their quality, scored by twelve people."""
    rng = np.random.default_rng(0)
    return np.round(7 - np.arange(6) + rng.normal(size=(12, 6)), 1)


def long_table(score):
    rows = [f"person {p},item {i},{score[p, i]}" for p in range(12) for i in range(6)]
    return "person,item,score\n" + "\n".join(rows) + "\n"


def wide_table(score):
    rows = [f"person {p}," + ",".join(map(str, row)) for p, row in enumerate(score)]
    return "person,oat,rye,rice,corn,soy,teff\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(("highest", "has_gain"), [(31.0, True), (32.0, False)])
def test_gains_are_those_of_small_grades(highest, has_gain):
    y, qid = np.array([0.0, 1.0, highest]), np.zeros(3, dtype=int)
    ours = score_order(y, {"model": y}, qid, ["a"]).table.row(0, named=True)
    best = dict.fromkeys(("ndcg_5", "ndcg_10", "map", "mrr"), 1)
    expected = {"model": "model", "n_test": 3, "swapped_pairs": 0}
    assert ours == expected | (best if has_gain else {})


@pytest.mark.parametrize(
    ("write", "kind"), [(long_table, None), (wide_table, None), (long_table, "orders")]
)
def test_sides_of_scores_and_lists_mean_nothing(write, kind, panel, tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text(write(panel))
    known = select_rows(read_file(file, ReadOptions(kind=kind)), RankOptions())
    report = check_data(known)
    assert report.n_comparisons == 12 * 15
    assert report.position is None
    assert not {"position", "one_sided"} & {f.code for f in report.findings}


def test_lists_are_no_raters_with_one_vote():
    ballots = {"1st": ["a", "b", "a", "c"], "2nd": ["b", "a", "c", "a"]}
    lists = select_rows(
        read_file(ballots, ReadOptions(unlisted="unknown")), RankOptions()
    )
    assert "one_vote" not in {f.code for f in check_data(lists).findings}


def test_sides_of_comparisons_are_looked_at(tmp_path):
    file = tmp_path / "games.csv"
    rows = ["a,b,left", "b,a,left", "a,b,left", "b,a,left", "b,a,right"] * 8
    file.write_text("left,right,outcome\n" + "\n".join(rows) + "\n")
    report = check_data(select_rows(read_file(file), RankOptions()))
    assert report.position.share == pytest.approx(0.8)
    assert "position" in {f.code for f in report.findings}


def test_rows_of_a_unit_are_held_out_together(tmp_path):
    file, rng = tmp_path / "votes.csv", np.random.default_rng(0)
    rows = []
    for task in range(40):
        left, right = rng.choice(["a", "b", "c"], 2, replace=False)
        rows += 3 * [f"{left},{right},{rng.choice(['left', 'right'])},t{task}"]
    file.write_text("left,right,outcome,task\n" + "\n".join(rows))
    data = read_file(file, ReadOptions(unit="task")).data
    assert np.bincount(data.together).tolist() == [3] * 40
    result = predict_held_out({"bt": BradleyTerry()}, data)
    unit = data.together[result.row]
    assert len(np.unique([unit, result.split], axis=1).T) == 40
    assert fit_data(BradleyTerry(), data).unit_counts_.shape[0] == 40
    unit = np.append(np.full(7, "x"), np.arange(113).astype(str))
    unit[-1] = "x"  # begins before the last block, and ends in it
    columns = {"period": np.arange(120), "unit": unit}
    dated = replace(data, columns=data.columns | columns)
    result = predict_held_out({"bt": BradleyTerry()}, dated)
    n_train = result.by_split.filter(model="bt")["n_train"]
    assert n_train.to_list() == [60, 72, 84, 96, 101]
    with pytest.raises(ValueError, match="4 units, of which none can be spared"):
        predict_held_out({"bt": BradleyTerry()}, data.take(np.arange(12)))


def test_classes_of_items_come_from_their_table(tmp_path):
    pairs, y, classes, _ = two_classes(1)
    votes, items = tmp_path / "votes.csv", tmp_path / "items.csv"
    rows = zip(pairs.left, pairs.right, np.where(y < 0, "left", "right"), strict=True)
    lines = [f"m{left},m{right},{side}" for left, right, side in rows]
    votes.write_text("\n".join(["left,right,outcome", *lines]))
    lines = [f"m{k},{name},{k % 2}" for k, name in classes.items()]
    items.write_text("\n".join(["name,class,size", *lines]))
    for column, names in (("class", {"new", "old"}), ("size", {"0", "1"})):
        result = rank(votes, items=items, prior_by=column)
        model = result.leaderboard.model
        assert set(model.prior_names_) == names
        assert " - " in result.effects["effect"][0]
    assert "newcomers" not in {one.code for one in result.checks.findings}
    named = rank(votes, prior_by={f"m{k}": name for k, name in classes.items()})
    expected = BradleyTerry(prior_by=classes).fit(pairs, y).strength_
    place = {name: k for k, name in enumerate(named.leaderboard.model.items_)}
    own = named.leaderboard.model.strength_[[place[f"m{k}"] for k in range(18)]]
    np.testing.assert_allclose(own, expected, atol=1e-6)
    for options, message in (
        ({"prior_by": "class"}, "name the table of items"),
        ({"prior_by": "color", "items": items}, "must be one of size, class"),
        ({"prior_by": "class", "items": items, "model": "elo"}, "is for model="),
    ):
        with pytest.raises(ValueError, match=message):
            rank(votes, **options)
