# SPDX-License-Identifier: BSD-3-Clause
r"""A bundle method whose model of the function is a linear program.

.. math:: \min_x\; \sum_{j<k} p_j |x_j| + R(x) \quad\text{with}\quad G x ≥ 0,

R ≥ 0 convex and piecewise linear, with far too many pieces to list. Every subgradient
is a plane below R, and the minimum of the planes, a linear program, is a lower bound.
Its solution is a vertex, so unneeded variables are exactly 0.

Up to `max_rows` terms of R with kinks close to the best point become rows with slacks,
and the sum of the others a plane: the model is exact around that point. It is minimized
in a box that grows where that helped. Planes and rows serve every penalty.

With many terms R is nearly smooth, and planes are slow. So Newton steps first minimize
the terms rounded off over a width that is narrowed, whose slopes are planes below R,
until too few terms bend within the width.
"""

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.solvers.certificate import relative_gap
from tiebreak.solvers.linear_program import LinearProgram, Plane, SlackRows, lower_bound

# Iterations with planes alone before terms are written down, and between two times.
_WARM_UP, _PATIENCE = 4, 4
# A step in the box is good if it takes this share of what the model promised.
_GOOD, _POOR = 0.5, 0.1
# Planes that no solution of the model rested on for so many iterations are dropped.
_IDLE = 40
# Costs are multiplied by this at most.
_MOST_UNITS = 1e9
# Terms are rounded off over this width of their slack first, and at the end over no
# less than this one, where rounding errors begin to tell.
_WIDTH, _NARROW = 0.5, 1e-5
# Newton steps of one width, and those in a row that do not halve the error of slopes.
_MOST_STEPS, _STALLED = 50, 6
# A smaller gap, relative to the value, cannot be told from rounding.
_ROUNDING = 1e-13


class PiecewiseRisk(Protocol):
    """R as the solver needs it; entries of its design are at most 1 in size."""

    @property
    def n_variables(self) -> int:
        """Number of variables q."""

    @property
    def n_rows(self) -> int:
        """Number of rows that all terms make."""

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give R and a subgradient at x."""

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Give about so many terms whose kinks are closest to x."""

    # A risk may have ``smoothed(width)``: the same with its kinks rounded off, as a
    # `RoundedRisk`.


