# SPDX-License-Identifier: BSD-3-Clause
r"""Penalized sums of kinked terms as linear programs, and bounds from multipliers.

.. math:: \min_x\; \sum_{j<k} p_j |x_j| + R(x) \quad\text{with}\quad G x ≥ 0,

where only the first k of the q variables are penalized, and R is convex, not negative
and piecewise linear. Parts of R are written down as rows with slacks s ≥ 0,

    R(x) ≥ a·x + b + min { cost·s : S s + D x ≥ offset, s ≥ 0 }   for all x.

Multipliers λ ≥ 0 of the rows with Sᵀλ ≤ cost make one plane of them, and a plane
R(x) ≥ a·x + b with |a_j| ≤ p_j and no slope along the other variables proves that the
minimum is at least b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function a·x + b that is nowhere above R.

    Attributes
    ----------
    a : ndarray of shape (q,)
        Slope.
    b : float
        Value at zero.
    """

    a: Floats
    b: float


@dataclass(frozen=True, eq=False)
class SlackRows:
    """Part of R as rows with slacks, the rest as a plane.

    Attributes
    ----------
    D : csr_array of shape (m, q)
        Rows over x.
    S : csr_array of shape (m, n_slacks)
        Rows over the slacks; not negative.
    offset : ndarray of shape (m,)
        Right sides.
    cost : ndarray of shape (n_slacks,)
        Costs of the slacks, above 0.
    rest : Plane or None
        What is not in the rows. None: the rows are all of R.
    """

    D: Any
    S: Any
    offset: Floats
    cost: Floats
    rest: Plane | None = None

    def admit(self, multiplier: Floats, share: float = 1.0) -> Floats:
        """Make multipliers admissible: λ ≥ 0 and Sᵀλ ≤ share · cost.

        Parameters
        ----------
        multiplier : ndarray of shape (m,)
            As a solver gives them, right but for rounding.
        share : float, default=1.0
            Multiplier of the whole part.

        Returns
        -------
        ndarray of shape (m,)
        """
        kept = np.maximum(multiplier, 0.0)
        used = self.S.T @ kept
        allowed = share * self.cost
        over = used > allowed
        if over.any():
            factor = np.ones(len(used))
            factor[over] = allowed[over] / used[over]
            # A row with several slacks obeys the tightest of them.
            rows = sp.csr_array(self.S)
            smallest = np.minimum.reduceat(factor[rows.indices], rows.indptr[:-1])
            kept *= smallest
        return kept

    def plane(self, multiplier: Floats, share: float = 1.0) -> Plane:
        """Combine rows and rest to one plane below share · R.

        Parameters
        ----------
        multiplier : ndarray of shape (m,)
            Admissible multipliers.
        share : float, default=1.0
            Multiplier of the rest.

        Returns
        -------
        Plane
        """
        a, b = -(self.D.T @ multiplier), float(multiplier @ self.offset)
        if self.rest is not None:
            a, b = a + share * self.rest.a, b + share * self.rest.b
        return Plane(np.asarray(a), b)


def lower_bound(
    plane: Plane, penalty: Floats, G: Any, order: Floats, reach: float
) -> tuple[float, Plane]:
    """Give what a plane below R proves of the minimum.

    Parameters
    ----------
    plane : Plane
        Below R.
    penalty : ndarray of shape (k,)
        p.
    G : csr_array of shape (r, q)
        Rows G x ≥ 0.
    order : ndarray of shape (r,)
        Their multipliers.
    reach : float
        At a minimum no variable without a penalty is larger in size.

    Returns
    -------
    bound : float
        Not below 0.
    plane : Plane
        The share of the plane whose slope the penalty outweighs.
    """
    k = len(penalty)
    a = plane.a - G.T @ np.maximum(order, 0.0)
    steepest = np.abs(a[:k])
    scale = 1.0
    over = (steepest > penalty) & (penalty > 0.0)
    if over.any():
        # A smaller share of the plane is a plane below R too.
        scale = float(np.min(penalty[over] / steepest[over]))
    without = np.append(steepest[penalty == 0.0], np.abs(a[k:]))
    b = plane.b - reach * float(without.sum())
    return max(0.0, scale * b), Plane(scale * a, scale * b)
