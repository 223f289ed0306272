# SPDX-License-Identifier: BSD-3-Clause
"""How the files of the data folder are made of what is served.

Publishers serve archives, ARFF files, workbooks and one file per year; the loaders read
plain tables. Every recipe takes the bytes served and gives the bytes of the files, the
same ones on every machine, so that they can be checked by their SHA-256. A ValueError
says what is not as it should be.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

import numpy as np

from tiebreak.datasets.archive import read_members
from tiebreak.datasets.catalog import Recipe
from tiebreak.datasets.xls import read_numbers

TENNIS_COLUMNS = (
    "tourney_id", "tourney_date", "match_num", "tourney_level", "surface", "best_of",
    "round", "winner_id", "loser_id", "winner_rank", "loser_rank",
    "winner_rank_points", "loser_rank_points", "score",
)  # fmt: skip

CONCRETE_COLUMNS = (
    "cement", "slag", "fly_ash", "water", "superplasticizer", "coarse_aggregate",
    "fine_aggregate", "age", "strength",
)  # fmt: skip

NOT_RATED = -32768
"""Stands in the matrix of Jester for a joke that was not rated."""

_LARGEST_WORKBOOK = 40_000_000


def zip_members(names: Sequence[str], limit: int) -> Recipe:
    """Take members of one ZIP archive.

    Parameters
    ----------
    names : sequence of str
        The members, one for each file.
    limit : int
        Number of unpacked bytes that is not exceeded.

    Returns
    -------
    callable
        The recipe.
    """
    return lambda served: read_members(served[0], names, limit)


def konect_games(served: Sequence[bytes]) -> Sequence[bytes]:
    """Make a table of games of KONECT's list of edges.

    A line holds white, black, the result of white (1, 0 or -1) and a time. The times
    are months without a calendar, and are numbered from 1.
    """
    scores = {"1": "1.0", "0": "0.5", "-1": "0.0"}
    lines = served[0].decode("ascii").splitlines()
    games = [line.split() for line in lines if line and not line.startswith("%")]
    for game in games:
        if len(game) != 4 or game[2] not in scores:
            raise ValueError(f"the line {' '.join(game)!r} is no game of KONECT's")
    times = sorted({float(game[3]) for game in games})
    month = {time: number for number, time in enumerate(times, start=1)}
    rows = [
        f"{month[float(time)]},{white},{black},{scores[result]}\n"
        for white, black, result, time in games
    ]
    return ["".join(["month,white,black,score\n", *rows]).encode()]


def arff_table(names: Sequence[str] = ()) -> Recipe:
    """Make a table with a header of an ARFF file.

    Rows in which a value is unknown (``?``) are left out. Comments, quotes around
    names, spaces around values and a comma at the end of a row are dropped.

    Parameters
    ----------
    names : sequence of str, optional
        Names of all columns, where those of the file are wrong.

    Returns
    -------
    callable
        The recipe.
    """

    def make(served: Sequence[bytes]) -> Sequence[bytes]:
        header: list[str] = []
        rows: list[str] = []
        lines = iter(served[0].decode("latin-1").splitlines())
        for line in lines:
            if line.strip().lower() == "@data":
                break
            if found := re.match(r"@attribute\s+(?:'([^']*)'|(\S+))", line, re.I):
                header.append(found[1] or found[2])
        for line in lines:
            if not line.strip() or line.startswith("%"):
                continue
            row = [value.strip() for value in line.strip().rstrip(",").split(",")]
            if len(row) != len(header):
                raise ValueError(
                    f"a row of the ARFF file has {len(row)} values for {len(header)} "
                    f"attributes: {line.strip()[:60]!r}"
                )
            if "?" not in row:
                rows.append(",".join(row))
        columns = list(names or header)
        if not rows or len(columns) != len(header):
            raise ValueError(
                f"the ARFF file has {len(rows)} rows and {len(header)} attributes"
            )
        return ["\n".join([",".join(columns), *rows, ""]).encode()]

    return make


def tennis_years(served: Sequence[bytes]) -> Sequence[bytes]:
    """Put the yearly files of matches under one header, with the columns we use."""
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(TENNIS_COLUMNS)
    for year in served:
        rows = csv.reader(io.StringIO(year.decode("utf-8"), newline=""))
        header = next(rows, [])
        absent = [name for name in TENNIS_COLUMNS if name not in header]
        if absent:
            raise ValueError(f"a file of matches has no column {', '.join(absent)}")
        places = [header.index(name) for name in TENNIS_COLUMNS]
        for row in rows:
            if len(row) != len(header):
                raise ValueError(
                    f"a match has {len(row)} fields, expected {len(header)}: "
                    f"{','.join(row)[:60]!r}"
                )
            writer.writerow([row[place] for place in places])
    return [table.getvalue().encode()]


def jester_matrix(served: Sequence[bytes]) -> Sequence[bytes]:
    """Make one matrix of the three archives of ratings of jokes.

    In each workbook a row is a person: how many jokes were rated, then the ratings of
    100 jokes, 99 where there is none. The matrix holds hundredths.
    """
    parts = []
    for number, archive in enumerate(served, start=1):
        name = f"jester-data-{number}.xls"
        (workbook,) = read_members(archive, [name], _LARGEST_WORKBOOK)
        numbers = read_numbers(workbook)
        if numbers.shape[1] != 101 or np.isnan(numbers).any():
            raise ValueError(
                f"{name} has {numbers.shape[1]} columns and "
                f"{int(np.isnan(numbers).sum())} empty cells; expected 101 and 0"
            )
        rated = numbers[:, 1:] != 99
        if not np.array_equal(rated.sum(axis=1), numbers[:, 0]):
            raise ValueError(f"{name} counts other ratings than it holds")
        hundredths = np.rint(100 * numbers[:, 1:]).astype(np.int16)
        parts.append(np.where(rated, hundredths, np.int16(NOT_RATED)))
    part = np.repeat(np.arange(1, len(parts) + 1, dtype=np.uint8), [*map(len, parts)])
    packed = io.BytesIO()
    np.savez_compressed(packed, ratings=np.concatenate(parts), part=part)
    return [packed.getvalue()]


def concrete_table(served: Sequence[bytes]) -> Sequence[bytes]:
    """Make a table of UCI's workbook on concrete, in the precision of the workbook."""
    numbers = read_numbers(served[0])[1:]  # the first row holds the names
    if numbers.shape[1] != len(CONCRETE_COLUMNS) or np.isnan(numbers).any():
        raise ValueError("the workbook on concrete has other cells than expected")
    # The age in days is a whole number.
    rows = [
        ",".join([*map(repr, row[:7]), f"{row[7]:.0f}", repr(row[8])])
        for row in numbers.tolist()
    ]
    return ["\n".join([",".join(CONCRETE_COLUMNS), *rows, ""]).encode()]
