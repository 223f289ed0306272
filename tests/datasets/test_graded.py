# SPDX-License-Identifier: BSD-3-Clause
"""Grades, regression tables and ratings: written here, and the published ones."""

import io

import numpy as np
import pytest

from tiebreak.datasets import (
    UCI_TABLES,
    load_jester,
    load_lightgbm_rank,
    load_mq2008,
    load_uci,
)

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


# Rows, inputs, target and its range, as the publishers and the papers list them.
FACTS = {
    "abalone": (4177, 8, "Class_Rings", 1, 29),
    "auto_mpg": (392, 7, "class", 9, 46.6),
    "bank32nh": (8192, 32, "rej", 0, 0.820),
    "bank8FM": (8192, 8, "rej", 0, 0.802),
    "boston_housing": (506, 13, "class", 5, 50),
    "concrete": (1030, 8, "strength", 2.33, 82.6),
    "diabetes": (43, 2, "c_peptide", 3.0, 6.6),
    "machine_cpu": (209, 6, "class", 6, 1150),
    "pyrimidines": (74, 27, "activity", 0.1, 0.9),
    "servo": (167, 4, "class", 0.131, 7.10),
    "stock": (950, 9, "company10", 34, 62),
    "triazines": (186, 60, "activity", 0.1, 0.9),
    "wpbc": (194, 32, "time", 1, 125),
}
# Attributes and how many of them are nominal, as in Table 1 of the swapped-pairs paper.
NOMINAL = {"abalone": 1, "auto_mpg": 3, "boston_housing": 1, "servo": 4}


def file_of(name):
    return f"uci/{name}.csv{'.gz' if name.startswith('bank') else ''}"


def test_the_names():
    assert sorted(UCI_TABLES) == sorted(FACTS)
    with pytest.raises(ValueError, match=r"no table 'iris'\. Expected one of abal"):
        load_uci("iris")


@pytest.mark.parametrize("name", FACTS)
def test_the_published_tables(published, name):
    published(file_of(name))
    rows, inputs, target, low, high = FACTS[name]
    plain = load_uci(name, one_hot=False)
    assert plain.X.shape == (rows, inputs)
    assert plain.X.dtype == plain.y.dtype == np.float64
    assert len(plain.feature_names) == inputs
    assert plain.target_name == target
    assert plain.y.min() == pytest.approx(low, abs=5e-3)
    assert plain.y.max() == pytest.approx(high, abs=5e-3)
    assert np.isfinite(plain.X).all()
    wide = load_uci(name)
    assert np.array_equal(wide.y, plain.y)
    assert wide.X.shape == (rows, len(wide.feature_names))
    nominal = {
        column.partition("=")[0] for column in wide.feature_names if "=" in column
    }
    assert len(nominal) == NOMINAL.get(name, 0)
    # What is numeric stands in both; what is nominal has one 1 in every row.
    for j, column in enumerate(plain.feature_names):
        spread = [
            k for k, c in enumerate(wide.feature_names) if c.startswith(column + "=")
        ]
        if column in nominal:
            assert set(np.unique(wide.X[:, spread])) == {0, 1}
            assert (wide.X[:, spread].sum(axis=1) == 1).all()
            order = np.argsort(np.unique(plain.X[:, j]))
            codes = np.unique(plain.X[:, j], return_inverse=True)[1]
            assert np.array_equal(wide.X[:, spread].argmax(axis=1), order[codes])
        else:
            assert np.array_equal(
                wide.X[:, wide.feature_names.index(column)], plain.X[:, j]
            )


def test_letters_and_numbers(published):
    published("uci/servo.csv")
    wide = load_uci("servo")
    assert wide.feature_names[:6] == (
        "motor=A", "motor=B", "motor=C", "motor=D", "motor=E", "screw=A",
    )  # fmt: skip
    assert wide.feature_names[-5:] == tuple(f"vgain={k}" for k in range(1, 6))
    # The first row of the file is E,E,5,4,0.281251.
    assert load_uci("servo", one_hot=False).X[0].tolist() == [4, 4, 5, 4]
    assert [
        name for name, value in zip(wide.feature_names, wide.X[0], strict=True) if value
    ] == ["motor=E", "screw=E", "pgain=5", "vgain=4"]
    assert wide.y[0] == 0.281251


def test_names_of_wpbc_fit_its_columns(published):
    """Worst values are never below the means, under the corrected names."""
    published("uci/wpbc.csv")
    table = load_uci("wpbc")
    column = dict(zip(table.feature_names, table.X.T, strict=True))
    for name in ("radius", "area", "perimeter"):
        assert (column[f"{name}_worst"] >= column[f"{name}_mean"]).all()


