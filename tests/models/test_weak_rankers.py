# SPDX-License-Identifier: BSD-3-Clause
"""Weak rankers: the best of all features and of all cuts is found."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.data import as_items
from tiebreak.models.boosting import (
    FeatureRankers,
    StumpRankers,
    best_step,
    best_step_naive,
)


@st.composite
def tables(draw):
    n, p = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(-2, 2), min_size=n * p, max_size=n * p)
    X = np.array(draw(cells), dtype=float).reshape(n, p)
    potential = np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)))
    potential = potential - potential.mean()
    return X, potential / max(1.0, np.abs(potential).sum())


@given(tables())
def test_the_kernel_tries_every_cut(drawn):
    X, potential = drawn
    rankers = StumpRankers(as_items(X))
    found = best_step(rankers._order, rankers._step, potential, 1e-10)
    expected = best_step_naive(rankers._order, rankers._step, potential, 1e-10)
    assert found[:2] == expected[:2]
    assert found[2] == pytest.approx(expected[2], abs=1e-12)


@given(tables())
def test_no_cut_is_better_than_the_chosen_one(drawn):
    X, potential = drawn
    ranker = StumpRankers(as_items(X)).choose(potential)
    edges = [
        potential @ (X[:, f] > cut)
        for f in range(X.shape[1])
        for cut in np.unique(X[:, f])[:-1]
    ]
    assert abs(ranker.edge) == pytest.approx(np.max(np.abs(edges), initial=0), abs=1e-9)
    h = StumpRankers(as_items(X)).values(ranker)
    assert potential @ h == pytest.approx(ranker.edge, abs=1e-12)
    if edges:
        # In the middle between two values that occur.
        assert ranker.cut + 0.5 in X[:, ranker.feature] or ranker.cut % 0.5 == 0
        assert 0 < h.sum() < len(h)


@given(tables())
def test_no_feature_is_better_than_the_chosen_one(drawn):
    X, potential = drawn
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    h = (X - low) / np.where(span > 0, span, 1)
    for table in (X, sp.csr_array(X)):
        rankers = FeatureRankers(as_items(table))
        ranker = rankers.choose(potential)
        edges = np.abs(potential @ h)
        assert abs(ranker.edge) == pytest.approx(edges.max(), abs=1e-9)
        assert_allclose(rankers.values(ranker), h[:, ranker.feature], atol=1e-12)
        assert_array_equal(edges[: ranker.feature] < edges.max() - 1e-11, True)


def test_a_cut_lies_between_neighboring_floating_point_numbers():
    low = 1.0
    high = np.nextafter(low, 2)
    rankers = StumpRankers(as_items([[low], [high]]))
    ranker = rankers.choose(np.array([-0.5, 0.5]))
    assert_array_equal(rankers.values(ranker), [0, 1])
    huge = StumpRankers(as_items([[-1.7e308], [1.7e308]]))
    assert huge.choose(np.array([-0.5, 0.5])).cut == 0.0


def test_features_beyond_what_can_be_scaled():
    for column in ([-1.7e308, 1.7e308], [0.0, 5e-324]):
        table = as_items(np.array([[0.0, 1.0], column]).T)
        with pytest.raises(ValueError, match=r"Feature 1 goes from .*Scale the feat"):
            FeatureRankers(table)
