# SPDX-License-Identifier: BSD-3-Clause
"""From what the user names to what is known: one file, or many in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiebreak.cli.cluster import watched
from tiebreak.io import ReadOptions, read_file
from tiebreak.pipeline.comparisons import ComparisonData, as_comparisons
from tiebreak.pipeline.partitioned_comparisons import gather_comparisons
from tiebreak.pipeline.partitioned_grades import GradedFiles, look_at_grades
from tiebreak.pipeline.partitions import ManyFiles, find_partitions


def read_whole(
    file: Path, reading: ReadOptions, progress: Callable[[str], None]
) -> tuple[ComparisonData, list[str]]:
    """Read one file.

    Parameters
    ----------
    file : Path
        The file.
    reading : ReadOptions
        How to read it.
    progress : callable
        Is told each step before it begins.

    Returns
    -------
    known : ComparisonData
    recognized : list of str
        What was recognized, in plain words.
    """
    progress(f"reading {file.name}")
    read = read_file(file, reading)
    known = as_comparisons(read)
    return known, [*read.sentences, *read.questions, *known.notes]


def read_parts(
    source: Path,
    reading: ReadOptions,
    progress: Callable[[str], None],
    client: Any = None,
) -> tuple[ComparisonData | GradedFiles, list[str]]:
    """Read a folder or a pattern of files in parts, or a single file as one part.

    Parameters
    ----------
    source : Path
        The folder, pattern or file.
    reading : ReadOptions
        How to read each file.
    progress : callable
        Is told each step before it begins.
    client : distributed.Client, optional
        The cluster that reads them; None: this process.

    Returns
    -------
    known : ComparisonData or GradedFiles
        Comparisons, alike ones added up; or where the graded items are.
    recognized : list of str
        What was recognized, in plain words.
    """
    progress(f"looking at {source}")
    parts = find_partitions(source, reading)
    n_files = len(parts.files)
    places = {file: place for place, file in enumerate(parts.files, 1)}

    def tell(file: str) -> None:
        name = Path(file).name
        progress(f"reading {name}, file {places[file]:,} of {n_files:,}")

    if client is None:
        return _read(parts, tell)
    with watched(client, n_files, progress):
        return _read(parts, None)


def _read(
    parts: ManyFiles, tell: Callable[[str], None] | None
) -> tuple[ComparisonData | GradedFiles, list[str]]:
    if parts.shape == "comparisons":
        return gather_comparisons(parts, tell)
    graded = look_at_grades(parts, tell)
    return graded, graded.recognized
