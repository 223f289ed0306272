# SPDX-License-Identifier: BSD-3-Clause
"""What a command reads and writes: files of data, and the folder of a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.data.atomic import atomic_folder, check_folder, refuse_to_replace
from tiebreak.io.result import WriteError, first_of
from tiebreak.options import RankOptions, ReadOptions
from tiebreak.pipeline.read import read_source
from tiebreak.pipeline.source import Source, is_partitioned

if TYPE_CHECKING:
    import polars as pl

    from tiebreak.outofcore import Step

REPORT = "report.html"
SKIPPED = "skipped.csv"  # rows that could not be read, if there are any
_FILES = (REPORT, "leaderboard.csv", "model.tiebreak")
_BY_CATEGORY = "categories.csv"
_OWN = (*_FILES, SKIPPED, _BY_CATEGORY)


@contextmanager
def read_files(
    files: list[Path],
    reading: ReadOptions,
    options: RankOptions,
    where: str | None,
    steps: Callable[[str], None],
) -> Iterator[Source]:
    """Read files; what is done with many of them in the block is done where they are.

    ``where`` is None, ``"local"`` for one worker per core, or the address of a
    scheduler.
    """
    source: Any = files[0] if len(files) == 1 else files
    if where is None and not (len(files) == 1 and is_partitioned(files[0])):
        yield read_source(source, reading, options, progress=steps)
        return
    from tiebreak.cli.cluster import connected
    from tiebreak.outofcore import running

    tell = partial(_tell, steps)
    with connected(where, steps) as client, running(client=client, tell=tell):
        yield read_source(
            source, reading, options, partitioned=True, client=client, progress=steps
        )


def _tell(steps: Callable[[str], None], step: Step) -> None:
    steps(f"fitting, step {step.number}, {step.gap:.0e} from the minimum")


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
    others = sorted(name for name in names if name not in _OWN)
    if others and not force:
        raise WriteError(
            folder,
            f"the folder holds other files too: {first_of(others)}. Choose another "
            "--out, or add --force to write beside them.",
        )
    check_folder(folder, _names(options))


def _names(options: RankOptions) -> tuple[str, ...]:
    return (*_FILES, _BY_CATEGORY) if options.categories else _FILES


def write_result(result: Any, folder: Path) -> None:
    """Write the report, the leaderboard and the model, or none of them."""
    from tiebreak import save
    from tiebreak.report.tables import csv_texts

    def write(tables: Iterable[pl.DataFrame], name: str) -> None:
        # Not written by polars, whose errors of a full disk say too little.
        with (temporary / name).open("w", encoding="utf-8", newline="") as file:
            file.writelines(csv_texts(tables))

    names, skipped = _names(result.options), result.source.skipped
    if skipped is not None:
        names = (*names, SKIPPED)
    with atomic_folder(folder, names) as temporary:
        if skipped is not None:
            write([skipped], SKIPPED)
        result.report(temporary / REPORT)
        write(result_tables(result), _FILES[1])
        save(result.model, temporary / _FILES[2])
        if _BY_CATEGORY in names:
            write([result.leaderboard.by_category()], _BY_CATEGORY)
    if _BY_CATEGORY not in names:
        (folder / _BY_CATEGORY).unlink(missing_ok=True)  # of an earlier question


def result_tables(result: Any) -> Iterator[pl.DataFrame]:
    """Give what is written as the leaderboard, in pieces."""
    if result.source.files is not None:
        yield from result.source.files.ranks(result.model)
    else:
        yield result.items if result.leaderboard is None else result.leaderboard.table
