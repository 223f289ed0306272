# SPDX-License-Identifier: BSD-3-Clause
"""The smooth comparer: left, tie and right with probabilities.

Comparisons of the same two items are one row of counts. Boundary convention: a
difference of exactly ``threshold_`` is a tie, and so are equal utilities.
"""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import (
    ItemTable,
    Pairs,
    as_items,
    as_pairs,
    check_outcomes,
    is_pairs,
    read_comparisons,
)
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_column_of, as_names, plain_values
from tiebreak.data.items import feature_attributes
from tiebreak.data.outcome import OUTCOMES
from tiebreak.data.parameters import COUNT, POSITIVE, check_parameters, one_of
from tiebreak.data.validation import check_features
from tiebreak.kernels.functions import Gamma, Kernel
from tiebreak.losses import LINKS, ItemDesign, OutcomeLink
from tiebreak.losses.comparison_covariance import (
    LARGEST_COVARIANCE,
    posterior_covariance,
)
from tiebreak.models.base import certificate, some_pairs, warn_gap, warn_one_kind
from tiebreak.models.covariates import (
    CovariateMixin,
    check_level,
    check_row_covariates,
    coefficient_table,
    draw_outcomes,
    effect_names,
    outcome_intervals,
)
from tiebreak.models.kernel_utility import expand_support
from tiebreak.models.logistic.problem import UNLEARNED, LogisticProblem
from tiebreak.models.logistic.stream import (
    AVERAGE,
    add_coefficients,
    difference_rows,
    follow,
    new_tie,
)
from tiebreak.models.problem import is_kernel
from tiebreak.solvers import NewtonSolution

# Most coefficients whose covariance a model file keeps.
LARGEST_SAVED = 500
_PRIVATE = ("_stream", "_minimum", "_covariance")


