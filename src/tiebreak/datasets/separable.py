# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons that a linear utility separates with a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import Pairs
from tiebreak.datasets.rejection import (
    NEITHER,
    THRESHOLD,
    check_count,
    check_items,
    collect_pairs,
    threshold_outcome,
    tie_count,
)


@dataclass(frozen=True, eq=False)
class LinearUtility:
    """The utility r(x) = w·x.

    Parameters
    ----------
    w : ndarray of shape (n_features,)
        Weights of the features.
    """

    w: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Evaluate the utility.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)

        Returns
        -------
        ndarray of shape (n_items,)
        """
        return check_items(X, len(self.w), exactly=True) @ self.w


@dataclass(frozen=True, eq=False)
class SeparablePairs:
    """What `make_separable` returns.

    Attributes
    ----------
    pairs : Pairs of length n_pairs
        Over ``2 * n_pairs`` items: pair i compares rows i and n_pairs + i.
    y : ndarray of int8, shape (n_pairs,)
        -1 left better, 0 tie, +1 right better.
    w : ndarray of shape (n_features,)
        The true weights, on the scale on which the threshold is 1.
    utility : LinearUtility
        The true utility r(x) = w'x.
    margin : float
        No difference w'(x' - x) is closer than this to -1 or to 1, so the largest
        margin that a linear utility reaches on these pairs is at least `margin`.
    threshold : float
        A difference of more than this is not a tie. Always 1.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    w: np.ndarray
    utility: LinearUtility = field(repr=False)
    margin: float
    threshold: float = THRESHOLD


def make_separable(
    n_pairs: int = 40,
    *,
    n_features: int = 2,
    margin: float = 0.2,
    scale: Sequence[float] | np.ndarray | None = None,
    tie_share: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> SeparablePairs:
    """Simulate comparisons that a linear utility separates with a margin.

    In the manner of the second figure of Venuto, Hocking, Sphanurattana and Sugiyama,
    "Support vector comparison machines". Items are x = s ⊙ z with z uniform on
    [-2, 2]ᵖ, opponents x′ = s ⊙ (z + δ) with standard normal offsets δ, and the utility
    is r(x) = w·x with w = v ⊘ s, where v has a random direction and length 3/2 (⊙ and ⊘
    multiply and divide feature by feature). With d = w·(x′ - x), outcomes are ::

        y = 0        where |d| ≤ 1 - margin,
        y = sign d   where |d| ≥ 1 + margin,

    and pairs between the two are thrown away. There are exactly
    ``round(tie_share * n_pairs)`` ties, and the rows are shuffled.

    The max-margin linear program measures the margin in units of the utility and does
    not see the feature scales s; the quadratic program penalizes the length of the
    weights and does. With unequal `scale` the two choose different weights more often
    (not always: when the same pairs stop both, they agree).

    Parameters
    ----------
    n_pairs : int, default=40
        Number of comparisons, at least 1.
    n_features : int, default=2
        Number p of features.
    margin : float in (0, 1), default=0.2
        Distance kept from the decision boundaries at -1 and 1.
    scale : array-like of shape (n_features,), optional
        Positive factors s of the features; all 1 by default.
    tie_share : float in [0, 1], default=0.5
        Share of ties. ``round`` is Python's: halves go to the even number.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. A Generator is used, and advanced, as it is. The same seed with another
        `scale` gives the same pairs with rescaled features.

    Returns
    -------
    SeparablePairs
        ``pairs``, ``y``, ``w``, ``utility``, ``margin`` and ``threshold``.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or if the asked class is so rare under the
        parameters that it cannot be collected.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.datasets import make_separable
    >>> data = make_separable(20, scale=(1, 100), random_state=0)
    >>> left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    >>> gap = np.abs((right - left) @ data.w)
    >>> bool(np.all(gap[data.y == 0] < 0.81)), bool(np.all(gap[data.y != 0] > 1.19))
    (True, True)
    """
    n_pairs = check_count(n_pairs, "n_pairs")
    n_features = check_count(n_features, "n_features")
    n_ties = tie_count(tie_share, n_pairs)
    if not (isinstance(margin, Real) and 0 < margin < 1):
        raise ValueError(
            f"margin must be strictly between 0 and 1, got {margin!r}: ties lie within "
            "1 - margin of each other and the other pairs at least 1 + margin apart."
        )
    factors = _scale(scale, n_features)
    rng = np.random.default_rng(random_state)
    direction = rng.normal(size=n_features)
    v = 1.5 * direction / np.linalg.norm(direction)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        left = rng.uniform(-2.0, 2.0, (n, n_features))
        right = left + rng.normal(size=(n, n_features))
        difference = (right - left) @ v
        label = threshold_outcome(difference)
        label[np.abs(np.abs(difference) - THRESHOLD) < margin] = NEITHER
        return left * factors, right * factors, label

    advice = "Try a smaller margin or another tie_share."
    pairs, y = collect_pairs(draw, (n_ties, n_pairs - n_ties), n_features, rng, advice)
    w = v / factors
    return SeparablePairs(pairs, y, w, LinearUtility(w), float(margin))


def _scale(scale: Sequence[float] | np.ndarray | None, n_features: int) -> np.ndarray:
    if scale is None:
        return np.ones(n_features)
    factors = np.asarray(scale, dtype=float)
    if factors.shape != (n_features,):
        raise ValueError(
            f"scale must hold one factor for each of the {n_features} features, got "
            f"shape {factors.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(factors) & (factors > 0)))
    if len(bad):
        raise ValueError(
            f"scale must be positive and finite, got {factors[bad[0]]} for feature "
            f"{bad[0]}."
        )
    return factors
