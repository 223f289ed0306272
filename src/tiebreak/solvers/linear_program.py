# SPDX-License-Identifier: BSD-3-Clause
r"""Linear programs that are solved again and again, in one HiGHS object.

    minimize cost·x   subject to   lower ≤ A x ≤ upper,   bounds on x.

Changed costs keep a basis primal feasible, added rows or changed bounds dual feasible,
so the next solution starts where the last one ended.

For :mod:`tiebreak.solvers.l1_bundle` parts of R are rows with slacks s ≥ 0,

    R(x) ≥ a·x + b + min { cost·s : S s + D x ≥ offset, s ≥ 0 }   for all x.

Multipliers λ ≥ 0 with Sᵀλ ≤ cost make one plane of the rows, and a plane R(x) ≥ a·x + b
with |a_j| ≤ p_j and no slope along the other variables proves a minimum of at least b.
"""

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from tiebreak.data.arrays import Floats
from tiebreak.solvers.certificate import relative_gap

# The smallest that HiGHS takes; its default of 1e-7 would be seen in objectives.
_FEASIBILITY = 1e-10
_SIMPLEX = {"choose": 0, "dual": 1, "primal": 4}
_Status = highspy.HighsModelStatus
_ENDED = {
    _Status.kOptimal: "optimal", _Status.kInfeasible: "infeasible",
    _Status.kUnbounded: "unbounded", _Status.kTimeLimit: "time limit",
    _Status.kUnboundedOrInfeasible: "unbounded or infeasible",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """Where the solver stopped."""

    # (n,): Primal point. A variable that rests on a bound has exactly that value.
    x: Floats
    # (m,): Multipliers of the rows: not negative where a lower side holds.
    row_dual: Floats
    objective: float  # cost·x
    # By which the multipliers prove that no point is below, over max(1, |objective|).
    gap: float
    # ``"optimal"``, ``"time limit"``, ``"infeasible"``, ``"unbounded"`` or HiGHS's own
    # words.
    status: str
    n_iter: int  # Simplex iterations


class LinearProgram:
    """A linear program and where it was last solved."""

    def __init__(
        self,
        cost: ArrayLike,
        A: Any,
        lower: ArrayLike,
        upper: ArrayLike = np.inf,
        *,
        col_lower: ArrayLike = 0.0,
        col_upper: ArrayLike = np.inf,
    ) -> None:
        matrix = sp.csr_array(A)
        m, n = matrix.shape
        self.n_rows, self.n_columns = m, n
        self._cost = np.array(cost, dtype=np.float64)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, m
        lp.col_cost_ = self._cost
        self._sides = [_side(lower, m), _side(upper, m)]
        self._bounds = [_side(col_lower, n), _side(col_upper, n)]
        lp.col_lower_, lp.col_upper_ = self._bounds
        lp.row_lower_, lp.row_upper_ = self._sides
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = _finite(matrix.data)
        self._solver = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "solver": "simplex",  # ends at a vertex
            "primal_feasibility_tolerance": _FEASIBILITY,
            "dual_feasibility_tolerance": _FEASIBILITY,
            "small_matrix_value": 1e-12,
        }
        for name, value in options.items():
            self._solver.setOptionValue(name, value)
        self._solver.passModel(lp)

    def change_costs(self, cost: ArrayLike, columns: ArrayLike | None = None) -> None:
        """Change the objective; the last basis stays primal feasible."""
        which = np.arange(self.n_columns) if columns is None else np.asarray(columns)
        values = np.asarray(cost, dtype=np.float64)
        self._cost[which] = values
        self._solver.changeColsCost(len(which), which.astype(np.int32), values)

    def change_bounds(
        self, lower: ArrayLike, upper: ArrayLike, columns: ArrayLike
    ) -> None:
        """Change bounds on variables; the last basis stays dual feasible."""
        which = np.asarray(columns)
        low, high = _side(lower, len(which)), _side(upper, len(which))
        self._bounds[0][which], self._bounds[1][which] = low, high
        self._solver.changeColsBounds(len(which), which.astype(np.int32), low, high)

    def add_rows(self, A: Any, lower: ArrayLike, upper: ArrayLike = np.inf) -> None:
        """Add rows; the last basis stays dual feasible."""
        matrix = sp.csr_array(A)
        k = matrix.shape[0]
        low, high = _side(lower, k), _side(upper, k)
        self._sides[0] = np.append(self._sides[0], low)
        self._sides[1] = np.append(self._sides[1], high)
        starts, which = matrix.indptr[:-1].astype(np.int32), matrix.indices
        values = _finite(matrix.data)
        rows = starts, which.astype(np.int32), values
        self._solver.addRows(k, low, high, matrix.nnz, *rows)
        self.n_rows += k

    def add_row(self, values: Floats, columns: ArrayLike, lower: float) -> None:
        """Add one row with a lower side."""
        entries = values, np.asarray(columns), [0, len(values)]
        self.add_rows(sp.csr_array(entries, shape=(1, self.n_columns)), lower)

    def solve(
        self, method: str = "choose", time_limit: float | None = None
    ) -> ProgramSolution:
        """Solve, from the last basis if there is one."""
        solver = self._solver
        solver.setOptionValue("simplex_strategy", _SIMPLEX[method])
        # HiGHS counts the seconds of all calls of one object.
        limit = np.inf if time_limit is None else solver.getRunTime() + time_limit
        solver.setOptionValue("time_limit", limit)
        solver.run()
        ended = solver.getModelStatus()
        status = _ENDED.get(ended) or solver.modelStatusToString(ended)
        solution = solver.getSolution()
        x = np.array(solution.col_value)
        if len(x) != self.n_columns or not np.isfinite(x).all():
            x = np.zeros(self.n_columns)
        row_dual, col_dual = np.array(solution.row_dual), np.array(solution.col_dual)
        objective = float(self._cost @ x)
        bound = -np.inf
        if len(row_dual) == self.n_rows and status == "optimal":
            bound = _pushed(row_dual, self._sides, np.array(solution.row_value))
            bound += _pushed(col_dual, self._bounds, x)
        gap = relative_gap(objective - bound, max(abs(objective), 1.0))
        n_iter = int(solver.getInfo().simplex_iteration_count)
        return ProgramSolution(x, row_dual, objective, gap, status, n_iter)


