# SPDX-License-Identifier: BSD-3-Clause
"""Links on one scale of ratings, whose parameter of ties means the same in each."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfinv, expit, ndtri

from tiebreak.losses.comparison_likelihood import (
    LINKS,
    Expansion,
    OutcomeLink,
    Vector,
    normal_hazard,
    tie_odds,
)


class Scale(NamedTuple):
    """Where a rating link meets its inner link: d / s and c, with derivatives in t."""

    s: Any
    s_t: Any
    s_tt: Any
    c: Any
    c_t: Any
    c_tt: Any


def _davidson_scale(t: Any) -> Scale:
    return Scale(1.0, 0.0, 0.0, t + math.log(2.0), 1.0, 0.0)


def _rao_kupper_scale(t: Any) -> Scale:
    p, q = expit(t), expit(-t)
    c = np.log1p(p) + np.logaddexp(0.0, t)
    c_t, c_tt = 2.0 * p / (1.0 + p), 2.0 * p * q / (1.0 + p) ** 2
    return Scale(1.0 + p, p * q, p * q * (q - p), c, c_t, c_tt)


@np.errstate(divide="ignore", invalid="ignore")  # nothing but ties: t = ∞
def _probit_scale(t: Any) -> Scale:
    p, q = expit(t), expit(-t)
    # Φ(c) = (1 + p) / 2, by the smaller of p and q.
    c = np.where(p < 0.5, math.sqrt(2.0) * erfinv(p), -ndtri(0.5 * q))[()]
    s = 2.0 * normal_hazard(-c)
    c_t = 2.0 * p / s
    s_t = s * (p - c * c_t)
    c_tt = 2.0 * p * q / s - c_t * s_t / s
    return Scale(s, s_t, s_t**2 / s + s * (p * q - c_t**2 - c * c_tt), c, c_t, c_tt)


class RatingLink(OutcomeLink):
    r"""A link on the scale of ratings, whose parameter is t = logit p₀.

    p₀ is the probability of a tie between equal items, and the logarithm of the odds
    P(right) : P(left) has slope 1 in d at d = 0. With p = p₀ this is Davidson's model
    at d with ν = 2p / (1 - p); the cumulative one, of Rao and Kupper, at d / (1 + p)
    with t = ln((1 + p) / (1 - p)); and the probit at d / s with t = c, Φ(c) = (1 + p)/2
    and s = 2φ(c) / Φ(-c). Given p₀ all are convex in d; the latter two are not convex
    in (d, t).
    """

    def __init__(
        self, name: str, inner: OutcomeLink, scale: Callable[[Any], Scale]
    ) -> None:
        self.name = name  # type: ignore[misc]
        self.inner, self.scale = inner, scale

    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """As `OutcomeLink`."""
        at = self.scale(t)
        return self.inner.probabilities(d / at.s, at.c)

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """As `OutcomeLink`."""
        at = self.scale(t)
        return self.inner.log_probabilities(d / at.s, at.c)

    def threshold(self, t: float) -> float:
        """As `OutcomeLink`."""
        at = self.scale(t)
        return float(at.s * self.inner.threshold(at.c))

    def start(self, tie_share: float) -> float:
        """As `OutcomeLink`."""
        return math.log(tie_odds(tie_share)) if tie_share else -math.inf

    def value(self, d: Vector, t: float, counts: Vector) -> float:
        """Give -Σ n ln p."""
        at = self.scale(t)
        return self.inner.value(d / at.s, at.c, counts)

    def expand(self, d: Vector, t: float, counts: Vector) -> Expansion:
        """Value and derivatives, those of the inner link by the chain rule."""
        at = self.scale(t)
        inner = self.inner.expand(d / at.s, at.c, counts)
        value, in_d, in_c, in_dd, in_dc, in_cc = inner
        # How d / s moves with t, and how its slope in d does.
        move, turn = -d * (at.s_t / at.s**2), -at.s_t / at.s**2
        bend = d * (2.0 * at.s_t**2 / at.s**3 - at.s_tt / at.s**2)
        in_tt = at.c_t**2 * in_cc + at.c_tt * in_c + float(in_d @ bend)
        in_tt += float((in_dd * move + 2.0 * at.c_t * in_dc) @ move)
        return Expansion(
            value,
            in_d / at.s,
            float(in_d @ move) + at.c_t * in_c,
            in_dd / at.s**2,
            (in_dd * move + at.c_t * in_dc) / at.s + turn * in_d,
            in_tt,
        )

    def _slopes(self, d: Vector, t: float, counts: Vector) -> tuple[Vector, Vector]:
        at = self.scale(t)
        in_d, in_c = self.inner._slopes(d / at.s, at.c, counts)
        return in_d / at.s, at.c_t * in_c - in_d * d * (at.s_t / at.s**2)

    def to_parameter(self, t: float) -> float:
        """Give ν, or θ."""
        return self.inner.to_parameter(self.scale(t).c)

    def log_prior(self, t: float) -> float:
        """Logarithm of the density of t if p₀ is uniform on (0, 1)."""
        return -float(np.logaddexp(0.0, t) + np.logaddexp(0.0, -t))


class MixedLink(OutcomeLink):
    """The mean of rating links, by their weights; for predictions."""

    name = "mixed"

    def __init__(self, links: Sequence[RatingLink], weights: Sequence[float]) -> None:
        self.parts = list(zip(weights, links, strict=True))

    def probabilities(self, d: Vector, t: float | Vector) -> Vector:
        """As `OutcomeLink`."""
        return np.asarray(sum(w * link.probabilities(d, t) for w, link in self.parts))

    def log_probabilities(self, d: Vector, t: float) -> Vector:
        """As `OutcomeLink`."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities(d, t))

    def threshold(self, t: float) -> float:
        """As `OutcomeLink`."""

        def lead(d: float) -> float:
            _, tie, right = self.probabilities(np.array([d]), t)[0]
            return float(tie - right)

        ends = sorted(link.threshold(t) for _, link in self.parts)
        return float(brentq(lead, *ends)) if lead(ends[0]) > 0.0 else ends[0]

    def scores(self, d: Vector, t: float) -> tuple[Vector, Vector]:
        """Give ∂(-ln p_c)/∂d and ∂(-ln p_c)/∂t, shape (m, 3) each."""
        total = self.probabilities(d, t)
        shares = [w * link.probabilities(d, t) / total for w, link in self.parts]
        slopes = [link.scores(d, t) for _, link in self.parts]
        in_d, in_t = (
            sum(share * slope[k] for share, slope in zip(shares, slopes, strict=True))
            for k in (0, 1)
        )
        return np.asarray(in_d), np.asarray(in_t)


RATING_LINKS = {
    "davidson": RatingLink("davidson", LINKS["davidson"], _davidson_scale),
    "rao-kupper": RatingLink("rao-kupper", LINKS["cumulative"], _rao_kupper_scale),
}
GLENN_DAVID = RatingLink("glenn-david", LINKS["probit"], _probit_scale)
