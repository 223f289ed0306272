# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted model thinks of items, each for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from tiebreak.data import ItemTable

__all__ = ["item_utilities", "ranks_within"]


def item_utilities(
    model: Any, items: ItemTable, names: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Give the utility of items with features; higher is better.

    Parameters
    ----------
    model : estimator
        A fitted model of features, also at the end of a pipeline.
    items : ItemTable
        N items, seen or unseen.
    names : ndarray of shape (N,), optional
        Their names, which may repeat. A model that was fitted with ``identity`` adds
        what it knows of an item by its name; others have no use for names.

    Returns
    -------
    ndarray of shape (N,)
    """
    X: Any = items
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
        model = model.steps[-1][1]
    if names is not None and hasattr(model, "item_effect_"):
        return np.asarray(model.utility(X, names), dtype=np.float64)
    return np.asarray(model.utility(X), dtype=np.float64)


def ranks_within(
    utility: NDArray[np.float64], group: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rank items within their groups, the best one first.

    Parameters
    ----------
    utility : ndarray of shape (n,)
        Utilities, higher is better.
    group : ndarray of int64 of shape (n,)
        Group of each item.

    Returns
    -------
    ndarray of int64 of shape (n,)
        From 1; equal utilities share the best rank, and the ranks that they fill are
        not used again (1, 2, 2, 4).

    Examples
    --------
    >>> ranks_within(np.array([1.0, 3.0, 2.0, 2.0, 0.0]), np.array([0, 0, 0, 0, 1]))
    array([4, 1, 2, 2, 1])
    """
    order = np.lexsort((-utility, group))
    sorted_group, sorted_utility = group[order], utility[order]
    place = np.arange(len(order))
    new_group = np.append(True, sorted_group[1:] != sorted_group[:-1])
    new_value = new_group | np.append(True, sorted_utility[1:] != sorted_utility[:-1])
    start = np.maximum.accumulate(np.where(new_group, place, 0))
    first = np.maximum.accumulate(np.where(new_value, place, 0))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = first - start + 1
    return ranks
