# SPDX-License-Identifier: BSD-3-Clause
"""Check what models of items by name receive: results and row-aligned columns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data import Pairs, as_items, as_pairs, check_comparisons
from tiebreak.data.columns import as_column, factorize, plain_values, refuse_missing
from tiebreak.data.items import describe_non_finite
from tiebreak.data.messages import list_rows


@dataclass(frozen=True, eq=False)
class Results:
    """Results of items known by name, rows of weight 0 left out.

    Attributes
    ----------
    names : ndarray of shape (N,)
        The items that occur.
    left, right : ndarray of int64 of shape (m,)
        Their numbers in each row.
    outcome : ndarray of int8 of shape (m,)
        Outcomes.
    weight : ndarray of float64 of shape (m,)
        Weights, all positive.
    kept : ndarray of bool of shape (n,) or None
        Which of the n rows given are among the m; None: all.
    n_rows : int
        n.
    """

    names: NDArray[Any]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    kept: NDArray[np.bool_] | None
    n_rows: int

    def take(self, column: NDArray[Any]) -> NDArray[Any]:
        """Take the rows of a row-aligned array that have a positive weight."""
        return column if self.kept is None else column[self.kept]


def named_pairs(X: Any, model: str) -> Pairs:
    """Give comparisons whose items have names.

    Parameters
    ----------
    X : Pairs
        Comparisons.
    model : str
        Name of the model, for messages.

    Returns
    -------
    Pairs

    Raises
    ------
    TypeError
        If items have features and no names.
    """
    pairs = as_pairs(X)
    if pairs.names is None:
        raise TypeError(
            f"{model} rates items by name, and these comparisons have features but no "
            "names. Give the names: Pairs(None, left_names, right_names), or "
            "Pairs(items, left, right, names=names) to keep the features beside them; "
            "or learn from the features with LogisticCompare."
        )
    if len(pairs) == 0:
        raise ValueError(
            "There are no comparisons: 0 sample(s) while a minimum of 1 is required."
        )
    return pairs


def _refuse_self_comparisons(pairs: Pairs) -> None:
    assert pairs.names is not None
    same = np.flatnonzero(pairs.left == pairs.right)
    if len(same):
        shown = plain_values(pairs.names[pairs.left[same[:5]]])
        raise ValueError(
            f"{len(same)} comparison(s) are of an item with itself: "
            f"{list_rows(same, shown)}. They say nothing about strengths; remove these "
            "rows, for example with keep = pairs.left != pairs.right; pairs[keep], "
            "y[keep]."
        )


def check_results(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, model: str
) -> Results:
    """Check results of items known by name.

    Parameters
    ----------
    X : Pairs
        Comparisons with names.
    y : array-like of shape (n,)
        Outcomes -1, 0, +1.
    sample_weight : array-like of shape (n,), optional
        Weights.
    model : str
        Name of the model, for messages.

    Returns
    -------
    Results
    """
    pairs = named_pairs(X, model)
    _refuse_self_comparisons(pairs)
    pairs, outcome, weight = check_comparisons(pairs, y, sample_weight)
    n_rows, kept = len(pairs), None
    if sample_weight is not None and not weight.all():
        kept = weight > 0
        pairs, outcome, weight = pairs[kept], outcome[kept], weight[kept]
    pairs = pairs.compact()
    assert pairs.names is not None
    return Results(pairs.names, pairs.left, pairs.right, outcome, weight, kept, n_rows)


def check_row_numbers(values: Any, name: str, n_rows: int) -> NDArray[np.float64]:
    """Check a finite number per row, or one number for all rows.

    Parameters
    ----------
    values : float or array-like of shape (n_rows,)
        The numbers.
    name : str
        What they are called in messages.
    n_rows : int
        How many rows there are.

    Returns
    -------
    ndarray of float64 of shape (n_rows,)
    """
    if isinstance(values, Real):
        values = np.full(n_rows, float(values))
    column = as_column(values, name)
    if len(column) != n_rows:
        raise ValueError(
            f"{name} has {len(column)} values but there are {n_rows} rows; they must "
            "be as many, or one number for all."
        )
    refuse_missing(column, name)
    if column.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold numbers, got {column.dtype} values, for example "
            f"{plain_values(column[:1])[0]!r} at row 0."
        )
    numbers = column.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise ValueError(
            f"{name} must be finite, got {describe_non_finite(numbers[wrong[0]])} at "
            f"{list_rows(wrong)}."
        )
    return numbers


def check_row_covariates(
    advantage: ArrayLike | None, context: Any, n_rows: int
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Check advantage and context, and put them side by side.

    Parameters
    ----------
    advantage : float or array-like of shape (n_rows,), optional
        Advantage of left.
    context : array-like or DataFrame of shape (n_rows, q) or (n_rows,), optional
        Covariates in favor of left.
    n_rows : int
        How many rows there are.

    Returns
    -------
    covariates : ndarray of shape (n_rows, 0 to q + 1)
        Advantage first.
    names : tuple of str or None
        Names of the columns of `context`, if it has them.
    """
    columns, names = [], None
    if advantage is not None:
        columns.append(check_row_numbers(advantage, "advantage", n_rows)[:, None])
    if context is not None:
        if np.ndim(context) == 1:
            columns.append(check_row_numbers(context, "context", n_rows)[:, None])
        else:
            table = as_items(context, name="context")
            if table.n_items != n_rows:
                raise ValueError(
                    f"context has {table.n_items} rows but there are {n_rows} "
                    "comparisons; they must be as many."
                )
            columns.append(table.dense())
            names = table.feature_names
    if not columns:
        return np.empty((n_rows, 0)), None
    return np.concatenate(columns, axis=1), names


