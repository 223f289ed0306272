# SPDX-License-Identifier: BSD-3-Clause
"""Linear programs by HiGHS, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp

__all__ = ["LPSolution", "maximize_lp"]


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
    matrix = sp.csr_array(A)
    m, n = matrix.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, m
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = np.asarray(cost, dtype=np.float64)
    lp.col_lower_, lp.col_upper_ = _bounded(col_lower), _bounded(col_upper)
    lower = np.full(m, -np.inf) if lower is None else lower
    lp.row_lower_ = _bounded(lower)
    lp.row_upper_ = _bounded(upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp)
    solver.run()
    status = _STATUS.get(solver.getModelStatus())
    if status is None:
        status = solver.modelStatusToString(solver.getModelStatus())
    solution = solver.getSolution()
    x = np.asarray(solution.col_value)
    row_dual = np.asarray(solution.row_dual)
    if status != "optimal":
        return LPSolution(x, row_dual, np.nan, np.inf, status)
    objective = float(cost @ x)
    reduced = cost - matrix.T @ row_dual
    # A multiplier belongs to the bound it pushes against; without one it is zero.
    ends = np.where(reduced > 0, col_upper, col_lower)
    ends = np.where(np.isfinite(ends), ends, x)
    sides = np.where(row_dual > 0, upper, lower)
    sides = np.where(np.isfinite(sides), sides, matrix @ x)
    dual = float(sides @ row_dual + reduced @ ends)
    gap = abs(objective - dual) / max(1.0, abs(objective))
    return LPSolution(x, row_dual, objective, gap, status)


_STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "unbounded or infeasible",
}


def _bounded(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -highspy.kHighsInf, highspy.kHighsInf).astype(np.float64)
