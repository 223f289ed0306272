# SPDX-License-Identifier: BSD-3-Clause
"""What 1-norm ranking learns from, as a program of scaled features.

Features are centered (if dense) and divided by their largest size, and all costs by
their sum, so that the solver sees numbers near one whatever the units are. The penalty
of a weight is divided likewise: it is the same program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data import Grades, Pairs
from tiebreak.data.messages import warn_user
from tiebreak.losses import GradeTree
from tiebreak.models.l1.risks import (
    FixedRows,
    GradeClasses,
    GradedPairRisk,
    ItemRisk,
    ListedPairRisk,
    class_pairs,
    keep_corners,
    pair_incidence,
)
from tiebreak.solvers import LPBundle, LPBundleSolution, SlackRows

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Features whose sizes differ by more than this are worth a warning.
_WILD = 1e3


@dataclass(frozen=True, eq=False)
class ScaledDesign:
    """Features as the solver sees them.

    Attributes
    ----------
    A : ndarray or csr_array of shape (n, k)
        Features that are not constant, at most 1 in size.
    size : ndarray of shape (k,)
        What they were divided by.
    columns : ndarray of int of shape (k,)
        Where they stand among all features.
    n_features : int
        Number of all features.
    """

    A: Any
    size: Floats
    columns: Codes
    n_features: int

    @classmethod
    def read(cls, values: Any, names: Any = None) -> ScaledDesign:
        """Scale features; warn if their sizes are far apart.

        Parameters
        ----------
        values : ndarray or csr_array of shape (n, p)
            Features.
        names : sequence of str, optional
            Their names.

        Returns
        -------
        ScaledDesign
        """
        p = values.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(values):
                spread = _sparse_spread(values)
                size = np.asarray(abs(values).max(axis=0).toarray()).ravel()
                size[spread == 0.0] = 0.0
                columns = np.flatnonzero(size)
                scale = sp.diags_array(1.0 / size[columns])
                A = sp.csr_array(values[:, columns] @ scale)
            else:
                A = values - values.mean(axis=0)
                A[:, np.ptp(values, axis=0) == 0.0] = 0.0
                spread = size = np.abs(A).max(axis=0, initial=0.0)
                columns = np.flatnonzero(size)
                A = np.ascontiguousarray(A[:, columns] / size[columns])
        if not np.isfinite(size).all():
            raise ValueError(
                "L1Ranker: features are too large for floating-point numbers; the "
                f"largest is {np.abs(values).max():.3g}. Scale them first, for example "
                "with StandardScaler."
            )
        _warn_of_scale(spread, names)
        return cls(A, size[columns], columns, p)

    def unscale(self, weights: Floats) -> Floats:
        """Give the weights of all features for those of scaled ones."""
        coef = np.zeros(self.n_features)
        coef[self.columns] = weights / self.size
        return coef


def _sparse_spread(values: Any) -> Floats:
    """Give max - min of the columns of a CSR array, its zeros included."""
    high = np.asarray(values.max(axis=0).toarray()).ravel()
    return high - np.asarray(values.min(axis=0).toarray()).ravel()


def _warn_of_scale(spread: Floats, names: Any) -> None:
    varying = np.flatnonzero(spread)
    if len(varying) < 2:
        return
    small, large = varying[spread[varying].argmin()], varying[spread[varying].argmax()]
    if spread[large] <= _WILD * spread[small]:
        return

    def name(j: int) -> str:
        return f"feature {j}" if names is None else repr(names[j])

    warn_user(
        "Features have very different scales: values of "
        f"{name(small)} spread over {spread[small]:.2g}, of {name(large)} over "
        f"{spread[large]:.2g}. The 1-norm is not scale free: it drops features with "
        "small values first. Scale them, for example with StandardScaler."
    )


# Up to so many rows the whole program is solved at once; beyond, so many are written
# down at a time. Measured: both take as long at some 1600 rows.
_WHOLE_ROWS, _ROWS_AT_A_TIME = 1500, 400
_MOST_THRESHOLDS = 100
# Every pair as a row is for comparison with the other forms, not for large data.
_MOST_ROWS = 20_000_000


@dataclass(frozen=True, eq=False)
class L1Solution:
    """A solution in the units of the user.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Weights of the features, exact zeros among them.
    objective, dual_objective : float
        Value reached, and what no weights can be below.
    dual_gradient : ndarray of shape (n_features,)
        Slope Σ λ (x_s - x_t) of the plane that proves it.
    gap : float
        Their relative difference.
    n_iter : int
        Linear programs that were solved.
    n_rows : tuple of int
        Constraints of the program before and after its reduction.
    converged : bool
        Whether the gap is within the tolerance.
    status : str
        ``"optimal"``, ``"time limit"`` or ``"iterations"``.
    risk : float
        The sum of the slacks.
    """

    coef: Floats
    objective: float
    dual_objective: float
    dual_gradient: Floats
    gap: float
    n_iter: int
    n_rows: tuple[int, int]
    converged: bool
    status: str
    risk: float


class L1Program:
    """A program and what the solver knows of it.

    Parameters
    ----------
    design : ScaledDesign
        Features.
    risk : PiecewiseRisk
        Slacks, divided by their sum of costs.
    total : float
        That sum.
    n_rows : tuple of int
        Constraints before and after a reduction; an `after` of 0 means those of the
        last linear program.
    order : csr_array, optional
        Rows that keep thresholds in order.
    whole : bool, default=False
        Whether to solve the whole program at once, whatever its size.
    """

    def __init__(
        self,
        design: ScaledDesign,
        risk: Any,
        total: float,
        n_rows: tuple[int, int],
        order: Any = None,
        *,
        whole: bool = False,
    ) -> None:
        self.design, self.risk, self.total = design, risk, total
        self.n_rows, self.order, self.whole = n_rows, order, whole
        self._bundle: LPBundle | None = None

    @property
    def n_weights(self) -> int:
        """Number of features that are not constant."""
        return len(self.design.size)

    def penalty(self, alpha: float) -> Floats:
        """Give the penalty of scaled weights.

        No slope of the risk is above 1, so that from there on more changes nothing.
        """
        with np.errstate(over="ignore", divide="ignore"):
            return np.minimum(alpha / self.total / self.design.size, 10.0)

    def solve(
        self,
        alpha: float,
        *,
        tol: float = 1e-6,
        max_iter: int = 1000,
        time_limit: float | None = None,
    ) -> L1Solution:
        """Solve for one alpha, from what is known from others.

        Parameters
        ----------
        alpha : float
            Price of the 1-norm.
        tol : float, default=1e-6
            Bound on the relative gap.
        max_iter : int, default=1000
            Linear programs at most.
        time_limit : float, optional
            Seconds.

        Returns
        -------
        L1Solution
        """
        if self._bundle is None:
            k, n_rows = self.n_weights, self.risk.n_rows
            # Planes are dense in the thresholds, and whole programs are sparse.
            dense = self.risk.n_variables - k > _MOST_THRESHOLDS
            wide = isinstance(self.risk, ItemRisk) and 10 * k > n_rows
            whole = self.whole or n_rows <= _WHOLE_ROWS or dense or wide
            at_a_time = max(_ROWS_AT_A_TIME, min(4 * k, 5 * _ROWS_AT_A_TIME))
            max_rows = max(n_rows, 1) if whole else at_a_time
            self._bundle = LPBundle(
                self.risk, self.n_weights, self.order, max_rows=max_rows
            )
        found = self._bundle.minimize(
            self.penalty(alpha), tol=tol, max_iter=max_iter, time_limit=time_limit
        )
        return self._unscale(found)

    def _unscale(self, found: LPBundleSolution) -> L1Solution:
        k, total = self.n_weights, self.total
        gradient = np.zeros(self.design.n_features)
        gradient[self.design.columns] = -total * found.plane.a[:k] * self.design.size
        return L1Solution(
            coef=self.design.unscale(found.x[:k]),
            objective=total * found.value,
            dual_objective=total * found.lower_bound,
            dual_gradient=gradient,
            gap=found.gap,
            n_iter=found.n_iter,
            n_rows=(self.n_rows[0], self.n_rows[1] or found.n_rows),
            converged=found.converged,
            status=found.status,
            risk=total * found.risk,
        )


def read_classes(
    model: Any, grades: Grades, weight: Floats, tree: GradeTree
) -> L1Program:
    """Make the program of graded items.

    Parameters
    ----------
    model : L1Ranker
        Its ``slack``, ``reduction`` and ``adjacent`` are used.
    grades : Grades
        Checked items.
    weight : ndarray of shape (n,)
        Weights of rows.
    tree : GradeTree
        Their pairs.

    Returns
    -------
    L1Program
    """
    if model.slack == "item" and grades.orders is not None:
        # Rows of a list weigh the root of its weight, because pairs multiply.
        weight = weight**2
    classes = GradeClasses.read(grades, weight, tree.rows)
    before = classes.n_pairs(model.adjacent)
    if model.reduction == "hull":
        classes = keep_corners(classes)
    design = ScaledDesign.read(classes.table.values, classes.table.feature_names)
    if model.slack == "pair":
        return _of_pairs(design, classes, model.reduction, before)
    cost = classes.weight
    if model.slack == "item-weighted":
        cost = cost * classes.partner_weight(model.adjacent)
    total = float(cost.sum())
    if model.reduction == "threshold":
        below, above, n_thresholds, order = classes.thresholds(model.adjacent)
        risk = ItemRisk(design.A, below, above, cost, n_thresholds, total)
        k = len(design.size)
        G = sp.csr_array(sp.hstack([sp.csr_array((order.shape[0], k)), order]))
        return L1Program(design, risk, total, (before, risk.n_rows + G.shape[0]), G)
    better, worse = _list_pairs(classes, model.adjacent)
    rows = _two_slacks(design, better, worse, cost / total)
    return L1Program(
        design, FixedRows(rows, design.A.shape[1]), total, (before, len(better))
    )


def _of_pairs(
    design: ScaledDesign, classes: GradeClasses, reduction: str | None, before: int
) -> L1Program:
    tree = GradeTree(classes.grade, classes.group, classes.weight)
    if reduction == "threshold":
        risk = GradedPairRisk(design.A, tree, tree.total)
        return L1Program(design, risk, tree.total, (before, 0))
    better, worse = _list_pairs(classes, adjacent=False)
    weight = classes.weight[better] * classes.weight[worse]
    listed = ListedPairRisk(design.A, better, worse, weight, tree.total)
    return L1Program(design, listed, tree.total, (before, len(better)), whole=True)


def read_comparisons(
    model: Any, pairs: Pairs, outcome: NDArray[np.int8], weight: Floats
) -> L1Program:
    """Make the program of comparisons with a winner.

    Parameters
    ----------
    model : L1Ranker
        Its ``slack`` is used.
    pairs : Pairs
        Comparisons of compact items.
    outcome : ndarray of int8 of shape (n,)
        Outcomes -1 and +1.
    weight : ndarray of shape (n,)
        Weights, above 0.

    Returns
    -------
    L1Program
    """
    table, code = pairs.unique_items()
    left, right = code[pairs.left], code[pairs.right]
    better = np.where(outcome > 0, right, left)
    worse = np.where(outcome > 0, left, right)
    # The same pair told twice is one pair of twice the weight.
    key, row = np.unique(better * table.n_items + worse, return_inverse=True)
    weight = np.bincount(row, weight, len(key)).astype(np.float64)
    better, worse = key // table.n_items, key % table.n_items
    design = ScaledDesign.read(table.values, table.feature_names)
    if model.slack == "pair":
        total = float(weight.sum())
        risk = ListedPairRisk(design.A, better, worse, weight, total)
        return L1Program(design, risk, total, (len(outcome), 0))
    used, place = np.unique(np.append(better, worse), return_inverse=True)
    cost = np.ones(len(used))
    if model.slack == "item-weighted":
        cost[:] = np.bincount(place, np.append(weight, weight), len(used))
    total = float(cost.sum())
    in_table = np.zeros(table.n_items)
    in_table[used] = cost / total
    rows = _two_slacks(design, better, worse, in_table)
    return L1Program(
        design, FixedRows(rows, design.A.shape[1]), total, (len(outcome), len(better))
    )


def _two_slacks(
    design: ScaledDesign, better: Codes, worse: Codes, cost: Floats
) -> SlackRows:
    """Write every pair as a row with the slacks of both of its items."""
    n = design.A.shape[0]
    items = pair_incidence(better, worse, n)
    used = np.flatnonzero(cost > 0.0)
    return SlackRows(
        D=sp.csr_array(items @ design.A),
        S=sp.csr_array(abs(items)[:, used]),
        offset=np.ones(len(better)),
        cost=cost[used],
    )


def _list_pairs(classes: GradeClasses, adjacent: bool) -> tuple[Codes, Codes]:
    n_pairs = classes.n_pairs(adjacent)
    if n_pairs > _MOST_ROWS:
        raise ValueError(
            f"L1Ranker: reduction={None!r} and 'hull' write every pair as a row of the "
            f"program, here {n_pairs:,} of them; expected at most {_MOST_ROWS:,}. Use "
            "reduction='threshold', which has the same optimum with two rows per item."
        )
    return class_pairs(classes, adjacent)
