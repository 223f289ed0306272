# SPDX-License-Identifier: BSD-3-Clause
"""From coefficients to differences of utilities: linear maps that are never stored.

A design is the matrix D of shape (m, q) in d = D β, where d holds r(right) - r(left)
of m comparisons. It is known by four operations: D β, Dᵀ g, Dᵀ diag(h) D, and the
diagonal of the latter.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

__all__ = ["CovariateDesign", "Design", "FeatureDesign", "ItemDesign", "JointDesign"]

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# A Laplacian with at most this many entries per comparison is better dense.
_FILLED = 16


class Design(Protocol):
    """A matrix D of shape (m, n_coef) in d = D β."""

    n_coef: int

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        ...

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        ...

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D."""
        ...

    def diagonal(self, h: Vector) -> Vector:
        """Give the diagonal of Dᵀ diag(h) D."""
        ...

    def weighted(self, h: Vector) -> Vector:
        """Give diag(h) D as a dense matrix of shape (m, n_coef)."""
        ...


class ItemDesign:
    """One coefficient per item: d = β[right] - β[left].

    Parameters
    ----------
    left, right : ndarray of int64 of shape (m,)
        Items of each comparison.
    n_items : int
        How many items there are.
    """

    def __init__(self, left: Codes, right: Codes, n_items: int) -> None:
        self.left, self.right, self.n_coef = left, right, n_items

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return beta[self.right] - beta[self.left]

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        out = np.zeros(self.n_coef)
        _scatter_differences(self.left, self.right, g, out)
        return out

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D, the Laplacian of the graph with weights h."""
        out = np.zeros((self.n_coef, self.n_coef))
        _scatter_laplacian(self.left, self.right, h, out)
        return out

    def diagonal(self, h: Vector) -> Vector:
        """Give the diagonal of Dᵀ diag(h) D."""
        # An item compared with itself has d = 0, whatever its coefficient.
        h = np.where(self.left == self.right, 0.0, h)
        out = np.bincount(self.left, h, self.n_coef)
        return np.asarray(out + np.bincount(self.right, h, self.n_coef), np.float64)

    def weighted(self, h: Vector) -> Vector:
        """Give diag(h) D as a dense matrix of shape (m, n_coef)."""
        out = np.zeros((len(h), self.n_coef))
        rows = np.arange(len(h))
        out[rows, self.right] += h
        out[rows, self.left] -= h
        return out


class CovariateDesign:
    """Covariates of the comparisons themselves, in favor of left: d = -Z β.

    Parameters
    ----------
    covariates : ndarray of shape (m, q)
        Z, one row per comparison.
    """

    def __init__(self, covariates: Vector) -> None:
        self.covariates = covariates
        self.n_coef = covariates.shape[1]

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return -(self.covariates @ beta)

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return -(self.covariates.T @ g)

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D."""
        return self.covariates.T @ (h[:, None] * self.covariates)

    def diagonal(self, h: Vector) -> Vector:
        """Give the diagonal of Dᵀ diag(h) D."""
        return h @ self.covariates**2

    def weighted(self, h: Vector) -> Vector:
        """Give diag(h) D as a dense matrix of shape (m, n_coef)."""
        return -h[:, None] * self.covariates


