# SPDX-License-Identifier: BSD-3-Clause
"""Greedy minimization of several quadratic functions that are to agree.

M vectors f_v, each a sum of few columns of a dictionary of its own, make

    J(f) = Σ_v (c - 2 b·f_v + f_vᵀLf_v) + ν Σ_{v,u} (f_v - f_u)ᵀ L̄ (f_v - f_u)

small, where L sees the first rows (the target) and L̄ sees others (the agreement). A
step adds one column k_v to every f_v. With k̄_v its part at the rows of L̄, the best
multiples a solve the M × M system A a = e,

    A_vv = k_vᵀLk_v + 2ν (M - 1) k̄_vᵀL̄k̄_v,      A_vu = -2ν k̄_vᵀL̄k̄_u,

and J falls by eᵀA⁻¹e. The right side is e_v = k_v·q_v for minus half of the gradient,
q_v; or e_v = k_v·q with the one q = b - L f̄ of the mean f̄ of all f_v.

Boundary conventions: of candidates with equal gains, up to rounding, the first is
taken; a column with k_vᵀLk_v = 0, up to rounding, is never taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tiebreak.solvers.joint_search import Candidates, FreeSearch, SharedSearch
from tiebreak.solvers.pursuit import Dictionary, QuadraticForm, measure_columns

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CONSTANT = 1e-18
_NOTHING = 1e-20


@dataclass(frozen=True, eq=False)
class JointProblem:
    """What is to be made small.

    Attributes
    ----------
    views : sequence of Dictionary
        A dictionary for every vector, of equally many columns.
    form : QuadraticForm
        L.
    b : ndarray
        The linear term, for the rows of L.
    c : float
        The constant term.
    agreement : QuadraticForm
        L̄.
    nu : float
        ν, not negative.
    target, others : slice
        The rows of a column that L and L̄ see.
    """

    views: Sequence[Dictionary]
    form: QuadraticForm
    b: Floats
    c: float
    agreement: QuadraticForm
    nu: float
    target: slice
    others: slice

    def value(self, f: Floats) -> float:
        """J of the vectors in the rows of f.

        Parameters
        ----------
        f : ndarray of shape (M, n_rows)

        Returns
        -------
        float
        """
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
        """Minus half of the gradient of J; or b - L f̄ for all vectors.

        Parameters
        ----------
        f : ndarray of shape (M, n_rows)
            The vectors.
        averaged : bool
            Which of the two.

        Returns
        -------
        ndarray of shape (M, n_rows)
        """
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


class Search(Protocol):
    """Finds the best columns, one for every vector."""

    def best(self, e: Floats) -> tuple[Indices, Floats, float] | None:
        """Give columns, multiples and the fall of J; None if there is no candidate."""
        ...


@dataclass(frozen=True, eq=False)
class JointPath:
    """What a joint pursuit chose.

    Attributes
    ----------
    columns : ndarray of int of shape (n_steps, M)
        The column that every step added to every vector.
    increments : ndarray of shape (n_steps, M)
        Their multiples.
    objective : ndarray of shape (n_steps + 1,)
        J before the first step and after every step.
    exhausted : bool
        Whether it ended before the steps that it was allowed.
    """

    columns: Indices
    increments: Floats
    objective: Floats
    exhausted: bool


def pursue_jointly(
    problem: JointProblem,
    *,
    n_steps: int,
    averaged: bool,
    shared: bool,
    cache_bytes: float,
) -> JointPath:
    """Choose columns for all vectors, step by step.

    Parameters
    ----------
    problem : JointProblem
        What is to be made small.
    n_steps : int
        Number of steps at most.
    averaged : bool
        Whether all vectors see what the mean of them leaves, rather than what each
        leaves by itself.
    shared : bool
        Whether all vectors take the column of the same number.
    cache_bytes : float
        Memory for products between the columns of two dictionaries.

    Returns
    -------
    JointPath
    """
    M, n_rows = len(problem.views), problem.views[0].n_rows
    candidates = _measure(problem)
    search: Search = (
        SharedSearch(candidates) if shared else FreeSearch(candidates, cache_bytes)
    )
    f = np.zeros((M, n_rows))
    columns, increments = [], []
    objective = [problem.value(f)]
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
    """Find the diagonal of the system for every column of every dictionary."""
    M, diagonal, eligible = len(problem.views), [], []

    def measure(block: Floats) -> Floats:
        of_target = problem.form.measure(block[:, problem.target])
        of_others = problem.agreement.measure(block[:, problem.others])
        return np.column_stack([of_target, of_others[:, 0]])

    for view in problem.views:
        norm, scale, agreement = measure_columns(view, measure).T
        diagonal.append(norm + 2.0 * problem.nu * (M - 1) * agreement)
        eligible.append(norm > _CONSTANT * scale)
    return Candidates(
        problem.views,
        np.stack(diagonal),
        np.stack(eligible),
        problem.agreement,
        problem.nu,
        problem.others,
    )
