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
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
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
from tiebreak import (
    MajorityCompare,
    MaxMarginCompare,
    OnItems,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    load,
    save,
)
from tiebreak.persistence.checks import TRUSTED

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


NAMES = np.array([f"Ⅷ player {i}" for i in range(N_ITEMS)])
MIXED = np.array([1.5, 7, *NAMES[2:].tolist()], dtype=object)
COLUMNS = [f"größe {i}" for i in range(P)]
SHAPES = {
    "dense": lambda items, left, right: Pairs(items, left, right),
    "array": lambda items, left, right: np.stack([items[left], items[right]], axis=1),
    "sparse": lambda items, left, right: Pairs(sp.csr_array(items), left, right),
    "names": lambda items, left, right: Pairs(None, NAMES[left], NAMES[right]),
    "numbers": lambda items, left, right: Pairs(None, 3 * left, 3 * right),
    "objects": lambda items, left, right: Pairs(None, MIXED[left], MIXED[right]),
    "pandas": lambda items, left, right: Pairs(
        pd.DataFrame(items, columns=COLUMNS), left, right
    ),
    "polars": lambda items, left, right: Pairs(
        pl.DataFrame(items, schema=COLUMNS), left, right
    ),
}
MODELS = {
    "svm-rbf": SVMCompare(C=10),
    "svm-linear": SVMCompare(C=10, kernel="linear"),
    "svm-poly": SVMCompare(kernel="poly", degree=2, coef0=1.0, gamma=0.3),
    "rank-rbf": RankSVM(C=10, ties="both"),
    "rank-linear": RankSVM(kernel="linear"),
    "margin-lp": MaxMarginCompare(),
    "margin-qp": MaxMarginCompare("qp"),
    "threshold-rbf": ThresholdCompare(RankSVM()),
    "threshold-linear": ThresholdCompare(RankSVM(kernel="linear")),
    "majority": MajorityCompare(tie=True),
}
WITHOUT_FEATURES = ("names", "numbers", "objects")
BY_NAME = ("svm-linear", "rank-linear", "threshold-linear", "majority")
CASES = [
    pytest.param(model, shape, id=f"{model}-{shape}")
    for model in MODELS
    for shape in SHAPES
    if model in BY_NAME or shape not in WITHOUT_FEATURES
]


def same(a, b):
    """Whether two fitted things are equal in all their parts, to the last bit."""
    if isinstance(a, BaseEstimator):
        return type(a) is type(b) and same(vars(a), vars(b))
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
    assert same(model.decision_function(pairs), again.decision_function(pairs))
    assert same(model.predict(pairs), again.predict(pairs))


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_comes_back_to_the_last_bit(name, shape, data, tmp_path):
    items, left, right, y = data
    pairs = SHAPES[shape](items, left, right)
    model = fit(sklearn.clone(MODELS[name]), pairs, y)
    before = dict(vars(model))

    path = save(model, tmp_path / "model")
    again = load(path)

    assert path == tmp_path / "model"
    assert all(vars(model)[key] is value for key, value in before.items())
    assert same(model, again)
    assert_predicts_the_same(model, again, pairs)
    swapped = SHAPES[shape](items, right[::-1], left[::-1])
    assert_predicts_the_same(model, again, swapped)
    if shape in ("pandas", "polars"):
        with pytest.raises(ValueError, match="feature names"):
            again.predict(Pairs(pd.DataFrame(items, columns=list("abcd")), [0], [1]))


def test_every_shape_of_the_table_is_a_different_test(data):
    items, left, right, y = data
    kinds = set()
    for name, shape in SHAPES.items():
        kernel = "linear" if name in WITHOUT_FEATURES else "rbf"
        model = fit(SVMCompare(kernel=kernel), shape(items, left, right), y)
        kinds |= {
            (key, type(value).__name__, getattr(value, "dtype", None))
            for key, value in vars(model).items()
        }
    assert ("support_items_", "csr_array", np.dtype(float)) in kinds
    assert ("feature_names_in_", "ndarray", np.dtype(object)) in kinds
    assert ("items_", "ndarray", np.dtype(object)) in kinds
    assert ("items_", "ndarray", NAMES.dtype) in kinds


