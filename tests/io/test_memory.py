# SPDX-License-Identifier: BSD-3-Clause
"""Tables in memory are read as the same table in a file is."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.io.test_read import rows_of
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, read_file, read_unlabeled

COLUMNS = {
    "model_a": ["Ada", "Bo", "Cy", "Ada"],
    "model_b": ["Bo", "Cy", "Ada", "Cy"],
    "winner": ["model_a", "tie", "model_b", "tie (bothbad)"],
    "judge": ["x", "y", "x", "y"],
    "tstamp": [1.5, 2.5, 3.5, 4.5],
    "turns": [1, 2, 3, 4],
}


class Dataset:
    """The shape of a dataset of Hugging Face, with rows chosen by indices."""

    def __init__(self, table, rows=None, form=None):
        self._data, self._rows, self._form = table, rows, form
        self.column_names = table.column_names

    def __len__(self):
        return len(self._data if self._rows is None else self._rows)

    def select(self, rows):
        return Dataset(self._data, rows)

    def with_format(self, form):
        return Dataset(self._data, self._rows, form)

    def __getitem__(self, key):
        assert self._form == "arrow" and key == slice(None)
        return self._data if self._rows is None else self._data.take(self._rows)


class Capsule:
    """Any other table that offers itself as a stream of Arrow."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, schema=None):
        return self._table.__arrow_c_stream__(schema)


def make(columns):
    records = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return {
        "pandas": pd.DataFrame(columns),
        "pandas categories": pd.DataFrame(columns).astype({"judge": "category"}),
        "pandas objects": pd.DataFrame(columns).astype(object),
        "polars": pl.DataFrame(columns),
        "lazy": pl.LazyFrame(columns),
        "arrow": pa.table(columns),
        "capsule": Capsule(pa.table(columns)),
        "dataset": Dataset(pa.table(columns)),
        "dict": columns,
        "dict of arrays": {name: np.array(values) for name, values in columns.items()},
        "records": records,
    }


@pytest.fixture(scope="module")
def from_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    pl.DataFrame(COLUMNS).write_csv(path)
    return read_file(path)


@pytest.mark.parametrize("kind", make(COLUMNS))
def test_a_table_is_read_as_its_file_is(from_file, kind):
    read = read_file(make(COLUMNS)[kind])
    assert rows_of(read) == rows_of(from_file)
    assert read.sentences[0] == "Table with 4 rows."
    assert read.sentences[1:-1] == from_file.sentences[1:-1]
    assert read.data.columns.keys() == from_file.data.columns.keys()
    for name, column in read.data.columns.items():
        assert column.tolist() == from_file.data.columns[name].tolist()
    assert read.sentences[-1].startswith("both_bad='drop' leaves out the votes")


def test_the_chosen_rows_of_a_dataset_are_read():
    read = read_file(Dataset(pa.table(COLUMNS)).select([2, 0]))
    assert rows_of(read) == [("Cy", "Ada", 1), ("Ada", "Bo", -1)]


def test_pairs_without_an_outcome_are_read_too():
    read = read_unlabeled({"left": ["Ada", "Bo"], "right": ["Bo", "Ada"]})
    assert len(read.data.y) == 0 and len(read.data.pairs) == 2


def test_missing_values_are_missing_whatever_their_kind():
    holes = {**COLUMNS, "winner": ["model_a", None, np.nan, pd.NA]}
    for table in (pd.DataFrame(holes), holes):
        with pytest.raises(
            FileError, match="no outcome in winner: row 1, row 2, row 3"
        ):
            read_file(table)


