# SPDX-License-Identifier: BSD-3-Clause
"""Tables in memory, JSON, workbooks and PGN: all become a polars frame.

Tables of other packages are recognized by their methods, so that none has to be
installed. In JSON a table is an array of objects, one object per line, an object that
holds one such array, or what pandas writes; nested objects become columns with a dot in
their names.
"""

import glob
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.columns import is_missing
from tiebreak.io.formats import PGN_TAG, FileFormat, open_bytes, text_lines
from tiebreak.io.result import FileError, first_of, plural, shorten
from tiebreak.options import flag

BUNDLED = Path(__file__).parents[1] / "datasets"  # files that the package holds
# What is read of a folder.
FILE_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_NEVER_MISSING = {str, int, bool, type(None)}
_NESTED = (list, tuple, dict, set, frozenset, bytes, np.ndarray)


def is_path(source: Any) -> bool:
    """Say whether a source is the name of a file."""
    return isinstance(source, str | os.PathLike)


def is_path_list(source: Any) -> bool:
    """Say whether a source is a list of names of files."""
    return (
        isinstance(source, list | tuple) and bool(source) and all(map(is_path, source))
    )


def find_bundled(path: Path) -> Path | None:
    """Return the file of a data set of the package, if no other file has its name."""
    if re.fullmatch("[a-z]+[0-9]*", str(path)) and not path.exists():
        return next(BUNDLED.glob(f"{path}.csv*"), None)
    return None


def list_files(path: Path) -> list[Path]:
    """List the files of a path: one, a pattern's, a folder's, or that of a set."""
    try:
        if own := find_bundled(path):
            return [own]
        if not path.is_dir():
            if path.exists() or not set("*?[") & set(str(path)):
                return [path]
            if names := sorted(glob.glob(str(path), recursive=True)):
                return [Path(name) for name in names]
            raise FileError(path, "no file has such a name.")
        inside = sorted(path.iterdir())
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}.") from None
    files = [file for file in inside if file.suffix in FILE_ENDINGS]
    if not files:
        what = "there is no Parquet or Arrow file in this folder"
        raise FileError(path, f"{what}; for others write '{path}/**/*.csv'.")
    return files


def as_frame(source: Any) -> pl.DataFrame:
    """Return a table in memory as a polars frame, or raise a TypeError."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas
        if source.index.names != [None] or source.index.dtype.kind == "O":
            source = source.reset_index()  # names of rows are a column
        columns = (source.iloc[:, place] for place in range(len(source.columns)))
        return _side_by_side(zip(map(str, source.columns), columns, strict=True))
    if (
        isinstance(source, Mapping)
        and source
        and all(hasattr(value, "column_names") for value in source.values())
    ):
        listed = ", ".join(map(repr, source))
        raise TypeError(f"This holds {len(source)} tables ({listed}); pass one.")
    if hasattr(source, "with_format") and hasattr(source, "__getitem__"):
        # Its rows may be chosen and shuffled by indices.
        return pl.DataFrame(source.with_format("arrow")[:])
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source)
    if isinstance(source, Mapping):
        return _of_columns(source)
    if isinstance(source, list | tuple) and all(isinstance(r, Mapping) for r in source):
        return of_records(source)
    raise TypeError(
        "Expected the name of a file or a table: a data frame of pandas or polars, an "
        "Arrow table, a Hugging Face dataset, a dict of columns or a list of dicts; "
        f"got {type(source).__name__}."
    )


def _of_columns(source: Mapping[Any, Any]) -> pl.DataFrame:
    for name, values in source.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise TypeError(
                f"A dict is a table of columns, but {name!r} holds one value; expected "
                "a list or an array for each."
            )
    columns = [value if hasattr(value, "__len__") else list(value)
               for value in source.values()]  # fmt: skip
    return _side_by_side(zip(map(str, source), columns, strict=True))


def find_repeated(names: Sequence[Any]) -> list[Any]:
    """List the names that occur more than once."""
    if len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def of_records(records: Iterable[Mapping[Any, Any]]) -> pl.DataFrame:
    """Return records as a table; nested names get dots."""
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for record in records:
        _add_record(columns, n_rows, record, "")
        n_rows += 1
    for values in columns.values():
        values.extend([None] * (n_rows - len(values)))
    return _side_by_side(columns.items())


def _add_record(
    columns: dict[str, list[Any]], row: int, record: Mapping[Any, Any], before: str
) -> None:
    for key, value in record.items():
        name = f"{before}{key}" if before else str(key)
        if type(value) not in _NEVER_MISSING:
            if isinstance(value, Mapping):
                _add_record(columns, row, value, f"{name}.")
                continue
            if isinstance(value, list | tuple):
                value = []  # lists are not read, so they need not be kept
        values = columns.get(name)
        if values is None:
            values = columns[name] = []
        if len(values) < row:
            values.extend([None] * (row - len(values)))
        values.append(value)


def _side_by_side(columns: Iterable[tuple[str, Any]]) -> pl.DataFrame:
    series = [_as_series(name, values) for name, values in columns]
    try:
        return pl.DataFrame(series)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None


def _as_series(name: str, values: Any) -> pl.Series:
    """Return a column with nulls; mixed values become text."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if hasattr(values, "iloc") and hasattr(values.dtype, "categories"):
        values = values.astype(object)
    if not isinstance(values, list):
        with suppress(ImportError, TypeError, ValueError):
            # By way of pyarrow, whose errors are those of values; else one by one.
            series = pl.Series(name, values, nan_to_null=True)
            if series.dtype != pl.Object:
                return series
    if not set(map(type, values)) <= _NEVER_MISSING:
        values = [None if is_missing(value) else value for value in values]
    kinds = set(map(type, values)) - {type(None)}
    if any(issubclass(kind, _NESTED) for kind in kinds):
        return pl.Series(name, values, dtype=pl.Object)
    if len(kinds) <= 1 or kinds <= {int, float}:
        with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            series = pl.Series(name, values, strict=len(kinds) == 1)
            if series.dtype != pl.Object:
                return series
    texts = [None if value is None else str(value) for value in values]
    return pl.Series(name, texts, dtype=pl.String)


