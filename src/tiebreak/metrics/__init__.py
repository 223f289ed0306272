# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of comparisons, rankings and probabilities, and their scorers.

Comparisons are scored against outcomes −1 (left), 0 (tie), +1 (right); rankings
against grades inside groups; probabilities in columns left, tie, right. Every metric
costs O(n log n) at most, and has a scikit-learn scorer. Krippendorff's alpha says how
well raters agree.
"""

from tiebreak.metrics.agreement import Alpha, comparison_units, krippendorff_alpha
from tiebreak.metrics.comparisons import (
    comparison_accuracy,
    comparison_auc,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    comparison_roc_curve,
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
from tiebreak.metrics.scorers import (
    GradeScorer,
    PairScorer,
    Scorer,
    average_precision_scorer,
    comparison_accuracy_scorer,
    comparison_auc_scorer,
    comparison_brier_scorer,
    comparison_error_scorer,
    comparison_log_loss_scorer,
    disagreement_scorer,
    expected_reciprocal_rank_scorer,
    get_scorer,
    kendall_tau_b_scorer,
    ndcg_scorer,
    ranked_probability_score_scorer,
    reciprocal_rank_scorer,
    scorer_names,
    spearman_rho_scorer,
    swapped_pairs_scorer,
    top_k_precision_scorer,
)

__all__ = [
    "Alpha", "GradeScorer", "PairScorer", "Scorer", "average_precision",
    "average_precision_scorer", "comparison_accuracy", "comparison_accuracy_scorer",
    "comparison_auc", "comparison_auc_scorer", "comparison_brier",
    "comparison_brier_scorer", "comparison_error", "comparison_error_scorer",
    "comparison_log_loss", "comparison_log_loss_scorer", "comparison_roc_curve",
    "comparison_units", "disagreement", "disagreement_scorer",
    "expected_reciprocal_rank", "expected_reciprocal_rank_scorer", "get_scorer",
    "kendall_tau_b", "kendall_tau_b_scorer", "krippendorff_alpha", "ndcg",
    "ndcg_scorer", "ranked_probability_score", "ranked_probability_score_scorer",
    "reciprocal_rank", "reciprocal_rank_scorer", "scorer_names", "spearman_rho",
    "spearman_rho_scorer", "swapped_pairs", "swapped_pairs_scorer", "top_k_precision",
    "top_k_precision_scorer",
]  # fmt: skip
