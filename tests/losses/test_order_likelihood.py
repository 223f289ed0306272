# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.oracles.compiled_kernels import add_choices_naive, add_list_matrices_naive
from tests.oracles.plackett_luce import event_probability
from tiebreak import Orders
from tiebreak.losses import order_likelihood
from tiebreak.losses.order_likelihood import (
    Choices,
    OrderLikelihood,
    add_choices,
    add_list_matrices,
)


@st.composite
def lists(draw):
    n_items = draw(st.integers(2, 6))
    flat, ends, indptr = [], [], [0]
    for _ in range(draw(st.integers(1, 4))):
        items = draw(st.permutations(range(n_items)))
        items = items[: draw(st.integers(2, n_items))]
        n_lower = draw(st.integers(0, len(items) - 1))
        items, lower = items[n_lower:], items[:n_lower]
        while items:
            size = draw(st.integers(1, min(3, len(items))))
            ends += [len(flat) + size] + [0] * (size - 1)
            flat += items[:size]
            items = items[size:]
        flat += lower
        ends += [0] * n_lower
        indptr.append(len(flat))
    ends = np.array(ends)
    found = {int(end - i) for i, end in enumerate(ends) if end}
    sizes = np.array(sorted(found | {1}))
    arrays = np.array(flat), ends, np.array(indptr), sizes
    return n_items, arrays


def run(kernel, n_items, arrays, x, v, weight):
    flat, ends, indptr, sizes = arrays
    gradient, bent = np.zeros((2, len(x)))
    value = kernel(flat, ends, indptr, weight, sizes, x, v, gradient, bent)
    return value, gradient, bent


@given(lists(), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 20.0]))
def test_the_recursion_equals_all_sets(drawn, seed, scale):
    n_items, arrays = drawn
    rng = np.random.default_rng(seed)
    n = n_items + len(arrays[3]) - 1
    x, v = scale * rng.normal(size=n), rng.normal(size=n)
    weight = rng.integers(1, 4, len(arrays[2]) - 1).astype(float)
    fast = run(add_choices, n_items, arrays, x, v, weight)
    slow = run(add_choices_naive, n_items, arrays, x, v, weight)
    for here, there in zip(fast, slow, strict=True):
        assert_allclose(here, there, rtol=1e-9, atol=1e-9 * (1 + scale))


@pytest.mark.parametrize("kernel", [add_choices, add_choices_naive])
def test_two_items_are_davidson(kernel):
    theta, tie = np.array([0.3, -0.5]), np.log(0.8)
    x = np.append(theta, tie)
    worth = np.exp(theta)
    total = worth.sum() + 0.8 * np.sqrt(worth.prod())
    for ends, chance in (
        ([1, 2], worth[0] / total),
        ([2, 0], 0.8 * np.sqrt(worth.prod()) / total),
    ):
        arrays = np.array([0, 1]), np.array(ends), np.array([0, 2]), np.array([1, 2])
        value, _, _ = run(kernel, 2, arrays, x, 0 * x, np.ones(1))
        assert value == pytest.approx(-np.log(chance))


def test_derivatives_are_those_of_the_value(rng):
    flat = np.array([0, 1, 2, 3, 4, 2, 0, 5])
    ends = np.array([1, 3, 0, 4, 5, 7, 0, 8])
    arrays = flat, ends, np.array([0, 5, 8]), np.array([1, 2])
    x, v, weight = rng.normal(size=7), rng.normal(size=7), np.array([1.0, 2.0])

    def at(t):
        return run(add_choices, 6, arrays, x + t * v, v, weight)

    h = 1e-5
    _, gradient, bent = at(0.0)
    assert_allclose((at(h)[0] - at(-h)[0]) / (2 * h), gradient @ v, rtol=1e-7)
    assert_allclose((at(h)[1] - at(-h)[1]) / (2 * h), bent, rtol=1e-6, atol=1e-7)


