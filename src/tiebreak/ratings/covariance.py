# SPDX-License-Identifier: BSD-3-Clause
r"""How uncertain maximum-likelihood coefficients are.

With H the Hessian of the objective at its minimum and s the gradient of one
comparison's loss there:

* ``"model"``: H⁻¹, right when the model is.
* ``"sandwich"``: H⁻¹ (Σ n s sᵀ) H⁻¹, a sum over comparisons, right also when
  probabilities are not quite those of the model, as long as comparisons are
  independent. Weights are counts: weight 2 is two comparisons.
* ``"cluster"``: H⁻¹ (R/(R-1) Σ_r s_r s_rᵀ) H⁻¹ with s_r the sum over the comparisons
  of rater r: right also when the votes of one rater depend on each other.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.losses import ComparisonObjective, Design, ItemDesign, JointDesign

__all__ = ["KINDS", "coefficient_covariance"]

KINDS = ("model", "sandwich", "cluster")

_SPARSE = 0.1
_BLOCK = 256
_RATERS = 4096  # at a time

Matrix = NDArray[np.float64]


def coefficient_covariance(
    objective: ComparisonObjective,
    x: Matrix,
    kind: str,
    by_rater: sp.csr_array | None = None,
) -> Matrix:
    """Covariance matrix of all coefficients, the tie parameter (if free) last.

    Parameters
    ----------
    objective : ComparisonObjective
        The objective that was minimized.
    x : ndarray of shape (n_variables,)
        Its minimum.
    kind : {"model", "sandwich", "cluster"}
        See the module.
    by_rater : csr_array of shape (n_raters, 3 m), optional
        Counts of every rater, for ``"cluster"``.

    Returns
    -------
    ndarray of shape (n_variables, n_variables)
    """
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


def _inverse(factor: Matrix) -> Matrix:
    """Invert a matrix from its Cholesky factor, zero above the diagonal."""
    half, _ = la.lapack.dpotri(factor, lower=1, overwrite_c=1)
    half += np.tril(half, -1).T
    return half


def _symmetric(a: Matrix, b: Matrix) -> Matrix:
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
    design: Design, counts: Matrix, in_d: Matrix, in_t: Matrix, free_tie: bool
) -> Matrix:
    """Σ n s sᵀ over cells and outcomes; it has the structure of the Hessian."""
    in_beta = design.gram((counts * in_d**2).sum(axis=1))
    if not free_tie:
        return in_beta
    cross = design.back((counts * in_d * in_t).sum(axis=1))
    corner = np.array([[(counts * in_t**2).sum()]])
    return np.block([[in_beta, cross[:, None]], [cross[None, :], corner]])


def _clustered(
    design: Design, by_rater: sp.csr_array, in_d: Matrix, in_t: Matrix, free_tie: bool
) -> Matrix:
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


def _by_outcome(in_d: Matrix) -> sp.csr_array:
    """Give the matrix of shape (3 m, m) that sums outcomes of a cell with scores."""
    m = len(in_d)
    columns = np.repeat(np.arange(m), 3)
    return sp.csr_array((in_d.ravel(), columns, np.arange(3 * m + 1)), shape=(3 * m, m))
