# SPDX-License-Identifier: BSD-3-Clause
"""What a model file may contain: checks before anything in it is built.

Three rules make it safe to read a file of unknown origin:

* **No code.** A file names the types it is made of. Only those in `TRUSTED` are built,
  each by the one loader that belongs to it; functions are not among them.
* **No lies.** Compiled loops trust the arrays of a model. So what each class keeps has
  the shape and the range that `STATE` says, or the file is refused.
* **No inflation.** Every member is stored as it is, also inside the archives that hold
  sparse matrices; each belongs to one part of the model; and an array is exactly as
  long as its header says. So memory grows in proportion to the file, and a compressed
  member is refused before it is read.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import scipy.sparse as sp

FORMAT = 1
_CLASSES = np.array([-1, 0, 1])
_LARGEST = 1e150  # whose square is still finite

META, SCHEMA = "tiebreak.json", "schema.json"
_MEMBER = re.compile(r"[0-9]{1,9}\.(npy|npz|bin)", re.ASCII)
_SUFFIXES = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}
_PARTS_OF_SPARSE = {
    f"{part}.npy"
    for part in ("_is_array", "data", "format", "indices", "indptr", "shape")
}

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
    "SVMCompare SwapSVM ThresholdCompare WithoutTies"
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
TRUSTED_OBJECTS = frozenset(_TRUSTED["ObjectNode"])
TRUSTED = tuple(sorted({name for names in _TRUSTED.values() for name in names}))


# Bytes of JSON. A named feature takes 115, and parsed it takes up to 33 times as many.
MOST_JSON = 1 << 24


class RefusedError(ValueError):
    """Why a file is not read, in words that continue its name: "… is empty."."""


def listed(names: Iterable[str]) -> str:
    """Name the first few, printable whatever they are, and count the others."""
    names = sorted(names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(ascii(name[:100]) for name in names[:5]) + more


def one_line(error: Exception) -> str:
    """Describe an error in one printable sentence, with its period."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text[:200].rstrip(".") + "."


def check_content(stream: IO[bytes], vouched: Iterable[str]) -> None:
    """Refuse a file with which more could happen than that a model is built."""
    _check_beginning(stream)
    with ZipFile(stream) as archive:
        size = stream.seek(0, io.SEEK_END)
        _check_kind(archive.namelist())
        # First of all the version: a newer one may have other rules than these.
        _check_stored([archive.getinfo(META)], size)
        _check_length(archive, META, 1 << 12)
        _check_version(json.loads(archive.read(META)))
        _check_names(archive.namelist())
        _check_stored(archive.infolist(), size)
        _check_length(archive, SCHEMA, MOST_JSON)
        foreign = set(foreign_types(json.loads(archive.read(SCHEMA))))
        if refused := foreign.difference(vouched):
            raise RefusedError(
                "contains types that tiebreak does not trust by itself: "
                f"{listed(refused)}. Either it was not made by tiebreak.save, or the "
                "model has parts from elsewhere; only if you know who made it and what "
                "these do, name them in load(path, trusted=[...])."
            )
        for name in archive.namelist():
            _check_arrays(archive, name)


def _check_beginning(stream: IO[bytes]) -> None:
    start = stream.read(8)
    stream.seek(0)
    if not start:
        raise RefusedError("is empty; the copy or download may have failed.")
    if start.startswith(b"PK\x03\x04"):
        return
    kind = "another kind of file"
    if start.startswith(b"\x80"):
        kind = "a pickle, which could run code when it is read"
    elif start.startswith(b"\x93NUMPY"):
        kind = "a NumPy array"
    elif start.startswith(b"\x1f\x8b"):
        kind = "a gzip file; unpack it first"
    raise RefusedError(
        f"is not a model file but looks like {kind}. load reads what tiebreak.save "
        "wrote."
    )


def _check_kind(names: list[str]) -> None:
    if META not in names or SCHEMA not in names:
        kind = "a zip archive"
        if all(name.endswith(".npy") for name in names):
            kind = "an archive of NumPy arrays"
        elif SCHEMA in names:
            kind = "a skops file"
        raise RefusedError(f"is {kind} that was not made by tiebreak.save.")


def _check_names(names: list[str]) -> None:
    odd = {name for name, count in Counter(names).items() if count > 1}
    odd |= {n for n in names if n not in (META, SCHEMA) and not _MEMBER.fullmatch(n)}
    if odd:
        raise RefusedError(
            f"has members that do not belong in a model file: {listed(odd)}."
        )


