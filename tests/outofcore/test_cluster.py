# SPDX-License-Identifier: BSD-3-Clause
"""Fits on a real cluster, while it works and while it breaks."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the dask extra")

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import pandas as pd

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tests.outofcore.test_objectives import assert_same
from tests.waiting import PATIENCE
from tiebreak import BradleyTerry, LogisticCompare, RankRLS, RankSVM, tune
from tiebreak.losses import GradeSquaredHinge, GradeTree, LinearObjective
from tiebreak.outofcore import (
    ClusterError,
    PartitionedPairs,
    PartitionedTable,
    evaluate,
    repartition,
    running,
)
from tiebreak.outofcore import cluster as dask_parts
from tiebreak.outofcore.cluster import DaskPartitions
from tiebreak.outofcore.objectives import GradedPartition, SummedObjective

# Dask and its event loops may leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*groups have one item"),
]


def new_svm(tol=1e-10):
    return RankSVM(0.3, kernel="linear", loss="squared_hinge", tol=tol)


@pytest.fixture
def graded(rng, tmp_path):
    data = make_graded(rng, n_groups=60)
    folder = data.write(tmp_path / "graded", cut_groups(rng, data.qid, 5))
    return data, folder


@pytest.mark.extended
@pytest.mark.parametrize(
    "keep", [True, pytest.param(False, marks=pytest.mark.extended)]
)
def test_the_objective_is_the_local_one(cluster, graded, rng, keep):
    data, folder = graded
    readers, labels = PartitionedTable(folder, data.columns).readers(
        y="grade", qid="query", weight="w"
    )
    parts = DaskPartitions(cluster, readers, labels, Labeled(GradedPartition), keep)
    _, group = np.unique(data.qid, return_inverse=True)
    loss = GradeSquaredHinge(GradeTree(data.y, group, data.weight))
    whole = LinearObjective(data.X, loss, 0.7)
    assert_same(SummedObjective(parts, np.ones(data.X.shape[1]), 0.7), whole, rng)
    parts.close()


class Labeled:
    """Makes parts without regard to the name of the partition."""

    def __init__(self, build):
        self.build = build

    def __call__(self, columns):
        columns.pop("label")
        return self.build(columns)


def test_models_are_the_local_ones(cluster, graded, rng, tmp_path):
    data, folder = graded
    compared = make_compared(rng, n=300)
    votes = compared.write(tmp_path / "votes", rng.integers(0, 5, 300))
    log = PartitionedPairs(votes, "a", "b", items=compared.items, names=compared.names)
    names = PartitionedPairs(votes, "a", "b")
    with running(client=cluster):
        svm = new_svm().fit(folder, "grade", qid="query", sample_weight="w")
        rls = RankRLS(kernel="linear").fit(
            folder, "grade", qid="query", sample_weight="w"
        )
        logistic = LogisticCompare(0.5).fit(log, "winner", sample_weight="w")
        strengths = BradleyTerry(alpha=0.1).fit(names, "winner", sample_weight="w")
        share = svm.score(folder, "grade", qid="query")
        judged = evaluate(logistic, log, "winner")
    whole = new_svm().fit(data.X, data.y, qid=data.qid, sample_weight=data.weight)
    np.testing.assert_allclose(svm.coef_, whole.coef_, rtol=1e-4, atol=1e-6)
    assert share == pytest.approx(whole.score(data.X, data.y, qid=data.qid))
    other = RankRLS(kernel="linear").fit(
        data.X, data.y, qid=data.qid, sample_weight=data.weight
    )
    np.testing.assert_allclose(rls.coef_, other.coef_, rtol=1e-8, atol=1e-10)
    local = LogisticCompare(0.5).fit(
        compared.pairs, compared.y, sample_weight=compared.weight
    )
    np.testing.assert_allclose(logistic.coef_, local.coef_, atol=1e-6)
    assert judged["accuracy"] == pytest.approx(local.score(compared.pairs, compared.y))
    rated = BradleyTerry(alpha=0.1).fit(
        compared.named, compared.y, sample_weight=compared.weight
    )
    np.testing.assert_allclose(
        strengths.utility(rated.items_), rated.strength_, atol=1e-6
    )


@pytest.mark.extended
def test_frames_and_arrays_of_dask(cluster, graded, rng):
    data, _ = graded
    order = np.argsort(cut_groups(rng, data.qid, 3), kind="stable")
    order = order[np.argsort(data.qid[order], kind="stable")]
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    whole = new_svm().fit(X, y, qid=qid).coef_
    frame = pd.DataFrame(X, columns=data.columns).assign(grade=y, query=qid)
    cut = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(ValueError, match="more than one partition"):
        new_svm().fit(cut[data.columns], cut["grade"], qid=cut["query"])
    shuffled = repartition(cut, qid="query")
    with running(client=cluster):
        separate = new_svm().fit(
            shuffled[data.columns], shuffled["grade"], qid=shuffled["query"]
        )
        named = new_svm().fit(shuffled, "grade", qid="query")
    np.testing.assert_allclose(separate.coef_, whole, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(named.coef_, whole, rtol=1e-4, atol=1e-6)
    ends = np.flatnonzero(np.diff(qid)) + 1
    chunks = tuple(np.diff([0, ends[9], ends[20], len(qid)]).tolist())
    arrays = da.from_array(X, chunks=(chunks, 2)), da.from_array(y, chunks=7)
    fitted = new_svm().fit(*arrays, qid=da.from_array(qid, chunks=(chunks,)))
    np.testing.assert_allclose(fitted.coef_, whole, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="y has 5 values but X has"):
        new_svm().fit(arrays[0], da.zeros(5), qid=da.from_array(qid, chunks=(chunks,)))


@pytest.mark.extended
def test_comparisons_as_an_array_of_dask(cluster, rng):
    data = make_compared(rng)
    array = da.from_array(np.asarray(data.pairs), chunks=(40, 1, 3))
    with running(client=cluster):
        fitted = LogisticCompare(0.5).fit(array, da.from_array(data.y, chunks=40))
    local = LogisticCompare(0.5).fit(data.pairs, data.y)
    np.testing.assert_allclose(fitted.coef_, local.coef_, atol=1e-6)


@pytest.mark.extended
def test_a_straddling_group_is_refused_on_the_cluster(cluster, graded, tmp_path):
    data, _ = graded
    folder = data.write(tmp_path / "cut", np.arange(len(data.y)) % 2)
    with running(client=cluster), pytest.raises(ValueError, match="more than one"):
        new_svm().fit(folder, "grade", qid="query")


@pytest.mark.extended
def test_what_a_worker_says_of_a_partition_reaches_the_user(cluster, graded, tmp_path):
    _, folder = graded
    (tmp_path / "graded" / "torn.parquet").write_bytes(b"PAR1 and no more")
    with running(client=cluster), pytest.raises(OSError, match=r"torn\.parquet cannot"):
        new_svm().fit(folder, "grade", qid="query")


@pytest.mark.extended
def test_tuning_goes_to_the_workers(cluster, rng):
    import joblib

    data = make_compared(rng)
    grid = {"C": [0.1, 1.0]}
    model = RankSVM(kernel="linear")
    here = tune(model, data.pairs, data.y, grid, cv=2)
    with joblib.parallel_config("dask", client=cluster):
        there = tune(model, data.pairs, data.y, grid, cv=2, n_jobs=2)
    assert there.best_params_ == here.best_params_


@pytest.fixture
def few(rng, tmp_path):
    """Graded items in three files."""
    data = make_graded(rng, n_groups=60)
    return data.write(tmp_path / "few", cut_groups(rng, data.qid, 3))


@pytest.fixture
def own_cluster():
    """A cluster that a test may break."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit="1GiB",
            silence_logs=100,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.extended
