# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from tests.oracles.pair_svm import hinge_order_primal
from tiebreak import Pairs, RankSVM, ThresholdCompare
from tiebreak.datasets import make_norms


@pytest.fixture
def comparisons(rng):
    table = rng.normal(size=(30, 3))
    left = rng.integers(0, 30, 24)
    right = (left + 1 + rng.integers(0, 29, 24)) % 30
    d = (table[right] - table[left]) @ [1.0, -2.0, 0.5] + rng.normal(size=24)
    y = np.where(np.abs(d) < 0.7, 0, np.sign(d)).astype(int)
    y[:3] = [-1, 0, 1]
    return Pairs(table, left, right), y


@pytest.mark.parametrize("ties", ["ignore", "both"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_equals_a_general_solver(comparisons, ties, C):
    pairs, y = comparisons
    D = pairs.values[pairs.right] - pairs.values[pairs.left]
    rows = D[y != 0] * y[y != 0, None]
    if ties == "both":
        rows = np.vstack([rows, rows, D[y == 0], -D[y == 0]])
    w, objective = hinge_order_primal(rows, np.full(len(rows), C))
    model = RankSVM(C, kernel="linear", ties=ties, tol=1e-9).fit(pairs, y)
    assert model.gap_ <= 1e-9
    assert model.objective_ == pytest.approx(objective, rel=1e-5)
    assert model.objective_ <= objective * (1 + 1e-9)
    np.testing.assert_allclose(model.coef_, w, atol=2e-2 * np.abs(w).max())
    assert np.abs(w).max() > 1e-3


def test_predicts_a_tie_only_for_equal_utilities(comparisons):
    pairs, y = comparisons
    model = RankSVM().fit(pairs, y)
    assert not hasattr(model, "threshold_")
    same = Pairs(pairs.values[:2], [0, 0, 1], [0, 1, 1])
    outcome = model.predict(same)
    assert outcome[0] == outcome[2] == 0
    assert outcome[1] != 0


def test_ties_teach(rng):
    """rank2 beats rank on the simulation with many ties, as in the paper."""
    train = make_norms(200, norm=1, tie_share=0.8, random_state=0)
    test = make_norms(2000, norm=1, tie_share=0.8, random_state=1)
    score = {}
    for ties in ("ignore", "both"):
        model = ThresholdCompare(RankSVM(10.0, gamma=0.5, ties=ties))
        score[ties] = model.fit(train.pairs, train.y).score(test.pairs, test.y)
    assert score["both"] > score["ignore"]


def test_nothing_but_ties(comparisons):
    pairs, y = comparisons
    with pytest.raises(ValueError, match=r"all 24 comparisons are ties.*winner"):
        RankSVM().fit(pairs, np.zeros_like(y))
    both = RankSVM(ties="both").fit(pairs, np.zeros_like(y))
    np.testing.assert_allclose(both.utility(pairs.values), 0, atol=1e-2)


def test_wrong_ties(comparisons):
    with pytest.raises(ValueError, match=r"ties='half'; expected.*'both'"):
        RankSVM(ties="half").fit(*comparisons)


def test_contradictions_at_a_large_cost_are_no_reason_to_crawl():
    """Working sets alone take thousands of rounds here."""
    data = make_norms(200, norm=np.inf, random_state=0)
    model = RankSVM(C=1e5, gamma=3.0, ties="both").fit(data.pairs, data.y)
    assert model.converged_ and model.gap_ < 1e-3
    assert "interior point" in model.solver_
    assert model.n_iter_ < 100