def read_json_lines(path: Path, detected: FileFormat) -> tuple[pl.DataFrame, list[int]]:
    """Return the table of JSON Lines, and the lines of its rows."""
    lines: list[int] = []

    def records() -> Iterator[Mapping[str, Any]]:
        for number, line in text_lines(path, detected.copy):
            if not line:
                continue
            record = _parse_json(path, line, number)
            if not isinstance(record, dict):
                raise FileError(
                    path,
                    f"line {number} is {type(record).__name__}; expected an object.",
                )
            lines.append(number)
            yield record

    return of_records(records()), lines


def read_json(path: Path, detected: FileFormat) -> pl.DataFrame:
    """Return the table of a JSON file."""
    with open_bytes(path, detected.copy) as stream:
        text = stream.read().decode("utf-8").lstrip("\ufeff")
    content = _parse_json(path, text)
    if isinstance(content, dict):
        return _of_object(path, content)
    if not isinstance(content, list):
        raise FileError(path, f"this is {type(content).__name__}; {_EXPECTED}")
    for row, record in enumerate(content, 1):
        if not isinstance(record, dict):
            raise FileError(path, f"row {row} is {type(record).__name__}; {_EXPECTED}")
    return of_records(content)


_EXPECTED = "expected an array of objects, one for each row."


def _parse_json(path: Path, text: str, first: int = 1) -> Any:
    """Parse JSON that begins in some line of a file."""
    try:
        return json.loads(text)
    except RecursionError:
        at, reason = f"line {first}", "it is nested too deeply"
    except json.JSONDecodeError as error:
        at = f"line {first + error.lineno - 1}, column {error.colno}"
        reason = error.msg[:1].lower() + error.msg[1:]
        if error.pos >= len(text.rstrip()) or reason.startswith("unterminated"):
            reason = "it ends in the middle; get the file again, whole"
    raise FileError(path, f"{at}: this is not valid JSON ({reason}).")


