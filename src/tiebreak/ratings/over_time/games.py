# SPDX-License-Identifier: BSD-3-Clause
"""Games in the order of time: checked, numbered, grouped into updates; and their ties.

An *update* is a run of rows that are rated together, from the ratings before the first
of them: all rows of a period, or one row when there are no periods.

*Ties.* Ratings give expected scores only. Davidson's model adds ties to them: with d,
the slope times the logit of right's expected score,

    P(left) : P(tie) : P(right)  =  exp(-d / 2) : ν : exp(d / 2).

Slope and ν are those of maximum likelihood, with two small terms that keep them
positive and finite: the penalty ``slope - log(slope)``, and one imagined game between
equals that somebody won. Without any tie ν is exactly 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, check_outcomes, check_weights
from tiebreak.data.columns import plain_values
from tiebreak.data.jit import njit
from tiebreak.data.messages import list_rows
from tiebreak.metrics.inputs import outcome_vector
from tiebreak.models.covariates import check_row_numbers
from tiebreak.ratings.inputs import check_rater, check_row_periods

Floats = NDArray[np.float64]


class Games(NamedTuple):
    """Games of numbered items, checked."""

    sides: NDArray[np.uint32]  # (n, 2), numbers of the left and the right item
    outcome: NDArray[np.int8]  # (n,)
    weight: Floats | None  # (n,); 0: absent. None: all are 1
    advantage: Floats | None  # (n,), points of left. None: the model's own
    starts: NDArray[np.int64] | None  # (n_updates + 1,), first rows. None: every row
    period: NDArray[Any] | None  # (n_updates,)

    def filled(self, advantage: float) -> Games:
        """Put an array in the place of every None, except for the periods."""
        n = len(self.outcome)
        return self._replace(
            weight=np.ones(n) if self.weight is None else self.weight,
            advantage=(
                np.full(n, advantage) if self.advantage is None else self.advantage
            ),
            starts=np.arange(n + 1) if self.starts is None else self.starts,
        )


def check_games(
    y: ArrayLike | None,
    n_rows: int,
    *,
    period: ArrayLike | None = None,
    advantage: ArrayLike | float | None = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    few: bool = False,
) -> Games:
    """Check the row-aligned columns of games; their sides are numbered later."""
    if few and y is not None:  # too few to suspect another coding of outcomes
        outcome = outcome_vector(y, "y", n_rows).astype(np.int8)
    else:
        outcome = check_outcomes(y, n_rows)
    weight = None if sample_weight is None else check_weights(sample_weight, n_rows)
    points = None
    if advantage is not None:
        points = check_row_numbers(advantage, "advantage", n_rows)
    check_rater(rater, n_rows)
    starts = values = None
    if period is not None:
        column = check_period(period, n_rows)
        first = np.flatnonzero(column[1:] != column[:-1]) + 1
        starts = np.concatenate(([0], first, [n_rows]))
        values = column[starts[:-1]]
    sides = np.empty((0, 2), dtype=np.uint32)
    return Games(sides, outcome, weight, points, starts, values)


def check_period(period: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Check periods: numbers, text or dates that do not decrease."""
    column = check_row_periods(period, n_rows)
    earlier = np.flatnonzero(column[1:] < column[:-1]) + 1
    if len(earlier):
        values = plain_values(column[earlier[:5]])
        row, before = int(earlier[0]), plain_values(column[earlier[:1] - 1])[0]
        raise ValueError(
            f"period decreases at {list_rows(earlier, values)}: row {row} comes after "
            f"period {before!r} of row {row - 1}. Row order is time here, so sort the "
            "rows first: order = np.argsort(period, kind='stable'), then X[order], "
            "y[order], period[order]."
            + (_TEXT_HINT if column.dtype.kind == "U" else "")
        )
    return column


_TEXT_HINT = (
    " Text is compared letter by letter ('10' comes before '9'); turn it into numbers "
    "or dates if it means these."
)


def refuse_unmeasured(period: NDArray[Any], who: str, why: str) -> None:
    """Refuse periods between which no time can be measured."""
    if period.dtype.kind not in "iuf":
        raise TypeError(
            f"{who} needs numbers as period, because {why}; got "
            f"{plain_values(period[:1])[0]!r} at row 0. For months try "
            "np.asarray(dates, dtype='datetime64[M]').astype(int), for days "
            "'datetime64[D]' in the same place."
        )


