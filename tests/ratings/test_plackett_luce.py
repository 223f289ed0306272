# SPDX-License-Identifier: BSD-3-Clause
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from tests.extended import few
from tests.oracles import plackett_luce as oracle
from tiebreak import BradleyTerry, Orders, Pairs, PlackettLuce
from tiebreak.data.messages import DataWarning
from tiebreak.datasets import load_sushi_orders
from tiebreak.metrics import kendall_tau_b


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


def best_worst(rng, n=60, n_items=6, size=4):
    """Sets with their best and worst, items with strengths 0, 0.5, 1 …."""
    sets = np.array([rng.permutation(n_items)[:size] for _ in range(n)])
    key = 0.5 * sets + rng.gumbel(size=sets.shape)
    row = np.arange(n)
    return sets, sets[row, key.argmax(axis=1)], sets[row, key.argmin(axis=1)]


@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_best_and_worst_are_the_optimum_of_a_general_solver(alpha):
    rng = np.random.default_rng(5)
    sets, best, worst = best_worst(rng, n=25)
    weight = rng.integers(1, 4, len(sets)).astype(float)
    orders = Orders.from_best_worst(sets, best, worst)
    model = PlackettLuce(alpha).fit(orders, sample_weight=weight)
    place = {name: k for k, name in enumerate(model.items_.tolist())}
    lists = [
        [[place[b]], [place[i] for i in row if i not in (b, w)], [place[w]]]
        for row, b, w in zip(sets.tolist(), best.tolist(), worst.tolist(), strict=True)
    ]

    def cost(x):
        events = [np.log(oracle.event_probability(blocks, x)) for blocks in lists]
        hold = alpha * x @ x if alpha else x.mean() ** 2
        return hold - weight @ events

    found = minimize(cost, np.zeros(6), tol=1e-10)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-8)
    assert_allclose(model.strength_, found.x - found.x.mean(), atol=1e-4)
    assert model.log_likelihood(orders) == pytest.approx(
        sum(np.log(oracle.event_probability(b, model.strength_)) for b in lists)
    )
    twice = PlackettLuce(alpha).fit(
        orders[np.repeat(np.arange(25), weight.astype(int))]
    )
    assert_allclose(twice.strength_, model.strength_, atol=1e-7)


def test_best_of_those_seen_in_three_ways():
    rng = np.random.default_rng(2)
    sets, best, _ = best_worst(rng)
    choices = Orders.from_best_worst(sets, best)
    seen = Orders(None, best[:, None], seen=sets)
    one = PlackettLuce().fit(choices)
    two = PlackettLuce(unlisted="lower").fit(seen)
    assert len(np.unique(one.strength_)) == 6
    assert_allclose(
        [by_name(one)[i] for i in range(6)], [by_name(two)[i] for i in range(6)]
    )
    # The best two in unknown order above the rest: orders of all that start with them.
    pair = Orders(None, [[{0, 1}], [{2, 1}], [{0, 3}]], names=range(4))
    model = PlackettLuce(0.3, unlisted="lower").fit(pair)
    blocks = [[[0, 1], [2, 3]], [[2, 1], [0, 3]], [[0, 3], [1, 2]]]
    logs = [np.log(oracle.event_probability(b, model.strength_)) for b in blocks]
    assert model.log_likelihood(pair) == pytest.approx(sum(logs))


def test_existence_with_items_in_unknown_order():
    # b and c are never above or below each other for sure; a above both, d below both.
    orders = Orders(None, [["a", {"b", "c"}, "d"], ["d", "a"]])
    assert np.isfinite(PlackettLuce(0.0).fit(orders).strength_).all()
    with pytest.raises(ValueError, match="infinite or arbitrary"):
        PlackettLuce(0.0).fit(Orders(None, [[{"a", "b"}, "c"], ["c", "b"]]))
    with pytest.warns(DataWarning, match="1 of 2 lists have one item only, or order"):
        PlackettLuce().fit(Orders(None, [[{"a", "b"}], ["a", "b"]]))


def test_items_in_unknown_order_are_no_ties():
    with pytest.raises(ValueError, match="beside lists with tied items"):
        PlackettLuce().fit(Orders(None, [["a", {"b", "c"}, "d"], ["a", ["b", "c"]]]))
    with pytest.raises(
        ValueError, match=r"11 items in unknown order above others \(10 at most"
    ):
        PlackettLuce().fit(Orders(None, [[set(range(11)), 11]]))
    model = PlackettLuce(0.1).fit(Orders(None, [["a", set(range(11))], ["a", 0]]))
    assert model.converged_  # orders of the last items sum to 1, however many


