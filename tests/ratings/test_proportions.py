# SPDX-License-Identifier: BSD-3-Clause
"""Shares of wins against SciPy's own binomial test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from tiebreak.ratings.checks.check_pairs import (
    binomial_at_most,
    wilson_interval,
)

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_wilson_interval_is_that_of_scipy(count):
    wins, total = count
    expected = binomtest(wins, total).proportion_ci(0.95, method="wilson")
    assert wilson_interval(wins, total) == pytest.approx(tuple(expected), abs=1e-12)


@given(counts)
def test_tails_are_those_of_scipy(count):
    wins, total = count
    assert binomial_at_most(wins, total) == pytest.approx(binom.cdf(wins, total, 0.5))


def test_sums_of_weights_lie_between_whole_numbers():
    between = binomial_at_most(np.array([3.0, 3.5, 4.0]), 10.0)
    assert between[0] < between[1] < between[2]


def test_the_interval_of_a_share_of_tiny_weights_is_everything():
    assert wilson_interval(1e-320, 2e-320) == pytest.approx((0.0, 1.0))
