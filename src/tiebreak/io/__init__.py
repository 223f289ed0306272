# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: formats and columns are detected, and faults named by their lines.

`formats` unpacks a file and detects how it is written; `frames` reads JSON and tables
in memory; `table` reads columns, and `columns` finds their roles; `shapes` is the table
of all shapes; `comparisons`, `matrices`, `grades`, `lists`, `rankings` and `items`
(features) read them; `read` brings all together; `result` holds options, results and
errors; `trec` is apart.

A new shape of tables is a line of ``RULES`` in `shapes`.

A new file format takes three steps: add its name to `tiebreak.options`, detect it in
``detect_format``, and read it: in ``TableFile`` if it has named columns, otherwise by a
``read_<format>(path, detected, options)`` that returns a `ReadResult` and is listed in
``_OTHERS`` of `read`.
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
from tiebreak.io.trec import read_trec, trec_metrics, write_trec

__all__ = [
    "COLUMN_WORDS", "SIDES", "FileError", "NeedsAnswer", "ReadOptions", "ReadResult",
    "Wanted", "WriteError", "read_file", "read_trec", "read_unlabeled",
    "trec_metrics", "write_comparisons", "write_preflib", "write_table", "write_trec",
]  # fmt: skip
