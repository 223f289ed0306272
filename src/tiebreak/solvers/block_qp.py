# SPDX-License-Identifier: BSD-3-Clause
"""The concave program of several machines that share directions.

Every variable belongs to one block, and every block has a balance of its own:

    maximize    yᵀs - ½ Σₖ cₖᵀ K cₖ
    subject to  lower ≤ s ≤ upper  and  Σ_{i in block b} sᵢ = 0 for every b,

with ``cₖ[j] = Σ {loading[blockᵢ, k] sᵢ : rowᵢ = j}``. So between two variables the
matrix of the program is ``F[blockᵢ, blockₗ] K[rowᵢ, rowₗ]`` with F = loading loadingᵀ:
any positive semidefinite factor per pair of blocks. One column of ones is one shared
direction; more columns, a multiple of the identity, give every block a direction of its
own besides. The gradient is ``eᵢ = yᵢ - Σₖ loading[b, k] fₖ[rowᵢ]`` with fₖ = K cₖ, and
β_b, the multiplier of the balance of block b = blockᵢ, is minus the threshold of that
block. Primal and gap are those of :mod:`tiebreak.solvers.dual_program`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.kernels import MatrixRows


@dataclass(frozen=True)
class BlockQP:
    """Data of the program; arrays of shape (m,) unless another is given.

    Parameters
    ----------
    linear : ndarray
        The vector y of the objective.
    lower, upper : ndarray
        Finite bounds with ``lower ≤ 0 ≤ upper``.
    row : ndarray of int
        Row of ``K`` that each variable uses; variables may share rows.
    block : ndarray of int
        Block of each variable, ascending, from 0 to B-1 without a gap.
    loading : ndarray of shape (B, q)
        How much each block takes of each of the q directions.
    """

    linear: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row: np.ndarray
    block: np.ndarray
    loading: np.ndarray

    def __post_init__(self) -> None:
        """Refuse bounds that exclude s = 0, and blocks that are not in order."""
        if (self.lower > 0).any() or (self.upper < 0).any():
            raise ValueError("a block program needs lower <= 0 <= upper")
        n_blocks = len(self.loading)
        steps = np.diff(self.block, prepend=-1, append=n_blocks)
        if not np.isin(steps[:-1], (0, 1)).all() or steps[0] != 1 or steps[-1] != 1:
            raise ValueError(
                f"the blocks of the variables must ascend from 0 to {n_blocks - 1}, "
                "without a gap"
            )

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.linear)

    @property
    def n_blocks(self) -> int:
        """Number of blocks B."""
        return len(self.loading)

    @property
    def n_directions(self) -> int:
        """Number of directions q."""
        return self.loading.shape[1]

    @cached_property
    def starts(self) -> np.ndarray:
        """First variable of every block, and m at the end; shape (B + 1,)."""
        return np.searchsorted(self.block, np.arange(self.n_blocks + 1))

    @cached_property
    def squared_loading(self) -> np.ndarray:
        """``F[b, b]`` of every block, shape (B,)."""
        return np.einsum("bk,bk->b", self.loading, self.loading)

    @property
    def balanced(self) -> bool:
        """Every block has a balance."""
        return True

    @cached_property
    def loads(self) -> np.ndarray:
        """How much each variable takes of each direction, shape (m, q)."""
        return self.loading[self.block]

    def diagonal(self, of_rows: np.ndarray) -> np.ndarray:
        """Diagonal of the matrix of the program, given that of K; shape (m,)."""
        return of_rows[self.row] * self.squared_loading[self.block]

    def per_row(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """Sum of ``s`` over every block and row, shape (B, n_rows)."""
        place = self.block * n_rows + self.row
        return np.bincount(place, s, self.n_blocks * n_rows).reshape(-1, n_rows)

    def collect(self, s: np.ndarray, n_rows: int) -> np.ndarray:
        """``c``: the variables added up per direction and row, shape (q, n_rows)."""
        return self.loading.T @ self.per_row(s, n_rows)

    def values(self, f: np.ndarray) -> np.ndarray:
        """What every variable sees of the directions ``f``, shape (m,)."""
        return (self.loading @ f)[self.block, self.row]

    def matrix(self, rows: MatrixRows, which: np.ndarray, dtype: type) -> np.ndarray:
        """The matrix of the program between some of its variables."""
        K = rows.block(self.row[which], np.ones(len(which)), dtype)
        mine = self.loads[which]
        if self.n_directions > 1 or not (mine == 1.0).all():
            K *= (mine @ mine.T).astype(dtype, copy=False)
        return K

    def add(
        self, rows: MatrixRows, which: np.ndarray, step: np.ndarray, f: np.ndarray
    ) -> None:
        """Add the effect of a step of some variables to ``f`` in place."""
        moved = which[step != 0]
        step = step[step != 0]
        for k in range(self.n_directions):
            part = self.loads[moved, k]
            used = part != 0
            # Several variables of a row are one coefficient of it.
            row, code = np.unique(self.row[moved[used]], return_inverse=True)
            if len(row):
                rows.add(row, np.bincount(code, part[used] * step[used]), f[k])
