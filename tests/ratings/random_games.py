# SPDX-License-Identifier: BSD-3-Clause
"""Random games for the tests of ratings over time."""

from dataclasses import dataclass

import hypothesis.strategies as st
import numpy as np

from tiebreak import Pairs


@dataclass(frozen=True)
class RandomGames:
    """Games of names; all arrays are row-aligned."""

    left: np.ndarray
    right: np.ndarray
    y: np.ndarray
    period: np.ndarray
    advantage: np.ndarray
    weight: np.ndarray

    @property
    def pairs(self):
        return Pairs(None, self.left, self.right)

    def take(self, rows):
        return RandomGames(*(column[rows] for column in vars(self).values()))


def random_games(rng, n, n_items=12, n_periods=None):
    """Draw games whose outcomes depend on strengths, with ties and weights 0."""
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    strength = rng.normal(0, 1, n_items)
    noisy = strength[right] - strength[left] + rng.logistic(size=n)
    names = np.array([f"item {i}" for i in range(n_items)])
    return RandomGames(
        names[left],
        names[right],
        np.where(np.abs(noisy) < 0.6, 0, np.sign(noisy)).astype(int),
        np.sort(rng.integers(0, n_periods or max(n // 5, 1), n)),
        rng.choice([0.0, 35.0, -10.5], n),
        rng.choice([0.0, 0.5, 1.0, 2.0], n, p=[0.2, 0.2, 0.4, 0.2]),
    )


@st.composite
def few_games(draw, max_rows=12):
    """Draw a few games of a few items, so that every oddity comes up."""
    n = draw(st.integers(1, max_rows))
    n_items = draw(st.integers(2, 4))
    names = np.array(["Ada", "Bo", "Cy", "Di"])
    left = np.array(draw(st.lists(st.integers(0, n_items - 1), min_size=n, max_size=n)))
    skip = draw(st.lists(st.integers(1, n_items - 1), min_size=n, max_size=n))
    right = (left + np.array(skip)) % n_items
    y = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n))
    steps = draw(st.lists(st.sampled_from([0, 0, 1, 2.5, 40]), min_size=n, max_size=n))
    points = draw(st.lists(st.sampled_from([0.0, 100.0, -3.0]), min_size=n, max_size=n))
    weight = draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)
    )
    weight[draw(st.integers(0, n - 1))] = 1.0
    return RandomGames(
        names[left],
        names[right],
        np.array(y, dtype=np.int8),  # declared, also where they are 0 and 1 only
        np.cumsum(steps),
        np.array(points),
        np.array(weight),
    )
