# SPDX-License-Identifier: BSD-3-Clause
"""Greedy minimization of a quadratic function by columns of a dictionary.

The function is

    J(f) = c - 2 b·f + fᵀLf,

with L positive semidefinite, and f is a sum of few columns of the dictionary. With
q = b - L f, the best multiple of the column k is a = k·q / kᵀLk, and J falls by
(k·q)² / kᵀLk. So one step is one product of the dictionary with q.

Of columns with equal gains, up to rounding, the first is taken; one with kᵀLk = 0
never, nor with back-fitting one that depends on those taken before.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from tiebreak.data.arrays import Floats

Indices = NDArray[np.intp]

# kᵀLk relative to its size without cancellation: below it nothing but rounding is left.
_CONSTANT = 1e-18
# What is left of kᵀLk after the columns taken before, relative to kᵀLk.
_DEPENDENT = 1e-10
# A fall of J relative to its first value, below which f does not change visibly.
_NOTHING = 1e-20


# Gains that differ by less, relative to each other, are equal but for rounding.
_EQUAL = 1e-10


def first_best(gain: Floats) -> int:
    """Find the first of the largest numbers, equal up to rounding."""
    largest = gain.max()
    return int(np.argmax(gain >= largest - _EQUAL * abs(largest)))


class Dictionary(Protocol):
    """m columns of length n, perhaps not in memory."""

    n_columns: int
    n_rows: int

    def columns(self, index: Indices | slice) -> Floats:
        """Give columns, one in each row."""

    def products(self, q: Floats) -> Floats:
        """Give the inner products of all columns with vectors."""

    def measure(self, function: Callable[[Floats], Floats]) -> Floats:
        """Apply a function of columns, given as rows, to all columns."""


def measure_columns(
    dictionary: Dictionary, measure: Callable[[Floats], Floats]
) -> Floats:
    """Measure all columns, and refuse values that are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        measured = dictionary.measure(measure)
    if len(wrong := np.flatnonzero(~np.isfinite(measured).all(axis=1))):
        raise ValueError(
            f"{len(wrong)} of {len(measured)} columns of the dictionary have squares "
            f"that no floating-point number can hold; the first is column {wrong[0]}."
        )
    return measured


