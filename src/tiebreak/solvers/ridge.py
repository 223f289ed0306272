# SPDX-License-Identifier: BSD-3-Clause
r"""Linear systems of penalized least squares, for one penalty or for many.

The minimizer of ‖t - Z x‖² + α‖x‖² solves (H + α I) x = h in either of two forms:

- of the columns of Z: H = ZᵀZ and h = Zᵀt;
- of its rows, with x = Zᵀ b: H = ZZᵀ and h = t, solved for b.

Where α is below the rounding of H, directions in its null space are left out: the
solution is that of least norm, the limit for α → 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as la
from scipy.linalg import lapack
from scipy.linalg.blas import dsymv

from tiebreak.data.arrays import Floats
from tiebreak.losses.comparison_covariance import invert_factor
from tiebreak.losses.laplacian import mirror
from tiebreak.solvers.newton import conjugate_gradients

Operator = Callable[[Floats], Floats]

# Rounding errors of H, relative to its norm.
_ROUNDING = 8.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """What solves (H + α I) x = h."""

    x: Floats  # (k,): The solution
    residual: float  # ‖h - (H + α I) x‖², of the equations that were not left out
    n_iter: int  # Number of products with H; 1 for a factorization
    method: str  # How it was found
    # Number of directions that were left out because rounding hides them.
    n_dropped: int = 0
    image: Floats | None = None  # (k,), H x, where H is there


class RidgeSystem:
    """(H + α I) x = h for a positive semidefinite H in memory."""

    def __init__(self, H: Floats, h: Floats) -> None:
        self.H, self.h = np.require(H, requirements=["C", "W"]), h
        norm = lapack.dlange("1", self.H.T) if H.size else 0.0
        self.floor = _ROUNDING * float(norm)

    def product(self, x: Floats) -> Floats:
        """Give H x, by half of the matrix."""
        return np.asarray(dsymv(1.0, self.H.T, x, lower=0)) if len(x) else x

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats]:
        values, vectors = la.eigh(self.H, check_finite=False)
        return np.maximum(values, 0.0), vectors, vectors.T @ self.h

    def solve(self, alpha: float) -> RidgeSolution:
        """Solve for one α, by Cholesky where rounding allows it."""
        if alpha <= self.floor:
            return self.solve_again(alpha)
        if not len(self.h):
            return RidgeSolution(self.h, 0.0, 1, "cholesky")
        # H is symmetric: its factor takes one half, and the other one restores it.
        H = self.H
        diagonal = H.diagonal().copy()
        self.H.flat[:: len(H) + 1] += alpha
        factor, failed = lapack.dpotrf(H.T, lower=1, clean=0, overwrite_a=1)
        x = self.h if failed else lapack.dpotrs(factor, self.h, lower=1)[0]
        H.flat[:: len(H) + 1] = diagonal
        mirror(H.T)
        if failed:  # α is just above the rounding of H
            return self.solve_again(alpha)
        image = self.product(x)
        residual = self.h - image - alpha * x
        square = float(residual @ residual)
        return RidgeSolution(x, square, 1, "cholesky", image=image)

    def solve_again(self, alpha: float) -> RidgeSolution:
        """Solve for one of several α, by one eigendecomposition."""
        values, vectors, along = self._eigen
        curvature = values + alpha
        known = curvature > self.floor
        x = vectors[:, known] @ (along[known] / curvature[known])
        image = self.product(x)
        residual = vectors[:, known].T @ (self.h - image - alpha * x)
        n_dropped, square = int((~known).sum()), float(residual @ residual)
        return RidgeSolution(x, square, 1, "eigen", n_dropped, image)

    def inverse(self, alpha: float) -> Floats:
        """Give (H + α I)⁻¹."""
        if alpha <= self.floor:
            raise la.LinAlgError("the penalty is lost in rounding")
        shifted = self.H.copy()
        shifted.flat[:: len(shifted) + 1] += alpha
        return invert_factor(la.cholesky(shifted, lower=True, overwrite_a=True))


def solve_by_products(
    product: Operator,
    h: Floats,
    alpha: float,
    precondition: Operator,
    allowed: Callable[[Floats, Floats], float],
    max_iter: int,
) -> RidgeSolution:
    """Solve (H + α I) x = h by preconditioned conjugate gradients.

    The updated residual drifts from the true one, so it is computed anew whenever it
    seems small enough.
    """

    def shifted(v: Floats) -> Floats:
        return product(v) + alpha * v

    x, residual, n_iter = np.zeros_like(h), h.copy(), 0
    while n_iter < max_iter:
        enough = allowed(x, residual)
        if residual @ residual <= enough:
            break
        step, n_products = conjugate_gradients(
            shifted,
            residual,
            precondition,
            lambda r, z, enough=enough: bool(r @ r <= enough),  # type: ignore[misc]
            max_iter - n_iter,
        )
        now = h - shifted(x + step)
        n_iter += n_products
        if not now @ now < residual @ residual:
            break
        x, residual = x + step, now
    return RidgeSolution(x, float(residual @ residual), n_iter, "cg")


def thin_inverse(Z: Floats, alpha: float) -> Operator:
    """Give r to (ZZᵀ + α I)⁻¹ r, for a thin Z."""
    inner = Z.T @ Z
    inner.flat[:: len(inner) + 1] += alpha + _ROUNDING * np.trace(inner)
    factor = la.cho_factor(inner, lower=True, overwrite_a=True)

    def solve(r: Floats) -> Floats:
        inside = Z @ la.cho_solve(factor, Z.T @ r, check_finite=False)
        return np.asarray((r - inside) / alpha)

    return solve
