# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for models of left, tie and right.

Probabilities are those of the textbook, as ratios of worths π = exp(r). They are
analytic, so first derivatives come from complex steps, exact to rounding; second ones
from differences of first ones. Explicit tables of differences, one row per comparison;
loops over rows; general solvers of SciPy. Imports nothing of tiebreak.
"""

import math

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import ndtr
from scipy.stats import norm

LINKS = ("davidson", "cumulative")


def davidson(worth_left, worth_right, nu):
    """Davidson (1970): columns left, tie, right."""
    tie = nu * np.sqrt(worth_left * worth_right)
    total = worth_left + worth_right + tie
    return np.stack([worth_left / total, tie / total, worth_right / total], axis=-1)


def rao_kupper(worth_left, worth_right, theta):
    """Rao and Kupper (1967): columns left, tie, right."""
    to_left = worth_left + theta * worth_right
    to_right = worth_right + theta * worth_left
    tie = (theta**2 - 1) * worth_left * worth_right / (to_left * to_right)
    return np.stack([worth_left / to_left, tie, worth_right / to_right], axis=-1)


def glenn_david(d, t):
    """Glenn and David (1960): a normal variable above t, within, or below -t."""
    # Tails on the left of 0 keep their digits.
    side = np.where(np.real(d) > 0, 1, -1)
    tie = ndtr(t - side * d) - ndtr(-t - side * d)
    return np.stack([ndtr(-d - t), tie, ndtr(d - t)], axis=-1)


def probabilities(link, d, t):
    """Columns left, tie, right, where d = r(right) - r(left)."""
    if link == "probit":
        return glenn_david(d, t)
    one = np.ones_like(d)
    model = davidson if link == "davidson" else rao_kupper
    return model(one, np.exp(d), np.exp(t))


def rating_probabilities(model, d, u):
    """Davidson, or Rao and Kupper, from p₀ = σ(u): decided log odds rise by d at 0."""
    p = 1 / (1 + np.exp(-u))
    one = np.ones_like(d)
    if model == "glenn-david":
        near = norm.isf(np.real(1 - p) / 2)
        # A step of Newton, so that c is analytic too.
        c = near + (ndtr(-near) - (1 - p) / 2) / norm.pdf(near)
        density = np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi)
        return glenn_david(d * ndtr(-c) / (2 * density), c)
    if model == "davidson":
        return davidson(one, np.exp(d), 2 * p / (1 - p))
    return rao_kupper(one, np.exp(d / (1 + p)), (1 + p) / (1 - p))


def loss(link, d, t, counts):
    """-Σ n ln p, where outcomes that did not occur count nothing."""
    seen = counts > 0
    # A general solver tries points far out, where exponentials overflow.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        p = probabilities(link, d, t)
        total = -np.sum(counts[seen] * np.log(p[seen]))
    return total if np.isfinite(total) else np.inf


def count_rows(y, weight=None):
    """One row of counts for each comparison."""
    counts = (np.asarray(y)[:, None] == [-1, 0, 1]).astype(float)
    return counts if weight is None else counts * np.asarray(weight)[:, None]


def derivative(function, x):
    """Gradient of an analytic function, by complex steps."""
    x = np.asarray(x, dtype=float)
    out = np.empty(len(x))
    for j in range(len(x)):
        step = x.astype(complex)
        step[j] += 1e-30j
        out[j] = np.imag(function(step)) / 1e-30
    return out


def second_derivative(function, x, h=1e-5):
    """Hessian of an analytic function."""
    unit = h * np.eye(len(x))
    rows = [derivative(function, x + e) - derivative(function, x - e) for e in unit]
    return np.array(rows) / (2 * h)


def objective(link, delta, counts, penalty):
    """The function of (β, t): loss of d = delta β, plus Σ penalty β²."""

    def value(x):
        return loss(link, delta @ x[:-1], x[-1], counts) + np.sum(penalty * x[:-1] ** 2)

    return value


def solve(link, delta, counts, penalty):
    """Minimize over (β, t) by BFGS; gives x and the value.

    Without ties t is held at the end of its range, where a tie is impossible. The
    cumulative link has t = exp(u), so that no solver leaves the range.
    """
    f = objective(link, delta, counts, penalty)
    has_ties = bool(counts[:, 1].sum())
    end = -math.inf if link == "davidson" else 0.0

    def at(z):
        if not has_ties:
            return np.append(z, end)
        t = z[-1] if link == "davidson" else np.exp(z[-1])
        return np.append(z[:-1], t)

    start = np.zeros(delta.shape[1] + has_ties)

    def value(z):
        # A line search may look far away, where probabilities round to zero.
        with np.errstate(all="ignore"):
            found = f(at(z))
        return found if np.isfinite(found) else math.inf

    result = minimize(
        value,
        start,
        jac=lambda z: derivative(lambda v: f(at(v)), z),
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )
    x = at(result.x)
    return x, f(x)


def _slope(link, y, d, t, in_tie):
    counts = count_rows([y])

    def of(z):
        pair = (np.array([d]), z[0]) if in_tie else (z, t)
        return loss(link, *pair, counts)

    return derivative(of, [t if in_tie else d])[0]


def _bend(link, y, d, t, in_tie, h=1e-5):
    e, f = (0.0, h) if in_tie else (h, 0.0)
    up, down = (_slope(link, y, d + s * e, t + s * f, in_tie) for s in (1, -1))
    return (up - down) / (2 * h)


def implicit_step(link, y, d, t, size, in_tie):
    """Minimize loss + (z - start)² / (2 size) over z; t loses half of itself at most
    with the cumulative link."""
    start = t if in_tie else d
    positive = in_tie and link == "cumulative"

    def slope(z):
        at = (d, z) if in_tie else (z, t)
        return z - start + size * _slope(link, y, *at, in_tie)

    first = slope(start)
    if first == 0:
        return start
    low, high = sorted((start, start - first))
    # The slope rises, so a wider bracket is one too, and rounding cannot close it.
    low, high = low - 1e-6, high + 1e-6
    if positive:
        low = max(low, 0.5 * t)
        if slope(low) >= 0:
            return low
    return brentq(slope, low, high, xtol=1e-14, rtol=1e-14)


def follow(link, delta, y, weight, penalty, rate=1.0):
    """One implicit step per comparison; gives the averages of β and t."""
    q = delta.shape[1]
    value, average = np.zeros(q), np.zeros(q)
    curvature, total = 2.0 * np.asarray(penalty, dtype=float), np.zeros(q)
    t = 0.0 if link == "davidson" else math.log(2.0)

    def scale(t):
        return 1.0 if link == "davidson" else (1 - math.exp(-t)) ** 2

    bend_t = sum(_bend(link, c, 0.0, t, True) for c in (-1, 0, 1)) * scale(t)
    t_average, t_total = t, 3.0
    for x, c, w in zip(delta, y, weight, strict=True):
        d, touched = x @ value, np.flatnonzero(x)
        curvature += w * _bend(link, c, d, t, False) * x**2
        total[touched] += w
        steps = np.zeros(q)
        steps[touched] = rate * total[touched] ** 0.25 / curvature[touched]
        bend_t += w * _bend(link, c, d, t, True) * scale(t)
        t_total += w
        t_size = w * rate * scale(t) * t_total**0.25 / bend_t
        new_t = implicit_step(link, c, d, t, t_size, True)
        size = steps @ x**2
        if size > 0:
            to = implicit_step(link, c, d, t, w * size, False)
            value += (to - d) / size * steps * x
            share = 2 * w / (total[touched] + w)
            average[touched] += share * (value - average)[touched]
        t = new_t
        t_average += 2 * w / (t_total + w) * (t - t_average)
    return average, t_average
