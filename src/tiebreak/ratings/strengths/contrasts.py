# SPDX-License-Identifier: BSD-3-Clause
r"""Differences of two items without their priors, and who could be best.

A prior pulls an item with few results to the mean: good for a rating, but no test of
whether two items differ. With S the two items, θ̂ the strengths, V their covariance and
κ the precision of the prior, the results alone say of them

.. math:: P = V_{SS}^{-1} - κ\,\mathrm{Id}, \qquad
          \hat θ = P^{-} V_{SS}^{-1} θ̂_S, \qquad \operatorname{cov} = P^{-} .

θ̂ is measured from the mean of the prior.

An item *could be best* unless some other is better by a one-sided test of Dunnett,
whose control it is: the largest of (θ̂_j - θ̂_i) / se_ij over j is compared with that of
correlated normals. Only the test of the true best can leave it out, so that it is in
the set with the confidence of the test (Gupta; Hsu's comparisons with the best). Items
are compared with those that they meet, if only through others.

Of few results normal approximations say too much: n results of equals all agree with
the probability 2⁻ⁿ, and no p-value is less, n that of the item with fewer; an item can
be left out of the set only if the posterior with its prior is as sure. Where nearly all
results agree, both say too little, however many there are (Hauck and Donner). There
results and prior are λ times less probable if an item is equal to the leader, and with
k rivals k/λ bounds the p-value. (Without the priors of the two items λ is too large.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from tiebreak.data.arrays import Codes, Floats
from tiebreak.ratings.strengths.distribution import (
    StrengthDistribution,
    correlate,
    few_clusters,
    largest_leads,
    pair_freedom,
    pair_precision,
)

_DRAWN = 300  # items; with more, Bonferroni's bound replaces draws
_N_DRAWS = 4000
_SINGULAR = 1e-9
_SURE = 1e-3  # p-values that need no second way
_WIDE = 0.5  # standard errors of differences above which results nearly all agree
_ROWS, _RIVALS = 256, 200


class Difference(NamedTuple):
    """What is said of θ_right - θ_left, shape (m,) each."""

    estimate: Floats
    lower: Floats
    upper: Floats
    behind: Floats  # the probability that right is not better

    @property
    def p_value(self) -> Floats:
        """Two-sided."""
        return 2.0 * np.minimum(self.behind, 1.0 - self.behind)


@dataclass(frozen=True, eq=False)
class PairContrasts:
    """Strengths of N items at the most probable prior, for tests of differences."""

    posterior: StrengthDistribution  # of the strengths, relative to their mean
    mode: StrengthDistribution  # normal, at the most probable prior
    precision: float  # κ of the prior on every strength; 0: none
    component: Codes  # (N,), of the comparison graph
    results: Floats  # (N,), how many each item has
    # ln λ of two items; None: a model without a likelihood of comparisons
    log_ratio: Callable[[int, int], float] | None = None
    prior_mean: Floats | float = 0.0  # (N,), of classes

    @classmethod
    def of(
        cls,
        known: StrengthDistribution,
        mode: int,
        alpha: float,
        component: Codes,
        results: Floats | float = math.inf,
    ) -> PairContrasts:
        """Take the part of a mixture with the most probable prior."""
        known = known.take(slice(len(component)))
        node = {"center": known.center[[mode]], "covariance": known.covariance[[mode]]}
        normal = replace(known, **node, weight=np.ones(1), sides=None)
        results = np.broadcast_to(results, len(component))
        return cls(known.relative_to(None), normal, 2 * alpha, component, results)

    def take(self, items: Codes) -> PairContrasts:
        """Some of the items."""
        log_ratio = self.log_ratio
        return replace(
            self,
            posterior=self.posterior.take(items),
            mode=self.mode.take(items),
            prior_mean=np.broadcast_to(self.prior_mean, len(self.component))[items],
            results=self.results[items],
            component=np.unique(self.component[items], return_inverse=True)[1],
            log_ratio=log_ratio and (lambda i, j: log_ratio(items[i], items[j])),
        )

    def without_excess(self) -> PairContrasts:
        """As if votes were independent of each other."""
        posterior, mode = (
            replace(one, excess=None, df=math.inf)
            for one in (self.posterior, self.mode)
        )
        return replace(self, posterior=posterior, mode=mode)

    def compare(self, left: Codes, right: Codes, level: float) -> Difference:
        """Differences of pairs by the results alone."""
        gap, tail = self.between(left, right), 0.5 - 0.5 * level
        fewest = np.minimum(self.results[left], self.results[right])
        least = 0.5 ** np.maximum(fewest, 1.0)
        behind = np.clip(gap.below(), least, 1.0 - least)
        behind = np.minimum(behind, np.exp(-self._log_ratios(left, right)))
        behind = np.maximum(behind, 1.0 - np.exp(-self._log_ratios(right, left)))
        lower, upper = gap.quantile(tail), gap.quantile(1.0 - tail)
        # An interval leaves out 0 where the difference is significant, and only there.
        above, below = behind < tail, behind > 1.0 - tail
        lower = np.where(above, np.maximum(lower, 0.0), np.minimum(lower, 0.0))
        upper = np.where(below, np.minimum(upper, 0.0), np.maximum(upper, 0.0))
        return Difference(gap.mean, lower, upper, behind)

    def between(self, left: Codes, right: Codes) -> StrengthDistribution:
        """Differences of pairs, without the priors of both items."""
        (center,), (covariance,) = self.mode.center, self.mode.covariance
        entries = _entries(covariance, left, right)
        weight_left, weight_right, variance = difference_weights(
            *entries, self.precision
        )
        mean = np.broadcast_to(self.prior_mean, len(self.component))
        off = center - mean
        estimate = weight_left * off[left] + weight_right * off[right]
        estimate += mean[right] - mean[left]
        more, df = None, self.mode.df
        if self.mode.excess is not None:
            a, b, c = _entries(self.mode.excess, left, right)
            a, b = weight_left**2 * a, weight_right**2 * b
            more = a + b + 2.0 * weight_left * weight_right * c
            df = pair_freedom(df, left, right, a, b)
        normal = estimate[None], variance[None], np.ones(1)
        return StrengthDistribution(*normal, more, df)

    @cached_property
    def best(self) -> Floats:
        """P-value of "is best" for every item, shape (N,)."""
        n = len(self.component)
        # Each t becomes a normal score by its own degrees of freedom.
        lead, others = np.full(n, -math.inf), np.arange(n)
        rival = np.zeros(n, dtype=np.int64)
        if n > _DRAWN:
            # Few can show that an item is not best: those that are surely high.
            error = replace(self.mode, excess=None).errors()
            others = np.argsort(error - self.mode.mean, kind="stable")[:_RIVALS]
        for rows in np.array_split(np.arange(n), -(-n // _ROWS)):
            i, j = (k.ravel() for k in np.meshgrid(rows, others, indexing="ij"))
            ahead = self.between(i, j)
            z = -ndtri(np.clip(ahead.below(), 1e-300, 1))
            z[ahead.errors() == 0.0] = 0.0
            z[(i == j) | (self.component[i] != self.component[j])] = -math.inf
            z = z.reshape(len(rows), -1)
            lead[rows], rival[rows] = z.max(axis=1), others[z.argmax(axis=1)]
        rivals = np.bincount(self.component)[self.component] - 1
        drawn = bound = np.minimum(rivals * ndtr(-lead), 1.0)
        if 1 < n <= _DRAWN and not few_clusters(self.mode.df, n):
            drawn = np.minimum(self._draw_leads(lead), bound)
        known = self.posterior.differences(np.arange(n), rival)
        p = np.where(rivals > 0, np.maximum(drawn, known.below()), 1.0)
        near = np.flatnonzero(p > _SURE)
        bound = np.exp(-self._log_ratios(near, np.full(len(near), p.argmax())))
        p[near] = np.minimum(p[near], np.maximum(rivals[near], 1) * bound)
        return p

    def behind(self, left: Codes, right: Codes) -> Floats:
        """P(θ_right ≤ θ_left) of pairs, by the posterior or at most 1/λ."""
        known = self.posterior.differences(left, right).below()
        return np.minimum(known, np.exp(-self._log_ratios(left, right)))

    def _log_ratios(self, left: Codes, right: Codes) -> Floats:
        """Give ln λ of pairs whose right item is ahead, but not clearly; else 0."""
        out = np.zeros(len(left))
        n = len(self.component)
        if self.log_ratio is None or n > _DRAWN or few_clusters(self.mode.df, n):
            return out
        gap = self.between(left, right)
        error = gap.errors()
        plain = self.without_excess().between(left, right).errors()
        for k in np.flatnonzero((error > _WIDE) & (gap.mean > error)):
            # What raters add counts as fewer results.
            share = (plain[k] / error[k]) ** 2
            out[k] = share * max(self.log_ratio(left[k], right[k]), 0.0)
        return out

    def _draw_leads(self, lead: Floats) -> Floats:
        """P-values of the leads of others over each item, by draws of the maximum."""
        precision = pair_precision(self.mode.total)
        precision[self.component[:, None] != self.component] = np.nan
        # A fixed seed: the same data always give the same answer.
        draws = np.random.default_rng(0).standard_normal((_N_DRAWS, len(lead)))
        beyond = largest_leads(correlate(draws, self.mode.total), precision) >= lead
        return np.asarray((beyond.sum(axis=0) + 1.0) / (_N_DRAWS + 1.0))


def difference_weights(
    a: Floats, b: Floats, c: Floats, precision: float
) -> tuple[Floats, Floats, Floats]:
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


def _entries(
    matrix: Floats, left: Codes, right: Codes
) -> tuple[Floats, Floats, Floats]:
    if matrix.ndim == 1:
        return matrix[left], matrix[right], np.zeros(len(left))
    own = np.diag(matrix)
    return own[left], own[right], matrix[left, right]


def _without_prior(
    a: Floats, b: Floats, c: Floats, det: Floats, precision: float
) -> tuple[Floats, Floats, Floats]:
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
