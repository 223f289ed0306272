# SPDX-License-Identifier: BSD-3-Clause
"""Games in the order of time: checked, numbered, grouped into updates; and their ties.

An *update* is a run of rows that are rated together, from the ratings before the first
of them: all rows of a period, or one row when there are no periods.

Slope and ν of the ties are those of maximum likelihood, with the penalty ``slope -
log(slope)`` and one imagined win between equals. Without ties ν is exactly 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import check_outcomes, check_weights
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import plain_values
from tiebreak.data.messages import list_rows
from tiebreak.data.outcome import OUTCOMES
from tiebreak.data.validation import leave_out_selves
from tiebreak.losses import LINKS, ComparisonObjective, CovariateDesign
from tiebreak.metrics.metric_inputs import outcome_vector
from tiebreak.models.covariates import check_row_numbers
from tiebreak.ratings.named_results import (
    check_clusters,
    check_row_periods,
    named_pairs,
)
from tiebreak.solvers import minimize_newton

DAVIDSON = LINKS["davidson"]


class Games(NamedTuple):
    """Games of numbered items, checked."""

    sides: NDArray[np.uint32]  # (n, 2), numbers of the left and the right item
    outcome: NDArray[np.int8]  # (n,)
    weight: Floats | None  # (n,); 0: absent. None: all are 1
    advantage: Floats | None  # (n,), points of left. None: the model's own
    starts: Codes | None  # (n_updates + 1,), first rows. None: every row
    period: NDArray[Any] | None  # (n_updates,)

    def filled(self, advantage: float) -> Games:
        """Replace every None but the periods by an array."""
        n = len(self.outcome)
        return self._replace(
            weight=np.ones(n) if self.weight is None else self.weight,
            advantage=(
                np.full(n, advantage) if self.advantage is None else self.advantage
            ),
            starts=np.arange(n + 1) if self.starts is None else self.starts,
        )


def read_games(
    X: Any,
    y: ArrayLike | None,
    model: str,
    *,
    period: ArrayLike | None = None,
    advantage: ArrayLike | float | None = None,
    rater: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    numbers: bool = False,
    few: bool = False,
) -> tuple[Games, NDArray[Any], int]:
    """Check games, and number items in the order of their names.

    Gives games, names and how many have a game of positive weight; others come last.
    `numbers`: periods must be such; `few`: too few rows to suspect another coding.
    """
    pairs = named_pairs(X, model)
    n = len(pairs)
    if few and y is not None:
        outcome = outcome_vector(y, "y", n).astype(np.int8)
    else:
        outcome = check_outcomes(y, n)
    weight = None if sample_weight is None else check_weights(sample_weight, n)
    weight = leave_out_selves(pairs, weight)
    points = None
    if advantage is not None:
        points = check_row_numbers(advantage, "advantage", n)
    if rater is not None:
        check_clusters(rater, "rater", n)
    starts = values = None
    if period is not None:
        column = _check_period(period, n, model if numbers else None)
        first = np.flatnonzero(column[1:] != column[:-1]) + 1
        starts = np.concatenate(([0], first, [n]))
        values = column[starts[:-1]]
    assert pairs.names is not None
    rows = slice(None) if weight is None else weight > 0
    played = pairs[rows].touched()
    order = np.append(played, np.setdiff1d(pairs.touched(), played))
    number = np.empty(len(pairs.names), dtype=np.uint32)
    number[order] = np.arange(len(order))
    sides = number[np.stack(pairs.sides, axis=1)]
    games = Games(sides, outcome, weight, points, starts, values)
    return games, pairs.names[order], len(played)


def _check_period(
    period: ArrayLike, n_rows: int, measured_by: str | None
) -> NDArray[Any]:
    """Check periods that do not decrease; measured time is numbers."""
    column = check_row_periods(period, n_rows)
    if measured_by is not None and column.dtype.kind not in "iufM":
        raise TypeError(
            f"{measured_by} needs numbers or dates (2024-05-31) as period, because "
            f"deviations grow with time; got {plain_values(column[:1])[0]!r} at row 0."
        )
    earlier = np.flatnonzero(column[1:] < column[:-1]) + 1
    if len(earlier):
        values = plain_values(column[earlier[:5]])
        row, before = int(earlier[0]), plain_values(column[earlier[:1] - 1])[0]
        raise ValueError(
            f"period decreases at {list_rows(earlier, values)}: row {row} comes after "
            f"period {before!r} of row {row - 1}. Sort the rows, text letter by letter."
        )
    return column


class TieObjective(ComparisonObjective):
    """-ln of the likelihood in (slope, ln ν), and the penalty slope - ln slope."""

    def _penalty(self, beta: Floats) -> float:
        slope = float(beta[0])
        return slope - math.log(slope) if slope > 0.0 else math.inf

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Value and gradient at x, kept for the Hessian."""
        value, gradient = super().expand(x)
        self.slope = float(x[0])
        gradient[0] += 1.0 - 1.0 / self.slope
        return value, gradient

    def hessian(self) -> Floats:
        """Give the Hessian at the last expanded point."""
        out = super().hessian()
        out[0, 0] += self.slope**-2.0
        return out


def fit_ties(
    logit: Floats, outcome: NDArray[np.int8], weight: Floats | None = None
) -> tuple[float, float]:
    """Fit the slope and ν of Davidson's model."""
    logit, outcome = np.append(logit, 0.0), np.append(outcome, -1)
    weight = np.append(np.ones(len(logit) - 1) if weight is None else weight, 1.0)
    counts = np.where(outcome[:, None] == OUTCOMES, weight[:, None], 0.0)
    total, tied = float(weight.sum()), float(counts[:, 1].sum())
    start = DAVIDSON.start(tied / total)
    objective = TieObjective(
        CovariateDesign(-logit[:, None]),
        DAVIDSON,
        counts,
        np.zeros(1),
        tie=None if tied else start,
    )
    x = minimize_newton(
        objective, np.array([1.0, start][: objective.n_variables]), tol=1e-12
    ).x
    slope, t = objective.split(x)
    return float(slope[0]), float(DAVIDSON.to_parameter(t))


def outcome_probabilities(logit: Floats, slope: float, tie: float) -> Floats:
    """Give the probabilities of left, tie and right."""
    return DAVIDSON.probabilities(slope * logit, DAVIDSON.from_parameter(tie))
