# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons (`Pairs`), grades and ranked lists (`Orders`), checked once.

`validation` is what models call; `items`, `columns` and `outcome` turn tables, columns
and words into arrays, and name the rows of what they refuse.
"""

from tiebreak.data.items import ItemTable
from tiebreak.data.items import as_items as as_items
from tiebreak.data.on_items import OnItems
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOME_WORDS, Outcome
from tiebreak.data.outcome import check_outcomes as check_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import Grades as Grades
from tiebreak.data.validation import as_pairs as as_pairs
from tiebreak.data.validation import check_comparisons as check_comparisons
from tiebreak.data.validation import check_grades as check_grades
from tiebreak.data.validation import check_weights as check_weights
from tiebreak.data.validation import is_pairs as is_pairs

__all__ = ["OUTCOME_WORDS", "ItemTable", "OnItems", "Orders", "Outcome", "Pairs"]
