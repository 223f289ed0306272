# SPDX-License-Identifier: BSD-3-Clause
"""Strengths from ranked lists, with ties.

Boundary convention: as in `BradleyTerry`, for two items.
"""

from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Orders, Pairs, check_weights, is_pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.comparison_graph import ComparisonGraph
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import check_parameters, one_of
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import LINKS, Choices, OrderLikelihood
from tiebreak.models.base import fits_outcomes
from tiebreak.ratings.named_results import check_results
from tiebreak.ratings.strengths.distribution import StrengthDistribution
from tiebreak.ratings.strengths.existence import check_separation, label_components
from tiebreak.ratings.strengths.inference import StrengthModel
from tiebreak.ratings.strengths.prior import fit_penalized

_DAVIDSON = LINKS["davidson"]
_KINDS = ("model", "sandwich")
_MOST_UNORDERED = 10  # 2^10 subsets
_REMEDY = (
    "(An item wins where it is above another in a list.) Strengths of maximum "
    "likelihood are then infinite or arbitrary. Leave these items out, add lists, or "
    "set alpha='auto', a prior whose width is learned."
)


class PlackettLuce(StrengthModel):
    """Strengths of items from ranked lists with ties.

    From the top of a list, the block C in the next place is chosen with probability ::

        f(C) / Σ_S f(S),    f(S) = δ_|S| (Π_{i∈S} πᵢ)^(1/|S|),    π = exp θ,

    where S runs over all sets of the items that are left, of one item (δ₁ = 1) or of a
    size that tied blocks have in the data. A list whose items are in partly unknown
    order, such as a choice of the best and the worst of a set, has the sum of the
    probabilities of all its orders. The strengths θ and ln δ minimize ::

        -Σ_l w_l ln P(list l) + α Σᵢ θᵢ²,

    a sum over lists, which is convex. Of two items it is :class:`BradleyTerry` with
    Davidson's ties, ν = δ₂.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        As in :class:`BradleyTerry`.
    unlisted : {"unknown", "lower"}, default="unknown"
        What a list says about items that it leaves out: nothing; or that those that its
        author saw (``Orders(seen=)``, by default all) are below it, in no order among
        each other. They are then among the items that are left, to the end.
    tol, max_iter : float and int, default=1e-8 and 100
        As in :class:`BradleyTerry`.

    Attributes
    ----------
    tie_sizes_, tie_ : ndarray of shape (S,)
        Sizes above 1 that tied blocks have in the data, and their δ.
    threshold_ : float
        As in :class:`BradleyTerry`, for two items.
    items_, strength_, alpha_, objective_, gap_, n_iter_, converged_, classes_
        As in :class:`BradleyTerry`.
    list_items_, list_ends_, list_starts_, list_weight_ : ndarray
        The lists: numbers of the items best first (then those that are lower), where
        the block ends that begins at an entry (or 0; minus it, if its order is
        unknown), the first entry of every list, and its weight.
    prior_alphas_, prior_weights_, prior_coefs_ : ndarray
        As in :class:`BradleyTerry`.

    Notes
    -----
    Items in unknown order above others, 10 at most, cannot be learned from together
    with ties. Without a penalty `fit` refuses lists in which a group of items is above
    the rest wherever they meet.

    References
    ----------
    Plackett, "The analysis of permutations", 1975. Turner, van Etten, Firth and
    Kosmidis, "Modelling rankings in R: the PlackettLuce package", 2020, for the ties.

    Examples
    --------
    >>> from tiebreak import Orders, PlackettLuce
    >>> lists = [["Ada", "Bo", "Cy"], ["Bo", ["Ada", "Cy"]], ["Cy", "Ada"]]
    >>> model = PlackettLuce().fit(Orders(None, [*lists, ["Ada", "Bo"]]))
    >>> dict(zip(model.items_.tolist(), model.strength_.round(2).tolist()))
    {'Ada': 0.06, 'Bo': 0.08, 'Cy': -0.14}
    >>> model.tie_.round(2)
    array([0.31])
    >>> model.standard_errors("model").round(1)
    array([0.4, 0.4, 0.4])
    """

    __module__ = "tiebreak"  # where users find it
    _fits_items: ClassVar[bool] = False
    _fits_pairs: ClassVar[bool] = True
    _parameters: ClassVar = {
        **StrengthModel._parameters,
        "unlisted": one_of("unknown", "lower"),
    }
    _fitted_arrays: ClassVar = {
        "list_starts_": "l+1: index, rising, from 0, to e",
        "list_items_": "e: index n",
        "list_ends_": "e: ends list_starts_",
        "list_weight_": "l",
        "tie_sizes_": "t: index e+1, rising",
        "tie_": "t",
        "prior_coefs_": "a n+t",
    }

    def __init__(
        self,
        alpha: float | Literal["auto"] = "auto",
        *,
        unlisted: Literal["unknown", "lower"] = "unknown",
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.alpha, self.unlisted = alpha, unlisted
        self.tol, self.max_iter = tol, max_iter

    @fits_outcomes
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the strengths.

        Parameters
        ----------
        X : Orders or Pairs
            Ranked lists of items known by name, ``Orders(None, sequences)``; or
            comparisons, which are lists of two.
        y, sample_weight : array-like of shape (n,), optional
            Outcomes of comparisons (none for Orders), and weights of the lists.

        Returns
        -------
        PlackettLuce
        """
        check_parameters(self)
        names, choices = _read(X, y, sample_weight, self.unlisted)
        _check_existence(choices, names, self.alpha)
        n, sizes = len(names), OrderLikelihood(choices, 0.0).sizes[1:]
        start = np.append(np.zeros(n), np.full(len(sizes), -1.0))
        x, fitted, _ = fit_penalized(
            [partial(OrderLikelihood, choices)],
            self.alpha,
            start,
            n,
            self._minimize,
        )
        strength, tie = x[:n] - x[:n].mean(), np.exp(x[n:])
        if not fitted["converged_"]:
            warn_user(
                f"PlackettLuce stopped after {fitted['n_iter_']} steps with a relative "
                f"gap of {fitted['gap_']:.1e}. Try alpha='auto', or a larger max_iter.",
                ConvergenceWarning,
            )
        return self._keep(
            fitted
            | {
                "items_": names,
                "strength_": strength,
                "tie_sizes_": sizes,
                "tie_": tie,
                "threshold_": float(_DAVIDSON.threshold(_pair_tie(sizes, tie))),
                "list_items_": choices.flat,
                "list_ends_": choices.ends,
                "list_starts_": choices.indptr,
                "list_weight_": choices.weight,
            }
        )

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of left, tie and right for two items.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.

        Returns
        -------
        ndarray of shape (n, 3)
        """
        return _DAVIDSON.probabilities(
            self.difference(X), _pair_tie(self.tie_sizes_, self.tie_)
        )

    def log_likelihood(self, X: Any, y: ArrayLike | None = None) -> float:
        """Logarithm of the probability of lists, a sum.

        Parameters
        ----------
        X, y : Orders or Pairs, array-like of shape (n,), optional
            As in `fit`.

        Returns
        -------
        float
            Without the penalty; -inf for a tied block of a size not seen in training.
        """
        check_is_fitted(self)
        names, choices = _read(X, y, None, self.unlisted)
        sizes = np.unique(choices.block_sizes)
        if not np.isin(sizes[sizes > 1], self.tie_sizes_).all():
            return -np.inf
        theta = self._utility_of_names(names)
        objective = OrderLikelihood(choices, 0.0)
        objective.sizes = np.append(1, self.tie_sizes_)
        return -objective.value(np.append(theta, np.log(self.tie_)))

    def _coefficient_distribution(
        self, kind: str | None, whole: bool = False
    ) -> StrengthDistribution:
        check_is_fitted(self)
        why = " The lists of PlackettLuce are taken to be independent."
        self._check_kind(kind, _KINDS, why)
        self._refuse_matrix()
        lists = self.list_items_, self.list_ends_, self.list_starts_, self.list_weight_
        choices = Choices(*lists, len(self.items_))
        x = np.append(self.strength_, np.log(self.tie_))
        if OrderLikelihood(choices, 0.0).n_variables != len(x):
            raise ValueError("The lists of this PlackettLuce have other ties than it.")
        if self.alpha_ > 0:

            def squares(objective: OrderLikelihood, *_: Any) -> Any:
                return objective.squares(), np.inf

            own = squares if kind is None else None
            objectives = [OrderLikelihood(choices, float(a)) for a in self._alphas]
            return self._posterior(objectives, x, own)
        objective = OrderLikelihood(choices, 0.0)
        objective.expand(x)
        with one_blas_thread():  # see data.threads: more only wait
            inverse = la.inv(objective.hessian(), check_finite=False)
            if kind != "model":
                inverse = inverse @ objective.squares() @ inverse
        return StrengthDistribution.normal(x, inverse)

    @property
    def _n_results(self) -> Floats:
        weight = np.repeat(self.list_weight_, np.diff(self.list_starts_))
        return np.bincount(self.list_items_, weight, len(self.items_)).astype(float)

    def _components(self) -> Codes:
        flat = self.list_items_
        joined = np.ones(len(flat) - 1, dtype=bool)
        joined[self.list_starts_[1:-1] - 1] = False
        return label_components(len(self.items_), flat[:-1][joined], flat[1:][joined])


def _pair_tie(sizes: Codes, tie: Floats) -> float:
    return float(np.log(tie[0])) if 2 in sizes else -np.inf


def _read(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, unlisted: str
) -> tuple[NDArray[Any], Choices]:
    """Give the names that occur in lists or comparisons, and what was chosen."""
    if is_pairs(X):
        return _read_comparisons(X, y, sample_weight)
    if not isinstance(X, Orders):
        raise TypeError(
            "PlackettLuce learns from Orders(None, sequences), or from Pairs; got "
            f"{type(X).__name__}. For items with features and grades try RankSVM."
        )
    if y is not None:
        raise ValueError("Orders hold their own order; expected no y with them.")
    if X.names is None:
        raise TypeError(
            "PlackettLuce knows items by name, and these Orders have no names. Give "
            "Orders(items, sequences, names=names), or learn with RankSVM."
        )
    weight = check_weights(sample_weight, len(X))
    lengths = X.lengths
    if lower := unlisted == "lower":
        lengths = lengths + np.bincount(X.unlisted()[0], minlength=len(X))
    # Items in unknown order say nothing about each other.
    one_set = X.unordered & (np.maximum.reduceat(X.position, X.indptr[:-1]) == 0)
    alone = ((lengths < 2) | (one_set & (lengths == X.lengths))) & (weight > 0)
    if alone.any():
        warn_user(
            f"{int(alone.sum())} of {len(X)} lists have one item only, or order none. "
            "They say nothing about strengths and are left out.",
            DataWarning,
        )
    kept = (weight > 0) & ~alone
    if not kept.any():
        raise ValueError(
            "No list ranks two items, so there is nothing to learn strengths from."
        )
    orders, weight = (X, weight) if kept.all() else (X[kept], weight[kept])
    row, below = orders.unlisted() if lower else np.zeros((2, 0), dtype=np.int64)
    present = np.bincount(np.append(orders.flat, below), minlength=len(X.names)) > 0
    number, n_items = np.cumsum(present) - 1, int(present.sum())
    entries = number[orders.flat], orders.position, orders.indptr
    choices = Choices.of_positions(*entries, weight, n_items, orders.unordered)
    choices = choices.with_lower(row, number[below])
    _check_unordered(choices)
    return X.names[present], choices


def _check_unordered(choices: Choices) -> None:
    starts = np.flatnonzero(choices.ends < 0)
    largest = int((-choices.ends[starts] - starts).max(initial=0))
    what = ""
    if largest > _MOST_UNORDERED:
        what = (
            f"{largest} items in unknown order above others ({_MOST_UNORDERED} at most)"
        )
    elif largest and choices.block_sizes.max() > 1:
        what = (
            "items in unknown order (best-worst choices) beside lists with tied items"
        )
    if what:
        raise ValueError(f"PlackettLuce cannot learn from {what}.")


def _read_comparisons(
    X: Pairs, y: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], Choices]:
    results = check_results(X, y, sample_weight, "PlackettLuce")
    left_first = results.outcome <= 0
    first = np.where(left_first, results.left, results.right)
    second = np.where(left_first, results.right, results.left)
    flat = np.stack([first, second], axis=1).ravel()
    position = np.stack([0 * results.outcome, results.outcome != 0], axis=1).ravel()
    starts, n_items = 2 * np.arange(len(results.outcome) + 1), len(results.names)
    places = position.astype(np.int64)
    choices = Choices.of_positions(flat, places, starts, results.weight, n_items)
    return results.names, choices


