# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import accuracy_score, roc_auc_score, roc_curve

from tests.metrics.strategies import comparisons
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import (
    comparison_accuracy,
    comparison_auc,
    comparison_error,
    comparison_roc_curve,
)


@given(comparisons())
def test_error_equals_the_loop_and_sklearn(data):
    outcome, difference, weight = data
    predicted = np.sign(difference)
    value = comparison_error(outcome, predicted, weight)
    assert value == pytest.approx(oracle.comparison_error(outcome, predicted, weight))
    assert value == pytest.approx(
        1 - accuracy_score(outcome, predicted, sample_weight=weight)
    )
    assert comparison_accuracy(outcome, predicted, weight) == 1 - value


@given(comparisons())
def test_every_point_of_the_curve_is_what_its_threshold_gives(data):
    outcome, difference, weight = data
    fpr, tpr, thresholds = comparison_roc_curve(outcome, difference, weight)
    assert thresholds[0] == np.inf
    assert (np.diff(thresholds) < 0).all()
    for point in zip(fpr, tpr, thresholds, strict=True):
        expected = oracle.roc_point(outcome, difference, weight, point[2])
        assert point[:2] == pytest.approx(expected, abs=1e-15)
    # No threshold gives a point that the curve does not have.
    for threshold in {0.0, *np.abs(difference), *(np.abs(difference) + 0.1)}:
        expected = oracle.roc_point(outcome, difference, weight, threshold)
        distance = np.abs(fpr - expected[0]) + np.abs(tpr - expected[1])
        assert distance.min() < 1e-12


@given(comparisons())
def test_area_counts_ties_against_non_ties(data):
    outcome, difference, weight = data
    for close in (False, True):
        area = comparison_auc(outcome, difference, close=close, sample_weight=weight)
        expected = oracle.comparison_auc(outcome, difference, weight, close)
        assert area == pytest.approx(expected, abs=1e-12)
        assert 0 <= area <= 1


def test_curve_by_hand_that_ends_before_one_on_both_axes():
    # Falling |d|: a right non-tie, a tie, a wrong non-tie, and a tie at 0.
    outcome = [1, 0, 1, 0]
    difference = [4.0, -3.0, -2.0, 0.0]
    fpr, tpr, thresholds = comparison_roc_curve(outcome, difference)
    assert fpr.tolist() == [0, 0, 0.5, 0.5]
    assert tpr.tolist() == [0, 0.5, 0.5, 0.5]
    assert thresholds.tolist() == [np.inf, 3, 2, 0]
    assert comparison_auc(outcome, difference) == 0.25
    assert comparison_auc(outcome, difference, close=True) == 0.5


def test_with_right_signs_and_no_zeros_it_is_the_ordinary_curve_of_sizes():
    rng = np.random.default_rng(5)
    outcome = rng.integers(-1, 2, 300)
    size = rng.integers(1, 20, 300) + 3.0 * (outcome != 0)
    weight = rng.uniform(0.1, 1, 300)
    sign = np.where(outcome == 0, rng.choice([-1, 1], 300), outcome)
    difference = size * sign
    expected = roc_auc_score(outcome != 0, size, sample_weight=weight)
    area = comparison_auc(outcome, difference, sample_weight=weight)
    assert area == pytest.approx(expected)
    fpr, tpr, _ = comparison_roc_curve(outcome, difference, weight)
    expected_fpr, expected_tpr, _ = roc_curve(
        outcome != 0, size, sample_weight=weight, drop_intermediate=False
    )
    np.testing.assert_allclose(fpr, expected_fpr)
    np.testing.assert_allclose(tpr, expected_tpr)
    assert fpr[-1] == tpr[-1] == 1


@pytest.mark.parametrize("metric", [comparison_auc, comparison_roc_curve])
def test_one_kind_of_outcome_is_an_error(metric):
    with pytest.raises(ValueError, match=r"0 of 2 are ties"):
        metric([1, -1], [1, 2])
    with pytest.raises(ValueError, match=r"2 of 2 are ties"):
        metric([0, 0], [1, 2])
    with pytest.raises(ValueError, match="0 of 1 are ties"):
        metric([0, 1], [1, 2], sample_weight=[0, 1])
