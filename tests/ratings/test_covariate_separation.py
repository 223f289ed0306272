# SPDX-License-Identifier: BSD-3-Clause
"""Covariates without a finite effect, against certificates of SciPy's nnls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from tiebreak import Pairs, check_pairs
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.models.covariates import (
    EndlessEffect,
    covariate_separation,
    describe_covariate_separation,
)


def separation(rows, n_items, penalized):
    left, right, outcome, covariates = zip(*rows, strict=True)
    counts = count_comparisons(
        np.array(left, dtype=np.int64),
        np.array(right, dtype=np.int64),
        np.array(outcome, dtype=np.int8),
        np.ones(len(rows)),
        n_items,
        np.array(covariates, dtype=float),
    )
    return covariate_separation(counts, n_items, penalized=penalized)


def certified(rows, n_items, penalized):
    """Which effects can grow: those that no sum of the comparisons' demands bounds."""
    q = len(rows[0][3])
    demands = [np.r_[np.zeros(n_items + q), 1.0]]
    if not any(y == 0 for _, _, y, _ in rows):
        demands.append(-demands[0])
    for left, right, y, z in rows:
        d = np.zeros(n_items + q + 1)
        d[right] += 1
        d[left] -= 1
        d[n_items : n_items + q] = -np.array(z)
        twice = np.r_[np.zeros(n_items + q), 2.0]
        demands += [y * d - twice] if y else [twice - d, twice + d]
    demands = np.array(demands)[:, n_items:] if penalized else np.array(demands)
    found = []
    for column in range(q):
        grows = []
        for sign in (1, -1):
            target = np.zeros(demands.shape[1])
            target[demands.shape[1] - 1 - q + column] = -sign
            grows.append(nnls(demands.T, target)[1] > 1e-6)
        if any(grows):
            found.append(EndlessEffect(column, int(grows[0]) - int(grows[1])))
    return tuple(found)


one_row = st.tuples(
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([-1, 1, 1, 0]),
    st.tuples(st.sampled_from([0, 1, 1, -1, 2]), st.sampled_from([0, 0, 1])),
).filter(lambda row: row[0] != row[1])


@pytest.mark.parametrize("penalized", [False, True])
@given(rows=st.lists(one_row, min_size=2, max_size=14), q=st.integers(1, 2))
def test_what_is_found_has_no_certificate_against_it(penalized, rows, q):
    rows = [(left, right, y, z[:q]) for left, right, y, z in rows]
    expected = certified(rows, 4, penalized)
    assert separation(rows, 4, penalized) == expected


def test_an_effect_that_grows_with_another_is_found():
    rows = [(1, 2, 1, (1, 0)), (2, 1, 1, (1, 1))]
    assert separation(rows, 4, False) == certified(rows, 4, False)


def home_wins(n_items=4):
    return [(i, j, -1, (1,)) for i in range(n_items) for j in range(n_items) if i != j]


def test_a_home_side_that_wins_everything_is_found():
    for penalized in (False, True):
        assert separation(home_wins(), 4, penalized) == ((0, 1),)
        lost = [(i, j, 1, z) for i, j, _, z in home_wins()]
        assert separation(lost, 4, penalized) == ((0, -1),)
    # One upset, and item 1 may still be better by ever more; two contradict all.
    upset = [*home_wins(), (0, 1, 1, (1,))]
    assert separation(upset, 4, penalized=True) == ()
    assert separation(upset, 4, penalized=False) == ((0, 1),)
    assert separation([*upset, (1, 0, 1, (1,))], 4, penalized=False) == ()


def test_an_advantage_in_the_place_of_strengths_is_found():
    rows = [(0, 1, -1, (1,)), (0, 1, 1, (1,)), (1, 2, -1, (1,)), (1, 2, 1, (1,))]
    assert separation(rows, 3, penalized=False) == ((0, 0),)
    assert separation(rows, 3, penalized=True) == ()
    (text,) = describe_covariate_separation([EndlessEffect(0, 0)], ["advantage"])
    assert "advantage cannot be told from strengths" in text
    (text,) = describe_covariate_separation([EndlessEffect(1, 1)], ["h", "rest"])
    assert "effect of rest" in text


def check(rows):
    left, right, y, z = zip(*rows, strict=True)
    report = check_pairs(Pairs(None, left, right), y, advantage=np.ravel(z))
    return report, [found for found in report.findings if found.code == "separated"]


def test_check_pairs_calls_it_a_problem_and_says_what_to_try():
    report, (found,) = check(home_wins())
    assert found.level == "problem"
    assert not report.ok
    assert not report.has_maximum_likelihood
    assert "won all its 12 decided games" in found.message
    assert "Leave it out" in found.message
    report, found = check([*home_wins(), (0, 1, 1, (1,)), (1, 0, 1, (1,))])
    assert report.ok
    assert found == []


def test_check_pairs_warns_where_the_prior_decides():
    rows = [(0, 1, -1, (1,)), (0, 1, 1, (1,)), (1, 2, -1, (1,)), (1, 2, 1, (1,))] * 3
    report, (found,) = check(rows)
    assert report.ok
    assert found.level == "warning"
    assert 'alpha="auto"' in found.message
    assert 'alpha="auto"' in found.message
