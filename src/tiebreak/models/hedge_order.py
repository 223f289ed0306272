# SPDX-License-Identifier: BSD-3-Clause
"""Cohen's method: a preference between two items by votes of attributes, then an order.

Boundary conventions: two equal values of an attribute are half a vote for either
side; a preference of exactly one half is a tie; items whose claims to be next are equal
(to 1e-12) keep the order of their rows.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, as_pairs, is_pairs
from tiebreak.data.features import check_features, remember_features
from tiebreak.data.messages import warn_user
from tiebreak.models.attribute_votes import (
    fill_greedy_order,
    normalized_weights,
    voter_losses,
    voter_losses_by_group,
)
from tiebreak.models.graded_program import check_graded, plant_tree, read_grades
from tiebreak.models.relative_order import EQUAL, RelativeOrder
from tiebreak.models.side_statistics import SideStatistics

__all__ = ["HedgeOrder"]

Floats = NDArray[np.float64]


class HedgeOrder(RelativeOrder, BaseEstimator):
    """Order items by preferences between two of them, learned by Hedge.

    Every attribute f and its negation is a voter: R_f(a, b) is 1 if a has more of it, 0
    if b has, ½ if both have as much. The preference for a over b is a weighted vote ::

        PREF(a, b) = Σ_f w_f R_f(a, b),    Σ_f w_f = 1.

    The loss of a voter is the mean of 1 - R_f(a, b) over the pairs "a above b" of the
    training orders, and a round multiplies its weight by β to the power of its loss. In
    ``fit`` all orders together are the feedback of every round; ``partial_fit`` is the
    on-line method, where every order is one round.

    The order of a set of items then should have a large Σ PREF(a, b) over a before b.
    To find the largest is NP-hard. The greedy order, which always takes the item with
    the largest Σ_b PREF(a, b) - PREF(b, a) over the items b that are left, reaches at
    least half of it.

    Parameters
    ----------
    beta : float, default=0.9
        β, between 0 and 1. The smaller, the faster weight moves to the best voters.
    n_rounds : int, default=30
        Rounds of ``fit``. The losses are the same in every round, so that with ever
        more rounds a single attribute remains; the number of rounds says when to stop.
    tol : float, optional
        End before if the loss of the weighted vote changes by less than this.
    preference : {"hedge", "naive_bayes"}, default="hedge"
        ``"naive_bayes"`` uses the values of the attributes and not only their order:
        PREF(a, b) is the probability that a is above b when every attribute has a
        normal distribution over the better items of the pairs, another one over the
        worse items, and attributes are independent.

    Attributes
    ----------
    weights_ : ndarray of shape (2, n_features)
        w of the attributes, and of their negations. They sum to one.
    losses_ : ndarray of shape (n_features,)
        Mean loss of each attribute over the training pairs of the last ``fit``; that of
        its negation is one minus this.
    loss_curve_ : ndarray of shape (n_iter,)
        Loss of the weighted vote before each round; in ``partial_fit`` on the order
        that comes.
    side_weight_ : float
        Naive Bayes: total weight of the pairs seen.
    side_means_, side_variances_ : ndarray of shape (2, n_features)
        Naive Bayes: of each attribute over the better and the worse items of pairs.
    n_iter_ : int
        Rounds so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    Notes
    -----
    The order is *relative*: which of two items comes first may depend on the other
    items that are ordered with them. So there is no utility, and ``utility`` and
    ``predict`` of items raise. ``predict`` of comparisons goes by PREF.

    The greedy order of n items takes O(n² p) time.

    References
    ----------
    Cohen, Schapire and Singer, "Learning to order things", 1999.
    Kamishima, Kazawa and Akaho, "Supervised ordering: an empirical survey".

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
    __metadata_request__partial_fit: ClassVar = {"qid": True}
    _fits_pairs: ClassVar[bool] = False
    _fits_items: ClassVar[bool] = True

    weights_: Floats
    loss_curve_: Floats

    def __init__(
        self,
        beta: float = 0.9,
        *,
        n_rounds: int = 30,
        tol: float | None = None,
        preference: str = "hedge",
    ) -> None:
        self.beta = beta
        self.n_rounds = n_rounds
        self.tol = tol
        self.preference = preference

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
        X : items or Orders
            Items with grades y, or orders without.
        y : array-like of shape (n,), optional
            Grades of items, higher is better; none for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; items of different groups are never compared.
        sample_weight : array-like of shape (n,), optional
            Weights of items: a pair weighs w_i w_j. Weights of Orders are those of the
            lists.

        Returns
        -------
        Self
            The fitted model.
        """
        self._check(X)
        grades, weight = read_grades(self, X, y, qid, sample_weight)
        tree = plant_tree(self, grades, weight, "sum")
        values = grades.items.dense()
        self.losses_ = voter_losses(values, tree)
        self._repeat_rounds()
        if self.preference == "naive_bayes":
            self._take(SideStatistics.of_pairs(values, tree))
        if not np.ptp(values[tree.rows], axis=0).any():
            warn_user(
                "HedgeOrder: no attribute has two different values, so that every two "
                "items tie. Nothing was learned."
            )
        return self

    def _repeat_rounds(self) -> None:
        both = np.stack([self.losses_, 1.0 - self.losses_])
        log_weight = np.zeros(both.shape)
        curve: list[float] = []
        for _ in range(int(self.n_rounds)):
            curve.append(float(np.sum(normalized_weights(log_weight) * both)))
            log_weight += math.log(self.beta) * both
            change = abs(curve[-1] - curve[-2]) if len(curve) > 1 else math.inf
            if self.tol is not None and change < self.tol:
                break
        self.loss_curve_ = np.array(curve)
        self.n_iter_ = len(curve)
        self.weights_ = normalized_weights(log_weight)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from some more orders, one round for each, as they come.

        Goes on from the weights of the last call, or of ``fit``.

        Parameters
        ----------
        X : items or Orders
            Items with grades y, each group one order; or orders without.
        y, qid : array-like of shape (n,), optional
            Grades and groups of items, as in ``fit``.
        sample_weight : array-like of shape (n,), optional
            Weights of items: a pair weighs w_i w_j within its order. Weights of
            Orders are those of the lists; 2 is the same as the list twice.

        Returns
        -------
        Self
            The model.
        """
        self._check(X)
        grades, weight = check_graded(X, y, qid, sample_weight)
        tree = plant_tree(self, grades, weight, "sum")
        lists = grades.orders
        table = grades.items if lists is None else lists.table
        if hasattr(self, "weights_"):
            check_features(self, table)
        else:
            remember_features(self, table)
        known = getattr(self, "fitted_with_qid_", False)
        self.fitted_with_qid_ = known or lists is not None or qid is not None
        values = grades.items.dense()
        # The rows of a list carry its weight, and their mean knows nothing of it.
        losses = voter_losses_by_group(values, tree)
        self._follow(losses, tree.group_weight)
        if self.preference == "naive_bayes":
            new = SideStatistics.of_pairs(values, tree)
            old = self._statistics()
            self._take(new if old is None else old.merged(new))
        return self

    def _follow(self, losses: Floats, weight: Floats) -> None:
        """Make one round of each order."""
        p = losses.shape[1]
        start = getattr(self, "weights_", np.full((2, p), 0.5 / p))
        with np.errstate(divide="ignore"):  # a weight that has become zero stays so
            log_weight = np.log(start)
        curve = list(getattr(self, "loss_curve_", []))
        for order, own in enumerate(losses):
            both = np.stack([own, 1.0 - own])
            curve.append(float(np.sum(normalized_weights(log_weight) * both)))
            log_weight += weight[order] * math.log(self.beta) * both
        self.loss_curve_ = np.array(curve)
        self.n_iter_ = len(curve)
        self.weights_ = normalized_weights(log_weight)

    def _statistics(self) -> SideStatistics | None:
        if not hasattr(self, "side_means_"):
            return None
        return SideStatistics(self.side_weight_, self.side_means_, self.side_variances_)

    def _take(self, found: SideStatistics) -> None:
        self.side_weight_ = found.weight
        self.side_means_, self.side_variances_ = found.means, found.variances

    def decision_function(self, X: Any) -> Floats:
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
        pairs = as_pairs(X).compact()
        if len(pairs) == 0:
            raise ValueError(
                "There are no comparisons: 0 sample(s) while a minimum of 1 is "
                "required."
            )
        check_features(self, pairs.table)
        values = pairs.table.dense()
        if (odds := self._log_odds(values)) is not None:
            return np.tanh(0.5 * (odds[pairs.right] - odds[pairs.left]))
        left, right = values[pairs.left], values[pairs.right]
        votes = (right > left).astype(np.float64) - (right < left)
        return (votes * self._net_weights()).sum(axis=1)

    def _order_together(self, table: ItemTable) -> NDArray[np.int64]:
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
        found = self._statistics()
        if found is None:
            raise ValueError(
                "HedgeOrder was fitted with another preference; fit it again to use "
                "preference='naive_bayes'."
            )
        return found.log_odds(values)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def _check(self, X: Any) -> None:
        beta = self.beta
        if not _is_number(beta) or not 0 < beta < 1:
            raise ValueError(
                f"HedgeOrder got beta={beta!r}; expected a number above 0 and below 1. "
                "0.9 is usual."
            )
        if self.preference not in ("hedge", "naive_bayes"):
            raise ValueError(
                f"HedgeOrder got preference={self.preference!r}; expected 'hedge' or "
                "'naive_bayes'."
            )
        n = self.n_rounds
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(
                f"HedgeOrder got n_rounds={n!r}; expected a whole number of at least 1."
            )
        if self.tol is not None and not (_is_number(self.tol) and self.tol > 0):
            raise ValueError(
                f"HedgeOrder got tol={self.tol!r}; expected a positive number or None."
            )
        if is_pairs(X):
            raise TypeError(
                "HedgeOrder learns from orders or graded items; got comparisons. Write "
                "each as a list of two, Orders(items, [[better, worse], ...]), or try "
                "RankBoost, which takes comparisons."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
