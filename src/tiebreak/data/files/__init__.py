# SPDX-License-Identifier: BSD-3-Clause
"""Files in, knowledge out: formats and columns recognized, faults told by line."""

from tiebreak.data.files.errors import FileError, NeedsAnswer, WriteError
from tiebreak.data.files.features import Wanted
from tiebreak.data.files.formulas import neutralize_formulas
from tiebreak.data.files.read import read_file
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.unjudged import read_unjudged
from tiebreak.data.files.vocabulary import COLUMN_WORDS, SIDES
from tiebreak.data.files.write import check_ending, write_comparisons, write_table
from tiebreak.data.files.write_rankings import PREFLIB_ENDINGS, write_preflib

__all__ = [
    "COLUMN_WORDS",
    "PREFLIB_ENDINGS",
    "SIDES",
    "FileError",
    "NeedsAnswer",
    "ReadOptions",
    "Recognized",
    "Wanted",
    "WriteError",
    "check_ending",
    "neutralize_formulas",
    "read_file",
    "read_unjudged",
    "write_comparisons",
    "write_preflib",
    "write_table",
]
