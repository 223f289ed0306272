# SPDX-License-Identifier: BSD-3-Clause
"""What a command reads and writes: files of data, and the folder of a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.data.atomic import (
    atomic_folder,
    check_folder,
    is_temporary,
    refuse_to_replace,
)
from tiebreak.io.result import WriteError, first_of
from tiebreak.options import RankOptions, ReadOptions
from tiebreak.pipeline.read import read_source
from tiebreak.pipeline.source import Source

if TYPE_CHECKING:
    import polars as pl

REPORT = "report.html"
SKIPPED = "skipped.csv"  # rows that could not be read, if there are any
_FILES = (REPORT, "leaderboard.csv", "model.tiebreak")
_BY_CATEGORY = "categories.csv"
_OWN = (*_FILES, SKIPPED, _BY_CATEGORY)


def read_files(
    files: list[Path],
    reading: ReadOptions,
    options: RankOptions,
    steps: Callable[[str], None],
) -> Source:
    """Read one file, or several as one table."""
    source: Any = files[0] if len(files) == 1 else files
    return read_source(source, reading, options, progress=steps)


def prepare_folder(
    folder: Path | None, sources: Iterable[Any], options: RankOptions, force: bool
) -> None:
    """Refuse a folder that cannot be written, or holds more than an earlier result."""
    if folder is None:
        return
    refuse_to_replace([*sources], [folder / name for name in _OWN])
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:  # there is none, or it will be said when it is written
        names = []
    others = sorted(n for n in names if n not in _OWN and not is_temporary(n))
    if others and not force:
        raise WriteError(
            folder,
            f"the folder holds other files too ({first_of(others)}); add --force.",
        )
    check_folder(folder, _names(options), stale=_OWN)


def _names(options: RankOptions) -> tuple[str, ...]:
    return (*_FILES, _BY_CATEGORY) if options.categories else _FILES


def write_result(result: Any, folder: Path) -> None:
    """Write the report, the leaderboard and the model, or none of them."""
    from tiebreak import save
    from tiebreak.report.tables import csv_text

    def write(table: pl.DataFrame, name: str) -> None:
        # Not written by polars, whose errors of a full disk say too little.
        with (temporary / name).open("w", encoding="utf-8", newline="") as file:
            file.write(csv_text(table))

    names, skipped = _names(result.options), result.source.skipped
    if skipped is not None:
        names = (*names, SKIPPED)
    with atomic_folder(folder, names, stale=_OWN) as temporary:
        if skipped is not None:
            write(skipped, SKIPPED)
        result.report(temporary / REPORT)
        write(result_table(result), _FILES[1])
        save(result.model, temporary / _FILES[2])
        if _BY_CATEGORY in names:
            write(result.leaderboard.by_category(), _BY_CATEGORY)


def result_table(result: Any) -> pl.DataFrame:
    """Return what is written as the leaderboard: items, or graded rows."""
    table: pl.DataFrame = result.items
    return table if result.leaderboard is None else result.leaderboard.table
