# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of left, tie and right for ratings that know only expected scores.

Davidson's model with d, the slope times the logit of right's expected score:

    P(left) : P(tie) : P(right)  =  exp(-d / 2) : ν : exp(d / 2).

Slope and ν are those of maximum likelihood, with two gentle terms that keep them
positive and finite whatever the games are: the penalty ``slope - log(slope)``, which is
least where the ratings mean what they say (slope 1), and one imagined game between
equals that somebody won. Without any tie ν is exactly 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_ties", "outcome_probabilities"]

_MAX_ITER = 100
_TOLERANCE = 1e-13


class _Point(NamedTuple):
    """The objective in (slope, log ν) with its derivatives."""

    value: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]


def fit_ties(
    logit: NDArray[np.float64],
    outcome: NDArray[np.int8],
    weight: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Fit the slope and ν of Davidson's model, by Newton's method.

    Parameters
    ----------
    logit : ndarray of shape (n,)
        Logit of right's expected score.
    outcome : ndarray of shape (n,)
        -1, 0 or +1.
    weight : ndarray of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    slope : float
        Positive.
    tie : float
        ν, not negative.
    """
    weight = np.ones(len(logit)) if weight is None else weight
    tied = float(weight[outcome == 0].sum())
    free = 2 if tied > 0 else 1
    decided = float(weight.sum()) - tied
    at = np.array([1.0, np.log(2.0 * tied / (decided + 1.0)) if tied else -np.inf])
    totals = np.array([0.5 * float((weight * outcome) @ logit), tied])
    here = _objective(at, logit, weight, totals)
    for _ in range(_MAX_ITER):
        step = np.zeros(2)
        step[:free] = np.linalg.solve(here.hessian[:free, :free], -here.gradient[:free])
        decrease = float(-here.gradient[:free] @ step[:free])
        if decrease <= _TOLERANCE * (1.0 + abs(here.value)):
            # Too small to be seen in the value, but half of the digits are still in it.
            at = at + step
            break
        # Not beyond zero, and not farther than a quadratic model can be trusted.
        if at[0] + step[0] <= 0.0:
            step *= 0.9 * at[0] / -step[0]
        at, here = _search(at, step, here, decrease, (logit, weight, totals))
    return float(at[0]), float(np.exp(at[1]))


def _search(
    at: NDArray[np.float64],
    step: NDArray[np.float64],
    here: _Point,
    decrease: float,
    data: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], _Point]:
    """Halve a step until the objective falls by a fair part of what it promises."""
    for halvings in range(60):
        size = 0.5**halvings
        # An infinite log ν stays; its step is zero.
        there = _objective(at + size * step, *data)
        if there.value <= here.value - 1e-4 * size * decrease + 1e-15 * abs(here.value):
            return at + size * step, there
    return at, here


def _objective(
    at: NDArray[np.float64],
    logit: NDArray[np.float64],
    weight: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> _Point:
    slope, tie = float(at[0]), float(np.exp(at[1]))
    half = 0.5 * slope * np.abs(logit)
    small = np.exp(-half)
    # All three divided by the largest of left and right.
    total = 1.0 + small * small + tie * small
    t = tie * small / total
    m = np.sign(logit) * (1.0 - small * small) / total
    value = float(weight @ (half + np.log(total)))
    value += float(np.log(2.0 + tie)) + slope - float(np.log(slope))
    value -= slope * totals[0] + (at[1] * totals[1] if tie > 0 else 0.0)
    imagined = tie / (2.0 + tie)
    gradient = np.array(
        [
            0.5 * float(weight @ (m * logit)) - totals[0] + 1.0 - 1.0 / slope,
            float(weight @ t) - totals[1] + imagined,
        ]
    )
    cross = -0.5 * float(weight @ (t * m * logit))
    curvature = 0.25 * float(weight @ ((1.0 - t - m * m) * logit**2))
    spread = float(weight @ (t * (1.0 - t))) + imagined * (1.0 - imagined)
    hessian = np.array([[curvature + slope**-2, cross], [cross, spread]])
    return _Point(value, gradient, hessian)


def outcome_probabilities(
    logit: NDArray[np.float64], slope: float, tie: float
) -> NDArray[np.float64]:
    """Give the probabilities of left, tie and right.

    Parameters
    ----------
    logit : ndarray of shape (n,)
        Logit of right's expected score.
    slope, tie : float
        From `fit_ties`.

    Returns
    -------
    ndarray of shape (n, 3)
        Rows sum to 1.
    """
    half = 0.5 * slope * logit
    largest = np.abs(half)
    parts = np.stack(
        [np.exp(-half - largest), tie * np.exp(-largest), np.exp(half - largest)],
        axis=1,
    )
    return parts / parts.sum(axis=1, keepdims=True)
