# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import roc_auc_score

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import disagreement, swapped_pairs

METRICS = [
    (swapped_pairs, oracle.swapped_pairs),
    (disagreement, oracle.disagreement),
]
BOTH = pytest.mark.parametrize("metric", [swapped_pairs, disagreement])


@pytest.mark.parametrize(("metric", "slow"), METRICS)
@given(data=graded_groups())
def test_equals_the_double_loop(metric, slow, data):
    y, utility, qid, weight = data
    if sum(oracle.pair_sums(y, utility, qid, weight)) == 0:
        with pytest.raises(ValueError, match=r"weight|no pair"):
            metric(y, utility, qid, weight)
    else:
        value = metric(y, utility, qid, sample_weight=weight)
        assert value == pytest.approx(slow(y, utility, qid, weight), abs=1e-15)


@given(data=graded_groups())
def test_pairs_of_equal_grades_can_count(data):
    y, utility, qid, weight = data
    expected = oracle.disagreement_of_all(y, utility, qid, weight)
    if expected is None:
        with pytest.raises(ValueError, match=r"weight|no pair"):
            disagreement(y, utility, qid, weight, ties="count")
    else:
        value = disagreement(y, utility, qid, weight, ties="count")
        assert value == pytest.approx(expected, abs=1e-15)


def test_two_grades_without_ties_is_one_minus_the_roc_area():
    rng = np.random.default_rng(3)
    for n in (2, 11, 400):
        y = rng.permutation(np.arange(n) % 2)
        utility = rng.normal(size=n) + y
        weight = rng.uniform(size=n)
        for w in (None, weight):
            expected = 1 - roc_auc_score(y, utility, sample_weight=w)
            assert swapped_pairs(y, utility, sample_weight=w) == pytest.approx(expected)
            assert disagreement(y, utility, sample_weight=w) == pytest.approx(expected)


def test_groups_are_pooled_by_their_pairs():
    y = [0, 1, 2, 0, 1]
    utility = [0, 1, 2, 1, 0]
    qid = ["a", "a", "a", "b", "b"]
    assert swapped_pairs(y, utility, qid) == pytest.approx(1 / 4)
    # As one group, 3 of the 8 pairs of different grades are swapped or tied.
    assert swapped_pairs(y, utility) == pytest.approx(3 / 8)


@BOTH
def test_no_pair_to_compare_is_an_error(metric):
    for y, qid in (([1], None), ([2, 2], None), ([1, 2], [0, 1])):
        with pytest.raises(ValueError, match=r"no pair to compare"):
            metric(y, np.arange(len(y)), qid)
    with pytest.raises(ValueError, match="no pair to compare"):
        metric([1, 2, 2], [0, 1, 2], sample_weight=[0, 1, 1])
