# SPDX-License-Identifier: BSD-3-Clause
"""Thirteen regression tables: the published ones, and broken ones."""

import numpy as np
import pytest

from tiebreak.datasets import UCI_TABLES, load_uci

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


def test_no_files(write):
    with pytest.raises(FileNotFoundError, match="`tiebreak data get uci` downloads it"):
        load_uci("abalone", download=False)
