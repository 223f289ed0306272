# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles import grade_losses as oracle
from tiebreak.data import threads
from tiebreak.losses import (
    GradeHinge,
    GradeSquaredHinge,
    GradeTree,
    ListedSquaredHinge,
    SmoothedHinge,
)
from tiebreak.losses import (
    grade_tree as grade_tasks,
)

LOSSES = {
    "hinge": GradeHinge,
    "squared_hinge": GradeSquaredHinge,
}


@st.composite
def graded(draw):
    """Rows with ties in grades and utilities, zero weights, margins of exactly one."""
    n = draw(st.integers(1, 24))
    column = lambda values: np.array(draw(st.lists(values, min_size=n, max_size=n)))  # noqa: E731
    y = column(st.integers(0, draw(st.integers(0, 9)))).astype(float)
    group = column(st.integers(0, draw(st.integers(0, 3))))
    weight = column(st.sampled_from([0.0, 1.0, 1.0, 2.5]))
    # Quarters are exact, and so are their differences and a margin of one.
    u = column(st.integers(-12, 12)) / 4
    v = column(st.integers(-5, 5)).astype(float)
    return y, np.unique(group, return_inverse=True)[1], weight, u, v


@pytest.mark.parametrize("name", LOSSES)
@given(data=graded(), per_group=st.sampled_from(["sum", "mean"]))
def test_a_loss_is_the_sum_over_all_pairs(name, data, per_group):
    y, group, weight, u, v = data
    W = oracle.pair_weights(y, group, weight, per_group)
    value, gradient, hessian = oracle.loss(name, u, W)
    tree = GradeTree(y, group, weight, per_group)
    assert tree.n_pairs == np.count_nonzero(W)
    assert tree.total == pytest.approx(W.sum())
    loss = LOSSES[name](tree)
    found, slope = loss.expand(u)
    size = 1 + np.abs(hessian).sum() + np.abs(gradient).sum()
    assert found == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert_allclose(slope, gradient, atol=1e-13 * size)
    if name != "hinge":
        assert_allclose(loss.hessian_product(v), hessian @ v, atol=1e-12 * size)
        assert_allclose(loss.hessian_diagonal(), np.diag(hessian), atol=1e-13 * size)


def big(rng, n=3000, n_groups=1, real=False):
    """Make data with enough rows for several nodes and levels."""
    y = rng.normal(size=n) if real else rng.integers(0, 6, n).astype(float)
    group = rng.integers(0, n_groups, n)
    return y, np.unique(group, return_inverse=True)[1], rng.normal(size=n)


@pytest.mark.extended
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("n_groups", [1, 40])
def test_larger_data_with_weights(rng, n_groups, real):
    y, group, u = big(rng, 300, n_groups, real)
    weight = rng.uniform(size=300)
    W = oracle.pair_weights(y, group, weight)
    for name, kind in LOSSES.items():
        value, gradient, hessian = oracle.loss(name, u, W)
        loss = kind(GradeTree(y, group, weight))
        found, slope = loss.expand(u)
        assert found == pytest.approx(value, rel=1e-12)
        assert_allclose(slope, gradient, atol=1e-11 * np.abs(gradient).max())
        if name != "hinge":
            v = rng.normal(size=300)
            expected = hessian @ v
            assert_allclose(
                loss.hessian_product(v), expected, atol=1e-11 * np.abs(expected).max()
            )


@pytest.mark.parametrize("name", LOSSES)
def test_threads_equal_serial(rng, monkeypatch, name):
    y, group, u = big(rng, 6000, 3)
    weight = rng.uniform(0.5, 2, size=6000)
    v = rng.normal(size=6000)

    def run():
        loss = LOSSES[name](GradeTree(y, group, weight))
        value, gradient = loss.expand(u)
        image = loss.hessian_product(v) if name != "hinge" else gradient
        return value, gradient, image, loss.tree._tasks

    monkeypatch.setattr(grade_tasks, "n_threads", lambda: 1)
    serial = run()
    assert len(serial[3]) == 1
    monkeypatch.setattr(grade_tasks, "n_threads", lambda: 4)
    monkeypatch.setattr(threads, "n_threads", lambda: 4)
    monkeypatch.setattr(grade_tasks, "_LEAST_TASK", 100)
    parallel = run()
    assert len(parallel[3]) > 1
    for one, other in zip(serial[:3], parallel[:3], strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-9)


def test_every_pair_is_in_one_node(rng):
    y, group, _ = big(rng, 500, 7, real=True)
    tree = GradeTree(y, group, np.ones(500))
    seen = np.zeros((500, 500), dtype=int)
    for lo, mid, hi, _ in tree.nodes:
        seen[np.ix_(tree.rows[mid:hi], tree.rows[lo:mid])] += 1
    expected = (y[:, None] > y[None]) & (group[:, None] == group[None])
    assert_array_equal(seen, expected)
    assert tree.n_levels <= 2 * np.log2(500)


