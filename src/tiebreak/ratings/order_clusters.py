# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of ranked lists, each around an order of all items.

Boundary conventions: a list that says nothing about a center (one item, or everything
tied on either side) has the distance 1; of equally near centers the first is taken, and
items of equal scores are in the order of ``items_``.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Orders, check_weights
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.parameters import COUNT, check_parameters
from tiebreak.data.validation import pairs_within_groups
from tiebreak.metrics.pair_counts import sort_into_runs
from tiebreak.models.problem import add_up


@dataclass(eq=False, repr=False)
class OrderClusters(ClusterMixin, BaseEstimator):
    """Clusters of ranked lists, and the order in the center of each: k-o'means.

    The distance of a list from a center is 1 - ρ, with Spearman's ρ over the items of
    the list. A center is an order of all items by Thurstone's law:
    with n_ab the weight of the lists of the cluster that have a above b (½ for a tie),
    the score of a is the mean over all other items b of ::

        Φ⁻¹((n_ab + ½) / (n_ab + n_ba + 1)),

    which is 0 where a and b never meet. From random partitions, centers and the
    assignment to the nearest one take turns until a partition comes again; the best
    round of all counts. An empty cluster gets the list that is farthest from its
    center.

    Parameters
    ----------
    n_clusters : int, default=2
        Number k of clusters, at most the number of lists.
    n_init, max_iter : int, default=10 and 100
        Random starts, of which the best counts, and rounds of each at most.
    random_state : int, Generator or None, default=0
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each list. Clusters are numbered by falling weight of their lists.
    central_orders_ : ndarray of shape (k, N)
        Names of all items (row numbers without names), best first, in each cluster.
    scores_ : ndarray of shape (k, N)
        Scores of ``items_`` in each cluster, higher is better.
    items_ : ndarray of shape (N,)
        Names of the items, or their row numbers.
    distance_ : ndarray of shape (n,)
        Distance of each list from its center.
    inertia_, n_iter_ : float and int
        Sum of the distances, by weight, and the round of the best start.

    See Also
    --------
    PlackettLuce : Strengths of items from lists of one population.

    References
    ----------
    Kamishima and Fujiki, "Clustering orders", 2003.

    Examples
    --------
    Voters of two tastes, some with short lists:

    >>> from tiebreak import Orders
    >>> from tiebreak.ratings import OrderClusters
    >>> lists = [["eel", "tuna", "egg"], ["egg", "roe", "eel"], ["tuna", "egg", "roe"]]
    >>> lists += [["eel", "tuna"], ["roe", "tuna", "eel"], ["eel", "egg", "roe"]]
    >>> clusters = OrderClusters(2).fit(Orders(None, lists))
    >>> clusters.labels_
    array([0, 1, 0, 0, 1, 0])
    >>> clusters.central_orders_.tolist()
    [['eel', 'tuna', 'egg', 'roe'], ['egg', 'roe', 'tuna', 'eel']]
    """

    __module__ = "tiebreak.ratings"  # where users find it

    n_clusters: int = 2
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 100
    random_state: int | np.random.Generator | None = 0

    _parameters: ClassVar = dict.fromkeys(("n_clusters", "n_init", "max_iter"), COUNT)
    _fitted_arrays: ClassVar = {"items_": "p: any", "scores_": "k p"}

    def fit(
        self, X: Orders, y: None = None, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : Orders
            Ranked lists of any lengths, with ties; features of items play no part.
        y : None
            Not used.
        sample_weight : array-like of shape (n,), optional
            Weight of each list, such as a number of voters.

        Returns
        -------
        OrderClusters
        """
        check_parameters(self)
        _check_lists(X)
        k, weight = int(self.n_clusters), check_weights(sample_weight, len(X))
        if k > len(X):
            raise ValueError(
                f"n_clusters={k} is more than the {len(X)} list(s) that there are."
            )
        rng, wins = np.random.default_rng(self.random_state), _Wins.of(X)
        starts = (
            _run(X, wins, weight, k, int(self.max_iter), rng)
            for _ in range(self.n_init)
        )
        best = min(starts, key=lambda one: one.total)
        by_size = np.argsort(-np.bincount(best.labels, weight, k), kind="stable")
        names = np.arange(X.n_items) if X.names is None else X.names
        self.items_, self.scores_ = names.copy(), best.scores[by_size]
        order = np.argsort(-self.scores_, axis=1, kind="stable")
        self.central_orders_ = self.items_[order]
        self.labels_, self.distance_ = np.argsort(by_size)[best.labels], best.distance
        self.inertia_, self.n_iter_ = best.total, best.n_iter
        return self

    def predict(self, X: Orders) -> Codes:
        """Find the nearest center of lists.

        Parameters
        ----------
        X : Orders
            Lists of items of the fit.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        check_is_fitted(self)
        _check_lists(X)
        names = np.arange(X.n_items) if X.names is None else X.names
        place = {name: j for j, name in enumerate(self.items_.tolist())}
        own = names[np.unique(X.flat)].tolist()
        if unseen := [name for name in own if name not in place]:
            raise ValueError(f"these items were in no list of the fit: {unseen[:5]}.")
        number = np.array([place.get(name, 0) for name in names.tolist()])
        scores = self.scores_[:, number]
        return np.array([spearman_distance(X, own) for own in scores]).argmin(axis=0)


def _check_lists(X: Any) -> None:
    if not isinstance(X, Orders):
        raise TypeError(
            "OrderClusters takes ranked lists, Orders(None, sequences), got "
            f"{type(X).__name__}."
        )


def spearman_distance(orders: Orders, scores: Floats) -> Floats:
    """Give 1 - ρ of every list and an order of all items by their scores, (n,)."""
    y, group = orders.entry_grades()
    mine = _centered_ranks(y, group, orders.lengths)
    theirs = _centered_ranks(scores[orders.flat], group, orders.lengths)
    n = len(orders)
    product = np.bincount(group, mine * theirs, n)
    squares = np.bincount(group, mine**2, n) * np.bincount(group, theirs**2, n)
    known = squares > 0
    rho = np.zeros(n)
    rho[known] = product[known] / np.sqrt(squares[known])
    return 1.0 - rho


def _centered_ranks(values: Floats, group: Codes, lengths: Codes) -> Floats:
    """Average ranks within groups, less their mean."""
    order, run = sort_into_runs(group, values)
    ends = np.cumsum(np.bincount(run))
    ranks = np.empty(len(values))
    ranks[order] = (0.5 * (np.append(0, ends[:-1]) + ends - 1))[run]
    first = np.cumsum(lengths) - lengths
    return ranks - np.repeat(first + 0.5 * (lengths - 1), lengths)


class _Wins(NamedTuple):
    """All comparisons in lists, numbered by the two items."""

    n_items: int
    low: Codes  # (m,) pairs of items that meet
    high: Codes  # (m,)
    pair: Codes  # (q,) the pair of each comparison
    row: Codes  # (q,) its list
    share: Floats  # (q,) 1 where the low item is above, ½ where they tie

    @classmethod
    def of(cls, orders: Orders) -> Self:
        y, group = orders.entry_grades()
        n_pairs = int((orders.lengths * (orders.lengths - 1) // 2).sum())
        found = pairs_within_groups(group, y, limit=n_pairs)
        left, right = orders.flat[found.left], orders.flat[found.right]
        turned = np.where(left < right, 1.0, -1.0)
        n = orders.n_items
        low, high, pair = add_up(np.minimum(left, right), np.maximum(left, right), n)
        return cls(n, low, high, pair, found.group, 0.5 - 0.5 * turned * found.y)

    def scores(self, labels: Codes, weight: Floats, k: int) -> Floats:
        """Thurstone scores of all items in every cluster, (k, n_items)."""
        m, n, own = len(self.low), self.n_items, weight[self.row]
        cell = labels[self.row] * m + self.pair
        met = np.bincount(cell, own, k * m)
        won = np.bincount(cell, own * self.share, k * m)
        z = ndtri((won + 0.5) / (met + 1.0)).reshape(k, m)
        scores = [
            np.bincount(self.low, row, n) - np.bincount(self.high, row, n) for row in z
        ]
        return np.array(scores) / max(n - 1, 1)


class _Start(NamedTuple):
    """The best round of a start."""

    labels: Codes
    scores: Floats
    distance: Floats
    total: float
    n_iter: int


def _run(
    orders: Orders,
    wins: _Wins,
    weight: Floats,
    k: int,
    max_iter: int,
    rng: np.random.Generator,
) -> _Start:
    """One start from a random partition into clusters that differ by one in size."""
    labels = rng.permutation(np.arange(len(orders)) % k)
    best: _Start | None = None
    seen: set[bytes] = set()
    for n_iter in range(1, max_iter + 1):
        centers = wins.scores(labels, weight, k)
        distances = np.array([spearman_distance(orders, scores) for scores in centers])
        labels = np.argmin(distances, axis=0)
        nearest = distances[labels, np.arange(len(orders))]
        total = float(weight @ nearest)
        if best is None or total < best.total:
            best = _Start(labels.copy(), centers, nearest, total, n_iter)
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
