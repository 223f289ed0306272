# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tiebreak import (
    NystroemMap,
    OnItems,
    Orders,
    Pairs,
    RankSVM,
    SVMCompare,
    load,
    save,
)
from tiebreak.kernels import nystroem
from tiebreak.metrics.scorers import difference_of
from tiebreak.selection.splitters import QueryKFold


def laplacian(A, B):
    return np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2))


KERNELS = {
    "linear": ({"kernel": "linear"}, linear_kernel),
    "poly": (
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        lambda A, B: polynomial_kernel(A, B, gamma=0.5, degree=2, coef0=1.0),
    ),
    "rbf": ({"gamma": 0.3}, lambda A, B: rbf_kernel(A, B, gamma=0.3)),
    "callable": ({"kernel": laplacian}, laplacian),
}


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 2))


@pytest.mark.parametrize("name", KERNELS)
def test_features_have_the_kernel_as_their_product(name, X):
    options, truth = KERNELS[name]
    features = NystroemMap(**options, tol=1e-12, random_state=0).fit_transform(X)
    K = truth(X, X)
    assert features.dtype == np.float64
    assert features.shape[1] <= {"linear": 2, "poly": 6}.get(name, 60)
    assert_allclose(features @ features.T, K, atol=1e-9 * K.max())


@pytest.mark.parametrize("name", KERNELS)
def test_products_with_landmarks_are_exact(name, X, rng):
    options, truth = KERNELS[name]
    model = NystroemMap(**options, n_landmarks=5, random_state=0).fit(X)
    assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    unseen = rng.normal(size=(40, 2))
    products = model.transform(unseen) @ model.transform(model.landmarks_).T
    assert_allclose(products, truth(unseen, model.landmarks_), atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_the_error_is_the_largest_one(name, X):
    options, truth = KERNELS[name]
    model = NystroemMap(**options, n_landmarks=4, random_state=0)
    features, K = model.fit_transform(X), truth(X, X)
    missing = np.diag(K - features @ features.T)
    assert_allclose(model.error_, missing.max() / K.max(), atol=1e-10)
    assert_allclose(model.mean_error_, missing.sum() / np.trace(K), atol=1e-10)
    off = np.abs(K - features @ features.T).max()
    assert off <= (model.error_ + 1e-10) * K.max()


def test_landmarks_stop_at_the_tolerance(X):
    sizes = []
    for tol in (0.5, 0.1, 1e-3, 1e-9):
        model = NystroemMap(gamma=0.3, tol=tol, random_state=0).fit(X)
        assert model.error_ <= tol
        sizes.append(len(model.landmarks_))
    assert 1 <= sizes[0] < sizes[1] < sizes[2] < sizes[3] < 60
    model = NystroemMap(gamma=0.3, tol=1e-9, n_landmarks=7, random_state=0).fit(X)
    assert model.landmarks_.shape == (7, 2)
    assert model.error_ > 1e-9


def test_of_many_rows_some_are_looked_at(rng, monkeypatch):
    monkeypatch.setattr(nystroem, "_CANDIDATES", 300)
    X = rng.standard_t(3, size=(5000, 3))
    model = NystroemMap(gamma=0.5, n_landmarks=60, random_state=0)
    features = model.fit_transform(X)
    assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    missing = 1.0 - (features**2).sum(axis=1)
    # 300 rows of heavy tails say little of the worst, and enough of the mean.
    assert 0.3 * missing.max() < model.error_ <= missing.max() + 1e-9
    assert_allclose(model.mean_error_, missing.mean(), rtol=0.3)
    used = np.sort(model._sample(5000, np.random.default_rng(0))[0])
    assert len(np.unique(used)) == 300


def test_a_sample_of_almost_all_rows(rng, monkeypatch):
    monkeypatch.setattr(nystroem, "_CANDIDATES", 99)
    X = rng.normal(size=(100, 2))
    model = NystroemMap(gamma=0.5, n_landmarks=10, random_state=0)
    features = model.fit_transform(X)
    missing = 1.0 - (features**2).sum(axis=1)
    assert_allclose(model.error_, missing.max(), atol=1e-10)
    assert_allclose(model.mean_error_, missing.mean(), atol=1e-10)


def test_far_from_the_origin_nothing_is_lost(X):
    model = NystroemMap(gamma=0.3, tol=1e-9, random_state=0).fit(X + 1e5)
    # The difference of two such numbers has 11 digits after the point.
    features = model.transform(X + 1e5)
    assert_allclose(features @ features.T, rbf_kernel(X, gamma=0.3), atol=1e-6)


def test_equal_rows_count_once_and_have_equal_features(rng, monkeypatch):
    monkeypatch.setattr(nystroem, "_CHUNK", 7)
    X = rng.normal(size=(40, 5))
    twice = np.vstack([X, X[::-1], -0.0 * X[:1], 0.0 * X[:1]])
    model = NystroemMap(n_landmarks=12, random_state=3).fit(twice)
    once = NystroemMap(n_landmarks=12, random_state=3).fit(twice[[*range(40), 80]])
    assert model.gamma_ == once.gamma_
    assert_array_equal(model.landmark_indices_ < 41, model.landmark_indices_ != 80)
    assert_array_equal(model.landmarks_, once.landmarks_)
    features = model.transform(twice)
    assert_array_equal(features[:40], features[79:39:-1])
    assert_array_equal(features[80], features[81])


def test_sparse_equals_dense(rng):
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    for kernel in ("linear", "poly", "rbf"):
        options = {"coef0": 1.0, "gamma": 0.2, "n_landmarks": 15, "random_state": 1}
        dense = NystroemMap(kernel, **options).fit(X)
        sparse = NystroemMap(kernel, **options).fit(sp.csr_array(X))
        assert sp.issparse(sparse.landmarks_)
        assert_array_equal(sparse.landmark_indices_, dense.landmark_indices_)
        expected = dense.transform(X)
        scale = np.abs(expected).max()
        for model in (dense, sparse):
            for table in (X, sp.csr_array(X), sp.csc_array(X)):
                got = model.transform(table)
                assert isinstance(got, np.ndarray)
                assert_allclose(got, expected, atol=1e-8 * scale)
        assert_allclose(sparse.error_, dense.error_, atol=1e-9)


def test_random_state(rng):
    X = rng.normal(size=(200, 5))
    a, b, c = (NystroemMap(n_landmarks=9, random_state=s).fit(X) for s in (4, 4, 5))
    assert_array_equal(a.landmark_indices_, b.landmark_indices_)
    assert_array_equal(a.transform(X), b.transform(X))
    assert set(a.landmark_indices_) != set(c.landmark_indices_)


def make_queries(rng, n=120):
    X = rng.normal(size=(n, 2))
    y = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] ** 2, [0.0, 0.7, 1.5])
    qid = np.array(["b", "a", "c"])[rng.integers(0, 3, n)]
    return X, y, qid


