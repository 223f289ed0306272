# SPDX-License-Identifier: BSD-3-Clause
"""A leaderboard in the terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_BAR = 24  # columns of the picture of an interval
_SHOWN = 50
_WIDE = 110  # a terminal with fewer columns gets no picture
_LONGEST_NAME = 48
_LINES_OF_NAME = 3
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_GROUP = 12


def as_table(board: pl.DataFrame, level: float, width: int = _WIDE) -> Table:
    """Make a table for the terminal.

    Parameters
    ----------
    board : polars.DataFrame
        The table of a leaderboard.
    level : float
        Confidence of its intervals.
    width : int, default=110
        Columns of the terminal; a narrow one gets no picture of the intervals.

    Returns
    -------
    rich.table.Table
        The first 50 items; the caption counts the others.
    """
    sure = not board["lower"].is_null().all()
    ranked = not board["rank_best"].is_null().all()
    counted = not board["wins"].is_null().all()
    drawn = sure and width >= _WIDE
    more = len(board) - _SHOWN
    table = Table(
        caption=f"and {more} more items" if more > 0 else None,
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("item", overflow="fold", max_width=_LONGEST_NAME)
    table.add_column("rating", justify="right", no_wrap=True)
    if sure:
        table.add_column(f"{100 * level:g} % interval", justify="center", no_wrap=True)
    if drawn:
        table.add_column("", no_wrap=True)
    if ranked:
        table.add_column("ranks", justify="center", no_wrap=True)
        table.add_column("group", no_wrap=True)
    if counted:
        table.add_column("won/tied/lost", justify="right", no_wrap=True)
    best = board.head(_SHOWN)
    digits = rating_digits(board)
    ends = best.select(pl.min("lower"), pl.max("upper")).row(0)
    for row in best.iter_rows(named=True):
        # Text, not markup: a name such as "[red]" must appear as it is.
        cells: list[Text | str] = [
            str(row["rank"]),
            Text(_name(row["item"])),
            f"{row['rating']:z.{digits}f}",
        ]
        if sure:
            lower, upper = row["lower"], row["upper"]
            cells.append(f"{lower:z.{digits}f} … {upper:z.{digits}f}")
        if drawn:
            cells.append(_bar(row, *ends))
        if ranked:
            best_rank, worst_rank = row["rank_best"], row["rank_worst"]
            same = best_rank == worst_rank
            cells.append(str(best_rank) if same else f"{best_rank}–{worst_rank}")
            cells.append(_short(row["group"]))
        if counted:
            cells.append(f"{row['wins']:g}/{row['ties']:g}/{row['losses']:g}")
        table.add_row(*cells)
    return table


def rating_digits(board: pl.DataFrame) -> int:
    """Choose how many decimals ratings need.

    Parameters
    ----------
    board : polars.DataFrame
        The table of a leaderboard, with or without the ends of intervals.

    Returns
    -------
    int
        None for ratings like Elo's, three for utilities within one unit.
    """
    ends = [name for name in ("rating", "lower", "upper") if name in board.columns]
    values = pl.concat([board[name].cast(pl.Float64).rename("") for name in ends])
    finite = values.filter(values.is_finite())  # null is not finite either
    if not len(finite):
        return 0
    span = float(finite.max()) - float(finite.min())  # type: ignore[arg-type]
    if span == 0.0:
        return 0
    return 0 if span >= 50 else 1 if span >= 10 else 2 if span >= 1 else 3


def as_text(board: pl.DataFrame, level: float) -> str:
    """Make plain text, without colors, of the same table.

    Parameters
    ----------
    board : polars.DataFrame
        The table of a leaderboard.
    level : float
        Confidence of its intervals.

    Returns
    -------
    str
    """
    file = io.StringIO()
    # As wide as it needs: text goes to files and documents too.
    console = Console(file=file, width=500, color_system=None)
    console.print(as_table(board, level))
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().splitlines())


def _name(item: Any) -> str:
    """Write a name so that it steers no terminal, with its middle left out if long."""
    line = re.sub(r"[\t\r\n]+", " ", str(item))
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", line)
    most = _LINES_OF_NAME * _LONGEST_NAME
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def _bar(row: dict[str, Any], low: float, high: float) -> str:
    """Draw an interval and its middle on a common axis."""
    span = (high - low) or 1.0

    def column(value: float) -> int:
        return round((value - low) / span * (_BAR - 1))

    start, middle, end = (column(row[name]) for name in ("lower", "rating", "upper"))
    middle = min(max(middle, start), end)
    bar = [" "] * _BAR
    bar[start : end + 1] = ["─"] * (end - start + 1)
    bar[middle] = "●"
    return "".join(bar)


def _short(group: str) -> str:
    """Shorten a long run of letters to its first and last."""
    letters = group.split(" ")
    if len(group) <= _LONGEST_GROUP:
        return group
    return f"{letters[0]}…{letters[-1]}"