def _check_existence(choices: Choices, names: NDArray[Any], alpha: float | str) -> None:
    """Refuse lists without finite strengths; warn where only the penalty decides."""
    ends, entry = choices.ends, np.arange(len(choices.flat))
    first = np.repeat(choices.indptr[:-1], np.diff(choices.indptr))
    listed_end = np.maximum.accumulate(np.abs(ends))
    starts = (ends != 0) | (entry == listed_end)  # of blocks, also of the unlisted
    begin = np.maximum.accumulate(np.where(starts, entry, 0))
    is_tied = (ends[begin] > 0) & ~starts
    below = entry[(begin > first) & ~is_tied]
    if len(below) == 0:
        raise ValueError(
            "Every list is one block of tied items, so no item is above another and "
            "there is nothing to learn strengths from."
        )
    # Who follows whom: an item is below the last one before its block (below all of
    # them, if their order is unknown), or tied with the one before it. Tied items are
    # linked both ways, so that these links reach as far as those of all pairs.
    last = begin[below] - 1
    size = np.where(ends[begin[last]] < 0, begin[below] - begin[last], 1)
    step = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    higher = np.append(np.repeat(last, size) - step, entry[is_tied] - 1)
    lower = np.append(np.repeat(below, size), entry[is_tied])
    pairs = Pairs._of(None, choices.flat[higher], choices.flat[lower], names)
    outcome = np.where(np.arange(len(lower)) < len(step), -1, 0).astype(np.int8)
    graph = ComparisonGraph.of(pairs, outcome)
    check_separation(graph, names, alpha, _REMEDY)
