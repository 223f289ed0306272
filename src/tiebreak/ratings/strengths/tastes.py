# SPDX-License-Identifier: BSD-3-Clause
"""Strengths of items, and directions in which the tastes of raters differ.

Boundary convention: a tie is predicted where it is the most probable outcome, also
where it is as probable as another.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from tiebreak.data import Pairs
from tiebreak.data.columns import factorize
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.data.parameters import (
    COUNT,
    POSITIVE,
    Values,
    check_parameters,
    refuse_parameter,
)
from tiebreak.losses.comparisons import Davidson
from tiebreak.losses.judges import JudgeCells, TasteObjective
from tiebreak.models.base import (
    fits_outcomes,
)
from tiebreak.models.covariates import check_row_column
from tiebreak.ratings.inputs import check_results, named_pairs
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.inference import RaterPredictions, find_raters
from tiebreak.ratings.strengths.judges import judge_cells

Floats = NDArray[np.float64]

# β per vote of an item. On sushi, whose votes come from ranked lists, 0.03 was best of
# 0.008 to 0.07; in seven simulations of independent votes 0.03 lost 0.012 of log loss
# at most against the best of 0.003 to 0.1, and without any taste 0.002.
_SHARE = 0.03
_ROUNDING = 1e-15  # of the objective, below which no step is seen to go down
_NODES = 9  # of Gauss and Hermite's quadrature


class TasteBradleyTerry(RaterPredictions, ClassifierMixin, BaseEstimator):
    r"""Common strengths of items, and a taste of each rater in a few directions.

    To rater r the item i has the strength θ_i + u_r·v_i, with k numbers v_i per item
    and k numbers u_r per rater. With d = θ_right - θ_left + u_r·(v_right - v_left)
    outcomes have the probabilities of Davidson's model, ::

        P(left) : P(tie) : P(right) = exp(-d/2) : ν : exp(d/2).

    Tastes u_r are normal with mean 0 and covariance I, and are integrated out: θ, V
    and ν minimize ::

        -Σᵣ ln ∫ Πᵢ P(yᵢ) p(u_r) + α Σ θ² + β Σ ‖v‖²,

    a sum over the votes i of raters r, integrals by Laplace's approximation. Without
    directions this is :class:`BradleyTerry`.

    The unit variance of tastes fixes the scale of V. A rotation of all tastes and
    directions changes nothing, so that directions are made orthogonal over the items,
    the longest first, and the largest number of each is positive. The objective is not
    convex. Its search begins where it falls most from V = 0 to the second order (the
    largest eigenvectors of a matrix of items × items), so that it always ends at the
    same point, and `gap_` says how nearly stationary this is; it may be no more than a
    local minimum.

    Parameters
    ----------
    n_directions : int, default=2
        k, at most one less than there are items.
    alpha : float or "auto", default="auto"
        Penalty α; ``"auto"`` is what :class:`BradleyTerry` learns from the votes.
    taste_alpha : float or "auto", default="auto"
        Penalty β; ``"auto"`` is 0.03 times the mean number of votes on an item. Votes
        that were made from ranked lists, as all pairs of each, are not independent,
        and need it as large. Smaller ones suit independent votes of strong tastes.
    tol, max_iter : float and int, default=1e-5 and 1000
        Stop when `gap_` is at most tol², or after so many steps.

    Attributes
    ----------
    items_, strength_ : ndarray of shape (N,)
        Names of the items, and θ, natural logarithms, mean 0: the strengths to an
        average person, whose taste is 0. Also ``coef_``.
    direction_ : ndarray of shape (N, k)
        V, mean 0: what each item gains from a taste of 1 in each direction.
    raters_ : ndarray of shape (R,)
        Names of the raters.
    taste_, taste_covariance_ : ndarray of shape (R, k) and (R, k, k)
        Most probable u, and their covariance given the others. The strengths to rater
        r are ``strength_ + direction_ @ taste_[r]``.
    tie_, threshold_ : float
        ν, and the largest difference at which a tie is the most probable outcome.
    alpha_, taste_alpha_ : float
        α and β.
    objective_ : float
        Value reached.
    gap_ : float
        Half the squared length of the gradient, in units in which the objective
        without tastes has about unit curvature, as a share of the objective.
    n_iter_, converged_, classes_ : int, bool, ndarray
        Steps of L-BFGS, whether `tol` was reached, and the outcomes -1, 0, 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak import Pairs, TasteBradleyTerry
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.permuted(np.tile(np.arange(4), (900, 1)), axis=1)[:, :2].T
    >>> rater = rng.integers(0, 30, 900)
    >>> likes = np.where(rater < 15, 1.0, -1.0)  # half of them have it turned round
    >>> p = 1 / (1 + np.exp((left - right) * likes))
    >>> y = np.where(rng.random(900) < p, 1, -1)
    >>> pairs = Pairs(None, left, right)
    >>> model = TasteBradleyTerry(1).fit(pairs, y, rater=rater)
    >>> model.predict(Pairs(None, [0, 0], [3, 3]), rater=[1, 29])
    array([ 1, -1], dtype=int8)
    """

    __module__ = "tiebreak"  # where users find it

    __metadata_request__fit: ClassVar = {"rater": True}

    _parameters: ClassVar = {
        "n_directions": Values("a whole number, 0 or more", 0, np.inf, whole=True),
        **dict.fromkeys(("alpha", "taste_alpha"), POSITIVE | "auto"),
        "tol": POSITIVE,
        "max_iter": COUNT,
    }

    def __init__(
        self,
        n_directions: int = 2,
        *,
        alpha: Any = "auto",
        taste_alpha: Any = "auto",
        tol: float = 1e-5,
        max_iter: int = 1000,
    ) -> None:
        self.n_directions, self.alpha = n_directions, alpha
        self.taste_alpha = taste_alpha
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
        """Find strengths, directions and tastes.

        Parameters
        ----------
        X : Pairs
            Comparisons of items known by name, ``Pairs(None, left, right)``.
        y : array-like of shape (n,)
            Outcomes -1 (left), 0 (tie), +1 (right).
        rater : array-like of shape (n,)
            Whose taste it was. With one rater, or without, this is the plain model.
        sample_weight : array-like of shape (n,), optional
            Weights; 2 is as two rows.

        Returns
        -------
        TasteBradleyTerry
        """
        self._check_parameters()
        results = check_results(X, y, sample_weight, "TasteBradleyTerry")
        code, names = np.zeros(results.n_rows, np.int64), ["everyone"]
        if rater is not None:
            code, names = factorize(check_row_column(rater, "rater", results.n_rows))
        seen, code = np.unique(results.take(code), return_inverse=True)
        pairs = Pairs._of(None, results.left, results.right, results.names)
        plain = BradleyTerry("davidson", alpha=self.alpha)
        plain.fit(pairs, results.outcome, sample_weight=results.weight)
        k = int(self.n_directions)
        if rater is not None and len(seen) < 2 and k:
            warn_user(
                f"All votes are those of one rater, {str(names[seen[0]])!r}, so "
                "nothing is known of differences in taste: the strengths are those of "
                "BradleyTerry.",
                DataWarning,
            )
        if len(seen) < 2 or np.isposinf(plain.tie_):
            k = 0
        if k >= len(results.names):
            refuse_parameter(
                self, "n_directions", f"less than the {len(results.names)} items"
            )
        self._forget()
        self.items_, self.raters_ = results.names, np.asarray(names)[seen]
        self._solve(judge_cells(results, code), plain, k)
        if not self.converged_:
            warn_user(
                f"TasteBradleyTerry did not converge in {self.n_iter_} steps: the gap "
                f"is {self.gap_:.1e}. The result is kept. Try a larger max_iter or "
                "taste_alpha.",
                ConvergenceWarning,
            )
        return self

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _solve(self, cells: JudgeCells, plain: BradleyTerry, k: int) -> None:
        n, n_raters = cells.n_items, cells.n_judges
        weight = np.tile(cells.counts.sum(axis=1), 2)
        sides = np.append(cells.left, cells.right)
        votes = np.bincount(sides, weight, n).astype(np.float64)
        self.alpha_ = plain.alpha_
        given = self.taste_alpha != "auto"
        self.taste_alpha_ = float(self.taste_alpha if given else _SHARE * votes.mean())
        theta, direction, width = plain.strength_, np.zeros((n, k)), plain.tie_
        taste, covariance = np.zeros((n_raters, k)), np.zeros((n_raters, k, k))
        self.objective_, self.gap_ = plain.objective_, plain.gap_
        self.n_iter_, self.converged_ = plain.n_iter_, plain.converged_
        if k:
            tied = bool(plain.ties_.any())
            objective = TasteObjective(
                cells, k, self.alpha_, self.taste_alpha_, tied=tied
            )
            x = self._minimize(objective, plain, votes)
            theta, direction, width = objective.split(x)
            taste = objective.taste
            lower = np.tril(objective.inner)
            inner = lower + np.tril(lower, -1).transpose(0, 2, 1)
            covariance = np.asarray(np.linalg.inv(inner), np.float64)
            # Directions that are orthogonal, the longest first.
            turn = np.linalg.svd(direction, full_matrices=False)[2].T
            direction = direction @ turn
            largest = direction[np.abs(direction).argmax(axis=0), np.arange(k)]
            sign = np.where(largest < 0.0, -1.0, 1.0)
            direction, turn = direction * sign, turn * sign
            taste, covariance = taste @ turn, turn.T @ covariance @ turn
        self.strength_ = theta - theta.mean()
        self.direction_ = direction - direction.mean(axis=0)
        self.taste_, self.taste_covariance_ = taste, covariance
        self.tie_ = float(width)
        self.threshold_ = Davidson().threshold(Davidson().from_parameter(self.tie_))

    def _minimize(
        self, objective: TasteObjective, plain: BradleyTerry, votes: Floats
    ) -> Floats:
        """Search from the spectral start, in units of about unit curvature."""
        k, tie = objective.n_directions, Davidson().from_parameter(plain.tie_)
        start = objective.spectral_start(plain.strength_, tie)
        start = np.concatenate([plain.strength_, start.ravel(), objective.tied * [tie]])
        curvature = [0.2 * votes + 2.0 * objective.alpha]
        curvature.append(np.repeat(0.2 * votes + 2.0 * objective.beta, k))
        curvature.append(np.full(int(objective.tied), 0.1 * votes.sum()))
        unit = 1.0 / np.sqrt(np.concatenate(curvature))

        def value(z: Floats) -> tuple[float, Floats]:
            height, gradient = objective.expand(unit * z)
            return height, unit * gradient

        size = math.sqrt(2.0 * value(start / unit)[0] / len(start))
        steps = int(self.max_iter)
        options: dict[str, Any] = {"maxiter": steps, "maxfun": 20 * steps, "maxcor": 20}
        options |= {"ftol": 0.0, "gtol": self.tol * size}
        found = minimize(
            value, start / unit, jac=True, method="L-BFGS-B", options=options
        )
        self.objective_, gradient = value(found.x)  # it may have ended elsewhere
        self.gap_ = 0.5 * float(gradient @ gradient) / self.objective_
        self.n_iter_ = int(found.nit)
        self.converged_ = self.gap_ <= max(self.tol**2, _ROUNDING)
        return unit * found.x

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The strengths, under the name that all models without features have."""
        return self.strength_

    def predict_proba(self, X: Any, *, rater: ArrayLike | None = None) -> Floats:
        """Probabilities of left, tie and right.

        Parameters
        ----------
        X : Pairs
            Comparisons, without their outcomes.
        rater : array-like of shape (n,), optional
            Who judges. A rater with votes has the own taste, averaged over what is
            plausible; a name without votes stands for any new person, averaged over
            all tastes. None: an average person, whose taste is 0.

        Returns
        -------
        ndarray of shape (n, 3)
            Columns left, tie, right, as ``classes_``; rows sum to 1.
        """
        gap, link = self.difference(X), Davidson()
        tie = link.from_parameter(self.tie_)
        if rater is None or not self.direction_.shape[1]:
            return link.probabilities(gap, tie)
        code = find_raters(self.raters_, rater, len(gap))
        pairs = named_pairs(X, "TasteBradleyTerry").compact()
        row = self.direction_[self._places_of_names(self._names_of(pairs))]
        apart = row[pairs.right] - row[pairs.left]
        own = np.append(self.taste_, np.zeros((1, apart.shape[1])), axis=0)
        spread = np.append(self.taste_covariance_, np.eye(apart.shape[1])[None], axis=0)
        gap = gap + np.einsum("ij,ij->i", apart, own[code])
        variance = np.einsum("ij,ijk,ik->i", apart, spread[code], apart)
        error = np.sqrt(np.maximum(variance, 0.0))
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        out = np.zeros((len(gap), 3))
        for z, weight in zip(nodes, weights / weights.sum(), strict=True):
            out += weight * link.probabilities(gap + z * error, tie)
        return out
