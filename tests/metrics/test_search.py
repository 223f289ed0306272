# SPDX-License-Identifier: BSD-3-Clause
"""Average precision and reciprocal rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    label_ranking_average_precision_score,
)

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import (
    average_precision,
    disagreement,
    get_scorer,
    kendall_tau_b,
    ndcg,
    reciprocal_rank,
    spearman_rho,
    swapped_pairs,
    top_k_precision,
)

SMALL = graded_groups(max_rows=6, max_groups=2)
DEPTHS = st.one_of(st.none(), st.integers(1, 7))
WORTH = {"skip": None, "zero": 0.0, "one": 1.0}
BINARY = [
    pytest.param(average_precision, oracle.average_precision_of_group, id="AP"),
    pytest.param(reciprocal_rank, oracle.reciprocal_rank_of_group, id="RR"),
]
METRICS = [average_precision, reciprocal_rank]


def check_mean(metric, expected, empty):
    """Check a mean over groups, None where a group has nothing relevant."""
    counted = [WORTH[empty] if value is None else value for value in expected]
    counted = [value for value in counted if value is not None]
    if counted:
        assert metric() == pytest.approx(np.mean(counted), abs=1e-12)
    else:
        with pytest.raises(ValueError, match="none of the"):
            metric()


@pytest.mark.parametrize(("metric", "of_group"), BINARY)
@given(SMALL, DEPTHS, st.sampled_from([0, 1, 1.5]), st.sampled_from([*WORTH]))
def test_binary_metrics_average_over_all_orders_that_ties_allow(
    metric, of_group, data, k, threshold, empty
):
    y, utility, qid, _ = data
    expected = [
        of_group(y[rows] > threshold, utility[rows], k) for rows in oracle.members(qid)
    ]
    options = {"threshold": threshold, "empty": empty}
    check_mean(lambda: metric(y, utility, qid, k, **options), expected, empty)


def test_a_large_tie_equals_the_mean_of_many_drawn_orders():
    rng = np.random.default_rng(0)
    y = rng.choice([0, 0, 0, 0, 0, 0, 1, 2], size=60)
    utility = (np.arange(60) > 50).astype(int)
    for metric in METRICS:
        drawn = [metric(y, utility + rng.random(60) / 2) for _ in range(1000)]
        error = np.std(drawn) / np.sqrt(len(drawn))
        assert abs(metric(y, utility) - np.mean(drawn)) < 4 * error


def test_average_precision_equals_sklearn_where_nothing_ties():
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(20), 15)
    utility = rng.permutation(300)
    y = rng.integers(0, 2, 300)
    groups = [np.flatnonzero(qid == q) for q in range(20)]
    expected = np.mean([average_precision_score(y[g], utility[g]) for g in groups])
    assert average_precision(y, utility, qid) == pytest.approx(expected)
    # A row of labels without a relevant one counts 1 there.
    y[groups[3]] = 0
    table, scores = y.reshape(20, 15), utility.reshape(20, 15)
    expected = label_ranking_average_precision_score(table, scores)
    assert average_precision(y, utility, qid, empty="one") == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_groups_without_a_relevant_row(metric):
    y, utility, qid = [1, 0, 0, 0], [1, 2, 1, 2], [7, 7, 8, 8]
    alone = metric([1, 0], [1, 2])
    assert metric(y, utility, qid) == alone
    assert metric(y, utility, qid, empty="zero") == pytest.approx(alone / 2)
    with pytest.raises(ValueError, match=r'none of the 1 group.*empty="zero"'):
        metric([0, 0], [1, 2])
    assert metric([0, 0], [1, 2], empty="zero") == 0
    with pytest.raises(ValueError, match=r"empty must be 'skip'.*got 'drop'"):
        metric([0, 1], [1, 2], empty="drop")


def test_errors():
    for metric in (average_precision, reciprocal_rank):
        for threshold in ("high", None, np.nan, True):
            with pytest.raises(ValueError, match="threshold must be a finite number"):
                metric([0, 1], [1, 2], threshold=threshold)
        assert metric([-3, -1], [1, 2], threshold=-2) == 1


PER_GROUP = [
    *(ndcg, average_precision, reciprocal_rank, top_k_precision),
    *(swapped_pairs, disagreement, kendall_tau_b, spearman_rho),
]


@pytest.mark.filterwarnings("ignore:.*does not exist in")
@pytest.mark.parametrize("metric", PER_GROUP)
@given(graded_groups(max_rows=12, max_groups=4))
def test_without_average_each_group_has_the_value_it_has_alone(metric, data):
    y, utility, qid, _ = data
    _, first = np.unique(qid, return_index=True)
    groups = [np.flatnonzero(qid == qid[row]) for row in np.sort(first)]
    try:
        values = metric(y, utility, qid, average=False)
    except ValueError as error:
        assert "no pair to compare" in str(error)
        return
    assert len(values) == len(groups)
    for rows, value in zip(groups, values, strict=True):
        if np.isnan(value):
            with pytest.raises(ValueError, match=r"none of|no pair|needs two|any of"):
                metric(y[rows], utility[rows])
        else:
            assert metric(y[rows], utility[rows]) == pytest.approx(value, abs=1e-12)


def test_values_of_groups_take_the_worth_of_empty_ones():
    y, utility, qid = [1, 0, 0, 0], [1, 2, 1, 2], ["b", "b", "a", "a"]
    for empty, worth in (("skip", np.nan), ("zero", 0.0), ("one", 1.0)):
        values = reciprocal_rank(y, utility, qid, empty=empty, average=False)
        np.testing.assert_array_equal(values, [0.5, worth])
    with pytest.raises(TypeError, match="no option 'average'"):
        get_scorer("ndcg", average=False)
