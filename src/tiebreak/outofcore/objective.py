# SPDX-License-Identifier: BSD-3-Clause
r"""A sum over partitions, as a function that the solvers of this library minimize.

.. math:: f(x) = \tfrac12 \sum_j ρ_j x_j^2 + c \sum_p f_p(x)

Value, gradient and products with the Hessian are sums over partitions, and a pass over
them costs one vector out and one vector back. The preconditioner is made of a sample of
the rows that is here, so that no matrix travels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from tiebreak.data.threads import one_blas_thread
from tiebreak.outofcore.partitions import Partitions

Floats = NDArray[np.float64]

# Up to this many variables the Hessian of the sample is formed and factored.
DENSE_VARIABLES = 2000


class ObjectivePartition(Protocol):
    """A partition as a smooth convex function; each call says where."""

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give value and gradient at x."""
        ...

    def hessian_product(self, x: Floats, v: Floats) -> Floats:
        """Give the Hessian at x times v."""
        ...

    def hessian_diagonal(self, x: Floats) -> Floats:
        """Give the diagonal of the Hessian at x."""
        ...

    def hessian(self, x: Floats) -> Floats:
        """Give the Hessian at x."""
        ...


class SummedObjective:
    """½ Σ ρ_j x_j² + c Σ f_p(x) over partitions.

    Parameters
    ----------
    parts : Parts
        Partitions, each an :class:`ObjectivePartition`.
    ridge : ndarray of shape (n_variables,)
        ρ.
    factor : float, default=1.0
        c.
    sample : ObjectivePartition, optional
        Some of the rows, here.
    share : float, default=1.0
        The sum over all rows is about that over the sample times this.

    Attributes
    ----------
    n_passes : int
        Number of passes over the partitions.
    """

    def __init__(
        self,
        parts: Partitions,
        ridge: Floats,
        factor: float = 1.0,
        *,
        sample: ObjectivePartition | None = None,
        share: float = 1.0,
    ) -> None:
        self.parts, self.ridge, self.factor = parts, ridge, factor
        self.sample, self.share = sample, share
        self.n_variables = len(ridge)
        self.convexity = float(ridge.min())
        self.max_products = 20 + 2 * self.n_variables
        self.n_passes = 0

    def value(self, x: Floats) -> float:
        """Give f(x)."""
        return self._pass(_expand, x)[0] + 0.5 * float(self.ridge @ x**2)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient at x; the Hessian then speaks of x."""
        self._at = x
        value, gradient = self._pass(_expand, x)
        return value + 0.5 * float(self.ridge @ x**2), gradient + self.ridge * x

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""
        product: Floats = self._pass(_hessian_product, self._at, v)[0]
        return product + self.ridge * v

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point."""
        diagonal: Floats = self._pass(_hessian_diagonal, self._at)[0]
        return diagonal + self.ridge

    def hessian(self) -> Floats:
        """Give the Hessian at the last expanded point."""
        hessian: Floats = self._pass(_hessian, self._at)[0]
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return hessian

    def preconditioner(self, n_products: int = 0) -> Callable[[Floats], Floats]:
        """Give r to M⁻¹ r for an M near the Hessian at the last expanded point.

        Parameters
        ----------
        n_products : int, default=0
            How many products the step before needed; of no concern here.
        """
        if self.sample is None or self.n_variables > DENSE_VARIABLES:
            diagonal = np.maximum(self.hessian_diagonal(), np.finfo(float).tiny)
            return lambda r: r / diagonal
        with one_blas_thread():
            M = self.factor * self.share * self.sample.hessian(self._at)
            M.flat[:: len(M) + 1] += self.ridge
            diagonal = np.maximum(M.diagonal(), np.finfo(float).tiny)
            try:
                factor = la.cho_factor(M, lower=True, check_finite=False)
            except la.LinAlgError:  # a feature that the sample does not have
                return lambda r: r / diagonal
        return lambda r: np.asarray(la.cho_solve(factor, r, check_finite=False))

    def _pass(self, work: Any, *arguments: Floats) -> tuple[Any, ...]:
        self.n_passes += 1
        return tuple(self.factor * entry for entry in self.parts.sum(work, *arguments))


def _expand(part: ObjectivePartition, x: Floats) -> tuple[float, Floats]:
    return part.expand(x)


def _hessian_product(part: ObjectivePartition, x: Floats, v: Floats) -> tuple[Floats]:
    return (part.hessian_product(x, v),)


def _hessian_diagonal(part: ObjectivePartition, x: Floats) -> tuple[Floats]:
    return (part.hessian_diagonal(x),)


def _hessian(part: ObjectivePartition, x: Floats) -> tuple[Floats]:
    return (part.hessian(x),)
