# SPDX-License-Identifier: BSD-3-Clause
r"""The penalized likelihood of ranked lists of items without features.

.. math:: f(θ, η) = -\sum_l w_l \ln P(\text{list } l) + α \sum_i θ_i^2,

a sum over lists, with the probabilities of :mod:`tiebreak.losses.order_kernels` and
η = ln δ. It is convex: every stage is the logarithm of a sum of exponentials of linear
functions, minus one of them. Adding a constant to θ changes no probability; without a
penalty the Hessian gets a term that keeps the mean of θ where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.threads import chunks, in_threads
from tiebreak.losses.order_kernels import add_choices, add_list_matrices

__all__ = ["Choices", "OrderLikelihood"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Fewer entries than this are not worth dividing among threads.
_LEAST_ENTRIES = 50_000


@dataclass(frozen=True, eq=False)
class Choices:
    """Ranked lists, as the likelihood reads them.

    Attributes
    ----------
    flat : ndarray of int64 of shape (n_entries,)
        Items, all lists one after another, best first.
    ends : ndarray of int64 of shape (n_entries,)
        Where the block of tied items ends that begins at an entry, or 0.
    indptr : ndarray of int64 of shape (n + 1,)
        First entry of every list, and n_entries.
    weight : ndarray of shape (n,)
        Weights of the lists.
    n_items : int
        N.
    """

    flat: Ints
    ends: Ints
    indptr: Ints
    weight: Floats
    n_items: int

    @classmethod
    def of_positions(
        cls, flat: Ints, position: Ints, indptr: Ints, weight: Floats, n_items: int
    ) -> Choices:
        """Read lists whose tied entries share the position of the first of them.

        Parameters
        ----------
        flat, position, indptr
            As :class:`~tiebreak.Orders` has them.
        weight : ndarray of shape (n,)
            Weights of the lists.
        n_items : int
            N.

        Returns
        -------
        Choices
        """
        begins = position + np.repeat(indptr[:-1], np.diff(indptr)) == np.arange(
            len(flat)
        )
        starts = np.flatnonzero(begins)
        ends = np.zeros(len(flat), dtype=np.int64)
        ends[starts] = np.append(starts[1:], len(flat))
        return cls(flat, ends, indptr, weight, n_items)

    @property
    def block_sizes(self) -> Ints:
        """Size of the block that every entry begins, 0 where none begins."""
        return np.where(self.ends > 0, self.ends - np.arange(len(self.ends)), 0)


class OrderLikelihood:
    """Value, gradient and Hessian of f.

    Parameters
    ----------
    choices : Choices
        The lists.
    alpha : float
        α, 0 or more.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (K,)
        Sizes that a block may have: 1 and those that occur.
    n_variables : int
        N + K - 1: θ, then ln δ of the sizes above 1.
    """

    def __init__(self, choices: Choices, alpha: float) -> None:
        self.choices, self.alpha = choices, alpha
        found = np.unique(choices.block_sizes)
        self.sizes = np.unique(np.append(found[found > 0], 1))
        self.n_variables = choices.n_items + len(self.sizes) - 1
        self._parts = [slice(0, len(choices.weight))]
        if len(choices.flat) >= _LEAST_ENTRIES:
            self._parts = chunks(len(choices.weight), len(choices.weight))

    def value(self, x: Floats) -> float:
        """Give f(x)."""
        return self._sums(x, np.zeros(len(x)))[0]

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient at x; the Hessian methods then speak of x."""
        self._x = np.array(x, dtype=np.float64)
        value, gradient, _ = self._sums(x, np.zeros(len(x)))
        return value, gradient

    def hessian_product(self, v: Floats) -> Floats:
        """Give the Hessian at the last expanded point times v."""
        bent, theta = self._sums(self._x, v)[2], v[: self.choices.n_items]
        if self.alpha == 0.0:
            bent[: len(theta)] += self._hold * theta.mean()
        return bent

    def hessian(self) -> Floats:
        """Give the Hessian at the last expanded point."""
        hessian = np.zeros((self.n_variables, self.n_variables))
        self._matrices(hessian, np.zeros((0, 0)))
        n = self.choices.n_items
        hessian[np.arange(n), np.arange(n)] += 2.0 * self.alpha
        if self.alpha == 0.0:
            hessian[:n, :n] += self._hold / n
        return hessian

    def hessian_diagonal(self) -> Floats:
        """Give the diagonal of the Hessian at the last expanded point."""
        diagonal = self._matrices(np.zeros((0, 0)), np.zeros((0, 0)))
        n = self.choices.n_items
        diagonal[:n] += 2.0 * self.alpha if self.alpha else self._hold / n
        return diagonal

    def squares(self) -> Floats:
        """Give Σ w g gᵀ over lists, g the gradient of one at the last point."""
        squares = np.zeros((self.n_variables, self.n_variables))
        self._matrices(np.zeros((0, 0)), squares)
        return squares

    @property
    def _hold(self) -> float:
        """The curvature given to the mean of θ: about that of one item."""
        return float(self.choices.weight.sum()) / self.choices.n_items

    def _sums(self, x: Floats, v: Floats) -> tuple[float, Floats, Floats]:
        lists = self.choices

        def part(rows: slice) -> tuple[float, Floats, Floats]:
            gradient, bent = np.zeros((2, len(x)))
            value = add_choices(
                lists.flat,
                lists.ends,
                lists.indptr[rows.start : rows.stop + 1],
                lists.weight[rows],
                self.sizes,
                x,
                v,
                gradient,
                bent,
            )
            return value, gradient, bent

        parts = in_threads(part, self._parts)
        theta = x[: lists.n_items]
        gradient = np.sum([found[1] for found in parts], axis=0)
        bent = np.sum([found[2] for found in parts], axis=0)
        gradient[: len(theta)] += 2.0 * self.alpha * theta
        bent[: len(theta)] += 2.0 * self.alpha * v[: len(theta)]
        value = sum(found[0] for found in parts) + self.alpha * float(theta @ theta)
        return value, gradient, bent

    def _matrices(self, hessian: Floats, squares: Floats) -> Floats:
        lists, diagonal = self.choices, np.zeros(self.n_variables)
        add_list_matrices(
            lists.flat,
            lists.ends,
            lists.indptr,
            lists.weight,
            self.sizes,
            self._x,
            hessian,
            diagonal,
            squares,
        )
        return diagonal
