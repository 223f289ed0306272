# SPDX-License-Identifier: BSD-3-Clause
"""A model comes back from its file as it was, and a bad file or model says why not."""

import inspect
import os
import pickle
import re
import sys
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import tiebreak
from tests.persistence.make_models import CASES
from tiebreak import (
    OnItems,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    load,
    save,
)
from tiebreak.persistence.checks import TRUSTED, parts_of

N_ITEMS, N_PAIRS, P = 25, 80, 4


def fit(model, X, y, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about ties and convergence, not about files
        return model.fit(X, y, **kwargs)


@pytest.fixture
def data(rng):
    """Items, rows of comparisons, and outcomes of a noisy linear utility."""
    items = rng.normal(size=(N_ITEMS, P)).round(1)
    left = np.append(np.arange(N_ITEMS), rng.integers(0, N_ITEMS, N_PAIRS))
    right = (left + 1 + rng.integers(0, N_ITEMS - 1, len(left))) % N_ITEMS
    d = items[right] @ [1.0, -2.0, 0.5, 0.1] - items[left] @ [1.0, -2.0, 0.5, 0.1]
    y = np.where(np.abs(d) < 1, 0, np.sign(d)).astype(int)
    return items, left, right, y


def same(a, b):
    """Whether two fitted things are equal in all their parts, to the last bit."""
    if isinstance(a, BaseEstimator):
        return type(a) is type(b) and same(a.__getstate__(), b.__getstate__())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if sp.issparse(a):
        return same([a.data, a.indices, a.indptr], [b.data, b.indices, b.indptr])
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.ndarray):
        return b.dtype == object and same(a.tolist(), b.tolist())
    return type(a) is type(b) and (a == b or (a != a and b != b))


def assert_predicts_the_same(model, again, pairs):
    if hasattr(model, "difference"):  # scikit-learn's Pipeline has none
        assert same(model.difference(pairs), again.difference(pairs))
    assert same(model.predict(pairs), again.predict(pairs))


@pytest.mark.parametrize("case", CASES)
def test_comes_back_to_the_last_bit(case, tmp_path):
    model, _, train = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = train(sklearn.clone(model))
    before = dict(vars(model))
    path = save(model, tmp_path / "model")
    assert path == tmp_path / "model"
    assert all(vars(model)[key] is value for key, value in before.items())
    assert same(model, load(path))


