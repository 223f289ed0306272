# SPDX-License-Identifier: BSD-3-Clause
"""How certain the coefficients of a comparison model are.

H is the Hessian of the objective at its minimum, I that of the log-likelihood alone,
and M = Σ n s sᵀ, a sum over comparisons with s the gradient of the loss of one; weights
are counts. With raters, g_c the sum of s over the comparisons of rater c, I_c the
information that these hold, and H = LLᵀ, M is that of Bell and McCaffrey (2002), ::

    M = Σ_c g̃_c g̃_cᵀ,    g̃_c = L (Id - B_c)^(-1/2) L⁻¹ g_c,    B_c = L⁻¹ I_c L⁻ᵀ.

The strengths follow a rater who gives many votes, and g_c alone is then too small.
Directions of which one rater knows all (eigenvalues of B_c near 1) keep I_c, and
coefficients that one rater judged have infinitely many degrees of freedom.

* Without a penalty H = I, and the covariance is the sandwich H⁻¹ M H⁻¹.
* With a penalty it is that of the posterior and what M has in excess of I, ::

    H⁻¹ + H⁻¹ (M - I)₊ H⁻¹,

  with (·)₊ the positive part in the metric of H. By the sandwich alone an item with
  nothing but expected results would seem to be known exactly.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from tiebreak.data.arrays import Floats
from tiebreak.data.columns import row_slices
from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.losses.comparison_likelihood import ComparisonObjective, Design

LARGEST_COVARIANCE = 10_000  # coefficients; the matrix then takes 800 MB
_LARGEST_EIGEN = 1000
_SPARSE = 0.1
_BLOCK = 256
_ROWS = 4096  # of raters, or of outcomes of cells, at a time
# Leverage, the largest eigenvalue of B_c: below, g̃ is g; above, degrees of freedom are
# counted; and above, one rater knows all.
_SMALL, _LARGE, _ALONE = 0.01, 0.05, 0.99
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


@one_blas_thread()  # see data.threads: more only wait
def inverse_hessian(objective: Any, x: Floats) -> Floats:
    """Covariance matrix of all coefficients by the model, the tie parameter last."""
    objective.expand(x)
    return invert_factor(cholesky(objective.hessian()))


def sandwich(inverse: Floats, meat: Floats) -> Floats:
    """H⁻¹ M H⁻¹."""
    if np.count_nonzero(meat) < _SPARSE * meat.size:
        # So it is with many items, of which few have met each other.
        meat = sp.csr_array(meat)
    return _symmetric(inverse, meat @ inverse)


def score_covariance(objective: ComparisonObjective, x: Floats) -> Floats:
    """M: the summed squares of the scores of comparisons."""
    beta, t = objective.split(x)
    scores = objective.link.scores(objective.design.apply(beta), t)
    free_tie = objective.tie is None
    return _independent(objective.design, objective.counts, *scores, free_tie)


@one_blas_thread()
def covariance_by(
    clusters: list[sp.csr_array],
    objective: ComparisonObjective,
    x: Floats,
    inverse: Floats,
) -> tuple[Floats, Any]:
    """M by comparisons, by one set of clusters, or by two, and degrees of freedom.

    Two are followed by their intersections: M = M₁ + M₂ - M₁₂, its negative part in the
    metric of H left out (Cameron, Gelbach and Miller, 2011).
    """
    if not clusters:
        return score_covariance(objective, x), np.inf
    parts = [cluster_covariance(objective, x, part, inverse) for part in clusters]
    if len(parts) == 1:
        return parts[0]
    (one, df_one), (two, df_two), (both, _) = parts
    factor = cholesky(inverse)
    values, vectors = la.eigh(factor.T @ (one + two - both) @ factor)
    root = vectors * np.sqrt(values.clip(0.0))
    root = la.solve_triangular(factor, root, lower=True, trans=1)
    return root @ root.T, np.minimum(df_one, df_two)


def cluster_covariance(
    objective: ComparisonObjective, x: Floats, counts: sp.csr_array, inverse: Floats
) -> tuple[Floats, Floats]:
    """M by raters, and its degrees of freedom for every coefficient, (n,).

    `counts` (R, 3 m) are those of the cells by rater; `inverse` is H⁻¹.
    """
    beta, t = objective.split(x)
    d, (n_raters, n) = objective.design.apply(beta), (counts.shape[0], len(inverse))
    in_d, in_t = objective.link.scores(d, t)
    # From counts to scores in one step: few of all cells are those of one rater.
    step = _by_outcome(in_d) @ objective.design.matrix()
    if objective.tie is None:
        step = sp.hstack([step, sp.csr_array(in_t.reshape(-1, 1))], format="csr")
    votes = sp.csr_array(
        (counts.data, counts.indices // 3, counts.indptr), (n_raters, len(d))
    )
    share = _by_outcome(objective.link.probabilities(d, t)).T.tocsr()
    # The largest eigenvalue of B_c is no larger than its trace; of an even spectrum it
    # is much less, unless a rater knows much of one coefficient.
    size = np.concatenate(
        [
            step[rows].multiply(step[rows] @ inverse).sum(axis=1)
            for rows in row_slices(step.shape[0], _ROWS)
        ]
    )
    spread, squares = np.diag(inverse) - inverse.mean(axis=1), step.multiply(step)
    meat, total, most = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    near = np.zeros(n_raters)
    for rows in row_slices(n_raters, _ROWS):  # raters, of whom there may be many
        scores, expected = counts[rows] @ step, votes[rows] @ share
        if scores.nnz < _SPARSE * _ROWS * n:
            meat += (scores.T @ scores).toarray()
        else:
            dense = scores.toarray()
            meat += dense.T @ dense
        even = expected @ size / np.sqrt(np.minimum(np.diff(counts[rows].indptr), n))
        own = sp.csc_array(expected @ squares)  # information of coefficients
        near[rows] = np.maximum(even, own.multiply(spread).max(axis=1).toarray())
        total += own.sum(axis=0)
        most = np.maximum(most, own.max(axis=0).toarray())
    largest = 0.0
    for rater in np.flatnonzero(near > _SMALL).tolist():
        expected = votes[[rater]] @ share
        voted = step[expected.indices], expected.data
        leverage = _replace_square(counts[[rater]] @ step, *voted, inverse, meat)
        largest = max(largest, leverage)
    if largest < _LARGE:
        return meat, np.full(n, n_raters - 1.0)
    alone = most > _ALONE * total
    return meat, np.where(alone, np.inf, _freedom(votes @ share, step, inverse))


def _replace_square(
    score: sp.csr_array,
    step: sp.csr_array,
    weight: Floats,
    inverse: Floats,
    meat: Floats,
) -> float:
    """Replace g gᵀ of a rater by g̃ g̃ᵀ in M; returns the largest eigenvalue of B.

    In the coefficients that the rater's votes touch, of which H⁻¹ is K Kᵀ, Kᵀ I K has
    the eigenvalues of B.
    """
    used = np.unique(step.indices)
    rows, place, g = step[:, used], np.ix_(used, used), score.toarray()[0]
    root = cholesky(inverse[place])
    information = (rows.T @ rows.multiply(weight[:, None])).toarray()
    values, vectors = la.eigh(root.T @ information @ root)
    alone = values > _ALONE
    scale = np.where(alone, 0.0, 1.0 / np.sqrt(1.0 - np.where(alone, 0.0, values)))
    turned = scale * (vectors.T @ (root.T @ g[used]))
    both = np.column_stack([turned, np.diag(np.sqrt(values.clip(0.0)))[:, alone]])
    new = la.solve_triangular(root, vectors @ both, lower=True, trans=1)
    meat[place] += new @ new.T - np.outer(g[used], g[used])
    return float(values[-1])


def _freedom(expected: sp.csr_array, step: sp.csr_array, inverse: Floats) -> Floats:
    """Satterthwaite's degrees of freedom of the diagonal of H⁻¹ M H⁻¹.

    With b_c the share of rater c in the information about a coefficient, squares of
    its g̃ have variances and covariances as if B_c were b_c Id.
    """
    share = np.zeros((expected.shape[0], len(inverse)))
    for rows in row_slices(step.shape[0], _ROWS):
        share += expected[:, rows] @ (step[rows] @ inverse) ** 2
    share /= share.sum(axis=0)
    share = np.minimum(share, _ALONE)
    moved = share**2 / (1.0 - share)
    spread = (share**2 - moved**2).sum(axis=0) + moved.sum(axis=0) ** 2
    return 1.0 / spread


@one_blas_thread()
def excess_covariance(hessian: Floats, penalty: Floats, meat: Floats) -> Floats:
    """H⁻¹ (M - I)₊ H⁻¹, with I = H - diag(penalty)."""
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
    inverse = inverse_hessian(objective, x)
    meat = score_covariance(objective, x)
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
