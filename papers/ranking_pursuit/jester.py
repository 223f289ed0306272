# SPDX-License-Identifier: BSD-3-Clause
"""Jokes and their raters: what a person is to be learned from, and judged by."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from papers.experiment import generator
from papers.workbooks import load_jester

__all__ = ["GROUPS", "Person", "draw_people"]

# Ratings that the reference users of a group have given.
GROUPS = {"20-40": (20, 40), "40-60": (40, 60), "60-80": (60, 80)}
N_REFERENCE = 300
LEAST_RATINGS = 50


class Person(NamedTuple):
    """Jokes that a person rated, half to learn from and half to be judged by.

    Attributes
    ----------
    X_train, y_train : ndarray
        Jokes to learn from, and their scores.
    X_test, y_test : ndarray
        Jokes to be judged by.
    X_hidden : ndarray
        Jokes to learn from whose scores are hidden.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    X_hidden: np.ndarray

    def hidden(self, hide: bool) -> Person:
        """Hide the scores of half of the jokes to learn from, or of none."""
        if not hide:
            return self
        n = (len(self.y_train) + 1) // 2
        return self._replace(
            X_train=self.X_train[:n],
            y_train=self.y_train[:n],
            X_hidden=self.X_train[n:],
        )


@cache
def _ratings() -> tuple[np.ndarray, np.ndarray]:
    ratings = load_jester()
    return ratings, np.isfinite(ratings).sum(axis=1)


def draw_people(group: str, run: int, n: int, purpose: str) -> list[Person]:
    """Draw people, with the ratings of reference users as features of the jokes.

    Where a reference user has not rated a joke, the median of the user's ratings
    stands. Features are divided by 10, so that they are from -1 to 1.
    """
    ratings, count = _ratings()
    rng = generator("002", group, run, purpose)
    low, high = GROUPS[group]
    reference = rng.choice(
        np.flatnonzero((count >= low) & (count <= high)), N_REFERENCE, replace=False
    )
    known = ratings[reference]
    median = np.nanmedian(known, axis=1, keepdims=True)
    features = np.where(np.isfinite(known), known, median).T / 10.0
    eligible = np.setdiff1d(np.flatnonzero(count >= LEAST_RATINGS), reference)
    people = []
    for user in rng.choice(eligible, n, replace=False):
        rated = rng.permutation(np.flatnonzero(np.isfinite(ratings[user])))
        train, test = np.array_split(rated, 2)
        y = ratings[user]
        nothing = features[:0]
        people.append(
            Person(features[train], y[train], features[test], y[test], nothing)
        )
    return people
