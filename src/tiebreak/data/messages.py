# SPDX-License-Identifier: BSD-3-Clause
"""How the data layer words its errors and warnings.

Every message says what was wrong, where, and what was expected. Row numbers count from
0, as in NumPy.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN_ROWS = 5
_INTERNAL_PACKAGES = ("tiebreak", "sklearn", "joblib")


class TiebreakWarning(UserWarning):
    """Base of this package's warnings, except those of scikit-learn's categories."""

    __module__ = "tiebreak"  # where users find it


class DataWarning(TiebreakWarning):
    """The data say less than they seem to: no ties, or groups without pairs."""

    __module__ = "tiebreak"


class FitWarning(TiebreakWarning):
    """A fit learned less than requested."""

    __module__ = "tiebreak"


def list_rows(
    rows: Sequence[int] | NDArray[Any],
    values: Sequence[Any] | NDArray[Any] | None = None,
) -> str:
    """Name the first rows, with their values, and count the others."""
    parts = [f"row {int(row)}" for row in rows[:SHOWN_ROWS]]
    more = len(rows) - len(parts)
    if values is not None:
        shown = zip(parts, values, strict=False)
        parts = [f"{part} ({_plain(value)!r})" for part, value in shown]
    return ", ".join(parts) + (f" and {more} more" if more else "")


def refuse_rows(
    rows: Sequence[int] | NDArray[Any], values: Any, expected: str, hint: str = ""
) -> None:
    """Raise a ValueError that names rows and their values, if there are any."""
    if len(rows):
        where = list_rows(rows, [values[row] for row in rows[:SHOWN_ROWS]])
        raise ValueError(f"{expected}, got {len(rows)} other value(s): {where}.{hint}")


def warn_user(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn at the line of the caller's own code."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _INTERNAL_PACKAGES:
            break
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _plain(value: Any) -> Any:
    """Convert NumPy values to Python values, for their ``repr``."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
