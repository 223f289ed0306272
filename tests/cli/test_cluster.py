# SPDX-License-Identifier: BSD-3-Clause
"""``--dask``: a real cluster, one that nobody answers for, and none at all."""

import os
import signal
import socket

import numpy as np
import polars as pl
import pytest

from tests.pipeline.test_partitions import (
    between_queries,
    make_graded,
    make_matches,
    split,
)
from tests.waiting import PATIENCE, wait_for
from tiebreak import load
from tiebreak.io import ReadOptions
from tiebreak.outofcore import cluster, running
from tiebreak.pipeline.partitions import read_partitions

distributed = pytest.importorskip("distributed", reason="needs the dask extra")
psutil = pytest.importorskip("psutil", reason="comes with the dask extra")


def scratch(folder):
    return list(folder.glob("tiebreak-dask-*"))


@pytest.fixture
def elsewhere(tmp_path):
    """Give a folder for temporary files, and what makes a command use it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder, f"import tempfile; tempfile.tempdir = {str(folder)!r}"


@pytest.mark.extended
def test_local_workers_rank_a_folder_as_one_process_does(run, rng, tmp_path, elsewhere):
    folder, before = elsewhere
    split(make_matches(rng), tmp_path / "log", [90, 250])
    for out, words in ("here", []), ("there", ["--dask", "local"]):
        words = ["rank", "log", "--out", out, "--quiet", *words]
        done = run(*words, cwd=tmp_path, before=before)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert scratch(folder) == []
    boards = [
        (tmp_path / out / "leaderboard.csv").read_bytes() for out in ("here", "there")
    ]
    assert boards[0] == boards[1]


@pytest.mark.extended
def test_a_scheduler_that_runs_already_fits_graded_items(run, rng, tmp_path):
    table = make_graded(rng)
    split(table, tmp_path / "queries", between_queries(table, 10, 21))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0",
        protocol="tcp", host="127.0.0.1",
    ) as started:  # fmt: skip
        words = ["rank", "queries", "--quiet"]
        address = ["--dask", started.scheduler_address]
        there = run(*words, "--out", "there", *address, cwd=tmp_path)
        assert (there.code, there.stderr) == (0, "")
        # One file is one partition, and what goes wrong in it is said as ever.
        bad = tmp_path / "bad.csv"
        bad.write_text("query,grade,sweet\n1,2,0.5\n1,x,0.25\n")
        done = run("rank", bad, "--out", "bad", *address, cwd=tmp_path)
        assert done.code == 3
        assert f"{bad}: 1 row cannot be read" in done.line
        assert len(started.scheduler.workers) == 1  # it is not ours to stop
    here = run(*words, "--out", "here", cwd=tmp_path)
    assert here.code == 0
    ours, theirs = (
        load(tmp_path / out / "model.tiebreak") for out in ("here", "there")
    )
    np.testing.assert_allclose(theirs[-1].coef_, ours[-1].coef_, rtol=1e-6)
    boards = [pl.read_csv(tmp_path / o / "leaderboard.csv") for o in ("here", "there")]
    assert boards[0]["row"].to_list() == boards[1]["row"].to_list()


def test_progress_tells_how_many_files_the_workers_have_read(
    rng, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "_PAUSE", 0.005)
    split(make_matches(rng), tmp_path / "log", [90, 250])
    said = []
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
        running(client=client),
    ):
        known = read_partitions(tmp_path / "log", ReadOptions(), said.append, client)
    assert known.n_rows == 400
    assert "the workers have read 3 of 3 files" in said


@pytest.mark.extended
def test_a_cluster_that_is_not_there(run, rng, tmp_path):
    split(make_matches(rng, 40), tmp_path / "log", [20])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        done = run("check", "log", "--dask", address, cwd=tmp_path)
    assert (done.code, done.stdout) == (6, "")
    assert done.line.startswith(f"Nobody answers at {address}.")
    done = run("check", "log", "--dask", "nonsense", cwd=tmp_path)
    assert done.code == 2
    assert "--dask takes local, or the address of a scheduler" in " ".join(
        done.stderr.replace("│", " ").split()
    )


def test_without_dask_it_says_how_to_install_it(run, rng, tmp_path):
    split(make_matches(rng, 40), tmp_path / "log", [20])
    missing = "sys.modules['distributed'] = None"  # as an import finds nothing
    words = ["rank", "log", "--out", "out"]
    done = run(*words, "--dask", "local", cwd=tmp_path, before=missing)
    assert (done.code, done.stdout) == (6, "")
    assert 'pip install "tiebreak[dask]"' in done.line
    assert not (tmp_path / "out").exists()
    assert run(*words, "--quiet", cwd=tmp_path, before=missing).code == 0


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_an_interrupt_leaves_no_workers(processes, rng, tmp_path, elsewhere):
    folder, before = elsewhere
    split(make_matches(rng), tmp_path / "log", [90, 250])
    # So that it does not end before it is interrupted.
    before += (
        "; import time; from tiebreak.pipeline import partitions; "
        "partitions.find_partitions = lambda *given: time.sleep(3600)"
    )
    words = ["rank", "log", "--out", "out", "--dask", "local"]
    processes.start(*words, cwd=tmp_path, before=before)
    command = psutil.Process(processes.child)

    def find_workers():
        return [
            child
            for child in command.children(recursive=True)
            if "spawn_main" in " ".join(child.cmdline())
        ]

    wait_for(lambda: len(find_workers()) >= os.cpu_count() and scratch(folder))
    workers = find_workers()
    processes.signal(signal.SIGINT)
    done = processes.end()
    assert done.code == 130
    assert done.line.startswith("Interrupted; nothing is left half written.")
    _, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert alive == []
    assert scratch(folder) == []
    assert not (tmp_path / "out").exists()
