# SPDX-License-Identifier: BSD-3-Clause
"""Check the arguments of metrics: vectors, weights, groups and probabilities.

Nothing is dropped, filled in or clipped: a fault is an error that names the argument,
the row, the value and what was expected.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiebreak.data.columns import as_column, as_column_of, factorize, refuse_missing
from tiebreak.data.messages import refuse_rows
from tiebreak.data.outcome import OUTCOMES, OUTCOMES_HELP
from tiebreak.data.parameters import COUNT, Values
from tiebreak.data.validation import as_numbers

Floats = NDArray[np.float64]

PROBABILITY_TOLERANCE = 1e-6


def numeric_vector(values: Any, name: str, n_rows: int | None = None) -> Floats:
    """Return ``values`` as a non-empty 1-D array of finite real numbers."""
    column = as_column(values, name)
    if n_rows is not None:
        column = as_column_of(column, name, n_rows)
    if len(column) == 0:
        raise ValueError(f"{name} is empty; a metric needs at least one row.")
    refuse_missing(column, name)
    numbers = as_numbers(column, name)
    infinite = np.flatnonzero(~np.isfinite(numbers))
    refuse_rows(infinite, numbers, f"{name} must be finite")
    return numbers


def outcome_vector(
    values: Any, name: str, n_rows: int | None = None
) -> NDArray[np.int64]:
    """Return outcomes −1, 0, +1 as a non-empty integer array."""
    column = as_column(values, name)
    if column.dtype.kind == "b":
        raise ValueError(f"{name} must hold numbers, got True and False.")
    numbers = numeric_vector(column, name, n_rows)
    wrong = np.flatnonzero(~np.isin(numbers, OUTCOMES))
    refuse_rows(wrong, column, f"{name} must hold {OUTCOMES_HELP}")
    return numbers.astype(np.int64)


def as_outcomes(model: Any, values: Any) -> Any:
    """Return classes that scikit-learn renumbered to 0, 1, 2 as outcomes."""
    if not np.array_equal(getattr(model, "classes_", OUTCOMES), OUTCOMES + 1):
        return values
    classes = numeric_vector(values, "y")
    wrong = np.flatnonzero(~np.isin(classes, OUTCOMES + 1))
    renumbered = "scikit-learn's classes_ are 0 (left), 1 (tie) and 2 (right)"
    hint = " Give y + 1, or score the meta-estimator."
    refuse_rows(wrong, classes, renumbered, hint)
    return classes - 1


def group_codes(
    qid: ArrayLike | None, n_rows: int, name: str = "qid"
) -> NDArray[np.int64]:
    """Return group numbers 0, 1, ... for ``qid`` of any type; None is one group.

    Every number occurs at least once.
    """
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64)
    column = as_column_of(qid, name, n_rows)
    refuse_missing(column, name)
    return factorize(column)[0]


def probability_rows(proba: ArrayLike, n_rows: int) -> Floats:
    """Return ``proba`` as an (n_rows, 3) array of probabilities."""
    rows = np.asarray(proba, dtype=np.float64)
    if rows.shape != (n_rows, 3):
        raise ValueError(
            f"proba must have shape ({n_rows}, 3), left, tie, right; got {rows.shape}."
        )
    near_one = np.abs(rows.sum(axis=1) - 1) <= PROBABILITY_TOLERANCE
    wrong = np.flatnonzero(~(near_one & (rows >= 0).all(axis=1)))
    expected = f"Probabilities must sum to 1 within {PROBABILITY_TOLERANCE:g}, none < 0"
    refuse_rows(wrong, rows, expected)
    return rows


def check_argument(value: object, name: str, allowed: Values) -> None:
    """Raise unless ``value`` is one of those that are allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be {allowed}; got {value!r}.")


def positive_integer(value: Any, name: str) -> int:
    """Return ``value`` as an int of at least 1."""
    check_argument(value, name, COUNT)
    return int(value)
