# SPDX-License-Identifier: BSD-3-Clause
"""Reading tables of results, with errors that name the file and the lines.

Lines are counted as an editor counts them: the header is line 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

LINE = "line"
"""Column that `read_results` adds: the number of each row's line in the file."""

_EXPECTED = {
    pl.Int64: "a whole number",
    pl.Float64: "a number",
    pl.Date: "a date such as 2022-12-18",
    pl.String: "text",
}


def read_results(
    path: Path,
    columns: Mapping[str, type[pl.DataType]],
    *,
    optional: Sequence[str] = (),
    null_values: Sequence[str] = (),
) -> pl.DataFrame:
    """Read the named columns of a CSV file with a header.

    Parameters
    ----------
    path : Path
        The file, which may be compressed.
    columns : mapping of str to polars type
        The columns wanted, and what each holds: Int64, Float64, Date or String. Others
        are not read.
    optional : sequence of str, default=()
        Columns in which a value may be missing.
    null_values : sequence of str, default=()
        Words that say, besides an empty field, that a value is missing.

    Returns
    -------
    polars.DataFrame
        The columns in the order asked for, then `LINE`.

    Raises
    ------
    ValueError
        If the file is no table, lacks a column, has no rows, or holds a value that is
        missing or of another kind.
    """
    try:
        table = pl.read_csv(path, infer_schema=False, null_values=list(null_values))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    absent = [name for name in columns if name not in table.columns]
    if absent:
        raise ValueError(
            f"{path} has no column {', '.join(map(repr, absent))}; its columns are "
            f"{', '.join(map(repr, table.columns))}. Is it the right file?"
        )
    if table.height == 0:
        raise ValueError(f"{path} has a header but no rows. Is the file complete?")
    table = table.select(list(columns)).with_row_index(LINE, offset=2)
    result = table.select(
        *(
            pl.col(name).str.to_date("%Y-%m-%d", strict=False)
            if kind is pl.Date
            else pl.col(name).cast(kind, strict=False)
            for name, kind in columns.items()
        ),
        pl.col(LINE).cast(pl.Int64),
    )
    for name, kind in columns.items():
        wrong = result[name].is_null()
        if name in optional:
            wrong &= table[name].is_not_null()
        elif kind is pl.Float64:
            wrong |= ~result[name].is_finite()
        refuse(path, table.filter(wrong), name, _EXPECTED[kind])
    return result


def refuse(path: Path, rows: pl.DataFrame, column: str, expected: str) -> None:
    """Raise an error about a column of some rows; no rows, no error.

    Parameters
    ----------
    path : Path
        The file.
    rows : polars.DataFrame
        The rows that are wrong, with their `LINE`.
    column : str
        The column that is wrong.
    expected : str
        What should have been there.
    """
    if rows.height == 0:
        return
    shown = ", ".join(
        f"line {line} ({value!r})"
        for line, value in rows.select(LINE, column).rows()[:5]
    )
    more = f" and {rows.height - 5} more" if rows.height > 5 else ""
    raise ValueError(
        f"{path}: column {column!r} is not {expected} in {rows.height} row(s): {shown}"
        f"{more}."
    )


def refuse_same(path: Path, table: pl.DataFrame, left: str, right: str) -> None:
    """Raise an error if an item is compared with itself.

    Parameters
    ----------
    path : Path
        The file.
    table : polars.DataFrame
        From `read_results`.
    left, right : str
        The columns of the two sides.
    """
    rows = table.filter(pl.col(left) == pl.col(right))
    refuse(path, rows, right, f"another one than in column {left!r}")


def outcomes_from_words(
    path: Path, table: pl.DataFrame, column: str, words: Mapping[Any, int]
) -> NDArray[np.int8]:
    """Read outcomes that are written as words or scores.

    Parameters
    ----------
    path : Path
        The file.
    table : polars.DataFrame
        From `read_results`.
    column : str
        The column of words.
    words : mapping to int
        What each word means: -1 left is better, 0 tie, +1 right is better.

    Returns
    -------
    ndarray of int8 of shape (n,)
    """
    values = table[column]
    unknown = table.filter(~values.is_in(list(words)))
    refuse(path, unknown, column, f"one of {', '.join(map(str, words))}")
    return values.replace_strict(
        list(words), list(words.values()), return_dtype=pl.Int8
    ).to_numpy(writable=True)
