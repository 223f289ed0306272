# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    OnItems,
    Orders,
    Pairs,
    PlackettLuce,
    RankSVM,
    ThresholdCompare,
)
from tiebreak.datasets import make_norms


class FirstFeature(BaseEstimator):
    """A ranker that only predicts on items, and learns nothing."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


def test_threshold_is_the_best_on_the_training_comparisons():
    data = make_norms(300, norm=2, random_state=0)
    model = ThresholdCompare(RankSVM(10, gamma=0.25)).fit(data.pairs, data.y)
    difference = np.abs(model.ranker_.difference(data.pairs))
    assert model.training_error_ == pytest.approx(1 - model.score(data.pairs, data.y))
    for tau in np.unique(np.r_[0.0, difference, difference * 1.0001]):
        said = np.where(
            difference <= tau,
            0,
            np.sign(model.ranker_.difference(data.pairs)),
        )
        assert (said != data.y).mean() >= model.training_error_ - 1e-12


def test_any_ranker_that_predicts_on_items():
    pairs = Pairs([[0.0], [1.0], [5.0]], left=[0, 2, 1], right=[1, 0, 2])
    model = ThresholdCompare(FirstFeature()).fit(pairs, [0, -1, 1])
    assert model.threshold_ == 2.5
    np.testing.assert_array_equal(model.predict(pairs), [0, -1, 1])
    np.testing.assert_array_equal(model.utility([[3.0]]), [3.0])
    with pytest.raises(ValueError, match="FirstFeature takes no sample_weight"):
        ThresholdCompare(FirstFeature()).fit(pairs, [0, -1, 1], sample_weight=[1, 2, 1])


def test_pipeline_inside_and_outside_agree():
    data = make_norms(200, norm=2, random_state=0)
    weight = np.linspace(0.5, 2, 200)
    inside = ThresholdCompare(
        make_pipeline(OnItems(StandardScaler()), RankSVM(10, gamma=0.5))
    ).fit(data.pairs, data.y, sample_weight=weight)
    outside = make_pipeline(
        OnItems(StandardScaler()), ThresholdCompare(RankSVM(10, gamma=0.5))
    ).fit(data.pairs, data.y, thresholdcompare__sample_weight=weight)
    assert inside.threshold_ == pytest.approx(outside[-1].threshold_)
    np.testing.assert_array_equal(
        inside.predict(data.pairs), outside.predict(data.pairs)
    )


@pytest.fixture
def graded():
    """Grade 40 items of 6 groups; equal grades are common."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3)) * [1.0, 5.0, 1.0]
    y = np.round(X @ [1.0, 0.1, 0.0] + 0.3 * rng.normal(size=40))
    return X, y, np.array([f"q{k % 6}" for k in rng.permutation(40)])


def linear(**options):
    return RankSVM(kernel="linear", loss="squared_hinge", **options)


def pairs_of(y, qid):
    """Compare every two rows of a group, one by one."""
    qid = np.zeros(len(y)) if qid is None else qid
    rows = [(i, j) for i in range(len(y)) for j in range(i) if qid[i] == qid[j]]
    left, right = map(np.array, zip(*rows, strict=True))
    return left, right, np.sign(y[right] - y[left])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_threshold_of_graded_items_is_the_best(graded, weighted, grouped):
    X, y, qid = graded
    qid = qid if grouped else None
    weight = 1.0 + np.arange(40) % 4 if weighted else np.ones(40)
    given = {"sample_weight": weight} if weighted else {}
    model = ThresholdCompare(linear()).fit(X, y, qid=qid, **given)
    ranker = linear().fit(X, y, qid=qid, **given)
    np.testing.assert_array_equal(model.utility(X), ranker.utility(X))
    left, right, outcome = pairs_of(y, qid)
    difference = ranker.utility(X)[right] - ranker.utility(X)[left]
    pair_weight = weight[left] * weight[right]
    assert model.n_pairs_ == len(outcome)
    for tau in np.unique(np.r_[0.0, np.abs(difference) * 1.000001, model.threshold_]):
        said = np.where(np.abs(difference) <= tau, 0, np.sign(difference))
        error = np.average(said != outcome, weights=pair_weight)
        assert error >= model.training_error_ - 1e-12
        if tau == model.threshold_:
            assert error == pytest.approx(model.training_error_)
    assert model.threshold_ > 0
    said = model.predict(Pairs(X, left, right))
    assert {-1, 0, 1} == set(said.tolist())
    assert np.average(said != outcome, weights=pair_weight) == pytest.approx(
        model.training_error_
    )


