# SPDX-License-Identifier: BSD-3-Clause
"""Points at which a utility is asked for squared differences, and their kernel.

A utility is w·Φ(x). Penalized least squares knows it in one of two ways: by weights of
the columns of a design A, u = A x and ‖w‖ = ‖x‖, or by coefficients of the points,
u = K a and ‖w‖² = aᵀKa, with the kernel matrix K = A Aᵀ of the n points.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.threads import chunks, in_threads
from tiebreak.kernels import FunctionKernel, GramKernel, ItemKernel
from tiebreak.kernels.pair_rows import DifferenceRows
from tiebreak.losses import Laplacian
from tiebreak.models.kernel_factor import KernelFactor, factor_kernel
from tiebreak.models.kernel_utility import KernelUtility
from tiebreak.models.pair_program import TrainingItems

__all__ = ["CONSTANT", "KernelPoints", "LinearPoints", "Points", "weigh_squares"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# A feature that varies by less, inside groups and relative to its size, is constant.
CONSTANT = 1e-12
# Columns that are made dense, or rows of a kernel that are computed, at a time.
_CHUNK = 1024
# Smallest eigenvalue of a kernel matrix that rounding explains, relative to its size.
_ROUNDING = 1e-8


class Points(Protocol):
    """n points and the kernel between them."""

    n: int
    n_columns: int

    @property
    def design(self) -> Any:
        """A, of shape (n, q)."""
        ...

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m), for the root B of a Laplacian."""
        ...

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        ...

    def product(self, a: Floats) -> Floats:
        """Give K a."""
        ...

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        ...

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        ...

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set the attributes of a utility with weights x of the columns of A."""
        ...

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set the attributes of a utility with coefficients Bᵀb of the points."""
        ...


class LinearPoints:
    """Points with features: A holds them, and K = A Aᵀ.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, p)
        Features.
    """

    def __init__(self, X: Any) -> None:
        self.design = X
        self.n, self.n_columns = X.shape

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        cross = np.zeros((self.n, laplacian.n_roots))
        for X, Z in self._rooted(laplacian):
            cross += X @ Z.T
        return cross

    def _rooted(self, laplacian: Laplacian) -> Iterator[tuple[Any, Floats]]:
        """Give X and B X, some columns at a time.

        Centered features lose no digits to their distance from the origin, and what
        rounding leaves of features that are constant inside groups is set to zero.
        """
        diagonal = laplacian.diagonal()
        columns = self.design.tocsc() if sp.issparse(self.design) else self.design
        for start in range(0, self.n_columns, _CHUNK):
            X = columns[:, start : start + _CHUNK]
            dense = _dense(X)
            Z = laplacian.root(dense)
            size = weigh_squares(dense, diagonal)
            Z[:, np.einsum("ij,ij->j", Z, Z) <= CONSTANT**2 * size] = 0.0
            yield X, Z

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        X = self.design[rows]
        return _dense(X @ X.T)

    def product(self, a: Floats) -> Floats:
        """Give K a."""
        return np.asarray(self.design @ (self.design.T @ a))

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return _dense(self.design[rows] @ self.design.T)

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return DifferenceRows(self.design).diagonal()

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set ``coef_``."""
        model.coef_ = x

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set ``coef_``."""
        model.coef_ = np.concatenate([b @ Z for _, Z in self._rooted(laplacian)])


