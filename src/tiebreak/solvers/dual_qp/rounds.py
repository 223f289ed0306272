# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of cheap steps: working sets for any matrix, descent for a linear kernel.

*Working sets*: each round takes the worst violators of optimality, with those of the
round before, solves that subproblem by pair steps on a matrix that fits the cache, and
updates all rows once.

*Coordinate descent* needs no row of the matrix: the directions are kept as weights of
the features, and a step costs the features of one row.

Boundary conventions: a variable exactly at a bound cannot move past it; of two
candidates of equal gain the lower index is taken; a curvature at or below 1e-12
(duplicated comparisons) is treated as 1e-12, so that the step runs to a bound.
"""

import logging
import threading
from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.jit import njit
from tiebreak.kernels import LinearRows, MatrixRows
from tiebreak.kernels.functions import Table, exp_in_place
from tiebreak.kernels.rows import add_rows, gather_block, subtract_sides
from tiebreak.solvers.dual_qp.problem import DualState

_LOGGER = logging.getLogger("tiebreak")
# The size of a working set; problems up to the second size are one.
_SIZE, _WHOLE = 512, 1024
_STEPS_PER_VARIABLE = 20
# The least curvature.
_FLAT = 1e-12
# Sweeps of coordinate descent between two looks at all variables, and its penalty on
# an imbalance, in units of the mean diagonal.
_SWEEPS = 5
_PENALTY = 0.1


class Rounds(ABC):
    """Rounds of steps on a :class:`DualState`."""

    name = ""
    # Steps per variable after which other methods are worth a try.
    patience = 2
    # Violation that is allowed, in units of the tolerance of the gap.
    slack = 1.0

    def __init__(self, state: DualState) -> None:
        self.state = state
        self.n_steps = 0
        self.n_rounds = 0

    def run(self, eps: float, max_steps: int, max_rounds: int) -> float:
        """Work until the violation is at most ``eps``, within a budget."""
        stop_steps = self.n_steps + max_steps
        stop_rounds = self.n_rounds + max_rounds
        while True:
            e = self.state.gradient
            violation = self.state.violation(e)
            if (
                violation <= eps
                or self.n_steps >= stop_steps
                or self.n_rounds >= stop_rounds
            ):
                return violation
            self.n_steps += self._round(e, eps, violation)
            self.n_rounds += 1

    @abstractmethod
    def _round(self, e: Floats, eps: float, violation: float) -> int:
        """Improve the point once; returns the steps taken."""


class WorkingSets(Rounds):
    """Rounds of working-set steps on a :class:`DualState`."""

    name = "working sets"

    def __init__(self, rows: MatrixRows, state: DualState) -> None:
        super().__init__(state)
        compile_kernels(rows.dtype)
        self.rows = rows
        size = state.problem.size
        wanted = size if size <= _WHOLE else _SIZE
        # A working set may use every slot of the cache, and not one more. Variables
        # share rows, so with all rows in the cache any working set fits.
        fits = rows.capacity == rows.n_rows
        self._size = int(wanted if fits else min(wanted, rows.capacity))
        self._last = np.empty(0, dtype=np.int64)
        self._whole: Floats | None = None

    def _round(self, e: Floats, eps: float, violation: float) -> int:
        q, s = self.state.problem, self.state.s
        chosen = self._select(e, eps)
        local_e, local_s = e[chosen], s[chosen]
        local = self._matrix(chosen), local_e, local_s, q.lower[chosen], q.upper[chosen]
        limits = max(0.5 * eps, 0.1 * violation), _STEPS_PER_VARIABLE * self._size
        if q.balanced:
            n_steps = solve_blocks(*local, np.searchsorted(chosen, q.starts), *limits)
        else:
            n_steps = solve_box(*local, *limits)
        q.add(self.rows, chosen, local_s - s[chosen], self.state.f)
        s[chosen] = local_s
        return n_steps

    def _matrix(self, chosen: Codes) -> Floats:
        """Form the matrix of a working set; that of all only once."""
        q = self.state.problem
        if len(chosen) < q.size:
            return q.matrix(self.rows, chosen, np.float64)
        if self._whole is None:
            self._whole = q.matrix(self.rows, chosen, np.float64)
        return self._whole

    def _select(self, e: Floats, eps: float) -> Codes:
        """The worst violators of either side, then the last set."""
        q, s = self.state.problem, self.state.s
        if self._size == q.size:
            return np.arange(q.size)
        growing, shrinking = self.state.sides(e)
        first = q.starts[:-1]
        top = np.maximum.reduceat(growing, first)
        bottom = np.minimum.reduceat(shrinking, first)
        if not q.balanced:
            top = bottom = np.zeros(1)
        above, below = growing - bottom[q.block], top[q.block] - shrinking
        quarter = max(self._size // 4, 1)
        up = np.argpartition(-above, quarter - 1)[:quarter]
        down = np.argpartition(-below, quarter - 1)[:quarter]
        worst = np.concatenate([up[above[up] > 0], down[below[down] > 0]])
        for b in np.flatnonzero(top - bottom > eps):
            mine = slice(q.starts[b], q.starts[b + 1])
            pair = [growing[mine].argmax(), shrinking[mine].argmin()]
            worst = np.append(worst, q.starts[b] + np.array(pair))
        chosen = np.unique(worst)
        rest = self._last[~np.isin(self._last, chosen)]
        free = (s[rest] > q.lower[rest]) & (s[rest] < q.upper[rest])
        rest = rest[np.argsort(~free, kind="stable")]
        room = max(self._size - len(chosen), 0)
        # The latest violators come first in the next round too.
        self._last = np.concatenate([chosen, rest[:room]])
        return np.sort(self._last)


class Descent(Rounds):
    """Coordinate descent on the weights of the features, for a linear kernel.

    A balance Σ s = 0 is reached by the method of multipliers: with the level β of a
    block fixed the dual has the penalty ½ ρ (Σ s)², and a sweep adds ρ Σ s to β.
    """

    name = "coordinate descent"
    patience = 20 * _SWEEPS

    def __init__(self, rows: LinearRows, state: DualState) -> None:
        super().__init__(state)
        self.rows, q = rows, state.problem
        self._table = _flat_table(rows.X)
        self._bounds = np.stack([q.lower, q.upper])
        if q.is_box:
            # The last variables take most of the time; the gap bounds them together.
            self.slack = 20.0
        self._penalty = _PENALTY * float(state.diagonal.mean()) * q.balanced
        # Level and sum of every block.
        self._balance = np.zeros((2, q.n_blocks))
        self._random = np.random.default_rng(0)

    def run(self, eps: float, max_steps: int, max_rounds: int) -> float:
        """Work as :meth:`Rounds.run` does, from the current point to a balanced one."""
        state = self.state
        self._balance[0] = state.levels(state.gradient)
        self._collect()
        violation = super().run(eps, max_steps, max_rounds)
        if not state.problem.balanced:
            return violation
        state.s[:] = state.rebalanced(state.s)
        self._collect()
        self._evaluate()
        return state.violation(state.gradient)

    def _round(self, e: Floats, eps: float, violation: float) -> int:
        q, state = self.state.problem, self.state
        growing, shrinking = state.sides(e - self._balance[0, q.block])
        # Variables at a bound that are pushed against it stay there.
        active = np.flatnonzero((growing > -violation) | (shrinking < violation))
        curve = np.maximum(state.diagonal + self._penalty, _FLAT)
        for _ in range(_SWEEPS):
            sweep(
                self._table, self._weights, state.s, self._bounds, q.linear,
                (q.row, q.block), q.loads, curve, self._balance,
                (self._random.permutation(active), self._penalty),
            )  # fmt: skip
            self._balance[0] += self._penalty * self._balance[1]
        self._evaluate()
        return _SWEEPS * len(active)

    def _collect(self) -> None:
        """Set the weights and the sums of blocks to those of the current point."""
        q, s = self.state.problem, self.state.s
        coef = q.collect(s, self.rows.n_rows)
        self._weights = np.stack([self.rows.X.T @ c for c in coef])
        self._balance[1] = np.bincount(q.block, s, q.n_blocks)

    def _evaluate(self) -> None:
        """Set f to the values of the weights."""
        for k, w in enumerate(self._weights):
            self.state.f[k] = self.rows.X @ w


def _flat_table(X: Table) -> tuple[Floats, ...]:
    """Values, feature numbers, where rows begin, and where their numbers do."""
    # Row r has the values ``values[t]`` of the features ``number[t - shift[r]]`` for t
    # from ``starts[r]`` to ``starts[r + 1]``; rows of a dense table share the numbers.
    n, p = X.shape
    if sp.issparse(X):
        starts = X.indptr.astype(np.int64)
        return X.data, X.indices.astype(np.int64), starts, np.zeros(n, dtype=np.int64)
    starts = np.arange(n + 1, dtype=np.int64) * p
    return np.ascontiguousarray(X).ravel(), np.arange(p), starts, starts[:-1]


@njit(cache=True, nogil=True)
def find_violation(e, s, lower, upper):  # type: ignore[no-untyped-def]
    """Find the variable that gains most by growing, and the violation."""
    i = -1
    highest = -np.inf
    lowest = np.inf
    for k in range(len(e)):
        if s[k] < upper[k] and e[k] > highest:
            highest = e[k]
            i = k
        if s[k] > lower[k] and e[k] < lowest:
            lowest = e[k]
    return i, highest - lowest


@njit(cache=True, nogil=True)
def find_partner(row, diagonal, e, s, lower, own, highest):  # type: ignore[no-untyped-def]
    """Find the variable whose shrinking gains most (second order), or -1."""
    j = -1
    best = 0.0
    for k in range(len(e)):
        if s[k] > lower[k] and e[k] < highest:
            curve = max(own + diagonal[k] - 2.0 * row[k], _FLAT)
            gain = (highest - e[k]) * (highest - e[k]) / curve
            if gain > best:
                best = gain
                j = k
    return j


@njit(cache=True, nogil=True)
def move_pair(s, i, j, move, upper, lower):  # type: ignore[no-untyped-def]
    """Grow s[i] and shrink s[j] within their bounds; gives how far."""
    room_i = upper - s[i]
    room_j = s[j] - lower
    if room_i <= move and room_i <= room_j:
        move = room_i
    elif room_j <= move:
        move = room_j
    s[i] = upper if move == room_i else s[i] + move
    s[j] = lower if move == room_j else s[j] - move
    return move


@njit(cache=True, nogil=True)
def solve_blocks(K, e, s, lower, upper, starts, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move pairs inside blocks until no violation exceeds eps."""
    # On entry ``e`` is the gradient at ``s``; on exit both are updated in place, and
    # the sum of every block is what it was. The pair is taken from the block that
    # violates most: its first variable violates most, the second gains most. Returns
    # the number of steps.
    diagonal = np.diag(K).copy()
    for step in range(max_steps):
        i = -1
        begin = end = 0
        worst = eps
        for b in range(len(starts) - 1):
            # Loops over slices know that no index is negative, and are faster for it.
            mine = slice(starts[b], starts[b + 1])
            high, violation = find_violation(e[mine], s[mine], lower[mine], upper[mine])
            if high >= 0 and violation > worst:
                worst = violation
                begin, end = starts[b], starts[b + 1]
                i = begin + high
        if i < 0:
            return step
        mine = slice(begin, end)
        j = find_partner(
            K[i, mine], diagonal[mine], e[mine], s[mine], lower[mine], K[i, i], e[i]
        )
        if j < 0:
            return step
        j += begin
        curve = max(K[i, i] + K[j, j] - 2.0 * K[i, j], _FLAT)
        move = move_pair(s, i, j, (e[i] - e[j]) / curve, upper[i], lower[j])
        for k in range(len(e)):
            e[k] -= move * (K[i, k] - K[j, k])
    return max_steps