def _check_stored(members: list[ZipInfo], size: int) -> None:
    """Refuse members that are compressed, or that claim more than there is."""
    for member in members:
        if member.compress_type != ZIP_STORED:
            raise RefusedError(
                f"has the compressed member {listed([member.filename])}, "
                f"{member.compress_size} bytes that claim to hold {member.file_size}. "
                "tiebreak.save stores members as they are, so that a small file cannot "
                "fill the memory; if you packed this file again, use the original."
            )
    claimed = sum(member.file_size for member in members)
    if claimed > size or any(m.file_size != m.compress_size for m in members):
        raise RefusedError(
            f"has members that claim to hold {claimed} bytes in a file of {size}; it "
            "is damaged or was not made by tiebreak.save."
        )


def _check_length(archive: ZipFile, name: str, most: int) -> None:
    if (found := archive.getinfo(name).file_size) > most:
        raise RefusedError(
            f"has {found:,} bytes of JSON in {name}, and at most {most:,} are read, "
            "because they would take many times their size in memory."
        )


def _check_version(meta: Any) -> None:
    version = meta.get("format") if isinstance(meta, dict) else None
    if type(version) is not int or version < 1:
        raise RefusedError(f"has no valid format version in {META}.")
    if version > FORMAT:
        made_by = one_line(Exception(meta.get("tiebreak", "a newer version")))
        raise RefusedError(
            f"has format {version}, and this version of tiebreak reads formats up to "
            f"{FORMAT}. Update tiebreak; the file was made by {made_by}"
        )


def foreign_types(schema: Any) -> list[str]:
    """Name the types in a schema that are not trusted."""
    # Every list and dict is visited, so nothing that skops would build is overlooked.
    foreign: set[str] = set()
    files: set[str] = set()
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.values())
            loader = value.get("__loader__")
            if not isinstance(loader, str):
                continue
            _check_reference(loader, value, files)
            name = f"{value.get('__module__')}.{value.get('__class__')}"
            if name not in _TRUSTED.get(loader, ()):
                foreign.add(name)
    return sorted(foreign)


def _check_reference(loader: str, node: dict[str, Any], files: set[str]) -> None:
    """Refuse parts that stand for other parts, or that share a file with one."""
    # Either way a small file could describe a large model: that each part is there once
    # is what makes the size of the file a bound.
    if "__id__" in node:
        raise RefusedError(
            "has parts that refer to each other; it was not made by tiebreak.save."
        )
    if "file" not in node:
        return
    file, suffix = node["file"], _SUFFIXES.get(loader, ".bin")
    if not isinstance(file, str) or not file.endswith(suffix) or file in files:
        raise RefusedError(
            f"has a part with the file {listed([str(file)])}; expected one that ends "
            f"in {suffix} and belongs to no other part. It was not made by "
            "tiebreak.save."
        )
    files.add(file)


def _check_arrays(archive: ZipFile, name: str) -> None:
    """Refuse arrays with objects, with a wrong length, or with indices out of range."""
    if name.endswith(".npy"):
        with archive.open(name) as array:
            _check_array(array, archive.getinfo(name).file_size, name)
    if not name.endswith(".npz"):
        return
    content = io.BytesIO(archive.read(name))
    with ZipFile(content) as inner:
        _check_stored(inner.infolist(), archive.getinfo(name).file_size)
        if not set(inner.namelist()) <= _PARTS_OF_SPARSE:
            raise RefusedError(f"has in {name} something else than a sparse matrix.")
        for part in inner.namelist():
            _check_arrays(inner, part)
    content.seek(0)
    matrix = sp.load_npz(content)
    if matrix.format not in ("csr", "csc"):
        raise RefusedError(f"has in {name} a sparse matrix of format {matrix.format}.")
    # Products with a matrix whose indices are out of range read and write memory
    # that is not theirs.
    matrix.check_format(full_check=True)


def _check_array(array: IO[bytes], size: int, name: str) -> None:
    headers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        shape, _, dtype = headers[np.lib.format.read_magic(array)](array)
    except (KeyError, ValueError):
        raise RefusedError(
            f"has in {name} no array that can be read; it is damaged or was not made "
            "by tiebreak.save."
        ) from None
    if dtype.hasobject:
        raise RefusedError(
            f"has in {name} an array of pickled objects, which could run code when it "
            "is read."
        )
    count = math.prod(shape)
    # Elements may be of zero bytes, and then any number of them would fit.
    fits = min(shape, default=0) >= 0 and count <= size
    if not fits or array.tell() + count * dtype.itemsize != size:
        raise RefusedError(
            f"has in {name} an array of shape {shape} and {dtype}, which does not fit "
            f"its {size} bytes; it is damaged or was not made by tiebreak.save."
        )