class KernelPoints:
    """Points that are items with a kernel; several may be the same item.

    Parameters
    ----------
    items : TrainingItems
        Distinct items with a kernel function or a Gram matrix.
    code : ndarray of int of shape (n,)
        The item of each point.
    """

    def __init__(self, items: TrainingItems, code: Codes) -> None:
        self.items, self.code = items, code
        self.n = len(code)
        # Items of a Gram matrix may not all occur.
        self._used, self._place = np.unique(code, return_inverse=True)
        self.n_columns = len(self._used)
        self._kernel: ItemKernel
        if items.gram is not None:
            self._kernel = GramKernel(items.gram)
        else:
            assert items.function is not None and items.table is not None
            self._kernel = FunctionKernel(items.function, items.table.values)

    @cached_property
    def _factor(self) -> KernelFactor:
        return factor_kernel(self.items, self._used)

    @property
    def design(self) -> Floats:
        """A, the factor of K: shape (n, q), with q at most the number of items."""
        return self._factor.values[self._place]

    def cross(self, laplacian: Laplacian) -> Floats:
        """Give K Bᵀ, of shape (n, m)."""
        gram = np.empty((self.n_columns, self.n_columns))

        def fill(rows: slice) -> None:
            # Threads do not inherit what the caller says about overflow.
            with np.errstate(over="ignore", invalid="ignore"):
                block = self._kernel.block(self._used[rows], np.float64)
            # Of a precomputed kernel not all items need occur.
            gram[rows] = block[:, self._used]

        in_threads(fill, chunks(self.n_columns, _CHUNK))
        self._refuse_indefinite(gram)
        if not np.array_equal(self._place, np.arange(self.n_columns)):
            gram = gram[np.ix_(self._place, self._place)]
        return laplacian.root(gram).T

    def gram(self, rows: Codes) -> Floats:
        """Give K between some of the points."""
        return self.block(rows)[:, rows]

    def product(self, a: Floats) -> Floats:
        """Give K a, by blocks of kernel values that are not kept."""
        on_items = np.bincount(self.code, a, self._kernel.n_items)
        return self._kernel.product(on_items.astype(np.float64))[self.code]

    def block(self, rows: Codes) -> Floats:
        """Give rows of K."""
        return self._kernel.block(self.code[rows], np.float64)[:, self.code]

    def diagonal(self) -> Floats:
        """Give the diagonal of K."""
        return self._kernel.paired(self.code, self.code)

    def keep_columns(self, model: KernelUtility, x: Floats) -> None:
        """Set the coefficients of the pivots of the factor."""
        a = np.zeros(self.items.n_items)
        a[self._used[self._factor.pivots]] = self._factor.item_coef(x)
        model._keep_expansion(self.items, a)

    def keep_roots(self, model: KernelUtility, laplacian: Laplacian, b: Floats) -> None:
        """Set the coefficients of the items."""
        a = laplacian.root_transpose(b)
        on_items = np.bincount(self.code, a, self.items.n_items)
        model._keep_expansion(self.items, on_items.astype(np.float64))

    def _refuse_indefinite(self, gram: Floats) -> None:
        if not np.isfinite(gram).all():
            raise ValueError(
                "the kernel between the training items is not finite: some of its "
                "values are NaN or inf. Scale the features first, for example with "
                "StandardScaler, or try another kernel."
            )
        function = self.items.function
        known = function is not None and function.name in ("linear", "rbf")
        if known or (
            function is not None and function.name == "poly" and function.coef0 >= 0
        ):
            return
        scale = np.abs(gram).max(initial=0.0)
        moved = gram + (_ROUNDING * scale * len(gram)) * np.eye(len(gram))
        try:
            la.cholesky(moved, lower=True, overwrite_a=True, check_finite=False)
        except la.LinAlgError:
            lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
            if lowest >= -_ROUNDING * scale * len(gram):  # zero, but for rounding
                return
            raise ValueError(
                "the kernel between the training items is not positive semidefinite: "
                f"its matrix has the eigenvalue {lowest:.3g}, so there is no norm to "
                "penalize. Try another kernel, or for a polynomial one coef0 ≥ 0."
            ) from None


def weigh_squares(A: Any, weight: Floats) -> Floats:
    """Give the sum of squares of every column, rows weighted.

    Parameters
    ----------
    A : ndarray or sparse array of shape (n, q)
        Columns.
    weight : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    ndarray of shape (q,)
    """
    if sp.issparse(A):
        return np.asarray(A.multiply(A).T @ weight)
    return np.einsum("ij,ij,i->j", A, A, weight)


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if sp.issparse(values) else values)
