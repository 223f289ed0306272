# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of items by their scores on tasks, and mean differences."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.oracles import score_tables as oracle
from tiebreak import Pairs
from tiebreak.data.scores import ScoreTable, Tolerance, average_cells


def make_table(seed, tolerance):
    """Draw 9 tasks and 5 items, of which every sixth score is missing."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, (9, 5)) / 10
    scores[rng.random(scores.shape) < 1 / 6] = np.nan
    lower, unit = rng.random(9) < 0.4, np.array([0, 0, 0, 1, 2, 2, 3, 4, 4])
    names, tasks = np.array(list("abcde")), np.arange(9)
    return ScoreTable(names, tasks, scores, lower, tolerance, unit)


def rows_of(table):
    return [[None if np.isnan(v) else v for v in row] for row in table.scores.tolist()]


@pytest.mark.parametrize("tolerance", [Tolerance(), Tolerance(0.2), Tolerance(0.25, 1)])
def test_comparisons_are_those_of_the_loops(tolerance):
    for seed in range(20):
        table = make_table(seed, tolerance)
        left, right, y, task = (part.tolist() for part in table.compare())
        found = set(zip(task, left, right, y, strict=True))
        expected = oracle.comparisons(
            rows_of(table), table.lower, tolerance.size, tolerance.relative
        )
        assert found == expected and len(y) == len(found) > 20
        assert {-1, 0, 1} == set(y)


@pytest.mark.parametrize("tolerance", [Tolerance(0.6), Tolerance(0.7, relative=True)])
def test_mean_differences_are_those_of_student(tolerance):
    equal = 0
    for seed in range(10):
        table = make_table(seed, tolerance)
        found = table.differences(0.6)
        unit = 100 if tolerance.relative else 1
        place = {name: k for k, name in enumerate("abcde")}
        assert len(found) == 10
        assert {frozenset(pair) for pair in found.select("item", "other").rows()} == {
            frozenset(pair) for pair in combinations("abcde", 2)
        }
        for item, other, *numbers, inside in found.rows():
            expected = oracle.mean_interval(
                rows_of(table), table.lower, table.unit,
                (place[item], place[other]), tolerance.relative, 0.6, 10,
            )  # fmt: skip
            np.testing.assert_allclose(np.array(numbers) / unit, expected, atol=1e-12)
            assert expected[0] > -1e-12
            assert inside == (max(-expected[1], expected[2]) <= tolerance.size)
            equal += inside
    assert 0 < equal < 100


def test_a_difference_of_exactly_the_tolerance_is_a_tie():
    _, y, _ = Pairs.from_scores([[0.81, 0.80]], tie_within=0.01)  # 0.81 - 0.8 > 0.01
    assert y.tolist() == [0]
    _, y, _ = Pairs.from_scores([[100.0, 99.0, 98.9]], tie_within="1%")
    assert (y == 0).sum() == 2
    _, y, _ = Pairs.from_scores([[0.1 + 0.2, 0.3]])
    assert y.tolist() == [0]


def test_every_task_has_its_direction():
    scores = [[1.0, 2.0], [1.0, 2.0]]
    pairs, y, task = Pairs.from_scores(scores, lower_is_better=[False, True])
    better = np.where(y == 1, pairs.right, pairs.left)
    assert better.tolist() == [1, 0] and task.tolist() == [0, 1]


@pytest.mark.parametrize("make", [
    lambda columns, tasks: pd.DataFrame(columns, index=tasks),
    lambda columns, tasks: pl.DataFrame({"task": tasks} | columns),
])  # fmt: skip
def test_frames_name_items_and_tasks(make):
    columns = {"ann": [3.0, 1.0, np.nan], "bob": [2.0, 2.0, 1.0]}
    pairs, y, task = Pairs.from_scores(make(columns, ["x", "y", "z"]))
    assert pairs.names.tolist() == ["ann", "bob"] and task.tolist() == ["x", "y"]
    better = pairs.names[np.where(y == 1, pairs.right, pairs.left)]
    assert better.tolist() == ["ann", "bob"]


@pytest.mark.parametrize(("table", "options", "message"), [
    ([[1.0, np.inf]], {}, "row 0"),
    ([[1.0, 2.0]], {"tie_within": "much"}, "such as 0.5, or 1%"),
    ([[1.0, 2.0]], {"tie_within": -1}, "such as 0.5, or 1%"),
    (pl.DataFrame({"a": [1.0], "b": ["x"]}), {}, "'b'"),
])  # fmt: skip
def test_other_values_are_refused(table, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Pairs.from_scores(table, **options)


def test_cells_are_averaged():
    task, item = np.array([0, 0, 1, 0]), np.array([1, 1, 0, 0])
    score = np.array([1.0, 4.0, np.nan, 7.0])
    expected = [[7.0, 2.5], [np.nan, np.nan]]
    np.testing.assert_array_equal(average_cells(task, item, score, (2, 2)), expected)