# What the classes keep: the shape of an attribute, and a rule for its values. Equal
# letters are equal lengths within a model, * is any; p is the number of features, or of
# items by name. Without a rule values are finite; with it they are also
#
# - index n: whole numbers from 0 to n - 1, or without n any that are not negative;
# - positive, or nonnegative;
# - rising: each larger than the one before, or ordered: none smaller;
# - names: or not numbers at all.
_LINEAR = {"coef_": "p", "items_": "p: names"}
_KERNEL = {
    **_LINEAR,
    "item_coef_": "s",
    "support_items_": "s p",
    "support_": "d: index",
    "dual_coef_": "d",
}
_PURSUIT = {
    "coef_": "p",
    "path_": "f f",
    "path_support_": "f: index",
    "path_kernel_": "f: index",
    "objective_path_": "f+1",
    "support_": "k: index",
    "support_kernel_": "k: index",
    "dual_coef_": "k",
    "support_items_": "k p",
}
_STRENGTHS = {
    "items_": "n: names",
    "strength_": "n",
    "prior_alphas_": "a: positive",
    "prior_weights_": "a: nonnegative",
    "prior_coefs_": "a *",
}
_GAMES = {
    "_names": "n: names",
    "_before": "b 2 *",
    "_log.sides": "r 2: index",
    "_log.outcome": "r",
    "_log.weight": "r: nonnegative",
    "_log.advantage": "r",
    "_log.starts": "u: index, rising",
    "_log.period": "u: names",
}
STATE: dict[str, dict[str, str]] = {
    "BradleyTerry": {
        **_STRENGTHS,
        "pair_left_": "m: index n",
        "pair_right_": "m: index n",
        "pair_counts_": "m 3: nonnegative",
        "pair_covariates_": "m *",
        "rater_counts_": "* 3*m: nonnegative",
        "wins_": "n: nonnegative",
        "ties_": "n: nonnegative",
        "losses_": "n: nonnegative",
    },
    "CoRankingPursuit": {
        "path_": "f v",
        "path_support_": "f v: index",
        "objective_path_": "f+1",
        "support_": "k v: index",
        "dual_coef_": "k v",
        "item_coef_": "s v",
        "support_items_": "s p",
        "gamma_": "v",
        "agreement_": "v v",
    },
    "Elo": {**_GAMES, "_state": "n 4"},
    "ExpectedRankRegression": _LINEAR,
    "Glicko": {**_GAMES, "_state": "n 8: names"},
    "Glicko2": {**_GAMES, "_state": "n 8: names"},
    "HedgeOrder": {
        "losses_": "p",
        "loss_curve_": "*",
        "weights_": "2 p: nonnegative",
        "side_means_": "2 p",
        "side_variances_": "2 p: nonnegative",
    },
    "JudgeBradleyTerry": {
        "items_": "n: names",
        "strength_": "n",
        "judges_": "j: names",
        "discrimination_": "j",
        "tie_width_": "j: nonnegative",
        "side_bias_": "j",
        "judge_covariance_": "j 3 3",
        "spread_": "3: nonnegative",
        "prior_weights_": "a: nonnegative",
        "node_strengths_": "a n",
        "node_covariances_": "a n n",
        "item_features_": "n p",
        "feature_coef_": "p",
        "node_coefs_": "a p",
        "node_coef_covariances_": "a p p",
    },
    "L1Ranker": {**_LINEAR, "dual_gradient_": "p"},
    "L1RankerCV": {
        **_LINEAR,
        "dual_gradient_": "p",
        "alphas_": "a: nonnegative",
        "coef_path_": "a p",
        "scores_": "a *",
    },
    "LinearRegression": {"coef_": "p"},
    "LogisticCompare": {
        **_LINEAR,
        "support_": "s: index",
        "dual_coef_": "s",
        "support_items_": "s p",
        "effect_names_": "e: names",
        "item_effect_": "e",
        "_stream": "4 p+e+1",
    },
    "MajorityCompare": {"shares_": "3: nonnegative"},
    "MatchingPursuit": _PURSUIT,
    "MaxMarginCompare": _KERNEL,
    "NystroemMap": {
        "landmarks_": "m p",
        "landmark_indices_": "m: index",
        "projection_": "m *",
    },
    "OrderSVM": {
        **_KERNEL,
        "cuts_": "c: index",
        "thresholds_": "c",
        "cut_coef_": "c *",
    },
    "OrdinalSVM": {**_KERNEL, "grades_": "g: rising", "thresholds_": "g+-1: ordered"},
    "PlackettLuce": {
        **_STRENGTHS,
        "list_starts_": "l+1: index, ordered",
        "list_items_": "e: index n",
        "list_ends_": "e: index",
        "list_weight_": "l: positive",
        "tie_sizes_": "t: index, rising",
        "tie_": "t: positive",
    },
    "RankBoost": {
        "features_": "t: index p",
        "alphas_": "t",
        "edges_": "t",
        "normalizers_": "t: nonnegative",
        "cuts_": "t",
        "lower_": "p",
        "span_": "p: nonnegative",
        "coef_": "p",
    },
    "RankRLS": _KERNEL,
    "RankSVM": _KERNEL,
    "RankingPursuit": _PURSUIT,
    "SVMCompare": _KERNEL,
    "SwapSVM": _KERNEL,
}
# Rules that the numbers of an array must obey, and how a refusal words them.
_RULES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "positive": (lambda x: x > 0, "positive numbers"),
    "nonnegative": (lambda x: x >= 0, "no negative numbers"),
    "rising": (lambda x: x[1:] > x[:-1], "numbers that rise"),
    "ordered": (lambda x: x[1:] >= x[:-1], "numbers that do not fall"),
}


