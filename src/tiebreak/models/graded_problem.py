# SPDX-License-Identifier: BSD-3-Clause
"""Graded items and orders: reading them, their pairs, and the problem of learning.

Utilities of the n rows are u = A x for a design A: the features themselves for the
linear kernel, else a factor of the kernel matrix of the rows, K = A Aᵀ, so that
‖x‖ is the norm of the utility in the space of the kernel. Whatever minimizes
½‖x‖² + C L(A x) therefore serves every kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Grades, ItemTable, Orders, check_grades, check_weights
from tiebreak.data.messages import DataWarning, warn_user
from tiebreak.losses import GradeHinge, GradeTree, UtilityLoss
from tiebreak.models.kernel_utility import (
    KernelFactor,
    KernelUtility,
    design_expansion,
    factor_kernel,
    support,
)
from tiebreak.models.primal import PrimalSolution
from tiebreak.models.training_items import TrainingItems

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def read_grades(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[Grades, Floats]:
    """Check graded items or orders for a model that starts to be fitted to them."""
    grades, weight = check_graded(X, y, qid, sample_weight)
    lists = grades.orders
    table = grades.items if lists is None else lists.table
    model._start_fit(table, with_qid=lists is not None or qid is not None)
    return grades, weight


def check_graded(
    X: Any, y: ArrayLike | None, qid: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[Grades, Floats]:
    """Check graded items or orders; return them and the weights of their rows."""
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
    """Refuse y and qid with orders; return the weights of lists at their entries."""
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
    """Training items, their pairs, their design A and the loss of utilities A x."""

    A: Any
    tree: GradeTree
    loss: UtilityLoss | GradeHinge
    rows: Codes  # places of the rows of the design in what the user passed
    items: TrainingItems | None = None  # as the factor, None for the linear kernel
    factor: KernelFactor | None = None
    columns: Codes | None = None  # of a precomputed kernel, for each row of the factor

    @classmethod
    def read(
        cls,
        model: KernelUtility,
        grades: Grades,
        weight: Floats,
        per_group: str,
        make_loss: Callable[[GradeTree], UtilityLoss | GradeHinge],
    ) -> GradedProblem:
        """Find the pairs and resolve the kernel of the model."""
        tree = plant_tree(model, grades, weight, per_group)
        rows = np.arange(len(grades.y))
        if isinstance(model.kernel, str) and model.kernel == "linear":
            return cls(grades.items.values, tree, make_loss(tree), rows)
        # A kernel costs memory for every row, so rows without a pair are left out.
        if len(tree.rows) < len(rows):
            rows = np.sort(tree.rows)
            tree = _make_tree(grades, weight, per_group, rows)
        loss = make_loss(tree)
        if not model._is_precomputed:
            table, code = grades.items.take(rows).unique()
            items = TrainingItems.of_table(
                table, code, model.kernel, model.gamma, model.degree, model.coef0
            )
            factor = factor_kernel(items, np.arange(table.n_items))
            A = factor.values if table.n_items == len(rows) else factor.values[code]
            return cls(A, tree, loss, rows, items, factor)
        if grades.orders is None:
            items = TrainingItems.of_gram(grades.items)
            factor = factor_kernel(items, rows)
            return cls(factor.values, tree, loss, rows, items, factor, rows)
        # An item of several lists is one row and column of the kernel.
        items = TrainingItems.of_gram(grades.orders.table)
        columns, code = np.unique(grades.orders.flat[rows], return_inverse=True)
        factor = factor_kernel(items, columns)
        return cls(factor.values[code], tree, loss, rows, items, factor, columns)

    def fitted(self, solution: PrimalSolution, C: float) -> dict[str, Any]:
        """Return the attributes of the utility, and w = Σ dual_coef_i Φ(x_i)."""
        return {
            **design_expansion(solution.x, self.items, self.factor, self.columns),
            **support(self.rows, solution.row_coef),
        }


def item_places(grades: Grades, rows: Codes) -> tuple[ItemTable, Codes]:
    """Give the table of items, and its row of each graded row."""
    if grades.orders is None:
        return grades.items, rows
    # An item of several lists is one row, and one column of a precomputed kernel.
    return grades.orders.table, grades.orders.flat[rows]


def plant_tree(model: Any, grades: Grades, weight: Floats, per_group: str) -> GradeTree:
    """Find the pairs of graded items; warn of groups that have none."""
    if per_group not in ("sum", "mean"):
        raise ValueError(
            f"{type(model).__name__} got per_group={per_group!r}; expected 'sum' "
            "(every pair counts the same) or 'mean' (every group counts the same)."
        )
    tree = _make_tree(grades, weight, per_group, slice(None))
    if tree.n_pairs == 0:
        refuse_no_pairs(len(grades.y), grades.n_groups)
    warn_idle_groups(tree.n_idle_groups, tree.n_groups)
    return tree


def refuse_no_pairs(n_rows: int, n_groups: int) -> NoReturn:
    """Raise the error of items of which no two can be compared."""
    raise ValueError(
        f"There is no pair to learn from: {n_rows} sample(s) in {n_groups} group(s), "
        "and no group has two items of different grades and positive weight. Check "
        "that qid is the group and not the row number."
    )


def warn_idle_groups(n_idle: int, n_groups: int) -> None:
    """Warn of groups without a pair."""
    if n_idle:
        warn_user(
            f"{n_idle} of {n_groups} groups have one item only or all grades equal. "
            "Nothing is to be learned from them, and they are left out.",
            DataWarning,
        )


def _make_tree(
    grades: Grades, weight: Floats, per_group: str, rows: slice | Codes
) -> GradeTree:
    group_weight = None
    if grades.orders is not None:
        # All rows of a list have the same weight, which a mean over its pairs cancels.
        group_weight = weight[grades.orders.indptr[:-1]] ** 2
    return GradeTree(
        grades.y[rows], grades.group[rows], weight[rows], per_group, group_weight
    )
