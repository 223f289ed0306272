# SPDX-License-Identifier: BSD-3-Clause
"""What the smooth comparer says of items and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import ItemTable, Pairs
from tiebreak.data.columns import as_column, plain_values
from tiebreak.kernels import KernelFunction
from tiebreak.losses import OutcomeLink
from tiebreak.models.base import UtilityMixin
from tiebreak.models.kernel_utility import expand_kernel

__all__ = ["LogisticPredictions"]


class LogisticPredictions(UtilityMixin):
    """Utilities with deviations of named items, and probabilities."""

    kernel: str | Callable[..., np.ndarray]
    degree: int
    coef0: float
    gamma_: float
    coef_: NDArray[np.float64]
    dual_coef_: NDArray[np.float64]
    support_: NDArray[np.int64]
    support_items_: Any
    effect_names_: NDArray[Any]
    item_effect_: NDArray[np.float64]
    tie_: float

    @property
    def _link(self) -> OutcomeLink:
        raise NotImplementedError

    def utility(self, X: Any, names: Any = None) -> NDArray[np.float64]:
        """Utility r(x) of items; higher is better.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen. For a model fitted on items without features: an
            array of names.
        names : array-like of shape (n,), optional
            Names of the items, for a model with ``identity``: the deviations of those
            that are known are added.

        Returns
        -------
        ndarray of shape (n,)
        """
        utility = super().utility(X)
        if names is None:
            return utility
        if not hasattr(self, "item_effect_"):
            raise ValueError(
                f"{type(self).__name__} was fitted without identity, so it knows no "
                "deviations of named items; leave out names."
            )
        asked = as_column(names, "names")
        if len(asked) != len(utility):
            raise ValueError(
                f"There are {len(asked)} names but {len(utility)} rows of items; every "
                "item needs one name."
            )
        return utility + self._effects(asked)

    def _effects(self, names: NDArray[Any]) -> NDArray[np.float64]:
        """Deviations of items by name; 0 where the name is new."""
        known = plain_values(self.effect_names_)
        effect = dict(zip(known, self.item_effect_.tolist(), strict=True))
        return np.array([effect.get(name, 0.0) for name in plain_values(names)])

    def _utility_of_items(self, pairs: Pairs) -> NDArray[np.float64]:
        utility = super()._utility_of_items(pairs)
        if pairs.names is None or not hasattr(self, "item_effect_"):
            return utility
        return utility + self._effects(pairs.names)

    def _utility(self, table: ItemTable) -> np.ndarray:
        values = table.values
        if hasattr(self, "coef_"):
            return np.asarray(values @ self.coef_).ravel()
        if not hasattr(self, "support_items_"):
            return np.asarray(values[:, self.support_] @ self.dual_coef_).ravel()
        if callable(self.kernel):
            function = KernelFunction(self.kernel)
        else:
            function = KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0)
        return expand_kernel(function, values, self.support_items_, self.dual_coef_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right, as ``classes_``; rows sum to 1.
        """
        difference = self.decision_function(X)
        t = self._link.from_parameter(self.tie_)
        return self._link.probabilities(difference, t)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right; -inf where the probability is 0.
        """
        difference = self.decision_function(X)
        t = self._link.from_parameter(self.tie_)
        return self._link.log_probabilities(difference, t)
