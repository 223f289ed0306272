# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as a smooth program: what :class:`LogisticCompare` minimizes.

Comparisons of the same two items are one row of counts, whatever their direction and
outcome. The loss is a sum, so nothing changes but the size, and a row of weight two is
a duplicated row by construction.

Kernels become features. The Gram matrix of the distinct items has a pivoted Cholesky
factor, K = G Gᵀ, and a linear utility G β on its rows has the norm of the utility in
the space of the kernel, ‖w‖² = ‖β‖². With the pivots P, G = K[:, P] T⁻ᵀ for a
triangular T, so the utility of any item is k(x, items P) a with Tᵀ a = β.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from tiebreak.data import Pairs
from tiebreak.data.comparison_counts import count_comparisons
from tiebreak.kernels import FunctionKernel, pivoted_cholesky
from tiebreak.losses import (
    ComparisonObjective,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
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

__all__ = ["KernelFactor", "LogisticProgram", "factor_kernel"]

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# Largest entry of K - G Gᵀ, relative to the largest entry of K.
FACTOR_TOL = 1e-10
# Up to this many items the Gram matrix is formed; beyond, so many pivots must do.
MAX_PIVOTS = 4096
# The table of all pairs is used while it is not much larger than the data.


@dataclass(frozen=True, eq=False)
class KernelFactor:
    """K = G Gᵀ, of items that are few enough or alike enough.

    Attributes
    ----------
    values : ndarray of shape (N, r)
        G, lower triangular in the rows of the pivots.
    pivots : ndarray of int of shape (r,)
        The items that the others are expressed by.
    """

    values: Vector
    pivots: NDArray[np.intp]

    def item_coef(self, beta: Vector) -> Vector:
        """Coefficients a on the pivots: utility(x) = k(x, items P) a."""
        triangle = self.values[self.pivots]
        return np.asarray(la.solve_triangular(triangle, beta, trans="T", lower=True))


def factor_kernel(items: TrainingItems, rows: Codes) -> KernelFactor:
    """Factor the kernel between training items, within ``FACTOR_TOL``.

    Parameters
    ----------
    items : TrainingItems
        Items with a kernel function or a Gram matrix.
    rows : ndarray of int
        The items that occur, as rows of the Gram matrix; all distinct items when
        there is a kernel function.

    Returns
    -------
    KernelFactor
    """
    if items.gram is not None:
        return _factor_gram(items.gram[np.ix_(rows, rows)])
    assert items.function is not None and items.table is not None
    kernel = FunctionKernel(items.function, items.table.values)
    if kernel.n_items <= MAX_PIVOTS:
        return _factor_gram(kernel.block(np.arange(kernel.n_items), np.float64))
    factor = pivoted_cholesky(
        lambda index: kernel.block(index, np.float64),
        items.function.diagonal(items.table.values),
        max_pivots=MAX_PIVOTS,
        tol=FACTOR_TOL,
    )
    if factor is None:
        raise ValueError(
            f"the kernel between the {kernel.n_items} distinct items needs more than "
            f"{MAX_PIVOTS} of them to express the others. Try a smaller gamma, or "
            "approximate features: OnItems(Nystroem(...)) before a LogisticCompare "
            "with kernel='linear'."
        )
    # Which items carry it? Gaussian elimination picks well-conditioned rows; the
    # factor is then made anew, so that it is exact on them.
    _, swaps = la.lu_factor(factor.T, overwrite_a=True)
    order = np.arange(kernel.n_items)
    for i, j in enumerate(swaps):
        order[[i, j]] = order[[j, i]]
    chosen = order[: len(swaps)]
    block = kernel.block(chosen, np.float64)
    inner = _factor_gram(block[:, chosen])
    triangle, kept = inner.values[inner.pivots], inner.pivots
    values = la.solve_triangular(triangle, block[kept], lower=True).T
    return KernelFactor(np.ascontiguousarray(values), chosen[kept])


def _factor_gram(gram: Vector) -> KernelFactor:
    """Factor a matrix that is there; an indefinite one is no kernel."""
    scale = np.abs(gram).max(initial=0.0)
    lower, order, r, _ = dpstrf(gram, lower=1, tol=FACTOR_TOL * scale)
    values = np.empty((len(gram), r))
    values[order - 1] = np.tril(lower)[:, :r]
    # A semidefinite matrix is now explained; the rest of another one is not small.
    probe = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(gram), 8))
    rest = np.abs(gram @ probe - values @ (values.T @ probe)).max(initial=0.0)
    if rest > 1e-8 * scale * len(gram):
        lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
        raise ValueError(
            "the kernel between the training items is not positive semidefinite: its "
            f"matrix has the eigenvalue {lowest:.3g}, so there is no norm to penalize. "
            "Try another kernel, or for a polynomial one coef0 ≥ 0."
        )
    return KernelFactor(values, order[:r] - 1)


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
