# SPDX-License-Identifier: BSD-3-Clause
"""What the report says of τ-b without having computed it from results."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from papers.one_norm.data import corners, folds, read
from tiebreak import L1Ranker
from tiebreak.metrics import kendall_tau_b


@pytest.mark.parametrize(("data", "tau"), [("concrete", 0.63), ("abalone", 0.38)])
def test_least_squares_in_sample(data_dir, data, tau):
    items = read(data)
    utility = LinearRegression().fit(items.X, items.y).predict(items.X)
    assert kendall_tau_b(items.y, utility) == pytest.approx(tau, abs=0.01)


def test_two_equal_groups_in_order_have_a_tau_b_of_one_over_root_two():
    """The ceiling on the artificial set, where the paper reports 1."""
    y = [0] * 200 + [1] * 200  # a fold of it
    expected = 200 * 200 / ((400 * 399 / 2) * (200 * 200)) ** 0.5
    assert kendall_tau_b(y, range(400)) == pytest.approx(expected)
    assert expected == pytest.approx(0.708, abs=0.0005)


def test_the_hull_is_equation_5_on_the_corners(data_dir):
    """Both programs have one optimum; the set has rows that occur twice."""
    items = read("concrete")
    train = folds("concrete")[0][0][:120]
    X, y = items.X[train], items.y[train]
    assert len(np.unique(X, axis=0)) < len(X)
    kept = corners(X, y)
    assert len(kept) < len(X)
    hull = L1Ranker(1.0, slack="item", reduction="hull").fit(X, y)
    own = L1Ranker(1.0, slack="item").fit(X[kept], y[kept])
    assert own.objective_ == pytest.approx(hull.objective_, rel=1e-7)
