# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of left, tie and right from a difference of utilities.

A link turns the difference d = r(right) - r(left) and one tie parameter t, shared by
all comparisons, into three probabilities. Both links here give a negative
log-likelihood that is jointly convex in (d, t):

* Davidson (1970): P(left), P(tie), P(right) ∝ exp(-d/2), exp(t), exp(d/2), with
  ν = exp(t). No ties at all is t = -∞.
* cumulative logit, which is the model of Rao and Kupper (1967):
  P(right) = σ(d - t), P(left) = σ(-d - t), t ≥ 0, and θ = exp(t). No ties is t = 0.

Without ties both are the Bradley-Terry model P(right) = σ(d).

Losses are **sums** over comparisons: -Σ n_c ln p_c over the three outcomes, where the
counts n (shape (m, 3), columns left, tie, right) are weights of alike comparisons and
need not be whole. A count of zero contributes zero, whatever its probability is.

Boundary convention: a tie is the most probable outcome when |d| ≤ ``threshold(t)``,
the boundary included.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["LINKS", "Cumulative", "Davidson", "Expansion", "OutcomeLink"]

Vector = NDArray[np.float64]


class Expansion(NamedTuple):
    """Value and derivatives of a summed loss in the differences d and in t."""

    value: float
    gradient: Vector  # (m,), in d
    tie_gradient: float
    curvature: Vector  # (m,), second derivative in d
    cross: Vector  # (m,), mixed second derivative in d and t
    tie_curvature: float


class OutcomeLink(Protocol):
    """What a link offers; see the module for the two there are."""

    name: str

    def probabilities(self, d: Vector, t: float) -> Vector:
        """Give P(left), P(tie), P(right) as columns, shape (m, 3)."""
        ...

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """Give ln P(left), ln P(tie), ln P(right) as columns, shape (m, 3)."""
        ...

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p; infinite where t is outside its domain."""
        ...

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Give the value and its first and second derivatives."""
        ...

    def gradient(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, float]:
        """Give the first derivatives only, in d and in t."""
        ...

    def scores(self, d: Vector, t: float) -> tuple[Vector, Vector]:
        """Give ∂(-ln p_c)/∂d and ∂(-ln p_c)/∂t, shape (m, 3) each."""
        ...

    def threshold(self, t: float) -> float:
        """Give the largest ``|d|`` for which a tie is the most probable outcome."""
        ...

    def start(self, tie_share: float) -> float:
        """Give the t at which equal items tie with this probability."""
        ...

    def to_parameter(self, t: float) -> float:
        """Give the parameter of the literature: ν, or θ."""
        ...

    def from_parameter(self, value: float) -> float:
        """Give t for the parameter of the literature."""
        ...


class Davidson:
    """P(left), P(tie), P(right) ∝ exp(-d/2), exp(t), exp(d/2); ν = exp(t)."""

    name = "davidson"

    def probabilities(self, d: Vector, t: float) -> Vector:
        """Give P(left), P(tie), P(right) as columns, shape (m, 3)."""
        odds = np.exp(self._logits(d, t))
        return odds / odds.sum(axis=1, keepdims=True)

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """Give ln P(left), ln P(tie), ln P(right) as columns, shape (m, 3)."""
        logits = self._logits(d, t)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    @staticmethod
    def _logits(d: Vector, t: float) -> Vector:
        """Logarithms of the odds, the largest of a row being 0."""
        if t == math.inf:
            return np.tile([-math.inf, 0.0, -math.inf], (len(d), 1))
        logits = np.stack([-0.5 * d, np.full(len(d), t), 0.5 * d], axis=1)
        return logits - logits.max(axis=1, keepdims=True)

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p."""
        return _davidson_value(d, t, counts)

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Give the value and its first and second derivatives."""
        return _expand(_expand_davidson, d, t, counts)

    def gradient(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, float]:
        """Give the first derivatives only, in d and in t."""
        out = np.empty(len(d))
        return out, _davidson_gradient(d, t, counts, out)

    def scores(self, d: Vector, t: float) -> tuple[Vector, Vector]:
        """Give ∂(-ln p_c)/∂d and ∂(-ln p_c)/∂t, shape (m, 3) each."""
        p = self.probabilities(d, t)
        half = 0.5 * (p[:, 2] - p[:, 0])
        return (
            half[:, None] - np.array([-0.5, 0.0, 0.5]),
            p[:, 1, None] - np.array([0.0, 1.0, 0.0]),
        )

    def threshold(self, t: float) -> float:
        """Give the largest ``|d|`` for which a tie is the most probable outcome."""
        return max(0.0, 2.0 * t)

    def start(self, tie_share: float) -> float:
        """Give the t at which equal items tie with this probability."""
        return math.log(2.0 * tie_share / (1.0 - tie_share)) if tie_share else -math.inf

    def to_parameter(self, t: float) -> float:
        """Give ν."""
        return math.exp(t)

    def from_parameter(self, value: float) -> float:
        """Give t = ln ν."""
        return math.log(value) if value else -math.inf


