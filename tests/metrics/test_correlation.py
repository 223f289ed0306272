# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from tests.metrics.strategies import graded_groups
from tests.oracles import metrics_bruteforce as oracle
from tiebreak.metrics import kendall_tau_b, spearman_rho

METRICS = [(kendall_tau_b, stats.kendalltau), (spearman_rho, stats.spearmanr)]
BOTH = pytest.mark.parametrize("metric", [kendall_tau_b, spearman_rho])


def is_constant(values):
    return len(set(values)) < 2


def tau_by_pairs(a, b):
    """The formula of the docstring, pair by pair."""
    one = np.ones(len(a))
    concordant, only_b, discordant = oracle.pair_sums(a, b, one, one)
    only_a = oracle.pair_sums(b, a, one, one)[1]
    untied = concordant + discordant
    return (concordant - discordant) / np.sqrt((untied + only_a) * (untied + only_b))


@given(graded_groups())
def test_equals_scipy_and_the_pairs_on_one_vector(data):
    a, b, _, _ = data
    for metric, peer in METRICS:
        if is_constant(a) or is_constant(b):
            with pytest.raises(ValueError, match="two distinct values"):
                metric(a, b)
        else:
            value = metric(a, b)
            assert value == pytest.approx(peer(a, b).statistic, abs=1e-12)
            assert metric(b, a) == pytest.approx(value, abs=1e-12)
            assert metric(a, -b) == pytest.approx(-value, abs=1e-12)
            one_group = metric(a, b, qid=["all"] * len(a))
            assert one_group == pytest.approx(value, abs=1e-12)
    if not is_constant(a) and not is_constant(b):
        assert kendall_tau_b(a, b) == pytest.approx(tau_by_pairs(a, b), abs=1e-12)


@given(graded_groups())
def test_groups_average_what_scipy_gives_in_each(data):
    a, b, qid, _ = data
    groups = oracle.members(qid)
    defined = [
        rows for rows in groups if not (is_constant(a[rows]) or is_constant(b[rows]))
    ]
    for metric, peer in METRICS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if not defined:
                with pytest.raises(ValueError, match="does not exist in any of"):
                    metric(a, b, qid)
                continue
            value = metric(a, b, qid)
        expected = np.mean([peer(a[rows], b[rows]).statistic for rows in defined])
        assert value == pytest.approx(expected, abs=1e-12)
        n_without = len(groups) - len(defined)
        assert len(caught) == (n_without > 0)
        if n_without:
            text = str(caught[0].message)
            assert f"in {n_without} of {len(groups)} groups" in text


@BOTH
def test_constants_are_errors_that_say_which(metric):
    with pytest.raises(ValueError, match=r"two distinct values; b is 4"):
        metric([1, 2, 3], [4, 4, 4])
    with pytest.raises(ValueError, match=r"two distinct values; a is 1"):
        metric([1], [2])
    with pytest.raises(ValueError, match=r"any of the 2 group\(s\)"):
        metric([1, 2], [1, 2], qid=["x", "y"])
