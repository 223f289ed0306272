# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tiebreak.cli.knowledge import Knowledge, as_comparisons
from tiebreak.cli.screen import Screen
from tiebreak.data.files import (
    ReadOptions,
    check_ending,
    read_file,
    write_comparisons,
)

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
    check_ending(to)
    read = read_file(file, reading)
    known = as_comparisons(read)
    if known.by_name is None:
        raise ValueError(
            "Graded items have features, and a table of comparisons has no place for "
            "them; only comparisons, panels and lists can be converted."
        )
    columns = dict(known.columns)
    if "sample_weight" in columns:
        columns["weight"] = columns.pop("sample_weight")
    write_comparisons(to, known.pairs, known.y, columns | _features(known))
    written = f"{len(known.y):,} comparisons written to {to}."
    Screen(quiet=quiet).say([*read.sentences, *known.notes, written])


def _features(known: Knowledge) -> dict[str, NDArray[Any]]:
    """Give the features of both sides, in columns that are not taken for scores."""
    pairs, items = known.pairs, known.items
    if items is None:
        return {}
    values, names = items.dense(), items.feature_names or ()
    return {
        f"{name} of {side}": values[rows, number]
        for number, name in enumerate(names)
        for side, rows in (("left", pairs.left), ("right", pairs.right))
    }