def check_state(model: Any) -> None:
    """Refuse an estimator whose arrays are not what its class keeps."""
    kinds = [kind.__name__ for kind in type(model).__mro__]
    name = next((kind for kind in kinds if kind in STATE), "")
    state, table = _flat(vars(model)), STATE.get(name, {})
    lengths = _first_lengths(name, state)
    # Plain lengths first: those that are computed, as l+1, are known then.
    for attribute, row in sorted(table.items(), key=lambda entry: "+" in entry[1]):
        if state.get(attribute) is not None:
            _check_row(f"{name}.{attribute}", state[attribute], row, lengths)
    if name or type(model).__module__ == "tiebreak":
        for attribute, value in state.items():
            if attribute not in table and attribute.endswith("_"):
                _check_numbers(f"{name}.{attribute}", value)
    if (together := _TOGETHER.get(name)) and not together(state, lengths):
        raise _wrong(name, "arrays that belong together")


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    """Give the attributes of a model, and those of dicts after a dot."""
    flat = dict(state)
    for name, value in state.items():
        if name[-1] != "_" and isinstance(value, dict):
            flat |= {f"{name}.{key}": part for key, part in value.items()}
    return flat


def _first_lengths(name: str, state: dict[str, Any]) -> dict[str, int]:
    """Check what all classes keep, and give the number of features."""
    classes, n = state.get("classes_", _CLASSES), state.get("n_features_in_")
    # As scikit-learn renumbers them, and of WithoutTies without the tie.
    codings = [_CLASSES, _CLASSES + 1]
    if "model_" in state:
        codings = [_CLASSES[::2], _CLASSES[1:]]
    if not any(np.array_equal(classes, coding) for coding in codings):
        raise _wrong(f"{name}.classes_", "-1, 0 and 1")
    if n is not None and (type(n) is not int or n < 1):
        raise _wrong(f"{name}.n_features_in_", "a positive whole number")
    return {} if n is None else {"p": n}


def _check_row(name: str, value: Any, row: str, lengths: dict[str, int]) -> None:
    """Check an array by its row of the table, and learn the lengths of it."""
    shape, _, rules = row.partition(": ")
    words = rules.split(", ")
    if isinstance(value, list) and words == ["names"]:
        value = np.empty(len(value))
    if not isinstance(value, np.ndarray | sp.sparray | sp.spmatrix):
        raise _wrong(name, "an array")
    dims = shape.split()
    if len(dims) != value.ndim:
        raise _wrong(name, f"an array of {len(dims)} dimension(s)")
    for dim, length in zip(dims, value.shape, strict=True):
        expected = length
        if dim.isalpha():
            expected = lengths.setdefault(dim, length)
        elif dim != "*":
            expected = sum(_term(term, lengths) for term in dim.split("+"))
        if length != expected:
            raise _wrong(name, f"a length of {expected}, not {length}")
    if words == ["names"]:
        return
    _check_numbers(name, value)
    numbers: Any = value.data if sp.issparse(value) else value
    if numbers.dtype.kind not in "iuf":
        raise _wrong(name, "numbers")
    for word in words:
        if word in _RULES and not _RULES[word][0](numbers).all():
            raise _wrong(name, _RULES[word][1])
        if word.startswith("index"):
            below = lengths.get(word[6:], 0) if word[6:] else np.inf
            whole = numbers.dtype.kind in "iu"
            if not whole or not ((numbers >= 0) & (numbers < below)).all():
                raise _wrong(name, f"whole numbers from 0, below {below}")