class Cumulative:
    """P(right) = σ(d - t), P(left) = σ(-d - t), P(tie) the rest, t ≥ 0; θ = exp(t)."""

    name = "cumulative"

    def probabilities(self, d: Vector, t: float) -> Vector:
        """Give P(left), P(tie), P(right) as columns, shape (m, 3)."""
        # σ(d + t) - σ(d - t) as a product, which does not cancel.
        tie = _sigmoid(d + t) * _sigmoid(t - d) * -math.expm1(-2.0 * t)
        return np.stack([_sigmoid(-d - t), tie, _sigmoid(d - t)], axis=1)

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """Give ln P(left), ln P(tie), ln P(right) as columns, shape (m, 3)."""
        tie = -np.logaddexp(0.0, -d - t) - np.logaddexp(0.0, d - t)
        tie += math.log(-math.expm1(-2.0 * t)) if t else -math.inf
        left, right = -np.logaddexp(0.0, d + t), -np.logaddexp(0.0, t - d)
        return np.stack([left, tie, right], axis=1)

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p; infinite if t < 0, or if t = 0 and there are ties."""
        if t < 0.0 or (t == 0.0 and counts[:, 1].any()):
            return math.inf
        return _cumulative_value(d, t, counts)

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Give the value and its first and second derivatives."""
        return _expand(_expand_cumulative, d, t, counts)

    def gradient(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, float]:
        """Give the first derivatives only, in d and in t."""
        out = np.empty(len(d))
        return out, _cumulative_gradient(d, t, counts, out)

    def scores(self, d: Vector, t: float) -> tuple[Vector, Vector]:
        """Give ∂(-ln p_c)/∂d and ∂(-ln p_c)/∂t, shape (m, 3) each."""
        above, below = _sigmoid(t - d), _sigmoid(t + d)
        rate = 2.0 * math.exp(-2.0 * t) / math.expm1(-2.0 * t) if t else 0.0
        in_d = np.stack([below, below - above, -above], axis=1)
        in_t = np.stack([below, above + below - 2.0 + rate, above], axis=1)
        return in_d, in_t

    def threshold(self, t: float) -> float:
        """Give the largest ``|d|`` for which a tie is the most probable outcome."""
        # P(tie) ≥ P(right) at d ≥ 0 means θ exp(d) + 1 ≤ θ² - 1.
        return max(0.0, t + math.log1p(-2.0 * math.exp(-2.0 * t))) if t > 0.5 else 0.0

    def start(self, tie_share: float) -> float:
        """Give the t at which equal items tie with this probability."""
        return math.log((1.0 + tie_share) / (1.0 - tie_share))

    def to_parameter(self, t: float) -> float:
        """Give θ."""
        return math.exp(t)

    def from_parameter(self, value: float) -> float:
        """Give t = ln θ."""
        return math.log(value)


LINKS: dict[str, OutcomeLink] = {"davidson": Davidson(), "cumulative": Cumulative()}


def _sigmoid(x: Vector) -> Vector:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _expand(kernel: object, d: Vector, t: float, counts: Vector) -> Expansion:
    gradient, curvature, cross = np.empty((3, len(d)))
    value, in_t, in_tt = kernel(  # type: ignore[operator]
        d, t, counts, gradient, curvature, cross
    )
    return Expansion(value, gradient, in_t, curvature, cross, in_tt)


# Losses and slopes are sums of terms of one sign, so that those of predictions that are
# almost certain, and right, keep their digits: separable data need them.
#
# The odds of Davidson's model are divided by the larger of exp(±d/2): with
# x = exp(-|d|/2) they are 1 (the better side), ν x (tie) and x² (the worse side).


@njit(cache=True, nogil=True)
def _davidson_value(d, t, counts):  # type: ignore[no-untyped-def]
    value, nu = 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k]
        worse = left if d[k] >= 0.0 else right
        x = math.exp(-0.5 * abs(d[k]))
        value += (left + tie + right) * math.log1p(x * (nu + x))
        value += abs(d[k]) * (worse + 0.5 * tie)
        if tie > 0.0:
            value -= tie * t
    return value


