# SPDX-License-Identifier: BSD-3-Clause
r"""Losses of a utility vector over all pairs of different grades.

With a pair (i, j) for any two rows of one group with y_i > y_j, weights w and the
group's factor c_g (1, or one over the weight of its pairs),

.. math::

    L(u) = \sum_{(i,j)} c_g\, w_i w_j\; \ell(1 - (u_i - u_j)),

sums over pairs and not means. The hinge ℓ(z) = z₊ and its square ℓ(z) = z₊² are here,
the exponential is in its own module. A pair counts when u_i < u_j + 1; at equality
the hinge has the subgradient 0. With p_i the weight of the worse items from which i
keeps no margin, q_i that of the better ones, and b_i the sum of w_j u_j over both,

    Σ w w z₊   = Σ_i w_i (p_i - u_i (p_i - q_i)),
    ∂/∂u_i     = -w_i (p_i - q_i),
    ½ ∂/∂u_i Σ w w z₊²  = w_i ((p_i + q_i) u_i - b_i - (p_i - q_i)),
    Σ w w z₊²  = Σ w w z₊ + ½ u·∂/∂u Σ w w z₊².
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.losses.grade_tree import GradeTree
from tiebreak.losses.linear_objective import inner_products

__all__ = ["GradeHinge", "GradeSquaredHinge"]

Floats = NDArray[np.float64]


class GradeHinge:
    """Σ c w_i w_j (1 - s (u_i - u_j))₊ over pairs with y_i > y_j.

    Parameters
    ----------
    tree : GradeTree
        The pairs.
    slope : float, default=1.0
        s, above 0: a margin of 1/s is asked for.
    """

    def __init__(self, tree: GradeTree, slope: float = 1.0) -> None:
        self.tree, self.slope = tree, slope

    def value(self, u: Floats) -> float:
        """Give the loss of the utilities of all rows."""
        return self.expand(u)[0]

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the loss and a subgradient.

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
        s = self.slope * tree.gather(u)
        tree.arrange(s)
        tree.center(s)
        over_worse, over_better = tree.partner_sums(tree.weight)
        balance = over_worse - over_better
        heavy = tree.weight * tree.scale
        value = float(heavy @ (over_worse - s * balance))
        return value, tree.scatter(-self.slope * heavy * balance)


class GradeSquaredHinge:
    """Σ c w_i w_j (1 - (u_i - u_j))₊² over pairs with y_i > y_j.

    Parameters
    ----------
    tree : GradeTree
        The pairs.
    """

    def __init__(self, tree: GradeTree) -> None:
        self.tree = tree
        self._sample: tuple[NDArray[np.int64], GradeTree] | None = None

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
        tree, self._u = self.tree, u
        s = tree.gather(u)
        tree.arrange(s)
        tree.center(s)
        over_worse, over_better = tree.partner_sums(tree.weight)
        balance = over_worse - over_better
        heavy = tree.weight * tree.scale
        self.slack = float(heavy @ (over_worse - s * balance))
        self._degree = over_worse
        self._degree += over_better
        pull = self._degree * s
        pull -= tree.partner_sum(tree.weight * s)
        pull -= balance
        pull *= heavy
        value = self.slack + float(s @ pull)
        pull *= 2.0
        return value, tree.scatter(pull)

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v.

        (Hv)_i = 2 c w_i Σ_j w_j (v_i - v_j) over the partners j of i.

        Parameters
        ----------
        v : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        tree = self.tree
        t = tree.center(tree.gather(v))
        out = self._degree * t
        out -= tree.partner_sum(tree.weight * t)
        out *= 2.0 * tree.weight * tree.scale
        return tree.scatter(out)

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point.

        Returns
        -------
        ndarray of shape (n,)
        """
        tree = self.tree
        return tree.scatter(2.0 * tree.weight * tree.scale * self._degree)

    def sketch(self, A: Any, n_rows: int) -> Floats:
        """Estimate AᵀHA at the last expanded point from some of the rows.

        Parameters
        ----------
        A : ndarray or csr_array of shape (n, q)
            A design.
        n_rows : int
            About how many rows to use.

        Returns
        -------
        ndarray of shape (q, q)
            Symmetric and positive semidefinite; exact if all rows are used.
        """
        tree, loss, rows = self.tree, self, self.tree.rows
        if n_rows < len(rows):
            if self._sample is None or len(self._sample[0]) > 2 * n_rows:
                self._sample = tree.sample(n_rows)
            rows, tree = self._sample
            loss = GradeSquaredHinge(tree)
            loss.expand(self._u[rows])
            rows = rows[tree.rows]
        part = np.asarray(A[rows].toarray() if sp.issparse(A) else A[rows])
        part -= part.mean(axis=0)
        heavy = tree.weight[:, None]
        bent = loss._degree[:, None] * part
        bent -= tree.partner_rows(heavy * part)
        bent *= 2.0 * heavy * np.reshape(tree.scale, (-1, 1))
        sketch = inner_products(part, bent)
        if tree is not self.tree:
            sketch *= self.tree.total / max(tree.total, 1.0)
        return 0.5 * (sketch + sketch.T)
