# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons, by a squared norm or by a linear utility with a margin.

Pairs are drawn in batches and kept until there are exactly as many ties and non-ties as
asked for, so each class is an independent sample of its conditional distribution.

Boundary convention: a difference of exactly the threshold is a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import Pairs

# A difference of utilities beyond this is not a tie.
_THRESHOLD = 1.0
# Label of a drawn pair that belongs to neither class and is thrown away.
_NEITHER = 2
# Drawing stops after this many pairs (plus so many per wanted pair): a class rarer
# than about 1 in 2000 is taken for a mistake in the parameters.
_PATIENCE, _PATIENCE_PER_PAIR = 1_000_000, 2_000
# Numbers held by one batch of drawn pairs, about 16 MB.
_BATCH_VALUES = 2**21

_Draw = Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class SquaredNorm:
    """The utility r(x) = ‖x‖ⱼ² of the first coordinates.

    Parameters
    ----------
    norm : {1, 2, numpy.inf}
        The norm j: sum of absolute values, Euclidean, or largest absolute value.
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
        """Utilities (n_items,) of items X with at least `informative` columns."""
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
    threshold: float = _THRESHOLD


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
        Share of ties; ``round`` takes halves to the even number.
    noise, offset : float, default=0.25, 0.5
        Standard deviations of the label noise, at least 0, and of the offsets, above 0.
    n_features : int, default=2
        Number p of coordinates.
    informative : int, optional
        Number of leading coordinates that enter the norm; all by default.
    random_state : int, numpy.random.Generator or None, default=None
        Seed. A Generator is used, and advanced, as it is.

    Returns
    -------
    NormPairs

    Raises
    ------
    ValueError
        If a parameter is out of its range, or ties or other pairs are too rare.

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
    n_ties = _tie_count(tie_share, n_pairs)
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
        return left, right, _threshold_outcome(difference)

    advice = "Try fewer informative features, less noise, another offset or tie_share."
    pairs, y = _collect_pairs(draw, (n_ties, n_pairs - n_ties), n_features, rng, advice)
    return NormPairs(pairs, y, utility)


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
        """Utilities (n_items,) of items X (n_items, n_features)."""
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
    w, utility : ndarray of shape (n_features,), LinearUtility
        The true weights and the true utility r(x) = w'x.
    margin : float
        No difference w'(x' - x) is closer than this to -1 or to 1.
    threshold : float
        A difference of more than this is not a tie. Always 1.
    """

    pairs: Pairs
    y: np.ndarray = field(repr=False)
    w: np.ndarray
    utility: LinearUtility = field(repr=False)
    margin: float
    threshold: float = _THRESHOLD


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

    The max-margin linear program does not see the feature scales s; the quadratic
    program does. With unequal `scale` the two choose different weights more often.

    Parameters
    ----------
    n_pairs, n_features : int, default=40, 2
        Numbers of comparisons, at least 1, and of features, p.
    margin : float in (0, 1), default=0.2
        Distance kept from the decision boundaries at -1 and 1.
    scale : array-like of shape (n_features,), optional
        Positive factors s of the features; all 1 by default.
    tie_share : float in [0, 1], default=0.5
        Share of ties; ``round`` takes halves to the even number.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; with another `scale` it gives the same pairs with rescaled features.

    Returns
    -------
    SeparablePairs

    Raises
    ------
    ValueError
        If a parameter is out of its range, or ties or other pairs are too rare.

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
    n_ties = _tie_count(tie_share, n_pairs)
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
        label = _threshold_outcome(difference)
        label[np.abs(np.abs(difference) - _THRESHOLD) < margin] = _NEITHER
        return left * factors, right * factors, label

    advice = "Try a smaller margin or another tie_share."
    pairs, y = _collect_pairs(draw, (n_ties, n_pairs - n_ties), n_features, rng, advice)
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


def _threshold_outcome(difference: np.ndarray) -> np.ndarray:
    """Outcomes (n,) of int8 from differences r(right) - r(left)."""
    different = np.abs(difference) > _THRESHOLD
    return np.where(different, np.sign(difference), 0.0).astype(np.int8)


def _collect_pairs(
    draw: _Draw,
    counts: tuple[int, int],
    n_features: int,
    rng: np.random.Generator,
    advice: str,
) -> tuple[Pairs, np.ndarray]:
    """Draw until there are `counts` ties and others; pairs of i and n + i, and y."""
    n_ties, n_others = counts
    n_pairs = n_ties + n_others
    allowance = _PATIENCE + _PATIENCE_PER_PAIR * n_pairs
    largest = max(1, _BATCH_VALUES // (2 * n_features))
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    missing = [n_ties, n_others]
    drawn, size = 0, min(largest, 4 * n_pairs + 64)
    while sum(missing) > 0:
        if drawn >= allowance:
            raise ValueError(
                f"Found only {n_ties - missing[0]} of {n_ties} ties and "
                f"{n_others - missing[1]} of {n_others} other pairs in {drawn:,} "
                f"draws: the missing class is too rare under these parameters. {advice}"
            )
        left, right, label = draw(size)
        for k, member in enumerate((label == 0, np.abs(label) == 1)):
            rows = np.flatnonzero(member)[: missing[k]]
            kept.append((left[rows], right[rows], label[rows]))
            missing[k] -= len(rows)
        drawn += size
        size = min(largest, 2 * size)
    left, right, y = (np.concatenate(part) for part in zip(*kept, strict=True))
    shuffled = rng.permutation(n_pairs)
    items = np.concatenate([left[shuffled], right[shuffled]])
    first = np.arange(n_pairs)
    return Pairs(items, first, n_pairs + first), y[shuffled]


def check_count(value: object, name: str) -> int:
    """Give `value` as an int, if it is one and at least 1; `name` is for messages."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    count = int(value)
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}.")
    return count


def _tie_count(tie_share: object, n_pairs: int) -> int:
    """Number of ties, ``round(tie_share * n_pairs)``, halves to even."""
    if not (isinstance(tie_share, Real) and 0 <= float(tie_share) <= 1):
        raise ValueError(
            f"tie_share must be a number from 0 to 1, got {tie_share!r}. It is the "
            "share of the pairs that are ties, not their number."
        )
    return round(float(tie_share) * n_pairs)


def check_items(X: ArrayLike, n_features: int, *, exactly: bool) -> np.ndarray:
    """The first `n_features` columns of X; `exactly` allows no others."""
    table = np.asarray(X, dtype=float)
    few = table.ndim != 2 or table.shape[1] < n_features
    if few or (exactly and table.shape[1] != n_features):
        raise ValueError(
            "X must be a table of items of shape (n_items, n_features) with "
            f"{'exactly' if exactly else 'at least'} {n_features} feature(s), got "
            f"shape {table.shape}."
        )
    return table[:, :n_features]
