# SPDX-License-Identifier: BSD-3-Clause
"""The scorers by name, one for each metric: ``scorer(estimator, X, y)``.

A scorer asks a fitted estimator for what its metric needs and returns a number of
which greater is better, so losses come negated. It works as ``scoring`` of
``GridSearchCV`` and takes part in metadata routing. A :class:`PairScorer` takes pairs
with outcomes; a :class:`GradeScorer` takes items with grades, requests ``qid`` by
default, and raises when the estimator was fitted with groups and no ``qid`` arrives.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from tiebreak.data import Orders, is_pairs
from tiebreak.metrics.comparisons import (
    comparison_accuracy,
    comparison_auc,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    ranked_probability_score,
)
from tiebreak.metrics.grades import (
    average_precision,
    disagreement,
    expected_reciprocal_rank,
    kendall_tau_b,
    ndcg,
    reciprocal_rank,
    spearman_rho,
    swapped_pairs,
    top_k_precision,
)
from tiebreak.metrics.inputs import as_outcomes

METADATA = ("qid", "sample_weight")


class Scorer(ABC):
    """What the two kinds of scorer share.

    Parameters
    ----------
    name : str
        Name of the scorer in :func:`~tiebreak.metrics.get_scorer`.
    metric : callable
        ``metric(y, response, **options)``, which returns a float.
    greater_is_better : bool
        Whether the metric is a score; if not, the scorer returns it negated.
    response_method : str
        What the metric needs of the estimator: ``"predict"``,
        ``"difference"``, ``"predict_proba"`` or ``"utility"``.

    Attributes
    ----------
    metadata : tuple of str
        Row-aligned arguments that the metric takes: ``qid``, ``sample_weight``.
    options : dict
        Other arguments of the metric that were set by :meth:`with_options`.
    """

    def __init__(
        self,
        name: str,
        metric: Callable[..., float],
        *,
        greater_is_better: bool,
        response_method: str,
    ) -> None:
        parameters = list(inspect.signature(metric).parameters)[2:]
        self.name = name
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.response_method = response_method
        self.metadata = tuple(key for key in METADATA if key in parameters)
        self.options: dict[str, Any] = {}
        self._known_options = [key for key in parameters if key not in METADATA]
        self._requests: dict[str, bool | str | None] = dict.fromkeys(self.metadata)

    def with_options(self, **options: Any) -> Self:
        """Return a copy whose metric gets further arguments.

        Parameters
        ----------
        **options
            Arguments of the metric other than metadata, such as ``k`` for NDCG.

        Returns
        -------
        scorer : Scorer
            An independent copy, also of the metadata requests.
        """
        unknown = [key for key in options if key not in self._known_options]
        if unknown:
            raise TypeError(
                f"scorer {self.name!r} has no option {unknown[0]!r}; expected one of: "
                f"{', '.join(self._known_options) or '(it has none)'}. Metadata (qid, "
                "sample_weight) belongs to the call."
            )
        other = copy.deepcopy(self)
        other.options.update(options)
        return other

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike | None = None, **metadata: Any
    ) -> float:
        """Score a fitted estimator on test rows; greater is better.

        Parameters
        ----------
        estimator : object
            Fitted estimator.
        X : object
            Test rows: pairs for a :class:`PairScorer`, items or orders for a
            :class:`GradeScorer`.
        y : array-like of shape (n,), default=None
            Outcomes of the pairs or grades of the items; None for orders.
        **metadata : array-like of shape (n,)
            ``qid`` and ``sample_weight``, as far as the metric takes them.

        Returns
        -------
        score : float
            The metric, negated if it is a loss.
        """
        y_true, response, given = self._ask(estimator, X, y, self._given(metadata))
        return self.from_response(y_true, response, **given)

    @abstractmethod
    def _ask(
        self, estimator: Any, X: Any, y: ArrayLike | None, metadata: dict[str, Any]
    ) -> tuple[ArrayLike, ArrayLike, dict[str, Any]]:
        """Return the truth, what the estimator answers, and the metadata."""

    def from_response(
        self, y: ArrayLike, response: ArrayLike, **metadata: Any
    ) -> float:
        """Score what an estimator answered, without the estimator.

        Parameters
        ----------
        y : array-like of shape (n,)
            Outcomes or grades.
        response : array-like of shape (n,) or (n, 3)
            The result of ``response_method`` on the same rows.
        **metadata : array-like of shape (n,)
            ``qid`` and ``sample_weight``, as far as the metric takes them.

        Returns
        -------
        score : float
            The metric, negated if it is a loss.
        """
        value = self.metric(y, response, **self.options, **self._given(metadata))
        # A plain minus would turn a loss of 0.0 into -0.0.
        return value if self.greater_is_better else 0.0 - value

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Choose which metadata a meta-estimator routes to this scorer.

        Parameters
        ----------
        **requests : bool, str or None
            For ``qid`` or ``sample_weight``: True to get it, False to go without,
            None for an error if it is given, a string for another name. What is not
            named stays as it is.

        Returns
        -------
        self : Scorer
            The scorer itself, changed. :func:`~tiebreak.metrics.get_scorer` gives
            every caller a copy.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "requests have no effect without metadata routing; call "
                "sklearn.set_config(enable_metadata_routing=True) first."
            )
        self._check_names(requests)
        self._requests.update(requests)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that this scorer requests.

        Returns
        -------
        request : sklearn.utils.metadata_routing.MetadataRequest
            Its ``score`` part lists ``qid`` and ``sample_weight``.
        """
        request = MetadataRequest(owner=self)
        for param, alias in self._requests.items():
            request.score.add_request(param=param, alias=alias)
        return request

    def _given(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata without None, which is as if not passed."""
        given = {key: value for key, value in metadata.items() if value is not None}
        self._check_names(given)
        return given

    def _check_names(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name not in self.metadata]
        if unknown:
            raise TypeError(
                f"scorer {self.name!r} takes no {unknown[0]!r}; expected at most "
                f"{' and '.join(self.metadata)}."
            )

    def _accept_sample_weight(self) -> bool:
        # scikit-learn asks this of scorers when metadata routing is off.
        return "sample_weight" in self.metadata

    def _routing_repr(self) -> str:
        # The name of the scorer in scikit-learn's messages about routing.
        return repr(self)

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"get_scorer({self.name!r}{options})"


class PairScorer(Scorer):
    """Score a comparer on pairs with outcomes −1, 0, +1.

    Takes ``Pairs`` or an array of shape (n, 2, n_features). Metadata:
    ``sample_weight``, one weight per pair, on request.

    Parameters
    ----------
    name, metric, greater_is_better, response_method
        As in :class:`Scorer`.
    """

    def _ask(
        self, estimator: Any, X: Any, y: ArrayLike | None, metadata: dict[str, Any]
    ) -> tuple[ArrayLike, ArrayLike, dict[str, Any]]:
        if not is_pairs(X):
            raise TypeError(
                f"scorer {self.name!r} scores pairs with outcomes; got "
                f"{type(X).__name__}, expected Pairs or an array of shape (n, 2, p). "
                "For items with grades try 'swapped_pairs'."
            )
        if y is None:
            raise TypeError(f"scorer {self.name!r} needs the outcomes y of the pairs.")
        if self.response_method == "difference":
            estimator, X = last_step(estimator, X)
        method = getattr(estimator, self.response_method, None)
        if method is None:
            raise TypeError(
                f"scorer {self.name!r} needs {self.response_method}(pairs), which "
                f"{type(estimator).__name__} does not have. Try 'error', which needs "
                "predict only."
            )
        y, response = as_outcomes(estimator, y), method(X)
        if self.response_method == "predict":
            response = as_outcomes(estimator, response)
        if self.response_method == "predict_proba":
            self._check_classes(estimator)
        return y, response, metadata

    def _check_classes(self, estimator: Any) -> None:
        classes = np.asarray(getattr(estimator, "classes_", [-1, 0, 1]))
        if classes.tolist() not in ([-1, 0, 1], [0, 1, 2]):
            raise ValueError(
                f"scorer {self.name!r} needs probabilities of left, tie, right, that "
                f"is classes_ [-1, 0, 1]; {type(estimator).__name__} has "
                f"{classes.tolist()}. Fit it on all three outcomes."
            )


class GradeScorer(Scorer):
    """Score a ranker on items with grades, inside groups.

    Takes a table of items with grades ``y``, or ``Orders`` without ``y``. Asks the
    estimator for ``utility(X)``, or ``predict(X)`` where there is no ``utility``.
    Metadata: ``qid``, requested by default, and ``sample_weight``, on request.

    Parameters
    ----------
    name, metric, greater_is_better
        As in :class:`Scorer`.
    """

    def __init__(
        self, name: str, metric: Callable[..., float], *, greater_is_better: bool
    ) -> None:
        better = greater_is_better
        super().__init__(
            name, metric, greater_is_better=better, response_method="utility"
        )
        self._requests["qid"] = True

    def _ask(
        self, estimator: Any, X: Any, y: ArrayLike | None, metadata: dict[str, Any]
    ) -> tuple[ArrayLike, ArrayLike, dict[str, Any]]:
        if is_pairs(X):
            raise TypeError(
                f"scorer {self.name!r} scores items with grades; got pairs. For pairs "
                "with outcomes try 'error' or 'auc'."
            )
        if isinstance(X, Orders):
            if y is not None or metadata:
                raise TypeError(
                    f"scorer {self.name!r}: Orders carry their own grades and groups, "
                    f"got {', '.join(['y'] * (y is not None) + list(metadata))} as "
                    "well. Score orders.grades() to choose them yourself."
                )
            y, metadata["qid"] = X.entry_grades()
            items: Any = X.names
            if X.has_features:  # our own models take tables that keep their names
                items = X.table if hasattr(estimator, "utility") else X.raw
            return y, utility_of(estimator, items)[X.flat], metadata
        if y is None:
            raise TypeError(f"scorer {self.name!r} needs the grades y of the items.")
        if "qid" not in metadata and _fitted_with_groups(estimator):
            raise ValueError(
                f"scorer {self.name!r}: {type(estimator).__name__} was fitted with qid "
                "but no qid came to score it, so rows of different groups would be "
                "compared. In cross-validation turn on metadata routing, "
                "sklearn.set_config(enable_metadata_routing=True), split with "
                "QueryKFold, and pass qid to the fit of the search, or params={'qid': "
                "qid} to cross_val_score. In a direct call pass qid=qid."
            )
        return y, utility_of(estimator, X), metadata


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Give what predicts inside searches and pipelines, and X as it comes there."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            for _, step in estimator.steps[:-1]:
                if step is not None and step != "passthrough":
                    X = step.transform(X)
            estimator = estimator.steps[-1][1]
        else:
            return estimator, X


def difference_of(estimator: Any, pairs: Any, **columns: Any) -> Any:
    """Give r(right) - r(left), also by a search or a pipeline."""
    last, asked = last_step(estimator, pairs)
    return last.difference(asked, **columns)


def utility_of(estimator: Any, items: Any) -> Any:
    """Give utilities of items, or predictions where there is no utility."""
    last, asked = last_step(estimator, items)
    return (getattr(last, "utility", None) or last.predict)(asked)


def _fitted_with_groups(estimator: Any) -> bool:
    """Tell whether an estimator, or the one inside it, was fitted with qid."""
    while estimator is not None:
        if hasattr(estimator, "fitted_with_qid_"):
            return bool(estimator.fitted_with_qid_)
        estimator = _inner_estimator(estimator)
    return False


def _inner_estimator(estimator: Any) -> Any:
    """Return what a pipeline, a search or another wrapper has fitted, or None."""
    if hasattr(estimator, "steps"):
        return estimator.steps[-1][1]
    for name in ("best_estimator_", "estimator_", "regressor_", "ranker_"):
        if hasattr(estimator, name):
            return getattr(estimator, name)
    return None


_PAIR_METRICS: list[tuple[str, Callable[..., float], bool, str]] = [
    ("error", comparison_error, False, "predict"),
    ("accuracy", comparison_accuracy, True, "predict"),
    ("auc", comparison_auc, True, "difference"),
    ("log_loss", comparison_log_loss, False, "predict_proba"),
    ("brier", comparison_brier, False, "predict_proba"),
    ("ranked_probability_score", ranked_probability_score, False, "predict_proba"),
]
_PAIR_SCORERS = [
    PairScorer(name, metric, greater_is_better=greater, response_method=method)
    for name, metric, greater, method in _PAIR_METRICS
]
(
    comparison_error_scorer,
    comparison_accuracy_scorer,
    comparison_auc_scorer,
    comparison_log_loss_scorer,
    comparison_brier_scorer,
    ranked_probability_score_scorer,
) = _PAIR_SCORERS
_GRADE_METRICS: list[tuple[Callable[..., float], bool]] = [
    *((swapped_pairs, False), (disagreement, False), (kendall_tau_b, True)),
    *((spearman_rho, True), (ndcg, True), (top_k_precision, True)),
    *((average_precision, True), (reciprocal_rank, True)),
    (expected_reciprocal_rank, True),
]
_GRADE_SCORERS = [
    GradeScorer(metric.__name__, metric, greater_is_better=greater)
    for metric, greater in _GRADE_METRICS
]
(
    swapped_pairs_scorer,
    disagreement_scorer,
    kendall_tau_b_scorer,
    spearman_rho_scorer,
    ndcg_scorer,
    top_k_precision_scorer,
    average_precision_scorer,
    reciprocal_rank_scorer,
    expected_reciprocal_rank_scorer,
) = _GRADE_SCORERS
_SCORERS: dict[str, Scorer] = {
    scorer.name: scorer for scorer in (*_PAIR_SCORERS, *_GRADE_SCORERS)
}


def scorer_names() -> list[str]:
    """Return the names that :func:`get_scorer` knows, sorted.

    Returns
    -------
    names : list of str
    """
    return sorted(_SCORERS)


def get_scorer(
    name_or_callable: str | Callable[..., float], **options: Any
) -> Callable[..., float]:
    """Return a scorer by its name, or a callable as it is.

    Parameters
    ----------
    name_or_callable : str or callable
        One of :func:`scorer_names`, or any ``scorer(estimator, X, y)``.
    **options
        Further arguments of the metric, for a name only, such as ``close=True`` for
        ``"auc"`` and ``k=10, gain="linear"`` for ``"ndcg"``.

    Returns
    -------
    scorer : callable
        Greater is better: ``"error"`` gives minus the error. For a name a fresh copy.

    Examples
    --------
    >>> from tiebreak.metrics import get_scorer
    >>> get_scorer("ndcg", k=10)
    get_scorer('ndcg', k=10)
    >>> get_scorer("error").from_response([1, 0, -1, 0], [1, 0, 1, 0])
    -0.25
    """
    if isinstance(name_or_callable, str):
        if name_or_callable not in _SCORERS:
            raise ValueError(
                f"unknown scorer {name_or_callable!r}; expected one of "
                f"{', '.join(scorer_names())}, or a callable scorer(estimator, X, y)."
            )
        return _SCORERS[name_or_callable].with_options(**options)
    if not callable(name_or_callable):
        raise TypeError(
            f"a scorer is a name or a callable; got {name_or_callable!r}. Names: "
            f"{', '.join(scorer_names())}."
        )
    if options:
        raise TypeError(
            f"options {sorted(options)} need the name of a scorer; a callable is "
            "taken as it is."
        )
    for scorer in _SCORERS.values():
        if name_or_callable is scorer.metric:
            raise ValueError(
                f"{scorer.metric.__name__} is a metric of (y, response), not a scorer "
                f"of (estimator, X, y). Pass the name {scorer.name!r}."
            )
    return name_or_callable
