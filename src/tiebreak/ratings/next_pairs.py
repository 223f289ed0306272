# SPDX-License-Identifier: BSD-3-Clause
r"""Which comparisons would teach most.

One more comparison of items i and j adds h to the Hessian in the direction of their
difference d, where h = E[(∂ ln P/∂d)²] is the Fisher information of one comparison
(largest between equals, smaller the likelier a tie). With v the present variance of d,
the expected gain of information is ½ ln(1 + h v), in nats. Several comparisons are
chosen one after the other, each as if those before it had been made, and no two items
are named twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NextPairs", "choose_next_pairs"]

Matrix = NDArray[np.float64]


class NextPairs(NamedTuple):
    """Pairs to compare next, most informative first."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    gain: Matrix  # nats


def choose_next_pairs(
    strength: Matrix,
    covariance: Matrix,
    information: Callable[[Matrix], Matrix],
    n_pairs: int,
) -> NextPairs:
    """Choose comparisons greedily by expected information.

    Parameters
    ----------
    strength : ndarray of shape (N,)
        Present strengths.
    covariance : ndarray of shape (N, N)
        Their covariance under the model.
    information : callable
        Gives the Fisher information of one comparison with difference d.
    n_pairs : int
        How many to choose; at most all N (N - 1) / 2.

    Returns
    -------
    NextPairs
    """
    n = len(strength)
    upper = np.triu_indices(n, 1)
    h = np.zeros((n, n))
    h[upper] = information(strength[upper[1]] - strength[upper[0]])
    present = covariance.copy()
    chosen: list[tuple[int, int, float]] = []
    open_pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    for _ in range(min(n_pairs, len(upper[0]))):
        variance = np.diag(present)
        spread = variance[:, None] + variance[None, :] - 2.0 * present
        gain = 0.5 * np.log1p(h * np.maximum(spread, 0.0))
        best = int(np.argmax(np.where(open_pairs, gain, -1.0)))
        i, j = np.unravel_index(best, gain.shape)
        open_pairs[i, j] = False
        chosen.append((int(i), int(j), float(gain[i, j])))
        # The inverse of the Hessian after h (e_j - e_i)(e_j - e_i)ᵀ is added to it.
        column = present[:, j] - present[:, i]
        present -= np.outer(column, column) * (h[i, j] / (1.0 + h[i, j] * spread[i, j]))
    codes = np.array([pair[:2] for pair in chosen], dtype=np.int64).reshape(-1, 2)
    return NextPairs(codes[:, 0], codes[:, 1], np.array([pair[2] for pair in chosen]))
