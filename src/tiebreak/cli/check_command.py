# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tiebreak import check_pairs
from tiebreak.cli.knowledge import as_comparisons
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
    console = Console(quiet=quiet or as_json, highlight=False)
    read = read_file(file, reading)
    known = as_comparisons(read)
    sentences = [*read.sentences, *read.questions, *known.notes]
    report = None
    if not known.pairs.has_features:
        report = check_pairs(known.pairs, known.y, **known.columns)
    if as_json:
        found = {} if report is None else report.to_dict()
        console = Console(soft_wrap=True, highlight=False)
        console.print_json(json.dumps({"recognized": sentences} | found))
        return
    for sentence in sentences:
        console.print(Text(sentence))
    if report is not None:
        console.print(report)
