# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from __future__ import annotations

from pathlib import Path

from tiebreak import check_pairs
from tiebreak.cli.knowledge import as_comparisons
from tiebreak.cli.screen import Screen, Steps, print_json
from tiebreak.data.files import ReadOptions, read_file

__all__ = ["run"]


def run(file: Path, reading: ReadOptions, *, quiet: bool, as_json: bool) -> None:
    """Read, check and print.

    Parameters
    ----------
    file : Path
        The file to read.
    reading : ReadOptions
        How to read it.
    quiet, as_json : bool
        What to print.
    """
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        read = read_file(file, reading)
        known = as_comparisons(read)
        sentences = [*read.sentences, *read.questions, *known.notes]
        report = None
        if known.by_name is not None:
            steps("checking the data")
            report = check_pairs(known.by_name, known.y, **known.columns)
    if as_json:
        found = {} if report is None else report.to_dict()
        print_json({"recognized": sentences} | found)
        return
    screen = Screen(quiet=quiet)
    screen.say(sentences)
    if report is not None:
        screen.print(report)