@njit(cache=True, nogil=True)
def solve_box(K, e, s, lower, upper, eps, max_steps):  # type: ignore[no-untyped-def]
    """Move single variables, largest gain first, until no gradient exceeds eps."""
    # On entry ``e`` is the gradient at ``s``; on exit both are updated in place.
    # Returns the number of steps.
    for step in range(max_steps):
        best = 0.0
        i = -1
        worst = 0.0
        for k in range(len(e)):
            if (e[k] > 0.0 and s[k] < upper[k]) or (e[k] < 0.0 and s[k] > lower[k]):
                worst = max(worst, abs(e[k]))
                curve = max(K[k, k], _FLAT)
                move = min(max(s[k] + e[k] / curve, lower[k]), upper[k]) - s[k]
                gain = move * (e[k] - 0.5 * curve * move)
                if gain > best:
                    best = gain
                    i = k
        if i < 0 or worst <= eps:
            return step
        target = s[i] + e[i] / max(K[i, i], _FLAT)
        target = min(max(target, lower[i]), upper[i])
        move = target - s[i]
        s[i] = target
        for k in range(len(e)):
            e[k] -= move * K[i, k]
    return max_steps


@njit(cache=True, nogil=True)
def weighted_row(table, r, loading, weights):  # type: ignore[no-untyped-def]
    """Value of the directions at row r, with its block's loading."""
    values, number, starts, shift = table
    total = 0.0
    for k in range(len(loading)):
        if loading[k] != 0.0:
            for t in range(starts[r], starts[r + 1]):
                total += loading[k] * values[t] * weights[k, number[t - shift[r]]]
    return total


