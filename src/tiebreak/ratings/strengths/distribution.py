# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of strengths, and what follows from it: intervals, ranks and groups.

Items i and j differ significantly when |θ_i - θ_j| exceeds q se(θ_i - θ_j), with q the
quantile of the largest such ratio over *all* ordered pairs, by draws, and then over
those that did not differ before, until nothing changes (Romano and Wolf, 2005); or
Bonferroni's bound where items are many, and Holm's where clusters are few: the largest
ratio of a covariance of low rank would be drawn too small. A ratio with few degrees of
freedom is compared as the normal score that is as probable. Items that never meet, not
even through others, never differ significantly. An interval of one rank by itself takes
the pairs of its item only (Mogstad, Romano, Shaikh and Wilhelm, 2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks, in_threads, one_blas_thread


@dataclass(frozen=True, eq=False)
class StrengthDistribution:
    """A mixture of K normal distributions of N strengths, and an excess on top.

    The excess is a covariance whose variances have `df` degrees of freedom.
    """

    center: Floats  # (K, N)
    covariance: Floats  # (K, N, N); or (K, N), variances of independent strengths
    weight: Floats  # (K,), sum 1
    excess: Floats | None = None  # (N, N), or (N,)
    df: float | Floats = math.inf  # one, or (N,)
    # (K, 2, N): how far each part reaches down and up, relative to a normal one
    sides: Floats | None = None

    @classmethod
    def normal(cls, center: Floats, covariance: Floats) -> StrengthDistribution:
        """Give a single normal distribution."""
        return cls(center[None], covariance[None], np.ones(1))

    @cached_property
    def mean(self) -> Floats:
        """Means of the strengths, shape (N,)."""
        return self.weight @ self.center

    @cached_property
    def total(self) -> Floats:
        """Covariance of the strengths, (N, N), or their variances, (N,)."""
        out = self.covariance[0]
        if len(self.weight) > 1:
            out = np.tensordot(self.weight, self.covariance, 1)
            apart = np.sqrt(self.weight)[:, None] * (self.center - self.mean)
            out += (apart**2).sum(axis=0) if out.ndim == 1 else apart.T @ apart
        return out if self.excess is None else out + self.excess

    def take(self, items: Any) -> StrengthDistribution:
        """Give the distribution of some of the strengths."""

        def part(matrix: Floats, n_leading: int) -> Floats:
            for axis in range(n_leading, matrix.ndim):
                matrix = matrix[(slice(None),) * axis + (items,)]
            return matrix

        return StrengthDistribution(
            self.center[:, items],
            part(self.covariance, 1),
            self.weight,
            None if self.excess is None else part(self.excess, 0),
            self.df if np.ndim(self.df) == 0 else np.asarray(self.df)[items],
            None if self.sides is None else self.sides[:, :, items],
        )

    def relative_to(self, place: int | None) -> StrengthDistribution:
        """Measure strengths from an item, or from the mean."""
        zero = self.center.mean(axis=1) if place is None else self.center[:, place]
        center = self.center - zero[:, None]
        if self.covariance.ndim == 3:
            return replace(
                self,
                center=center,
                covariance=centered(self.covariance, place),
                excess=None if self.excess is None else centered(self.excess, place),
                sides=self.sides if place is None else None,
            )
        if place is None:  # of independent strengths the mean is taken as known
            return replace(self, center=center)
        every = np.arange(center.shape[1])
        out = self.differences(np.full(len(every), place), every)
        out.covariance[:, place] = 0.0
        if out.excess is not None:
            out.excess[place] = 0.0
        return out

    def sums(self, members: Any, place: Codes, n: int) -> Any:
        """Give sums of strengths by row of `members`, and what follows the first n.

        Column k of `members` is strength place[k]. Sides are as of a normal one.
        """
        rest = self.center.shape[1] - n
        rows = np.zeros((members.shape[0] + rest, n + rest))
        rows[: len(rows) - rest, place] = members.toarray()
        rows[len(rows) - rest :, n:] = np.eye(rest)
        return StrengthDistribution(
            self.center @ rows.T,
            rows @ self.covariance @ rows.T,
            self.weight,
            None if self.excess is None else rows @ self.excess @ rows.T,
            float(np.min(self.df)),
        )

    def differences(self, left: Codes, right: Codes) -> StrengthDistribution:
        """Give the distribution of θ_right - θ_left, each difference by itself."""

        def spread(
            matrix: Floats, n_leading: int, one: Any = 1.0, two: Any = 1.0
        ) -> Floats:
            own, both = matrix, 0.0
            if matrix.ndim == n_leading + 2:  # and not variances
                own = np.diagonal(matrix, axis1=-2, axis2=-1)
                both = one * two * matrix[..., left, right]
            return one**2 * own[..., left] + two**2 * own[..., right] - 2.0 * both

        center, df, excess = self.center[:, right] - self.center[:, left], self.df, None
        if self.excess is not None:
            own = _diagonal(self.excess)
            df = pair_freedom(df, left, right, own[left], own[right])
            excess = spread(self.excess, 0)
        variance = spread(self.covariance, 1)
        sides = None
        if self.sides is not None:
            # The difference is small where left is high and right is low.
            down, up = self.sides[:, 0], self.sides[:, 1]
            low = spread(self.covariance, 1, up[:, left], down[:, right])
            high = spread(self.covariance, 1, down[:, left], up[:, right])
            both = np.maximum(np.stack([low, high], axis=1), 0.0)
            whole = np.broadcast_to(variance[:, None], both.shape)
            part = np.divide(both, whole, out=np.ones_like(both), where=whole > 0.0)
            sides = np.sqrt(part)
        return StrengthDistribution(center, variance, self.weight, excess, df, sides)

    def errors(self) -> Floats:
        """Give standard errors of the strengths, shape (N,)."""
        return np.sqrt(np.maximum(_diagonal(self.total), 0.0))

    def below(self, value: Floats | float = 0.0) -> Floats:
        """P(strength ≤ value), shape (N,)."""
        (down, up), df = self._spread
        apart = value - self.center
        spread = np.where(apart < 0.0, down, up)
        # Something without a spread is below its center or above.
        certain = np.where(apart < 0.0, -np.inf, np.inf)
        z = np.divide(apart, spread, out=certain, where=spread > 0.0)
        return self.weight @ stdtr(df, z)

    def quantile(self, share: float) -> Floats:
        """Quantile of each strength, shape (N,)."""
        (down, up), df = self._spread
        z = student_quantile(share, df)
        ends = self.center + z * (down if share < 0.5 else up)
        low, high = ends.min(axis=0), ends.max(axis=0)
        if len(self.weight) == 1:
            return low
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            above = self.below(middle) < share
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return 0.5 * (low + high)

    @cached_property
    def _spread(self) -> tuple[tuple[Floats, Floats], Floats]:
        """Standard deviations down and up, (K, N) each, and degrees of freedom."""
        own = self.covariance
        if own.ndim == 3:
            own = np.diagonal(own, axis1=1, axis2=2)
        more = np.zeros(own.shape[1])
        if self.excess is not None:
            more = _diagonal(self.excess)
        df = satterthwaite(self.df, _diagonal(self.total), more)
        sides = np.ones((len(own), 2, 1)) if self.sides is None else self.sides
        down, up = (
            np.sqrt(np.maximum(own * sides[:, side] ** 2 + more, 0.0))
            for side in (0, 1)
        )
        return (down, up), df

    def deviate(self, share: Floats, k: int) -> Floats:
        """How far the strengths of part k are from its center, at shares of (0, 1)."""
        (down, up), df = self._spread
        return student_quantile(share, df) * np.where(share < 0.5, down[k], up[k])

    def slopes(
        self, left: Codes, right: Codes, other: int
    ) -> tuple[Floats, Floats, Floats]:
        """Center and variance of a coefficient, (K,), and how differences vary with it.

        The last are covariances with θ_right - θ_left, shape (K, n).
        """
        center, cov = self.center[:, other], self.covariance
        if cov.ndim == 2:
            more = 0.0 if self.excess is None else self.excess[other]
            return center, cov[:, other] + more, np.zeros((len(cov), len(left)))
        cov = cov if self.excess is None else cov + self.excess
        with_it = cov[:, :, other]
        return center, cov[:, other, other], with_it[:, right] - with_it[:, left]

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw deviations from the mean as if df were infinite, shape (n_draws, N)."""
        n = self.center.shape[1]
        parts = []
        for k, count in enumerate(rng.multinomial(n_draws, self.weight)):
            z = rng.standard_normal((count, n))
            noise = correlate(z, self.covariance[k])
            parts.append(self.center[k] - self.mean + noise)
        out = np.concatenate(parts)
        if self.excess is not None:
            out += correlate(rng.standard_normal((n_draws, n)), self.excess)
        return out


_BISECTIONS = 50
_FEW_CLUSTERS = 100  # or twice the items, if that is more


def student_quantile(share: float | Floats, df: Floats) -> Floats:
    """Give quantiles of Student's t; of the normal distribution if df is infinite."""
    return np.where(np.isinf(df), ndtri(share), stdtrit(df, share))


def satterthwaite(df: float | Floats, total: Floats, excess: Floats) -> Floats:
    """Degrees of freedom of variances of which the excess was estimated with df.

    The rest is known. As the excess is what estimates have beyond the rest, it varies
    more than an estimate of its size: (v/e)² would be too many.
    """
    ratio = np.full(np.shape(excess), np.inf)
    # Of nearly no excess it is infinite too, but without df unknown: one, at least.
    with np.errstate(over="ignore", invalid="ignore"):
        np.divide(total, excess, out=ratio, where=excess > 0)
        return np.fmax(df * (1.0 + (ratio - 1.0) ** 2), 1.0)


def pair_freedom(
    df: float | Floats,
    left: Codes,
    right: Codes,
    of_left: Floats,
    of_right: Floats,
) -> float | Floats:
    """Degrees of freedom of differences, from both items' and their variances."""
    if np.ndim(df) == 0:
        return df
    df, both = np.asarray(df), of_left + of_right
    parts = of_left / df[left] + of_right / df[right]
    return np.divide(both, parts, out=np.full(len(both), np.inf), where=parts > 0.0)


def few_clusters(df: float | Floats, n_items: int) -> bool:
    """Whether so few clusters were seen that their covariance has a low rank."""
    finite = np.atleast_1d(df)[np.isfinite(np.atleast_1d(df))]
    return bool(finite.size and finite.max() + 1.0 < max(_FEW_CLUSTERS, 2 * n_items))


def _diagonal(matrix: Floats) -> Floats:
    return matrix if matrix.ndim == 1 else np.diag(matrix)


def centered(covariance: Floats, place: int | None) -> Floats:
    """Covariance after an item, or the mean of all, was subtracted."""
    zero = covariance.mean(axis=-2) if place is None else covariance[..., place, :]
    own = zero.mean(axis=-1) if place is None else zero[..., place]
    out = covariance - zero[..., :, None]
    out -= zero[..., None, :]
    out += own[..., None, None]
    return out


@one_blas_thread()  # see data.threads: more only wait
def correlate(z: Floats, covariance: Floats) -> Floats:
    """Turn standard normals (m, N) into draws with a covariance, (N, N) or (N,)."""
    if covariance.ndim == 1:
        return z * np.sqrt(covariance)
    # By the symmetric root, which does not depend on the signs of eigenvectors: these
    # differ between processors.
    values, vectors = la.eigh(covariance, check_finite=False)
    return z @ (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


_N_DRAWS = 4000
_RANK_BLOCK = 256  # rows of the matrix of differences at a time
_SIMULATED = 300  # items; above, N² maxima of 4000 draws take too long
_GROUPED, _MOST_GROUPS, _MOST_STEPS = 1000, 200, 20_000


@dataclass(frozen=True, eq=False)
class Separation:
    """Which items differ significantly, all statements holding at once.

    ``simultaneous=False``: ranks of each item by itself only.
    """

    strengths: StrengthDistribution
    critical: Floats  # (N,), for the pairs of each item
    component: Codes  # (N,), of the comparison graph

    @classmethod
    def of(
        cls,
        strengths: StrengthDistribution,
        level: float,
        component: Codes,
        simultaneous: bool = True,
    ) -> Separation:
        """Find the critical values."""
        each, together, draws = _critical_values(strengths, level)
        out = cls(strengths, together if simultaneous else each, component)
        if not simultaneous or len(each) > _SIMULATED:
            return out
        return out._step_down(draws, level)

    def _step_down(
        self, drawn: tuple[Floats, Floats] | None, level: float
    ) -> Separation:
        """Leave out ordered pairs that differ, and take the maximum over the rest."""
        everyone, one = np.arange(len(self.critical)), self
        n_open = len(everyone) ** 2
        while True:
            worse, _ = one._apart(everyone)
            if np.count_nonzero(~worse) == n_open:
                return one
            n_open = int(np.count_nonzero(~worse))
            if drawn is None:  # Holm
                n_left = n_open - len(everyone)
                critical = float(-ndtri((1.0 - level) / max(n_left, 1)))
            else:
                # Of a pair (row, column), column is better: the others are left.
                draws, precision = drawn
                leads = largest_leads(draws, np.where(worse, np.nan, precision))
                critical = float(np.quantile(leads.max(axis=1).clip(0.0), level))
            critical = min(critical, one.critical[0])
            one = replace(one, critical=np.full(len(everyone), critical))

    def ranks(self) -> Codes:
        """Best and worst rank of each item among those it meets, shape (N, 2)."""
        n, size = len(self.critical), np.bincount(self.component)[self.component]
        out = np.empty((n, 2), dtype=np.int64)
        total = self.strengths.total
        if total.ndim == 1:
            mean = self.strengths.mean
            # Values of Student's t that are as probable as the normal ones.
            df = self.strengths._spread[1]
            limit = student_quantile(ndtr(-self.critical), df) ** 2

            def count(rows: slice) -> None:
                _count_apart(rows.start, mean, total, limit, self.component, out[rows])

            in_threads(count, chunks(n, _RANK_BLOCK))
            out[:, 1] += size
            return out
        for rows, worse, better in self._blocks():
            out[rows, 0] = 1 + worse.sum(axis=1)
            out[rows, 1] = size[rows] - better.sum(axis=1)
        return out

    def _blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """Give rows, and which items are significantly better, and worse."""
        n = len(self.critical)
        # In blocks: matrices of all differences would be many times the covariance.
        for rows in np.array_split(np.arange(n), -(-n // _RANK_BLOCK)):
            yield rows, *self._apart(rows)

    def _apart(self, rows: Codes) -> tuple[Flags, Flags]:
        """Which items (columns) are significantly better, and worse, than rows."""
        n = len(self.critical)
        one, two = (
            index.ravel() for index in np.meshgrid(rows, np.arange(n), indexing="ij")
        )
        gap = self.strengths.differences(two, one)
        behind = gap.below()
        limit = ndtr(-self.critical[one])
        limit[gap.mean == 0.0] = -1.0  # never, whatever rounding does
        limit[self.component[one] != self.component[two]] = -1.0
        shape = (len(rows), n)
        return (1.0 - behind < limit).reshape(shape), (behind < limit).reshape(shape)

    def groups(self, alone: ArrayLike = False) -> list[Codes] | None:
        """Maximal sets without a significant difference, best first; None: too many.

        `alone`: items that differ from all that they meet, whatever their distance.
        """
        n = len(self.critical)
        if n > _GROUPED:
            return None
        same = ~np.concatenate([worse | better for _, worse, better in self._blocks()])
        alone = np.asarray(alone)[..., None]
        same &= ~((alone | alone.T) & (self.component[:, None] == self.component))
        order = np.argsort(-self.strengths.mean, kind="stable")
        same = same[np.ix_(order, order)]
        cliques = maximal_cliques(same)
        return None if cliques is None else [order[clique] for clique in cliques]


def maximal_cliques(joined: Flags) -> list[list[int]] | None:
    """Give all maximal cliques (Bron and Kerbosch, sets as bits); None if too many."""
    n = len(joined)
    joined = joined & ~np.eye(n, dtype=bool)
    near = [
        int.from_bytes(row.tobytes(), "little")
        for row in np.packbits(joined, axis=1, bitorder="little")
    ]
    cliques: list[list[int]] = []
    stack = [(0, (1 << n) - 1, 0)]
    steps = 0
    while stack:
        steps += 1
        if steps > _MOST_STEPS or len(cliques) > _MOST_GROUPS:
            return None
        chosen, open_, closed = stack.pop()
        # Items that are joined with all the others belong to every clique to come.
        for v in _bits(open_):
            if not open_ & ~near[v] & ~(1 << v):
                chosen, open_, closed = (
                    chosen | 1 << v,
                    open_ ^ 1 << v,
                    closed & near[v],
                )
        if not open_:
            if not closed:
                cliques.append(_bits(chosen))
            continue
        pivot = max(_bits(open_ | closed), key=lambda u: (open_ & near[u]).bit_count())
        for v in _bits(open_ & ~near[pivot]):
            stack.append((chosen | 1 << v, open_ & near[v], closed & near[v]))
            open_, closed = open_ & ~(1 << v), closed | 1 << v
    return sorted(cliques)


def _bits(number: int) -> list[int]:
    out = []
    while number:
        low = number & -number
        out.append(low.bit_length() - 1)
        number ^= low
    return out


def pair_precision(covariance: Floats) -> Floats:
    """One over the standard errors of θ_i - θ_j, (N, N); NaN where they are 0."""
    own = _diagonal(covariance)
    spread = own[:, None] + own - 2.0 * (covariance if covariance.ndim == 2 else 0.0)
    np.fill_diagonal(spread, 0.0)
    error = np.sqrt(np.maximum(spread, 0.0))
    return np.divide(1.0, error, out=np.full_like(error, np.nan), where=error > 0.0)


def _critical_values(
    strengths: StrengthDistribution, level: float
) -> tuple[Floats, Floats, tuple[Floats, Floats] | None]:
    """Critical values for each item by itself, for all at once, and their draws."""
    n = strengths.center.shape[1]
    if n < 2:
        return np.zeros(n), np.zeros(n), None
    total = strengths.total
    tests = np.array([n - 1, n * (n - 1) / 2])
    bounds = ndtri(1.0 - (1.0 - level) / (2.0 * tests))
    if n > _SIMULATED or few_clusters(strengths.df, n):
        return np.full(n, bounds[0]), np.full(n, bounds[1]), None
    # A fixed seed: the same data always give the same intervals.
    draws = strengths.draw(_N_DRAWS, np.random.default_rng(0))
    precision = pair_precision(total)
    largest = largest_leads(draws, precision, both=True).clip(0.0)
    each = np.quantile(largest, level, axis=0)
    together = np.full(n, np.quantile(largest.max(axis=1), level))
    return each, together, (draws, precision)


@njit(cache=True, nogil=True)
def _count_apart(first, mean, variance, limit, component, ranks):  # type: ignore[no-untyped-def]
    """Set the best rank, and how many are surely worse, of items from `first` on."""
    n = len(mean)
    for row in range(len(ranks)):
        i = first + row
        better, worse = 0, 0
        for j in range(n):
            gap = mean[j] - mean[i]
            apart = gap * gap > limit[i] * (variance[i] + variance[j])
            apart = apart and component[i] == component[j]
            better += apart and gap > 0.0
            worse += apart and gap < 0.0
        ranks[row, 0] = 1 + better
        ranks[row, 1] = -worse


def largest_leads(draws: Floats, precision: Floats, both: bool = False) -> Floats:
    """The largest z of others over each item in draws (B, N), or of all differences.

    z is (draw of j - draw of i) precision[i, j]; NaN: these two do not count.
    """
    out = np.full(draws.shape, -np.inf)
    _update_largest(draws, np.ascontiguousarray(precision.T), both, out)
    return out


@njit(cache=True, nogil=True)
def _update_largest(draws, precision, both, largest):  # type: ignore[no-untyped-def]
    """Update largest[b, i] to max_j (draws[b, j] - draws[b, i]) precision[j, i]."""
    n = draws.shape[1]
    for b in range(len(draws)):
        for j in range(n):
            # Without jumps the compiler takes several i at a time.
            for i in range(n):
                z = (draws[b, j] - draws[b, i]) * precision[j, i]
                z = abs(z) if both else z
                largest[b, i] = z if z > largest[b, i] else largest[b, i]
