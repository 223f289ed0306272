# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost on comparisons, graded items and orders.

Edges that differ by less than 1e-10 count as equal, so that rounding does not choose:
the first feature wins, and of it the lowest cut.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Comparisons, Grades, ItemTable, as_items, read_data
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.jit import njit
from tiebreak.data.parameters import COUNT, Values, check_parameters, one_of
from tiebreak.data.threads import one_blas_thread
from tiebreak.data.validation import check_features, pairs_within_groups
from tiebreak.losses import GradePotentials, ListedPotentials
from tiebreak.models.base import UtilityMixin, warn_flat
from tiebreak.models.problem import (
    add_up,
    build_grade_tree,
    merge_sides,
    refuse_only_ties,
    touched,
)

EQUAL = 1e-10
# Below this no weak ranker has an edge that is more than rounding.
NO_EDGE = 1e-12
# An edge this close to one may be that of a ranker that puts every pair in order. If it
# is not, because the other pairs weigh next to nothing, it counts as this far from one.
PERFECT = 1e-10
# Beyond so many pairs a majority of lists is not written down.
MOST_PAIRS = 20_000_000


class WeakRanker(NamedTuple):
    """A weak ranker: feature, cut (NaN for the feature as it is), and edge r."""

    feature: int
    cut: float
    edge: float


class FeatureRankers:
    """Features scaled to [0, 1] on the training items; others are not clipped."""

    def __init__(self, table: ItemTable) -> None:
        X = table.values
        if table.is_sparse:
            self.lower, upper = (np.asarray(v) for v in min_max_axis(X, axis=0))
        else:
            self.lower, upper = X.min(axis=0), X.max(axis=0)
        self.span = upper - self.lower
        self._varies = self.span > 0.0
        self._divisor = np.where(self._varies, self.span, 1.0)
        self._sparse = table.is_sparse
        self._X: Any
        if self._sparse:
            # Scaling would fill a sparse table, so there it is done column by column.
            self._X = sp.csc_array(X)
        else:
            # Column by column in memory: a round reads all of it, and then one column.
            self._X = np.asfortranarray(X - self.lower)
            self._X /= self._divisor

    def choose(self, potential: Floats) -> WeakRanker:
        """Find the feature with the largest |r|."""
        edge = potential @ self._X
        if self._sparse:
            edge = np.where(self._varies, edge / self._divisor, 0.0)
        size = np.abs(edge)
        feature = int((size >= size.max() - EQUAL).argmax())
        return WeakRanker(feature, np.nan, float(edge[feature]))

    def values(self, ranker: WeakRanker) -> Floats:
        """Give h of the training items, shape (N,)."""
        column, f = column_of(self._X, ranker.feature), ranker.feature
        return (column - self.lower[f]) / self._divisor[f] if self._sparse else column


class StumpRankers:
    """1 if a feature is above a cut midway between training values, else 0."""

    def __init__(self, table: ItemTable) -> None:
        self._X = np.asfortranarray(table.dense())
        by_value = np.argsort(self._X, axis=0, kind="stable")
        self._sorted = np.ascontiguousarray(
            np.take_along_axis(self._X, by_value, axis=0).T
        )
        self._order = np.ascontiguousarray(by_value.T.astype(np.int32))
        self._step = np.zeros(self._order.shape, dtype=np.bool_)
        self._step[:, :-1] = self._sorted[:, :-1] < self._sorted[:, 1:]

    def choose(self, potential: Floats) -> WeakRanker:
        """Find the cut with the largest |r|."""
        feature, place, edge = best_step(self._order, self._step, potential, EQUAL)
        if place < 0:
            return WeakRanker(0, np.inf, 0.0)
        low, high = self._sorted[feature, place : place + 2]
        # Halves first: the sum of two values could overflow.
        cut = 0.5 * low + 0.5 * high
        if not low <= cut < high:
            cut = low
        return WeakRanker(int(feature), float(cut), float(edge))

    def values(self, ranker: WeakRanker) -> Floats:
        """Give h of the training items, shape (N,)."""
        column = column_of(self._X, ranker.feature)
        return (column > ranker.cut).astype(np.float64)


