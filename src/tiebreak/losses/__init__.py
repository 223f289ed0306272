# SPDX-License-Identifier: BSD-3-Clause
"""What utilities cost: values, gradients and Hessians of losses over pairs of items."""

from tiebreak.losses.comparison_likelihood import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Davidson,
    Design,
    Expansion,
    FeatureDesign,
    HalfWins,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.losses.grade_losses import (
    GradeHinge,
    GradeSquaredHinge,
    ListedSquaredHinge,
    SmoothedHinge,
)
from tiebreak.losses.grade_tree import GradeTree
from tiebreak.losses.laplacian import GroupLaplacian, Laplacian, PairLaplacian
from tiebreak.losses.linear_objective import LinearObjective, UtilityLoss
from tiebreak.losses.order_likelihood import Choices, OrderLikelihood
from tiebreak.losses.pair_potentials import GradePotentials, ListedPotentials
from tiebreak.losses.rating_links import (
    GLENN_DAVID,
    RATING_LINKS,
    MixedLink,
    RatingLink,
)
