# SPDX-License-Identifier: BSD-3-Clause
"""Columns beside a comparison: who judged, when, and how much it counts.

A column that the user named must be whole. One that was only recognized by its name is
left unused when it is not, and a sentence says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.columns import as_column
from tiebreak.data.distinct import find_distinct
from tiebreak.data.files.errors import BrokenRows, FileError, list_places, shorten
from tiebreak.data.files.recognized import flag
from tiebreak.data.files.table import Columns, Table
from tiebreak.data.files.text_column import Text, number_text
from tiebreak.data.periods import readable_period

__all__ = ["Beside", "as_periods", "read_beside"]

_ISO = re.compile(
    r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?"
)
_COMPACT = re.compile(r"(?:1[6-9]|20|21)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")
_PART = 1 << 16
_UTC = re.compile(r"(?: ?UTC|Z|[+-]00:?00)$")


@dataclass
class Beside:
    """Columns beside a comparison, and what is said of them."""

    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


def read_beside(
    table: Table,
    columns: Columns,
    roles: dict[str, str],
    given: dict[str, str],
    broken: BrokenRows,
) -> Beside:
    """Read rater, period and weight, where there are such columns.

    Parameters
    ----------
    table : Table
        Where the columns come from.
    columns : Columns
        The columns.
    roles, given : dict of str to str
        The column of each role, and those among them that the user named.
    broken : BrokenRows
        Where unreadable rows of columns that the user named are noted.

    Returns
    -------
    Beside
    """
    result = Beside()
    for role, read in (("rater", _rater), ("period", _period), ("weight", _weight)):
        if role not in roles:
            continue
        column = roles[role]
        rows, why, values, sentence = read(columns, column)
        if len(rows):
            if role in given:
                broken.add(f"{why} in {column}", rows, table.values(column, rows))
                continue
            result.sentences.append(
                f"{column} is not used as the {role}: {why} in "
                f"{list_places(table.places, rows)}."
            )
        elif values is None:
            if role in given:
                raise FileError(
                    table.path, f"{flag(role)} {column} cannot be used: {why}."
                )
            result.sentences.append(f"{column} is not used as the {role}: {why}.")
        else:
            result.columns[role] = values
            result.sentences.append(sentence)
    return result


_Read = tuple[NDArray[Any], str, "NDArray[Any] | None", str]
_NO_ROWS = np.empty(0, dtype=np.int64)


def _rater(columns: Columns, column: str) -> _Read:
    text = columns.text[column]
    missing = np.flatnonzero(text.missing)
    if len(missing):
        return missing, "no value", None, ""
    count = len(text.values)
    return _NO_ROWS, "", text.array(), f"{column} is who judged ({count:,} raters)."


def _weight(columns: Columns, column: str) -> _Read:
    values = columns.numbers[column]
    # Missing values are NaN, which is not at least zero either.
    wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
    if len(wrong):
        return wrong, "a weight that is not a number of at least 0", None, ""
    if not values.any():
        return _NO_ROWS, "all weights are zero", None, ""
    return _NO_ROWS, "", values, f"{column} is how much a row counts."


def _period(columns: Columns, column: str) -> _Read:
    series = columns.raw[column]
    missing = np.flatnonzero(series.is_null().to_numpy())
    if len(missing):
        return missing, "no value", None, ""
    periods = _in_parts(series, column)
    if periods is None:
        periods = as_periods(number_text(series), column)
    if periods is None:
        why = (
            "its values are neither numbers nor dates such as 2024-05-31, for example "
            f"{shorten(series[0])}, so their order in time is not known"
        )
        return _NO_ROWS, why, None, ""
    first, last = readable_period(periods.min()), readable_period(periods.max())
    return _NO_ROWS, "", periods, f"{column} is when, from {first} to {last}."


def _in_parts(series: pl.Series, column: str) -> NDArray[Any] | None:
    """Read times that nearly all differ, so that few of them are in memory at once.

    None if they are few, or if parts are read differently, as dates and as numbers:
    what they are has then to be told from all of them together.
    """
    if len(series) <= _PART or 2 * series.head(_PART).n_unique() < _PART:
        return None
    found: list[NDArray[Any]] = []
    for start in range(0, len(series), _PART):
        # Not as categories, of which polars keeps all that it has ever seen.
        values = find_distinct(as_column(series.slice(start, _PART), column))
        part = as_periods(Text(values.codes, values.values), column)
        if part is None:
            return None
        found.append(part)
    dates = sum(part.dtype.kind == "M" for part in found)
    return np.concatenate(found) if dates in (0, len(found)) else None


def as_periods(text: Text, column: str) -> NDArray[Any] | None:
    """Turn text into dates or numbers, whose order is that of time.

    Parameters
    ----------
    text : Text
        The column, without missing values.
    column : str
        Its name; numbers of eight digits are dates in a column that is called so.

    Returns
    -------
    ndarray of datetime64, int64 or float64 of shape (n,), or None
        None if the values are neither.

    Examples
    --------
    >>> as_periods(Text(np.array([0, 1, 0]), ["20240531", "20240601"]), "Date")
    array(['2024-05-31', '2024-06-01', '2024-05-31'], dtype='datetime64[D]')
    """
    values = [value.strip() for value in text.values]
    found: NDArray[Any]
    if "date" in column.casefold() and all(map(_COMPACT.fullmatch, values)):
        values = [f"{value[:4]}-{value[4:6]}-{value[6:]}" for value in values]
    plain = [_UTC.sub("", value) for value in _year_first(values)]
    try:
        if all(map(_ISO.fullmatch, plain)):
            days = all(len(value) <= len("2024-05-31") for value in plain)
            found = np.array(plain, dtype="datetime64[D]" if days else "datetime64[us]")
        else:
            found = np.array(values, dtype=np.float64)
            if not np.isfinite(found).all():
                return None
            whole = found.astype(np.int64) if np.abs(found).max() < 2**53 else found
            found = whole if (whole == found).all() else found
    except ValueError:
        return None
    return found[text.codes]


def _year_first(values: list[str]) -> list[str]:
    """Write dates as 2024-05-31 that are written otherwise, where only one way fits.

    In 31.05.2024 the day comes first. In 31/05/2024 and 05/31/2024 it does not say, but
    a number above 12 in one of the dates does, for all of them.
    """
    if all(found := [*map(_YEAR_FIRST.fullmatch, values)]):
        return [_iso(year, month, day) for year, month, day in _groups(found)]
    if not all(found := [*map(_YEAR_LAST.fullmatch, values)]):
        return [value.replace("/", "-") for value in values]
    parts = _groups(found)
    first, second = (max(int(part[place]) for part in parts) for place in (0, 2))
    dotted = all(part[1] == "." for part in parts)
    if dotted or (first > 12 >= second):
        return [_iso(year, month, day) for day, _, month, year in parts]
    if second > 12 >= first:
        return [_iso(year, month, day) for month, _, day, year in parts]
    return values


def _groups(found: list[re.Match[str] | None]) -> list[tuple[str, ...]]:
    return [match.groups() for match in found if match is not None]


def _iso(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"
