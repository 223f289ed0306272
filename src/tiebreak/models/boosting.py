# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost on comparisons, graded items and orders.

Weak rankers h are functions of one feature with values from 0 to 1. Each round chooses
the one with the largest edge |r|, where r = Σ_i potential_i h(x_i). Edges that differ
by less than 1e-10 count as equal, so that rounding does not choose: the first feature
wins, and of it the lowest cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import (
    Grades,
    ItemTable,
    Orders,
    Pairs,
    as_items,
    check_comparisons,
    is_pairs,
)
from tiebreak.data.jit import njit
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.parameters import COUNT, Values, check_parameters, one_of
from tiebreak.data.threads import one_blas_thread
from tiebreak.data.validation import check_features, pairs_within_groups
from tiebreak.losses import GradePotentials, ListedPotentials
from tiebreak.metrics import swapped_pairs
from tiebreak.models.base import UtilityMixin, refuse_only_ties
from tiebreak.models.graded_problem import check_graded, plant_tree, read_grades

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

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
    """The features themselves, scaled to [0, 1] on the training items.

    Other items are not clipped, so that a sum of such rankers is linear.
    """

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
        if self._sparse:
            return self.values_of(self._X, ranker)
        return column_of(self._X, ranker.feature)

    def values_of(self, table: Any, ranker: WeakRanker) -> Floats:
        """Give h of any items, shape (n,)."""
        f = ranker.feature
        if not self._varies[f]:
            return np.zeros(table.shape[0])
        return (column_of(table, f) - self.lower[f]) / self.span[f]


class StumpRankers:
    """Is a feature above a cut, midway between values of training items: 1, else 0."""

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
        return self.values_of(self._X, ranker)

    def values_of(self, table: Any, ranker: WeakRanker) -> Floats:
        """Give h of any items, shape (n,)."""
        return (column_of(table, ranker.feature) > ranker.cut).astype(np.float64)


WeakRankers = FeatureRankers | StumpRankers


def column_of(table: Any, feature: int) -> Floats:
    """Give one feature of an array or a CSC array, shape (n,)."""
    if sp.issparse(table):
        return table[:, [feature]].toarray().ravel()
    return table[:, feature]


@njit(cache=True, nogil=True)
def best_step(
    order: NDArray[np.int32], step: NDArray[np.bool_], potential: Floats, equal: float
) -> tuple[int, int, float]:
    """Find the feature, and the place in its order, above which potentials sum to most.

    `step` says where the next item has a larger value; without any the place is -1.
    """
    found, place, edge = 0, -1, 0.0
    for feature in range(len(order)):
        below = 0.0
        for k in range(order.shape[1]):
            below += potential[order[feature, k]]
            if step[feature, k] and (place < 0 or abs(below) > abs(edge) + equal):
                found, place, edge = feature, k, -below
    return found, place, edge


@dataclass(frozen=True, eq=False)
class BoostingProblem:
    """Distinct training items and the pairs of them."""

    table: ItemTable  # items that are in a pair, each once however often it occurs
    pairs: GradePotentials | ListedPotentials  # the pairs, by numbers of these items
    n_pairs: int  # how many pairs there are

    @classmethod
    def of_grades(cls, model: Any, grades: Grades, weight: Floats) -> BoostingProblem:
        """Take all pairs of different grades, or those with a majority."""
        tree = plant_tree(model, grades, weight, "sum")
        rows = np.sort(tree.rows)
        table, code = grades.items.take(rows).unique()
        if model.feedback == "majority":
            return cls._of_majority(*_row_pairs(grades, weight, rows, code), table)
        item = np.zeros(len(grades.y), dtype=np.int64)
        item[rows] = code
        return cls(table, GradePotentials(tree, item, table.n_items), tree.n_pairs)

    @classmethod
    def of_comparisons(
        cls, model: Any, pairs: Pairs, outcome: NDArray[np.int8], weight: Floats
    ) -> BoostingProblem:
        """Take comparisons with a winner, or those with a majority."""
        used = weight > 0
        if model.feedback == "lists":
            used &= outcome != 0
        if not outcome[used].any():
            refuse_only_ties(model, int((weight > 0).sum()))
        pairs, outcome, weight = pairs[used].compact(), outcome[used], weight[used]
        table, code = pairs.unique_items()
        left, right = code[pairs.left], code[pairs.right]
        if model.feedback == "majority":
            return cls._of_majority(left, right, outcome, weight, table)
        better = np.where(outcome > 0, right, left)
        worse = np.where(outcome > 0, left, right)
        listed = ListedPotentials(better, worse, weight, table.n_items)
        return cls(table, listed, len(better))

    @classmethod
    def _of_majority(
        cls,
        left: Codes,
        right: Codes,
        outcome: NDArray[np.int8],
        weight: Floats,
        table: ItemTable,
    ) -> BoostingProblem:
        """Count each two items once, by how clearly one of them wins."""
        first, second = np.minimum(left, right), np.maximum(left, right)
        wins = weight * outcome * np.where(right == second, 1.0, -1.0)
        numbers, place = np.unique(first * table.n_items + second, return_inverse=True)
        total = np.bincount(place, weight)
        # 2 Pr[second is better] - 1, a tie being half a win for both.
        clear = np.bincount(place, wins) / total
        first, second = np.divmod(numbers, table.n_items)
        kept = (np.abs(clear) > 1e-12) & (first != second)
        if not kept.any():
            raise ValueError(
                "There is no pair to learn from: no two items have a majority, one "
                "wins as often as the other. Try feedback='lists'."
            )
        first, second, clear = first[kept], second[kept], clear[kept]
        better = np.where(clear > 0, second, first)
        worse = np.where(clear > 0, first, second)
        used, code = np.unique(np.append(better, worse), return_inverse=True)
        better, worse = np.split(code, 2)
        listed = ListedPotentials(better, worse, np.abs(clear), len(used))
        return cls(table.take(used), listed, len(better))


