# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of comparisons with three outcomes: links, designs, objective.

A *link* turns the difference d = r(right) - r(left) and a common tie parameter t into
three probabilities. All give a negative log-likelihood that is jointly convex in
(d, t):

* Davidson (1970), ν = exp(t); no ties at all is t = -∞;
* cumulative logit, of Rao and Kupper (1967), θ = exp(t); no ties is t = 0;
* probit, of Thurstone (1927) and Glenn and David (1960); no ties is t = 0.

A tie is the most probable outcome when |d| ≤ ``threshold(t)``, the boundary included.
`rating_links` has all on the scale of ratings, where a difference means the same in
each.

A *design* is the matrix D of shape (m, q) in d = D β, known by its products and never
stored. The *objective* joins both:

.. math::

    f(β, t) = -\sum_k \sum_{c} n_{kc} \ln p_c(d_k, t)
              + \sum_j α_j β_j^2 + \frac{κ}{2}\,(\mathbf 1_S^\top β)^2,
    \qquad d = D β

a **sum** over comparisons. The counts n (shape (m, 3), columns left, tie, right) need
not be whole; a count of zero contributes zero, whatever its probability is. The last
term is for a set S of coefficients (strengths) whose common shift does not change the
likelihood; it is zero at the solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erf, erfc, erfcx, erfinv, log_ndtr, ndtr

from tiebreak.data.columns import row_slices
from tiebreak.data.jit import njit
from tiebreak.losses.linear_objective import (
    back_product,
    forward_product,
    weigh_squares,
)

Vector = NDArray[np.float64]


class Expansion(NamedTuple):
    """Value and derivatives of a summed loss in the differences d and in t."""

    value: float
    gradient: Vector  # (m,), in d
    tie_gradient: float
    curvature: Vector  # (m,), second derivative in d
    cross: Vector  # (m,), mixed second derivative in d and t
    tie_curvature: float


# Losses and slopes are sums of terms of one sign, so that those of predictions that are
# almost certain, and right, keep their digits: separable data need them.
#
# The odds of Davidson's model are divided by the larger of exp(±d/2): with
# x = exp(-|d|/2) they are 1 (the better side), ν x (tie) and x² (the worse side).


@njit(cache=True, nogil=True)
def _log1p(x):  # type: ignore[no-untyped-def]
    """As accurate as the C library, and faster."""
    above = 1.0 + x
    return x if above == 1.0 else math.log(above) * (x / (above - 1.0))


@njit(cache=True, nogil=True)
def _davidson_loss(d, t, square, tied, left, tie, right):  # type: ignore[no-untyped-def]
    better = _log1p(square + tied)
    value = (left + right) * better + max(d, 0.0) * left - min(d, 0.0) * right
    if tie > 0.0:
        if tied > 1.0:
            value += tie * _log1p((1.0 + square) / tied)
        else:
            value += tie * (better + (0.5 * abs(d) - t))
    return value


@njit(cache=True, nogil=True)
def _davidson_slopes(d, square, tied, left, tie, right):  # type: ignore[no-untyped-def]
    """Slopes in d and t; ½ (p_right - p_left); and the divisor of the odds."""
    share = 1.0 / (1.0 + square + tied)
    half = math.copysign(0.5 * (1.0 - square) * share, d)
    # ½ + |half| and ½ - |half|: the slopes of a loss and of a win of the better.
    lost, won = (1.0 + 0.5 * tied) * share, (square + 0.5 * tied) * share
    of_left, of_right = (lost, won) if d >= 0.0 else (won, lost)
    in_d = left * of_left - right * of_right + tie * half
    in_t = (left + right) * (tied * share) - tie * (1.0 + square) * share
    return in_d, in_t, half, share


@njit(cache=True, nogil=True)
def davidson_cell(d, t, nu, left, tie, right):  # type: ignore[no-untyped-def]
    """Loss of a cell, slopes in d and t, second derivatives dd, dt, tt; ν = exp(t)."""
    x = math.exp(-0.5 * abs(d))
    square, tied, n = x * x, nu * x, left + tie + right
    value = _davidson_loss(d, t, square, tied, left, tie, right)
    in_d, in_t, half, share = _davidson_slopes(d, square, tied, left, tie, right)
    decided, p_tie = 1.0 + square, tied * share
    # The variance of -½, 0, ½, as a sum of products: it does not cancel.
    dd = n * (square + 0.25 * tied * decided) * share * share
    return value, in_d, in_t, dd, -n * half * p_tie, n * p_tie * decided * share