def favor_of_left(
    advantage: ArrayLike | None,
    advantage_coef: float | None,
    context: Any,
    context_coef: NDArray[np.float64] | None,
    n_rows: int,
) -> NDArray[np.float64]:
    """Sum what advantage and context add to left's strength.

    Parameters
    ----------
    advantage, context
        As given to predict; None: zero.
    advantage_coef, context_coef
        What the model learned about them; None: it was fitted without.
    n_rows : int
        How many rows there are.

    Returns
    -------
    ndarray of float64 of shape (n_rows,)
    """
    for name, given, coef in (
        ("advantage", advantage, advantage_coef),
        ("context", context, context_coef),
    ):
        if given is not None and coef is None:
            raise ValueError(
                f"The model was fitted without {name}, so it does not know what {name} "
                "does; fit with it, or leave it out here."
            )
    favor = np.zeros(n_rows)
    if advantage_coef is not None and advantage is not None:
        favor += advantage_coef * check_row_numbers(advantage, "advantage", n_rows)
    if context_coef is not None and context is not None:
        columns, _ = check_row_covariates(None, context, n_rows)
        if columns.shape[1] != len(context_coef):
            raise ValueError(
                f"context has {columns.shape[1]} column(s), but the model was fitted "
                f"with {len(context_coef)}."
            )
        favor += columns @ context_coef
    return favor


def check_rater(rater: ArrayLike | None, n_rows: int) -> NDArray[np.int64] | None:
    """Check who compared, one rater per row, and number them.

    Parameters
    ----------
    rater : array-like of shape (n_rows,) or None
        Raters, of any type.
    n_rows : int
        How many rows there are.

    Returns
    -------
    ndarray of int64 of shape (n_rows,) or None
        Numbers from 0 in order of first appearance.
    """
    if rater is None:
        return None
    column = as_column(rater, "rater")
    if len(column) != n_rows:
        raise ValueError(
            f"rater has {len(column)} values but there are {n_rows} rows; they must be "
            "as many."
        )
    refuse_missing(column, "rater")
    return factorize(column)[0]
