# SPDX-License-Identifier: BSD-3-Clause
"""The one way from a file to knowledge: look, recognize, read, and say what it was."""

from __future__ import annotations

import os
from pathlib import Path

from tiebreak.data.files.comparisons import read_comparisons
from tiebreak.data.files.errors import FileError, plural, printable
from tiebreak.data.files.graded import read_graded, read_unnamed
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
    path: str | os.PathLike[str], options: ReadOptions | None = None
) -> Recognized:
    """Read comparisons, grades or orders from a file, and say what was recognized.

    The format is guessed from the content: CSV or TSV (also packed by gzip), Parquet,
    svmlight, PrefLib, or lines of item numbers. In tables, columns are recognized by
    their usual names, see `tiebreak.data.files.vocabulary`.

    Parameters
    ----------
    path : str or path
        The file.
    options : ReadOptions, optional
        What the user says about it; everything else is recognized.

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
    if sniffed.format not in _OTHERS:
        return _read_table(path, sniffed, options)
    kind, read = _OTHERS[sniffed.format]
    if options.kind not in (None, kind):
        raise FileError(
            path, f"--kind {options.kind} is asked for, but this file holds {kind}."
        )
    if named := options.columns():
        raise FileError(
            path,
            f"{plural(len(named), 'column')} named ({', '.join(named.values())}), but "
            f"a file in the format {sniffed.format} has no named columns.",
        )
    return read(path, sniffed)


def _read_table(path: Path, sniffed: Sniffed, options: ReadOptions) -> Recognized:
    table = Table(path, sniffed)
    reading = find_reading(table, options)
    if reading is None:
        result = read_unnamed(table, options)
    elif reading.shape == "comparisons":
        result = read_comparisons(table, options, reading)
    elif reading.shape == "long":
        result = read_long(table, options, reading.roles)
    else:
        result = read_graded(table, reading.roles)
    packed = " (gzip)" if sniffed.gzipped else ""
    name = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}[sniffed.format]
    result.sentences.insert(0, f"{name}{packed} with {plural(table.n_rows, 'row')}.")
    # Names of columns come from the file, and may hold anything.
    result.sentences[:] = map(printable, result.sentences)
    return result
