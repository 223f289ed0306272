# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of jokes for all widths at once, and how many utilities are judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from papers.ranking_pursuit.jester import Person

__all__ = [
    "ALPHAS",
    "NUS",
    "WIDTHS",
    "halves",
    "kernel",
    "kernels",
    "path_errors",
    "stay",
]

Floats = NDArray[np.float64]

# Of 2^-15 … 2^15 those that differ. Narrower kernels of these features have only zeros
# and ones; wider ones are a constant less a multiple of the squared distance, to four
# digits, and a still larger width is but a larger penalty.
WIDTHS = 2.0 ** np.arange(-5, 11)
ALPHAS: Floats = 10.0 ** np.arange(-4.0, 4.0)
NUS = (0.01, 0.1, 1.0, 10.0)


def kernel(X: Floats, Z: Floats, width: float) -> Floats:
    """Give the Gaussian kernel exp(-‖x - z‖² / 2σ²) of one width σ."""
    return np.exp(-euclidean_distances(X, Z, squared=True) / (2.0 * width**2))


def kernels(X: Floats, Z: Floats, linear: bool = False) -> Floats:
    """Give the kernels of all widths; the linear one has none and is repeated."""
    if linear:
        return np.repeat((X @ Z.T)[None], len(WIDTHS), axis=0)
    squared = euclidean_distances(X, Z, squared=True)
    return np.exp(-squared / (2.0 * WIDTHS[:, None, None] ** 2))


def halves(n_features: int) -> tuple[slice, slice]:
    """Give the columns of two views, half of the features each."""
    half = n_features // 2
    return slice(0, half), slice(half, n_features)


def path_errors(person: Person, utility: Floats) -> Floats:
    """Disagreement of many utilities at once: the last axis are the test jokes."""
    i, j = np.triu_indices(len(person.y_test), 1)
    order = np.sign(person.y_test[i] - person.y_test[j])
    i, j, order = i[order != 0], j[order != 0], order[order != 0]
    agrees = np.sign(utility[..., i] - utility[..., j]) @ order
    return 0.5 - 0.5 * agrees / len(order)


def stay(utility: Floats, n_steps: int) -> Floats:
    """Let a pursuit that has all items stay where it is, up to a number of steps."""
    left = n_steps - utility.shape[1]
    return np.concatenate([utility, utility[:, -1:].repeat(left, 1)], axis=1)
