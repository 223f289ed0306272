# SPDX-License-Identifier: BSD-3-Clause
r"""The penalized likelihood of ranked lists of items without features.

.. math:: f(θ, η) = -\sum_l w_l \ln P(\text{list } l) + α \sum_i θ_i^2,

a **sum** over lists, with η = ln δ. From the items that remain, the set S of k items in
the next place is chosen with probability proportional to

.. math:: f(S) = \delta_k \exp\Bigl(\frac1k \sum_{i ∈ S} θ_i\Bigr),   δ_1 = 1,

over all sets of an allowed size. Items below the last place, in no order among each
other, remain to the end and are never chosen. A block B in unknown order before a later
place has the sum over its orders,

.. math:: F(S) = \sum_{i ∈ S} \frac{e^{θ_i}}{\sum_{j ∈ S ∪ L} e^{θ_j}} F(S \setminus i),
          F(∅) = 1,

at S = B, with L the items below B: 2^|B| subsets, all terms positive, in lists without
ties. Its logarithm is concave. The sum over those of size k is the elementary
symmetric polynomial e_k of exp(θ/k). One recursion from the end of the list gives the
sums of all stages,

    e_s(i and after) = e_s(after i) + x_i e_{s-1}(after i),

and one from its start their derivatives: O(k) per entry and allowed size. The Hessian
of a list of m takes O(m² Σ k). The objective is convex. Without a penalty the Hessian
gets a term that holds the mean of θ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads


@njit(cache=True, nogil=True)
def add_choices(
    flat: Codes,
    ends: Codes,
    indptr: Codes,
    weight: Floats,
    sizes: Codes,
    x: Floats,
    v: Floats,
    gradient: Floats,
    curved: Floats,
) -> float:
    """Add up -ln of the probability of lists, with gradient and Hessian times v."""
    n_items, n_sizes = len(x) - len(sizes) + 1, len(sizes)
    if n_sizes == 1:
        return _add_plain_choices(flat, ends, indptr, weight, x, v, gradient, curved)
    longest, top_size = 0, sizes[n_sizes - 1]
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    e = np.zeros((n_sizes, longest + 1, top_size + 1))
    e_v = np.zeros((n_sizes, longest + 1, top_size + 1))
    seed, seed_v = np.zeros((2, n_sizes, longest))
    b, b_v = np.zeros((2, top_size + 2))
    total = lost = 0.0
    for row in range(len(indptr) - 1):
        first, m, w = indptr[row], indptr[row + 1] - indptr[row], weight[row]
        items = flat[first : first + m]
        value, top = 0.0, x[items[0]]
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
        total, lost = _add_exactly(total, lost, value)
    return total + lost


@njit(cache=True, nogil=True)
def _add_plain_choices(
    flat: Codes,
    ends: Codes,
    indptr: Codes,
    weight: Floats,
    x: Floats,
    v: Floats,
    gradient: Floats,
    curved: Floats,
) -> float:
    """Do what add_choices does for lists without ties."""
    longest, total, lost = 0, 0.0, 0.0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    a, z, z_v, slope, here = np.empty((5, longest))
    own, bent = np.empty((longest, longest)), v.any()
    for row in range(len(indptr) - 1):
        first, m, w = indptr[row], indptr[row + 1] - indptr[row], weight[row]
        items = flat[first : first + m]
        value, top = 0.0, x[items[0]]
        for i in range(1, m):
            top = max(top, x[items[i]])
        sum_a = sum_v = 0.0
        for i in range(m - 1, -1, -1):
            a[i] = np.exp(x[items[i]] - top)
            sum_a += a[i]
            sum_v += a[i] * v[items[i]]
            z[i], z_v[i] = sum_a, sum_v
        once = once_v = 0.0
        for i in range(m):
            if i < m - 1 and ends[first + i] > 0:
                value += w * (np.log(z[i]) + top - x[items[i]])
                gradient[items[i]] -= w
                once += w / z[i]
                once_v -= w * z_v[i] / z[i] ** 2
            gradient[items[i]] += a[i] * once
            curved[items[i]] += a[i] * (v[items[i]] * once + once_v)
            if ends[first + i] < 0:
                for r in range(i, m):
                    here[r] = x[items[r]]
                b = -ends[first + i] - first - i
                value += w * _fill_block(b, here[i:m], own, slope, bent)
                for r in range(m - i):
                    gradient[items[i + r]] += w * slope[r]
                    for c in range(m - i if bent else 0):
                        curved[items[i + r]] += w * own[r, c] * v[items[i + c]]
        total, lost = _add_exactly(total, lost, value)
    return total + lost


@njit(cache=True, nogil=True)
def _add_exactly(total: float, lost: float, term: float) -> tuple[float, float]:
    """Add a term and keep what rounding loses, which a line search needs."""
    new = total + term
    if abs(total) >= abs(term):
        return new, lost + ((total - new) + term)
    return new, lost + ((term - new) + total)


@njit(cache=True, nogil=True)
def add_list_matrices(
    flat: Codes,
    ends: Codes,
    indptr: Codes,
    weight: Floats,
    sizes: Codes,
    x: Floats,
    hessian: Floats,
    diagonal: Floats,
    squares: Floats,
) -> None:
    """Add up Hessians of -ln P and outer products of gradients."""
    n_items, longest = len(x) - len(sizes) + 1, 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    place = np.empty(longest + len(sizes) - 1, dtype=np.int64)
    own = np.zeros((len(place), len(place)))
    slope, here = np.empty((2, len(place)))
    for row in range(len(indptr) - 1):
        first, m, w = indptr[row], indptr[row + 1] - indptr[row], weight[row]
        n_sizes = len(sizes)
        while sizes[n_sizes - 1] > m:  # no block is larger than the list
            n_sizes -= 1
        n = m + n_sizes - 1
        for r in range(n):
            place[r] = flat[first + r] if r < m else n_items + r - m
            here[r] = x[place[r]]
        rows, whole = slice(first, first + m), len(hessian) > 0
        if n_sizes == 1:
            _fill_plain(ends[rows], first, here[:m], own, slope, whole)
        else:
            _fill_tied(ends[rows], first, sizes[:n_sizes], here[:n], own, slope, whole)
        for r in range(n):
            diagonal[place[r]] += w * own[r, r]
            if len(hessian):
                hessian[place[r], place[r]] += w * own[r, r]
                for c in range(r + 1, n):
                    hessian[place[r], place[c]] += w * own[r, c]
                    hessian[place[c], place[r]] += w * own[r, c]
            if len(squares):
                for c in range(n):
                    squares[place[r], place[c]] += w * slope[r] * slope[c]


@njit(cache=True, nogil=True)
def _fill_plain(
    ends: Codes, first: int, x: Floats, own: Floats, slope: Floats, whole: bool
) -> None:
    """Gradient and upper Hessian of a list without ties: O(m²)."""
    m, top, total = len(x), x[0], 0.0
    a, z, block_slope = np.empty((3, m))
    for i in range(1, m):
        top = max(top, x[i])
    for i in range(m - 1, -1, -1):
        a[i] = np.exp(x[i] - top)
        total += a[i]
        z[i] = total
    # Sums of 1/z and 1/z² over the choices at which an item was still there.
    once = twice = 0.0
    for r in range(m):
        chosen = 0.0
        if r < m - 1 and ends[r] > 0:
            once += 1.0 / z[r]
            twice += 1.0 / z[r] ** 2
            chosen = 1.0
        slope[r] = a[r] * once - chosen
        own[r, r] = a[r] * (once - a[r] * twice)
        if whole:
            for c in range(r + 1, m):
                own[r, c] = -a[r] * a[c] * twice
    for i in range(m):
        if ends[i] < 0:
            block = np.empty((m, m))
            _fill_block(-ends[i] - first - i, x[i:], block, block_slope, True)
            for r in range(i, m):
                slope[r] += block_slope[r - i]
                for c in range(r, m if whole else r + 1):
                    own[r, c] += block[r - i, c - i]


@njit(cache=True, nogil=True)
def _fill_block(b: int, x: Floats, own: Floats, slope: Floats, whole: bool) -> float:
    """-ln F of the first b items, before the others; its gradient and Hessian.

    Conditional on F(S), item i was first with probability q. With g and H of the rest,
    ∇ ln F(S) = Σ q (eᵢ + g) - p, and its Hessian is Σ q H, the covariance of eᵢ + g
    under q, and minus that of a choice with probabilities p.
    """
    m, n_sets, top = len(x), 1 << b, x.max()
    log_f, g = np.zeros(n_sets), np.zeros((n_sets, m))
    h = np.zeros((n_sets if whole else 1, m, m))
    p, q, move = np.zeros((3, m))
    for s in range(1, n_sets):
        z, best = 0.0, -np.inf
        for i in range(m):
            inside = i >= b or (s >> i) & 1 == 1
            p[i] = np.exp(x[i] - top) if inside else 0.0
            z += p[i]
            if i < b and inside:
                q[i] = x[i] + log_f[s ^ (1 << i)]
                best = max(best, q[i])
        total = 0.0
        for i in range(b):
            q[i] = np.exp(q[i] - best) if s >> i & 1 else 0.0
            total += q[i]
        log_f[s] = best + np.log(total) - top - np.log(z)
        for i in range(b):
            if not s >> i & 1:
                continue
            rest, share = s ^ (1 << i), q[i] / total
            for r in range(m):
                move[r] = g[rest, r] + (r == i)
                g[s, r] += share * move[r]
            for r in range(m if whole else 0):
                for c in range(m):
                    h[s, r, c] += share * (h[rest, r, c] + move[r] * move[c])
        for r in range(m if whole else 0):
            for c in range(m):
                h[s, r, c] += p[r] * p[c] / z**2 - g[s, r] * g[s, c]
            h[s, r, r] -= p[r] / z
        for r in range(m):
            g[s, r] -= p[r] / z
    slope[:m] = -g[n_sets - 1]
    if whole:
        own[:m, :m] = -h[n_sets - 1]
    return -log_f[n_sets - 1]


@njit(cache=True, nogil=True)
def _fill_tied(
    ends: Codes,
    first: int,
    sizes: Codes,
    x: Floats,
    own: Floats,
    slope: Floats,
    whole: bool,
) -> None:
    """Gradient and upper Hessian of a list with ties: O(m² Σ k), k the sizes.

    Slot (j, s) of a vector stands for a set of sizes[j] items of which s are chosen.
    Passing an item moves a share of every slot to the next.
    """
    n_sizes, m = len(sizes), len(x) - len(sizes) + 1
    offset, top = np.zeros(n_sizes + 1, dtype=np.int64), x[0]
    for j in range(n_sizes):
        offset[j + 1] = offset[j] + sizes[j]
    for i in range(1, m):
        top = max(top, x[i])
    n_slots = offset[n_sizes]
    a = np.empty((n_sizes, m))
    # after[i]: what the items from i on can still add to a slot, e_{k-1-s}; and e_k.
    after, full = np.zeros((m + 1, n_slots)), np.zeros((n_sizes, m + 1))
    for j in range(n_sizes):
        after[m, offset[j + 1] - 1] = 1.0
        for i in range(m - 1, -1, -1):
            a[j, i] = np.exp((x[i] - top) / sizes[j])
            for s in range(offset[j], offset[j + 1] - 1):
                after[i, s] = after[i + 1, s] + a[j, i] * after[i + 1, s + 1]
            after[i, offset[j + 1] - 1] = 1.0
            full[j, i] = full[j, i + 1] + a[j, i] * after[i + 1, offset[j]]
    seed, stage = np.empty((m, n_sizes)), np.empty(m, dtype=np.int64)
    before, n_stages = np.zeros((m, n_slots)), 0
    reached, pushed, open_slots = np.zeros((3, n_slots))
    slope[: len(x)] = 0.0
    own[: len(x), m : len(x)] = 0.0
    for r in range(m):
        end = ends[r] - first
        if end > r and r < m - 1:
            z = 0.0
            for j in range(n_sizes):
                seed[n_stages, j] = np.exp(x[m + j - 1]) if j else 1.0
                z += seed[n_stages, j] * full[j, r]
            for j in range(n_sizes):
                seed[n_stages, j] /= z
                before[n_stages, offset[j]] = 1.0
                reached[offset[j]] += seed[n_stages, j]
                if sizes[j] == end - r:
                    for c in range(r, end):
                        slope[c] -= 1.0 / sizes[j]
                    if j:
                        slope[m + j - 1] -= 1.0
            for j in range(1, n_sizes):
                share = seed[n_stages, j] * full[j, r]
                slope[m + j - 1] += share
                own[m + j - 1, m + j - 1] += share
                for other in range(j, n_sizes):
                    both = share * seed[n_stages, other] * full[other, r]
                    own[m + j - 1, m + other - 1] -= both
            stage[n_stages] = r
            n_stages += 1
        pushed[:] = 0.0
        for t in range(n_stages):
            p = 0.0
            for j in range(n_sizes):
                dot = 0.0
                for s in range(offset[j], offset[j + 1]):
                    dot += before[t, s] * after[r + 1, s]
                p += seed[t, j] * a[j, r] / sizes[j] * dot
            for j in range(n_sizes):
                if j:
                    own[r, m + j - 1] -= seed[t, j] * full[j, stage[t]] * p
                for s in range(offset[j + 1] - 1, offset[j] - 1, -1):
                    pushed[s] += p * seed[t, j] * before[t, s]
                    if s > offset[j]:
                        before[t, s] += a[j, r] * before[t, s - 1]
        own[r, r] = 0.0
        for j in range(n_sizes):
            pull = spread = 0.0
            share = a[j, r] / sizes[j]
            for s in range(offset[j], offset[j + 1]):
                pull += reached[s] * after[r + 1, s]
                spread += pushed[s] * after[r + 1, s]
            slope[r] += share * pull
            own[r, r] += share * (pull / sizes[j] - spread)
            if j:
                own[r, m + j - 1] += share * pull
            for s in range(offset[j + 1] - 1, offset[j], -1):
                open_slots[s] = share * reached[s - 1]
                open_slots[s] -= pushed[s] + a[j, r] * pushed[s - 1]
                reached[s] += a[j, r] * reached[s - 1]
            open_slots[offset[j]] = -pushed[offset[j]]
        if not whole:
            continue
        for c in range(r + 1, m):
            own[r, c] = 0.0
            for j in range(n_sizes):
                dot = 0.0
                for s in range(offset[j + 1] - 1, offset[j] - 1, -1):
                    dot += open_slots[s] * after[c + 1, s]
                    if s > offset[j]:
                        open_slots[s] += a[j, c] * open_slots[s - 1]
                own[r, c] += a[j, c] / sizes[j] * dot


# Fewer entries than this are not worth dividing among threads.
_LEAST_ENTRIES = 50_000
# Strengths of a trial step that are farther apart would underflow when squared.
_FARTHEST = 300.0


@dataclass(frozen=True, eq=False)
class Choices:
    """Ranked lists, as the likelihood reads them."""

    flat: Codes
    # Of the block that an entry begins, or 0: nothing is chosen there; minus it, if the
    # order within the block is unknown.
    ends: Codes
    indptr: Codes
    weight: Floats
    n_items: int

    @classmethod
    def of_positions(
        cls,
        flat: Codes,
        position: Codes,
        indptr: Codes,
        weight: Floats,
        n_items: int,
        unordered: NDArray[np.bool_] | None = None,
    ) -> Choices:
        """Read lists whose tied or `unordered` entries share a position."""
        first = position + np.repeat(indptr[:-1], np.diff(indptr))
        starts = np.flatnonzero(first == np.arange(len(flat)))
        ends = np.zeros(len(flat), dtype=np.int64)
        ends[starts] = np.append(starts[1:], len(flat))
        if unordered is not None:
            row = np.searchsorted(indptr, starts, side="right") - 1
            block = starts[unordered[row] & (ends[starts] > starts + 1)]
            ends[block] = -ends[block]
        return cls(flat, ends, indptr, weight, n_items)

    def with_lower(self, row: Codes, items: Codes) -> Choices:
        """Add items below those of their list, in no order among each other."""
        n = len(self.weight)
        own = np.repeat(np.arange(n), np.diff(self.indptr))
        rows = np.append(own, row)
        order = np.argsort(rows, kind="stable")
        indptr = np.searchsorted(rows[order], np.arange(n + 1))
        shift = (indptr - self.indptr)[own]
        ends = self.ends + np.sign(self.ends) * shift
        flat = np.append(self.flat, items)[order]
        ends = np.append(ends, 0 * row)[order]
        ends[np.isin(-ends, indptr[1:])] = 0  # the orders of the last items sum to 1
        return Choices(flat, ends, indptr, self.weight, self.n_items)

    @property
    def block_sizes(self) -> Codes:
        """Size of the block that every entry begins, or 0."""
        return np.where(self.ends > 0, self.ends - np.arange(len(self.ends)), 0)


class OrderLikelihood:
    """Value, gradient and Hessian of f."""

    def __init__(self, choices: Choices, alpha: float) -> None:
        self.choices, self.alpha = choices, alpha
        counts = np.bincount(choices.block_sizes, minlength=2)
        counts[:2] = 0, 1
        self.sizes = np.flatnonzero(counts)
        self.n_variables = choices.n_items + len(self.sizes) - 1
        self._parts = [slice(0, len(choices.weight))]
        if len(choices.flat) >= _LEAST_ENTRIES:
            self._parts = chunks(len(choices.weight), len(choices.weight))

    def value(self, x: Floats) -> float:
        """Give f(x), infinite where strengths are more than 300 apart."""
        return self._sums(x, np.zeros(len(x)))[0]

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give f and its gradient; the Hessian then speaks of x."""
        self._x = np.array(x, dtype=np.float64)
        return self._sums(x, np.zeros(len(x)))[:2]

    def hessian_product(self, v: Floats) -> Floats:
        """H v at the last expanded point."""
        curved, theta = self._sums(self._x, v)[2], v[: self.choices.n_items]
        if self.alpha == 0.0:
            curved[: len(theta)] += self._hold * theta.mean()
        return curved

    def hessian(self) -> Floats:
        """H at the last expanded point."""
        hessian = self._matrices(True, False)[0]
        n = self.choices.n_items
        hessian[np.arange(n), np.arange(n)] += 2.0 * self.alpha
        if self.alpha == 0.0:
            hessian[:n, :n] += self._hold / n
        return hessian

    def hessian_diagonal(self) -> Floats:
        """Diagonal of H at the last expanded point."""
        diagonal = self._matrices(False, False)[2]
        n = self.choices.n_items
        diagonal[:n] += 2.0 * self.alpha if self.alpha else self._hold / n
        return diagonal

    @property
    def penalty(self) -> Floats:
        """Diagonal that the penalty adds to the Hessian."""
        own = np.full(self.choices.n_items, 2.0 * self.alpha)
        return np.append(own, np.zeros(self.n_variables - len(own)))

    def squares(self) -> Floats:
        """Give Σ w g gᵀ over lists, g the gradient of one at the last point."""
        return self._matrices(False, True)[1]

    @property
    def _hold(self) -> float:
        """Curvature given to the mean of θ."""
        return float(self.choices.weight.sum()) / self.choices.n_items

    def _sums(self, x: Floats, v: Floats) -> tuple[float, Floats, Floats]:
        lists = self.choices
        theta = x[: lists.n_items]
        if np.ptp(theta) > _FARTHEST:
            return np.inf, np.zeros(len(x)), np.zeros(len(x))

        def part(rows: slice) -> tuple[float, Floats, Floats]:
            gradient, curved = np.zeros((2, len(x)))
            own = lists.indptr[rows.start : rows.stop + 1], lists.weight[rows]
            read = lists.flat, lists.ends, *own, self.sizes
            return add_choices(*read, x, v, gradient, curved), gradient, curved

        parts = in_threads(part, self._parts)
        gradient = np.sum([sums[1] for sums in parts], axis=0)
        curved = np.sum([sums[2] for sums in parts], axis=0)
        gradient[: len(theta)] += 2.0 * self.alpha * theta
        curved[: len(theta)] += 2.0 * self.alpha * v[: len(theta)]
        value = sum(sums[0] for sums in parts) + self.alpha * float(theta @ theta)
        return value, gradient, curved

    def _matrices(self, with_hessian: bool, with_squares: bool) -> list[Floats]:
        """Sums over lists: Hessian and squares (if asked), and diagonal."""
        lists, n = self.choices, self.n_variables

        def part(rows: slice) -> list[Floats]:
            hessian = np.zeros((n, n) if with_hessian else (0, 0))
            squares = np.zeros((n, n) if with_squares else (0, 0))
            diagonal = np.zeros(n)
            own = lists.indptr[rows.start : rows.stop + 1], lists.weight[rows]
            read = lists.flat, lists.ends, *own, self.sizes, self._x
            add_list_matrices(*read, hessian, diagonal, squares)
            return [hessian, squares, diagonal]

        parts = in_threads(part, self._parts)
        return [np.sum(matrices, axis=0) for matrices in zip(*parts, strict=True)]
