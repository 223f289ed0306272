# SPDX-License-Identifier: BSD-3-Clause
"""What a model can do that compares and orders items but has no utility."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, Orders, as_items, check_grades, is_pairs
from tiebreak.data.features import check_features
from tiebreak.metrics import swapped_pairs
from tiebreak.models.base import UtilityMixin, accuracy, to_outcomes

__all__ = ["RelativeOrder"]

# Preferences and claims that differ by less are equal: rounding does not decide.
EQUAL = 1e-12


class RelativeOrder(UtilityMixin):
    """Predictions, orders and scores of a model whose order is relative.

    A subclass implements ``decision_function(pairs)``, the preference for the right
    item minus that for the left one, and ``_order_together(table)``, the order of items
    as one set.
    """

    fitted_with_qid_: bool

    def _order_together(self, table: ItemTable) -> NDArray[np.int64]:
        raise NotImplementedError

    def utility(self, X: Any) -> NoReturn:
        """Refuse: there is no utility.

        Parameters
        ----------
        X : items
            Whatever they are.

        Raises
        ------
        TypeError
            Always, if the model is fitted.
        """
        check_is_fitted(self)
        raise TypeError(
            f"{type(self).__name__} has no utility: its order is relative, so which of "
            "two items comes first may depend on what else is ordered with them, and "
            "no number per item can say that. Use order(X) for an order, "
            "decision_function(pairs) or predict(pairs) for two items; or RankBoost, "
            "which has a utility."
        )

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Outcomes of comparisons by the preference; items have no utility.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n,)
            -1 (left), 0 (tie) or +1 (right).
        """
        check_is_fitted(self)
        if not is_pairs(X):
            self.utility(X)
        return to_outcomes(self.decision_function(X), EQUAL)

    def order(
        self, X: Any, qid: ArrayLike | None = None
    ) -> NDArray[np.int64] | list[NDArray[np.int64]]:
        """Row numbers of items best first, ordered as one set.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen.
        qid : array-like of shape (n,), optional
            Group of each item; each group is ordered by itself.

        Returns
        -------
        ndarray of int of shape (n,), or a list of such
            One array without ``qid``; with it one per group, groups in order of first
            appearance.
        """
        check_is_fitted(self)
        if is_pairs(X):
            raise TypeError(
                "order takes items, got comparisons; for these use "
                "decision_function(pairs) or predict(pairs)."
            )
        table = as_items(X, name="X")
        check_features(self, table)
        if qid is None:
            return self._order_together(table)
        group = check_grades(table, np.zeros(table.n_items), qid).group
        parts = np.split(
            np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1]
        )
        return [rows[self._order_together(table.take(rows))] for rows in parts]

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on comparisons; 1 - swapped-pair fraction of the orders.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features), Orders or items
            Test data.
        y : array-like of shape (n,), optional
            Outcomes of comparisons or grades of items; not for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; required when the model was fitted with groups.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            Between 0 and 1, higher is better.
        """
        check_is_fitted(self)
        of_items = not is_pairs(X) and not isinstance(X, Orders)
        if of_items and qid is None and self.fitted_with_qid_:
            raise ValueError(
                f"{type(self).__name__} was fitted with qid; score needs qid too, "
                "or items of different groups would be compared."
            )
        if isinstance(X, Orders):
            X, y, qid = X.grades()
        if y is None:
            raise ValueError(
                "score needs grades of items or outcomes of comparisons: this method "
                "requires y to be passed, but the target y is None."
            )
        if is_pairs(X):
            return accuracy(y, self.predict(X), sample_weight)
        table = as_items(X, name="X")
        orders = self.order(table, qid)
        place = np.empty(table.n_items)
        for order in orders if isinstance(orders, list) else [orders]:
            place[order] = np.arange(len(order))
        return 1.0 - swapped_pairs(y, -place, qid=qid, sample_weight=sample_weight)
