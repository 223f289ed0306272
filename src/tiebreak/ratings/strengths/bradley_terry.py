# SPDX-License-Identifier: BSD-3-Clause
r"""Strengths of maximum likelihood from comparisons, with ties.

Boundary convention: a tie is predicted where it is the most probable outcome, also
where it is as probable as another.

*When strengths exist.* Without a penalty the likelihood has a maximum unless
coefficients can grow along a direction (δθ, δt) that no comparison contradicts. With
δt = 0 decided comparisons ask for δθ_winner ≥ δθ_loser and ties for equality: there is
such a direction unless the graph with an edge from winner to loser, and both ways for
ties, is strongly connected. With δt > 0, scaled to 1, decided comparisons ask for
δθ_winner ≥ δθ_loser + 2 and ties for \|δθ_i - δθ_j\| ≤ 2, which fails unless some
directed cycle has more decided comparisons than ties (for example two items that beat
each other). Both conditions are checked exactly, on the counts.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Pairs, as_pairs, is_pairs
from tiebreak.data.comparison_graph import (
    ComparisonCounts,
    ComparisonGraph,
    count_comparisons,
)
from tiebreak.data.messages import warn_user
from tiebreak.data.partitioned import as_partitioned
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.models.base import OUTCOMES, accuracy, to_outcomes
from tiebreak.ratings.inputs import (
    check_rater,
    check_results,
    check_row_covariates,
    favor_of_left,
)
from tiebreak.ratings.strengths.inference import (
    KINDS,
    StrengthModel,
    bootstrap_coefficients,
    coefficient_covariance,
)
from tiebreak.ratings.strengths.recency import recency_weights
from tiebreak.solvers import minimize_newton

Floats = NDArray[np.float64]

_LINK_OF = {"davidson": "davidson", "rao-kupper": "cumulative", None: "davidson"}


class BradleyTerry(StrengthModel):
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

    a sum over comparisons, by Newton's method on the counts of *different* pairs.
    With a half-life h the weight of a row is also multiplied by 2^(-(T - t) / h), t its
    period and T the latest one, so that old results count as fractions of new ones.
    Without a penalty strengths exist only if no group of items won all its
    comparisons with the rest: otherwise `fit` refuses, with the names of the items.

    Parameters
    ----------
    ties : {"davidson", "rao-kupper"} or None, default="davidson"
        The model of ties.
    alpha : float, default=0.0
        Penalty α. A positive value keeps strengths of undefeated and winless items
        finite; about 0.1 is half a win and half a loss against an average item.
    half_life : float, str or None, default=None
        The age at which a comparison counts half, in units of `period`, in days if that
        holds dates; or a time such as "5y", "18m", "26w", "90d" for dates. "auto": of
        2⁻⁷, 2⁻⁶, …, 2 times the whole time, and none, the one with the least log loss
        of five later parts of the data, each predicted from what was before it (with a
        penalty of 0.1 where `alpha` is no positive number). None: all count the same.
    tol, max_iter : float and int, default=1e-8 and 100
        Stop when the Newton decrement is this small, relative to √(2 objective), or
        after so many Newton steps.

    Attributes
    ----------
    items_, strength_ : ndarray of shape (N,)
        Names of the items, and θ, natural logarithms, mean 0; also ``coef_``.
    tie_, threshold_ : float
        ν, or κ for Rao and Kupper (without ties in training 0, or 1), and the largest
        \|d\| at which a tie is the most probable outcome; 0 if it never is.
    advantage_, context_coef_, context_names_ : float, ndarray and tuple of shape (q,)
        γ, β and the names of the columns, only if fitted with them.
    half_life_ : float
        Half-life in units of `period`, or in days; inf: all rows count the same.
    wins_, ties_, losses_ : ndarray of shape (N,)
        Summed weights of each item's comparisons, multiplied by age.
    objective_, gap_ : float
        Value reached, and how far it may be above the minimum, as a share of it.
    n_iter_, converged_, classes_ : int, bool, ndarray
        Newton steps, whether `tol` was reached, and the outcomes -1, 0, 1.
    pair_left_, pair_right_ : ndarray of int64 of shape (m,)
        Item numbers of the m different pairs that met (under different covariates).
    pair_counts_, pair_covariates_ : ndarray of shape (m, 3) and (m, 0 to q + 1)
        How often left won, they tied, and right won; advantage and context.
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

    __metadata_request__fit: ClassVar = dict.fromkeys(
        ("advantage", "context", "period", "rater"), True
    )

    half_life: float | str | None = None  # models that 0.1 saved have none of their own

    def __init__(
        self,
        ties: str | None = "davidson",
        *,
        alpha: float = 0.0,
        half_life: float | str | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.ties = ties
        self.alpha = alpha
        self.half_life = half_life
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
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
            partitions (:mod:`tiebreak.outofcore`); then the others name columns.
        y : array-like of shape (n,)
            Outcomes -1 (left), 0 (tie), +1 (right).
        period : array-like of shape (n,), optional
            When: numbers or dates, in any order. Needed for a `half_life`; without one
            it has no influence, so that searches may hand it to every candidate.
        advantage, context : array-like of shape (n,) and (n, q), optional
            Covariates in favor of left: an advantage is 1 at home or first, 0 on
            neutral ground, -1 if right has it. The size of the effects is learned.
        rater, sample_weight : array-like of shape (n,), optional
            Who compared, for standard errors only; and weights, 2 is as two rows and
            ½ as half a row, also in standard errors.

        Returns
        -------
        BradleyTerry
        """
        self._check_parameters()
        if (parts := as_partitioned(X)) is not None:
            columns = {"advantage": advantage, "context": context, "rater": rater}
            columns |= {"y": y, "sample_weight": sample_weight}
            if self.half_life is not None:
                columns["period"] = period
            return self._keep(parts.fit_model(self, **columns))
        results = check_results(X, y, sample_weight, "BradleyTerry")
        n_rows = results.n_rows
        covariates, context_names = check_row_covariates(advantage, context, n_rows)
        raters = check_rater(rater, n_rows)
        present = results.take(covariates)
        weight, half_life = recency_weights(self, results, present, period)
        counts = count_comparisons(
            results.left,
            results.right,
            results.outcome,
            weight,
            len(results.names),
            present,
            None if raters is None else results.take(raters),
        )
        _check_existence(counts, results.names, self.ties, self.alpha)
        self._forget()
        self.classes_ = OUTCOMES.copy()
        self.items_ = results.names
        self.half_life_ = half_life
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
        super()._check_parameters()

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
            # Strengths as if every item had met average items only, mean 0.
            points = self.wins_ + 0.5 * self.ties_
            games = self.wins_ + self.ties_ + self.losses_
            rate = (points + 0.5) / (games + 1.0)
            guess = np.log(rate / (1.0 - rate))
            x[:n] = guess - guess.mean()
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

    def _objective(self, counts: Floats, tie: float | None) -> ComparisonObjective:
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

    def _objective_of(self, counts: Floats) -> ComparisonObjective:
        has_ties = self.ties_.any()
        return self._objective(counts, None if has_ties else self._tie)

    def _solution(self) -> Floats:
        tie = [self._tie] if self.ties_.any() else []
        advantage = np.atleast_1d(getattr(self, "advantage_", []))
        context = getattr(self, "context_coef_", [])
        return np.concatenate([self.strength_, advantage, context, tie])

    @property
    def _link(self) -> OutcomeLink:
        return LINKS[_LINK_OF[self.ties]]

    @property
    def _tie(self) -> float:
        """The tie parameter as the link has it."""
        return self._link.from_parameter(self.tie_)

    def decision_function(
        self, X: Any, *, advantage: ArrayLike | None = None, context: Any = None
    ) -> Floats:
        """Difference of strengths, right minus left, minus what favors left.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        advantage, context : array-like of shape (n,) and (n, q), optional
            As in `fit`. None: neutral ground, 0.

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
    ) -> Floats:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X, advantage, context
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n, 3)
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
        advantage, context : array-like of shape (n,) and (n, q), optional
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
        X, y
            Pairs and outcomes, Orders, or names of items and their grades.
        advantage, context : array-like of shape (n,) and (n, q), optional
            As in `fit`, for comparisons.
        qid, sample_weight : array-like of shape (n,), optional
            Groups of graded items, and weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        plain = advantage is None and context is None
        if plain or y is None or not is_pairs(X):
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        found = self.predict(X, advantage=advantage, context=context)
        return accuracy(y, found, sample_weight)

    def information(self, difference: Floats) -> Floats:
        """Fisher information of one comparison about a difference of strengths.

        Parameters
        ----------
        difference : ndarray of shape (m,)
            Differences d.

        Returns
        -------
        ndarray of shape (m,)
            E[(∂ ln P/∂d)²].
        """
        check_is_fitted(self)
        scores, _ = self._link.scores(difference, self._tie)
        return (self._link.probabilities(difference, self._tie) * scores**2).sum(axis=1)

    def _coefficient_covariance(self, kind: str | None) -> Floats:
        check_is_fitted(self)
        raters = getattr(self, "rater_counts_", None)
        if kind is None:
            kind = "sandwich" if raters is None else "cluster"
        if kind not in KINDS:
            raise ValueError(
                f"kind must be one of {', '.join(map(repr, KINDS))} or None; got "
                f"{kind!r}."
            )
        if kind == "cluster" and (raters is None or raters.shape[0] < 2):
            found = "none" if raters is None else f"{raters.shape[0]}"
            raise ValueError(
                "Standard errors clustered by rater need fit(..., rater=...) with at "
                f"least two raters, got {found}. Use kind='sandwich' instead."
            )
        self._refuse_too_many()
        if np.isposinf(self.tie_):
            raise ValueError(
                "Every comparison was a tie, so nothing is known about the strengths "
                "and they have no standard errors."
            )
        objective = self._objective_of(self.pair_counts_)
        return coefficient_covariance(objective, self._solution(), kind, raters)

    def bootstrap(
        self, n_resamples: int = 1000, random_state: int | None = 0
    ) -> Floats:
        """Strengths in randomly reweighted data.

        Every comparison gets an exponential random weight of mean 1 (the Bayesian
        bootstrap), or every rater if the model was fitted with raters.

        Parameters
        ----------
        n_resamples, random_state : int, default=1000 and 0
            How many, and the seed of the weights (also a Generator or None).

        Returns
        -------
        ndarray of shape (n_resamples, N)
        """
        check_is_fitted(self)
        whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
        if not whole or n_resamples < 1:
            raise ValueError(
                f"n_resamples must be a positive whole number; got {n_resamples!r}."
            )
        rng = np.random.default_rng(random_state)
        drawn = bootstrap_coefficients(
            self._objective_of,
            self._solution(),
            self.pair_counts_,
            int(n_resamples),
            np.random.SeedSequence(rng.integers(2**63)),
            getattr(self, "rater_counts_", None),
        )[:, : len(self.items_)]
        return drawn - drawn.mean(axis=1, keepdims=True)


_REMEDY = (
    "Strengths of maximum likelihood are then infinite or arbitrary. Leave these items "
    "out, add comparisons, or set alpha > 0 (for example 0.1), which pulls strengths "
    "towards 0. check_pairs(X, y) shows more."
)


def _check_existence(
    counts: ComparisonCounts, names: NDArray[Any], ties: str | None, alpha: float
) -> None:
    """Refuse data without finite strengths; warn where only the penalty decides."""
    n_ties, total = counts.counts[:, 1].sum(), counts.counts.sum()
    if ties is None and n_ties:
        raise ValueError(
            f"There are ties (weight {n_ties:g} of {total:g}), but ties=None has no "
            "place for them. Choose ties='davidson' or 'rao-kupper', or leave the ties "
            "out."
        )
    empty = np.flatnonzero(~counts.covariates.any(axis=0))
    if len(empty):
        raise ValueError(
            f"Column(s) {empty.tolist()} of advantage and context are 0 in every row, "
            "so their effect cannot be learned; leave them out."
        )
    if n_ties == total:
        return
    pairs = Pairs._of(None, np.tile(counts.left, 3), np.tile(counts.right, 3), names)
    outcome = np.repeat(np.array([-1, 0, 1], dtype=np.int8), len(counts.left))
    graph = ComparisonGraph.of(pairs, outcome, counts.counts.T.ravel())
    check_separation(graph, names, alpha, _REMEDY)
    if alpha == 0 and n_ties and not has_decided_cycle(graph):
        raise ValueError(
            "The decided comparisons contradict each other nowhere: strengths and the "
            f"tie parameter could grow together without end. {_REMEDY}"
        )


def check_separation(
    graph: ComparisonGraph, names: NDArray[Any], alpha: float, remedy: str
) -> None:
    """Refuse separated groups; with a penalty, warn where they never meet."""
    if (alpha > 0 and graph.n_components == 1) or graph.is_strongly_connected:
        return
    reasons = " ".join(graph.describe_separation(names))
    if alpha == 0:
        raise ValueError(f"{reasons} {remedy}")
    warn_user(
        f"{reasons} Strengths of items that never meet, not even through others, are "
        "comparable only by the penalty alpha."
    )


def has_decided_cycle(graph: ComparisonGraph) -> bool:
    """Say whether a directed cycle has more decided comparisons than ties."""
    n_strong, _ = connected_components(graph.beats, connection="strong")
    if n_strong < graph.beats.shape[0]:
        return True  # a cycle of decided comparisons only
    decided = sp.csr_array(graph.beats > 0).astype(np.float64)
    tied = sp.csr_array(graph.tied > 0).astype(np.float64)
    # Between two items that have both, the decided comparison asks for more.
    tied = tied - tied.multiply(decided)
    try:
        bellman_ford(sp.csr_array(tied - decided), indices=0)
    except NegativeCycleError:
        return True
    return False