class RoundedRisk(Protocol):
    """A risk with rounded kinks; nowhere below the risk itself."""

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give value and gradient at x, the point of plane and curvature."""

    def plane(self) -> Plane:
        """Give a plane below the risk, with the gradient as its slope."""

    def hessian(self, columns: Codes) -> Floats:
        """Give the second derivatives by these variables."""


@dataclass(frozen=True, eq=False)
class LPBundleSolution:
    """Where the solver stopped."""

    x: Floats  # (q,): The best point
    value: float  # Objective there
    risk: float  # R there
    lower_bound: float  # What no point can be below
    gap: float  # (value - lower_bound) / value
    n_iter: int  # Newton steps and models that were solved
    n_rows: int  # Rows of the last linear program, 0 if none was needed
    converged: bool  # Whether the gap is within the tolerance
    status: str  # ``"optimal"``, ``"time limit"`` or ``"iterations"``
    # The plane that proves the bound: nowhere above R, and its slope is nowhere above
    # the penalty.
    plane: Plane


@dataclass(eq=False)
class _Cut:
    """A plane, and for how long it was idle."""

    plane: Plane
    idle: int = 0


class LPBundle:
    """Planes and rows of R, and their linear program."""

    def __init__(
        self, risk: PiecewiseRisk, n_penalized: int, G: Any = None, max_rows: int = 3000
    ) -> None:
        self.risk, self.k, self.q = risk, n_penalized, risk.n_variables
        self.G = sp.csr_array((0, self.q)) if G is None else sp.csr_array(G)
        self.max_rows = max_rows
        self.cuts: list[_Cut] = []
        self.rows: SlackRows | None = None
        self._lp: LinearProgram | None = None
        zero = np.zeros(self.q)
        value, slope = risk.expand(zero)
        self.at_zero = value
        self.best, self.best_risk = zero, value
        self._width = _WIDTH
        self._learn(zero, value, slope)

    def minimize(
        self,
        penalty: Floats,
        *,
        tol: float,
        max_iter: int = 1000,
        time_limit: float | None = None,
    ) -> LPBundleSolution:
        """Minimize for one penalty, from what is known of R."""
        end = np.inf if time_limit is None else time.monotonic() + time_limit
        self._penalty = np.asarray(penalty, dtype=np.float64)
        best = self._value(self.best, self.best_risk)
        if best > self.at_zero:
            self.best = np.zeros(self.q)
            best = self.best_risk = self.at_zero
        bound, proof, n_iter = self._approach(tol, max_iter, end)
        best = self._value(self.best, self.best_risk)
        status = "iterations" if n_iter >= max_iter else ""
        if best - bound <= tol * best:
            status = "optimal"
        if status:
            pass
        elif self._lp is None:
            fits = self.risk.n_rows <= self.max_rows
            rows = self.risk.rows_near(self.best, self.max_rows) if fits else None
            self._rebuild(rows)
        else:
            self._lp.change_costs(self._costs())
            self._method = "primal"
        moves, failures = 0, 0
        radius = np.inf if self._complete else max(1.0, np.abs(self.best).max())
        while not status:
            n_iter += 1
            x, model_value, ended = self._solve_model(radius, end)
            found, plane = self._prove()
            if found > bound:
                bound, proof = found, plane
            moved_by = float(np.abs(x - self.best).max(initial=0.0))
            risk = self._visit(x, model_value, ended)
            promised, value = best - model_value, self._value(x, risk)
            fell = best - value
            close = value - bound <= max(tol, _ROUNDING) * value
            if close or fell > 0.0:
                self.best, self.best_risk, best = x, risk, value
                moves += 1
            if close:
                status = "optimal"
            elif ended != "optimal" or time.monotonic() > end:
                status = "time limit"
            elif n_iter >= max_iter or self._complete:
                status = "iterations"
            elif promised <= 0.5 * tol * best:
                # Nothing better is in the box, so that only the bound is missing.
                radius *= 10.0
            elif fell < _POOR * promised:
                radius = 0.5 * min(radius, moved_by)
                failures += 1
            elif fell >= _GOOD * promised and moved_by >= 0.9 * radius:
                radius *= 2.0
            if status or n_iter < _WARM_UP:
                continue
            if moves >= _PATIENCE or (moves and failures >= _PATIENCE):
                self._rebuild(self.risk.rows_near(self.best, self.max_rows))
                moves = failures = 0
        gap = relative_gap(best - bound, best)
        return LPBundleSolution(
            x=self.best,
            value=best,
            risk=self.best_risk,
            lower_bound=bound,
            gap=float(gap),
            n_iter=n_iter,
            n_rows=0 if self._lp is None else self._lp.n_rows,
            status=status,
            converged=bool(gap <= max(tol, _ROUNDING)),
            plane=proof,
        )

    def _approach(
        self, tol: float, max_iter: int, end: float
    ) -> tuple[float, Plane, int]:
        """Go close to the minimum by Newton steps on R rounded off, less and less.

        The slopes of the rounded R are learned as planes. Returns the best bound, its
        plane and the steps.
        """
        bound, proof, n_steps = -1.0, Plane(np.zeros(self.q), 0.0), 0
        few_terms = self.risk.n_rows <= self.max_rows
        if few_terms or self.k < self.q or not hasattr(self.risk, "smoothed"):
            return bound, proof, n_steps
        x = self.best
        while True:
            smooth = self.risk.smoothed(self._width)
            most = min(_MOST_STEPS, max_iter - n_steps)
            x, steps, few = _minimize_smooth(
                smooth, x, self._penalty, 0.1 * tol, most, end
            )
            n_steps += steps
            plane = smooth.plane()
            self._add(plane)
            found, plane = self._bound_of(plane, np.zeros(0))
            if found > bound:
                bound, proof = found, plane
            risk = self.risk.expand(x)[0]
            value, best = self._value(x, risk), self._value(self.best, self.best_risk)
            if value < best:
                self.best, self.best_risk, best = x, risk, value
            done = best - bound <= tol * best
            late = n_steps >= max_iter or time.monotonic() > end
            if done or few or late or self._width < _NARROW:
                self._width = min(_WIDTH, 16.0 * self._width)
                return bound, proof, n_steps
            self._width *= 0.25

    def _value(self, x: Floats, risk: float) -> float:
        return float(self._penalty @ np.abs(x[: self.k])) + risk

    def _visit(self, x: Floats, model_value: float, ended: str) -> float:
        """Evaluate R at x and learn a plane there."""
        if self._complete and ended == "optimal":
            return model_value - self._value(x, 0.0)
        risk, slope = self.risk.expand(x)
        self._learn(x, risk, slope)
        return risk

    def _learn(self, x: Floats, value: float, slope: Floats) -> None:
        self._add(Plane(slope, value - float(slope @ x)))

    def _add(self, plane: Plane) -> None:
        self.cuts.append(_Cut(plane))
        if self._lp is not None and not self._complete:
            w, free = plane.a[: self.k], plane.a[self.k :]
            row = np.concatenate([-w, w, -free, [1.0]])
            self._lp.add_row(row, np.arange(len(row)), plane.b)

    @property
    def _complete(self) -> bool:
        return self.rows is not None and self.rows.rest is None

    def _split(self, M: Any) -> list[Any]:
        """Split columns of x into positive, negative and free parts."""
        M = sp.csr_array(M)
        return [M[:, : self.k], -M[:, : self.k], M[:, self.k :]]

    def _plane_rows(self, planes: list[Plane]) -> Any:
        a = -np.array([plane.a for plane in planes]).reshape(len(planes), self.q)
        n_slacks = 0 if self.rows is None else len(self.rows.cost)
        ones = np.ones((len(planes), 1))
        return sp.hstack([*self._split(a), ones, sp.csr_array((len(planes), n_slacks))])

    def _rebuild(self, rows: SlackRows | None) -> None:
        """Make the linear program of the cuts and other rows."""
        self.rows = rows
        k, f, r = self.k, self.q - self.k, self.G.shape[0]
        n_slacks = 0 if rows is None else len(rows.cost)
        middle = 0 if self._complete else 1
        nothing = sp.csr_array((r, middle + n_slacks))
        blocks, lower = [sp.hstack([*self._split(self.G), nothing])], [np.zeros(r)]
        if rows is not None:
            if rows.rest is not None:
                whole = -sp.csr_array(rows.cost[None, :])
                a = -rows.rest.a[None, :]
                blocks.append(sp.hstack([*self._split(a), np.ones((1, 1)), whole]))
                lower.append(np.array([rows.rest.b]))
            nothing = sp.csr_array((rows.D.shape[0], middle))
            blocks.append(sp.hstack([*self._split(rows.D), nothing, rows.S]))
            lower.append(rows.offset)
        if not self._complete:
            self.cuts = [cut for cut in self.cuts if cut.idle < _IDLE]
            blocks.append(self._plane_rows([cut.plane for cut in self.cuts]))
            lower.append(np.array([cut.plane.b for cut in self.cuts]))
        cost = self._costs()
        free = np.where(np.arange(len(cost)) < 2 * k, 0.0, -np.inf)
        free[2 * k + f :] = 0.0
        sides = np.concatenate(lower)
        self._lp = LinearProgram(cost, sp.vstack(blocks), sides, col_lower=free)
        self._method = "choose"

    def _costs(self) -> Floats:
        """Give the costs of all columns, and keep their factors."""
        # Tolerances of the solver are absolute, and a small penalty must not be lost.
        largest = float(self._penalty.max(initial=0.0))
        self._unit = min(max(1.0, 1.0 / largest), _MOST_UNITS) if largest > 0 else 1.0
        slack_cost = np.zeros(0) if self.rows is None else self.rows.cost
        middle = np.zeros(0)
        if not self._complete:
            middle, slack_cost = np.ones(1), 0.0 * slack_cost
        free = np.zeros(self.q - self.k)
        parts = [self._penalty, self._penalty, free, middle, slack_cost]
        return self._unit * np.concatenate(parts)

    def _solve_model(self, radius: float, end: float) -> tuple[Floats, float, str]:
        """Minimize the model in a box around the best point."""
        assert self._lp is not None
        self._set_box(radius)
        left = None if end == np.inf else max(1e-3, end - time.monotonic())
        solution = self._lp.solve(self._method, left)
        if solution.status not in ("optimal", "time limit"):
            solution = self._lp.solve("choose", left)
        self._method = "dual"
        k, found = self.k, solution.x
        x = np.concatenate([found[:k] - found[k : 2 * k], found[2 * k : k + self.q]])
        x[:k][np.abs(x[:k]) <= 1e-11 * max(1.0, np.abs(x[:k]).max(initial=0.0))] = 0.0
        self._dual = solution.row_dual / self._unit
        return x, solution.objective / self._unit, solution.status

    def _set_box(self, radius: float) -> None:
        assert self._lp is not None
        k, q = self.k, self.q
        low, high = np.zeros(k + q), np.full(k + q, np.inf)
        low[2 * k :] = -np.inf
        if radius < np.inf:
            w, free = self.best[:k], self.best[k:]
            high[:k] = np.maximum(w + radius, 0.0)
            high[k : 2 * k] = np.maximum(radius - w, 0.0)
            low[:k] = np.maximum(w - radius, 0.0)
            low[k : 2 * k] = np.maximum(-w - radius, 0.0)
            low[2 * k :], high[2 * k :] = free - radius, free + radius
        self._lp.change_bounds(low, high, np.arange(k + q))

    def _prove(self) -> tuple[float, Plane]:
        """Make a lower bound of any multipliers."""
        assert self._lp is not None
        r, rows, dual = self.G.shape[0], self.rows, self._dual
        if len(dual) != self._lp.n_rows:
            dual = np.zeros(self._lp.n_rows)
        order, dual = dual[:r], dual[r:]
        share, a, b = 1.0, np.zeros(self.q), 0.0
        if not self._complete:
            cut_dual = np.maximum(dual[len(dual) - len(self.cuts) :], 0.0)
            share = 0.0
            if rows is not None:
                share, dual = max(0.0, float(dual[0])), dual[1:]
            total = max(1.0, share + float(cut_dual.sum()))
            share, cut_dual = share / total, cut_dual / total
            for cut, part in zip(self.cuts, cut_dual, strict=True):
                cut.idle = 0 if part > 0.0 else cut.idle + 1
                a += part * cut.plane.a
                b += part * cut.plane.b
        if rows is not None:
            multiplier = rows.admit(dual[: rows.D.shape[0]], share)
            plane = rows.plane(multiplier, share)
            a, b = a + plane.a, b + plane.b
        return self._bound_of(Plane(a, b), order)

    def _bound_of(self, plane: Plane, order: Floats) -> tuple[float, Plane]:
        # What rounding leaves of slopes without a penalty is charged for variables a
        # thousand times as large as those found. With a penalty ‖x‖₁ ≤ value / p.
        reach = 1e3 * (1.0 + np.abs(self.best).max(initial=0.0))
        smallest = float(self._penalty.min(initial=np.inf))
        if smallest > 0.0:
            value = self._value(self.best, self.best_risk)
            reach = min(reach, 1.0 + value / smallest)
        return lower_bound(plane, self._penalty, self.G, order, reach)


def _minimize_smooth(
    smooth: RoundedRisk,
    x: Floats,
    penalty: Floats,
    tol: float,
    max_iter: int,
    end: float,
) -> tuple[Floats, int, bool]:
    """Minimize Σ p_j |x_j| + S(x) by Newton steps with the penalty as it is.

    Returns the last expanded x, the steps, and whether S bends too little for the
    variables that matter, so that planes serve better.
    """
    value, slope = smooth.expand(x)
    few, damp, stalled = False, 0.0, 0
    best, least, n_steps = x, np.inf, 0
    while True:
        miss = _violation(x, slope, penalty)
        worst = float(miss.max(initial=0.0))
        # Close to the minimum only slopes can tell whether a step has helped.
        stalled = 0 if worst <= 0.5 * least else stalled + 1
        if worst < least:
            best, least = x, worst
        if worst <= tol * penalty.max() or stalled > _STALLED:
            break
        if n_steps == max_iter or time.monotonic() > end:
            break
        n_steps += 1
        total = value + float(penalty @ np.abs(x))
        free = np.flatnonzero((x != 0.0) | (miss > 0.0))
        H = smooth.hessian(free)
        bend = np.diag(H).copy()
        few = bool(bend.min() <= 1e-3 * bend.max())
        damp = max(damp, 1e-10 * float(bend.mean()), 0.1 * worst if few else 0.0)
        H[np.diag_indices_from(H)] += damp
        step = np.zeros(len(x))
        step[free] = _newton_step(H, slope[free], x[free], penalty[free])
        promised = float(slope @ step + penalty @ (np.abs(x + step) - np.abs(x)))
        length, start = 1.0, x
        while True:
            x = start + length * step
            value, slope = smooth.expand(x)
            now = value + float(penalty @ np.abs(x))
            enough = 0.1 * length * promised + _ROUNDING * total
            if now <= total + enough or length < 1e-6:
                break
            length *= 0.5
        damp *= 0.1 if length == 1.0 else 4.0
    if best is not x:
        smooth.expand(best)
    return best, n_steps, few


def _violation(x: Floats, slope: Floats, penalty: Floats) -> Floats:
    """Distance of each slope from those of a minimum."""
    at_zero = np.maximum(np.abs(slope) - penalty, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(slope + penalty * np.sign(x)))


@njit(cache=True, nogil=True)
def _newton_step(H: Floats, slope: Floats, x: Floats, penalty: Floats) -> Floats:
    """Minimize slope·d + ½ d·H d + Σ p |x + d| by coordinate descent."""
    n = len(x)
    d, gradient = np.zeros(n), slope.copy()
    first = 0.0
    for _ in range(200):
        largest = 0.0
        for j in range(n):
            at = x[j] + d[j]
            aim = H[j, j] * at - gradient[j]
            new = np.sign(aim) * max(abs(aim) - penalty[j], 0.0) / H[j, j]
            change = new - at
            if change != 0.0:
                d[j] += change
                for i in range(n):
                    gradient[i] += H[i, j] * change
                largest = max(largest, abs(change) * np.sqrt(H[j, j]))
        first = max(first, largest)
        if largest <= 1e-9 * first:
            break
    return d
