# SPDX-License-Identifier: BSD-3-Clause
"""How a pair is chosen, against the same choice by whole arrays."""

import numpy as np
import pytest

from tiebreak.solvers.working_set import find_partner, find_violation


@pytest.fixture
def case(rng):
    """Twelve variables, a third of them at either bound."""
    features = rng.normal(size=(12, 5))
    s = np.repeat([-1.0, 0.0, 2.0], 4)
    return features @ features.T, rng.normal(size=12), s, np.full(12, -1.0)


def test_the_first_variable_violates_most(case):
    _, e, s, lower = case
    i, violation = find_violation(e, s, lower, np.full(12, 2.0))
    assert i == np.where(s < 2.0, e, -np.inf).argmax()
    assert violation == e[s < 2.0].max() - e[s > -1.0].min()


def test_without_room_to_grow_there_is_no_first_variable(case):
    _, e, s, lower = case
    assert find_violation(e, s, lower, s)[0] == -1


def test_the_second_variable_gains_most(case):
    K, e, s, lower = case
    i = int(e.argmax())
    curve = K[i, i] + np.diag(K) - 2.0 * K[i]
    curve[i] = 1.0
    gain = np.where((s > lower) & (e < e[i]), (e[i] - e) ** 2 / curve, 0.0)
    j = find_partner(K[i], np.diag(K).copy(), e, s, lower, K[i, i], e[i])
    assert j == gain.argmax()
    assert find_partner(K[i], np.diag(K).copy(), e, lower, lower, K[i, i], e[i]) == -1
