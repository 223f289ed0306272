# SPDX-License-Identifier: BSD-3-Clause
"""A utility that is linear in features, or a sum of kernel functions at items.

Kernels become features.

The Gram matrix of the distinct items has a pivoted Cholesky factor, K = G Gᵀ, and a
linear utility G β on its rows has the norm of the utility in the space of the kernel,
‖w‖² = ‖β‖². With the pivots P, G = K[:, P] T⁻ᵀ for a triangular T, so the utility of
any item is k(x, items P) a with Tᵀ a = β.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from tiebreak.data import ItemTable
from tiebreak.data.threads import chunks, in_threads
from tiebreak.data.validation import check_features
from tiebreak.kernels import FunctionKernel, KernelFunction, pivoted_cholesky
from tiebreak.models.base import UtilityMixin
from tiebreak.models.training_items import TrainingItems

_CHUNK = 2048
_ALL = [slice(None)]


class KernelUtility(UtilityMixin):
    """Utility w·x (``coef_``) or Σ item_coef_[j] k(support_items_[j], x).

    Subclasses store the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``.
    With a precomputed kernel, ``item_coef_`` has one entry for each column.
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float

    def _keep_expansion(self, items: TrainingItems, a: np.ndarray) -> None:
        """Keep the coefficients of the distinct training items."""
        if items.gram is not None:
            self.item_coef_ = a
        elif items.is_linear:
            self.coef_ = items.linear_coef(a)
        else:
            assert items.table is not None and items.function is not None
            needed = np.flatnonzero(a)
            self.item_coef_ = a[needed]
            self.support_items_ = items.table.values[needed]
            self.gamma_ = items.function.gamma

    def _utility_of_table(self, table: ItemTable) -> NDArray[np.float64]:
        if not hasattr(self, "coef_"):
            return super()._utility_of_table(table)
        # Row by row, identical items get the identical utility without being merged.
        check_features(self, table)
        return self._utility(table)

    def _utility(self, table: ItemTable) -> np.ndarray:
        values = table.values
        if hasattr(self, "coef_"):
            return weigh_features(values, self.coef_)
        if not hasattr(self, "support_items_"):
            return np.asarray(values @ self.item_coef_).ravel()
        if callable(self.kernel):
            function = KernelFunction(self.kernel)
        else:
            function = KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0)
        return expand_kernel(function, values, self.support_items_, self.item_coef_)


def weigh_features(values: Any, coef: np.ndarray) -> NDArray[np.float64]:
    """``values @ coef``, in which equal rows give equal results to the last bit.

    A product of the linear algebra library would not: how it sums a row may depend on
    where in the table the row stands.

    Parameters
    ----------
    values : ndarray or csr_array of shape (n, p)
        Items.
    coef : ndarray of shape (p,)
        Weights of the features.

    Returns
    -------
    ndarray of shape (n,)
    """
    if sp.issparse(values):
        return np.asarray(values @ coef).ravel()
    out = np.empty(len(values))
    coef = np.ascontiguousarray(coef, dtype=np.float64)

    def fill(rows: slice) -> None:
        weigh_rows(values[rows], coef, out[rows])

    in_threads(fill, chunks(len(values), 100_000) if len(values) > _CHUNK else _ALL)
    return out


