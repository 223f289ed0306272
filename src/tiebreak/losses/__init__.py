# SPDX-License-Identifier: BSD-3-Clause
"""What utilities cost: values, gradients and Hessians of losses over pairs of items."""

from tiebreak.losses.comparison_objective import ComparisonObjective
from tiebreak.losses.designs import (
    CovariateDesign,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
)
from tiebreak.losses.grade_exponential import GradeExponential
from tiebreak.losses.grade_losses import GradeHinge, GradeSquaredHinge
from tiebreak.losses.grade_tree import GradeTree
from tiebreak.losses.laplacian import GroupLaplacian, Laplacian, PairLaplacian
from tiebreak.losses.linear_objective import LinearObjective, UtilityLoss
from tiebreak.losses.listed_pairs import ListedSquaredHinge
from tiebreak.losses.order_likelihood import Choices, OrderLikelihood
from tiebreak.losses.outcome_links import LINKS, Cumulative, Davidson, OutcomeLink
from tiebreak.losses.pair_potentials import GradePotentials, ListedPotentials

__all__ = [
    "LINKS",
    "Choices",
    "ComparisonObjective",
    "CovariateDesign",
    "Cumulative",
    "Davidson",
    "Design",
    "FeatureDesign",
    "GradeExponential",
    "GradeHinge",
    "GradePotentials",
    "GradeSquaredHinge",
    "GradeTree",
    "GroupLaplacian",
    "ItemDesign",
    "JointDesign",
    "Laplacian",
    "LinearObjective",
    "ListedPotentials",
    "ListedSquaredHinge",
    "OrderLikelihood",
    "OutcomeLink",
    "PairLaplacian",
    "UtilityLoss",
]
