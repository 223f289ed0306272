# SPDX-License-Identifier: BSD-3-Clause
"""Corners of convex hulls, against a linear program for every point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.oracles.l1_ranking import is_corner
from tiebreak.solvers import hull, hull_vertices

# Most dimensions for Qhull: as they are, all, and none.
LIMITS = [hull._QHULL_DIMENSIONS, 99, 0]


def corners(points):
    return np.flatnonzero([is_corner(points, i) for i in range(len(points))])


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_equals_a_program_for_every_point(limit, d, rng, monkeypatch):
    monkeypatch.setattr(hull, "_QHULL_DIMENSIONS", limit)
    points = rng.normal(size=(25, d))
    assert_array_equal(hull_vertices(points), corners(points))


@pytest.mark.parametrize("limit", LIMITS)
def test_flat_sets_are_seen_in_the_space_they_span(limit, rng, monkeypatch):
    monkeypatch.setattr(hull, "_QHULL_DIMENSIONS", limit)
    flat = rng.normal(size=(30, 2))
    points = flat @ rng.normal(size=(2, 6)) + 1e3
    assert_array_equal(hull_vertices(points), hull_vertices(flat))
    line = np.outer(rng.permutation(10) - 3.0, [1.0, -2.0, 0.5])
    ends = np.sort([line[:, 0].argmin(), line[:, 0].argmax()])
    assert_array_equal(hull_vertices(line), ends)
    assert_array_equal(hull_vertices(np.ones((1, 4))), [0])
    assert_array_equal(hull_vertices(np.eye(5)), np.arange(5))


@given(st.sets(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=20))
def test_points_of_a_grid_lie_on_faces_and_are_no_corners(cells):
    points = np.array(sorted(cells), dtype=float)
    expected = corners(points) if len(points) > 1 else np.array([0])
    for limit in LIMITS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hull, "_QHULL_DIMENSIONS", limit)
            assert_array_equal(hull_vertices(points), expected)


def test_many_dimensions(rng):
    points = rng.normal(size=(60, 9))
    inside = points[:20].mean(axis=0)
    points = np.vstack([points, inside, 0.5 * (points[0] + points[1])])
    found = hull_vertices(points)
    assert_array_equal(found, corners(points))
    assert 60 not in found and 61 not in found


def test_sizes_are_those_of_the_paper():
    # Nan et al., table 2: of 1000 points of a normal distribution, in 2 to 4
    # dimensions, 13, 32 and 85 are corners; here within what chance allows.
    rng = np.random.default_rng(0)
    for d, expected in ((2, 13), (3, 32), (4, 85)):
        sizes = [len(hull_vertices(rng.normal(size=(1000, d)))) for _ in range(5)]
        assert abs(np.mean(sizes) - expected) < 0.35 * expected
