# SPDX-License-Identifier: BSD-3-Clause
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from tests.extended import few
from tests.oracles import plackett_luce as oracle
from tiebreak import BradleyTerry, Orders, Pairs, PlackettLuce
from tiebreak.datasets import load_sushi_orders


def draw(rng, n=25, n_items=5, shortest=2, ties=0.3):
    """Lists of items with strengths 0, 0.5, 1 …, with tied places."""
    lists = []
    for _ in range(n):
        items = rng.permutation(n_items)[: rng.integers(shortest, n_items + 1)]
        key = 0.5 * items + rng.gumbel(size=len(items))
        blocks = []
        for i in items[np.argsort(-key)].tolist():
            if blocks and len(blocks[-1]) < 3 and rng.random() < ties:
                blocks[-1].append(i)
            else:
                blocks.append([i])
        lists.append(blocks)
    return lists


def orders_of(lists):
    names = np.array([f"item {i}" for i in range(9)])
    sequences = [[names[block].tolist() for block in blocks] for blocks in lists]
    return Orders(None, sequences)


def by_name(model):
    return dict(zip(model.items_.tolist(), model.strength_, strict=True))


@pytest.mark.parametrize("ties", few([0.3, 0.0]))
@pytest.mark.parametrize("alpha", few([0.2, 0.0]))
def test_it_is_the_optimum_of_a_general_solver(ties, alpha):
    rng = np.random.default_rng(3)
    lists = draw(rng, ties=ties)
    weight = rng.integers(1, 4, len(lists)).astype(float)
    model = PlackettLuce(alpha).fit(orders_of(lists), sample_weight=weight)
    theta, tie, best = oracle.fit(lists, weight, 5, alpha)
    assert model.converged_
    assert model.gap_ <= 1e-12
    assert_allclose(model.objective_, best, rtol=1e-8)
    found = by_name(model)
    expected = theta - theta.mean()
    assert_allclose([found[f"item {i}"] for i in range(5)], expected, atol=1e-4)
    assert_array_equal(model.tie_sizes_, sorted(tie))
    assert_allclose(model.tie_, [tie[k] for k in sorted(tie)], rtol=1e-3)
    assert_allclose(model.strength_.mean(), 0.0, atol=1e-12)


def test_lists_of_two_are_bradley_terry(rng):
    left = rng.integers(0, 6, 300)
    right = (left + rng.integers(1, 6, 300)) % 6
    d = 0.4 * (right - left) + rng.logistic(size=300)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    names = np.array(list("abcdef"))
    pairs = Pairs(None, names[left], names[right])
    for kept in (y != 0, np.ones(300, dtype=bool)):
        one = BradleyTerry("davidson", alpha=0).fit(pairs[kept], y[kept])
        two = PlackettLuce(alpha=0).fit(pairs[kept], y[kept])
        lists = [
            [a, b] if outcome < 0 else [b, a] if outcome else [[a, b]]
            for a, b, outcome in zip(
                names[left[kept]], names[right[kept]], y[kept], strict=True
            )
        ]
        three = PlackettLuce(alpha=0).fit(Orders(None, lists))
        for other in (two, three):
            other_strength = by_name(other)
            assert_allclose(
                [other_strength[name] for name in one.items_],
                one.strength_,
                atol=1e-7,
            )
            assert_allclose(other.objective_, one.objective_, rtol=1e-10)
        assert_allclose(two.predict_proba(pairs), one.predict_proba(pairs), atol=1e-7)
        assert_array_equal(two.predict(pairs), one.predict(pairs))
        assert_allclose(two.threshold_, one.threshold_, atol=1e-7)
        for kind in ("model", "sandwich"):
            assert_allclose(two.covariance(kind), one.covariance(kind), atol=1e-6)


def test_probabilities_of_all_lists_sum_to_one():
    lists = [["a", "b", "c"], ["b", ["a", "c"]], ["c", "a"], [["a", "b"]], ["c", "b"]]
    model = PlackettLuce(alpha=0).fit(Orders(None, lists))
    every = [list(order) for order in permutations("abc")]
    every += [[first, [s, t]] for first, s, t in ("abc", "bac", "cab")]
    every += [[[s, t], last] for last, s, t in ("abc", "bac", "cab")]
    total = sum(np.exp(model.log_likelihood(Orders(None, [one]))) for one in every)
    assert total == pytest.approx(1.0)
    assert model.log_likelihood(Orders(None, [[["a", "b", "c"]]])) == -np.inf
    assert model.log_likelihood(Orders(None, lists)) == pytest.approx(-model.objective_)


def test_a_list_says_nothing_about_items_it_leaves_out():
    lists = [["a", "b"], ["b", "a"], ["b", "a"], ["a", "b", "c"], ["c", "a"]]
    model = PlackettLuce(alpha=0).fit(Orders(None, lists))
    more = PlackettLuce(alpha=0).fit(Orders(None, [*lists, ["d", "c"], ["c", "d"]]))
    one, two = by_name(model), by_name(more)
    assert two["a"] - two["b"] == pytest.approx(one["a"] - one["b"])
    assert two["c"] == pytest.approx(two["d"])


