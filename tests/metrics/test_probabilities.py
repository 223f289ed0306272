# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

from tests.metrics.strategies import WEIGHTS
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import (
    comparison_brier,
    comparison_log_loss,
    ranked_probability_score,
)

METRICS = [comparison_log_loss, comparison_brier, ranked_probability_score]
ALL = pytest.mark.parametrize("metric", METRICS)


@st.composite
def forecasts(draw):
    """Outcomes, probabilities in twentieths (none of them 0) and weights."""
    n = draw(st.integers(1, 8))
    outcome, proba, weight = [0], [[0.25, 0.5, 0.25]], [1.0]
    for _ in range(n):
        left = draw(st.integers(1, 18))
        tie = draw(st.integers(1, 19 - left))
        outcome.append(draw(st.integers(-1, 1)))
        proba.append([left / 20, tie / 20, (20 - left - tie) / 20])
        weight.append(draw(WEIGHTS))
    return np.array(outcome), np.array(proba), np.array(weight)


@given(forecasts())
def test_equal_the_loops(data):
    outcome, proba, weight = data
    for metric, slow in (
        (comparison_log_loss, oracle.log_loss),
        (comparison_brier, oracle.brier),
        (ranked_probability_score, oracle.ranked_probability_score),
    ):
        value = metric(outcome, proba, weight)
        assert value == pytest.approx(slow(outcome, proba, weight))
        mirrored = metric(-outcome, proba[:, ::-1], weight)
        assert mirrored == pytest.approx(value)
        whole = (4 * weight).astype(int)
        repeated = metric(np.repeat(outcome, whole), np.repeat(proba, whole, axis=0))
        assert repeated == pytest.approx(value)
        assert metric(outcome, proba, 1e9 * weight) == pytest.approx(value)


def test_agree_with_sklearn():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet([1, 1, 1], 200)
    outcome = rng.integers(-1, 2, 200)
    weight = rng.uniform(size=200)
    for w in (None, weight):
        assert comparison_log_loss(outcome, proba, w) == pytest.approx(
            log_loss(outcome, proba, sample_weight=w, labels=[-1, 0, 1])
        )
        assert comparison_brier(outcome, proba, w) == pytest.approx(
            brier_score_loss(
                outcome,
                proba,
                sample_weight=w,
                labels=[-1, 0, 1],
                scale_by_half=False,
            )
        )


def test_the_tie_is_closer_than_the_wrong_side_only_for_the_ranked_score():
    tie, wrong = [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]
    assert ranked_probability_score([-1], tie) == 0.5
    assert ranked_probability_score([-1], wrong) == 1
    assert comparison_brier([-1], tie) == comparison_brier([-1], wrong) == 2


def test_zero_probability_of_what_happened_is_infinite_unless_it_weighs_nothing():
    proba = [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]
    assert comparison_log_loss([1, -1], proba) == np.inf
    assert comparison_log_loss([1, -1], proba, [0, 1]) == pytest.approx(np.log(2))


@ALL
def test_bad_probabilities(metric):
    with pytest.raises(ValueError, match=r"sum to 1 within 1e-06.*row 1 \(\[0.5, 0.5"):
        metric([0, 1], [[0.2, 0.3, 0.5], [0.5, 0.5, 0.1]])
    with pytest.raises(ValueError, match=r"none < 0.*row 0 \(\[-0.1"):
        metric([0], [[-0.1, 0.6, 0.5]])
    with pytest.raises(ValueError, match=r"sum to 1.*row 0 \(\[nan"):
        metric([0], [[np.nan, 0.5, 0.5]])
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*got \(2, 2\)"):
        metric([0, 1], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*got \(1, 3\)"):
        metric([0, 1], [[0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match="must hold -1"):
        metric([2], [[0.2, 0.3, 0.5]])


@ALL
def test_rounding_of_sums_is_allowed(metric):
    metric([0, 1], [[0.2, 0.3, 0.5 + 9e-7], [0.1, 0.2, 0.7 - 9e-7]])
    with pytest.raises(ValueError, match="sum to 1"):
        metric([0], [[0.2, 0.3, 0.5 + 2e-6]])
