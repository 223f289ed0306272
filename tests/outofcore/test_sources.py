# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with data in partitions is said, with the partition's name."""

import numpy as np
import polars as pl
import pytest

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak import BradleyTerry, LogisticCompare, RankRLS, RankSVM
from tiebreak.outofcore import PartitionedPairs, PartitionedTable, evaluate, repartition

MODELS = [RankSVM(kernel="linear", loss="squared_hinge"), RankRLS(kernel="linear")]
ids = [type(model).__name__ for model in MODELS]


@pytest.fixture
def data(rng):
    data = make_graded(rng)
    data.weight[:] = 1.0
    return data


@pytest.mark.parametrize("model", MODELS, ids=ids)
def test_groups_that_straddle_are_refused(model, data, tmp_path):
    owner = np.arange(len(data.y)) % 2
    folder = data.write(tmp_path / "cut", owner)
    with pytest.raises(ValueError, match=r"in more than one partition: group '\d+'"):
        model.fit(folder, "grade", qid="query")
    with pytest.raises(ValueError, match="without qid all rows are one group"):
        model.fit(folder, "grade")  # without qid all rows are one group
    fitted = RankRLS(kernel="linear").fit(data.X, data.y)
    with pytest.raises(ValueError, match="more than one partition"):
        evaluate(fitted, PartitionedTable(folder, data.columns), "grade", qid="query")


@pytest.mark.filterwarnings("ignore:.*one item only")
def test_repartition_brings_groups_together(data, tmp_path):
    folder = data.write(tmp_path / "cut", np.arange(len(data.y)) % 3)
    files = repartition(folder, tmp_path / "whole", qid="query", n_parts=5)
    assert len(files) == 5
    read = pl.concat([pl.read_ipc(file) for file in files])
    before = data.frame(np.arange(len(data.y)))
    columns = before.columns
    assert read.sort(columns).equals(before.sort(columns))
    owners = [set(pl.read_ipc(file)["query"]) for file in files]
    assert (
        sum(map(len, owners)) == len(set.union(*owners)) == before["query"].n_unique()
    )
    model = RankSVM(kernel="linear", loss="squared_hinge", tol=1e-8)
    table = PartitionedTable(tmp_path / "whole", data.columns)
    parted = model.fit(table, "grade", qid="query").coef_
    whole = model.fit(data.X, data.y, qid=data.qid).coef_
    np.testing.assert_allclose(parted, whole, rtol=1e-3, atol=1e-5)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_repartition_of_what_cannot_be(data, tmp_path):
    folder = data.write(tmp_path / "cut", np.arange(len(data.y)) % 2)
    with pytest.raises(ValueError, match="no column 'qid' of groups; it has f0"):
        repartition(folder, tmp_path / "whole", qid="qid")
    assert not (tmp_path / "whole").exists()
    pl.DataFrame({"query": [1], "other": [2]}).write_parquet(f"{folder}/z.parquet")
    with pytest.raises(ValueError, match="other columns or types"):
        repartition(folder, tmp_path / "whole", qid="query", n_parts=2)
    assert not (tmp_path / "whole").exists()
    with pytest.raises(ValueError, match="needs a folder"):
        repartition(folder, qid="query")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        repartition(folder, tmp_path / "whole", qid="query", n_parts=0)


def test_repartition_mixes_nothing_with_older_files(data, tmp_path):
    folder = data.write(tmp_path / "cut", np.arange(len(data.y)) % 2)
    repartition(folder, tmp_path / "whole", qid="query", n_parts=4)
    before = sorted((tmp_path / "whole").iterdir())
    with pytest.raises(ValueError, match=r"whole is not empty.*Name a new folder"):
        repartition(folder, tmp_path / "whole", qid="query", n_parts=2)
    assert sorted((tmp_path / "whole").iterdir()) == before


def test_files_that_are_not_there(tmp_path):
    model = MODELS[0]
    with pytest.raises(FileNotFoundError, match="names no file"):
        model.fit(str(tmp_path / "*.parquet"), "grade")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a Parquet or Arrow file"):
        model.fit(str(tmp_path / "*.csv"), "grade")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(OSError, match=r"torn\.parquet cannot be read"):
        model.fit(str(tmp_path), "grade")


def test_columns_that_are_not_there(data, tmp_path):
    folder = data.write(tmp_path / "x", np.zeros(len(data.y), int))
    model = MODELS[0]
    with pytest.raises(ValueError, match="no column 'rank', which was to be y; it has"):
        model.fit(folder, "rank", qid="query")
    with pytest.raises(ValueError, match="no column 'bm25'"):
        model.fit(PartitionedTable(folder, ["bm25"]), "grade", qid="query")
    with pytest.raises(TypeError, match=r"write \['f0'\]"):
        PartitionedTable(folder, "f0")
    with pytest.raises(ValueError, match="target y is None"):
        model.fit(folder)
    with pytest.raises(TypeError, match="y must be the name of a column"):
        model.fit(folder, data.y, qid="query")


def test_partitions_that_differ(data, tmp_path):
    folder = data.write(
        tmp_path / "x", cut_groups(np.random.default_rng(0), data.qid, 2)
    )
    path = tmp_path / "x" / "part001.parquet"
    pl.read_parquet(path).rename({"f1": "g"}).write_parquet(path)
    with pytest.raises(ValueError, match=r"part001\.parquet has other features than"):
        MODELS[0].fit(folder, "grade", qid="query")


def test_a_bad_value_is_named_with_its_partition(data, tmp_path):
    owner = cut_groups(np.random.default_rng(0), data.qid, 2)
    row = int(np.flatnonzero(owner == 1)[3])
    data.X[row, 2] = np.nan
    folder = data.write(tmp_path / "x", owner)
    with pytest.raises(ValueError, match=r"part001\.parquet: .*row 3, column"):
        MODELS[0].fit(folder, "grade", qid="query")