WeakRankers = FeatureRankers | StumpRankers


def column_of(table: Any, feature: int) -> Floats:
    """Give one feature of an array or a CSC array, shape (n,)."""
    if sp.issparse(table):
        return table[:, [feature]].toarray().ravel()
    return table[:, feature]


@njit(cache=True, nogil=True)
def best_step(
    order: NDArray[np.int32], step: Flags, potential: Floats, equal: float
) -> tuple[int, int, float]:
    """Find the feature, and the place in its order, above which potentials sum to most.

    `step` marks items before a larger value; without any the place is -1.
    """
    best, place, edge = 0, -1, 0.0
    for feature in range(len(order)):
        below = 0.0
        for k in range(order.shape[1]):
            below += potential[order[feature, k]]
            if step[feature, k] and (place < 0 or abs(below) > abs(edge) + equal):
                best, place, edge = feature, k, -below
    return best, place, edge


# Items that are in a pair, each once however often it occurs, and the pairs of these.
BoostingProblem = tuple[ItemTable, GradePotentials | ListedPotentials]


def boost_grades(data: Grades, feedback: str) -> BoostingProblem:
    """Take all pairs of different grades, or those with a majority."""
    tree = build_grade_tree(data)
    rows = np.sort(tree.rows)
    table, code = data.items.take(rows).unique()
    if feedback == "lists":
        item = np.zeros(len(data), dtype=np.int64)
        item[rows] = code
        return table, GradePotentials(tree, item, table.n_items)
    group = np.unique(data.group[rows], return_inverse=True)[1]
    pairs = pairs_within_groups(group, data.y[rows], limit=MOST_PAIRS)
    if pairs.n_possible > MOST_PAIRS:
        raise ValueError(
            f"feedback='majority' writes down pairs, and here are {pairs.n_possible}, "
            f"more than {MOST_PAIRS:,}. Try feedback='lists', which writes down none."
        )
    weight = data.weight[rows[pairs.left]] * data.weight[rows[pairs.right]]
    return _majority_problem(
        code[pairs.left], code[pairs.right], pairs.y, weight, table
    )


def boost_comparisons(model: Any, data: Comparisons) -> BoostingProblem:
    """Take comparisons with a winner, or those with a majority."""
    if not data.y.any():
        refuse_only_ties(model, len(data))
    if model.feedback == "lists":
        data = data.take(np.flatnonzero(data.y))
    table, left, right = merge_sides(data.pairs)
    if model.feedback == "majority":
        return _majority_problem(left, right, data.y, data.weight, table)
    better, worse = np.where(data.y > 0, [right, left], [left, right])
    return table, ListedPotentials(better, worse, data.weight, table.n_items)


def _majority_problem(
    left: Codes,
    right: Codes,
    outcome: NDArray[np.int8],
    weight: Floats,
    table: ItemTable,
) -> BoostingProblem:
    """Count each two items once, by the size of their majority."""
    wins = weight * outcome * np.where(right >= left, 1.0, -1.0)
    first, second, place = add_up(
        np.minimum(left, right), np.maximum(left, right), table.n_items
    )
    # 2 Pr[second is better] - 1, a tie being half a win for both.
    clear = np.bincount(place, wins) / np.bincount(place, weight)
    kept = (np.abs(clear) > 1e-12) & (first != second)
    if not kept.any():
        raise ValueError(
            "There is no pair to learn from: no two items have a majority, one wins as "
            "often as the other. Try feedback='lists'."
        )
    first, second, clear = first[kept], second[kept], clear[kept]
    better, worse = np.where(clear > 0, [second, first], [first, second])
    used, code = touched(np.append(better, worse), table.n_items)
    better, worse = np.split(code, 2)
    listed = ListedPotentials(better, worse, np.abs(clear), len(used))
    return table.take(used), listed


# What each round of boosting leaves: the weak ranker, its weight, what the loss was
# multiplied by, and the weighted mean of exp(-(H(b) - H(c))) over the pairs after it.
ROUND = ("features_", "cuts_", "edges_", "alphas_", "normalizers_", "loss_curve_")


