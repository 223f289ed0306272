# SPDX-License-Identifier: BSD-3-Clause
"""The soft-margin linear program for comparing with ties, with a kernel.

With the distinct training items z_1 … z_N, the utility Σ a_j k(z_j, x) and the
difference d_i of the utilities of comparison i, right minus left, it is

    minimize over a, β   ‖a‖₁ + C Σ w_i ξ_i,    ξ ≥ 0,
    subject to           y_i d_i + β ≥ 1 - ξ_i                for wins and losses,
                         ±d_i + β ≤ -1 + ξ_i, ξ'_i            for ties,

a sum over comparisons, ties counted in both directions: the comparison machine with
the 1-norm of the coefficients in place of ½ aᵀKa. Its dual is solved,

    maximize over s   Σ label_v s_v
    subject to        |Σ_v s_v sign_v (k(z_j, right) - k(z_j, left))| ≤ 1   for all j,
                      Σ s = 0,   s in the box of the quadratic program,

whose multipliers are a and β. A simplex solution has as many a_j ≠ 0 as the optimum
needs, and the others exactly zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.models.pair_program import PairProgram, TrainingItems
from tiebreak.solvers import maximize_lp

__all__ = ["SoftLP", "solve_soft_lp"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftLP:
    """A solution.

    Attributes
    ----------
    item_coef : ndarray of shape (N,)
        a, on the distinct items.
    intercept : float
        β; 0 without ties.
    difference : ndarray of shape (n_rows,)
        Difference of utilities of each row of the program.
    objective : float
        ‖a‖₁ + C Σ w ξ.
    gap : float
        How far that may at most be above the best one, relative to it.
    """

    item_coef: Floats
    intercept: float
    difference: Floats
    objective: float
    gap: float


def solve_soft_lp(program: PairProgram, C: float) -> SoftLP:
    """Solve the program.

    Parameters
    ----------
    program : PairProgram
        Comparisons. Without ties there is no β, and only order is learned.
    C : float
        Cost of a violated margin.

    Returns
    -------
    SoftLP
    """
    balanced = bool(program.tied.any())
    dual = program.compare(C) if balanced else program.order(C, "ignore")
    q = dual.problem
    gram = item_gram(program.items)
    D = gram[program.right] - gram[program.left]
    # The solver takes entries of 1e-9 for zero: rows of size 1 have the same solution.
    size = np.abs(D).max(axis=0, initial=0.0)
    size[size == 0.0] = 1.0
    A = sp.csr_array((D / size).T[:, q.row] * q.sign)
    bound = 1.0 / size
    if balanced:
        A = sp.vstack([A, np.ones((1, A.shape[1]))], format="csr")
        bound = np.append(bound, 0.0)
    lp = maximize_lp(
        q.linear, A, bound, lower=-bound, col_lower=q.lower, col_upper=q.upper
    )
    if lp.status != "optimal":
        raise ValueError(
            f"the linear program ended as {lp.status!r}, which should not happen with "
            "finite features; try scaling them to similar sizes, or another C."
        )
    a = lp.row_dual[: len(size)] / size
    intercept = float(lp.row_dual[-1]) + dual.shift if balanced else 0.0
    difference = D @ a
    label = np.where(q.upper > 0.0, 1.0, -1.0)
    slack = 1.0 - label * (intercept + q.sign * difference[q.row])
    cost = np.maximum(q.upper, -q.lower)
    objective = float(np.abs(a).sum() + cost @ np.maximum(slack, 0.0))
    # In a balanced program Σ s = 0, so that the shift of the labels is nothing.
    reached = max(lp.objective + dual.shift * float(lp.x.sum()), 0.0)
    gap = max(objective - reached, 0.0) / objective if objective > 0.0 else 0.0
    return SoftLP(a, intercept, difference, objective, gap)


def item_gram(items: TrainingItems) -> Floats:
    """Give the kernel between all distinct items, shape (N, N).

    Parameters
    ----------
    items : TrainingItems
        Items and kernel.

    Returns
    -------
    ndarray of shape (N, N)
    """
    if items.gram is not None:
        return items.gram
    assert items.function is not None and items.table is not None
    return np.asarray(items.function.block(items.table.values, items.table.values))
