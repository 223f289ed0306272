# SPDX-License-Identifier: BSD-3-Clause
"""The objective of a pursuit: a sum of squares as a function of distinct items.

It is c - 2 b·f + fᵀLf for the utilities f of the distinct items, with a Laplacian L, or
for single grades a diagonal one.

A Laplacian does not see constants. They are removed from columns k, because they would
cost the digits of columns that hardly vary, such as those of a wide Gaussian kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tiebreak.data import Comparisons, Grades, ItemTable, read_data
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.messages import FitWarning, warn_user
from tiebreak.data.validation import check_features
from tiebreak.losses import GroupLaplacian, Laplacian, PairLaplacian
from tiebreak.losses.linear_objective import weigh_squares
from tiebreak.metrics import comparison_error, swapped_pairs
from tiebreak.models.base import warn_flat
from tiebreak.models.problem import (
    KernelItems,
    laplacian_of,
    refuse_only_ties,
    rows_of_differences,
)


class WeightForm:
    """L = diag(w)."""

    def __init__(self, weight: Floats) -> None:
        self.weight = weight

    def product(self, v: Floats) -> Floats:
        """Give L v."""
        return self.weight * v if v.ndim == 1 else self.weight[:, None] * v

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk twice, for columns in rows; nothing cancels in it."""
        norm = np.einsum("ij,ij,j->i", block, block, self.weight)
        return np.column_stack([norm, norm])

    def reduce(self, k: Floats) -> Floats:
        """Give k itself: L sees all of it."""
        return k


class LaplacianForm:
    """The Laplacian of pairs or groups of rows, as a function of distinct items."""

    def __init__(self, laplacian: Laplacian, code: Codes | None = None) -> None:
        self._laplacian, self._code = laplacian, code
        self._diagonal = laplacian.diagonal()
        if code is not None:
            n, m = laplacian.n, int(code.max()) + 1
            self._gather = sp.csr_array((np.ones(n), (code, np.arange(n))), (m, n))

    def gather(self, v: Floats) -> Floats:
        """Sum the rows of each item."""
        return v if self._code is None else np.asarray(self._gather @ v)

    def product(self, v: Floats) -> Floats:
        """Give L v of one vector, or of several in columns."""
        at_rows = v if self._code is None else v[self._code]
        return self.gather(self._laplacian.product(at_rows))

    def measure(self, block: Floats) -> Floats:
        """Give kᵀLk, and its size without cancellation, of columns in rows."""
        at_rows = np.ascontiguousarray(block.T)
        if self._code is not None:
            at_rows = at_rows[self._code]
        if isinstance(self._laplacian, GroupLaplacian):
            root = self._laplacian.root(at_rows)
            norm = np.einsum("ij,ij->j", root, root)
        else:  # of fewer rows than its root; constants would only cancel
            centered = at_rows - at_rows.mean(axis=0)
            norm = np.einsum("ij,ij->j", centered, self._laplacian.product(centered))
        return np.column_stack([norm, weigh_squares(at_rows, self._diagonal)])

    def reduce(self, k: Floats) -> Floats:
        """Subtract the mean, which L does not see."""
        return k - k.mean()


@dataclass(frozen=True, eq=False)
class PursuitProblem:
    """c - 2 b·f + fᵀLf for utilities f of the distinct training items."""

    data: Comparisons | Grades
    items: KernelItems  # the distinct items, which are the centers
    form: WeightForm | LaplacianForm  # L
    b: Floats  # (n,), the linear term, of targets divided by `unit`
    c: float  # the constant term, of targets divided by `unit`
    unit: float  # a power of two, so that targets of any size can be squared


def problem_of_differences(model: Any, data: Grades) -> PursuitProblem:
    """Build the squared error of differences inside groups."""
    rows = np.flatnonzero(data.weight)
    rows_of_differences(data, rows, model.per_group)  # others may still be centers
    laplacian = pair_sums(data, rows, model.per_group)
    items, code = KernelItems.merge(model, data.table, data.places[rows])
    plain = items.n_items == len(code) and bool((np.diff(code) > 0).all())
    form = LaplacianForm(laplacian, None if plain else code)
    unit, s = centered_targets(laplacian, data.y[rows])
    root = laplacian.root(s)
    b, c = form.gather(laplacian.product(s)), float(root @ root)
    return PursuitProblem(data, items, form, b, c, unit)


