# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from tiebreak.cli.knowledge import as_comparisons
from tiebreak.data.files import ReadOptions, read_file, write_comparisons

__all__ = ["run"]


def run(file: Path, to: Path, reading: ReadOptions, *, quiet: bool) -> None:
    """Read, and write what was read.

    Parameters
    ----------
    file, to : Path
        Where to read from and to write to.
    reading : ReadOptions
        How to read the file.
    quiet : bool
        Whether to say nothing.
    """
    console = Console(quiet=quiet, highlight=False)
    read = read_file(file, reading)
    known = as_comparisons(read)
    if known.pairs.has_features:
        raise ValueError(
            "Graded items have features, and a table of comparisons has no place for "
            "them; only comparisons, panels and lists can be converted."
        )
    columns = dict(known.columns)
    if "sample_weight" in columns:
        columns["weight"] = columns.pop("sample_weight")
    write_comparisons(to, known.pairs, known.y, columns)
    for sentence in [*read.sentences, *known.notes]:
        console.print(Text(sentence))
    console.print(Text(f"{len(known.y):,} comparisons written to {to}."))
