# SPDX-License-Identifier: BSD-3-Clause
r"""The penalized likelihood of ranked lists of items without features.

.. math:: f(θ, η) = -\sum_l w_l \ln P(\text{list } l) + α \sum_i θ_i^2,

a sum over lists, with η = ln δ. A list is read as choices: from the items that remain,
the block C in the next place is chosen. A set S of k items is chosen with probability
proportional to

.. math:: f(S) = \delta_k \exp\Bigl(\frac1k \sum_{i ∈ S} θ_i\Bigr),   δ_1 = 1,

over all sets S of the remaining items whose size k is allowed. The sum over all sets of
size k is the elementary symmetric polynomial e_k of exp(θ/k). What remains is always
the rest of the list, so one recursion from its end gives the sums of all stages,

    e_s(i and after) = e_s(after i) + x_i e_{s-1}(after i),

and one from its start their derivatives: O(k) per entry and allowed size, all terms
positive. The objective is convex. Adding a constant to θ changes no probability;
without a penalty the Hessian gets a term that keeps the mean of θ where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.compiled import njit
from tiebreak.data.threads import chunks, in_threads

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def add_choices(
    flat: Ints,
    ends: Ints,
    indptr: Ints,
    weight: Floats,
    sizes: Ints,
    x: Floats,
    v: Floats,
    gradient: Floats,
    curved: Floats,
) -> float:
    """Add up -ln of the probability of lists, with gradient and Hessian times v."""
    n_items, n_sizes = len(x) - len(sizes) + 1, len(sizes)
    longest, top_size = 0, sizes[n_sizes - 1]
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    e = np.zeros((n_sizes, longest + 1, top_size + 1))
    e_v = np.zeros((n_sizes, longest + 1, top_size + 1))
    seed, seed_v = np.zeros((2, n_sizes, longest))
    b, b_v = np.zeros((2, top_size + 2))
    value = 0.0
    for row in range(len(indptr) - 1):
        first, m, w = indptr[row], indptr[row + 1] - indptr[row], weight[row]
        items = flat[first : first + m]
        top = x[items[0]]
        for i in range(1, m):
            top = max(top, x[items[i]])
        for j in range(n_sizes):
            k = sizes[j]
            e[j, m, : k + 1] = 0.0
            e_v[j, m, : k + 1] = 0.0
            e[j, m, 0] = 1.0
            for i in range(m - 1, -1, -1):
                a = np.exp((x[items[i]] - top) / k)
                a_v = a * v[items[i]] / k
                e[j, i, 0], e_v[j, i, 0] = 1.0, 0.0
                for s in range(1, k + 1):
                    before, before_v = e[j, i + 1, s - 1], e_v[j, i + 1, s - 1]
                    e[j, i, s] = e[j, i + 1, s] + a * before
                    e_v[j, i, s] = e_v[j, i + 1, s] + a_v * before + a * before_v
        for i in range(m):
            end = ends[first + i] - first
            for j in range(n_sizes):
                seed[j, i], seed_v[j, i] = 0.0, 0.0
            if end <= i or i == m - 1:
                continue
            z, z_v = 0.0, 0.0
            for j in range(n_sizes):
                k, at = sizes[j], n_items + j - 1
                d = np.exp(x[at]) if j else 1.0
                d_v = d * v[at] if j else 0.0
                z += d * e[j, i, k]
                z_v += d * e_v[j, i, k] + d_v * e[j, i, k]
            value += w * (np.log(z) + top)
            for j in range(n_sizes):
                k, at = sizes[j], n_items + j - 1
                d = np.exp(x[at]) if j else 1.0
                d_v = d * v[at] if j else 0.0
                seed[j, i] = w * d / z
                seed_v[j, i] = w * (d_v - d * z_v / z) / z
                if j:
                    gradient[at] += seed[j, i] * e[j, i, k]
                    curved[at] += seed_v[j, i] * e[j, i, k] + seed[j, i] * e_v[j, i, k]
                if k == end - i:
                    if j:
                        value -= w * x[at]
                        gradient[at] -= w
                    for c in range(i, end):
                        value -= w * x[items[c]] / k
                        gradient[items[c]] -= w / k
        for j in range(n_sizes):
            k = sizes[j]
            b[:] = 0.0
            b_v[:] = 0.0
            for i in range(m):
                b[k] += seed[j, i]
                b_v[k] += seed_v[j, i]
                a = np.exp((x[items[i]] - top) / k)
                a_v = a * v[items[i]] / k
                pull, pull_v = 0.0, 0.0
                for s in range(1, k + 1):
                    pull += b[s] * e[j, i + 1, s - 1]
                    pull_v += b_v[s] * e[j, i + 1, s - 1] + b[s] * e_v[j, i + 1, s - 1]
                for s in range(k):
                    b_v[s] += a_v * b[s + 1] + a * b_v[s + 1]
                    b[s] += a * b[s + 1]
                gradient[items[i]] += a * pull / k
                curved[items[i]] += (a_v * pull + a * pull_v) / k
    return value


@njit(cache=True, nogil=True)
def add_list_matrices(
    flat: Ints,
    ends: Ints,
    indptr: Ints,
    weight: Floats,
    sizes: Ints,
    x: Floats,
    hessian: Floats,
    diagonal: Floats,
    squares: Floats,
) -> None:
    """Add up Hessians of -ln P and outer products of its gradients, list by list."""
    n_ties, n_items = len(sizes) - 1, len(x) - len(sizes) + 1
    one, whole = np.ones(1), np.zeros(2, dtype=np.int64)
    for row in range(len(indptr) - 1):
        first, m = indptr[row], indptr[row + 1] - indptr[row]
        place = np.empty(m + n_ties, dtype=np.int64)
        place[:m] = flat[first : first + m]
        place[m:] = n_items + np.arange(n_ties)
        whole[1] = m
        own_ends = np.maximum(ends[first : first + m] - first, 0)
        here, v = x[place], np.zeros(m + n_ties)
        for c in range(m + n_ties):
            gradient, curved = np.zeros((2, m + n_ties))
            v[c] = 1.0
            add_choices(
                np.arange(m), own_ends, whole, one, sizes, here, v, gradient, curved
            )
            v[c] = 0.0
            diagonal[place[c]] += weight[row] * curved[c]
            if len(hessian):
                for r in range(m + n_ties):
                    hessian[place[r], place[c]] += weight[row] * curved[r]
            if len(squares):
                for r in range(m + n_ties):
                    squares[place[r], place[c]] += (
                        weight[row] * gradient[r] * gradient[c]
                    )


# Fewer entries than this are not worth dividing among threads.
_LEAST_ENTRIES = 50_000


@dataclass(frozen=True, eq=False)
class Choices:
    """Ranked lists, as the likelihood reads them."""

    flat: Ints
    ends: Ints
    indptr: Ints
    weight: Floats
    n_items: int

    @classmethod
    def of_positions(
        cls, flat: Ints, position: Ints, indptr: Ints, weight: Floats, n_items: int
    ) -> Choices:
        """Read lists whose tied entries share the position of the first of them."""
        first = position + np.repeat(indptr[:-1], np.diff(indptr))
        starts = np.flatnonzero(first == np.arange(len(flat)))
        ends = np.zeros(len(flat), dtype=np.int64)
        ends[starts] = np.append(starts[1:], len(flat))
        return cls(flat, ends, indptr, weight, n_items)

    @property
    def block_sizes(self) -> Ints:
        """Size of the block that every entry begins, 0 where none begins."""
        return np.where(self.ends > 0, self.ends - np.arange(len(self.ends)), 0)


class OrderLikelihood:
    """Value, gradient and Hessian of f."""

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
        curved, theta = self._sums(self._x, v)[2], v[: self.choices.n_items]
        if self.alpha == 0.0:
            curved[: len(theta)] += self._hold * theta.mean()
        return curved

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

    @property
    def penalty(self) -> Floats:
        """What the penalty adds to the diagonal of the Hessian."""
        own = np.full(self.choices.n_items, 2.0 * self.alpha)
        return np.append(own, np.zeros(self.n_variables - len(own)))

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
            gradient, curved = np.zeros((2, len(x)))
            own = lists.indptr[rows.start : rows.stop + 1], lists.weight[rows]
            given = lists.flat, lists.ends, *own, self.sizes
            return add_choices(*given, x, v, gradient, curved), gradient, curved

        parts = in_threads(part, self._parts)
        theta = x[: lists.n_items]
        gradient = np.sum([found[1] for found in parts], axis=0)
        curved = np.sum([found[2] for found in parts], axis=0)
        gradient[: len(theta)] += 2.0 * self.alpha * theta
        curved[: len(theta)] += 2.0 * self.alpha * v[: len(theta)]
        value = sum(found[0] for found in parts) + self.alpha * float(theta @ theta)
        return value, gradient, curved

    def _matrices(self, hessian: Floats, squares: Floats) -> Floats:
        lists, diagonal = self.choices, np.zeros(self.n_variables)
        given = lists.flat, lists.ends, lists.indptr, lists.weight, self.sizes
        add_list_matrices(*given, self._x, hessian, diagonal, squares)
        return diagonal