@njit(cache=True, nogil=True)
def _expand_davidson(d, t, counts, gradient, curvature, cross):  # type: ignore[no-untyped-def]
    value, in_t, in_tt, nu = 0.0, 0.0, 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k]
        n = left + tie + right
        better, worse = (right, left) if d[k] >= 0.0 else (left, right)
        x = math.exp(-0.5 * abs(d[k]))
        decided, tied = 1.0 + x * x, nu * x
        total = decided + tied
        p_tie = tied / total
        half = 0.5 * (1.0 - x * x) / total
        value += n * math.log1p(x * x + tied) + abs(d[k]) * (worse + 0.5 * tie)
        if tie > 0.0:
            value -= tie * t
        surprise = (x * x + 0.5 * tied) / total
        slope = tie * half + worse * (0.5 + half) - better * surprise
        gradient[k] = math.copysign(1.0, d[k]) * slope
        # The variance of -½, 0, ½, as a sum of products: it does not cancel.
        curvature[k] = n * (x * x + 0.25 * tied * decided) / (total * total)
        cross[k] = -n * math.copysign(half, d[k]) * p_tie
        in_t += (left + right) * p_tie - tie * decided / total
        in_tt += n * p_tie * decided / total
    return value, in_t, in_tt


@njit(cache=True, nogil=True)
def _davidson_gradient(d, t, counts, gradient):  # type: ignore[no-untyped-def]
    in_t, nu = 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k]
        n = left + tie + right
        x = math.exp(-0.5 * abs(d[k]))
        share = n / (1.0 + x * (nu + x))
        gradient[k] = math.copysign(0.5 * (1.0 - x * x) * share, d[k])
        gradient[k] += 0.5 * (left - right)
        in_t += nu * x * share - tie
    return in_t


@njit(cache=True, nogil=True)
def _cumulative_value(d, t, counts):  # type: ignore[no-untyped-def]
    value, ties = 0.0, 0.0
    for k in range(len(d)):
        left, tie, right = counts[k]
        over, under = t - d[k], t + d[k]
        # -ln σ(-z) = max(z, 0) + ln(1 + exp(-|z|)): wins have z > 0 in σ, ties < 0.
        value += (right + tie) * math.log1p(math.exp(-abs(over)))
        value += (left + tie) * math.log1p(math.exp(-abs(under)))
        value += right * over if over > 0.0 else -tie * over
        value += left * under if under > 0.0 else -tie * under
        ties += tie
    if ties > 0.0:
        value -= ties * math.log(-math.expm1(-2.0 * t))
    return value


@njit(cache=True, nogil=True)
def _expand_cumulative(d, t, counts, gradient, curvature, cross):  # type: ignore[no-untyped-def]
    value, ties, in_t, in_tt = 0.0, 0.0, 0.0, 0.0
    for k in range(len(d)):
        left, tie, right = counts[k]
        to_right, to_left = right + tie, left + tie
        over, under = t - d[k], t + d[k]
        x, z = math.exp(-abs(over)), math.exp(-abs(under))
        value += to_right * math.log1p(x) + to_left * math.log1p(z)
        value += right * over if over > 0.0 else -tie * over
        value += left * under if under > 0.0 else -tie * under
        ties += tie
        above, inside = (1.0, x) if over > 0.0 else (x, 1.0)  # σ(t - d), σ(d - t)
        right_lost, right_tied = right * above / (1.0 + x), tie * inside / (1.0 + x)
        below, inside = (1.0, z) if under > 0.0 else (z, 1.0)  # σ(t + d), σ(-t - d)
        left_lost, left_tied = left * below / (1.0 + z), tie * inside / (1.0 + z)
        gradient[k] = left_lost - left_tied - right_lost + right_tied
        in_t += left_lost - left_tied + right_lost - right_tied
        bend_above = to_right * x / (1.0 + x) ** 2
        bend_below = to_left * z / (1.0 + z) ** 2
        curvature[k] = bend_above + bend_below
        cross[k] = bend_below - bend_above
        in_tt += bend_above + bend_below
    if ties > 0.0:
        x, rest = math.exp(-2.0 * t), -math.expm1(-2.0 * t)
        value -= ties * math.log(rest)
        in_t -= ties * 2.0 * x / rest
        in_tt += ties * 4.0 * x / (rest * rest)
    return value, in_t, in_tt


@njit(cache=True, nogil=True)
def _cumulative_gradient(d, t, counts, gradient):  # type: ignore[no-untyped-def]
    in_t, ties, rise = 0.0, 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k]
        x = math.exp(d[k])
        above = rise / (rise + x)  # σ(t - d)
        below = 1.0 - 1.0 / (1.0 + rise * x)  # σ(t + d)
        gradient[k] = (left + tie) * below - (right + tie) * above
        in_t += (left + tie) * below + (right + tie) * above - 2.0 * tie
        ties += tie
    if ties > 0.0:
        in_t -= ties * 2.0 / math.expm1(2.0 * t)
    return in_t
