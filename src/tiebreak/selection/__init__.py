# SPDX-License-Identifier: BSD-3-Clause
"""Choosing: splitters that respect queries, raters and items, and the tuner."""

from tiebreak.selection.splitters import ItemKFold, QueryKFold, RaterKFold
from tiebreak.selection.tune import tune
from tiebreak.selection.tune_result import TuneResult

__all__ = ["ItemKFold", "QueryKFold", "RaterKFold", "TuneResult", "tune"]