def _row_pairs(
    grades: Grades, weight: Floats, rows: Codes, code: Codes
) -> tuple[Codes, Codes, NDArray[np.int8], Floats]:
    """Write down all pairs of rows of a group, by the items in these rows."""
    group = np.unique(grades.group[rows], return_inverse=True)[1]
    sizes = np.bincount(group).astype(np.float64)
    n_possible = float(np.sum(sizes * (sizes - 1) / 2))
    if n_possible > MOST_PAIRS:
        raise ValueError(
            f"feedback='majority' writes down pairs, and here are {n_possible:.3g}, "
            f"more than {MOST_PAIRS:,}. Try feedback='lists', which writes down none."
        )
    found = pairs_within_groups(group, grades.y[rows], limit=MOST_PAIRS)
    weight = weight[rows]
    pair_weight = weight[found.left] * weight[found.right]
    return code[found.left], code[found.right], found.y, pair_weight


@dataclass(frozen=True)
class BoostRound:
    """One round of boosting."""

    ranker: WeakRanker  # what was chosen
    alpha: float  # its weight
    normalizer: float  # Z, what the loss was multiplied by
    loss: float  # weighted mean of exp(-(H(b) - H(c))) over the pairs after this round


def boost(
    problem: BoostingProblem,
    rankers: WeakRankers,
    n_rounds: int,
    smoothing: float | None = None,
) -> Iterator[BoostRound]:
    """Add weak rankers one by one, each where the loss is now."""
    utility = np.zeros(problem.table.n_items)
    log_loss, potential = problem.pairs.expand(utility)
    first = log_loss
    for _ in range(n_rounds):
        ranker = rankers.choose(potential)
        if abs(ranker.edge) <= NO_EDGE:
            return
        h = rankers.values(ranker)
        close = abs(ranker.edge) >= 1.0 - PERFECT
        is_perfect = close and problem.pairs.separates(h)
        if is_perfect:
            # All pairs differ by one in h, more than what was learned before can undo.
            alpha = math.copysign(1.0 + float(np.ptp(utility)), ranker.edge)
        elif smoothing is None:
            size = min(abs(ranker.edge), 1.0 - PERFECT)
            alpha = math.copysign(math.atanh(size), ranker.edge)
        else:
            shares = np.maximum(problem.pairs.split(h), smoothing)
            alpha = 0.5 * float(np.log(shares[0] / shares[1]))
        if alpha == 0.0:
            return
        utility += alpha * h
        before = log_loss
        log_loss, potential = problem.pairs.expand(utility)
        yield BoostRound(
            ranker, alpha, math.exp(log_loss - before), math.exp(log_loss - first)
        )
        if is_perfect:
            return


