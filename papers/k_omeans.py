# SPDX-License-Identifier: BSD-3-Clause
"""k-o'means: clusters of ranked lists, each around an order of all items.

The method of Kamishima and Fujiki, "Clustering orders" (2003), which the survey of
supervised ordering took to make its broad and narrow samples of sushi orders. It is
k-means with another distance and another center: the distance of a list from a center
is 1 - ρ, with Spearman's ρ over the items of the list, and the center of a cluster is
the order of all items by Thurstone's law of comparative judgment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from tiebreak.data import Orders, check_weights
from tiebreak.data.validation import pairs_within_groups

__all__ = ["OrderClusters", "cluster_orders", "spearman_distance", "thurstone_scores"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OrderClusters:
    """What `cluster_orders` returns.

    Attributes
    ----------
    labels : ndarray of int of shape (n,)
        Cluster of each list: the one with the nearest center.
    centers : ndarray of shape (k, n_items)
        Thurstone scores of all items in each cluster; the order of a center is by
        descending score.
    distance : ndarray of shape (n,)
        Distance 1 - ρ of each list from the center of its cluster.
    total : float
        Weighted sum of the distances.
    n_iter : int
        Round of the best start that found this.
    """

    labels: Codes
    centers: Floats
    distance: Floats
    total: float
    n_iter: int


def cluster_orders(
    orders: Orders,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    n_init: int = 10,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> OrderClusters:
    """Find clusters of ranked lists by k-o'means.

    From a random partition, centers and the assignment to the nearest center take
    turns until a partition comes again. A center need not minimize the sum of the
    distances, so that it may go up too; the round with the smallest one counts. A
    cluster that runs empty starts again with the list that is farthest from its
    center.

    Parameters
    ----------
    orders : Orders
        Lists of any lengths, with ties.
    n_clusters : int
        Number k of clusters, at most the number of lists.
    sample_weight : array-like of shape (n,), optional
        Weight of each list, such as a number of voters.
    n_init : int, default=10
        Random starts, of which the best counts.
    max_iter : int, default=100
        Rounds of a start at most.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.

    Returns
    -------
    OrderClusters
        Clusters are numbered by falling total weight of their lists.

    Raises
    ------
    ValueError
        If there are fewer lists than clusters, or a number is below 1.

    Examples
    --------
    >>> from tiebreak import Orders
    >>> up, down = ["a", "b", "c", "d"], ["d", "c", "b", "a"]
    >>> found = cluster_orders(Orders(None, [up, down, up]), 2, random_state=0)
    >>> found.labels
    array([0, 1, 0])
    """
    for name, value in (("n_init", n_init), ("max_iter", max_iter)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value!r}.")
    if not 1 <= n_clusters <= len(orders):
        raise ValueError(
            f"n_clusters must be from 1 to the number of lists, {len(orders)}, got "
            f"{n_clusters!r}."
        )
    weight = check_weights(sample_weight, len(orders))
    rng = np.random.default_rng(random_state)
    wins = _Wins(orders)
    starts = [
        _run(orders, wins, weight, n_clusters, max_iter, rng) for _ in range(n_init)
    ]
    best = min(starts, key=lambda found: found.total)
    size = np.bincount(best.labels, weight, n_clusters)
    by_size = np.argsort(-size, kind="stable")
    number = np.empty(n_clusters, dtype=np.int64)
    number[by_size] = np.arange(n_clusters)
    return OrderClusters(
        number[best.labels],
        best.centers[by_size],
        best.distance,
        best.total,
        best.n_iter,
    )


def thurstone_scores(orders: Orders, sample_weight: ArrayLike | None = None) -> Floats:
    """Score all items by Thurstone's law, from how often one is above another.

    With n_ab the weight of the lists that have a above b, the smoothed rate of wins is
    p_ab = (n_ab + ½) / (n_ab + n_ba + 1), and the score of a is the mean of Φ⁻¹(p_ab)
    over the other items b. A tie is half a win for each.

    Parameters
    ----------
    orders : Orders
        Lists of any lengths, with ties.
    sample_weight : array-like of shape (n,), optional
        Weight of each list.

    Returns
    -------
    ndarray of shape (n_items,)
        Zero for an item that no list compares.

    Examples
    --------
    Two of two lists have a above b: Φ⁻¹(2.5 / 3).

    >>> from tiebreak import Orders
    >>> thurstone_scores(Orders(None, [["a", "b"], ["a", "b"]]))
    array([ 0.9674, -0.9674])
    """
    weight = check_weights(sample_weight, len(orders))
    return _Wins(orders).scores(weight)


def spearman_distance(orders: Orders, scores: ArrayLike) -> Floats:
    """Give the distance 1 - ρ of every list from an order of all items.

    Spearman's ρ is the correlation of average ranks within the items of the list. It
    is taken for 0 where it says nothing: one item, or everything tied on either side.

    Parameters
    ----------
    orders : Orders
        Lists of any lengths, with ties.
    scores : array-like of shape (n_items,)
        Score of every item; higher is better.

    Returns
    -------
    ndarray of shape (n,)
        From 0, the same order, to 2, the reverse.

    Examples
    --------
    >>> from tiebreak import Orders
    >>> orders = Orders(None, [["a", "b", "c"], ["c", "b", "a"], ["b", "a"]])
    >>> spearman_distance(orders, [3.0, 2.0, 1.0])
    array([0., 2., 2.])
    """
    group = np.repeat(np.arange(len(orders)), orders.lengths)
    scores = np.asarray(scores, dtype=np.float64)
    mine = _centered_ranks(orders.position.astype(np.float64), group, orders.lengths)
    theirs = _centered_ranks(-scores[orders.flat], group, orders.lengths)
    n = len(orders)
    product = np.bincount(group, mine * theirs, n)
    squares = np.bincount(group, mine**2, n) * np.bincount(group, theirs**2, n)
    known = squares > 0
    rho = np.zeros(n)
    rho[known] = product[known] / np.sqrt(squares[known])
    return 1.0 - rho


def _centered_ranks(values: Floats, group: Codes, lengths: Codes) -> Floats:
    """Average ranks within groups, less their mean."""
    order = np.lexsort((values, group))
    new = np.diff(group[order], prepend=-1) != 0
    new[1:] |= values[order][1:] != values[order][:-1]
    block = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(values))
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    ranks = np.empty(len(values))
    ranks[order] = 0.5 * (starts + ends - 1)[block]
    return ranks - first - 0.5 * (np.repeat(lengths, lengths) - 1)


class _Wins:
    """All comparisons in lists: which item, of which other, in which list."""

    def __init__(self, orders: Orders) -> None:
        group = np.repeat(np.arange(len(orders)), orders.lengths)
        n_pairs = int((orders.lengths * (orders.lengths - 1) // 2).sum())
        found = pairs_within_groups(
            group, -orders.position.astype(np.float64), limit=n_pairs
        )
        left, right = orders.flat[found.left], orders.flat[found.right]
        self.n_items = orders.n_items
        self.list = found.group
        # A cell of the table of wins for each side; a tie gives both half a win.
        self.won = left * self.n_items + right
        self.lost = right * self.n_items + left
        self.share = 0.5 - 0.5 * found.y.astype(np.float64)

    def scores(self, weight: Floats) -> Floats:
        """Thurstone scores from lists with these weights."""
        n = self.n_items
        if n == 1:
            return np.zeros(1)
        of_pair = weight[self.list]
        wins = np.bincount(self.won, of_pair * self.share, n * n)
        wins += np.bincount(self.lost, of_pair * (1.0 - self.share), n * n)
        wins = wins.reshape(n, n)
        rate = (wins + 0.5) / (wins + wins.T + 1.0)
        # An item against itself has the rate ½ and adds nothing.
        return ndtri(rate).sum(axis=1) / (n - 1)


def _run(
    orders: Orders,
    wins: _Wins,
    weight: Floats,
    k: int,
    max_iter: int,
    rng: np.random.Generator,
) -> OrderClusters:
    """One start from a random partition into clusters that differ by one in size."""
    labels = rng.permutation(np.arange(len(orders)) % k)
    best: OrderClusters | None = None
    seen: set[bytes] = set()
    for n_iter in range(1, max_iter + 1):
        centers = np.array([wins.scores(weight * (labels == c)) for c in range(k)])
        distances = np.array([spearman_distance(orders, scores) for scores in centers])
        labels = np.argmin(distances, axis=0)
        nearest = distances[labels, np.arange(len(orders))]
        total = float(weight @ nearest)
        if best is None or total < best.total:
            best = OrderClusters(labels.copy(), centers, nearest, total, n_iter)
        _fill_empty(labels, nearest, k)
        if (state := labels.tobytes()) in seen:
            break
        seen.add(state)
    assert best is not None
    return best


def _fill_empty(labels: Codes, nearest: Floats, k: int) -> None:
    """Give every empty cluster the farthest list of a cluster that can spare one."""
    for c in range(k):
        sizes = np.bincount(labels, minlength=k)
        if not sizes[c]:
            can_spare = sizes[labels] > 1
            labels[np.argmax(np.where(can_spare, nearest, -np.inf))] = c