def boost(
    pairs: GradePotentials | ListedPotentials,
    rankers: WeakRankers,
    n_rounds: int,
    smoothing: float | None,
) -> Iterator[tuple[float, ...]]:
    """Add weak rankers one by one; give each `ROUND`."""
    utility = np.zeros(pairs.n_items)
    log_loss, potential = pairs.expand(utility)
    first = log_loss
    for _ in range(n_rounds):
        ranker = rankers.choose(potential)
        if abs(ranker.edge) <= NO_EDGE:
            return
        h = rankers.values(ranker)
        close = abs(ranker.edge) >= 1.0 - PERFECT
        is_perfect = close and pairs.separates(h)
        if is_perfect:
            # All pairs differ by one in h, more than what was learned before can undo.
            alpha = math.copysign(1.0 + float(np.ptp(utility)), ranker.edge)
        elif smoothing is None:
            size = min(abs(ranker.edge), 1.0 - PERFECT)
            alpha = math.copysign(math.atanh(size), ranker.edge)
        else:
            shares = np.maximum(pairs.split(h), smoothing)
            alpha = 0.5 * float(np.log(shares[0] / shares[1]))
        if alpha == 0.0:
            return
        utility += alpha * h
        before = log_loss
        log_loss, potential = pairs.expand(utility)
        yield *ranker, alpha, math.exp(log_loss - before), math.exp(log_loss - first)
        if is_perfect:
            return