class ValidationSet:
    """Items held out, and how many of their pairs are swapped, round after round."""

    def __init__(self, model: Any, given: tuple[Any, ...]) -> None:
        if not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise ValueError(
                "validation must be (X, y), or (X, y, qid) for graded items; y is None "
                f"for Orders. Got {type(given).__name__}"
                + (f" of {len(given)} parts." if hasattr(given, "__len__") else ".")
            )
        X, y, qid = (*given, None)[:3]
        if is_pairs(X):
            pairs, outcome, _ = check_comparisons(X, y)
            decided = outcome != 0
            if not decided.any():
                raise ValueError(
                    f"all {len(outcome)} comparisons of validation are ties; they do "
                    "not say when to stop."
                )
            pairs, outcome = pairs[decided].compact(), outcome[decided]
            table = pairs.table
            self._error = lambda u: float(
                np.mean(np.sign(u[pairs.right] - u[pairs.left]) != outcome)
            )
        else:
            grades, _ = check_graded(X, y, qid, None)
            grouped = qid is not None or isinstance(X, Orders)
            if getattr(model, "fitted_with_qid_", False) and not grouped:
                raise ValueError(
                    "the training items have groups (qid) and those of validation have "
                    "none, so items of different groups would be compared. Give "
                    "validation=(X, y, qid)."
                )
            table = grades.items
            self._error = lambda u: swapped_pairs(grades.y, u, grades.group)
        check_features(model, table)
        self._values = sp.csc_array(table.values) if table.is_sparse else table.values
        self._utility = np.zeros(table.n_items)
        # Says now rather than later that there is no pair.
        self._error(self._utility)

    def add(self, rankers: WeakRankers, done: BoostRound) -> float:
        """Add a weak ranker."""
        self._utility += done.alpha * rankers.values_of(self._values, done.ranker)
        return self._error(self._utility)


