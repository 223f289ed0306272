# SPDX-License-Identifier: BSD-3-Clause
"""Scores of predicted probabilities for left, tie and right.

All three are proper: the true probabilities minimize their expectation. Each is a
weighted mean over pairs, lower is better. The columns are left, tie, right, the
order of the outcomes −1, 0, +1 and of ``classes_``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.metrics.inputs import outcome_vector, probability_rows, row_weights


def comparison_log_loss(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean negative log probability of what happened.

    With pᵢ(c) the probability that pair i was given for outcome c it is ::

        -Σᵢ wᵢ ln pᵢ(yᵢ) / Σᵢ wᵢ,    a mean over pairs.

    Probabilities are not clipped: a probability of 0 for something that happened
    gives infinity. Natural logarithm.

    Parameters
    ----------
    outcome : array-like of shape (n,)
        What happened: −1 left, 0 tie, +1 right.
    proba : array-like of shape (n, 3)
        Probabilities of left, tie, right; rows sum to 1 within 1e-6.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair. A pair of weight 0 is as if absent.

    Returns
    -------
    loss : float
        From 0 (certain and right) to infinity; ln 3 for even odds.

    Examples
    --------
    >>> from tiebreak.metrics import comparison_log_loss
    >>> comparison_log_loss([-1, 0], [[0.5, 0.3, 0.2], [0.4, 0.2, 0.4]])
    1.1513
    >>> comparison_log_loss([1], [[0.5, 0.5, 0.0]])
    inf
    """
    happened, rows, weight = _check(outcome, proba, sample_weight)
    with np.errstate(divide="ignore"):
        loss = -np.log(rows[happened])
    return float(np.average(loss, weights=weight))


def comparison_brier(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Brier score: mean squared error of the three probabilities.

    With pᵢ(c) the probability that pair i was given for outcome c it is ::

        Σᵢ wᵢ Σ_{c ∈ {-1, 0, 1}} (pᵢ(c) - [yᵢ = c])² / Σᵢ wᵢ,

    a sum over the three outcomes and a mean over pairs.

    Parameters
    ----------
    outcome : array-like of shape (n,)
        What happened: −1 left, 0 tie, +1 right.
    proba : array-like of shape (n, 3)
        Probabilities of left, tie, right; rows sum to 1 within 1e-6.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair.

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
    happened, rows, weight = _check(outcome, proba, sample_weight)
    return float(np.average(((rows - happened) ** 2).sum(axis=1), weights=weight))


def ranked_probability_score(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Ranked probability score: squared error of cumulative probabilities.

    With Pᵢ(y ≤ c) the probability that pair i was given for at most c it is ::

        Σᵢ wᵢ ½ Σ_{c ∈ {-1, 0}} (Pᵢ(y ≤ c) - [yᵢ ≤ c])² / Σᵢ wᵢ,

    the sum over the two cumulative probabilities, halved, and a mean over pairs.
    Unlike the Brier score it knows that a tie lies between left and right:
    probability on the tie is a smaller mistake than on the wrong side.

    Parameters
    ----------
    outcome : array-like of shape (n,)
        What happened: −1 left, 0 tie, +1 right.
    proba : array-like of shape (n, 3)
        Probabilities of left, tie, right; rows sum to 1 within 1e-6.
    sample_weight : array-like of shape (n,), default=None
        Weight of each pair.

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
    happened, rows, weight = _check(outcome, proba, sample_weight)
    gap = np.cumsum(rows - happened, axis=1)[:, :2]
    return float(np.average((gap**2).sum(axis=1) / 2, weights=weight))


def _check(
    outcome: ArrayLike, proba: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return the mask of what happened, the probabilities and the weights.

    Pairs of weight 0 are left out, because 0 times an infinite loss is no number.
    """
    truth = outcome_vector(outcome, "outcome")
    rows = probability_rows(proba, len(truth))
    weight = row_weights(sample_weight, len(truth))
    happened = truth[:, np.newaxis] == np.array([-1, 0, 1])
    counts = weight > 0
    return happened[counts], rows[counts], weight[counts]
