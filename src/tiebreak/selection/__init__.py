# SPDX-License-Identifier: BSD-3-Clause
"""Choosing: splitters that respect queries, raters, items and time, and the tuner."""

from tiebreak.selection.folds import evaluate_folds
from tiebreak.selection.forward import evaluate_forward
from tiebreak.selection.forward_result import ForwardDifference, ForwardResult
from tiebreak.selection.l1_path import L1Path, l1_path
from tiebreak.selection.l1_ranker_cv import L1RankerCV
from tiebreak.selection.period_split import PeriodSplit
from tiebreak.selection.splitters import ItemKFold, QueryKFold, RaterKFold
from tiebreak.selection.tune import tune
from tiebreak.selection.tune_result import TuneResult

__all__ = [
    "ForwardDifference",
    "ForwardResult",
    "ItemKFold",
    "L1Path",
    "L1RankerCV",
    "PeriodSplit",
    "QueryKFold",
    "RaterKFold",
    "TuneResult",
    "evaluate_folds",
    "evaluate_forward",
    "l1_path",
    "tune",
]
