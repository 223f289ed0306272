# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of a model of strengths, with what favors left in each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import as_pairs, is_pairs
from tiebreak.losses import OutcomeLink
from tiebreak.models.base import UtilityMixin, accuracy, to_outcomes
from tiebreak.ratings.inputs import favor_of_left

__all__ = ["StrengthPredictions"]


class StrengthPredictions(UtilityMixin):
    """What a model of strengths foretells; mixed into a model.

    The model has ``tie_``, ``threshold_``, possibly ``advantage_`` and
    ``context_coef_``, and its model of ties as ``_link`` and ``_tie``.
    """

    tie_: float

    @property
    def _link(self) -> OutcomeLink:
        raise NotImplementedError

    @property
    def _tie(self) -> float:
        raise NotImplementedError

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[np.float64]:
        """Difference of strengths, right minus left, minus what favors left.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        advantage : float or array-like of shape (n,), optional
            As in `fit`. None: neutral ground, 0.
        context : array-like of shape (n, q), optional
            As in `fit`. None: 0.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        d = super().decision_function(X)
        if advantage is None and context is None:
            return d
        gamma = getattr(self, "advantage_", None)
        beta = getattr(self, "context_coef_", None)
        return d - favor_of_left(advantage, gamma, context, beta, len(d))

    def predict_proba(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[np.float64]:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        advantage : float or array-like of shape (n,), optional
            As in `fit`. None: neutral ground, 0.
        context : array-like of shape (n, q), optional
            As in `fit`. None: 0.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right; rows sum to 1.
        """
        d = self.decision_function(X, advantage=advantage, context=context)
        if np.isposinf(self.tie_):
            return np.tile([0.0, 1.0, 0.0], (len(d), 1))
        return self._link.probabilities(d, self._tie)

    def predict(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[Any]:
        """Most probable outcomes of comparisons, or strengths of items.

        Parameters
        ----------
        X : Pairs, or array-like of names
            Comparisons, or items.
        advantage : float or array-like of shape (n,), optional
            As in `fit`, for comparisons.
        context : array-like of shape (n, q), optional
            As in `fit`, for comparisons.

        Returns
        -------
        ndarray of shape (n,)
        """
        if advantage is None and context is None:
            return super().predict(X)
        d = self.decision_function(as_pairs(X), advantage=advantage, context=context)
        return to_outcomes(d, self.threshold_)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on comparisons; 1 - swapped-pair fraction on graded items.

        Parameters
        ----------
        X : Pairs, Orders or names of items
            Test data.
        y : array-like of shape (n,), optional
            Outcomes of comparisons or grades of items.
        advantage : float or array-like of shape (n,), optional
            As in `fit`, for comparisons.
        context : array-like of shape (n, q), optional
            As in `fit`, for comparisons.
        qid : array-like of shape (n,), optional
            Groups of graded items.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            Between 0 and 1, higher is better.
        """
        check_is_fitted(self)
        plain = advantage is None and context is None
        if plain or y is None or not is_pairs(X):
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        return accuracy(
            y, self.predict(X, advantage=advantage, context=context), sample_weight
        )
