# SPDX-License-Identifier: BSD-3-Clause
r"""A bundle method for penalized convex functions of many linear utilities.

.. math:: \min_x\; f(x) = \tfrac12 ‖x‖^2 + C\, R(A x),

with R convex and not negative, known by its value and one subgradient at a time: a sum
of kinked terms, far too many to list. Every subgradient g at u is a plane below R,
R(Ax) ≥ Aᵀg·x + (R(u) - g·u), and the planes together are a lower bound of f: a dual
solution, and so a certificate (one slack, Joachims 2006; Teo et al. 2010).

Two kinds of steps look for the next plane, both from the best point so far:

* *quasi-Newton*: where kinks are dense R is as good as smooth, and a dozen steps do;
* *cutting plane*: to the minimizer of the planes, which ends where kinks decide.

Either is followed by a search along the line, which costs only evaluations of R at
u + t Ad and no product with A (Franc and Sonnenburg 2008). Planes are added from both
sides of the minimum on the line, and from the minimizer of the planes itself. The first
kind goes on while it works, that is while the search meets a slope of half the size and
the gap falls; otherwise the two take turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.threads import one_blas_thread
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.solvers.cutting_planes import CuttingPlanes
from tiebreak.solvers.quasi_newton import CurvatureMemory

Floats = NDArray[np.float64]

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


class ConvexRisk(Protocol):
    """What the solver needs of R."""

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give R and a subgradient at u."""
        ...


@dataclass(frozen=True, eq=False)
class BundleSolution:
    """Where the solver stopped.

    Attributes
    ----------
    x : ndarray of shape (q,)
        The best point.
    value : float
        f(x).
    lower_bound : float
        What no point can be below.
    gap : float
        (value - lower_bound) / value.
    n_iter : int
        Number of steps.
    n_evaluations : int
        How often R was evaluated.
    converged : bool
        Whether the gap is within the tolerance.
    weights : ndarray of shape (n,)
        C times the combined subgradient: -Aᵀ weights minimizes the planes, and is x
        within the tolerance.
    bundle : Bundle
        What was learned of R, to go on from with another C.
    """

    x: Floats
    value: float
    lower_bound: float
    gap: float
    n_iter: int
    n_evaluations: int
    converged: bool
    weights: Floats
    bundle: Bundle