@pytest.mark.parametrize("ties", few([0.3, 0.0]))
def test_unlisted_items_are_below_in_every_order(ties):
    rng = np.random.default_rng(5)
    lists = draw(rng, n=8, n_items=4, shortest=3, ties=ties)
    listed = [blocks[: rng.integers(1, 3)] for blocks in lists]
    lower = [
        np.setdiff1d(np.concatenate(all_), np.concatenate(top))
        for all_, top in zip(lists, listed, strict=True)
    ]
    theta, tie, best = oracle.fit(listed, np.ones(8), 4, 0.2, lower)
    names = np.array([f"item {i}" for i in range(4)])
    # Listed items were seen, named or not.
    whole = [names[np.sort(np.concatenate(blocks))].tolist() for blocks in lists]
    others = [i if len(i) else top[0] for i, top in zip(lower, listed, strict=True)]
    for seen in (whole, [names[i].tolist() for i in others]):
        orders = Orders(None, list(orders_of(listed)), seen=seen)
        model = PlackettLuce(0.2, unlisted="lower").fit(orders)
        assert_allclose(model.objective_, best, rtol=1e-8)
        found = by_name(model)
        assert_allclose([found[name] for name in names], theta, atol=1e-4)
        assert_allclose(model.tie_, [tie[k] for k in sorted(tie)], rtol=1e-3)
        cost = 0.2 * (theta @ theta) - model.log_likelihood(orders)
        assert_allclose(cost, best, atol=1e-4)


def test_one_item_chosen_of_those_seen_is_a_list():
    orders = Orders(None, [["a"], ["b"], ["a"]], names=["a", "b", "c"])
    model = PlackettLuce(0.1, unlisted="lower").fit(orders)
    assert model.items_[np.argsort(-model.strength_)].tolist() == ["a", "b", "c"]
    assert np.isfinite(model.intervals()).all()
    # c was never chosen, so that without a prior it has no strength.
    with pytest.raises(ValueError, match=r"1 item lost all .*'c'"):
        PlackettLuce(0, unlisted="lower").fit(orders)
    pairs = Orders(None, [["a"], ["b"], ["a"]], seen=[["b"], ["a", "b"], ["a", "b"]])
    model = PlackettLuce(0, unlisted="lower").fit(pairs)
    assert_allclose(np.diff(model.strength_), -np.log(2))
    with pytest.raises(ValueError, match="unlisted='tied'; expected 'unknown' or 'lo"):
        PlackettLuce(unlisted="tied").fit(orders)


def test_items_that_are_always_first():
    orders = Orders(None, [["a", "b", "c"], ["a", "c", "b"]])
    with pytest.raises(ValueError, match=r"1 item won all .*'a'.*alpha='auto'"):
        PlackettLuce(alpha=0).fit(orders)
    model = PlackettLuce(0.1).fit(orders)
    assert by_name(model)["a"] > by_name(model)["b"]
    apart = Orders(None, [["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"]])
    with pytest.raises(ValueError, match=r"never"):
        PlackettLuce(alpha=0).fit(apart)
    with pytest.warns(UserWarning, match="comparable only by the penalty"):
        PlackettLuce(0.1).fit(apart)


def test_lists_that_teach_nothing():
    with pytest.warns(UserWarning, match="1 of 3 lists have one item only"):
        model = PlackettLuce(alpha=0).fit(Orders(None, [["a", "b"], ["z"], ["b", "a"]]))
    assert model.items_.tolist() == ["a", "b"]
    with (
        pytest.warns(UserWarning, match="2 of 2 lists"),
        pytest.raises(ValueError, match="No list ranks two items"),
    ):
        PlackettLuce(alpha=0).fit(Orders(None, [["a"], ["z"]]))
    with pytest.raises(ValueError, match="Every list is one block of tied items"):
        PlackettLuce(alpha=0).fit(Orders(None, [[["a", "b"]], [["b", "c"]]]))


def test_running_out_of_steps_is_told(rng):
    with pytest.warns(ConvergenceWarning, match="1 steps.*alpha='auto'"):
        PlackettLuce(0.1, max_iter=1).fit(orders_of(draw(rng)))


@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        ([[1.0], [2.0]], [1, 2], TypeError, "Orders.*RankSVM"),
        (Orders(None, [["a", "b"]]), [1], ValueError, "no y"),
        (Orders([[1.0], [2.0]], [[0, 1]]), None, TypeError, "no names"),
        (Pairs(None, ["a"], ["b"]), None, ValueError, "requires y"),
    ],
)
def test_other_shapes_are_refused(X, y, error, words):
    with pytest.raises(error, match=words):
        PlackettLuce(alpha=0).fit(X, y)


def test_five_thousand_lists_of_sushi(data_dir):
    orders = load_sushi_orders("a").orders
    model = PlackettLuce(alpha=0).fit(orders)
    assert model.converged_
    assert model.n_iter_ <= 12
    # Fatty tuna is what most people like best, cucumber rolls least.
    assert model.items_[model.strength_.argmax()] == "toro"
    assert model.items_[model.strength_.argmin()] == "kappa_maki"