def number_sides(
    pairs: Pairs, weight: Floats | None
) -> tuple[NDArray[np.uint32], NDArray[Any], int]:
    """Number items by first appearance, left before right; rows of weight 0 come last.

    Gives sides (n, 2), names, and how many items have a game of positive weight.
    """
    assert pairs.names is not None
    left, right, names = pairs.left, pairs.right, pairs.names
    n = len(left)
    if 2 * n < len(names):
        used, code = np.unique(np.concatenate([left, right]), return_inverse=True)
        left, right, names = code[:n], code[n:], names[used]
    number = np.full(len(names), -1, dtype=np.int64)
    order = np.empty(len(names), dtype=np.int64)
    sides = np.empty((n, 2), dtype=np.uint32)
    present = np.empty(0) if weight is None else weight
    n_present, n_all, n_same = number_items(left, right, present, number, order, sides)
    if n_same:
        same = np.flatnonzero(left == right)
        shown = plain_values(names[left[same[:5]]])
        raise ValueError(
            f"{len(same)} game(s) are of an item against itself: "
            f"{list_rows(same, shown)}. No rating can follow from such a game, not "
            "even from a tie; correct or remove these rows."
        )
    return sides, names[order[:n_all]], n_present


@njit(cache=True, nogil=True)
def number_items(left, right, weight, number, order, sides):  # type: ignore[no-untyped-def]
    """Number codes in order of first appearance, in place."""
    count = 0
    for i in range(len(weight)):
        if weight[i] > 0.0:
            for code in (left[i], right[i]):
                if number[code] < 0:
                    number[code] = count
                    order[count] = code
                    count += 1
    n_present, n_same = count, 0
    for i in range(len(left)):
        n_same += left[i] == right[i]
        for code in (left[i], right[i]):
            if number[code] < 0:
                number[code] = count
                order[count] = code
                count += 1
        sides[i, 0] = number[left[i]]
        sides[i, 1] = number[right[i]]
    if len(weight) == 0:
        n_present = count
    return n_present, count, n_same


def append(buffer: NDArray[Any], count: int, new: NDArray[Any]) -> NDArray[Any]:
    """Write behind the first rows of a buffer, in a larger one when it is full."""
    needed = count + len(new)
    kind = np.result_type(buffer, new)
    if needed > len(buffer) or kind != buffer.dtype:
        capacity = max(needed, 2 * len(buffer))
        larger = np.empty((capacity, *buffer.shape[1:]), dtype=kind)
        larger[:count] = buffer[:count]
        buffer = larger
    buffer[count:needed] = new
    return buffer


_MAX_ITER = 100
_TOLERANCE = 1e-13


class _Point(NamedTuple):
    """The objective in (slope, log ν) with its derivatives."""

    value: float
    gradient: Floats
    hessian: Floats


def fit_ties(
    logit: Floats, outcome: NDArray[np.int8], weight: Floats | None = None
) -> tuple[float, float]:
    """Fit the slope and ν of Davidson's model, by Newton's method."""
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
    at: Floats,
    step: Floats,
    here: _Point,
    decrease: float,
    data: tuple[Floats, Floats, Floats],
) -> tuple[Floats, _Point]:
    """Halve a step until the objective falls by a fair part of what it promises."""
    for halvings in range(60):
        size = 0.5**halvings
        # An infinite log ν stays; its step is zero.
        there = _objective(at + size * step, *data)
        if there.value <= here.value - 1e-4 * size * decrease + 1e-15 * abs(here.value):
            return at + size * step, there
    return at, here


def _objective(at: Floats, logit: Floats, weight: Floats, totals: Floats) -> _Point:
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


def outcome_probabilities(logit: Floats, slope: float, tie: float) -> Floats:
    """Give the probabilities of left, tie and right."""
    half = 0.5 * slope * logit
    largest = np.abs(half)
    parts = np.stack(
        [np.exp(-half - largest), tie * np.exp(-largest), np.exp(half - largest)],
        axis=1,
    )
    return parts / parts.sum(axis=1, keepdims=True)
