# SPDX-License-Identifier: BSD-3-Clause
"""Models with scikit-learn's interface, one per file."""

from tiebreak.models.base import ThresholdWarning
from tiebreak.models.files import load, save
from tiebreak.models.kernel_machine import PathFit, fit_path
from tiebreak.models.logistic_compare import LogisticCompare
from tiebreak.models.majority_compare import MajorityCompare
from tiebreak.models.max_margin_compare import MaxMarginCompare
from tiebreak.models.ordinal_svm import OrdinalSVM
from tiebreak.models.rank_svm import RankSVM
from tiebreak.models.svm_compare import SVMCompare
from tiebreak.models.swap_svm import SwapSVM
from tiebreak.models.threshold_compare import ThresholdCompare

__all__ = [
    "LogisticCompare",
    "MajorityCompare",
    "MaxMarginCompare",
    "OrdinalSVM",
    "PathFit",
    "RankSVM",
    "SVMCompare",
    "SwapSVM",
    "ThresholdCompare",
    "ThresholdWarning",
    "fit_path",
    "load",
    "save",
]
