# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the input of models.

Dispatch is by type only: `Pairs`, 3-D arrays and two columns of names are comparisons,
everything else is a table of items.
"""

from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_column_of, is_missing, plain_values, refuse_missing
from tiebreak.data.items import (
    ItemTable,
    Table,
    as_float_array,
    as_items,
    feature_attributes,
    refuse_out_of_bounds,
)
from tiebreak.data.kinds import Comparisons, Grades
from tiebreak.data.messages import list_rows, refuse_rows, warn_user
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOMES, check_outcomes, decode_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.parameters import LARGEST, LARGEST_WEIGHT, SMALLEST_WEIGHT


def is_pairs(X: Any, by_name: bool = False) -> bool:
    """Say whether X holds comparisons: Pairs, a 3-D array, or two columns of names.

    Names are text, and for a model that knows items `by_name` anything.
    """
    depth = _depth(X) if isinstance(X, list | tuple) else getattr(X, "ndim", 2)
    return isinstance(X, Pairs) or depth == 3 or bool(_names_of_sides(X, by_name))


def as_pairs(X: Any, by_name: bool = False) -> Pairs:
    """Return comparisons as `Pairs`: items 2 i and 2 i + 1 for row i of a 3-D array."""
    if isinstance(X, Pairs):
        return X
    if names := _names_of_sides(X, by_name):
        return Pairs(None, *names)
    if not is_pairs(X):
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise TypeError(
            "Expected comparisons: Pairs(items, left, right), two columns of names, or "
            f"shape (n, 2, n_features). Got {type(X).__name__}{shape}."
        )
    array = as_sides(X)
    refuse_out_of_bounds(array, "X")
    n, _, p = array.shape
    left = np.arange(0, 2 * n, 2, dtype=np.int64)
    return Pairs._of(ItemTable(array.reshape(2 * n, p)), left, left + 1, None)


def _names_of_sides(X: Any, by_name: bool) -> tuple[Any, ...]:
    """Return the two columns of a table or a list of tuples of names, or nothing."""
    if isinstance(X, list | tuple):
        row = X[0] if X else ()
        if not isinstance(row, list | tuple) or len(row) != 2 or _depth(row) > 1:
            return ()
        if not (by_name or all(isinstance(name, str) for name in row)):
            return ()
        if any(len(row) != 2 for row in X):
            raise ValueError("Every row of X must name two items, left and right.")
        return tuple(map(list, zip(*X, strict=True)))
    if getattr(X, "ndim", 2) != 2 or getattr(X, "shape", ())[1:] != (2,):
        return ()
    if isinstance(X, np.ndarray):
        sides = X[:, 0], X[:, 1]
    elif hasattr(X, "columns"):
        sides = tuple(X[name] for name in getattr(X, "column_names", X.columns))
    else:
        return ()
    return sides if by_name or all(map(_is_text, sides)) else ()


def _is_text(column: Any) -> bool:
    """Say whether a column holds text and not categories, as its first value says."""
    kind = str(getattr(column, "dtype", None) or column.type).lower()
    if kind == "object":
        return isinstance(next(iter(column), None), str)
    return "str" in kind or "<u" in kind


def as_sides(X: Any) -> Floats:
    """Return comparisons as an array (n, 2, n_features), which may hold NaN."""
    array = as_float_array(X, "X", n_dims=3)
    if array.ndim != 3 or array.shape[1] != 2 or array.shape[2] == 0:
        raise ValueError(
            f"Comparisons must have shape (n, 2, n_features), got shape {array.shape}."
        )
    return array


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """Return weights (n_rows,): finite, not negative, not all 0; default 1."""
    if sample_weight is None:
        return np.ones(n_rows)
    column = as_column_of(sample_weight, "sample_weight", n_rows)
    weight = as_numbers(column, "sample_weight")
    inside = (weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT)
    wrong = np.flatnonzero(~inside & (weight != 0))
    bounds = f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
    expected = f"Weights must be finite and not negative, 0 or from {bounds}"
    refuse_rows(wrong, weight, expected)
    if n_rows and not weight.any():
        raise ValueError("Every sample weight is zero, so no row would count.")
    return weight


def check_grades(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None = None,
    *,
    allow_missing: bool = False,
) -> Grades:
    """Check features (n, p), grades (n,), NaN if `allow_missing`, and groups (n,)."""
    items = as_items(X, name="X")
    n = items.n_items
    if y is None:
        raise ValueError(
            "Graded items need grades: this method requires y to be passed, but the "
            "target y is None."
        )
    if getattr(y, "ndim", 1) == 2 and np.shape(y)[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected. Try y.ravel().",
            DataConversionWarning,
        )
        y = np.asarray(y)[:, 0]
    column = as_column_of(y, "y", n)
    if not allow_missing:
        refuse_missing(column, "y", "Input y contains NaN; remove these rows.")
    hint = " Unknown label type for grades: use numbers, higher is better."
    grades = as_numbers(column, "y", hint)
    rows = np.flatnonzero(np.abs(grades) > LARGEST)
    refuse_rows(rows, grades, f"y must be finite, of at most {LARGEST:g} in size")
    if qid is None:
        return Grades.of(items, grades, None)
    column = as_column_of(qid, "qid", n)
    refuse_missing(column, "qid")
    return Grades.of(items, grades, column)


def check_comparisons(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    margin: ArrayLike | None = None,
) -> tuple[Pairs, NDArray[Any], Floats]:
    """Check comparisons, outcomes and weights; with itself an item has weight 0.

    Where there are margins r(right) - r(left), they take the place of outcomes.
    """
    pairs = as_pairs(X)
    if len(pairs) == 0:
        raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
    weight = check_weights(sample_weight, len(pairs))
    outcomes: NDArray[Any]
    if margin is None:
        outcomes = check_outcomes(y, len(pairs))
    else:
        outcomes = _check_margins(margin, y, len(pairs))
    return pairs, outcomes, leave_out_selves(pairs, weight)


def leave_out_selves(pairs: Pairs, weight: Floats | None) -> Any:
    """Return weights that are 0 where an item or team is compared with itself."""
    left, right = pairs.sides
    if not len(same := np.flatnonzero(left == right)):
        return weight
    if len(same) == len(pairs):
        raise ValueError("Every comparison is of an item with itself.")
    shown = plain_values(pairs.side_names[left[same[:5]]])
    warn_user(
        f"{len(same)} comparison(s) are of an item with itself and left out: "
        f"{list_rows(same, shown)}."
    )
    weight = np.ones(len(pairs)) if weight is None else weight.copy()
    weight[same] = 0.0
    return weight


def _check_margins(margin: ArrayLike, y: ArrayLike | None, n_rows: int) -> Floats:
    """Return margins (n_rows,), which must not contradict outcomes y if there are."""
    column = as_column_of(margin, "margin", n_rows)
    refuse_missing(column, "margin", "Remove these rows.")
    margins = as_numbers(column, "margin")
    wrong = np.flatnonzero(~(np.abs(margins) <= LARGEST))
    refuse_rows(wrong, margins, f"margin must be finite, at most {LARGEST:g} in size")
    if y is not None:
        wrong = np.flatnonzero(margins * check_outcomes(y, n_rows, some=True) < 0)
        refuse_rows(wrong, margins, "margin must have the sign of y: right minus left")
    return margins


def read_comparisons(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
    margin: ArrayLike | None = None,
    decode: bool = False,
) -> Comparisons:
    """Check comparisons; return those of positive weight, with row numbers.

    `decode` takes outcomes that scikit-learn has renumbered, and keeps their classes.
    """
    if qid is not None:
        raise ValueError("qid groups graded items; leave it out of comparisons.")
    classes = OUTCOMES.copy()
    if decode:
        y, classes = decode_outcomes(y)
    pairs, outcome, weight = check_comparisons(X, y, sample_weight, margin)
    rows = np.flatnonzero(weight > 0)
    if len(rows) < len(weight):
        pairs, outcome, weight = pairs[rows], outcome[rows], weight[rows]
    if not pairs.has_features:
        pairs = pairs.compact()  # names that nobody compares are not kept
    return Comparisons(pairs, outcome, weight, rows=rows, classes=classes)


def read_grades(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    allow_missing: bool = False,
    graph: Any = None,
) -> Grades:
    """Check graded items or orders, and the weights of rows, pairs or lists."""
    if is_pairs(X):
        raise TypeError(
            "Expected graded items or orders, got comparisons; RankSVM takes these too."
        )
    if not isinstance(X, Orders):
        grades = check_grades(X, y, qid, allow_missing=allow_missing)
        weight = check_weights(sample_weight, len(grades))
        if graph is not None:
            if qid is not None:
                raise ValueError("graph says which rows are compared; leave out qid.")
            graph = _check_graph(graph, len(grades))
        return replace(grades, weight=weight, graph=graph)
    if graph is not None:
        raise ValueError("graph joins rows of graded items, and Orders are lists.")
    weight = check_lists(X, y, qid, sample_weight)
    # A pair weighs the product of its items' weights.
    of_rows = np.repeat(np.sqrt(weight), X.lengths)
    grades = check_grades(X.table.take(X.flat), *X.entry_grades())
    return replace(grades, orders=X, weight=of_rows, group_weight=weight)


def _check_graph(graph: Any, n_rows: int) -> sp.csr_array:
    """Return the pairs i < j of a symmetric matrix of weights, shape (n, n)."""
    if np.shape(graph) != (n_rows, n_rows):
        raise ValueError(
            f"graph must have shape ({n_rows}, {n_rows}), a weight for every two rows "
            f"of X, got {np.shape(graph)}. Splitters cut rows only: fit without them."
        )
    edges = sp.csr_array(graph, dtype=np.float64)
    edges.sum_duplicates()
    edges.eliminate_zeros()
    inside = (edges.data >= SMALLEST_WEIGHT) & (edges.data <= LARGEST_WEIGHT)
    if not inside.all():
        raise ValueError(
            "graph must hold weights that are not negative, 0 or from "
            f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, got {edges.data[~inside][0]}."
        )
    if (edges != edges.T).nnz:
        raise ValueError("graph must be symmetric; give W + W.T of single pairs.")
    return sp.csr_array(sp.triu(edges, k=1))  # an item is not compared with itself


def check_lists(
    orders: Orders,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Return the weights of lists; refuse y and qid with them."""
    if y is not None or qid is not None:
        raise ValueError(
            "Orders hold their own grades and groups; expected no y and no qid."
        )
    return check_weights(sample_weight, len(orders))


