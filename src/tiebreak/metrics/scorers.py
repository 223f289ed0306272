# SPDX-License-Identifier: BSD-3-Clause
"""The scorers by name, one for each metric: ``scorer(estimator, X, y)``.

A scorer returns a number of which greater is better, so losses are negated.
"""

import copy
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from tiebreak.data import Orders, is_pairs
from tiebreak.metrics.comparison_metrics import (
    comparison_accuracy,
    comparison_auc,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    ranked_probability_score,
)
from tiebreak.metrics.grade_metrics import (
    average_precision,
    disagreement,
    kendall_tau_b,
    ndcg,
    reciprocal_rank,
    spearman_rho,
    swapped_pairs,
    top_k_precision,
)
from tiebreak.metrics.metric_inputs import as_outcomes

METADATA = ("qid", "sample_weight")


class Scorer:
    """What the two kinds of scorer share.

    Parameters
    ----------
    name : str
        Name of the scorer in :func:`~tiebreak.metrics.get_scorer`.
    metric : callable
        ``metric(y, response, **options)``, which returns a float.
    greater_is_better : bool
        If False, the scorer returns the metric negated.
    response_method : str, default="utility"
        ``"predict"``, ``"difference"``, ``"predict_proba"`` or ``"utility"``.

    Attributes
    ----------
    metadata : tuple of str
        Row-aligned arguments that the metric takes: ``qid``, ``sample_weight``.
    options : dict
        Other arguments of the metric, from :func:`~tiebreak.metrics.get_scorer`.
    """

    # Returns the truth and what an estimator answers; may add metadata.
    _ask: Callable[..., tuple[ArrayLike, ArrayLike]]

    def __init__(
        self,
        name: str,
        metric: Callable[..., float],
        *,
        greater_is_better: bool,
        response_method: str = "utility",
    ) -> None:
        self.name = name
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.response_method = response_method
        # Beside truth and response.
        self._arguments = {*list(inspect.signature(metric).parameters)[2:]}
        self.metadata = tuple(key for key in METADATA if key in self._arguments)
        self.options: dict[str, Any] = {}
        self._requests: dict[str, bool | str | None] = {
            key: True if key == "qid" else None for key in self.metadata
        }

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike | None = None, **metadata: Any
    ) -> float:
        """Score a fitted estimator on test rows.

        Parameters
        ----------
        estimator : object
            Fitted estimator.
        X, y : object
            Pairs and outcomes, items and grades, or orders without y.
        **metadata : array-like of shape (n,)
            ``qid`` and ``sample_weight``, as far as the metric takes them.

        Returns
        -------
        score : float
            The metric, negated if it is a loss.
        """
        metadata = {key: one for key, one in metadata.items() if one is not None}
        return self.from_response(*self._ask(estimator, X, y, metadata), **metadata)

    def from_response(
        self, y: ArrayLike, response: ArrayLike, **metadata: Any
    ) -> float:
        """Score predictions, without the estimator.

        Parameters
        ----------
        y : array-like of shape (n,)
            Outcomes or grades.
        response : array-like of shape (n,) or (n, 3)
            The result of ``response_method`` on the same rows.
        **metadata : array-like of shape (n,)
            As in a call.

        Returns
        -------
        score : float
            The metric, negated if it is a loss.
        """
        self._check_names(key for key, one in metadata.items() if one is not None)
        columns = {key: metadata.get(key) for key in self.metadata}
        value = self.metric(y, response, **self.options, **columns)
        # A plain minus would turn a loss of 0.0 into -0.0.
        return value if self.greater_is_better else 0.0 - value

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Choose which metadata a meta-estimator routes to this scorer.

        Parameters
        ----------
        **requests : bool, str or None
            For ``qid`` or ``sample_weight``, as in scikit-learn: True, False, None (an
            error if it is passed) or another name. Others stay as they are.

        Returns
        -------
        self : Scorer
            The scorer itself, changed.
        """
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

    def _check_names(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name not in self.metadata]
        if unknown:
            raise TypeError(f"scorer {self.name!r} takes no {unknown[0]!r}.")

    def _accept_sample_weight(self) -> bool:
        # scikit-learn calls this when metadata routing is off.
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
    ) -> tuple[ArrayLike, ArrayLike]:
        if not is_pairs(X) or y is None:
            raise TypeError(
                f"scorer {self.name!r} scores pairs with outcomes y; for items with "
                "grades try 'swapped_pairs'."
            )
        if self.response_method == "difference":
            estimator, X = last_step(estimator, X)
        method = getattr(estimator, self.response_method, None)
        if method is None:
            raise TypeError(
                f"scorer {self.name!r} needs {self.response_method}(pairs), which this "
                "model does not have; try 'error'."
            )
        y, response = as_outcomes(estimator, y), method(X)
        if self.response_method == "predict":
            response = as_outcomes(estimator, response)
        return y, response


class GradeScorer(Scorer):
    """Score a ranker on items with grades, inside groups.

    Takes a table of items with grades ``y``, or ``Orders`` without ``y``. Calls
    ``utility(X)`` of the estimator, or ``predict(X)`` if it has none. Metadata:
    ``qid``, requested by default, and ``sample_weight``, on request.

    Parameters
    ----------
    name, metric, greater_is_better, response_method
        As in :class:`Scorer`.
    """

    def _ask(
        self, estimator: Any, X: Any, y: ArrayLike | None, metadata: dict[str, Any]
    ) -> tuple[ArrayLike, ArrayLike]:
        if isinstance(X, Orders):
            if y is not None or metadata:
                raise TypeError("Orders carry their own grades and groups.")
            y, metadata["qid"] = X.entry_grades()
            items: Any = X.names
            if X.has_features:  # our own models take tables that keep their names
                items = X.table if hasattr(estimator, "utility") else X.raw
            return y, utility_of(estimator, items)[X.flat]
        if is_pairs(X) or y is None:
            raise TypeError(
                f"scorer {self.name!r} scores graded items; for pairs try 'error'."
            )
        if "qid" not in metadata and _fitted_with_groups(estimator):
            raise ValueError(
                "the model was fitted with qid but no qid came to score it; use "
                "QueryKFold and sklearn.set_config(enable_metadata_routing=True)."
            )
        return y, utility_of(estimator, X)


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Give the last step of searches and pipelines, and X as it arrives there."""
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
    last, rows = last_step(estimator, pairs)
    return last.difference(rows, **columns)


