# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tiebreak.cli.cluster import connected
from tiebreak.cli.console import Screen, Steps, print_json
from tiebreak.cli.sources import read_parts, read_whole
from tiebreak.io import ReadOptions
from tiebreak.outofcore import running
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import check_known
from tiebreak.pipeline.partitions import is_in_parts


def run(
    file: Path,
    reading: ReadOptions,
    *,
    dask: str | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, check and print.

    Parameters
    ----------
    file : Path
        The file to read, or a folder or pattern of files.
    reading : ReadOptions
        How to read it.
    dask : str, optional
        Where files are read: ``"local"``, or the address of a scheduler.
    quiet, as_json : bool
        What to print.
    """
    with ExitStack() as stack:
        steps = stack.enter_context(Steps(shown=not (quiet or as_json)))
        if dask is not None or is_in_parts(file):
            client = stack.enter_context(connected(dask, steps))
            stack.enter_context(running(client=client))
            known, sentences = read_parts(file, reading, steps, client)
        else:
            known, sentences = read_whole(file, reading, steps)
        report = None
        if isinstance(known, ComparisonData) and known.by_name is not None:
            steps("checking the data")
            report = check_known(known)
    if as_json:
        found = {} if report is None else report.to_dict()
        print_json({"recognized": sentences} | found)
        return
    screen = Screen(quiet=quiet)
    screen.say(sentences)
    if report is not None:
        screen.print(report)
