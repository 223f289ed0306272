# SPDX-License-Identifier: BSD-3-Clause
"""``--dask``: workers on this machine, or a cluster that runs already."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import tempfile
import threading
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
_PAUSE = 0.3  # seconds between two looks at the workers
_READING = ("_build_part-", "_read_and_work-")  # tasks of DaskPartitions
_INSTALL = 'Dask is not installed; install it with: pip install "tiebreak[dask]".'


@contextmanager
def connected(
    where: str | None, progress: Callable[[str], None] = lambda step: None
) -> Iterator[Any]:
    """Give the cluster that the user asked for, and leave it in the end.

    Parameters
    ----------
    where : str or None
        ``"local"`` for one worker per core of this machine, which are stopped in the
        end; else the address of a scheduler. None: no cluster.
    progress : callable
        Is told what is going on.

    Yields
    ------
    distributed.Client or None

    Raises
    ------
    ClusterError
        If Dask is not installed, nobody answers, or nobody is there to work.
    """
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
    cluster: Any = None
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stopping = stack.enter_context(when_stopped(partial(_abandon, scratch, None)))
        cluster = LocalCluster(
            n_workers=os.cpu_count() or 1,
            threads_per_worker=1,
            dashboard_address=":0",
            worker_dashboard_address=None,
            local_directory=str(scratch),
            silence_logs=logging.CRITICAL + 1,
        )
        stopping.replace(partial(_abandon, scratch, cluster))
        stack.callback(_leave, cluster)
        yield cluster


@contextmanager
def watched(
    client: Any, n_files: int, progress: Callable[[str], None]
) -> Iterator[None]:
    """Say how many files the workers have read, while a block waits for them.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    n_files : int
        How many files there are.
    progress : callable
        Is told.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_PAUSE):
            n_read = min(_count_read(client), n_files)
            progress(f"the workers have read {n_read:,} of {n_files:,} files")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _count_read(client: Any) -> int:
    """Count the finished tasks that began with reading a file."""
    with suppress(RuntimeError):  # the tasks may change while they are counted
        return sum(
            state.status == "finished"
            for key, state in list(client.futures.items())
            if any(word in str(key) for word in _READING)
        )
    return 0


def _leave(client_or_cluster: Any) -> None:
    # The result is there; what happens while workers are let go changes nothing.
    with suppress(Exception):
        client_or_cluster.close(timeout=_PATIENCE)


def _abandon(scratch: Path, cluster: Any) -> None:
    """End workers at once, and remove what they wrote."""
    for nanny in () if cluster is None else cluster.workers.values():
        number = getattr(nanny, "pid", None)
        if number is not None:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
    shutil.rmtree(scratch, ignore_errors=True)