@njit(cache=True, nogil=True)
def weigh_rows(
    values: NDArray[np.float64], coef: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write the weighted sum of every row to ``out``."""
    for i in range(len(values)):
        total = 0.0
        for j in range(len(coef)):
            total += values[i, j] * coef[j]
        out[i] = total


def expand_kernel(
    function: KernelFunction, values: Any, centers: Any, coef: np.ndarray
) -> np.ndarray:
    """``K(values, centers) @ coef``, a chunk of rows at a time."""
    if centers.shape[0] == 0:
        return np.zeros((values.shape[0], *coef.shape[1:]))

    def chunk(start: int) -> np.ndarray:
        return function.block(values[start : start + _CHUNK], centers) @ coef

    return np.concatenate(in_threads(chunk, range(0, values.shape[0], _CHUNK)))


Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# Largest entry of K - G Gᵀ, relative to the largest entry of K.
FACTOR_TOL = 1e-10
# Up to this many items the Gram matrix is formed; beyond, so many pivots must do.
MAX_PIVOTS = 4096


@dataclass(frozen=True, eq=False)
class KernelFactor:
    """K = G Gᵀ, of items that are few enough or alike enough.

    Attributes
    ----------
    values : ndarray of shape (N, r)
        G, lower triangular in the rows of the pivots.
    pivots : ndarray of int of shape (r,)
        The items that the others are expressed by.
    """

    values: Vector
    pivots: NDArray[np.intp]

    def item_coef(self, beta: Vector) -> Vector:
        """Coefficients a on the pivots: utility(x) = k(x, items P) a."""
        triangle = self.values[self.pivots]
        return np.asarray(la.solve_triangular(triangle, beta, trans="T", lower=True))


def factor_kernel(items: TrainingItems, rows: Codes) -> KernelFactor:
    """Factor the kernel between training items, within ``FACTOR_TOL``.

    Parameters
    ----------
    items : TrainingItems
        Items with a kernel function or a Gram matrix.
    rows : ndarray of int
        The items that occur, as rows of the Gram matrix; all distinct items when
        there is a kernel function.

    Returns
    -------
    KernelFactor
    """
    if items.gram is not None:
        return _factor_gram(items.gram[np.ix_(rows, rows)])
    assert items.function is not None and items.table is not None
    kernel = FunctionKernel(items.function, items.table.values)
    if kernel.n_items <= MAX_PIVOTS:
        return _factor_gram(kernel.block(np.arange(kernel.n_items), np.float64))
    factor = pivoted_cholesky(
        lambda index: kernel.block(index, np.float64),
        items.function.diagonal(items.table.values),
        max_pivots=MAX_PIVOTS,
        tol=FACTOR_TOL,
    )
    if factor.indefinite:
        raise ValueError(
            "the kernel between the training items is not positive semidefinite: what "
            f"{len(factor.pivots)} of them leave of its diagonal is negative, so there "
            "is no norm to penalize. Try another kernel, or for a polynomial one "
            "coef0 ≥ 0."
        )
    if not factor.complete:
        raise ValueError(
            f"the kernel between the {kernel.n_items} distinct items needs more than "
            f"{MAX_PIVOTS} of them to express the others. Try a smaller gamma, or "
            "approximate features: a NystroemMap before this model with "
            "kernel='linear', inside OnItems where there are comparisons."
        )
    return KernelFactor(np.ascontiguousarray(factor.rows.T), factor.pivots)


def _factor_gram(gram: Vector) -> KernelFactor:
    """Factor a matrix that is there; an indefinite one is no kernel."""
    scale = np.abs(gram).max(initial=0.0)
    if not np.isfinite(scale):
        raise ValueError(
            "the kernel between the training items is not finite: some of its values "
            "are NaN or inf. Scale the features first, for example with "
            "StandardScaler, or try another kernel."
        )
    lower, order, r, _ = dpstrf(gram, lower=1, tol=FACTOR_TOL * scale)
    values = np.empty((len(gram), r))
    values[order - 1] = np.tril(lower)[:, :r]
    # A semidefinite matrix is now explained; the rest of another one is not small.
    probe = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(gram), 8))
    rest = np.abs(gram @ probe - values @ (values.T @ probe)).max(initial=0.0)
    if rest > 1e-8 * scale * len(gram):
        lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
        raise ValueError(
            "the kernel between the training items is not positive semidefinite: its "
            f"matrix has the eigenvalue {lowest:.3g}, so there is no norm to penalize. "
            "Try another kernel, or for a polynomial one coef0 ≥ 0."
        )
    return KernelFactor(values, order[:r] - 1)