def read_data(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    graph: Any = None,
    margin: ArrayLike | None = None,
    decode: bool = False,
) -> Comparisons | Grades:
    """Check comparisons, graded items or orders, by the type of X."""
    if not is_pairs(X):
        if margin is not None:
            raise ValueError("margin is of comparisons; graded items have y.")
        return read_grades(X, y, qid, sample_weight, graph=graph)
    if graph is not None:
        raise ValueError("graph joins rows of graded items; comparisons are pairs.")
    return read_comparisons(X, y, sample_weight, qid=qid, margin=margin, decode=decode)


def as_numbers(column: NDArray[Any], name: str, hint: str = "") -> Floats:
    """Convert a column of real numbers, missing ones as NaN."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    wrong = [
        row
        for row, value in enumerate(column)
        if not (is_missing(value) or isinstance(value, Real))
    ]
    refuse_rows(wrong, column, f"{name} must hold numbers", hint)
    return np.array([np.nan if is_missing(value) else value for value in column], float)


def _depth(X: Any) -> int:
    """Count the dimensions of nested lists by their first elements."""
    if isinstance(X, list | tuple):
        return 1 + (_depth(X[0]) if X else 0)
    return int(getattr(X, "ndim", 0))


def remember_features(estimator: Any, table: Table) -> None:
    """Set the attributes of `feature_attributes`, and delete old names."""
    if table.feature_names is None and hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    for name, value in feature_attributes(table).items():
        setattr(estimator, name, value)


def check_features(estimator: Any, table: Table) -> None:
    """Refuse items whose features are not those of the fit; warn if names are absent.

    Words and category of the warnings are those of scikit-learn.
    """
    if table.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {table.n_features} features, but {type(estimator).__name__} is "
            f"expecting {estimator.n_features_in_} features as input."
        )
    seen = getattr(estimator, "feature_names_in_", None)
    names, model = table.feature_names, type(estimator).__name__
    if seen is None and names is not None:
        warn_user(
            f"X has feature names, but {model} was fitted without feature names",
            UserWarning,
        )
    elif seen is not None and names is None:
        warn_user(
            f"X does not have valid feature names, but {model} was fitted with feature "
            "names",
            UserWarning,
        )
    elif seen is not None and names is not None and tuple(seen) != names:
        raise ValueError(
            "The feature names should match those that were passed during fit, in the "
            f"same order: got {list(names)}, expected {list(seen)}."
        )


class GroupPairs(NamedTuple):
    """Comparisons of rows of the same group."""

    left: Codes
    right: Codes
    y: NDArray[np.int8]
    group: Codes
    n_possible: int


def pairs_within_groups(group: Codes, grade: Floats, *, limit: int) -> GroupPairs:
    """Compare every two rows of a group by grade, or `limit` random ones."""
    # Sides are exchanged at random, so that left is not better by its place.
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    per_group = sizes * (sizes - 1) // 2
    total = int(per_group.sum())
    rng = np.random.default_rng(0)
    number = _draw_numbers(total, limit, rng) if total > limit else np.arange(total)
    ends = np.cumsum(per_group)
    of = np.searchsorted(ends, number, side="right")
    i, j = pair_of_number(number - (ends - per_group)[of])
    one, two = order[starts[of] + i], order[starts[of] + j]
    turned = rng.random(len(one)) < 0.5
    left, right = np.where(turned, two, one), np.where(turned, one, two)
    y = np.sign(grade[right] - grade[left]).astype(np.int8)
    return GroupPairs(left, right, y, of.astype(np.int64), total)


def _draw_numbers(total: int, n_numbers: int, rng: np.random.Generator) -> Codes:
    """Draw distinct numbers below `total`, ascending, in little memory."""
    if total <= 4 * n_numbers:
        return np.sort(rng.choice(total, size=n_numbers, replace=False))
    numbers = np.empty(0, dtype=np.int64)
    while len(numbers) < n_numbers:
        more = rng.integers(total, size=n_numbers - len(numbers))
        numbers = np.sort(np.concatenate([numbers, more]))
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]
    return numbers


def pair_of_number(k: Codes) -> tuple[Codes, Codes]:
    """Return i and j, 0 ≤ j < i, of pair numbers k = i (i - 1) / 2 + j < 2⁶⁰."""
    i = ((1.0 + np.sqrt(1.0 + 8.0 * k)) / 2.0).astype(np.int64)
    i -= i * (i - 1) // 2 > k  # rounded up
    i += (i + 1) * i // 2 <= k  # rounded down
    return i, k - i * (i - 1) // 2
