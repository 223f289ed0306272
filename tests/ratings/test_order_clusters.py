# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata, spearmanr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from tests.oracles.order_clusters_plain import central_scores, least_total
from tiebreak import Orders, load, save
from tiebreak.ratings import OrderClusters
from tiebreak.ratings.order_clusters import spearman_distance


def thurstone_scores(orders, weight=None):
    """Scores of one cluster of all lists."""
    return OrderClusters(1).fit(orders, sample_weight=weight).scores_[0]


def planted(rng, n_clusters=3, n_lists=40, n_items=12, length=6, noise=1.0):
    """Draw lists around random orders of all items; positions get normal noise."""
    lists, labels = [], []
    places = [rng.permutation(n_items) for _ in range(n_clusters)]
    for c, place in enumerate(places):
        for _ in range(n_lists):
            rows = rng.choice(n_items, length, replace=False)
            seen = place[rows] + noise * rng.normal(size=length)
            lists.append(rows[np.argsort(seen)].tolist())
            labels.append(c)
    order = rng.permutation(len(lists))
    orders = Orders(np.eye(n_items), [lists[i] for i in order])
    return orders, np.array(labels)[order], places


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_finds_planted_clusters(n_clusters):
    orders, labels, places = planted(np.random.default_rng(3), n_clusters)
    result = OrderClusters(n_clusters).fit(orders)
    # One of 80 lists on the other side is 0.95.
    assert adjusted_rand_score(labels, result.labels_) > 0.9
    distances = np.array([spearman_distance(orders, c) for c in result.scores_])
    assert_array_equal(result.labels_, distances.argmin(axis=0))
    assert_allclose(result.distance_, distances.min(axis=0))
    # Each center has the order that was planted in its cluster.
    for c in range(n_clusters):
        place = places[np.bincount(labels[result.labels_ == c]).argmax()]
        assert spearmanr(result.scores_[c], -place).statistic > 0.9
    assert result.inertia_ == pytest.approx(result.distance_.sum())
    assert result.distance_.mean() < 0.3


def test_short_lists_of_many_items_are_told_apart():
    """As in the sushi survey: 10 of 100 items, so that few lists share a pair."""
    rng = np.random.default_rng(5)
    orders, labels, _ = planted(rng, 2, 150, n_items=100, length=10, noise=5.0)
    result = OrderClusters(2, random_state=1).fit(orders)
    assert adjusted_rand_score(labels, result.labels_) > 0.9


def test_thurstone_scores_by_hand():
    # a above b in three of three lists, b and c tied once, a and c never together.
    lists = [["a", "b"], ["a", "b"], ["a", "b"], [["b", "c"]]]
    scores = thurstone_scores(Orders(None, lists))
    z = norm.ppf(3.5 / 4)
    assert_allclose(scores, [z / 2, -z / 2, 0.0], atol=1e-12)
    weighted = thurstone_scores(Orders(None, [lists[0], lists[3]]), [3.0, 1.0])
    assert_allclose(weighted, scores, atol=1e-12)
    assert_array_equal(thurstone_scores(Orders(None, [["a"]])), [0.0])


lists_with_ties = st.lists(
    st.permutations(range(6)).flatmap(
        lambda rows: st.tuples(
            st.just(rows), st.integers(1, 6), st.lists(st.booleans(), min_size=6)
        )
    ),
    min_size=1,
    max_size=5,
)


def blocks_of(drawn):
    rows, length, breaks = drawn
    blocks = [[rows[0]]]
    for row, new in zip(rows[1:length], breaks[1:length], strict=False):
        if new:
            blocks.append([row])
        else:
            blocks[-1].append(row)
    return blocks


