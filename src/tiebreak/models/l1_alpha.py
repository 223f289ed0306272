# SPDX-License-Identifier: BSD-3-Clause
"""The smallest alpha that drops every feature.

Zero weights are best when no direction gains more slack than it costs, that is when
some optimal multipliers λ of the program without weights have ‖Σ λ (x_s - x_t)‖_∞ ≤
alpha. With a slack per pair there is only one λ, all ones. With a slack per item there
are many, and the best is found by a linear program, or, where that would be large, by
climbing: for any weights (gain in slack) / ‖w‖₁ is at most that alpha, and the
solution at one alpha gives the next until it has no weights left.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tiebreak.models.l1_program import L1Program
from tiebreak.models.l1_risks import FixedRows, ItemRisk
from tiebreak.solvers.linear_program import LinearProgram
from tiebreak.solvers.slack_rows import SlackRows

__all__ = ["find_alpha_max"]

# Up to so many rows the linear program is quick.
_MOST_ROWS = 3000
# Relative to what all multipliers of one sign would give: below it is zero.
_ZERO = 1e-8


def find_alpha_max(program: L1Program) -> float:
    """Find the smallest alpha for which all weights are zero.

    Parameters
    ----------
    program : L1Program
        The program.

    Returns
    -------
    float
        0 if slacks pay for everything whatever alpha is.
    """
    size, k = program.design.size, program.n_weights
    if k == 0:
        return 0.0
    risk = program.risk
    if not isinstance(risk, ItemRisk | FixedRows):
        slope = risk.expand(np.zeros(k))[1]
        return float(program.total * np.max(np.abs(slope) * size))
    if isinstance(risk, ItemRisk):
        without = _slack_without_weights(_merged(risk), 0, program.order[:, k:])
        if risk.n_rows > _MOST_ROWS:
            return _climb(program, program.total * without)
        rows = risk.rows_near(np.zeros(risk.n_variables), risk.n_rows)
    else:
        rows = risk.rows
        without = _slack_without_weights(rows, k, None)
    return program.total * _by_program(rows, size, program.order, without)


def _merged(risk: ItemRisk) -> SlackRows:
    """Give the rows of a risk without weights: items of one grade are alike."""
    sides = np.column_stack([risk.below, risk.above])
    kinds, kind = np.unique(sides, axis=0, return_inverse=True)
    cost = np.bincount(kind.ravel(), risk.cost, len(kinds)).astype(np.float64)
    alone = ItemRisk(
        np.zeros((len(kinds), 0)),
        kinds[:, 0],
        kinds[:, 1],
        cost,
        risk.n_thresholds,
        1.0,
    )
    return alone.rows_near(np.zeros(risk.n_thresholds), alone.n_rows)


def _slack_without_weights(
    rows: SlackRows, k: int, order: sp.csr_array | None
) -> float:
    """Solve the program with all weights zero."""
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


def _by_program(
    rows: SlackRows, size: np.ndarray, order: sp.csr_array | None, without: float
) -> float:
    """Minimize the largest slope over the optimal multipliers.

    Variables are the multipliers of rows, those of the order, and the largest slope.
    """
    k, m = len(size), rows.D.shape[0]
    G = sp.csr_array((0, rows.D.shape[1])) if order is None else order
    r, f, n_slacks = G.shape[0], rows.D.shape[1] - k, len(rows.cost)
    relative = size / size.max()
    slope = sp.diags_array(relative) @ rows.D[:, :k].T
    to_order = sp.csr_array((k, r))
    edge = -np.ones((k, 1))
    A = sp.vstack(
        [
            sp.hstack([slope, to_order, edge]),
            sp.hstack([-slope, to_order, edge]),
            sp.hstack([rows.D[:, k:].T, G[:, k:].T, sp.csr_array((f, 1))]),
            sp.hstack([rows.S.T, sp.csr_array((n_slacks, r + 1))]),
            sp.hstack([rows.offset[None, :], sp.csr_array((1, r + 1))]),
        ]
    )
    free, none = np.full(2 * k, -np.inf), np.zeros(f)
    lower = np.concatenate([free, none, np.full(n_slacks, -np.inf), [without]])
    upper = np.concatenate([np.zeros(2 * k), none, rows.cost, [np.inf]])
    cost = np.append(np.zeros(m + r), 1.0)
    steepest = LinearProgram(cost, A, lower, upper).solve().objective
    return float(steepest * size.max()) if steepest > _ZERO else 0.0


def _climb(program: L1Program, without: float) -> float:
    """Climb from an alpha with weights to the smallest one without."""
    steepest = program.total * float(program.design.size.max())
    alpha, found = 1e-2 * steepest, None
    while alpha > _ZERO * steepest:
        found = program.solve(alpha, tol=1e-9)
        if found.coef.any():
            break
        alpha *= 0.1
    if found is None or not found.coef.any():
        return 0.0
    for _ in range(100):
        reached = (without - found.risk) / float(np.abs(found.coef).sum())
        if reached <= alpha * (1.0 + 1e-10):
            return max(reached, alpha)
        alpha = reached
        found = program.solve(alpha, tol=1e-9)
        if not found.coef.any():
            break
    return alpha
