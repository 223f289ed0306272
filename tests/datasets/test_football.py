# SPDX-License-Identifier: BSD-3-Clause
"""Football: on tables written here, and on the published list when present."""

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import load_football

NAME = "football/results.csv.gz"
GOOD = """\
date,home_team,away_team,home_score,away_score,tournament,city,country,neutral
1990-06-08,Argentina,Cameroon,0,1,FIFA World Cup,Milan,Italy,TRUE
1872-11-30,Scotland,England,0,0,Friendly,Glasgow,Scotland,FALSE
1990-06-08,Italy,Austria,1,0,FIFA World Cup,Rome,Italy,FALSE
2030-01-01,Italy,Cameroon,NA,NA,Friendly,Rome,Italy,FALSE
"""


def test_a_small_table(write):
    write(NAME, GOOD)
    data = load_football()
    names = data.pairs.names
    assert names[data.pairs.left].tolist() == ["Scotland", "Argentina", "Italy"]
    assert names[data.pairs.right].tolist() == ["England", "Cameroon", "Austria"]
    assert not data.pairs.has_features
    assert data.y.tolist() == [0, 1, -1]
    assert data.y.dtype == np.int8
    assert data.goals.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert data.advantage.tolist() == [1.0, 0.0, 1.0]
    assert data.advantage.dtype == np.float64
    assert data.tournament.tolist() == ["Friendly", "FIFA World Cup", "FIFA World Cup"]
    assert data.date.astype(str).tolist() == ["1872-11-30", "1990-06-08", "1990-06-08"]
    assert data.n_unplayed == 1
    assert "CC0" in data.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "0,1,FIFA",
            "-1,1,FIFA",
            r"'home_score' is not a number of.*line 2 \(-1\)",
        ),
        ("1,0,FIFA", "1,NA,FIFA", r"'away_score' is not a number of goals.*line 4"),
        ("0,0,Fr", "0,x,Fr", r"'away_score' is not a whole number.*line 3 \('x'\)"),
        ("TRUE", "maybe", r"'neutral' is not one of FALSE, TRUE.*line 2 \('maybe'\)"),
        ("Cameroon", "Argentina", r"'away_team' is not another .*line 2 \('Argentina'"),
        ("1872-11-30", "soon", r"'date' is not a date .*line 3 \('soon'\)"),
        ("Austria", "", r"'away_team' is not text.*line 4"),
        ("neutral", "ground", "has no column 'neutral'"),
    ],
)
def test_broken_tables(write, old, new, message):
    path = write(NAME, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_football()
    assert str(path) in str(caught.value)


def test_no_file(write):
    with pytest.raises(FileNotFoundError, match="martj42/international_results"):
        load_football(download=False)


def test_the_published_list(published):
    """The counts are those of the list as of 31 July 2026, by its keeper's notes."""
    path = published(NAME)
    data = load_football()
    assert len(data.pairs) == 49520
    assert data.pairs.n_items == 337
    assert int(np.sum(data.y == 0)) == 11258
    assert (data.date.min(), data.date.max()) == (
        np.datetime64("1872-11-30"),
        np.datetime64("2026-07-19"),
    )
    assert (np.diff(data.date) >= np.timedelta64(0)).all()
    assert data.n_unplayed == 0
    raw = pl.read_csv(path, infer_schema=False)
    assert data.advantage.sum() == raw["neutral"].str.contains("FALSE").sum()
    # Home teams win more often than away teams, and less so on neutral ground.
    home, neutral = data.y[data.advantage == 1], data.y[data.advantage == 0]
    assert home.mean() < neutral.mean() < 0
