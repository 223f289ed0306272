# SPDX-License-Identifier: BSD-3-Clause
"""Collect exactly so many ties and non-ties, and check what the makers are given.

Pairs are drawn in batches and kept until both classes are full, so each class is an
independent sample of its conditional distribution.

Boundary convention: a difference of exactly the threshold is a tie.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from tiebreak.data import Pairs

# A difference of utilities beyond this is not a tie.
THRESHOLD = 1.0
# Label of a drawn pair that belongs to neither class and is thrown away.
NEITHER = 2
# Drawing stops after this many pairs (plus so many per wanted pair): a class rarer
# than about 1 in 2000 is taken for a mistake in the parameters.
_PATIENCE, _PATIENCE_PER_PAIR = 1_000_000, 2_000
# Numbers held by one batch of drawn pairs, about 16 MB.
_BATCH_VALUES = 2**21

Draw = Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]


def threshold_outcome(difference: np.ndarray) -> np.ndarray:
    """Turn utility differences into outcomes.

    Parameters
    ----------
    difference : ndarray of shape (n,)
        r(right) - r(left).

    Returns
    -------
    ndarray of int8 of shape (n,)
        0 where the absolute difference is at most the threshold, else its sign.
    """
    different = np.abs(difference) > THRESHOLD
    return np.where(different, np.sign(difference), 0.0).astype(np.int8)


def collect_pairs(
    draw: Draw,
    counts: tuple[int, int],
    n_features: int,
    rng: np.random.Generator,
    advice: str,
) -> tuple[Pairs, np.ndarray]:
    """Draw batches until both classes are full; keep the first of each, shuffle.

    Parameters
    ----------
    draw : callable
        ``draw(n)`` gives n candidates: left items (n, p), right items (n, p) and int8
        labels (n,), each an outcome or `NEITHER`.
    counts : tuple of int
        How many ties and how many other pairs to collect.
    n_features : int
        Number p of features, which bounds the size of a batch.
    rng : numpy.random.Generator
        Shuffles the rows in the end.
    advice : str
        What to try when a class is too rare to be collected.

    Returns
    -------
    pairs : Pairs
        Pair i compares items i and n + i.
    y : ndarray of int8 of shape (n,)
        Their outcomes.
    """
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
    """Check a number of things.

    Parameters
    ----------
    value : int
        The number, at least 1.
    name : str
        What it is called in messages.

    Returns
    -------
    int
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    count = int(value)
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}.")
    return count


def tie_count(tie_share: object, n_pairs: int) -> int:
    """Turn a share of ties into their number.

    Parameters
    ----------
    tie_share : float
        From 0 to 1.
    n_pairs : int
        Number of pairs.

    Returns
    -------
    int
        ``round(tie_share * n_pairs)``, halves to even.
    """
    if not (isinstance(tie_share, Real) and 0 <= float(tie_share) <= 1):
        raise ValueError(
            f"tie_share must be a number from 0 to 1, got {tie_share!r}. It is the "
            "share of the pairs that are ties, not their number."
        )
    return round(float(tie_share) * n_pairs)


def check_items(X: ArrayLike, n_features: int, *, exactly: bool) -> np.ndarray:
    """Check a table of items that a true utility is asked for.

    Parameters
    ----------
    X : array-like of shape (n_items, p)
        The table.
    n_features : int
        How many features the utility uses.
    exactly : bool
        Whether p must equal `n_features`; otherwise there may be more.

    Returns
    -------
    ndarray of float of shape (n_items, n_features)
        The features that the utility uses.
    """
    table = np.asarray(X, dtype=float)
    few = table.ndim != 2 or table.shape[1] < n_features
    if few or (exactly and table.shape[1] != n_features):
        raise ValueError(
            "X must be a table of items of shape (n_items, n_features) with "
            f"{'exactly' if exactly else 'at least'} {n_features} feature(s), got "
            f"shape {table.shape}."
        )
    return table[:, :n_features]