def test_precomputed_kernel(data, tmp_path):
    items, left, right, y = data
    gram = (1 + items @ items.T) ** 2
    pairs = Pairs(gram, left, right)
    model = fit(SVMCompare(kernel="precomputed"), pairs, y)
    again = load(save(model, tmp_path / "model"))
    assert same(model, again)
    assert_predicts_the_same(model, again, Pairs(gram[:5], [0, 1, 2], [4, 3, 0]))


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


def test_every_estimator_of_tiebreak_is_trusted():
    public = {getattr(tiebreak, name) for name in tiebreak.__all__}
    estimators = {
        f"tiebreak.{value.__name__}"
        for value in public
        if inspect.isclass(value) and issubclass(value, BaseEstimator)
    }
    assert {name for name in TRUSTED if name.startswith("tiebreak.")} == estimators


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
        make_pipeline(OnItems(StandardScaler()), ThresholdCompare(SVMCompare())),
        Pipeline(
            [("in", make_pipeline(OnItems(PCA(2)), "passthrough")), ("m", RankSVM())]
        ),
        OnItems(StandardScaler()),
    ],
    ids=["pipeline in model", "model in pipeline", "pipeline in pipeline", "OnItems"],
)
def test_nested(model, data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(items, left, right)
    fit(model, pairs, y)
    assert same(model, load(save(model, str(tmp_path / "model"))))


def test_of_a_derived_class(data, tmp_path):
    items, left, right, y = data
    model = fit(Mine(kernel="linear"), Pairs(items, left, right), y)
    with pytest.warns(UserWarning, match=f"{__name__}.Mine"):
        path = save(model, tmp_path / "model")
    assert same(model, load(path, trusted=(f"{__name__}.Mine",)))


class Mine(RankSVM):
    pass


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


def test_an_array_in_two_places_comes_back_twice(data, tmp_path):
    items, left, right, y = data
    model = fit(SVMCompare(), Pairs(items, left, right), y)
    model.alias_ = model.dual_coef_
    assert same(model, load(save(model, tmp_path / "model")))


def test_the_same_model_gives_the_same_bytes(data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(sp.csr_array(items), left, right)
    one = save(fit(SVMCompare(), pairs, y), tmp_path / "one")
    two = save(fit(SVMCompare(), pairs, y), tmp_path / "two")
    assert one.read_bytes() == two.read_bytes()


def test_skops_alone_can_read_the_file(data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(items, left, right)
    model = fit(SVMCompare(), pairs, y)
    path = save(model, tmp_path / "model")
    assert skops.io.get_untrusted_types(file=path) == ["tiebreak.SVMCompare"]
    assert_predicts_the_same(
        model, skops.io.load(path, trusted=["tiebreak.SVMCompare"]), pairs
    )


# What save refuses


@pytest.fixture
def model(data):
    items, left, right, y = data
    return fit(SVMCompare(), Pairs(items, left, right), y)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (SVMCompare, "the class SVMCompare itself"),
        ({"a": 1}, "got dict"),
        (None, "got NoneType"),
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


def test_of_a_search_its_best_estimator_is_saved(data, tmp_path):
    items, left, right, y = data
    search = GridSearchCV(SVMCompare(), {"C": [1.0]}, cv=2)
    fit(search, Pairs(items, left, right), y)
    with pytest.raises(TypeError, match="GridSearchCV; try its best_estimator_"):
        save(search, tmp_path / "model")
    assert same(
        search.best_estimator_, load(save(search.best_estimator_, tmp_path / "m"))
    )


@pytest.mark.parametrize(
    "unfitted",
    [
        SVMCompare(),
        ThresholdCompare(RankSVM()),
        MajorityCompare(),
        make_pipeline(OnItems(StandardScaler()), MaxMarginCompare()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_refuses_what_is_not_fitted(unfitted, tmp_path):
    with pytest.raises(NotFittedError):
        save(unfitted, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def dot(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    "model",
    [
        SVMCompare(kernel=dot),
        ThresholdCompare(RankSVM(kernel=dot)),
        make_pipeline(OnItems(StandardScaler()), RankSVM(kernel=dot)),
        ThresholdCompare(make_pipeline(OnItems(PCA(2)), SVMCompare(kernel=dot))),
        make_pipeline(OnItems(Nystroem(dot, n_components=3)), SVMCompare()),
    ],
    ids=["model", "threshold", "pipeline", "threshold of pipeline", "transformer"],
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


def test_own_transformers_need_trust(data, tmp_path):
    items, left, right, y = data
    pairs = Pairs(np.abs(items), left, right)
    model = fit(make_pipeline(OnItems(Root()), SVMCompare()), pairs, y)
    name = f"{__name__}.Root"
    with pytest.warns(UserWarning, match=name):
        path = save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=name):
        load(path)
    assert_predicts_the_same(model, load(path, trusted=iter([name])), pairs)


def test_refuses_what_could_not_be_restored(data, tmp_path):
    items, left, right, y = data

    class Local(Root):
        pass

    for step in (FunctionTransformer(lambda X: X), Local()):
        model = make_pipeline(OnItems(step), SVMCompare())
        fit(model, Pairs(np.abs(items), left, right), y)
        with pytest.raises(ValueError, match=r"not saved.*lambdas and local ones"):
            save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# How save writes


def test_replaces_an_older_file(model, tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(0o640)
    save(model, path)
    assert same(model, load(path))
    assert list(tmp_path.iterdir()) == [path]
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_others_may_read_what_the_umask_lets_them(model, tmp_path):
    (tmp_path / "plain").touch()
    path = save(model, tmp_path / "model")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_follows_a_link(model, tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "model", tmp_path / "link"
    link.symlink_to(target)
    assert save(model, link) == link
    assert link.is_symlink()
    assert same(model, load(target))


def test_a_full_disk_leaves_the_older_file(model, tmp_path):
    resource = pytest.importorskip("resource")
    path = save(model, tmp_path / "model")
    old = path.read_bytes()
    model.extra_ = np.zeros(100_000)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"was not saved.*unchanged") as caught:
            save(model, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_older_file(model, tmp_path, monkeypatch):
    path = save(model, tmp_path / "model")
    old = path.read_bytes()

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    model.extra_ = 1
    with pytest.raises(KeyboardInterrupt):
        save(model, path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_refuses_a_place_that_is_not_a_file(model, tmp_path):
    with pytest.raises(IsADirectoryError, match="Is a folder"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"create it first.*no folder"):
        save(model, tmp_path / "no folder" / "model")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileExistsError, match="not a regular file"):
            save(model, tmp_path / "pipe")


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere"
)
def test_refuses_a_write_protected_file(model, tmp_path):
    path = save(model, tmp_path / "model")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        save(model, path)


# What load refuses before it looks inside; the inside is in test_checks.py


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"check the path.*nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="Is a folder"):
        load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="not a regular file"):
            load(tmp_path / "pipe")


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read(model, tmp_path):
    path = save(model, tmp_path / "model")
    path.chmod(0)
    with pytest.raises(PermissionError):
        load(path)


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: path.touch(), "is empty"),
        (lambda path: path.write_text("left,right\n"), "another kind of file"),
        (lambda path: path.write_bytes(pickle.dumps(SVMCompare())), "a pickle, which"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"), "a NumPy array"),
        (lambda path: write_zip(path, {"a.npy": b"\x93NUMPY"}), "archive of NumPy"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08\x00"), "unpack it first"),
        (lambda path: write_zip(path, {"a.xml": "<a/>"}), "zip archive that was not"),
        (lambda path: skops.io.dump(Ridge(), path), "a skops file that was not"),
    ],
    ids=["empty", "text", "pickle", "npy", "npz", "gzip", "zip", "skops"],
)
def test_other_files_are_named(write, message, tmp_path):
    path = tmp_path / "model"
    write(path)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "tiebreak.save" in text or "failed" in text
    assert len(text.splitlines()) == 1
    assert caught.value.__cause__ is None


def test_a_file_larger_than_allowed(model, tmp_path):
    path = save(model, tmp_path / "model")
    size = path.stat().st_size
    assert same(model, load(path, max_bytes=size))
    with pytest.raises(
        ValueError, match=rf"{size} bytes, more than max_bytes={size - 1}"
    ):
        load(path, max_bytes=size - 1)


@pytest.mark.parametrize("trusted", ["tiebreak.SVMCompare", True])
def test_trusted_is_a_list(trusted, model, tmp_path):
    path = save(model, tmp_path / "model")
    with pytest.raises(TypeError, match="list of qualified names"):
        load(path, trusted=trusted)