def centered_targets(laplacian: Laplacian, y: Floats) -> tuple[float, Floats]:
    """Give a power of two near the size of grades, and scaled centered grades."""
    first = _power_of_two(np.abs(y).max())
    centered = laplacian.center(y / first)
    second = _power_of_two(np.abs(centered).max())
    return first * second, centered / second


def problem_of_values(model: Any, data: Grades) -> PursuitProblem:
    """Build the squared error of single grades."""
    rows = np.flatnonzero(data.weight > 0)
    own, y = data.item_weight[rows], data.y[rows]
    items, code = KernelItems.merge(model, data.table, data.places[rows])
    unit = _power_of_two(np.abs(y).max())
    s = y / unit
    form = WeightForm(np.bincount(code, own, items.n_items).astype(float))
    b = np.bincount(code, own * s, items.n_items).astype(float)
    c = float(own @ s**2)
    return PursuitProblem(data, items, form, b, c, unit)


def problem_of_comparisons(model: Any, data: Comparisons) -> PursuitProblem:
    """Build the squared error of differences against outcomes."""
    if not data.y.any():
        refuse_only_ties(model, len(data))
    ends = np.append(data.pairs.left, data.pairs.right)
    items, code = KernelItems.merge(model, data.pairs.table, ends)
    left, right = np.split(code, 2)
    laplacian = PairLaplacian(left, right, data.weight, items.n_items)
    unit = _power_of_two(np.abs(data.y).max())
    y = data.y / unit
    b = laplacian.root_transpose(np.sqrt(data.weight) * y)
    c = float(data.weight @ y**2)
    return PursuitProblem(data, items, LaplacianForm(laplacian), b, c, unit)


def _power_of_two(size: float) -> float:
    """Give the power of two just below a positive number; dividing by it is exact."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))


def pair_sums(data: Grades, rows: Codes, per_group: str) -> Laplacian:
    """Give the Laplacian of the pairs of some rows."""
    # A mean divides by the weight of the rows once, which must leave that of the list.
    weight = data.item_weight if per_group == "mean" else data.weight
    return laplacian_of(data, rows, weight, per_group)


def read_validation(model: Any, validation: Any) -> Comparisons | Grades:
    """Check a validation set as data of the model."""
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise ValueError(
            "validation must be (X, y), or (X, y, qid) for graded items; y is None for "
            f"Orders. Got {type(validation).__name__}."
        )
    held_out = read_data(*validation)
    if isinstance(held_out, Comparisons):
        check_features(model, held_out.pairs.table)
        return held_out
    if getattr(model, "fitted_with_qid_", False) and not held_out.has_groups:
        raise ValueError(
            "the training items have groups (qid) and those of validation have none. "
            "Give validation=(X, y, qid)."
        )
    check_features(model, held_out.table)
    return held_out


def validation_errors(
    model: Any, validation: Any, utilities: Callable[[ItemTable], Floats]
) -> Floats:
    """Give the validation error after every step; utilities have (n, steps)."""
    held_out = read_validation(model, validation)
    if isinstance(held_out, Comparisons):
        pairs = held_out.pairs
        at_items = utilities(pairs.table)
        difference = at_items[pairs.right] - at_items[pairs.left]
        return np.array(
            [comparison_error(held_out.y, np.sign(d)) for d in difference.T]
        )
    along = utilities(held_out.items).T
    return np.array([swapped_pairs(held_out.y, u, qid=held_out.group) for u in along])


def warn_of_path(model: Any, n_steps: int, exhausted: bool) -> None:
    """Warn of a path with fewer steps than requested."""
    if n_steps == 0:
        warn_flat(
            model,
            "no basis function explains any difference. Kernel columns may be constant "
            "inside every group: check the features, the kernels and gamma",
        )
    elif exhausted:
        warn_user(
            f"{type(model).__name__} stopped after {n_steps} of n_basis="
            f"{model.n_basis} steps: no further basis function lowers the error.",
            FitWarning,
        )
