# SPDX-License-Identifier: BSD-3-Clause
"""Choosing: splitters that respect queries, raters, items and time, and the tuner."""

from tiebreak.selection.evaluation import evaluate_folds, evaluate_forward
from tiebreak.selection.l1_paths import L1Path, L1RankerCV, l1_path
from tiebreak.selection.results import ForwardDifference, ForwardResult, TuneResult
from tiebreak.selection.splitters import ItemKFold, PeriodSplit, QueryKFold, RaterKFold
from tiebreak.selection.tuner import tune

__all__ = [
    "ForwardDifference", "ForwardResult", "ItemKFold", "L1Path", "L1RankerCV",
    "PeriodSplit", "QueryKFold", "RaterKFold", "TuneResult", "evaluate_folds",
    "evaluate_forward", "l1_path", "tune",
]  # fmt: skip
