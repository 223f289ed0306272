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
from tiebreak.losses.linear_objective import LinearObjective, UtilityLoss
from tiebreak.losses.listed_pairs import ListedSquaredHinge
from tiebreak.losses.outcome_links import LINKS, Cumulative, Davidson, OutcomeLink

__all__ = [
    "LINKS",
    "ComparisonObjective",
    "CovariateDesign",
    "Cumulative",
    "Davidson",
    "Design",
    "FeatureDesign",
    "GradeExponential",
    "GradeHinge",
    "GradeSquaredHinge",
    "GradeTree",
    "ItemDesign",
    "JointDesign",
    "LinearObjective",
    "ListedSquaredHinge",
    "OutcomeLink",
    "UtilityLoss",
]
