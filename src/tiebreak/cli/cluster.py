# SPDX-License-Identifier: BSD-3-Clause
"""``--dask``: workers on this machine, or a cluster that runs already."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import typer

from tiebreak.cli.signals import when_stopped
from tiebreak.outofcore import ClusterError

_LOCAL = "local"
_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]+:\d+|[a-z]+://\[[^\s\]]+\]:\d+")
_PATIENCE = 5.0  # seconds until somebody must have answered
_INSTALL = 'Dask is not installed; install it with: pip install "tiebreak[dask]".'


@contextmanager
def connected(where: str | None, progress: Callable[[str], None]) -> Iterator[Any]:
    """Yield a client of the cluster that the user asked for, or None, and close it."""
    if where is None:
        yield None
        return
    if where != _LOCAL and not _ADDRESS.fullmatch(where):
        raise typer.BadParameter(
            f"--dask takes local, or the address of a scheduler such as "
            f"tcp://10.0.0.1:8786; got {where!r}."
        )
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"--dask {where}: {_INSTALL}") from error
    # What goes wrong is said once, in a line of ours.
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with ExitStack() as stack:
        if where == _LOCAL:
            progress("starting the workers")
            address: Any = stack.enter_context(_local_cluster())
        else:
            progress(f"asking {where}")
            address = where
        try:
            client = distributed.Client(
                address, timeout=_PATIENCE, set_as_default=False, name="tiebreak"
            )
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"Nobody answers at {where}. Is the scheduler running, and is this its "
                "address? --dask local starts workers on this machine."
            ) from error
        except ValueError as error:
            raise typer.BadParameter(f"--dask {where}: {error}") from error
        stack.callback(_leave, client)
        _wait_for_workers(client, where)
        yield client


def _wait_for_workers(client: Any, where: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise ClusterError(
            f"The scheduler at {where} has no workers; start some with: dask worker "
            f"{where}."
        ) from error


@contextmanager
def _local_cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    scratch = Path(tempfile.mkdtemp(prefix="tiebreak-dask-"))
    clusters: list[Any] = []
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stack.enter_context(when_stopped(partial(_abandon, scratch, clusters)))
        cluster = LocalCluster(
            n_workers=os.cpu_count() or 1,
            threads_per_worker=1,
            dashboard_address=":0",
            worker_dashboard_address=None,
            local_directory=str(scratch),
            silence_logs=logging.CRITICAL + 1,
        )
        clusters.append(cluster)
        stack.callback(_leave, cluster)
        yield cluster


def _leave(client_or_cluster: Any) -> None:
    # The result is there; what happens while workers are let go changes nothing.
    with suppress(Exception):
        client_or_cluster.close(timeout=_PATIENCE)


def _abandon(scratch: Path, clusters: list[Any]) -> None:
    """End workers at once, and remove what they wrote."""
    for nanny in (nanny for one in clusters for nanny in one.workers.values()):
        number = getattr(nanny, "pid", None)
        if number is not None:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
    shutil.rmtree(scratch, ignore_errors=True)
