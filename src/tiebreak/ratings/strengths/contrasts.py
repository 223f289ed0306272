# SPDX-License-Identifier: BSD-3-Clause
r"""Differences of two items without their priors, and who could be best.

A prior pulls an item with few results to the mean: good for a rating, but no test of
whether two items differ. With S the two items, θ̂ the strengths, V their covariance and
κ the precision of the prior, the results alone say of them

.. math:: P = V_{SS}^{-1} - κ\,\mathrm{Id}, \qquad
          \hat θ = P^{-} V_{SS}^{-1} θ̂_S, \qquad \operatorname{cov} = P^{-} .

An item *could be best* unless some other is better by a one-sided test of Dunnett,
whose control it is: the largest of (θ̂_j - θ̂_i) / se_ij over j is compared with that of
correlated normals. Only the test of the true best can leave it out, so that it is in
the set with the confidence of the test (Gupta; Hsu's comparisons with the best). Items
are compared with those that they meet, if only through others.

Of very few results normal approximations say too much, and the posterior with its prior
says less. So a difference is significant if both say so, and its interval contains both
intervals. Where nearly all results agree, both say too little, however many there are
(Hauck and Donner). There results and prior are λ times less probable if an item is
equal to the leader, and with k rivals k/λ bounds the p-value; the prior makes λ less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr

from tiebreak.data.jit import njit
from tiebreak.ratings.strengths.distribution import (
    StrengthDistribution,
    pair_freedom,
    satterthwaite,
    student_quantile,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_DRAWN = 300  # items; with more, Bonferroni's bound replaces draws
_N_DRAWS = 4000
_SINGULAR = 1e-9
_SURE = 1e-3  # p-values that need no second way
_WIDE = 0.5  # standard errors of differences above which results nearly all agree
_ROWS, _RIVALS = 256, 200


class Contrast(NamedTuple):
    """Differences θ_right - θ_left of pairs, shape (m,) each."""

    estimate: Array
    error: Array
    df: Array

    def below(self, value: float = 0.0) -> Array:
        """P(difference ≤ value)."""
        sure = np.where(self.estimate <= value, math.inf, -math.inf)
        z = np.divide(value - self.estimate, self.error, out=sure, where=self.error > 0)
        return np.where(np.isinf(self.df), ndtr(z), stdtr(self.df, z))

    def quantile(self, share: float) -> Array:
        """How far a quantile is from the estimate."""
        return self.error * student_quantile(share, self.df)


class Difference(NamedTuple):
    """What is said of θ_right - θ_left, shape (m,) each."""

    estimate: Array
    lower: Array
    upper: Array
    behind: Array  # the probability that right is not better

    @property
    def p_value(self) -> Array:
        """Two-sided."""
        return 2.0 * np.minimum(self.behind, 1.0 - self.behind)


@dataclass(frozen=True, eq=False)
class PairContrasts:
    """Strengths of N items at the most probable prior, for tests of differences."""

    posterior: StrengthDistribution  # of the strengths, relative to their mean
    center: Array  # (N,)
    covariance: Array  # (N, N), or (N,) of independent strengths
    excess: Array | None  # the same shape: what raters or votes add
    df: float | Array  # of the excess
    precision: float  # κ of the prior on every strength; 0: none
    component: Ints  # (N,), of the comparison graph
    # ln λ of two items; None: a model without a likelihood of comparisons
    log_ratio: Callable[[int, int], float] | None = None

    @classmethod
    def of(
        cls, known: StrengthDistribution, mode: int, alpha: float, component: Ints
    ) -> PairContrasts:
        """Take the part of a mixture with the most probable prior."""
        one = known.take(slice(len(component)))
        center, covariance = one.center[mode], one.covariance[mode]
        return cls(
            one.relative_to(None), center, covariance, one.excess, one.df, 2 * alpha,
            component,
        )  # fmt: skip

    def take(self, items: Ints) -> PairContrasts:
        """Some of the items."""

        def part(matrix: Array) -> Array:
            return matrix[items] if matrix.ndim == 1 else matrix[np.ix_(items, items)]

        log_ratio = self.log_ratio
        return replace(
            self,
            posterior=self.posterior.take(items),
            center=self.center[items],
            covariance=part(self.covariance),
            excess=None if self.excess is None else part(self.excess),
            df=self.posterior.take(items).df,
            component=np.unique(self.component[items], return_inverse=True)[1],
            log_ratio=log_ratio and (lambda i, j: log_ratio(items[i], items[j])),
        )

    def without_excess(self) -> PairContrasts:
        """As if votes were independent of each other."""
        posterior = replace(self.posterior, excess=None, df=math.inf)
        return replace(self, excess=None, df=math.inf, posterior=posterior)

    def compare(self, left: Ints, right: Ints, level: float) -> Difference:
        """Differences of pairs by the results alone, and by the posterior too."""
        gap, tail = self.between(left, right), 0.5 - 0.5 * level
        known = self.posterior.differences(left, right)
        half = gap.quantile(1.0 - tail)
        two = gap.below(), known.below(np.zeros(len(left)))
        agree = (two[0] - 0.5) * (two[1] - 0.5) > 0.0
        near = np.where(np.abs(two[0] - 0.5) < np.abs(two[1] - 0.5), *two)
        behind = np.where(agree, near, 0.5)
        behind = np.minimum(behind, np.exp(-self._log_ratios(left, right)))
        behind = np.maximum(behind, 1.0 - np.exp(-self._log_ratios(right, left)))
        lower = np.minimum(gap.estimate - half, known.quantile(tail))
        upper = np.maximum(gap.estimate + half, known.quantile(1.0 - tail))
        # An interval leaves out 0 where the difference is significant.
        lower = np.where(behind < tail, np.maximum(lower, 0.0), lower)
        upper = np.where(behind > 1.0 - tail, np.minimum(upper, 0.0), upper)
        return Difference(gap.estimate, lower, upper, behind)

    def between(self, left: Ints, right: Ints) -> Contrast:
        """Differences of pairs, without the priors of both items."""
        entries = _entries(self.covariance, left, right)
        weight_left, weight_right, variance = difference_weights(
            *entries, self.precision
        )
        one, two = self.center[left], self.center[right]
        more, df = np.zeros(len(one)), self.df
        if self.excess is not None:
            a, b, c = _entries(self.excess, left, right)
            a, b = weight_left**2 * a, weight_right**2 * b
            more = a + b + 2.0 * weight_left * weight_right * c
            df = pair_freedom(df, left, right, a, b)
        total = np.maximum(variance + more, 0.0)
        estimate = weight_left * one + weight_right * two
        return Contrast(estimate, np.sqrt(total), satterthwaite(df, total, more))

    @cached_property
    def best(self) -> Array:
        """P-value of "is best" for every item, shape (N,)."""
        n = len(self.center)
        # Each t becomes a normal score by its own degrees of freedom.
        lead, others = np.full(n, -math.inf), np.arange(n)
        rival = np.zeros(n, dtype=np.int64)
        if n > _DRAWN:
            # Few can show that an item is not best: those that are surely high.
            own = self.covariance
            error = np.sqrt(own if own.ndim == 1 else np.diag(own))
            others = np.argsort(error - self.center, kind="stable")[:_RIVALS]
        for rows in np.array_split(np.arange(n), -(-n // _ROWS)):
            i, j = (k.ravel() for k in np.meshgrid(rows, others, indexing="ij"))
            ahead = self.between(i, j)
            z = np.where(ahead.error > 0, -ndtri(np.clip(ahead.below(), 1e-300, 1)), 0)
            z[(i == j) | (self.component[i] != self.component[j])] = -math.inf
            z = z.reshape(len(rows), -1)
            lead[rows], rival[rows] = z.max(axis=1), others[z.argmax(axis=1)]
        rivals = np.bincount(self.component)[self.component] - 1
        drawn = bound = np.minimum(rivals * ndtr(-lead), 1.0)
        if 1 < n <= _DRAWN:
            drawn = np.minimum(self._draw_leads(lead), bound)
        known = self.posterior.differences(np.arange(n), rival)
        p = np.where(rivals > 0, np.maximum(drawn, known.below(np.zeros(n))), 1.0)
        near = np.flatnonzero(p > _SURE)
        bound = np.exp(-self._log_ratios(near, np.full(len(near), p.argmax())))
        p[near] = np.minimum(p[near], np.maximum(rivals[near], 1) * bound)
        return p

    def behind(self, left: Ints, right: Ints) -> Array:
        """P(θ_right ≤ θ_left) of pairs, by the posterior or at most 1/λ."""
        known = self.posterior.differences(left, right).below(np.zeros(len(left)))
        return np.minimum(known, np.exp(-self._log_ratios(left, right)))

    def _log_ratios(self, left: Ints, right: Ints) -> Array:
        """Give ln λ of pairs whose right item is ahead, but not clearly; else 0."""
        out = np.zeros(len(left))
        if self.log_ratio is None or len(self.center) > _DRAWN:
            return out
        gap, plain = (c.between(left, right) for c in (self, self.without_excess()))
        for k in np.flatnonzero((gap.error > _WIDE) & (gap.estimate > gap.error)):
            # What raters add counts as fewer results.
            share = (plain.error[k] / gap.error[k]) ** 2
            out[k] = share * max(self.log_ratio(left[k], right[k]), 0.0)
        return out

    def _draw_leads(self, lead: Array) -> Array:
        """P-values of the leads of others over each item, by draws of the maximum."""
        n = len(lead)
        total = self.covariance + (0.0 if self.excess is None else self.excess)
        if total.ndim == 1:
            total = np.diag(total)
        own = np.diag(total)
        spread = own[:, None] + own - 2.0 * total
        np.fill_diagonal(spread, 0.0)
        spread[self.component[:, None] != self.component] = 0.0
        precision = np.zeros((n, n))
        np.divide(1.0, np.sqrt(np.abs(spread)), out=precision, where=spread > 0.0)
        values, vectors = np.linalg.eigh(total)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        # A fixed seed: the same data always give the same answer.
        draws = np.random.default_rng(0).standard_normal((_N_DRAWS, n)) @ root
        beyond = np.zeros(n, dtype=np.int64)
        _count_beyond(draws, precision, lead, beyond)
        return np.asarray((beyond + 1.0) / (_N_DRAWS + 1.0))


def difference_weights(
    a: Array, b: Array, c: Array, precision: float
) -> tuple[Array, Array, Array]:
    """Weights of θ̂_left and θ̂_right in the difference without priors, and its variance.

    a and b are variances of left and right, and c is their covariance, (m,) each.
    """
    if not precision:
        return -np.ones(len(a)), np.ones(len(a)), a + b - 2.0 * c
    det = a * b - c * c
    det = np.where(det > 0.0, det, 1.0)  # 0 only of an item and itself
    inverse = _without_prior(a, b, c, det, precision)
    variance = inverse[0] + inverse[1] - 2.0 * inverse[2]
    known = np.isfinite(variance)
    i11, i22, i12 = (np.where(known, x, 0.0) for x in inverse)
    # The difference is linear in the two strengths: (-1, 1) P⁻ V⁻¹.
    h_left, h_right = i12 - i11, i22 - i12
    weight_left = np.where(known, (b * h_left - c * h_right) / det, -1.0)
    weight_right = np.where(known, (a * h_right - c * h_left) / det, 1.0)
    return weight_left, weight_right, variance


def _entries(matrix: Array, left: Ints, right: Ints) -> tuple[Array, Array, Array]:
    if matrix.ndim == 1:
        return matrix[left], matrix[right], np.zeros(len(left))
    own = np.diag(matrix)
    return own[left], own[right], matrix[left, right]


def _without_prior(
    a: Array, b: Array, c: Array, det: Array, precision: float
) -> tuple[Array, Array, Array]:
    """P⁻ of 2 × 2 covariances: entries 11, 22 and 12."""
    p11, p22, p12 = b / det - precision, a / det - precision, -c / det
    p11, p22 = np.maximum(p11, 0.0), np.maximum(p22, 0.0)
    trace, minor = p11 + p22, p11 * p22 - p12 * p12
    regular = minor > _SINGULAR * trace**2
    divisor = np.where(regular, minor, 1.0)
    inverse = p22 / divisor, p11 / divisor, -p12 / divisor
    # Of rank one: the pseudo-inverse, if the difference is what is known.
    size = np.maximum(p11**2 + p22**2 + 2.0 * p12**2, np.finfo(float).tiny)
    along = (p11 + p22 - 2.0 * p12) / np.maximum(2.0 * trace, np.finfo(float).tiny)
    unknown = np.where(along > 1.0 - 1e-6, 0.0, math.inf)
    single = p11 / size + unknown, p22 / size + unknown, p12 / size
    return tuple(  # type: ignore[return-value]
        np.where(regular, one, two) for one, two in zip(inverse, single, strict=True)
    )


@njit(cache=True, nogil=True)
def _count_beyond(draws, precision, lead, beyond):  # type: ignore[no-untyped-def]
    """Count draws in which some other leads an item by at least as much."""
    n = draws.shape[1]
    for k in range(len(draws)):
        for i in range(n):
            largest = -np.inf
            for j in range(n):
                z = (draws[k, j] - draws[k, i]) * precision[i, j]
                largest = z if z > largest and precision[i, j] > 0.0 else largest
            beyond[i] += largest >= lead[i]
