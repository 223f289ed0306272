# SPDX-License-Identifier: BSD-3-Clause
"""SVMcompare as the paper had it: its program, solved by libsvm as it comes.

libsvm stops once no two variables violate their conditions by more than 10⁻³. Where
the exact optimum is the utility zero, what it returns is not zero, and has a direction.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from tiebreak import Pairs

__all__ = ["EarlyCompare"]

Floats = NDArray[np.float64]


class EarlyCompare(BaseEstimator):
    """SVMcompare by libsvm, with its own tolerance.

    A win is one row, its difference from the loser to the winner, with label 1; a tie
    is two rows, its difference both ways, with label -1.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated row.
    kernel : str, default="rbf"
        Kernel between items.
    gamma : float, default=1.0
        Parameter of the Gaussian kernel.
    """

    def __init__(self, C: float = 1.0, kernel: str = "rbf", gamma: float = 1.0) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma

    def fit(self, X: Pairs, y: Any) -> Self:
        """Fit to comparisons and outcomes."""
        tied = np.flatnonzero(y == 0)
        rows = np.concatenate([np.flatnonzero(y), tied, tied])
        sign = np.concatenate([y[y != 0], np.ones(len(tied)), -np.ones(len(tied))])
        A = _difference(self._kernel(X.values, X.values), X)[rows] * sign[:, None]
        K = _difference(A.T, X)[rows] * sign[:, None]
        model = SVC(C=self.C, kernel="precomputed").fit(K, np.where(y[rows], 1, -1))
        # Of the differences of rows, those of items.
        weight = model.dual_coef_[0] * sign[model.support_]
        rows = rows[model.support_]
        self.items_ = X.values
        self.item_coef_ = np.bincount(X.right[rows], weight, len(X.values))
        self.item_coef_ -= np.bincount(X.left[rows], weight, len(X.values))
        return self

    def difference(self, X: Pairs) -> Floats:
        """Give the utility of the right item less that of the left one."""
        utility = self._kernel(X.values, self.items_) @ self.item_coef_
        return utility[X.right] - utility[X.left]

    def _kernel(self, A: Floats, B: Floats) -> Floats:
        own = {"gamma": self.gamma} if self.kernel == "rbf" else {}
        return pairwise_kernels(A, B, metric=self.kernel, **own)


def _difference(rows: Floats, pairs: Pairs) -> Floats:
    return rows[pairs.right] - rows[pairs.left]