@njit(cache=True, nogil=True)
def _cumulative_loss(over, under, x, z, left, tie, right):  # type: ignore[no-untyped-def]
    # -ln σ(-z) = max(z, 0) + ln(1 + exp(-|z|)): wins have z > 0 in σ, ties < 0.
    value = (right + tie) * _log1p(x) + (left + tie) * _log1p(z)
    value += right * over if over > 0.0 else -tie * over
    value += left * under if under > 0.0 else -tie * under
    return value


@njit(cache=True, nogil=True)
def _cumulative_slopes(over, under, x, z, left, tie, right):  # type: ignore[no-untyped-def]
    """Slopes in d and t, without those of `width_loss`."""
    above, inside = (1.0, x) if over > 0.0 else (x, 1.0)  # σ(t - d), σ(d - t)
    right_lost, right_tied = right * above / (1.0 + x), tie * inside / (1.0 + x)
    below, inside = (1.0, z) if under > 0.0 else (z, 1.0)  # σ(t + d), σ(-t - d)
    left_lost, left_tied = left * below / (1.0 + z), tie * inside / (1.0 + z)
    in_d = left_lost - left_tied - right_lost + right_tied
    return in_d, left_lost - left_tied + right_lost - right_tied


@njit(cache=True, nogil=True)
def cumulative_cell(d, t, left, tie, right):  # type: ignore[no-untyped-def]
    """As `davidson_cell`, without what `width_loss` adds for ties."""
    over, under = t - d, t + d
    x, z = math.exp(-abs(over)), math.exp(-abs(under))
    value = _cumulative_loss(over, under, x, z, left, tie, right)
    in_d, in_t = _cumulative_slopes(over, under, x, z, left, tie, right)
    of_above = (right + tie) * x / (1.0 + x) ** 2
    of_below = (left + tie) * z / (1.0 + z) ** 2
    both = of_above + of_below
    return value, in_d, in_t, both, of_below - of_above, both


@njit(cache=True, nogil=True)
def width_loss(t, ties):  # type: ignore[no-untyped-def]
    """-ties ln(1 - exp(-2t)) of the cumulative link, and its two derivatives."""
    x, rest = math.exp(-2.0 * t), -math.expm1(-2.0 * t)
    # The square of rest may be 0.
    second = ties * x * (2.0 / rest) ** 2
    return -ties * math.log(rest), -ties * 2.0 * x / rest, second


# Sums over rows, of either link.


@njit(cache=True, nogil=True)
def _sum_losses(cumulative, d, t, counts):  # type: ignore[no-untyped-def]
    value, ties, nu = 0.0, 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k, 0], counts[k, 1], counts[k, 2]
        if cumulative:
            over, under = t - d[k], t + d[k]
            x, z = math.exp(-abs(over)), math.exp(-abs(under))
            value += _cumulative_loss(over, under, x, z, left, tie, right)
        else:
            x = math.exp(-0.5 * abs(d[k]))
            value += _davidson_loss(d[k], t, x * x, nu * x, left, tie, right)
        ties += tie
    if cumulative and ties > 0.0:
        value += width_loss(t, ties)[0]
    return value


@njit(cache=True, nogil=True)
def _expand(cumulative, d, t, counts, gradient, curvature, cross):  # type: ignore[no-untyped-def]
    value, ties, in_t, in_tt, nu = 0.0, 0.0, 0.0, 0.0, math.exp(t)
    for k in range(len(d)):
        left, tie, right = counts[k, 0], counts[k, 1], counts[k, 2]
        if cumulative:
            cell = cumulative_cell(d[k], t, left, tie, right)
        else:
            cell = davidson_cell(d[k], t, nu, left, tie, right)
        gradient[k], curvature[k], cross[k] = cell[1], cell[3], cell[4]
        value += cell[0]
        in_t += cell[2]
        in_tt += cell[5]
        ties += tie
    if cumulative and ties > 0.0:
        width = width_loss(t, ties)
        value, in_t, in_tt = value + width[0], in_t + width[1], in_tt + width[2]
    return value, in_t, in_tt


