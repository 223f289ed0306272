# SPDX-License-Identifier: BSD-3-Clause
"""Linear programs by HiGHS, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiebreak.solvers.linear_program import LinearProgram


@dataclass(frozen=True)
class LPSolution:
    """Result of a linear program.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Primal solution.
    row_dual : ndarray of shape (m,)
        Multipliers of the rows.
    objective : float
        Value reached.
    gap : float
        ``|primal - dual| / max(1, |primal|)``, recomputed from the two solutions.
    status : str
        ``"optimal"``, ``"infeasible"``, ``"unbounded"`` or HiGHS's own words.
    """

    x: np.ndarray
    row_dual: np.ndarray
    objective: float
    gap: float
    status: str


def maximize_lp(
    cost: np.ndarray,
    A: np.ndarray | sp.sparray,
    upper: np.ndarray,
    *,
    lower: np.ndarray | None = None,
    col_lower: np.ndarray,
    col_upper: np.ndarray,
) -> LPSolution:
    """Maximize ``costᵀx`` subject to ``lower ≤ A x ≤ upper`` and bounds on x.

    Parameters
    ----------
    cost : ndarray of shape (n,)
        Objective.
    A : ndarray or sparse array of shape (m, n)
        Rows.
    upper : ndarray of shape (m,)
        Right side.
    lower : ndarray of shape (m,), optional
        Left side; None: there is none.
    col_lower, col_upper : ndarray of shape (n,)
        Bounds on x; infinite where there is none.

    Returns
    -------
    LPSolution
    """
    program = LinearProgram(
        -np.asarray(cost, dtype=np.float64),
        A,
        -np.inf if lower is None else lower,
        upper,
        col_lower=col_lower,
        col_upper=col_upper,
    )
    found = program.solve()
    if found.status != "optimal":
        return LPSolution(found.x, -found.row_dual, np.nan, np.inf, found.status)
    objective = -found.objective
    gap = abs(objective + found.dual_objective) / max(1.0, abs(objective))
    return LPSolution(found.x, -found.row_dual, objective, gap, found.status)