@dataclass(eq=False, repr=False)
class RankBoost(UtilityMixin, BaseEstimator):
    r"""Boosting of weak rankers: a utility that is a sum of functions of one feature.

    The utility is H(x) = Σ_t α_t h_t(x) with weak rankers h from 0 to 1, added one by
    one to lower the exponential loss ::

        L(H) = Σ_{(b,c)} w_bc exp(-(H(b) - H(c))) / Σ_{(b,c)} w_bc

    over pairs of a better item b and a worse item c, a weighted mean. With D(b, c) the
    share that a pair has of the loss, a round takes the weak ranker with the largest
    \|r\|, r = Σ D(b, c) (h(b) - h(c)), which multiplies the loss by Z = Σ D(b, c)
    exp(-α (h(b) - h(c))):

    - ``weak="feature"``: h is a feature scaled to [0, 1] on the training items, and
      α = ½ ln((1 + r) / (1 - r)), which may be negative. The utility is linear.
    - ``weak="stump"``: h(x) is 1 if a feature is above a cut, else 0. α = ½ ln(W₊ / W₋)
      minimizes Z, with W₊ and W₋ the shares of the pairs in order and in reverse.

    The pairs are those of :class:`RankSVM`. For graded items and lists a round costs
    O(n) for n rows and O(N p) for N distinct items of p features.

    Parameters
    ----------
    n_rounds : int, default=100
        Weak rankers at most. It stops early if one puts every pair in order (\|r\| = 1)
        or none has an edge.
    weak : {"feature", "stump"}, default="feature"
        Kind of weak rankers.
    feedback : {"lists", "majority"}, default="lists"
        ``"lists"`` counts every pair of every list. ``"majority"`` counts each two
        items once, with the weight max(2 P - 1, 0), where P is the share of lists or
        comparisons of both in which the one is above the other, ties counting half.
    smoothing : float, default=1e-4
        Stumps: least value of W₊ and W₋, which keeps α finite.

    Attributes
    ----------
    features_, alphas_, edges_ : ndarray of shape (n_iter,)
        Feature, weight α and edge r of each weak ranker.
    cuts_ : ndarray of shape (n_iter,)
        Stumps: the cut of each.
    normalizers_ : ndarray of shape (n_iter,)
        Z of each round; their product is the loss.
    coef_ : ndarray of shape (n_features,)
        Features: H(x) = (x - ``lower_``)·``coef_``.
    lower_, span_ : ndarray of shape (n_features,)
        Features: smallest training value of each, and the distance to the largest.
    loss_curve_ : ndarray of shape (n_iter,)
        L(H) after every round.
    n_iter_, n_pairs_ : int
        Number of weak rankers, and of pairs.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from tiebreak import Orders, RankBoost
    >>> items = [[3.0, 1.0], [2.0, 5.0], [1.0, 0.0], [0.0, 4.0]]
    >>> model = RankBoost(n_rounds=50).fit(Orders(items, [[0, 1, 2], [1, 3], [0, 3]]))
    >>> model.order(items)
    array([0, 1, 2, 3])
    >>> bool(model.normalizers_.prod() < 0.3)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_items: ClassVar[bool] = True

    n_rounds: int = 100
    _: KW_ONLY
    weak: Literal["feature", "stump"] = "feature"
    feedback: Literal["lists", "majority"] = "lists"
    smoothing: float = 1e-4

    _parameters: ClassVar = {
        "weak": one_of("feature", "stump"),
        "feedback": one_of("lists", "majority"),
        "n_rounds": COUNT,
        "smoothing": Values("a number above 0 and below 0.5", 1e-30, 0.5 - 1e-9),
    }
    _fitted_arrays: ClassVar = {
        "features_": "t: index p",
        "alphas_": "t",
        "edges_": "t",
        "normalizers_": "t",
        "cuts_": "t",
        "lower_": "p",
        "span_": "p",
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons, graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_data(X, y, qid, sample_weight)
        if isinstance(data, Grades):
            table, pairs = boost_grades(data, self.feedback)
        else:
            table, pairs = boost_comparisons(self, data)
        by_feature = self.weak == "feature"
        kind = FeatureRankers if by_feature else StumpRankers
        rankers: WeakRankers = kind(table)
        smoothing = None if by_feature else self.smoothing
        with one_blas_thread():  # products too small for more than one
            rounds = list(boost(pairs, rankers, int(self.n_rounds), smoothing))
        if not rounds:
            warn_flat(
                self, "no weak ranker orders the training pairs better than chance"
            )
        learned = _attributes(rankers, rounds)
        return self._keep({**data.attributes, "n_pairs_": pairs.n_pairs, **learned})

    def staged_utility(self, X: Any) -> Iterator[Floats]:
        """Utility of items after each weak ranker.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen.

        Yields
        ------
        ndarray of shape (n,)
            The last of ``n_iter_`` is ``utility(X)``, but for rounding.
        """
        check_is_fitted(self)
        table = as_items(X, name="X")
        check_features(self, table)
        values = sp.csc_array(table.values) if table.is_sparse else table.values
        utility = np.zeros(table.n_items)
        for k, feature in enumerate(self.features_):
            column = column_of(values, int(feature))
            if hasattr(self, "cuts_"):
                h = (column > self.cuts_[k]).astype(np.float64)
            else:
                h = (column - self.lower_[feature]) / self.span_[feature]
            utility = utility + self.alphas_[k] * h
            yield utility

    def _utility(self, table: ItemTable) -> Floats:
        if not hasattr(self, "cuts_"):
            if table.is_sparse:
                return table.values @ self.coef_ - self.lower_ @ self.coef_
            return (table.values - self.lower_) @ self.coef_
        values = sp.csc_array(table.values) if table.is_sparse else table.values
        utility = np.zeros(table.n_items)
        for feature in np.unique(self.features_):
            own = np.flatnonzero(self.features_ == feature)
            own = own[np.argsort(self.cuts_[own], kind="stable")]
            steps = np.concatenate([[0.0], np.cumsum(self.alphas_[own])])
            column = column_of(values, int(feature))
            utility += steps[np.searchsorted(self.cuts_[own], column, side="left")]
        return utility


def _attributes(
    rankers: WeakRankers, rounds: list[tuple[float, ...]]
) -> dict[str, Any]:
    columns = np.array(rounds).reshape(-1, len(ROUND)).T.copy()
    learned: dict[str, Any] = dict(zip(ROUND, columns, strict=True))
    features = learned["features_"] = columns[0].astype(np.int64)
    learned["n_iter_"] = len(rounds)
    if isinstance(rankers, StumpRankers):
        return learned
    del learned["cuts_"]
    span = rankers.span
    total = np.bincount(features, learned["alphas_"], len(span))
    coef = np.divide(total, span, out=np.zeros(len(total)), where=span > 0.0)
    return learned | {"lower_": rankers.lower, "span_": span, "coef_": coef}
