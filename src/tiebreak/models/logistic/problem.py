# SPDX-License-Identifier: BSD-3-Clause
"""What `LogisticCompare` minimizes: training comparisons, counted, and their design.

If few items express all others, a kernel becomes features: the columns of a thin
factor. Else utilities are u = K a with the kernel K between the distinct items, or
between the comparisons if these are fewer (then u are differences), and the penalty is
α uᵀa. K is then the preconditioner of conjugate gradients: g + 2αa, with g the slope in
u, is the gradient in the norm of the kernel.
"""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsymv

from tiebreak.data import Comparisons
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import row_slices
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.threads import one_blas_thread
from tiebreak.kernels import ItemPairRows, ItemRows, upper_triangle
from tiebreak.kernels.cholesky import refuse_infinite
from tiebreak.losses import (
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.losses.comparison_covariance import HessianFactor
from tiebreak.models.covariates import refuse_empty, refuse_endless
from tiebreak.models.logistic.stream import (
    AVERAGE,
    CURVATURE,
    VALUE,
    WEIGHT,
    new_tie,
    tie_scale,
)
from tiebreak.models.problem import KernelFactor, KernelItems, touched
from tiebreak.solvers import NewtonSolution, minimize_newton
from tiebreak.solvers.evidence import find_mode, log_width_prior

# Below this many distinct items their factor is cheap, and above this many items and
# comparisons their kernel is not formed.
_FEW_ITEMS, _LARGEST_KERNEL = 256, 10_000
# A factor with more columns, relative to the kernel, costs more than products with it.
_THIN = 8
# Its error, relative to the largest entry, follows from tol between these bounds.
_TIGHTEST, _LOOSEST = 1e-11, 1e-6
# Penalty where none is given and none is learned.
UNLEARNED = 1.0
# Coefficients; with more, |H| is that of its diagonal.
_LARGEST_DETERMINANT = 2000


class KernelObjective:
    """The objective at x = (u, a, effects, t), or without t, along u = K a.

    The differences are D u, of which the rows of the kernel are the units.
    """

    def __init__(
        self,
        rows: ItemRows | ItemPairRows,
        left: Codes,
        right: Codes,
        covariates: Floats,
        link: OutcomeLink,
        counts: Floats,
        alpha: float,
        tie: float | None,
    ) -> None:
        self.rows, self.left, self.right = rows, left, right
        self.others = CovariateDesign(covariates)
        self.link, self.counts, self.alpha, self.tie = link, counts, alpha, tie
        self.n, q = rows.n_rows, covariates.shape[1]
        self.n_coef = self.n + q
        self.n_variables = self.n + self.n_coef + (tie is None)
        m = len(left)
        if isinstance(rows, ItemPairRows):
            self._D: Any = sp.eye_array(m, format="csr")
        else:
            self._D = ItemDesign(left, right, self.n).matrix()

    def prepare(self) -> None:
        """Compute K; only solving needs it, and keeping it would take memory."""
        with np.errstate(over="ignore", invalid="ignore"):
            self.K = upper_triangle(self.n, self.rows.between)
            # Where K is singular, rounding would decide the sign of its squares.
            rounding = self.n * np.finfo(np.float64).eps * self.K.diagonal().max()
            self.K.flat[:: self.n + 1] += rounding
            if not np.isfinite(self._times(np.ones(self.n))).all():
                refuse_infinite()

    def _times(self, a: Floats) -> Floats:
        return np.asarray(dsymv(1.0, self.K.T, a, lower=1))

    def split(self, x: Floats) -> tuple[Floats, float]:
        """Give (a, effects) and t."""
        end = self.n + self.n_coef
        return x[self.n : end], float(x[-1]) if self.tie is None else self.tie

    def _differences(self, x: Floats) -> Floats:
        end = self.n + self.n_coef
        return self._D @ x[: self.n] + self.others.apply(x[2 * self.n : end])

    def _penalty(self, x: Floats) -> float:
        return self.alpha * float(x[: self.n] @ x[self.n : 2 * self.n])

    def value(self, x: Floats) -> float:
        """Give f(x); infinite outside its domain."""
        t = self.split(x)[1]
        return self.link.value(self._differences(x), t, self.counts) + self._penalty(x)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient at x, and keep x for the Hessian."""
        t = self.split(x)[1]
        self.local = self.link.expand(self._differences(x), t, self.counts)
        slope = self._back(x, self.local.gradient, self.local.tie_gradient)
        return self.local.value + self._penalty(x), slope

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""
        local, change = self.local, self._differences(v)
        t = v[-1] if self.tie is None else 0.0
        in_t = float(local.cross @ change) + local.tie_curvature * t
        return self._back(v, local.curvature * change + t * local.cross, in_t)

    def _back(self, x: Floats, in_d: Floats, in_t: float) -> Floats:
        """Add the penalty's part at x to slopes in d and t; none is in a."""
        n, out = self.n, np.zeros(self.n_variables)
        out[:n] = self._D.T @ in_d + 2.0 * self.alpha * x[n : 2 * n]
        out[2 * n : n + self.n_coef] = self.others.back(in_d)
        if self.tie is None:
            out[-1] = in_t
        return out

    def precondition(self) -> Any:
        """Return r to M⁻¹ r, with the kernel as M⁻¹."""
        n, local = self.n, self.local
        others = self.others.diagonal(local.curvature)
        if self.tie is None:
            others = np.append(others, local.tie_curvature)
        scale = 1.0 / np.maximum(others, np.finfo(np.float64).tiny)

        def solve(r: Floats) -> Floats:
            a = r[:n] / (2.0 * self.alpha)
            return np.concatenate([self._times(a), a, scale * r[2 * n :]])

        return solve


class LogisticProblem:
    """Training comparisons, counted, and the objective over their utilities.

    Coefficients are those of features (or of the kernel's factor, or items), then with
    ``identity`` one deviation per item, then the effects of covariates.
    """

    def __init__(
        self, model: Any, data: Comparisons, covariates: Floats, effects: list[str]
    ) -> None:
        self.learns = model.alpha == "auto"
        alpha = UNLEARNED if self.learns else float(model.alpha)
        identity, link = model.identity, model._link
        self.data, self.alpha, self.effects, self.link = data, alpha, effects, link
        pairs, outcome, weight = data.pairs, data.y, data.weight
        rows, place = touched(np.append(pairs.left, pairs.right), pairs.n_items)
        n, self.names = len(rows), None if pairs.names is None else pairs.names[rows]
        if pairs.has_features:
            items, code = KernelItems.merge(model, pairs.table, rows)
        else:
            items = KernelItems.merge_pairs(model, pairs.compact())[0]
            code = np.arange(n)
        self.items, self.code = items, code  # the distinct item of each item
        unit = code if identity is None else np.arange(n)
        left, right = np.split(unit[place], 2)
        n_units = int(unit.max()) + 1
        cells = count_comparisons(left, right, outcome, weight, n_units, covariates)
        self.left, self.right, self.counts = cells.left, cells.right, cells.counts
        self.totals = self.counts.sum(axis=0)  # (3,), weights of left, tie and right
        # The tie parameter is fixed where its best value is at the end of its range.
        fixed_tie = None if self.totals[1] else link.start(0.0)
        if self.only_ties:
            fixed_tie = math.inf
        self.factor: KernelFactor | None = None
        if effects:
            refuse_empty(cells)
            if not self.only_ties:
                refuse_endless(cells, n_units, True, effects, "or add comparisons.")
        if identity is None and self._by_products(model):
            units: ItemRows | ItemPairRows = ItemRows(items.kernel)
            if len(self.left) < units.n_rows:
                units = ItemPairRows(items.kernel, self.left, self.right)
            Z = cells.covariates[:, : len(effects)]
            self.objective: ComparisonObjective | KernelObjective = KernelObjective(
                units, self.left, self.right, Z, link, self.counts, alpha, fixed_tie
            )
            self.n_features = units.n_rows
            return
        if not items.is_linear and self.factor is None:
            self.factor = items.factor
        # Deviations belong to items, of which several may be one distinct item.
        design: Design = self._features(None if identity is None else self.code)
        self.n_features = design.n_coef
        penalty = np.full(self.n_features, alpha)
        if identity is not None:
            design = JointDesign(design, ItemDesign(self.left, self.right, n))
            penalty = np.append(penalty, np.full(n, float(identity)))
        if effects:
            design = JointDesign(design, CovariateDesign(cells.covariates))
            penalty = np.append(penalty, np.zeros(len(effects)))
        self.objective = ComparisonObjective(
            design, link, self.counts, penalty, tie=fixed_tie
        )

    def _by_products(self, model: Any) -> bool:
        """Whether products with the kernel are cheaper than its factor."""
        items = self.items
        if items.is_linear or items.gram is not None or items.n_items <= _FEW_ITEMS:
            return False
        smaller = min(items.n_items, len(self.left))
        # Without a theorem only a factor says that the kernel has a norm.
        if not items.function.is_definite or smaller > _LARGEST_KERNEL:
            return False
        # Errors ε of the kernel change utilities by up to ε Σs / α; that is to be tol.
        error = float(model.tol * self.alpha / self.totals.sum())
        error = max(min(error, _LOOSEST), _TIGHTEST)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            self.factor = items.thin_factor(max(smaller // _THIN, 32), error)
        return self.factor is None

    def _features(self, code: Codes | None) -> Design:
        if self.factor is not None:
            values = self.factor.values
        elif self.items.table is not None:
            values = self.items.table.values
        else:
            return ItemDesign(self.left, self.right, self.items.n_items)
        values = values if code is None else values[code]
        if len(self.left) < values.shape[0]:
            # Fewer comparisons than items: their differences are the smaller table.
            return CovariateDesign(values[self.left] - values[self.right])
        return FeatureDesign(values, self.left, self.right)

    @property
    def only_ties(self) -> bool:
        """Whether no comparison was decided."""
        return bool(self.totals[1] == self.totals.sum())

    def solve(self, tol: float, max_iter: int) -> tuple[NewtonSolution, Floats, float]:
        """Return the solution, its coefficients and its tie parameter t."""
        start = np.zeros(self.objective.n_variables)
        if self.only_ties:
            return NewtonSolution(start, 0.0, 0.0, 0, True), start, math.inf
        if self.objective.tie is None:
            start[-1] = self.link.start(float(self.totals[1] / self.totals.sum()))
        # At least one step: under a large penalty the utilities are tiny, and yet they
        # have an order, which the loss does not notice.
        objective: Any = self.objective  # it has a dense Hessian, or a preconditioner
        options: dict[str, Any] = {}
        with one_blas_thread():  # see data.threads: more only wait
            if isinstance(objective, KernelObjective):
                objective.prepare()
                options = {"dense": False, "precondition": objective.precondition}
            elif self.learns and self.items.is_linear:
                start = self._learn(objective, start, tol, max_iter)
            solution = minimize_newton(
                objective, start, tol=tol, max_iter=max_iter, min_iter=1, **options
            )
            if isinstance(objective, KernelObjective):
                del objective.K
            elif self.factor is not None and self.factor.rest:
                solution = self._outside(objective, solution, self.factor.rest)
        return (solution, *objective.split(solution.x))

    def _learn(
        self, objective: ComparisonObjective, start: Floats, tol: float, max_iter: int
    ) -> Floats:
        """Set α to the one of the largest evidence, and give the minimum with it.

        τ² = 1/(2α) is measured in 2 over the mean square of the differences of two
        items, so that the unit of features does not matter and items have τ itself.
        """
        p, amount = self.n_features, self.counts.sum(axis=1)
        size = float(objective.design.diagonal(amount)[:p].sum() / amount.sum())
        if size == 0.0:
            return start
        fits = {0.0: start}

        def set_width(s: float) -> None:
            objective.alpha[:p] = self.alpha = 0.25 * size * math.exp(-2.0 * s)

        @cache
        def evidence(s: float) -> float:
            set_width(s)
            near = fits[min(fits, key=lambda other: abs(other - s))]
            found = minimize_newton(objective, near, tol=tol, max_iter=max_iter)
            fits[s] = found.x
            objective.expand(found.x)
            if len(found.x) > _LARGEST_DETERMINANT:
                log_determinant = np.log(objective.hessian_diagonal()).sum()
            else:
                log_determinant = HessianFactor(objective).log_determinant
            terms = -found.value - p * s - 0.5 * float(log_determinant)
            return terms + log_width_prior(s)

        mode = find_mode(evidence, 0.0)[0]
        set_width(mode)
        return fits[mode]

    def _outside(
        self, objective: ComparisonObjective, solution: NewtonSolution, rest: float
    ) -> NewtonSolution:
        """Add to the gap what a kernel without its factor's error E might gain."""
        # f is 2α-strongly convex in w, and its slope outside of the factor has the
        # square cᵀEc ≤ ‖c‖² trace(E), with c the slopes in the utilities of items.
        ends = self.left, self.right
        if objective.n_coef - len(self.effects) > self.n_features:  # with deviations
            ends = self.code[self.left], self.code[self.right]
        c = ItemDesign(*ends, self.items.n_items).back(objective.local.gradient)
        gain = float(c @ c) * rest / (4.0 * self.alpha)
        return replace(solution, gap=solution.gap + gain / solution.value)

    def item_coef(self, coef: Floats) -> tuple[Floats, Codes]:
        """Give the coefficients of distinct items in a kernel utility, and which."""
        if self.factor is not None:
            return self.factor.item_coef(coef), self.factor.pivots
        assert isinstance(self.objective, KernelObjective)
        on_items = self.objective.rows.item_coef(coef)
        return on_items, np.arange(len(on_items))

    def stream(self, coef: Floats, t: float) -> Floats:
        """State from which a stream of comparisons goes on, shape (4, n_coef + 1)."""
        assert isinstance(self.objective, ComparisonObjective)
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
            scale = tie_scale(self.link.cumulative, t)
            curvature = self.objective.local.tie_curvature * scale
            state[:, -1] = t, t, curvature, self.totals.sum()
        return state

    def _touching(self) -> Floats:
        """Weight of the comparisons that involve each coefficient."""
        # Comparisons of two items that both have a feature are counted for it, even
        # where it cancels, but never more than there are.
        n, amount = int(self.right.max()) + 1, self.counts.sum(axis=1)
        met: Floats = np.bincount(self.left, amount, n).astype(np.float64)
        met += np.bincount(self.right, amount, n)
        table = self.items.table
        if table is None:
            return met
        has_deviations = self.objective.n_coef > self.n_features
        per_item: Any = np.bincount(self.code, met) if has_deviations else met
        values, present = table.values, np.zeros(table.n_features)
        for rows in row_slices(
            table.n_items, values.shape[0] if table.is_sparse else 64
        ):
            present += per_item[rows] @ (values[rows] != 0)
        of_features = np.minimum(present, self.totals.sum())
        return np.append(of_features, met if has_deviations else [])
