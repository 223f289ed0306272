# SPDX-License-Identifier: BSD-3-Clause
"""Strengths from comparisons, with ties.

Boundary convention: a tie is predicted also where another outcome is as probable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Pairs, as_pairs
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import factorize
from tiebreak.data.comparison_graph import (
    ComparisonCounts,
    count_comparisons,
    number_pairs,
    sum_rows,
)
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import check_parameters, one_of
from tiebreak.losses import (
    GLENN_DAVID,
    RATING_LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    FeatureDesign,
    HalfWins,
    ItemDesign,
    JointDesign,
    MixedLink,
    OutcomeLink,
    RatingLink,
)
from tiebreak.losses.comparison_covariance import (
    covariance_by,
    inverse_hessian,
    sandwich,
)
from tiebreak.models.base import fits_outcomes
from tiebreak.models.covariates import (
    CovariateMixin,
    check_level,
    check_row_covariates,
    coefficient_table,
    draw_outcomes,
    effect_names,
    outcome_intervals,
    refuse_endless,
)
from tiebreak.ratings.named_results import check_clusters, check_results
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import StrengthDistribution
from tiebreak.ratings.strengths.existence import check_existence, label_components
from tiebreak.ratings.strengths.inference import FEWEST_RATERS, KINDS, StrengthModel
from tiebreak.ratings.strengths.many_items import MANY_ITEMS, SparseHessian
from tiebreak.ratings.strengths.prior import fit_penalized
from tiebreak.ratings.strengths.recency import recency_weights
from tiebreak.ratings.strengths.testing import (
    TINY_PENALTY,
    GoodnessOfFit,
    Likelihood,
    goodness_of_fit,
)
from tiebreak.solvers import minimize_newton

# For a start: Newton takes a step less, three with ties and two without, on results
# of 50 to 200 items, each against many others.
_WIDENED = 0.3
# Of effects of covariates, next to a learned prior: standard deviation 10.
WEAK_EFFECT = 0.005
LINK_OF: dict[str | None, OutcomeLink] = {
    "davidson": RATING_LINKS["davidson"],
    "rao-kupper": RATING_LINKS["rao-kupper"],
    "glenn-david": GLENN_DAVID,
    "half": HalfWins(),
    None: RATING_LINKS["davidson"],
}


class BradleyTerry(CovariateMixin, StrengthModel):
    r"""Strengths of items from who-beat-whom, ties included.

    With d = θ_right - θ_left - γ h - zᵀβ for a comparison with advantage h and context
    z (both in favor of left), the outcome has probabilities

    * ``ties="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2);
    * ``ties="rao-kupper"``: P(right) = 1 / (1 + κ exp(-d′)) and P(left) =
      1 / (1 + κ exp(d′)), a tie the rest, with d′ = d / (1 + p₀) and κ ≥ 1;
    * ``ties=None``: P(right) = 1 / (1 + exp(-d)); a tie is refused;
    * ``ties="half"``: the same, and -ln P of a tie is the mean of -ln P(left) and -ln
      P(right): half a win for each. A tie has no probability then;
    * ``link="probit"``: P(right) = Φ(d/s - c) and P(left) = Φ(-d/s - c), a tie the
      rest, with Φ(c) = (1 + p₀)/2 and s = 2φ(c)/Φ(-c): Thurstone's model with the
      ties of Glenn and David.

    p₀ is the probability of a tie between equal items, ν = 2p₀ / (1 - p₀) and κ =
    (1 + p₀) / (1 - p₀), and a small difference d means odds of exp(d) to one for right,
    ties left aside.

    The strengths θ, the tie parameter and the coefficients γ and β minimize ::

        -Σᵢ wᵢ ln P(yᵢ) + α Σⱼ θⱼ²,

    a sum over comparisons. With a half-life h the weight of a row is multiplied by
    2^(-(T - t) / h), T the latest period. The penalty is a normal prior
    with standard deviation τ = 1/√(2α) on every strength. With `prior_by` the penalty
    is α Σⱼ (θⱼ - μ_c(j))², c(j) the class of an item, whose mean μ is learned: items of
    few results, such as newcomers, are then pulled to their equals instead of the mean
    of all. Without a penalty, `fit` refuses data in which a group of items won all its
    comparisons with the rest: strengths are then infinite.

    Parameters
    ----------
    ties : {"auto", "davidson", "rao-kupper", "half"} or None, default="auto"
        ``"auto"``: means over Davidson and Rao and Kupper, by their probability given
        the results. Without a penalty the one that makes the results more probable.
    link : {"logistic", "probit"}, default="logistic"
        Distribution function. The probit has one model of ties: leave ``"auto"``, or
        None to refuse ties.
    alpha : float or "auto", default="auto"
        Penalty α. ``"auto"`` learns τ by marginal likelihood; strengths are then means
        over plausible τ. 0: maximum likelihood.
    half_life : float, str or None, default=None
        The age at which a comparison counts half, in units of `period` (days for
        dates), or a time such as "5y", "18m", "26w", "90d". "auto": of 2⁻⁷, …, 2 times
        the whole time the one that predicts five later parts of the data best, each
        from what was before; none unless better by a standard error.
    prior_by : mapping, optional
        Item → class, of which at least one has another; None: one class.
    tol, max_iter : float and int, default=1e-8 and 100
        Stop when the Newton decrement is this small, relative to √(2 objective), or
        after so many Newton steps.

    Attributes
    ----------
    items_, strength_ : ndarray of shape (N,)
        Names of the items, and θ, natural logarithms, mean 0; also ``coef_``.
    alpha_ : float
        α, or the most probable one.
    tie_model_, tie_model_probability_ : str or None, float
        Model of ties (of the probit "glenn-david"), of two the more probable one, and
        its probability.
    tie_probability_ : float
        p₀.
    tie_, threshold_ : float
        ν, κ or c, and the largest \|d\| at which a tie is the most probable outcome.
    advantage_, context_coef_, context_names_ : float, ndarray and tuple of shape (q,)
        γ, β and names of columns, if fitted with them.
    half_life_ : float
        In units of `period`, or in days; inf: none.
    wins_, ties_, losses_ : ndarray of shape (N,)
        Comparisons of each item: summed weights before fading.
    objective_, gap_ : float
        Value reached, and how far it may be above the minimum, as a share of it.
    n_iter_, converged_, classes_ : int, bool, ndarray
        Newton steps, whether `tol` was reached, and the outcomes -1, 0, 1.
    pair_left_, pair_right_, pair_counts_, pair_covariates_ : ndarray
        Item numbers (m,) of the m pairs that met (apart by covariates); counts of left,
        tie and right (m, 3), by weight; covariates.
    members_ : csr_array of shape (T, N)
        Members of teams, whose numbers in pairs are from N on.
    pair_votes_ : ndarray of shape (m, 3)
        The same counts before fading.
    rater_counts_, unit_counts_, both_counts_ : csr_array of shape (n_raters, 3 m), …
        The same counts by rater, by unit, and by both.
    prior_alphas_, prior_weights_, prior_coefs_ : ndarray of shape (K,), (K,), (K, n)
        Of a learned penalty, or two models of ties: nodes, their probabilities and all
        coefficients, the last logit p₀.
    prior_ties_ : ndarray of shape (K,)
        Their models of ties.
    prior_class_, prior_means_, prior_names_ : ndarray of shape (N,), (C,) and (C,)
        Classes of the items, their means μ and names.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Pairs
    >>> left, right = ["Ada", "Bo", "Cy", "Ada", "Ada"], ["Bo", "Cy", "Ada", "Bo", "Cy"]
    >>> pairs = Pairs(None, left, right)
    >>> model = BradleyTerry().fit(pairs, [-1, -1, -1, 0, -1])
    >>> dict(zip(model.items_.tolist(), model.strength_.round(2).tolist()))
    {'Ada': 0.14, 'Bo': 0.02, 'Cy': -0.16}
    >>> model.predict_proba(pairs[:1]).round(2)
    array([[0.42, 0.2 , 0.38]])
    """

    __module__ = "tiebreak"  # where users find it
    _adds_members = True

    __metadata_request__fit: ClassVar = dict.fromkeys(
        ("advantage", "context", "period", "rater", "unit"), True
    )

    _parameters: ClassVar = {
        **StrengthModel._parameters,
        "ties": one_of("auto", "davidson", "rao-kupper", "half", None),
        "link": one_of("logistic", "probit"),
    }
    _fitted_arrays: ClassVar = {
        "pair_left_": "m: index n+s",
        "pair_right_": "m: index n+s",
        "pair_counts_": "m 3",
        "pair_covariates_": "m *",
        "rater_counts_": "* 3*m",
        "unit_counts_": "* 3*m",
        "both_counts_": "* 3*m",
        "pair_votes_": "m 3",
        "prior_ties_": "a: any",
        "members_": "s n",
        "prior_class_": "n: index c",
        "prior_means_": "c",
        "prior_names_": "c: any",
    }

    def __init__(
        self,
        ties: Literal["auto", "davidson", "rao-kupper", "half"] | None = "auto",
        *,
        link: Literal["logistic", "probit"] = "logistic",
        alpha: float | Literal["auto"] = "auto",
        half_life: float | str | None = None,
        prior_by: Mapping[Any, Any] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.ties, self.link, self.alpha, self.half_life = ties, link, alpha, half_life
        self.prior_by = prior_by
        self.tol, self.max_iter = tol, max_iter

    @fits_outcomes
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: ArrayLike | None = None,
        advantage: ArrayLike | None = None,
        context: Any = None,
        rater: ArrayLike | None = None,
        unit: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the strengths.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name, ``Pairs(None, left, right)``; or of teams,
            ``Pairs.from_teams(left, right)``, where θ of a side is the sum over its
            members.
        y : array-like of shape (n,)
            Outcomes -1 (left), 0 (tie), +1 (right).
        period : array-like of shape (n,), optional
            When: numbers or dates, in any order. Needed for a `half_life`, else without
            influence.
        advantage, context : array-like of shape (n,) and (n, q), optional
            Covariates in favor of left, whose effects are learned. An advantage is 1 at
            home or first, 0 on neutral ground, -1 if right has it.
        rater, unit : array-like of shape (n,), optional
            Who compared, and which rows are one observation (a prompt, task or match),
            for standard errors only.
        sample_weight : array-like of shape (n,), optional
            Weights; 2 is as two rows, also in standard errors.

        Returns
        -------
        BradleyTerry
        """
        check_parameters(self)
        if self.link == "probit" and self.ties not in ("auto", None):
            raise ValueError(
                "link='probit' has a model of ties of its own; expected ties='auto', "
                f"or None to refuse ties, got ties={self.ties!r}."
            )
        results = check_results(X, y, sample_weight, "BradleyTerry", teams=True)
        n_items, members = len(results.names), results.members
        n_sides = n_items if members is None else members.shape[0]
        covariates, names = check_row_covariates(advantage, context, results.n_rows)
        n_coef = n_items + covariates.shape[1]
        clusters = {
            f"{name}_counts_": results.take(check_clusters(of, name, results.n_rows))
            for name, of in (("rater", rater), ("unit", unit))
            if of is not None
        }
        present = results.take(covariates)
        classes = self._read_classes(results.names)
        if classes and members is not None:
            raise ValueError("prior_by is for single items; leave it out for teams.")
        if classes:
            # Which class has which side is a covariate like any other.
            of = np.eye(len(classes["prior_names_"]))[classes["prior_class_"], 1:]
            present = np.hstack([present, of[results.left] - of[results.right]])
        weight, half_life, alpha = recency_weights(self, results, present, period)
        both, first = number_pairs(*clusters.values()) if clusters else (None, None)
        sides, outcome = (results.left, results.right), results.outcome
        cells = count_comparisons(*sides, outcome, weight, n_sides, present, both)
        ties = "glenn-david" if self.link == "probit" else self.ties
        problem = StrengthProblem(cells, n_items, ties, self.alpha == "auto", members)
        check_existence(cells, results.names, self.ties, self.alpha, members)
        if present.shape[1] and self.alpha != "auto" and members is None:
            effects = effect_names(advantage is not None, covariates.shape[1], names)
            effects += _class_effects(classes.get("prior_names_", ()))
            penalized = self.alpha != 0
            refuse_endless(cells, n_items, penalized, effects, _EFFECT_REMEDY)
        if half_life < np.inf and alpha == "auto":
            # Fading weights sum to more than they tell: Σw results as (Σw)²/Σw².
            share = float((weight**2).sum() / weight.sum())
            whole = replace(cells, counts=cells.counts / share)
            full = StrengthProblem(whole, n_items, ties, True, members)
            alpha = self._solve(full, alpha)[2]["alpha_"] * share
        x, t, fitted = self._solve(problem, alpha)
        link = self._link_of(fitted)
        strength = x[:n_items]
        if classes:
            means = np.append(0.0, x[n_coef:])
            strength = strength + means[classes["prior_class_"]]
            fitted |= classes | {"prior_means_": means - strength.mean()}
        fitted |= self._effects_learned(x[n_items:n_coef], advantage is not None)
        if names is not None:
            fitted["context_names_"] = names
        for name, codes in clusters.items():
            fitted[name] = sum_rows(cells.by_rater, codes[first])
        if len(clusters) == 2:
            fitted["both_counts_"] = cells.by_rater
        votes = cells.counts
        if half_life < np.inf:
            given = results.weight
            votes = count_comparisons(*sides, outcome, given, n_sides, present).counts
        return self._keep(
            fitted
            | {
                "items_": results.names,
                # Rounding apart the mean is zero already; the contract says exactly.
                "strength_": strength - problem.moves * strength.mean(),
                "tie_": float(LINK_OF[fitted["tie_model_"]].to_parameter(t)),
                "tie_probability_": float(expit(t)),
                "threshold_": float(link.threshold(t)),
                "half_life_": half_life,
                "pair_left_": cells.left,
                "pair_right_": cells.right,
                "pair_counts_": cells.counts,
                "pair_votes_": votes,
                "pair_covariates_": cells.covariates,
            }
            | ({} if members is None else {"members_": members[n_items:]})
        )

    def _read_classes(self, items: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Attributes of the classes of `prior_by`; none where all are in one."""
        if self.prior_by is None:
            return {}
        missing = [name for name in items.tolist() if name not in self.prior_by]
        if missing:
            raise ValueError(
                f"prior_by has no class for {missing[0]!r}; every item needs one."
            )
        if self.alpha == 0:
            raise ValueError("prior_by needs a prior; alpha=0 has none.")
        codes, names = factorize([self.prior_by[name] for name in items.tolist()])
        if len(names) < 2:
            return {}
        return {"prior_class_": codes, "prior_names_": np.asarray(names)}

    def _solve(
        self, problem: StrengthProblem, alpha: float | str
    ) -> tuple[Floats, float, dict[str, Any]]:
        """Return the coefficients, the tie parameter and how they were found."""
        options = problem.options()
        fitted: dict[str, Any]
        certain = {"tie_model_": options[0].ties, "tie_model_probability_": 1.0}
        if problem.is_only_ties:
            warn_user(
                "Every comparison is a tie: all strengths are 0 and a tie is certain.",
                DataWarning,
            )
            alpha = 0.0 if alpha == "auto" else float(alpha)
            fitted = {"alpha_": alpha, "objective_": 0.0, "gap_": 0.0, "n_iter_": 0}
            n_coef = problem.n_items + problem.cells.covariates.shape[1]
            return np.zeros(n_coef), np.inf, certain | fitted | {"converged_": True}
        x, learned, prior = fit_penalized(
            [option.objective for option in options],
            alpha,
            problem.start(average=self.alpha == "auto"),
            problem.n_items,
            self._minimize,
        )
        models = np.array([str(options[k].ties) for k in prior.part])
        fitted = learned | certain
        if len(options) > 1:
            best = models == models[0]
            fitted["tie_model_"] = str(models[0])
            fitted["tie_model_probability_"] = float(prior.weight[best].sum())
            if "prior_alphas_" in fitted:
                fitted["prior_ties_"] = models
        if not fitted["converged_"]:
            warn_user(
                f"BradleyTerry did not converge in {fitted['n_iter_']} steps: the "
                f"relative gap is {fitted['gap_']:.1e}. Try a larger max_iter.",
                ConvergenceWarning,
            )
        if problem.has_tie:
            return x[:-1], float(x[-1]), fitted
        return x, -np.inf, fitted

    wins_ = property(lambda self: self._tally()[0], doc="Won, by item.")
    ties_ = property(lambda self: self._tally()[1], doc="Tied, by item.")
    losses_ = property(lambda self: self._tally()[2], doc="Lost, by item.")

    def _tally(self) -> tuple[Floats, Floats, Floats]:
        problem = self._problem
        cells = replace(problem.cells, counts=self.pair_votes_)
        return cells.tally(problem.n_items, problem.members)

    @property
    def _n_results(self) -> Floats:
        return np.sum(self._problem.tally, axis=0)

    @property
    def _problem(self) -> StrengthProblem:
        cells = ComparisonCounts(
            self.pair_left_, self.pair_right_, self.pair_counts_, self.pair_covariates_
        )
        n_items, weak = len(self.items_), self.alpha == "auto"
        members = getattr(self, "members_", None)
        if members is not None:
            members = sp.vstack([sp.eye_array(n_items), members], format="csr")
        return StrengthProblem(cells, n_items, self.tie_model_, weak, members)

    @property
    def _compared(self) -> Pairs:
        """The pairs that met."""
        problem = self._problem
        sides = problem.cells.left, problem.cells.right
        return Pairs._of(None, *sides, self.items_, problem.members)

    def _solution(self) -> Floats:
        tie = [self._tie] if self._problem.has_tie else []
        own, means = self.strength_ - self._prior_mean, []
        if hasattr(self, "prior_means_"):
            means = self.prior_means_[1:] - self.prior_means_[0]
        return np.concatenate([own, self._effect_values(), means, tie])

    @property
    def _prior_mean(self) -> Any:
        """Where the prior pulls the strengths."""
        if not hasattr(self, "prior_means_"):
            return 0.0
        return self.prior_means_[self.prior_class_]

    @property
    def _tie_models(self) -> Any:
        """Models of ties of the nodes of the prior."""
        return getattr(self, "prior_ties_", [self.tie_model_] * len(self._alphas))

    @property
    def _link(self) -> OutcomeLink:
        return self._link_of(vars(self))

    def _link_of(self, fitted: Mapping[str, Any]) -> OutcomeLink:
        """The link of predictions: of the tie model, or the mean of two."""
        name, share = fitted["tie_model_"], fitted["tie_model_probability_"]
        if share == 1.0:
            return LINK_OF[name]
        (other,) = RATING_LINKS.keys() - {name}
        links = RATING_LINKS[name], RATING_LINKS[other]
        return MixedLink(links, (share, 1.0 - share))

    @property
    def _rating_link(self) -> RatingLink:
        """The link of the tie model, or Davidson's without ties."""
        return RATING_LINKS[self.tie_model_ or "davidson"]

    @property
    def _tie(self) -> float:
        return float(logit(self.tie_probability_))

    def predict_interval(
        self,
        X: Any,
        *,
        advantage: ArrayLike | None = None,
        context: Any = None,
        level: float = 0.95,
    ) -> Floats:
        """Confidence intervals of the probabilities of left, tie and right.

        Quantiles over the joint distribution of the difference d and the tie parameter;
        the effects of covariates are taken as known.

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
        pairs, tail = as_pairs(X, by_name=True).compact(), 0.5 - 0.5 * level
        d = self.difference(pairs, advantage=advantage, context=context)
        full, n = self._coefficient_distribution(None), len(self.items_)
        place, (left, right) = self._places_of_names(pairs.names), pairs.sides
        if pairs.members is None:
            left, right = place[left], place[right]
        else:
            full, n = full.sums(pairs.members, place, n), pairs.members.shape[0]
        known = full.take(slice(n)).differences(left, right)
        if not self._problem.has_tie:
            ends = [known.quantile(share) for share in (tail, 1.0 - tail)]
            at = [
                self._link.probabilities(d + end - known.mean, self._tie)
                for end in ends
            ]
            return np.sort(np.stack(at, axis=2))

        def draw(rows: Codes, points: Floats) -> Floats:
            some = known.take(rows)
            node = np.searchsorted(np.cumsum(some.weight)[:-1], points[:, 0])
            tie = list(zip(*full.slopes(left[rows], right[rows], -1), strict=True))
            return np.concatenate([
                draw_outcomes(
                    LINK_OF[ties],
                    d[rows] + some.center[k] - some.mean,
                    some.deviate(points[node == k, 1:2], k),
                    some.covariance[k],
                    tie[k],
                    points[node == k, 2],
                )
                for k, ties in enumerate(self._tie_models)
            ])  # fmt: skip

        return outcome_intervals(draw, len(d), level)

    def likelihood(self) -> Likelihood:
        """The largest likelihood of the data, without a penalty.

        Returns
        -------
        Likelihood
            With ``log_likelihood``, ``n_parameters``, ``aic`` and ``bic``.
        """
        self._refuse_half("a likelihood")
        n, q = len(self.items_), len(self._effect_values())
        total = float(self.pair_counts_.sum())
        if np.isposinf(self.tie_):
            return Likelihood(0.0, 1, total)
        n_parameters = n - 1 - int(self._components().max())
        if self._problem.members is not None:
            rows = self._problem.strengths.matrix().toarray()
            n_parameters = int(np.linalg.matrix_rank(rows))
        n_parameters += q + int(self._problem.has_tie)
        objective = self._problem.objective(TINY_PENALTY)
        x = minimize_newton(objective, self._solution(), tol=1e-8, max_iter=200).x
        beta, t = objective.split(x)
        d = objective.design.apply(beta)
        loss = objective.link.value(d, t, self.pair_counts_)
        return Likelihood(-loss, n_parameters, total)

    def coefficients(self, level: float = 0.95) -> pl.DataFrame:
        """Effects of advantage and context and the tie parameter, with p-values.

        Parameters
        ----------
        level : float, default=0.95
            Confidence of the interval of each.

        Returns
        -------
        polars.DataFrame
            With columns from ``coefficient`` to ``upper``. The tie parameter is logit
            p₀.
        """
        check_level(level)
        known, tail = self._coefficient_distribution(None), 0.5 - 0.5 * level
        n = len(self.items_)
        names = self._effect_names()
        names += _class_effects(getattr(self, "prior_names_", ()))
        names += ["tie"] * self._problem.has_tie
        table = coefficient_table(names, known.mean[n:], known.errors()[n:])
        return table.with_columns(
            lower=pl.Series(known.quantile(tail)[n:]),
            upper=pl.Series(known.quantile(1.0 - tail)[n:]),
        )

    def goodness_of_fit(self) -> GoodnessOfFit:
        """Compare the results of every pair with what the model expects.

        Returns
        -------
        GoodnessOfFit
        """
        self._refuse_half("a test of how well it fits")
        objective = self._problem.objective(self.alpha_)
        beta, t = objective.split(self._solution())
        share = self._link.probabilities(objective.design.apply(beta), t)
        cells, n_parameters = self._problem.cells, self.likelihood().n_parameters
        return goodness_of_fit(self._compared, cells, share, n_parameters)

    def _refuse_half(self, what: str) -> None:
        check_is_fitted(self)
        if self.ties == "half" and self.ties_.any():
            raise ValueError(
                "With ties='half' a tie has no probability, so there is no model of "
                f"these results that could have {what}. Fit with ties='auto' for it."
            )

    def information(self: Any, difference: Floats) -> Floats:
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
        return self._link.information(difference, self._tie)

    def _coefficient_distribution(
        self, kind: str | None, whole: bool = False
    ) -> StrengthDistribution:
        check_is_fitted(self)
        self._check_kind(kind, KINDS, "")
        names = [f"{name}_counts_" for name in ("rater", "unit")]
        known = [vars(self)[name] for name in names if name in vars(self)]
        largest = max((counts.shape[0] for counts in known), default=0)
        if kind == "cluster" and largest < 2:
            raise ValueError(
                "Standard errors clustered by rater need fit(..., rater=...) with at "
                f"least two raters, got {largest}. Use kind='sandwich' instead."
            )
        if np.isposinf(self.tie_):
            raise ValueError(
                "Every comparison was a tie, so nothing is known about the strengths "
                "and they have no standard errors."
            )
        # Fewer say nothing of how much raters differ.
        fewest = {None: FEWEST_RATERS, "cluster": 2}.get(kind, np.inf)
        clusters = [counts for counts in known if counts.shape[0] >= fewest]
        if len(clusters) == 2:
            clusters.append(self.both_counts_)
        if self.alpha_ > 0 and len(self.items_) > MANY_ITEMS and not whole:
            return self._with_class_means(self._spread_of_many(kind, clusters))
        self._refuse_matrix()
        return self._with_class_means(self._spread_of(kind, clusters))

    def _with_class_means(self, known: StrengthDistribution) -> StrengthDistribution:
        """From θ - μ and μ to θ and μ."""
        if not hasattr(self, "prior_means_"):
            return known
        n, change = len(self.items_), np.eye(known.center.shape[1])
        start = n + len(self._effect_values())
        of = np.eye(len(self.prior_names_))[self.prior_class_, 1:]
        change[:n, start : start + of.shape[1]] = of

        def moved(matrix: Floats | None) -> Any:
            if matrix is None or known.covariance.ndim == 3:
                return None if matrix is None else change @ matrix @ change.T
            return matrix @ change.T  # variances: an upper bound

        return replace(
            known,
            center=known.center @ change.T,
            covariance=moved(known.covariance),
            excess=moved(known.excess),
        )

    def _spread_of_many(
        self, kind: str | None, clusters: list[sp.csr_array]
    ) -> StrengthDistribution:
        """Variances of all coefficients, and the excess."""
        objective, x = self._problem.objective(self.alpha_), self._solution()
        objective.expand(x)
        hessian = SparseHessian(objective)
        variance, excess, df = hessian.variances(), None, np.inf
        if kind is None:
            beta, t = objective.split(x)
            in_d, _ = objective.link.scores(objective.design.apply(beta), t)
            sure = variance * (1.0 - np.minimum(objective.penalty * variance, 1.0))
            ratios = [hessian.excess_ratio(in_d, part) for part in clusters or [None]]
            excess = max(ratios) * sure
            df = min((part.shape[0] - 1.0 for part in clusters), default=np.inf)
        return StrengthDistribution(x[None], variance[None], np.ones(1), excess, df)

    def _spread_of(
        self, kind: str | None, clusters: list[sp.csr_array]
    ) -> StrengthDistribution:
        squares = partial(covariance_by, clusters)
        if self.alpha_ == 0:
            objective, x = self._problem.objective(0.0), self._solution()
            inverse = inverse_hessian(objective, x)
            if kind == "model":
                return StrengthDistribution.normal(x, inverse)
            meat, df = squares(objective, x, inverse)
            total, zero = sandwich(inverse, meat), np.zeros((1, *inverse.shape))
            return StrengthDistribution(x[None], zero, np.ones(1), total, df)

        own = squares if kind is None else None
        objectives = [
            replace(self._problem, ties=ties).objective(float(alpha))
            for alpha, ties in zip(self._alphas, self._tie_models, strict=True)
        ]
        return self._posterior(objectives, self._solution(), own)

    def _components(self) -> Codes:
        pairs, _ = self._compared.opponents()
        return label_components(len(self.items_), *pairs.sides)

    def _contrasts_of(self, known: StrengthDistribution) -> PairContrasts:
        contrasts = super()._contrasts_of(known)
        if not hasattr(self, "prior_means_"):
            log_ratio = self._log_ratio if self.alpha_ > 0 else None
            return replace(contrasts, log_ratio=log_ratio)
        n, mode = len(self.items_), contrasts.mode
        mean = self._prior_mean + mode.mean.mean()
        if mode.covariance.ndim == 3:
            # Without their priors two strengths do not depend on means of classes.
            start = n + len(self._effect_values())
            means = np.arange(start, start + len(self.prior_names_) - 1)
            whole = known.covariance[self._mode]
            slope = np.linalg.solve(whole[np.ix_(means, means)], whole[means, :n])
            given = mode.covariance - whole[:n, means] @ slope
            mode = replace(mode, covariance=given)
        return replace(contrasts, mode=mode, prior_mean=mean)

    def _log_ratio(self, one: int, two: int) -> float:
        """How much less ln of results and prior is if two items are equal."""
        problem, x = self._problem, self._solution()
        if problem.ties == "rao-kupper":  # not convex on this scale, and about the same
            problem = replace(problem, ties="davidson")
        cells, members = problem.cells, problem.members
        place = np.arange(problem.n_items)
        place[two] = one
        if members is None:
            cells = replace(cells, left=place[cells.left], right=place[cells.right])
        else:
            members = members.copy()
            members.indices = place[members.indices]
        tie = None
        if problem.ties == "glenn-david" and problem.has_tie:  # not convex with it
            x, tie = x[:-1], self._tie
        free = problem.objective(self.alpha_, tie=tie)
        merged = replace(problem, cells=cells, members=members)
        equal = merged.objective(self.alpha_, tie=tie)
        return self._minimize(equal, x).value - free.value(x)


@dataclass(frozen=True, eq=False)
class StrengthProblem:
    """Comparisons of N items summed by cell, and the model of ties."""

    cells: ComparisonCounts
    n_items: int
    ties: str | None
    weak: bool  # whether effects of covariates have a weak penalty
    members: sp.csr_array | None = None  # (N + T, N), of the sides of cells

    @property
    def strengths(self) -> ItemDesign | FeatureDesign:
        """The design of strengths: differences of two, or of sums over members."""
        if self.members is None:
            return ItemDesign(self.cells.left, self.cells.right, self.n_items)
        return FeatureDesign(self.members, self.cells.left, self.cells.right)

    @cached_property
    def moves(self) -> bool:
        """Whether strengths can move together: both sides have as many members."""
        return not self.strengths.apply(np.ones(self.n_items)).any()

    @property
    def link(self) -> OutcomeLink:
        """The link of the tie model."""
        return LINK_OF["davidson" if self.ties == "auto" else self.ties]

    @cached_property
    def tally(self) -> tuple[Floats, Floats, Floats]:
        """Wins, ties and losses of every item, on its side."""
        return self.cells.tally(self.n_items, self.members)

    @property
    def has_tie(self) -> bool:
        """Whether a tie parameter is learned."""
        return bool(self.cells.counts[:, 1].any()) and self.ties != "half"

    @property
    def is_only_ties(self) -> bool:
        """Whether nothing is decided, and ties do not count as half wins."""
        return self.ties != "half" and not self.cells.counts[:, ::2].any()

    def options(self) -> list[StrengthProblem]:
        """The problem with each tie model that is possible."""
        if self.ties != "auto":
            return [self]
        options = [replace(self, ties=name) for name in RATING_LINKS]
        return options if self.has_tie and not self.is_only_ties else options[:1]

    def objective(
        self, alpha: float, counts: Floats | None = None, tie: float | None = None
    ) -> ComparisonObjective:
        """Objective for a penalty, or other counts, or a tie parameter held fixed."""
        cells, n, q = self.cells, self.n_items, self.cells.covariates.shape[1]
        design: Design = self.strengths
        weak = np.zeros(q)
        if q:
            design = JointDesign(design, CovariateDesign(cells.covariates))
            if self.weak:
                # So that an effect that no comparison contradicts stays finite.
                weak = WEAK_EFFECT * (cells.covariates**2).mean(axis=0)
        return ComparisonObjective(
            design,
            self.link,
            cells.counts if counts is None else counts,
            np.append(np.full(n, alpha), weak),
            tie=tie if self.has_tie else self.link.start(0.0),
            free=slice(0, n) if alpha == 0 and self.moves else None,
        )

    def start(self, average: bool = False) -> Floats:
        """Strengths as if every item had met all others, or an average one."""
        wins, ties, losses = self.tally
        halves = 0.5 * ties + 0.5
        guess = np.log(wins + halves) - np.log(losses + halves)
        guess -= guess.mean()
        rest = np.zeros(self.cells.covariates.shape[1])
        n_ties = 0.5 * float(ties.sum())
        share = n_ties / (n_ties + float(wins.sum()))
        # Against average items a score has the slope ¼ (1 - share); others differ, and
        # the mean slope over them is that of a curve wider by their variance.
        spread = 0.0
        if not average:
            slope = 1.0 - min(share, 0.5) if self.has_tie else 1.0
            guess /= slope
            spread = min(_WIDENED * slope**2 * float(guess.var()), 0.75)
            guess /= np.sqrt(1.0 - spread)
        tie = [self.link.start(share) + spread] if self.has_tie else []
        return np.concatenate([guess, rest, tie])


def _class_effects(names: Any) -> list[str]:
    return [f"{name} - {names[0]}" for name in names[1:]]


_EFFECT_REMEDY = (
    "add comparisons, or set alpha='auto', whose weak prior on effects keeps them "
    "finite."
)
