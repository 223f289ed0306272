# SPDX-License-Identifier: BSD-3-Clause
"""Compiled passes over the variables of a block program, for interior-point steps.

``point`` has shape (5, m): the variables s, their slacks p and t to the lower and upper
bound, and the multipliers z and w of these bounds. ``values`` and ``weights`` have
shape (B, n), one row per block; ``starts`` says where the variables of a block begin.
A pass reads everything it needs of a variable at once, where whole-array operations
would go through memory a dozen times.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def barrier_gradient(point, y, values, row, starts, levels, out):  # type: ignore[no-untyped-def]
    """Write ``e - β`` into ``out``; returns complementarity and largest residual."""
    complementarity = 0.0
    residual = 0.0
    for b in range(len(levels)):
        for i in range(starts[b], starts[b + 1]):
            out[i] = y[i] - values[b, row[i]] - levels[b]
            z, w = point[3, i], point[4, i]
            complementarity += point[1, i] * z + point[2, i] * w
            residual = max(residual, abs(out[i] - w + z))
    return complementarity, residual


@njit(cache=True, nogil=True)
def barrier_weights(point, row, starts, inverse, weights):  # type: ignore[no-untyped-def]
    """Write ``1 / (z/p + w/t)`` into ``inverse`` and its sums into ``weights``."""
    weights[:] = 0.0
    for b in range(len(weights)):
        for i in range(starts[b], starts[b + 1]):
            p, t = point[1, i], point[2, i]
            inverse[i] = p * t / (point[3, i] * t + point[4, i] * p)
            weights[b, row[i]] += inverse[i]


@njit(cache=True, nogil=True)
def collect_weighted(inverse, gradient, row, starts, out):  # type: ignore[no-untyped-def]
    """Write the sums of ``inverse * gradient`` per block and row into ``out``."""
    out[:] = 0.0
    for b in range(len(out)):
        for i in range(starts[b], starts[b + 1]):
            out[b, row[i]] += inverse[i] * gradient[i]


@njit(cache=True, nogil=True)
def newton_step(inverse, gradient, values, row, starts, levels, out):  # type: ignore[no-untyped-def]
    """Write the step of s, given those of the values and levels, into ``out``."""
    for b in range(len(levels)):
        for i in range(starts[b], starts[b + 1]):
            rest = gradient[i] - values[b, row[i]] - levels[b]
            out[i] = inverse[i] * rest


@njit(cache=True, nogil=True)
def corrected_gradient(point, first, center, gradient, out):  # type: ignore[no-untyped-def]
    """Write the right side of the corrector, after the predictor's step ``first``."""
    for i in range(len(first)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds = first[i]
        dz = -z - z / p * ds
        dw = -w + w / t * ds
        out[i] = gradient[i] + (center - ds * dz) / p - (center + ds * dw) / t


@njit(cache=True, nogil=True)
def step_lengths(point, first, step, center, sums):  # type: ignore[no-untyped-def]
    """Longest step, up to 1, that keeps slacks and multipliers positive.

    ``first`` is the predictor's step that the corrector knows; zeros for the predictor
    itself. Into ``sums`` go the three terms by which complementarity then changes.
    """
    longest = 1.0
    sums[:] = 0.0
    for i in range(len(step)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds, d0 = step[i], first[i]
        dz = (center + d0 * (z + z / p * d0)) / p - z - z / p * ds
        dw = (center + d0 * (-w + w / t * d0)) / t - w + w / t * ds
        if ds < 0.0:
            longest = min(longest, -p / ds)
        elif ds > 0.0:
            longest = min(longest, t / ds)
        if dz < 0.0:
            longest = min(longest, -z / dz)
        if dw < 0.0:
            longest = min(longest, -w / dw)
        sums[0] += ds * (z - w)
        sums[1] += p * dz + t * dw
        sums[2] += ds * (dz - dw)
    return longest


@njit(cache=True, nogil=True)
def advance(point, first, step, center, length):  # type: ignore[no-untyped-def]
    """Move ``point`` in place; the multipliers follow from the step of s."""
    for i in range(len(step)):
        p, t, z, w = point[1, i], point[2, i], point[3, i], point[4, i]
        ds, d0 = step[i], first[i]
        dz = (center + d0 * (z + z / p * d0)) / p - z - z / p * ds
        dw = (center + d0 * (-w + w / t * d0)) / t - w + w / t * ds
        point[0, i] += length * ds
        point[1, i] = p + length * ds
        point[2, i] = t - length * ds
        point[3, i] = z + length * dz
        point[4, i] = w + length * dw
