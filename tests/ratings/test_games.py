# SPDX-License-Identifier: BSD-3-Clause
"""The tie model of ratings: its optimum, its limits, and its probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from tiebreak.ratings.over_time.games import fit_ties, outcome_probabilities


def loss(slope, tie, logit, y, weight):
    """What is minimized, row by row from the definition."""
    total = slope - math.log(slope) - math.log(1 / (2 + tie))
    for x, outcome, w in zip(logit, y, weight, strict=True):
        parts = {-1: math.exp(-slope * x / 2), 0: tie, 1: math.exp(slope * x / 2)}
        if w:
            total -= w * math.log(parts[int(outcome)] / sum(parts.values()))
    return total


def simulate(rng, n, slope, tie):
    logit = rng.normal(0, 1.5, n)
    probability = outcome_probabilities(logit, slope, tie)
    y = (rng.random((n, 1)) > np.cumsum(probability, axis=1)).sum(axis=1) - 1
    return logit, y.astype(np.int8)


@given(
    rows=st.lists(
        st.tuples(
            st.floats(-4, 4),
            st.sampled_from([-1, 0, 1]),
            st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_is_the_minimum(rows):
    logit, y, weight = (np.array(column) for column in zip(*rows, strict=True))
    slope, tie = fit_ties(logit, y, weight)
    assert slope > 0
    assert math.isfinite(slope) and math.isfinite(tie)
    ties = weight[y == 0].sum() > 0
    assert (tie > 0) == ties
    here = loss(slope, tie, logit, y, weight)

    def at(z):
        return loss(math.exp(z[0]), math.exp(z[1]) if ties else 0.0, logit, y, weight)

    best = minimize(at, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7})
    assert here <= best.fun + 1e-9


def test_extremes_stay_finite():
    zeros = np.zeros(5)
    # Nothing to learn a slope from: the ratings are taken at their word.
    assert fit_ties(zeros, np.array([-1, 1, 1, -1, 1])) == (1.0, 0.0)
    slope, tie = fit_ties(zeros, np.zeros(5, dtype=np.int8))
    assert slope == pytest.approx(1.0)
    # 5 ties and one imagined decision: ν / (2 + ν) = 5/6.
    assert tie == pytest.approx(10.0)
    logit = np.array([-3.0, -1.0, 2.0, 5.0])
    always_right = fit_ties(logit, np.sign(logit))[0]
    always_wrong = fit_ties(logit, -np.sign(logit))[0]
    assert 1 < always_right < 20
    assert 0 < always_wrong < 0.5
    for scale in (1e-8, 1e4):
        slope, tie = fit_ties(scale * logit, np.array([-1, 1, 0, 1]))
        assert slope > 0
        assert math.isfinite(slope) and math.isfinite(tie)


def test_probabilities():
    probability = outcome_probabilities(np.array([0.0, 1.0, -1.0, 800.0]), 2.0, 0.5)
    assert_allclose(probability.sum(axis=1), 1)
    assert_allclose(probability[0], [0.4, 0.2, 0.4])
    e = math.e
    assert_allclose(probability[1], np.array([1 / e, 0.5, e]) / (1 / e + 0.5 + e))
    assert_array_equal(probability[2], probability[1][::-1])
    assert_array_equal(probability[3], [0, 0, 1])
    assert_array_equal(outcome_probabilities(np.array([0.3]), 1.0, 0.0)[:, 1], [0])
