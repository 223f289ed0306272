# SPDX-License-Identifier: BSD-3-Clause
"""Strengths from the votes of judges who differ in care, in ties and in sides.

Boundary convention: as in `BradleyTerry`.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import Pairs, as_pairs, is_pairs
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import factorize
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import check_parameters, one_of, refuse_parameter
from tiebreak.data.threads import one_blas_thread
from tiebreak.losses import OutcomeLink, RatingLink
from tiebreak.losses.comparison_covariance import cholesky
from tiebreak.losses.judge_likelihood import JudgeCells, JudgeObjective
from tiebreak.models.base import fits_outcomes
from tiebreak.models.covariates import check_level, check_row_column
from tiebreak.ratings.named_results import check_results
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import StrengthDistribution
from tiebreak.ratings.strengths.inference import FEWEST_RATERS, StrengthModel
from tiebreak.ratings.strengths.prior import LearnedPrior, learn_prior
from tiebreak.solvers import NewtonSolution

_VARY = ("discrimination", "tie", "side")
_START = 0.5  # standard deviations with which the search begins
# Cells times variables up to which the exact Hessian, by differences of gradients, is
# affordable (a few seconds). With more, its expectation is as good.
_EXACT = 1_000_000
# With more, one penalty, found in so many rounds, stands for all that are plausible.
_PLENTY, _ROUNDS = 10_000_000, 2
_SAMPLE = 1000  # judges from whom the search for standard deviations begins
# With more judges the standard deviation of discriminations is known well enough.
_UNSURE, _LEAST_KNOWN = 200, 0.8
_NODES = 7  # of Gauss and Hermite's quadrature, in d and in ln ν
_ROWS, _JUDGES = 20_000, 4096  # at a time


@dataclass(frozen=True, eq=False)
class _Part:
    """A fit of the model: whose judges differ, or of equal ones."""

    evidence: float  # ln of the probability of the votes, up to a constant
    objective: JudgeObjective  # of the most probable penalty
    prior: LearnedPrior  # penalties and their fits
    inverse: Floats  # (n, n), covariance of the coefficients
    weights: Floats  # (K,), of the nodes
    centers: Floats  # (K, N), their strengths
    covariances: Floats  # (K, N, N)


class JudgeBradleyTerry(StrengthModel):
    """Strengths of items from votes of judges, each with an own way of voting.

    A judge j has a discrimination a_j (0: coin tosses, negative: reversed), a tie width
    ν_j and a side bias b_j. With d = a_j (θ_right - θ_left) - b_j the outcome has
    probabilities

    * ``ties="davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : ν_j : exp(d/2);
    * ``ties="rao-kupper"``: P(right) = σ(d′ - ν_j), P(left) = σ(-d′ - ν_j), with d′ =
      d / (1 + p₀), so that strengths have the scale of :class:`BradleyTerry`.

    a_j, ln ν_j and b_j are normal around means of all judges, with learned standard
    deviations: a judge with few votes is near the mean. Strengths and means minimize ::

        -Σⱼ ln ∫ Πᵢ P(yᵢ) p(a_j, ln ν_j, b_j) + α Σ θ²,

    a sum over the votes i of judges j, integrals by Laplace's approximation.
    Discriminations have mean 1. With up to 200 judges strengths are averaged over this
    model and that of equal judges, :class:`BradleyTerry`, by marginal likelihood.

    Parameters
    ----------
    ties : {"davidson", "rao-kupper"}, default="davidson"
        How ties come about.
    alpha : float or "auto", default="auto"
        As in :class:`BradleyTerry`.
    vary : collection of {"discrimination", "tie", "side"}, optional
        What judges differ in; None: all three. Without ``"side"`` no side is favored.
    tol, max_iter : float and int, default=1e-6 and 100
        As in :class:`BradleyTerry`.

    Attributes
    ----------
    items_, strength_, alpha_, objective_, gap_, n_iter_, converged_, classes_
        As in :class:`BradleyTerry`.
    judges_ : ndarray of shape (R,)
        Names of the judges.
    discrimination_, tie_width_, side_bias_ : ndarray of shape (R,)
        a_j, with mean 1 over these judges, ν_j and b_j, in favor of left; see `judges`.
    judge_covariance_ : ndarray of shape (R, 3, 3)
        Of a_j, ln ν_j and b_j, given that judges differ.
    tie_, tie_probability_, side_ : float
        exp of the mean of ln ν (for Rao and Kupper's ties exp of that again); p₀, with
        which an average judge ties equal items; and the mean of b.
    spread_ : ndarray of shape (3,)
        Standard deviations of a, ln ν and b between judges.
    equal_ : float
        Probability that judges differ in nothing, ½ before the votes; 0 above 200.
    threshold_ : float
        Largest difference at which an average judge ties.
    plain_ : BradleyTerry
        The same votes, all judges taken as one.
    prior_weights_, node_strengths_, node_covariances_ : ndarray
        Distribution of the strengths, a mixture, equal judges last.
    excess_ : float
        Factor on covariances: judges disagree so much more than the model says.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import JudgeBradleyTerry, Pairs
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.permuted(np.tile(np.arange(4), (600, 1)), axis=1)[:, :2].T
    >>> judge = rng.choice(["careful", "careless"], 600)
    >>> p = 1 / (1 + np.exp((left - right) * 2.0 * (judge == "careful")))
    >>> y = np.where(rng.random(600) < p, 1, -1)
    >>> model = JudgeBradleyTerry().fit(Pairs(None, left, right), y, rater=judge)
    >>> model.judges()["judge"].to_list()
    ['careful', 'careless']
    >>> model.discrimination_[model.judges_ == "careful"] > 1.5
    array([ True])
    """

    __module__ = "tiebreak"  # where users find it

    __metadata_request__fit: ClassVar = {"rater": True}

    _parameters: ClassVar = {
        **StrengthModel._parameters,
        "ties": one_of("davidson", "rao-kupper"),
    }
    _fitted_arrays: ClassVar = {
        "judges_": "j: any",
        "discrimination_": "j",
        "tie_width_": "j",
        "side_bias_": "j",
        "judge_covariance_": "j 3 3",
        "spread_": "3",
        "prior_weights_": "a",
        "node_strengths_": "a n",
        "node_covariances_": "a n n",
    }

    def __init__(
        self,
        ties: Literal["davidson", "rao-kupper"] = "davidson",
        *,
        alpha: float | Literal["auto"] = "auto",
        vary: Collection[str] | None = None,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.ties, self.alpha, self.vary = ties, alpha, vary
        self.tol, self.max_iter = tol, max_iter

    @fits_outcomes
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        rater: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the strengths, and how each judge votes.

        Parameters
        ----------
        X : Pairs
            As in `BradleyTerry.fit`.
        y : array-like of shape (n,)
            Outcomes.
        rater : array-like of shape (n,)
            Who judged. With one judge, or without, this is the plain model.
        sample_weight : array-like of shape (n,), optional
            Weights.

        Returns
        -------
        JudgeBradleyTerry
        """
        self._check_parameters()
        results = check_results(X, y, sample_weight, "JudgeBradleyTerry")
        judge, judges = np.zeros(results.n_rows, np.int64), ["everyone"]
        if rater is not None:
            column = check_row_column(rater, "rater", results.n_rows)
            judge, judges = factorize(column)
        code, judge = np.unique(results.take(judge), return_inverse=True)
        pairs = Pairs._of(None, results.left, results.right, results.names)
        plain = BradleyTerry(
            self.ties, alpha=self.alpha, tol=self.tol, max_iter=int(self.max_iter)
        )
        plain.fit(pairs, results.outcome, sample_weight=results.weight)
        names = np.asarray(judges)[code]
        kept = {"plain_": plain, "items_": results.names, "judges_": names}
        free = self._free(plain)
        if rater is not None and len(names) < 2:
            warn_user(
                f"All votes are those of one rater, {str(names[0])!r}, so nothing is "
                "known of differences between raters.",
                DataWarning,
            )
        if len(names) < 2:
            free[:] = False
        if not free.any():
            return self._keep(kept | _like_plain(plain, len(names)))
        cells = JudgeCells.of(judge, pairs, results.outcome, results.weight)
        parts = [_fit_part(cells, plain, free)]
        if cells.n_judges <= _UNSURE:
            # Perhaps all judges vote alike: few votes cannot tell, and what they seem
            # to differ in would be noise.
            parts.append(_fit_part(cells, plain, np.zeros(3, bool)))
        fitted = _average_parts(parts, plain)
        if not fitted["converged_"]:
            warn_user(
                f"JudgeBradleyTerry did not converge in {fitted['n_iter_']} steps: the "
                f"relative gap is {fitted['gap_']:.1e}. Try a larger max_iter.",
                ConvergenceWarning,
            )
        return self._keep(kept | fitted)

    def _check_parameters(self) -> None:
        check_parameters(self)
        wrong = [name for name in self.vary or () if name not in _VARY]
        if wrong or isinstance(self.vary, str):
            refuse_parameter(self, "vary", f"some of {', '.join(map(repr, _VARY))}")

    def _free(self, plain: BradleyTerry) -> Flags:
        vary = _VARY if self.vary is None else self.vary
        free = np.array([name in vary for name in _VARY])
        if np.isposinf(plain.tie_):
            free[:] = False  # nothing but ties: nothing is known
        elif not plain.ties_.any():
            free[1] = False
        return free

    # What a leaderboard shows, of the votes of all judges together.
    wins_ = property(attrgetter("plain_.wins_"), doc="That of `plain_`.")
    ties_ = property(attrgetter("plain_.ties_"), doc="That of `plain_`.")
    losses_ = property(attrgetter("plain_.losses_"), doc="That of `plain_`.")
    pair_left_ = property(attrgetter("plain_.pair_left_"), doc="That of `plain_`.")
    pair_right_ = property(attrgetter("plain_.pair_right_"), doc="That of `plain_`.")
    pair_counts_ = property(attrgetter("plain_.pair_counts_"), doc="That of `plain_`.")
    pair_votes_ = property(attrgetter("plain_.pair_votes_"), doc="That of `plain_`.")

    information = BradleyTerry.information

    @property
    def _link(self) -> OutcomeLink:
        return self.plain_._link

    _tie = BradleyTerry._tie  # of an average judge

    def _components(self) -> Codes:
        return self.plain_._components()

    def _coefficient_distribution(
        self, kind: str | None, whole: bool = False
    ) -> StrengthDistribution:
        check_is_fitted(self)
        why = " Judges are in the model, so there is no kind for their clusters."
        self._check_kind(kind, ("model",), why)
        if not hasattr(self, "prior_weights_"):
            return self.plain_._coefficient_distribution(kind, whole)
        factor = 1.0 if kind == "model" else self.excess_
        return StrengthDistribution(
            self.node_strengths_, factor * self.node_covariances_, self.prior_weights_
        )

    def _contrasts_of(self, known: StrengthDistribution) -> PairContrasts:
        basis = self.alpha_, self._components(), self.plain_._n_results
        return PairContrasts.of(known, int(known.weight.argmax()), *basis)

    def judges(self, level: float = 0.95) -> pl.DataFrame:
        """How each judge votes, with intervals.

        Parameters
        ----------
        level : float, default=0.95
            Confidence of each interval.

        Returns
        -------
        polars.DataFrame
            One row per judge, the most discriminating first: ``judge``,
            ``discrimination``, ``tie_width`` and ``side_bias``, each followed by its
            interval, such as ``side_bias_lower`` and ``side_bias_upper``, given that
            judges differ. Those of discriminations are relative to the mean of these
            judges. The spread between judges is taken as known, so that 95 % covers
            less: .70 for 5 judges of 40 votes, .92 for 20 of 60, .94 for 40 of 100.
        """
        check_is_fitted(self)
        check_level(level)
        z = ndtri(0.5 + 0.5 * level)
        error = np.sqrt(np.diagonal(self.judge_covariance_, axis1=1, axis2=2)).T
        columns: dict[str, Any] = {"judge": self.judges_}
        with np.errstate(divide="ignore"):
            width = np.log(self.tie_width_)
        middle = (self.discrimination_, width, self.side_bias_)
        for name, value, wide in zip(_VARY, middle, error, strict=True):
            ends = np.stack([value, value - z * wide, value + z * wide])
            ends = np.exp(ends) if name == "tie" else ends
            label = {"tie": "tie_width", "side": "side_bias"}.get(name, name)
            keys = (label, f"{label}_lower", f"{label}_upper")
            columns |= dict(zip(keys, ends, strict=True))
        return pl.DataFrame(columns).sort("discrimination", descending=True)

    def describe_judges(self) -> str:
        """Count judges as good as coins, and reversed ones.

        Returns
        -------
        str
        """
        table = self.judges()
        low, high = table["discrimination_lower"], table["discrimination_upper"]
        reversed_, careless = (high < 0).sum(), ((low <= 0) & (high >= 0)).sum()
        verb = "votes" if reversed_ == 1 else "vote"
        equal = f" They are equal with probability {min(self.equal_, 0.99):.0%}."
        return (
            f"The votes of {len(table)} judges are weighted by how well each tells "
            f"items apart: {careless} may as well toss coins (the interval of the "
            f"discrimination contains 0), and {reversed_} {verb} the other way round."
            + equal
            * (self.equal_ > 0.01)
        )

    def predict_proba(self, X: Any, *, rater: ArrayLike | None = None) -> Floats:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs
            Comparisons of items by name.
        rater : array-like of shape (n,), optional
            Who judges; a name without votes is any new judge. None: an average judge,
            who favors no side.

        Returns
        -------
        ndarray of shape (n, 3)
        """
        gap = self.difference(X)
        if rater is None or np.isposinf(self.tie_):  # nothing but ties is known
            return self._link.probabilities(gap, self._tie)
        names = check_row_column(rater, "rater", len(gap))
        place = {name: k for k, name in enumerate(self.judges_.tolist())}
        code = np.array([place.get(name, -1) for name in names.tolist()], np.int64)
        out = np.empty((len(gap), 3))
        for begin in range(0, len(gap), _ROWS):
            rows = slice(begin, begin + _ROWS)
            out[rows] = self._average(gap[rows], code[rows])
        return out

    def predict_log_proba(self, X: Any, *, rater: ArrayLike | None = None) -> Floats:
        """Logarithms of the probabilities of left, tie and right.

        Parameters
        ----------
        X, rater
            As in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, 3)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, rater=rater))

    def predict(self, X: Any, *, rater: ArrayLike | None = None) -> NDArray[Any]:
        """Most probable outcomes of comparisons, or strengths of items.

        Parameters
        ----------
        X : Pairs or names of items
            Dispatch is by type.
        rater : array-like of shape (n,), optional
            As in `predict_proba`, for comparisons.

        Returns
        -------
        ndarray of shape (n,)
        """
        if rater is None or not is_pairs(X, self._by_name):
            return super().predict(X)
        share = self.predict_proba(as_pairs(X, self._by_name), rater=rater)
        tie = share[:, 1] >= np.maximum(share[:, 0], share[:, 2])
        return np.asarray(self.classes_, np.int8)[
            np.where(tie, 1, np.where(share[:, 2] > share[:, 0], 2, 0))
        ]

    def _average(self, gap: Floats, code: Codes) -> Floats:
        """Average over the parameters of judges; -1 is a new one."""
        link = self.plain_._rating_link
        scale = link.scale(self._tie).s
        with np.errstate(divide="ignore"):
            width = np.log(np.append(self.tie_width_, _width(self.tie_, link)))[code]
        a = np.append(self.discrimination_, 1.0)[code]
        side = np.append(self.side_bias_, self.side_)[code]
        new = np.diag(self.spread_**2)[None]
        spread = np.concatenate([self.judge_covariance_, new])[code]
        # How d and ln ν vary: two numbers, which a and b enter through one.
        row = np.stack([gap, np.zeros(len(gap)), -np.ones(len(gap))], axis=1)
        var_d = np.einsum("ij,ijk,ik->i", row, spread, row)
        both = np.einsum("ij,ij->i", row, spread[:, 1])
        first = np.sqrt(np.maximum(var_d, 0.0))
        slope = np.divide(both, first, out=np.zeros(len(gap)), where=first > 0.0)
        second = np.sqrt(np.maximum(spread[:, 1, 1] - slope**2, 0.0))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weights = weights / weights.sum()
        out = np.zeros((len(gap), 3))
        for z, wz in zip(nodes, weights, strict=True):
            d = a * gap - side + z * first
            for u, wu in zip(nodes, weights, strict=True):
                t = width + z * slope + u * second
                t = t if self.ties == "davidson" else np.exp(t)
                out += wz * wu * link.inner.probabilities(d / scale, t)
        return out


