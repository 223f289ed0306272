# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of one partition, checked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import (
    ItemTable,
    Outcome,
    Pairs,
    as_pairs,
    check_comparisons,
    check_outcomes,
)
from tiebreak.data.columns import as_column
from tiebreak.scale.graded_part import check_part_weights

__all__ = ["Compared", "read_comparisons"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Compared:
    """Comparisons of a partition, checked; those of weight zero are left out.

    Attributes
    ----------
    pairs : Pairs
        The comparisons.
    outcome : ndarray of int8 of shape (n,)
        Outcomes.
    weight : ndarray of shape (n,)
        Weights, all positive.
    n_rows : int
        Number of rows that were read.
    n_selves : int
        Comparisons of an item with itself.
    n_both_bad : int
        Outcomes that call both items bad.
    kept : ndarray of bool of shape (n_rows,)
        Rows of positive weight.
    """

    pairs: Pairs
    outcome: NDArray[np.int8]
    weight: Floats
    n_rows: int
    n_selves: int
    n_both_bad: int
    kept: NDArray[np.bool_]


def read_comparisons(
    columns: dict[str, Any],
    items: ItemTable | None = None,
    names: NDArray[Any] | None = None,
) -> Compared | None:
    """Check the comparisons of a partition.

    Parameters
    ----------
    columns : dict
        y, maybe weight, and either X, of shape (n, 2, n_features), or left and right.
        Outcomes are numbers -1, 0, +1, or words.
    items : ItemTable, optional
        Features of the items.
    names : ndarray of shape (N,), optional
        Their names.

    Returns
    -------
    Compared or None
        None without rows.
    """
    if columns.get("y") is None:
        check_outcomes(None, 0)
    y = as_column(columns["y"], "y")
    if len(y) == 0:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what concerns all rows is said once, later
        if "X" in columns:
            pairs = as_pairs(np.asarray(columns["X"]))
        else:
            pairs = Pairs(items, columns["left"], columns["right"], names=names)
        n_both_bad = 0
        if y.dtype.kind in "OU":
            n_both_bad = int(Outcome.is_both_bad(y).sum())
            left = right = None
            if pairs.names is not None:
                left, right = pairs.names[pairs.left], pairs.names[pairs.right]
            outcome = Outcome.parse(y, left=left, right=right)
        else:
            outcome = check_outcomes(y, len(pairs))
        check_comparisons(pairs, outcome)
        weight = check_part_weights(columns.get("weight"), len(pairs))
    kept = weight > 0
    n_selves = int(np.count_nonzero(kept & (pairs.left == pairs.right)))
    if not kept.all():
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    return Compared(pairs, outcome, weight, len(y), n_selves, n_both_bad, kept)