@njit(cache=True, nogil=True)
def _fill_slopes(cumulative, d, t, counts, in_d, in_t):  # type: ignore[no-untyped-def]
    """Fill the slopes of every row."""
    nu, width = math.exp(t), 0.0
    if cumulative and t > 0.0:
        width = width_loss(t, 1.0)[1]
    for k in range(len(d)):
        left, tie, right = counts[k, 0], counts[k, 1], counts[k, 2]
        if cumulative:
            over, under = t - d[k], t + d[k]
            x, z = math.exp(-abs(over)), math.exp(-abs(under))
            slopes = _cumulative_slopes(over, under, x, z, left, tie, right)
            in_d[k], in_t[k] = slopes
            in_t[k] += tie * width
        else:
            x = math.exp(-0.5 * abs(d[k]))
            slopes = _davidson_slopes(d[k], x * x, nu * x, left, tie, right)
            in_d[k], in_t[k] = slopes[0], slopes[1]


class OutcomeLink:
    """Probabilities of the three outcomes, and derivatives of -ln of them."""

    name: ClassVar[str]
    cumulative: ClassVar[bool] = False

    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """Columns P(left), P(tie), P(right), shape (m, 3); t one, or (m,)."""
        raise NotImplementedError

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """Columns ln P(left), ln P(tie), ln P(right), shape (m, 3)."""
        raise NotImplementedError

    def threshold(self, t: float) -> float:
        """Give the largest ``|d|`` for which a tie is the most probable outcome."""
        raise NotImplementedError

    def start(self, tie_share: float) -> float:
        """Give the t at which equal items tie with this probability."""
        raise NotImplementedError

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p; infinite where t is outside its domain."""
        return _sum_losses(self.cumulative, d, t, counts)

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Give the value and its first and second derivatives."""
        gradient, curvature, cross = np.empty((3, len(d)))
        value, in_t, in_tt = _expand(
            self.cumulative, d, t, counts, gradient, curvature, cross
        )
        return Expansion(value, gradient, in_t, curvature, cross, in_tt)

    def gradient(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, float]:
        """Give the first derivatives only, in d and in t."""
        in_d, in_t = self._slopes(d, t, counts)
        return in_d, float(in_t.sum())

    def _slopes(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, Vector]:
        """Give the derivatives in d and t of every row."""
        in_d, in_t = np.empty((2, len(d)))
        _fill_slopes(self.cumulative, d, t, counts, in_d, in_t)
        return in_d, in_t

    def scores(self, d: Vector, t: float) -> tuple[Vector, Vector]:
        """Give ∂(-ln p_c)/∂d and ∂(-ln p_c)/∂t, shape (m, 3) each."""
        once = (np.tile(row, (len(d), 1)) for row in np.eye(3))
        in_d, in_t = zip(*(self._slopes(d, t, counts) for counts in once), strict=True)
        return np.stack(in_d, axis=1), np.stack(in_t, axis=1)

    def information(self, d: Vector, t: float) -> Vector:
        """Give the Fisher information E[(∂ ln p/∂d)²] of one comparison, (m,)."""
        return (self.probabilities(d, t) * self.scores(d, t)[0] ** 2).sum(axis=1)

    def log_prior(self, t: float) -> float:
        """Logarithm of the prior density of t, for the evidence; 0: flat."""
        return 0.0

    def to_parameter(self, t: float) -> float:
        """Give the parameter of the literature: ν, or θ."""
        return math.exp(t)

    def from_parameter(self, value: float) -> float:
        """Give t for the parameter of the literature."""
        return math.log(value) if value else -math.inf


def _by_blocks(method: Callable[..., Vector]) -> Callable[..., Vector]:
    """Let a link give three columns block by block, which bounds memory."""

    @wraps(method)
    def columns(self: OutcomeLink, d: Vector, t: float | Vector) -> Vector:
        out = np.empty((len(d), 3))
        for rows in row_slices(len(d)):
            out[rows] = method(
                self, d[rows], t[rows] if isinstance(t, np.ndarray) else t
            )
        return out

    return columns


