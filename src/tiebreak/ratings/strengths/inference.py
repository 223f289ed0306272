# SPDX-License-Identifier: BSD-3-Clause
"""How certain strengths are: standard errors, bootstrap, and intervals of ranks.

*Covariance.* With H the Hessian of the objective at its minimum and s the gradient of
one comparison's loss there:

* ``"model"``: H⁻¹, right when the model is.
* ``"sandwich"``: H⁻¹ (Σ n s sᵀ) H⁻¹, a sum over comparisons, right also when
  probabilities are not quite those of the model, as long as comparisons are
  independent. Weights are counts: weight 2 is two comparisons.
* ``"cluster"``: H⁻¹ (R/(R-1) Σ_r s_r s_rᵀ) H⁻¹ with s_r the sum over the comparisons
  of rater r: right also when the votes of one rater depend on each other.

*Bootstrap.* Every comparison (with raters: every rater) gets a random weight,
independent and exponential with mean 1, and the objective is minimized again: Rubin's
(1981) Bayesian bootstrap. The weights of the n equal comparisons of a cell sum to one
draw of a Gamma(n) variable, so a resample costs as much as there are cells, weights may
be fractional, and strengths that exist in the data exist in every resample. Most
resamples are solved by repeating x ← x - H⁻¹∇f*(x) with the inverse Hessian H⁻¹ of the
data; the others by Newton's method.

*Ranks.* Item j is significantly better than i when z_ij = (θ_j - θ_i) / se(θ_j - θ_i)
exceeds a critical value. Then the rank of i (1 is best) lies between

    1 + #{j : j significantly better than i}   and   N - #{j : i better than j}.

For an interval of one item to hold, all N - 1 comparisons with the others must hold at
once; the critical value is the quantile of max_j |z_ij| for normal errors with the
given covariance (Mogstad, Romano, Shaikh and Wilhelm, 2024), found by simulation, or
Bonferroni's bound where items are many. ``simultaneous`` takes the maximum over all
pairs, so that the intervals of all items hold at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.losses import ComparisonObjective, Design, ItemDesign, JointDesign
from tiebreak.models.base import UtilityMixin, check_positive
from tiebreak.solvers import minimize_newton
from tiebreak.solvers.newton import DENSE_LIMIT

KINDS = ("model", "sandwich", "cluster")

_SPARSE = 0.1
_BLOCK = 256
_RATERS = 4096  # at a time

Array = NDArray[np.float64]


def coefficient_covariance(
    objective: ComparisonObjective,
    x: Array,
    kind: str,
    by_rater: sp.csr_array | None = None,
) -> Array:
    """Covariance matrix of all coefficients, the tie parameter (if free) last."""
    objective.expand(x)
    with one_blas_thread():  # see data.threads: more only wait
        inverse = _inverse(la.cholesky(objective.hessian(), lower=True))
    if kind == "model":
        return inverse
    beta, t = objective.split(x)
    scores = objective.link.scores(objective.design.apply(beta), t)
    free_tie = objective.tie is None
    if kind == "sandwich":
        meat = _independent(objective.design, objective.counts, *scores, free_tie)
    else:
        assert by_rater is not None
        meat = _clustered(objective.design, by_rater, *scores, free_tie)
    if np.count_nonzero(meat) < _SPARSE * meat.size:
        # So it is with many items, of which few have met each other.
        meat = sp.csr_array(meat)
    return _symmetric(inverse, meat @ inverse)


def _inverse(factor: Array) -> Array:
    """Invert a matrix from its Cholesky factor, zero above the diagonal."""
    half, _ = la.lapack.dpotri(factor, lower=1, overwrite_c=1)
    half += np.tril(half, -1).T
    return half


def _symmetric(a: Array, b: Array) -> Array:
    """Multiply two matrices whose product is symmetric, by half of the work."""
    n = len(a)
    out = np.empty((n, n))

    def fill(start: int) -> None:
        rows = slice(start, start + _BLOCK)
        out[rows, : start + _BLOCK] = a[rows] @ b[:, : start + _BLOCK]
        out[:start, rows] = out[rows, :start].T

    in_threads(fill, range(0, n, _BLOCK)[::-1])  # the longest first
    return out


def _independent(
    design: Design, counts: Array, in_d: Array, in_t: Array, free_tie: bool
) -> Array:
    """Σ n s sᵀ over cells and outcomes, of the structure of the Hessian."""
    in_beta = design.gram((counts * in_d**2).sum(axis=1))
    if not free_tie:
        return in_beta
    cross = design.back((counts * in_d * in_t).sum(axis=1))
    in_tie = np.array([[(counts * in_t**2).sum()]])
    return np.block([[in_beta, cross[:, None]], [cross[None, :], in_tie]])


def _clustered(
    design: Design, by_rater: sp.csr_array, in_d: Array, in_t: Array, free_tie: bool
) -> Array:
    """R/(R-1) Σ s_r s_rᵀ over raters."""
    n_raters = by_rater.shape[0]
    n = design.n_coef + free_tie
    # From counts to scores in one step: few of all cells are those of one rater.
    step = _by_outcome(in_d) @ _matrix(design, len(in_d))
    if free_tie:
        step = sp.hstack([step, sp.csr_array(in_t.reshape(-1, 1))], format="csr")
    meat = np.zeros((n, n))
    for start in range(0, n_raters, _RATERS):
        scores = by_rater[start : start + _RATERS] @ step
        if scores.nnz < _SPARSE * _RATERS * n:
            meat += (scores.T @ scores).toarray()
        else:
            dense = scores.toarray()
            meat += dense.T @ dense
    return meat * (n_raters / (n_raters - 1))


def _matrix(design: Design, m: int) -> sp.csr_array:
    """Give the matrix of a design with m rows, sparse where it is of items."""
    if isinstance(design, JointDesign):
        return sp.hstack([_matrix(part, m) for part in design.parts], format="csr")
    if not isinstance(design, ItemDesign):
        return sp.csr_array(design.weighted(np.ones(m)))
    rows, ones = np.arange(m), np.ones(m)
    signs = np.concatenate([ones, -ones])
    places = np.tile(rows, 2), np.concatenate([design.right, design.left])
    return sp.csr_array((signs, places), shape=(m, design.n_coef))


def _by_outcome(in_d: Array) -> sp.csr_array:
    """Give the matrix of shape (3 m, m) that sums outcomes of a cell with scores."""
    m = len(in_d)
    places = np.repeat(np.arange(m), 3), np.arange(3 * m + 1)
    return sp.csr_array((in_d.ravel(), *places), shape=(3 * m, m))


_CHUNK = 25  # resamples per random generator, whatever the number of threads
# What may be left to the solution, in standard errors; resamples scatter by about one.
_ACCURACY = 1e-3
_MAX_CHORD_STEPS = 30


def bootstrap_coefficients(
    objective_of: Callable[[Array], ComparisonObjective],
    x: Array,
    counts: Array,
    n_resamples: int,
    seed: np.random.SeedSequence,
    by_rater: sp.csr_array | None = None,
) -> Array:
    """Coefficients of randomly weighted comparisons, one row per resample."""

    def draw(rng: np.random.Generator) -> Array:
        if by_rater is None:
            return rng.standard_gamma(counts)
        weight = rng.standard_exponential(by_rater.shape[0])
        return (by_rater.T @ weight).reshape(counts.shape)

    inverse = _inverse_hessian(objective_of(counts), x)
    out = np.empty((n_resamples, len(x)))
    starts = range(0, n_resamples, _CHUNK)

    def solve(task: tuple[int, np.random.SeedSequence]) -> None:
        start, child = task
        rng = np.random.default_rng(child)
        for row in range(start, min(start + _CHUNK, n_resamples)):
            out[row] = _solve_near(objective_of(draw(rng)), x, inverse)

    in_threads(solve, zip(starts, seed.spawn(len(starts)), strict=True))
    return out


def _inverse_hessian(objective: ComparisonObjective, x: Array) -> Array | None:
    if len(x) > DENSE_LIMIT:
        return None
    objective.expand(x)
    factor = la.cho_factor(objective.hessian(), lower=True, check_finite=False)
    return la.cho_solve(factor, np.eye(len(x)), check_finite=False)


def _solve_near(
    objective: ComparisonObjective, x: Array, inverse: Array | None
) -> Array:
    """Minimize from a point that is close, with a Hessian that nearly fits."""
    if inverse is not None:
        current, before = x, np.inf
        for _ in range(_MAX_CHORD_STEPS):
            gradient = objective.gradient(current)
            step = inverse @ gradient
            length = math.sqrt(gradient @ step)
            if not length < before:  # it does not converge, or is no number
                break
            current = current - step
            # Steps shrink by a steady factor, so those to come sum to a geometric row.
            if before < np.inf and length * length <= _ACCURACY * (before - length):
                return current
            before = length
    return minimize_newton(objective, x, tol=1e-6).x


_N_DRAWS = 4000
_RANK_BLOCK = 256  # rows of the matrix of differences at a time
_SIMULATED = 300  # items; above, N² maxima of 4000 draws take too long


def rank_intervals(
    strength: Array, covariance: Array, level: float = 0.95, simultaneous: bool = False
) -> NDArray[np.int64]:
    """Best and worst rank of each item, shape (N, 2)."""
    each, together = _critical_values(covariance, level)
    return _intervals(strength, covariance, together if simultaneous else each)


def ranks_and_groups(
    strength: Array, covariance: Array, level: float = 0.95
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Intervals of ranks, each by itself, and groups, from one simulation."""
    each, together = _critical_values(covariance, level)
    ranks = _intervals(strength, covariance, each)
    return ranks, _groups(strength, covariance, together)