def test_what_partitions_cannot_do(data, tmp_path):
    folder = data.write(tmp_path / "x", np.zeros(len(data.y), int))
    with pytest.raises(ValueError, match=r"kernel='rbf'.*NystroemMap"):
        RankSVM(loss="squared_hinge").fit(folder, "grade", qid="query")
    with pytest.raises(ValueError, match=r"it is loss='squared_hinge'"):
        RankSVM(kernel="linear").fit(folder, "grade", qid="query")
    with pytest.raises(TypeError, match="learns from comparisons"):
        LogisticCompare().fit(folder, "grade")
    with pytest.raises(TypeError, match="PartitionedPairs"):
        BradleyTerry().fit(folder, "grade")
    with pytest.raises(ValueError, match="no metric of graded items"):
        evaluate(None, folder, "grade", metrics=["accuracy"])


def test_an_item_that_beats_itself_is_named(tmp_path):
    log = {"a": ["Ada", "Bo"], "b": ["Ada", "Ada"], "y": [1, 0]}
    pl.DataFrame(log).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(ValueError, match=r"log\.parquet: .*row 0 \('Ada'\)"):
        BradleyTerry(alpha=0.1).fit(PartitionedPairs(tmp_path, "a", "b"), "y")


def test_nothing_to_learn_from(data, tmp_path):
    data.y[:] = 1.0
    folder = data.write(tmp_path / "x", np.zeros(len(data.y), int))
    for model in MODELS:
        with pytest.raises(ValueError, match="no pair to learn from"):
            model.fit(folder, "grade", qid="query")
    empty = tmp_path / "empty"
    empty.mkdir()
    data.frame(np.zeros(0, int)).write_parquet(empty / "a.parquet")
    for model in MODELS:
        with pytest.raises(ValueError, match="no rows in 1 partition"):
            model.fit(str(empty), "grade", qid="query")


@pytest.mark.filterwarnings("ignore:.*one item only")
@pytest.mark.parametrize("model", MODELS, ids=ids)
def test_a_partition_without_rows_changes_nothing(model, data, tmp_path):
    folder = data.write(tmp_path / "x", np.zeros(len(data.y), int))
    before = model.fit(folder, "grade", qid="query").coef_.copy()
    data.frame(np.zeros(0, int)).write_parquet(f"{folder}/zzz.parquet")
    np.testing.assert_allclose(
        model.fit(folder, "grade", qid="query").coef_, before, rtol=1e-10
    )


@pytest.mark.filterwarnings("ignore:.*one item only")
def test_weights_of_a_partition_may_all_be_zero(data, tmp_path):
    owner = cut_groups(np.random.default_rng(0), data.qid, 2)
    data.weight[owner == 1] = 0.0
    folder = data.write(tmp_path / "x", owner)
    model = RankSVM(kernel="linear", loss="squared_hinge", tol=1e-8)
    parted = model.fit(
        PartitionedTable(folder, data.columns), "grade", qid="query", sample_weight="w"
    ).coef_
    whole = model.fit(data.X, data.y, qid=data.qid, sample_weight=data.weight).coef_
    np.testing.assert_allclose(parted, whole, rtol=1e-3, atol=1e-5)


def test_comparisons_that_are_odd(rng, tmp_path):
    data = make_compared(rng)
    folder = data.write(tmp_path / "x", rng.integers(0, 2, len(data.y)))
    log = PartitionedPairs(folder, "a", "b")
    data.y[data.y < 0] = 0
    other = data.write(tmp_path / "y", rng.integers(0, 2, len(data.y)))
    with pytest.warns(UserWarning, match="only 0 and 1"):
        BradleyTerry(alpha=0.1).fit(PartitionedPairs(other, "a", "b"), "winner")
    known = PartitionedPairs(
        folder, "a", "b", items=data.items[1:], names=data.names[1:]
    )
    with pytest.raises(ValueError, match="item 0"):
        LogisticCompare().fit(known, "winner")
    with pytest.raises(ValueError, match="12 rows of items"):
        PartitionedPairs(folder, "a", "b", items=data.items, names=data.names[1:])
    with pytest.raises(ValueError, match="give items too"):
        PartitionedPairs(folder, "a", "b", names=data.names)
    with pytest.raises(ValueError, match="context"):
        BradleyTerry().fit(log, "winner", context="w")


def test_outcomes_may_be_words(rng, tmp_path):
    data = make_compared(rng)
    folder = data.write(tmp_path / "x", rng.integers(0, 2, len(data.y)))
    numbers = BradleyTerry(alpha=0.1).fit(PartitionedPairs(folder, "a", "b"), "winner")
    words = np.array(["model_a", "tie (bothbad)", "model_b"])
    frame = data.frame(np.arange(len(data.y)))
    frame = frame.with_columns(winner=pl.Series(words[data.y + 1]))
    frame.write_parquet(tmp_path / "words.parquet")
    log = PartitionedPairs(tmp_path / "words.parquet", "a", "b")
    with pytest.warns(UserWarning, match="both items are bad"):
        spelled = BradleyTerry(alpha=0.1).fit(log, "winner")
    np.testing.assert_allclose(
        spelled.utility(numbers.items_), numbers.strength_, atol=1e-7
    )
    frame.with_columns(winner=pl.lit("perhaps")).write_parquet(
        tmp_path / "words.parquet"
    )
    with pytest.raises(ValueError, match=r"words\.parquet: .*unknown"):
        BradleyTerry(alpha=0.1).fit(log, "winner")
