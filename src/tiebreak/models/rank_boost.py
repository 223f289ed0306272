# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost on comparisons, graded items and orders."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import ItemTable, as_items, is_pairs
from tiebreak.data.features import check_features
from tiebreak.data.messages import warn_user
from tiebreak.data.threads import one_blas_thread
from tiebreak.models.base import UtilityMixin
from tiebreak.models.boost_program import (
    BoostProgram,
    BoostRound,
    ValidationSet,
    boost,
)
from tiebreak.models.weak_rankers import FeatureRankers, StumpRankers, column_of

__all__ = ["RankBoost"]

Floats = NDArray[np.float64]


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
      α = ½ ln((1 + r) / (1 - r)), which may be negative. It makes Z ≤ √(1 - r²). This
      is the third option of Freund et al., and what the survey of Kamishima et al.
      uses. The utility is linear; use ``PolynomialFeatures`` for more.
    - ``weak="stump"``: h(x) is 1 if a feature is above a cut, else 0. All cuts between
      neighboring values are tried. α = ½ ln(W₊ / W₋), with W₊ and W₋ the shares of the
      pairs that h puts in order and in reverse; it minimizes Z for this h.

    What the pairs are depends on what it is given: comparisons with a winner; all pairs
    of different grades within a group, weighing w_i w_j; all pairs of items at
    different positions of a list. Pairs of graded items and lists are never written
    down: a round costs O(n) for n rows and O(N p) for N distinct items of p features.

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
    features_ : ndarray of int of shape (n_iter,)
        Feature of each weak ranker.
    cuts_ : ndarray of shape (n_iter,)
        Stumps: the cut of each.
    alphas_ : ndarray of shape (n_iter,)
        Its weight α.
    edges_ : ndarray of shape (n_iter,)
        Its r when it was chosen.
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
    n_iter_ : int
        Weak rankers kept: all, or those up to the least validation error.
    n_pairs_ : int
        Number of pairs that were learned from.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when the items came with names.

    Notes
    -----
    The cut of a stump is chosen by \|r\| rather than by Z: r of all cuts of a feature
    are running sums of the potentials of the items, while Z would need W₊ and W₋ of
    every cut. Edges that differ by less than 1e-10 count as equal; the first feature
    wins, and of it the lowest cut.

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

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        weak: str = "feature",
        feedback: str = "lists",
        smoothing: float = 1e-4,
        n_iter_no_change: int = 10,
    ) -> None:
        self.n_rounds = n_rounds
        self.weak = weak
        self.feedback = feedback
        self.smoothing = smoothing
        self.n_iter_no_change = n_iter_no_change

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
        X : Pairs, array-like of shape (n, 2, n_features), items or Orders
            Dispatch is by type: Pairs and 3-D arrays are comparisons.
        y : array-like of shape (n,), optional
            Outcomes -1, 0, +1 of comparisons, or grades of items; none for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; items of different groups are never compared.
        sample_weight : array-like of shape (n,), optional
            Weights of comparisons, or of items: a pair of items weighs w_i w_j.
            Weights of Orders are those of the lists.
        validation : (X, y) or (X, y, qid), optional
            Data held out, of any of these shapes; y is None for Orders. The model
            keeps the rounds up to the fewest swapped pairs on them.

        Returns
        -------
        Self
            The fitted model.
        """
        self._check_parameters()
        program = BoostProgram.read(self, X, y, qid, sample_weight)
        watch = None if validation is None else ValidationSet(self, validation)
        rankers = (FeatureRankers if self.weak == "feature" else StumpRankers)(
            program.table
        )
        with one_blas_thread():  # products too small for more than one
            rounds, errors = self._run(program, rankers, watch)
        self._unpack(program, rankers, rounds, errors)
        return self

    def _run(
        self, program: BoostProgram, rankers: Any, watch: ValidationSet | None
    ) -> tuple[list[BoostRound], list[float]]:
        rounds: list[BoostRound] = []
        errors: list[float] = []
        smoothing = self.smoothing if self.weak == "stump" else None
        for done in boost(program, rankers, int(self.n_rounds), smoothing):
            rounds.append(done)
            if watch is None:
                continue
            errors.append(watch.add(rankers, done))
            if len(errors) - 1 - int(np.argmin(errors)) >= self.n_iter_no_change:
                break
        return rounds, errors

    def _unpack(
        self,
        program: BoostProgram,
        rankers: FeatureRankers | StumpRankers,
        rounds: list[BoostRound],
        errors: list[float],
    ) -> None:
        self.n_pairs_ = program.n_pairs
        self.loss_curve_ = np.array([done.loss for done in rounds])
        kept = rounds
        if errors:
            self.validation_curve_ = np.array(errors)
            kept = rounds[: int(np.argmin(errors)) + 1]
        self.n_iter_ = len(kept)
        self.features_ = np.array([r.ranker.feature for r in kept], dtype=np.int64)
        self.edges_ = np.array([r.ranker.edge for r in kept])
        self.normalizers_ = np.array([r.normalizer for r in kept])
        if isinstance(rankers, FeatureRankers):
            self.lower_ = rankers.lower
            share = np.array([r.alpha for r in kept])
            total = np.bincount(self.features_, share, len(rankers.span))
            varies = rankers.span > 0.0
            self.coef_ = np.divide(
                total, rankers.span, out=np.zeros(len(total)), where=varies
            )
            self.span_ = rankers.span
        else:
            self.cuts_ = np.array([r.ranker.cut for r in kept])
        self.alphas_ = np.array([r.alpha for r in kept])
        if not rounds:
            warn_user(
                "RankBoost gives all items the same utility: no weak ranker orders the "
                f"{self.n_pairs_} training pair(s) better than chance. Nothing was "
                "learned. Check that some feature has different values within the "
                "groups."
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
            ``n_iter_`` of them; the last is ``utility(X)``, but for rounding.
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
        if hasattr(self, "cuts_"):
            return self._utility_of_stumps(table)
        if table.is_sparse:
            return table.values @ self.coef_ - self.lower_ @ self.coef_
        return (table.values - self.lower_) @ self.coef_

    def _utility_of_stumps(self, table: ItemTable) -> Floats:
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

    def _check_parameters(self) -> None:
        known = {"weak": ("feature", "stump"), "feedback": ("lists", "majority")}
        for name, values in known.items():
            if (value := getattr(self, name)) not in values:
                raise ValueError(
                    f"RankBoost got {name}={value!r}; expected {values[0]!r} or "
                    f"{values[1]!r}."
                )
        for name in ("n_rounds", "n_iter_no_change"):
            value = getattr(self, name)
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not whole or value < 1:
                raise ValueError(
                    f"RankBoost got {name}={value!r}; expected a whole number of at "
                    "least 1."
                )
        value = self.smoothing
        good = isinstance(value, Real) and not isinstance(value, bool)
        if not good or not 0 < value < 0.5:
            raise ValueError(
                f"RankBoost got smoothing={value!r}; expected a number above 0 and "
                "below 0.5."
            )
