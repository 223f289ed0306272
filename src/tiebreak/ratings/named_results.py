# SPDX-License-Identifier: BSD-3-Clause
"""Check what models of items by name receive: results and row-aligned columns."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_pairs, check_comparisons
from tiebreak.data.columns import factorize, plain_values, take_rows
from tiebreak.data.comparison_graph import list_items
from tiebreak.data.messages import closest, list_rows
from tiebreak.models.covariates import check_row_column

Floats = NDArray[np.float64]

# Units of dates that polars has; coarser ones become the next finer of these.
_DATE_UNITS = {"D", "ms", "us", "ns"}
_COARSE_UNITS = dict.fromkeys(["Y", "M", "W"], "D") | dict.fromkeys("hms", "ms")


@dataclass(frozen=True, eq=False)
class Results:
    """Results of items known by name, rows of weight 0 left out."""

    names: NDArray[Any]  # (N,), of the items that occur
    left: NDArray[np.int64]  # (m,), numbers of the items, or of teams
    right: NDArray[np.int64]
    outcome: NDArray[np.int8]
    weight: Floats  # all positive
    kept: NDArray[np.bool_] | None  # (n,), which rows are among the m; None: all
    n_rows: int  # n
    members: sp.csr_array | None = None  # (N + T, N), as of Pairs

    @property
    def pairs(self) -> Pairs:
        """The comparisons."""
        return Pairs._of(None, self.left, self.right, self.names, self.members)

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Take the rows of positive weight."""
        return column if self.kept is None else take_rows(column, self.kept)


def named_pairs(X: Any, model: str, teams: bool = False) -> Pairs:
    """Give comparisons whose items have names, and may be `teams`."""
    pairs = as_pairs(X)
    if pairs.members is not None and not teams:
        raise TypeError(
            f"{model} compares single items, and these Pairs compare teams; use "
            "BradleyTerry for these."
        )
    if pairs.names is None:
        raise TypeError(
            f"{model} rates items by name, and these comparisons have features but no "
            "names; expected Pairs(None, left_names, right_names)."
        )
    if len(pairs) == 0:
        raise ValueError(
            "There are no comparisons: 0 sample(s) while a minimum of 1 is required."
        )
    return pairs


def refuse_self_comparisons(pairs: Pairs) -> None:
    """Refuse comparisons of an item, or of a team, with itself."""
    left, right = pairs.sides
    same = np.flatnonzero(left == right)
    if len(same):
        shown = plain_values(pairs.side_names[left[same[:5]]])
        raise ValueError(
            f"{len(same)} comparison(s) are of an item with itself: "
            f"{list_rows(same, shown)}. Keep pairs[np.not_equal(*pairs.sides)]."
        )


def check_results(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    model: str,
    teams: bool = False,
) -> Results:
    """Check results of items known by name, or of `teams` of these."""
    pairs = named_pairs(X, model, teams)
    refuse_self_comparisons(pairs)
    pairs, outcome, weight = check_comparisons(pairs, y, sample_weight)
    n_rows, kept = len(pairs), None
    if sample_weight is not None and not weight.all():
        kept = weight > 0
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    pairs = pairs.compact()
    assert pairs.names is not None
    (left, right), members = pairs.sides, pairs.members
    return Results(pairs.names, left, right, outcome, weight, kept, n_rows, members)


def check_row_periods(period: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Check a period per row: numbers, text or dates, in any order."""
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
    """Give the number of an item; refuse an unknown one."""
    places = np.flatnonzero(items == name)
    if len(places) != 1:
        known = list_items(np.arange(len(items)), items)
        near = closest(name, items.tolist())
        raise ValueError(
            f"{what}{name!r} is not among the items, which are {known}.{near}"
        )
    return int(places[0])


def check_clusters(of: ArrayLike, name: str, n_rows: int) -> NDArray[np.int64]:
    """Check a column of raters or units, one per row, and number them."""
    return factorize(check_row_column(of, name, n_rows))[0]
