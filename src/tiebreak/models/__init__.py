# SPDX-License-Identifier: BSD-3-Clause
"""Models with scikit-learn's interface, one per file."""

from tiebreak.models.base import ThresholdWarning
from tiebreak.models.co_ranking_pursuit import CoRankingPursuit
from tiebreak.models.expected_rank_regression import ExpectedRankRegression
from tiebreak.models.files import load, save
from tiebreak.models.hedge_order import HedgeOrder
from tiebreak.models.kernel_machine import PathFit, fit_path
from tiebreak.models.l1_ranker import L1Ranker
from tiebreak.models.logistic_compare import LogisticCompare
from tiebreak.models.majority_compare import MajorityCompare
from tiebreak.models.matching_pursuit import MatchingPursuit
from tiebreak.models.max_margin_compare import MaxMarginCompare
from tiebreak.models.order_svm import OrderSVM
from tiebreak.models.ordinal_svm import OrdinalSVM
from tiebreak.models.rank_boost import RankBoost
from tiebreak.models.rank_rls import RankRLS
from tiebreak.models.rank_svm import RankSVM
from tiebreak.models.ranking_pursuit import RankingPursuit
from tiebreak.models.svm_compare import SVMCompare
from tiebreak.models.swap_svm import SwapSVM
from tiebreak.models.threshold_compare import ThresholdCompare

__all__ = [
    "CoRankingPursuit",
    "ExpectedRankRegression",
    "HedgeOrder",
    "L1Ranker",
    "LogisticCompare",
    "MajorityCompare",
    "MatchingPursuit",
    "MaxMarginCompare",
    "OrderSVM",
    "OrdinalSVM",
    "PathFit",
    "RankBoost",
    "RankRLS",
    "RankSVM",
    "RankingPursuit",
    "SVMCompare",
    "SwapSVM",
    "ThresholdCompare",
    "ThresholdWarning",
    "fit_path",
    "load",
    "save",
]
