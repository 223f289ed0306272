# SPDX-License-Identifier: BSD-3-Clause
"""Check what models of items by name receive: results and row-aligned columns."""

import datetime
import re
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_pairs, check_comparisons
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import factorize, plain_values, take_rows
from tiebreak.data.comparison_graph import list_items
from tiebreak.data.messages import closest, list_rows
from tiebreak.models.covariates import check_row_column

_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?![\d-])(?!.*(Z|[+-]\d\d:?\d\d)$)")
_DAYS = {"d": 1.0, "w": 7.0, "m": 365.25 / 12, "y": 365.25}
_TIME = re.compile(r"(\d+\.?\d*|\.\d+)\s*([dwmy])")


@dataclass(frozen=True, eq=False)
class Results:
    """Results of items known by name, rows of weight 0 left out."""

    names: NDArray[Any]  # (N,), of the items that occur
    left: Codes  # (m,), numbers of the items, or of teams
    right: Codes
    outcome: NDArray[np.int8]
    weight: Floats  # all positive
    kept: Flags | None  # (n,), which rows are among the m; None: all
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
    pairs = as_pairs(X, by_name=True)
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


def check_results(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    model: str,
    teams: bool = False,
) -> Results:
    """Check results of items known by name, or of `teams` of these."""
    pairs = named_pairs(X, model, teams)
    pairs, outcome, weight = check_comparisons(pairs, y, sample_weight)
    n_rows, kept = len(pairs), None
    if not weight.all():
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
        if all(map(_ISO_DATE.match, column.tolist())):
            with suppress(ValueError):
                column = column.astype("datetime64[us]")
    elif kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        # A date is at midnight when there are times among the dates.
        times = any(issubclass(kind, datetime.datetime) for kind in kinds)
        column = column.astype("datetime64[us]" if times else "datetime64[D]")
    if column.dtype.kind not in "iufUM":
        raise TypeError(
            f"period must hold numbers, text or dates, got {column.dtype} values, for "
            f"example {plain_values(column[:1])[0]!r} at row 0."
        )
    return column


def as_times(periods: NDArray[Any]) -> Floats:
    """Give days of dates, or the numbers."""
    if periods.dtype.kind == "M":
        return (periods - np.datetime64(0, "D")) / np.timedelta64(1, "D")
    return periods.astype(np.float64)


def read_duration(value: Any, name: str) -> tuple[float, bool]:
    """Read a positive number, or a time such as "5y"; say whether it is in days."""
    time = _TIME.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if time is not None and float(time[1]) > 0:
        return float(time[1]) * _DAYS[time[2]], True
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0.0 < float(value) < np.inf:
        return float(value), False
    raise ValueError(
        f"{name} must be a positive number in units of period (days for dates), or a "
        f"time such as '5y', '18m', '26w' or '90d' for dates; got {value!r}."
    )


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


def check_clusters(of: ArrayLike, name: str, n_rows: int) -> Codes:
    """Check a column of raters or units, one per row, and number them."""
    return factorize(check_row_column(of, name, n_rows))[0]
