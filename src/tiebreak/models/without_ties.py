# SPDX-License-Identifier: BSD-3-Clause
"""A comparer of two outcomes, as scikit-learn knows binary classifiers.

Boundary convention: equal utilities count for left, because scikit-learn predicts the
higher class where the decision is above 0.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tiebreak.data.arrays import Floats
from tiebreak.data.columns import as_column
from tiebreak.metrics.scorers import difference_of
from tiebreak.models.base import end_of_pipeline


def _gives_probabilities(wrapper: WithoutTies) -> bool:
    return hasattr(getattr(wrapper, "model_", wrapper.model), "predict_proba")


class WithoutTies(ClassifierMixin, BaseEstimator):
    """Make a binary classifier of a model, for comparisons without ties.

    The lower value of y means that left is better. Tools of scikit-learn for two
    classes, which renumber -1 and 1 to 0 and 1, then work: ``scoring="roc_auc"``,
    calibration, ``VotingClassifier``, ``StackingClassifier`` and ``cross_val_predict``.
    With ties these tools take the model itself.

    Parameters
    ----------
    model : estimator
        A comparer or ranker, or a Pipeline that ends with one.

    Attributes
    ----------
    model_ : estimator
        The fitted model, whose outcomes are -1 and 1.
    classes_ : ndarray of shape (2,)
        The values of y: left, right.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from tiebreak import LogisticCompare, Pairs, WithoutTies
    >>> rng = np.random.default_rng(0)
    >>> pairs = Pairs(rng.normal(size=(30, 2)), range(30), rng.permutation(30))
    >>> y = np.where(pairs.values[pairs.right, 0] > pairs.values[pairs.left, 0], 1, -1)
    >>> model = WithoutTies(LogisticCompare(kernel="linear"))
    >>> bool(cross_val_score(model, pairs, y, scoring="roc_auc").mean() > 0.9)
    True
    """

    __module__ = "tiebreak"  # where users find it

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X, y, sample_weight
            As in ``SVMCompare.fit``; y has two values.

        Returns
        -------
        Self
        """
        classes, side = _two_sides(y)
        name = f"{end_of_pipeline(self.model)[1]}sample_weight"
        weights = {} if sample_weight is None else {name: sample_weight}
        with warnings.catch_warnings():
            # What SVMCompare says of data without ties is what is meant here.
            warnings.filterwarnings("ignore", message="There are no ties among")
            self.model_ = clone(self.model).fit(X, side, **weights)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Floats:
        """Difference of utilities, r(right) - r(left).

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return np.asarray(difference_of(self.model_, X), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Who is better, by the sign of the difference.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n,)
            Values of ``classes_``.
        """
        return self.classes_[(self.decision_function(X) > 0).astype(np.int64)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of left and right, given that there is no tie.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        check_is_fitted(self)
        sides = np.asarray(self.model_.predict_proba(X))[:, [0, 2]]
        return sides / sides.sum(axis=1, keepdims=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags


def _two_sides(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return the two values of y, and the outcomes -1 and 1."""
    column = as_column(y, "y")
    numbers = column.dtype.kind in "iuf"
    classes, code = np.unique(column, return_inverse=True)
    if not numbers or classes.tolist() not in ([-1, 1], [0, 1]):
        raise ValueError(
            "WithoutTies takes comparisons without ties: y must hold both -1 (left is "
            f"better) and 1 (right); got {', '.join(map(repr, classes[:5].tolist()))}."
        )
    return classes, (2 * code - 1).astype(np.int8)
