# SPDX-License-Identifier: BSD-3-Clause
"""The concave box program of machines with one direction and at most one balance.

    maximize    yᵀs - ½ sᵀ K̂ s
    subject to  lower ≤ s ≤ upper,  and  Σ s = 0  when the problem is balanced,

with ``K̂[i, j] = sign[i] sign[j] K[row[i], row[j]]``, so that several variables may
share one row of ``K``. So ``c = Σᵢ signᵢ sᵢ`` is collected per row, ``f = K c``, and
``eᵢ = yᵢ - signᵢ f[rowᵢ]`` is the gradient. Primal, gap and β are those of
:mod:`tiebreak.solvers.dual_program`, with all variables in one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.kernels import MatrixRows


@dataclass(frozen=True)
class BoxQP:
    """Data of the program, all arrays of shape (m,).

    Parameters
    ----------
    linear : ndarray
        The vector y of the objective.
    lower, upper : ndarray
        Finite bounds with ``lower ≤ 0 ≤ upper``.
    row : ndarray of int
        Row of ``K`` that each variable uses.
    sign : ndarray
        +1 or -1 per variable.
    balanced : bool
        Whether ``Σ s = 0`` is a constraint.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    sign: np.ndarray
    balanced: bool

    def __post_init__(self) -> None:
        """Refuse bounds that exclude the starting point s = 0."""
        if (self.lower > 0).any() or (self.upper < 0).any():
            raise ValueError("a box program needs lower <= 0 <= upper")

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.linear)

    @property
    def n_directions(self) -> int:
        """Number of directions: one."""
        return 1

    @cached_property
    def block(self) -> np.ndarray:
        """Block of each variable: all are in one."""
        return np.zeros(self.size, dtype=np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the only block begins and ends."""
        return np.array([0, self.size])

    @property
    def loads(self) -> np.ndarray:
        """How much each variable takes of the direction: its sign."""
        return self.sign

    def diagonal(self, of_rows: np.ndarray) -> np.ndarray:
        """Diagonal of ``K̂``, given that of K."""
        return of_rows[self.row]

    def collect(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """``c``: the signed variables added up per row, shape (1, n_rows)."""
        return np.bincount(self.row, self.sign * s, n_rows)[None]

    def values(self, f: np.ndarray) -> np.ndarray:
        """What every variable sees of ``f``, shape (m,)."""
        return self.sign * f[0][self.row]

    def matrix(self, rows: MatrixRows, which: np.ndarray, dtype: type) -> np.ndarray:
        """``K̂`` between some of the variables."""
        return rows.block(self.row[which], self.sign[which], dtype)

    def add(
        self, rows: MatrixRows, which: np.ndarray, step: np.ndarray, f: np.ndarray
    ) -> None:
        """Add the effect of a step of some variables to ``f`` in place."""
        if len(which):
            rows.add(self.row[which], self.sign[which] * step, f[0])
