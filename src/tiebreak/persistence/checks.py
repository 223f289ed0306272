# SPDX-License-Identifier: BSD-3-Clause
"""What a model file may contain: checks before anything in it is built.

Two rules make it safe to read a file of unknown origin:

* **No code.** A file names the types it is made of. Only those in `TRUSTED` are built,
  each by the one loader that belongs to it; functions are not among them.
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
from collections.abc import Iterable
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import scipy.sparse as sp

FORMAT = 1

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
    "Glicko2 HedgeOrder L1Ranker L1RankerCV LogisticCompare MajorityCompare "
    "MatchingPursuit MaxMarginCompare NystroemMap OnItems OrderSVM OrdinalSVM "
    "PlackettLuce RankBoost RankRLS RankSVM RankingPursuit SVMCompare SwapSVM "
    "ThresholdCompare WithoutTies"
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
TRUSTED = tuple(sorted({name for names in _TRUSTED.values() for name in names}))


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
        _check_version(json.loads(archive.read(META)))
        _check_names(archive.namelist())
        _check_stored(archive.infolist(), size)
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