def test_no_estimator_is_forgotten():
    ours = {
        value
        for value in (getattr(tiebreak, name) for name in tiebreak.__all__)
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    tried = {type(part) for model, *_ in CASES.values() for part in parts_of(model)}
    # Those that hold other models, or trees that they check themselves.
    assert {k.__name__ for k in ours - tried} == {"BoostedUtility", "WithoutTies"}
    named = {f"tiebreak.{kind.__name__}" for kind in ours}
    named.add("tiebreak.ratings.OrderClusters")  # tests/ratings/test_order_clusters.py
    # tests/sklearn_user/test_pipelines.py
    named.add("tiebreak.models.item_pipeline.ItemPipeline")
    assert {name for name in TRUSTED if name.startswith("tiebreak.")} == named


TRANSFORMERS = [
    Binarizer(),
    ColumnTransformer(
        [("a", StandardScaler(), [0, 1]), ("b", "passthrough", slice(2, 3))],
        remainder=MinMaxScaler(),
    ),
    FeatureUnion([("a", StandardScaler()), ("b", PCA(1))]),
    FunctionTransformer(),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    KernelPCA(2, kernel="rbf"),
    MaxAbsScaler(),
    MinMaxScaler(),
    MissingIndicator(features="all"),
    Normalizer(),
    Nystroem(n_components=5, random_state=0),
    OneHotEncoder(handle_unknown="ignore", min_frequency=2),
    OrdinalEncoder(dtype=np.float32),
    PCA(2),
    PolynomialFeatures(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=5),
    RBFSampler(random_state=0),
    RobustScaler(),
    SimpleImputer(),
    StandardScaler(),
    TruncatedSVD(2, random_state=0),
    VarianceThreshold(),
    make_pipeline(StandardScaler(), PCA(2)),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_pipelines_of_usual_transformers(transformer, data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(items, left, right)
    model = fit(make_pipeline(OnItems(transformer), SVMCompare()), pairs, y)
    again = load(save(model, tmp_path / "model"))
    assert same(model, again)
    assert_predicts_the_same(model, again, pairs)


def test_every_trusted_transformer_was_tried():
    tried = {
        f"{type(part).__module__}.{type(part).__name__}"
        for whole in TRANSFORMERS
        for part in [whole, *getattr(whole, "named_steps", {}).values()]
    }
    trusted = {name for name in TRUSTED if name.startswith("sklearn.")}
    # KernelCenterer is tried as a part of KernelPCA, and LinearRegression as that of
    # ExpectedRankRegression, under the laws.
    assert trusted - tried == {
        "sklearn.linear_model._base.LinearRegression",
        "sklearn.preprocessing._data.KernelCenterer",
    }


def test_trusted_names_are_what_the_classes_are_called():
    for name in TRUSTED:
        module, _, attribute = name.rpartition(".")
        found = getattr(sys.modules[module], attribute)
        assert f"{found.__module__}.{found.__qualname__}" == name
        assert inspect.isclass(found)


@pytest.mark.parametrize(
    "model",
    [
        ThresholdCompare(make_pipeline(OnItems(StandardScaler()), RankSVM())),
        Pipeline(
            [("in", make_pipeline(OnItems(PCA(2)), "passthrough")), ("m", RankSVM())]
        ),
    ],
    ids=["pipeline in model", "pipeline in pipeline"],
)
def test_nested(model, data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(items, left, right)
    fit(model, pairs, y)
    assert same(model, load(save(model, str(tmp_path / "model"))))


def test_metadata_requests_come_back(data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(items, left, right)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RankSVM().set_fit_request(sample_weight="weight")
        model = fit(make_pipeline(OnItems(PCA(2)), ranker), pairs, y)
        again = load(save(model, tmp_path / "model"))
        asked = again.steps[-1][1].get_metadata_routing().fit.requests
    assert asked == {"sample_weight": "weight", "qid": True}
    assert_predicts_the_same(model, again, pairs)
    assert model.steps[-1][1]._metadata_request.fit.requests == asked


@pytest.fixture
def model(data):
    items, left, right, y = data
    return fit(SVMCompare(), Pairs(items, left, right), y)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (SVMCompare, "got ABCMeta|got type"),
        ({"a": 1}, "got dict"),
        (Ridge().fit([[0.0], [1.0]], [0, 1]), "got Ridge"),
        (make_pipeline(StandardScaler(), Ridge()), "got Pipeline"),
        (Pairs([[0.0], [1.0]], [0], [1]), "got Pairs"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refuses_what_is_not_a_model(thing, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        save(thing, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def dot(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    "model",
    [
        SVMCompare(kernel=dot),
        ThresholdCompare(make_pipeline(OnItems(PCA(2)), SVMCompare(kernel=dot))),
        make_pipeline(OnItems(Nystroem(dot, n_components=3)), SVMCompare()),
    ],
    ids=["model", "threshold of pipeline", "transformer"],
)
def test_refuses_callable_kernels_wherever_they_are(model, data, tmp_path):
    items, left, right, y = data
    if "Nystroem" in str(model):
        model.steps[0][1].transformer.kernel = lambda a, b: float(a @ b)
    fit(model, Pairs(items, left, right), y)
    with pytest.raises(
        ValueError, match=r"must not run code.*named kernel.*precomputed"
    ):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_functions_need_trust(data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(np.abs(items), left, right)
    model = make_pipeline(OnItems(FunctionTransformer(np.log1p)), SVMCompare())
    fit(model, pairs, y)
    # NumPy 2.1 has it under a longer name.
    named = r"'(numpy\.[\w.]*log1p)'"
    with pytest.warns(UserWarning, match=rf"trusted=\[{named}\]") as caught:
        path = save(model, tmp_path / "model")
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match=rf"trust by itself: {named}\.") as refused:
        load(path)
    name = re.search(named, str(refused.value))[1]
    assert_predicts_the_same(model, load(path, trusted=[name]), pairs)


class Root(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.sqrt(X)


def test_refuses_what_could_not_be_restored(data, tmp_path):
    items, left, right, y = data

    class Local(Root):
        pass

    for step in (FunctionTransformer(lambda X: X), Local()):
        model = make_pipeline(OnItems(step), SVMCompare())
        fit(model, Pairs(np.abs(items), left, right), y)
        with pytest.raises(ValueError, match="lambdas and local ones"):
            save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# How save writes


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_follows_a_link(model, tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "model", tmp_path / "link"
    link.symlink_to(target)
    assert save(model, link) == link
    assert link.is_symlink()
    assert same(model, load(target))


def test_refuses_a_place_that_is_not_a_file(model, tmp_path):
    with pytest.raises(FileExistsError, match="not replaced"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(model, tmp_path / "no folder" / "model")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileExistsError, match="not replaced"):
            save(model, tmp_path / "pipe")
        with pytest.raises(ValueError, match="not a regular file"):
            load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.touch(),
        lambda path: path.write_text("left,right\n"),
        lambda path: path.write_bytes(pickle.dumps(SVMCompare())),
        lambda path: write_zip(path, {"a.npy": b"\x93NUMPY"}),
        lambda path: skops.io.dump(Ridge(), path),
    ],
    ids=["empty", "text", "pickle", "npz", "skops"],
)
def test_other_files_are_refused(write, tmp_path):
    path = tmp_path / "model"
    write(path)
    with pytest.raises(ValueError, match=r"not made by tiebreak\.save") as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_larger_than_allowed(model, tmp_path):
    path = save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"more than max_bytes=1,000;") as caught:
        load(path, max_bytes=1000)
    size = int(re.search(r"max_bytes=(\d+)\)", str(caught.value))[1])
    assert same(model, load(path, max_bytes=size))
