# SPDX-License-Identifier: BSD-3-Clause
"""Items as different raters see them: features of items times features of raters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_pairs
from tiebreak.data.messages import list_rows

Floats = NDArray[np.float64]


def personal_pairs(X: Any, rater: ArrayLike, raters: ArrayLike) -> Pairs:
    """Comparisons of items as their raters see them.

    Each item of the result is an item and a rater, with the features of both side by
    side: p + q columns, and one row for every item and rater that occur together.

    Parameters
    ----------
    X : Pairs or array-like of shape (n, 2, p)
        Comparisons of items with features.
    rater : array-like of int of shape (n,)
        The row of `raters` for each comparison.
    raters : array-like of shape (R, q)
        Features of the raters.

    Returns
    -------
    Pairs
        n comparisons, for a model with the kernel :class:`PersonalKernel`.

    Examples
    --------
    >>> from tiebreak import LogisticCompare, Pairs
    >>> from tiebreak.models import PersonalKernel, personal_pairs
    >>> soups = Pairs([[0.0], [1.0]], left=[0, 0, 0], right=[1, 1, 1])  # how hot
    >>> people = [[0.0], [1.0]]  # who likes it hot
    >>> votes = personal_pairs(soups, [0, 1, 1], people)
    >>> model = LogisticCompare(0.1, kernel=PersonalKernel(1)).fit(votes, [-1, 1, 1])
    >>> model.predict(votes)
    array([-1,  1,  1], dtype=int8)
    """
    pairs = as_pairs(X).compact()
    if pairs.items is None:
        raise TypeError(
            "personal_pairs needs features of the items; these Pairs have none "
            "(items=None). Give every item a feature of its own, "
            "Pairs(np.eye(n_items), left, right)."
        )
    table, code = np.asarray(raters, dtype=np.float64), np.asarray(rater)
    if table.ndim != 2 or code.shape != (len(pairs),) or code.dtype.kind not in "iu":
        raise ValueError(
            f"personal_pairs got raters of shape {table.shape} and rater of shape "
            f"{code.shape} and type {code.dtype}; expected a row of features for each "
            f"rater, and the number of a row for each of {len(pairs)} comparisons."
        )
    outside = np.flatnonzero((code < 0) | (code >= len(table)))
    if len(outside):
        raise ValueError(
            f"rater must be rows of raters, 0 to {len(table) - 1}; got "
            f"{list_rows(outside, code[outside[:5]])}."
        )
    values = pairs.items.values
    values = values.toarray() if hasattr(values, "toarray") else values
    seen = np.stack([pairs.left, pairs.right]) * len(table) + code
    both, place = np.unique(seen, return_inverse=True)
    item, who = np.divmod(both, len(table))
    left, right = place.reshape(2, -1)
    return Pairs(np.hstack([values[item], table[who]]), left, right)


class PersonalKernel:
    r"""Kernel of a utility that is linear in items, with weights linear in raters.

    With p features x of items and then features z of raters, ::

        k((x, z), (x', z')) = x·x' (1 + z·z'),

    the kernel of r(x, z) = w·x + xᵀ W z, whose p q interactions are never written down.
    α ‖w‖² becomes α (‖w‖² + ‖W‖²).

    Parameters
    ----------
    n_features : int
        p, the number of columns that are features of items.

    See Also
    --------
    personal_pairs : Comparisons of items as their raters see them.

    Examples
    --------
    >>> from tiebreak.models import PersonalKernel
    >>> PersonalKernel(1)([[2.0, 3.0]], [[2.0, 1.0], [1.0, 0.0]])
    array([[16.,  2.]])
    """

    __module__ = "tiebreak.models"  # where users find it

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def __call__(self, X: ArrayLike, Z: ArrayLike) -> Floats:
        """Kernel between the rows of two tables, shape (n, m)."""
        one, two = np.asarray(X, np.float64), np.asarray(Z, np.float64)
        p = self.n_features
        return (one[:, :p] @ two[:, :p].T) * (1.0 + one[:, p:] @ two[:, p:].T)