def _finite(entries: Floats) -> Floats:
    """Refuse what is not finite: HiGHS crashes on it."""
    if not np.isfinite(entries).all():
        raise ValueError(
            "The linear program overflows: a product or a difference of features is "
            "beyond what floating-point numbers can hold. Scale the features first, "
            "for example with StandardScaler."
        )
    return entries.astype(np.float64)


def _side(values: ArrayLike, n: int) -> Floats:
    limit = highspy.kHighsInf
    return np.clip(np.broadcast_to(values, n), -limit, limit).astype(np.float64)


def _pushed(dual: Floats, sides: list[Floats], value: Floats) -> float:
    """Sum the multipliers times the sides that they push against."""
    # One that rounding left without a side multiplies what the row has.
    side = np.where(dual > 0, sides[0], sides[1])
    return float(dual @ np.where(np.isfinite(side), side, value))


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function a·x + b that is nowhere above R."""

    a: Floats  # (q,): Slope
    b: float  # Value at zero


@dataclass(frozen=True, eq=False)
class SlackRows:
    """Part of R as rows with slacks, the rest as a plane."""

    D: Any  # (m, q): Rows over x
    S: Any  # (m, n_slacks): Rows over the slacks; not negative
    offset: Floats  # (m,): Right sides
    cost: Floats  # (n_slacks,): Costs of the slacks, above 0
    rest: Plane | None = None  # What is not in the rows. None: the rows are all of R

    def admit(self, multiplier: Floats, share: float = 1.0) -> Floats:
        """Make multipliers admissible: λ ≥ 0 and Sᵀλ ≤ share · cost."""
        kept = np.maximum(multiplier, 0.0)
        used = self.S.T @ kept
        allowed = share * self.cost
        over = used > allowed
        if over.any():
            factor = np.ones(len(used))
            factor[over] = allowed[over] / used[over]
            # A row with several slacks obeys the tightest of them.
            rows = sp.csr_array(self.S)
            smallest = np.minimum.reduceat(factor[rows.indices], rows.indptr[:-1])
            kept *= smallest
        return kept

    def plane(self, multiplier: Floats, share: float = 1.0) -> Plane:
        """Combine rows and rest to one plane below share · R."""
        a, b = -(self.D.T @ multiplier), float(multiplier @ self.offset)
        if self.rest is not None:
            a, b = a + share * self.rest.a, b + share * self.rest.b
        return Plane(np.asarray(a), b)


def lower_bound(
    plane: Plane, penalty: Floats, G: Any, order: Floats, reach: float
) -> tuple[float, Plane]:
    """Give what a plane below R proves of the minimum."""
    k = len(penalty)
    a = plane.a - G.T @ np.maximum(order, 0.0)
    steepest = np.abs(a[:k])
    scale = 1.0
    over = (steepest > penalty) & (penalty > 0.0)
    if over.any():
        # A smaller share of the plane is a plane below R too.
        scale = float(np.min(penalty[over] / steepest[over]))
    without = np.append(steepest[penalty == 0.0], np.abs(a[k:]))
    b = plane.b - reach * float(without.sum())
    return max(0.0, scale * b), Plane(scale * a, scale * b)
