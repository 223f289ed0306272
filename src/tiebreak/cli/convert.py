# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table, lists as a PrefLib file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tiebreak.cli.console import Output
from tiebreak.data.atomic import refuse_to_replace
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
    """Read, and write what was read."""
    refuse_to_replace([file, reading.items], [to])
    if to.suffix.lower() in PREFLIB_ENDINGS:
        read = read_file(file, reading)
        orders, weight, notes = as_lists(read)
        write_preflib(to, orders, weight, title=file.name)
        written = f"{len(orders):,} lists written to {to}."
        Output(quiet=quiet).say([*read.sentences, *notes, written])
        return
    try:
        check_ending(to)
    except WriteError as error:
        raise WriteError(
            to,
            f"{error.reason[:-1]}; or, for ranked lists, with .soc, .soi, .toc or "
            ".toi.",
        ) from None
    read = read_file(file, reading)
    data = as_comparisons(read)
    if data.by_name is None:
        raise ValueError(
            "Graded items have features, and a table of comparisons has no place for "
            "them; only comparisons, panels and lists can be converted."
        )
    columns = dict(data.columns)
    if "sample_weight" in columns:
        columns["weight"] = columns.pop("sample_weight")
    write_comparisons(to, data.pairs, data.y, columns | _features(data))
    written = f"{len(data.y):,} comparisons written to {to}."
    Output(quiet=quiet).say([*read.sentences, *data.notes, written])


def _features(data: ComparisonData) -> dict[str, NDArray[Any]]:
    """Return the features of both sides, in columns that are not taken for scores."""
    pairs, items = data.pairs, data.items
    if items is None:
        return {}
    values, names = items.dense(), items.feature_names or ()
    return {
        f"{name} of {side}": values[rows, number]
        for number, name in enumerate(names)
        for side, rows in (("left", pairs.left), ("right", pairs.right))
    }
