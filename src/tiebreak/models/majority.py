# SPDX-License-Identifier: BSD-3-Clause
"""The trivial baseline."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, check_comparisons, is_pairs
from tiebreak.data.parameters import FLAG, check_parameters
from tiebreak.data.validation import check_features, remember_features
from tiebreak.models.base import OUTCOMES, UtilityMixin, fits_outcomes, some_pairs


class MajorityCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    """Always predict the more common of left and right, whatever the items are.

    Every model should beat it. Ties are never predicted and count for neither side;
    when both sides are equally common it says left, as in the paper of Venuto et al.
    ``difference`` is the constant -1 or +1 and all utilities are zero.

    Parameters
    ----------
    tie : bool, default=False
        Whether a tie may be predicted too, when ties are the most common outcome.

    Attributes
    ----------
    outcome_ : int
        The constant prediction.
    shares_ : ndarray of shape (3,)
        Weighted shares of left, tie and right among the training comparisons.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    Examples
    --------
    >>> from tiebreak import MajorityCompare, Pairs
    >>> pairs = Pairs(None, ["a", "b", "a", "c"], ["b", "c", "c", "d"])
    >>> MajorityCompare().fit(pairs, [1, 1, 0, -1]).predict(pairs)
    array([1, 1, 1, 1], dtype=int8)
    """

    __module__ = "tiebreak"  # where users find it

    _parameters: ClassVar = {"tie": FLAG}

    def __init__(self, *, tie: bool = False) -> None:
        self.tie = tie

    @fits_outcomes
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count outcomes.

        Parameters
        ----------
        X, y, sample_weight
            As in ``SVMCompare.fit``.

        Returns
        -------
        Self
        """
        check_parameters(self)
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        self._forget()
        if pairs._items is not None:  # which may be anything
            remember_features(self, pairs._items)
        counts = np.array([weight[outcome == c].sum() for c in OUTCOMES])
        self.shares_ = counts / counts.sum()
        left, tie, right = counts
        self.outcome_ = 1 if right > left else -1
        if self.tie and tie >= max(left, right):
            self.outcome_ = 0
        return self

    def difference(self, X: Any) -> NDArray[np.float64]:
        """Constant -1, 0 or +1.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons, without their outcomes.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = some_pairs(X)
        if pairs._items is not None and hasattr(self, "n_features_in_"):
            check_features(self, pairs._items)
        return np.full(len(pairs), float(self.outcome_))

    def utility(self, X: Any) -> NDArray[np.float64]:
        """Zero for every item.

        Parameters
        ----------
        X : items
            As in the other models; names when items have no features.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_") and not is_pairs(X):
            return np.zeros(len(np.asarray(X)))
        return super().utility(X)

    def _utility(self, table: ItemTable) -> np.ndarray:
        return np.zeros(table.n_items)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "outcome_")
