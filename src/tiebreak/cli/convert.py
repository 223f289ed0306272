# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table, lists as a PrefLib file."""

from pathlib import Path
from typing import Annotated, Any

from tiebreak.cli.command import File, command, place
from tiebreak.cli.console import Screen
from tiebreak.options import ReadOptions


@command("Example: `tiebreak convert votes.csv comparisons.parquet`", json=False)
def convert(
    file: File,
    to: Annotated[
        Path,
        place(
            metavar="OUT",
            help="A .csv, .tsv or .parquet file; for lists .soc, .soi, .toc or .toi.",
        ),
    ],
    reading: ReadOptions,
    screen: Screen,
) -> None:
    """Write what a FILE holds as a plain table, or its lists as a PrefLib file."""
    from tiebreak.data import Grades, Lists
    from tiebreak.data.atomic import refuse_to_replace
    from tiebreak.io import (
        PREFLIB_ENDINGS,
        check_ending,
        read_file,
        write_comparisons,
        write_preflib,
    )
    from tiebreak.pipeline.source import compare_lists

    refuse_to_replace([file, reading.items], [to])
    lists = to.suffix.lower() in PREFLIB_ENDINGS
    if not lists:
        check_ending(to)
    read = read_file(file, reading)
    data: Any = read.data
    if lists:
        if not isinstance(data, Lists):
            raise ValueError(
                f"{to.suffix} files hold ranked lists; this file has none."
            )
        write_preflib(to, data.orders, data.weight, title=file.name)
        lost = [*data.columns, *["features of the items"] * (data.items is not None)]
        notes = [f"The format has no place for: {', '.join(lost)}."] if lost else []
        written = f"{len(data):,} lists"
    else:
        if isinstance(data, Lists):
            data = compare_lists(data)
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
        notes, written = [], f"{len(data):,} comparisons"
    screen.output().show([*read.sentences, *notes, f"{written} written to {to}."])
