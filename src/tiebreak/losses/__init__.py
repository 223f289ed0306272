# SPDX-License-Identifier: BSD-3-Clause
"""What utilities cost: values, gradients and Hessians of losses over comparisons."""

from tiebreak.losses.comparison_objective import ComparisonObjective
from tiebreak.losses.designs import (
    CovariateDesign,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
)
from tiebreak.losses.outcome_links import LINKS, Cumulative, Davidson, OutcomeLink

__all__ = [
    "LINKS",
    "ComparisonObjective",
    "CovariateDesign",
    "Cumulative",
    "Davidson",
    "Design",
    "FeatureDesign",
    "ItemDesign",
    "JointDesign",
    "OutcomeLink",
]
