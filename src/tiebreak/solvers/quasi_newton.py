# SPDX-License-Identifier: BSD-3-Clause
r"""Second-order directions for ½‖x‖² + C R(Ax) from first-order answers.

A sum of many kinked terms bends like a smooth function where the kinks are dense. Its
Hessian is taken to be I + C τ V, with V the covariance of the rows of A, as if
all utilities mattered alike, and τ fitted to the last step; the differences of
gradients seen on the way correct that, as in limited-memory BFGS (Nocedal 1980). They
are kept for R alone, so that they serve every C.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MEMORY = 30
# A covariance of more columns than this is known by the span of some rows only.
_MANY_COLUMNS = 500
_FEW_ROWS = 500
_SAMPLE = 2000
# Entries of the sampled rows and of the basis that they span.
_MAX_ENTRIES = 4_000_000


class CurvatureMemory:
    """The curvature of R(Ax), as far as steps have shown it.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, q)
        The design.
    scale : float
        A first guess of τ.
    """

    def __init__(self, A: Any, scale: float) -> None:
        self._spread, self._basis = row_covariance(A)
        self._scale = scale
        self._pairs: deque[tuple[Floats, Floats]] = deque(maxlen=_MEMORY)

    def remember(self, step: Floats, change: Floats) -> None:
        """Note how the gradient of R(Ax) changed over a step.

        Parameters
        ----------
        step, change : ndarray of shape (q,)
        """
        bend = float(step @ change)
        if not bend > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        self._pairs.append((step, change))
        spread = float(self._spread @ (self._basis @ step) ** 2)
        if 0.0 < bend < np.inf and 0.0 < spread < np.inf:
            self._scale = bend / spread

    def direction(self, gradient: Floats, C: float) -> Floats:
        """Give the direction of descent for a gradient of the whole objective.

        Parameters
        ----------
        gradient : ndarray of shape (q,)
        C : float
            Factor of R.

        Returns
        -------
        ndarray of shape (q,)
        """
        v, parts = gradient.copy(), []
        for step, change in reversed(self._pairs):
            whole = step + C * change
            bend = float(step @ whole)
            part = float(step @ v) / bend
            v -= part * whole
            parts.append((step, whole, bend, part))
        v = self._unbend(v, C * self._scale)
        for step, whole, bend, part in reversed(parts):
            v += (part - float(whole @ v) / bend) * step
        return -v

    def _unbend(self, v: Floats, factor: float) -> Floats:
        """Give (I + factor V)⁻¹ v.

        Inside the span of the basis and outside of it separately: what is left of a
        difference of the two would be rounding where V is large.
        """
        inside = self._basis @ v
        bent = (inside / (1.0 + factor * self._spread)) @ self._basis
        if len(self._basis) == len(v):
            return bent
        outside = v - inside @ self._basis
        if np.linalg.norm(outside) <= 1e-12 * np.linalg.norm(v):
            return bent
        return bent + outside


def row_covariance(A: Any) -> tuple[Floats, Floats]:
    """Estimate the covariance of the rows of a matrix from some of them.

    Parameters
    ----------
    A : ndarray or csr_array of shape (n, q)

    Returns
    -------
    spread : ndarray of shape (r,)
        Its largest eigenvalues, ascending; r ≤ 500.
    basis : ndarray of shape (r, q)
        Their eigenvectors, one per row.
    """
    n, q = A.shape
    wide = q > _MANY_COLUMNS
    size = max(2, min(_FEW_ROWS, _MAX_ENTRIES // q)) if wide else max(_SAMPLE, 8 * q)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, size), replace=False))
    sample = A[rows].toarray() if sp.issparse(A) else A[rows]
    sample = (sample - sample.mean(axis=0)) / np.sqrt(len(rows))
    small = sample @ sample.T if len(rows) < q else sample.T @ sample
    spread, vectors = la.eigh(small, overwrite_a=True, check_finite=False)
    kept = spread > max(1e-14 * float(spread[-1]), 1e-200)
    spread, basis = spread[kept], vectors[:, kept].T
    if len(rows) < q:
        basis = (basis @ sample) / np.sqrt(spread)[:, None]
    return spread, np.ascontiguousarray(basis)
