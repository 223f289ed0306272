# SPDX-License-Identifier: BSD-3-Clause
"""Models with scikit-learn's interface: one file each, families as folders."""

from tiebreak.models.base import ThresholdWarning
from tiebreak.models.boosted_utility import BoostedUtility
from tiebreak.models.boosting import RankBoost
from tiebreak.models.expected_rank import ExpectedRankRegression
from tiebreak.models.hedge import HedgeOrder
from tiebreak.models.l1.l1_ranker import L1Ranker
from tiebreak.models.least_squares.rank_rls import RankRLS
from tiebreak.models.logistic.logistic_compare import LogisticCompare
from tiebreak.models.majority import MajorityCompare
from tiebreak.models.pursuit.co_ranking_pursuit import CoRankingPursuit
from tiebreak.models.pursuit.ranking_pursuit import MatchingPursuit, RankingPursuit
from tiebreak.models.svm.duals import PathFit, fit_path
from tiebreak.models.svm.max_margin_compare import MaxMarginCompare
from tiebreak.models.svm.order_svm import OrderSVM
from tiebreak.models.svm.ordinal_svm import OrdinalSVM
from tiebreak.models.svm.rank_svm import RankSVM
from tiebreak.models.svm.svm_compare import SVMCompare
from tiebreak.models.svm.swap_svm import SwapSVM
from tiebreak.models.threshold_compare import ThresholdCompare
from tiebreak.models.without_ties import WithoutTies

__all__ = [
    "BoostedUtility", "CoRankingPursuit", "ExpectedRankRegression", "HedgeOrder",
    "L1Ranker", "LogisticCompare", "MajorityCompare", "MatchingPursuit",
    "MaxMarginCompare", "OrderSVM", "OrdinalSVM", "PathFit", "RankBoost", "RankRLS",
    "RankSVM", "RankingPursuit", "SVMCompare", "SwapSVM", "ThresholdCompare",
    "ThresholdWarning", "WithoutTies", "fit_path",
]  # fmt: skip
