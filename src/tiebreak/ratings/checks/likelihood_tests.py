# SPDX-License-Identifier: BSD-3-Clause
"""Likelihood-ratio tests of equal items and of an effect of the side.

Both are in Davidson's model, its tie parameter fitted. With few games per item the
statistic is not chi-square; see :mod:`tiebreak.ratings.strengths.refits`.
"""

import numpy as np
from scipy.sparse.linalg import lsqr
from scipy.special import chdtrc

from tiebreak.data.arrays import Floats
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.losses import (
    CovariateDesign,
    ItemDesign,
    JointDesign,
)
from tiebreak.ratings.checks.pairs_report import (
    MOST_ITEMS,
    MOST_ITEMS_FOR_POSITION,
    StrengthFacts,
)
from tiebreak.ratings.strengths import refits
from tiebreak.solvers import conjugate_gradients

# Without a penalty strengths of few games turn chance into an effect.
_LIGHT = 0.05
_IDENTIFIED = 1e-6


def check_strengths(
    cells: ComparisonCounts, n_items: int, n_components: int
) -> StrengthFacts | None:
    """Test whether any item is better, covariates having an effect in both models.

    None if nothing is decided, or items are too many.
    """
    if n_items > MOST_ITEMS or not cells.counts[:, ::2].any():
        return None
    small, large = (refits.count_design(cells, n) for n in (0, n_items))
    equal, free = (refits.fit_table(one, cells.counts) for one in (small, large))
    statistic = max(0.0, 2 * (equal.loss - free.loss))
    degrees = n_items - n_components
    if cells.covariates.shape[1] and not is_identified(cells, n_items):
        degrees -= 1
    if degrees == 0:
        return None
    if not refits.has_few_games(cells, n_items):
        p_value = float(chdtrc(degrees, statistic))
        return StrengthFacts(statistic, degrees, p_value, 0)
    if n_items > refits.MOST_DRAWN:
        return StrengthFacts(statistic, degrees, None, 0)
    drawn = refits.ratio_p_value(small, large, cells.counts, equal.share)
    return StrengthFacts(statistic, degrees, drawn, refits.DRAWS)


def check_position(
    cells: ComparisonCounts, n_items: int
) -> tuple[float, float, float] | None:
    """Test the effect of the only covariate, strengths being lightly penalized.

    Estimate, standard error and p-value; None if strengths can explain all of it.
    """
    if n_items > MOST_ITEMS_FOR_POSITION or not is_identified(cells, n_items):
        return None
    strengths = ItemDesign(cells.left, cells.right, n_items)
    usual = _usual_advantage(cells, n_items)
    both = np.column_stack([cells.covariates, usual])
    equal = JointDesign(strengths, CovariateDesign(both[:, 1:]))
    joint = JointDesign(strengths, CovariateDesign(both))
    penalty = np.append(np.full(n_items, _LIGHT), [refits.NEARLY_NONE] * 2)
    without = refits.fit_table(equal, cells.counts, penalty[:-1])
    found = refits.fit_table(joint, cells.counts, penalty)
    objective, at = found.objective, found.x
    gain = without.objective.value(without.x) - objective.value(at)
    objective.expand(at)
    unit = np.zeros(len(at))
    unit[n_items] = 1.0
    diagonal = objective.hessian_diagonal()
    column, _ = conjugate_gradients(
        objective.hessian_product,
        unit,
        lambda r: r / diagonal,
        lambda r, z: float(r @ z) < 1e-8 / diagonal[n_items],
        10 * len(at),
    )
    p_value = float(chdtrc(1, max(0.0, 2 * gain)))
    return float(at[n_items]), float(np.sqrt(column[n_items])), p_value


def _usual_advantage(cells: ComparisonCounts, n_items: int) -> Floats:
    """Give left's mean advantage over all its games minus right's, shape (m,).

    With this column the penalty shrinks strengths towards what listing says (Mundlak,
    1978); without it, what it takes from favorites listed first would go to the effect.
    """
    games = cells.counts.sum(axis=1)
    favor = games * cells.covariates[:, 0]
    total = np.bincount(cells.left, favor, n_items)
    total = total - np.bincount(cells.right, favor, n_items)
    mean = total / np.maximum(sum(cells.tally(n_items)), np.finfo(float).tiny)
    return np.asarray(mean[cells.left] - mean[cells.right], np.float64)


def is_identified(cells: ComparisonCounts, n_items: int) -> bool:
    """Say whether strengths cannot take the place of the only covariate."""
    z = cells.covariates[:, 0]
    low, high = np.minimum(cells.left, cells.right), np.maximum(cells.left, cells.right)
    pair = low * n_items + high
    order = np.argsort(pair)
    turned = np.where(cells.left < cells.right, z, -z)[order]
    if ((np.diff(pair[order]) == 0) & (np.diff(turned) != 0)).any():
        return True  # the same two items met with different advantages
    design = ItemDesign(low, high, n_items).matrix()
    left_over = lsqr(design[order], turned, 0, 1e-9, 1e-9)[3]
    return bool(left_over > _IDENTIFIED * np.linalg.norm(z))