def test_a_linear_model_on_all_features_is_the_kernel_machine(rng):
    X, y, qid = make_queries(rng)
    X = np.vstack([X, X[:20]])  # equal items, with other grades
    y, qid = np.append(y, y[20:40]), np.append(qid, qid[:20])
    unseen = rng.normal(size=(50, 2))
    options = {"loss": "squared_hinge", "tol": 1e-12}
    exact = RankSVM(0.3, **options).fit(X, y, qid=qid)
    features = NystroemMap(tol=1e-12, random_state=0).fit(X)
    assert features.gamma_ == exact.gamma_
    linear = RankSVM(0.3, kernel="linear", **options)
    linear.fit(features.transform(X), y, qid=qid)
    assert_allclose(linear.objective_, exact.objective_, rtol=1e-9)
    expected = exact.utility(unseen)
    got = linear.utility(features.transform(unseen))
    assert np.ptp(expected) > 1
    assert_allclose(got - got.mean(), expected - expected.mean(), atol=1e-4)


def test_in_a_pipeline_with_groups(rng):
    X, y, qid = make_queries(rng)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            NystroemMap(random_state=0), RankSVM(kernel="linear", loss="squared_hinge")
        )
        pipeline.fit(X, y, qid=qid)
        by_hand = RankSVM(kernel="linear", loss="squared_hinge")
        by_hand.fit(pipeline[0].transform(X), y, qid=qid)
        assert_array_equal(pipeline[-1].coef_, by_hand.coef_)
        expected = by_hand.score(pipeline[0].transform(X), y, qid=qid)
        assert pipeline.score(X, y, qid=qid) == expected > 0.9
        search = GridSearchCV(
            pipeline,
            {"nystroemmap__gamma": [1e-3, 1.0], "ranksvm__C": [0.1, 1.0]},
            cv=QueryKFold(3),
        ).fit(X, y, qid=qid)
    assert search.best_params_["nystroemmap__gamma"] == 1.0


def test_of_the_items_of_comparisons(rng):
    items = rng.normal(size=(30, 2))
    left, right = np.arange(30).repeat(4), rng.integers(0, 30, 120)
    left[left == right] = (right[left == right] + 1) % 30
    d = np.sin(2 * items[right, 0]) - np.sin(2 * items[left, 0])
    y = np.where(np.abs(d) < 0.3, 0, np.sign(d)).astype(int)
    pairs = Pairs(items, left, right)
    exact = SVMCompare(5.0, gamma=1.0, tol=1e-10).fit(pairs, y)
    features = OnItems(NystroemMap(gamma=1.0, tol=1e-12, random_state=0))
    linear = SVMCompare(5.0, kernel="linear", tol=1e-10)
    pipeline = make_pipeline(features, linear).fit(pairs, y)
    difference = exact.difference(pairs)
    assert np.ptp(difference) > 1
    assert_allclose(difference_of(pipeline, pairs), difference, atol=1e-4)


