# SPDX-License-Identifier: BSD-3-Clause
"""Greedy minimization of several quadratic functions that are to agree.

M vectors f_v, each a sum of few columns of a dictionary of its own, make

    J(f) = Σ_v (c - 2 b·f_v + f_vᵀLf_v) + ν Σ_{v,u} (f_v - f_u)ᵀ L̄ (f_v - f_u)

small, where L acts on the first rows (the target) and L̄ on others (the agreement). A
step adds one column k_v to every f_v. With k̄_v its part at the rows of L̄, the best
multiples a solve A a = e,

    A_vv = k_vᵀLk_v + 2ν (M - 1) k̄_vᵀL̄k̄_v,      A_vu = -2ν k̄_vᵀL̄k̄_u,

and J falls by eᵀA⁻¹e. Here e_v = k_v·q_v with q_v minus half of the gradient, or e_v =
k_v·q with q = b - L f̄ of the mean f̄ of all f_v. The search scores all columns of one
dictionary at once, given the others (index o), with A = -c off the diagonal of its row:

    eᵀA⁻¹e = e_oᵀA_o⁻¹e_o + (e_v + c·A_o⁻¹e_o)² / (A_vv - c·A_o⁻¹c).

Of candidates with equal gains, up to rounding, the first is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Flags, Floats
from tiebreak.data.columns import row_slices
from tiebreak.data.threads import in_threads
from tiebreak.solvers.pursuit import (
    Dictionary,
    QuadraticForm,
    first_best,
    measure_columns,
)

Indices = NDArray[np.intp]
Found = tuple[Indices, Floats, float]

_CONSTANT = 1e-18
_NOTHING = 1e-20
# Combinations of columns of three or more dictionaries that are all tried.
ENUMERATED = 200_000
# Columns of one dictionary that are scored against all of another at a time.
_BLOCK = 64
# Combinations whose systems are solved at a time.
_BATCH = 4096
# Rounds over the dictionaries at most; each makes the gain larger, so few are needed.
_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class JointProblem:
    """What is to be made small."""

    # A dictionary for every vector, of equally many columns.
    views: Sequence[Dictionary]
    form: QuadraticForm  # L
    b: Floats  # The linear term, for the rows of L
    c: float  # The constant term
    agreement: QuadraticForm  # L̄
    nu: float  # ν, not negative
    target: slice  # The rows of a column that L and L̄ see
    others: slice  # The rows of a column that L and L̄ see

    def value(self, f: Floats) -> float:
        """J of the vectors in the rows of f."""
        at = f[:, self.target]
        value = sum(self.c - 2.0 * self.b @ v + v @ self.form.product(v) for v in at)
        apart = self.apart(f)
        agreed = sum(d @ self.agreement.product(d) for d in apart)
        # Σ_{v,u} |f_v - f_u|² = 2M Σ_v |f_v - f̄|²
        return float(value + 2.0 * self.nu * len(f) * agreed)

    def apart(self, f: Floats) -> Floats:
        """Distances of the vectors from their mean, at the rows of L̄."""
        at = f[:, self.others]
        return at - at.mean(axis=0)

    def pulls(self, f: Floats, *, averaged: bool) -> Floats:
        """Minus half of the gradient of J; or b - L f̄ for all vectors."""
        q = np.zeros(f.shape)
        if averaged:
            q[:, self.target] = self.b - self.form.product(
                f[:, self.target].mean(axis=0)
            )
            return q
        for v, own in enumerate(f[:, self.target]):
            q[v, self.target] = self.b - self.form.product(own)
        for v, apart in enumerate(self.apart(f)):
            # Σ_u (f_v - f_u) = M (f_v - f̄)
            pull = 2.0 * self.nu * len(f) * self.agreement.product(apart)
            q[v, self.others] -= pull
        return q


@dataclass(frozen=True, eq=False)
class JointPath:
    """What a joint pursuit chose."""

    columns: Indices  # (n_steps, M): The column that every step added to every vector
    increments: Floats  # (n_steps, M): Their multiples
    objective: Floats  # (n_steps + 1,): J before the first step and after every step
    exhausted: bool  # Whether it ended before the steps that it was allowed


def pursue_jointly(
    problem: JointProblem,
    *,
    n_steps: int,
    averaged: bool,
    shared: bool,
    cache_bytes: float,
) -> JointPath:
    """Choose columns for all vectors, step by step."""
    M, n_rows = len(problem.views), problem.views[0].n_rows
    candidates = _measure(problem)
    search: SharedSearch | FreeSearch
    search = SharedSearch(candidates) if shared else FreeSearch(candidates, cache_bytes)
    f = np.zeros((M, n_rows))
    columns, increments, objective = [], [], [problem.value(f)]
    for _ in range(n_steps):
        q = problem.pulls(f, averaged=averaged)
        e = np.stack([view.products(q[v]) for v, view in enumerate(problem.views)])
        found = search.best(e)
        if found is None or found[2] <= _NOTHING * objective[0]:
            break
        chosen, a, _ = found
        for v, view in enumerate(problem.views):
            f[v] += a[v] * view.columns(chosen[v : v + 1])[0]
        columns.append(chosen)
        increments.append(a)
        objective.append(problem.value(f))
    return JointPath(
        np.array(columns, dtype=np.intp).reshape(-1, M),
        np.array(increments).reshape(-1, M),
        np.array(objective),
        len(columns) < n_steps,
    )


def _measure(problem: JointProblem) -> Candidates:
    """Find A_vv for every column of every dictionary."""
    M, diagonal, eligible = len(problem.views), [], []

    def measure(block: Floats) -> Floats:
        of_target = problem.form.measure(block[:, problem.target])
        of_others = problem.agreement.measure(block[:, problem.others])
        return np.column_stack([of_target, of_others[:, 0]])

    for view in problem.views:
        norm, scale, agreement = measure_columns(view, measure).T
        diagonal.append(norm + 2.0 * problem.nu * (M - 1) * agreement)
        eligible.append(norm > _CONSTANT * scale)
    rest = problem.agreement, problem.nu, problem.others
    return Candidates(problem.views, np.stack(diagonal), np.stack(eligible), *rest)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The columns of all dictionaries, prepared for a step."""

    views: Sequence[Dictionary]  # M dictionaries of m columns each
    diagonal: Floats  # (M, m): A_vv of every column
    eligible: Flags  # (M, m): Which columns may be taken
    agreement: QuadraticForm  # L̄
    nu: float  # ν
    others: slice  # The rows of a column that L̄ sees

    def coupled(self, v: int, columns: Indices | slice) -> Floats:
        """Give 2ν L̄ k̄ of some columns of a dictionary, at all rows."""
        values = self.views[v].columns(columns)
        out = np.zeros(values.shape[::-1])
        out[self.others] = (
            2.0
            * self.nu
            * self.agreement.product(np.ascontiguousarray(values[:, self.others].T))
        )
        return out

    def system(self, views: Indices, chosen: Indices) -> Floats:
        """Give A of one column of each of some dictionaries."""
        A = np.diag(self.diagonal[views, chosen[views]])
        if self.nu == 0.0:
            return A
        for i, v in enumerate(views):
            pull = self.coupled(v, chosen[v : v + 1])[:, 0]
            for j, u in enumerate(views[:i]):
                column = self.views[u].columns(chosen[u : u + 1])[0]
                A[i, j] = A[j, i] = -(column @ pull)
        return A

    def solve(self, chosen: Indices, e: Floats) -> Found:
        """Solve the system of one column of each dictionary."""
        views = np.arange(len(chosen))
        right = e[views, chosen]
        a: Floats = np.linalg.solve(self.system(views, chosen), right).astype(float)
        return chosen, a, float(right @ a)


