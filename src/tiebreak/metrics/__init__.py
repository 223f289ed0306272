# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of comparisons, rankings and probabilities, and their scorers.

Comparisons are scored against outcomes −1 (left), 0 (tie), +1 (right); rankings
against grades inside groups; probabilities in columns left, tie, right. Krippendorff's
alpha says how well raters agree.
"""

from tiebreak.metrics.agreement import Alpha, comparison_units, krippendorff_alpha
from tiebreak.metrics.comparison_metrics import (
    comparison_accuracy,
    comparison_auc,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    comparison_roc_curve,
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
from tiebreak.metrics.scorers import (
    GradeScorer,
    PairScorer,
    Scorer,
    get_scorer,
    scorer_names,
)

__all__ = [
    "Alpha", "GradeScorer", "PairScorer", "Scorer", "average_precision",
    "comparison_accuracy", "comparison_auc", "comparison_brier", "comparison_error",
    "comparison_log_loss", "comparison_roc_curve", "comparison_units", "disagreement",
    "get_scorer", "kendall_tau_b", "krippendorff_alpha",
    "ndcg", "ranked_probability_score", "reciprocal_rank", "scorer_names",
    "spearman_rho", "swapped_pairs", "top_k_precision",
]  # fmt: skip
