# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak versus``: whether one item is better than others, and how sure that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from rich.table import Table

from tiebreak.cli.console import (
    Output,
    Steps,
    interval_text,
    item_table,
    print_json,
)
from tiebreak.data.markup import Name
from tiebreak.io import ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.comparisons import read_comparisons
from tiebreak.pipeline.rank import rank_names
from tiebreak.pipeline.report import p_text

_NAMED = 8  # items in a sentence
# The models that have a margin of error.
_SURE = ("bradley-terry", "glicko", "glicko2")


def run(
    file: Path,
    item: str,
    others: list[str],
    reading: ReadOptions,
    *,
    options: RankOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, compare and print."""
    level = options.level
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        data, sentences = read_comparisons(file, reading)
        steps("comparing")
        board = rank_names(data, options, models=_SURE)
        found = board.versus(item, *others)
    if as_json:
        print_json(
            {"recognized": sentences, "notes": board.notes, "level": level}
            | {"versus": found.to_dicts()}
        )
        return
    output = Output(quiet=quiet)
    output.say(sentences)
    output.print(_table(found, item, level))
    output.say(_sentences(found, item, level))
    output.say([_columns(item), *board.notes])


def _table(found: pl.DataFrame, item: str, level: float) -> Table:
    heads = "points", f"{100 * level:g} % interval", "better", "p", "p (all)", "votes"
    table = item_table(Name(f"{item} versus"), *heads)
    for row in found.iter_rows(named=True):
        table.add_row(Name(str(row["other"])), *_cells(row))
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    if row["difference"] is None:
        return ["never meet", *5 * ["–"]]
    votes = row.get("votes_needed")
    return [
        f"{row['difference']:+.0f}",
        interval_text(row),
        f"{row['probability']:.1%}",
        p_text(row["p_value"]),
        p_text(row["p_adjusted"]),
        "–" if votes is None else f"{votes:,}",
    ]


def _columns(item: str) -> str:
    return (
        f"points: rating of {item} minus rating of the other. better: probability that "
        f"{item} is better. p: of no difference; p (all): adjusted for all "
        "comparisons. votes: direct votes that would show a difference of so many "
        "points, with a power of 80 %."
    )


def _sentences(found: pl.DataFrame, item: str, level: float) -> list[str]:
    """Say what the comparisons show, and what they do not."""
    met = found.filter(pl.col("difference").is_not_null())
    sure = pl.col("p_adjusted") < 1.0 - level
    ahead = pl.col("difference") > 0
    count = "both" if len(met) == 2 else f"all {len(met)}"
    how = f" (with {100 * level:g} % confidence in {count} comparisons)"
    missing = ""
    if len(met) == 1:
        how = missing = f" (p {_equals(met['p_adjusted'][0])})"
    said = []
    for rows, verdict in (
        (met.filter(sure & ahead), f"{{}} is better than {{}}{how}."),
        (met.filter(sure & ~ahead), f"{{}} is worse than {{}}{how}."),
        (met.filter(~sure), f"The results do not separate {{}} from {{}}{missing}."),
        (
            found.filter(pl.col("difference").is_null()),
            "{} never meets {}, not even through others.",
        ),
    ):
        if len(rows):
            said.append(verdict.format(item, _list(rows["other"].to_list())))
    return said


def _equals(value: float) -> str:
    return p_text(value) if value < 1e-4 else f"= {p_text(value)}"


def _list(names: list[str]) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
