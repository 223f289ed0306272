# SPDX-License-Identifier: BSD-3-Clause
"""Graded answers to queries: small files written here, and the published ones."""

import numpy as np
import pytest

from tiebreak.datasets import load_lightgbm_rank, load_mq2008

MQ2008 = "mq2008/fold1_test.txt.gz"
ROW = "2 qid:10 1:0.5 46:1.0 #docid = GX0\n0 qid:7 2:0.25 46:0 #docid = GX1\n"


def test_a_small_file_of_letor(write):
    write(MQ2008, ROW)
    data = load_mq2008()
    assert data.X.shape == (2, 46)
    assert data.X[0, [0, 1, 45]].tolist() == [0.5, 0, 1]
    assert data.X[1, [0, 1, 45]].tolist() == [0, 0.25, 0]
    assert data.y.tolist() == [2, 0]
    assert data.qid.tolist() == [10, 7]
    assert "LETOR" in data.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("qid:7 ", "", "line without a qid"),
        (ROW, ROW.replace("qid:7 ", "").replace("qid:10 ", ""), "no line has a qid"),
        ("2 qid", "3 qid", "row 0 has the grade 3, expected 0 to 2"),
        ("2 qid", "1.5 qid", "row 0 has the grade 1.5"),
        ("46:0 ", "47:0 ", "there are 47 features, expected 46"),
        ("2:0.25", "2:1.25", "features lie between 0 and 1.25, expected 0 to 1"),
        ("2:0.25", "2:x", "line 2"),
        (ROW, "", "empty"),
    ],
)
def test_broken_files_of_letor(write, old, new, message):
    path = write(MQ2008, ROW.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_mq2008()
    assert str(caught.value).startswith(str(path))


ROWS = "4 1:0.5 300:1\n0 7:2\n1 8:-1.5\n"


def test_a_small_file_of_lightgbm(write):
    write("lightgbm_rank/rank.test.gz", ROWS)
    write("lightgbm_rank/rank.test.query", "1\n2\n")
    data = load_lightgbm_rank("test")
    assert data.X.shape == (3, 300)
    assert data.X[0, [0, 299]].tolist() == [0.5, 1]
    assert data.X[2, 7] == -1.5
    assert np.count_nonzero(data.X) == 4
    assert data.y.tolist() == [4, 0, 1]
    assert data.qid.tolist() == [0, 1, 1]
    assert "MIT" in data.description


@pytest.mark.parametrize(
    ("rows", "sizes", "message"),
    [
        (ROWS, "1\n3\n", r"the queries have 4 rows together, but .*gz has 3"),
        (ROWS, "1\n\n2\n", "line 2 is '', expected a number of rows"),
        (ROWS, "1\n2.0\n", "line 2 is '2.0', expected a number of rows"),
        (ROWS, "0\n3\n", "line 1 is '0', expected a number of rows"),
        (ROWS, "", "the queries have 0 rows together"),
        (ROWS.replace("300:", "299:"), "1\n2\n", "there are 299 features"),
        (ROWS.replace("4 1", "5 1"), "1\n2\n", "row 0 has the grade 5"),
    ],
)
def test_broken_files_of_lightgbm(write, rows, sizes, message):
    write("lightgbm_rank/rank.train.gz", rows)
    write("lightgbm_rank/rank.train.query", sizes)
    with pytest.raises(ValueError, match=message):
        load_lightgbm_rank()


def test_parts_have_names(write):
    with pytest.raises(ValueError, match="part must be 'train' or 'test', got 'valid'"):
        load_lightgbm_rank("valid")


def test_no_files(write):
    with pytest.raises(FileNotFoundError, match="letor"):
        load_mq2008(download=False)
    with pytest.raises(FileNotFoundError, match=r"github\.com/microsoft/LightGBM"):
        load_lightgbm_rank(download=False)


def test_the_published_file_of_letor(published):
    published(MQ2008)
    data = load_mq2008()
    assert data.X.shape == (2874, 46)
    assert np.bincount(data.y.astype(int)).tolist() == [2319, 378, 177]
    assert len(np.unique(data.qid)) == 156
    assert data.qid[0] == 18219


@pytest.mark.parametrize(
    ("part", "grades", "n_queries"),
    [
        ("train", [645, 1211, 858, 222, 69], 201),
        ("test", [206, 256, 252, 44, 10], 50),
    ],
)
def test_the_published_files_of_lightgbm(published, part, grades, n_queries):
    published(f"lightgbm_rank/rank.{part}.gz")
    data = load_lightgbm_rank(part)
    assert data.X.shape == (sum(grades), 300)
    assert np.bincount(data.y.astype(int)).tolist() == grades
    sizes = np.bincount(data.qid)
    assert len(sizes) == n_queries
    assert sizes.min() >= 1
    assert sizes.max() <= 27