@one_blas_thread()  # see data.threads: more only wait
def _fit_part(cells: JudgeCells, plain: BradleyTerry, free: Flags) -> _Part:
    sided, tied, link = bool(free[2]), bool(plain.ties_.any()), plain._rating_link
    build = partial(JudgeObjective, sided=sided, tied=tied, link=link.inner.name)
    # The likelihood of judges is written in d′.
    scale = link.scale(plain._tie).s
    penalty = scale**2 * plain.alpha_
    fit = partial(plain._minimize, dense=True)
    rest = [0.0] * sided
    if tied:
        rest.append(math.log(_width(plain.tie_, link)))
    start, n = np.append(plain.strength_ / scale, rest), len(plain.strength_)
    spread = np.where(free, _START, 0.0)
    if free.any() and cells.n_judges > 2 * _SAMPLE:
        # Some of many judges say nearly what all do, and where to begin.
        sample = build(cells.every(cells.n_judges // _SAMPLE), spread, penalty)
        _learn_spread(sample, start, free)
        spread = sample.spread
    seen = build(cells, spread, penalty)
    if free.any():
        start = _learn_spread(seen, start, free)

    def objective_of(alpha: float, spread: Floats = seen.spread) -> JudgeObjective:
        out = build(cells, spread, alpha)
        out.effect[:] = seen.effect
        return out

    many = len(cells.left) * n > _PLENTY
    if plain.alpha != "auto" or many:
        alpha = penalty
        solution = fit(objective_of(alpha), start)
        for _ in range(_ROUNDS if plain.alpha == "auto" else 0):
            alpha = _most_probable(objective_of(alpha), solution.x)
            solution = fit(objective_of(alpha), solution.x)
        one = np.ones(1)
        part = np.zeros(1, dtype=np.int64)
        prior = LearnedPrior(alpha * one, one, solution.x[None], part, 0, solution)
    elif free.any():
        prior = learn_prior([objective_of], start, n, plain._minimize)
    else:  # the plain model has learned it
        coefs, mode = plain.prior_coefs_.copy(), int(plain.prior_weights_.argmax())
        coefs[:, :n] /= scale
        if tied:
            width = link.scale(coefs[:, -1]).c
            coefs[:, -1] = np.log(width) if link.inner.cumulative else width
        alphas, weights = scale**2 * plain.prior_alphas_, plain.prior_weights_
        solution = fit(objective_of(float(alphas[mode])), coefs[mode])
        part = np.zeros(len(alphas), dtype=np.int64)
        prior = LearnedPrior(alphas, weights, coefs, part, mode, solution)
    objective = objective_of(float(prior.alpha[prior.mode]))
    nodes, evidence = [(1.0, seen.spread)], 0.0
    if cells.n_judges <= _UNSURE:
        nodes, evidence = _spread_nodes(objective_of, fit, objective, prior.best.x)
        # The evidence of all penalties is that of one, over its probability.
        width = 1.0
        if len(prior.alpha) > 1:
            width = np.gradient(np.log(prior.alpha))[prior.mode]
        evidence -= math.log(prior.weight[prior.mode] / abs(width))
    mixture, centers, covariances = [], [], []
    for share, spread in nodes:
        own = np.array_equal(spread, seen.spread)
        for k, (alpha, x) in enumerate(zip(prior.alpha, prior.coef, strict=True)):
            this = objective
            if not own or k != prior.mode:
                this = objective_of(float(alpha), spread)
            x = x if own else fit(this, x).x
            this.expand(x)
            covariance, inverse = _strength_covariance(this, x)
            if this is objective:
                known = inverse
            mixture.append(share * prior.weight[k])
            centers.append(this.mean_scale * (x[:n] - x[:n].mean()))
            covariances.append(covariance)
    nodes_of = np.array(mixture), np.stack(centers), np.stack(covariances)
    return _Part(evidence, objective, prior, known, *nodes_of)


def _like_plain(plain: BradleyTerry, n_judges: int) -> dict[str, Any]:
    same = (
        *("strength_", "tie_", "tie_probability_", "alpha_", "threshold_"),
        *("objective_", "gap_", "n_iter_", "converged_"),
    )
    return {name: getattr(plain, name) for name in same} | {
        "discrimination_": np.ones(n_judges),
        "tie_width_": np.full(n_judges, _width(plain.tie_, plain._rating_link)),
        "side_bias_": np.zeros(n_judges),
        "judge_covariance_": np.zeros((n_judges, 3, 3)),
        "side_": 0.0,
        "spread_": np.zeros(3),
        "equal_": 1.0,
    }


def _width(tie: float, link: RatingLink) -> float:
    return math.log(tie) if link.inner.cumulative else tie


def _average_parts(parts: list[_Part], plain: BradleyTerry) -> dict[str, Any]:
    share = np.exp([part.evidence - parts[0].evidence for part in parts])
    share /= share.sum()
    best = parts[int(share.argmax())]
    weights = np.concatenate(
        [w * part.weights for w, part in zip(share, parts, strict=True)]
    )
    centers = np.concatenate([part.centers for part in parts])
    covariances = np.concatenate([part.covariances for part in parts])
    width, t, link = 0.0, -math.inf, plain._rating_link
    if best.objective.tied:
        width = math.exp(share @ [float(part.prior.mean[-1]) for part in parts])
        inner = width if link.inner.cumulative else math.log(width)
        t = float(logit(link.inner.probabilities(np.zeros(1), inner)[0, 1]))
    scale = link.scale(t).s
    centers, covariances = scale * centers, scale**2 * covariances
    fitted: dict[str, Any] = {
        "equal_": float(share[1:].sum()),
        "alpha_": best.objective.alpha / link.scale(plain._tie).s ** 2,
        "objective_": best.prior.best.value,
        "gap_": best.prior.best.gap,
        "n_iter_": best.prior.best.n_iter,
        "converged_": all(part.prior.best.converged for part in parts),
        "prior_weights_": weights,
        "node_strengths_": centers,
        "node_covariances_": covariances,
        "strength_": weights @ centers,
    }
    means, spreads, sides, excess = [], [], [], []
    within: list[Floats] = []
    for part in parts:
        objective, x = part.objective, part.prior.mean
        excess.append(_excess(objective))
        objective.expand(x)
        # Discriminations have mean 1, exactly.
        unit = np.array([1.0 / objective.mean_scale, 1.0, scale])
        covariance = objective.judge_covariance(part.inverse)
        within.append(covariance * unit[:, None] * unit)
        spreads.append(objective.spread * unit)
        sides.append(float(x[objective.n_coef]) if objective.sided else 0.0)
        shift = np.array([1.0, 0.0, sides[-1]])
        means.append((objective.mean + shift) * unit)
    mean = np.einsum("p,prk->rk", share, means)
    # About these means, if judges differ: were they equal, there were nothing to know.
    away = means[0] - mean
    spread = within[0] + away[:, :, None] * away[:, None]
    return fitted | {
        "discrimination_": mean[:, 0],
        "tie_width_": width * np.exp(mean[:, 1]),
        "side_bias_": mean[:, 2],
        "judge_covariance_": spread,
        "excess_": float(share @ excess),
        "spread_": np.sqrt(share @ np.square(spreads)),
        "side_": scale * float(share @ sides),
        "tie_": math.exp(width) if link.inner.cumulative else width,
        "tie_probability_": float(expit(t)),
        "threshold_": float(link.threshold(t)),
    }


def _learn_spread(objective: JudgeObjective, start: Floats, free: Flags) -> Floats:
    """Learn the standard deviations between judges; give x, and leave σ behind.

    Each σ has a half-Cauchy prior of scale 1.
    """
    n, n_judges = len(start), objective.cells.n_judges
    objective.expand(start)
    root = cholesky(objective.hessian())
    unit, first = 1.0 / math.sqrt(2.0 * n_judges), objective.spread[free]

    def point(z: Floats) -> tuple[Floats, Floats]:
        step = la.solve_triangular(root, z[:n], lower=True, trans=1)
        return start + step, first * np.exp(np.clip(unit * z[n:], -12.0, 5.0))

    def value(z: Floats) -> tuple[float, Floats]:
        x, own = point(z)
        spread = np.zeros(3)
        spread[free] = own
        objective.set_spread(spread)
        height, gradient = objective.expand(x)
        height -= float((np.log(own) - np.log1p(own**2)).sum())
        in_own = objective.in_spread[free] - 1.0 + 2.0 * own**2 / (1.0 + own**2)
        in_x = la.solve_triangular(root, gradient, lower=True)
        return height, np.append(in_x, unit * in_own)

    zero = np.zeros(n + int(free.sum()))
    options = {"maxiter": 200, "gtol": 0.05, "ftol": 1e-10}
    best = minimize(value, zero, jac=True, method="L-BFGS-B", options=options).x
    value(best)  # the search may have ended elsewhere
    return point(best)[0]


def _spread_nodes(
    objective_of: Callable[[float, Floats], JudgeObjective],
    fit: Callable[[JudgeObjective, Floats], NewtonSolution],
    best: JudgeObjective,
    x: Floats,
) -> tuple[list[tuple[float, Floats]], float]:
    """Weights and standard deviations of judges that are plausible, and the evidence.

    Three nodes of Gauss and Hermite in the logarithm of the first.
    """
    free = np.flatnonzero(best.spread)

    def evidence(move: Floats) -> float:
        spread = best.spread * np.exp(move)
        objective = objective_of(best.alpha, spread)
        solution = fit(objective, x)
        objective.expand(solution.x)
        # What keeps the scale in strengths is no part of the model.
        slope = objective.scale_slope
        hessian = objective.hessian() - objective.stiffness * np.outer(slope, slope)
        own = np.append(spread[free], 1.0)
        if best.alpha > 0.0:  # the width of strengths has the same prior
            own[-1] = 1.0 / math.sqrt(2.0 * best.alpha)
        prior = (np.log(own) - np.log1p(own**2) + math.log(2.0 / math.pi)).sum()
        prior -= best.n_coef * math.log(own[-1])
        return prior - solution.value - 0.5 * np.linalg.slogdet(hessian)[1]

    middle, step, width = evidence(np.zeros(3)), 0.4, np.zeros(3)
    for k in free:
        move = step * np.eye(3)[k]
        bend = (evidence(move) + evidence(-move) - 2.0 * middle) / step**2
        width[k] = 1.0 / math.sqrt(max(-bend, _LEAST_KNOWN**-2.0))
    count = 0.5 * math.log(2.0 * math.pi) * (len(free) + len(x))
    total = middle + count + float(np.log(width[free]).sum())
    if not width[0]:
        return [(1.0, best.spread)], total
    moves = np.outer([-1.0, 0.0, 1.0], [math.sqrt(3.0) * width[0], 0.0, 0.0])
    height = np.array([evidence(moves[0]), middle, evidence(moves[2])])
    beside = math.exp(1.5) / 6.0
    weight = np.exp(height - height.max()) * [beside, 2.0 / 3.0, beside]
    weight /= weight.sum()
    every = [best.spread * np.exp(move) for move in moves]
    every[1] = best.spread
    return list(zip(weight.tolist(), every, strict=True)), total


def _strength_covariance(objective: JudgeObjective, x: Floats) -> tuple[Floats, Floats]:
    """Covariance of āβ, and of x, at an expanded point."""
    hessian, n = objective.hessian(), objective.n_coef
    if len(objective.cells.left) * len(x) <= _EXACT:
        exact = _exact_hessian(objective, x)
        if np.isfinite(exact).all() and la.eigvalsh(exact)[0] > 0.0:
            hessian = exact
    factor = cholesky(hessian)
    inverse = la.cho_solve((factor, True), np.eye(len(x)), check_finite=False)
    change = objective.jacobian()
    own = np.linalg.inv(objective.inner)[:, 0, 0]
    apart = own.sum() / len(own) ** 2 if objective.spread[0] > 0.0 else 0.0
    out = change @ inverse @ change.T + apart * np.outer(x[:n], x[:n])
    return out, inverse


def _most_probable(objective: JudgeObjective, x: Floats) -> float:
    """The penalty under which strengths of this size are expected."""
    n = objective.n_coef
    objective.expand(x)
    unsure = np.diag(np.linalg.inv(objective.hessian()))[:n].sum()
    return (n - 1) / (2.0 * float(x[:n] @ x[:n] + unsure))


def _exact_hessian(objective: JudgeObjective, x: Floats) -> Floats:
    """Differences of gradients; x is expanded again afterwards."""
    step, out = 1e-5, np.empty((len(x), len(x)))
    for k in range(len(x)):
        moved = x.copy()
        moved[k] += step
        out[k] = objective.expand(moved)[1]
    out -= objective.expand(x)[1]
    return (out + out.T) / (2.0 * step)


def _excess(objective: JudgeObjective) -> float:
    """How much more judges differ than the model says; at least 1."""
    scores = objective.judge_scores()
    n_judges, n = scores.shape
    if n_judges < FEWEST_RATERS:
        return 1.0
    inverse = np.linalg.inv(objective.hessian())
    meat = 0.0
    for start in range(0, n_judges, _JUDGES):
        own = scores[start : start + _JUDGES].toarray()
        meat += float(np.einsum("ij,ij->", own @ inverse, own))
    prior = 2.0 * objective.alpha * np.diag(inverse)[: objective.n_coef].sum()
    return max(1.0, meat * n_judges / (n_judges - 1) / (n - float(prior)))
