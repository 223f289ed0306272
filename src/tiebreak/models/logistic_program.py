# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as a smooth program: what :class:`LogisticCompare` minimizes.

Comparisons of the same two items are one row of counts, whatever their direction and
outcome. The loss is a sum, so nothing changes but the size, and a row of weight two is
a duplicated row by construction.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.data.comparison_counts import count_comparisons
from tiebreak.losses import (
    ComparisonObjective,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.models.kernel_factor import factor_kernel
from tiebreak.models.logistic_steps import (
    AVERAGE,
    CURVATURE,
    VALUE,
    WEIGHT,
    new_tie,
    tie_scale,
)
from tiebreak.models.pair_program import TrainingItems
from tiebreak.solvers import NewtonSolution, minimize_newton

__all__ = ["LogisticProgram"]

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]


class LogisticProgram:
    """Training comparisons, counted, and the objective over their utilities.

    Coefficients are those of the features (or of the factor of the kernel, or one per
    item without features), followed by one per item for its deviation, if asked for.

    Parameters
    ----------
    pairs : Pairs
        Comparisons of compact items, all of positive weight.
    outcome : ndarray of int8 of shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights.
    items : TrainingItems
        Distinct items and kernel.
    given : ndarray of int
        Row in the user's item table of each item of `pairs`.
    link : OutcomeLink
        Probabilities of the outcomes.
    alpha : float
        Penalty of ‖w‖².
    identity : float or None
        Penalty of the squared deviations of the items.

    Attributes
    ----------
    totals : ndarray of shape (3,)
        Summed weights of the outcomes left, tie and right.
    n_features : int
        Number of coefficients that are not deviations.
    """

    def __init__(
        self,
        pairs: Pairs,
        outcome: NDArray[np.int8],
        weight: Vector,
        items: TrainingItems,
        given: Codes,
        link: OutcomeLink,
        *,
        alpha: float,
        identity: float | None,
    ) -> None:
        self.pairs, self.items, self.given, self.link = pairs, items, given, link
        n = pairs.n_items
        # The distinct item of each item; all of them where the kernel is given.
        self.code = items.code if items.gram is None else np.arange(n)
        unit = self.code if identity is None else np.arange(n)
        n_units = n if identity is not None else int(unit.max()) + 1
        cells = count_comparisons(
            unit[pairs.left], unit[pairs.right], outcome, weight, n_units
        )
        self.left, self.right, self.counts = cells.left, cells.right, cells.counts
        self.totals = self.counts.sum(axis=0)
        self.factor = None if items.is_linear else factor_kernel(items, given)
        design: Design
        if identity is None:
            design = self._features(self.left, self.right)
            self.n_features = design.n_coef
            penalty = np.full(self.n_features, float(alpha))
        else:
            design = self._features(self.left, self.right, self.code)
            self.n_features = design.n_coef
            design = JointDesign(design, ItemDesign(self.left, self.right, n))
            penalty = np.repeat([float(alpha), float(identity)], [self.n_features, n])
        self.objective = ComparisonObjective(
            design, link, self.counts, penalty, tie=self._fixed_tie()
        )

    def _features(
        self, left: Codes, right: Codes, code: Codes | None = None
    ) -> FeatureDesign | ItemDesign:
        if self.factor is not None:
            values = self.factor.values
        elif self.items.table is not None:
            values = self.items.table.values
        else:
            return ItemDesign(left, right, self.pairs.n_items)
        return FeatureDesign(values if code is None else values[code], left, right)

    @property
    def only_ties(self) -> bool:
        """Whether no comparison was decided."""
        return bool(self.totals[1] == self.totals.sum())

    def _fixed_tie(self) -> float | None:
        """The tie parameter where its best value is at the end of its range."""
        if self.only_ties:
            return math.inf
        return None if self.totals[1] else self.link.start(0.0)

    def solve(self, tol: float, max_iter: int) -> tuple[NewtonSolution, Vector, float]:
        """Minimize; give the solver's report, the coefficients and t."""
        start = np.zeros(self.objective.n_variables)
        if self.only_ties:
            return NewtonSolution(start, 0.0, 0.0, 0, True), start, math.inf
        if self.objective.tie is None:
            start[-1] = self.link.start(float(self.totals[1] / self.totals.sum()))
        # At least one step: under a large penalty the utilities are tiny, and yet they
        # have an order, which the loss does not notice.
        solution = minimize_newton(
            self.objective, start, tol=tol, max_iter=max_iter, min_iter=1
        )
        return (solution, *self.objective.split(solution.x))

    def stream(self, coef: Vector, t: float) -> Vector:
        """State from which a stream of comparisons goes on, shape (4, n_coef + 1).

        The curvature is the diagonal of the Hessian at the solution.
        """
        state = np.empty((4, len(coef) + 1))
        state[VALUE, :-1] = state[AVERAGE, :-1] = coef
        state[CURVATURE, :-1] = 2.0 * self.objective.alpha
        if not self.only_ties:
            free = self.objective.tie is None
            self.objective.expand(np.append(coef, t) if free else coef)
            state[CURVATURE, :-1] = self.objective.hessian_diagonal()[: len(coef)]
        state[WEIGHT, :-1] = self._touching()
        state[:, -1] = new_tie(self.link, self.totals)
        if self.objective.tie is None:
            curvature = self.objective.local.tie_curvature * tie_scale(self.link, t)
            state[:, -1] = t, t, curvature, self.totals.sum()
        return state

    def _touching(self) -> Vector:
        """Weight of the comparisons in which each coefficient may play a part.

        Comparisons of two items that both have a feature are counted for it, even
        where it cancels, but never more than there are.
        """
        n, amount = int(self.right.max()) + 1, self.counts.sum(axis=1)
        met: Vector = np.bincount(self.left, amount, n).astype(np.float64)
        met += np.bincount(self.right, amount, n)
        table = self.items.table
        if table is None:
            return met
        has_deviations = self.objective.n_coef > self.n_features
        per_item = np.bincount(self.code, met) if has_deviations else met
        of_features = np.minimum((table.values != 0).T @ per_item, self.totals.sum())
        return np.append(of_features, met if has_deviations else [])
