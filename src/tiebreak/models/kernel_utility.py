# SPDX-License-Identifier: BSD-3-Clause
"""A utility that is linear in features, or a sum of kernel functions at items.

Kernels become features: the Gram matrix of the distinct items has a pivoted Cholesky
factor, K = G Gᵀ, and a linear utility G β on its rows has the norm of the utility in
the space of the kernel, ‖w‖² = ‖β‖². With the pivots P, G = K[:, P] T⁻ᵀ for a
triangular T, so the utility of any item is k(x, items P) a with Tᵀ a = β.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpstrf

from tiebreak.data import ItemTable
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads
from tiebreak.data.validation import check_features
from tiebreak.kernels import KernelFunction, pivoted_cholesky
from tiebreak.models.base import UtilityMixin
from tiebreak.models.training_items import TrainingItems

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

_CHUNK = 2048
_ALL = [slice(None)]

# Largest entry of K - G Gᵀ, relative to the largest entry of K.
FACTOR_TOL = 1e-10
# Up to this many items the Gram matrix is formed; beyond, so many pivots must do.
MAX_PIVOTS = 6144


class KernelUtility(UtilityMixin):
    """Utility w·x (``coef_``) or Σ item_coef_[j] k(support_items_[j], x)."""

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    gamma_: float
    item_coef_: Vector
    support_items_: Any

    def _utility_of_table(self, table: ItemTable) -> Vector:
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
        function = fitted_kernel(self)
        return expand_kernel(function, values, self.support_items_, self.item_coef_)


def expansion(items: TrainingItems, a: np.ndarray) -> dict[str, Any]:
    """Return the attributes of Σ a_j k(item j, x), for a on the distinct items."""
    if items.gram is not None:
        return {"item_coef_": a}
    if items.is_linear:
        return {"coef_": items.linear_coef(a)}
    assert items.table is not None and items.function is not None
    needed = np.flatnonzero(a)
    return {
        "item_coef_": a[needed],
        "support_items_": items.table.values[needed],
        "gamma_": items.function.gamma,
    }


def support(given: Codes, coef: np.ndarray) -> dict[str, Any]:
    """Return the coefficients that are not zero, and their places in ``given``."""
    used = np.flatnonzero(coef)
    return {"support_": given[used], "dual_coef_": coef[used]}


def fitted_kernel(model: Any) -> KernelFunction:
    """Return the kernel function of a fitted model, with its ``gamma_``."""
    if callable(model.kernel):
        return KernelFunction(model.kernel)
    return KernelFunction(model.kernel, model.gamma_, model.degree, model.coef0)


def weigh_features(values: Any, coef: np.ndarray) -> Vector:
    """``values @ coef``, in which equal rows give equal results to the last bit."""
    if sp.issparse(values):
        return np.asarray(values @ coef).ravel()
    # A product of the linear algebra library would not: how it sums a row may depend
    # on where in the table the row stands.
    out = np.empty(len(values))
    coef = np.ascontiguousarray(coef, dtype=np.float64)

    def fill(rows: slice) -> None:
        weigh_rows(values[rows], coef, out[rows])

    in_threads(fill, chunks(len(values), 100_000) if len(values) > _CHUNK else _ALL)
    return out


@njit(cache=True, nogil=True)
def weigh_rows(values: Vector, coef: Vector, out: Vector) -> None:
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


@dataclass(frozen=True, eq=False)
class KernelFactor:
    """K = G Gᵀ; G of shape (N, r) is lower triangular in the rows of the pivots."""

    values: Vector
    pivots: NDArray[np.intp]
    rest: float = 0.0  # trace of K - G Gᵀ, where it is known

    def item_coef(self, beta: Vector) -> Vector:
        """Coefficients a on the pivots: utility(x) = k(x, items P) a."""
        triangle = self.values[self.pivots]
        return np.asarray(la.solve_triangular(triangle, beta, trans="T", lower=True))


def design_expansion(
    x: Vector,
    items: TrainingItems | None,
    factor: KernelFactor | None,
    columns: Codes | None = None,
) -> dict[str, Any]:
    """Return the attributes of a utility with coefficients x of factor or features.

    ``columns`` has the distinct item of each row of the factor, if not its own.
    """
    if items is None or factor is None:
        return {"coef_": x}
    a = np.zeros(items.n_items)
    pivots = factor.pivots if columns is None else columns[factor.pivots]
    a[pivots] = factor.item_coef(x)
    return expansion(items, a)


def refuse_diagonal(n_pivots: int) -> NoReturn:
    """Raise the error of a kernel of which so many pivots leave a negative diagonal."""
    refuse_indefinite(f"what {n_pivots} of them leave of its diagonal is negative")


def refuse_indefinite(why: str) -> NoReturn:
    """Raise the error of a kernel that is not positive semidefinite."""
    raise ValueError(
        f"the kernel between the training items is not positive semidefinite: {why}, "
        "so there is no norm to penalize. Try another kernel, or for a polynomial one "
        "coef0 ≥ 0."
    ) from None


def refuse_infinite() -> NoReturn:
    """Raise the error of a kernel with values that are no numbers."""
    raise ValueError(
        "the kernel between the training items is not finite: some of its values are "
        "NaN or inf. Scale the features first, for example with StandardScaler, or try "
        "another kernel."
    )


def factor_kernel(items: TrainingItems, rows: Codes) -> KernelFactor:
    """Factor the kernel between items, within ``FACTOR_TOL``; ``rows`` of a matrix."""
    if items.gram is not None:
        return factor_gram(items.gram[np.ix_(rows, rows)])
    assert items.function is not None and items.table is not None
    kernel = items.kernel
    if kernel.n_items <= MAX_PIVOTS:
        return factor_gram(kernel.block(np.arange(kernel.n_items), np.float64))
    factor = thin_factor(items, MAX_PIVOTS, FACTOR_TOL)
    if factor is None:
        raise ValueError(
            f"the kernel between the {kernel.n_items} distinct items needs more than "
            f"{MAX_PIVOTS} of them to express the others. Try a smaller gamma, or "
            "approximate features: a NystroemMap before this model with "
            "kernel='linear', inside OnItems where there are comparisons."
        )
    return factor


def thin_factor(
    items: TrainingItems, max_pivots: int, tol: float
) -> KernelFactor | None:
    """Factor the kernel between items from few of its rows, if these are enough."""
    assert items.function is not None and items.table is not None
    kernel, diagonal = items.kernel, items.function.diagonal(items.table.values)
    if not np.isfinite(diagonal).all():
        refuse_infinite()
    factor = pivoted_cholesky(
        lambda index: kernel.block(index, np.float64),
        diagonal,
        max_pivots=max_pivots,
        tol=tol,
    )
    if factor.indefinite:
        refuse_diagonal(len(factor.pivots))
    if not factor.complete:
        return None
    rest = float(factor.left.sum())
    return KernelFactor(np.ascontiguousarray(factor.rows.T), factor.pivots, rest)


def factor_gram(gram: Vector) -> KernelFactor:
    """Factor a matrix that is there; an indefinite one is no kernel."""
    scale = np.abs(gram).max(initial=0.0)
    if not np.isfinite(scale):
        refuse_infinite()
    # Without pivots it takes a third of the time, and fails early where they matter.
    upper, info = dpotrf(gram, lower=0, clean=1)
    if info == 0 and upper.diagonal().min(initial=np.inf) ** 2 > FACTOR_TOL * scale:
        return KernelFactor(upper.T, np.arange(len(gram)))
    lower, order, r, _ = dpstrf(gram, lower=1, tol=FACTOR_TOL * scale)
    values = np.empty((len(gram), r))
    values[order - 1] = np.tril(lower)[:, :r]
    # A semidefinite matrix is now explained; the rest of another one is not small.
    probe = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(gram), 8))
    rest = np.abs(gram @ probe - values @ (values.T @ probe)).max(initial=0.0)
    if rest > 1e-8 * scale * len(gram):
        lowest = la.eigvalsh(gram, subset_by_index=[0, 0])[0]
        refuse_indefinite(f"its matrix has the eigenvalue {lowest:.3g}")
    return KernelFactor(values, order[:r] - 1)
