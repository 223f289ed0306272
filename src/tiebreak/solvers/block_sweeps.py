# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps of pair steps through the features, for block programs on a linear kernel.

With few features in a row, a pair step needs no row of the matrix: the directions are
kept as weights of the features, two rows say what both variables gain, and moving them
changes only the weights that these rows touch. So a step costs as much as the features
of two items, and not as much as there are items. Every sweep sorts the variables of
each block by their gradient, pairs the one that wants to grow most with the one that
wants to shrink most, the second with the second and so on, and takes all these steps,
the largest violation first, each at the weights that those before it left behind.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from tiebreak.kernels import LinearRows
from tiebreak.kernels.functions import Table
from tiebreak.solvers.dual_program import DualState
from tiebreak.solvers.rounds import Rounds

_FLAT = 1e-12


class BlockSweeps(Rounds):
    """Sweeps of pair steps on a block program over a linear kernel.

    Parameters
    ----------
    rows : LinearRows
        The matrix.
    state : DualState
        Point to improve in place.

    Attributes
    ----------
    n_steps : int
        Pair steps taken so far.
    n_rounds : int
        Sweeps so far.
    """

    name = "sweeps"
    patience = 20

    def __init__(self, rows: LinearRows, state: DualState) -> None:
        super().__init__(state)
        self.rows = rows
        self._table = _flat_table(rows.X)
        self._bounds = np.stack([state.problem.lower, state.problem.upper])

    def run(self, eps: float, max_steps: int, max_rounds: int) -> float:
        """Work as :meth:`Rounds.run` does, from wherever others moved the point."""
        coef = self.state.problem.collect(self.state.s, self.rows.n_rows)
        self._weights = np.stack([self.rows.X.T @ c for c in coef])
        return super().run(eps, max_steps, max_rounds)

    def _round(self, e: np.ndarray, eps: float, violation: float) -> int:
        q, state = self.state.problem, self.state
        n_steps = sweep_pairs(
            self._table,
            self._weights,
            state.s,
            self._bounds,
            q.linear,
            q.row,
            q.loads,
            *self._pairs(e),
        )
        for k, w in enumerate(self._weights):
            state.f[k] = self.rows.X @ w
        return n_steps

    def _pairs(self, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Variables to grow and to shrink, pair by pair, the worst violation first."""
        q = self.state.problem
        growing, shrinking = self.state.sides(e)
        up, down = [], []
        for b in range(len(q.starts) - 1):
            mine = slice(q.starts[b], q.starts[b + 1])
            high = np.argsort(-growing[mine], kind="stable")
            low = np.argsort(shrinking[mine], kind="stable")
            useful = growing[mine][high] > shrinking[mine][low]
            up.append(q.starts[b] + high[useful])
            down.append(q.starts[b] + low[useful])
        first, second = np.concatenate(up), np.concatenate(down)
        order = np.argsort(e[second] - e[first], kind="stable")
        return first[order], second[order]


def _flat_table(X: Table) -> tuple[np.ndarray, ...]:
    """Values, feature numbers, where rows begin, and where their numbers do.

    Row r has the values ``values[t]`` of the features ``number[t - shift[r]]`` for t
    from ``starts[r]`` to ``starts[r + 1]``; rows of a dense table share the numbers.
    """
    n, p = X.shape
    if sp.issparse(X):
        starts = X.indptr.astype(np.int64)
        return X.data, X.indices.astype(np.int64), starts, np.zeros(n, dtype=np.int64)
    starts = np.arange(n + 1, dtype=np.int64) * p
    return np.ascontiguousarray(X).ravel(), np.arange(p), starts, starts[:-1]


@njit(cache=True, nogil=True)
def weighted_row(table, r, loading, weights):  # type: ignore[no-untyped-def]
    """What row r sees of the directions, with the loading of its block."""
    values, number, starts, shift = table
    total = 0.0
    for k in range(len(loading)):
        if loading[k] != 0.0:
            for t in range(starts[r], starts[r + 1]):
                total += loading[k] * values[t] * weights[k, number[t - shift[r]]]
    return total


@njit(cache=True, nogil=True)
def squared_distance(table, r, o):  # type: ignore[no-untyped-def]
    """Squared distance of the features of rows r and o, whose numbers ascend."""
    values, number, starts, shift = table
    total = 0.0
    a, b = starts[r], starts[o]
    while a < starts[r + 1] or b < starts[o + 1]:
        left = number[a - shift[r]] if a < starts[r + 1] else np.iinfo(np.int64).max
        right = number[b - shift[o]] if b < starts[o + 1] else np.iinfo(np.int64).max
        difference = 0.0
        if left <= right:
            difference = values[a]
            a += 1
        if right <= left:
            difference -= values[b]
            b += 1
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def add_row(table, r, loading, step, weights):  # type: ignore[no-untyped-def]
    """Add ``step`` times row r to the directions, with the loading of its block."""
    values, number, starts, shift = table
    for k in range(len(loading)):
        if loading[k] != 0.0:
            for t in range(starts[r], starts[r + 1]):
                weights[k, number[t - shift[r]]] += step * loading[k] * values[t]


@njit(cache=True, nogil=True)
def sweep_pairs(table, weights, s, bounds, y, row, loading, up, down):  # type: ignore[no-untyped-def]
    """Take one step for every pair of variables, along ``s[up] + s[down]`` = const.

    ``weights`` and ``s`` are updated in place; ``loading`` is that of the variables.
    Returns the number of steps of pairs that still gained.
    """
    steps = 0
    for k in range(len(up)):
        i, j = up[k], down[k]
        gain = y[i] - weighted_row(table, row[i], loading[i], weights)
        gain -= y[j] - weighted_row(table, row[j], loading[j], weights)
        room_i = bounds[1, i] - s[i]
        room_j = s[j] - bounds[0, j]
        if gain <= 0.0 or room_i <= 0.0 or room_j <= 0.0:
            continue
        size = 0.0
        for c in loading[i]:
            size += c * c
        move = gain / max(size * squared_distance(table, row[i], row[j]), _FLAT)
        if room_i <= move and room_i <= room_j:
            move = room_i
        elif room_j <= move:
            move = room_j
        s[i] = bounds[1, i] if move == room_i else s[i] + move
        s[j] = bounds[0, j] if move == room_j else s[j] - move
        add_row(table, row[i], loading[i], move, weights)
        add_row(table, row[j], loading[j], -move, weights)
        steps += 1
    return steps