class Davidson(OutcomeLink):
    """P(left), P(tie), P(right) ∝ exp(-d/2), exp(t), exp(d/2); ν = exp(t)."""

    name = "davidson"

    @_by_blocks
    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """As `OutcomeLink`."""
        odds = np.exp(self._logits(d, t))
        return odds / odds.sum(axis=1, keepdims=True)

    @_by_blocks
    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """As `OutcomeLink`."""
        logits = self._logits(d, t)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    @staticmethod
    def _logits(d: Vector, t: float | Vector) -> Vector:
        """Logarithms of the odds, the largest of a row being 0."""
        if isinstance(t, float) and t == math.inf:
            return np.tile([-math.inf, 0.0, -math.inf], (len(d), 1))
        logits = np.stack([-0.5 * d, np.full(len(d), t), 0.5 * d], axis=1)
        return logits - logits.max(axis=1, keepdims=True)

    def threshold(self, t: float) -> float:
        """As `OutcomeLink`."""
        return max(0.0, 2.0 * t)

    def start(self, tie_share: float) -> float:
        """As `OutcomeLink`."""
        return math.log(2.0 * tie_odds(tie_share)) if tie_share else -math.inf


class Cumulative(OutcomeLink):
    """P(right) = σ(d - t), P(left) = σ(-d - t), P(tie) the rest, t ≥ 0; θ = exp(t)."""

    name = "cumulative"
    cumulative = True

    @_by_blocks
    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """As `OutcomeLink`."""
        # σ(d + t) - σ(d - t) as a product, which does not cancel.
        tie = _sigmoid(d + t) * _sigmoid(t - d) * -np.expm1(-2.0 * t)
        return np.stack([_sigmoid(-d - t), tie, _sigmoid(d - t)], axis=1)

    @_by_blocks
    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """As `OutcomeLink`."""
        tie = -np.logaddexp(0.0, -d - t) - np.logaddexp(0.0, d - t)
        tie += math.log(-math.expm1(-2.0 * t)) if t else -math.inf
        left, right = -np.logaddexp(0.0, d + t), -np.logaddexp(0.0, t - d)
        return np.stack([left, tie, right], axis=1)

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Infinite if t < 0, or if t = 0 and there are ties."""
        if t < 0.0 or (t == 0.0 and counts[:, 1].any()):
            return math.inf
        return super().value(d, t, counts)

    def threshold(self, t: float) -> float:
        """As `OutcomeLink`."""
        # P(tie) ≥ P(right) at d ≥ 0 means θ exp(d) + 1 ≤ θ² - 1.
        return max(0.0, t + math.log1p(-2.0 * math.exp(-2.0 * t))) if t > 0.5 else 0.0

    def start(self, tie_share: float) -> float:
        """As `OutcomeLink`."""
        return math.log1p(2.0 * tie_odds(tie_share)) if tie_share else 0.0


class Probit(OutcomeLink):
    """P(right) = Φ(d - t), P(left) = Φ(-d - t), P(tie) the rest, t ≥ 0.

    Thurstone's model (case V), with ties as Glenn and David (1960) have them. Ratios of
    densities and probabilities come from erfcx, which loses no digits far out.
    """

    name = "probit"
    cumulative = True

    @_by_blocks
    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """As `OutcomeLink`."""
        log_tie = _normal_tie(d, t)[0]
        return np.stack([ndtr(-d - t), np.exp(log_tie), ndtr(d - t)], axis=1)

    @_by_blocks
    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """As `OutcomeLink`."""
        tie = _normal_tie(d, t)[0]
        return np.stack([log_ndtr(-d - t), tie, log_ndtr(d - t)], axis=1)

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Infinite if t < 0, or if t = 0 and there are ties."""
        if t < 0.0 or (t == 0.0 and counts[:, 1].any()):
            return math.inf
        seen = counts > 0
        return -float(counts[seen] @ self.log_probabilities(d, t)[seen])

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Value and derivatives."""
        left, tie, right = counts.T
        above, below = normal_hazard(d - t), normal_hazard(-d - t)
        of_right = right * np.clip(above * (above + d - t), 0.0, 1.0)
        of_left = left * np.clip(below * (below - d - t), 0.0, 1.0)
        curvature, cross = of_right + of_left, of_left - of_right
        in_d, in_t = self._slopes(d, t, counts)
        rows = np.flatnonzero(tie)
        n, size, side = tie[rows], np.abs(d[rows]), np.sign(d[rows])
        _, near, far = _normal_tie(d[rows], t)
        apart, both = -near * np.expm1(-2.0 * t * size), near + far
        bend = t * both - size * apart
        curvature[rows] += n * np.clip(bend + apart**2, 0.0, 1.0)
        cross[rows] += n * side * (both * (size - apart) - t * apart)
        in_tt = float((of_right + of_left).sum() + n @ (bend + both**2))
        value = self.value(d, t, counts)
        return Expansion(value, in_d, float(in_t.sum()), curvature, cross, in_tt)

    def _slopes(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, Vector]:
        left, tie, right = counts.T
        won, lost = right * normal_hazard(d - t), left * normal_hazard(-d - t)
        _, near, far = _normal_tie(d, t)
        apart = np.sign(d) * -near * np.expm1(-2.0 * t * np.abs(d))
        return lost - won + tie * apart, lost + won - tie * (near + far)

    def threshold(self, t: float) -> float:
        """As `OutcomeLink`."""

        def lead(d: float) -> float:
            return float(2.0 * ndtr(t - d) - 1.0 - ndtr(-t - d))

        if t == math.inf or lead(0.0) <= 0.0:
            return t if t == math.inf else 0.0
        return float(brentq(lead, 0.0, t))

    def start(self, tie_share: float) -> float:
        """As `OutcomeLink`."""
        return float(_ROOT_TWO * erfinv(min(tie_share, 1.0 - 1e-12)))

    def to_parameter(self, t: float) -> float:
        """Give t itself."""
        return t

    def from_parameter(self, value: float) -> float:
        """Give t, which is the parameter."""
        return value


_ROOT_TWO = math.sqrt(2.0)
# Where t (1 + |d|) is less, two terms of a series in t have all digits.
_NARROW = 1e-3


def normal_hazard(x: Any) -> Any:
    """Give φ(x) / Φ(x)."""
    return math.sqrt(2.0 / math.pi) / erfcx(-x / _ROOT_TWO)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _normal_tie(d: Vector, t: float | Vector) -> tuple[Vector, Vector, Vector]:
    """Give ln P(tie), and φ(t - |d|) and φ(t + |d|) over P(tie), 0 if t is 0."""
    size = np.abs(d)
    near, far = (t - size) / _ROOT_TWO, (t + size) / _ROOT_TWO
    log_density = -(near**2) - 0.5 * math.log(2.0 * math.pi)
    # With zero between both ends nothing cancels.
    inside, outside = 0.5 * (erf(near) + erf(far)), 0.5 * (erfc(near) + erfc(far))
    log_inside = np.where(inside < 0.5, np.log(inside), np.log1p(-outside))
    # With both on one side P(tie) / φ(t - |d|) is a difference of Mills' ratios.
    narrow = (
        2.0 * t * (1.0 + t**2 * (size**2 - 1.0) / 6.0) * np.exp(t**2 / 2 - t * size)
    )
    drop = np.exp(-2.0 * t * size)
    wide = math.sqrt(0.5 * math.pi) * (erfcx(np.maximum(-near, 0)) - drop * erfcx(far))
    ratio = np.where(t * (1.0 + size) < _NARROW, narrow, wide)
    log_p = np.where(near > 0, log_inside, log_density + np.log(ratio))
    share = np.where(near > 0, np.exp(log_density - log_inside), 1.0 / ratio)
    share = np.where(np.asarray(t) > 0.0, share, 0.0)
    return log_p, share, share * drop


class HalfWins(Davidson):
    """P(right) = σ(d), P(left) = σ(-d), and a tie as half a win for each side.

    -ln p of a tie is the mean of those of left and right; t plays no part.
    """

    name = "half"

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p."""
        return super().value(d, -math.inf, _halved(counts))

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Value and derivatives."""
        return super().expand(d, -math.inf, _halved(counts))

    def gradient(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, float]:
        """First derivatives, in d and in t."""
        return super().gradient(d, -math.inf, _halved(counts))


def _halved(counts: Vector) -> Vector:
    half = 0.5 * counts[:, 1]
    return np.stack([counts[:, 0] + half, np.zeros_like(half), counts[:, 2] + half], 1)


LINKS: dict[str, OutcomeLink] = {
    "davidson": Davidson(),
    "cumulative": Cumulative(),
    "probit": Probit(),
}


def tie_odds(share: float) -> float:
    """Odds of a tie, of a share that leaves room for a winner."""
    share = min(max(share, 1e-12), 1.0 - 1e-12)
    return share / (1.0 - share)


def _sigmoid(x: Vector) -> Vector:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


Codes = NDArray[np.int64]

# A Laplacian with at most this many entries per comparison is better dense.
_FILLED = 16
# Standard deviations from 0, of which squares would lose half of their digits.
_FAR = 1e4
_BLOCK = 1 << 10  # rows, multiplied by a Laplacian at a time


class ItemDesign:
    """One coefficient per item: d = β[right] - β[left]."""

    def __init__(self, left: Codes, right: Codes, n_items: int) -> None:
        self.left, self.right, self.n_coef = left, right, n_items

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return beta[self.right] - beta[self.left]

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        out = np.zeros(self.n_coef)
        _scatter_differences(self.left, self.right, g, out)
        return out

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D, a Laplacian with weights h."""
        out = np.zeros((self.n_coef, self.n_coef))
        _scatter_laplacian(self.left, self.right, h, out)
        return out

    def diagonal(self, h: Vector) -> Vector:
        """Diagonal of Dᵀ diag(h) D."""
        # An item compared with itself has d = 0, whatever its coefficient.
        h = np.where(self.left == self.right, 0.0, h)
        out = np.bincount(self.left, h, self.n_coef)
        return np.asarray(out + np.bincount(self.right, h, self.n_coef), np.float64)

    def laplacian(self, h: Vector) -> sp.csr_array:
        """Give Dᵀ diag(h) D as a sparse matrix."""
        apart, every = np.flatnonzero(self.left != self.right), np.arange(self.n_coef)
        left, right, off = self.left[apart], self.right[apart], -h[apart]
        rows = np.concatenate([left, right, every])
        columns = np.concatenate([right, left, every])
        values = np.concatenate([off, off, self.diagonal(h)])
        shape = (self.n_coef, self.n_coef)
        return sp.csr_array((values, (rows, columns)), shape=shape)

    def matrix(self) -> sp.csr_array:
        """D as a sparse matrix."""
        m = len(self.left)
        places = np.tile(np.arange(m), 2), np.concatenate([self.right, self.left])
        signs = np.repeat([1.0, -1.0], m)
        return sp.csr_array((signs, places), shape=(m, self.n_coef))