def _term(term: str, lengths: dict[str, int]) -> int:
    """Give the value of a part of a length, as 3*m; what a model has not is 0."""
    return math.prod(
        lengths.get(factor, 0) if factor.isalpha() else int(factor)
        for factor in term.split("*")
    )


def _check_numbers(name: str, value: Any) -> None:
    """Refuse arrays with numbers that are not finite, or whose squares are not."""
    numbers: Any = value.data if sp.issparse(value) else value
    is_float = isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f"
    if is_float and not (np.abs(numbers) <= _LARGEST).all():
        raise _wrong(name, f"finite numbers, none above {_LARGEST:g}")


def _prior_fits(state: dict[str, Any]) -> bool:
    """Say whether strengths are the mean over the widths of a learned prior."""
    if "prior_coefs_" not in state:
        return True
    strength = state["strength_"]
    mean = (state["prior_weights_"] @ state["prior_coefs_"])[: len(strength)]
    return np.allclose(mean - mean.mean(), strength, atol=1e-6)


def _counts_fit(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether the items of BradleyTerry won, tied and lost what their pairs did."""
    n, counts = lengths["n"], state["pair_counts_"]
    for side, results in (("wins_", (0, 2)), ("ties_", (1, 1)), ("losses_", (2, 0))):
        total = np.bincount(state["pair_left_"], counts[:, results[0]], n)
        total += np.bincount(state["pair_right_"], counts[:, results[1]], n)
        if not np.allclose(total, state[side]):
            return False
    return _prior_fits(state)


def _lists_fit(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether the lists of PlackettLuce, and their tied blocks, are whole."""
    starts, ends = state["list_starts_"], state["list_ends_"]
    at = np.arange(len(ends))
    if starts[0] != 0 or starts[-1] != len(ends) or not _prior_fits(state):
        return False
    begins = np.flatnonzero(ends)
    sizes = np.unique((ends - at)[begins])
    return (
        bool(np.isin(starts[:-1], begins).all())
        and np.array_equal(ends[begins], np.append(begins[1:], len(ends)))
        and np.array_equal(sizes[sizes > 1], state["tie_sizes_"])
    )


def _games_fit(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether the games of a rating over time are of items that it knows."""
    n, r, starts = lengths["n"], lengths["r"], state.get("_log.starts")
    sides, weight = state["_log.sides"], state["_log.weight"]
    played = sides if weight is None else sides[weight > 0]
    known = state["_state"]
    if known.shape[1] == 8:  # of Glicko; the time of the last game, [4], may be unknown
        time = known[:, 4]
        _check_numbers("Glicko._state", np.delete(known, 4, axis=1))
        _check_numbers("Glicko._state", time[~np.isnan(time)])
        spread = known[:, 1 : 3 if "volatility" in state["_settings"] else 2]
        if not (spread > 0).all():
            return False
    counts = state["_n_rows"], state["_n_updates"], state["_cache"], state["_row_of"]
    return (
        counts == (r, lengths.get("u", 0), {}, None)
        and (starts is None or (starts[0] == 0 and starts[-1] < r))
        and lengths["b"] <= r
        and bool(np.isin(state["_log.outcome"], _CLASSES).all())
        # Items of games with weight 0 may be unknown; they come after the others.
        and bool((played < n).all() and (sides < n + 2 * r).all())
    )


def _stream_fits(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether LogisticCompare can go on from the sums of its last rows."""
    if (stream := state.get("_stream")) is None:
        return True
    tie = stream[:3, -1]
    positive = tie if state.get("link") == "cumulative" else tie[2:]
    whole = stream.dtype.kind != "f"
    return not whole and bool((stream[2:] >= 0).all() and (positive > 0).all())


def _shares_fit(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether the weights of HedgeOrder are shares of one."""
    return bool(np.isclose(state["weights_"].sum(), 1.0))


def _spans_fit(state: dict[str, Any], lengths: dict[str, int]) -> bool:
    """Say whether RankBoost scales no feature that it uses by zero."""
    if "span_" not in state:
        return True
    return bool((state["span_"][state["features_"]] > 1.0 / _LARGEST).all())


_TOGETHER = {
    **dict.fromkeys(("Elo", "Glicko", "Glicko2"), _games_fit),
    "BradleyTerry": _counts_fit,
    "HedgeOrder": _shares_fit,
    "LogisticCompare": _stream_fits,
    "PlackettLuce": _lists_fit,
    "RankBoost": _spans_fit,
}


def _wrong(name: str, expected: str) -> RefusedError:
    return RefusedError(
        f"has in {ascii(name)[1:-1]} something else than {expected}; it is damaged or "
        "was not made by tiebreak.save."
    )
