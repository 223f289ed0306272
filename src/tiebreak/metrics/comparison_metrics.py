# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of predicted comparisons: error rate, ROC for three outcomes, probabilities.

Boundary conventions: an outcome −1, 0 or +1 is the sign of utility(right) −
utility(left). At threshold τ a pair is called different when |difference| > τ, so a
difference of exactly 0 is always a tie.

The three scores of probabilities are proper: the true ones minimize their expectation.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import check_weights
from tiebreak.metrics.metric_inputs import (
    numeric_vector,
    outcome_vector,
    probability_rows,
)

Floats = NDArray[np.float64]


def comparison_error(
    outcome: ArrayLike, predicted: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of pairs whose predicted outcome is wrong.

    With ŷᵢ what was predicted it is ::

        Σᵢ wᵢ [ŷᵢ ≠ yᵢ] / Σᵢ wᵢ.

    Parameters
    ----------
    outcome, predicted : array-like of shape (n,)
        What happened, and what was predicted: −1 left, 0 tie, +1 right.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair.

    Returns
    -------
    error : float
        Between 0 and 1.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_error
    >>> comparison_error([-1, 0, 1, 1], [-1, 0, 0, 1])
    0.25
    """
    truth = outcome_vector(outcome, "outcome")
    answer = outcome_vector(predicted, "predicted", len(truth))
    weight = check_weights(sample_weight, len(truth))
    return float(np.average(truth != answer, weights=weight))


def comparison_accuracy(
    outcome: ArrayLike, predicted: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of pairs whose predicted outcome is right: 1 - `comparison_error`.

    Parameters
    ----------
    outcome, predicted, sample_weight
        As in :func:`comparison_error`.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_accuracy
    >>> comparison_accuracy([-1, 0, 1, 1], [-1, 0, 0, 1])
    0.75
    """
    return 1.0 - comparison_error(outcome, predicted, sample_weight)


def comparison_roc_curve(
    outcome: ArrayLike, difference: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats]:
    """ROC curve of a utility difference against outcomes with ties.

    At threshold τ a pair is called different when ``|dᵢ| > τ``, with the sign of dᵢ::

        FPR(τ) = Σ_{yᵢ=0} wᵢ [|dᵢ| > τ] / Σ_{yᵢ=0} wᵢ,
        TPR(τ) = Σ_{yᵢ≠0} wᵢ [yᵢ dᵢ > τ] / Σ_{yᵢ≠0} wᵢ.

    Wrong signs keep the curve below TPR = 1, and ties with a difference of exactly 0
    left of FPR = 1.

    Parameters
    ----------
    outcome : array-like of shape (n,)
        What happened: −1 left, 0 tie, +1 right.
    difference : array-like of shape (n,)
        utility(right) − utility(left), as from ``model.difference(pairs)``.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair; 0 is absent.

    Returns
    -------
    fpr, tpr, thresholds : ndarray of shape (m + 1,)
        The first two start at 0 and never fall; thresholds decrease from infinity to 0.
        m is the number of distinct positive ``|dᵢ|``.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_roc_curve
    >>> fpr, tpr, thresholds = comparison_roc_curve([1, 0, -1, 0], [3, 1, -2, 0])
    >>> fpr.tolist(), tpr.tolist(), thresholds.tolist()
    ([0.0, 0.0, 0.0, 0.5], [0.0, 0.5, 1.0, 1.0], [inf, 2.0, 1.0, 0.0])
    """
    truth = outcome_vector(outcome, "outcome")
    signed = numeric_vector(difference, "difference", len(truth))
    weight = check_weights(sample_weight, len(truth))
    truth, signed, weight = truth[weight > 0], signed[weight > 0], weight[weight > 0]
    n_ties = int(np.count_nonzero(truth == 0))
    if n_ties in (0, len(truth)):
        raise ValueError(
            f"the ROC curve needs ties and others; {n_ties} of {len(truth)} are ties."
        )

    order = np.argsort(-np.abs(signed), kind="stable")
    truth, signed, weight = truth[order], signed[order], weight[order]
    size = np.abs(signed)
    is_tie = truth == 0
    false_positive = np.cumsum(weight * is_tie)
    true_positive = np.cumsum(weight * (truth * np.sign(signed) == 1))
    different = np.cumsum(weight * ~is_tie)

    # A threshold calls all of its block of equal sizes or nothing of it, so the
    # curve has a point where a block of positive size ends.
    block_ends = np.append(size[1:] != size[:-1], True) & (size > 0)
    lower = np.append(size[1:], 0.0)
    return (
        np.append(0.0, false_positive[block_ends] / false_positive[-1]),
        np.append(0.0, true_positive[block_ends] / different[-1]),
        np.append(np.inf, lower[block_ends]),
    )


def comparison_auc(
    outcome: ArrayLike,
    difference: ArrayLike,
    *,
    close: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve for three outcomes.

    The trapezoid rule on :func:`comparison_roc_curve`. It can be below ½ for a useful
    ranker: a wrong sign is never a true positive, and a perfect ranker whose ties have
    a difference of exactly 0 scores 0.

    Parameters
    ----------
    outcome, difference : array-like of shape (n,)
        As in :func:`comparison_roc_curve`.
    close : bool, default=False
        If True, continue the curve horizontally to FPR = 1; the perfect ranker above
        then scores 1.
    sample_weight : array-like of shape (n,), default=None
        As in :func:`comparison_roc_curve`.

    Returns
    -------
    area : float
        Between 0 and 1.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_auc
    >>> comparison_auc([1, 0, -1, 0], [3, 1, -2, 0])
    0.5
    >>> comparison_auc([1, 0, -1, 0], [3, 1, -2, 0], close=True)
    1.0
    """
    fpr, tpr, _ = comparison_roc_curve(outcome, difference, sample_weight)
    area = np.trapezoid(tpr, fpr)
    if close:
        area += (1.0 - fpr[-1]) * tpr[-1]
    # The curve stays in the unit square, so what exceeds 1 is rounding.
    return min(float(area), 1.0)


def comparison_log_loss(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean negative log probability of what happened.

    With pᵢ(c) the predicted probability of outcome c of pair i it is ::

        -Σᵢ wᵢ ln pᵢ(yᵢ) / Σᵢ wᵢ.

    Probabilities are not clipped: 0 for something that happened gives infinity.

    Parameters
    ----------
    outcome : array-like of shape (n,)
        What happened: −1 left, 0 tie, +1 right.
    proba : array-like of shape (n, 3)
        Probabilities of left, tie, right; rows sum to 1 within 1e-6.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair; 0 is absent.

    Returns
    -------
    loss : float
        From 0 (certain and right) to infinity; ln 3 for even odds.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_log_loss
    >>> comparison_log_loss([-1, 0], [[0.5, 0.3, 0.2], [0.4, 0.2, 0.4]])
    1.1513
    """
    return probability_scores(outcome, proba, sample_weight, ("log_loss",))[0]


def comparison_brier(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Brier score: mean squared error of the three probabilities.

    With pᵢ(c) the predicted probability of outcome c of pair i it is ::

        Σᵢ wᵢ Σ_{c ∈ {-1, 0, 1}} (pᵢ(c) - [yᵢ = c])² / Σᵢ wᵢ.

    Parameters
    ----------
    outcome, proba, sample_weight
        As in :func:`comparison_log_loss`.

    Returns
    -------
    score : float
        From 0 (certain and right) to 2 (certain and wrong).

    Examples
    --------
    >>> from tiebreak.metrics import comparison_brier
    >>> comparison_brier([-1], [[0.5, 0.5, 0.0]])
    0.5
    """
    return probability_scores(outcome, proba, sample_weight, ("brier",))[0]


def ranked_probability_score(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Ranked probability score: squared error of cumulative probabilities.

    With Pᵢ(y ≤ c) the cumulative predicted probabilities of pair i it is ::

        Σᵢ wᵢ ½ Σ_{c ∈ {-1, 0}} (Pᵢ(y ≤ c) - [yᵢ ≤ c])² / Σᵢ wᵢ,

    so that probability on the tie is a smaller mistake than on the wrong side.

    Parameters
    ----------
    outcome, proba, sample_weight
        As in :func:`comparison_log_loss`.

    Returns
    -------
    score : float
        From 0 (certain and right) to 1 (certain of the wrong side).

    Examples
    --------
    >>> from tiebreak.metrics import ranked_probability_score
    >>> ranked_probability_score([-1, -1], [[0, 1, 0], [0, 0, 1]])
    0.75
    """
    return probability_scores(outcome, proba, sample_weight, ("rps",))[0]


def probability_scores(
    outcome: ArrayLike,
    proba: ArrayLike,
    sample_weight: ArrayLike | None,
    metrics: Sequence[str] = ("log_loss", "brier", "rps"),
) -> list[float]:
    """Return several of the metrics above; the input is checked once."""
    truth = outcome_vector(outcome, "outcome")
    rows = probability_rows(proba, len(truth))
    weight = check_weights(sample_weight, len(truth))
    counts = weight > 0  # 0 times an infinite loss is no number
    if not counts.all():
        truth, rows, weight = truth[counts], rows[counts], weight[counts]
    losses = [row_losses(name, truth, rows) for name in metrics]
    return [float(np.average(loss, weights=weight)) for loss in losses]


def row_losses(metric: str, truth: NDArray[np.integer], proba: Floats) -> Floats:
    """Return the log loss, Brier score or rps of every row."""
    left, tie, right = proba.T
    if metric == "log_loss":
        with np.errstate(divide="ignore"):
            return -np.log(proba[np.arange(len(truth)), truth + 1])
    if metric == "brier":
        off = (left - (truth == -1)) ** 2 + (tie - (truth == 0)) ** 2
        return np.asarray(off + (right - (truth == 1)) ** 2)
    first = left - (truth == -1)
    second = first + (tie - (truth == 0))
    return np.asarray((first**2 + second**2) / 2)