class CovariateDesign:
    """Covariates of comparisons, in favor of left: d = -Z β."""

    def __init__(self, covariates: Any) -> None:
        self.covariates = covariates  # dense or sparse
        self.n_coef = covariates.shape[1]

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return -forward_product(self.covariates, beta)

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return -back_product(self.covariates, g)

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D."""
        if sp.issparse(self.covariates):
            return (self.covariates.T @ self.covariates.multiply(h[:, None])).toarray()
        return self.covariates.T @ (h[:, None] * self.covariates)

    def diagonal(self, h: Vector) -> Vector:
        """Diagonal of Dᵀ diag(h) D."""
        return weigh_squares(self.covariates, h)

    def matrix(self) -> sp.csr_array:
        """D as a sparse matrix."""
        return -sp.csr_array(self.covariates)


class FeatureDesign:
    """A linear utility of features: d = (X β)[right] - (X β)[left]."""

    def __init__(self, features: Any, left: Codes, right: Codes) -> None:
        if not sp.issparse(features):
            some = features[:: -(-len(features) // 1000)]
            mean, spread = some.mean(axis=0), some.std(axis=0)
            if ((np.abs(mean) > _FAR * spread) & (spread > 0.0)).any():
                features = features - mean
        self.features = features
        self.items = ItemDesign(left, right, features.shape[0])
        self.n_coef = features.shape[1]

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        return self.items.apply(forward_product(self.features, beta))

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return back_product(self.features, self.items.back(g))

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D = Xᵀ L X."""
        X, laplacian = self.features, self._laplacian(h)
        if sp.issparse(X):
            return np.asarray((X.T @ (laplacian @ X)).toarray())
        out = np.zeros((self.n_coef, self.n_coef))
        for rows in row_slices(len(X), _BLOCK):  # L X would be as large as the data
            out += X[rows].T @ (laplacian[rows] @ X)
        return out

    def diagonal(self, h: Vector) -> Vector:
        """Diagonal of Dᵀ diag(h) D."""
        X, items = self.features, self.items
        if sp.issparse(X) and not self._is_filled(h):
            X, out = sp.csr_array(X), np.zeros((2, self.n_coef))
            table = X.data, X.indices, X.indptr
            _scatter_squares(table, items.left, items.right, h, out)
            return out[0]
        laplacian = self._laplacian(h)
        if sp.issparse(X):
            return np.asarray(X.multiply(laplacian @ X).sum(axis=0)).ravel()
        diagonal = np.zeros(self.n_coef)
        for rows in row_slices(len(X), _BLOCK):
            diagonal += np.einsum("ij,ij->j", X[rows], laplacian[rows] @ X)
        return diagonal

    def matrix(self) -> sp.csr_array:
        """D as a sparse matrix."""
        X = self.features
        return sp.csr_array(X[self.items.right] - X[self.items.left])

    def _is_filled(self, h: Vector) -> bool:
        return self.items.n_coef**2 <= _FILLED * len(h)

    def _laplacian(self, h: Vector) -> Any:
        # Where most items have met each other, products are faster dense.
        if self._is_filled(h) and not sp.issparse(self.features):
            return self.items.gram(h)
        return self.items.laplacian(h)


