# SPDX-License-Identifier: BSD-3-Clause
"""The baseline `rank` with its threshold as the authors' script finds it.

Candidates are 100 values from the smallest to the largest difference of the training
pairs, evenly spaced in their logarithms, and the differences themselves. The fewest
errors decide, and of equal ones the middle; if they reach the smallest candidate the
largest of them, if they reach the largest candidate the smallest. The script compares
items that it has already standardized by a function that standardizes them once more,
with the same means and deviations (``twice``), and predicts with the first scale.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from tiebreak import Pairs, RankSVM

__all__ = ["GridRank", "grid_threshold"]


def grid_threshold(difference: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Find the threshold as the authors' script does."""
    size = np.abs(difference)
    low, high = max(float(size.min()), 1e-6), float(size.max())
    if high == 0.0:
        return 1.0
    tried = np.unique(np.concatenate([np.geomspace(low, high, 100), size]))
    predicted = np.where(size > tried[:, None], np.sign(difference), 0)
    wrong = np.count_nonzero(predicted != y, axis=1)
    best = np.flatnonzero(wrong == wrong.min())
    ends = best[0] == 0, best[-1] == len(tried) - 1
    if ends == (True, False):
        return float(tried[best[-1]])
    if ends == (False, True):
        return float(tried[best[0]])
    return float(tried[best[len(best) // 2]])


class GridRank(BaseEstimator):
    """RankSVM on standardized items, with the threshold of the authors' script.

    Parameters
    ----------
    C, gamma : float, default=1.0
        Those of `RankSVM`.
    ties : {"ignore", "both"}, default="ignore"
        That of `RankSVM`: the paper's `rank` and `rank2`.
    twice : bool, default=False
        Whether the threshold is found on items standardized twice.
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        ties: Literal["ignore", "both"] = "ignore",
        twice: bool = False,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.ties = ties
        self.twice = twice

    def fit(self, X: Pairs, y: Any) -> Self:
        """Fit the ranker, then the threshold."""
        self.scale_ = StandardScaler().fit(X.values)
        once = X.with_items(self.scale_.transform(X.values))
        self.ranker_ = RankSVM(self.C, gamma=self.gamma, ties=self.ties).fit(once, y)
        again = self.scale_.transform(once.values) if self.twice else once.values
        own = self.ranker_.difference(once.with_items(again))
        self.threshold_ = grid_threshold(own, y)
        return self

    def predict(self, X: Pairs) -> NDArray[Any]:
        """Predict outcomes."""
        d = self.ranker_.difference(X.with_items(self.scale_.transform(X.values)))
        return np.where(np.abs(d) > self.threshold_, np.sign(d), 0).astype(np.int8)

    def score(self, X: Pairs, y: Any) -> float:
        """Share of outcomes that are predicted."""
        return float(np.mean(self.predict(X) == y))
