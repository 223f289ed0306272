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
from numpy.typing import NDArray

from tiebreak.data.files.errors import BrokenRows, FileError, list_places, shorten
from tiebreak.data.files.recognized import flag
from tiebreak.data.files.table import Columns, Table, Text
from tiebreak.data.periods import readable_period

__all__ = ["Beside", "as_periods", "read_beside"]

_ISO = re.compile(
    r"\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?)?"
)
_COMPACT = re.compile(r"(?:1[6-9]|20|21)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
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
    text = columns.text[column]
    missing = np.flatnonzero(text.missing)
    if len(missing):
        return missing, "no value", None, ""
    periods = as_periods(text, column)
    if periods is None:
        why = (
            "its values are neither numbers nor dates such as 2024-05-31, for example "
            f"{shorten(text.values[0])}, so their order in time is not known"
        )
        return _NO_ROWS, why, None, ""
    first, last = readable_period(periods.min()), readable_period(periods.max())
    return _NO_ROWS, "", periods, f"{column} is when, from {first} to {last}."


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
    plain = [_UTC.sub("", value.replace("/", "-")) for value in values]
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