def _intervals(
    strength: Array, covariance: Array, critical: Array
) -> NDArray[np.int64]:
    n = len(strength)
    out = np.empty((n, 2), dtype=np.int64)
    # In blocks: matrices of all differences would be many times the covariance.
    for rows in np.array_split(np.arange(n), -(-n // _RANK_BLOCK)):
        difference = strength[rows, None] - strength[None, :]
        # The rank of an item is judged by its own critical value, that of its row.
        limit = critical[rows, None] * _errors(covariance, rows, np.arange(n))
        limit[np.arange(len(rows)), rows] = np.inf
        out[rows, 0] = 1 + (difference < -limit).sum(axis=1)
        out[rows, 1] = n - (difference > limit).sum(axis=1)
    return out


def indistinct_groups(
    strength: Array, covariance: Array, level: float = 0.95
) -> list[NDArray[np.int64]]:
    """Largest runs of neighbors, by strength, of which no two differ significantly."""
    _, together = _critical_values(covariance, level)
    return _groups(strength, covariance, together)


def _groups(
    strength: Array, covariance: Array, critical: Array
) -> list[NDArray[np.int64]]:
    order = np.argsort(-strength, kind="stable")
    groups: list[NDArray[np.int64]] = []
    start = covered = 0
    for end in range(1, len(order) + 1):
        item, run = order[end - 1], order[start : end - 1]
        limit = critical[item] * _errors(covariance, run, order[end - 1 : end])[:, 0]
        apart = np.flatnonzero(strength[run] - strength[item] > limit)
        if len(apart) == 0:
            continue
        # The run ends before this item, and the next begins behind the last from whom
        # it differs.
        if end - 1 > covered:
            groups.append(order[start : end - 1])
            covered = end - 1
        start += int(apart[-1]) + 1
    groups.append(order[start:])
    return groups


def _errors(
    covariance: Array, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Array:
    """Give standard errors of θ_i - θ_j for i in rows and j in columns."""
    if covariance.ndim == 1:
        spread = covariance[rows, None] + covariance[None, columns]
    else:
        variance = np.diag(covariance)
        spread = variance[rows, None] + variance[None, columns]
        spread = spread - 2.0 * covariance[np.ix_(rows, columns)]
    return np.sqrt(np.maximum(spread, 0.0))


def _critical_values(covariance: Array, level: float) -> tuple[Array, Array]:
    """Give critical values for each item by itself, and for all of them at once."""
    n = len(covariance)
    if n < 2:
        return np.zeros(n), np.zeros(n)
    tests = np.array([n - 1, n * (n - 1) / 2])
    bounds = norm.ppf(1.0 - (1.0 - level) / (2.0 * tests))
    if n > _SIMULATED:
        return np.full(n, bounds[0]), np.full(n, bounds[1])
    matrix = np.diag(covariance) if covariance.ndim == 1 else covariance
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # A fixed seed: the same data always give the same intervals.
    draws = np.random.default_rng(0).standard_normal((_N_DRAWS, n)) @ root.T
    largest = np.zeros((_N_DRAWS, n))
    everyone = np.arange(n)
    error = _errors(covariance, everyone, everyone)
    precision = np.divide(1.0, error, out=np.zeros((n, n)), where=error > 0.0)
    _update_largest(draws, precision, largest)
    each = np.quantile(largest, level, axis=0)
    together = np.full(n, np.quantile(largest.max(axis=1), level))
    return np.minimum(each, bounds[0]), np.minimum(together, bounds[1])


@njit(cache=True, nogil=True)
def _update_largest(draws, precision, largest):  # type: ignore[no-untyped-def]
    """Update largest[b, j] to max_i |draws[b, i] - draws[b, j]| precision[i, j]."""
    n = draws.shape[1]
    for b in range(len(draws)):
        for i in range(n):
            # Over all j, though z is symmetric: without jumps the compiler takes
            # several at a time.
            for j in range(n):
                z = abs(draws[b, i] - draws[b, j]) * precision[i, j]
                largest[b, j] = z if z > largest[b, j] else largest[b, j]


LARGEST_COVARIANCE = 10_000  # items; the matrix then takes 800 MB


class StrengthModel(UtilityMixin, ClassifierMixin, BaseEstimator):
    """What BradleyTerry and PlackettLuce share: a penalty, and uncertain strengths."""

    items_: NDArray[Any]
    strength_: Array
    alpha: float

    def _coefficient_covariance(self, kind: str | None) -> Array:
        """Covariance matrix of all coefficients, strengths first."""
        raise NotImplementedError

    @property
    def coef_(self) -> Array:  # type: ignore[override]
        """The strengths, under the name that all models without features have."""
        return self.strength_

    def _check_parameters(self) -> None:
        good = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not good or not np.isfinite(self.alpha) or self.alpha < 0:
            raise ValueError(
                f"{type(self).__name__} got alpha={self.alpha!r}; expected a finite "
                "number, 0 or more."
            )
        check_positive(self, "tol", "max_iter")

    def _refuse_too_many(self) -> None:
        if len(self.items_) > LARGEST_COVARIANCE:
            raise ValueError(
                f"The covariance of {len(self.items_)} items would need a matrix of "
                f"{8e-9 * len(self.items_) ** 2:.0f} GB; the limit is "
                f"{LARGEST_COVARIANCE} items. Fit on items with more comparisons."
            )

    def covariance(self, kind: str | None = None, reference: Any = None) -> Array:
        """Covariance matrix of the strengths.

        Parameters
        ----------
        kind : {"sandwich", "cluster", "model"}, optional
            ``"model"``: inverse Hessian. ``"sandwich"``: right also where the model
            is not quite. ``"cluster"``: right also when the votes of one rater depend
            on each other; needs `rater` in `fit`. None: ``"cluster"`` if there are
            raters, else ``"sandwich"``.
        reference : item name, optional
            Strengths are measured from it; None: from the mean of all items.

        Returns
        -------
        ndarray of shape (N, N)
            With alpha > 0 around the penalized strengths, without their bias.
        """
        full = self._coefficient_covariance(kind)
        n = len(self.items_)
        theta = full[:n, :n]
        if reference is None:
            mean = theta.mean(axis=0)
            return theta - mean[:, None] - mean[None, :] + mean.mean()
        row = theta[self._place(reference)]
        return theta - row[:, None] - row[None, :] + row[self._place(reference)]

    def _place(self, name: Any) -> int:
        """Give the number of an item."""
        found = np.flatnonzero(self.items_ == name)
        if len(found) != 1:
            raise ValueError(
                f"{name!r} is not among the items of the model; items_ lists them."
            )
        return int(found[0])

    def standard_errors(self, kind: str | None = None, reference: Any = None) -> Array:
        """Standard errors of the strengths.

        Parameters
        ----------
        kind, reference : optional
            As in `covariance`.

        Returns
        -------
        ndarray of shape (N,)
        """
        # The variance of the reference itself is zero, up to rounding.
        variance = np.diag(self.covariance(kind, reference))
        return np.sqrt(np.maximum(variance, 0.0))

    def intervals(
        self, level: float = 0.95, kind: str | None = None, reference: Any = None
    ) -> Array:
        """Confidence intervals of the strengths, each by itself.

        Parameters
        ----------
        level, kind, reference : optional
            Confidence; as in `covariance`, strengths relative to the reference too.

        Returns
        -------
        ndarray of shape (N, 2)
        """
        check_level(level)
        error = self.standard_errors(kind, reference)
        center = self.strength_
        if reference is not None:
            center = center - center[self._place(reference)]
        half = norm.ppf(0.5 + 0.5 * level) * error
        return np.stack([center - half, center + half], axis=1)

    def rank_intervals(
        self, level: float = 0.95, kind: str | None = None, simultaneous: bool = False
    ) -> NDArray[np.int64]:
        """Confidence intervals of the items' ranks, 1 the best.

        Parameters
        ----------
        level, kind, simultaneous : optional
            Confidence; as in `covariance`; whether all intervals hold at once.

        Returns
        -------
        ndarray of int64 of shape (N, 2)
            Best and worst rank of each item that the data allow.
        """
        check_level(level)
        covariance = self.covariance(kind)
        return rank_intervals(self.strength_, covariance, level, simultaneous)

    def indistinct_groups(
        self, level: float = 0.95, kind: str | None = None
    ) -> list[NDArray[Any]]:
        """Groups of items that the data cannot tell apart.

        Parameters
        ----------
        level, kind : optional
            Confidence that all the differences seen are real; as in `covariance`.

        Returns
        -------
        list of ndarray of names
            Largest runs of neighbors by strength, best first; they may overlap.
        """
        check_level(level)
        groups = indistinct_groups(self.strength_, self.covariance(kind), level)
        return [self.items_[group] for group in groups]


def check_level(level: float) -> None:
    """Refuse a confidence that is not strictly between 0 and 1."""
    if not isinstance(level, Real) or isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(
            f"level must be a number between 0 and 1, such as 0.95; got {level!r}."
        )
