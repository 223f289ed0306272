# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak convert``: comparisons as a plain table, lists as a PrefLib file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tiebreak.cli.command import File, command, place
from tiebreak.cli.console import Screen
from tiebreak.options import ReadOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tiebreak.data import Data, Grades, Orders


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
        WriteError,
        check_ending,
        read_file,
        write_comparisons,
        write_preflib,
    )
    from tiebreak.pipeline.source import compare_lists

    refuse_to_replace([file, reading.items], [to])
    lists = to.suffix.lower() in PREFLIB_ENDINGS
    if not lists:
        try:
            check_ending(to)
        except WriteError as error:
            raise WriteError(
                to,
                f"{error.reason[:-1]}; or, for ranked lists, with .soc, .soi, .toc or "
                ".toi.",
            ) from None
    read = read_file(file, reading)
    if lists:
        orders, weight, notes = _as_lists(read.data)
        write_preflib(to, orders, weight, title=file.name)
        written = f"{len(orders):,} lists"
    else:
        data: Any = read.data
        if isinstance(data, Lists):
            data = compare_lists(data)
        if isinstance(data, Grades) or data.names is None:
            raise ValueError(
                "Graded items have features, and a table of comparisons has no place "
                "for them; only comparisons, panels and lists can be converted."
            )
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
    screen.output().say([*read.sentences, *notes, f"{written} written to {to}."])


def _as_lists(data: Data) -> tuple[Orders, NDArray[np.float64] | None, list[str]]:
    """Return lists of named items, their weights where known, and notes."""
    import numpy as np

    from tiebreak.data import Grades, Lists, Orders

    # Each group of graded items is a list, and each comparison a list of two items.
    if isinstance(data, Lists):
        return data.orders, data.weight, _not_written(data)
    if isinstance(data, Grades):
        return _lists_of_grades(data)
    pairs, y = data.pairs, data.y
    assert y is not None
    # The better one first: y is the sign of r(right) - r(left).
    first = np.where(y > 0, pairs.right, pairs.left).tolist()
    second = np.where(y > 0, pairs.left, pairs.right).tolist()
    tied = (y == 0).tolist()
    sequences: list[list[Any]] = [
        [[a, b]] if equal else [a, b]
        for a, b, equal in zip(first, second, tied, strict=True)
    ]
    names = np.arange(pairs.n_items) if pairs.names is None else pairs.names
    # Row numbers would be taken for names where names are numbers.
    orders = Orders(None, sequences, names=np.array([str(name) for name in names]))
    notes = ["Every comparison is written as a list of two items.", *_not_written(data)]
    return orders, data.weight, notes


def _lists_of_grades(data: Grades) -> tuple[Orders, None, list[str]]:
    import numpy as np

    from tiebreak.data import Orders

    if data.names is None:
        raise ValueError(
            "The graded rows have no names, and ranked lists are of named items. Name "
            "the column that holds them with --item."
        )
    rows = np.lexsort((-data.y, data.group))
    sequences: list[list[list[str]]] = [[] for _ in range(data.n_groups)]
    last: tuple[int, float] | None = None
    for row in rows.tolist():
        place = int(data.group[row]), float(data.y[row])
        if place != last:
            sequences[place[0]].append([])
        sequences[place[0]][-1].append(str(data.names[row]))
        last = place
    notes = [
        "Every group of graded items is written as a list, best first; equal grades "
        "are ties.",
        *_not_written(data),
    ]
    return Orders(None, sequences), None, notes


def _not_written(data: Data) -> list[str]:
    """Say what a file of lists has no place for."""
    from tiebreak.data import Grades

    named = [] if isinstance(data, Grades) else list(data.columns)
    if data.items is not None and data.items.n_features:
        named.append("features of the items")
    text = f"Not written, because the format has no place for it: {', '.join(named)}."
    return [text] if named else []
