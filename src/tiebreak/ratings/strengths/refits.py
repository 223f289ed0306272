# SPDX-License-Identifier: BSD-3-Clause
"""Tests by draws from a fitted model, where games are too few for chi-square.

With a statistic T of the results, and T₁, …, T_B those of B tables that are drawn from
the smaller model as fitted (always the same ones), p = (1 + #{b: T_b ≥ T}) / (1 + B).
All tables, drawn or not, are fitted alike, by maximum likelihood in Davidson's model.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.data.arrays import Floats
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    ItemDesign,
    JointDesign,
)
from tiebreak.solvers import minimize_newton

# The log-likelihood comes within 0.05 of its supremum, where no maximum exists.
NEARLY_NONE = 1e-4
_ENOUGH_GAMES = 24  # of a quarter of the items, for the chi-square distribution
DRAWS = 199
MOST_DRAWN = 170  # items; then draws take less than a second
_TOL = 1e-5


def has_few_games(cells: ComparisonCounts, n_items: int) -> bool:
    """Whether chi-square does not hold, and games can be drawn."""
    few = np.quantile(sum(cells.tally(n_items)), 0.25) < _ENOUGH_GAMES
    return bool(few) and is_whole(cells.counts)


def is_whole(counts: Floats) -> bool:
    """Whether these are counts of games, and not sums of fractional weights."""
    return bool((counts == np.floor(counts)).all())


def ratio_p_value(
    small: Design, large: Design, counts: Floats, probability: Floats
) -> float:
    """P-value of the likelihood ratio of two designs, drawn from the smaller."""
    tables = _draw_tables(counts, probability)
    gain = [fit_table(small, one).loss - fit_table(large, one).loss for one in tables]
    return _share_above(2.0 * np.array(gain))


def pearson_p_value(design: Design, counts: Floats, probability: Floats) -> float:
    """P-value of Pearson's statistic of a design, drawn from its model."""
    statistic = []
    for table in _draw_tables(counts, probability):
        expected = fit_table(design, table).share * table.sum(axis=1, keepdims=True)
        possible = expected > 0.0
        statistic.append(((table - expected)[possible] ** 2 / expected[possible]).sum())
    return _share_above(np.array(statistic))


def _draw_tables(counts: Floats, probability: Floats) -> Floats:
    """The counts (m, 3), then draws of as many games; (1 + B, m, 3)."""
    games = counts.sum(axis=1).astype(np.int64)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(games, probability, (DRAWS, len(games)))
    return np.concatenate([counts[None], draws])


def _share_above(statistic: Floats) -> float:
    """Share that is as large as the first, with rounding, itself included."""
    # Small data give few different values.
    return float(np.mean(statistic >= statistic[0] - 0.01))


def count_design(cells: ComparisonCounts, n_items: int) -> Design:
    """Design of strengths (of none, if n_items is 0) and covariates."""
    covariates = CovariateDesign(cells.covariates)
    if not n_items:
        return covariates
    return JointDesign(ItemDesign(cells.left, cells.right, n_items), covariates)


@dataclass(frozen=True, eq=False)
class TableFit:
    """A minimum of Davidson's model."""

    objective: ComparisonObjective
    x: Floats

    @cached_property
    def at(self) -> tuple[Floats, float]:
        """Differences d, and the tie parameter."""
        beta, t = self.objective.split(self.x)
        return self.objective.design.apply(beta), t

    @property
    def loss(self) -> float:
        """-ln of the likelihood."""
        return self.objective.link.value(*self.at, self.objective.counts)

    @property
    def share(self) -> Floats:
        """Probabilities of the outcomes, (m, 3)."""
        return self.objective.link.probabilities(*self.at)


def fit_table(
    design: Design, counts: Floats, penalty: Floats | float = NEARLY_NONE
) -> TableFit:
    """Fit counts (m, 3) with a penalty on coefficients."""
    link, ties = LINKS["davidson"], counts[:, 1].sum()
    t = link.start(float(ties / (counts.sum() + 0.5)))
    penalty = np.broadcast_to(penalty, design.n_coef)
    tie = None if ties else t
    objective = ComparisonObjective(design, link, counts, penalty, tie=tie)
    x = np.append(np.zeros(design.n_coef), [t] if ties else [])
    if len(x):
        x = minimize_newton(objective, x, tol=_TOL).x
    return TableFit(objective, x)
