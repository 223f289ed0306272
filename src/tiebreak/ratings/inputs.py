# SPDX-License-Identifier: BSD-3-Clause
"""Check what models of items by name receive: results and row-aligned columns.

Rows of weight 0 are absent. An advantage and a context count in favor of left.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_items, as_pairs, check_comparisons
from tiebreak.data.columns import as_column, factorize, plain_values, refuse_missing
from tiebreak.data.comparison_graph import list_items
from tiebreak.data.items import describe_non_finite
from tiebreak.data.messages import list_rows

Floats = NDArray[np.float64]

# Units of dates that polars has; coarser ones become the next finer of these.
_DATE_UNITS = {"D", "ms", "us", "ns"}
_COARSE_UNITS = dict.fromkeys(["Y", "M", "W"], "D") | dict.fromkeys("hms", "ms")


@dataclass(frozen=True, eq=False)
class Results:
    """Results of items known by name, rows of weight 0 left out."""

    names: NDArray[Any]  # (N,), of the items that occur
    left: NDArray[np.int64]  # (m,), numbers of the items
    right: NDArray[np.int64]
    outcome: NDArray[np.int8]
    weight: Floats  # all positive
    kept: NDArray[np.bool_] | None  # (n,), which rows are among the m; None: all
    n_rows: int  # n

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Take the rows of a row-aligned array that have a positive weight."""
        return column if self.kept is None else column[self.kept]


def named_pairs(X: Any, model: str) -> Pairs:
    """Give comparisons whose items have names."""
    pairs = as_pairs(X)
    if pairs.names is None:
        raise TypeError(
            f"{model} rates items by name, and these comparisons have features but no "
            "names. Give the names: Pairs(None, left_names, right_names), or "
            "Pairs(items, left, right, names=names) to keep the features too; "
            "or learn from the features with LogisticCompare."
        )
    if len(pairs) == 0:
        raise ValueError(
            "There are no comparisons: 0 sample(s) while a minimum of 1 is required."
        )
    return pairs


def check_results(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, model: str
) -> Results:
    """Check results of items known by name."""
    pairs = named_pairs(X, model)
    assert pairs.names is not None
    same = np.flatnonzero(pairs.left == pairs.right)
    if len(same):
        shown = plain_values(pairs.names[pairs.left[same[:5]]])
        raise ValueError(
            f"{len(same)} comparison(s) are of an item with itself: "
            f"{list_rows(same, shown)}. They say nothing about strengths; remove these "
            "rows, for example with keep = pairs.left != pairs.right; pairs[keep], "
            "y[keep]."
        )
    pairs, outcome, weight = check_comparisons(pairs, y, sample_weight)
    n_rows, kept = len(pairs), None
    if sample_weight is not None and not weight.all():
        kept = weight > 0
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    pairs = pairs.compact()
    assert pairs.names is not None
    return Results(pairs.names, pairs.left, pairs.right, outcome, weight, kept, n_rows)


def check_row_column(
    values: Any, name: str, n_rows: int, rows: str = "rows", instead: str = ""
) -> NDArray[Any]:
    """Check a column of one value per row, none of them missing."""
    column = as_column(values, name)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} values but there are {n_rows} {rows}; they must "
            f"be as many{instead}."
        )
    refuse_missing(column, name)
    return column


def check_row_numbers(values: Any, name: str, n_rows: int) -> Floats:
    """Check a finite number per row, or one number for all rows."""
    if isinstance(values, Real):
        values = np.full(n_rows, float(values))
    column = check_row_column(values, name, n_rows, instead=", or one number for all")
    if column.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold numbers, got {column.dtype} values, for example "
            f"{plain_values(column[:1])[0]!r} at row 0."
        )
    numbers = column.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(
            f"{name} must be finite, got {describe_non_finite(numbers[wrong[0]])} at "
            f"{list_rows(wrong)}."
        )
    return numbers


def check_row_periods(period: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Check a period per row: finite numbers, text or dates, in any order."""
    column = _sortable(check_row_column(period, "period", n_rows))
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        rows = np.flatnonzero(~np.isfinite(column))
        raise ValueError(
            f"period must be finite, got {len(rows)} other value(s): "
            f"{list_rows(rows, column[rows[:5]])}."
        )
    return column


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    kinds = set(map(type, column)) if column.dtype.kind == "O" else set()
    if kinds and all(issubclass(kind, str) for kind in kinds):
        column = column.astype(np.str_)
    elif kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        # A date is at midnight when there are times among the dates.
        times = any(issubclass(kind, datetime.datetime) for kind in kinds)
        column = column.astype("datetime64[us]" if times else "datetime64[D]")
    if column.dtype.kind == "M":
        unit = np.datetime_data(column.dtype)[0]
        if unit not in _DATE_UNITS:
            column = column.astype(f"datetime64[{_COARSE_UNITS.get(unit, 'us')}]")
    if column.dtype.kind not in "iufUM":
        raise TypeError(
            f"period must hold numbers, text or dates, got {column.dtype} values, for "
            f"example {plain_values(column[:1])[0]!r} at row 0."
        )
    return column


def find_item(items: NDArray[Any], name: Any, what: str = "") -> int:
    """Give the number of an item; an unknown one is an error that lists them."""
    found = np.flatnonzero(items == name)
    if len(found) != 1:
        known = list_items(np.arange(len(items)), items)
        raise ValueError(f"{what}{name!r} is not among the items, which are {known}.")
    return int(found[0])


def check_row_covariates(
    advantage: ArrayLike | None, context: Any, n_rows: int
) -> tuple[Floats, tuple[str, ...] | None]:
    """Give advantage and context as columns, (n_rows, 0 to q + 1), and their names."""
    columns, names = [], None
    if advantage is not None:
        columns.append(check_row_numbers(advantage, "advantage", n_rows)[:, None])
    if context is not None:
        if np.ndim(context) == 1:
            columns.append(check_row_numbers(context, "context", n_rows)[:, None])
        else:
            table = as_items(context, name="context")
            if table.n_items != n_rows:
                raise ValueError(
                    f"context has {table.n_items} rows but there are {n_rows} "
                    "comparisons; they must be as many."
                )
            columns.append(table.dense())
            names = table.feature_names
    if not columns:
        return np.empty((n_rows, 0)), None
    return np.concatenate(columns, axis=1), names


def favor_of_left(
    advantage: ArrayLike | None,
    advantage_coef: float | None,
    context: Any,
    context_coef: Floats | None,
    n_rows: int,
) -> Floats:
    """Sum what advantage and context add to left's strength, shape (n_rows,)."""
    for name, given, coef in (
        ("advantage", advantage, advantage_coef),
        ("context", context, context_coef),
    ):
        if given is not None and coef is None:
            raise ValueError(
                f"The model was fitted without {name}, so it does not know what {name} "
                "does; fit with it, or leave it out here."
            )
    favor = np.zeros(n_rows)
    if advantage_coef is not None and advantage is not None:
        favor += advantage_coef * check_row_numbers(advantage, "advantage", n_rows)
    if context_coef is not None and context is not None:
        columns, _ = check_row_covariates(None, context, n_rows)
        if columns.shape[1] != len(context_coef):
            raise ValueError(
                f"context has {columns.shape[1]} column(s), but the model was fitted "
                f"with {len(context_coef)}."
            )
        favor += columns @ context_coef
    return favor


def check_rater(rater: ArrayLike | None, n_rows: int) -> NDArray[np.int64] | None:
    """Check who compared, one rater per row, and number them."""
    column = None if rater is None else check_row_column(rater, "rater", n_rows)
    return None if column is None else factorize(column)[0]
