# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak diff``: what changed between two files of results, or of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import typer
from rich.table import Table

from tiebreak.cli.console import (
    Output,
    Steps,
    interval_text,
    item_table,
    print_json,
)
from tiebreak.cli.errors import WORSE
from tiebreak.data.markup import Name
from tiebreak.io import ReadOptions
from tiebreak.io.result import first_of, printable
from tiebreak.options import RankOptions
from tiebreak.pipeline.diff import Diff, diff_files
from tiebreak.pipeline.report import p_text

_SHOWN = 50
_NAMED = 10


def run(
    old: Path,
    new: Path,
    reading: ReadOptions,
    *,
    options: RankOptions,
    reference: str | None,
    fail_if_worse: list[str],
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, fit, compare and print; end with a code of its own if an item is worse."""
    with Steps(shown=not (quiet or as_json)) as steps:
        found = diff_files(
            old,
            new,
            reading,
            ties=options.ties,
            settings=options.settings,
            level=options.level,
            reference=reference,
            progress=steps,
        )
    worse = found.worse(fail_if_worse)
    if as_json:
        print_json(
            {"old": str(old), "new": str(new), "level": found.level}
            | {"recognized": {"old": found.detected[0], "new": found.detected[1]}}
            | {"notes": found.notes, "changes": found.changes.to_dicts()}
            | {"new_items": found.new, "lost_items": found.lost}
            | {"worse": worse["item"].to_list()}
        )
    else:
        output = Output(quiet=quiet)
        for path, said in zip((old, new), found.detected, strict=True):
            output.say([f"{path}: {sentence}" for sentence in said])
        output.print(_table(found))
        output.say([*_sentences(found), *found.notes, *_say_worse(worse)])
    if len(worse):
        raise typer.Exit(WORSE)


def _table(found: Diff) -> Table:
    heads = "old", "new", "change", f"{100 * found.level:g} % interval", "p (all)"
    table = item_table("item", *heads, "rank")
    changes = found.changes
    if len(changes) > _SHOWN:
        # Those that changed are never left out.
        rest = changes.slice(_SHOWN).filter(pl.col("more_than_noise"))
        changes = pl.concat([changes.head(_SHOWN), rest])
        table.caption = f"and {len(found.changes) - len(changes)} more items"
    for row in changes.iter_rows(named=True):
        ranks = f"{row['rank_old']} → {row['rank_new']}"
        if row["moved"]:
            ranks += f" ({row['moved']:+d})"
        table.add_row(
            Name(printable(str(row["item"]))),
            f"{row['rating_old']:.0f}",
            f"{row['rating_new']:.0f}",
            f"{row['change']:+.0f}",
            interval_text(row),
            p_text(row["p_adjusted"]),
            ranks,
            style="bold" if row["more_than_noise"] else None,
        )
    return table


def _sentences(found: Diff) -> list[str]:
    said = []
    sure = found.changes.filter(pl.col("more_than_noise"))
    up, down = (sure.filter(pl.col("change") * sign > 0) for sign in (1, -1))
    for rows, word in ((up, "Better"), (down, "Worse")):
        if len(rows):
            said.append(f"{word}, by more than noise: {_list(rows['item'].to_list())}.")
    if not len(sure):
        said.append("No change is more than noise.")
    said.append(
        f"p (all) is of no change, adjusted for {len(found.changes)} items (Holm); a "
        f"change is more than noise if it is below {1.0 - found.level:.2g}."
    )
    if found.new:
        said.append(f"New: {_list(found.new)}.")
    if found.lost:
        said.append(f"Gone: {_list(found.lost)}.")
    return said


def _say_worse(worse: pl.DataFrame) -> list[str]:
    return [
        f"{row['item']} is worse, by {-row['change']:.0f} points (p "
        f"{p_text(row['p_value'])}): exit code {WORSE}."
        for row in worse.iter_rows(named=True)
    ]


def _list(names: list[Any]) -> str:
    return first_of([str(name) for name in names], _NAMED)
