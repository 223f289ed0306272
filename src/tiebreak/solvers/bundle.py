# SPDX-License-Identifier: BSD-3-Clause
r"""A bundle method for penalized convex functions of many linear utilities.

.. math:: \min_x\; f(x) = \tfrac12 ‖x‖^2 + C\, R(A x),

with R ≥ 0 convex and nonsmooth, known by its value and one subgradient at a time. Every
subgradient g at u is a plane below R, R(Ax) ≥ Aᵀg·x + (R(u) - g·u), and the planes
together are a lower bound of f: a dual solution, and so a certificate (one slack,
Joachims 2006; Teo et al. 2010).

Two kinds of steps look for the next plane, both from the best point so far:

* *quasi-Newton*, where kinks are dense and R is nearly smooth;
* *cutting plane*, to the minimizer of the planes, where kinks decide.

Both end with a line search, which costs only evaluations of R at u + t Ad (Franc and
Sonnenburg 2008) and adds planes from both sides of its minimum. The first kind goes on
while slope and gap fall; then the two alternate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.solvers.certificate import relative_gap

# A smaller gap, relative to f, cannot be told from rounding.
_ROUNDING = 1e-13
_EPS = float(np.finfo(np.float64).eps)
# A search on a line ends at a slope of this share of the first, or after some trials;
# towards the minimizer of the planes this share of what can be hoped for is enough.
_SLOPE_SHARE, _MAX_TRIALS, _FALL_SHARE = 0.5, 5, 0.2
# A quasi-Newton step that takes less off the gap than this share gives way.
_LEAST_FALL = 0.05
# Steps without any change of the gap, after which there is no more to be had.
_PATIENCE = 100
# Subgradients may take this much memory, or as much as A.
_FEWEST_PLANES, _MOST_PLANES, _PLANE_BYTES = 20, 1000, 64_000_000
# What directions of second order remember, and from what they begin.
_MEMORY = 30
# A covariance of more columns than this is known by the span of some rows only.
_MANY_COLUMNS = 500
_FEW_ROWS = 500
_SAMPLE = 2000
# Entries of the sampled rows and of the basis that they span.
_MAX_ENTRIES = 4_000_000
# The quadratic problem of the planes.
# Shares of the squared length of a difference that are nothing, and that are plenty.
_DEPENDENT, _CLEAR = 1e-14, 1e-3
# A squared length that small has no digits left.
_TINY = 1e-290
# Free gradients that differ by this share of what a vertex outside promises are equal.
_LEVEL = 0.1
# Pivots without a move before circles are suspected, and whole steps to the optimum of
# the free variables before the factor is.
_STILL, _FULL_STEPS = 20, 3


class ConvexRisk(Protocol):
    """What the solver needs of R."""

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give R and a subgradient at u."""


@dataclass(frozen=True, eq=False)
class BundleSolution:
    """Where the solver stopped."""

    x: Floats  # (q,): The best point
    value: float  # f(x)
    lower_bound: float  # What no point can be below
    gap: float  # (value - lower_bound) / value
    n_iter: int  # Number of steps
    converged: bool  # Whether the gap is within the tolerance
    # (n,): C times the combined subgradient: -Aᵀ weights minimizes the planes, and is x
    # within the tolerance.
    weights: Floats
    bundle: Bundle  # What was learned of R, to go on from with another C


def minimize_bundle(
    A: Any,
    risk: ConvexRisk,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    last: BundleSolution | None = None,
) -> BundleSolution:
    """Minimize ½‖x‖² + C R(Ax) to a certified relative gap."""
    # The products between planes are small, and threads would only wait.
    with one_blas_thread():
        bundle = Bundle(A, risk) if last is None else last.bundle
        return bundle.minimize(C, tol, max_iter)


class _Point(NamedTuple):
    """R at u = Ax, and its slope in x."""

    x: Floats
    u: Floats
    risk: float
    g: Floats
    a: Floats

    def value(self, C: float) -> float:
        return 0.5 * float(self.x @ self.x) + C * self.risk


@dataclass(frozen=True, eq=False)
class _Trial:
    """A point on a line: place, f, its slope, R and a subgradient."""

    t: float
    value: float
    slope: float
    risk: float
    g: Floats


