# SPDX-License-Identifier: BSD-3-Clause
"""Files in and out: formats and columns are detected, and faults named by their lines.

`formats` unpacks a file and detects how it is written, `table` reads its columns,
`columns` finds their roles, and `shapes` has the rules of all shapes of tables; `read`
brings all together, and `result` holds options, results and errors.

A new shape is a line of ``RULES``. A new format is named in `tiebreak.options`,
detected in ``detect_format``, and read in ``TableFile``, or by a function in
``_OTHERS`` of `read`.
"""

# ruff: noqa: F401 - other packages take from here what is not public, too
from tiebreak.io.columns import COLUMN_WORDS, SIDES
from tiebreak.io.comparisons import write_comparisons
from tiebreak.io.items import Wanted
from tiebreak.io.rankings import PREFLIB_ENDINGS, write_preflib
from tiebreak.io.read import read_file, read_unlabeled
from tiebreak.io.result import (
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    WriteError,
)
from tiebreak.io.table import check_ending, neutralize_formulas, write_table
from tiebreak.io.trec import read_trec, trec_metrics, write_trec

__all__ = [
    "COLUMN_WORDS", "SIDES", "FileError", "NeedsAnswer", "ReadOptions", "ReadResult",
    "Wanted", "WriteError", "read_file", "read_trec", "read_unlabeled",
    "trec_metrics", "write_comparisons", "write_preflib", "write_table", "write_trec",
]  # fmt: skip
