# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are in memory: pandas, polars, Arrow, Hugging Face, columns and records.

They are known by what they can do, and not by their types, so that none of the packages
has to be there. All become a polars frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

_NESTED = (list, tuple, dict, set, frozenset, bytes, np.ndarray)


def is_path(source: Any) -> bool:
    """Say whether a source is the name of a file."""
    return isinstance(source, str | os.PathLike)


def as_frame(source: Any) -> pl.DataFrame:
    """Return a table in memory as a polars frame; a TypeError if it is none."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas
        names = [str(name) for name in source.columns]
        _refuse_repeated(names)
        columns = (source.iloc[:, place] for place in range(len(names)))
        return _side_by_side(zip(names, columns, strict=True))
    if hasattr(source, "with_format") and hasattr(source, "column_names"):
        return _of_dataset(source)
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


def _of_dataset(source: Any) -> pl.DataFrame:
    """Read a Hugging Face dataset; its rows may be chosen and shuffled by indices."""
    if not hasattr(source, "__len__") or not hasattr(source, "__getitem__"):
        raise TypeError(
            "An iterable dataset has no table. Load it without streaming, or pass "
            "list(dataset.take(10_000))."
        )
    if isinstance(source, Mapping):
        raise _splits_error(source)
    return pl.DataFrame(source.with_format("arrow")[:])


def _of_columns(source: Mapping[Any, Any]) -> pl.DataFrame:
    names = [str(name) for name in source]
    _refuse_repeated(names)
    if names and all(hasattr(value, "column_names") for value in source.values()):
        raise _splits_error(source)
    for name, values in zip(names, source.values(), strict=True):
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise TypeError(
                f"A dict is a table of columns, but {name!r} holds one value "
                f"({type(values).__name__}); expected a list or an array for each."
            )
    columns = [value if hasattr(value, "__len__") else list(value)
               for value in source.values()]  # fmt: skip
    lengths = {len(values): name for name, values in zip(names, columns, strict=True)}
    if len(lengths) > 1:
        said = ", ".join(f"{name!r} has {count:,}" for count, name in lengths.items())
        raise ValueError(f"All columns of a table must be as long: {said} values.")
    return _side_by_side(zip(names, columns, strict=True))


def _splits_error(source: Mapping[Any, Any]) -> TypeError:
    names = [str(name) for name in source]
    return TypeError(
        f"This holds {len(names)} tables ({', '.join(names)}); pass one of them, such "
        f"as dataset[{names[0]!r}]."
    )


def _refuse_repeated(names: list[str]) -> None:
    if repeated := find_repeated(names):
        raise ValueError(
            f"Columns must have different names; {', '.join(map(repr, repeated[:5]))} "
            "occurs twice. Rename or drop one of them."
        )


def find_repeated(names: Sequence[str]) -> list[str]:
    """List the names that occur more than once."""
    seen: set[str] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]


def of_records(records: Sequence[Mapping[Any, Any]]) -> pl.DataFrame:
    """Return records as a table with dots in the names of what they hold in records."""
    columns: dict[str, list[Any]] = {}
    for row, record in enumerate(records):
        _add_record(columns, row, record, "")
    for values in columns.values():
        values.extend([None] * (len(records) - len(values)))
    return _side_by_side(columns.items())


def _add_record(
    columns: dict[str, list[Any]], row: int, record: Mapping[Any, Any], before: str
) -> None:
    for key, value in record.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            _add_record(columns, row, value, f"{name}.")
            continue
        values = columns.setdefault(name, [])
        if len(values) < row:
            values.extend([None] * (row - len(values)))
        # Lists are not read, so they need not be kept.
        values.append([] if isinstance(value, list | tuple) else value)


def _side_by_side(columns: Iterable[tuple[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame([_as_series(name, values) for name, values in columns])


def _as_series(name: str, values: Any) -> pl.Series:
    """Return a column; what is missing becomes null, and mixed values become text."""
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
    found = [None if _is_missing(value) else value for value in values]
    if any(isinstance(value, _NESTED) for value in found):
        return pl.Series(name, found, dtype=pl.Object)
    kinds = {bool if isinstance(v, bool | np.bool_) else type(v) for v in found}
    kinds.discard(type(None))
    if len(kinds) <= 1 or kinds <= {int, float}:
        with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            series = pl.Series(name, found, strict=len(kinds) == 1)
            if series.dtype != pl.Object:
                return series
    texts = [None if value is None else str(value) for value in found]
    return pl.Series(name, texts, dtype=pl.String)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)
