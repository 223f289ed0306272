# SPDX-License-Identifier: BSD-3-Clause
"""Tables in the terminal, and that of a leaderboard, also as plain text."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tiebreak.data.markup import Name, results_text, shorten
from tiebreak.data.messages import noun
from tiebreak.io.result import printable
from tiebreak.ratings.checks.pairs_report import count_text

TALLY = ("wins", "ties", "losses")
_BAR = 24  # columns of the picture of an interval
_SHOWN = 50
WIDEST = 500
WIDE = 110  # a terminal with fewer columns gets no picture
_LONGEST_NAME = 48
_LONGEST_TEXT = 3 * _LONGEST_NAME
_LONGEST_GROUP = 12


def draw_leaderboard(
    board: pl.DataFrame,
    level: float,
    width: int = WIDE,
    most: int = _SHOWN,
    how: str = "",
) -> Table:
    """Make a table of the first items for the terminal, and say how to see more.

    If it is narrow, columns go until no name needs two lines, and then more than two.
    """
    best, narrow = board.head(most), width < WIDE
    columns = _columns(best, level, rating_digits(board), narrow)
    names: Any = columns["item"][1]
    short = [name for name in names if name.cell_len <= _LONGEST_NAME]
    longest = min(max(name.cell_len for name in names), _LONGEST_NAME)
    left_out = []
    for leaving in ("", "group", "won/tied/lost", "ranks", None):
        table = text_table((), (), collapse_padding=narrow)
        for head, (justify, _) in columns.items():
            table.add_column(noun(head), justify=justify, no_wrap=head != "item")
        for cells in zip(*(cells for _, cells in columns.values()), strict=True):
            table.add_row(*cells)
        table.columns[1].max_width = max(longest, len(noun("item")))
        too_much = Console(width=1 << 16).measure(table).maximum - width
        room = max(1, max(longest, len(noun("item"))) - max(0, too_much))
        lines = 1 if {"", "group"} & columns.keys() else 2
        if all(len(name.lines(room)) <= lines for name in short):
            break
        if leaving in columns:
            del columns[leaving]
            left_out += [leaving] * bool(leaving)
    table.columns[1].max_width = room
    more = len(board) - most
    caption = [f"and {more} more {noun('items')}{how}"] if more > 0 else []
    if best["provisional"].any():
        caption.append(
            "* provisional: few results, placed by the lower end of the interval"
        )
    if not is_counted(board):
        caption.append("won, tied and lost are sums of weights")
    if left_out:
        caption.append(f"columns without room: {', '.join(left_out)}")
    table.caption = "; ".join(caption) or None
    return table


Columns = dict[str, tuple[Any, Sequence[Text | str]]]


def _columns(best: pl.DataFrame, level: float, digits: int, narrow: bool) -> Columns:
    def known(name: str) -> bool:
        return not best[name].is_null().all()

    def cells(write: Callable[[dict[str, Any]], str]) -> list[str]:
        return [write(row) for row in best.iter_rows(named=True)]

    ends = best.select(pl.min("lower"), pl.max("upper")).row(0)
    # Text, not markup: a name such as "[red]" must appear as it is.
    names = [Name(shorten(item, _LONGEST_TEXT)) for item in best["item"]]
    for name, provisional in zip(names, best["provisional"], strict=True):
        name.append(" *" * provisional)
    columns: Columns = {
        "rank": ("right", cells(lambda row: f"{row['rank'] or '–'}")),
        "item": ("left", names),
        "rating": ("right", cells(lambda row: f"{row['rating']:z.{digits}f}")),
    }
    if "set" in best.columns:
        columns["set"] = "right", cells(lambda row: f"{row['set']}")
    if known("lower"):
        head = f"{100 * level:g} % interval{chr(10) if narrow else ' '}of each"
        intervals = cells(
            lambda row: f"{row['lower']:z.{digits}f} … {row['upper']:z.{digits}f}"
        )
        columns[head] = "center", intervals
        if not narrow:
            columns[""] = "left", cells(lambda row: _bar(row, *ends))
    if known("rank_best"):
        columns["ranks"] = "center", cells(ranks_text)
        if known("group") and not best["group"].str.contains("[a-z]{2}").any():
            columns["group"] = "left", cells(lambda row: short_group(row["group"]))
    if known("wins"):
        tally = cells(lambda row: "/".join(count_text(row[name]) for name in TALLY))
        columns["won/tied/lost"] = "right", tally
    return columns


def is_counted(board: pl.DataFrame) -> bool:
    """Whether wins, ties and losses are counts, not sums of fractional weights."""
    sums = board.select(pl.col(TALLY).cast(pl.Float64).fill_null(0.0)).to_numpy()
    return bool((sums == np.floor(sums)).all())


def text_table(
    heads: Iterable[str | Text],
    rows: Iterable[Sequence[Any]],
    names: Collection[int] = (0,),
    *,
    bold: Collection[int] = (),
    **options: Any,
) -> Table:
    """Make a table for the terminal; ``names``: columns that wrap, ``bold``: rows."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, **options)
    for place, head in enumerate(heads):
        named = place in names
        table.add_column(
            head,
            justify="left" if named else "right",
            overflow="fold",
            no_wrap=not named,
        )
    for number, row in enumerate(rows):
        cells = (
            Name(printable(str(cell))) if place in names else str(cell)
            for place, cell in enumerate(row)
        )
        table.add_row(*cells, style="bold" if number in bold else None)
    return table


def rating_digits(board: pl.DataFrame) -> int:
    """Choose how many decimals ratings need."""
    ends = board.select(pl.col("^(rating|lower|upper)$").cast(pl.Float64)).to_numpy()
    finite = ends[np.isfinite(ends)]
    span = np.ptp(finite) if len(finite) else 0.0
    return 0 if span >= 50 or span == 0.0 else 1 + (span < 10) + (span < 1)


def leaderboard_text(board: pl.DataFrame, level: float) -> str:
    """Make plain text, without colors, of the same table."""
    # As wide as it needs: text goes to files and documents too.
    return results_text(draw_leaderboard(board, level, WIDEST), WIDEST)


def _bar(row: dict[str, Any], low: float, high: float) -> str:
    span = (high - low) or 1.0

    def column(value: float) -> int:
        return round((value - low) / span * (_BAR - 1))

    start, middle, end = (column(row[name]) for name in ("lower", "rating", "upper"))
    middle = min(max(middle, start), end)
    bar = [" "] * _BAR
    bar[start : end + 1] = ["─"] * (end - start + 1)
    bar[middle] = "●"
    return "".join(bar)


def ranks_text(row: Mapping[str, Any]) -> str:
    """Write the ranks that an item could have."""
    best, worst = row["rank_best"], row["rank_worst"]
    if best is None or worst is None:
        return "–"
    return str(best) if best == worst else f"{best}–{worst}"


def short_group(group: str | None) -> str:
    """Shorten a long run of letters to its first and last."""
    if group is None:  # an item that is not placed
        return "–"
    letters = group.split(" ")
    return group if len(group) <= _LONGEST_GROUP else f"{letters[0]}…{letters[-1]}"
