# SPDX-License-Identifier: BSD-3-Clause
"""Graded items of one partition, and what weights of their features cost."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Grades, as_items, check_grades, check_weights
from tiebreak.data.columns import as_column
from tiebreak.losses import GradeSquaredHinge, GradeTree, UtilityLoss
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.outofcore.partitions import PartitionFacts, group_keys, n_bytes

Floats = NDArray[np.float64]


class MovingPartition:
    """A partition as a smooth function that is told at every call where it is.

    It remembers where it was last, so that this costs nothing as long as it stays, and
    goes there first if another worker has built it anew in the meantime. A partition
    without rows is the function zero.
    """

    facts: PartitionFacts
    is_empty = True

    def _fill(self) -> None:
        """Say that there are rows."""
        self.is_empty = False
        self._at: Floats | None = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give value and gradient at x."""
        if self.is_empty:
            return 0.0, np.zeros(len(x))
        with self._lock:
            self._at = x
            return self._expand(x)

    def hessian_product(self, x: Floats, v: Floats) -> Floats:
        """Give the Hessian at x times v."""
        if self.is_empty:
            return np.zeros(len(x))
        with self._lock:
            self._go(x)
            return self._hessian_product(v)

    def hessian_diagonal(self, x: Floats) -> Floats:
        """Give the diagonal of the Hessian at x, or what is near it."""
        if self.is_empty:
            return np.zeros(len(x))
        with self._lock:
            self._go(x)
            return self._hessian_diagonal()

    def hessian(self, x: Floats) -> Floats:
        """Give the Hessian at x."""
        if self.is_empty:
            return np.zeros((len(x), len(x)))
        with self._lock:
            self._go(x)
            return self._hessian()

    def _go(self, x: Floats) -> None:
        if self._at is None or not np.array_equal(self._at, x):
            self.expand(x)

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        raise NotImplementedError

    def _hessian_product(self, v: Floats) -> Floats:
        raise NotImplementedError

    def _hessian_diagonal(self) -> Floats:
        raise NotImplementedError

    def _hessian(self) -> Floats:
        raise NotImplementedError


class LinearPartition(MovingPartition):
    """L(A x) of the rows of a partition."""

    A: Any
    loss: UtilityLoss

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        value, slope = self.loss.expand(forward_product(self.A, x))
        return value, back_product(self.A, slope)

    def _hessian_product(self, v: Floats) -> Floats:
        bent = self.loss.hessian_product(forward_product(self.A, v))
        return back_product(self.A, bent)

    def _hessian_diagonal(self) -> Floats:
        squares = self.A**2 if isinstance(self.A, np.ndarray) else self.A.power(2)
        return np.asarray(squares.T @ self.loss.hessian_diagonal()).ravel()

    def _hessian(self) -> Floats:
        return self.loss.sketch(self.A, np.iinfo(np.int64).max)


def read_graded_columns(columns: dict[str, Any]) -> tuple[Grades, Floats] | None:
    """Check the graded items of a partition.

    Parameters
    ----------
    columns : dict
        X, y, and maybe qid and weight.

    Returns
    -------
    grades : Grades
    weight : ndarray of shape (n,)
        Or None instead of both: there are no rows.
    """
    y = columns.get("y")
    if y is not None and len(as_column(y, "y")) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what concerns all rows is said once, later
        grades = check_grades(columns["X"], y, columns.get("qid"))
        weight = check_part_weights(columns.get("weight"), len(grades.y))
    return grades, weight


def check_part_weights(weight: Any, n_rows: int) -> Floats:
    """Check weights; all of a partition may be zero."""
    if weight is not None and not np.any(as_column(weight, "sample_weight") != 0):
        return np.zeros(n_rows)
    return check_weights(weight, n_rows)


class GradedPartition(LinearPartition):
    """Σ c w_i w_j (1 - (u_i - u_j))₊² over the pairs of a partition, with u = X x.

    Parameters
    ----------
    columns : dict
        X, y, and maybe qid and weight.
    per_group : {"sum", "mean"}
        Whether a group counts by its pairs or once.
    """

    def __init__(self, columns: dict[str, Any], per_group: str = "sum") -> None:
        read = read_graded_columns(columns)
        if read is None:
            self.facts, self.group_names = PartitionFacts(0), np.zeros(0)
            return
        grades, weight = read
        self.grades, self.weight = grades, weight
        self.group_names = grades.group_names
        self.tree = GradeTree(grades.y, grades.group, weight, per_group)
        self.A, self.loss = grades.items.values, GradeSquaredHinge(self.tree)
        self.facts = graded_facts(grades, weight, self.tree)
        if self.tree.n_pairs:
            self._fill()

    def take(self, share: float) -> tuple[Any, ...]:
        """Give the features, grades, groups and weights of some of the rows.

        Parameters
        ----------
        share : float
            About which part of the rows.

        Returns
        -------
        tuple of ndarray
            X, y, group and weight; nothing without pairs.
        """
        if self.is_empty:
            return ()
        rows = self.tree.rows
        if share < 1.0:
            rows = self.tree.sample(max(2, round(share * len(rows))))[0]
        table = self.grades.items.take(rows)
        group = self.grades.group[rows]
        return table.dense(), self.grades.y[rows], group, self.weight[rows]

    def __sizeof__(self) -> int:
        if self.facts.n_rows == 0:
            return 1000
        # Metadata the features: the orders and bounds of every level of the tree.
        tree = self.tree
        work = 8 * (tree.n_levels + 1) * len(tree.rows) + 64 * len(tree.rows)
        return n_bytes(self.A, self.grades.y, self.grades.group, self.weight) + work


def graded_facts(grades: Grades, weight: Floats, tree: GradeTree) -> PartitionFacts:
    """Say what is known of a partition of graded items."""
    positive = weight[weight > 0]
    return PartitionFacts(
        len(grades.y),
        grades.items.n_features,
        grades.items.feature_names,
        (float(grades.y.sum()), float(grades.items.values.sum()), float(weight.sum())),
        tree.n_pairs,
        tree.n_groups,
        tree.n_idle_groups,
        tree.total,
        float(positive.min(initial=np.inf)),
        float(positive.max(initial=0.0)),
        group_keys(grades.group_names),
    )


def join_samples(samples: list[tuple[Any, ...]], per_group: str) -> GradedPartition:
    """Make one part of the rows that partitions gave.

    Parameters
    ----------
    samples : list of tuple
        What :meth:`GradedPartition.take` gave; at least one is not empty.
    per_group : {"sum", "mean"}
        As in the partitions.

    Returns
    -------
    GradedPartition
    """
    filled = [sample for sample in samples if sample]
    X, y, group, weight = (
        np.concatenate(column) for column in zip(*filled, strict=True)
    )
    # Groups are numbered in every partition anew.
    n_groups = [sample[2].max() + 1 for sample in filled]
    first = np.repeat(np.cumsum([0, *n_groups[:-1]]), [len(s[1]) for s in filled])
    columns = {"X": as_items(X), "y": y, "qid": first + group, "weight": weight}
    return GradedPartition(columns, per_group)
