# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: formats and columns are detected, and faults named by their lines.

A file passes through these rooms: `formats` unpacks it and detects how it is written;
`frames` brings JSON, and tables in memory, into columns; `table` gives the columns of
these and of CSV, TSV, Parquet and Arrow files, and `columns` says what they mean;
`comparisons`, `grades`, `rankings` and `items` (the features of items) read one kind of
data each, and write it next to where it is read; `read` chooses among them; `result`
holds what users say, what they get, and the errors.

A new file format takes three steps: add its name to `tiebreak.options`, detect
its first bytes or lines in ``detect_format``, and read it. A format with named columns
is opened in ``TableFile``. For any other, write ``read_<format>(path, detected)``, which
returns a `ReadResult`, in the room of its kind, and list it in ``_OTHERS`` of `read`.
"""

from tiebreak.io.columns import COLUMN_WORDS, SIDES
from tiebreak.io.comparisons import write_comparisons
from tiebreak.io.items import Wanted
from tiebreak.io.rankings import PREFLIB_ENDINGS as PREFLIB_ENDINGS
from tiebreak.io.rankings import write_preflib
from tiebreak.io.read import read_file, read_unlabeled
from tiebreak.io.result import (
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    WriteError,
)
from tiebreak.io.table import check_ending as check_ending
from tiebreak.io.table import neutralize_formulas as neutralize_formulas
from tiebreak.io.table import write_table

__all__ = [
    "COLUMN_WORDS", "SIDES", "FileError", "NeedsAnswer", "ReadOptions", "ReadResult",
    "Wanted", "WriteError", "read_file", "read_unlabeled", "write_comparisons",
    "write_preflib", "write_table",
]  # fmt: skip