def minimize_bundle(
    A: Any,
    risk: ConvexRisk,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_planes: int | None = None,
    last: BundleSolution | None = None,
) -> BundleSolution:
    """Minimize ½‖x‖² + C R(Ax) to a certified relative gap.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, q)
        The design.
    risk : ConvexRisk
        R, convex and not negative.
    C : float
        Its factor.
    tol : float, default=1e-3
        Bound on the gap, relative to f and to what f has fallen from x = 0.
    max_iter : int, default=1000
        Largest number of steps.
    max_planes : int, optional
        Planes to keep at most; by default 20 to 1000, within 64 MB or the memory
        of A.
    last : BundleSolution, optional
        The solution for another C, with the same A and R, to go on from. Its planes
        are taken over, so it cannot be gone on from twice.

    Returns
    -------
    BundleSolution
    """
    # The products between planes are small, and threads would only wait.
    with one_blas_thread():
        bundle = Bundle(A, risk, max_planes) if last is None else last.bundle
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
    """Planes, curvature and the best point: what is known of R.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, q)
        The design.
    risk : ConvexRisk
        R.
    max_planes : int, optional
        Planes to keep at most.
    """

    def __init__(self, A: Any, risk: ConvexRisk, max_planes: int | None = None) -> None:
        self.A, self.risk = A, risk
        self.n_evaluations = 0
        n, q = A.shape
        if max_planes is None:
            size = A.data.nbytes + A.indices.nbytes if sp.issparse(A) else A.nbytes
            max_planes = max(size, _PLANE_BYTES) // (8 * n)
            max_planes = min(max(max_planes, _FEWEST_PLANES), _MOST_PLANES)
        self.planes = CuttingPlanes(q, n, max(max_planes, 4))
        risk_at_zero, g = self._expand(np.zeros(n))
        self.risk_at_zero = risk_at_zero
        self.best = self._point(np.zeros(q), np.zeros(n), risk_at_zero, g)
        self.memory = CurvatureMemory(A, risk_at_zero)

    def minimize(self, C: float, tol: float, max_iter: int) -> BundleSolution:
        """Minimize for one C, from what is known of R.

        Parameters
        ----------
        C : float
            Factor of R.
        tol : float
            Bound on the gap, as in :func:`minimize_bundle`.
        max_iter : int
            Largest number of steps.

        Returns
        -------
        BundleSolution
        """
        n_iter, idle, evaluations = 0, 0, self.n_evaluations
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
                fresh = self.best = self._afresh()
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
            gap=max(gap, 0.0) / value if value > 0.0 else 0.0,
            n_iter=n_iter,
            n_evaluations=self.n_evaluations - evaluations,
            converged=bool(done),
            weights=C * self.planes.combined(),
            bundle=self,
        )

    def _advance(self, step: Floats, C: float, *, onward: bool) -> tuple[bool, bool]:
        """Search along a line, add planes, move.

        Returns
        -------
        smooth, moved : bool
            Whether R looks smooth on this line, and whether a better point was found.
        """
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
        """Look for the minimum along a line by values and slopes.

        f is convex, so its slope tells on which side the minimum is, and the tangents
        on both sides how far down it can be at most.

        Parameters
        ----------
        step, along : ndarray of shape (q,), (n,)
            Direction in x and in u.
        C : float
            Factor of R.
        onward : bool
            Whether the minimum may be beyond the end of the step.

        Returns
        -------
        smooth : bool
            Whether a slope of half the size was found without f rising.
        trials : list of _Trial
            That point, or else the closest on each side of the minimum and, if not
            `onward`, the end of the step.
        """
        start, t = self.best, 1.0
        slope = float((start.x + C * start.a) @ step)
        first = _Trial(0.0, start.value(C), min(slope, 0.0), start.risk, start.g)
        low, high, end = first, None, None
        for _ in range(_MAX_TRIALS):
            risk, g = self._expand(start.u + t * along)
            x = start.x + t * step
            slope = float(x @ step) + C * float(g @ along)
            trial = _Trial(t, 0.5 * float(x @ x) + C * risk, slope, risk, g)
            if not (np.isfinite(trial.value) and np.isfinite(slope)):
                t *= 1e-3
                continue
            flat = abs(slope) <= _SLOPE_SHARE * abs(first.slope)
            if flat and trial.value <= first.value * (1.0 + _ROUNDING):
                return True, [trial]
            if slope <= 0.0:
                low = trial
            else:
                high = trial
            if not onward:
                end = end or trial
            if high is not None:
                t, lowest = _between(low, high)
                fall = first.value - min(low.value, high.value)
                if end and fall >= _FALL_SHARE * (first.value - lowest):
                    break
            elif onward:
                bend = max(slope - first.slope, 1e-300)
                t = min(max(1.5 * t, -t * first.slope / bend), 10.0 * t)
            else:
                break
        found = {trial.t: trial for trial in (low, high, end) if trial}
        return False, [trial for t, trial in found.items() if t > 0.0]

    def _afresh(self) -> _Point:
        """Give the best point without what rounding in many updates left in it."""
        u = forward_product(self.A, self.best.x)
        return self.best._replace(u=u, risk=self._expand(u)[0])

    def _expand(self, u: Floats) -> tuple[float, Floats]:
        self.n_evaluations += 1
        return self.risk.expand(u)

    def _point(self, x: Floats, u: Floats, risk: float, g: Floats) -> _Point:
        """Learn a plane from R at a point."""
        a = back_product(self.A, g)
        # Far away R and g·u are large and nearly equal; the plane stays below R.
        rounding = 4.0 * _EPS * (risk + float(np.abs(g) @ np.abs(u)))
        self.planes.add(a, risk - float(g @ u) - rounding, g)
        return _Point(x, u, risk, g, a)


def _between(low: _Trial, high: _Trial) -> tuple[float, float]:
    """Guess where between two points f is least, and bound how low it is there.

    Where f bends evenly its slope is zero at the secant of the two slopes; where it
    has one kink that is where the tangents meet. Which of the two it is the values
    tell: between points of an evenly bent f they differ by the mean slope.
    """
    width, bend = high.t - low.t, high.slope - low.slope
    rise = high.value - low.value
    meet = (width * high.slope - rise) / bend
    lowest = low.value + low.slope * meet
    even = 0.5 * (low.slope + high.slope) * width
    share = meet / width
    if abs(rise - even) <= 0.1 * bend * width:
        share = -low.slope / bend
    return low.t + width * min(max(share, 0.01), 0.99), lowest