class FeatureDesign:
    """A linear utility of the items' features: d = (X β)[right] - (X β)[left].

    Products go through the items, so m comparisons of N items cost O(m + N p), and
    Dᵀ diag(h) D costs O(m p + N p²) instead of O(m p²).

    Parameters
    ----------
    features : ndarray or CSR array of shape (N, p)
        X, one row per item.
    left, right : ndarray of int64 of shape (m,)
        Items of each comparison.
    """

    def __init__(self, features: Any, left: Codes, right: Codes) -> None:
        self.features = features
        self.items = ItemDesign(left, right, features.shape[0])
        self.n_coef = features.shape[1]

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return self.items.apply(np.asarray(self.features @ beta))

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return np.asarray(self.features.T @ self.items.back(g))

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D = Xᵀ L X, where L is the Laplacian with weights h."""
        out = self.features.T @ (self._laplacian(h) @ self.features)
        return out.toarray() if sp.issparse(out) else np.asarray(out)

    def diagonal(self, h: Vector) -> Vector:
        """Give the diagonal of Dᵀ diag(h) D."""
        product = self._laplacian(h) @ self.features
        if sp.issparse(self.features):
            return np.asarray(self.features.multiply(product).sum(axis=0)).ravel()
        return np.einsum("ij,ij->j", self.features, product)

    def weighted(self, h: Vector) -> Vector:
        """Give diag(h) D as a dense matrix of shape (m, n_coef)."""
        left, right = self.items.left, self.items.right
        out = self.features[right] - self.features[left]
        return h[:, None] * (out.toarray() if sp.issparse(out) else out)

    def _laplacian(self, h: Vector) -> Any:
        left, right, n = self.items.left, self.items.right, self.items.n_coef
        # Where most items have met each other, products are faster dense.
        if not sp.issparse(self.features) and n * n <= _FILLED * len(h):
            return self.items.gram(h)
        apart = np.flatnonzero(left != right)
        left, right, off = left[apart], right[apart], -h[apart]
        diagonal = np.arange(n)
        rows = np.concatenate([left, right, diagonal])
        columns = np.concatenate([right, left, diagonal])
        values = np.concatenate([off, off, self.items.diagonal(h)])
        return sp.csr_array((values, (rows, columns)), shape=(n, n))


class JointDesign:
    """Several designs side by side, d = D₁ β₁ + D₂ β₂ and so on.

    Parameters
    ----------
    *parts : Design
        At least one; coefficients follow each other in the same order.
    """

    def __init__(self, *parts: Design) -> None:
        self.parts = parts
        ends = np.cumsum([0, *(part.n_coef for part in parts)])
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        self.n_coef = int(ends[-1])

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        pieces = zip(self.parts, self.slices, strict=True)
        return sum(  # type: ignore[return-value]
            part.apply(beta[piece]) for part, piece in pieces
        )

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return np.concatenate([part.back(g) for part in self.parts])

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D."""
        out = np.empty((self.n_coef, self.n_coef))
        for i, (part, rows) in enumerate(zip(self.parts, self.slices, strict=True)):
            out[rows, rows] = part.gram(h)
            for other, columns in zip(
                self.parts[i + 1 :], self.slices[i + 1 :], strict=True
            ):
                block = _cross_gram(part, other, h)
                out[rows, columns] = block
                out[columns, rows] = block.T
        return out

    def diagonal(self, h: Vector) -> Vector:
        """Give the diagonal of Dᵀ diag(h) D."""
        return np.concatenate([part.diagonal(h) for part in self.parts])

    def weighted(self, h: Vector) -> Vector:
        """Give diag(h) D as a dense matrix of shape (m, n_coef)."""
        return np.concatenate([part.weighted(h) for part in self.parts], axis=1)


def _cross_gram(one: Design, two: Design, h: Vector) -> Vector:
    """Give Oneᵀ diag(h) Two, column by column of the one with fewer columns."""
    if isinstance(one, FeatureDesign) and isinstance(two, ItemDesign):
        same = one.items.left is two.left and one.items.right is two.right
        if same and one.items.n_coef == two.n_coef:
            return np.asarray(one.features.T @ two.gram(h))
    if one.n_coef < two.n_coef:
        return _cross_gram(two, one, h).T
    unit = np.eye(two.n_coef)
    columns = [one.back(h * two.apply(unit[j])) for j in range(two.n_coef)]
    return np.stack(columns, axis=1) if columns else np.empty((one.n_coef, 0))


@njit(cache=True, nogil=True)
def _scatter_differences(left, right, g, out):  # type: ignore[no-untyped-def]
    for k in range(len(g)):
        out[right[k]] += g[k]
        out[left[k]] -= g[k]


@njit(cache=True, nogil=True)
def _scatter_laplacian(left, right, h, out):  # type: ignore[no-untyped-def]
    for k in range(len(h)):
        i, j = left[k], right[k]
        if i != j:
            out[i, i] += h[k]
            out[j, j] += h[k]
            out[i, j] -= h[k]
            out[j, i] -= h[k]
