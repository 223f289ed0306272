# SPDX-License-Identifier: BSD-3-Clause
"""The three shapes of knowledge: comparisons, grades and orders, checked once."""

from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.on_items import OnItems
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOME_WORDS, Outcome, check_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import (
    Grades,
    as_pairs,
    check_comparisons,
    check_grades,
    check_weights,
    is_pairs,
)

__all__ = [
    "OUTCOME_WORDS",
    "Grades",
    "ItemTable",
    "OnItems",
    "Orders",
    "Outcome",
    "Pairs",
    "as_items",
    "as_pairs",
    "check_comparisons",
    "check_grades",
    "check_outcomes",
    "check_weights",
    "is_pairs",
]