class Bundle:
    """Planes, curvature and the best point: what is known of R."""

    def __init__(self, A: Any, risk: ConvexRisk, max_planes: int | None = None) -> None:
        self.A, self.risk = A, risk
        n, q = A.shape
        if max_planes is None:
            size = A.data.nbytes + A.indices.nbytes if sp.issparse(A) else A.nbytes
            max_planes = max(size, _PLANE_BYTES) // (8 * n)
            max_planes = min(max(max_planes, _FEWEST_PLANES), _MOST_PLANES)
        self.planes = CuttingPlanes(q, n, max(max_planes, 4))
        self.risk_at_zero, g = risk.expand(np.zeros(n))
        self.best = self._point(np.zeros(q), np.zeros(n), self.risk_at_zero, g)
        self.memory = CurvatureMemory(A, self.risk_at_zero)

    def minimize(self, C: float, tol: float, max_iter: int) -> BundleSolution:
        """Minimize for one C, from what is known of R."""
        n_iter, idle = 0, 0
        gap, smooth, newton, stuck = np.inf, True, False, False
        at_zero, fresh = C * self.risk_at_zero, None
        while True:
            value = self.best.value(C)
            lowest, bound = self.planes.maximize(C, 0.01 * min(gap, value))
            before, gap = gap, value - bound
            allowed = tol * min(value, at_zero - bound)
            done = gap <= max(allowed, _ROUNDING * value)
            idle = 0 if gap <= (1.0 - 1e-6) * before else idle + 1
            if (done and n_iter > 0) or n_iter == max_iter or idle > _PATIENCE:
                if fresh is self.best:
                    break
                # Without the rounding of many updates.
                u = forward_product(self.A, self.best.x)
                fresh = self.best._replace(u=u, risk=self.risk.expand(u)[0])
                self.best = fresh
                continue
            works = smooth and gap <= (1.0 - _LEAST_FALL) * before
            newton = not stuck and (not newton or works or n_iter < 2)
            step = lowest - self.best.x
            if newton:
                step = self.memory.direction(self.best.x + C * self.best.a, C)
            if not (step.any() and np.isfinite(step).all()):
                break
            n_iter += 1
            smooth, moved = self._advance(step, C, onward=newton)
            # From where a quasi-Newton step failed it would be the same again.
            stuck = not moved and (newton or stuck)
        return BundleSolution(
            x=self.best.x,
            value=value,
            lower_bound=bound,
            n_iter=n_iter,
            gap=relative_gap(gap, value),
            converged=bool(done),
            weights=C * self.planes.combined(),
            bundle=self,
        )

    def _advance(self, step: Floats, C: float, *, onward: bool) -> tuple[bool, bool]:
        """Search along a line, add planes, move."""
        start, along = self.best, forward_product(self.A, step)
        smooth, trials = self._search(step, along, C, onward)
        if not trials:
            return False, False
        best = min(trials, key=lambda trial: trial.value)
        # At a tiny C no change of f is seen; a slope that fell says it all the same.
        moved = smooth or best.value < start.value(C)
        for trial in trials:
            x, u = start.x + trial.t * step, start.u + trial.t * along
            point = self._point(x, u, trial.risk, trial.g)
            if trial is best and moved:
                self.memory.remember(x - start.x, point.a - start.a)
                self.best = point
        return smooth, moved

    def _search(
        self, step: Floats, along: Floats, C: float, onward: bool
    ) -> tuple[bool, list[_Trial]]:
        """Look for the minimum along a line by values and slopes."""
        # f is convex, so its slope tells on which side the minimum is, and the tangents
        # on both sides how far down it can be at most.
        start, t = self.best, 1.0
        slope = float((start.x + C * start.a) @ step)
        first = _Trial(0.0, start.value(C), min(slope, 0.0), start.risk, start.g)
        low, high, end = first, None, None
        for _ in range(_MAX_TRIALS):
            risk, g = self.risk.expand(start.u + t * along)
            x = start.x + t * step
            slope = float(x @ step) + C * float(g @ along)
            trial = _Trial(t, 0.5 * float(x @ x) + C * risk, slope, risk, g)
            if not (np.isfinite(trial.value) and np.isfinite(slope)):
                t *= 1e-3
                continue
            flat = abs(slope) <= _SLOPE_SHARE * abs(first.slope)
            if flat and trial.value <= first.value * (1.0 + _ROUNDING):
                return True, [trial]
            low, high = (trial, high) if slope <= 0.0 else (low, trial)
            if not onward:
                end = end or trial
            if high is not None:
                t, lowest = _between(low, high)
                fall = first.value - min(low.value, high.value)
                if end and fall >= _FALL_SHARE * (first.value - lowest):
                    break
            elif onward:
                curvature = max(slope - first.slope, 1e-300)
                t = min(max(1.5 * t, -t * first.slope / curvature), 10.0 * t)
            else:
                break
        found = {trial.t: trial for trial in (low, high, end) if trial}
        return False, [trial for t, trial in found.items() if t > 0.0]

    def _point(self, x: Floats, u: Floats, risk: float, g: Floats) -> _Point:
        """Learn a plane from R at a point."""
        a = back_product(self.A, g)
        # Far away R and g·u are large and nearly equal; the plane stays below R.
        rounding = 4.0 * _EPS * (risk + float(np.abs(g) @ np.abs(u)))
        self.planes.add(a, risk - float(g @ u) - rounding, g)
        return _Point(x, u, risk, g, a)


