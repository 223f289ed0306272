# SPDX-License-Identifier: BSD-3-Clause
"""What a model file may contain.

Three rules make it safe to read a file of unknown origin:

* **No code.** Only types in `TRUSTED` are built, each by its own loader; functions are
  not among them.
* **No inflation.** The unpacked sizes of all members are added up before one is read.
  Each belongs to one part of the model, and has the length in the header of its array.
  Empty arrays count as if they had one row.
* **No other attributes.** An estimator has its parameters and what `fit` stores; a file
  cannot replace what the class defines, such as how it is shown in a notebook.
* **No wrong arrays.** Compiled loops trust the arrays of a model, so `check_arrays`
  compares them with the ``_fitted_arrays`` of each estimator.
"""

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from tiebreak.data.messages import first_of

FORMAT = 2
META, SCHEMA = "tiebreak.json", "schema.json"
MOST_JSON = 1 << 24  # bytes; parsed it takes up to 33 times as many

_SCALARS = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    *("str_", "bytes_", "datetime64", "timedelta64"),
)

# Written out, so that a name which is not here is not trusted.
_OURS = (
    "BoostedUtility BradleyTerry CoRankingPursuit Elo ExpectedRankRegression Glicko "
    "Glicko2 HedgeOrder JudgeBradleyTerry L1Ranker L1RankerCV LogisticCompare "
    "MajorityCompare MatchingPursuit MaxMarginCompare NystroemMap OnItems "
    "OrderSVM OrdinalSVM PlackettLuce RankBoost RankRLS RankSVM RankingPursuit "
    "SVMCompare SwapSVM ThresholdCompare WithoutTies "
    "models.item_pipeline.ItemPipeline ratings.OrderClusters"
)
_PREPROCESSING = (
    "Binarizer KernelCenterer MaxAbsScaler MinMaxScaler Normalizer PowerTransformer "
    "QuantileTransformer RobustScaler StandardScaler"
)

# What each loader of skops may build. Loaders that are not here (for functions, bound
# methods, functools.partial, operator.*, calls of constructors, random generators,
# trees with unchecked indices) may build nothing.
_TRUSTED: dict[str, tuple[str, ...]] = {
    "ObjectNode": (
        *(f"tiebreak.{name}" for name in _OURS.split()),
        *(f"sklearn.preprocessing._data.{name}" for name in _PREPROCESSING.split()),
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.decomposition._kernel_pca.KernelPCA",
        "sklearn.decomposition._pca.PCA",
        "sklearn.decomposition._truncated_svd.TruncatedSVD",
        "sklearn.feature_selection._variance_threshold.VarianceThreshold",
        "sklearn.impute._base.MissingIndicator",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.kernel_approximation.Nystroem",
        "sklearn.kernel_approximation.RBFSampler",
        "sklearn.linear_model._base.LinearRegression",
        "sklearn.pipeline.FeatureUnion",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._discretization.KBinsDiscretizer",
        "sklearn.preprocessing._encoders.OneHotEncoder",
        "sklearn.preprocessing._encoders.OrdinalEncoder",
        "sklearn.preprocessing._function_transformer.FunctionTransformer",
        "sklearn.preprocessing._polynomial.PolynomialFeatures",
    ),
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "SetNode": ("builtins.set",),
    "TupleNode": ("builtins.tuple",),
    "SliceNode": ("builtins.slice",),
    "JsonNode": ("builtins.str",),
    # Types as values: of the keys of a dict, or the dtype of an encoder.
    "TypeNode": (
        *(f"builtins.{name}" for name in ("bool", "float", "int", "str")),
        *(f"numpy.{name}" for name in _SCALARS),
    ),
    "NdArrayNode": ("numpy.ndarray", *(f"numpy.{name}" for name in _SCALARS)),
    "DTypeNode": ("numpy.dtype",),
    "SparseMatrixNode": tuple(
        f"scipy.sparse._{kind}.{kind}_{what}"
        for kind in ("csc", "csr")
        for what in ("array", "matrix")
    ),
}
TRUSTED = sorted(set().union(*_TRUSTED.values()))


class RefusedError(ValueError):
    """Why a file is not read, in words that continue its name: "… is damaged."."""


