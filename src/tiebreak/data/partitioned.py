# SPDX-License-Identifier: BSD-3-Clause
"""Data in partitions, as far as models know them.

A model does not read partitions: it hands itself to them, and keeps what they learned.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

FILE_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


@runtime_checkable
class Partitioned(Protocol):
    """Items or comparisons in partitions, which fit and score a model where they are.

    Columns are given by name, or as Dask collections with the same partitions.
    """

    def fit_model(self, model: Any, **columns: Any) -> dict[str, Any] | None:
        """Return the fitted attributes; None if they fitted the model on a summary."""

    def score_model(self, model: Any, **columns: Any) -> float:
        """Return what ``model.score`` gives on all rows together."""


def as_partitions(X: Any) -> Partitioned | None:
    """Return X as partitions: a path, a pattern, a Dask collection; None for others."""
    if isinstance(X, Partitioned):
        return X
    if isinstance(X, Path) or is_dask(X) or (isinstance(X, str) and names_files(X)):
        # By name, as a plug-in: the package lies above every model.
        opened: Partitioned = import_module("tiebreak.outofcore").as_partitioned(X)
        return opened
    return None


def is_dask(X: Any) -> bool:
    """Say whether X is a collection of Dask, without importing it."""
    return type(X).__module__.split(".")[0].startswith("dask") and hasattr(X, "dask")


def names_files(text: str) -> bool:
    """Say whether a text names files: a folder, a pattern, or by its ending."""
    return (
        os.path.exists(text)
        or text.endswith(FILE_ENDINGS)
        or any(sign in text for sign in (*"*?[/", os.sep))
    )
