# SPDX-License-Identifier: BSD-3-Clause
r"""The likelihood of votes whose judges differ, their own parameters integrated out.

A cell is one judge, a left and a right item, with counts of left, tie and right. With
δ = β_right - β_left, the common tie parameter t and side effect s, and the judge's own
deviations e = (e₁, e₂, e₃), the outcome follows a link at

.. math:: d = (1 + e_1)\,δ - s - e_3, \qquad \ln w = t + e_2 ,

Davidson's with ν = w, or the cumulative one with thresholds ±w. Deviations have
independent normal priors of mean 0 and standard deviations σ. For each judge let f_j(e)
be the negative logarithm of likelihood times prior, ê its minimum and D the Hessian
there. The objective is Laplace's approximation of the marginal likelihood,

.. math:: G(β, s, t) = \sum_j f_j(ê_j) + \tfrac12 \ln|D_j| + \sum_k \ln σ_k
          + α\|β\|^2 + ω s^2 + \tfrac{κ}{2} (ā - 1)^2,

a **sum** over votes, with ā the mean of the discriminations 1 + ê_1. The last term
keeps the scale in β. A standard deviation of 0 fixes a deviation at 0. The Hessian is
that of the penalties and the Schur complement A - Σ B_j D_j⁻¹ B_jᵀ of the expected
joint Hessian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.data.comparison_graph import number_cells
from tiebreak.data.jit import njit
from tiebreak.data.threads import chunks
from tiebreak.losses.comparison_likelihood import (
    ItemDesign,
    cumulative_cell,
    davidson_cell,
    width_loss,
)

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_MIXED = 800_000  # judges times items at a time, in the Hessian
_WEAK = 0.005  # ω, so that a side that always wins has a finite effect
_STIFF = 100.0  # κ per item and judge: ā is 1 up to a percent


@dataclass(frozen=True, eq=False)
class JudgeCells:
    """Votes summed by judge, left and right; judges in blocks."""

    start: Ints  # (R + 1,), where the cells of each judge begin
    left: Ints  # (m,)
    right: Ints
    counts: Array  # (m, 3): left, tie, right
    n_items: int

    @classmethod
    def of(
        cls, judge: Ints, pairs: Pairs, outcome: NDArray[np.int8], weight: Array
    ) -> JudgeCells:
        """Sum votes of judges numbered from 0, each of whom voted."""
        left, right, n_items = pairs.left, pairs.right, pairs.n_items
        key = (judge * n_items + left) * n_items + right
        cell, first = number_cells(key, np.empty((len(key), 0)))
        summed = np.bincount(3 * cell + outcome + 1, weight, 3 * len(first))
        counts = np.asarray(summed, np.float64).reshape(-1, 3)
        start = np.append(0, np.cumsum(np.bincount(judge[first])))
        return cls(start, left[first], right[first], counts, n_items)

    def every(self, step: int) -> JudgeCells:
        """Cells of every so-many-th judge."""
        kept = np.arange(self.n_judges) % step == 0
        rows, size = kept[self.judge], np.diff(self.start)[kept]
        start = np.append(0, np.cumsum(size))
        own = self.left[rows], self.right[rows], self.counts[rows]
        return JudgeCells(start, *own, self.n_items)

    @property
    def n_judges(self) -> int:
        """The number of judges."""
        return len(self.start) - 1

    @property
    def judge(self) -> Ints:
        """The judge of each cell, shape (m,)."""
        return np.repeat(np.arange(self.n_judges), np.diff(self.start))


class JudgeObjective:
    """G, its gradient and its approximate Hessian at x = (β, s, t).

    `sided` and `tied`: s and t are variables. Deviations start where they were last.
    """

    def __init__(
        self,
        cells: JudgeCells,
        spread: Array,
        alpha: float,
        *,
        sided: bool,
        tied: bool,
        link: str = "davidson",
    ) -> None:
        self.cells, self.alpha, self.sided, self.tied = cells, alpha, sided, tied
        self.design = ItemDesign(cells.left, cells.right, cells.n_items)
        self.cumulative = tied and link == "cumulative"
        n = self.n_coef = self.design.n_coef
        self.n_variables = n + sided + tied
        self.effect = np.zeros((cells.n_judges, 3))
        self.inner = np.empty((cells.n_judges, 3, 3))  # D
        self.set_spread(spread)
        # See ComparisonObjective: without a penalty all strengths may move together.
        self.level = float(cells.counts.sum()) / n**2 if alpha == 0 else 0.0
        self.stiffness = _STIFF * (n + cells.n_judges)

    def set_spread(self, spread: Array) -> None:
        """Set the standard deviations σ (3,) of discrimination, tie and side."""
        self.spread = np.array(spread, dtype=np.float64)
        # Where `expand` was, and what it gave.
        self.at: tuple[Array, float, Array] | None = None
        with np.errstate(divide="ignore"):
            self.precision = np.minimum(self.spread, np.inf) ** -2.0
        self.effect[:, self.spread == 0.0] = 0.0

    def _common(self, x: Array) -> tuple[Array, tuple[float, float, bool]]:
        """Give the differences δ of the cells, and t, s and the link."""
        n = self.n_coef
        side = float(x[n]) if self.sided else 0.0
        tie = float(x[-1]) if self.tied else -math.inf
        return self.design.apply(x[:n]), (tie, side, self.cumulative)

    def value(self, x: Array) -> float:
        """Give G(x)."""
        self.at = None  # deviations move
        gap, common = self._common(x)
        if not np.isfinite(gap).all():
            return math.inf
        value = self._settle(gap, common) + self._penalty(x)
        return value if math.isfinite(value) else math.inf

    def _settle(self, gap: Array, common: tuple[float, float, bool]) -> float:
        """Find the deviations of all judges, and give G without the penalty."""
        cells, value = self.cells, np.empty(self.cells.n_judges)
        votes = cells.start, gap, cells.counts, common, self.precision
        _find_modes(*votes, self.effect, self.inner, value)
        free = self.spread > 0.0
        return float(value.sum()) + cells.n_judges * np.log(self.spread[free]).sum()

    @property
    def scale(self) -> float:
        """The mean ā of the discriminations of all judges."""
        return 1.0 + float(self.effect[:, 0].mean())

    def _penalty(self, x: Array) -> float:
        beta = x[: self.n_coef]
        penalty = self.alpha * float(beta @ beta)
        if self.sided:
            penalty += _WEAK * x[len(beta)] ** 2
        penalty += 0.5 * self.stiffness * (self.scale - 1.0) ** 2
        return penalty + 0.5 * self.level * float(beta.sum()) ** 2

    def expand(self, x: Array) -> tuple[float, Array]:
        """Give G and its gradient at x, and keep x for the Hessian."""
        if self.at is not None and np.array_equal(self.at[0], x):
            return self.at[1], self.at[2].copy()
        gap, common = self._common(x)
        value = self._settle(gap, common)
        value += self._penalty(x)
        cells, n = self.cells, self.n_coef
        self.gap, self.common = gap, common
        self.known: Array | None = None  # the Hessian, where it is used again
        # Of each cell and each judge: derivatives in δ, and in t, s and the three ln σ,
        # of the judge's part of G and of the discrimination; then mode minus mean of e.
        in_gap = np.empty((2, len(gap)))
        in_common = np.empty((cells.n_judges, 2, 8))

        votes = cells.start, gap, cells.counts, common, self.precision
        _differentiate(*votes, self.effect, self.inner, in_gap, in_common)
        self.own = in_gap[0], in_common[:, 0]
        self.mean = self.effect - in_common[:, 0, 5:]
        total, beta = in_common.sum(axis=0), x[:n]
        rest = [1] * self.sided + [0] * self.tied
        gradient = np.append(self.design.back(in_gap[0]), total[0, rest])
        slope = np.append(self.design.back(in_gap[1]), total[1, rest]) / cells.n_judges
        self.scale_slope, self.beta = slope, beta
        gradient[:n] += 2.0 * self.alpha * beta + self.level * beta.sum()
        if self.sided:
            gradient[n] += 2.0 * _WEAK * x[n]
        pull = self.stiffness * (self.scale - 1.0)
        gradient += pull * slope
        self.in_spread = total[0, 2:5] + pull * total[1, 2:5] / cells.n_judges
        self.at = x.copy(), value, gradient.copy()
        return value, gradient

    def jacobian(self) -> Array:
        """Derivatives of āβ in x at the last expanded point."""
        out = np.outer(self.beta, self.scale_slope)
        out.flat[:: self.n_variables + 1] += self.scale
        return out * (self.mean_scale / self.scale)

    @property
    def mean_scale(self) -> float:
        """The mean discrimination, from means of the judges: modes are too small."""
        return 1.0 + float(self.mean[:, 0].mean())

    def hessian_product(self, v: Array) -> Array:
        """H v at the last expanded point."""
        return self.hessian() @ v

    def hessian_diagonal(self) -> Array:
        """Diagonal of H at the last expanded point."""
        return np.diag(self.hessian())

    def hessian(self) -> Array:
        """Give the Schur complement at the last expanded point."""
        if self.known is None:
            self.known = self._hessian()
        return self.known

    def _hessian(self) -> Array:
        cells, n = self.cells, self.n_coef
        curvature, inner = self._curvature()
        a = np.repeat(1.0 + self.effect[:, 0], np.diff(cells.start))
        in_dd, in_dt, in_tt = curvature.T
        out = np.zeros((self.n_variables, self.n_variables))

        for rows in self._blocks():
            root = self._mixed(rows, curvature, inner).reshape(-1, len(out))
            out -= la.blas.dsyrk(1.0, root.T)  # the upper half
        out += np.triu(out, 1).T
        out[:n, :n] += self.design.gram(a * a * in_dd) + self.level
        out.flat[: n * len(out) : len(out) + 1] += 2.0 * self.alpha
        out += self.stiffness * np.outer(self.scale_slope, self.scale_slope)
        if self.sided:
            side = -self.design.back(a * in_dd)
            out[:n, n] += side
            out[n, :n] += side
            out[n, n] += in_dd.sum() + 2.0 * _WEAK
        if self.tied:
            tie = self.design.back(a * in_dt)
            out[:n, -1] += tie
            out[-1, :n] += tie
            out[-1, -1] += in_tt.sum()
        if self.sided and self.tied:
            out[n, -1] -= in_dt.sum()
            out[-1, n] -= in_dt.sum()
        return out

    def _curvature(self) -> tuple[Array, Array]:
        """Expected second derivatives in dd, dt and tt, (m, 3), and their D."""
        cells, out = self.cells, np.empty((len(self.gap), 3))
        inner = np.empty_like(self.inner)

        votes = cells.start, self.gap, cells.counts, self.common, self.precision
        _fill_curvature(*votes, self.effect, out, inner)
        return out, inner

    def judge_covariance(self, inverse: Array) -> Array:
        """Covariance of each judge's deviations, (R, 3, 3); `inverse` is that of x."""
        (curvature, inner), out = self._curvature(), np.empty_like(self.inner)

        for rows in self._blocks():
            mixed = self._mixed(rows, curvature, inner)
            flat = mixed.reshape(-1, mixed.shape[2])
            product = (flat @ inverse).reshape(mixed.shape)
            spread = np.eye(3) + product @ mixed.transpose(0, 2, 1)
            root = np.linalg.inv(np.linalg.cholesky(inner[rows]))
            out[rows] = root.transpose(0, 2, 1) @ spread @ root
        out[:, self.spread == 0.0] = out[:, :, self.spread == 0.0] = 0.0
        return out

    def _blocks(self) -> list[slice]:
        return chunks(self.cells.n_judges, max(1, _MIXED // self.n_coef))

    def _mixed(self, rows: slice, curvature: Array, inner: Array) -> Array:
        """L⁻¹ Bᵀ of some judges with L Lᵀ = D, shape (r, 3, n_variables)."""
        cells = self.cells
        out = np.zeros((rows.stop - rows.start, 3, self.n_variables))
        _fill_mixed(
            cells.start[rows.start : rows.stop + 1],
            cells.left,
            cells.right,
            self.gap,
            curvature,
            self.effect[rows],
            self.spread > 0.0,
            (self.n_coef if self.sided else -1, self.tied),
            out,
        )
        _whiten(inner[rows], out)
        return out

    def judge_scores(self) -> sp.csr_array:
        """Gradient of each judge's part of G at the last expanded point, (R, n)."""
        in_gap, in_common = self.own
        entries = in_gap, np.arange(len(in_gap)), self.cells.start
        items = sp.csr_array(entries) @ self.design.matrix()
        rest = in_common[:, [1] * self.sided + [0] * self.tied]
        return sp.hstack([items, sp.csr_array(rest)], format="csr")


# Compiled. The cumulative link is that of `comparison_likelihood` at the threshold w,
# and t = ln w.


@njit(cache=True, nogil=True)
def _expand(cumulative, d, t, w, left, tie, right):  # type: ignore[no-untyped-def]
    """Loss of a cell, slopes in d and t, and dd, dt, tt."""
    if not cumulative:
        return davidson_cell(d, t, w, left, tie, right)
    value, in_d, in_w, dd, dw, ww = cumulative_cell(d, w, left, tie, right)
    if tie > 0.0:
        width = width_loss(w, tie)
        value, in_w, ww = value + width[0], in_w + width[1], ww + width[2]
    return value, in_d, w * in_w, dd, w * dw, w * w * ww + w * in_w


@njit(cache=True, nogil=True)
def _expected(cumulative, d, t, w, n):  # type: ignore[no-untyped-def]
    """Second derivatives in dd, dt and tt that n votes have on average."""
    left, tie, right = n, 0.0, 0.0
    if cumulative:  # with Davidson's they depend on the number alone
        x, z = math.exp(-abs(w - d)), math.exp(-abs(w + d))
        above = (1.0 if w > d else x) / (1.0 + x)  # σ(w - d)
        below = (1.0 if w > -d else z) / (1.0 + z)
        left, right = n * (1.0 - below), n * (1.0 - above)
        tie = -n * above * below * math.expm1(-2.0 * w)
    _, _, _, dd, dt, tt = _expand(cumulative, d, t, w, left, tie, right)
    return dd, dt, tt


@njit(cache=True, nogil=True)
def _add_judge(gap, counts, common, precision, e, slope, inner):  # type: ignore[no-untyped-def]
    """Give f of one judge; fill its gradient and Hessian."""
    slope[:], inner[:] = 0.0, 0.0
    value, t = 0.0, common[0] + e[1]
    w = math.exp(t)
    for k in range(len(gap)):
        d = (1.0 + e[0]) * gap[k] - common[1] - e[2]
        left, tie, right = counts[k]
        cell = _expand(common[2], d, t, w, left, tie, right)
        loss, in_d, in_t, dd, dt, tt = cell
        value += loss
        slope[0] += in_d * gap[k]
        slope[1] += in_t
        slope[2] -= in_d
        _add_outer(gap[k], dd, dt, tt, inner)
    for i in range(3):
        if precision[i] == math.inf:
            slope[i] = 0.0
        else:
            value += 0.5 * precision[i] * e[i] * e[i]
            slope[i] += precision[i] * e[i]
    _add_prior(precision, inner)
    return value


@njit(cache=True, nogil=True)
def _add_outer(gap, dd, dt, tt, inner):  # type: ignore[no-untyped-def]
    """Add a cell's second derivatives in e; the upper half."""
    inner[0, 0] += dd * gap * gap
    inner[0, 1] += dt * gap
    inner[0, 2] -= dd * gap
    inner[1, 1] += tt
    inner[1, 2] -= dt
    inner[2, 2] += dd


@njit(cache=True, nogil=True)
def _add_prior(precision, inner):  # type: ignore[no-untyped-def]
    """Add the prior of e, fix what does not vary, mirror."""
    for i in range(3):
        if precision[i] == math.inf:
            for j in range(3):
                inner[min(i, j), max(i, j)] = 0.0
            inner[i, i] = 1.0
        else:
            inner[i, i] += precision[i]
        for j in range(i):
            inner[i, j] = inner[j, i]


@njit(cache=True, nogil=True)
def _factor(matrix, root):  # type: ignore[no-untyped-def]
    """Fill the lower Cholesky factor of a small matrix."""
    for i in range(len(root)):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= root[i, k] * root[j, k]
            if i == j:
                # The cumulative link is not convex in ln w: steps still go down.
                root[i, i] = math.sqrt(max(abs(total), 1e-8))
            else:
                root[i, j] = total / root[j, j]


@njit(cache=True, nogil=True)
def _solve(root, vector):  # type: ignore[no-untyped-def]
    """Replace b by the solution of L Lᵀ x = b."""
    for i in range(len(root)):
        for k in range(i):
            vector[i] -= root[i, k] * vector[k]
        vector[i] /= root[i, i]
    for i in range(len(root) - 1, -1, -1):
        for k in range(i + 1, len(root)):
            vector[i] -= root[k, i] * vector[k]
        vector[i] /= root[i, i]


@njit(cache=True, nogil=True)
def _find_modes(start, gap, counts, common, precision, effect, inner, value):  # type: ignore[no-untyped-def]
    """Update deviations to their modes; fill D and f + ½ ln|D|."""
    slope, step, trial = np.empty(3), np.empty(3), np.empty(3)
    root = np.zeros((3, 3))
    for j in range(len(value)):
        e, own = effect[j], slice(start[j], start[j + 1])
        now = _add_judge(gap[own], counts[own], common, precision, e, slope, inner[j])
        for _ in range(100):
            _factor(inner[j], root)
            step[:] = slope
            _solve(root, step)
            decrement = slope[0] * step[0] + slope[1] * step[1] + slope[2] * step[2]
            if decrement <= 1e-22 * (1.0 + abs(now)):
                break
            size, fell = 1.0, False
            for _ in range(40):
                for i in range(3):
                    trial[i] = e[i] - size * step[i]
                new = _add_judge(
                    gap[own], counts[own], common, precision, trial, slope, inner[j]
                )
                if new <= now - 1e-4 * size * decrement + 1e-13 * abs(now):
                    fell = True
                    break
                size *= 0.5
            if not fell:
                now = _add_judge(
                    gap[own], counts[own], common, precision, e, slope, inner[j]
                )
                _factor(inner[j], root)
                break
            e[:] = trial
            done = decrement <= 1e-10 * (1.0 + abs(now))  # the next is its square
            now = new
            if done:
                _factor(inner[j], root)
                break
        value[j] = now + math.log(root[0, 0] * root[1, 1] * root[2, 2])


@njit(cache=True, nogil=True)
def _differentiate(start, gap, counts, common, precision, effect, inner, in_gap, out):  # type: ignore[no-untyped-def]
    """Fill the derivatives in δ of each cell, and in t, s, ln σ of each judge.

    The mean of e is its mode minus D⁻¹ (half the third derivatives times D⁻¹).
    """
    root, inverse = np.zeros((3, 3)), np.empty((3, 3))
    pull, follow = np.empty(3), np.empty(3)
    for j in range(len(effect)):
        e = effect[j]
        _factor(inner[j], root)
        for i in range(3):
            inverse[i] = 0.0
            if precision[i] != math.inf:
                inverse[i, i] = 1.0
                _solve(root, inverse[i])
        t, a = common[0] + e[1], 1.0 + e[0]
        w = math.exp(t)
        pull[:] = 0.0
        for k in range(start[j], start[j + 1]):
            d = a * gap[k] - common[1] - e[2]
            in_d, in_t = _bend(common[2], gap[k], d, w, counts[k], inverse)
            in_gap[0, k], in_gap[1, k] = in_d, in_t
            pull[0] += in_d * gap[k]
            pull[1] += in_t
            pull[2] -= in_d
        for i in range(3):
            follow[i] = 0.0
            for k in range(3):
                follow[i] += inverse[i, k] * pull[k]
        out[j] = 0.0
        out[j, 0, 5:] = follow
        for k in range(start[j], start[j + 1]):
            g = gap[k]
            d = a * g - common[1] - e[2]
            left, tie, right = counts[k]
            cell = _expand(common[2], d, t, w, left, tie, right)
            _, slope, in_t, dd, dt, tt = cell
            # The cell's (d, t) as the judge follows.
            move_d, move_t = follow[0] * g - follow[2], follow[1]
            in_d = slope + in_gap[0, k] - dd * move_d - dt * move_t
            in_t += in_gap[1, k] - dt * move_d - tt * move_t
            # What a change of δ does to the row of e₁ itself.
            row_d = inverse[0, 0] * g - inverse[0, 2]
            turn = row_d * dd + inverse[0, 1] * dt
            in_gap[0, k] = a * in_d + turn - slope * follow[0]
            in_gap[1, k] = -a * turn - slope * inverse[0, 0]
            out[j, 0, 0] += in_t
            out[j, 0, 1] -= in_d
            out[j, 1, 0] -= row_d * dt + inverse[0, 1] * tt
            out[j, 1, 1] += turn
        for i in range(3):
            if precision[i] != math.inf:
                own = e[i] * e[i] + inverse[i, i] - 2.0 * e[i] * follow[i]
                out[j, 0, 2 + i] = 1.0 - precision[i] * own
                out[j, 1, 2 + i] = 2.0 * precision[i] * e[i] * inverse[0, i]


@njit(cache=True, nogil=True)
def _bend(cumulative, gap, d, w, counts, inverse):  # type: ignore[no-untyped-def]
    """Half the third derivatives of a cell, times its covariance."""
    left, tie, right = counts
    var_d = gap * gap * inverse[0, 0] - 2.0 * gap * inverse[0, 2] + inverse[2, 2]
    both, var_t = gap * inverse[0, 1] - inverse[1, 2], inverse[1, 1]
    if cumulative:
        x, z = math.exp(-abs(w - d)), math.exp(-abs(w + d))
        over, under = x / (1.0 + x) ** 2, z / (1.0 + z) ** 2
        over, under = (right + tie) * over, (left + tie) * under
        _, _, in_t, _, dt, tt = _expand(True, d, 0.0, w, left, tie, right)
        third_over = over * math.copysign((1.0 - x) / (1.0 + x), d - w)
        third_under = under * math.copysign((1.0 - z) / (1.0 + z), -d - w)
        total, apart = third_over + third_under, third_under - third_over
        ddt, dtt = w * total, w * w * apart + dt
        ttt = w * w * w * total + 3.0 * tt - 2.0 * in_t
        if tie > 0.0:
            y = math.exp(-2.0 * w)
            ttt -= tie * 8.0 * y * (1.0 + y) * (w / (1.0 - y)) ** 3
        in_d = apart * var_d + 2.0 * ddt * both + dtt * var_t
        return 0.5 * in_d, 0.5 * (ddt * var_d + 2.0 * dtt * both + ttt * var_t)
    # The slopes of one tie are ½ (p_right - p_left) and p_tie - 1.
    _, half, rest, _, _, _ = davidson_cell(d, 0.0, w, 0.0, 1.0, 0.0)
    p_tie, n = 1.0 + rest, left + tie + right
    # Third central moments of ∓½, 0 and of the indicator of a tie.
    ddt = p_tie * (2.0 * half * half - 0.25 * (1.0 - p_tie))
    ddd = half * (0.75 * p_tie - 0.5 + 2.0 * half * half)
    dtt = -half * p_tie * (1.0 - 2.0 * p_tie)
    ttt = p_tie * (1.0 - p_tie) * (1.0 - 2.0 * p_tie)
    in_d = ddd * var_d + 2.0 * ddt * both + dtt * var_t
    in_t = ddt * var_d + 2.0 * dtt * both + ttt * var_t
    return 0.5 * n * in_d, 0.5 * n * in_t


@njit(cache=True, nogil=True)
def _fill_curvature(start, gap, counts, common, precision, effect, out, inner):  # type: ignore[no-untyped-def]
    """Fill expected second derivatives of each cell, and their D."""
    for j in range(len(effect)):
        a, side = 1.0 + effect[j, 0], common[1] + effect[j, 2]
        t = common[0] + effect[j, 1]
        w = math.exp(t)
        inner[j] = 0.0
        for k in range(start[j], start[j + 1]):
            n = counts[k, 0] + counts[k, 1] + counts[k, 2]
            dd, dt, tt = _expected(common[2], a * gap[k] - side, t, w, n)
            out[k, 0], out[k, 1], out[k, 2] = dd, dt, tt
            _add_outer(gap[k], dd, dt, tt, inner[j])
        _add_prior(precision, inner[j])


@njit(cache=True, nogil=True)
def _fill_mixed(start, left, right, gap, curvature, effect, free, place, out):  # type: ignore[no-untyped-def]
    """Add the mixed second derivatives in deviations and x."""
    row = np.empty(3)
    for j in range(len(out)):
        a = 1.0 + effect[j, 0]
        for k in range(start[j], start[j + 1]):
            dd, dt, tt = curvature[k]
            row[0], row[1], row[2] = dd * gap[k], dt, -dd
            for i in range(3):
                if free[i]:
                    out[j, i, right[k]] += a * row[i]
                    out[j, i, left[k]] -= a * row[i]
                    if place[0] >= 0:
                        out[j, i, place[0]] -= row[i]
            if place[1]:
                row[0], row[1], row[2] = dt * gap[k], tt, -dt
                for i in range(3):
                    if free[i]:
                        out[j, i, -1] += row[i]


@njit(cache=True, nogil=True)
def _whiten(inner, out):  # type: ignore[no-untyped-def]
    """Replace Bᵀ of each judge by L⁻¹ Bᵀ, L Lᵀ = D."""
    root = np.zeros((3, 3))
    for j in range(len(out)):
        _factor(inner[j], root)
        for i in range(3):
            for c in range(out.shape[2]):
                total = out[j, i, c]
                for k in range(i):
                    total -= root[i, k] * out[j, k, c]
                out[j, i, c] = total / root[i, i]
