# SPDX-License-Identifier: BSD-3-Clause
"""Raters whose votes say nothing: one vote, always the same, or against everyone.

Intervals and tests for a share of wins.

Counts may be sums of weights, so they need not be whole numbers: the tails of the
binomial distribution are written as incomplete beta functions, which agree with it
for whole numbers and lie between them otherwise.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, ndtri

from tiebreak.data import Pairs
from tiebreak.ratings.checks.report import RaterFacts
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry


def wilson_interval(
    wins: float, total: float, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval for a share.

    With z the normal quantile of the level, the shares p that the score test does not
    reject, ``|k/n - p| ≤ z √(p (1 - p) / n)``.

    Parameters
    ----------
    wins : float
        k, the number of wins, 0 to `total`.
    total : float
        n, positive.
    level : float, default=0.95
        Confidence.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> wilson_interval(8, 10)
    (0.4902, 0.9433)
    """
    z = float(ndtri((1 + level) / 2))
    share, shrink = wins / total, 1 + z**2 / total
    center = (share + z**2 / (2 * total)) / shrink
    half = z / shrink * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    return max(0.0, float(center - half)), min(1.0, float(center + half))


def binomial_at_most(wins: ArrayLike, total: ArrayLike) -> Any:
    """Probability of at most so many wins when each is won with probability 1/2.

    Parameters
    ----------
    wins, total : array-like
        Numbers of wins and of comparisons; broadcast.

    Returns
    -------
    float or ndarray
        For whole numbers the binomial distribution function.

    Examples
    --------
    >>> float(binomial_at_most(1, 3))
    0.5
    """
    return betainc(np.subtract(total, wins), np.add(wins, 1.0), 0.5)


def binomial_two_sided(wins: float, total: float) -> float:
    """Two-sided p-value of the hypothesis that each is won with probability 1/2.

    Twice the smaller tail, at most 1.

    Parameters
    ----------
    wins, total : float
        Numbers of wins and of comparisons.

    Returns
    -------
    float

    Examples
    --------
    >>> binomial_two_sided(0, 3)
    0.25
    """
    return min(1.0, 2 * float(binomial_at_most(min(wins, total - wins), total)))


CONSTANT_VOTES = 10
SIGNIFICANCE = 0.05
_PENALTY = 0.1  # keeps strengths finite when an item won or lost everything
_LARGE_SHARE = 0.05  # of all votes; at most 20 raters have more


