# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tiebreak.solvers.cutting_planes import CuttingPlanes


def random_planes(rng, n_planes, capacity, q=5, n=9):
    """Planes of a convex function: tangents of ‖Ax‖² + 1, with A known."""
    A = rng.normal(size=(n, q))
    planes = CuttingPlanes(q, n, capacity)
    for _ in range(n_planes):
        u = A @ rng.normal(size=q)
        g = 2 * u
        planes.add(A.T @ g, float(u @ u) + 1.0 - float(g @ u), g)
    return A, planes


def test_without_planes_the_bound_is_zero():
    x, bound = CuttingPlanes(3, 4, 5).maximize(2.0, 1e-9)
    assert not x.any()
    assert bound == 0.0


@pytest.mark.parametrize("C", [1e-6, 0.1, 10.0])
def test_the_bound_is_the_minimum_of_the_planes(rng, C):
    A, planes = random_planes(rng, 20, 30)
    x, bound = planes.maximize(C, 1e-12)
    k = len(planes)
    highest = (planes._a[:k] @ x + planes._b[:k]).max()
    assert 0.5 * x @ x + C * highest == pytest.approx(bound, rel=1e-8)
    assert bound <= 0.5 * x @ x + C * (np.sum((A @ x) ** 2) + 1.0)
    # No other point is lower.
    for _ in range(50):
        z = x + 0.1 * rng.normal(size=5)
        value = 0.5 * z @ z + C * (planes._a[:k] @ z + planes._b[:k]).max()
        assert value >= bound
    assert_allclose(-C * (A.T @ planes.combined()), x, atol=1e-9)


def test_old_planes_go_and_the_bound_stays(rng):
    A, planes = random_planes(rng, 7, 12)
    bounds = []
    for _ in range(40):
        x, bound = planes.maximize(1.0, 1e-12)
        assert_consistent(planes)
        bounds.append(bound)
        assert len(planes) <= 12
        assert_allclose(-(A.T @ planes.combined()), x, atol=1e-9)
        u = A @ (x + 0.1 * rng.normal(size=5))
        planes.add(2 * A.T @ u, 1.0 - float(u @ u), 2 * u)
    assert (np.diff(bounds) >= -1e-10).all()
    assert bounds[-1] > bounds[0]


def assert_consistent(planes):
    k = len(planes)
    a = planes._a[:k]
    assert_allclose(planes._gram[:k, :k], a @ a.T, atol=1e-9)
    assert planes.weight.sum() == pytest.approx(1.0)
    assert not planes._program.weight[k:].any()


def tangents_with_weight(n_planes):
    """In many dimensions all tangents at small points have weight."""
    planes = CuttingPlanes(30, 30, n_planes + 1)
    for u in 0.3 * np.eye(30)[:n_planes]:
        planes.add(2 * u, 1.0 - float(u @ u), 2 * u)
    return planes


def test_making_room_changes_no_bound(rng):
    n_planes = 7
    few, many = tangents_with_weight(n_planes), random_planes(rng, 7, 8, q=2)[1]
    for planes in (few, many):
        x, bound = planes.maximize(1.0, 1e-12)
        n_heavy = (planes.weight > 0).sum()
        assert n_heavy == n_planes if planes is few else n_heavy < 5
        planes._shrink()
        assert_consistent(planes)
        assert len(planes) < n_planes + 1
        after, same = planes._bound(1.0)
        assert same == pytest.approx(bound, rel=1e-12)
        assert_allclose(after, x, atol=1e-12)


def test_a_bound_is_never_given_up(rng, monkeypatch):
    _, planes = random_planes(rng, 9, 12)
    x, bound = planes.maximize(1.0, 1e-12)

    def spoil(V, gram, q, eps, max_pivots):
        planes.weight[:] = 0.0
        planes.weight[-1] = 1.0

    monkeypatch.setattr(planes._program, "maximize", spoil)
    again, same = planes.maximize(1.0, 1e-12)
    assert same == bound
    assert_allclose(again, x)


def test_planes_with_weight_become_one():
    A, planes, before = np.eye(30), CuttingPlanes(30, 30, 8), 0.0
    for u in 0.3 * np.eye(30):
        planes.add(2 * u, 1.0 - float(u @ u), 2 * u)
        x, bound = planes.maximize(1.0, 1e-12)
        assert len(planes) <= 8
        assert bound >= before - 1e-12
        assert_allclose(-(A.T @ planes.combined()), x, atol=1e-12)
        before = bound
    assert (planes.weight > 0).sum() > 3


def test_another_c_uses_the_same_planes(rng):
    _, planes = random_planes(rng, 25, 40)
    forward = [planes.maximize(C, 1e-13)[1] for C in (1e-3, 1e-2, 0.1, 1.0, 10.0)]
    back = [planes.maximize(C, 1e-13)[1] for C in (10.0, 1.0, 0.1, 1e-2, 1e-3)]
    assert_allclose(forward, back[::-1], rtol=1e-9)
