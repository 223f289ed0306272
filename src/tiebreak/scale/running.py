# SPDX-License-Identifier: BSD-3-Clause
"""How a fit on parted data is to run: where, what is kept, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Running", "Step", "current", "running"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """What is known after a step of a solver.

    Attributes
    ----------
    number : int
        Number of steps taken.
    value : float
        Value of the objective.
    gap : float
        How far it may be above the minimum, as a share of it.
    x : ndarray
        The point.
    """

    number: int
    value: float
    gap: float
    x: Floats


@dataclass(frozen=True)
class Running:
    """Settings of a fit on parted data.

    Attributes
    ----------
    client : distributed.Client or None
        The cluster; None: the active client of Dask if there is one, else this process.
    keep : bool or None
        Whether partitions stay in memory between passes; None: while they fit.
    checkpoint : Path or None
        File from which a fit goes on.
    tell : callable or None
        Is told every step.
    """

    client: Any = None
    keep: bool | None = None
    checkpoint: Path | None = None
    tell: Callable[[Step], None] | None = None


_current: ContextVar[Running] = ContextVar("tiebreak_running")


def current() -> Running:
    """Give the settings that hold here."""
    return _current.get(Running())


@contextmanager
def running(
    *,
    client: Any = None,
    keep: bool | None = None,
    checkpoint: str | Path | None = None,
    tell: Callable[[Step], None] | None = None,
) -> Iterator[None]:
    """Say how fits on parted data run inside a ``with`` block.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster that does the work. Default: the active client of Dask if there is
        one, else this process, one partition after the other.
    keep : bool, optional
        Whether partitions, once read and checked, stay in memory. Default: as many as
        fit in half of the free memory; on a cluster all of them or none, by the size of
        the first. With False every pass reads the data again, and only the partitions
        at work are in memory.
    checkpoint : path, optional
        A file that is written after every step. A fit that was interrupted goes on
        from there when it is started again with the same data and parameters; a file
        of another fit is refused.
    tell : callable, optional
        Is called with a :class:`Step` after every step, for progress.

    Examples
    --------
    >>> from tiebreak.scale import running
    >>> with running(keep=False):
    ...     pass  # model.fit("queries/*.parquet", "grade", qid="query")
    """
    path = None if checkpoint is None else Path(checkpoint)
    token = _current.set(Running(client, keep, path, tell))
    try:
        yield
    finally:
        _current.reset(token)