class JointDesign:
    """Several designs side by side, d = D₁ β₁ + D₂ β₂ + …."""

    def __init__(self, *parts: Design) -> None:
        self.parts = parts
        ends = np.cumsum([0, *(part.n_coef for part in parts)])
        self.slices = [slice(a, b) for a, b in pairwise(ends)]
        self.n_coef: int = int(ends[-1])

    def apply(self, beta: Vector) -> Vector:
        """Give D β."""
        pieces = zip(self.parts, self.slices, strict=True)
        total: Any = sum(part.apply(beta[piece]) for part, piece in pieces)
        return total

    def back(self, g: Vector) -> Vector:
        """Give Dᵀ g."""
        return np.concatenate([part.back(g) for part in self.parts])

    def gram(self, h: Vector) -> Vector:
        """Give Dᵀ diag(h) D."""
        out = np.empty((self.n_coef, self.n_coef))
        placed = list(zip(self.parts, self.slices, strict=True))
        for i, (part, rows) in enumerate(placed):
            out[rows, rows] = part.gram(h)
            for other, columns in placed[i + 1 :]:
                block = _cross_gram(part, other, h)
                out[rows, columns] = block
                out[columns, rows] = block.T
        return out

    def diagonal(self, h: Vector) -> Vector:
        """Diagonal of Dᵀ diag(h) D."""
        return np.concatenate([part.diagonal(h) for part in self.parts])

    def matrix(self) -> sp.csr_array:
        """D as a sparse matrix."""
        return sp.hstack([part.matrix() for part in self.parts], format="csr")