def check_content(archive: ZipFile, vouched: Iterable[str], max_bytes: int) -> None:
    """Refuse a file with which more could happen than that a model is built."""
    size = sum(member.file_size for member in archive.infolist())
    _check_size(size, max_bytes)
    if not {META, SCHEMA} <= set(archive.namelist()):
        raise RefusedError("is a zip archive that was not made by tiebreak.save.")
    meta = json.loads(_read_json(archive, META))
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise RefusedError(
            f"does not have format {FORMAT}, the only one that this version of "
            "tiebreak reads: fit the model again, and save it."
        )
    foreign, files = read_schema(_read_json(archive, SCHEMA))
    if refused := foreign.difference(vouched):
        names = [ascii(name[:100]) for name in sorted(refused)]
        raise RefusedError(
            "contains types that tiebreak does not trust by itself: "
            f"{first_of(names, 5)}. "
            "Only if you know who made the file and what these types do, name them in "
            "load(path, trusted=[...])."
        )
    for loader, name in files:
        if loader == "SparseMatrixNode":
            with ZipFile(io.BytesIO(archive.read(name))) as parts:
                size += sum(part.file_size for part in parts.infolist())
                _check_size(size, max_bytes)
                for part in parts.namelist():
                    _check_header(parts, part)
        else:
            _check_header(archive, name)


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise RefusedError(
            f"holds {size:,} bytes, more than max_bytes={max_bytes:,}; if you expect a "
            f"model of this size, try load(path, max_bytes={size})."
        )


def _read_json(archive: ZipFile, name: str) -> bytes:
    if (size := archive.getinfo(name).file_size) > MOST_JSON:
        raise RefusedError(
            f"has {size:,} bytes of JSON; at most {MOST_JSON:,} are read."
        )
    return archive.read(name)


def read_schema(text: bytes) -> tuple[set[str], list[tuple[str, str]]]:
    """Give the types that are not trusted, and the loader and name of each file."""
    foreign: set[str] = set()
    files: dict[str, str] = {}

    def check_node(node: dict[str, Any]) -> dict[str, Any]:
        loader = node.get("__loader__")
        if isinstance(loader, str):
            name = f"{node.get('__module__')}.{node.get('__class__')}"
            if name not in _TRUSTED.get(loader, ()):
                foreign.add(name)
            # A part that stands for another, or shares its file, would let a small
            # file describe a large model.
            if "__id__" in node or node.get("file") in files:
                raise RefusedError("has parts that share content.")
            if "file" in node:
                files[node["file"]] = loader
        return node

    json.loads(text, object_hook=check_node)
    return foreign, [(loader, file) for file, loader in files.items()]


def _check_header(archive: ZipFile, name: str) -> None:
    """Refuse an array whose header claims another length than it has."""
    with archive.open(name) as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        size = archive.getinfo(name).file_size
        # Elements may be of zero bytes, and then any number of them would fit.
        count = math.prod(shape)
        if count > size or stream.tell() + count * dtype.itemsize != size:
            raise RefusedError(
                f"has in {name!a} an array of shape {shape} and {dtype}, but {size} "
                "bytes."
            )


def parts_of(value: Any) -> Iterator[Any]:
    """Yield a value and everything inside it: estimators, containers and arrays."""
    yield value
    if isinstance(value, BaseEstimator):
        value = vars(value)
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, np.ndarray) and value.dtype == object:
        value = value.flat
    elif not isinstance(value, list | tuple | set):
        return
    for part in value:
        yield from parts_of(part)


def check_arrays(model: Any, max_bytes: int) -> None:
    """Refuse a model whose arrays are not what its estimators declare.

    The ``_fitted_arrays`` of a class and its bases map an attribute, or an entry of a
    dict such as ``_log.sides``, to ``"shape: rule, rule"``. Equal letters in shapes are
    equal lengths within a model; p is the number of features, or of names if there are
    none; ``n+1`` and ``3*m`` are computed, ``*`` is any, ``n..`` at least n. Values are
    finite numbers, and

    - index n: whole numbers from 0 to n - 1; without n any that are not negative;
    - rising, from 0, to n: each larger than the one before; the first; the last;
    - ends starts_: 0, or where a block ends that begins here, in its run of `starts_`,
      or minus that;
    - any: not only finite numbers: names, or times that may be unknown.
    """
    size = 0
    for part in parts_of(model):
        if isinstance(part, np.ndarray):
            # Where one length is 0, the others cost nothing until they are used.
            lengths = [max(length, 1) for length in part.shape]
            size += math.prod(lengths) * max(part.dtype.itemsize, 1)
        elif sp.issparse(part):
            size += 8 * sum(part.shape)
            if part.format not in ("csr", "csc"):
                raise RefusedError(f"has a sparse matrix of format {part.format}.")
            part.check_format(full_check=True)
    _check_size(size, max_bytes)
    for part in parts_of(model):
        if isinstance(part, BaseEstimator):
            _check_estimator(part)


