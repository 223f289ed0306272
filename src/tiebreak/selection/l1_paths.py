# SPDX-License-Identifier: BSD-3-Clause
"""Weights and scores of 1-norm ranking along its penalty."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from tiebreak.data import Orders, as_items, is_pairs
from tiebreak.data.columns import as_column
from tiebreak.data.parameters import COUNT
from tiebreak.models.l1.l1_ranker import L1Ranker, L1Utility
from tiebreak.selection.tuner import Split, choose_scorer, make_splits, row_columns

Floats = NDArray[np.float64]

# How far above alpha_max a path starts, relative to it.
_ABOVE = 1e-7


@dataclass(frozen=True, eq=False)
class L1Path:
    """Solutions of 1-norm ranking from large to small alpha.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Descending.
    coefs : ndarray of shape (n_alphas, n_features)
        Weights, with exact zeros.
    objectives, gaps : ndarray of shape (n_alphas,)
        α ‖w‖₁ + slacks, and relative duality gaps.
    alpha_max : float
        The smallest alpha that drops every feature.
    scores : ndarray of shape (n_alphas, n_folds) or None
        Scores on held-out folds, greater is better; NaN for a correlation where every
        feature was dropped; None without cross-validation.
    scoring, feature_names : str and tuple of str, or None
        Name of the score, and of the features, if any.
    """

    alphas: Floats
    coefs: Floats
    objectives: Floats
    gaps: Floats
    alpha_max: float
    scores: Floats | None = None
    scoring: str | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def n_selected(self) -> NDArray[np.int64]:
        """Number of features with a weight, for every alpha."""
        return np.count_nonzero(self.coefs, axis=1)

    @property
    def mean_scores(self) -> Floats:
        """Mean score over the folds, for every alpha."""
        if self.scores is None:
            raise ValueError("this path has no scores; call l1_path with cv.")
        return self.scores.mean(axis=1)

    @property
    def best(self) -> int:
        """Number of the alpha with the best mean score, the largest if equal."""
        mean = self.mean_scores
        return int(np.argmax(np.where(np.isnan(mean), -np.inf, mean)))

    def __repr__(self) -> str:
        return (
            f"L1Path({len(self.alphas)} alphas from {self.alphas[0]:.4g} to "
            f"{self.alphas[-1]:.4g}, {self.n_selected[0]} to {self.n_selected[-1]} of "
            f"{self.coefs.shape[1]} features)"
        )


def l1_path(
    X: Any,
    y: ArrayLike | None = None,
    alphas: Iterable[float] | None = None,
    *,
    n_alphas: int = 50,
    eps: float = 1e-3,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    cv: Any = 5,
    scoring: str | Callable[..., float] | None = None,
    **parameters: Any,
) -> L1Path:
    """Follow :class:`L1Ranker` from "everything dropped" to small alpha.

    Parameters
    ----------
    X, y
        As in ``L1Ranker.fit``.
    alphas : iterable of float, optional
        Values of alpha, solved in descending order. By default `n_alphas`, evenly
        spaced in their logarithm, from just above the smallest that drops all features.
    n_alphas, eps : int and float, default=50 and 1e-3
        Their number without `alphas`, and the smallest relative to the largest.
    qid, sample_weight
        As in ``L1Ranker.fit``.
    cv : int, splitter, iterable of (train, test) or None, default=5
        Folds on which every alpha is scored; None: no scores. A number of folds never
        splits a group; without groups it stratifies by grade.
    scoring : str, callable or None, default=None
        As in :func:`tune`.
    **parameters
        Those of :class:`L1Ranker` for each alpha: `slack`, `reduction`, `adjacent`,
        `tol`, `max_iter`, `time_limit`.

    Returns
    -------
    L1Path

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import l1_path
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.digitize(X[:, 0] - X[:, 1], [-1, 1])
    >>> path = l1_path(X, y, n_alphas=5)
    >>> path.n_selected[:3], path.scores.shape
    (array([0, 2, 2]), (5, 5))
    """
    model = L1Ranker(**parameters)
    rows: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight}
    largest = model.alpha_max(X, y, **rows)
    values = _alphas(alphas, largest, n_alphas, eps, model.slack)
    models = list(model.path(X, y, values, **rows))
    scores = scorer = None
    if cv is not None:
        scorer = choose_scorer(scoring, X)
        scores = _scores(model, X, y, values, cv, scorer, **rows)
    names = getattr(models[0], "feature_names_in_", None)
    return L1Path(
        alphas=np.array(values),
        coefs=np.array([fitted.coef_ for fitted in models]),
        objectives=np.array([fitted.objective_ for fitted in models]),
        gaps=np.array([fitted.gap_ for fitted in models]),
        alpha_max=largest,
        scores=scores,
        scoring=None if scorer is None else str(getattr(scorer, "name", scoring)),
        feature_names=None if names is None else tuple(names),
    )


def _alphas(
    alphas: Iterable[float] | None, largest: float, n: int, eps: float, slack: str
) -> list[float]:
    if alphas is not None:
        values = sorted({float(alpha) for alpha in alphas}, reverse=True)
        if not values:
            raise ValueError("l1_path needs at least one value of alpha, got none.")
        return values
    if n not in COUNT or not 0.0 < eps < 1.0:
        raise ValueError(
            f"n_alphas must be {COUNT} and eps between 0 and 1, got {n!r} and {eps!r}."
        )
    if largest == 0.0:
        raise ValueError(f"there is no path with slack={slack!r}: give alphas.")
    # At alpha_max itself weights neither gain nor lose; a little above they are zero.
    start = largest * (1.0 + _ABOVE)
    return [float(alpha) for alpha in start * np.geomspace(1.0, eps, int(n))]


def _scores(
    model: L1Ranker,
    X: Any,
    y: Any,
    alphas: list[float],
    cv: Any,
    scorer: Callable[..., float],
    **rows: Any,
) -> Floats:
    """Score the path of every training set on what was held out."""
    of_items = not (isinstance(X, Orders) or is_pairs(X))
    X, y = (as_items(X, name="X").values, np.asarray(y).ravel()) if of_items else (X, y)
    n_rows = X.shape[0] if of_items else len(X)
    extra = row_columns(n_rows, rows["sample_weight"], rows["qid"], columns=None)
    if isinstance(cv, Integral) and of_items and "qid" not in extra:
        cv = _graded_folds(as_column(y, "y"), int(cv))
    columns = []
    for split in make_splits(model, X, y, None, cv, extra, scorer):
        path = model.path(split.X, split.y, alphas, **split.fit)
        columns.append([_score(fitted, split, scorer) for fitted in path])
    return np.array(columns, dtype=np.float64).T


def _score(model: L1Ranker, split: Split, scorer: Callable[..., float]) -> float:
    try:
        return scorer(model, split.X_test, split.y_test, **split.score)
    except ValueError:
        # Correlations do not exist where everything is dropped and all items tie.
        if model.coef_.any():
            raise
        return np.nan


def _graded_folds(y: NDArray[Any], n_folds: int) -> list[tuple[Any, Any]]:
    """Deal the rows out by grade, so that folds are stratified."""
    if not 2 <= n_folds <= len(y):
        raise ValueError(f"cv={n_folds} folds of {len(y)} samples cannot be made.")
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    rows = np.arange(len(y))
    return [(rows[fold != f], rows[fold == f]) for f in range(n_folds)]


@dataclass(eq=False, repr=False)
class L1RankerCV(L1Utility, BaseEstimator):
    """:class:`L1Ranker` with the alpha that scores best on held-out folds.

    Of equal mean scores the largest alpha is chosen, which has the fewest features. The
    model is then fitted on all data.

    Parameters
    ----------
    alphas : array-like of float, optional
        Values to choose from, as in :func:`l1_path`.
    slack, n_alphas, eps, cv, scoring, tol, max_iter, time_limit, reduction, adjacent
        As in :func:`l1_path`; `cv` is not None.

    Attributes
    ----------
    alpha_, alpha_max_ : float
        The chosen alpha, and the smallest that drops every feature.
    alphas_, scores_ : ndarray of shape (n_alphas,) and (n_alphas, n_folds)
        All alphas, descending, and their scores, greater is better.
    coef_path_ : ndarray of shape (n_alphas, n_features)
        Their weights on all data.
    scoring_ : str
        Name of the score.
    coef_, selected_, …
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
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True
    _fitted_arrays: ClassVar = {"alphas_": "a", "coef_path_": "a p", "scores_": "a *"}

    alphas: Iterable[float] | None = None
    slack: Literal["pair", "item", "item-weighted"] = "pair"
    reduction: Literal["threshold", "hull"] | None = "threshold"
    adjacent: bool = False
    _: KW_ONLY
    n_alphas: int = 50
    eps: float = 1e-3
    cv: Any = 5
    scoring: str | Callable[..., float] | None = None
    tol: float = 1e-6
    max_iter: int = 1000
    time_limit: float | None = None

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
        X, y, qid, sample_weight
            As in ``L1Ranker.fit``.

        Returns
        -------
        Self
        """
        if self.cv is None:
            raise ValueError("L1RankerCV got cv=None; try L1Ranker.")
        rows: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight}
        path = l1_path(X, y, **self.get_params(deep=False), **rows)
        alpha = float(path.alphas[path.best])
        names = ("slack", "reduction", "adjacent", "tol", "max_iter", "time_limit")
        problem: dict[str, Any] = {name: getattr(self, name) for name in names}
        chosen = L1Ranker(alpha, **problem).fit(X, y, **rows)
        learned = {k: part for k, part in vars(chosen).items() if k.endswith("_")}
        learned |= {"alpha_": alpha, "alphas_": path.alphas, "scores_": path.scores}
        learned |= {"alpha_max_": path.alpha_max, "coef_path_": path.coefs}
        return self._keep(learned | {"scoring_": path.scoring})
