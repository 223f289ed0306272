# SPDX-License-Identifier: BSD-3-Clause
"""Graded items as a program: what models of grades and orders share.

Utilities of the n rows are u = A x for a design A: the features themselves for the
linear kernel, else a factor of the kernel matrix of the rows, K = A Aᵀ, so that
‖x‖ is the norm of the utility in the space of the kernel. Whatever minimizes
½‖x‖² + C L(A x) therefore serves every kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Grades, Orders, check_grades, check_weights
from tiebreak.data.messages import warn_user
from tiebreak.data.validation import remember_features
from tiebreak.losses import GradeHinge, GradeSquaredHinge, GradeTree
from tiebreak.models.kernel_utility import KernelFactor, KernelUtility, factor_kernel
from tiebreak.models.primal import PrimalSolution
from tiebreak.models.training_items import TrainingItems

Floats = NDArray[np.float64]


def read_grades(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[Grades, Floats]:
    """Check graded items or orders, and remember their features in the model.

    Parameters
    ----------
    model : estimator
        Is being fitted; what it learned before is forgotten.
    X : table of items or Orders
        Items with grades y, or orders without.
    y, qid, sample_weight
        As in ``fit``. The weight of an order is that of each item in it.

    Returns
    -------
    grades : Grades
    weight : ndarray of shape (n,)
    """
    grades, weight = check_graded(X, y, qid, sample_weight)
    model._forget()
    lists = grades.orders
    remember_features(model, grades.items if lists is None else lists.table)
    model.fitted_with_qid_ = lists is not None or qid is not None
    return grades, weight


def check_graded(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[Grades, Floats]:
    """Check graded items or orders, and bring their weights to the rows.

    Parameters
    ----------
    X, y, qid, sample_weight
        As in ``read_grades``.

    Returns
    -------
    grades : Grades
    weight : ndarray of shape (n,)
    """
    if isinstance(X, Orders):
        weight = check_lists(X, y, qid, sample_weight)
        return replace(check_grades(*X.grades()), orders=X), weight
    grades = check_grades(X, y, qid)
    return grades, check_weights(sample_weight, len(grades.y))


def check_lists(
    orders: Orders,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Check what comes with orders, and bring the weights of lists to their entries.

    Parameters
    ----------
    orders : Orders
        The lists.
    y, qid : None
        Anything else is refused.
    sample_weight : array-like of shape (n,), optional
        Weights of the lists.

    Returns
    -------
    ndarray of shape (n_entries,)
    """
    if y is not None or qid is not None:
        raise ValueError(
            "Orders hold their own grades and groups; expected no y and no qid with "
            "them. Call fit(orders)."
        )
    weight = check_weights(sample_weight, len(orders))
    # A pair weighs the product of its items' weights.
    return np.repeat(np.sqrt(weight), orders.lengths)