@pytest.mark.extended
def test_intervals_of_best_and_worst_choices_cover():
    rng, hits = np.random.default_rng(1), []
    for _ in range(40):
        sets, best, worst = best_worst(rng, n=50, n_items=8)
        model = PlackettLuce().fit(Orders.from_best_worst(sets, best, worst))
        lower, upper = model.intervals().T
        true = 0.5 * (model.items_ - 3.5)
        hits.append(((lower <= true) & (true <= upper)).mean())
    assert np.mean(hits) > 0.9


# Of 350 Americans, what they named as the most and the least important of four issues:
# counts of vdata in the R package bwsTools (White 2021), by best, then by worst, in the
# order of the issues of the set. Its vignette "Calculating Aggregate Scores" has 302
# and 352 for abortion, and the Elo scores below.
ISSUES = """
abortion biasmedia economy natsecurity 62 10 10 7 6 9 42 107 19 26 46 6
abortion corruption foreignaffairs healthcare 21 34 2 39 35 7 5 13 9 53 32 100
abortion crime guns taxes 29 25 30 24 24 23 43 17 39 37 32 27
abortion drugs education race 33 20 26 14 5 21 43 51 50 19 47 21
biasmedia corruption drugs taxes 14 13 8 67 26 22 39 16 8 83 21 33
biasmedia crime education foreignaffairs 13 12 13 66 11 28 99 27 39 22 8 12
biasmedia guns healthcare race 6 6 17 45 11 18 130 29 35 42 7 4
corruption crime economy race 19 10 32 19 9 31 62 44 64 28 21 11
corruption education guns natsecurity 16 32 13 48 35 25 47 19 19 30 28 38
crime drugs healthcare natsecurity 15 19 17 7 6 12 50 92 50 15 52 15
drugs economy foreignaffairs guns 5 18 12 60 85 52 12 7 3 29 9 58
economy education healthcare taxes 38 22 39 7 11 32 30 51 79 9 19 13
foreignaffairs natsecurity race taxes 10 4 16 42 45 21 42 25 33 51 12 49
"""
ELO = {
    "healthcare": 1194.4,
    "economy": 1166.8,
    "education": 1065.4,
    "natsecurity": 1044.0,
    "guns": 1022.8,
    "taxes": 1013.6,
    "crime": 1005.7,
    "corruption": 987.1,
    "abortion": 983.6,
    "race": 974.6,
    "drugs": 908.1,
    "foreignaffairs": 858.3,
    "biasmedia": 775.0,
}


def test_published_best_and_worst_issues():
    rows = []
    for line in ISSUES.split("\n")[1:-1]:
        issues, counts = line.split()[:4], map(int, line.split()[4:])
        both = permutations(issues, 2)
        rows += [(issues, *two, n) for two, n in zip(both, counts, strict=True)]
    sets, best, worst, count = map(list, zip(*rows, strict=True))
    assert sum(count) == 13 * 350
    assert [np.dot(count, np.array(c) == "abortion") for c in (best, worst)] == [
        302,
        352,
    ]
    orders = Orders.from_best_worst(sets, best, worst)
    model = PlackettLuce().fit(orders, sample_weight=count)
    strength = [by_name(model)[issue] for issue in ELO]
    # Elo depends on the order of the rows, so that neighbors may change places.
    assert kendall_tau_b(strength, list(ELO.values())) > 0.9
    order = sorted(ELO, key=by_name(model).get, reverse=True)
    assert order[:3] + order[-3:] == list(ELO)[:3] + list(ELO)[-3:]


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


def test_nascar_has_the_published_coefficients():
    # Hunter (2004) has the data; the coefficients, relative to driver 1, are those of
    # R's PlackettLuce in its vignette: PJ Jones, Scott Pruett, Mark Martin; and Dave
    # Marcis, Dick Trickle, Joe Varde.
    lines = Path(__file__).with_name("nascar2002.txt").read_text().splitlines()
    races = [[int(driver) for driver in line.split()] for line in lines[2:]]
    model = PlackettLuce(alpha=0).fit(Orders(None, races))
    strength = dict(zip(model.items_.tolist(), model.strength_, strict=True))
    assert len(races) == 36
    assert len(strength) == 83
    found = [strength[driver] - strength[1] for driver in (58, 68, 51, 15, 17, 40)]
    assert_allclose(found, [4.15, 3.62, 2.08, 0.03, -0.31, -0.15], atol=0.005)


@pytest.mark.parametrize("n", [40, 150])  # strengths 26 and 102 apart
def test_a_trial_step_that_underflows_is_halved(n):
    lists = [list(range(n)), [n - 1, *range(1, n - 1), 0]]
    model = PlackettLuce(alpha=0).fit(Orders(None, lists))
    theta = model.strength_[np.argsort(model.items_)]
    assert model.converged_
    slope = np.zeros(n)
    for order in lists:
        for place in range(n - 1):
            rest = order[place:]
            slope[rest] += softmax(theta[rest])
            slope[order[place]] -= 1.0
    assert_allclose(slope, 0.0, atol=1e-7)
    assert np.ptp(theta) > 20.0
