# SPDX-License-Identifier: BSD-3-Clause
"""How certain the coefficients of a comparison model are.

H is the Hessian of the objective at its minimum, I that of the log-likelihood alone,
and M = Σ n s sᵀ, a sum over comparisons with s the gradient of the loss of one; weights
are counts. With R raters and s_r the sum over the comparisons of rater r, M is ::

    R/(R-1) Σ_r s_r s_rᵀ.

* Without a penalty H = I, and the covariance is the sandwich H⁻¹ M H⁻¹, right also when
  probabilities are not quite those of the model, or (with raters) when votes of one
  rater depend on each other.
* With a penalty it is that of the posterior and what M has in excess of I, ::

    H⁻¹ + H⁻¹ (M - I)₊ H⁻¹,

  with (·)₊ the positive part in the metric of H. By the sandwich alone an item with
  nothing but expected results would seem to be known exactly.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.losses.comparison_likelihood import ComparisonObjective, Design

LARGEST_COVARIANCE = 10_000  # coefficients; the matrix then takes 800 MB
_LARGEST_EIGEN = 1000
_SPARSE = 0.1
_BLOCK = 256
_RATERS = 4096  # at a time
# More coefficients get a sparse factor where items met few others each.
_LARGEST_FULL, _FEW_MET = 1500, 16


def cholesky(hessian: Floats) -> Floats:
    """Give the lower factor, or refuse a matrix that rounding left none."""
    try:
        if np.isfinite(hessian).all():
            return la.cholesky(hessian, lower=True, check_finite=False)
    except la.LinAlgError:
        pass
    raise ValueError(
        "Weights or covariates differ too much in size to say how certain the "
        "strengths are. Divide the weights by their mean, and scale the covariates."
    )


class HessianFactor:
    """A factor of the Hessian at the point that the objective expanded last."""

    def __init__(self, objective: Any) -> None:
        self.sparse = _few_met(objective) and objective.n_variables > _LARGEST_FULL
        if not self.sparse:
            with one_blas_thread():
                self._full = cholesky(objective.hessian())
            return
        local, rows = objective.local, objective.design.matrix()
        matrix = rows.T @ rows.multiply(local.curvature[:, None])
        matrix = matrix + sp.diags_array(2.0 * objective.alpha)
        if objective.tie is None:
            cross = sp.csr_array(objective.design.back(local.cross)[:, None])
            corner = sp.csr_array([[local.tie_curvature]])
            matrix = sp.block_array([[matrix, cross], [cross.T, corner]])
        self._parts = sla.splu(
            sp.csc_array(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def solve(self, right_side: Floats) -> Floats:
        """Solve with the Hessian."""
        if self.sparse:
            return self._parts.solve(right_side)
        return la.cho_solve((self._full, True), right_side, check_finite=False)

    @cached_property
    def log_determinant(self) -> float:
        """Give ln|H|."""
        if self.sparse:
            return float(np.log(np.abs(self._parts.U.diagonal())).sum())
        return 2.0 * float(np.log(np.diag(self._full)).sum())


def _few_met(objective: Any) -> bool:
    known = isinstance(objective, ComparisonObjective) and objective.free is None
    return known and len(objective.counts) <= _FEW_MET * objective.n_coef


def factor_fits(objective: Any) -> bool:
    """Whether a factor takes bounded memory: it is small, or most is zero."""
    return objective.n_variables <= LARGEST_COVARIANCE or _few_met(objective)


def coefficient_covariance(
    objective: Any, x: Floats, kind: str, by_rater: sp.csr_array | None = None
) -> Floats:
    """Covariance matrix of all coefficients, the tie parameter (if free) last."""
    objective.expand(x)
    with one_blas_thread():  # see data.threads: more only wait
        inverse = invert_factor(cholesky(objective.hessian()))
    if kind == "model":
        return inverse
    meat = score_covariance(objective, x, by_rater if kind == "cluster" else None)
    if np.count_nonzero(meat) < _SPARSE * meat.size:
        # So it is with many items, of which few have met each other.
        meat = sp.csr_array(meat)
    return _symmetric(inverse, meat @ inverse)


def score_covariance(
    objective: ComparisonObjective, x: Floats, by_rater: sp.csr_array | None
) -> Floats:
    """M: the summed squares of the scores of comparisons, or of raters."""
    beta, t = objective.split(x)
    scores = objective.link.scores(objective.design.apply(beta), t)
    free_tie = objective.tie is None
    if by_rater is None:
        return _independent(objective.design, objective.counts, *scores, free_tie)
    return _clustered(objective.design, by_rater, *scores, free_tie)


def excess_covariance(hessian: Floats, penalty: Floats, meat: Floats) -> Floats:
    """H⁻¹ (M - I)₊ H⁻¹, with I = H - diag(penalty)."""
    with one_blas_thread():
        factor = cholesky(hessian)
        surplus = meat - hessian
        surplus[np.diag_indices_from(surplus)] += penalty
        if len(hessian) > _LARGEST_EIGEN:
            # One factor for all directions instead: the mean excess, if there is one.
            inverse = invert_factor(factor)
            information = meat - surplus
            ratio = np.vdot(inverse, surplus) / np.vdot(inverse, information)
            return max(float(ratio), 0.0) * _symmetric(inverse, information @ inverse)
        half = la.solve_triangular(factor, surplus, lower=True)
        whole = la.solve_triangular(factor, half.T, lower=True)
        values, vectors = la.eigh(0.5 * (whole + whole.T))
        kept = values > 0.0
        root = vectors[:, kept] * np.sqrt(values[kept])
        root = la.solve_triangular(factor, root, lower=True, trans=1)
        return root @ root.T


def posterior_covariance(objective: ComparisonObjective, x: Floats) -> Floats:
    """H⁻¹ + H⁻¹ (M - I)₊ H⁻¹ at the minimum x."""
    inverse = coefficient_covariance(objective, x, "model")
    meat = score_covariance(objective, x, None)
    return inverse + excess_covariance(objective.hessian(), objective.penalty, meat)


def invert_factor(factor: Floats) -> Floats:
    """Invert a matrix from its Cholesky factor, zero above the diagonal."""
    half, _ = la.lapack.dpotri(factor, lower=1, overwrite_c=1)
    half += np.tril(half, -1).T
    return half


def _symmetric(a: Floats, b: Floats) -> Floats:
    """Multiply two matrices whose product is symmetric."""
    n = len(a)
    out = np.empty((n, n))

    def fill(start: int) -> None:
        rows = slice(start, start + _BLOCK)
        out[rows, : start + _BLOCK] = a[rows] @ b[:, : start + _BLOCK]
        out[:start, rows] = out[rows, :start].T

    in_threads(fill, range(0, n, _BLOCK)[::-1])  # the longest first
    return out


def _independent(
    design: Design, counts: Floats, in_d: Floats, in_t: Floats, free_tie: bool
) -> Floats:
    """Σ n s sᵀ over cells and outcomes, of the structure of the Hessian."""
    in_beta = design.gram((counts * in_d**2).sum(axis=1))
    if not free_tie:
        return in_beta
    cross = design.back((counts * in_d * in_t).sum(axis=1))
    in_tie = np.array([[(counts * in_t**2).sum()]])
    return np.block([[in_beta, cross[:, None]], [cross[None, :], in_tie]])


def _clustered(
    design: Design, by_rater: sp.csr_array, in_d: Floats, in_t: Floats, free_tie: bool
) -> Floats:
    """R/(R-1) Σ s_r s_rᵀ over raters."""
    n_raters = by_rater.shape[0]
    n = design.n_coef + free_tie
    # From counts to scores in one step: few of all cells are those of one rater.
    step = _by_outcome(in_d) @ design.matrix()
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


def vote_scores(
    rows: sp.csr_array, scores: tuple[Floats, Floats], outcome: Any, has_tie: bool
) -> sp.csr_array:
    """Gradients of -ln p of single votes in (β, t); `rows` (n, q) are their design."""
    at = np.arange(rows.shape[0]), np.asarray(outcome, dtype=np.int64) + 1
    out = sp.diags_array(scores[0][at]) @ rows
    if not has_tie:
        return out
    return sp.hstack([out, sp.csr_array(scores[1][at][:, None])], format="csr")


def _by_outcome(in_d: Floats) -> sp.csr_array:
    """Matrix of shape (3 m, m) that sums the outcomes of a cell."""
    m = len(in_d)
    places = np.repeat(np.arange(m), 3), np.arange(3 * m + 1)
    return sp.csr_array((in_d.ravel(), *places), shape=(3 * m, m))