class QuadraticForm(Protocol):
    """The matrix L."""

    def product(self, v: Floats) -> Floats:
        """Give L v."""

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk, and its size without cancellation."""

    def reduce(self, k: Floats) -> Floats:
        """Remove the null space of L from k, if simple, to keep digits."""


@dataclass(frozen=True, eq=False)
class PursuitPath:
    """What a pursuit chose, and its coefficients after every step."""

    # (k,): The columns taken, in the order in which they were taken first.
    columns: Indices
    coefs: Floats  # (n_steps, k): Their coefficients after every step
    n_taken: Indices  # (n_steps,): How many of the columns were taken after every step
    objective: Floats  # (n_steps + 1,): J before the first step and after every step
    # Whether it ended before the steps that it was allowed, for want of a column that
    # makes J smaller.
    exhausted: bool


def pursue(
    dictionary: Dictionary,
    form: QuadraticForm,
    b: Floats,
    c: float,
    *,
    n_steps: int,
    backfit: bool = True,
    prefit: bool = False,
) -> PursuitPath:
    """Minimize c - 2 b·f + fᵀLf greedily by columns of a dictionary."""
    # With back-fitting every column serves once.
    most = min(dictionary.n_columns, dictionary.n_rows) if backfit else n_steps
    state = _Pursuit(dictionary, form, b, c, min(n_steps, most))
    exhausted = n_steps > state.n_steps
    step = _backfitted_step if backfit else _single_step
    for _ in range(state.n_steps):
        gain = state.find_gains(prefit)
        if not step(state, gain, prefit):
            exhausted = True
            break
    return state.path(exhausted)


def penalize_path(
    path: PursuitPath,
    values: Floats,
    inner: Floats,
    form: QuadraticForm,
    b: Floats,
    alpha: float,
) -> PursuitPath:
    """Solve for the coefficients of every step again, with α aᵀGa added to J.

    ``values`` has the columns taken, one in each row, and ``inner`` is G, shape (k, k).
    A G that is not positive semidefinite may be a LinAlgError.
    """
    values = np.array([form.reduce(own) for own in values]).reshape(values.shape)
    system = values @ form.product(np.ascontiguousarray(values.T)) + alpha * inner
    # The factor of the first t rows and columns is that of the first t columns taken.
    triangle = cholesky(system, lower=True)
    along = solve_triangular(triangle, values @ b, lower=True)
    coefs = np.zeros_like(path.coefs)
    for row, t in zip(coefs, path.n_taken, strict=True):
        row[:t] = solve_triangular(triangle[:t, :t], along[:t], lower=True, trans="T")
    explained = np.append(0.0, np.cumsum(along**2)[path.n_taken - 1])
    objective = np.maximum(path.objective[0] - explained, 0.0)
    return replace(path, coefs=coefs, objective=objective)


class _Pursuit:
    """The state between two steps."""

    def __init__(
        self,
        dictionary: Dictionary,
        form: QuadraticForm,
        b: Floats,
        c: float,
        n_steps: int,
    ) -> None:
        self.dictionary, self.form, self.b, self.c = dictionary, form, b, c
        self.n_steps = n_steps
        norm, scale = measure_columns(dictionary, form.measure).T
        self.norm = norm
        # Divisors of gains: those of columns that cannot be taken are infinite.
        self.left = np.where(norm > _CONSTANT * scale, norm, np.inf)
        self.q = b.copy()
        self.f = np.zeros(len(b))
        self.e = np.zeros(dictionary.n_columns)
        self.taken: list[int] = []
        self._values = np.empty((0, len(b)))
        self.a = np.zeros(0)
        self.triangle = np.zeros((0, 0))
        self.steps: list[Floats] = []
        self.objective = [c]
        # L u and u·q, for the part u of the last column that was new, of unit size.
        self.new: tuple[Floats, float] | None = None

    def find_gains(self, prefit: bool) -> Floats:
        """Give the fall of J for every column."""
        if prefit and self.new is not None:
            direction, along = self.new
            shared = self.dictionary.products(direction)
            # The step has taken the multiple `along` of `direction` from q.
            self.e -= along * shared
            self.left -= shared**2
            # What rounding leaves of a dependent column is no reason to take it.
            self.left[self.left <= _DEPENDENT * self.norm] = np.inf
        else:
            self.e = self.dictionary.products(self.q)
        return self.e**2 / self.left

    def best(self, gain: Floats) -> int | None:
        """Give the column of the largest gain, or None."""
        j = first_best(gain)
        return j if gain[j] > _NOTHING * self.c else None

    def value(self, j: int) -> Floats:
        return self.form.reduce(self.dictionary.columns(np.array([j]))[0])

    @property
    def values(self) -> Floats:
        """The columns taken, one in each row."""
        return self._values[: len(self.taken)]

    def take(self, j: int, k: Floats) -> None:
        t = len(self.taken)
        if t == len(self._values):
            more = min(self.n_steps - t, max(8, t))
            self._values = np.concatenate([self._values, np.empty((more, len(k)))])
        self._values[t] = k
        self.taken.append(j)
        self.a = np.append(self.a, 0.0)

    def finish_step(self) -> None:
        self.steps.append(self.a.copy())
        # b·f + q·f = 2 b·f - fᵀLf
        objective = self.c - self.f @ (self.b + self.q)
        self.objective.append(max(0.0, min(float(objective), self.objective[-1])))

    def path(self, exhausted: bool) -> PursuitPath:
        coefs = np.zeros((len(self.steps), len(self.taken)))
        for row, a in zip(coefs, self.steps, strict=True):
            row[: len(a)] = a
        taken = np.array(self.taken, dtype=np.intp)
        n_taken = np.array([len(a) for a in self.steps], dtype=np.intp)
        return PursuitPath(taken, coefs, n_taken, np.array(self.objective), exhausted)


def _single_step(state: _Pursuit, gain: Floats, prefit: bool) -> bool:
    """Add a multiple of one column; say whether one was worth it."""
    j = state.best(gain)
    if j is None:
        return False
    a = state.e[j] / state.norm[j]
    if j in state.taken:
        place = state.taken.index(j)
        k = state.values[place]
    else:
        place, k = len(state.taken), state.value(j)
        state.take(j, k)
    state.a[place] += a
    state.f += a * k
    state.q -= a * state.form.product(k)
    state.finish_step()
    return True


def _backfitted_step(state: _Pursuit, gain: Floats, prefit: bool) -> bool:
    """Take one more column and solve for all coefficients again."""
    # With K the columns taken and K'LK = TT', the coefficients move by the solution of
    # TT'd = K'q. Only the last entry of K'q is not zero but for rounding, which is so
    # corrected in every step.
    while (j := state.best(gain)) is not None:
        k = state.value(j)
        product = state.form.product(k)
        shared = state.values @ product
        below = solve_triangular(state.triangle, shared, lower=True)
        left = state.norm[j] - below @ below
        if left > _DEPENDENT * state.norm[j]:
            break
        gain[j], state.left[j] = 0.0, np.inf
    else:
        return False
    t = len(state.taken)
    triangle = np.zeros((t + 1, t + 1))
    triangle[:t, :t], triangle[t, :t] = state.triangle, below
    triangle[t, t] = np.sqrt(left)
    state.triangle = triangle
    state.take(j, k)
    state.left[j] = np.inf
    if prefit:
        state.new = _new_part(state)
    moved = solve_triangular(triangle, state.values @ state.q, lower=True)
    moved = solve_triangular(triangle, moved, lower=True, trans="T")
    state.a = state.a + moved
    state.f = state.a @ state.values
    state.q = state.b - state.form.product(state.f)
    state.finish_step()
    return True


def _new_part(state: _Pursuit) -> tuple[Floats, float]:
    """Give L u and u·q for the unit part u that the last column adds."""
    # The columns of K T⁻ᵀ are those of K, made orthogonal and of unit size.
    last = np.zeros(len(state.triangle))
    last[-1] = 1.0
    weights = solve_triangular(state.triangle, last, lower=True, trans="T")
    u = weights @ state.values
    return state.form.product(u), float(u @ state.q)