@given(lists(), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 10.0]))
def test_matrices_equal_those_of_all_sets(drawn, seed, scale):
    n_items, (flat, ends, indptr, sizes) = drawn
    rng = np.random.default_rng(seed)
    n = n_items + len(sizes) - 1
    x = scale * rng.normal(size=n)
    weight = rng.integers(1, 4, len(indptr) - 1).astype(float)
    results = []
    for kernel in (add_list_matrices, add_list_matrices_naive):
        hessian, squares, diagonal = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
        kernel(flat, ends, indptr, weight, sizes, x, hessian, diagonal, squares)
        results.append((hessian, squares, diagonal))
    for here, there in zip(*results, strict=True):
        assert_allclose(here, there, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_the_parts_of_the_objective_agree(rng, monkeypatch, alpha):
    orders = Orders(None, [[0, [1, 2], 3], [3, 1, 0], [[0, 2], 4], [4, 3, 2, 1, 0]])
    weight = np.array([1.0, 2.0, 0.5, 1.0])
    choices = Choices.of_positions(
        orders.flat, orders.position, orders.indptr, weight, 5
    )
    assert choices.block_sizes.tolist() == [1, 2, 0, 1, 1, 1, 1, 2, 0, 1, *[1] * 5]
    objective = OrderLikelihood(choices, alpha)
    x, v = rng.normal(size=6), rng.normal(size=6)
    value, gradient = objective.expand(x)
    H = objective.hessian()
    assert value == pytest.approx(objective.value(x))
    assert_allclose(objective.hessian_product(v), H @ v, rtol=1e-9)
    assert_allclose(objective.hessian_diagonal(), np.diag(H), rtol=1e-9)
    assert np.linalg.eigvalsh(H).min() > 0.0
    h = 1e-5
    change = (objective.value(x + h * v) - objective.value(x - h * v)) / (2 * h)
    assert_allclose(change, gradient @ v, rtol=1e-6)
    monkeypatch.setattr(order_likelihood, "_LEAST_ENTRIES", 1)
    parallel = OrderLikelihood(choices, alpha)
    assert_allclose(parallel.expand(x)[1], gradient, rtol=1e-12)
    assert_allclose(parallel.hessian(), H, rtol=1e-12)
    assert_allclose(parallel.squares(), objective.squares(), rtol=1e-12)
    if alpha == 0.0:
        assert gradient[:5].sum() == pytest.approx(0.0, abs=1e-12)


@st.composite
def partitions(draw):
    """A list of two to six items in blocks of unknown order, as best first."""
    items, blocks = draw(st.permutations(range(draw(st.integers(2, 6))))), []
    while items:
        size = draw(st.integers(1, len(items)))
        blocks.append(items[:size])
        items = items[size:]
    return blocks


@given(partitions(), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 8.0]))
def test_unknown_order_is_the_sum_over_all_orders(blocks, seed, scale):
    flat = np.array([item for block in blocks for item in block])
    first = np.cumsum([0, *map(len, blocks)])[:-1]
    position = np.repeat(first, [len(block) for block in blocks])
    indptr, none = np.array([0, len(flat)]), np.zeros(0, dtype=np.int64)
    weight, unordered = np.array([2.0]), np.array([True])
    choices = Choices.of_positions(
        flat, position, indptr, weight, len(flat), unordered
    ).with_lower(none, none)
    objective = OrderLikelihood(choices, 0.0)
    x, v = scale * np.random.default_rng(seed).normal(size=(2, len(flat)))
    expected = -2.0 * np.log(event_probability(blocks, x))
    assert objective.value(x) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    h = 1e-5 / scale
    _, gradient = objective.expand(x)
    change = (objective.value(x + h * v) - objective.value(x - h * v)) / (2 * h)
    assert change == pytest.approx(gradient @ v, rel=1e-5, abs=1e-5)
    moved = objective.expand(x + h * v)[1] - objective.expand(x - h * v)[1]
    objective.expand(x)
    matrix, squares, diagonal = objective._matrices(True, True)
    assert_allclose(matrix @ v, moved / (2 * h), atol=2e-5 * scale)
    assert_allclose(objective._sums(x, v)[2], matrix @ v, atol=1e-9 * scale)
    assert_allclose(diagonal, np.diag(matrix), atol=1e-12)
    assert_allclose(squares, np.outer(gradient, gradient) / 2.0, atol=1e-9)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9  # convex


def test_far_apart_strengths_do_not_cancel():
    """By hand: the best and the worst exchanged, 30 apart from each and the rest."""
    flat, position = np.array([4, 1, 2, 3, 0]), np.array([0, 1, 1, 1, 4])
    arrays = flat, position, np.array([0, 5]), np.ones(1), 5, np.array([True])
    none = np.zeros(0, dtype=np.int64)
    objective = OrderLikelihood(Choices.of_positions(*arrays).with_lower(none, none), 0)
    # e^-60 for the first, e^-30 for each of three before the last, in 3! orders.
    value = objective.value(np.array([60.0, 30.0, 30.0, 30.0, 0.0]))
    assert value == pytest.approx(60.0 + 3 * 30.0 - np.log(6.0), abs=1e-9)
