# SPDX-License-Identifier: BSD-3-Clause
"""How well raters agree: Krippendorff's alpha, for grades and for comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, as_column_of, factorize, refuse_missing
from tiebreak.data.parameters import COUNT, one_of
from tiebreak.metrics.metric_inputs import (
    check_argument,
    group_codes,
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
    n_units = len(ratings.raters)
    alpha = alpha_of(np.ones(n_units, dtype=np.int64))
    low, high = -1.0, 1.0
    if n_units > 1:
        rng = np.random.default_rng(random_state)
        drawn = np.empty(n_resamples)
        for i in range(n_resamples):
            units = rng.integers(n_units, size=n_units)
            drawn[i] = alpha_of(np.bincount(units, minlength=n_units))
        low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    counts = n_units, ratings.n_raters, ratings.n_ratings
    return Alpha(alpha, float(low), float(high), *counts)


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
    sides = []
    for values, name in ((left, "left"), (right, "right")):
        sides.append(as_column_of(values, name, len(outcome)))
        refuse_missing(sides[-1], name)
    items, names = factorize(np.concatenate(sides))
    first, second = items[: len(outcome)], items[len(outcome) :]
    low, high = np.minimum(first, second), np.maximum(first, second)
    unit = factorize(low * len(names) + high)[0]
    return unit, np.where(first > second, -outcome, outcome)


@dataclass(frozen=True, eq=False)
class _Ratings:
    """The ratings of units with two raters, by the codes of their values.

    A rating has the share 1 / how often its rater rated the unit.
    """

    shares: sp.csr_array  # (U, V) of each value in each unit
    raters: Ints  # (U,) how many there are
    again: sp.csr_array  # (A, V) shares of raters who differ from themselves in a unit
    owner: Ints  # (A,) these units
    n_raters: int
    n_ratings: int
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
        numbers = symmetric or level == "ordinal"
        column = (numeric_vector if numbers else as_column)(value, "value")
        n_rows = len(column)
        refuse_missing(column, "value")
        units = group_codes(unit, n_rows, "unit")
        raters = group_codes(rater, n_rows, "rater")
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
        if numbers:
            values = np.unique(counted, return_inverse=True)[1]
        else:
            values = factorize(counted)[0]
        n_values, values = int(values.max()) + 1, values[: len(units)]
        if n_values == 1:
            raise ValueError(f"All ratings are {column[kept][0]!r}, so alpha is 0/0.")
        share, owner = 1 / np.bincount(answers)[answers], distinct % n_units
        shares = sp.csr_array((share, (units, values)), (n_units, n_values))
        own = sp.csr_array((share, (answers, values)), (len(owner), n_values))
        differs = np.diff(own.indptr) > 1
        return cls(
            shares,
            np.bincount(owner),
            own[differs],
            owner[differs],
            len(np.unique(raters[kept])),
            len(units),
            symmetric,
        )

    def margins(self, taken: Counts) -> Floats:
        """Count each value, unit u taken ``taken[u]`` times."""
        counts = taken @ self.shares
        return (counts + counts[::-1]) / 2 if self.symmetric else counts

    def by_unit(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum values of the rows of `again` in each unit."""
        return np.bincount(self.owner, values, len(self.raters))


def _nominal(ratings: _Ratings) -> Callable[[Counts], float]:
    """Return nominal alpha as a function of the multiplicity of units."""
    raters, again = ratings.raters, ratings.again
    same = ratings.shares.power(2).sum(axis=1) - raters
    same += ratings.by_unit((again - again.power(2)).sum(axis=1))
    observed = raters - same / (raters - 1)

    def alpha(taken: Counts) -> float:
        margins = ratings.margins(taken)
        n = margins.sum()
        return _ratio(taken @ observed, n * n - margins @ margins, margins)

    return alpha


def _ordinal(ratings: _Ratings) -> Callable[[Counts], float]:
    """Return ordinal alpha as a function of the multiplicity of units."""
    shares, again, raters = ratings.shares, ratings.again, ratings.raters

    def alpha(taken: Counts) -> float:
        margins = ratings.margins(taken)
        n = margins.sum()
        rank = np.cumsum(margins) - margins / 2
        rank -= margins @ rank / n  # Then sums of squares do not cancel.
        squares = shares @ rank**2
        products = (shares @ rank) ** 2 - squares
        products += ratings.by_unit(again @ rank**2 - (again @ rank) ** 2)
        observed = taken @ (2 * squares - 2 * products / (raters - 1))
        return _ratio(observed, 2 * n * (margins @ rank**2), margins)

    return alpha


def _ratio(observed: Any, expected: Any, margins: NDArray[Any]) -> float:
    """Return 1 − D_o/D_e from sums of disagreement."""
    # Units drawn for an interval can all have the same value: then nothing disagrees.
    varied = np.count_nonzero(margins) > 1
    return float(1 - (margins.sum() - 1) * observed / expected) if varied else 1.0