def test_rows_count_from_zero_and_options_are_arguments():
    frame = pd.DataFrame(COLUMNS).assign(winner=["a", "a", "model_a", "lost"])
    with pytest.raises(FileError) as caught:
        read_file(frame)
    message = str(caught.value)
    assert message.startswith("DataFrame: 1 row cannot be read, so nothing was read.")
    assert "unknown outcomes: row 3 ('lost')" in message
    with pytest.raises(NeedsAnswer, match=r"Say meaning='score' if 1 is a win of"):
        read_file({**COLUMNS, "winner": [1, 0, 1, 0]})
    with pytest.raises(FileError, match=r"left= names 'modela', but .* 'model_a'\?"):
        read_file(COLUMNS, ReadOptions(left="modela", right="model_b"))
    two = {**COLUMNS, "home team": COLUMNS["model_a"], "away_team": COLUMNS["model_b"]}
    with pytest.raises(NeedsAnswer, match=r"left='home team' right='away_team' outc"):
        read_file(two)


def test_advice_is_given_as_arguments():
    holes = {**COLUMNS, "weight": [1, 2, None, 3]}
    with pytest.raises(FileError, match=r"weight='none' reads .* skip_bad_rows=True g"):
        read_file(holes)
    assert len(read_file(holes, ReadOptions(skip_bad_rows=True)).data.y) == 3
    scale = {**COLUMNS, "winner": [1, 9, 7, 4]}
    with pytest.raises(FileError, match=r"numbers of likert='1\.\.7': row 1"):
        read_file(scale, ReadOptions(likert="1..7"))


def test_structures_become_columns_and_lists_are_left_out():
    nested = {
        **COLUMNS,
        "conv": [{"turns": 1, "tokens": {"a": 10, "b": 9}, "text": ["hi"]}] * 4,
        "metadata": [{"week": 7}] * 4,
    }
    for table in (pa.table(nested), make(nested)["records"], pd.DataFrame(nested)):
        options = ReadOptions(period="metadata.week", weight="conv.tokens.a")
        read = read_file(table, options)
        assert read.data.weight.tolist() == [10] * 4
        assert read.data.columns["period"].tolist() == [7] * 4
        assert read.sentences[1] == (
            "Left out, because of lists or bytes in them: 'conv.text'."
        )


def test_mixed_values_are_text_and_dates_are_dates():
    mixed = {**COLUMNS, "model_a": [7, "Bo", 7.5, "7"], "winner": ["tie"] * 4}
    assert set(read_file(mixed).data.pairs.names) == {"7", "Bo", "7.5", "Cy", "Ada"}
    days = [datetime.date(2024, 5, day) for day in (1, 2, 3, 4)]
    for table in ({**COLUMNS, "tstamp": days}, pd.DataFrame(COLUMNS).assign(
        tstamp=pd.to_datetime(days)
    )):  # fmt: skip
        assert read_file(table).data.columns["period"].dtype.kind == "M"


def test_what_is_no_table_is_refused():
    for wrong in (7, [1, 2], None):
        with pytest.raises(TypeError, match="Expected the name of a file or a table"):
            read_file(wrong)
    with pytest.raises(TypeError, match="'left' holds one value"):
        read_file({"left": "Ada", "right": "Bo"})
    with pytest.raises(ValueError, match="could not create a new DataFrame"):
        read_file({"a": [1], "b": [1, 2]})
    splits = {"train": Dataset(pa.table(COLUMNS)), "test": Dataset(pa.table(COLUMNS))}
    with pytest.raises(TypeError, match=r"2 tables \('train', 'test'\); pass one"):
        read_file(splits)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="'a'"):
        read_file(twice)
    with pytest.raises(FileError, match="the table has a header and no rows"):
        read_file(pd.DataFrame(COLUMNS).head(0))


def test_an_index_of_names_is_a_column():
    names = ["Ada", "Bo", "Cy"]
    wins = pd.DataFrame([[0, 5, 6], [2, 0, 4], [1, 3, 0]], names, names)
    for turned in (False, True):
        data = read_file(wins, ReadOptions(lower_is_better=turned)).data
        won = np.where(data.y < 0, data.pairs.left, data.pairs.right)
        assert np.bincount(won, data.weight).tolist() == (
            [3, 8, 10] if turned else [11, 6, 4]
        )