class RankBoost(UtilityMixin, BaseEstimator):
    r"""Boosting of weak rankers: a utility that is a sum of functions of one feature.

    The utility is H(x) = Σ_t α_t h_t(x) with weak rankers h from 0 to 1. They are added
    one by one, to lower the exponential loss ::

        L(H) = Σ_{(b,c)} w_bc exp(-(H(b) - H(c))) / Σ_{(b,c)} w_bc

    over pairs of a better item b and a worse item c, a weighted mean, so that it begins
    at 1. With D(b, c) the share that a pair has of the loss, a round takes the weak
    ranker with the largest \|r\|, r = Σ D(b, c) (h(b) - h(c)), and multiplies the loss
    by Z = Σ D(b, c) exp(-α (h(b) - h(c))):

    - ``weak="feature"``: h is a feature scaled to [0, 1] on the training items, and
      α = ½ ln((1 + r) / (1 - r)), which may be negative. It makes Z ≤ √(1 - r²), the
      third option of Freund et al. The utility is linear.
    - ``weak="stump"``: h(x) is 1 if a feature is above a cut, else 0. All cuts between
      neighboring values are tried. α = ½ ln(W₊ / W₋), with W₊ and W₋ the shares of the
      pairs that h puts in order and in reverse; it minimizes Z for this h.

    The pairs are those of :class:`RankSVM`. Those of graded items and lists are never
    written down: a round costs O(n) for n rows and O(N p) for N distinct items of p
    features.

    Parameters
    ----------
    n_rounds : int, default=100
        Weak rankers at most. It ends before if a single one puts every pair in order
        (\|r\| = 1), which then has the last word, or if none has an edge any more.
    weak : {"feature", "stump"}, default="feature"
        Kind of weak rankers.
    feedback : {"lists", "majority"}, default="lists"
        ``"lists"`` counts every pair of every list. ``"majority"`` counts each two
        items once, with the weight max(2 P - 1, 0), where P is the share of lists (or
        comparisons) with both in which the one is above the other, ties counting half;
        items with the same features are one item here. It writes down the pairs.
    smoothing : float, default=1e-4
        Stumps: shares W₊ and W₋ below this count as this, so that α is finite when no
        pair is reversed.
    n_iter_no_change : int, default=10
        With a validation set: end if its error has not become less for so many rounds.

    Attributes
    ----------
    features_, alphas_, edges_ : ndarray of shape (n_iter,)
        Feature of each weak ranker, its weight α, and its r when it was chosen.
    cuts_ : ndarray of shape (n_iter,)
        Stumps: the cut of each.
    normalizers_ : ndarray of shape (n_iter,)
        Z of each round. Their product is the loss.
    coef_ : ndarray of shape (n_features,)
        Features: H(x) = (x - ``lower_``)·``coef_``.
    lower_, span_ : ndarray of shape (n_features,)
        Features: smallest value of each in training, and the distance to the largest.
    loss_curve_ : ndarray
        L(H) after every round, also those that early stopping took back.
    validation_curve_ : ndarray
        With a validation set: its share of swapped pairs after every round.
    n_iter_, n_pairs_ : int
        Weak rankers kept, up to the least validation error, and pairs learned from.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    Notes
    -----
    The cut of a stump is chosen by \|r\| rather than by Z: r of all cuts of a feature
    are running sums, while Z would need W₊ and W₋ of every cut. Edges that differ by
    less than 1e-10 count as equal; the first feature and its lowest cut win.

    References
    ----------
    Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining
    preferences", 2003.
    Kamishima, Kazawa and Akaho, "Supervised ordering: an empirical survey".

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

    features_: NDArray[np.int64]
    cuts_: Floats
    alphas_: Floats
    lower_: Floats
    span_: Floats

    _parameters: ClassVar = {
        "weak": one_of("feature", "stump"),
        "feedback": one_of("lists", "majority"),
        **dict.fromkeys(("n_rounds", "n_iter_no_change"), COUNT),
        "smoothing": Values("a number above 0 and below 0.5", 1e-30, 0.5 - 1e-9),
    }

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        weak: Literal["feature", "stump"] = "feature",
        feedback: Literal["lists", "majority"] = "lists",
        smoothing: float = 1e-4,
        n_iter_no_change: int = 10,
    ) -> None:
        self.n_rounds, self.weak, self.feedback = n_rounds, weak, feedback
        self.smoothing, self.n_iter_no_change = smoothing, n_iter_no_change

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn from comparisons, graded items or orders.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``.
        validation : (X, y) or (X, y, qid), optional
            Data held out; the model keeps the rounds up to the fewest swapped pairs.

        Returns
        -------
        Self
        """
        check_parameters(self)
        problem = self._read(X, y, qid, sample_weight)
        watch = None if validation is None else ValidationSet(self, validation)
        by_feature = self.weak == "feature"
        kind = FeatureRankers if by_feature else StumpRankers
        rankers: WeakRankers = kind(problem.table)
        smoothing = None if by_feature else self.smoothing
        rounds: list[BoostRound] = []
        errors: list[float] = []
        with one_blas_thread():  # products too small for more than one
            for done in boost(problem, rankers, int(self.n_rounds), smoothing):
                rounds.append(done)
                if watch is None:
                    continue
                errors.append(watch.add(rankers, done))
                if len(errors) - 1 - int(np.argmin(errors)) >= self.n_iter_no_change:
                    break
        self.n_pairs_ = problem.n_pairs
        self._unpack(rankers, rounds, errors)
        return self

    def _read(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> BoostingProblem:
        if not is_pairs(X):
            grades, weight = read_grades(self, X, y, qid, sample_weight)
            return BoostingProblem.of_grades(self, grades, weight)
        self._refuse_groups(qid)
        pairs, outcome, weight = check_comparisons(X, y, sample_weight)
        if pairs.items is None:
            raise TypeError(
                "RankBoost needs features of the items; these Pairs have none "
                "(items=None). Try BradleyTerry, which knows items by name."
            )
        self._start_pairs(pairs)
        return BoostingProblem.of_comparisons(self, pairs, outcome, weight)

    def _unpack(
        self, rankers: WeakRankers, rounds: list[BoostRound], errors: list[float]
    ) -> None:
        self.loss_curve_ = np.array([done.loss for done in rounds])
        kept = rounds
        if errors:
            self.validation_curve_ = np.array(errors)
            kept = rounds[: int(np.argmin(errors)) + 1]
        self.n_iter_ = len(kept)
        self.features_ = np.array([r.ranker.feature for r in kept], dtype=np.int64)
        self.edges_ = np.array([r.ranker.edge for r in kept])
        self.normalizers_ = np.array([r.normalizer for r in kept])
        self.alphas_ = np.array([r.alpha for r in kept])
        if isinstance(rankers, FeatureRankers):
            self.lower_, self.span_ = rankers.lower, rankers.span
            total = np.bincount(self.features_, self.alphas_, len(self.span_))
            zeros = np.zeros(len(total))
            varies = self.span_ > 0.0
            self.coef_ = np.divide(total, self.span_, out=zeros, where=varies)
        else:
            self.cuts_ = np.array([r.ranker.cut for r in kept])
        if not rounds:
            warn_user(
                "RankBoost gives all items the same utility: no weak ranker orders the "
                f"{self.n_pairs_} training pair(s) better than chance. Nothing was "
                "learned. Check that some feature has different values within the "
                "groups.",
                FitWarning,
            )

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
        if is_pairs(X):
            raise TypeError(
                "staged_utility takes items, got comparisons. Take the differences of "
                "the utilities of their items."
            )
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

    def __sklearn_is_fitted__(self) -> bool:
        # What a fit learns of the features comes before what can fail in it.
        return hasattr(self, "alphas_")