@dataclass(frozen=True, eq=False)
class GradedProblem:
    """Training items, their pairs and their design.

    Attributes
    ----------
    A : ndarray or csr_array of shape (n, q)
        The design: utilities of the rows are A x.
    tree : GradeTree
        The pairs of rows.
    rows : ndarray of int of shape (n,)
        Where the rows stand in what the user passed.
    items : TrainingItems or None
        Distinct items and kernel; None for the linear kernel.
    factor : KernelFactor or None
        The factor of their kernel.
    columns : ndarray of int or None
        For a precomputed kernel: its column of each row of the factor.
    """

    A: Any
    tree: GradeTree
    rows: NDArray[np.int64]
    items: TrainingItems | None = None
    factor: KernelFactor | None = None
    columns: NDArray[np.int64] | None = None

    @classmethod
    def read(
        cls, model: KernelUtility, grades: Grades, weight: Floats, per_group: str
    ) -> GradedProblem:
        """Find the pairs and resolve the kernel.

        Parameters
        ----------
        model : KernelUtility
            Its ``kernel``, ``gamma``, ``degree`` and ``coef0`` are used.
        grades : Grades
            Checked items.
        weight : ndarray of shape (n,)
            Weights of rows.
        per_group : {"sum", "mean"}
            Whether a group counts by its pairs or once.

        Returns
        -------
        GradedProblem
        """
        tree = plant_tree(model, grades, weight, per_group)
        kernel = model.kernel
        rows = np.arange(len(grades.y))
        if isinstance(kernel, str) and kernel == "linear":
            return cls(grades.items.values, tree, rows)
        # A kernel costs memory for every row, so rows without a pair are left out.
        if len(tree.rows) < len(rows):
            rows = np.sort(tree.rows)
            tree = _make_tree(grades, weight, per_group, rows)
        if isinstance(kernel, str) and kernel == "precomputed":
            return cls._of_gram(grades, tree, rows)
        table, code = grades.items.take(rows).unique()
        items = TrainingItems.of_table(
            table, code, kernel, model.gamma, model.degree, model.coef0
        )
        factor = factor_kernel(items, np.arange(table.n_items))
        A = factor.values if table.n_items == len(rows) else factor.values[code]
        return cls(A, tree, rows, items, factor)

    @classmethod
    def _of_gram(
        cls, grades: Grades, tree: GradeTree, rows: NDArray[np.int64]
    ) -> GradedProblem:
        if grades.orders is None:
            items = TrainingItems.of_gram(grades.items)
            factor = factor_kernel(items, rows)
            return cls(factor.values, tree, rows, items, factor, rows)
        # An item of several lists is one row and column of the kernel.
        items = TrainingItems.of_gram(grades.orders.table)
        columns, code = np.unique(grades.orders.flat[rows], return_inverse=True)
        factor = factor_kernel(items, columns)
        return cls(factor.values[code], tree, rows, items, factor, columns)

    def unpack(self, model: KernelUtility, x: Floats) -> None:
        """Set the attributes from which the model computes utilities.

        Parameters
        ----------
        model : KernelUtility
            The model that is being fitted.
        x : ndarray of shape (q,)
            Coefficients of the design.
        """
        if self.items is None or self.factor is None:
            model.coef_ = x
            return
        a = np.zeros(self.items.n_items)
        pivots = self.factor.pivots
        if self.columns is not None:
            pivots = self.columns[pivots]
        a[pivots] = self.factor.item_coef(x)
        model._keep_expansion(self.items, a)

    def make_loss(self, name: str) -> GradeHinge | GradeSquaredHinge:
        """Give the loss of the utilities of the rows.

        Parameters
        ----------
        name : {"hinge", "squared_hinge"}

        Returns
        -------
        GradeHinge or GradeSquaredHinge
        """
        if name == "hinge":
            return GradeHinge(self.tree)
        return GradeSquaredHinge(self.tree)

    def keep_support(self, model: Any, solution: PrimalSolution) -> None:
        """Set ``support_`` and ``dual_coef_``: w = Σ dual_coef_i Φ(x_i).

        Parameters
        ----------
        model : estimator
            The model that is being fitted.
        solution : PrimalSolution
            The solution.
        """
        used = np.flatnonzero(solution.row_coef)
        model.support_ = self.rows[used]
        model.dual_coef_ = solution.row_coef[used]


def plant_tree(model: Any, grades: Grades, weight: Floats, per_group: str) -> GradeTree:
    """Find the pairs of graded items; say which groups have none.

    Parameters
    ----------
    model : estimator
        Named in messages.
    grades : Grades
        Checked items.
    weight : ndarray of shape (n,)
        Weights of rows.
    per_group : {"sum", "mean"}
        Whether a group counts by its pairs or once.

    Returns
    -------
    GradeTree
    """
    if per_group not in ("sum", "mean"):
        raise ValueError(
            f"{type(model).__name__} got per_group={per_group!r}; expected 'sum' "
            "(every pair counts alike) or 'mean' (every group counts alike)."
        )
    # Weights beyond the range of floating-point numbers are refused below.
    with np.errstate(all="ignore"):
        tree = _make_tree(grades, weight, per_group, slice(None))
    if tree.n_pairs == 0:
        refuse_no_pairs(len(grades.y), grades.n_groups)
    factors = np.append(tree.scale, tree.total)
    if not ((factors > 0.0) & (factors < np.inf)).all():
        refuse_weights(float(weight[weight > 0].min()), float(weight.max()))
    warn_idle_groups(tree.n_idle_groups, tree.n_groups)
    return tree


def refuse_no_pairs(n_rows: int, n_groups: int) -> NoReturn:
    """Say that no two items of a group can be compared."""
    raise ValueError(
        f"There is no pair to learn from: {n_rows} sample(s) in {n_groups} group(s), "
        "and no group has two items of different grades and positive weight. Check "
        "that qid is the group and not the row number."
    )


def refuse_weights(smallest: float, largest: float) -> NoReturn:
    """Say that products of weights are too large or too small."""
    raise ValueError(
        "The weight of a pair, the product of two sample weights, is beyond what a "
        f"floating-point number can hold: positive weights are from {smallest:.3g} to "
        f"{largest:.3g}. Multiply all weights by a constant to bring them near 1."
    )


def warn_idle_groups(n_idle: int, n_groups: int) -> None:
    """Say how many groups have no pair."""
    if n_idle:
        warn_user(
            f"{n_idle} of {n_groups} groups have one item only or all grades equal. "
            "Nothing is to be learned from them, and they are left out."
        )


def _make_tree(
    grades: Grades, weight: Floats, per_group: str, rows: slice | NDArray[np.int64]
) -> GradeTree:
    group_weight = None
    if grades.orders is not None:
        # The rows of a list weigh alike, so that a mean over its pairs knows nothing
        # of the weight of the list.
        group_weight = weight[grades.orders.indptr[:-1]] ** 2
    return GradeTree(
        grades.y[rows], grades.group[rows], weight[rows], per_group, group_weight
    )
