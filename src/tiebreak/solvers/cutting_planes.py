# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions below a convex one, and the best lower bound that they give.

Plane t says R(Ax) ≥ a_t·x + b_t for all x, and plane 0 says R ≥ 0. With weights μ ≥ 0,
Σ μ = 1, they are one plane, and so for every C

    min over x  ½‖x‖² + C R(Ax)  ≥  C μ·b - ½ ‖C Σ μ_t a_t‖²,

attained by the planes alone at x = -C Σ μ_t a_t. The best μ is a program over the
simplex. Planes say nothing of C, so those that were found for one serve all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tiebreak.solvers.simplex_qp import SimplexProgram

Floats = NDArray[np.float64]

_ROUNDING = float(np.finfo(np.float64).eps)


class CuttingPlanes:
    """Planes below R, and their weights.

    Parameters
    ----------
    n_columns : int
        Size q of x.
    n_rows : int
        Size n of Ax.
    capacity : int
        Planes to keep at most, plane 0 among them.

    Attributes
    ----------
    weight : ndarray of shape (k,)
        μ.
    """

    def __init__(self, n_columns: int, n_rows: int, capacity: int) -> None:
        self.capacity = capacity
        self._a = np.zeros((1, n_columns))
        self._g: list[Floats] = [np.zeros(n_rows)]
        self._b = np.zeros(capacity)
        self._gram = np.zeros((capacity, capacity))
        self._idle = np.zeros(capacity, dtype=np.int64)
        self._program = SimplexProgram(capacity)
        self._program.weight[0] = 1.0

    def __len__(self) -> int:
        return len(self._g)

    @property
    def weight(self) -> Floats:
        """The weights μ."""
        return self._program.weight[: len(self)]

    def add(self, a: Floats, b: float, g: Floats) -> None:
        """Add a plane.

        Parameters
        ----------
        a : ndarray of shape (q,)
            Slope.
        b : float
            Value at zero.
        g : ndarray of shape (n,)
            The subgradient of R that it comes from, a = Aᵀg.
        """
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
        """Find the weights with the best lower bound.

        Parameters
        ----------
        C : float
            Factor of R.
        accuracy : float
            How far from the best it may stay.

        Returns
        -------
        x : ndarray of shape (q,)
            The minimizer of the penalized planes.
        bound : float
            Their minimum, below every value of the objective.
        """
        k, mu = len(self), self.weight
        last, before = mu.copy(), self._bound(C)[1]
        q = self._b[:k] / C
        eps = max(accuracy / C**2, 4.0 * _ROUNDING * float(np.abs(q).max()))
        self._program.maximize(self._a[:k], self._gram[:k, :k], q, eps, 20 * k)
        x, bound = self._bound(C)
        if bound < before:
            # Rounding can make a hard program worse, but a bound is not given up.
            mu[:] = last
            self._program.forget_factor()
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
        """Make room: drop planes without weight, the longest idle first.

        Where too many have weight the lightest become one plane, which keeps the
        bound.
        """
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
        for part in (self._b, self._program.weight, self._idle):
            part[:k] = part[kept]
            part[k:] = 0
        self._g = [self._g[t] for t in kept]
        self._program.forget_factor()
