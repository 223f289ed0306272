# SPDX-License-Identifier: BSD-3-Clause
r"""Steps of one comparison each: ``partial_fit`` of :class:`LogisticCompare`.

Every coefficient, and the tie parameter, has four numbers:

* a *value* that every comparison moves,
* the *average* of this value, with weights 1, 2, 3, …, for predictions,
* the *curvature* P of the penalized loss so far: 2 α, plus h x² for every comparison
  with second derivative h in which the coefficient is multiplied by x,
* the *weight* T of the comparisons that touched it.

The step of `LogisticCompare.partial_fit` is implicit, in one variable d. P alone would
give steps like 1/T, the best for a diagonal Hessian; T^(-3/4) forgets the start faster
when features are correlated, and the average removes the noise.

The parameter t of the cumulative link is positive, and the second derivative of a tie's
loss grows like 1/t² near 0. Its curvature and steps are therefore those of
u = ln(θ - 1), the counterpart of Davidson's ln ν, and no step takes more than half of
t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.jit import njit
from tiebreak.losses import OutcomeLink
from tiebreak.models.problem import incidence

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# The rows of a state, an array of shape (4, q + 1) whose last column is t.
VALUE, AVERAGE, CURVATURE, WEIGHT = range(4)

_CHUNK = 4096
_MAX_STEPS = 60


def new_tie(link: OutcomeLink, totals: Vector) -> Vector:
    """Return the tie column of a state, shape (4,), for totals of three outcomes."""
    # As if each outcome had been seen once more, between equal items: a stream never
    # says that what has not happened yet is impossible.
    seen = totals + 1.0
    t = link.start(float(seen[1] / seen.sum()))
    curvature = link.expand(np.zeros(1), t, seen[None, :]).tie_curvature
    return np.array(
        [t, t, curvature * tie_scale(link.name == "cumulative", t), seen.sum()]
    )


def add_coefficients(state: Vector, penalty: Vector) -> Vector:
    """Copy a state with new zero coefficients, of curvature 2 α_j."""
    new = np.zeros((4, len(penalty)))
    new[CURVATURE] = 2.0 * penalty
    return np.concatenate([state[:, :-1], new, state[:, -1:]], axis=1)


def difference_rows(
    features: Any, left: Codes, right: Codes, units: Codes | None, n_units: int
) -> sp.csr_array:
    """Multipliers of the coefficients in d, shape (n, p + n_units), no stored zeros.

    First those of the ``features``, then those of the items, numbered by ``units``.
    """
    blocks = []
    if features is not None:
        blocks.append(sp.csr_array(features[right] - features[left]))
    if units is not None:
        of_items = incidence(units[left], units[right], n_units)
        of_items.eliminate_zeros()  # of an item with itself
        blocks.append(of_items)
    return blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csr")


def follow(
    state: Vector,
    rows: Callable[[slice], sp.csr_array],
    outcome: NDArray[np.int8],
    weight: Vector,
    *,
    learning_rate: float,
    link: OutcomeLink,
) -> None:
    """Take one step per comparison in place; ``rows(chunk)`` are `difference_rows`."""
    cumulative = link.name == "cumulative"
    for start in range(0, len(outcome), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        table = rows(chunk)
        _follow_rows(
            table.indptr.astype(np.int64),
            table.indices.astype(np.int64),
            table.data,
            outcome[chunk],
            weight[chunk],
            state,
            learning_rate,
            cumulative,
        )


@njit(cache=True, nogil=True)
def _follow_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, outcome, weight, state, rate, cumulative
):
    value, average, curvature, total = state
    tie = state.shape[1] - 1
    steps = np.empty(state.shape[1])
    for row in range(len(outcome)):
        first, last, w, y = indptr[row], indptr[row + 1], weight[row], outcome[row]
        d, t = 0.0, value[tie]
        for k in range(first, last):
            d += data[k] * value[indices[k]]
        _, second, _, tie_second = _slopes(cumulative, y, d, t)
        size = 0.0
        for k in range(first, last):
            j = indices[k]
            curvature[j] += w * second * data[k] ** 2
            total[j] += w
            steps[k - first] = _step_size(curvature[j], total[j], rate) * data[k]
            size += steps[k - first] * data[k]
        scale = tie_scale(cumulative, t)
        curvature[tie] += w * tie_second * scale
        total[tie] += w
        tie_size = scale * _step_size(curvature[tie], total[tie], rate)
        value[tie] = _implicit_step(cumulative, y, d, t, w * tie_size, True)
        if size > 0.0:
            move = (_implicit_step(cumulative, y, d, t, w * size, False) - d) / size
            for k in range(first, last):
                j = indices[k]
                value[j] += move * steps[k - first]
                average[j] += 2.0 * w / (total[j] + w) * (value[j] - average[j])
        average[tie] += 2.0 * w / (total[tie] + w) * (value[tie] - average[tie])


@njit(cache=True, nogil=True)
def _step_size(curvature, weight, rate):  # type: ignore[no-untyped-def]
    return rate * math.sqrt(math.sqrt(weight)) / curvature


@njit(cache=True, nogil=True)
def tie_scale(cumulative, t):  # type: ignore[no-untyped-def]
    """(dt/du)² for u = ln(θ - 1); Davidson's t = ln ν needs no other scale."""
    return math.expm1(-t) ** 2 if cumulative else 1.0