class SharedSearch:
    """Columns of the same number in all dictionaries: m candidates."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        views, (M, m) = candidates.views, candidates.diagonal.shape
        self._eligible = np.flatnonzero(candidates.eligible.all(axis=0))
        A = np.zeros((m, M, M))
        A[:, np.arange(M), np.arange(M)] = candidates.diagonal.T

        def couple(start: int) -> None:
            part = slice(start, min(start + _BLOCK, m))
            blocks = [view.columns(part) for view in views]
            for v in range(1, M):
                pull = candidates.coupled(v, part)
                for u in range(v):
                    shared = np.einsum("ij,ji->i", blocks[u], pull)
                    A[part, u, v] = A[part, v, u] = -shared

        if candidates.nu > 0.0:
            in_threads(couple, range(0, m, _BLOCK))
        self._A = A[self._eligible]

    def best(self, e: Floats) -> Found | None:
        """Give columns, multiples and gain of the best candidate, or None."""
        if len(self._eligible) == 0:
            return None
        right = e[:, self._eligible].T
        a = np.linalg.solve(self._A, right[:, :, None])[:, :, 0]
        gain = np.einsum("ij,ij->i", a, right)
        j = first_best(gain)
        chosen = np.full(len(e), self._eligible[j], dtype=np.intp)
        return chosen, a[j], float(gain[j])


class FreeSearch:
    """A column of each dictionary by itself: m to the power of M candidates.

    All are scored for M = 2, or if there are at most `ENUMERATED`. Otherwise the search
    replaces the columns that are best without coupling one after another, until no
    single replacement helps.
    """

    def __init__(self, candidates: Candidates, cache_bytes: float) -> None:
        self._candidates, self._cache_bytes = candidates, cache_bytes
        self._cross: Floats | None = None
        self._tables: dict[tuple[int, int], Floats] = {}

    def best(self, e: Floats) -> Found | None:
        """As `SharedSearch.best`."""
        candidates = self._candidates
        M, m = e.shape
        if not candidates.eligible.any(axis=1).all():
            return None
        if M == 1 or candidates.nu == 0.0:
            return candidates.solve(self._uncoupled(e), e)
        if M == 2:
            return candidates.solve(self._best_pair(e), e)
        if m**M <= ENUMERATED:
            return candidates.solve(self._best_of_all(e), e)
        return candidates.solve(self._best_by_turns(e), e)

    def _uncoupled(self, e: Floats) -> Indices:
        gain = np.where(
            self._candidates.eligible, e**2 / self._positive_diagonal(), -1.0
        )
        return np.array([first_best(own) for own in gain], dtype=np.intp)

    def _positive_diagonal(self) -> Floats:
        candidates = self._candidates
        return np.where(candidates.eligible, candidates.diagonal, 1.0)

    def _best_pair(self, e: Floats) -> Indices:
        """Score all pairs of columns, in blocks of the first."""
        eligible, m = self._candidates.eligible, e.shape[1]
        first, second = self._positive_diagonal()
        alone = e[0] ** 2 / first

        def score(part: slice, c: Floats) -> tuple[float, int, int]:
            gain = c * (e[0, part] / first[part])[:, None]
            gain += e[1]
            np.square(gain, out=gain)
            left = c**2
            left /= -first[part, None]
            left += second
            # Columns that are not eligible may leave nothing; they do not count.
            with np.errstate(divide="ignore", invalid="ignore"):
                gain /= left
            gain += alone[part, None]
            gain[~eligible[0, part]] = -1.0
            gain[:, ~eligible[1]] = -1.0
            i, j = np.unravel_index(first_best(gain.ravel()), gain.shape)
            return float(gain[i, j]), part.start + int(i), int(j)

        if 8.0 * m * m > self._cache_bytes:
            parts = row_slices(m, self._block_size())
            found = [score(part, self._products(part)) for part in parts]
        else:
            if self._cross is None:
                self._cross = np.empty((m, m))
                for part in row_slices(m, self._block_size()):
                    self._cross[part] = self._products(part)
            cross = self._cross
            found = in_threads(
                lambda part: score(part, cross[part]), list(row_slices(m, _BLOCK))
            )
        best = found[first_best(np.array([gain for gain, _, _ in found]))]
        return np.array(best[1:], dtype=np.intp)

    def _block_size(self) -> int:
        """Count the columns whose products with all others fit in memory."""
        view = self._candidates.views[0]
        size = 0.25 * self._cache_bytes / (8 * (view.n_rows + view.n_columns))
        return max(1, min(512, int(size)))

    def _products(self, part: slice) -> Floats:
        """Give c between columns of the first and all of the second dictionary."""
        pull = self._candidates.coupled(0, part)
        return self._candidates.views[1].products(pull).T

    def _table(self, v: int, u: int) -> Floats:
        """Give c between all columns of two dictionaries."""
        if (v, u) not in self._tables:
            pull = self._candidates.coupled(v, slice(None))
            self._tables[v, u] = self._candidates.views[u].products(pull).T
        return self._tables[v, u]

    def _best_of_all(self, e: Floats) -> Indices:
        """Solve the systems of all combinations."""
        eligible, diagonal = self._candidates.eligible, self._candidates.diagonal
        allowed = [np.flatnonzero(own) for own in eligible]
        shape = tuple(len(own) for own in allowed)
        best, found = -1.0, np.zeros(len(e), dtype=np.intp)
        for start in range(0, int(np.prod(shape)), _BATCH):
            stop = min(start + _BATCH, int(np.prod(shape)))
            places = np.unravel_index(np.arange(start, stop), shape)
            chosen = [own[place] for own, place in zip(allowed, places, strict=True)]
            A = np.zeros((stop - start, len(e), len(e)))
            right = np.empty((stop - start, len(e)))
            for v, own in enumerate(chosen):
                right[:, v], A[:, v, v] = e[v, own], diagonal[v, own]
                for u in range(v):
                    A[:, u, v] = A[:, v, u] = -self._table(v, u)[own, chosen[u]]
            a = np.linalg.solve(A, right[:, :, None])[:, :, 0]
            gain = np.einsum("ij,ij->i", a, right)
            if gain.max() > best * (1.0 + 1e-10):
                j = first_best(gain)
                best, found = float(gain[j]), np.array([own[j] for own in chosen])
        return found

    def _best_by_turns(self, e: Floats) -> Indices:
        """Replace one column after another until nothing improves."""
        candidates, chosen = self._candidates, self._uncoupled(e)
        M, best = len(e), -1.0
        for _ in range(_ROUNDS):
            before = chosen.copy()
            for v in range(M):
                rest = np.array([u for u in range(M) if u != v])
                pull = np.column_stack(
                    [candidates.coupled(u, chosen[u : u + 1])[:, 0] for u in rest]
                )
                c = candidates.views[v].products(pull)
                A = candidates.system(rest, chosen)
                toward = np.linalg.solve(A, np.column_stack([e[rest, chosen[rest]]]))
                through = np.linalg.solve(A, c.T)
                left = candidates.diagonal[v] - np.einsum("ij,ji->i", c, through)
                eligible = candidates.eligible[v]
                left = np.where(eligible, left, 1.0)
                gain = np.where(eligible, (e[v] + c @ toward[:, 0]) ** 2 / left, -1.0)
                total = float(e[rest, chosen[rest]] @ toward[:, 0] + gain.max())
                # A replacement by an equal one could go round for ever.
                if total > best * (1.0 + 1e-12):
                    best, chosen[v] = total, first_best(gain)
            if np.array_equal(before, chosen):
                break
        return chosen
