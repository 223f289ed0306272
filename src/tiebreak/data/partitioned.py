# SPDX-License-Identifier: BSD-3-Clause
"""The protocol by which models are fitted on data in partitions.

A model does not read partitions. It passes itself to their ``fit_model`` and keeps the
fitted attributes that this returns; :mod:`tiebreak.outofcore` implements it.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

FILE_ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


@runtime_checkable
class Partitioned(Protocol):
    """Items or comparisons in partitions that fit and score a model where they are."""

    def fit_model(self, model: Any, **columns: Any) -> dict[str, Any] | None:
        """Return the fitted attributes; None if the model was fitted on a summary."""

    def score_model(self, model: Any, **columns: Any) -> float:
        """Return what ``model.score`` gives on all rows together."""


def as_partitioned(X: Any) -> Partitioned | None:
    """Return X as `Partitioned` if it is, or names files or is of Dask; else None."""
    if isinstance(X, Partitioned):
        return X
    if isinstance(X, Path) or is_dask(X) or (isinstance(X, str) and names_files(X)):
        # By name, as a plug-in: the package lies above every model.
        table: Partitioned = import_module("tiebreak.outofcore").PartitionedTable(X)
        return table
    return None


def is_dask(X: Any) -> bool:
    """Return whether X is a collection of Dask, without importing it."""
    return type(X).__module__.split(".")[0].startswith("dask") and hasattr(X, "dask")


def names_files(text: str) -> bool:
    """Return whether a text names files: a folder, a pattern, or by its ending."""
    return (
        os.path.exists(text)
        or text.endswith(FILE_ENDINGS)
        or any(sign in text for sign in (*"*?[/", os.sep))
    )
