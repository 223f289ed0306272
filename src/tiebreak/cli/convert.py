# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table, lists as a PrefLib file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tiebreak.cli.console import Screen
from tiebreak.io import (
    PREFLIB_ENDINGS,
    ReadOptions,
    WriteError,
    check_ending,
    read_file,
    write_comparisons,
    write_preflib,
)
from tiebreak.pipeline.comparisons import ComparisonData, as_comparisons, as_lists


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
    if to.suffix.lower() in PREFLIB_ENDINGS:
        _write_lists(file, to, reading, quiet=quiet)
        return
    _check_table_ending(to)
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


def _check_table_ending(to: Path) -> None:
    try:
        check_ending(to)
    except WriteError as error:
        raise WriteError(
            to,
            f"{error.reason[:-1]}; or, for ranked lists, with .soc, .soi, .toc or "
            ".toi.",
        ) from None


def _write_lists(file: Path, to: Path, reading: ReadOptions, *, quiet: bool) -> None:
    read = read_file(file, reading)
    orders, weight, notes = as_lists(read)
    write_preflib(to, orders, weight, title=file.name)
    written = f"{len(orders):,} lists written to {to}."
    Screen(quiet=quiet).say([*read.sentences, *notes, written])


def _features(known: ComparisonData) -> dict[str, NDArray[Any]]:
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
