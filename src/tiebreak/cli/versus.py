# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak versus``: whether one item is better than others, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions
from tiebreak.pipeline.comparisons import read_comparisons
from tiebreak.pipeline.rank import rank_names

_COLUMNS = (
    "points: the rating of the item minus that of the other; better: the probability "
    "that it is better; p: of no difference, and adjusted for all comparisons; votes: "
    "direct votes that would show such a difference, with a power of 80 %."
)


def run(
    file: Path,
    item: str,
    others: list[str],
    reading: ReadOptions,
    *,
    model: str,
    alpha: float | str | None,
    level: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, compare and print."""
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, sentences = read_comparisons(file, reading)
        steps("comparing")
        board = rank_names(data, model=model, alpha=alpha, level=level)
        found = board.versus(item, *others)
    if as_json:
        print_json(
            {"recognized": sentences, "notes": board.notes, "level": level}
            | {"versus": found.to_dicts()}
        )
        return
    output = Output(quiet=quiet)
    output.say(sentences)
    output.print(_table(found, level))
    output.say(
        [_sentence(row, level, len(found)) for row in found.iter_rows(named=True)][:3]
    )
    output.say([_COLUMNS, *board.notes])


def _table(found: pl.DataFrame, level: float) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("versus", overflow="fold")
    heads = ["points", f"{100 * level:g} % interval", "better", "p", "p (all)", "votes"]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in found.iter_rows(named=True):
        table.add_row(Text(str(row["other"])), *_cells(row))
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    if row["difference"] is None:
        return ["never meet", *5 * ["–"]]
    votes = row.get("votes_needed")
    return [
        f"{row['difference']:+.0f}",
        f"{row['lower']:+.0f} … {row['upper']:+.0f}",
        f"{row['probability']:.1%}",
        _p(row["p_value"]),
        _p(row["p_adjusted"]),
        "–" if votes is None else f"{votes:,}",
    ]


def _p(value: float) -> str:
    return "< .0001" if value < 1e-4 else f"{value:.4f}".lstrip("0")


def _sentence(row: dict[str, Any], level: float, count: int) -> str:
    one, two = row["item"], row["other"]
    if row["difference"] is None:
        return f"{one} and {two} never meet, not even through others."
    adjusted = f", adjusted for {count} comparisons" if count > 1 else ""
    p_value = f"p {'= ' if row['p_adjusted'] >= 1e-4 else ''}{_p(row['p_adjusted'])}"
    if row["p_adjusted"] < 1.0 - level:
        better, worse = (one, two) if row["difference"] > 0 else (two, one)
        return f"{better} is better than {worse} ({p_value}{adjusted})."
    return (
        f"The results do not show which of {one} and {two} is better "
        f"({p_value}{adjusted})."
    )