@njit(cache=True, nogil=True)
def _implicit_step(cumulative, y, d, t, size, in_tie):  # type: ignore[no-untyped-def]
    """Minimize loss + (z - start)² / (2 size) over z, which is d, or t if `in_tie`."""
    start = t if in_tie else d
    slopes = _slopes(cumulative, y, d, t)
    slope = slopes[2] if in_tie else slopes[0]
    # The slope rises with z, so the solution lies between the start and where the
    # slope of the start leads.
    low = min(start, start - size * slope)
    high = max(start, start - size * slope)
    if in_tie and cumulative:
        low = max(low, 0.5 * t)  # t stays positive
    z = start
    for _ in range(_MAX_STEPS):
        if in_tie:
            _, _, slope, second = _slopes(cumulative, y, d, z)
        else:
            slope, second, _, _ = _slopes(cumulative, y, z, t)
        error = z - start + size * slope
        if error > 0.0:
            high = z
        else:
            low = z
        new = z - error / (1.0 + size * second)
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - z) <= 1e-12 * (1.0 + abs(z)):
            return new
        z = new
    return z


@njit(cache=True, nogil=True)
def _slopes(cumulative, y, d, t):  # type: ignore[no-untyped-def]
    """First and second derivative of -ln p(y) in d, then in t."""
    if not cumulative:
        x = math.exp(-0.5 * abs(d))
        decided, tied = 1.0 + x * x, math.exp(t) * x
        total = decided + tied
        half = math.copysign(0.5 * (1.0 - x * x) / total, d)
        p_tie = tied / total
        second = (x * x + 0.25 * tied * decided) / (total * total)
        return half - 0.5 * y, second, p_tie - (y == 0), p_tie * decided / total
    to_right, to_left, tie = 1.0 * (y >= 0), 1.0 * (y <= 0), 1.0 * (y == 0)
    above, below = _sigmoid(t - d), _sigmoid(t + d)
    second = to_right * above * _sigmoid(d - t) + to_left * below * _sigmoid(-t - d)
    rest, gap = math.exp(-2.0 * t), -math.expm1(-2.0 * t)
    in_t = to_left * below + to_right * above
    in_t -= tie * (2.0 + 2.0 * rest / gap)
    in_tt = second + tie * 4.0 * rest / (gap * gap)
    return to_left * below - to_right * above, second, in_t, in_tt


@njit(cache=True, nogil=True)
def _sigmoid(x):  # type: ignore[no-untyped-def]
    small = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)
