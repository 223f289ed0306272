# SPDX-License-Identifier: BSD-3-Clause
"""Open parted data where they are to be worked on, and say which partition failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tiebreak.scale.dask_parts import DaskParts, active_client
from tiebreak.scale.parts import Build, LocalParts, Parts
from tiebreak.scale.running import current
from tiebreak.scale.sources import PartedPairs, PartedTable

__all__ = ["open_parts"]


def open_parts(data: PartedTable | PartedPairs, build: Build, **roles: Any) -> Parts:
    """Open partitions on the cluster that is there, else in this process.

    Parameters
    ----------
    data : PartedTable or PartedPairs
        The data.
    build : callable
        Makes a part of the columns of a partition.
    **roles : str, Dask collection or None
        Columns, as in :meth:`PartedTable.readers`.

    Returns
    -------
    Parts
    """
    readers, labels = data.readers(**roles)
    settings = current()
    client = settings.client if settings.client is not None else active_client()
    if client is None:
        return LocalParts(readers, labels, _Labeled(build), settings.keep)
    return DaskParts(client, readers, labels, _Labeled(build), settings.keep)


@dataclass(frozen=True)
class _Labeled:
    """Builds a part, and says in errors which partition it was.

    Attributes
    ----------
    build : callable
        Makes a part of columns.
    """

    build: Build

    def __call__(self, columns: dict[str, Any]) -> Any:
        label = columns.pop("label")
        try:
            return self.build(columns)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{label}: {error}") from error