@pytest.mark.parametrize("keep", [True, False])
def test_a_worker_killed_in_the_middle_changes_nothing(own_cluster, few, keep):
    with running(client=own_cluster, keep=keep):
        before = new_svm(1e-4).fit(few, "grade", qid="query", sample_weight="w")
    killed = []

    def kill(step):
        if step.number == 1:
            workers = own_cluster.run(os.getpid)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    with running(client=own_cluster, keep=keep, tell=kill):
        after = new_svm(1e-4).fit(few, "grade", qid="query", sample_weight="w")
    assert killed and killed[0] not in own_cluster.run(os.getpid).values()
    np.testing.assert_allclose(after.coef_, before.coef_, rtol=1e-12)
    assert after.objective_ == pytest.approx(before.objective_, rel=1e-12)


@pytest.mark.extended
def test_a_scheduler_that_goes_away_is_said_in_words(few):
    folder = few
    steps = []
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=100,
            processes=False,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def leave(step):
            steps.append(step.number)
            if step.number == 2:
                client.shutdown()

        with (
            running(client=client, tell=leave),
            pytest.raises(ClusterError, match="scheduler of the cluster"),
        ):
            new_svm().fit(folder, "grade", qid="query", sample_weight="w")
    assert max(steps) == 2


@pytest.mark.extended
@pytest.mark.parametrize("limit, words", [("900MiB", "died"), ("90MiB", "nearly full")])
def test_workers_without_memory_are_said_in_words(few, limit, words, monkeypatch):
    """One is killed for what it takes; one is full before it begins."""
    if words != "died":
        monkeypatch.setattr(dask_parts, "_LOOK", 0.5)
        monkeypatch.setattr(dask_parts, "_PATIENCE", 2.0)
    table = PartitionedTable(few, ["f0", "f1"]).map(_devour)
    with (
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": 0,
                "distributed.worker.memory.terminate": 0.95
                if words == "died"
                else False,
            }
        ),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=limit,
            silence_logs=100,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        running(client=client, keep=True),
        pytest.raises(ClusterError, match=words),
    ):
        new_svm().fit(table, "grade", qid="query")


def _devour(X):
    """Take more memory than a worker may have, and hold it until that is noticed."""
    block = np.ones(130_000_000)
    time.sleep(PATIENCE)
    return X.to_numpy() + block[0]


def test_partitions_are_not_kept_where_they_do_not_fit(cluster, graded):
    data, folder = graded
    readers, labels = PartitionedTable(folder, data.columns).readers(
        y="grade", qid="query"
    )
    build = Labeled(GradedPartition)
    assert DaskPartitions(cluster, readers, labels, build)._built is not None
    assert DaskPartitions(cluster, readers, labels, Bulky)._built is None


class Bulky:
    """A part that says that it is large."""

    def __init__(self, columns):
        pass

    def __sizeof__(self):
        return 10**12


@pytest.mark.extended
def test_parts_stay_with_the_workers_between_passes(cluster, graded):
    data, folder = graded
    readers, labels = PartitionedTable(folder, data.columns).readers(
        y="grade", qid="query"
    )
    parts = DaskPartitions(
        cluster, readers, labels, Labeled(GradedPartition), keep=True
    )
    objective = SummedObjective(parts, np.ones(data.X.shape[1]))
    before = objective.expand(np.ones(data.X.shape[1]))[0]
    for file in labels:
        os.remove(file)  # nobody reads them again
    assert objective.expand(np.ones(data.X.shape[1]))[0] == pytest.approx(before)
    parts.close()
