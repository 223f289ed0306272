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
from tiebreak.data.messages import list_rows
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import normalize
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import check_weights
from tiebreak.io.result import WriteError, shorten
from tiebreak.io.table import neutralize_formulas

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


# Strict or with ties; all items or some of them.
PREFLIB_ENDINGS = (".soc", ".soi", ".toc", ".toi")

Blocks = list[list[int]]


def write_preflib(
    path: str | os.PathLike[str],
    orders: Orders,
    weight: ArrayLike | None = None,
    *,
    title: str = "",
) -> None:
    """Write ranked lists as a PrefLib file.

    Parameters
    ----------
    path : str or path
        The file, which is written whole or not at all. Its ending says what it holds:
        ``.soc`` lists of all items without ties, ``.soi`` of some items without ties,
        ``.toc`` and ``.toi`` the same with ties.
    orders : Orders
        The lists; items without names are written by their row numbers. Their features
        have no place in the file.
    weight : array-like of shape (n,), optional
        Number of voters of each list, whole numbers of at least 1; 1 each by default.
        Lists that are the same are written once, with all their voters.
    title : str, default=""
        What the lists are about, in one line.

    Raises
    ------
    WriteError
        If the file cannot be written, its ending does not fit the lists, or a name or
        a weight cannot be written in this format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tiebreak import Orders
    >>> from tiebreak.io import write_preflib
    >>> orders = Orders(None, [["Ada", ["Bo", "Cy"]], ["Cy", "Ada"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "votes.toi"
    ...     write_preflib(path, orders, weight=[3, 1])
    ...     print(path.read_text())
    # FILE NAME: votes.toi
    # TITLE:
    # DATA TYPE: toi
    # NUMBER ALTERNATIVES: 3
    # NUMBER VOTERS: 4
    # NUMBER UNIQUE ORDERS: 2
    # ALTERNATIVE NAME 1: Ada
    # ALTERNATIVE NAME 2: Bo
    # ALTERNATIVE NAME 3: Cy
    3: 1,{2,3}
    1: 3,1
    <BLANKLINE>
    """
    path = Path(path)
    if path.suffix.lower() not in PREFLIB_ENDINGS:
        raise WriteError(path, "the name must end with .soc, .soi, .toc or .toi.")
    names = _check_names(path, orders)
    voters = _check_voters(path, weight, len(orders))
    _check_kind(path, orders)
    counts, first = _count(orders, voters)
    lines = [
        f"# FILE NAME: {_one_line(path.name)}",
        f"# TITLE: {_one_line(title)}".rstrip(),
        f"# DATA TYPE: {path.suffix.lower()[1:]}",
        f"# NUMBER ALTERNATIVES: {len(names)}",
        f"# NUMBER VOTERS: {sum(counts)}",
        f"# NUMBER UNIQUE ORDERS: {len(counts)}",
    ]
    lines += [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(names, 1)]
    lines += [
        f"{count}: {_write_list(blocks)}"
        for count, blocks in zip(counts, first, strict=True)
    ]
    try:
        with atomic_path(path) as temporary:
            # Line ends are the same everywhere, as PrefLib has them.
            temporary.write_bytes(("\n".join(lines) + "\n").encode("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise WriteError(path, f"cannot be written: {reason}.") from None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _check_names(path: Path, orders: Orders) -> list[str]:
    names = range(orders.n_items) if orders.names is None else orders.names.tolist()
    texts = [str(name) for name in names]
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        if not text or text != text.strip() or "\n" in text or "\r" in text:
            raise WriteError(
                path,
                f"item {row} is called {shorten(repr(text))}, and a PrefLib file holds "
                "names in lines of their own: expected a name that is not empty, in "
                "one line, without blanks around it.",
            )
        if text in seen:
            raise WriteError(
                path,
                f"items {seen[text]} and {row} would both be written as "
                f"{shorten(repr(text))}; rename one of them.",
            )
        seen[text] = row
    return texts


def _check_voters(path: Path, weight: ArrayLike | None, n: int) -> list[int]:
    if weight is None:
        return [1] * n
    weights = check_weights(weight, n)
    # Beyond 2^53, a whole number need not be the one that was meant.
    wrong = np.flatnonzero((weights < 1) | (weights % 1 != 0) | (weights > 2.0**53))
    if len(wrong):
        raise WriteError(
            path,
            f"a PrefLib file holds whole numbers of voters, but weight has "
            f"{list_rows(wrong, weights[wrong[:5]])}; round them, and leave out lists "
            "that nobody gave.",
        )
    return [int(value) for value in weights.tolist()]


def _check_kind(path: Path, orders: Orders) -> None:
    ending = path.suffix.lower()
    row = np.repeat(np.arange(len(orders)), orders.lengths)
    tied = (np.diff(row) == 0) & (np.diff(orders.position) == 0)
    short = np.flatnonzero(orders.lengths < orders.n_items)
    kind = ("t" if tied.any() else "s") + "o" + ("i" if len(short) else "c")
    if ending[1] == "s" and tied.any():
        first = int(row[1:][tied][0])
        raise WriteError(
            path,
            f"list {first} has tied items, and {ending} files hold lists without "
            f"ties; let the name end with .{kind}.",
        )
    if ending[3] == "c" and len(short):
        length = int(orders.lengths[short[0]])
        raise WriteError(
            path,
            f"list {short[0]} ranks {length} of {orders.n_items} items, and {ending} "
            f"files hold lists of all items; let the name end with "
            f".{ending[1:3]}i.",
        )


def _count(orders: Orders, voters: list[int]) -> tuple[list[int], list[Blocks]]:
    """Add up the voters of lists that are the same; tied items have no order."""
    counts: dict[tuple[tuple[int, ...], ...], int] = {}
    first: list[Blocks] = []
    flat, position = orders.flat.tolist(), orders.position.tolist()
    for row, count in enumerate(voters):
        blocks: dict[int, list[int]] = {}
        for entry in range(orders.indptr[row], orders.indptr[row + 1]):
            blocks.setdefault(position[entry], []).append(flat[entry] + 1)
        written = list(blocks.values())
        key = tuple(tuple(sorted(block)) for block in written)
        if key not in counts:
            first.append(written)
        counts[key] = counts.get(key, 0) + count
    return list(counts.values()), first


def _write_list(blocks: Blocks) -> str:
    parts = [",".join(map(str, block)) for block in blocks]
    return ",".join(
        "{" + part + "}" if len(block) > 1 else part
        for part, block in zip(parts, blocks, strict=True)
    )
