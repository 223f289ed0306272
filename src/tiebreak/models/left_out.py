# SPDX-License-Identifier: BSD-3-Clause
"""What least squares would say of rows that it was not fitted on, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from tiebreak.data import as_pairs, is_pairs
from tiebreak.data.threads import one_blas_thread
from tiebreak.models.squares_left_out import (
    check_rows,
    leave_comparison_out,
    leave_group_out,
    leave_rows_out,
)
from tiebreak.models.squares_program import LARGEST, SquaresProgram

__all__ = ["LeftOut"]


class LeftOut:
    """Groups, pairs and comparisons left out of a fit, one at a time."""

    alpha: float
    per_group: str

    def _by_products(self, program: SquaresProgram) -> bool:
        raise NotImplementedError

    def leave_group_out(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Utility of every item from a fit without its group, in closed form.

        It costs about as much as two fits, however many groups there are. Only
        ``gamma="scale"`` is not found anew without the group.

        Parameters
        ----------
        X : items or Orders
            As in ``fit``.
        y, qid, sample_weight
            As in ``fit``; at least two groups.

        Returns
        -------
        ndarray of shape (n,)
            Utilities in the order of the rows, or of the entries of the lists. This
            model itself is not fitted.
        """
        if is_pairs(X):
            raise TypeError(
                "leave_group_out is of graded items or orders; comparisons have no "
                "groups. For these use leave_pair_out."
            )
        program = self._read_all(X, y, qid, sample_weight)
        with one_blas_thread():
            return leave_group_out(program, self.alpha)

    def leave_pair_out(
        self,
        X: Any,
        y: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Utilities of both items of a pair from a fit without it, in closed form.

        Of graded items both rows of a pair are left out of their group; of comparisons
        that one comparison. Only ``gamma="scale"`` is not found anew. With weights that
        differ, a group costs as much as there are different sums of two of them.

        Parameters
        ----------
        X, y
            As in ``fit``.
        pairs : array-like of int of shape (k, 2), optional
            Graded items and orders: pairs of rows of one group. Default: all pairs of
            different grades, the better row first.
        qid, sample_weight
            As in ``fit``.

        Returns
        -------
        pairs : ndarray of int of shape (k, 2)
            Rows; of comparisons the items left and right.
        utility : ndarray of shape (k, 2)
            Their utilities. This model itself is not fitted.
        """
        program = self._read_all(X, y, qid, sample_weight)
        if not is_pairs(X):
            rows = check_rows(program, pairs)
            with one_blas_thread():
                out = leave_rows_out(program, self.alpha, rows, self.per_group)
            return rows, out
        if pairs is not None:
            raise ValueError(
                "pairs are rows of graded items; of comparisons each one is left out "
                "by itself. Leave pairs out."
            )
        compared = as_pairs(X)
        items = np.column_stack([compared.left, compared.right])
        with one_blas_thread():
            return items, leave_comparison_out(program, self.alpha)

    def _read_all(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> SquaresProgram:
        program: SquaresProgram = clone(self)._read(X, y, qid, sample_weight, True)
        if self._by_products(program):
            raise ValueError(
                "What is left out of a fit has a closed form where the direct solver "
                f"is used: up to {LARGEST} features or items, or with solver='direct'."
            )
        return program
