# SPDX-License-Identifier: BSD-3-Clause
"""SVMcompare by libsvm is SVMcompare, and the draws are what the figures say."""

import numpy as np
import pytest

from papers.svmcompare.early import EarlyCompare
from papers.svmcompare.game_features import COLUMNS, game_features
from papers.svmcompare.methods import draw, grid_of_costs, true_model
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


def test_a_test_set_of_its_own():
    first, again, other = (
        draw("linf", 20, 0.5, 0, test_seed=seed)[2] for seed in (None, None, 7)
    )
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)
    for test in (first, other):
        assert 0.06 < true_model("linf", test)["error"] < 0.10


def test_more_costs_are_those_of_the_paper_and_larger_ones():
    few, more = grid_of_costs(), grid_of_costs(1e5)
    assert len(few) == 10 and few[-1] == pytest.approx(1e3)
    assert more[:10] == pytest.approx(few) and more[-1] == pytest.approx(1e5)


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
