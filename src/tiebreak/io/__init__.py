# SPDX-License-Identifier: BSD-3-Clause
"""Files in, knowledge out: formats and columns recognized, faults told by line."""

from tiebreak.io.columns import COLUMN_WORDS, SIDES
from tiebreak.io.items import Wanted
from tiebreak.io.read import read_file, read_unlabeled
from tiebreak.io.result import (
    FileError,
    NeedsAnswer,
    ReadOptions,
    ReadResult,
    WriteError,
)
from tiebreak.io.table import neutralize_formulas
from tiebreak.io.write import (
    PREFLIB_ENDINGS,
    check_ending,
    write_comparisons,
    write_preflib,
    write_table,
)

__all__ = [
    "COLUMN_WORDS",
    "PREFLIB_ENDINGS",
    "SIDES",
    "FileError",
    "NeedsAnswer",
    "ReadOptions",
    "ReadResult",
    "Wanted",
    "WriteError",
    "check_ending",
    "neutralize_formulas",
    "read_file",
    "read_unlabeled",
    "write_comparisons",
    "write_preflib",
    "write_table",
]