@dataclass(eq=False, repr=False)
class LogisticCompare(CovariateMixin, ClassifierMixin, BaseEstimator):
    r"""Probabilities of left, tie and right from a smooth model of utilities.

    With r(x) = w·Φ(x) and d = r(right) - r(left) - γ h - zᵀβ, for a comparison with
    advantage h and context z (both in favor of left), the outcome has probabilities

    * ``link="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2);
    * ``link="cumulative"``: P(right) = σ(d - τ), P(left) = σ(-d - τ) and a tie the
      rest, with σ(z) = 1 / (1 + exp(-z)): thresholds ±τ on a logistic variable,
      which is the model of Rao and Kupper with θ = exp(τ);
    * ``link="probit"``: the same with the normal distribution function Φ for σ,
      Thurstone's model with the ties of Glenn and David.

    Without ties the first two are P(right) = σ(d). The weights w, the effects γ and β
    and the tie parameter minimize ::

        -Σᵢ sᵢ ln P(yᵢ) + α ‖w‖²,

    convex, and a **sum** over comparisons with weights s: α corresponds to the
    C = 1 / (2 α) of :class:`SVMCompare`. γ and β have no penalty.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty of ‖w‖², positive. ``"auto"`` learns it for the linear kernel by
        marginal likelihood, as :class:`BradleyTerry` does; for other kernels, in
        ``partial_fit`` and in partitions it is 1.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="linear"
        As in :class:`SVMCompare`. Items without features need ``"linear"``.
    gamma, degree, coef0
        As in :class:`SVMCompare`.
    link : {"davidson", "cumulative", "probit"}, default="davidson"
        How differences become probabilities. ``partial_fit`` has no probit.
    identity : float or None, default=None
        A positive number λ gives every item of Pairs with names *and* features a
        deviation b: r = w·Φ(x) + b, with the penalty λ Σ b². Unseen names have b = 0.
    tol : float, default=1e-8
        Bound on the Newton decrement, relative to √(2 objective).
    max_iter : int, default=100
        Newton steps at most; then a warning carries the gap.
    learning_rate : float, default=1.0
        Factor of the steps of ``partial_fit``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, for the linear kernel, as in :class:`SVMCompare`.
    effect_names_, item_effect_ : ndarray
        Names of the items and their deviations b, with ``identity``.
    support_, dual_coef_, support_items_ : ndarray
        Other kernels: r(x) = Σ dual_coef_[j] k(support_items_[j], x), items
        ``support_`` (2 i + 1 is the right item of row i of a 3-D array).
    advantage_, context_coef_, context_names_ : float, ndarray and tuple of shape (q,)
        γ, β and the names of the columns, if fitted with them.
    alpha_ : float
        α.
    tie_ : float
        ν, θ = exp(τ), or τ of the probit. Without ties in training 0, 1 or 0: P(tie) =
        0.
    threshold_ : float
        Largest \|d\| at which a tie is the most probable outcome; 0 if it never is.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    objective_, gap_, n_iter_, converged_, gamma_
        As in :class:`SVMCompare`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``predict`` gives the most probable outcome, but equal utilities always tie, also
    where left and right are more probable. With nothing but ties the utility is zero
    and a tie is certain.

    With other kernels than the linear one, memory and time can grow with the square of
    the number of distinct items, or of comparisons if these are fewer.

    Standard errors are those of the posterior at its maximum, with the normal prior of
    standard deviation 1/√(2α) on w.

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

    __metadata_request__fit: ClassVar = dict.fromkeys(("advantage", "context"), True)

    alpha: float | Literal["auto"] = "auto"
    _: KW_ONLY
    kernel: Kernel = "linear"
    gamma: Gamma = "scale"
    degree: int = 3
    coef0: float = 0.0
    link: Literal["davidson", "cumulative", "probit"] = "davidson"
    identity: float | None = None
    tol: float = 1e-8
    max_iter: int = 100
    learning_rate: float = 1.0

    _parameters: ClassVar = {
        "alpha": POSITIVE | "auto",
        **dict.fromkeys(("tol", "learning_rate"), POSITIVE),
        "max_iter": COUNT,
        "identity": POSITIVE | None,
        "link": one_of(*LINKS),
    }
    _fitted_arrays: ClassVar = {
        "support_": "s: index",
        "dual_coef_": "s",
        "support_items_": "s p",
        "effect_names_": "e: any",
        "item_effect_": "e",
        "_stream": "4 p+e+1",
        "_covariance": "v v",
    }

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from comparisons.

        Parameters
        ----------
        X, y
            As in ``SVMCompare.fit``; with the linear kernel also teams with features,
            ``Pairs.from_teams(left, right, items)``: a side has the sum of its rows.
        advantage, context : array-like of shape (n,) and (n, q), optional
            Covariates in favor of left: an advantage is 1 at home or first, 0 on
            neutral ground, -1 if right has it.
        sample_weight
            As in ``SVMCompare.fit``.

        Returns
        -------
        Self
        """
        check_parameters(self)
        n_rows = len(X := as_pairs(X))
        data = read_comparisons(X, y, sample_weight, decode=True)
        data = replace(data, pairs=self._sum_teams(data.pairs))
        self._check_identity(data.pairs)
        covariates, names = check_row_covariates(advantage, context, n_rows)
        effects = effect_names(advantage is not None, covariates.shape[1], names)
        problem = LogisticProblem(self, data, covariates[data.rows], effects)
        solution, coef, t = problem.solve(self.tol, int(self.max_iter))
        if problem.only_ties:
            warn_one_kind(data.y)
        if not solution.converged:
            warn_gap(self, solution.n_iter, solution.gap)
        learned = self._learned(problem, solution, coef, t)
        if names is not None:
            learned["context_names_"] = names
        return self._keep(learned)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        r"""Learn from more comparisons, one step for each, in their order.

        Continues the last call or `fit`. A comparison moves the coefficients and the
        tie parameter to the minimum of its own loss plus Σ P_j T_j^(-1/4)
        (β_j - β_j^old)² / (2 η), where P_j is the second derivative in β_j of
        everything seen so far, T_j the weight of the comparisons that touched β_j, and
        η the ``learning_rate``. Such steps cannot overshoot. Predictions use the
        average of each coefficient over its steps, with weights 1, 2, 3, …

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons, without advantage and context. New names enter with 0.
        y, sample_weight
            As in ``fit``.

        Returns
        -------
        Self
            Without ``objective_``, ``gap_``, ``n_iter_`` and ``converged_``.

        Notes
        -----
        Only for the linear kernel. The share of the penalty fades: k passes tend to the
        minimum of the loss plus α / k ‖w‖².
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
            link=self._link,
        )
        coef = state[AVERAGE, :-1].copy()
        if table is None:
            learned = {"items_": as_names(names), "coef_": coef}
        else:
            p = table.n_features
            learned = {**feature_attributes(table), "coef_": coef[:p]}
            if hasattr(self, "tie_"):
                learned |= {k: v for k, v in vars(self).items() if k.endswith("_in_")}
            if self.identity is not None:
                learned |= {"effect_names_": as_names(names), "item_effect_": coef[p:]}
        tie = tie_attributes(self._link, float(state[AVERAGE, -1]))
        return self._keep(
            {**learned, **tie, "classes_": OUTCOMES.copy(), "_stream": state}
        )

    def utility(self, X: Any, names: Any = None) -> Floats:
        """Utility r(x) of items; higher is better.

        Parameters
        ----------
        X
            As in ``RankSVM.utility``.
        names : array-like of shape (n,), optional
            Names of the items: adds the deviations learned with ``identity``.

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
        return utility + self._effects(as_column_of(names, "names", len(utility)))

    def coefficients(self) -> pl.DataFrame:
        """Estimates and standard errors of weights, effects and the tie parameter.

        Returns
        -------
        polars.DataFrame
            ``coefficient``, ``estimate``, ``standard_error``, ``z`` and ``p_value`` (of
            no effect): the weights of the features, or utilities of items without
            features; the effects of advantage and context; and the tie parameter, ln ν,
            or τ = ln θ. For the linear kernel.
        """
        errors = np.sqrt(np.diagonal(self._joint_covariance()))
        unnamed = [f"feature {j}" for j in range(len(self.coef_))]
        names = getattr(self, "items_", getattr(self, "feature_names_in_", unnamed))
        # Without ties there was no tie parameter to be learned.
        has_tie = self.tie_ != self._link.to_parameter(self._link.start(0.0))
        effects, tie = self._effect_values(), [self._tie] if has_tie else []
        n_others = len(effects) + len(tie)
        return coefficient_table(
            [*map(str, names), *self._effect_names(), *["tie"] * len(tie)],
            np.concatenate([self.coef_, effects, tie]),
            np.append(self.standard_errors(), errors[len(errors) - n_others :]),
        )

    def standard_errors(
        self, X: Any = None, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Standard errors of weights, utilities or differences, for the linear kernel.

        Parameters
        ----------
        X : None, items, Pairs or array-like of shape (n, 2, n_features), default=None
            None: of ``coef_``. Items: of ``utility(X)``, centered for items without
            features. Comparisons: of ``difference``, the only ones that do not depend
            on where utilities are 0.
        advantage, context
            As in `fit`, for comparisons.

        Returns
        -------
        ndarray of shape (n_features,) or (n,)
        """
        covariance = self._joint_covariance()
        if X is None and not self._by_name:
            return np.sqrt(np.diagonal(covariance)[: len(self.coef_)])
        if is_pairs(X):
            pairs = some_pairs(X).compact()
            z = self._covariates(advantage, context, len(pairs))
            return self._errors_of_pairs(covariance, pairs, z)[0]
        if self._by_name:
            place = self._places_of_names(self.items_ if X is None else X)
            rows = np.eye(len(self.items_))[place] - 1.0 / len(self.items_)
            return _errors(rows, covariance[: rows.shape[1], : rows.shape[1]])
        table = as_items(X, name="X")
        check_features(self, table)
        p = table.n_features
        return _errors(table.values, covariance[:p, :p])

    def predict_interval(
        self,
        X: Any,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        level: float = 0.95,
    ) -> Floats:
        """Confidence intervals of the probabilities of left, tie and right.

        Quantiles over the joint distribution of the difference and the tie parameter.

        Parameters
        ----------
        X, advantage, context
            As in `difference`.
        level : float, default=0.95
            Confidence.

        Returns
        -------
        ndarray of shape (n, 3, 2)
            Lower and upper ends for each outcome.
        """
        check_level(level)
        pairs, covariance = as_pairs(X).compact(), self._joint_covariance()
        d = self.difference(pairs, advantage=advantage, context=context)
        z = self._covariates(advantage, context, len(d))
        error, with_tie = self._errors_of_pairs(covariance, pairs, z)
        variance = covariance[len(covariance) - with_tie.shape[1] :, -1:].sum()

        def draw(rows: Codes, points: Floats) -> Floats:
            apart = error[rows] * ndtri(points[:, :1])
            tie = self._tie, variance, with_tie[rows].sum(axis=1)
            return draw_outcomes(
                self._link, d[rows], apart, error[rows] ** 2, tie, points[:, 1]
            )

        return outcome_intervals(draw, len(d), level)

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[self.link]

    @property
    def _adds_members(self) -> bool:  # type: ignore[override]
        return is_kernel(self, "linear")

    def _sum_teams(self, pairs: Pairs) -> Pairs:
        """Give teams as items; only sums of linear utilities are utilities of sums."""
        if pairs.members is None:
            return pairs
        if not self._adds_members or self.identity is not None:
            raise ValueError(
                "LogisticCompare takes teams only with kernel='linear' and no identity."
            )
        return pairs.summed()

    def _check_identity(self, pairs: Pairs) -> None:
        if self.identity is None or (pairs.has_features and pairs.names is not None):
            return
        raise ValueError(
            f"identity={self.identity!r} adds deviations of named items to their "
            "features: it needs Pairs(items, left, right, names=names)."
        )

    def _learned(
        self,
        problem: LogisticProblem,
        solution: NewtonSolution,
        coef: Floats,
        t: float,
    ) -> dict[str, Any]:
        items, p = problem.items, problem.n_features
        coef, effects = np.split(coef, [len(coef) - len(problem.effects)])
        learned: dict[str, Any] = {"coef_": coef[:p]}
        if not items.is_linear:
            dual_coef, pivots = problem.item_coef(coef[:p])
            learned = {"dual_coef_": dual_coef, **items.keep_support(pivots)}
        if self.identity is not None:
            learned |= {"effect_names_": problem.names, "item_effect_": coef[p:]}
        if items.is_linear:
            learned["_minimum"] = problem.objective, solution.x
            if not len(effects) and self.link != "probit":
                learned["_stream"] = problem.stream(coef, t)
        return {
            **problem.data.attributes,
            **learned,
            **self._effects_learned(effects, problem.effects[:1] == ["advantage"]),
            **tie_attributes(self._link, t),
            "alpha_": problem.alpha,
            "classes_": problem.data.classes,
            **certificate(solution.value, solution),
        }

    def _forget(self) -> Self:
        for name in _PRIVATE:
            self.__dict__.pop(name, None)
        return super()._forget()

    def __getstate__(self) -> dict[str, Any]:
        """State without training data; of few coefficients with their covariance."""
        state = dict(super().__getstate__())
        minimum = state.pop("_minimum", None)
        if minimum is not None and not np.isposinf(self.tie_):
            state.pop("_covariance", None)
            if _n_coordinates(minimum[0]) <= LARGEST_SAVED:
                state["_covariance"] = self._joint_covariance()
        return state

    def _joint_covariance(self) -> Floats:
        """Covariance of weights, deviations, effects and the tie parameter, if free."""
        check_is_fitted(self)
        if np.isposinf(self.tie_):
            raise ValueError(
                "Every comparison was a tie, so nothing is known about the utility and "
                "it has no standard errors."
            )
        if not hasattr(self, "_covariance"):
            if not hasattr(self, "_minimum"):
                raise ValueError(
                    "There are no standard errors: its kernel is not linear, it was "
                    "fitted on partitions or a stream, or is a large model of a file."
                )
            objective, x = self._minimum
            if (n := _n_coordinates(objective)) > LARGEST_COVARIANCE:
                raise ValueError(
                    f"The covariance of {n} coefficients is too large; expected at "
                    f"most {LARGEST_COVARIANCE}. Compress features with TruncatedSVD."
                )
            self._covariance = posterior_covariance(objective, x)
        return self._covariance

    def _errors_of_pairs(
        self, covariance: Floats, pairs: Pairs, z: Floats
    ) -> tuple[Floats, Floats]:
        """Errors of differences, and their covariances with the tie parameter."""
        if not self._by_name:
            pairs = self._sum_teams(pairs)
        left, right = pairs.left, pairs.right
        more: Any = 0.0
        if self._by_name:
            place = self._places_of_names(self._names_of(pairs))
            rows = ItemDesign(place[left], place[right], len(self.items_)).matrix()
        else:
            table = self._table_of(pairs)
            check_features(self, table)
            rows = table.values[right] - table.values[left]
        if hasattr(self, "item_effect_"):
            n_known = len(self.item_effect_)
            place = np.full(pairs.n_items, n_known)
            if pairs.names is not None:
                number = {v: i for i, v in enumerate(plain_values(self.effect_names_))}
                names = plain_values(pairs.names)
                place = np.array([number.get(v, n_known) for v in names])
            own = ItemDesign(place[left], place[right], n_known + 1).matrix()
            rows = sp.hstack([sp.csr_array(rows), own[:, :n_known]], format="csr")
            unseen = (place[left] == n_known).astype(float) + (place[right] == n_known)
            prior = 1.0 / (2.0 * float(self.identity or np.inf))
            more = more + prior * np.where(left == right, 0.0, unseen)
        if z.shape[1]:
            glue = sp.hstack if sp.issparse(rows) else np.hstack
            rows = glue([rows, -z])
        q = rows.shape[1]
        return _errors(rows, covariance[:q, :q], more), rows @ covariance[:q, q:]

    def _check_rows(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Pairs, NDArray[np.int8], Floats]:
        check_parameters(self)
        if self.link == "probit":
            raise ValueError(
                "partial_fit has no steps for link='probit'. Use link='cumulative', or "
                "fit."
            )
        if not is_kernel(self, "linear"):
            raise ValueError(
                f"partial_fit needs kernel='linear', got kernel={self.kernel!r}. For "
                "another kernel put OnItems(NystroemMap(...)) before the model."
            )
        pairs = self._sum_teams(some_pairs(X))
        outcome = check_outcomes(y, len(pairs), some=True)
        with warnings.catch_warnings():
            # A few rows without a left winner are nothing unusual.
            warnings.filterwarnings("ignore", message="y holds only 0 and 1")
            data = read_comparisons(pairs, outcome, sample_weight)
        self._check_identity(data.pairs)
        self._check_same_kind(data.pairs)
        return data.pairs.compact(), data.y, data.weight

    def _check_same_kind(self, pairs: Pairs) -> None:
        """Refuse comparisons of another kind than before."""
        if not hasattr(self, "tie_"):
            return
        name = type(self).__name__
        if not hasattr(self, "_stream"):
            raise ValueError(
                f"partial_fit cannot go on from this {name}, fitted with another "
                "kernel, with advantage or context, or on data in partitions."
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

    def _grow(self, pairs: Pairs) -> tuple[Floats, list[Any], Codes | None]:
        """Return a state with all coefficients, and the names and numbers of items."""
        alpha = (
            getattr(self, "alpha_", UNLEARNED) if self.alpha == "auto" else self.alpha
        )
        if hasattr(self, "tie_"):
            state = self._stream.copy()
        else:
            state = new_tie(self._link, np.zeros(3))[:, None]
            if pairs.items is not None:
                penalty = np.full(pairs.items.n_features, float(alpha))
                state = add_coefficients(state, penalty)
        by_name = pairs.items is None or hasattr(self, "items_")
        if not by_name and self.identity is None:
            return state, [], None
        assert pairs.names is not None
        known = getattr(self, "items_" if by_name else "effect_names_", np.empty(0))
        number = {name: i for i, name in enumerate(plain_values(known))}
        n_known = len(number)
        units = [number.setdefault(v, len(number)) for v in plain_values(pairs.names)]
        each = alpha if by_name else self.identity
        new = np.repeat(np.array([each], dtype=np.float64), len(number) - n_known)
        state = add_coefficients(state, new)
        return state, list(number), np.array(units, dtype=np.int64)

    def _effects(self, names: NDArray[Any]) -> Floats:
        """Deviations of items by name; 0 where the name is new."""
        known = plain_values(self.effect_names_)
        effect = dict(zip(known, self.item_effect_.tolist(), strict=True))
        return np.array([effect.get(name, 0.0) for name in plain_values(names)])

    def _utility_of_items(self, pairs: Pairs) -> Floats:
        utility = super()._utility_of_items(pairs)
        if pairs.names is None or not hasattr(self, "item_effect_"):
            return utility
        return utility + self._effects(pairs.names)

    def _utility(self, table: ItemTable) -> Floats:
        values = table.values
        if hasattr(self, "coef_"):
            return np.asarray(values @ self.coef_).ravel()
        return expand_support(self, values, self.dual_coef_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tie_")


def tie_attributes(link: OutcomeLink, t: float) -> dict[str, Any]:
    """Return ``tie_`` and ``threshold_`` for the tie parameter t of a link."""
    return {
        "tie_": float(link.to_parameter(t)),
        "threshold_": float(link.threshold(t)),
    }


def _n_coordinates(objective: Any) -> int:
    """Number of coefficients whose covariance is asked for."""
    return int(objective.n_coef) + (objective.tie is None)


def _errors(rows: Any, covariance: Floats, more: Any = 0.0) -> Floats:
    """Roots of the variances of rows of multipliers, plus some more variance."""
    half = rows @ covariance
    if sp.issparse(rows):
        own = np.asarray(rows.multiply(half).sum(axis=1)).ravel()
    else:
        own = np.einsum("ij,ij->i", rows, half)
    return np.sqrt(own + more)
