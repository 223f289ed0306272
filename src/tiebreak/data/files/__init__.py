# SPDX-License-Identifier: BSD-3-Clause
"""Files in, knowledge out: formats and columns recognized, faults told by line."""

from tiebreak.data.files.errors import FileError, NeedsAnswer
from tiebreak.data.files.formulas import neutralize_formulas
from tiebreak.data.files.read import read_file
from tiebreak.data.files.recognized import ReadOptions, Recognized
from tiebreak.data.files.vocabulary import COLUMN_WORDS, SIDES
from tiebreak.data.files.write import write_comparisons

__all__ = [
    "COLUMN_WORDS",
    "SIDES",
    "FileError",
    "NeedsAnswer",
    "ReadOptions",
    "Recognized",
    "neutralize_formulas",
    "read_file",
    "write_comparisons",
]