@njit(cache=True, nogil=True)
def add_row(table, r, loading, step, weights):  # type: ignore[no-untyped-def]
    """Add ``step`` times row r to the directions, with its block's loading."""
    values, number, starts, shift = table
    for k in range(len(loading)):
        if loading[k] != 0.0:
            for t in range(starts[r], starts[r + 1]):
                weights[k, number[t - shift[r]]] += step * loading[k] * values[t]


@njit(cache=True, nogil=True)
def sweep(table, weights, s, bounds, y, where, loading, curve, balance, how):  # type: ignore[no-untyped-def]
    """Maximize over one variable after the other, with levels fixed."""
    # ``weights``, ``s`` and the sums of blocks are updated in place; ``loading`` is
    # that of the variables.
    (row, block), (order, penalty) = where, how
    for k in range(len(order)):
        i = order[k]
        b = block[i]
        e = y[i] - weighted_row(table, row[i], loading[i], weights)
        e -= balance[0, b] + penalty * balance[1, b]
        target = min(max(s[i] + e / curve[i], bounds[0, i]), bounds[1, i])
        move = target - s[i]
        if move != 0.0:
            s[i] = target
            balance[1, b] += move
            add_row(table, row[i], loading[i], move, weights)


_compiled: set[type] = set()


def compile_kernels(dtype: type) -> None:
    """Compile every loop for one precision of the rows, or load it from the cache.

    A line is logged if the first fit has to wait. Call it before starting worker
    processes.
    """
    if dtype in _compiled:
        return
    notice = threading.Timer(
        1.0,
        _LOGGER.warning,
        ["compiling the solver, once on this machine (a few seconds) ..."],
    )
    notice.daemon = True
    notice.start()
    try:
        one = np.ones(1)
        where = np.zeros(1, dtype=np.int64)
        table: Floats = np.ones((1, 1), dtype=dtype)
        square, start = np.ones((1, 1)), (np.zeros(1), np.zeros(1))
        solve_box(square, *start, -one, one, 1e-3, 1)
        solve_blocks(square, *start, -one, one, np.arange(2), 1e-3, 1)
        for out in (np.ones((1, 1)), np.ones((1, 1), dtype=dtype)):
            gather_block(table, where, one, where, one, out)
        add_rows(table, where, one, np.zeros(1))
        subtract_sides(table, where, where, table.copy(), where)
        exp_in_place(table)
    finally:
        notice.cancel()
    _compiled.add(dtype)
