# SPDX-License-Identifier: BSD-3-Clause
"""MaxMarginCompare: margins against general solvers."""

import numpy as np
import pytest

from tests.oracles.pair_svm import margin_lp, margin_qp
from tiebreak import MaxMarginCompare, Pairs
from tiebreak.datasets import make_separable


def parts(data):
    D = data.pairs.values[data.pairs.right] - data.pairs.values[data.pairs.left]
    return data.pairs, data.y, D


@pytest.mark.parametrize("scale", [None, (1.0, 30.0)])
@pytest.mark.parametrize("seed", range(4))
def test_margins_equal_general_solvers(seed, scale):
    pairs, y, D = parts(make_separable(30, scale=scale, random_state=seed))
    lp = MaxMarginCompare("lp").fit(pairs, y)
    _, mu = margin_lp(D, y)
    assert lp.separable_
    assert lp.margin_ == pytest.approx(mu, rel=1e-7)
    assert lp.gap_ < 1e-9
    qp = MaxMarginCompare("qp", tol=1e-9).fit(pairs, y)
    u, beta = margin_qp(D, y)
    assert qp.margin_ == pytest.approx(-1 / beta, rel=1e-4)
    assert qp.objective_ == pytest.approx(0.5 * u @ u, rel=1e-4)
    # Lemma 1: the quadratic solution is feasible for the linear program.
    assert qp.margin_ <= lp.margin_ * (1 + 1e-6)
    for model in (lp, qp):
        difference = D @ model.coef_
        slack = 1e-6
        assert (np.abs(difference[y == 0]) <= 1 - model.margin_ + slack).all()
        assert (y * difference >= 1 + model.margin_ - slack)[y != 0].all()
        assert model.score(pairs, y) == 1
        assert model.threshold_ == 1


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_not_separable_is_a_result(program):
    # A tie further apart than a difference, in one dimension.
    pairs = Pairs([[0.0], [1.0], [5.0]], left=[0, 0, 1], right=[2, 1, 0])
    with pytest.warns(UserWarning, match=r"3 comparisons are not linearly separable"):
        model = MaxMarginCompare(program).fit(pairs, [0, 1, -1])
    assert not model.separable_
    assert model.margin_ <= 0
    assert model.margin_ == pytest.approx(
        margin_lp(np.array([[5.0], [1.0], [-1.0]]), [0, 1, -1])[1]
    )


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_no_ties_is_a_hard_margin_order(program):
    pairs = Pairs([[0.0, 1.0], [2.0, 1.0], [3.0, 4.0]], left=[0, 2], right=[1, 1])
    with pytest.warns(UserWarning, match="no ties among the comparisons"):
        model = MaxMarginCompare(program, tol=1e-9).fit(pairs, [1, -1])
    # min ‖w‖ with w·(2, 0) ≥ 1 and w·(1, 3) ≥ 1: w = (½, ⅙).
    np.testing.assert_allclose(model.coef_, [0.5, 1 / 6], rtol=1e-5)
    assert model.margin_ == pytest.approx(1 / np.hypot(0.5, 1 / 6), rel=1e-5)
    assert model.threshold_ == 0


@pytest.mark.parametrize("program", ["lp", "qp"])
def test_only_ties(program):
    pairs = Pairs([[0.0], [1.0]], left=[0], right=[1])
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        model = MaxMarginCompare(program).fit(pairs, [0])
    assert model.margin_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-9)
