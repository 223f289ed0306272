# SPDX-License-Identifier: BSD-3-Clause
"""How well raters agree: Krippendorff's alpha, for grades and for comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, as_column_of, factorize, refuse_missing
from tiebreak.data.parameters import COUNT, one_of
from tiebreak.metrics.metric_inputs import (
    check_argument,
    numeric_vector,
    outcome_vector,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.integer]


@dataclass(frozen=True)
class Alpha:
    """The result of `krippendorff_alpha`.

    Parameters
    ----------
    alpha : float
        1 for perfect agreement, 0 for what chance gives, negative below it.
    low, high : float
        Limits of the interval; −1 and 1 if there is only one unit.
    n_units, n_raters, n_ratings : int
        The units with two raters or more, and the raters and ratings of these units.

    Examples
    --------
    >>> from tiebreak.metrics import krippendorff_alpha
    >>> krippendorff_alpha([1, 1, 2, 2], ["ann", "bo", "ann", "bo"], [3, 3, 4, 4]).alpha
    1.0
    """

    alpha: float
    low: float
    high: float
    n_units: int
    n_raters: int
    n_ratings: int


def krippendorff_alpha(
    unit: ArrayLike,
    rater: ArrayLike,
    value: ArrayLike,
    *,
    level: str = "nominal",
    symmetric: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | None = 0,
) -> Alpha:
    """Krippendorff's alpha: the agreement of raters beyond chance, with an interval.

    Let unit u have m_u ≥ 2 raters, let n = Σᵤ m_u, and let n_c be how many ratings have
    value c. With the disagreement δ² of two values::

        α = 1 − D_o / D_e,
        D_o = (1/n) Σᵤ 1/(m_u − 1) Σ_{raters i ≠ j of u} δ²(vᵢ, vⱼ),
        D_e = 1/(n(n − 1)) Σ_{c ≠ d} n_c n_d δ²(c, d).

    Nominal values disagree by δ² = [c ≠ d], ordinal ones by the square of the
    difference of their mid-ranks, R_c = Σ_{g<c} n_g + n_c/2. Units with one rater do
    not count; a rater who rated a unit k times counts there once, each rating with
    share 1/k. The interval is a bootstrap over units.

    Parameters
    ----------
    unit, rater, value : array-like of shape (n,)
        One row per rating: what was rated, by whom, and how. For comparisons see
        :func:`comparison_units`.
    level : {"nominal", "ordinal"}, default="nominal"
        Whether values are names or ordered numbers.
    symmetric : bool, default=False
        For numbers whose sign depends on which of two items is named first, such as
        votes: n_c and n_{-c} are replaced by their mean.
    confidence : float, default=0.95
        Confidence of the interval.
    n_resamples, random_state : int and int or None, default=1000 and 0
        Number of bootstrap samples, and their seed.

    Returns
    -------
    agreement : Alpha
        Alpha with its interval.

    Raises
    ------
    ValueError
        If no unit was rated by two raters, or if all ratings are equal: alpha is 0/0.

    References
    ----------
    K. Krippendorff, Computing Krippendorff's alpha-reliability, University of
    Pennsylvania, 2011.

    Examples
    --------
    >>> from tiebreak.metrics import krippendorff_alpha
    >>> answer = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> person = ["ann", "bo"] * 5
    >>> grade = [1, 1, 3, 3, 2, 3, 2, 2, 1, 1]
    >>> result = krippendorff_alpha(answer, person, grade, level="ordinal")
    >>> round(result.alpha, 3), result.n_units
    (0.89, 5)
    """
    check_argument(level, "level", one_of("nominal", "ordinal"))
    check_argument(n_resamples, "n_resamples", COUNT)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1; got {confidence!r}.")
    ratings = _Ratings.read(unit, rater, value, level, symmetric)
    alpha_of = (_nominal if level == "nominal" else _ordinal)(ratings)
    n_units = int(ratings.owner.max()) + 1
    alpha = alpha_of(np.ones(n_units, dtype=np.int64))
    low, high = -1.0, 1.0
    if n_units > 1:
        rng = np.random.default_rng(random_state)
        drawn = np.empty(n_resamples)
        for i in range(n_resamples):
            units = rng.integers(n_units, size=n_units)
            drawn[i] = alpha_of(np.bincount(units, minlength=n_units))
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    n_ratings = len(ratings.unit)
    return Alpha(alpha, float(low), float(high), n_units, ratings.n_raters, n_ratings)


def comparison_units(
    left: ArrayLike, right: ArrayLike, y: ArrayLike
) -> tuple[Ints, Ints]:
    """Units and values of votes, so that it does not matter which item was left.

    Votes on the same two items belong to one unit. Its value is the outcome with the
    item that occurs first in the columns on the left.

    Parameters
    ----------
    left, right : array-like of shape (n,)
        The two items of each vote: names, or ``pairs.left`` and ``pairs.right``.
    y : array-like of shape (n,)
        Outcomes: −1 left, 0 tie, +1 right.

    Returns
    -------
    unit, value : ndarray of shape (n,)
        For :func:`krippendorff_alpha` with ``symmetric=True``.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_units, krippendorff_alpha
    >>> unit, value = comparison_units(["x", "y", "x"], ["y", "x", "z"], [-1, 1, 0])
    >>> unit.tolist(), value.tolist()
    ([0, 0, 1], [-1, -1, 0])
    """
    outcome = outcome_vector(y, "y")
    sides = [
        as_column_of(values, name, len(outcome))
        for values, name in ((left, "left"), (right, "right"))
    ]
    for column, name in zip(sides, ("left", "right"), strict=True):
        refuse_missing(column, name)
    items, names = factorize(np.concatenate(sides))
    first, second = items[: len(outcome)], items[len(outcome) :]
    swapped = first > second
    low, high = np.minimum(first, second), np.maximum(first, second)
    unit = factorize(low * len(names) + high)[0]
    return unit, np.where(swapped, -outcome, outcome)


@dataclass(frozen=True, eq=False)
class _Ratings:
    """The ratings of units with two raters, as codes."""

    unit: Ints  # (n,) unit of each rating, 0 to n_units − 1
    answer: Ints  # (n,) number of its unit and rater
    value: Ints  # (n,) code of its value
    share: Floats  # (n,) 1 / how often the rater rated the unit
    owner: Ints  # (n_answers,) unit of each unit and rater
    n_raters: int
    n_values: int  # how many codes there are
    symmetric: bool  # whether reversed codes are those of -v, which count as much

    @classmethod
    def read(
        cls,
        unit: ArrayLike,
        rater: ArrayLike,
        value: ArrayLike,
        level: str,
        symmetric: bool,
    ) -> _Ratings:
        """Check the columns and keep units with two raters or more."""
        if symmetric or level == "ordinal":
            column = numeric_vector(value, "value")
        else:
            column = as_column(value, "value")
        n_rows = len(column)
        refuse_missing(column, "value")
        codes = []
        for labels, name in ((unit, "unit"), (rater, "rater")):
            found = as_column_of(labels, name, n_rows)
            refuse_missing(found, name)
            codes.append(factorize(found)[0])
        units, raters = codes
        n_units = int(units.max(initial=-1)) + 1
        distinct = np.unique(units + n_units * raters)
        kept = np.bincount(distinct % n_units)[units] > 1 if n_rows else units > 0
        if not kept.any():
            raise ValueError("No unit was rated by two raters.")
        units = factorize(units[kept])[0]
        n_units = int(units.max()) + 1
        distinct, answers = np.unique(
            units + n_units * raters[kept], return_inverse=True
        )
        counted = column[kept]
        if symmetric:  # so that reversed codes are those of -v
            counted = np.outer([1.0, -1.0], counted).ravel() + 0.0
        if symmetric or level == "ordinal":
            values = np.unique(counted, return_inverse=True)[1]
        else:
            values = factorize(counted)[0]
        n_values, values = int(values.max()) + 1, values[: len(units)]
        if n_values == 1:
            raise ValueError(f"All ratings are {column[kept][0]!r}, so alpha is 0/0.")
        share = 1 / np.bincount(answers)[answers]
        n_raters = len(np.unique(raters[kept]))
        owner = distinct % n_units
        return cls(units, answers, values, share, owner, n_raters, n_values, symmetric)

    def cells(self) -> _Cells:
        """Sum the shares of each value in each unit."""
        return _Cells.sum(self.unit, self.value, self.share)

    def margins(self, cells: _Cells, taken: Counts) -> NDArray[Any]:
        """Count each value, unit u taken ``taken[u]`` times."""
        amount = cells.amount * taken[cells.group]
        counts = np.bincount(cells.value, amount, self.n_values)
        return (counts + counts[::-1]) / 2 if self.symmetric else counts

    def repeated(self) -> tuple[_Cells, Ints]:
        """Sum shares of raters who differ from themselves, and give the units."""
        own = _Cells.sum(self.answer, self.value, self.share)
        several = np.bincount(own.group)[own.group] > 1
        answers, group = np.unique(own.group[several], return_inverse=True)
        cells = _Cells(group, own.value[several], own.amount[several])
        return cells, self.owner[answers]


@dataclass(frozen=True, eq=False)
class _Cells:
    """Summed shares of values in groups."""

    group: Ints
    value: Ints
    amount: Floats

    @classmethod
    def sum(cls, group: Ints, value: Ints, amount: Floats) -> _Cells:
        width = int(value.max()) + 1
        keys, cell = np.unique(group * width + value, return_inverse=True)
        return cls(keys // width, keys % width, np.bincount(cell, amount).astype(float))


def _nominal(ratings: _Ratings) -> Callable[[Counts], float]:
    """Return nominal alpha as a function of the multiplicity of units."""
    cells, (again, owner) = ratings.cells(), ratings.repeated()
    raters = np.bincount(ratings.owner)
    same = np.bincount(cells.group, cells.amount**2) - raters
    spread = again.amount * (1 - again.amount)
    same += np.bincount(owner[again.group], spread, len(raters))
    observed = raters - same / (raters - 1)

    def alpha(taken: Counts) -> float:
        margins = ratings.margins(cells, taken)
        n = margins.sum()
        return _ratio(float(taken @ observed), n * n - margins @ margins, margins)

    return alpha


def _ordinal(ratings: _Ratings) -> Callable[[Counts], float]:
    """Return ordinal alpha as a function of the multiplicity of units."""
    cells, (again, owner) = ratings.cells(), ratings.repeated()
    raters = np.bincount(ratings.owner)

    def alpha(taken: Counts) -> float:
        margins = ratings.margins(cells, taken)
        n = margins.sum()
        rank = np.cumsum(margins) - margins / 2
        rank -= margins @ rank / n  # Then sums of squares do not cancel.
        total = np.bincount(cells.group, cells.amount * rank[cells.value])
        squares = np.bincount(cells.group, cells.amount * rank[cells.value] ** 2)
        products = total**2 - squares
        scored = again.amount * rank[again.value]
        spread = np.bincount(again.group, scored * rank[again.value])
        spread -= np.bincount(again.group, scored) ** 2
        products += np.bincount(owner, spread, len(raters))
        observed = taken @ (2 * squares - 2 * products / (raters - 1))
        return _ratio(float(observed), 2 * n * (margins @ rank**2), margins)

    return alpha


def _ratio(observed: float, expected: float, margins: NDArray[Any]) -> float:
    """Return 1 − D_o/D_e from sums of disagreement."""
    # Units drawn for an interval can all have the same value: then nothing disagrees.
    varied = np.count_nonzero(margins) > 1
    return float(1 - (margins.sum() - 1) * observed / expected) if varied else 1.0
