# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons (`Pairs`), grades and ranked lists (`Orders`), checked once.

Models call `validation`; `items`, `columns` and `outcome` turn tables, columns and
words into arrays.
"""

# ruff: noqa: F401 - the other packages take from here what is not public, too
from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.kinds import Comparisons, Data, Grades, Lists
from tiebreak.data.on_items import OnItems
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOME_WORDS, Outcome, check_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import (
    as_pairs,
    check_comparisons,
    check_grades,
    check_weights,
    is_pairs,
    read_comparisons,
    read_data,
    read_grades,
)

__all__ = ["OUTCOME_WORDS", "ItemTable", "OnItems", "Orders", "Outcome", "Pairs"]
