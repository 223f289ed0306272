# SPDX-License-Identifier: BSD-3-Clause
"""The greedy solver against exhaustive search, and where columns run out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.oracles import pursuit as plain
from tiebreak.kernels import MatrixDictionary
from tiebreak.solvers import pursue


class Squares:
    """L = BᵀB."""

    def __init__(self, B):
        self.B = B

    def product(self, v):
        return self.B.T @ (self.B @ v)

    def measure(self, block):
        norm = np.sum((self.B @ block.T) ** 2, axis=0)
        return np.column_stack([norm, np.sum(np.abs(block) @ np.abs(self.B.T) ** 2, 1)])

    def reduce(self, k):
        return k


def run(K, B, s, steps, **options):
    target = B @ s
    return pursue(
        MatrixDictionary(np.ascontiguousarray(K.T)),
        Squares(B),
        B.T @ target,
        float(target @ target),
        n_steps=steps,
        **options,
    )


MODES = {
    "plain": {"backfit": False},
    "backfit": {"backfit": True},
    "prefit": {"backfit": True, "prefit": True},
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


@every_mode
def test_equals_exhaustive_search(rng, mode):
    K, B, s = rng.normal(size=(12, 9)), rng.normal(size=(15, 12)), rng.normal(size=12)
    chosen, path, values = plain.greedy(B @ K, B @ s, 6, **mode)
    found = run(K, B, s, 6, **mode)
    assert_array_equal(found.columns, list(dict.fromkeys(chosen)))
    assert_allclose(found.coefs, path[:, found.columns], atol=1e-9)
    assert_allclose(found.objective, values, atol=1e-9)
    assert not found.exhausted
    assert found.objective[-1] < 0.9 * found.objective[0]


def test_modes_differ():
    # Or the tests above would test one mode three times.
    rng = np.random.default_rng(0)
    K, B, s = rng.normal(size=(30, 25)), np.eye(30), rng.normal(size=30)
    K += 2 * K[:, [0]]
    ends = [run(K, B, s, 8, **mode).objective[-1] for mode in MODES.values()]
    assert ends[2] < ends[0] and ends[1] < ends[0]
    assert ends[1] != ends[2]


@pytest.mark.parametrize("prefit", [False, True])
def test_backfitted_residual_is_orthogonal_to_what_was_taken(rng, prefit):
    K, B, s = rng.normal(size=(20, 15)), rng.normal(size=(25, 20)), rng.normal(size=20)
    found = run(K, B, s, 10, backfit=True, prefit=prefit)
    for step, count in enumerate(found.n_taken):
        own = K[:, found.columns[:count]]
        left = s - own @ found.coefs[step, :count]
        size = np.linalg.norm(B @ s) * np.linalg.norm(B @ own)
        assert np.abs(own.T @ B.T @ B @ left).max() < 1e-12 * size
    assert_array_equal(found.n_taken, np.arange(1, 11))


def test_a_column_is_taken_again_without_backfitting():
    K = np.array([[1.0, 0.9], [0.0, 0.5]])
    found = run(K, np.eye(2), np.array([1.0, -1.0]), 60, backfit=False)
    assert len(found.columns) == 2
    assert len(found.coefs) == 60
    assert_allclose(K[:, found.columns] @ found.coefs[-1], [1, -1], atol=1e-3)


@every_mode
def test_stops_when_all_is_explained(rng, mode):
    K = rng.normal(size=(10, 4))
    s = K @ [1.0, -2.0, 0.5, 1.0]
    found = run(K, np.eye(10), s, 20_000, **mode)
    assert found.exhausted
    assert len(found.coefs) < 20_000
    assert found.objective[-1] < 1e-10 * found.objective[0]
    assert_allclose(K[:, found.columns] @ found.coefs[-1], s, atol=1e-5)


@every_mode
def test_dependent_and_duplicated_columns_are_not_taken(rng, mode):
    base = rng.normal(size=(12, 3))
    mixed = base @ rng.normal(size=(3, 5))
    K = np.hstack([base, base, mixed, np.zeros((12, 2))])
    found = run(K, np.eye(12), rng.normal(size=12), 9, **mode)
    assert np.isfinite(found.coefs).all()
    assert not set(found.columns.tolist()) & {11, 12}
    if mode["backfit"]:
        assert found.exhausted
        assert len(found.columns) == 3
        assert np.abs(found.coefs).max() < 1e6


@every_mode
def test_columns_that_the_form_does_not_see(rng, mode):
    # Columns constant inside every group have kᵀLk = 0.
    group = np.repeat([0, 1, 2], 4)
    B = plain.pair_rows(group, np.ones(12))
    K = rng.normal(size=(12, 6))
    K[:, 0], K[:, 3] = 5.0, group * 1e3
    found = run(K, B, rng.normal(size=12), 4, **mode)
    assert not set(found.columns.tolist()) & {0, 3}
    nothing = run(K[:, [0, 3]], B, rng.normal(size=12), 4, **mode)
    assert nothing.exhausted
    assert nothing.coefs.shape == (0, 0)


@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=5, max_size=5), min_size=1),
    st.sampled_from(list(MODES.values())),
)
def test_never_worse_and_never_nan(rows, mode):
    K = np.array(rows, dtype=float).T
    s = np.array([3.0, -1.0, 0.5, 2.0, -4.0])
    found = run(K, np.eye(5), s, 7, **mode)
    assert np.isfinite(found.coefs).all()
    assert (np.diff(found.objective) <= 0).all()
    if len(found.coefs):
        left = s - K[:, found.columns] @ found.coefs[-1]
        assert_allclose(left @ left, found.objective[-1], atol=1e-9)


@every_mode
def test_of_multiples_of_a_column_the_first_is_taken(rng, mode):
    k = rng.normal(size=(20, 1))
    K = np.hstack([0.001 * rng.normal(size=(20, 1)), k * rng.normal(size=9)])
    found = run(K, rng.normal(size=(25, 20)), 3 * k[:, 0], 1, **mode)
    assert_array_equal(found.columns, [1])


@pytest.mark.parametrize("prefit", [False, True])
def test_a_column_that_nearly_depends_on_others_is_not_taken(prefit):
    # The second column could explain all, with coefficients of ten million.
    k, n = np.eye(2)
    K = np.column_stack([k, k + 1e-7 * n])
    found = run(K, np.eye(2), k + n, 2, backfit=True, prefit=prefit)
    assert found.exhausted
    assert len(found.columns) == 1
    assert_allclose(found.coefs, 1.0, atol=1e-6)
