# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions, also where nothing can be written.

Numba refuses to compile if it can write its cache neither beside the sources nor in the
user's cache folder, as in some containers. Then every process compiles for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba

from tiebreak.data.messages import TiebreakWarning, warn_user


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as ``numba.njit`` does, also without a place for its cache."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # there is no place for the cache
            _warn_without_cache()
            return numba.njit(**options | {"cache": False})(function)

    return compiled


@cache
def _warn_without_cache() -> None:
    warn_user(
        "No folder for compiled code can be written, so every process compiles again. "
        "Set NUMBA_CACHE_DIR to one that can.",
        TiebreakWarning,
    )
