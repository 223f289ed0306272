# SPDX-License-Identifier: BSD-3-Clause
"""Tables of items, checked once; names of items, and rows that refer to items.

Arrays, frames and sparse matrices become an `ItemTable`. Frames, texts, strings and
missing values are kept as a `RawTable` until a model needs numbers. Equal rows are
found by hashes of 64 bits, and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import islice, pairwise
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_array

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import (
    TextColumn,
    as_column,
    as_column_of,
    as_names,
    factorize_with_dict,
    find_distinct,
    find_spellings,
    number_keys,
    plain_values,
    refuse_missing,
)
from tiebreak.data.jit import njit
from tiebreak.data.markup import element, escape
from tiebreak.data.messages import (
    Describe,
    closest,
    first_of,
    list_rows,
    refuse_rows,
    warn_user,
)
from tiebreak.data.parameters import LARGEST

# What to do about text among features, and about what is missing.
_ENCODE = (
    "Put OnItems(OneHotEncoder(handle_unknown='ignore')) before the model in a "
    "Pipeline, around a ColumnTransformer if only some columns need it, or drop them."
)


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Features of N items, checked.

    Attributes
    ----------
    values : ndarray or csr_array of shape (N, p)
        float64, finite; CSR is canonical, without stored zeros.
    feature_names : tuple of str or None
        Names of the p columns, if any.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> Pairs([[1, 2], [3, 4], [5, 6]], left=[0, 1], right=[1, 2]).items
    ItemTable(3 items, 2 features)
    """

    values: Any
    feature_names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of items and number of features."""
        return (int(self.values.shape[0]), int(self.values.shape[1]))

    @property
    def n_items(self) -> int:
        """Number of items, N."""
        return self.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return self.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether `values` is a CSR array."""
        return bool(sp.issparse(self.values))

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        kind = ", sparse" if self.is_sparse else ""
        return f"ItemTable({self.n_items} items, {self.n_features} features{kind})"

    def take(self, rows: ArrayLike) -> ItemTable:
        """Make the table of some of the items.

        Parameters
        ----------
        rows : array-like of int
            Row numbers, in the order wanted.

        Returns
        -------
        ItemTable
        """
        return ItemTable(self.values[np.asarray(rows)], self.feature_names)

    def dense(self) -> Floats:
        """Give the features as a dense array (N, p); no copy if they are one.

        Returns
        -------
        ndarray
        """
        return self.values.toarray() if self.is_sparse else self.values

    def unique(self) -> tuple[ItemTable, Codes]:
        """Merge items with identical features, in O(N p); 0.0 and -0.0 are equal.

        Returns
        -------
        table, inverse : ItemTable, ndarray of int64 of shape (N,)
            The distinct rows in order of first appearance, and each item's row in them.
        """
        if self.is_sparse:
            starts, data = self.values.indptr.tolist(), self.values.data
            bounds, columns = pairwise(starts), self.values.indices
            keys = [(columns[a:b].tobytes(), data[a:b].tobytes()) for a, b in bounds]
            distinct = factorize_with_dict(keys)
            inverse, first = distinct.codes, distinct.first
        else:
            inverse, first = number_rows(self.values)
        if len(first) == self.n_items:
            return self, inverse
        return self.take(first), inverse


