# SPDX-License-Identifier: BSD-3-Clause
"""The one way from a file to knowledge: look, recognize, read, and say what it was."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from tiebreak.data.files.comparisons import read_comparisons
from tiebreak.data.files.errors import FileError, plural, printable
from tiebreak.data.files.features import Wanted, fit_numbered
from tiebreak.data.files.graded import read_graded, read_unnamed
from tiebreak.data.files.item_table import join_items
from tiebreak.data.files.panel import read_long
from tiebreak.data.files.rankings import read_order_lines, read_preflib
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.roles import find_reading
from tiebreak.data.files.sniff import Sniffed, sniff
from tiebreak.data.files.svmlight import read_svmlight
from tiebreak.data.files.table import Table

__all__ = ["read_file"]

_OTHERS = {
    "svmlight": ("grades", read_svmlight),
    "preflib": ("orders", read_preflib),
    "orders": ("orders", read_order_lines),
}


def read_file(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    *,
    wanted: Wanted | None = None,
) -> Recognized:
    """Read comparisons, grades or orders from a file, and say what was recognized.

    The format is guessed from the content: CSV or TSV (also packed by gzip), Parquet,
    Arrow, svmlight, PrefLib, or lines of item numbers. In tables, columns are
    recognized by their usual names, see `tiebreak.data.files.vocabulary`.

    Parameters
    ----------
    path : str or path
        The file.
    options : ReadOptions, optional
        What the user says about it; everything else is recognized.
    wanted : Wanted, optional
        The features that a model was fitted on. Features are then brought to these,
        and what is missing is an error.

    Returns
    -------
    Recognized

    Raises
    ------
    FileError
        If the file or a row of it cannot be read; the message names the file and the
        lines. Nothing is read halfway.
    NeedsAnswer
        If the file has more than one meaning; the message names the options that
        choose.
    """
    options = ReadOptions() if options is None else options
    path = Path(path)
    sniffed = sniff(path, options.format)
    if sniffed.format in _OTHERS:
        result = _read_other(path, sniffed, options, wanted)
    else:
        result = _read_table(path, sniffed, options, wanted)
    if options.items is not None:
        result = join_items(result, options, wanted)
    # Names of columns and items come from the file, and may hold anything.
    result.sentences[:] = map(printable, result.sentences)
    return result


def _read_other(
    path: Path, sniffed: Sniffed, options: ReadOptions, wanted: Wanted | None
) -> Recognized:
    """Read a file that is no table."""
    kind, read = _OTHERS[sniffed.format]
    if options.kind not in (None, kind):
        raise FileError(
            path, f"--kind {options.kind} is asked for, but this file holds {kind}."
        )
    refuse_columns(path, sniffed, options)
    result = read(path, sniffed)
    if result.items is None:
        return result
    items = fit_numbered(path, result.items, wanted, result.sentences)
    return replace(result, items=items)


def refuse_columns(path: Path, sniffed: Sniffed, options: ReadOptions) -> None:
    """Refuse options that name columns, of a file that has no names for them."""
    if named := options.columns():
        raise FileError(
            path,
            f"{plural(len(named), 'column')} named ({', '.join(named.values())}), but "
            f"a file in the format {sniffed.format} has no named columns.",
        )


def _read_table(
    path: Path, sniffed: Sniffed, options: ReadOptions, wanted: Wanted | None
) -> Recognized:
    table = Table(path, sniffed)
    reading = find_reading(table, options)
    if reading is None:
        result = read_unnamed(table, options, wanted)
    elif reading.shape == "comparisons":
        result = read_comparisons(table, options, reading)
    elif reading.shape == "long":
        result = read_long(table, options, reading.roles)
    else:
        result = read_graded(table, reading.roles, options, wanted)
    result.sentences[:0] = describe_table(table)
    return result


def describe_table(table: Table) -> list[str]:
    """Say how a table is written, how long it is, and what it holds besides cells.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of str
    """
    sniffed = table.sniffed
    packed = " (gzip)" if sniffed.gzipped else ""
    names = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow"}
    name = names[sniffed.format]
    sentences = [f"{name}{packed} with {plural(table.n_rows, 'row')}."]
    if table.left_out:
        sentences.append(table.say_left_out())
    return sentences