@dataclass(frozen=True, eq=False)
class Votes:
    """Comparisons of different items, each with a positive weight.

    Attributes
    ----------
    left, right : ndarray of int64 of shape (n,)
        Items compared, 0 to N - 1.
    outcome : ndarray of int8 of shape (n,)
        -1, 0 or +1.
    weight : ndarray of float64 of shape (n,)
        Positive.
    n_items : int
        N.
    rater : ndarray of int64 of shape (n,) or None
        Number of the rater of each row, 0 to R - 1.
    advantage : ndarray of float64 of shape (n,) or None
        Advantage of the left item.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    n_items: int
    rater: NDArray[np.int64] | None = None
    advantage: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[Any]) -> Votes:
        """Take some of the rows.

        Parameters
        ----------
        rows : ndarray of int or bool
            Which.

        Returns
        -------
        Votes
        """
        return Votes(
            self.left[rows],
            self.right[rows],
            self.outcome[rows],
            self.weight[rows],
            self.n_items,
            None if self.rater is None else self.rater[rows],
            None if self.advantage is None else self.advantage[rows],
        )


def check_raters(votes: Votes, names: list[Any]) -> RaterFacts:
    """Describe the raters, and find those whose votes say nothing.

    A rater is contrary who agrees with the strengths of a Bradley–Terry model less
    often than half the time, by a one-sided binomial test at level 0.05 divided by the
    number of raters tested. The model is fitted on everyone's votes; for raters with
    more than a twentieth of the votes, on those of the others.

    Parameters
    ----------
    votes : Votes
        With raters; at least one row.
    names : list
        Name of each rater.

    Returns
    -------
    RaterFacts
    """
    assert votes.rater is not None
    n_raters = len(names)
    total = _sum_by(votes.rater, votes.weight, n_raters)
    present = total > 0
    counts = total[present]
    return RaterFacts(
        n_raters=int(present.sum()),
        fewest=float(counts.min()),
        median=float(np.median(counts)),
        most=float(counts.max()),
        one_vote=tuple(names[code] for code in np.flatnonzero(total == 1)),
        constant=_find_constant(votes, total, names),
        contrary=_find_contrary(votes, total, names),
    )


def _find_constant(
    votes: Votes, total: NDArray[np.float64], names: list[Any]
) -> tuple[tuple[Any, int, float], ...]:
    cells = 3 * votes.rater + votes.outcome + 1  # type: ignore[operator]
    said = np.bincount(cells, minlength=3 * len(names)).reshape(-1, 3) > 0
    constant = (said.sum(axis=1) == 1) & (total >= CONSTANT_VOTES)
    return tuple(
        (names[code], int(said[code].argmax()) - 1, float(total[code]))
        for code in np.flatnonzero(constant)
    )


def _find_contrary(
    votes: Votes, total: NDArray[np.float64], names: list[Any]
) -> tuple[tuple[Any, float, float], ...]:
    assert votes.rater is not None
    if (total > 0).sum() < 2 or not votes.outcome.any():
        return ()
    agreed, decided = _count_agreement(votes, _fit_strengths(votes), len(names))
    for code in np.flatnonzero(total > _LARGE_SHARE * total.sum()):
        own = votes.rater == code
        others = votes.take(~own)
        if not others.outcome.any():
            agreed[code] = decided[code] = 0.0
            continue
        counts = _count_agreement(votes.take(own), _fit_strengths(others), len(names))
        agreed[code], decided[code] = counts[0][code], counts[1][code]
    tested = np.flatnonzero(decided > 0)
    p_value = binomial_at_most(agreed[tested], decided[tested])
    found = tested[p_value * len(tested) < SIGNIFICANCE]
    share = agreed[found] / decided[found]
    return tuple(
        (names[found[i]], float(share[i]), float(decided[found[i]]))
        for i in np.argsort(share, kind="stable")
    )


def _count_agreement(
    votes: Votes, strength: NDArray[np.float64], n_raters: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum, by rater, the decided votes with the stronger item, and all decided ones."""
    side = np.sign(strength[votes.right] - strength[votes.left])
    # NaN where an item is unknown to the others; then, as when strengths are equal,
    # there is nothing to agree with.
    counted = (votes.outcome != 0) & (np.abs(side) == 1)
    assert votes.rater is not None
    rater, weight = votes.rater[counted], votes.weight[counted]
    same = side[counted] == votes.outcome[counted]
    return (
        _sum_by(rater, weight * same, n_raters),
        _sum_by(rater, weight, n_raters),
    )


def _sum_by(
    codes: NDArray[np.int64], weight: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    # The stubs of NumPy do not know that weights make the counts floats.
    return np.bincount(codes, weight, n).astype(np.float64, copy=False)


def _fit_strengths(votes: Votes) -> NDArray[np.float64]:
    """Give the strength of each item, NaN for those that are not compared."""
    pairs = Pairs._of(None, votes.left, votes.right, np.arange(votes.n_items))
    ties = "davidson" if (votes.outcome == 0).any() else None
    model = BradleyTerry(ties=ties, alpha=_PENALTY)
    with warnings.catch_warnings():
        # True of a part of the votes, these would say nothing; and items that never
        # meet are not compared here either.
        warnings.filterwarnings(
            "ignore", message="y holds only 0 and 1|.* comparable only by the penalty"
        )
        model.fit(pairs, votes.outcome, sample_weight=votes.weight)
    strength = np.full(votes.n_items, np.nan)
    strength[model.items_] = model.strength_
    return strength