GOOD = "age,deficit,c_peptide\n" + "5.2,-8.1,4.8\n" * 43


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "1,2,3\n", "there are 44 rows, expected 43"),
        (GOOD.replace("4.8", "?", 1), r"'c_peptide' is not a number.*line 2 \('\?'\)"),
        (GOOD.replace("-8.1", "", 1), r"'deficit' is not a number.*line 2 \(None\)"),
        ("a,b\n1,2\n", "there are 2 columns, expected 3. Is it the right file"),
        ("", "cannot be read as a table"),
    ],
)
def test_broken_tables(write, text, message):
    path = write("uci/diabetes.csv", text)
    with pytest.raises(ValueError, match=message) as caught:
        load_uci("diabetes")
    assert str(caught.value).startswith(str(path))


def test_a_nominal_value_that_is_none(write):
    rows = "E,E,5,4,0.28\n" * 166 + "E,E,5.5,4,0.28\n"
    write("uci/servo.csv", "motor,screw,pgain,vgain,class\n" + rows)
    with pytest.raises(ValueError, match=r"'pgain' is not a whole number.*line 168"):
        load_uci("servo")


def test_no_tables(write):
    with pytest.raises(FileNotFoundError, match="`tiebreak data get uci` downloads it"):
        load_uci("abalone", download=False)


FILE = "jester/jester1_ratings.npz"


def pack(**arrays):
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def small():
    ratings = np.full((3, 100), -32768, dtype=np.int16)
    ratings[0, :3] = [-995, 0, 1000]
    ratings[1, 99] = 782
    ratings[2, 50] = -1
    return {"ratings": ratings, "part": np.array([1, 1, 3], dtype=np.uint8)}


def test_a_small_matrix(write):
    write(FILE, pack(**small()))
    data = load_jester()
    assert data.ratings.shape == (3, 100)
    assert data.ratings[0, :3].tolist() == [-9.95, 0.0, 10.0]
    assert data.ratings[1, 99] == 7.82
    assert data.ratings[2, 50] == -0.01
    assert np.isnan(data.ratings).sum() == 300 - 5
    assert data.part.tolist() == [1, 1, 3]
    assert "Goldberg" in data.description


def changed(**arrays):
    return pack(**small() | arrays)


def with_rating(row, joke, value):
    ratings = small()["ratings"]
    ratings[row, joke] = value
    return changed(ratings=ratings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_rating(1, 7, 1001), "row 1, joke 7 has 1001 hundredths, expected -1000"),
        (with_rating(2, 50, -32768), "row 2 holds no rating at all"),
        (changed(part=np.array([1, 2, 4])), "part is not 1, 2 or 3"),
        (
            changed(part=np.array([1, 2])),
            r"shape \(3, 100\), expected int16 of shape \(2,",
        ),
        (changed(ratings=np.zeros((3, 100))), "ratings are float64"),
        (pack(ratings=small()["ratings"]), "the arrays cannot be read"),
        (pack(**small() | {"part": np.array([None] * 3)}), "cannot be read .*pickle"),
        (pack(**small())[:-50], "the arrays cannot be read"),
        (b"", "the arrays cannot be read"),
    ],
    ids=[
        "too high",
        "no rating",
        "part 4",
        "fewer parts",
        "floats",
        "no part",
        "pickled",
        "cut off",
        "empty",
    ],
)
def test_broken_files(write, content, message):
    path = write(FILE, content)
    with pytest.raises(ValueError, match=message) as caught:
        load_jester()
    assert str(caught.value).startswith(str(path))


def test_no_file(write):
    with pytest.raises(FileNotFoundError, match="eigentaste"):
        load_jester(download=False)


def test_the_published_ratings(published):
    published(FILE)
    data = load_jester()
    rated = np.isfinite(data.ratings)
    assert data.ratings.shape == (73421, 100)
    assert int(rated.sum()) == 4136360
    assert np.nanmin(data.ratings) == -9.95
    assert np.nanmax(data.ratings) == 10
    assert np.nanmean(data.ratings) == pytest.approx(0.742, abs=5e-4)
    counts = rated.sum(axis=1)
    for part, people, low, high in [
        (1, 24983, 36, 100), (2, 23500, 36, 100), (3, 24938, 15, 35),
    ]:  # fmt: skip
        assert int(np.sum(data.part == part)) == people
        assert counts[data.part == part].min() == low
        assert counts[data.part == part].max() == high