def _between(low: _Trial, high: _Trial) -> tuple[float, float]:
    """Guess the minimum of f between two points, and bound its value."""
    # Where its curvature is even its slope is zero at the secant of the two; where it
    # has one kink that is where the tangents meet. Which of the two it is the values
    # tell: with even curvature they differ by the mean slope.
    width, curvature = high.t - low.t, high.slope - low.slope
    rise = high.value - low.value
    meet = (width * high.slope - rise) / curvature
    lowest = low.value + low.slope * meet
    even = 0.5 * (low.slope + high.slope) * width
    share = meet / width
    if abs(rise - even) <= 0.1 * curvature * width:
        share = -low.slope / curvature
    return low.t + width * min(max(share, 0.01), 0.99), lowest


class CuttingPlanes:
    """Planes below R, and their weights μ, of shape (k,).

    Plane t is R(Ax) ≥ a_t·x + b_t, plane 0 is R ≥ 0. With μ ≥ 0 and Σ μ = 1 they are
    one plane, so that for every C

        min over x  ½‖x‖² + C R(Ax)  ≥  C μ·b - ½ ‖C Σ μ_t a_t‖²,

    attained by the planes alone at x = -C Σ μ_t a_t.
    """

    def __init__(self, n_columns: int, n_rows: int, capacity: int) -> None:
        self.capacity = capacity
        self._a = np.zeros((1, n_columns))
        self._g: list[Floats] = [np.zeros(n_rows)]
        self._b = np.zeros(capacity)
        self._gram = np.zeros((capacity, capacity))
        self._idle = np.zeros(capacity, dtype=np.int64)
        self._simplex = SimplexQP(capacity)
        self._simplex.weight[0] = 1.0

    def __len__(self) -> int:
        return len(self._g)

    @property
    def weight(self) -> Floats:
        """The weights μ."""
        return self._simplex.weight[: len(self)]

    def add(self, a: Floats, b: float, g: Floats) -> None:
        """Add a plane."""
        if len(self) == self.capacity:
            self._shrink()
        k = len(self)
        if k == len(self._a):
            larger = np.zeros((min(2 * k + 8, self.capacity), len(a)))
            larger[:k] = self._a
            self._a = larger
        self._a[k] = a
        self._b[k] = b
        self._g.append(g)
        row = self._a[: k + 1] @ a
        self._gram[k, : k + 1] = self._gram[: k + 1, k] = row
        self.weight[k], self._idle[k] = 0.0, 0

    def maximize(self, C: float, accuracy: float) -> tuple[Floats, float]:
        """Find the weights with the best lower bound."""
        k, mu = len(self), self.weight
        last, before = mu.copy(), self._bound(C)[1]
        q = self._b[:k] / C
        eps = max(accuracy / C / C, 4.0 * _EPS * float(np.abs(q).max()))
        self._simplex.maximize(self._a[:k], self._gram[:k, :k], q, eps, 20 * k)
        x, bound = self._bound(C)
        if bound < before:
            # Rounding can make a hard problem worse, but a bound is not given up.
            mu[:] = last
            self._simplex.forget_factor()
            x, bound = self._bound(C)
        self._idle[:k] = np.where(mu > 0.0, 0, self._idle[:k] + 1)
        return x, bound

    def _bound(self, C: float) -> tuple[Floats, float]:
        k, mu = len(self), self.weight
        x = -C * (mu @ self._a[:k])
        return x, float(C * (mu @ self._b[:k]) - 0.5 * (x @ x))

    def combined(self) -> Floats:
        """Give Σ μ_t g_t, shape (n,)."""
        out = np.zeros_like(self._g[0])
        for t in np.flatnonzero(self.weight):
            out += self.weight[t] * self._g[t]
        return out

    def _shrink(self) -> None:
        """Drop planes without weight, the longest idle first."""
        # Where too many have weight the lightest become one plane, which keeps the
        # bound.
        k, mu = len(self), self.weight
        keep = max(2, (3 * self.capacity) // 4)
        # The last plane is that of the latest point, and has had no turn yet.
        worth = np.where(mu > 0.0, 1.0 + mu, -self._idle[:k])
        worth[0], worth[k - 1] = 4.0, 3.0
        order = np.argsort(-worth, kind="stable")
        heavy = order[: int((worth > 0.0).sum())]
        if len(heavy) <= keep:
            self._select(np.sort(order[:keep]))
            return
        light = heavy[keep - 1 :]
        total = float(mu[light].sum())
        share = mu[light] / total
        a, b = share @ self._a[light], float(share @ self._b[light])
        g = np.zeros_like(self._g[0])
        for part, t in zip(share, light, strict=True):
            g += part * self._g[t]
        self._select(np.sort(heavy[: keep - 1]))
        self.add(a, b, g)
        self.weight[-1] = total

    def _select(self, kept: NDArray[np.intp]) -> None:
        k = len(kept)
        self._a[:k] = self._a[kept]
        self._gram[:k, :k] = self._gram[np.ix_(kept, kept)]
        for part in (self._b, self._simplex.weight, self._idle):
            part[:k] = part[kept]
            part[k:] = 0
        self._g = [self._g[t] for t in kept]
        self._simplex.forget_factor()


class SimplexQP:
    """A small quadratic problem over the simplex, solved by pivots.

        maximize over μ   qᵀμ - ½ ‖Σ μᵢ vᵢ‖²    subject to   μ ≥ 0,  Σ μ = 1.

    On the free variables, the first of which is the reference, the optimum is a linear
    system with the Gram matrix of vᵢ - v_ref. A variable that a step makes zero is
    dropped; else the one outside that promises most (of equals the lowest number) is
    added, or exchanged for a free one that its difference depends on, up to 1e-7 of its
    length. With eᵢ = qᵢ - vᵢ·Σ μ v the maximum is within max e - min {eᵢ : μᵢ > 0}.
    """

    # With s = μ - μ₀ this is a balanced box of `DualQP`. Pivots stay because a bundle
    # solves one such problem per step, each from the factor of the last, updated by one
    # row per pivot from the vectors themselves: whole fits took 100 to 600 times as
    # long by `solve_dual_qp`, and by its pair steps alone 6 to 16 times.

    def __init__(self, capacity: int) -> None:
        self.weight = np.zeros(capacity)
        self._free = np.zeros(capacity, dtype=np.int64)
        self._factor = np.zeros((capacity, capacity))
        self._n_free = 0

    def forget_factor(self) -> None:
        """Factor afresh next time: vertices or weights have changed."""
        self._n_free = 0

    def maximize(
        self, V: Floats, gram: Floats, q: Floats, eps: float, max_pivots: int
    ) -> None:
        """Improve the weights to within eps of the maximum."""
        mu, still, full = self.weight[: len(q)], 0, 0
        for _ in range(max_pivots):
            if self._n_free == 0:
                self._refactor(V, q, mu)
            e = q - gram @ mu
            free = e[self._free[: self._n_free]]
            low, best = float(free.min()), int(e.argmax())
            if e[best] - low <= eps or still > _STILL + len(q):
                break
            if still > _STILL:
                # Pivots that move nothing can go in circles; the lowest number breaks
                # them.
                best = int(np.argmax(e - low > eps))
            before = mu.copy()
            level = float(free.max()) - low <= _LEVEL * float(e[best] - low)
            brought = full > 0 and level and self._bring_in(V, q, mu, best)
            if brought or self._step(mu, free):
                full = 0
            else:
                # One step to the optimum of the free variables levels their gradients,
                # if the factor is still accurate.
                full += 1
                if full == _FULL_STEPS:
                    self.forget_factor()
                elif full > 2 * _FULL_STEPS:
                    break
            still = still + 1 if np.array_equal(mu, before) else 0
        mu /= mu.sum()

    def _refactor(self, V: Floats, q: Floats, mu: Floats) -> None:
        """Factor for the positive variables; the largest is the reference."""
        while self._n_free == 0:
            self._free[0], self._n_free = mu.argmax(), 1
            for j in np.flatnonzero(mu):
                if self._n_free > 0 and mu[j] > 0.0 and j != self._free[0]:
                    self._bring_in(V, q, mu, int(j))

    def _step(self, mu: Floats, e: Floats) -> bool:
        """Go to the optimum of the free variables, or to the border."""
        m = self._n_free
        step = e - e[0]
        solve_lower(self._factor, m - 1, step[1:])
        solve_upper(self._factor, m - 1, step[1:])
        step[0] = -step[1:].sum()
        block = _move(mu, self._free[:m], step, 1.0)
        if block >= 0:
            self._drop(block)
        return block >= 0

    def _bring_in(self, V: Floats, q: Floats, mu: Floats, j: int) -> bool:
        """Make a variable free."""
        # While its difference depends on those of the free ones, the weights move along
        # the direction in which the objective is straight, upwards, until a variable is
        # zero and can go.
        L = self._factor
        while self._n_free > 0:
            m = self._n_free
            free = self._free[:m]
            row, share, left = self._project(V, V[j] - V[free[0]])
            if left > 0.0:
                L[m - 1, : m - 1], L[m - 1, m - 1] = row, left
                self._free[m], self._n_free = j, m + 1
                return True
            share = np.concatenate([[1.0 - share.sum()], share])
            up = 1.0 if q[j] > share @ q[free] else -1.0
            moved = np.append(free, j)
            block = _move(mu, moved, up * np.append(-share, 1.0), np.inf)
            if block < 0 or block == m:
                return False
            self._drop(block)
        return True

    def _project(self, V: Floats, d: Floats) -> tuple[Floats, Floats, float]:
        """Write a difference by those of the free variables."""
        m, free = self._n_free, self._free[: self._n_free]
        basis = V[free[1:]] - V[free[0]]
        row, share = np.zeros(m - 1), np.zeros(m - 1)
        size = left = float(d @ d)
        # The second round takes away what rounding left of the first.
        for _ in range(2):
            part = basis @ d
            solve_lower(self._factor, m - 1, part)
            row += part
            solve_upper(self._factor, m - 1, part)
            share += part
            d = d - part @ basis
            left = float(d @ d)
            if left > _CLEAR * size:
                break
        nothing = max(_DEPENDENT * size, _TINY)
        return row, share, np.sqrt(left) if left > nothing else 0.0

    def _drop(self, p: int) -> None:
        if p == 0:
            self._n_free = 0
        else:
            drop_free(self._factor, self._free, self._n_free, p)
            self._n_free -= 1


def _move(mu: Floats, which: Codes, step: Floats, longest: float) -> int:
    """Move some weights as far as all stay positive."""
    here = mu[which]
    falling = np.flatnonzero(step < 0.0)
    block = -1
    if len(falling):
        room = here[falling] / -step[falling]
        first = int(room.argmin())
        if room[first] <= longest:
            longest, block = float(room[first]), int(falling[first])
    if not np.isfinite(longest):
        return -1
    mu[which] = np.maximum(here + longest * step, 0.0)
    if block >= 0:
        mu[which[block]] = 0.0
    return block


@njit(cache=True, nogil=True)
def solve_lower(L, m, x):  # type: ignore[no-untyped-def]
    """Overwrite the first m entries of x by L⁻¹ x."""
    for i in range(m):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@njit(cache=True, nogil=True)
def solve_upper(L, m, x):  # type: ignore[no-untyped-def]
    """Overwrite the first m entries of x by L⁻ᵀ x."""
    for i in range(m - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@njit(cache=True, nogil=True)
def drop_free(L, free, m, p):  # type: ignore[no-untyped-def]
    """Drop the p-th of m free variables, p ≥ 1, in place."""
    # Row p - 1 of the factor is its. What is left below that row is triangular but for
    # one entry per row, which rotations of neighboring columns remove.
    for i in range(p, m - 1):
        free[i] = free[i + 1]
        for j in range(i + 1):
            L[i - 1, j] = L[i, j]
    for i in range(p - 1, m - 2):
        radius = np.hypot(L[i, i], L[i, i + 1])
        c = L[i, i] / radius
        s = L[i, i + 1] / radius
        L[i, i] = radius
        for k in range(i + 1, m - 2):
            here = L[k, i]
            there = L[k, i + 1]
            L[k, i] = c * here + s * there
            L[k, i + 1] = c * there - s * here


class CurvatureMemory:
    """The curvature of R(Ax), as far as steps have shown it.

    The Hessian of f is modeled as I + C τ V, with V the covariance of the rows of A and
    τ fitted to the last step, corrected as in limited-memory BFGS (Nocedal 1980) for R
    alone, so that it serves every C.
    """

    def __init__(self, A: Any, scale: float) -> None:
        self._spread, self._basis = row_covariance(A)
        self._scale = scale
        self._pairs: deque[tuple[Floats, Floats]] = deque(maxlen=_MEMORY)

    def remember(self, step: Floats, change: Floats) -> None:
        """Note how the gradient of R(Ax) changed over a step."""
        curvature = float(step @ change)
        if not curvature > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        self._pairs.append((step, change))
        spread = float(self._spread @ (self._basis @ step) ** 2)
        if 0.0 < curvature < np.inf and 0.0 < spread < np.inf:
            self._scale = curvature / spread

    def direction(self, gradient: Floats, C: float) -> Floats:
        """Give the direction of descent for a gradient of f."""
        v, parts = gradient.copy(), []
        for step, change in reversed(self._pairs):
            whole = step + C * change
            curvature = float(step @ whole)
            part = float(step @ v) / curvature
            v -= part * whole
            parts.append((step, whole, curvature, part))
        v = self._invert(v, C * self._scale)
        for step, whole, curvature, part in reversed(parts):
            v += (part - float(whole @ v) / curvature) * step
        return -v

    def _invert(self, v: Floats, factor: float) -> Floats:
        """Give (I + factor V)⁻¹ v."""
        # Inside the span of the basis and outside of it separately: what is left of a
        # difference of the two would be rounding where V is large.
        inside = self._basis @ v
        inverse = (inside / (1.0 + factor * self._spread)) @ self._basis
        if len(self._basis) == len(v):
            return inverse
        outside = v - inside @ self._basis
        if np.linalg.norm(outside) <= 1e-12 * np.linalg.norm(v):
            return inverse
        return inverse + outside


def row_covariance(A: Any) -> tuple[Floats, Floats]:
    """Estimate the covariance of the rows from some of them."""
    # Gives its r ≤ 500 largest eigenvalues, ascending, and their eigenvectors, (r, q).
    n, q = A.shape
    wide = q > _MANY_COLUMNS
    size = max(2, min(_FEW_ROWS, _MAX_ENTRIES // q)) if wide else max(_SAMPLE, 8 * q)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, size), replace=False))
    sample = A[rows].toarray() if sp.issparse(A) else A[rows]
    sample = (sample - sample.mean(axis=0)) / np.sqrt(len(rows))
    small = sample @ sample.T if len(rows) < q else sample.T @ sample
    spread, vectors = la.eigh(small, overwrite_a=True, check_finite=False)
    kept = spread > max(1e-14 * float(spread[-1]), 1e-200)
    spread, basis = spread[kept], vectors[:, kept].T
    if len(rows) < q:
        basis = (basis @ sample) / np.sqrt(spread)[:, None]
    return spread, np.ascontiguousarray(basis)