@pytest.mark.parametrize("features", [None, np.arange(8.0).reshape(4, 2)])
def test_lists_of_names_get_a_threshold(features):
    lists = [["a", ["b", "c"], "d"], [["b", "c"], "a"], ["c", "b", "d"], ["d", "a"]]
    orders = Orders(features, lists, names=list("abcd"))
    weight = np.array([1.0, 2.0, 1.0, 3.0])
    ranker = PlackettLuce(alpha=0.1)
    model = ThresholdCompare(ranker).fit(orders, sample_weight=weight)
    by_hand = ranker.fit(orders, sample_weight=weight)
    np.testing.assert_array_equal(
        model.utility(list("abcd")), by_hand.utility(list("abcd"))
    )
    y, qid = orders.entry_grades()
    left, right, outcome = pairs_of(y, qid)
    names = orders.names[orders.flat]
    said = model.predict(Pairs(None, names[left], names[right]))
    assert set(said.tolist()) == {-1, 0, 1}
    assert model.training_error_ == pytest.approx(
        np.average(said != outcome, weights=weight[qid[left]])
    )
    assert type(model.training_error_) is float
    assert model.score(orders) == by_hand.score(orders)
    if features is None:
        with pytest.raises(TypeError, match="Orders have no features"):
            ThresholdCompare(linear()).fit(orders)


def test_rows_of_weight_zero_are_absent_for_every_step(graded):
    X, y, qid = graded
    weight = np.where(np.arange(40) % 5 == 0, 0.0, 1.5)
    kept = weight > 0
    ranker = make_pipeline(StandardScaler(), linear())
    zero = ThresholdCompare(ranker).fit(
        pd.DataFrame(X, columns=list("abc")), y, qid=qid, sample_weight=weight
    )
    absent = ThresholdCompare(ranker).fit(
        X[kept], y[kept], qid=qid[kept], sample_weight=weight[kept]
    )
    assert zero.threshold_ == pytest.approx(absent.threshold_)
    np.testing.assert_allclose(
        zero.ranker_[0].mean_, StandardScaler().fit(X[kept]).mean_
    )
    gram = X @ X.T
    whole = ThresholdCompare(linear().set_params(kernel="precomputed"))
    whole.fit(gram, y, qid=qid, sample_weight=weight)
    plain = ThresholdCompare(linear()).fit(X, y, qid=qid, sample_weight=weight)
    assert whole.threshold_ == pytest.approx(plain.threshold_, rel=1e-6)


def test_pipelines_and_regressors_of_items_compare(graded):
    X, y, qid = graded
    table = pd.DataFrame(X, columns=["price", "size", "age"])
    left, right, _ = pairs_of(y, qid)
    pipeline = make_pipeline(StandardScaler(), linear())
    model = ThresholdCompare(pipeline).fit(table, y, qid=qid)
    by_hand = pipeline.fit(table, y, ranksvm__qid=qid)
    utility = by_hand.predict(table)
    for pairs in (Pairs(table, left, right), Pairs(table, left, right)[::2]):
        expected = utility[pairs.right] - utility[pairs.left]
        np.testing.assert_allclose(model.difference(pairs), expected)
    assert list(model.feature_names_in_) == ["price", "size", "age"]
    # A regressor knows nothing of groups; the threshold does.
    ridge = ThresholdCompare(Ridge()).fit(X, y, qid=qid)
    assert ridge.n_pairs_ == len(left)
    np.testing.assert_allclose(ridge.utility(X), Ridge().fit(X, y).predict(X))
    assert ridge.score(X, y, qid=qid) > 0.6
    with pytest.raises(ValueError, match="was fitted with qid"):
        ridge.score(X, y)
    sparse = ThresholdCompare(linear()).fit(sp.csr_array(X), y, qid=qid)
    dense = ThresholdCompare(linear()).fit(X, y, qid=qid)
    assert sparse.threshold_ == pytest.approx(dense.threshold_)


def test_more_pairs_than_the_limit_are_drawn(graded):
    X, y, _ = graded
    few, again = (ThresholdCompare(linear(), max_pairs=200).fit(X, y) for _ in range(2))
    assert few.n_pairs_ == 200
    assert few.threshold_ == again.threshold_
    everything = ThresholdCompare(linear(), max_pairs=None).fit(X, y)
    assert everything.n_pairs_ == 40 * 39 // 2
    np.testing.assert_array_equal(few.utility(X), everything.utility(X))
    assert few.training_error_ == pytest.approx(everything.training_error_, abs=0.1)
    for bad in (0, -1, 1.5, True, "all"):
        with pytest.raises(ValueError, match=r"max_pairs=.*whole number of at least 1"):
            ThresholdCompare(linear(), max_pairs=bad).fit(X, y)


def test_bad_graded_input(graded):
    X, y, qid = graded
    model = ThresholdCompare(Ridge())
    with pytest.raises(ValueError, match=r"40 group\(s\) has two items.*row number"):
        model.fit(X, y, qid=np.arange(40))
    with pytest.raises(ValueError, match="There is no pair to learn from"):
        ThresholdCompare(linear()).fit(X, np.zeros(40), qid=qid)
    with pytest.raises(ValueError, match="qid groups graded items"):
        model.fit(Pairs(X, [0], [1]), [1], qid=["a"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(Pairs(X, [0], [1]))
    with pytest.raises(ValueError, match="Orders hold their own grades"):
        model.fit(Orders(X, [[0, 1]]), [1])