def _check_estimator(model: BaseEstimator) -> None:
    table: dict[str, str] = {}
    for kind in reversed(type(model).__mro__):
        table |= vars(kind).get("_fitted_arrays", {})
    _check_names(model, table)
    state = dict(vars(model))
    for name, value in vars(model).items():
        if isinstance(value, dict):
            state |= {f"{name}.{key}": part for key, part in value.items()}
    n_features = state.get("n_features_in_", len(state.get("items_", ())))
    lengths: dict[str, int] = {"p": n_features}
    declared = [
        (name, *row.partition(": ")[::2])
        for name, row in table.items()
        if state.get(name) is not None
    ]
    # Plain lengths first: those that are computed, as n+1, are known then.
    for name, shape, _ in sorted(declared, key=lambda row: "+" in row[1]):
        if not _fits(state[name], shape.split(), lengths):
            raise _wrong(model, name, f"an array of shape ({shape})")
    for name, _, rules in declared:
        for rule in ["finite", *filter(None, rules.split(", "))]:
            if rules != "any" and not _obeys(state[name], rule, lengths, state):
                raise _wrong(model, name, rule)


def _check_names(model: BaseEstimator, table: Mapping[str, str]) -> None:
    kind = type(model)
    if f"{kind.__module__}.{kind.__qualname__}" not in TRUSTED:
        return
    known = {*kind._get_param_names(), *(name.split(".")[0] for name in table)}
    fitted = r"[a-z]\w*_" if kind.__module__ == "tiebreak" else r"(?!__)[^\W\d]\w*"
    for name in model.__getstate__().keys() - known - {"_metadata_request"}:
        if hasattr(kind, name) or not re.fullmatch(fitted, name):
            raise RefusedError(f"has in {kind.__name__} the attribute {name[:100]!a}.")


def _wrong(model: BaseEstimator, name: str, expected: str) -> RefusedError:
    return RefusedError(
        f"has in {type(model).__name__}.{name} something else than declared: "
        f"{expected}."
    )


def _fits(value: Any, dims: list[str], lengths: dict[str, int]) -> bool:
    """Compare a shape, and learn the lengths of letters that are new."""
    shape = (len(value),) if isinstance(value, list) else getattr(value, "shape", ())
    if len(shape) != len(dims):
        return False
    for dim, length in zip(dims, shape, strict=True):
        if dim.isalpha():
            lengths.setdefault(dim, length)
        least = _evaluate(dim.removesuffix(".."), lengths) if dim != "*" else 0
        if length < least or (length > least and dim != "*" and ".." not in dim):
            return False
    return True


def _evaluate(sum_: str, lengths: Mapping[str, int]) -> int:
    """Give the value of a length such as 3*m+1; what a model has not is 0."""
    return sum(
        math.prod(lengths.get(f, 0) if f.isalpha() else int(f) for f in term.split("*"))
        for term in sum_.split("+")
    )


def _obeys(
    value: Any, rule: str, lengths: Mapping[str, int], state: Mapping[str, Any]
) -> bool:
    x = value.data if sp.issparse(value) else value
    word, _, argument = rule.partition(" ")
    if word == "finite":
        fine = x.dtype.kind in "iuf" and np.isfinite(x).all()
    elif word == "index":
        fine = x.dtype.kind in "iu" and (x >= 0).all()
        fine = fine and (not argument or (x < _evaluate(argument, lengths)).all())
    elif word == "rising":
        fine = (x[1:] > x[:-1]).all()
    elif word == "from":
        fine = (x[:1] == int(argument)).all()
    elif word == "to":
        fine = (x[-1:] == _evaluate(argument, lengths)).all()
    elif word == "ends":
        starts = state[argument]
        last = np.repeat(starts[1:], np.diff(starts))
        end = np.abs(x)
        fine = ((x == 0) | ((end > np.arange(len(x))) & (end <= last))).all()
    else:
        raise AssertionError(f"{rule!r} is not a rule of fitted arrays.")
    return bool(fine)
