# SPDX-License-Identifier: BSD-3-Clause
"""The trivial baseline."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, is_pairs, read_comparisons
from tiebreak.data.arrays import Floats
from tiebreak.data.items import feature_attributes
from tiebreak.data.outcome import OUTCOMES
from tiebreak.data.parameters import FLAG, check_parameters
from tiebreak.data.validation import check_features
from tiebreak.models.base import UtilityMixin, some_pairs


@dataclass(eq=False, repr=False)
class MajorityCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    """Always predict the more common of left and right.

    A baseline. Ties count for neither side, and equally common sides give left, as in
    the paper of Venuto et al. ``difference`` is constant and all utilities are zero.

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
        As in scikit-learn.

    Examples
    --------
    >>> from tiebreak import MajorityCompare, Pairs
    >>> pairs = Pairs(None, ["a", "b", "a", "c"], ["b", "c", "c", "d"])
    >>> MajorityCompare().fit(pairs, [1, 1, 0, -1]).predict(pairs)
    array([1, 1, 1, 1], dtype=int8)
    """

    __module__ = "tiebreak"  # where users find it

    _: KW_ONLY
    tie: bool = False

    _parameters: ClassVar = {"tie": FLAG}
    _fitted_arrays: ClassVar = {"shares_": "3"}

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
        data = read_comparisons(X, y, sample_weight, decode=True)
        left, tie, right = counts = np.array(
            [data.weight[data.y == c].sum() for c in OUTCOMES]
        )
        outcome = 1 if right > left else -1
        if self.tie and tie >= max(left, right):
            outcome = 0
        table = data.pairs._items  # which may be anything
        return self._keep(
            {
                **({} if table is None else feature_attributes(table)),
                "classes_": data.classes,
                "shares_": counts / counts.sum(),
                "outcome_": outcome,
            }
        )

    def difference(self, X: Any) -> Floats:
        """Constant -1, 0 or +1.

        Parameters
        ----------
        X
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = some_pairs(X)
        if pairs._items is not None and hasattr(self, "n_features_in_"):
            check_features(self, pairs._items)
        return np.full(len(pairs), float(self.outcome_))

    def utility(self, X: Any) -> Floats:
        """Zero for every item.

        Parameters
        ----------
        X
            As in ``RankSVM.utility``.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_") and not is_pairs(X):
            return np.zeros(len(np.asarray(X)))
        return super().utility(X)

    def _utility(self, table: ItemTable) -> Floats:
        return np.zeros(table.n_items)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "outcome_")