# A matrix D of shape (m, n_coef) in d = D β.
Design = ItemDesign | CovariateDesign | FeatureDesign | JointDesign


def _cross_gram(one: Design, two: Design, h: Vector) -> Vector:
    """Oneᵀ diag(h) Two, column by column of the narrower one."""
    if one.n_coef < two.n_coef:
        return _cross_gram(two, one, h).T
    unit = np.eye(two.n_coef)
    columns = [one.back(h * two.apply(unit[j])) for j in range(two.n_coef)]
    return np.stack(columns, axis=1) if columns else np.empty((one.n_coef, 0))


@njit(cache=True, nogil=True)
def _scatter_differences(left, right, g, out):  # type: ignore[no-untyped-def]
    for k in range(len(g)):
        out[right[k]] += g[k]
        out[left[k]] -= g[k]


@njit(cache=True, nogil=True)
def _scatter_laplacian(left, right, h, out):  # type: ignore[no-untyped-def]
    for k in range(len(h)):
        i, j = left[k], right[k]
        if i != j:
            out[i, i] += h[k]
            out[j, j] += h[k]
            out[i, j] -= h[k]
            out[j, i] -= h[k]


@njit(cache=True, nogil=True)
def _scatter_squares(table, left, right, h, out):  # type: ignore[no-untyped-def]
    # Adds h times the squared difference of two rows to out[0]; out[1] holds the
    # difference and is zero before and after.
    values, number, starts = table
    for k in range(len(h)):
        for t in range(starts[right[k]], starts[right[k] + 1]):
            out[1, number[t]] += values[t]
        for t in range(starts[left[k]], starts[left[k] + 1]):
            out[1, number[t]] -= values[t]
        for i in (left[k], right[k]):
            for t in range(starts[i], starts[i + 1]):
                out[0, number[t]] += h[k] * out[1, number[t]] ** 2
                out[1, number[t]] = 0.0


