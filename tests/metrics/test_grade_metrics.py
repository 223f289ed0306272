# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
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


@given(data=graded_groups(), extra=st.integers(0, 2))
def test_laws(data, extra):
    y, utility, qid, weight = data
    assume(sum(oracle.pair_sums(y, utility, qid, weight)) > 0)
    for metric, _ in METRICS:
        value = metric(y, utility, qid, weight)
        order = np.random.default_rng(extra).permutation(len(y))
        assert metric(y[order], utility[order], qid[order], weight[order]) == (
            pytest.approx(value, abs=1e-15)
        )
        assert metric(3 * y - 7, np.exp(utility), qid, weight) == value
        assert metric(y, utility, qid, 1e9 * weight) == pytest.approx(value)
        assert metric(y, utility, qid, 1e-9 * weight) == pytest.approx(value)
        kept = weight > 0
        assert metric(y[kept], utility[kept], qid[kept], weight[kept]) == (
            pytest.approx(value, abs=1e-15)
        )
        whole = (4 * weight).astype(int)
        repeated = [np.repeat(column, whole) for column in (y, utility, qid)]
        assert metric(*repeated) == pytest.approx(value, abs=1e-15)
    reverse = disagreement(y, -utility, qid, weight)
    assert reverse == pytest.approx(1 - disagreement(y, utility, qid, weight))


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
        with pytest.raises(ValueError, match=r"no pair to compare.*qid is the group"):
            metric(y, np.arange(len(y)), qid)
    with pytest.raises(ValueError, match="no pair to compare"):
        metric([1, 2, 2], [0, 1, 2], sample_weight=[0, 1, 1])


@BOTH
def test_bad_input(metric):
    with pytest.raises(ValueError, match="utility has 2 values but there are 3 rows"):
        metric([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="qid has 1 values but there are 2 rows"):
        metric([1, 2], [1, 2], [0])
    with pytest.raises(ValueError, match="negative"):
        metric([1, 2], [1, 2], sample_weight=[1, -1])
