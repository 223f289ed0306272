# SPDX-License-Identifier: BSD-3-Clause
"""A small quadratic program over the simplex, solved by pivots.

    maximize over μ   qᵀμ - ½ ‖Σ μᵢ vᵢ‖²    subject to   μ ≥ 0,  Σ μ = 1.

The free variables are those that may be positive; the first of them is the reference.
On them the optimum is one linear system with the Gram matrix of the differences vᵢ -
v_ref. Where a step leaves the simplex, the first variable that becomes zero is dropped;
where it does not, the one outside that promises most is brought in. The Cholesky factor
of that matrix is updated by one row per pivot, from the vectors themselves, so that
vertices may be of very different lengths.

With the gradient eᵢ = qᵢ - vᵢ·Σ μ v, the objective is within max e - min {eᵢ : μᵢ > 0}
of its maximum.

Boundary conventions: of equal promises the lowest number is brought in; a vertex whose
difference depends on those of the free ones, up to 1e-7 of its length, is exchanged for
one of them and never factored beside all of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Shares of the squared length of a difference that are nothing, and that are plenty.
_DEPENDENT, _CLEAR = 1e-14, 1e-3
# A squared length that small has no digits left.
_TINY = 1e-290
# Free gradients that differ by this share of what a vertex outside promises are equal.
_LEVEL = 0.1
# Pivots without a move before circles are suspected, and whole steps to the optimum of
# the free variables before the factor is.
_PATIENCE, _FULL_STEPS = 20, 3


class SimplexProgram:
    """Weights of up to so many vertices, and the factor of the free ones.

    Parameters
    ----------
    capacity : int
        Largest number of vertices.
    """

    def __init__(self, capacity: int) -> None:
        self.weight = np.zeros(capacity)
        self._free = np.zeros(capacity, dtype=np.int64)
        self._factor = np.zeros((capacity, capacity))
        self._n_free = 0

    def forget_factor(self) -> None:
        """Factor afresh next time, because vertices or weights have changed."""
        self._n_free = 0

    def maximize(
        self, V: Floats, gram: Floats, q: Floats, eps: float, max_pivots: int
    ) -> None:
        """Improve the weights until the objective is within eps of its maximum.

        Parameters
        ----------
        V : ndarray of shape (k, d)
            Vertices.
        gram : ndarray of shape (k, k)
            V Vᵀ.
        q : ndarray of shape (k,)
            Linear part.
        eps : float
            Accuracy.
        max_pivots : int
            Pivots at most; the weights are feasible whenever it stops.
        """
        mu, still, full = self.weight[: len(q)], 0, 0
        for _ in range(max_pivots):
            if self._n_free == 0:
                self._refactor(V, q, mu)
            e = q - gram @ mu
            free = e[self._free[: self._n_free]]
            low, best = float(free.min()), int(e.argmax())
            if e[best] - low <= eps or still > _PATIENCE + len(q):
                break
            if still > _PATIENCE:
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
        """Factor for the variables that are positive; the largest is the reference."""
        while self._n_free == 0:
            self._free[0], self._n_free = mu.argmax(), 1
            for j in np.flatnonzero(mu):
                if self._n_free > 0 and mu[j] > 0.0 and j != self._free[0]:
                    self._bring_in(V, q, mu, int(j))

    def _step(self, mu: Floats, e: Floats) -> bool:
        """Go to the optimum of the free variables, or to the border before it.

        Returns
        -------
        bool
            Whether it was the border, so that a variable has gone.
        """
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
        """Make a variable free.

        While its difference depends on those of the free ones, the weights move along
        the direction in which the objective is straight, upwards, until a variable is
        zero and can go.

        Returns
        -------
        bool
            Whether it is free now, or the reference has gone.
        """
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
        """Write a difference by those of the free variables.

        Returns
        -------
        row : ndarray of shape (m - 1,)
            Its row of the factor.
        share : ndarray of shape (m - 1,)
            Its coordinates.
        left : float
            Length of what they leave of it, 0 if that is nothing but rounding.
        """
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


def _move(mu: Floats, which: NDArray[np.int64], step: Floats, longest: float) -> int:
    """Move some weights as far as all stay positive, at most so far.

    Returns
    -------
    int
        Which of them became zero, or -1 when the longest step was taken.
    """
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
    """Take the p-th of m free variables, p ≥ 1, out of list and factor, in place.

    Row p - 1 of the factor is its. What is left below that row is triangular but for
    one entry per row, which rotations of neighboring columns remove.
    """
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