class ComparisonObjective:
    """Value, gradient and Hessian of f at x = (β, t), or β."""

    def __init__(
        self,
        design: Design,
        link: OutcomeLink,
        counts: Vector,
        alpha: Vector,
        *,
        tie: float | None = None,
        free: slice | None = None,
    ) -> None:
        self.design, self.link, self.counts = design, link, counts
        self.alpha, self.tie, self.free = alpha, tie, free
        self.n_coef = design.n_coef
        self.n_variables = design.n_coef + (tie is None)
        # Of the order of the curvature of one strength, so that it is well scaled.
        self.level = float(counts.sum()) / max(design.n_coef, 1) ** 2

    def split(self, x: Vector) -> tuple[Vector, float]:
        """Give β and t."""
        return (x[:-1], float(x[-1])) if self.tie is None else (x, self.tie)

    def value(self, x: Vector) -> float:
        """Give f(x); infinite outside its domain."""
        beta, t = self.split(x)
        loss = self.link.value(self.design.apply(beta), t, self.counts)
        return loss + self._penalty(beta)

    def expand(self, x: Vector) -> tuple[float, Vector]:
        """Give f and its gradient at x, and keep x for the Hessian."""
        beta, t = self.split(x)
        d = self.design.apply(beta)
        self.local: Expansion = self.link.expand(d, t, self.counts)
        self._cross: Vector | None = None  # Dᵀ of the slopes in d and t
        gradient = self._gradient(beta, self.local.gradient, self.local.tie_gradient)
        return self.local.value + self._penalty(beta), gradient

    def gradient(self, x: Vector) -> Vector:
        """Give the gradient at x only; the Hessian stays."""
        beta, t = self.split(x)
        loss = self.link.gradient(self.design.apply(beta), t, self.counts)
        return self._gradient(beta, *loss)

    def _gradient(self, beta: Vector, in_d: Vector, in_t: float) -> Vector:
        gradient = self.design.back(in_d) + 2.0 * self.alpha * beta
        if self.free is not None:
            gradient[self.free] += self.level * beta[self.free].sum()
        return gradient if self.tie is not None else np.append(gradient, in_t)

    def hessian(self) -> Vector:
        """The Hessian at the last expanded point, dense."""
        q, local = self.n_coef, self.local
        out = gram = self.design.gram(local.curvature)
        if self.tie is None:
            out = np.zeros((self.n_variables, self.n_variables))
            out[:q, :q] = gram
        out.flat[: q * self.n_variables : self.n_variables + 1] += 2.0 * self.alpha
        if self.free is not None:
            out[self.free, self.free] += self.level
        if self.tie is None:
            out[:q, q] = out[q, :q] = self.design.back(local.cross)
            out[q, q] = local.tie_curvature
        return out

    @property
    def penalty(self) -> Vector:
        """Diagonal that the penalty adds to the Hessian."""
        return np.append(2.0 * self.alpha, np.zeros(self.n_variables - self.n_coef))

    def hessian_product(self, v: Vector) -> Vector:
        """H v at the last expanded point."""
        beta, t = (v[:-1], float(v[-1])) if self.tie is None else (v, 0.0)
        local = self.local
        out = self.design.back(local.curvature * self.design.apply(beta))
        out += 2.0 * self.alpha * beta
        if self.free is not None:
            out[self.free] += self.level * beta[self.free].sum()
        if self.tie is None:
            if self._cross is None:
                self._cross = self.design.back(local.cross)
            in_t = float(self._cross @ beta) + local.tie_curvature * t
            out = np.append(out + t * self._cross, in_t)
        return out

    def hessian_diagonal(self) -> Vector:
        """Diagonal of H at the last expanded point."""
        out = self.design.diagonal(self.local.curvature) + 2.0 * self.alpha
        if self.free is not None:
            out[self.free] += self.level
        return out if self.tie is not None else np.append(out, self.local.tie_curvature)

    def _penalty(self, beta: Vector) -> float:
        penalty = float(self.alpha @ beta**2)
        if self.free is not None:
            penalty += 0.5 * self.level * float(beta[self.free].sum()) ** 2
        return penalty
