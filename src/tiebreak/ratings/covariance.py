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

from tiebreak.losses import ComparisonObjective, Design

__all__ = ["KINDS", "coefficient_covariance"]

KINDS = ("model", "sandwich", "cluster")

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
    factor = la.cho_factor(objective.hessian(), lower=True, check_finite=False)
    if kind == "model":
        return la.cho_solve(factor, np.eye(len(x)), check_finite=False)
    beta, t = objective.split(x)
    scores = objective.link.scores(objective.design.apply(beta), t)
    free_tie = objective.tie is None
    if kind == "sandwich":
        meat = _independent(objective.design, objective.counts, *scores, free_tie)
    else:
        assert by_rater is not None
        meat = _clustered(objective.design, by_rater, *scores, free_tie)
    half = la.cho_solve(factor, meat, check_finite=False)
    return la.cho_solve(factor, half.T, check_finite=False)


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
    # Sum the scores of a rater by cell first: few of all cells are theirs.
    cells = by_rater @ _by_outcome(in_d)
    scores = np.stack(
        [design.back(cells[[r]].toarray().ravel()) for r in range(n_raters)]
    )
    if free_tie:
        scores = np.column_stack([scores, by_rater @ in_t.ravel()])
    return scores.T @ scores * (n_raters / (n_raters - 1))


def _by_outcome(in_d: Matrix) -> sp.csr_array:
    """Give the matrix of shape (3 m, m) that sums outcomes of a cell with scores."""
    m = len(in_d)
    columns = np.repeat(np.arange(m), 3)
    return sp.csr_array((in_d.ravel(), columns, np.arange(3 * m + 1)), shape=(3 * m, m))
