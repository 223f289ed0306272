# SPDX-License-Identifier: BSD-3-Clause
import multiprocessing
import os
import warnings
from threading import current_thread

import pytest
import scipy.linalg
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from tests.waiting import PATIENCE
from tiebreak import BradleyTerry, Pairs
from tiebreak.data import threads
from tiebreak.solvers import newton


def doubled(queue):
    queue.put(threads.in_threads(lambda task: 2 * task, range(6)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_makes_its_own_threads(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    threads._pool.cache_clear()
    threads.in_threads(lambda task: task, range(4))  # the parent's pool exists now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=doubled, args=(queue,))
    with warnings.catch_warnings():
        # Newer Pythons warn of exactly what is tested here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    child.join(PATIENCE)
    hangs = child.is_alive()
    child.kill()
    assert not hangs
    assert queue.get(timeout=PATIENCE) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "NUMBA_NUM_THREADS"])
def test_the_environment_limits_threads(monkeypatch, name):
    monkeypatch.setattr(threads, "_n_cores", lambda: 4)
    monkeypatch.setattr(threads, "_controller", lambda: ThreadpoolController().select())
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads.n_threads() == 4
    for given, expected in {"3": 3, "2,1": 2, "1": 1, "99": 4, "many": 4}.items():
        monkeypatch.setenv(name, given)
        assert threads.n_threads() == expected


def test_threadpoolctl_limits_threads(monkeypatch):
    monkeypatch.setattr(threads, "_n_cores", lambda: 4)
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(2):
        assert threads.n_threads() == 2
        with threads.one_blas_thread():  # a limit of our own is none
            assert threads.n_threads() == 2
        with threadpool_limits(1):
            assert threads.n_threads() == 1
            assert (
                threads.in_threads(lambda _: current_thread(), range(3))
                == [current_thread()] * 3
            )


def test_tasks_inside_tasks_do_not_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    inner = threads.in_threads(
        lambda i: threads.in_threads(lambda j: 10 * i + j, range(3)), range(8)
    )
    assert inner == [[10 * i + j for j in range(3)] for i in range(8)]


def test_workers_of_joblib_share_the_cores():
    found = Parallel(n_jobs=threads._n_cores())(
        delayed(threads.n_threads)() for _ in "ab"
    )
    assert found == [1, 1]


@pytest.mark.parametrize(("n", "size"), [(0, 4), (1, 4), (7, 4), (150, 64), (512, 64)])
def test_slices_cover_every_row_once(n, size):
    parts = threads.chunks(n, size)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert all(part.stop - part.start <= size for part in parts)


def test_small_work_stays_in_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "n_threads", lambda: 2)
    assert threads.chunks(1000, 4096) == [slice(0, 500), slice(500, 1000)]
    assert threads.chunks(1000, 64, 199) == [slice(0, 1000)]
    assert threads.chunks(1000, 4096, 200) == [slice(0, 500), slice(500, 1000)]


def test_scratch_is_the_same_memory():
    a = threads.scratch("test", (3, 4), float)
    b = threads.scratch("test", (2, 5), float)
    assert a.shape == (3, 4) and b.shape == (2, 5)
    b[:] = 7.0
    assert (a.ravel()[:10] == 7.0).all()


def test_ratings_keep_blas_to_one_thread(monkeypatch, rng):
    """Two that waited for each other took minutes on a busy machine, not seconds."""
    used = {}

    def watch(module, name):
        real = getattr(module, name)

        def call(*args, **more):
            libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
            number = max(library["num_threads"] for library in libraries)
            used[name] = max(number, used.get(name, 0))
            return real(*args, **more)

        monkeypatch.setattr(module, name, call)

    left, y = rng.integers(0, 12, 400), rng.integers(-1, 2, 400)
    pairs, rater = Pairs(None, left, (left + 1) % 12), rng.integers(0, 15, 400)
    watch(newton, "_search")
    watch(scipy.linalg, "eigh")
    with threadpool_limits(2, user_api="blas"):
        BradleyTerry().fit(pairs, y, rater=rater).intervals()
    assert used == {"_search": 1, "eigh": 1}
