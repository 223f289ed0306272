# SPDX-License-Identifier: BSD-3-Clause
"""Fits on a real cluster, also while a worker dies."""

import os
import signal
from functools import partial

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the dask extra")

import dask.dataframe as dd
import pandas as pd

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak import LogisticCompare, RankRLS, RankSVM, tune
from tiebreak.outofcore import PartitionedPairs, PartitionedTable, fit, partitions

# Dask and its event loops may leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*groups have one item"),
]
GRADES = {"qid": "query", "sample_weight": "w"}


def new_svm():
    return RankSVM(0.3, kernel="linear", loss="squared_hinge", tol=1e-10)


@pytest.fixture
def graded(rng, tmp_path):
    data = make_graded(rng, n_groups=60)
    folder = data.write(tmp_path / "graded", cut_groups(rng, data.qid, 5))
    return data, folder


def test_models_are_the_local_ones(cluster, graded, rng, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_FAN_IN", 2)  # workers add up
    data, folder = graded
    svm = fit(new_svm(), folder, "grade", **GRADES, client=cluster, keep=True)
    whole = new_svm().fit(data.X, data.y, qid=data.qid, sample_weight=data.weight)
    np.testing.assert_allclose(svm.coef_, whole.coef_, rtol=1e-4, atol=1e-6)
    rls = fit(RankRLS(kernel="linear"), folder, "grade", **GRADES, client=cluster)
    other = RankRLS(kernel="linear").fit(
        data.X, data.y, qid=data.qid, sample_weight=data.weight
    )
    np.testing.assert_allclose(rls.coef_, other.coef_, rtol=1e-8, atol=1e-10)
    compared = make_compared(rng, n=300)
    votes = compared.write(tmp_path / "votes", rng.integers(0, 5, 300))
    log = PartitionedPairs(votes, "a", "b", items=compared.items, names=compared.names)
    logistic = fit(
        LogisticCompare(0.5), log, "winner", sample_weight="w", client=cluster
    )
    local = LogisticCompare(0.5).fit(
        compared.pairs, compared.y, sample_weight=compared.weight
    )
    np.testing.assert_allclose(logistic.coef_, local.coef_, atol=1e-6)


@pytest.mark.extended
def test_frames_of_dask(cluster, graded):
    data, _ = graded
    order = np.argsort(data.qid, kind="stable")
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    whole = new_svm().fit(X, y, qid=qid).coef_
    frame = pd.DataFrame(X, columns=data.columns).assign(grade=y, query=qid)
    cut = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(ValueError, match="in partition 0 and in partition 1"):
        fit(new_svm(), cut, "grade", qid="query", client=cluster)
    shuffled = cut.shuffle("query")
    for client in (cluster, None):
        named = fit(new_svm(), shuffled, "grade", qid="query", client=client)
        np.testing.assert_allclose(named.coef_, whole, rtol=1e-4, atol=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize("keep", [True, False])
def test_a_worker_killed_in_the_middle_changes_nothing(cluster, graded, tmp_path, keep):
    data, folder = graded
    flag = tmp_path / "die"
    table = PartitionedTable(folder, data.columns).map(partial(_die_once, flag))
    before = fit(new_svm(), table, "grade", **GRADES, client=cluster, keep=keep)
    flag.touch()
    after = fit(new_svm(), table, "grade", **GRADES, client=cluster, keep=keep)
    assert not flag.exists()
    np.testing.assert_allclose(after.coef_, before.coef_, rtol=1e-12)


def _die_once(flag, X):
    """End the worker that sees the flag first."""
    if flag.exists():
        flag.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return X


@pytest.mark.extended
def test_what_a_worker_says_of_a_partition_reaches_the_user(cluster, graded, tmp_path):
    _, folder = graded
    (tmp_path / "graded" / "torn.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(OSError, match=r"torn\.parquet cannot be read"):
        fit(new_svm(), folder, "grade", qid="query", client=cluster)


@pytest.mark.extended
def test_tuning_goes_to_the_workers(cluster, rng):
    import joblib

    data, grid = make_compared(rng), {"C": [0.1, 1.0]}
    model = RankSVM(kernel="linear")
    here = tune(model, data.pairs, data.y, grid, cv=2)
    with joblib.parallel_config("dask", client=cluster):
        there = tune(model, data.pairs, data.y, grid, cv=2, n_jobs=2)
    assert there.best_params_ == here.best_params_
