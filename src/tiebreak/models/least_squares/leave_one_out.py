# SPDX-License-Identifier: BSD-3-Clause
"""Leave-one-out: utilities of what a fit did not see, without fitting again.

Rows of the root B belong to one group each, so that leaving out a group g deletes rows
of a ridge regression. With the system of columns, H = AᵀLA + α I and Z = B_g A,

    x' = x - H⁻¹Zᵀ (I - Z H⁻¹Zᵀ)⁻¹ (t_g - Z x);

with that of rows, P = (BKBᵀ + α I)⁻¹, the coefficients become

    b' = b - P_{·g} P_gg⁻¹ b_g.

Two rows of a group are left out in two steps. Without its group, the utilities of the
group are f' with a covariance Q (a kernel that knows what the other groups say, times
no more than the kernel itself). To it come back the rows of the group but two, which is
kernel ridge regression with a free constant c, because their loss is λ Σ w_k (s_k -
f_k - c)² minimized over c, with λ the weight of the rows that are left, or 1 for the
mean. From the inverse of its one bordered system follow the predictions for any two
rows that are taken out of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.messages import list_rows
from tiebreak.losses import GroupLaplacian, PairLaplacian
from tiebreak.models.least_squares.normal_equations import (
    ColumnForm,
    LeastSquaresProblem,
    Points,
    RowForm,
    dense_array,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Comparisons whose columns are solved for at a time.
_CHUNK = 1024


def check_rows(problem: LeastSquaresProblem, pairs: ArrayLike | None) -> Codes:
    """Check pairs of graded rows, shape (k, 2); None: all of different grades."""
    assert isinstance(problem.laplacian, GroupLaplacian) and problem.grades is not None
    group = problem.laplacian.group
    if pairs is None:
        found = []
        for members in _rows_of_groups(group):
            y = problem.grades[members]
            better, worse = np.nonzero(y[:, None] > y)
            found.append(np.column_stack([members[better], members[worse]]))
        return np.concatenate(found)
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise ValueError(
            "pairs must be row numbers, an integer array of shape (k, 2), got "
            f"{rows.dtype} of shape {rows.shape}."
        )
    rows = rows.astype(np.int64)
    outside = (rows.min(axis=1) < 0) | (rows.max(axis=1) >= len(group))
    _refuse(rows, outside, f"not of rows from 0 to {len(group) - 1}")
    i, j = rows.T
    apart = (i == j) | (group[i] != group[j])
    _refuse(rows, apart, "not of two different rows of one group")
    return rows


def _refuse(pairs: Codes, wrong: NDArray[np.bool_], what: str) -> None:
    bad = np.flatnonzero(wrong)
    if len(bad):
        shown = [tuple(pair) for pair in pairs[bad[:5]].tolist()]
        raise ValueError(
            f"{len(bad)} of the pairs are {what}: {list_rows(bad, shown)}."
        )


def _rows_of_groups(group: Codes) -> list[Codes]:
    order = np.argsort(group, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group))[:-1])


def leave_group_out(problem: LeastSquaresProblem, alpha: float) -> Floats:
    """Give the utility of every graded row from a fit without its group, shape (n,)."""
    assert isinstance(problem.laplacian, GroupLaplacian)
    if len(problem.laplacian.size) < 2:
        raise ValueError(
            "To leave a group out there must be at least two groups, got one: without "
            "it there is nothing to learn from. Pass qid, or use leave_pair_out."
        )
    utility = np.empty(problem.points.n)
    for rows, held_out in _groups_held_out(problem, alpha):
        utility[rows] = held_out.utility()
    return problem.scale * utility


def leave_rows_out(
    problem: LeastSquaresProblem, alpha: float, pairs: Codes, per_group: str
) -> Floats:
    """Give utilities of two rows of a group from a fit without both, shape (k, 2)."""
    laplacian = problem.laplacian
    assert isinstance(laplacian, GroupLaplacian) and problem.grades is not None
    group = laplacian.group[pairs[:, 0]]
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(laplacian.size) + 1))
    grades = problem.grades / problem.scale
    place = np.empty(problem.points.n, dtype=np.int64)
    out = np.empty(pairs.shape)
    for rows, held_out in _groups_held_out(problem, alpha):
        g = laplacian.group[rows[0]]
        mine = order[starts[g] : starts[g + 1]]
        if len(mine) == 0:
            continue
        place[rows] = np.arange(len(rows))
        out[mine] = _without_two(
            held_out.utility(),
            held_out.covariance(),
            grades[rows] - grades[rows].mean(),
            laplacian.weight[rows],
            place[pairs[mine]],
            alpha,
            per_group,
        )
    return problem.scale * out


def leave_comparison_out(problem: LeastSquaresProblem, alpha: float) -> Floats:
    """Give utilities of both items from a fit without their comparison: (m, 2)."""
    form, ends = problem.form(), problem.ends
    assert ends is not None
    if isinstance(form, RowForm):
        cross, P = form.cross, _inverse(form, alpha)
        b = P @ form.target
        utility = cross @ b
        push = b / P.diagonal()
        moved = [np.einsum("tk,kt->t", cross[ends[:, side]], P) for side in (0, 1)]
        out = utility[ends] - np.column_stack(moved) * push[:, None]
        return problem.scale * out
    inverse, x = _inverse(form, alpha), form.system.solve(alpha).x
    utility = form.A @ x
    out = np.empty(ends.shape)
    assert isinstance(problem.laplacian, PairLaplacian)
    root = np.sqrt(problem.laplacian.weight)
    for start in range(0, len(ends), _CHUNK):
        rows = slice(start, start + _CHUNK)
        left, right = (dense_array(form.A[ends[rows, side]]) for side in (0, 1))
        Z = root[rows, None] * (right - left)
        solved = Z @ inverse
        leverage = np.einsum("ij,ij->i", solved, Z)
        push = (form.target[rows] - Z @ x) / (1.0 - leverage)
        for side, values in enumerate((left, right)):
            moved = np.einsum("ij,ij->i", values, solved)
            out[rows, side] = utility[ends[rows, side]] - moved * push
    return problem.scale * out


class _ColumnsWithout:
    """A group without itself, by the system of columns."""

    def __init__(
        self, form: ColumnForm, inverse: Floats, x: Floats, rows: Codes, alpha: float
    ) -> None:
        assert isinstance(form.laplacian, GroupLaplacian)
        self._A, self._alpha = dense_array(form.A[rows]), alpha
        Z, t = form.laplacian.root_of(self._A, rows), form.target[rows]
        Z[:, form.constant] = 0.0
        self._solved: Floats | None = None
        if len(Z) > len(x):
            H = form.system.H - Z.T @ Z
            H.flat[:: len(H) + 1] += alpha
            self._inverse = la.inv(H)
            self._x = self._inverse @ (form.system.h - Z.T @ t)
            return
        self._inverse, self._solved = inverse, inverse @ Z.T
        left = np.eye(len(Z)) - Z @ self._solved
        sides = np.column_stack([t - Z @ x, self._solved.T])
        answers = la.solve(left, sides, assume_a="pos")
        self._x = x - self._solved @ answers[:, 0]
        self._answer = answers[:, 1:]

    def utility(self) -> Floats:
        return self._A @ self._x

    def covariance(self) -> Floats:
        A = self._A
        rest = A @ self._inverse @ A.T
        if self._solved is not None:
            rest += (A @ self._solved) @ (self._answer @ A.T)
        return self._alpha * 0.5 * (rest + rest.T)


class _RowsWithout:
    """A group without itself, by the system of rows."""

    def __init__(
        self, points: Points, cross: Floats, P: Floats, b: Floats, rows: Codes
    ) -> None:
        self._points, self._P, self._rows = points, P, rows
        self._cross = cross[rows]
        self._block = P[np.ix_(rows, rows)]
        push = la.solve(self._block, b[rows], assume_a="pos")
        self._b = b - P[:, rows] @ push

    def utility(self) -> Floats:
        return self._cross @ self._b

    def covariance(self) -> Floats:
        rows = self._rows
        known = self._cross @ self._P
        inside = known[:, rows]
        rest = known @ self._cross.T - inside @ la.solve(
            self._block, inside.T, assume_a="pos"
        )
        covariance = self._points.gram(rows) - rest
        return 0.5 * (covariance + covariance.T)


def _groups_held_out(
    problem: LeastSquaresProblem, alpha: float
) -> Iterator[tuple[Codes, Any]]:
    """Give the rows of each group, and what a fit without them says of them."""
    laplacian = problem.laplacian
    assert isinstance(laplacian, GroupLaplacian)
    form = problem.form()
    if isinstance(form, RowForm):
        cross, inverse = form.cross, _inverse(form, alpha)
        b = inverse @ form.target
        for rows in _rows_of_groups(laplacian.group):
            yield rows, _RowsWithout(form.points, cross, inverse, b, rows)
        return
    inverse, x = _inverse(form, alpha), form.system.solve(alpha).x
    for rows in _rows_of_groups(laplacian.group):
        yield rows, _ColumnsWithout(form, inverse, x, rows, alpha)


def _without_two(
    prior: Floats,
    covariance: Floats,
    grades: Floats,
    weight: Floats,
    pairs: Codes,
    alpha: float,
    per_group: str,
) -> Floats:
    """Add the rows of a group but two to what the other groups say of it."""
    out = prior[pairs]
    counts = weight > 0.0
    n_left = counts.sum() - counts[pairs].sum(axis=1)
    # One row alone is compared with nothing.
    enough = n_left > 1
    removed = weight[pairs].sum(axis=1)
    factor = weight.sum() - removed if per_group == "sum" else np.ones(len(pairs))
    for value in np.unique(factor[enough]):
        mine = np.flatnonzero(enough & (factor == value))
        out[mine] += _with_factor(
            covariance, grades - prior, weight, pairs[mine], alpha / value
        )
    return out


def _with_factor(
    covariance: Floats, rest: Floats, weight: Floats, pairs: Codes, alpha: float
) -> Floats:
    """Give what the rows of a group but two change at these two."""
    counts = np.flatnonzero(weight > 0.0)
    n, k = len(weight), len(counts)
    bordered = np.zeros((k + 1, k + 1))
    bordered[:k, :k] = covariance[np.ix_(counts, counts)]
    bordered.flat[: k * (k + 1) : k + 2] += alpha / weight[counts]
    bordered[:k, k] = bordered[k, :k] = 1.0
    # Rows without weight have no coefficient, and taking them out changes nothing.
    inverse = np.zeros((n, n))
    inverse[np.ix_(counts, counts)] = la.inv(bordered)[:k, :k]
    coef = inverse @ rest
    change = covariance @ coef
    moved = covariance @ inverse
    i, j = pairs.T
    block = np.empty((len(pairs), 2, 2))
    block[:, 0, 0] = np.where(weight[i] > 0.0, inverse[i, i], 1.0)
    block[:, 1, 1] = np.where(weight[j] > 0.0, inverse[j, j], 1.0)
    block[:, 0, 1] = block[:, 1, 0] = inverse[i, j]
    push = np.linalg.solve(block, coef[pairs][:, :, None])
    both = moved[pairs[:, :, None], pairs[:, None, :]]
    return change[pairs] - (both @ push)[:, :, 0]


def _inverse(form: ColumnForm | RowForm, alpha: float) -> Floats:
    try:
        return form.system.inverse(alpha)
    except la.LinAlgError:
        raise ValueError(
            f"alpha={alpha:g} is lost in the rounding of features or kernel, whose "
            f"squared differences add up to {form.system.H.diagonal().max():.3g}. "
            "What is left out of a fit then has no closed form. Try a larger alpha."
        ) from None
