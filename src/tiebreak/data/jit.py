# SPDX-License-Identifier: BSD-3-Clause
"""Compiled functions; a cache that is damaged or cannot be written is a miss.

Numba itself refuses to compile without a folder for its cache, as in some containers,
and stops at a damaged file.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core.caching import FunctionCache

from tiebreak.data.messages import TiebreakWarning, warn_user


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as ``numba.njit`` does; a cache that fails is a miss."""

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options | {"cache": False})(function)
        try:
            dispatcher._cache = _Cache(function)
        except RuntimeError:  # there is no place for the cache
            _warn_without_cache()
        return dispatcher

    return compiled


class _Cache(FunctionCache):
    """The files of one function; where one cannot be read, all are given up."""

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception:  # whatever unpickling damaged bytes raises
            try:
                self.flush()
            except OSError:
                _warn_without_cache()


@cache
def _warn_without_cache() -> None:
    warn_user(
        "No folder for compiled code can be written, so every process compiles again. "
        "Set NUMBA_CACHE_DIR to one that can.",
        TiebreakWarning,
    )
