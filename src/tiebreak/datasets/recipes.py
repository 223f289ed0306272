# SPDX-License-Identifier: BSD-3-Clause
"""How the files of the data folder are made from what publishers serve.

Publishers serve archives, ARFF files, workbooks and one file per year; the loaders read
plain tables. A recipe takes the bytes served and gives the bytes of the files, the same
on every machine, so that their SHA-256 can be checked. It raises a ValueError that says
what is not as expected.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Recipe = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Makes the contents of the files of a delivery from what was served."""

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
"""Marks in the matrix of Jester a joke that was not rated."""

_LARGEST_WORKBOOK = 40_000_000
_XLS_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")


def as_served(served: Sequence[bytes]) -> Sequence[bytes]:
    """Keep what was served, one file for each; the recipe of most deliveries."""
    return served


def zip_members(names: Sequence[str], limit: int) -> Recipe:
    """Recipe that takes members of one ZIP archive, at most `limit` bytes unpacked."""
    return lambda served: read_members(served[0], names, limit)


def read_members(archive: bytes, names: Sequence[str], limit: int) -> list[bytes]:
    """Contents of the named members of a ZIP archive that may lie about itself."""
    # Nothing is extracted to disk, so a member called ``../../somewhere`` does no harm,
    # and never more than `limit` bytes are unpacked; pooch's Unzip promises neither.
    contents = []
    left = limit
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            present = set(opened.namelist())
            absent = [name for name in names if name not in present]
            if absent:
                raise ValueError(
                    f"the archive has no {', '.join(map(repr, absent))}; it has "
                    f"{', '.join(map(repr, sorted(present)[:10])) or 'nothing'}"
                )
            for name in names:
                with opened.open(name) as member:
                    contents.append(member.read(left + 1))
                left -= len(contents[-1])
                if left < 0:
                    raise ValueError(
                        f"the archive unpacks to more than {limit:,} bytes, which is "
                        "more than was expected"
                    )
    # An unknown compression method, or a password, is a NotImplementedError or a
    # RuntimeError of zipfile.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValueError(f"it cannot be read as a ZIP archive ({error})") from error
    return contents


def konect_games(served: Sequence[bytes]) -> Sequence[bytes]:
    """Make a table of games from KONECT's list of edges."""
    # A line holds white, black, the result of white (1, 0 or -1) and a time: a month
    # without a calendar, numbered from 1.
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
    """Recipe that makes a table from an ARFF file; `names` replace wrong ones in it.

    Rows with an unknown value (``?``) are left out. Comments, quotes around names,
    spaces around values and a comma at the end of a row are dropped.
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
    """Make one matrix of hundredths from the three archives of ratings of jokes."""
    # In each workbook a row is a person: how many jokes were rated, then the ratings of
    # 100 jokes, 99 where there is none.
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
    """Make a table from UCI's workbook on concrete, in its full precision."""
    numbers = read_numbers(served[0])[1:]  # the first row holds the names
    if numbers.shape[1] != len(CONCRETE_COLUMNS) or np.isnan(numbers).any():
        raise ValueError("the workbook on concrete has other cells than expected")
    # The age in days is a whole number.
    rows = [
        ",".join([*map(repr, row[:7]), f"{row[7]:.0f}", repr(row[8])])
        for row in numbers.tolist()
    ]
    return ["\n".join([",".join(CONCRETE_COLUMNS), *rows, ""]).encode()]


WORKBOOK_RECIPES: tuple[Recipe, ...] = (jester_matrix, concrete_table)
"""Recipes that need the extra ``excel``."""


def read_numbers(content: bytes) -> NDArray[np.float64]:
    """Numbers of the first sheet of a workbook (.xls), NaN where a cell holds none."""
    # It has passed its SHA-256 before: calamine overlooks some kinds of damage.
    from python_calamine import CalamineError, CalamineWorkbook

    # calamine reads other formats too, and an .xlsx is an archive of unknown size.
    if not content.startswith(_XLS_SIGNATURE):
        raise ValueError("it is no workbook in the format .xls")
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        rows = workbook.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except CalamineError as error:
        raise ValueError(f"the workbook (.xls) cannot be read ({error})") from error
    # Text, dates, booleans and errors are no numbers; neither is a NaN.
    numbers = np.array(
        [[x if type(x) in (int, float) else np.nan for x in row] for row in rows],
        dtype=np.float64,
    )
    if np.isnan(numbers).all():
        raise ValueError("the first sheet of the workbook (.xls) holds no numbers")
    return numbers
