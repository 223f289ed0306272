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
    """Read the named columns of a CSV file with a header, then `LINE`."""
    # In `optional` columns a value may be missing: empty or one of `null_values`.
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
    """Raise an error about a column of the rows that are wrong, if there are any."""
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
    """Raise an error if an item is compared with itself."""
    rows = table.filter(pl.col(left) == pl.col(right))
    refuse(path, rows, right, f"another one than in column {left!r}")


def outcomes_from_words(
    path: Path, table: pl.DataFrame, column: str, words: Mapping[Any, int]
) -> NDArray[np.int8]:
    """Outcomes (n,) of int8 from a column, by what each of its `words` means."""
    values = table[column]
    unknown = table.filter(~values.is_in(list(words)))
    refuse(path, unknown, column, f"one of {', '.join(map(str, words))}")
    return values.replace_strict(
        list(words), list(words.values()), return_dtype=pl.Int8
    ).to_numpy(writable=True)