def _of_object(path: Path, content: dict[str, Any]) -> pl.DataFrame:
    """Return the table that one object holds."""
    names, rows = content.get("columns"), content.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        header = [str(name) for name in names]
        if repeated := find_repeated(header):
            raise FileError(path, f"columns that occur twice: {first_of(repeated)}.")
        for number, row in enumerate(rows, 1):
            if not isinstance(row, list) or len(row) != len(header):
                raise FileError(
                    path, f"row {number} of data is not a list of {len(header)} values."
                )
        return of_records(dict(zip(header, row, strict=True)) for row in rows)
    tables = [
        name
        for name, value in content.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    if len(tables) == 1:
        return of_records(content[tables[0]])
    if len(tables) > 1:
        raise FileError(
            path, f"this holds {len(tables)} tables ({first_of(tables)}); keep one."
        )
    values = list(content.values())
    if values and all(isinstance(value, list) for value in values):
        if len({len(value) for value in values}) > 1:
            raise FileError(path, "its columns are not equally long.")
        return _side_by_side(content.items())
    if values and all(isinstance(value, dict) for value in values):
        inner = list(values[0])
        if all(list(value) == inner for value in values) and all(
            map(str.isdigit, inner)
        ):
            return _side_by_side((n, list(v.values())) for n, v in content.items())
        if not all(map(str.isdigit, content)):
            values = [{"column 1": name, **row} for name, row in content.items()]
        return of_records(values)
    kept = first_of([shorten(name) for name in content], 5)
    raise FileError(path, f"this is an object with {kept}; {_EXPECTED}")


def read_pgn(
    path: Path, detected: FileFormat, notes: list[str]
) -> tuple[pl.DataFrame, list[int]]:
    """Return white, black, result and date of games, and the line of each.

    Moves are skipped: they begin with a line that is no tag, and a tag after them is of
    the next game, unless it stands in a comment.
    """
    tags: dict[str, str] = {}
    games: dict[str, list[Any]] = {"white": [], "black": [], "result": [], "date": []}
    lines: list[int] = []
    first, unfinished, inside, moving = 1, 0, False, True

    def keep() -> None:
        nonlocal unfinished
        if tags and tags.get("result", "*") == "*":
            unfinished += 1
        elif tags:
            lines.append(first)
            for name, values in games.items():
                values.append(tags.get(name))

    for number, line in text_lines(path, detected.copy):
        if not line:
            continue
        tag = None if inside or line[0] != "[" else PGN_TAG.fullmatch(line)
        if tag is None:
            moving = True
            if "{" in line or "}" in line:
                inside = line.rfind("{") > line.rfind("}")
            continue
        if moving:
            keep()
            tags, first, moving = {}, number, False
        value = tag[2].replace('\\"', '"').replace("\\\\", "\\")
        name = tag[1].lower()
        if name == "date":  # of an unknown day, the first
            value = value.replace("??", "01") if "????" not in value else "?"
        if value != "?":
            tags[name] = value
    keep()
    if unfinished:
        notes.append(f"{plural(unfinished, 'game')} without a result left out.")
    known = {n: v for n, v in games.items() if n != "date" or any(v)}
    return pl.DataFrame(known, schema=dict.fromkeys(known, pl.String)), lines


def read_workbook(path: Path, detected: FileFormat, notes: list[str]) -> pl.DataFrame:
    """Return the wanted sheet of an Excel workbook, or the first."""
    try:
        import fastexcel  # an extra
    except ImportError:
        what = "install tiebreak[excel] to read workbooks, or save the sheet as CSV."
        raise FileError(path, what) from None
    with open_bytes(path, detected.copy) as stream:
        content = stream.read()
    try:
        sheets = fastexcel.read_excel(content).sheet_names
        sheet = sheets[0] if detected.sheet is None else detected.sheet
        if sheet not in sheets:
            raise FileError(
                path,
                f"{flag('sheet', sheet)} is none of its sheets, which are "
                f"{first_of([*map(shorten, sheets)])}.",
            )
        frame = pl.read_excel(
            io.BytesIO(content),
            sheet_name=sheet,
            has_header=detected.names is None,
            infer_schema_length=None,
        )
    except FileError:
        raise
    except Exception as error:  # of several kinds, all by its content
        reason = str(error).partition("\n")[0]
        raise FileError(path, f"the workbook cannot be read ({reason}).") from None
    if len(sheets) > 1 and detected.sheet is None:
        notes.append(f"Of {plural(len(sheets), 'sheet')}, {shorten(sheet)} is read.")
    return frame
