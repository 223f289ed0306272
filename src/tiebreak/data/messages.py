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

import joblib
import numpy as np
from numpy.typing import NDArray

SHOWN_ROWS = 5
_INTERNAL_PACKAGES = ("tiebreak", "sklearn", "joblib")
# Modules that fit a model many times on parts of the same data.
_SEARCHES = ("sklearn.model_selection", "tiebreak.selection")
_WORKER = "joblib.externals.loky"
_SAID = "__tiebreak_said__"  # a local variable of the search: it ends with the search


class TiebreakWarning(UserWarning):
    """What all warnings of this package are, but for those of scikit-learn's kinds.

    These are ``ConvergenceWarning`` and ``DataConversionWarning``.
    """

    __module__ = "tiebreak"  # where users find it


class DataWarning(TiebreakWarning):
    """The data say less than they seem to: no ties, groups without a pair, and so on.

    It depends on the data alone, so a search, which fits many models on parts of the
    same data, says each such warning once.
    """

    __module__ = "tiebreak"


class FitWarning(TiebreakWarning):
    """A fit learned less than was asked for, with these parameters on these data."""

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


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the caller's own code, however deep the library is."""
    level = 2  # the caller of this function
    place = frame = sys._getframe(1)
    search = worker = None
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in _INTERNAL_PACKAGES:
            break
        if module.startswith(_SEARCHES):
            search = frame
        elif module.startswith(_WORKER):
            worker = frame
        frame = frame.f_back
        level += 1
    if search is None or not issubclass(category, DataWarning) or _hidden(category):
        warnings.warn(message, category, stacklevel=level)
        return
    # The filters of Python would repeat it, because every fit of a search of
    # scikit-learn sets them anew. A worker process sees no search, and outlives it:
    # there the same words about the same y are not repeated.
    key: object = (place.f_code, place.f_lineno)
    if worker is not None:
        key = (message, joblib.hash(search.f_locals.get("y")))
    said = (worker or search).f_locals.setdefault(_SAID, set())
    if key not in said:
        message = f"{message} (In a search this is said once, of the first such fit.)"
        warnings.warn(message, category, stacklevel=level)
        said.add(key)


def _hidden(category: type[Warning]) -> bool:
    """Whether all warnings of a category are ignored at present, as inside `tune`."""
    actions = (
        action
        for action, words, kind, module, _ in warnings.filters
        if words is None and module is None and issubclass(category, kind)
    )
    return next(actions, "default") == "ignore"


def _plain(value: Any) -> Any:
    """Give a NumPy scalar as the Python value, whose ``repr`` users recognize."""
    return value.item() if isinstance(value, np.generic) else value
