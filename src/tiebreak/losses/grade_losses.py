# SPDX-License-Identifier: BSD-3-Clause
r"""Losses of a utility vector over pairs of a better and a worse item.

With a pair (i, j) for any two rows of one group with y_i > y_j, weights w and the
group's factor c_g (1, or one over the weight of its pairs),

.. math::

    L(u) = \sum_{(i,j)} c_g\, w_i w_j\; \ell(1 - (u_i - u_j)),

a **sum** over pairs, for the hinge ℓ(z) = z₊ and its square ℓ(z) = z₊². A pair counts
when u_i < u_j + 1; at equality the hinge has the subgradient 0. With p_i the weight of
the worse items from which i keeps no margin, q_i that of the better ones, and b_i the
sum of w_j u_j over both,

    Σ w w z₊   = Σ_i w_i (p_i - u_i (p_i - q_i)),
    ∂/∂u_i     = -w_i (p_i - q_i),
    ½ ∂/∂u_i Σ w w z₊²  = w_i ((p_i + q_i) u_i - b_i - (p_i - q_i)),
    Σ w w z₊²  = Σ w w z₊ + ½ u·∂/∂u Σ w w z₊².
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.losses.comparison_likelihood import ItemDesign
from tiebreak.losses.grade_tree import GradeTree
from tiebreak.losses.linear_objective import inner_products


class GradeHinge:
    """Σ c w_i w_j (1 - s (u_i - u_j))₊ over pairs with y_i > y_j."""

    def __init__(self, tree: GradeTree, slope: float = 1.0) -> None:
        self.tree, self.slope = tree, slope

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Give the loss and a subgradient."""
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
    """Σ c w_i w_j (1 - (u_i - u_j))₊² over pairs with y_i > y_j."""

    def __init__(self, tree: GradeTree) -> None:
        self.tree = tree
        self._sample: tuple[Codes, GradeTree] | None = None

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Loss and gradient; H then speaks of u."""
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
        """H v at the last expanded point."""
        # (Hv)_i = 2 c w_i Σ_j w_j (v_i - v_j) over the partners j of i.
        tree = self.tree
        t = tree.center(tree.gather(v))
        out = self._degree * t
        out -= tree.partner_sum(tree.weight * t)
        out *= 2.0 * tree.weight * tree.scale
        return tree.scatter(out)

    def hessian_diagonal(self) -> Floats:
        """Diagonal of H at the last expanded point."""
        tree = self.tree
        return tree.scatter(2.0 * tree.weight * tree.scale * self._degree)

    def sketch(self, A: Any, n_rows: int | None = None) -> Floats:
        """Give AᵀHA, or estimate it from some of the rows."""
        tree, loss, rows = self.tree, self, self.tree.rows
        if n_rows is not None and n_rows < len(rows):
            if self._sample is None or len(self._sample[0]) > 2 * n_rows:
                self._sample = tree.sample(n_rows)
            rows, tree = self._sample
            loss = GradeSquaredHinge(tree)
            loss.expand(self._u[rows])
            rows = rows[tree.rows]
        part = np.asarray(A[rows].toarray() if sp.issparse(A) else A[rows])
        part -= part.mean(axis=0)
        heavy = tree.weight[:, None]
        curved = loss._degree[:, None] * part
        curved -= tree.partner_rows(heavy * part)
        curved *= 2.0 * heavy * np.reshape(tree.scale, (-1, 1))
        sketch = inner_products(part, curved)
        if tree is not self.tree:
            sketch *= self.tree.total / max(tree.total, 1.0)
        return 0.5 * (sketch + sketch.T)


class SmoothedHinge:
    """Hinges of pairs, rounded off between ±ε/2.

    ℓ(z) = ((z + ε/2)₊² - (z - ε/2)₊²) / 2ε: squared hinges, two of the same pairs, with
    the margins 1 ± ε/2. Its slopes are feasible dual variables of the hinge, so every
    point gives a lower bound.
    """

    def __init__(self, wide: Any, narrow: Any, width: float) -> None:
        self.width = width
        self._parts = (wide, 1.0 + 0.5 * width, 1.0), (narrow, 1.0 - 0.5 * width, -1.0)

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Loss and gradient; H then speaks of u."""
        value, gradient, self.dual_sum = 0.0, np.zeros(len(u)), 0.0
        for loss, margin, sign in self._parts:
            # (m - d)₊² = m² (1 - d/m)₊²
            one, slope = loss.expand(u / margin)
            value += sign * margin**2 * one / (2.0 * self.width)
            gradient += (sign * margin / (2.0 * self.width)) * slope
            self.dual_sum += sign * margin * loss.slack / self.width
        return value, gradient

    def sketch(self, A: Any) -> Floats:
        """Give AᵀHA; of some rows it would be indefinite."""
        (wide, *_), (narrow, *_) = self._parts
        return (wide.sketch(A) - narrow.sketch(A)) / (2.0 * self.width)


class ListedSquaredHinge:
    """Squared hinge over listed pairs, as a function of the utilities of n items."""

    def __init__(
        self, better: Codes, worse: Codes, weight: Floats, n_items: int
    ) -> None:
        self.pairs, self.weight = ItemDesign(worse, better, n_items), weight
        self._shuffled = np.random.default_rng(0).permutation(len(better))

    def expand(self, u: Floats) -> tuple[float, Floats]:
        """Loss and gradient; H then speaks of u."""
        short = self.short(u)
        self._curvature = 2.0 * self.weight * (short > 0.0)
        push = self.weight * short
        self.slack = float(push.sum())
        return float(push @ short), self.pairs.back(-2.0 * push)

    def short(self, u: Floats) -> Floats:
        """Give what the difference of each pair lacks of its margin."""
        return np.maximum(0.0, 1.0 - self.pairs.apply(u))

    def hessian_product(self, v: Floats) -> Floats:
        """H v at the last expanded point."""
        return self.pairs.back(self._curvature * self.pairs.apply(v))

    def hessian_diagonal(self) -> Floats:
        """Diagonal of H at the last expanded point."""
        return self.pairs.diagonal(self._curvature)

    def sketch(self, A: Any, n_rows: int | None = None) -> Floats:
        """Give AᵀHA, or estimate it from some of the pairs."""
        chosen = self._shuffled[:n_rows]
        difference = A[self.pairs.right[chosen]] - A[self.pairs.left[chosen]]
        if sp.issparse(difference):
            difference = difference.toarray()
        share = len(self._shuffled) / len(chosen)
        curved = difference * (share * self._curvature[chosen])[:, None]
        return inner_products(difference, curved)