class RawTable:
    """Items in their original form: a frame, texts, or an array with strings or NaN.

    ``rows`` selects those of ``source`` (None: all); ``numbers`` is the table as
    numbers, where it can be one.
    """

    def __init__(
        self,
        source: Any,
        rows: Codes | None = None,
        numbers: ItemTable | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        self.source, self.rows, self.numbers = source, rows, numbers
        self.feature_names = feature_names
        self.n_items = int(source.shape[0]) if rows is None else len(rows)
        self.n_features = 1 if self.of_texts else int(source.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the items are a CSR array."""
        return bool(sp.issparse(self.source))

    @property
    def of_texts(self) -> bool:
        """Whether an item is a text."""
        return len(self.source.shape) == 1

    def __len__(self) -> int:
        return self.n_items

    def take(self, rows: ArrayLike) -> RawTable:
        """Select items, without a copy."""
        index = np.asarray(rows)
        numbers = None if self.numbers is None else self.numbers.take(index)
        if self.rows is not None:
            index = self.rows[index]
        return RawTable(self.source, index, numbers, self.feature_names)

    def original(self) -> Any:
        """Give the items in their original form."""
        if self.rows is None:
            return self.source
        return _safe_indexing(self.source, self.rows)

    def as_numbers(self) -> ItemTable:
        """Give the items as numbers, or raise an error that names the columns."""
        if self.numbers is None:
            try:
                table = as_items(self.original())
            except (TypeError, ValueError):
                as_items(self.source)  # the error that names rows as the user counts
                raise
            self.numbers = ItemTable(table.values, self.feature_names)
        return self.numbers

    def unique(self) -> tuple[RawTable, Codes]:
        """Merge equal items, as `ItemTable.unique` does."""
        table: Any = self.original() if self.numbers is None else self.numbers.values
        if sp.issparse(table) or getattr(table, "dtype", None) == np.float64:
            inverse = ItemTable(table).unique()[1]
        else:
            inverse = factorize_with_dict(_row_keys(table)).codes
        first = np.unique(inverse, return_index=True)[1]
        return (self if len(first) == self.n_items else self.take(first)), inverse


Table = ItemTable | RawTable


def _row_keys(table: Any) -> list[Any]:
    """Return keys that are equal for equal rows, missing values included."""
    if isinstance(table, np.ndarray):
        rows = table.tolist()
    elif hasattr(table, "iloc"):
        rows = table.itertuples(index=False, name=None)
    else:
        rows = table.rows()
    return [repr(row) for row in rows]


def number_rows(values: Floats) -> tuple[Codes, Codes]:
    """Number the distinct rows; return numbers (n,) and first rows."""
    keys = np.empty(len(values), dtype=np.uint64)
    _hash_rows(values.view(np.uint64), keys)
    codes, first = number_keys(keys)
    if _all_equal(values, codes, first):
        return codes, first
    # Adding zero turns -0.0 into 0.0, whose bytes differ.
    rows = np.ascontiguousarray(values + 0.0)
    distinct = factorize_with_dict(
        rows.view(np.dtype((np.void, rows.strides[0]))).ravel().tolist()
    )
    return distinct.codes, distinct.first


@njit(cache=True, nogil=True)
def _hash_rows(bits: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """Write a hash of every row to ``keys``; 0.0 and -0.0 are equal."""
    minus_zero = np.uint64(1) << np.uint64(63)
    factor, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
    for i in range(len(bits)):
        key = np.uint64(0)
        for j in range(bits.shape[1]):
            word = bits[i, j]
            if word == minus_zero:
                word = np.uint64(0)
            key = (key ^ word) * factor
            key ^= key >> shift
        keys[i] = key


@njit(cache=True, nogil=True)
def _all_equal(values: Floats, codes: Codes, first: Codes) -> bool:
    """Whether every row equals the first one of its number."""
    for i in range(len(values)):
        other = first[codes[i]]
        for j in range(values.shape[1]):
            if values[i, j] != values[other, j]:
                return False
    return True


def as_items(X: Any, *, name: str = "items") -> ItemTable:
    """Check a table (N, p) of finite numbers; return an array or CSR array."""
    if isinstance(X, ItemTable):
        return X
    if isinstance(X, RawTable):
        return X.as_numbers()
    names = _frame_feature_names(X, name) if _is_frame(X) else None
    if sp.issparse(X):
        values: Any = _canonical_csr(X, name)
    else:
        values = as_float_array(X, name)
    refuse_out_of_bounds(values, name, names)
    return ItemTable(values, names)


def as_table(X: Any, *, name: str = "items") -> Table:
    """Return an `ItemTable`, or a `RawTable` of frames, texts and non-numbers."""
    if isinstance(X, ItemTable | RawTable):
        return X
    numbers = None
    try:
        numbers = as_items(X, name=name)
    except (TypeError, ValueError):
        source = _raw_source(X)
        if source is None:
            raise
    else:
        if not _is_frame(X):
            return numbers
        source = X
    names = _frame_feature_names(X, name) if _is_frame(X) else None
    return RawTable(source, None, numbers, names)


def _is_frame(X: Any) -> bool:
    return all(hasattr(X, part) for part in ("to_numpy", "columns", "dtypes"))


def _raw_source(X: Any) -> Any:
    """Return a table of non-numbers, or texts; None for anything else."""
    if _is_frame(X):
        kinds = {getattr(dtype, "kind", "") for dtype in X.dtypes}
        return X if min(X.shape) and "c" not in kinds else None
    if sp.issparse(X):
        return _canonical_csr(X, "items") if min(X.shape) else None
    if hasattr(X, "to_numpy"):  # a column
        X = X.to_numpy()
    try:
        array = np.asarray(X)
        if array.dtype.kind in "OU" and not isinstance(X, np.ndarray):
            array = np.array(X, dtype=object)  # numbers beside strings stay numbers
    except ValueError:  # ragged
        return None
    if array.ndim == 1 and len(array) and all(isinstance(v, str) for v in array):
        return array.astype(object)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "biufOUM":
        return None
    if array.dtype.kind == "O" and all(
        value is None or isinstance(value, Real | np.bool_) for value in array.flat
    ):
        return array.astype(np.float64)
    return np.ma.filled(array, np.nan) if np.ma.isMaskedArray(array) else array


def as_float_array(X: Any, name: str, n_dims: int = 2) -> Floats:
    """Convert to a C-contiguous float64 array; missing values become NaN."""
    # scikit-learn would convert texts that spell numbers, and dates.
    if _is_frame(X):
        _refuse_non_numeric_columns(X, name)
        if hasattr(X, "iloc"):
            X = X.to_numpy(dtype=np.float64, na_value=np.nan)
    elif isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    else:
        X = _as_array(X, name)
    array = check_array(
        X,
        dtype=np.float64,
        order="C",
        ensure_all_finite=False,
        allow_nd=n_dims > 2,
        ensure_min_samples=int(n_dims == 2),
        input_name=name,
    )
    return array


def _as_array(X: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} must be rectangular: {error}") from None
    if array.ndim == 0:
        raise TypeError(f"{name} must be a table of numbers, got {type(X).__name__}.")
    if array.dtype.kind in "biufc":
        return array
    for position, value in enumerate(array.flat):
        if value is None or isinstance(value, Real | np.bool_):
            continue
        if array.ndim == 1 and isinstance(value, str):
            raise TypeError(
                f"{name} must hold numbers, got texts, such as {value[:40]!r}. Use "
                "OnItems(TfidfVectorizer()), or Pairs(left=..., right=...) for names."
            )
        place = ", ".join(map(str, np.unravel_index(position, array.shape)))
        value = value.item() if isinstance(value, np.generic) else value
        # The words after the colon are those of Python's own float().
        raise TypeError(
            f"{name} must hold numbers, got {value!r} at [{place}]: float() argument "
            f"must be a string or a real number, and text is not converted. {_ENCODE}"
        )
    return array


def _frame_feature_names(X: Any, name: str) -> tuple[str, ...] | None:
    others = [column for column in X.columns if not isinstance(column, str)]
    if not others:
        return tuple(map(str, X.columns))
    if len(others) < len(X.columns):
        raise TypeError(
            f"The column names of {name} must be all text or none, got {others[0]!r}."
        )
    return None


def _refuse_non_numeric_columns(X: Any, name: str) -> None:
    for column, dtype in zip(X.columns, X.dtypes, strict=True):
        if hasattr(dtype, "is_numeric"):  # polars
            fine = dtype.is_numeric() or str(dtype) in ("Boolean", "Null")
        else:
            fine = getattr(dtype, "kind", "O") in "biuf"
        if not fine:
            raise TypeError(
                f"Column {column!r} of {name} has dtype {dtype}; features must be "
                f"numbers. {_ENCODE}"
            )


def within_bounds(values: Floats) -> bool:
    """Whether all values are numbers of at most `LARGEST` in size."""
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    return bool(low >= -LARGEST and high <= LARGEST)  # false of NaN


def refuse_out_of_bounds(
    values: Any, name: str, feature_names: tuple[str, ...] | None = None
) -> None:
    """Refuse features, dense (also of two sides) or CSR, not finite or too large."""
    sparse = sp.issparse(values)
    stored = values.data if sparse else values.ravel()
    if within_bounds(stored):
        return
    bad = np.flatnonzero(~(np.abs(stored) <= LARGEST))
    row, *side, column = (
        [index[bad[0]] for index in values.nonzero()]
        if sparse
        else np.unravel_index(bad[0], values.shape)
    )
    item = f", {('left', 'right')[side[0]]} item" if side else ""
    label = f" ({feature_names[column]!r})" if feature_names else ""
    value = stored[bad[0]]
    text = "NaN" if np.isnan(value) else f"{value:g}"
    expected = "must be finite numbers, without NaN"
    advice = "Try OnItems(SimpleImputer())."
    if np.isfinite(value):
        expected = f"must be numbers of at most {LARGEST:g} in size"
        advice = "Scale them by OnItems(StandardScaler())."
    raise ValueError(
        f"{name} {expected}: {len(bad)} value(s) are not; the first is {text} "
        f"at row {row}{item}, column {column}{label}. {advice}"
    )


def _canonical_csr(X: Any, name: str) -> sp.csr_array:
    """Convert to float64 CSR, sorted, without duplicates or stored zeros."""
    X = check_array(X, accept_sparse="csr", ensure_all_finite=False, input_name=name)
    csr = sp.csr_array(X)
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if not csr.has_canonical_format or not csr.data.all():
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    return csr


def feature_attributes(table: Any) -> dict[str, Any]:
    """Return ``n_features_in_`` and, if features have names, ``feature_names_in_``."""
    attributes: dict[str, Any] = {"n_features_in_": table.n_features}
    if table.feature_names is not None:
        names = np.asarray(table.feature_names, dtype=object)
        attributes["feature_names_in_"] = names
    return attributes


class ItemRows:
    """Base of `Pairs` and `Orders`: rows that refer to the items of one table."""

    _made_by = ""  # how users make one with features
    _as_texts: Callable[[], Iterator[str]]

    names: NDArray[Any] | None
    _items: Table | None

    @property
    def items(self) -> ItemTable | None:
        """The item table as numbers; None without features."""
        return None if self._items is None else as_items(self._items)

    @property
    def raw(self) -> Any:
        """The items in their original form; None without features."""
        if isinstance(self._items, RawTable):
            return self._items.original()
        return None if self._items is None else self._items.values

    @property
    def n_items(self) -> int:
        """Number of items in the table, N."""
        if self._items is not None:
            return self._items.n_items
        assert self.names is not None
        return len(self.names)

    @property
    def has_features(self) -> bool:
        """Whether items have features."""
        return self._items is not None

    @property
    def table(self) -> ItemTable:
        """As `items`, but a TypeError without features."""
        return as_items(self._features)

    @property
    def _features(self) -> Table:
        if self._items is None:
            raise TypeError(
                f"These {type(self).__name__} have no features, only names. Give an "
                f"item table: {self._made_by}."
            )
        return self._items

    @property
    def values(self) -> Any:
        """Features of the items, an array or CSR array of shape (N, n_features)."""
        return self.table.values

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, if the item table has them."""
        return None if self._items is None else self._items.feature_names

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        rows = (element("li", escape(row)) for row in islice(self._as_texts(), 5))
        return element("p", escape(self)) + element("ol", "".join(rows), start=0)

    def _describe(self, n_rows: int, noun: str) -> str:
        def count(number: int, noun: str) -> str:
            return f"{number} {noun}{'s' * (number != 1)}"

        features, sparse = "no features", ""
        if self._items is not None:
            features = count(self._items.n_features, "feature")
            sparse = ", sparse" * self._items.is_sparse
            if isinstance(self._items, RawTable) and self._items.of_texts:
                features = "texts"
        rows, items = count(n_rows, noun), count(self.n_items, "item")
        return f"{type(self).__name__}({rows} of {items}, {features}{sparse})"

    def _replace(self, **parts: Any) -> Self:
        """Return a copy with other parts, which are known to be right."""
        out = copy(self)
        vars(out).update(parts)
        return out

    def _check_table(self, table: Any) -> Table:
        """Check that a new item table has N rows."""
        table = as_table(table)
        if table.n_items != self.n_items:
            raise ValueError(
                f"The new item table has {table.n_items} rows for {self.n_items} items."
            )
        return table


def take_rows(rows: Any, what: str) -> Any:
    """Turn an index into an array or slice that keeps the dimension."""
    if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
        rows = rows[0]
    if rows is Ellipsis or isinstance(rows, slice):
        return rows
    index = np.atleast_1d(rows)
    if isinstance(rows, tuple) or index.ndim > 1:
        raise IndexError(
            f"{what} are indexed by row numbers, a mask or a slice, got {rows!r}."
        )
    return index if index.size else index.astype(np.int64)


def check_names(names: Any, items: Table | None) -> NDArray[Any]:
    """Check the names of items: none missing, all different, one per item."""
    column = as_column(names, "names")
    if items is not None:
        column = as_column_of(column, "names", items.n_items)
    refuse_missing(column, "names")
    distinct = find_distinct(column)
    if len(distinct.values) < len(column):
        counts = np.bincount(distinct.codes)
        repeated = [distinct.values[code] for code in np.flatnonzero(counts > 1)[:5]]
        raise ValueError(
            f"Names of items must be all different, but {int((counts > 1).sum())} "
            f"occur more than once: {', '.join(map(repr, repeated))}."
        )
    return as_names(distinct.values)


def item_codes(
    column: NDArray[Any],
    side: str,
    names: NDArray[Any] | None,
    n_items: int,
    describe: Describe = list_rows,
) -> Codes:
    """Turn row numbers or names of items into checked row numbers."""
    if len(column) == 0:
        return np.empty(0, dtype=np.int64)
    integers = column.dtype.kind in "iu"
    if names is not None and (not integers or _any_number(names)):
        return _look_up(column, side, names, describe)
    if not integers:
        raise TypeError(
            f"{side} must hold row numbers (integers), got {column.dtype} values, such "
            f"as {column[:1].tolist()[0]!r}. Give `names` if these are names."
        )
    wrong = np.flatnonzero((column < 0) | (column >= n_items))
    expected = f"{side} must hold row numbers of the item table, 0 to {n_items - 1}"
    refuse_rows(wrong, column, expected, describe=describe)
    return column.astype(np.int64)


def _any_number(names: NDArray[Any]) -> bool:
    if names.dtype.kind == "O":
        return any(isinstance(name, Real) for name in names)
    return names.dtype.kind in "biuf"


def _look_up(
    column: NDArray[Any], side: str, names: NDArray[Any], describe: Describe
) -> Codes:
    code_of = {name: code for code, name in enumerate(plain_values(names))}
    distinct = find_distinct(column)
    known = np.asarray([code_of.get(value, -1) for value in distinct.values], np.int64)
    codes = known[distinct.codes]
    unknown = np.flatnonzero(codes < 0)
    expected = f"{side} must be among the {len(names)} names"
    hint = closest(column[unknown[0]], code_of) if len(unknown) else ""
    refuse_rows(unknown, column, expected, hint, describe=describe)
    return codes


def names_of_sides(
    left: ArrayLike, right: ArrayLike
) -> tuple[Codes, Codes, NDArray[Any]]:
    """Number the values of both sides as names, left before right, row by row."""
    sides, kinds = [], []
    for values, side in ((left, "left"), (right, "right")):
        # One side at a time: only its numbers are kept.
        column = as_column(values, side)
        refuse_missing(column, side)
        kinds.append(name_kind(column))
        sides.append(find_distinct(column))
        del column
    check_lengths(len(sides[0].codes), len(sides[1].codes))
    if set(kinds) == {"numbers", "text"}:
        raise TypeError(
            f"left holds {kinds[0]} and right holds {kinds[1]}; expected one type."
        )
    # Where each distinct value of a side stands when both are read row by row.
    place = np.concatenate([2 * sides[0].first, 2 * sides[1].first + 1])
    order = np.argsort(place)
    names = sides[0].values + sides[1].values
    merged = factorize_with_dict([names[index] for index in order.tolist()])
    warn_of_spellings(merged.values)
    codes = np.empty(len(names), dtype=np.int64)
    codes[order] = merged.codes
    of_left, of_right = np.split(codes, [len(sides[0].values)])
    return of_left[sides[0].codes], of_right[sides[1].codes], as_names(merged.values)


def warn_of_spellings(names: list[Any]) -> None:
    """Warn of distinct names that look like one."""
    if groups := find_spellings(names):
        listed = [" and ".join(map(ascii, group)) for group in groups.values()]
        warn_user(f"Names that look the same are different items: {first_of(listed)}.")


def check_lengths(left: int, right: int) -> None:
    """Raise unless both sides of comparisons are as many."""
    if left != right:
        raise ValueError(f"left has {left} items but right has {right}.")


def name_kind(column: NDArray[Any]) -> str:
    """Say what names are: numbers, text, other values, or ""."""
    if len(column) == 0:
        return ""
    if column.dtype.kind in "iuf":
        return "numbers"
    if column.dtype.kind == "U" or isinstance(column, TextColumn):
        return "text"
    text = all(issubclass(kind, str) for kind in set(map(type, column)))
    return "text" if text else "values"
