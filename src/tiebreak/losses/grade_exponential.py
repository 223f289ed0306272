# SPDX-License-Identifier: BSD-3-Clause
r"""The exponential loss over all pairs of different grades.

.. math::

    L(u) = \sum_{y_i > y_j} c_g\, w_i w_j\; e^{-(u_i - u_j)},

a sum over the pairs inside groups. The exponential of a difference is a product, so in
ascending order of grade one running sum over the worse items and one over the better
ones give value, gradient and products with the Hessian in O(n). The running sums are
kept relative to their largest term, and a pair whose own term overflows is infinite.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tiebreak.losses.grade_tree import GradeTree

__all__ = ["GradeExponential", "add_exponential_sums"]

Floats = NDArray[np.float64]


class GradeExponential:
    """Σ c w_i w_j exp(-(u_i - u_j)) over pairs with y_i > y_j.

    Parameters
    ----------
    tree : GradeTree
        The pairs.
    """

    def __init__(self, tree: GradeTree) -> None:
        self.tree = tree
        run_ends = np.unique(np.concatenate([tree.starts[1:], tree.cuts]))
        self._runs = np.concatenate([[0], run_ends]).astype(np.int64)
        self._first_run = np.searchsorted(self._runs, tree.starts)
        self._log_weight = np.log(tree.weight)

    def value(self, u: Floats) -> float:
        """Give the loss of the utilities of all rows; the Hessian moves to u too."""
        return self.expand(u)[0]

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the loss and its gradient; the Hessian then speaks of u.

        Parameters
        ----------
        u : ndarray of shape (n,)
            Utilities of all rows.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n,)
        """
        tree = self.tree
        self._s = tree.gather(u)
        against_worse, against_better = self._sums(np.ones(len(self._s)))
        self._degree = (against_worse + against_better) * tree.scale
        value = float(np.sum(against_worse * tree.scale))
        return value, tree.scatter((against_better - against_worse) * tree.scale)

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v.

        (Hv)_i = Σ_j e_ij (v_i - v_j), with e_ij the loss of the pair of i and j.

        Parameters
        ----------
        v : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        tree = self.tree
        t = tree.center(tree.gather(v))
        against_worse, against_better = self._sums(t)
        return tree.scatter(
            self._degree * t - (against_worse + against_better) * tree.scale
        )

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.tree.scatter(self._degree)

    def _sums(self, x: Floats) -> tuple[Floats, Floats]:
        """Sum e_ij x_j over the worse items j of each slot i, and over the better."""
        against_worse, against_better = np.zeros((2, len(x)))
        # Seen from the top, with utilities negated, better items are worse ones.
        log_weight, flipped = self._log_weight, self._runs[-1] - self._runs[::-1]
        last = len(self._runs) - 1
        add_exponential_sums(
            against_worse, self._s, log_weight, x, self._runs, self._first_run
        )
        add_exponential_sums(
            against_better[::-1],
            -self._s[::-1],
            log_weight[::-1],
            x[::-1],
            flipped,
            last - self._first_run[::-1],
        )
        return against_worse, against_better


@njit(cache=True, nogil=True)
def add_exponential_sums(
    out: Floats,
    u: Floats,
    log_weight: Floats,
    x: Floats,
    runs: NDArray[np.int64],
    first_run: NDArray[np.int64],
) -> None:
    """Add Σ_j w_i w_j exp(u_j - u_i) x_j over the lower runs of i's group, in place.

    Parameters
    ----------
    out : ndarray of shape (m,)
        Updated.
    u, log_weight, x : ndarray of shape (m,)
        Utility, logarithm of the weight, and a factor of each slot.
    runs : ndarray of shape (R + 1,)
        First slot of each run of equal grades, and m.
    first_run : ndarray of shape (G + 1,)
        First run of each group, and R.
    """
    for group in range(len(first_run) - 1):
        largest, total = -np.inf, 0.0
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                if total != 0.0:
                    out[i] += math.exp(log_weight[i] - u[i] + largest) * total
            for i in range(runs[run], runs[run + 1]):
                power = log_weight[i] + u[i]
                if power > largest:
                    total *= math.exp(largest - power)
                    largest = power
                total += math.exp(power - largest) * x[i]


def add_exponential_sums_naive(
    out: Floats,
    u: Floats,
    log_weight: Floats,
    x: Floats,
    runs: NDArray[np.int64],
    first_run: NDArray[np.int64],
) -> None:
    """Do what ``add_exponential_sums`` does by visiting every pair."""
    for group in range(len(first_run) - 1):
        start = runs[first_run[group]]
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                for j in range(start, runs[run]):
                    power = log_weight[i] + log_weight[j] + u[j] - u[i]
                    out[i] += math.exp(power) * x[j]
