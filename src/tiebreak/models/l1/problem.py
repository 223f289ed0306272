# SPDX-License-Identifier: BSD-3-Clause
"""The problem of 1-norm ranking: scaled features, slacks, and ``alpha_max``.

Features are centered (if dense) and divided by their largest size, costs by their sum,
and penalties likewise: the same problem in numbers near one.

With a slack per pair ``alpha_max`` is ‖Σ (x_s - x_t)‖_∞. With a slack per item it is
found by climbing: for any weights (gain in slack) / ‖w‖₁ is at most that alpha, and the
solution at one alpha gives the next until no weights are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tiebreak.data import Comparisons, Grades
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.losses import GradeTree
from tiebreak.models.l1.risks import (
    FixedRows,
    GradeClasses,
    GradedPairRisk,
    ItemRisk,
    ListedPairRisk,
    keep_vertices,
    list_ranges,
)
from tiebreak.models.problem import add_up, build_grade_tree, merge_sides
from tiebreak.solvers import LPBundle, SlackRows
from tiebreak.solvers.linear_program import LinearProgram

# Features whose sizes differ by more than this are worth a warning.
_WILD = 1e3


@dataclass(frozen=True, eq=False)
class ScaledDesign:
    """Features as the solver sees them."""

    A: Any  # (n, k), features that are not constant, at most 1 in size
    size: Floats  # (k,), what they were divided by
    columns: Codes  # (k,), where they stand among all features
    n_features: int  # number of all features

    @classmethod
    def read(cls, values: Any) -> ScaledDesign:
        """Scale features; warn if their sizes are far apart."""
        p = values.shape[1]
        if sp.issparse(values):
            low, high = min_max_axis(values, axis=0)
            spread = high - low
            size = np.where(spread > 0.0, np.maximum(-low, high), 0.0)
            columns = np.flatnonzero(size)
            scale = sp.diags_array(1.0 / size[columns])
            A = sp.csr_array(values[:, columns] @ scale)
        else:
            A = values - values.mean(axis=0)
            A[:, np.ptp(values, axis=0) == 0.0] = 0.0
            spread = size = np.abs(A).max(axis=0, initial=0.0)
            columns = np.flatnonzero(size)
            A = np.ascontiguousarray(A[:, columns] / size[columns])
        _warn_of_scale(spread)
        return cls(A, size[columns], columns, p)


def _warn_of_scale(spread: Floats) -> None:
    varying = spread[spread > 0.0]
    if len(varying) and varying.max() > _WILD * varying.min():
        warn_user(
            "Features have very different scales, from "
            f"{varying.min():.2g} to {varying.max():.2g}. Try StandardScaler.",
            DataWarning,
        )


# Up to so many rows the whole problem is solved at once; beyond, so many are written
# down at a time. Measured: both take as long at some 1600 rows.
_WHOLE_ROWS, _ROWS_AT_A_TIME = 1500, 400
_MOST_THRESHOLDS = 100
# Every pair as a row is for comparison with the other forms, not for large data.
_MOST_ROWS = 20_000_000


@dataclass(frozen=True, eq=False)
class L1Solution:
    """A solution in the units of the user."""

    coef: Floats  # (n_features,), weights of the features, exact zeros among them
    objective: float  # value reached
    dual_objective: float  # what no weights can be below
    dual_gradient: Floats  # slope Σ λ (x_s - x_t) of the plane that proves it
    gap: float  # their relative difference
    n_iter: int  # Newton steps and linear programs
    n_rows: tuple[int, int]  # constraints before and after the reduction
    converged: bool  # whether the gap is within the tolerance
    risk: float  # the sum of the slacks


@dataclass(eq=False)
class L1Problem:
    """A problem, and the state of its solver."""

    design: ScaledDesign
    risk: Any
    total: float  # what costs were divided by
    n_rows: tuple[int, int]  # before and after the reduction
    order: Any = None  # rows that keep thresholds in order
    whole: bool = False  # whether all rows are written down at once
    _bundle: LPBundle | None = None

    def solve(
        self,
        alpha: float,
        *,
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
    ) -> L1Solution:
        """Solve for one alpha, from what is known from others."""
        size, columns, total = self.design.size, self.design.columns, self.total
        k = len(size)
        if self._bundle is None:
            n_rows = self.risk.n_rows
            # Planes are dense in the thresholds, and whole problems are sparse.
            dense = self.risk.n_variables - k > _MOST_THRESHOLDS
            wide = isinstance(self.risk, ItemRisk) and 10 * k > n_rows
            whole = self.whole or n_rows <= _WHOLE_ROWS or dense or wide
            at_a_time = max(_ROWS_AT_A_TIME, min(4 * k, 5 * _ROWS_AT_A_TIME))
            max_rows = max(n_rows, 1) if whole else at_a_time
            self._bundle = LPBundle(self.risk, k, self.order, max_rows=max_rows)
        # No slope of the risk is above 1, so that a larger penalty changes nothing.
        with np.errstate(over="ignore", divide="ignore"):
            penalty = np.minimum(alpha / total / size, 10.0)
        solution = self._bundle.minimize(
            penalty, tol=tol, max_iter=max_iter, time_limit=time_limit
        )
        coef, gradient = np.zeros((2, self.design.n_features))
        coef[columns] = solution.x[:k] / size
        gradient[columns] = -total * solution.plane.a[:k] * size
        return L1Solution(
            coef=coef,
            objective=total * solution.value,
            dual_objective=total * solution.lower_bound,
            dual_gradient=gradient,
            gap=solution.gap,
            n_iter=solution.n_iter,
            n_rows=(self.n_rows[0], self.n_rows[1] or solution.n_rows),
            converged=solution.converged,
            risk=total * solution.risk,
        )


# Relative to what all multipliers of one sign would give: below it is zero.
_ZERO = 1e-8


def find_alpha_max(problem: L1Problem) -> float:
    """Find the smallest alpha with zero weights; 0 if every alpha has."""
    k = len(problem.design.size)
    if k == 0:
        return 0.0
    risk = problem.risk
    if not isinstance(risk, ItemRisk | FixedRows):
        slope = risk.expand(np.zeros(k))[1]
        return float(problem.total * np.max(np.abs(slope) * problem.design.size))
    if isinstance(risk, ItemRisk):
        without = _slack_without_weights(_merged(risk), 0, problem.order[:, k:])
    else:
        without = _slack_without_weights(risk.rows, k, None)
    return _climb(problem, problem.total * without)


def _merged(risk: ItemRisk) -> SlackRows:
    """Give the rows of a risk without weights: items of one grade are equal."""
    sides = np.column_stack([risk.below, risk.above])
    kinds, kind = np.unique(sides, axis=0, return_inverse=True)
    cost = np.bincount(kind.ravel(), risk.cost, len(kinds)).astype(np.float64)
    nothing, (below, above) = np.zeros((len(kinds), 0)), kinds.T
    alone = ItemRisk(nothing, below, above, cost, risk.n_thresholds)
    return alone.rows_near(np.zeros(risk.n_thresholds), alone.n_rows)


def _slack_without_weights(
    rows: SlackRows, k: int, order: sp.csr_array | None
) -> float:
    """Give the least sum of slacks with all weights zero."""
    D = rows.D[:, k:]
    f, n_slacks = D.shape[1], len(rows.cost)
    A = sp.hstack([D, rows.S])
    lower = rows.offset
    if order is not None and order.shape[0]:
        A = sp.vstack([A, sp.hstack([order, sp.csr_array((order.shape[0], n_slacks))])])
        lower = np.append(lower, np.zeros(order.shape[0]))
    cost = np.append(np.zeros(f), rows.cost)
    low = np.append(np.full(f, -np.inf), np.zeros(n_slacks))
    return LinearProgram(cost, A, lower, col_lower=low).solve().objective


def _climb(problem: L1Problem, without: float) -> float:
    """Climb from an alpha with weights to the smallest one without."""
    steepest = problem.total * float(problem.design.size.max())
    alpha, solution = 1e-2 * steepest, None
    while alpha > _ZERO * steepest:
        solution = problem.solve(alpha, tol=1e-9)
        if solution.coef.any():
            break
        alpha *= 0.1
    if solution is None or not solution.coef.any():
        return 0.0
    for _ in range(100):
        reached = (without - solution.risk) / float(np.abs(solution.coef).sum())
        if reached <= alpha * (1.0 + 1e-10):
            return max(reached, alpha)
        alpha = reached
        solution = problem.solve(alpha, tol=1e-9)
        if not solution.coef.any():
            break
    return alpha


def graded_l1_problem(model: Any, data: Grades) -> tuple[L1Problem, int]:
    """Make the problem of graded items; count their pairs."""
    tree = build_grade_tree(data)
    weight = data.item_weight if model.slack == "item" else data.weight
    classes = GradeClasses.read(data, weight, tree.rows)
    return _graded(model, classes), tree.n_pairs


def _graded(model: Any, classes: GradeClasses) -> L1Problem:
    before = classes.n_pairs(model.adjacent)
    if model.reduction == "hull":
        classes = keep_vertices(classes)
    design = ScaledDesign.read(classes.table.values)
    if model.slack == "pair":
        return _of_pairs(design, classes, model.reduction, before)
    cost = classes.weight
    if model.slack == "item-weighted":
        cost = cost * classes.partner_weight(model.adjacent)
    total = float(cost.sum())
    if model.reduction == "threshold":
        below, above, n_thresholds, order = classes.thresholds(model.adjacent)
        items = ItemRisk(design.A, below, above, cost / total, n_thresholds)
        k = len(design.size)
        G = sp.csr_array(sp.hstack([sp.csr_array((order.shape[0], k)), order]))
        return L1Problem(design, items, total, (before, items.n_rows + G.shape[0]), G)
    better, worse = _list_pairs(classes, model.adjacent)
    risk = FixedRows(design.A, better, worse, cost / total)
    return L1Problem(design, risk, total, (before, len(better)))


def _of_pairs(
    design: ScaledDesign, classes: GradeClasses, reduction: str | None, before: int
) -> L1Problem:
    tree = GradeTree(classes.grade, classes.group, classes.weight)
    if reduction == "threshold":
        risk = GradedPairRisk(design.A, tree)
        return L1Problem(design, risk, tree.total, (before, 0))
    better, worse = _list_pairs(classes, adjacent=False)
    weight = classes.weight[better] * classes.weight[worse]
    listed = ListedPairRisk(design.A, better, worse, weight / tree.total)
    return L1Problem(design, listed, tree.total, (before, len(better)), whole=True)


def compared_l1_problem(model: Any, data: Comparisons) -> L1Problem:
    """Make the problem of comparisons with a winner."""
    table, left, right = merge_sides(data.pairs)
    better, worse = np.where(data.y > 0, [right, left], [left, right])
    better, worse, row = add_up(better, worse, table.n_items)
    weight = np.bincount(row, data.weight, len(better)).astype(np.float64)
    design = ScaledDesign.read(table.values)
    if model.slack == "pair":
        total = float(weight.sum())
        listed = ListedPairRisk(design.A, better, worse, weight / total)
        return L1Problem(design, listed, total, (len(data), 0))
    used, place = np.unique(np.append(better, worse), return_inverse=True)
    cost = np.ones(len(used))
    if model.slack == "item-weighted":
        cost[:] = np.bincount(place, np.append(weight, weight), len(used))
    total = float(cost.sum())
    in_table = np.zeros(table.n_items)
    in_table[used] = cost / total
    risk = FixedRows(design.A, better, worse, in_table)
    return L1Problem(design, risk, total, (len(data), len(better)))


def _list_pairs(classes: GradeClasses, adjacent: bool) -> tuple[Codes, Codes]:
    """List all pairs of rows of different, or of neighboring, grades."""
    n_pairs = classes.n_pairs(adjacent)
    if n_pairs > _MOST_ROWS:
        raise ValueError(
            f"L1Ranker: {n_pairs:,} pairs are more rows than {_MOST_ROWS:,}. Use "
            "reduction='threshold', which has two rows per item."
        )
    worse, better = list_ranges(*classes.worse_rows(adjacent))
    return better, worse
