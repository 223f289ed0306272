# SPDX-License-Identifier: BSD-3-Clause
"""The smooth comparer: left, tie and right with probabilities.

Comparisons of the same two items are one row of counts, whatever their direction and
outcome. The loss is a sum, so nothing changes but the size, and a row of weight two is
a duplicated row by construction. Boundary convention: a difference of exactly
``threshold_`` is a tie, and so are equal utilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import ItemTable, Pairs, check_comparisons, check_outcomes
from tiebreak.data.columns import as_column, as_names, plain_values
from tiebreak.data.comparison_graph import count_comparisons
from tiebreak.data.messages import list_rows, warn_user
from tiebreak.data.partitioned import as_partitioned
from tiebreak.data.validation import check_features, remember_features
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    Design,
    FeatureDesign,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.metrics.inputs import outcome_vector
from tiebreak.models.base import (
    OUTCOMES,
    UtilityMixin,
    check_positive,
    read_comparisons,
    refuse_overflow,
    some_pairs,
)
from tiebreak.models.kernel_utility import expand_kernel, factor_kernel, fitted_kernel
from tiebreak.models.logistic.stream import (
    AVERAGE,
    CURVATURE,
    VALUE,
    WEIGHT,
    add_coefficients,
    difference_rows,
    follow,
    new_tie,
    tie_scale,
)
from tiebreak.models.training_items import TrainingItems
from tiebreak.solvers import NewtonSolution, minimize_newton

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

# What a batch knows about its minimum, and a stream does not.
_OF_BATCHES = ("objective_", "gap_", "n_iter_", "converged_")


class LogisticCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    r"""Probabilities of left, tie and right from a smooth model of utilities.

    With r(x) = w·Φ(x) and d = r(right) - r(left), a comparison has probabilities

    * ``link="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2);
    * ``link="cumulative"``: P(right) = σ(d - τ), P(left) = σ(-d - τ) and a tie the
      rest, with σ(z) = 1 / (1 + exp(-z)): thresholds ±τ on a logistic variable,
      which is the model of Rao and Kupper with θ = exp(τ).

    Without ties both are P(right) = σ(d). The weights and the tie parameter minimize ::

        -Σᵢ sᵢ ln P(yᵢ) + α ‖w‖²,

    convex, and a **sum** over comparisons with weights s: α corresponds to the
    C = 1 / (2 α) of :class:`SVMCompare`. Comparisons of the same two items are counted
    first; Newton's method then takes about six steps.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of ‖w‖², positive.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="linear"
        Kernel between items, as in :class:`SVMCompare`. Items without features have
        one weight each, with ``"linear"``.
    gamma, degree, coef0
        Parameters of the kernel, as in :class:`SVMCompare`.
    link : {"davidson", "cumulative"}, default="davidson"
        How differences become probabilities.
    identity : float or None, default=None
        A positive number λ gives every item of Pairs with names *and* features a
        deviation b from what its features say: r = w·Φ(x) + b, and the penalty grows by
        λ Σ b². Items with names that were not seen have b = 0.
    tol : float, default=1e-8
        Stop when the Newton decrement is this small, relative to √(2 objective).
    max_iter : int, default=100
        Largest number of Newton steps; then a warning carries the gap.
    learning_rate : float, default=1.0
        Factor of the steps of ``partial_fit``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, for the linear kernel. Items without features have one utility each, and
        their names are ``items_``.
    effect_names_, item_effect_ : ndarray
        Names of the items and their deviations b, with ``identity``.
    support_, dual_coef_, support_items_ : ndarray
        Other kernels: r(x) = Σ dual_coef_[j] k(item support_[j], x), with rows of the
        item table (row 2 i + 1 of a 3-D array is the right item of comparison i), and
        features of these items, unless the kernel is precomputed.
    tie_ : float
        ν, or θ = exp(τ). Training comparisons without ties give 0, or 1: P(tie) = 0.
    threshold_ : float
        Largest \|d\| at which a tie is the most probable outcome; 0 if it never is.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    objective_, gap_, n_iter_, converged_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_, feature_names_in_
        Number of features, and their names when the items came with names.

    See Also
    --------
    SVMCompare : Hinge loss instead of probabilities.

    Notes
    -----
    ``predict`` gives the most probable outcome. Two equal utilities are always
    predicted to tie, also where left and right are, equally, more probable.

    Other kernels than the linear one go through a pivoted Cholesky factor of the
    kernel between the distinct items, to 1e-10 of its largest entry. With nothing but
    ties the utility is zero and a tie is certain.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
    comparison experiments", 1970.
    Rao and Kupper, "Ties in paired-comparison experiments", 1967.

    Examples
    --------
    >>> from tiebreak import LogisticCompare, Pairs
    >>> items = [[0.0], [1.0], [2.0]]
    >>> pairs = Pairs(items, left=[0, 1, 0, 2], right=[1, 2, 2, 1])
    >>> model = LogisticCompare(0.1).fit(pairs, [0, 0, 1, -1])
    >>> model.predict(pairs)
    array([0, 0, 1, 0], dtype=int8)
    >>> model.predict_proba([[[0.0], [5.0]]]).round(2)
    array([[0.  , 0.03, 0.97]])
    """

    __module__ = "tiebreak"  # where users find it

    gamma_: float
    coef_: NDArray[np.float64]
    dual_coef_: NDArray[np.float64]
    support_: NDArray[np.int64]
    support_items_: Any
    effect_names_: NDArray[Any]
    item_effect_: NDArray[np.float64]
    tie_: float

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | Callable[..., np.ndarray] = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        link: str = "davidson",
        identity: float | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
        learning_rate: float = 1.0,
    ) -> None:
        self.alpha, self.kernel, self.gamma, self.degree = alpha, kernel, gamma, degree
        self.coef0, self.link, self.identity, self.tol = coef0, link, identity, tol
        self.max_iter, self.learning_rate = max_iter, learning_rate

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons, also in partitions (:mod:`tiebreak.outofcore`); then y and
            sample_weight are names of columns.
        y, sample_weight
            As in ``SVMCompare.fit``.

        Returns
        -------
        Self
        """
        if (partitions := as_partitioned(X)) is not None:
            self._check_parameters()
            columns = {"y": y, "sample_weight": sample_weight}
            return self._keep(partitions.fit_model(self, **columns))
        problem = self._read(X, y, sample_weight)
        solution, coef, t = problem.solve(self.tol, int(self.max_iter))
        self._warn(problem.only_ties, solution)
        self._unpack(problem, solution, coef, t)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        r"""Learn from some more comparisons, one step for each, in their order.

        Goes on from where the last call, or `fit`, has stopped. A comparison moves
        the coefficients and the tie parameter to the minimum of its own loss plus
        Σ P_j T_j^(-1/4) (β_j - β_j^old)² / (2 η), where P_j is the second derivative
        in β_j of everything seen so far, T_j the weight of the comparisons that
        touched β_j, and η the ``learning_rate``: steps on the scale of each feature,
        which cannot overshoot and shrink like T^(-3/4). Predictions are made with the
        average of each coefficient over its steps, later ones weighing more.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons. Names that are new, of items without features or with
            ``identity``, enter with 0.
        y, sample_weight
            As in ``fit``.

        Returns
        -------
        Self
            Without ``objective_``, ``gap_``, ``n_iter_`` and ``converged_``.

        Notes
        -----
        Only for the linear kernel. The penalty is there from the beginning, as the
        curvature 2 α of every coefficient at 0, so that its share fades as comparisons
        come in: k passes tend to the minimum of the loss plus α / k ‖w‖². The tie
        parameter starts as if each outcome had been seen once between equal items.
        """
        pairs, outcome, weight = self._check_rows(X, y, sample_weight)
        state, names, units = self._grow(pairs)
        table = None if self._by_name else pairs.items
        values = None if table is None else table.values
        follow(
            state,
            lambda chunk: difference_rows(
                values, pairs.left[chunk], pairs.right[chunk], units, len(names)
            ),
            outcome,
            weight,
            learning_rate=float(self.learning_rate),
            cumulative=self.link == "cumulative",
        )
        coef = state[AVERAGE, :-1].copy()
        if table is None:
            self.items_, self.coef_ = as_names(names), coef
        else:
            if not hasattr(self, "tie_"):
                remember_features(self, table)
            p = table.n_features
            self.coef_ = coef[:p]
            if self.identity is not None:
                self.effect_names_, self.item_effect_ = as_names(names), coef[p:]
        self.__dict__.update(self._tie_attributes(float(state[AVERAGE, -1])))
        self._stream = state
        for name in _OF_BATCHES:
            self.__dict__.pop(name, None)
        return self

    def utility(self, X: Any, names: Any = None) -> NDArray[np.float64]:
        """Utility r(x) of items; higher is better.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen; their names for a model fitted without features.
        names : array-like of shape (n,), optional
            Names of the items: adds the deviations of those known by ``identity``.

        Returns
        -------
        ndarray of shape (n,)
        """
        utility = super().utility(X)
        if names is None:
            return utility
        if not hasattr(self, "item_effect_"):
            raise ValueError(
                f"{type(self).__name__} was fitted without identity, so it knows no "
                "deviations of named items; leave out names."
            )
        asked = as_column(names, "names")
        if len(asked) != len(utility):
            raise ValueError(
                f"There are {len(asked)} names but {len(utility)} rows of items; every "
                "item needs one name."
            )
        return utility + self._effects(asked)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right, as ``classes_``; rows sum to 1.
        """
        difference = self.difference(X)
        t = self._link.from_parameter(self.tie_)
        return self._link.probabilities(difference, t)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right; -inf where the probability is 0.
        """
        difference = self.difference(X)
        t = self._link.from_parameter(self.tie_)
        return self._link.log_probabilities(difference, t)

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[self.link]

    def _read(self, X: Any, y: Any, sample_weight: Any) -> LogisticProblem:
        self._check_parameters()
        pairs, outcome, weight, _ = read_comparisons(X, y, sample_weight)
        self._check_identity(pairs)
        return LogisticProblem(self, pairs, outcome, weight)

    def _check_parameters(self) -> None:
        if isinstance(self.alpha, int | float) and self.alpha == 0:
            raise ValueError(
                f"{type(self).__name__} got alpha={self.alpha!r}; without a penalty "
                "the weights of comparisons that can be separated are infinite. Try a "
                "small positive alpha such as 1e-6."
            )
        check_positive(self, "alpha", "tol", "max_iter", "learning_rate")
        if self.identity is not None:
            check_positive(self, "identity")
        if not isinstance(self.link, str) or self.link not in LINKS:
            raise ValueError(
                f"link={self.link!r} is not known; expected "
                f"{' or '.join(map(repr, LINKS))}."
            )

    def _check_identity(self, pairs: Pairs) -> None:
        if self.identity is None or (pairs.has_features and pairs.names is not None):
            return
        hint = (
            "give the names of the items: Pairs(items, left, right, names=names)."
            if pairs.has_features
            else "items without features have one weight each already: leave it out."
        )
        raise ValueError(
            f"identity={self.identity!r} adds deviations of named items to their "
            f"features; {hint}"
        )

    def _warn(self, only_ties: bool, solution: NewtonSolution) -> None:
        if only_ties:
            warn_user(
                "All comparisons are ties: the utility is zero everywhere and every "
                "prediction is a tie."
            )
        refuse_overflow(self, solution.gap, solution.value)
        if not solution.converged:
            warn_user(
                f"{type(self).__name__} stopped after {solution.n_iter} Newton steps "
                f"with a relative gap of {solution.gap:.2g}; asked for "
                f"tol²={self.tol**2:.2g}. The result is kept. Try a larger max_iter, "
                "scaled features or a larger alpha.",
                ConvergenceWarning,
            )

    def _unpack(
        self,
        problem: LogisticProblem,
        solution: NewtonSolution,
        coef: np.ndarray,
        t: float,
    ) -> None:
        self.__dict__.pop("_stream", None)
        pairs, items, p = problem.pairs, problem.items, problem.n_features
        self._start_pairs(pairs)
        if problem.factor is None:
            self.coef_ = coef[:p]
        else:
            pivots = problem.factor.pivots
            self.dual_coef_ = problem.factor.item_coef(coef[:p])
            _, first = np.unique(problem.code, return_index=True)
            self.support_ = problem.given[first[pivots]]
            if items.table is not None and items.function is not None:
                self.support_items_ = items.table.values[pivots]
                self.gamma_ = items.function.gamma
        if self.identity is not None and pairs.names is not None:
            self.effect_names_, self.item_effect_ = pairs.names, coef[p:]
        self.__dict__.update(self._tie_attributes(t))
        self.objective_, self.gap_ = solution.value, solution.gap
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        if problem.factor is None:
            self._stream = problem.stream(coef, t)

    def _tie_attributes(self, t: float) -> dict[str, Any]:
        return {
            "classes_": OUTCOMES.copy(),
            "tie_": float(self._link.to_parameter(t)),
            "threshold_": float(self._link.threshold(t)),
        }

    def _check_rows(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64]]:
        self._check_parameters()
        if not isinstance(self.kernel, str) or self.kernel != "linear":
            raise ValueError(
                f"partial_fit needs kernel='linear', got kernel={self.kernel!r}. For "
                "another kernel make approximate features of the items first, for "
                "example by OnItems(Nystroem(...)), and keep kernel='linear'."
            )
        pairs = some_pairs(X)
        if y is None:
            check_outcomes(y, len(pairs))  # says what is missing
        # A few rows without a left winner are nothing unusual, so that the outcomes
        # are not checked as in `fit`, where zeros and ones only call for a warning.
        outcome = outcome_vector(y, "y", len(pairs)).astype(np.int8)
        same = np.flatnonzero((pairs.left == pairs.right) & (outcome != 0))
        if len(same):
            raise ValueError(
                f"{len(same)} comparison(s) say that an item is better than itself: "
                f"{list_rows(same)}. An item compared with itself can only tie; "
                "correct or remove these rows."
            )
        pairs, _, weight = check_comparisons(pairs, np.zeros(len(pairs)), sample_weight)
        self._check_identity(pairs)
        self._check_same_kind(pairs)
        present = weight > 0
        return pairs[present].compact(), outcome[present], weight[present]

    def _check_same_kind(self, pairs: Pairs) -> None:
        """Refuse comparisons of another kind than those learned from before."""
        if not hasattr(self, "tie_"):
            return
        name = type(self).__name__
        if not hasattr(self, "_stream"):
            raise ValueError(
                f"This {name} was fitted with another kernel or on data in partitions, "
                "from which partial_fit cannot go on; fit it with kernel='linear' on "
                "comparisons in memory first."
            )
        if self._by_name:
            self._names_of(pairs)
            return
        check_features(self, self._table_of(pairs))
        if hasattr(self, "effect_names_") != (self.identity is not None):
            raise ValueError(
                f"identity={self.identity!r} is not what {name} was fitted with; to "
                "change it, fit again."
            )

    def _grow(
        self, pairs: Pairs
    ) -> tuple[NDArray[np.float64], list[Any], NDArray[np.int64] | None]:
        """Return a state with all coefficients, and the names and numbers of items."""
        if hasattr(self, "tie_"):
            state = self._stream.copy()
        else:
            state = new_tie(self._link, np.zeros(3))[:, None]
            if pairs.items is not None:
                penalty = np.full(pairs.items.n_features, float(self.alpha))
                state = add_coefficients(state, penalty)
        by_name = pairs.items is None or hasattr(self, "items_")
        if not by_name and self.identity is None:
            return state, [], None
        assert pairs.names is not None
        known = getattr(self, "items_" if by_name else "effect_names_", np.empty(0))
        number = {name: i for i, name in enumerate(plain_values(known))}
        n_known = len(number)
        units = [number.setdefault(v, len(number)) for v in plain_values(pairs.names)]
        each = self.alpha if by_name else self.identity
        new = np.repeat(np.array([each], dtype=np.float64), len(number) - n_known)
        state = add_coefficients(state, new)
        return state, list(number), np.array(units, dtype=np.int64)

    def _effects(self, names: NDArray[Any]) -> NDArray[np.float64]:
        """Deviations of items by name; 0 where the name is new."""
        known = plain_values(self.effect_names_)
        effect = dict(zip(known, self.item_effect_.tolist(), strict=True))
        return np.array([effect.get(name, 0.0) for name in plain_values(names)])

    def _utility_of_items(self, pairs: Pairs) -> NDArray[np.float64]:
        utility = super()._utility_of_items(pairs)
        if pairs.names is None or not hasattr(self, "item_effect_"):
            return utility
        return utility + self._effects(pairs.names)

    def _utility(self, table: ItemTable) -> np.ndarray:
        values = table.values
        if hasattr(self, "coef_"):
            return np.asarray(values @ self.coef_).ravel()
        if not hasattr(self, "support_items_"):
            return np.asarray(values[:, self.support_] @ self.dual_coef_).ravel()
        function = fitted_kernel(self)
        return expand_kernel(function, values, self.support_items_, self.dual_coef_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tie_")


class LogisticProblem:
    """Training comparisons, counted, and the objective over their utilities.

    Coefficients are ``n_features`` of the features (or of the factor of the kernel, or
    one per item without features), then with ``identity`` one deviation per item.
    """

    def __init__(
        self,
        model: LogisticCompare,
        pairs: Pairs,
        outcome: NDArray[np.int8],
        weight: Vector,
    ) -> None:
        alpha, identity, link = model.alpha, model.identity, model._link
        kernel, gamma, degree = model.kernel, model.gamma, model.degree
        self.given, whole, pairs = pairs.touched(), pairs, pairs.compact()
        source = whole if model._is_precomputed else pairs
        items = TrainingItems.read(source, kernel, gamma, degree, model.coef0)
        self.pairs, self.items, self.link = pairs, items, link
        n = pairs.n_items
        # The distinct item of each item; all of them where the kernel is given.
        self.code = items.code if items.gram is None else np.arange(n)
        unit = self.code if identity is None else np.arange(n)
        left, right = unit[pairs.left], unit[pairs.right]
        cells = count_comparisons(left, right, outcome, weight, int(unit.max()) + 1)
        self.left, self.right, self.counts = cells.left, cells.right, cells.counts
        self.totals = self.counts.sum(axis=0)  # (3,), weights of left, tie and right
        self.factor = None if items.is_linear else factor_kernel(items, self.given)
        # Deviations belong to items, of which several may be one distinct item.
        design: Design = self._features(None if identity is None else self.code)
        self.n_features = design.n_coef
        penalty = np.full(self.n_features, float(alpha))
        if identity is not None:
            design = JointDesign(design, ItemDesign(self.left, self.right, n))
            penalty = np.append(penalty, np.full(n, float(identity)))
        # The tie parameter is fixed where its best value is at the end of its range.
        fixed_tie = None if self.totals[1] else link.start(0.0)
        if self.only_ties:
            fixed_tie = math.inf
        self.objective = ComparisonObjective(
            design, link, self.counts, penalty, tie=fixed_tie
        )

    def _features(self, code: Codes | None) -> FeatureDesign | ItemDesign:
        if self.factor is not None:
            values = self.factor.values
        elif self.items.table is not None:
            values = self.items.table.values
        else:
            return ItemDesign(self.left, self.right, self.pairs.n_items)
        values = values if code is None else values[code]
        return FeatureDesign(values, self.left, self.right)

    @property
    def only_ties(self) -> bool:
        """Whether no comparison was decided."""
        return bool(self.totals[1] == self.totals.sum())

    def solve(self, tol: float, max_iter: int) -> tuple[NewtonSolution, Vector, float]:
        """Return the solution, its coefficients and its tie parameter t."""
        start = np.zeros(self.objective.n_variables)
        if self.only_ties:
            return NewtonSolution(start, 0.0, 0.0, 0, True), start, math.inf
        if self.objective.tie is None:
            start[-1] = self.link.start(float(self.totals[1] / self.totals.sum()))
        # At least one step: under a large penalty the utilities are tiny, and yet they
        # have an order, which the loss does not notice.
        solution = minimize_newton(
            self.objective, start, tol=tol, max_iter=max_iter, min_iter=1
        )
        return (solution, *self.objective.split(solution.x))

    def stream(self, coef: Vector, t: float) -> Vector:
        """State from which a stream of comparisons goes on, shape (4, n_coef + 1)."""
        state = np.empty((4, len(coef) + 1))
        state[VALUE, :-1] = state[AVERAGE, :-1] = coef
        # The curvature is the diagonal of the Hessian at the solution.
        state[CURVATURE, :-1] = 2.0 * self.objective.alpha
        if not self.only_ties:
            free = self.objective.tie is None
            self.objective.expand(np.append(coef, t) if free else coef)
            state[CURVATURE, :-1] = self.objective.hessian_diagonal()[: len(coef)]
        state[WEIGHT, :-1] = self._touching()
        state[:, -1] = new_tie(self.link, self.totals)
        if self.objective.tie is None:
            curvature = self.objective.local.tie_curvature * tie_scale(self.link, t)
            state[:, -1] = t, t, curvature, self.totals.sum()
        return state

    def _touching(self) -> Vector:
        """Weight of the comparisons in which each coefficient may play a part."""
        # Comparisons of two items that both have a feature are counted for it, even
        # where it cancels, but never more than there are.
        n, amount = int(self.right.max()) + 1, self.counts.sum(axis=1)
        met: Vector = np.bincount(self.left, amount, n).astype(np.float64)
        met += np.bincount(self.right, amount, n)
        table = self.items.table
        if table is None:
            return met
        has_deviations = self.objective.n_coef > self.n_features
        per_item = np.bincount(self.code, met) if has_deviations else met
        of_features = np.minimum((table.values != 0).T @ per_item, self.totals.sum())
        return np.append(of_features, met if has_deviations else [])
