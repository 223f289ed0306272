# SPDX-License-Identifier: BSD-3-Clause
"""Graded items and comparisons as a program of squared differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Grades, ItemTable, check_comparisons
from tiebreak.data.messages import warn_user
from tiebreak.data.validation import remember_features
from tiebreak.kernels import make_kernel
from tiebreak.losses import GroupLaplacian, Laplacian, PairLaplacian
from tiebreak.models.base import refuse_only_ties
from tiebreak.models.graded_problem import read_grades, refuse_no_pairs, refuse_weights
from tiebreak.models.kernel_utility import MAX_PIVOTS, KernelUtility
from tiebreak.models.least_squares.normal_equations import (
    ColumnForm,
    KernelPoints,
    LinearPoints,
    Points,
    RowForm,
)
from tiebreak.models.training_items import TrainingItems

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Direct solvers store a matrix of this many rows and columns at most, unless asked to.
LARGEST = 8192


@dataclass(frozen=True, eq=False)
class LeastSquaresProblem:
    """min over w of ‖t - B u‖² + α‖w‖², with u the utilities of points.

    Attributes
    ----------
    points : Points
        n points: graded rows, or the distinct items of comparisons.
    laplacian : Laplacian
        L = BᵀB of the points.
    target : ndarray of shape (m,)
        t, divided by `scale`.
    scale : float
        The largest entry of the target.
    given : ndarray of int
        What has a coefficient, rows or comparisons, by its number in the input.
    ends : ndarray of int of shape (m, 2) or None
        Points left and right of each comparison; None for graded rows.
    grades : ndarray of shape (n,) or None
        Grades of graded rows.
    n_pairs : int
        Number of pairs.
    """

    points: Points
    laplacian: Laplacian
    target: Floats
    scale: float
    given: Codes
    ends: Codes | None
    grades: Floats | None
    n_pairs: int

    def form(self) -> ColumnForm | RowForm:
        """Choose the smaller of the two linear systems."""
        kind = ColumnForm if self._by_columns else RowForm
        return kind(self.points, self.laplacian, self.target)

    @property
    def _by_columns(self) -> bool:
        q, m = self.points.n_columns, self.laplacian.n_roots
        if isinstance(self.points, LinearPoints):
            return q < m
        # A kernel has a design only after it was factored, which takes time.
        return 2 * q < m and q <= MAX_PIVOTS

    def fits(self) -> bool:
        """Say whether the smaller system is small enough for direct solvers."""
        q, m = self.points.n_columns, self.laplacian.n_roots
        return (q if self._by_columns else m) <= LARGEST

    def value(self, scaled: float) -> float:
        """Give the objective in the scale of the grades."""
        with np.errstate(over="ignore", under="ignore"):
            value = float(np.float64(scaled) * self.scale * self.scale)
        if not np.isfinite(value):
            raise ValueError(
                "the sum of squared differences of the grades overflows: the largest "
                f"is about {self.scale:.3g}. Scale the grades or the weights."
            )
        return value

    def keep_support(self, model: Any, b: Floats) -> None:
        """Set ``support_`` and ``dual_coef_``.

        w = Σ dual_coef_t Φ(x_t) for graded rows, and Σ dual_coef_t (Φ(right_t) -
        Φ(left_t)) for comparisons.

        Parameters
        ----------
        model : estimator
            The model that is being fitted.
        b : ndarray of shape (m,)
            Coefficients of the rows of the root.
        """
        b = self.scale * b
        if self.ends is None:
            coef = self.laplacian.root_transpose(b)
        else:
            assert isinstance(self.laplacian, PairLaplacian)
            coef = np.sqrt(self.laplacian.weight) * b
        used = np.flatnonzero(coef)
        model.support_, model.dual_coef_ = self.given[used], coef[used]


def read_graded(
    model: KernelUtility,
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    per_group: str,
    *,
    keep_all: bool = False,
) -> LeastSquaresProblem:
    """Read graded items or orders.

    Parameters
    ----------
    model : KernelUtility
        Is being fitted; its kernel is used.
    X, y, qid, sample_weight
        As in ``fit``.
    per_group : {"sum", "mean"}
        Whether the pair sum of a group is divided by its size.
    keep_all : bool, default=False
        Whether rows that no pair speaks of are points too.

    Returns
    -------
    LeastSquaresProblem
    """
    grades, weight = read_grades(model, X, y, qid, sample_weight)
    active = _active_rows(grades, weight)
    everything = np.arange(len(grades.y))
    is_linear = isinstance(model.kernel, str) and model.kernel == "linear"
    rows = everything if keep_all or is_linear else active
    if per_group == "mean" and grades.orders is not None:
        # Rows of a list weigh the root of its weight, and their pairs all of it. A mean
        # divides by the weight of the rows once, which must leave that of the list.
        weight = weight**2
    kept = np.zeros(len(weight))
    kept[active] = weight[active]
    laplacian = GroupLaplacian(grades.group[rows], kept[rows], per_group)
    # Differences of grades, however large or small, are told apart near 1.
    y_rows = grades.y[rows]
    span = np.abs(laplacian.center(y_rows))[kept[rows] > 0].max(initial=0.0)
    target = laplacian.root(y_rows / span)
    largest = float(np.abs(target).max())
    size = np.bincount(grades.group[active], minlength=grades.n_groups)
    return LeastSquaresProblem(
        _points_of_rows(model, grades, rows, active),
        laplacian,
        target / largest,
        largest * span,
        rows,
        None,
        y_rows,
        int((size * (size - 1) // 2).sum()),
    )


def _active_rows(grades: Grades, weight: Floats) -> Codes:
    """Find the rows that have a pair; refuse if there are none, warn of the others."""
    present = weight > 0.0
    n_present = np.bincount(grades.group[present], minlength=grades.n_groups)
    low, high = np.full(grades.n_groups, np.inf), np.full(grades.n_groups, -np.inf)
    np.minimum.at(low, grades.group[present], grades.y[present])
    np.maximum.at(high, grades.group[present], grades.y[present])
    if not (high > low).any():
        refuse_no_pairs(len(grades.y), grades.n_groups)
    with np.errstate(over="ignore", under="ignore"):
        pair_weights = weight[present].min() ** 2, weight[present].sum() ** 2
    if not 0.0 < pair_weights[0] <= pair_weights[1] < np.inf:
        refuse_weights(float(weight[present].min()), float(weight.max()))
    warn_single_items(int((n_present == 1).sum()), int((n_present > 0).sum()))
    return np.flatnonzero(present & (n_present[grades.group] > 1))


def warn_single_items(n_idle: int, n_groups: int) -> None:
    """Say how many groups have no pair."""
    if n_idle:
        warn_user(
            f"{n_idle} of {n_groups} groups have one item only. Nothing is to be "
            "learned from them, and they are left out."
        )


def _points_of_rows(
    model: KernelUtility, grades: Grades, rows: Codes, active: Codes
) -> Points:
    kernel = model.kernel
    if isinstance(kernel, str) and kernel == "linear":
        return LinearPoints(grades.items.values)
    if isinstance(kernel, str) and kernel == "precomputed":
        if grades.orders is None:
            return KernelPoints(TrainingItems.of_gram(grades.items), rows)
        # An item of several lists is one row and column of the kernel.
        gram = TrainingItems.of_gram(grades.orders.table)
        return KernelPoints(gram, grades.orders.flat[rows])
    table, code = grades.items.take(rows).unique()
    gamma = model.gamma
    if len(active) < len(rows):
        gamma = _gamma_of(model, grades.items.take(active))
    items = TrainingItems.of_table(
        table, code, kernel, gamma, model.degree, model.coef0
    )
    return KernelPoints(items, code)


def _gamma_of(model: KernelUtility, table: ItemTable) -> float | str:
    """Resolve gamma on the items that count, whatever others there are."""
    if callable(model.kernel):
        return model.gamma
    return make_kernel(
        model.kernel,
        gamma=model.gamma,
        degree=model.degree,
        coef0=model.coef0,
        items=table.unique()[0].values,
    ).gamma


def read_compared(
    model: KernelUtility,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    keep_all: bool = False,
) -> LeastSquaresProblem:
    """Read comparisons: right - left is to be 1, 0 or -1.

    Parameters
    ----------
    model : KernelUtility
        Is being fitted; its kernel is used.
    X, y, sample_weight
        As in ``fit``.
    keep_all : bool, default=False
        Whether comparisons of weight zero are rows too.

    Returns
    -------
    LeastSquaresProblem
    """
    pairs, outcome, weight = check_comparisons(X, y, sample_weight)
    present = np.flatnonzero(weight > 0.0)
    if not outcome[present].any():
        refuse_only_ties(model, len(present))
    given = np.arange(len(pairs)) if keep_all else present
    precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
    gamma = model.gamma
    if len(given) > len(present) and pairs.has_features and not precomputed:
        gamma = _gamma_of(model, pairs[present].compact().table)
    pairs, outcome, weight = pairs[given], outcome[given], weight[given]
    pairs = pairs if precomputed else pairs.compact()
    model._forget()
    if pairs.items is None:
        assert pairs.names is not None
        model.items_ = pairs.names
    else:
        remember_features(model, pairs.items)
    items = TrainingItems.read(pairs, model.kernel, gamma, model.degree, model.coef0)
    ends = np.column_stack([items.code[pairs.left], items.code[pairs.right]])
    points: Points
    if not items.is_linear:
        # Of a precomputed kernel only the items that are compared.
        used, place = np.unique(ends, return_inverse=True)
        points, ends = KernelPoints(items, used), place.reshape(ends.shape)
    elif items.table is None:
        points = LinearPoints(sp.eye_array(items.n_items, format="csr"))
    else:
        points = LinearPoints(items.table.values)
    target = np.sqrt(weight) * outcome
    scale = float(np.abs(target).max())
    return LeastSquaresProblem(
        points,
        PairLaplacian(ends[:, 0], ends[:, 1], weight, points.n),
        target / scale,
        scale,
        given,
        ends,
        None,
        len(present),
    )
