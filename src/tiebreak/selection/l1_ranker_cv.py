# SPDX-License-Identifier: BSD-3-Clause
"""1-norm ranking with its penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from tiebreak.models.l1_ranker import L1Ranker
from tiebreak.models.l1_utility import L1Utility
from tiebreak.selection.l1_path import l1_path

__all__ = ["L1RankerCV"]


class L1RankerCV(L1Utility, BaseEstimator):
    """:class:`L1Ranker` with the alpha that scores best on held-out folds.

    Of alphas with the same mean score the largest is chosen, which has the fewest
    features. The model is then fitted on all data with that alpha.

    Parameters
    ----------
    alphas : array-like of float, optional
        Values to choose from. By default `n_alphas` of them, from the smallest alpha
        that drops every feature down.
    slack : {"pair", "item", "item-weighted"}, default="pair"
        As in :class:`L1Ranker`.
    reduction : {"threshold", "hull", None}, default="threshold"
        As in :class:`L1Ranker`.
    adjacent : bool, default=False
        As in :class:`L1Ranker`.
    n_alphas : int, default=50
        How many, without `alphas`.
    eps : float, default=1e-3
        Smallest of them, relative to the largest.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; a number never splits a group.
    scoring : str, callable or None, default=None
        As in :func:`l1_path`.
    tol : float, default=1e-6
        Bound on the relative duality gap.
    max_iter : int, default=1000
        Linear programs at most, for each alpha.
    time_limit : float, optional
        Seconds for each alpha.

    Attributes
    ----------
    alpha_ : float
        The alpha that was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        What was tried, descending.
    scores_ : ndarray of shape (n_alphas, n_folds)
        Their scores, greater is better.
    coef_path_ : ndarray of shape (n_alphas, n_features)
        Their weights on all data.
    alpha_max_ : float
        The smallest alpha that drops every feature.
    scoring_ : str
        Name of the score.
    coef_, selected_, objective_, dual_objective_, dual_gradient_, gap_, n_rows_
        Of the model with ``alpha_``, as in :class:`L1Ranker`.
    n_pairs_, n_iter_, converged_, n_features_in_, feature_names_in_
        As in :class:`L1Ranker`.

    See Also
    --------
    l1_path : The same path without a choice.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import L1RankerCV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = np.digitize(X[:, 0] - X[:, 1], [-1, 1])
    >>> model = L1RankerCV(n_alphas=10).fit(X, y)
    >>> 0 in model.selected_ and 1 in model.selected_, model.alpha_ < model.alpha_max_
    (True, True)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    def __init__(
        self,
        alphas: Iterable[float] | None = None,
        slack: str = "pair",
        reduction: str | None = "threshold",
        adjacent: bool = False,
        *,
        n_alphas: int = 50,
        eps: float = 1e-3,
        cv: Any = 5,
        scoring: str | Callable[..., float] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
    ) -> None:
        self.alphas = alphas
        self.slack = slack
        self.reduction = reduction
        self.adjacent = adjacent
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha and learn.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features), items or Orders
            Dispatch is by type: Pairs and 3-D arrays are comparisons.
        y : array-like of shape (n,), optional
            Outcomes -1, 0, +1 of comparisons, or grades of items; none for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; items of different groups are never compared.
        sample_weight : array-like of shape (n,), optional
            Weights of comparisons, items or lists.

        Returns
        -------
        Self
            The fitted model.
        """
        if self.cv is None:
            raise ValueError(
                "L1RankerCV chooses by cross-validation, got cv=None; expected a "
                "number of folds or a splitter. L1Ranker takes an alpha of your own."
            )
        programs: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                "slack",
                "reduction",
                "adjacent",
                "tol",
                "max_iter",
                "time_limit",
            )
        }
        rows: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight}
        path = l1_path(
            X,
            y,
            self.alphas,
            n_alphas=self.n_alphas,
            eps=self.eps,
            cv=self.cv,
            scoring=self.scoring,
            **rows,
            **programs,
        )
        alpha = float(path.alphas[path.best])
        chosen = L1Ranker(alpha, **programs).fit(X, y, **rows)
        self._forget()
        for name, value in vars(chosen).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.alpha_, self.alphas_ = alpha, path.alphas
        self.alpha_max_, self.scoring_ = path.alpha_max, path.scoring
        self.coef_path_ = path.coefs
        self.scores_ = np.asarray(path.scores)
        return self
