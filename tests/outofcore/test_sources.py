# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with data in partitions is said, with the partition's name."""

import numpy as np
import polars as pl
import pytest

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak import BradleyTerry, LogisticCompare, RankRLS, RankSVM
from tiebreak.outofcore import PartitionedPairs, PartitionedTable, fit

SVM = RankSVM(kernel="linear", loss="squared_hinge")
RLS = RankRLS(kernel="linear")


@pytest.fixture
def data(rng):
    data = make_graded(rng)
    data.weight[:] = 1.0
    return data


@pytest.fixture
def folder(data, tmp_path):
    owner = cut_groups(np.random.default_rng(0), data.qid, 2)
    return data.write(tmp_path / "x", owner)


def rewrite(folder, change):
    """Change the second file of a folder."""
    path = f"{folder}/part001.parquet"
    change(pl.read_parquet(path)).write_parquet(path)


@pytest.mark.parametrize("model", [SVM, RLS], ids=["svm", "rls"])
def test_groups_that_straddle_are_refused(model, data, tmp_path):
    folder = data.write(tmp_path / "cut", np.arange(len(data.y)) % 2)
    with pytest.raises(ValueError, match=r"more than one partition: group '\d+' is in"):
        fit(model, folder, "grade", qid="query")
    with pytest.raises(ValueError, match="without qid all rows are one group"):
        fit(model, folder, "grade")


@pytest.mark.parametrize(
    "model, y, error, message",
    [
        (SVM, "rank", ValueError, "no column 'rank'; it has f0"),
        (SVM, np.zeros(3), TypeError, "y must be the name of a column"),
        (RankSVM(loss="squared_hinge"), "grade", ValueError, "kernel='rbf'.*Nystroem"),
        (RankSVM(kernel="linear"), "grade", ValueError, "is loss='squared_hinge'"),
        (LogisticCompare(), "grade", TypeError, "learns from comparisons"),
        (BradleyTerry(), "grade", TypeError, "BradleyTerry cannot be fitted on"),
    ],
)
def test_models_and_columns_that_do_not_fit(folder, model, y, error, message):
    with pytest.raises(error, match=message):
        fit(model, folder, y, qid="query")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda f: f.rename({"f1": "g"}), "part001.parquet has other features than"),
        (lambda f: f.with_columns(f2=pl.lit(None)), "part001.parquet: .*row 0, column"),
        (lambda f: f.drop("query"), "part001.parquet has no column 'query'"),
    ],
)
def test_a_partition_that_differs_is_named(folder, change, message):
    rewrite(folder, change)
    with pytest.raises(ValueError, match=message):
        fit(SVM, folder, "grade", qid="query")


def test_files_that_are_not_there(folder, tmp_path):
    with pytest.raises(ValueError, match="no file has such a name"):
        fit(SVM, tmp_path / "*.parquet", "grade")
    (tmp_path / "x" / "torn.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(OSError, match=r"torn\.parquet cannot be read"):
        fit(SVM, folder, "grade")
    with pytest.raises(ValueError, match="no column 'bm25'"):
        fit(SVM, PartitionedTable(f"{folder}/part*", ["bm25"]), "grade", qid="query")
    with pytest.raises(TypeError, match="must be a list of names, got 'f0'"):
        PartitionedTable(folder, "f0")


@pytest.mark.parametrize("model", [SVM, RLS], ids=["svm", "rls"])
def test_nothing_to_learn_from(model, data, tmp_path):
    data.y[:] = 1.0
    folder = data.write(tmp_path / "x", np.zeros(len(data.y), int))
    with pytest.raises(ValueError, match="no pair to learn from"):
        fit(model, folder, "grade", qid="query")
    rewrite = pl.read_parquet(f"{folder}/part000.parquet")[:0]
    rewrite.write_parquet(f"{folder}/part000.parquet")
    with pytest.raises(ValueError, match="no rows in 1 partition"):
        fit(model, folder, "grade", qid="query")


def test_comparisons_that_are_odd(rng, tmp_path):
    data = make_compared(rng)
    items = {"items": data.items, "names": data.names}

    def log(name, **other):
        folder = data.write(tmp_path / name, rng.integers(0, 2, len(data.y)))
        return PartitionedPairs(folder, "a", "b", **(items | other))

    unknown = log("x", items=data.items[1:], names=data.names[1:])
    with pytest.raises(ValueError, match=r"part000\.parquet: .*item 0"):
        fit(LogisticCompare(), unknown, "winner")
    with pytest.raises(ValueError, match="names has 11 values but there are 12 items"):
        log("x", names=data.names[1:])
    data.weight[:] = 0.0
    with pytest.raises(ValueError, match="Every sample weight is zero"):
        fit(LogisticCompare(), log("x"), "winner", sample_weight="w")
    data.right[:3], data.y[:3] = data.left[:3], 0
    with pytest.warns(UserWarning, match="3 comparison.* of an item with itself"):
        fit(LogisticCompare(), log("y"), "winner")
    data.y[data.y < 0] = 0
    with (
        pytest.warns(UserWarning, match="item with itself"),
        pytest.warns(UserWarning, match="only 0 and 1"),
    ):
        fit(LogisticCompare(), log("z"), "winner")
