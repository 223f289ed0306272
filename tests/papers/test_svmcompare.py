# SPDX-License-Identifier: BSD-3-Clause
"""SVMcompare by libsvm is SVMcompare, and the draws are what the figures say."""

import numpy as np
import pytest

from papers.svmcompare.chess import contest_cells, read_contest
from papers.svmcompare.early import EarlyCompare
from papers.svmcompare.game_features import COLUMNS, game_features
from papers.svmcompare.methods import draw, draw_uniform, true_model
from papers.svmcompare.published import AREAS, ERRORS_2014
from papers.svmcompare.report import _chess
from papers.svmcompare.thresholds import GridRank, grid_threshold
from tiebreak import Pairs, SVMCompare
from tiebreak.datasets import make_norms


def fit_both(kernel):
    train, test = (make_norms(150, norm=1, random_state=seed) for seed in (0, 1))
    return [
        model.set_params(C=1.0, kernel=kernel, gamma=0.5)
        .fit(train.pairs, train.y)
        .difference(test.pairs)
        for model in (EarlyCompare(), SVMCompare(tie_weight=1))
    ]


def test_libsvm_finds_the_same_function():
    early, exact = fit_both("rbf")
    assert np.corrcoef(early, exact)[0, 1] > 0.9999


@pytest.mark.filterwarnings("ignore:The optimum gives all training items the same")
def test_libsvm_keeps_a_direction_where_the_optimum_is_zero():
    """No line ranks by a norm."""
    early, exact = fit_both("linear")
    assert abs(exact).max() < 1e-6 < 1e-5 < abs(early).max()


def test_figures_are_read_as_others_read_them():
    """Numbers at 400 pairs and of sushi that an independent audit read off them."""
    compare = [ERRORS_2014[name, "compare"][0][3] for name in ("l1", "l2", "linf")]
    assert compare == [11.5, 7.6, 10.8]
    assert [len(row) for pair in ERRORS_2014.values() for row in pair] == [5] * 30
    assert [len(row) for pair in AREAS.values() for row in pair] == [9] * 24
    mean, spread = AREAS["sushi", "compare"]
    assert (mean[0], mean[4], mean[8]) == (0.672, 0.704, 0.635)
    assert (spread[0], spread[4], spread[8]) == (0.056, 0.030, 0.056)


def test_a_test_set_of_its_own():
    first, again, other = (
        draw("linf", 20, 0.5, 0, test_seed=seed)[2] for seed in (None, None, 7)
    )
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)
    for test in (first, other):
        assert 0.06 < true_model("linf", test)["error"] < 0.10


def test_offsets_of_the_figure_of_2014():
    first, second = (draw_uniform("l2", 30, 0.5, seed)[2] for seed in (0, 1))
    assert not np.array_equal(first.y, second.y)
    step = np.diff(np.asarray(first.pairs), axis=1)
    assert step.min() > -1 and step.max() < 0.5 and step.min() < -0.9
    # The authors' figure has 6.8 ± 1.9 % for the true utility.
    assert 0.06 < true_model("l2", first)["error"] < 0.09


def test_threshold_of_the_script():
    """Any threshold from 2 to below 5 is right here; so it is from the middle."""
    d, y = np.array([1.0, -2.0, 5.0, -8.0]), np.array([0, 0, 1, -1])
    assert 2.0 < grid_threshold(d, y) < 5.0
    # One error from 1 to below 2, the low end: the largest of these.
    assert 1.9 < grid_threshold(d, np.sign(d)) < 2.0
    assert grid_threshold(d, 0 * y) == 8.0
    assert grid_threshold(0 * d, y) == 1.0


def test_scaling_twice_matters_where_means_are_not_zero():
    data = make_norms(120, norm=2, random_state=0)
    moved = Pairs(data.pairs.values + 50.0, data.pairs.left, data.pairs.right)
    once, twice = (GridRank(twice=on).fit(moved, data.y) for on in (False, True))
    assert once.score(moved, data.y) > 0.8 > twice.score(moved, data.y)


def test_games_of_2011_are_read_if_they_are_here(tmp_path, monkeypatch):
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path))
    assert contest_cells(quick=True) == []
    folder = tmp_path / "chess_fide2011"
    folder.mkdir()
    header = "PTID,MonthID,WhitePlayer,BlackPlayer,WhiteScore,WhitePlayerPrev\n"
    rows = ["1,14,7,8,1,0", "2,13,8,7,0.5,0", "3,26,7,8,0,0"]
    for part, row in enumerate(rows, 1):
        path = folder / f"primary_training_part{part}.csv"
        path.write_text(header + row + "\n")
    assert {cell["contest"] for cell in contest_cells(quick=True)} == {2011}
    pairs, y, month = read_contest(2)
    assert pairs.names[pairs.left].tolist() == [8, 7]
    assert y.tolist() == [0, -1] and month.tolist() == [1, 2]


def test_features_of_players_are_those_before_the_game():
    games = Pairs(None, ["a", "b", "a"], ["b", "c", "b"])
    pairs, n_before = game_features(games, [-1, 0, 1], [1, 1, 3])
    assert n_before.tolist() == [[0, 0], [1, 0], [1, 2]]
    values = dict(zip(COLUMNS, pairs.values[pairs.left[2]], strict=True))
    # After one win among equals: K is 30; Glickman's formulas give 162.
    assert values["elo"] == 1215 and values["glicko"] == pytest.approx(1662.2, abs=0.1)
    assert (values["win_share"], values["form"], values["idle_periods"]) == (1, 1, 2)
    values = dict(zip(COLUMNS, pairs.values[pairs.right[2]], strict=True))
    assert (values["draws"], values["losses"], values["first_move"]) == (1, 1, 0)
    assert values["opponent_difference"] == pytest.approx(7.5)


def test_areas_of_the_games_of_2011_are_shown_without_those_of_2010():
    rows = [{"year": 8, "method": "elo", "auc": 0.25, "draws": 0.4, "n_test": 9}]
    line = next(line for line in _chess([], rows).splitlines() if "ours" in line)
    assert line.split("|")[1:4] == [" elo ", " ours ", " 0.250 "]
