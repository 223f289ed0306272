# SPDX-License-Identifier: BSD-3-Clause
"""How the data layer words its errors and warnings.

Every message says what was wrong, where (row numbers and values), what was expected
and what to try. Row numbers count from 0, as NumPy does.
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


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the caller's own code, however deep the library is."""
    level = 2  # the caller of this function
    frame = sys._getframe(1)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in _INTERNAL_PACKAGES:
            break
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _plain(value: Any) -> Any:
    """Give a NumPy scalar as the Python value, whose ``repr`` users recognize."""
    return value.item() if isinstance(value, np.generic) else value
