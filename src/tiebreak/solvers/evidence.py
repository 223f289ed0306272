# SPDX-License-Identifier: BSD-3-Clause
"""The most probable width τ of a prior, by s = ln τ."""

import math
from collections.abc import Callable

import numpy as np

NARROWEST, WIDEST = math.log(0.03), math.log(30.0)
STEP = 0.6  # in ln τ, while looking for the most probable width


def log_width_prior(s: float) -> float:
    """Density of s up to a constant: τ is half-Cauchy with scale 1."""
    return s - math.log1p(math.exp(2.0 * s))


def find_mode(evidence: Callable[[float], float], middle: float) -> tuple[float, float]:
    """Give the most probable s, and its standard deviation about there.

    `evidence` is ln of its density up to a constant, and remembers what it computed.
    """
    low, high = middle - STEP, middle + STEP
    while evidence(low) > evidence(middle) and low > NARROWEST:
        low, middle, high = low - STEP, low, middle
    while evidence(high) > evidence(middle) and high < WIDEST:
        low, middle, high = middle, high, high + STEP
    spread = STEP
    for _ in range(4):
        left, center, right = map(evidence, (low, middle, high))
        # The vertex of the parabola through the three points.
        a, b = middle - low, high - middle
        bend = (b * (left - center) + a * (right - center)) / (a * b * (a + b))
        if not bend < 0.0:
            break
        spread = min(math.sqrt(-0.5 / bend), STEP)
        slope = (a * a * (right - center) - b * b * (left - center)) / (a * b * (a + b))
        step = float(np.clip(-0.5 * slope / bend, -0.9 * a, 0.9 * b))
        if abs(step) < 0.03 * spread:
            break
        vertex = middle + step
        near = min(abs(step), 0.5 * a, 0.5 * b)
        if evidence(vertex) < center:
            low, high = max(low, middle - near), min(high, middle + near)
        else:
            low, middle, high = (
                (middle, vertex, high) if step > 0 else (low, vertex, middle)
            )
    return middle, spread
