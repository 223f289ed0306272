# SPDX-License-Identifier: BSD-3-Clause
r"""The squared hinge over pairs that are written down.

.. math:: L(u) = \sum_k w_k\, (1 - (u_{b_k} - u_{c_k}))_+^2,

a sum over pairs of a better item b and a worse item c. A pair counts while its
difference is below one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.losses.linear_objective import inner_products

__all__ = ["ListedSquaredHinge"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class ListedSquaredHinge:
    """Squared hinge over listed pairs, as a function of the utilities of n items.

    Parameters
    ----------
    better, worse : ndarray of int of shape (m,)
        Items of each pair.
    weight : ndarray of shape (m,)
        Positive weights.
    n_items : int
        n.
    """

    def __init__(
        self, better: Codes, worse: Codes, weight: Floats, n_items: int
    ) -> None:
        self.better, self.worse, self.weight = better, worse, weight
        self.n_items = n_items
        order = np.random.default_rng(0).permutation(len(better))
        self._shuffled = order

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the loss and its gradient; the Hessian then speaks of u.

        Parameters
        ----------
        u : ndarray of shape (n,)
            Utilities.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n,)
        """
        short = np.maximum(0.0, 1.0 - (u[self.better] - u[self.worse]))
        self._bend = 2.0 * self.weight * (short > 0.0)
        push = self.weight * short
        return float(push @ short), self._gather(-2.0 * push)

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""
        return self._gather(self._bend * (v[self.better] - v[self.worse]))

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point."""
        return self._sum(self.better, self._bend) + self._sum(self.worse, self._bend)

    def sketch(self, A: Any, n_rows: int) -> Floats:
        """Estimate AᵀHA at the last expanded point from some of the pairs.

        Parameters
        ----------
        A : ndarray or csr_array of shape (n, q)
            A design.
        n_rows : int
            About how many pairs to use.

        Returns
        -------
        ndarray of shape (q, q)
        """
        chosen = self._shuffled[:n_rows]
        difference = A[self.better[chosen]] - A[self.worse[chosen]]
        if sp.issparse(difference):
            difference = difference.toarray()
        share = len(self._shuffled) / len(chosen)
        bent = difference * (share * self._bend[chosen])[:, None]
        return inner_products(difference, bent)

    def _gather(self, in_difference: Floats) -> Floats:
        return self._sum(self.better, in_difference) - self._sum(
            self.worse, in_difference
        )

    def _sum(self, item: Codes, x: Floats) -> Floats:
        total: Floats = np.bincount(item, x, self.n_items).astype(np.float64)
        return total
