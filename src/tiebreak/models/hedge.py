# SPDX-License-Identifier: BSD-3-Clause
"""Cohen's method: votes of attributes between two items, then an order.

Boundary conventions: two equal values of an attribute are half a vote for either
side; a preference of exactly one half is a tie; items whose claims to be next are equal
(to 1e-12) keep the order of their rows.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import (
    ItemTable,
    Orders,
    as_items,
    check_grades,
    is_pairs,
    read_grades,
)
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import COUNT, POSITIVE, Values, check_parameters, one_of
from tiebreak.data.validation import check_features
from tiebreak.losses import GradePotentials, GradeTree
from tiebreak.metrics.pair_counts import pair_counts
from tiebreak.models.base import UtilityMixin, some_pairs, split_groups
from tiebreak.models.problem import build_grade_tree


def voter_losses(values: Floats, tree: GradeTree) -> Floats:
    """Give the mean loss of each attribute over all pairs, in O(n log n) each."""
    sizes = np.diff(tree.starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    grade = np.searchsorted(tree.cuts, np.arange(len(group)), side="right")
    losses = []
    for column in values[tree.rows].T:
        counts = pair_counts(grade, column, group, tree.weight)
        concordant, tied, discordant = counts.sum(axis=0)
        losses.append((discordant + 0.5 * tied) / (concordant + tied + discordant))
    return np.array(losses)


def run_rounds(
    losses: Floats, beta: float, n_rounds: int, tol: float | None
) -> dict[str, Any]:
    """Update the weights of attributes and their negations."""
    both, curve = np.stack([losses, 1.0 - losses]), []
    log_weight = np.zeros_like(both)
    for _ in range(n_rounds):
        curve.append(float(np.sum(softmax(log_weight) * both)))
        log_weight = log_weight + math.log(beta) * both
        if tol is not None and len(curve) > 1 and abs(curve[-1] - curve[-2]) < tol:
            break
    return {
        "loss_curve_": np.array(curve),
        "n_iter_": len(curve),
        "weights_": softmax(log_weight),
    }


@njit(cache=True, nogil=True)
def fill_greedy_order(
    order: Codes,
    claim: Floats,
    values: Floats,
    net_weight: Floats,
    equal: float,
) -> None:
    """Write the greedy order of items, in place; O(n² p)."""
    n, p = values.shape
    for i in range(n):
        claim[i] = 0.0
        for j in range(n):
            claim[i] += _net_vote(values[i], values[j], net_weight, p)
    left = np.ones(n, dtype=np.bool_)
    for place in range(n):
        best = -1
        for i in range(n):
            if left[i] and (best < 0 or claim[i] > claim[best] + equal):
                best = i
        order[place] = best
        left[best] = False
        for i in range(n):
            if left[i]:
                claim[i] -= _net_vote(values[i], values[best], net_weight, p)


@njit(cache=True, nogil=True)
def _net_vote(a: Floats, b: Floats, net_weight: Floats, p: int) -> float:
    """Sum the weights for a over b, minus those against."""
    total = 0.0
    for f in range(p):
        if a[f] > b[f]:
            total += net_weight[f]
        elif a[f] < b[f]:
            total -= net_weight[f]
    return total


# Preferences and claims that differ by less are equal: rounding does not decide.
EQUAL = 1e-12


def side_statistics(values: Floats, tree: GradeTree) -> dict[str, Any]:
    """Give means and variances of better and worse items, once per pair."""
    n = len(values)
    _, *shares = GradePotentials(tree, np.arange(n), n).shares(np.zeros(n))
    # Seen from one of the rows, what does not vary is exactly zero.
    origin = values[tree.rows[0]]
    apart = values - origin
    means = np.stack([share @ apart for share in shares])
    both = zip(shares, means, strict=True)
    return {
        "side_weight_": tree.total,
        "side_means_": origin + means,
        "side_variances_": np.stack([s @ (apart - mean) ** 2 for s, mean in both]),
    }


@dataclass(eq=False, repr=False)
class HedgeOrder(UtilityMixin, BaseEstimator):
    """Order items by preferences between two of them, learned by Hedge.

    Every attribute f and its negation is a voter: R_f(a, b) is 1 if a has more of it, 0
    if b has, ½ if equal. The preference for a over b is a weighted vote ::

        PREF(a, b) = Σ_f w_f R_f(a, b),    Σ_f w_f = 1.

    The loss of a voter is the mean of 1 - R_f(a, b) over all training pairs "a above
    b", and a round multiplies its weight by β to the power of its loss.

    The greedy order always takes the item with the largest Σ_b PREF(a, b) - PREF(b, a)
    over the remaining items b, in O(n² p) time for n items.

    Parameters
    ----------
    beta : float, default=0.9
        β, between 0 and 1; small values move weight faster.
    n_rounds : int, default=30
        Rounds of ``fit``; with many a single attribute remains.
    tol : float, optional
        Stop when the loss of the weighted vote changes by less.
    preference : {"hedge", "naive_bayes"}, default="hedge"
        ``"naive_bayes"``: PREF(a, b) is the probability that a is above b if attributes
        are independent and normal, with means and variances of the better and of the
        worse items of the pairs.

    Attributes
    ----------
    weights_ : ndarray of shape (2, n_features)
        w of the attributes, and of their negations.
    losses_ : ndarray of shape (n_features,)
        Mean loss of each attribute over the training pairs.
    loss_curve_ : ndarray of shape (n_iter,)
        Loss of the weighted vote before each round.
    side_weight_, side_means_, side_variances_ : float, ndarrays of (2, n_features)
        Naive Bayes: weight of the pairs, and moments of their two sides.
    n_iter_ : int
        Number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Which of two items comes first may depend on the other items. So ``utility`` and
    ``predict`` of items raise; ``predict`` of comparisons uses PREF.

    Examples
    --------
    >>> from tiebreak import HedgeOrder, Orders
    >>> items = [[3.0, 1.0], [2.0, 5.0], [1.0, 0.0], [0.0, 4.0]]
    >>> model = HedgeOrder().fit(Orders(items, [[0, 1, 2, 3], [1, 2, 3]]))
    >>> model.losses_
    array([0.    , 0.4444])
    >>> model.order(items)
    array([0, 1, 2, 3])
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True
    _tie_width: ClassVar[float] = EQUAL

    beta: float = 0.9
    _: KW_ONLY
    n_rounds: int = 30
    tol: float | None = None
    preference: Literal["hedge", "naive_bayes"] = "hedge"

    _parameters: ClassVar = {
        "beta": Values("a number above 0 and below 1", 1e-30, 1.0 - 1e-9),
        "preference": one_of("hedge", "naive_bayes"),
        "n_rounds": COUNT,
        "tol": POSITIVE | None,
    }
    _fitted_arrays: ClassVar = {
        "losses_": "p",
        "weights_": "2 p",
        "side_means_": "2 p",
        "side_variances_": "2 p",
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from orders or graded items, all at once.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in ``RankSVM.fit``, without comparisons.

        Returns
        -------
        Self
        """
        check_parameters(self)
        data = read_grades(X, y, qid, sample_weight)
        tree, values = build_grade_tree(data), data.items.dense()
        losses = voter_losses(values, tree)
        learned = run_rounds(losses, self.beta, int(self.n_rounds), self.tol)
        learned |= {**data.attributes, "losses_": losses}
        if self.preference == "naive_bayes":
            learned |= side_statistics(values, tree)
        if not np.ptp(values[tree.rows], axis=0).any():
            warn_user(
                "HedgeOrder: no attribute has two different values, so that every two "
                "items tie. Nothing was learned.",
                DataWarning,
            )
        return self._keep(learned)

    def difference(self, X: Any) -> Floats:
        """Preference for the right item minus that for the left one.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n,)
            PREF(right, left) - PREF(left, right), from -1 to 1.
        """
        check_is_fitted(self)
        pairs = some_pairs(X).compact()
        check_features(self, pairs.table)
        values = pairs.table.dense()
        if (odds := self._log_odds(values)) is not None:
            return np.tanh(0.5 * (odds[pairs.right] - odds[pairs.left]))
        left, right = values[pairs.left], values[pairs.right]
        votes = (right > left).astype(np.float64) - (right < left)
        return (votes * self._net_weights()).sum(axis=1)

    def utility(self, X: Any) -> NoReturn:
        """Refuse: there is no utility.

        Parameters
        ----------
        X : items
            Whatever they are: it always raises a TypeError.
        """
        check_is_fitted(self)
        raise TypeError(
            "HedgeOrder has no utility. Use order(X), difference(pairs) or "
            "predict(pairs); or RankBoost, which has a utility."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = None, None  # it predicts no numbers
        return tags

    def _utility_of_entries(self, orders: Orders) -> Floats:
        _, group = orders.entry_grades()
        return self._utility_in_groups(orders.table.take(orders.flat), group)

    def _utility_in_groups(self, X: Any, qid: Any) -> Floats:
        """Minus the places of items in the greedy order of their group."""
        check_is_fitted(self)
        if is_pairs(X):
            raise TypeError(
                "order takes items, got comparisons; for these use "
                "difference(pairs) or predict(pairs)."
            )
        table = as_items(X, name="X")
        check_features(self, table)
        group = check_grades(table, np.zeros(table.n_items), qid).group
        utility = np.empty(table.n_items)
        for rows in split_groups(group):
            utility[rows[self._order_together(table.take(rows))]] = -np.arange(
                float(len(rows))
            )
        return utility

    def _order_together(self, table: ItemTable) -> Codes:
        values = np.ascontiguousarray(table.dense())
        if (odds := self._log_odds(values)) is not None:
            # Σ tanh((odds_a - odds_b) / 2) is largest where the odds are.
            return np.argsort(-odds, kind="stable")
        order = np.empty(len(values), dtype=np.int64)
        claim = np.zeros(len(values))
        fill_greedy_order(order, claim, values, self._net_weights(), EQUAL)
        return order

    def _net_weights(self) -> Floats:
        """Give w of each attribute minus w of its negation."""
        return self.weights_[0] - self.weights_[1]

    def _log_odds(self, values: Floats) -> Floats | None:
        """Log density as a better item minus as a worse one; None for votes."""
        if self.preference == "hedge":
            return None
        if not hasattr(self, "side_means_"):
            raise ValueError(
                "HedgeOrder was fitted with another preference; fit it again to use "
                "preference='naive_bayes'."
            )
        means, weight = self.side_means_, self.side_weight_
        whole = (self.side_variances_ + (means - means.mean(axis=0)) ** 2).mean(axis=0)
        # A side counts one more observation at its mean with the variance of both sides
        # together, so that no variance is zero. Features without any are left out.
        variances = (weight * self.side_variances_ + whole) / (weight + 1.0)
        used = whole > 0.0
        odds = np.zeros((len(values), int(used.sum())))
        for sign, mean, variance in zip(
            (1.0, -1.0), means[:, used], variances[:, used], strict=True
        ):
            apart = (values[:, used] - mean) ** 2 / variance
            odds -= 0.5 * sign * (np.log(variance) + apart)
        return odds.sum(axis=1)
