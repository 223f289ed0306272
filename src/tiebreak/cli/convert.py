# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tiebreak.cli.command import File, command, place
from tiebreak.cli.console import Screen
from tiebreak.options import ReadOptions


@command("Example: `tiebreak convert votes.csv comparisons.parquet`", json=False)
def convert(
    file: File,
    to: Annotated[Path, place(metavar="OUT", help="A .csv, .tsv or .parquet file.")],
    reading: ReadOptions,
    screen: Screen,
) -> None:
    """Write the comparisons that a FILE holds as a plain table."""
    from tiebreak.data import Grades, Lists
    from tiebreak.data.atomic import refuse_to_replace
    from tiebreak.io import check_ending, read_file, write_comparisons
    from tiebreak.pipeline.source import compare_lists

    refuse_to_replace([file, reading.items], [to])
    check_ending(to)
    read = read_file(file, reading)
    data: Any = compare_lists(read.data) if isinstance(read.data, Lists) else read.data
    if isinstance(data, Grades) or data.names is None:
        raise ValueError("Graded items cannot be converted to comparisons.")
    columns = dict(data.columns)
    columns |= {} if data.weight is None else {"weight": data.weight}
    if data.items is not None:
        # In columns that are not taken for scores.
        values, names = data.items.dense(), data.items.feature_names or ()
        for number, name in enumerate(names):
            for side in ("left", "right"):
                rows = getattr(data.pairs, side)
                columns[f"{name} of {side}"] = values[rows, number]
    write_comparisons(to, data.pairs, data.y, columns)
    written = f"{len(data):,} comparisons written to {to}."
    screen.output().say([*read.sentences, written])
