# SPDX-License-Identifier: BSD-3-Clause
"""ExpectedRankRegression: positions, weights, any regressor."""

import numpy as np
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from tests.models.inputs import refused
from tiebreak import ExpectedRankRegression, Orders, Pairs
from tiebreak.losses import GradeTree
from tiebreak.models.expected_rank import expected_ranks

ITEMS = np.array([[3.0, 1.0], [2.0, 5.0], [1.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
LISTS = [[0, 1, 2], [4, [1, 2], 3], [3, 0]]


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weight_ = X, y, sample_weight
        return self

    def predict(self, X):
        return np.zeros(X.shape[0])


def test_positions_by_hand():
    found = ExpectedRankRegression(Recorder()).fit(Orders(ITEMS, LISTS)).regressor_
    assert_array_equal(found.X_, ITEMS[[0, 1, 2, 4, 1, 2, 3, 3, 0]])
    lists = [1 / 4, 2 / 4, 3 / 4, 1 / 5, 2.5 / 5, 2.5 / 5, 4 / 5, 1 / 3, 2 / 3]
    assert_allclose(found.y_, lists)
    assert found.weight_ is None


def test_positions_of_grades_are_those_of_groups():
    y, qid = [1.0, 5.0, 5.0, 0.0, 7.0], ["b", "a", "a", "b", "a"]
    found = ExpectedRankRegression(Recorder()).fit(ITEMS, y, qid=qid).regressor_
    assert_array_equal(found.X_, ITEMS)
    assert_allclose(found.y_, [1 / 3, 2.5 / 4, 2.5 / 4, 2 / 3, 1 / 4])


def plain_ranks(y, group, weight):
    """Repeat rows, sort them, and average the positions of equal grades."""
    rows = np.repeat(np.arange(len(y)), weight)
    rank = np.full(len(y), np.nan)
    for g in np.unique(group):
        own = rows[group[rows] == g]
        best_first = sorted(-y[own])
        for row in own:
            places = [k + 1 for k, value in enumerate(best_first) if value == -y[row]]
            rank[row] = np.mean(places) / (len(own) + 1)
    return rank


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)),
        min_size=2,
        max_size=12,
    )
)
def test_positions_of_weighted_rows_are_those_of_repeated_rows(rows):
    y, group, weight = np.array(rows).T
    group = np.unique(group, return_inverse=True)[1]
    tree = GradeTree(y.astype(float), group, weight.astype(float))
    assume(tree.n_pairs)
    expected = plain_ranks(y, group, weight)[tree.rows]
    assert_allclose(expected_ranks(tree, tree.weight), expected)


def test_weights_of_lists_weigh_their_items():
    orders = Orders(ITEMS, LISTS)
    model = ExpectedRankRegression(Recorder()).fit(
        orders, sample_weight=[4.0, 0.0, 9.0]
    )
    found = model.regressor_
    assert_allclose(found.weight_, [4, 4, 4, 9, 9])
    assert_allclose(found.y_, [1 / 4, 2 / 4, 3 / 4, 1 / 3, 2 / 3])


def test_any_regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    utility = 0.3 * X[:, 0] + 1.5 * X[:, 1] ** 2
    chosen = [rng.choice(60, 6, replace=False) for _ in range(60)]
    orders = Orders(X, [row[np.argsort(-utility[row])] for row in chosen])
    scores = {
        name: ExpectedRankRegression(regressor).fit(orders).score(orders)
        for name, regressor in {
            "linear": None,
            "squares": make_pipeline(PolynomialFeatures(2), LinearRegression()),
            "neighbors": KNeighborsRegressor(5),
        }.items()
    }
    assert scores["squares"] > 0.85 > 0.8 > scores["linear"]
    assert scores["neighbors"] > scores["linear"]
    square = make_pipeline(PolynomialFeatures(2), LinearRegression())
    model = ExpectedRankRegression(square).fit(orders)
    assert not hasattr(model, "coef_")
    # The regressor of the constructor is not touched.
    assert not hasattr(square[-1], "coef_")


def test_weights_reach_the_regressor_or_are_refused():
    orders, weight = Orders(ITEMS, LISTS), [1.0, 2.0, 3.0]
    pipe = make_pipeline(StandardScaler(), Recorder())
    model = ExpectedRankRegression(pipe).fit(orders, sample_weight=weight)
    expected = [1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert_allclose(model.regressor_[-1].weight_, expected)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = Recorder().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = ExpectedRankRegression(make_pipeline(scaler, asks))
        model.fit(orders, sample_weight=weight)
        assert_allclose(model.regressor_[-1].weight_, expected)
    deaf = ExpectedRankRegression(KNeighborsRegressor(2))
    words = ["KNeighborsRegressor takes no weights", "from 1 to 3"]
    refused(ValueError, words, deaf.fit, orders, sample_weight=weight)
    same = deaf.fit(orders, sample_weight=[2.0, 0.0, 2.0]).utility(ITEMS)
    assert_allclose(same, deaf.fit(orders[[0, 2]]).utility(ITEMS))


def test_input_that_does_not_do():
    fit = ExpectedRankRegression().fit
    words = ["got comparisons"]
    refused(TypeError, words, fit, Pairs(ITEMS, [0], [1]), [1])
    refused(ValueError, ["no pair to learn from"], fit, Orders(ITEMS, [[0], [[1, 2]]]))
    refused(TypeError, ["no features"], fit, Orders(None, [["a", "b"]]))
