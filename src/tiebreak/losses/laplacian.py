# SPDX-License-Identifier: BSD-3-Clause
r"""Laplacians: the sum of squared differences over pairs, as a quadratic form.

.. math:: v^⊤ L v = \sum_{(i,j)} w_{ij} (v_i - v_j)^2,

a sum over pairs, each counted once, and not a mean. L is positive semidefinite and
takes constants to zero: inside a group (or a connected part of a graph of pairs) only
differences count. It is L = BᵀB for a root B, with which a penalized sum of squared
differences becomes a least-squares problem: dᵀLd = ‖Bd‖².

The Laplacian of groups, in which every two rows of a group are a pair of weight
w_i w_j, is never stored. With W the weight of a group and v̄ = Σ w_i v_i / W its mean,

.. math:: (L v)_i = w_i (W v_i - \sum_j w_j v_j) = W w_i (v_i - \bar v)

over the rows j of the group of i, so that B centers a group and scales it.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.threads import chunks, in_threads

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Rows that are centered at a time where only their products are wanted, and columns.
_CHUNK, _COLUMNS = 4096, 256


class Laplacian(Protocol):
    """L = BᵀB of n items, by its products."""

    n: int
    n_roots: int

    def product(self, V: Floats) -> Floats:
        """Give L V."""

    def quadratic(self, V: Any) -> Any:
        """Give VᵀLV."""

    def diagonal(self) -> Floats:
        """Give the diagonal of L."""

    def root(self, V: Floats) -> Floats:
        """Give B V."""

    def root_transpose(self, R: Floats) -> Floats:
        """Give Bᵀ R."""

    def sandwich(self, K: Floats) -> Floats:
        """Give B K Bᵀ of a symmetric K, perhaps in its memory."""


class GroupLaplacian:
    """All pairs of rows of a group; L is block diagonal and never stored."""

    def __init__(
        self, group: Codes, weight: Floats | None = None, per_group: str = "sum"
    ) -> None:
        if per_group not in ("sum", "mean"):
            raise ValueError(f"per_group must be 'sum' or 'mean', got {per_group!r}.")
        n = len(group)
        self.n = self.n_roots = n
        self.group = group
        self.weight = np.ones(n) if weight is None else weight
        n_groups = int(group.max(initial=-1)) + 1
        self.size: Floats = np.bincount(group, self.weight, n_groups).astype(float)
        # A group without weight has no mean; its rows have no weight either.
        share = self.weight / np.where(self.size > 0.0, self.size, 1.0)[group]
        self._share = share
        place, shape = (group, np.arange(n)), (n_groups, n)
        self._mean = sp.csr_array((share, place), shape=shape)
        self._member = sp.csr_array((np.ones(n), place), shape=shape)
        factor = self.size[group] if per_group == "sum" else np.ones(n)
        self._scale = factor * self.weight
        self._root_scale = np.sqrt(self._scale)

    def center(self, V: Floats) -> Floats:
        """Subtract from every row the weighted mean of its group."""
        centered = (self._mean @ V)[self.group]
        return np.subtract(V, centered, out=centered)

    def product(self, V: Floats) -> Floats:
        """Give L V in O(n k)."""
        return _scale(self.center(V), self._scale)

    def quadratic(self, V: Any) -> Any:
        """Give VᵀLV."""
        mean = self._mean @ V
        if not sp.issparse(V):

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
        mean = mean.toarray()
        total = np.bincount(self.group, self._scale, len(self.size))
        squares = (V.T @ V.multiply(self._scale[:, None]).tocsr()).toarray()
        return squares - mean.T @ (total[:, None] * mean)

    def diagonal(self) -> Floats:
        """Give the diagonal of L, shape (n,)."""
        return self._scale * (1.0 - self._share)

    def root(self, V: Floats) -> Floats:
        """Give B V, with L = BᵀB: rows are centered and scaled."""
        return _scale(self.center(V), self._root_scale)

    def sandwich(self, K: Floats) -> Floats:
        """Give B K Bᵀ of a symmetric K, in its memory."""
        for V in (K, K.T):
            for start in range(0, self.n, _COLUMNS):
                columns = slice(start, start + _COLUMNS)
                V[:, columns] = self.root(np.ascontiguousarray(V[:, columns]))
        return K

    def root_of(self, V: Floats, rows: Codes) -> Floats:
        """Give the rows of B V that belong to one group, from these rows of V."""
        return _scale(V - self._share[rows] @ V, self._root_scale[rows])

    def root_transpose(self, R: Floats) -> Floats:
        """Give Bᵀ R."""
        scaled = _scale(np.array(R), self._root_scale)
        scaled -= self._mean.T @ (self._member @ scaled)
        return scaled


class PairLaplacian:
    """Pairs that are written down; L is sparse."""

    def __init__(
        self, left: Codes, right: Codes, weight: Floats | None, n_items: int
    ) -> None:
        m = len(left)
        self.n, self.n_roots = n_items, m
        self.weight = np.ones(m) if weight is None else weight
        scale = np.sqrt(self.weight)
        row = np.arange(m)
        self._B = sp.csr_array(
            (
                np.concatenate([scale, -scale]),
                (np.concatenate([row, row]), np.concatenate([right, left])),
            ),
            shape=(m, n_items),
        )
        self._L = (self._B.T @ self._B).tocsr()

    def product(self, V: Floats) -> Floats:
        """Give L V."""
        return np.asarray(self._L @ V)

    def quadratic(self, V: Any) -> Any:
        """Give VᵀLV."""
        if sp.issparse(V):
            return (V.T @ (self._L @ V)).toarray()
        if self.n_roots <= self.n:
            rooted = self.root(V)
            return rooted.T @ rooted
        form = V.T @ self.product(V)
        return 0.5 * (form + form.T)

    def diagonal(self) -> Floats:
        """Give the diagonal of L, shape (n,)."""
        return np.asarray(self._L.diagonal())

    def root(self, V: Floats) -> Floats:
        """Give B V, with L = BᵀB: √w times the difference right - left of each pair."""
        return np.asarray(self._B @ V)

    def root_transpose(self, R: Floats) -> Floats:
        """Give Bᵀ R."""
        return np.asarray(self._B.T @ R)

    def sandwich(self, K: Floats) -> Floats:
        """Give B K Bᵀ of a symmetric K."""
        return self.root(np.ascontiguousarray(self.root(K).T))


def _scale(V: Floats, factor: Floats) -> Floats:
    """Multiply rows in place."""
    V *= factor if V.ndim == 1 else factor[:, None]
    return V
