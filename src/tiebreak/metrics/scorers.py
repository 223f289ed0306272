# SPDX-License-Identifier: BSD-3-Clause
"""The scorers by name, one for each metric.

Greater is better everywhere, so the scorers of losses return them negated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiebreak.metrics.comparisons import comparison_auc, comparison_error
from tiebreak.metrics.correlation import kendall_tau_b, spearman_rho
from tiebreak.metrics.grades import disagreement, swapped_pairs
from tiebreak.metrics.probabilities import (
    comparison_brier,
    comparison_log_loss,
    ranked_probability_score,
)
from tiebreak.metrics.scoring import GradeScorer, PairScorer, Scorer
from tiebreak.metrics.top import ndcg, top_k_precision

comparison_error_scorer = PairScorer(
    "error", comparison_error, greater_is_better=False, response_method="predict"
)
comparison_auc_scorer = PairScorer(
    "auc", comparison_auc, greater_is_better=True, response_method="decision_function"
)
comparison_log_loss_scorer = PairScorer(
    "log_loss",
    comparison_log_loss,
    greater_is_better=False,
    response_method="predict_proba",
)
comparison_brier_scorer = PairScorer(
    "brier", comparison_brier, greater_is_better=False, response_method="predict_proba"
)
ranked_probability_score_scorer = PairScorer(
    "ranked_probability_score",
    ranked_probability_score,
    greater_is_better=False,
    response_method="predict_proba",
)
swapped_pairs_scorer = GradeScorer(
    "swapped_pairs", swapped_pairs, greater_is_better=False
)
disagreement_scorer = GradeScorer("disagreement", disagreement, greater_is_better=False)
kendall_tau_b_scorer = GradeScorer(
    "kendall_tau_b", kendall_tau_b, greater_is_better=True
)
spearman_rho_scorer = GradeScorer("spearman_rho", spearman_rho, greater_is_better=True)
ndcg_scorer = GradeScorer("ndcg", ndcg, greater_is_better=True)
top_k_precision_scorer = GradeScorer(
    "top_k_precision", top_k_precision, greater_is_better=True
)

_SCORERS: dict[str, Scorer] = {
    scorer.name: scorer
    for scorer in (
        comparison_error_scorer,
        comparison_auc_scorer,
        comparison_log_loss_scorer,
        comparison_brier_scorer,
        ranked_probability_score_scorer,
        swapped_pairs_scorer,
        disagreement_scorer,
        kendall_tau_b_scorer,
        spearman_rho_scorer,
        ndcg_scorer,
        top_k_precision_scorer,
    )
}


def scorer_names() -> list[str]:
    """Return the names that :func:`get_scorer` knows, sorted.

    Returns
    -------
    names : list of str
        Sorted names.
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
        Further arguments of the metric, for a name only: ``close=True`` for
        ``"auc"``, ``k=10, gain="linear"`` for ``"ndcg"``, ``k=5`` for
        ``"top_k_precision"``.

    Returns
    -------
    scorer : callable
        Greater is better: ``"error"`` gives minus the error. For a name it is a
        fresh copy, whose metadata requests are the caller's own.

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
