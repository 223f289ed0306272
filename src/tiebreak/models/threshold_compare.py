# SPDX-License-Identifier: BSD-3-Clause
"""Any utility becomes a comparer by a threshold learned exactly."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from tiebreak.data import Pairs, as_pairs, check_comparisons, is_pairs
from tiebreak.models.base import OUTCOMES, ThresholdWarning, UtilityMixin
from tiebreak.solvers import best_threshold

__all__ = ["ThresholdCompare"]


class ThresholdCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    """Learn when a difference of utilities is a tie, for any ranker.

    The ranker is fitted on the comparisons; then the threshold

        τ = argmin_{τ ≥ 0}  Σ weight · [predicted outcome with τ ≠ y]

    over the same comparisons is found exactly, by sorting the sizes of the differences
    once: a tie is ``|r(right) - r(left)| <= τ``. Among optimal intervals the lowest is
    taken, and of it the midpoint.

    Parameters
    ----------
    ranker : estimator
        Fits comparisons and predicts utilities: :class:`RankSVM` (this is the method
        *rank* of Venuto et al., and *rank2* with ``ties="both"``), :class:`SVMCompare`
        (refits its threshold), or a Pipeline that ends with one.

    Attributes
    ----------
    ranker_ : estimator
        The fitted ranker.
    threshold_ : float
        τ.
    training_error_ : float
        Weighted share of training comparisons that τ gets wrong.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    n_features_in_ : int
        Number of features, when the ranker knows it.

    References
    ----------
    Venuto, Hocking, Sphanurattana and Sugiyama, "Support vector comparison machines",
    section 2.2, where the threshold is found on a grid.

    Examples
    --------
    >>> from tiebreak import RankSVM, ThresholdCompare
    >>> from tiebreak.datasets import make_norms
    >>> data = make_norms(300, norm=2, random_state=0)
    >>> model = ThresholdCompare(RankSVM(ties="both")).fit(data.pairs, data.y)
    >>> bool(model.score(data.pairs, data.y) > 0.8)
    True
    """

    __module__ = "tiebreak"  # where users find it

    def __init__(self, ranker: Any) -> None:
        self.ranker = ranker

    def fit(
        self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the ranker, then the threshold.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.
        y : array-like of shape (n,)
            Outcomes.
        sample_weight : array-like of shape (n,), optional
            Weights of the comparisons, for the ranker and for the threshold. With
            scikit-learn's metadata routing the ranker gets them if it requests them.

        Returns
        -------
        ThresholdCompare
            The fitted model.
        """
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        if not weight.all():
            # Absent for every step of the ranker, also for those that see no weights.
            present = weight > 0
            X = pairs = pairs[present]
            outcome, weight = outcome[present], weight[present]
        self._forget()
        fit_params = {} if sample_weight is None else self._weight_of_ranker(weight)
        with warnings.catch_warnings():
            # The warning that advises what is being done here.
            warnings.simplefilter("ignore", ThresholdWarning)
            self.ranker_ = clone(self.ranker).fit(X, outcome, **fit_params)
        self.classes_ = OUTCOMES.copy()
        self.threshold_, wrong = best_threshold(
            self.decision_function(pairs), outcome, weight
        )
        self.training_error_ = wrong / weight.sum()
        return self

    def _weight_of_ranker(self, weight: np.ndarray) -> dict[str, Any]:
        """Say under which name the ranker takes weights."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight)
            return dict(routed.ranker.fit)
        last = _last_step(self.ranker)
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(
                f"{type(last).__name__} takes no sample_weight; leave it out, or use a "
                "ranker that does."
            )
        return {_weight_name(self.ranker): weight}

    @property
    def n_features_in_(self) -> int:
        """Number of features that the ranker was fitted on."""
        check_is_fitted(self)
        return int(self.ranker_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features that the ranker was fitted on."""
        check_is_fitted(self)
        return self.ranker_.feature_names_in_

    def utility(self, X: Any) -> NDArray[np.float64]:
        """Utility of items, as the ranker gives it.

        Parameters
        ----------
        X : items

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if is_pairs(X):
            return super().utility(X)
        ask = getattr(self.ranker_, "utility", None) or self.ranker_.predict
        return np.asarray(ask(X), dtype=np.float64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Difference of utilities, r(right) - r(left).

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = as_pairs(X)
        if hasattr(self.ranker_, "decision_function"):
            return np.asarray(self.ranker_.decision_function(pairs), dtype=np.float64)
        utility = self.utility(_items_of(pairs))
        return utility[pairs.right] - utility[pairs.left]

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata goes to the ranker.

        Returns
        -------
        MetadataRouter
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                ranker=self.ranker,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranker_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.ranker).input_tags.sparse
        return tags


def _items_of(pairs: Pairs) -> Any:
    return pairs.names if pairs.items is None else pairs.values


def _last_step(ranker: Any) -> Any:
    return ranker.steps[-1][1] if hasattr(ranker, "steps") else ranker


def _weight_name(ranker: Any) -> str:
    if hasattr(ranker, "steps"):
        return f"{ranker.steps[-1][0]}__sample_weight"
    return "sample_weight"
