# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons written to a file that `read_file` reads back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.atomic import atomic_path
from tiebreak.data.columns import as_column
from tiebreak.data.files.errors import WriteError
from tiebreak.data.files.formulas import neutralize_formulas
from tiebreak.data.messages import list_rows
from tiebreak.data.pairs import Pairs
from tiebreak.data.reading import normalize

__all__ = ["check_ending", "write_comparisons", "write_table"]

_ENDINGS = (".csv", ".tsv", ".parquet")

_WORDS = (
    ("left", "tie", "right"),
    ("first", "tied", "second"),
    ("home", "draw", "away"),
)


def write_comparisons(
    path: str | os.PathLike[str],
    pairs: Pairs,
    y: ArrayLike,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Write comparisons as a table with the columns left, right and outcome.

    Parameters
    ----------
    path : str or path
        The file: CSV if it ends with ``.csv``, tab separated with ``.tsv``, Parquet
        with ``.parquet``. It is written whole or not at all.
    pairs : Pairs
        The comparisons; items without names are written by their row numbers.
    y : array-like of shape (n,)
        Outcomes -1, 0 and +1, written as words. If an item is called like one of
        the words left, tie and right, other words are taken.
    columns : mapping of str to array-like of shape (n,), optional
        More columns, such as rater and period.

    Raises
    ------
    WriteError
        If the file cannot be written, or its name has another ending.
    ValueError
        If the columns do not match.

    Notes
    -----
    In CSV and TSV, text that a spreadsheet would run as a formula gets an apostrophe
    in front, which `read_file` takes away again.
    """
    path = check_ending(path)
    write_table(path, _make_frame(pairs, y, {} if columns is None else columns))


def check_ending(path: str | os.PathLike[str]) -> Path:
    """Refuse a file to be written whose name does not tell its format.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Path

    Raises
    ------
    WriteError
        If its name ends otherwise than with ``.csv``, ``.tsv`` or ``.parquet``.
    """
    path = Path(path)
    if path.suffix.lower() not in _ENDINGS:
        raise WriteError(path, "the name must end with .csv, .tsv or .parquet.")
    return path


def write_table(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a table, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file, whose ending tells the format, as in `write_comparisons`.
    frame : polars.DataFrame
        The table. In CSV and TSV, text that a spreadsheet would run as a formula gets
        an apostrophe in front.

    Raises
    ------
    WriteError
        If the file cannot be written, or its name has another ending.
    """
    path = check_ending(path)
    ending = path.suffix.lower()
    if ending != ".parquet":
        frame = frame.with_columns([neutralize_formulas(c) for c in frame])
    try:
        with atomic_path(path) as temporary:
            if ending == ".parquet":
                frame.write_parquet(temporary)
            else:
                separator = "\t" if ending == ".tsv" else ","
                frame.write_csv(temporary, separator=separator)
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise WriteError(path, f"cannot be written: {reason}.") from None


def _make_frame(pairs: Pairs, y: ArrayLike, columns: Mapping[str, Any]) -> pl.DataFrame:
    n = len(pairs)
    names = range(pairs.n_items) if pairs.names is None else pairs.names.tolist()
    texts = [str(name) for name in names]
    words = pl.Series(_choose_words(texts), dtype=pl.String)
    items = pl.Series(texts, dtype=pl.String)
    outcomes = _check_outcomes(y, n) + 1
    series = [
        items.gather(pairs.left).alias("left"),
        items.gather(pairs.right).alias("right"),
        words.gather(outcomes).alias("outcome"),
    ]
    for name, values in columns.items():
        if name in ("left", "right", "outcome"):
            raise ValueError(
                f"A column may not be called {name!r}; it is there already."
            )
        column = as_column(values, name)
        if len(column) != n:
            raise ValueError(
                f"{name} has {len(column)} values but there are {n} comparisons; they "
                "must be as many."
            )
        listed = column.tolist() if column.dtype.kind in "OU" else column
        series.append(pl.Series(name, listed))
    return pl.DataFrame(series)


def _check_outcomes(y: ArrayLike, n: int) -> NDArray[np.int64]:
    """Check outcomes without the warning of models: zeros and ones are fine here."""
    column = as_column(y, "y")
    if len(column) != n:
        raise ValueError(f"y has {len(column)} outcomes for {n} comparisons.")
    wrong = np.flatnonzero(~np.isin(column, (-1, 0, 1)))
    if len(wrong):
        raise ValueError(
            f"y must hold -1, 0 and +1, got {list_rows(wrong, column[wrong[:5]])}."
        )
    return column.astype(np.int64)


def _choose_words(names: list[str]) -> tuple[str, str, str]:
    """Choose words for left, tie and right that are not names of items."""
    taken = {normalize(name) for name in names}
    for words in _WORDS:
        if not taken & set(words):
            return words
    raise ValueError(
        "Items are called 'left' or 'tie' or 'right', and also like the other words "
        "for outcomes; rename them."
    )
