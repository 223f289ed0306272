# SPDX-License-Identifier: BSD-3-Clause
"""What the bundle of linear programs needs, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tiebreak.solvers.slack_rows import Plane, SlackRows

Floats = NDArray[np.float64]


class PiecewiseRisk(Protocol):
    """What the solver needs of R. Entries of its design are at most 1 in size."""

    @property
    def n_variables(self) -> int:
        """Number of variables q."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows that all terms make."""
        ...

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give R and a subgradient at x."""
        ...

    def rows_near(self, x: Floats, max_rows: int) -> SlackRows:
        """Write down the terms whose kinks are closest to x, about so many."""
        ...


@dataclass(frozen=True, eq=False)
class LPBundleSolution:
    """Where the solver stopped.

    Attributes
    ----------
    x : ndarray of shape (q,)
        The best point, a vertex of the last model if converged.
    value : float
        Objective there.
    risk : float
        R there.
    lower_bound : float
        What no point can be below.
    gap : float
        (value - lower_bound) / value.
    n_iter : int
        Models that were solved.
    n_rows : int
        Rows of the last linear program.
    converged : bool
        Whether the gap is within the tolerance.
    status : str
        ``"optimal"``, ``"time limit"`` or ``"iterations"``.
    plane : Plane
        The plane that proves the bound: nowhere above R, and its slope is nowhere
        above the penalty.
    """

    x: Floats
    value: float
    risk: float
    lower_bound: float
    gap: float
    n_iter: int
    n_rows: int
    converged: bool
    status: str
    plane: Plane
