# SPDX-License-Identifier: BSD-3-Clause
"""What `LogisticCompare` minimizes: training comparisons, counted, and their design."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import (
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
)
from tiebreak.models.covariates import refuse_empty, refuse_endless
from tiebreak.models.kernel_utility import factor_kernel
from tiebreak.models.logistic.stream import (
    AVERAGE,
    CURVATURE,
    VALUE,
    WEIGHT,
    new_tie,
    tie_scale,
)
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import NewtonSolution, minimize_newton

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]


class LogisticProblem:
    """Training comparisons, counted, and the objective over their utilities.

    Coefficients are ``n_features`` of the features (or of the factor of the kernel, or
    one per item without features), then with ``identity`` one deviation per item, then
    the effects of covariates.
    """

    def __init__(
        self,
        model: Any,
        pairs: Pairs,
        outcome: NDArray[np.int8],
        weight: Vector,
        covariates: Vector,
        effects: list[str],
        context_names: tuple[str, ...] | None,
    ) -> None:
        alpha, identity, link = model.alpha, model.identity, model._link
        self.effects, self.context_names = effects, context_names
        kernel, gamma, degree = model.kernel, model.gamma, model.degree
        self.given, whole, pairs = pairs.touched(), pairs, pairs.compact()
        source = whole if model._is_precomputed else pairs
        items = TrainingItems.read(source, kernel, gamma, degree, model.coef0)
        self.pairs, self.items, self.link = pairs, items, link
        n = pairs.n_items
        # The distinct item of each item; all of them where the kernel is given.
        self.code = items.code if items.gram is None else np.arange(n)
        unit = self.code if identity is None else np.arange(n)
        left, right = unit[pairs.left], unit[pairs.right]
        n_units = int(unit.max()) + 1
        cells = count_comparisons(left, right, outcome, weight, n_units, covariates)
        self.left, self.right, self.counts = cells.left, cells.right, cells.counts
        self.totals = self.counts.sum(axis=0)  # (3,), weights of left, tie and right
        self.factor = None if items.is_linear else factor_kernel(items, self.given)
        # Deviations belong to items, of which several may be one distinct item.
        design: Design = self._features(None if identity is None else self.code)
        self.n_features = design.n_coef
        penalty = np.full(self.n_features, float(alpha))
        if identity is not None:
            design = JointDesign(design, ItemDesign(self.left, self.right, n))
            penalty = np.append(penalty, np.full(n, float(identity)))
        if effects:
            refuse_empty(cells)
            if not self.only_ties:
                refuse_endless(cells, n_units, True, effects, "or add comparisons.")
            design = JointDesign(design, CovariateDesign(cells.covariates))
            penalty = np.append(penalty, np.zeros(len(effects)))
        # The tie parameter is fixed where its best value is at the end of its range.
        fixed_tie = None if self.totals[1] else link.start(0.0)
        if self.only_ties:
            fixed_tie = math.inf
        self.objective = ComparisonObjective(
            design, link, self.counts, penalty, tie=fixed_tie
        )

    def _features(self, code: Codes | None) -> Design:
        if self.factor is not None:
            values = self.factor.values
        elif self.items.table is not None:
            values = self.items.table.values
        else:
            return ItemDesign(self.left, self.right, self.pairs.n_items)
        values = values if code is None else values[code]
        if len(self.left) < values.shape[0]:
            # Fewer comparisons than items: their differences are the smaller table.
            return CovariateDesign(_differences(values, self.left, self.right))
        return FeatureDesign(values, self.left, self.right)

    @property
    def only_ties(self) -> bool:
        """Whether no comparison was decided."""
        return bool(self.totals[1] == self.totals.sum())

    def solve(self, tol: float, max_iter: int) -> tuple[NewtonSolution, Vector, float]:
        """Return the solution, its coefficients and its tie parameter t."""
        start = np.zeros(self.objective.n_variables)
        if self.only_ties:
            return NewtonSolution(start, 0.0, 0.0, 0, True), start, math.inf
        if self.objective.tie is None:
            start[-1] = self.link.start(float(self.totals[1] / self.totals.sum()))
        # At least one step: under a large penalty the utilities are tiny, and yet they
        # have an order, which the loss does not notice.
        with one_blas_thread():  # see data.threads: more only wait
            solution = minimize_newton(
                self.objective, start, tol=tol, max_iter=max_iter, min_iter=1
            )
        return (solution, *self.objective.split(solution.x))

    def stream(self, coef: Vector, t: float) -> Vector:
        """State from which a stream of comparisons goes on, shape (4, n_coef + 1)."""
        state = np.empty((4, len(coef) + 1))
        state[VALUE, :-1] = state[AVERAGE, :-1] = coef
        # The curvature is the diagonal of the Hessian at the solution.
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
        """Weight of the comparisons in which each coefficient may play a part."""
        # Comparisons of two items that both have a feature are counted for it, even
        # where it cancels, but never more than there are.
        n, amount = int(self.right.max()) + 1, self.counts.sum(axis=1)
        met: Vector = np.bincount(self.left, amount, n).astype(np.float64)
        met += np.bincount(self.right, amount, n)
        table = self.items.table
        if table is None:
            return met
        has_deviations = self.objective.n_coef > self.n_features
        per_item: Any = np.bincount(self.code, met) if has_deviations else met
        of_features = np.minimum(
            _weigh_present(table.values, per_item), self.totals.sum()
        )
        return np.append(of_features, met if has_deviations else [])


_ROWS = 64  # at a time: large tables that live for a moment cost more than sums


def _differences(values: Any, left: Codes, right: Codes) -> Any:
    """Give left minus right, shape (m, p)."""
    if sp.issparse(values):
        return values[left] - values[right]
    out = np.empty((len(left), values.shape[1]))
    for start in range(0, len(left), _ROWS):
        some = slice(start, start + _ROWS)
        np.subtract(values[left[some]], values[right[some]], out=out[some])
    return out


def _weigh_present(values: Any, weight: Vector) -> Vector:
    """Sum the weights of the rows in which each column is not zero."""
    if sp.issparse(values):
        return np.asarray((values != 0).T @ weight)
    out = np.zeros(values.shape[1])
    for start in range(0, len(weight), _ROWS):
        some = slice(start, start + _ROWS)
        out += weight[some] @ (values[some] != 0)
    return out
