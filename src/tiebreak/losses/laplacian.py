# SPDX-License-Identifier: BSD-3-Clause
r"""Laplacians: the sum of squared differences over pairs, as a quadratic form.

.. math:: v^⊤ L v = \sum_{(i,j)} w_{ij} (v_i - v_j)^2,

a **sum** over pairs, each counted once, L = BᵀB for a root B.

The Laplacian of groups, in which every two rows of a group are a pair of weight
w_i w_j, is never stored. With W the weight of a group and v̄ = Σ w_i v_i / W its mean,

.. math:: (L v)_i = w_i (W v_i - \sum_j w_j v_j) = W w_i (v_i - \bar v)

over the rows j of the group of i, so that B centers a group and scales it.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import row_slices
from tiebreak.data.threads import chunks, in_threads
from tiebreak.losses.comparison_likelihood import ItemDesign
from tiebreak.losses.linear_objective import back_product, weigh_squares

# Rows that are centered at a time where only their products are wanted; the side of a
# block of a matrix that stays in the cache; and rows whose means are copied at a time,
# few enough for memory that is used again.
_CHUNK, _TILE, _FEW = 4096, 64, 16


class GroupLaplacian:
    """All pairs of rows of a group; L is block diagonal and never stored."""

    def __init__(
        self, group: Codes, weight: Floats | None = None, per_group: str = "sum"
    ) -> None:
        n = len(group)
        self.n = self.n_roots = n
        self.group = group
        self.weight = np.ones(n) if weight is None else weight
        n_groups = int(group.max(initial=-1)) + 1
        self.size: Floats = np.bincount(group, self.weight, n_groups).astype(float)
        # A group without weight has no mean; its rows have no weight either.
        share = self.weight / np.where(self.size > 0.0, self.size, 1.0)[group]
        self._share = share
        factor = self.size[group] if per_group == "sum" else np.ones(n)
        self._scale = factor * self.weight
        self._root_scale = np.sqrt(self._scale)

    @cached_property
    def _mean(self) -> sp.csr_array:
        place, shape = (self.group, np.arange(self.n)), (len(self.size), self.n)
        return sp.csr_array((self._share, place), shape=shape)

    @cached_property
    def _member(self) -> sp.csr_array:
        place, shape = (self.group, np.arange(self.n)), (len(self.size), self.n)
        return sp.csr_array((np.ones(self.n), place), shape=shape)

    def _means(self, V: Any) -> Any:
        """Give the weighted mean of every group, one row each."""
        if len(self.size) == 1 and not sp.issparse(V):
            return (self._share @ V)[None]
        return self._mean @ V

    def center(self, V: Floats) -> Floats:
        """Subtract from every row the weighted mean of its group."""
        mean = self._means(V)
        if len(mean) == 1:
            return V - mean
        centered = mean[self.group]
        return np.subtract(V, centered, out=centered)

    def product(self, V: Floats) -> Floats:
        """Give L V in O(n k)."""
        return _scale(self.center(V), self._scale)

    def form(self, V: Any, c: Floats) -> tuple[Any, Floats, Floats]:
        """VᵀLV, Vᵀc, and the diagonal before centering."""
        total = np.bincount(self.group, self._scale, len(self.size)).astype(float)
        if sp.issparse(V):
            mean = self._means(V).toarray()
            taken = mean.T @ (total[:, None] * mean)
            squares = (V.T @ V.multiply(self._scale[:, None]).tocsr()).toarray()
            return squares - taken, V.T @ c, squares.diagonal()
        mean = self._means(V)
        form = self._centered(V, mean)
        return form, back_product(V, c), form.diagonal() + total @ mean**2

    def _centered(self, V: Floats, mean: Floats) -> Any:
        """Give VᵀLV, every row centered before it is multiplied."""

        def part(rows: slice) -> Any:
            # Threads do not inherit what the caller says about overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                groups = self.group[rows] if len(mean) > 1 else 0
                rooted = V[rows] - mean[groups]
                if not same:
                    rooted = _scale(rooted, self._root_scale[rows])
                return rooted.T @ rooted

        same = self.n > 0 and (self._scale == self._scale[0]).all()
        squares = sum(in_threads(part, chunks(self.n, _CHUNK, V.shape[1])))
        return self._scale[0] * squares if same else squares

    def diagonal(self) -> Floats:
        """Give the diagonal of L, shape (n,)."""
        return self._scale * (1.0 - self._share)

    def root(self, V: Floats) -> Floats:
        """Give B V, with L = BᵀB: rows are centered and scaled."""
        return _scale(self.center(V), self._root_scale)

    def sandwich(self, K: Floats) -> Floats:
        """Give B K Bᵀ of a symmetric K, in its memory, from its upper half."""
        mirror(K)
        means = self._mean @ K
        center = self._mean @ means.T
        for rows in row_slices(self.n, _FEW):
            group, scale = self.group[rows], self._root_scale[rows, None]
            K[rows] += (center[group] - means[:, rows].T)[:, self.group] - means[group]
            K[rows] *= scale * self._root_scale
        return K

    def root_of(self, V: Floats, rows: Codes) -> Floats:
        """Rows of B V of one group, from these rows of V."""
        return _scale(V - self._share[rows] @ V, self._root_scale[rows])

    def root_transpose(self, R: Floats) -> Floats:
        """Give Bᵀ R."""
        scaled = _scale(np.array(R), self._root_scale)
        if len(self.size) == 1 and scaled.ndim == 1:
            scaled -= self._share * scaled.sum()
        else:
            scaled -= self._mean.T @ (self._member @ scaled)
        return scaled


class PairLaplacian:
    """Pairs that are written down; L is sparse."""

    def __init__(
        self, left: Codes, right: Codes, weight: Floats | None, n_items: int
    ) -> None:
        self.n, self.n_roots = n_items, len(left)
        self.weight = np.ones(len(left)) if weight is None else weight
        rows = ItemDesign(left, right, n_items).matrix()
        self._B = (sp.diags_array(np.sqrt(self.weight)) @ rows).tocsr()
        self._L = (self._B.T @ self._B).tocsr()

    @cached_property
    def _components(self) -> GroupLaplacian:
        return GroupLaplacian(connected_components(self._L)[1].astype(np.int64))

    def center(self, V: Floats) -> Floats:
        """Subtract from every row the mean of all that pairs connect with it."""
        return self._components.center(V)

    def product(self, V: Floats) -> Floats:
        """Give L V."""
        return np.asarray(self._L @ V)

    def form(self, V: Any, c: Floats) -> tuple[Any, Floats, Floats]:
        """Give VᵀLV, Vᵀc, and the diagonal if rows had nothing in common."""
        if sp.issparse(V):
            form = (V.T @ (self._L @ V)).toarray()
        elif self.n_roots <= self.n:
            rooted = self.root(V)
            form = rooted.T @ rooted
        else:
            half = V.T @ self.product(V)
            form = 0.5 * (half + half.T)
        return form, back_product(V, c), weigh_squares(V, self.diagonal())

    def diagonal(self) -> Floats:
        """Give the diagonal of L, shape (n,)."""
        return np.asarray(self._L.diagonal())

    def root(self, V: Floats) -> Floats:
        """Give B V: √w times the difference right - left of each pair."""
        return np.asarray(self._B @ V)

    def root_transpose(self, R: Floats) -> Floats:
        """Give Bᵀ R."""
        return np.asarray(self._B.T @ R)

    def sandwich(self, K: Floats) -> Floats:
        """Give B K Bᵀ of a symmetric K, from its upper half."""
        mirror(K)
        return self.root(np.ascontiguousarray(self.root(K).T))


Laplacian = GroupLaplacian | PairLaplacian


def mirror(K: Floats) -> None:
    """Copy the upper triangle of a matrix into the lower one."""
    for rows in row_slices(len(K), _TILE):
        tile = np.triu(K[rows, rows])
        K[rows, rows] = tile + np.triu(tile, 1).T
        K[rows.stop :, rows] = K[rows, rows.stop :].T


def _scale(V: Floats, factor: Floats) -> Floats:
    """Multiply rows in place."""
    V *= factor if V.ndim == 1 else factor[:, None]
    return V