def test_skewed_grades_stay_shallow():
    # Each grade as frequent as all lower ones together.
    y = np.repeat(np.arange(14.0), 2 ** np.arange(14))
    tree = GradeTree(y, np.zeros(len(y), dtype=int), np.ones(len(y)))
    assert tree.n_levels <= 14


def test_groups_without_a_pair_are_counted_and_cost_nothing():
    y = np.array([1.0, 2, 5, 5, 7, 3])
    group = np.array([0, 0, 1, 1, 2, 3])
    # The last group is absent: its only row weighs nothing.
    tree = GradeTree(y, group, np.array([1.0, 1, 1, 1, 1, 0]))
    assert (tree.n_groups, tree.n_idle_groups) == (3, 2)
    assert sorted(tree.rows) == [0, 1]
    value, gradient = GradeHinge(tree).expand(np.zeros(6))
    assert value == 1.0
    assert_array_equal(gradient, [1, -1, 0, 0, 0, 0])


@pytest.mark.parametrize("name", LOSSES)
def test_no_pair_at_all(name):
    tree = GradeTree(np.ones(3), np.zeros(3, dtype=int), np.ones(3))
    loss = LOSSES[name](tree)
    value, gradient = loss.expand(np.arange(3.0))
    assert (value, tree.n_pairs, tree.n_idle_groups) == (0.0, 0, 1)
    assert_array_equal(gradient, np.zeros(3))


def test_far_away_utilities_keep_their_digits(rng):
    y, group, u = big(rng, 200)
    tree = GradeTree(y, group, np.ones(200))
    u = np.round(u * 64) / 64  # exact after a shift by 2^20
    for kind in LOSSES.values():
        near, far = kind(tree).expand(u), kind(tree).expand(u + 2.0**20)
        assert_allclose(far[0], near[0], rtol=1e-9)
        assert_allclose(far[1], near[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_groups", [1, 30])
@pytest.mark.parametrize("per_group", ["sum", "mean"])
def test_a_sketch_of_all_rows_is_exact_and_a_small_one_near(rng, n_groups, per_group):
    y, group, _ = big(rng, 1500, n_groups)
    A = rng.normal(size=(1500, 3)) @ rng.normal(size=(3, 3))
    x = rng.normal(size=3) / 4
    loss = GradeSquaredHinge(GradeTree(y, group, np.ones(1500), per_group))
    loss.expand(A @ x)
    exact = A.T @ np.column_stack([loss.hessian_product(column) for column in A.T])
    assert_allclose(loss.sketch(A, 10_000), exact, rtol=1e-9, atol=1e-9)
    loss = GradeSquaredHinge(GradeTree(y, group, np.ones(1500), per_group))
    loss.expand(A @ x)
    near = loss.sketch(A, 400)
    assert_allclose(near, near.T)
    ratio = np.linalg.eigvals(np.linalg.solve(exact, near)).real
    assert ratio.min() > 0.4
    assert ratio.max() < 2.5


@pytest.mark.parametrize("kind", ["sum", "mean", "listed"])
def test_the_smoothed_hinge_is_a_sum_over_pairs_and_bounds_the_hinge(rng, kind):
    y, group = rng.integers(0, 3, 30).astype(float), rng.integers(0, 2, 30)
    weight, u = rng.uniform(0.5, 2.0, 30), rng.normal(size=30)
    y[:2], group[:2], u[0] = (1.0, 0.0), 0, u[1] + 1.0  # one pair at the margin
    per_group = "mean" if kind == "mean" else "sum"
    tree = GradeTree(y, group, weight, per_group)
    hinge = GradeHinge(tree)
    W = oracle.pair_weights(y, group, weight, per_group)
    z = 1.0 - (u[:, None] - u[None, :])
    for width in (0.5, 0.05):
        if kind == "listed":
            better, worse = np.nonzero(W)
            listed = better, worse, W[better, worse], 30
            parts = [ListedSquaredHinge(*listed) for _ in range(2)]
        else:
            parts = [GradeSquaredHinge(tree), GradeSquaredHinge(tree.twin())]
        smooth = SmoothedHinge(*parts, width)
        value, gradient = smooth.expand(u)
        share = np.clip(z / width + 0.5, 0.0, 1.0)  # slope of the rounded hinge
        inside = np.abs(z) < width / 2
        rounded = np.where(inside, (z + width / 2) ** 2 / (2 * width), z.clip(0.0))
        assert_allclose(value, (W * rounded).sum())
        push = W * share
        assert_allclose(gradient, push.sum(axis=0) - push.sum(axis=1), atol=1e-12)
        assert_allclose(smooth.dual_sum, (W * share).sum())
        bend = W * inside / width
        bend = bend + bend.T
        H = np.diag(bend.sum(axis=1)) - bend
        assert inside[W > 0].any()
        A = rng.normal(size=(30, 4))
        assert_allclose(smooth.sketch(A), A.T @ H @ A, atol=1e-9)
        # At no point is it below the hinge, and above it by at most an eighth of the
        # width for every pair in the band.
        excess = value - hinge.expand(u)[0]
        assert -1e-9 <= excess <= (W * inside).sum() * width / 8 + 1e-9
