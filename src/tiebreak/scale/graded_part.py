# SPDX-License-Identifier: BSD-3-Clause
"""Graded items of one partition, and what weights of their features cost."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Grades, as_items, check_grades, check_weights
from tiebreak.data.columns import as_column
from tiebreak.losses import GradeSquaredHinge, GradeTree
from tiebreak.scale.facts import PartFacts, group_keys
from tiebreak.scale.linear_part import LinearPart
from tiebreak.scale.parts import n_bytes

__all__ = [
    "GradedPart",
    "check_part_weights",
    "graded_facts",
    "join_samples",
    "read_graded_columns",
]

Floats = NDArray[np.float64]


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


class GradedPart(LinearPart):
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
            self.facts, self.group_names = PartFacts(0), np.zeros(0)
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
        # Beside the features: the orders and bounds of every level of the tree.
        tree = self.tree
        work = 8 * (tree.n_levels + 1) * len(tree.rows) + 64 * len(tree.rows)
        return n_bytes(self.A, self.grades.y, self.grades.group, self.weight) + work


def graded_facts(grades: Grades, weight: Floats, tree: GradeTree) -> PartFacts:
    """Say what is known of a partition of graded items."""
    positive = weight[weight > 0]
    return PartFacts(
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


def join_samples(samples: list[tuple[Any, ...]], per_group: str) -> GradedPart:
    """Make one part of the rows that partitions gave.

    Parameters
    ----------
    samples : list of tuple
        What :meth:`GradedPart.take` gave; at least one is not empty.
    per_group : {"sum", "mean"}
        As in the partitions.

    Returns
    -------
    GradedPart
    """
    filled = [sample for sample in samples if sample]
    X, y, group, weight = (
        np.concatenate(column) for column in zip(*filled, strict=True)
    )
    # Groups are numbered in every partition anew.
    n_groups = [sample[2].max() + 1 for sample in filled]
    first = np.repeat(np.cumsum([0, *n_groups[:-1]]), [len(s[1]) for s in filled])
    columns = {"X": as_items(X), "y": y, "qid": first + group, "weight": weight}
    return GradedPart(columns, per_group)
