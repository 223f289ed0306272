# SPDX-License-Identifier: BSD-3-Clause
"""People's strengths from few of their votes and many votes of a judge.

The objective is convex for 0 ≤ λ ≤ 1: ln p is linear in (θ, t) minus the same ln Z for
all votes, so the correction is (1 - λ) times the mean loss of people plus a linear
term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from tiebreak.data import Pairs
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import plain_values
from tiebreak.losses import LINKS, ComparisonObjective, HalfWins, ItemDesign
from tiebreak.losses.comparison_covariance import vote_scores
from tiebreak.metrics.metric_inputs import outcome_vector
from tiebreak.models.covariates import check_level
from tiebreak.ratings.named_results import check_results
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.solvers import minimize_newton

_FAR = 50.0  # strengths that no number of votes shows


@dataclass(frozen=True, eq=False)
class CorrectedStrengths:
    """Result of `corrected_strengths`.

    Attributes
    ----------
    items, strength : ndarray of shape (N,)
        Names, and people's strengths θ, mean 0.
    covariance : ndarray of shape (N, N)
        Of the strengths.
    trust : float
        λ, from 0 (people alone) to 1.
    factor : float
        Root mean square standard error divided by that of people alone.
    people : ndarray of shape (N,)
        Strengths from people's votes alone.
    n_both, n_all : int
        n comparisons with a vote of people, and N with one of the judge.
    level : float
    """

    items: NDArray[Any]
    strength: Floats
    covariance: Floats
    trust: float
    factor: float
    people: Floats
    n_both: int
    n_all: int
    level: float

    @property
    def table(self) -> pl.DataFrame:
        """Items, best first: strength, standard error, and interval."""
        error = np.sqrt(np.diag(self.covariance))
        half = ndtri((1 + self.level) / 2) * error
        return pl.DataFrame(
            {
                "item": plain_values(self.items),
                "strength": self.strength,
                "standard_error": error,
                "lower": self.strength - half,
                "upper": self.strength + half,
                "people": self.people,
            }
        ).sort("strength", descending=True)


def corrected_strengths(
    X: Any, people: ArrayLike, judge: ArrayLike, *, level: float = 0.95
) -> CorrectedStrengths:
    """People's strengths, from few of their votes and a judge's vote on everything.

    The judge votes on all N comparisons, people on n of them. The estimate corrects the
    judge's mean loss by its error on the n comparisons with both::

        λ (1/N) Σ_all ℓ(judge) + (1/n) Σ_both [ℓ(people) - λ ℓ(judge)].

    If the n are a random sample of N independent comparisons, the estimate tends to
    people's strengths as n grows, however wrong the judge is. λ minimizes the trace of
    its covariance; docs/judges.md has the theorem.

    Parameters
    ----------
    X : Pairs
        All N comparisons, of items known by name.
    people, judge : array-like of shape (N,)
        Outcomes -1 (left), 0 (tie), +1 (right); NaN or None where no person voted. If
        people tie, ties follow Davidson's model; else a tie of the judge is half a win.
    level : float, default=0.95
        Confidence of the intervals.

    Returns
    -------
    CorrectedStrengths

    Raises
    ------
    ValueError
        If people's votes alone determine no finite strengths.

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++: Efficient prediction-powered
    inference, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import Pairs
    >>> from tiebreak.ratings import corrected_strengths
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.permuted(np.tile(list("ABC"), (900, 1)), axis=1)[:, :2].T
    >>> truth = np.where(rng.random(900) < 0.7, np.where(left < right, -1, 1), 0)
    >>> judge = np.where(rng.random(900) < 0.8, truth, 1)  # sees right too often
    >>> people = np.where(np.arange(900) % 9 == 0, truth, np.nan)
    >>> result = corrected_strengths(Pairs(None, left, right), people, judge)
    >>> result.table["item"].to_list(), result.n_both, 0.5 < result.factor < 1
    (['A', 'B', 'C'], 100, True)
    """
    check_level(level)
    results = check_results(X, judge, None, "corrected_strengths")
    votes_of_people = np.asarray(people, dtype=np.float64)
    if votes_of_people.shape != (results.n_rows,):
        raise ValueError(
            f"people has shape {votes_of_people.shape}; expected one value for each of "
            f"{results.n_rows} comparisons, NaN where no person voted."
        )
    both = ~np.isnan(votes_of_people)
    n, n_all, n_items = int(both.sum()), len(both), len(results.names)
    if n < 2:
        raise ValueError(
            f"people has {n} vote(s); the correction needs votes of people on some of "
            "the judge's comparisons."
        )
    vote = outcome_vector(votes_of_people[both], "people")
    own = Pairs._of(None, results.left, results.right, results.names)[both]
    alone = BradleyTerry("davidson", alpha=0, tol=1e-10).fit(own, vote)
    if len(alone.items_) < n_items:
        missing = [x for x in results.names.tolist() if x not in set(alone.items_)]
        raise ValueError(
            f"People never voted on {missing[0]!r} ({len(missing)} item(s) in all); "
            "add their votes on it, or leave it out."
        )
    start = np.append(alone.strength_, [np.log(alone.tie_)] if 0 in vote else [])
    votes = _Votes(results.left, results.right, results.outcome, vote, both, n_items)
    trust = votes.best_trust(start)
    # The theorem is about a fixed λ: its estimate does not matter in the limit.
    solution = minimize_newton(votes.objective(trust), start, tol=1e-10)
    x = solution.x
    if not solution.converged or np.abs(x[:n_items]).max() > _FAR:
        raise ValueError(
            "People's votes and the judge's together determine no finite strengths; "
            "add votes of people."
        )
    covariance = votes.covariance(x, trust)
    before = votes.covariance(start, 0.0)
    return CorrectedStrengths(
        results.names,
        x[:n_items] - x[:n_items].mean(),
        covariance,
        trust,
        float(np.sqrt(np.trace(covariance) / np.trace(before))),
        alone.strength_,
        n,
        n_all,
        level,
    )


class _Votes:
    """N votes of a judge and n of people."""

    def __init__(
        self,
        left: Codes,
        right: Codes,
        judge: NDArray[np.int8],  # (N,)
        people: Codes,  # (n,)
        both: Flags,  # (N,), where people voted
        n_items: int,
    ) -> None:
        self.design = ItemDesign(left, right, n_items)
        self.judge, self.both = judge.astype(np.int64), both
        self.people = np.where(both, 0, 2)  # 2: no vote
        self.people[both] = people
        self.n_items = n_items
        self.has_tie = bool((people == 0).any())
        self.link = LINKS["davidson"] if self.has_tie else HalfWins()

    def objective(self, trust: float) -> _Tilted:
        """Return the mean loss for a λ."""
        n, n_all = int(self.both.sum()), len(self.both)
        outcomes = np.array([-1, 0, 1])
        people = (self.people[:, None] == outcomes) / n
        judge = (self.judge[:, None] == outcomes).astype(np.float64)
        tilt = trust * (people - judge * self.both[:, None] / n)
        out = _Tilted(
            self.design,
            self.link,
            (1 - trust) * people + trust * judge / n_all,
            np.zeros(self.n_items),
            tie=None if self.has_tie else self.link.start(0.0),
            free=slice(0, self.n_items),
        )
        out.linear = self.design.back(0.5 * (tilt[:, 0] - tilt[:, 2]))
        if self.has_tie:
            out.linear = np.append(out.linear, -tilt[:, 1].sum())
        return out

    def scores(self, x: Floats, vote: Codes, rows: NDArray[Any]) -> sp.csr_array:
        """Return the gradients of the losses of votes, one row each."""
        t = float(x[-1]) if self.has_tie else -np.inf
        d = self.design.apply(x)[rows]
        in_d, in_t = self.link.scores(d, t)
        if not self.has_tie:  # a tie is half a win for each
            in_d[:, 1] = 0.5 * (in_d[:, 0] + in_d[:, 2])
        matrix = self.design.matrix()[rows]
        return vote_scores(matrix, (in_d, in_t), vote, self.has_tie)

    def _inverse(self, x: Floats, trust: float) -> Floats:
        """Return the rows of H⁻¹ that give strengths of mean 0."""
        objective = self.objective(trust)
        objective.expand(x)
        inverse = la.inv(objective.hessian())[: self.n_items]
        return np.asarray(inverse - inverse.mean(axis=0))

    def best_trust(self, x: Floats) -> float:
        """Return the λ between 0 and 1 of the smallest trace of the covariance."""
        s = self.scores(x, self.people[self.both], self.both)
        g = self.scores(x, self.judge[self.both], self.both)
        inverse = self._inverse(x, 0.0)
        s, g = s @ inverse.T, g @ inverse.T
        s, g = s - s.mean(axis=0), g - g.mean(axis=0)
        size = float((g * g).sum())
        return float(np.clip((s * g).sum() / size, 0.0, 1.0)) if size else 0.0

    def covariance(self, x: Floats, trust: float) -> Floats:
        n, n_all = int(self.both.sum()), len(self.both)
        inverse, used = self._inverse(x, trust), trust * (1 - n / n_all)
        s = self.scores(x, self.people[self.both], self.both) @ inverse.T
        g = self.scores(x, self.judge, np.arange(n_all)) @ inverse.T
        errors = s - used * g[self.both]
        errors -= errors.mean(axis=0)
        out = errors.T @ errors / (n * (n - 1))
        if used:
            g = g - g.mean(axis=0)
            out = out + used**2 * (g.T @ g) / (n_all * (n_all - n))
        return np.asarray(out)


class _Tilted(ComparisonObjective):
    linear: Floats

    def value(self, x: Floats) -> float:
        return super().value(x) + float(self.linear @ x)

    def expand(self, x: Floats) -> tuple[float, Floats]:
        value, gradient = super().expand(x)
        return value + float(self.linear @ x), gradient + self.linear
