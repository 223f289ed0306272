# SPDX-License-Identifier: BSD-3-Clause
"""Draws from the exact posterior of strengths, tie parameter and prior width.

Davidson's model, strengths normal with mean 0 and standard deviation τ on the
contrasts, ln ν flat, τ half-Cauchy of scale 1. Slow: elliptical slices for the
strengths, random walks for ln ν and for ln τ (alone, and together with the strengths,
which it scales). Shares nothing with the package.
"""

import numpy as np


def log_likelihood(theta, log_nu, left, right, outcome):
    """Σ ln P over comparisons, outcome -1, 0 or 1."""
    half = (theta[right] - theta[left]) / 2
    total = np.logaddexp(np.logaddexp(-half, half), log_nu)
    won = np.where(outcome == 0, log_nu, outcome * half)
    return float((won - total).sum())


def log_prior_of_width(s):
    """Of ln τ = s: half-Cauchy, with the Jacobian of the logarithm."""
    return s - np.log1p(np.exp(2 * s))


def log_width(s, theta):
    """Log density of ln τ = s given strengths, up to a constant."""
    square = (theta**2).sum() * np.exp(-2 * s) / 2
    return -(len(theta) - 1) * s - square + log_prior_of_width(s)


def sample_strengths(left, right, outcome, n_items, rng, n_draws=4000, thin=5):
    """Give draws of shape (n_draws, n_items), each with mean 0, and of ln τ."""
    has_ties = (outcome == 0).any()
    theta, log_nu, s = np.zeros(n_items), -0.5 if has_ties else -np.inf, 0.0

    def likelihood(theta, log_nu=None):
        nu = current_nu if log_nu is None else log_nu
        return log_likelihood(theta, nu, left, right, outcome)

    current_nu = log_nu
    value = likelihood(theta)
    kept, widths = [], []
    for step in range(n_draws * thin + 1000):
        # Strengths given τ: an elliptical slice (Murray, Adams and MacKay, 2010).
        other = np.exp(s) * rng.standard_normal(n_items)
        other -= other.mean()
        floor = value + np.log(rng.random())
        angle = rng.uniform(0, 2 * np.pi)
        low, high = angle - 2 * np.pi, angle
        while True:
            new = theta * np.cos(angle) + other * np.sin(angle)
            found = likelihood(new)
            if found > floor:
                theta, value = new, found
                break
            low, high = (angle, high) if angle < 0 else (low, angle)
            angle = rng.uniform(low, high)
        if has_ties:
            proposed = current_nu + 0.5 * rng.standard_normal()
            found = likelihood(theta, proposed)
            if np.log(rng.random()) < found - value:
                current_nu, value = proposed, found
        # ln τ given the strengths.
        proposed = s + 0.7 * rng.standard_normal()
        old, new_value = (log_width(at, theta) for at in (s, proposed))
        if np.log(rng.random()) < new_value - old:
            s = proposed
        # ln τ and the strengths together, scaled alike: the prior of θ/τ stays.
        proposed = s + 0.7 * rng.standard_normal()
        scaled = theta * np.exp(proposed - s)
        found = likelihood(scaled)
        change = found - value + log_prior_of_width(proposed) - log_prior_of_width(s)
        if np.log(rng.random()) < change:
            theta, value, s = scaled, found, proposed
        if step >= 1000 and step % thin == 0:
            kept.append(theta - theta.mean())
            widths.append(s)
    return np.array(kept), np.array(widths)
