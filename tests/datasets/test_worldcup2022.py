# SPDX-License-Identifier: BSD-3-Clause
"""The bundled matches, against the rules of the tournament and the public record."""

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import load_worldcup2022


@pytest.fixture(scope="module")
def cup():
    return load_worldcup2022()


def matches(cup):
    return cup.table.rows()


def test_pairs_have_names_and_no_features(cup):
    names = cup.pairs.names.tolist()
    assert cup.pairs.items is None
    assert len(names) == 32
    assert names == sorted(set(cup.table["left"]) | set(cup.table["right"]))
    assert [names[i] for i in cup.pairs.left] == cup.table["left"].to_list()
    assert [names[i] for i in cup.pairs.right] == cup.table["right"].to_list()


def test_outcome_is_the_sign_of_right_minus_left(cup):
    assert cup.y.dtype == np.int8
    goals = cup.table.select("left_goals", "right_goals").rows()
    assert cup.y.tolist() == [(right > left) - (right < left) for left, right in goals]


def test_totals_of_the_public_record(cup):
    goals = cup.table["left_goals"].sum() + cup.table["right_goals"].sum()
    assert goals == 172
    # Ten drawn group matches, and five knock-out matches that went to a shoot-out.
    assert int(np.sum(cup.y == 0)) == 15
    knockout = ~cup.table["stage"].str.starts_with("Group").to_numpy()
    assert int(np.sum(cup.y[knockout] == 0)) == 5


def test_equals_the_published_football_results(cup, published):
    """The list names the host first, the fixture list did not: sides may differ."""
    path = published("football/results.csv")
    results = pl.read_csv(path, null_values="NA").filter(
        (pl.col("tournament") == "FIFA World Cup")
        & (pl.col("date") >= "2022-11-20")
        & (pl.col("date") <= "2022-12-18")
    )
    columns = ["date", "home_team", "away_team", "home_score", "away_score"]

    def facts(rows):
        return sorted(
            (str(date), *sorted([(left, int(a)), (right, int(b))]))
            for date, left, right, a, b in rows
        )

    ours = [(row[0], *row[2:]) for row in matches(cup)]
    assert results.height == 64
    assert facts(ours) == facts(results.select(columns).rows())
