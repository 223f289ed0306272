# SPDX-License-Identifier: BSD-3-Clause
r"""Steps of one comparison each: ``partial_fit`` of :class:`LogisticCompare`.

Every coefficient, and the tie parameter, has four numbers:

* a *value* that every comparison moves,
* the *average* of this value, with weights 1, 2, 3, …, for predictions,
* the *curvature* P of the penalized loss so far: 2 α, plus h x² for every comparison
  with second derivative h in which the coefficient is multiplied by x,
* the *weight* T of the comparisons that touched it.

Steps like T^(-3/4) forget the start faster than 1/T when features are correlated, and
the average removes the noise.

Curvature and steps of the cumulative link's t > 0 are those of u = ln(θ - 1), the
counterpart of Davidson's ln ν, and no step takes more than half of t.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.losses import ItemDesign, OutcomeLink
from tiebreak.losses.comparison_likelihood import (
    cumulative_cell,
    davidson_cell,
    width_loss,
)

# The rows of a state, an array of shape (4, q + 1) whose last column is t.
VALUE, AVERAGE, CURVATURE, WEIGHT = range(4)

_CHUNK = 4096
_MAX_STEPS = 60


def new_tie(link: OutcomeLink, totals: Floats) -> Floats:
    """Return the tie column of a state, shape (4,), for totals of three outcomes."""
    # As if each outcome had been seen once more, between equal items: a stream never
    # says that what has not happened yet is impossible.
    seen = totals + 1.0
    t = link.start(float(seen[1] / seen.sum()))
    curvature = link.expand(np.zeros(1), t, seen[None, :]).tie_curvature
    return np.array([t, t, curvature * tie_scale(link.cumulative, t), seen.sum()])


def add_coefficients(state: Floats, penalty: Floats) -> Floats:
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
        of_items = ItemDesign(units[left], units[right], n_units).matrix()
        of_items.eliminate_zeros()  # of an item with itself
        blocks.append(of_items)
    return blocks[0] if len(blocks) == 1 else sp.hstack(blocks, format="csr")


def follow(
    state: Floats,
    rows: Callable[[slice], sp.csr_array],
    outcome: NDArray[np.int8],
    weight: Floats,
    *,
    learning_rate: float,
    link: OutcomeLink,
) -> None:
    """Take one step per comparison in place; ``rows(chunk)`` are `difference_rows`."""
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
            link.cumulative,
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
    left, tie, right = 1.0 * (y < 0), 1.0 * (y == 0), 1.0 * (y > 0)
    if not cumulative:
        cell = davidson_cell(d, t, math.exp(t), left, tie, right)
        return cell[1], cell[3], cell[2], cell[5]
    _, in_d, in_t, in_dd, _, in_tt = cumulative_cell(d, t, left, tie, right)
    if tie > 0.0:
        width = width_loss(t, tie)
        in_t, in_tt = in_t + width[1], in_tt + width[2]
    return in_d, in_dd, in_t, in_tt