def utility_of(estimator: Any, items: Any) -> Any:
    """Give utilities of items, or predictions where there is no utility."""
    last, rows = last_step(estimator, items)
    return (getattr(last, "utility", None) or last.predict)(rows)


def _fitted_with_groups(estimator: Any) -> bool:
    """Tell whether an estimator, or its inner one, was fitted with qid."""
    while estimator is not None:
        if hasattr(estimator, "fitted_with_qid_"):
            return bool(estimator.fitted_with_qid_)
        estimator = inner_estimator(estimator)
    return False


def inner_estimator(estimator: Any) -> Any:
    """Return the inner estimator of a pipeline, search or wrapper, or None."""
    if hasattr(estimator, "steps"):
        return estimator.steps[-1][1]
    for name in ("best_estimator_", "estimator_", "regressor_", "ranker_"):
        if hasattr(estimator, name):
            return getattr(estimator, name)
    return None


_SCORERS: dict[str, Scorer] = {
    name: PairScorer(name, metric, greater_is_better=greater, response_method=method)
    for name, metric, greater, method in (
        ("error", comparison_error, False, "predict"),
        ("accuracy", comparison_accuracy, True, "predict"),
        ("auc", comparison_auc, True, "difference"),
        ("log_loss", comparison_log_loss, False, "predict_proba"),
        ("brier", comparison_brier, False, "predict_proba"),
        ("ranked_probability_score", ranked_probability_score, False, "predict_proba"),
    )
}
_SCORERS |= {
    metric.__name__: GradeScorer(metric.__name__, metric, greater_is_better=greater)
    for metric, greater in (
        *((swapped_pairs, False), (disagreement, False), (kendall_tau_b, True)),
        *((spearman_rho, True), (ndcg, True), (top_k_precision, True)),
        *((average_precision, True), (reciprocal_rank, True)),
    )
}


_WORDS = {
    **{"brier": "Brier score", "rps": "RPS", "ndcg": "NDCG", "auc": "AUC"},
    **{"ndcg_5": "NDCG@5", "ndcg_10": "NDCG@10", "map": "MAP", "mrr": "MRR"},
}


def metric_words(name: str) -> str:
    """Write the name of a metric in words."""
    return _WORDS.get(name, name.replace("_", " "))


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
        Further arguments of the metric, for a name only, such as ``k=10``.

    Returns
    -------
    scorer : callable
        Greater is better: ``"error"`` gives minus the error.

    Examples
    --------
    >>> from tiebreak.metrics import get_scorer
    >>> get_scorer("ndcg", k=10)
    get_scorer('ndcg', k=10)
    >>> get_scorer("error").from_response([1, 0, -1, 0], [1, 0, 1, 0])
    -0.25
    """
    if callable(name_or_callable) and not options:
        return name_or_callable
    if not isinstance(name_or_callable, str):
        raise TypeError(
            f"a scorer is a name or a callable; got {name_or_callable!r} and {options}."
        )
    if name_or_callable not in _SCORERS:
        names = ", ".join(scorer_names())
        raise ValueError(f"unknown scorer {name_or_callable!r}; known are {names}.")
    scorer = copy.deepcopy(_SCORERS[name_or_callable])
    unknown = options.keys() - (scorer._arguments - {*METADATA, "average"})
    if unknown:
        raise TypeError(f"scorer {scorer.name!r} has no option {min(unknown)!r}.")
    scorer.options.update(options)
    return scorer
