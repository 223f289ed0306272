# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import ndcg, top_k_precision

SMALL = graded_groups(max_rows=6, max_groups=2)
DEPTHS = st.one_of(st.none(), st.integers(1, 7))
WORTH = {"skip": None, "zero": 0.0, "one": 1.0}


@given(SMALL, DEPTHS, st.sampled_from(["exp", "linear"]), st.sampled_from([*WORTH]))
def test_ndcg_averages_over_all_orders_that_ties_allow(data, k, gain, empty):
    y, utility, qid, _ = data
    gains = 2.0**y - 1 if gain == "exp" else y
    values = [
        oracle.ndcg_of_group(gains[rows], utility[rows], k)
        for rows in oracle.members(qid)
    ]
    counted = [WORTH[empty] if value is None else value for value in values]
    counted = [value for value in counted if value is not None]
    if counted:
        value = ndcg(y, utility, qid, k, gain, empty=empty)
        assert value == pytest.approx(np.mean(counted), abs=1e-12)
    else:
        with pytest.raises(ValueError, match="has a positive gain"):
            ndcg(y, utility, qid, k, gain, empty=empty)


@pytest.mark.parametrize("k", [None, 1, 5, 100])
def test_ndcg_equals_sklearn_in_every_group(k):
    rng = np.random.default_rng(2)
    qid = rng.integers(0, 8, 200)
    y = rng.integers(0, 5, 200) / 2
    utility = rng.integers(0, 6, 200)
    groups = [np.flatnonzero(qid == q) for q in range(8)]

    def peer(gains):
        return np.mean(
            [ndcg_score([gains[rows]], [utility[rows]], k=k) for rows in groups]
        )

    value = ndcg(y, utility, qid, k, gain="linear")
    assert value == pytest.approx(peer(y))
    assert 0.2 < value < 0.99
    assert ndcg(y, utility, qid, k) == pytest.approx(peer(2**y - 1))


def test_ndcg_of_a_single_document_and_of_an_empty_group():
    assert ndcg([3], [0.0]) == 1
    with pytest.raises(ValueError, match=r'0/0.*empty="zero" or "one"'):
        ndcg([0], [0.0])
    assert ndcg([0], [0.0], empty="zero") == 0
    assert ndcg([0], [0.0], empty="one") == 1
    y, utility, qid = [1, 0, 0, 0], [1, 2, 1, 2], [7, 7, 8, 8]
    alone = ndcg([1, 0], [1, 2])
    assert alone == pytest.approx(1 / np.log2(3))
    assert ndcg(y, utility, qid) == alone
    assert ndcg(y, utility, qid, empty="zero") == pytest.approx(alone / 2)
    assert ndcg(y, utility, qid, empty="one") == pytest.approx((alone + 1) / 2)


def test_ndcg_errors():
    with pytest.raises(ValueError, match=r"from 0 to 1000, got .*row 1 \(-1.0\)"):
        ndcg([0, -1], [1, 2])
    with pytest.raises(ValueError, match=r"from 0 to inf, got .*row 0 \(-0\.5\)"):
        ndcg([-0.5, 1], [1, 2], gain="linear")
    with pytest.raises(ValueError, match=r"got .*row 1 \(1001"):
        ndcg([1000, 1001], [1, 2])
    assert ndcg([1000, 1001], [1, 2], gain="linear") == 1
    assert ndcg([999, 1000], [1, 2]) == 1
    with pytest.raises(ValueError, match="gain must be 'exp' or 'linear'; got 2"):
        ndcg([0, 1], [1, 2], gain=2)
    with pytest.raises(ValueError, match=r"empty must be 'skip'.*got 'drop'"):
        ndcg([0, 1], [1, 2], empty="drop")


@given(SMALL, st.integers(1, 7))
def test_top_k_precision_enumerates_orders_and_true_tops(data, k):
    y, utility, qid, _ = data
    values = [
        oracle.top_k_precision_of_group(y[rows], utility[rows], k)
        for rows in oracle.members(qid)
    ]
    value = top_k_precision(y, utility, qid, k)
    assert value == pytest.approx(np.mean(values), abs=1e-12)


def test_top_k_precision_enumerated_where_both_borders_tie():
    rng = np.random.default_rng(1)
    for _ in range(40):
        y, utility = rng.integers(0, 2, (2, 6))
        y[0] = 2
        k = int(rng.integers(2, 5))
        expected = oracle.top_k_precision_of_group(y, utility, k)
        assert top_k_precision(y, utility, k=k) == pytest.approx(expected)
