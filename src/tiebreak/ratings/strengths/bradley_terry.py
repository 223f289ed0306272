# SPDX-License-Identifier: BSD-3-Clause
"""Strengths of maximum likelihood, with ties."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import as_pairs, is_pairs
from tiebreak.data.comparison_graph import ComparisonCounts, count_comparisons
from tiebreak.data.messages import warn_user
from tiebreak.data.partitioned import as_partitions
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.models.base import (
    OUTCOMES,
    UtilityMixin,
    accuracy,
    check_positive,
    to_outcomes,
)
from tiebreak.ratings.inputs import (
    check_rater,
    check_results,
    check_row_covariates,
    favor_of_left,
)
from tiebreak.ratings.strengths.existence import check_existence
from tiebreak.ratings.strengths.inference import StrengthUncertainty
from tiebreak.solvers import minimize_newton


class StrengthPredictions(UtilityMixin):
    """What a model of strengths foretells; mixed into a model.

    The model has ``tie_``, ``threshold_``, possibly ``advantage_`` and
    ``context_coef_``, and its model of ties as ``_link`` and ``_tie``.
    """

    tie_: float

    @property
    def _link(self) -> OutcomeLink:
        raise NotImplementedError

    @property
    def _tie(self) -> float:
        raise NotImplementedError

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[np.float64]:
        """Difference of strengths, right minus left, minus what favors left.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        advantage : float or array-like of shape (n,), optional
            As in `fit`. None: neutral ground, 0.
        context : array-like of shape (n, q), optional
            As in `fit`. None: 0.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        d = super().decision_function(X)
        if advantage is None and context is None:
            return d
        gamma = getattr(self, "advantage_", None)
        beta = getattr(self, "context_coef_", None)
        return d - favor_of_left(advantage, gamma, context, beta, len(d))

    def predict_proba(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[np.float64]:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        advantage : float or array-like of shape (n,), optional
            As in `fit`. None: neutral ground, 0.
        context : array-like of shape (n, q), optional
            As in `fit`. None: 0.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right; rows sum to 1.
        """
        d = self.decision_function(X, advantage=advantage, context=context)
        if np.isposinf(self.tie_):
            return np.tile([0.0, 1.0, 0.0], (len(d), 1))
        return self._link.probabilities(d, self._tie)

    def predict(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> NDArray[Any]:
        """Most probable outcomes of comparisons, or strengths of items.

        Parameters
        ----------
        X : Pairs, or array-like of names
            Comparisons, or items.
        advantage : float or array-like of shape (n,), optional
            As in `fit`, for comparisons.
        context : array-like of shape (n, q), optional
            As in `fit`, for comparisons.

        Returns
        -------
        ndarray of shape (n,)
        """
        if advantage is None and context is None:
            return super().predict(X)
        d = self.decision_function(as_pairs(X), advantage=advantage, context=context)
        return to_outcomes(d, self.threshold_)

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on comparisons; 1 - swapped-pair fraction on graded items.

        Parameters
        ----------
        X : Pairs, Orders or names of items
            Test data.
        y : array-like of shape (n,), optional
            Outcomes of comparisons or grades of items.
        advantage : float or array-like of shape (n,), optional
            As in `fit`, for comparisons.
        context : array-like of shape (n, q), optional
            As in `fit`, for comparisons.
        qid : array-like of shape (n,), optional
            Groups of graded items.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            Between 0 and 1, higher is better.
        """
        check_is_fitted(self)
        plain = advantage is None and context is None
        if plain or y is None or not is_pairs(X):
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        return accuracy(
            y, self.predict(X, advantage=advantage, context=context), sample_weight
        )


_LINK_OF = {"davidson": "davidson", "rao-kupper": "cumulative", None: "davidson"}


class BradleyTerry(
    StrengthUncertainty, StrengthPredictions, ClassifierMixin, BaseEstimator
):
    r"""Strengths of items from who-beat-whom, ties included, by maximum likelihood.

    With d = θ_right - θ_left - γ h - zᵀβ for a comparison with advantage h and context
    z (both in favor of left), the outcome has probabilities

    * ``ties="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2), that
      is P(i beats j) = π_i / (π_i + π_j + ν √(π_i π_j)) with π = exp(θ);
    * ``ties="rao-kupper"``: P(right) = 1 / (1 + κ exp(-d)) and P(left) =
      1 / (1 + κ exp(d)), that is P(i beats j) = π_i / (π_i + κ π_j), and a tie the
      rest, κ ≥ 1;
    * ``ties=None``: P(right) = 1 / (1 + exp(-d)); a tie is refused.

    The strengths θ, the tie parameter and the coefficients γ and β minimize ::

        -Σᵢ wᵢ ln P(yᵢ) + α Σⱼ θⱼ²,

    a sum over comparisons. Comparisons are first summed to counts, so the cost of the
    fit depends on how many *different* pairs there are; Newton's method then takes
    about six steps. At the optimum (without penalty) every item's expected wins plus
    half its ties equal those observed, and for Davidson's model so does the number of
    ties.

    Without a penalty strengths exist only if no group of items won all its
    comparisons with the rest: otherwise `fit` refuses, with the names of the items.

    Parameters
    ----------
    ties : {"davidson", "rao-kupper"} or None, default="davidson"
        The model of ties.
    alpha : float, default=0.0
        Penalty α of the squared strengths. A positive value pulls strengths to 0 and
        makes them finite for undefeated and winless items too; about 0.1 is half a
        win and half a loss against an average item.
    tol : float, default=1e-8
        Stop when the Newton decrement is this small, relative to √(2 objective).
    max_iter : int, default=100
        Largest number of Newton steps.

    Attributes
    ----------
    items_ : ndarray of shape (N,)
        Names of the items.
    strength_ : ndarray of shape (N,)
        θ, natural logarithms, mean 0. ``coef_`` is the same.
    tie_ : float
        ν, or κ for Rao and Kupper. Without ties in training 0, or 1.
    threshold_ : float
        Largest \|d\| at which a tie is the most probable outcome; 0 if it never is.
    advantage_ : float
        γ, what an advantage of 1 adds to left's strength; only if fitted with one.
    context_coef_ : ndarray of shape (q,)
        β, only if fitted with context; ``context_names_`` if its columns had names.
    wins_, ties_, losses_ : ndarray of shape (N,)
        Summed weights of each item's comparisons.
    objective_, gap_ : float
        Value reached, and how far it may be above the minimum, as a share of it.
    n_iter_ : int
        Newton steps.
    converged_ : bool
        Whether `tol` was reached.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    pair_left_, pair_right_ : ndarray of int64 of shape (m,)
        Item numbers of the m different pairs that met (under different covariates, if
        there are any).
    pair_counts_ : ndarray of shape (m, 3)
        How often left won, they tied, and right won.
    pair_covariates_ : ndarray of shape (m, 0 to q + 1)
        Advantage and context of each pair.
    rater_counts_ : csr_array of shape (n_raters, 3 m)
        The same counts by rater, if fitted with raters.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Pairs
    >>> left, right = ["Ada", "Bo", "Cy", "Ada", "Ada"], ["Bo", "Cy", "Ada", "Bo", "Cy"]
    >>> pairs = Pairs(None, left, right)
    >>> model = BradleyTerry().fit(pairs, [-1, -1, -1, 0, -1])
    >>> dict(zip(model.items_.tolist(), model.strength_.round(2).tolist()))
    {'Ada': 0.44, 'Bo': 0.11, 'Cy': -0.55}
    >>> model.predict_proba(pairs[:1]).round(2)
    array([[0.46, 0.21, 0.33]])
    """

    __module__ = "tiebreak"  # where users find it

    __metadata_request__fit: ClassVar = {
        "advantage": True,
        "context": True,
        "rater": True,
    }

    def __init__(
        self,
        ties: str | None = "davidson",
        *,
        alpha: float = 0.0,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.ties = ties
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the strengths.

        Parameters
        ----------
        X : Pairs
            Comparisons of items known by name, ``Pairs(None, left, right)``, also in
            partitions (:mod:`tiebreak.outofcore`), where they are added up; then the
            other arguments are names of columns.
        y : array-like of shape (n,)
            Outcomes -1 (left), 0 (tie), +1 (right).
        advantage : float or array-like of shape (n,), optional
            How much of an advantage left has in each row: 1 at home or first, 0 on
            neutral ground, -1 if right has it. Its size is learned.
        context : array-like or DataFrame of shape (n, q), optional
            Covariates of the comparisons, in favor of left, such as the difference of
            two lengths, left minus right.
        rater : array-like of shape (n,), optional
            Who compared. Strengths do not depend on it; standard errors do.
        sample_weight : array-like of shape (n,), optional
            Weights; weight 2 is the same as two rows.

        Returns
        -------
        BradleyTerry
            The fitted model.
        """
        self._check_parameters()
        if (parts := as_partitions(X)) is not None:
            columns = {"advantage": advantage, "context": context, "rater": rater}
            columns |= {"y": y, "sample_weight": sample_weight}
            return self._keep(parts.fit_model(self, **columns))
        results = check_results(X, y, sample_weight, "BradleyTerry")
        n_rows = results.n_rows
        covariates, context_names = check_row_covariates(advantage, context, n_rows)
        raters = check_rater(rater, n_rows)
        counts = count_comparisons(
            results.left,
            results.right,
            results.outcome,
            results.weight,
            len(results.names),
            results.take(covariates),
            None if raters is None else results.take(raters),
        )
        check_existence(counts, results.names, self.ties, self.alpha)
        self._forget()
        self.classes_ = OUTCOMES.copy()
        self.items_ = results.names
        self._solve(counts, has_advantage=advantage is not None)
        if context_names is not None:
            self.context_names_ = context_names
        return self

    def _check_parameters(self) -> None:
        if self.ties not in _LINK_OF:
            raise ValueError(
                f"BradleyTerry got ties={self.ties!r}; expected 'davidson', "
                "'rao-kupper' or None."
            )
        good = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not good or not np.isfinite(self.alpha) or self.alpha < 0:
            raise ValueError(
                f"BradleyTerry got alpha={self.alpha!r}; expected a finite number, 0 "
                "or more."
            )
        check_positive(self, "tol", "max_iter")

    def _solve(self, counts: ComparisonCounts, has_advantage: bool) -> None:
        link = self._link
        n, q = len(self.items_), counts.covariates.shape[1]
        total = counts.counts.sum(axis=0)
        share = float(total[1] / total.sum())
        self.pair_left_, self.pair_right_ = counts.left, counts.right
        self.pair_counts_ = counts.counts
        self.pair_covariates_ = counts.covariates
        if counts.by_rater is not None:
            self.rater_counts_ = counts.by_rater
        self.wins_, self.ties_, self.losses_ = counts.tally(n)
        x, t = np.zeros(n + q), np.inf
        if share < 1.0:
            t = link.start(share)
            x[:n] = self._first_guess()
            objective = self._objective(counts.counts, None if share else t)
            solution = minimize_newton(
                objective,
                np.append(x, t) if share else x,
                tol=self.tol,
                max_iter=int(self.max_iter),
            )
            x, t = objective.split(solution.x)
            self.objective_, self.gap_ = solution.value, solution.gap
            self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        else:
            warn_user(
                "Every comparison is a tie: all strengths are 0 and a tie is certain."
            )
            self.objective_, self.gap_, self.n_iter_ = 0.0, 0.0, 0
            self.converged_ = True
        # Rounding apart the mean is zero already; the contract says exactly.
        self.strength_ = x[:n] - x[:n].mean()
        self.tie_ = np.inf if share == 1.0 else float(link.to_parameter(t))
        self.threshold_ = float(link.threshold(t))
        coefficients = x[n:]
        if has_advantage:
            self.advantage_, coefficients = float(coefficients[0]), coefficients[1:]
        if len(coefficients):
            self.context_coef_ = coefficients
        if not self.converged_:
            warn_user(
                f"BradleyTerry did not converge in {self.n_iter_} steps: the relative "
                f"gap is {self.gap_:.1e}. The result is kept. Try a larger max_iter, "
                "or leave out a covariate that separates the outcomes.",
                ConvergenceWarning,
            )

    def _first_guess(self) -> NDArray[np.float64]:
        """Strengths as if every item had met average items only, mean 0."""
        points = self.wins_ + 0.5 * self.ties_
        games = self.wins_ + self.ties_ + self.losses_
        share = (points + 0.5) / (games + 1.0)
        guess = np.log(share / (1.0 - share))
        return guess - guess.mean()

    def _objective(
        self, counts: NDArray[np.float64], tie: float | None
    ) -> ComparisonObjective:
        """Build the objective for counts of the fitted cells; tie=None: t is free."""
        n, q = len(self.items_), self.pair_covariates_.shape[1]
        design: Design = ItemDesign(self.pair_left_, self.pair_right_, n)
        if q:
            design = JointDesign(design, CovariateDesign(self.pair_covariates_))
        return ComparisonObjective(
            design,
            self._link,
            counts,
            np.append(np.full(n, float(self.alpha)), np.zeros(q)),
            tie=tie,
            free=slice(0, n) if self.alpha == 0 else None,
        )

    def _objective_of(self, counts: NDArray[np.float64]) -> ComparisonObjective:
        has_ties = self.ties_.any()
        return self._objective(counts, None if has_ties else self._tie)

    def _solution(self) -> NDArray[np.float64]:
        parts = [
            self.strength_,
            np.atleast_1d(getattr(self, "advantage_", [])),
            getattr(self, "context_coef_", []),
            [self._tie] if self.ties_.any() else [],
        ]
        return np.concatenate(parts)

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[_LINK_OF[self.ties]]

    @property
    def _tie(self) -> float:
        """The tie parameter as the link has it."""
        return self._link.from_parameter(self.tie_)

    @property
    def coef_(self) -> NDArray[np.float64]:  # type: ignore[override]
        """The strengths, under the name that all models without features have."""
        return self.strength_