@given(lists_with_ties, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_distance_equals_the_correlation_of_ranks(drawn, scores):
    lists = [blocks_of(one) for one in drawn]
    scores = np.array(scores, dtype=float)
    expected = []
    for blocks in lists:
        rows = [row for block in blocks for row in block]
        place = [j for j, block in enumerate(blocks) for _ in block]
        one, two = rankdata(place), rankdata(-scores[rows])
        constant = np.ptp(one) == 0 or np.ptp(two) == 0
        expected.append(1.0 if constant else 1.0 - np.corrcoef(one, two)[0, 1])
    result = spearman_distance(Orders(np.eye(6), lists), scores)
    assert_allclose(result, expected, atol=1e-12)


def test_starts_end_at_the_best_of_all_partitions():
    over = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        lists = [rng.permutation(5).tolist() for _ in range(6)]
        orders = Orders(np.eye(5), lists)
        assert_allclose(thurstone_scores(orders), central_scores(lists, 5), atol=1e-12)
        best = OrderClusters(2, n_init=40).fit(orders).inertia_
        over.append(best / least_total(lists, 5, 2))
    # No start comes to the best partition of the first draw.
    assert_allclose(over[1:], 1.0, atol=1e-9)
    assert over[0] > 1.0


def test_weights_are_repeated_lists():
    orders, labels, _ = planted(np.random.default_rng(2), 2, 30, noise=0.3)
    weight = np.arange(60) % 3
    repeated = orders[np.repeat(np.arange(60), weight)]
    assert_allclose(
        thurstone_scores(orders, weight), thurstone_scores(repeated), atol=1e-12
    )
    result = OrderClusters(2).fit(orders, sample_weight=weight)
    assert result.inertia_ == pytest.approx(weight @ result.distance_)
    counted = weight > 0
    assert adjusted_rand_score(labels[counted], result.labels_[counted]) == 1.0
    # Lists without weight move no center: here they are those of another order.
    strange = Orders(np.eye(12), [*orders, *[list(range(12))] * 60])
    zeros = np.append(weight, np.zeros(60))
    assert_allclose(
        thurstone_scores(strange, zeros), thurstone_scores(orders, weight), atol=1e-12
    )


def test_clusters_are_numbered_by_size_and_none_is_empty():
    up, down, odd = [0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]
    orders = Orders(np.eye(4), [odd, down, up, up, down, up])
    result = OrderClusters(3).fit(orders)
    assert_array_equal(result.labels_, [2, 1, 0, 0, 1, 0])
    assert result.inertia_ == pytest.approx(0.0, abs=1e-12)
    alone = OrderClusters(1).fit(orders)
    assert_array_equal(alone.labels_, np.zeros(6))
    each = OrderClusters(3).fit(Orders(np.eye(4), [up, down, odd]))
    assert_array_equal(np.sort(each.labels_), [0, 1, 2])


def test_central_orders_have_names_and_new_lists_a_cluster(tmp_path):
    orders, _, _ = planted(np.random.default_rng(3), 2, n_items=6, length=4)
    names = np.array(list("abcdef"))
    named = Orders(None, [names[rows].tolist() for rows in orders], names=names)
    result = OrderClusters(2).fit(named)
    numbered = OrderClusters(2).fit(orders)
    assert_array_equal(result.labels_, OrderClusters(2).fit_predict(named))
    assert_array_equal(names[numbered.central_orders_], result.central_orders_)
    for order, scores in zip(result.central_orders_, result.scores_, strict=True):
        assert order.tolist() == [names[j] for j in np.argsort(-scores)]
    assert_array_equal(result.predict(named), result.labels_)
    again = load(save(result, tmp_path / "clusters"))
    assert_array_equal(again.predict(named), result.labels_)
    assert_array_equal(again.central_orders_, result.central_orders_)
    # A center is in its own cluster, whatever numbers its items have elsewhere.
    assert_array_equal(result.predict(Orders(None, result.central_orders_)), [0, 1])


def test_it_is_deterministic_and_numbering_items_anew_changes_nothing():
    orders, _, _ = planted(np.random.default_rng(7), 3)
    one, two = (OrderClusters(3).fit(orders) for _ in range(2))
    assert_array_equal(one.labels_, two.labels_)
    place = np.random.default_rng(0).permutation(12)
    moved = Orders(np.eye(12), [place[rows].tolist() for rows in orders])
    other = OrderClusters(3).fit(moved)
    assert_array_equal(other.labels_, one.labels_)
    assert_allclose(other.scores_[:, place], one.scores_, atol=1e-12)


def test_it_keeps_the_laws_of_estimators():
    few, many = (planted(np.random.default_rng(k), 2, k)[0] for k in (5, 9))
    model = OrderClusters(2, n_init=3, random_state=1)
    with pytest.raises(NotFittedError):
        model.predict(few)
    assert clone(model).get_params() == model.get_params()
    assert model.fit(few) is model
    again = model.fit(many)  # nothing of the first fit is left
    fresh = clone(model).fit(many)
    assert vars(again).keys() == vars(fresh).keys()
    assert_array_equal(again.scores_, fresh.scores_)
    assert_array_equal(again.distance_, fresh.distance_)


def test_what_cannot_be_clustered():
    orders = Orders(None, [["a", "b"], ["b", "a"]])
    for k in (0, 1.5):
        with pytest.raises(ValueError, match="n_clusters"):
            OrderClusters(k).fit(orders)
    with pytest.raises(ValueError, match="more than the 2 list"):
        OrderClusters(3).fit(orders)
    with pytest.raises(TypeError, match="got list"):
        OrderClusters(2).fit([["a", "b"]])
    with pytest.raises(ValueError, match=r"no list of the fit: \['c'\]"):
        OrderClusters(1).fit(orders).predict(Orders(None, [["c", "a"]]))
