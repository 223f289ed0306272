# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons (`Pairs`), grades and ranked lists (`Orders`), checked once.

Models call `validation`; `items`, `columns` and `outcome` turn tables, columns and
words into arrays.
"""

from tiebreak.data.items import ItemTable
from tiebreak.data.items import as_items as as_items
from tiebreak.data.kinds import Comparisons as Comparisons
from tiebreak.data.kinds import Data as Data
from tiebreak.data.kinds import Grades as Grades
from tiebreak.data.kinds import Lists as Lists
from tiebreak.data.on_items import OnItems
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOME_WORDS, Outcome
from tiebreak.data.outcome import check_outcomes as check_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import as_pairs as as_pairs
from tiebreak.data.validation import check_comparisons as check_comparisons
from tiebreak.data.validation import check_grades as check_grades
from tiebreak.data.validation import check_weights as check_weights
from tiebreak.data.validation import is_pairs as is_pairs
from tiebreak.data.validation import read_comparisons as read_comparisons
from tiebreak.data.validation import read_data as read_data
from tiebreak.data.validation import read_grades as read_grades

__all__ = ["OUTCOME_WORDS", "ItemTable", "OnItems", "Orders", "Outcome", "Pairs"]
