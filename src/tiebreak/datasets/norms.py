# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons by a squared norm, with noisy labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import Pairs
from tiebreak.datasets.rejection import (
    THRESHOLD,
    check_count,
    check_items,
    collect_pairs,
    threshold_outcome,
    tie_count,
)


@dataclass(frozen=True)
class SquaredNorm:
    """The utility r(x) = ‖x‖ⱼ² of the first coordinates.

    Parameters
    ----------
    norm : {1, 2, numpy.inf}
        Which norm: j = 1 (sum of absolute values), 2 (Euclidean) or infinity (largest
        absolute value).
    informative : int
        Number of leading coordinates that enter the norm; the others are ignored.
    """

    norm: float
    informative: int

    def __post_init__(self) -> None:
        if not (isinstance(self.norm, Real) and self.norm in (1, 2, np.inf)):
            raise ValueError(f"norm must be 1, 2 or numpy.inf, got {self.norm!r}.")
        check_count(self.informative, "informative")

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Evaluate the utility.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            With at least `informative` columns.

        Returns
        -------
        ndarray of shape (n_items,)
        """
        size = np.abs(check_items(X, self.informative, exactly=False))
        if self.norm == 1:
            return size.sum(axis=1) ** 2
        if self.norm == 2:
            return (size**2).sum(axis=1)
        return size.max(axis=1) ** 2


@dataclass(frozen=True, eq=False)
class NormPairs:
    """What `make_norms` returns.

    Attributes
    ----------
    pairs : Pairs of length n_pairs
        Over ``2 * n_pairs`` items: pair i compares rows i and n_pairs + i.
    y : ndarray of int8, shape (n_pairs,)
        -1 left better, 0 tie, +1 right better, as observed with noise.
    utility : SquaredNorm
        The true utility, without noise.
    threshold : float
        A difference of more than this, noise included, is not a tie. Always 1.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    utility: SquaredNorm
    threshold: float = THRESHOLD


def make_norms(
    n_pairs: int,
    *,
    norm: float = 2,
    tie_share: float = 0.5,
    noise: float = 0.25,
    offset: float = 0.5,
    n_features: int = 2,
    informative: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> NormPairs:
    """Simulate comparisons of points by a squared norm, with noisy labels.

    The simulation of Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector
    comparison machines". Items x are uniform on [-2, 2]ᵖ, their opponents are
    x′ = x + δ with independent normal offsets δ in each coordinate, in the paper of
    standard deviation 1/2, and the outcome is ::

        y = t₁(r(x′) - r(x) + ε),    r(x) = ‖x‖ⱼ²,    ε ~ N(0, noise²),

    where t₁(d) is 0 if d lies between -1 and 1, and the sign of d otherwise. Pairs
    are drawn until there are exactly ``round(tie_share * n_pairs)`` ties and the rest
    non-ties; their rows are then shuffled.

    Parameters
    ----------
    n_pairs : int
        Number of comparisons, at least 1.
    norm : {1, 2, numpy.inf}, default=2
        The norm j of the true utility.
    tie_share : float in [0, 1], default=0.5
        Share of ties. ``round`` is Python's: halves go to the even number.
    noise : float, default=0.25
        Standard deviation (not variance) of the label noise, at least 0.
    offset : float, default=0.5
        Standard deviation of the offsets of opponents, more than 0.
    n_features : int, default=2
        Number p of coordinates.
    informative : int, optional
        Number of leading coordinates that enter the norm; the others are
        drawn in the same way and carry no information. All of them by default.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. A Generator is used, and advanced, as it is.

    Returns
    -------
    NormPairs
        ``pairs``, ``y``, ``utility`` and ``threshold``.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or if the asked class is so rare under the
        parameters that it cannot be collected.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.datasets import make_norms
    >>> data = make_norms(100, norm=1, random_state=0)
    >>> data.pairs
    Pairs(100 comparisons of 200 items, 2 features)
    >>> int(np.sum(data.y == 0))
    50
    """
    n_pairs = check_count(n_pairs, "n_pairs")
    n_features = check_count(n_features, "n_features")
    n_ties = tie_count(tie_share, n_pairs)
    if not (isinstance(noise, Real) and 0 <= noise < math.inf):
        raise ValueError(
            "noise is the standard deviation of the label noise and must be a finite "
            f"number of at least 0, got {noise!r}."
        )
    if not (isinstance(offset, Real) and 0 < offset < math.inf):
        raise ValueError(
            "offset is the standard deviation of the offsets of opponents and must be "
            f"a finite number of more than 0, got {offset!r}."
        )
    utility = SquaredNorm(norm, n_features if informative is None else informative)
    if utility.informative > n_features:
        raise ValueError(
            f"informative must be at most n_features={n_features}, got {informative}."
        )
    rng = np.random.default_rng(random_state)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        left = rng.uniform(-2.0, 2.0, (n, n_features))
        right = left + rng.normal(0.0, offset, (n, n_features))
        difference = utility(right) - utility(left) + rng.normal(0.0, noise, n)
        return left, right, threshold_outcome(difference)

    advice = "Try fewer informative features, less noise, another offset or tie_share."
    pairs, y = collect_pairs(draw, (n_ties, n_pairs - n_ties), n_features, rng, advice)
    return NormPairs(pairs, y, utility)