def test_names_of_features(X):
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = NystroemMap(n_landmarks=3, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    names = ["nystroemmap0", "nystroemmap1", "nystroemmap2"]
    assert list(model.get_feature_names_out()) == names
    assert_array_equal(model.transform(pl.DataFrame(X, schema=["a", "b"])),
                       model.transform(frame))  # fmt: skip
    assert list(model.set_output(transform="pandas").transform(frame)) == names
    with pytest.raises(ValueError, match=r"feature names.*got \['b', 'a'\]"):
        model.transform(frame[["b", "a"]])


def test_a_saved_map_gives_the_same_features(rng, tmp_path):
    X, y, _ = make_queries(rng)
    for table in (X, sp.csr_array(X)):
        pipeline = make_pipeline(
            NystroemMap(random_state=0, n_landmarks=20),
            RankSVM(kernel="linear", loss="squared_hinge"),
        )
        pipeline.fit(table, y)
        again = load(save(pipeline, tmp_path / "model"))
        assert_array_equal(again[0].transform(table), pipeline[0].transform(table))
        assert_array_equal(again.predict(table), pipeline.predict(table))
    pipeline[0].set_params(kernel=laplacian)
    with pytest.raises(ValueError, match="NystroemMap has a function as kernel"):
        save(pipeline, tmp_path / "model")


@parametrize_with_checks([NystroemMap(), NystroemMap("poly", n_landmarks=5)])
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "precomputed"}, r"kernel='precomputed'; expected 'linear'"),
        ({"kernel": "sigmoid"}, r"kernel='sigmoid'; expected a callable"),
        ({"gamma": 0.0}, r"gamma=0.0; expected a positive"),
        ({"kernel": "poly", "degree": 1.5}, r"degree=1.5; expected a whole"),
        ({"n_landmarks": 0}, r"n_landmarks=0; expected a whole number of at least 1"),
        ({"n_landmarks": 2.5}, r"n_landmarks=2.5; expected a whole"),
        ({"n_landmarks": True}, r"n_landmarks=True; expected a whole"),
        ({"tol": 0.0}, r"tol=0.0; expected a number from 1e-12 to 1"),
        ({"tol": np.nan}, r"tol=nan; expected"),
        ({"tol": "low"}, r"tol='low'; expected"),
    ],
)
def test_wrong_parameters(options, words, X):
    with pytest.raises(ValueError, match=words):
        NystroemMap(**options).fit(X)


def test_functions_that_are_no_kernels(X, monkeypatch):
    message = "not positive semidefinite"
    for function in (
        lambda A, B: A @ B.T - 5.0,  # k(x, x) < 0
        lambda A, B: -rbf_kernel(A, B) + 2.0 * (A[:, None] == B[None]).all(axis=2),
        lambda A, B: np.exp(A[:, :1] - 3.0 * B[:, 0]),  # not symmetric
    ):
        with pytest.raises(ValueError, match=message):
            NystroemMap(function).fit(X)
    # Among the rows that are looked at it is one, not among the others.
    X = np.vstack([X, 100.0 + X])
    monkeypatch.setattr(nystroem, "_CANDIDATES", 20)
    with pytest.raises(ValueError, match=message):
        NystroemMap(
            lambda A, B: rbf_kernel(A, B) * (1 - 2 * (A[:, :1] > 50)), n_landmarks=2
        ).fit(X)


def test_tables_without_features_to_learn_from():
    with pytest.raises(ValueError, match=r"itself is zero.*Try kernel='rbf'"):
        NystroemMap("linear").fit(np.zeros((5, 2)))
    message = r"not finite.*Scale the features"
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
        NystroemMap("poly", gamma=1.0, degree=9).fit([[1e29], [1.0]])
    with pytest.raises(ValueError, match=r"must be finite.*NaN at row 1, column 0"):
        NystroemMap().fit([[1.0], [np.nan]])
    model = NystroemMap().fit([[1.0, 2.0]])
    assert_allclose(model.transform([[1.0, 2.0]]), [[1.0]])
    with pytest.raises(ValueError, match="X has 1 features, but NystroemMap is"):
        model.transform([[1.0]])


def test_comparisons_and_lists_are_sent_to_on_items():
    items = np.eye(3)
    model = NystroemMap(n_landmarks=2).fit(items)
    for X in (
        Pairs(items, [0, 1], [1, 2]),
        Pairs(None, ["a"], ["b"]),
        Orders(items, [[0, 1]]),
        np.zeros((4, 2, 3)),
    ):
        message = rf"got {type(X).__name__}.*OnItems\(NystroemMap"
        for call in (NystroemMap().fit, model.transform):
            with pytest.raises(TypeError, match=message):
                call(X)
    mapped = OnItems(NystroemMap(n_landmarks=2)).fit_transform(Orders(items, [[0, 1]]))
    assert mapped.values.shape == (3, 2)
