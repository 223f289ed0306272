# SPDX-License-Identifier: BSD-3-Clause
"""Matches and games: on tables written here, and on the published ones when present."""

import datetime
import itertools
import os
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tiebreak.data import Outcome
from tiebreak.datasets import (
    load_chess,
    load_chess_fide2011,
    load_football,
    load_tennis,
    load_worldcup2022,
)


@pytest.fixture(scope="module")
def cup():
    return load_worldcup2022()


def matches(cup):
    return cup.table.rows()


def test_shape(cup):
    assert len(cup.pairs) == len(cup.y) == cup.table.height == 64
    assert cup.table.columns == [
        "date",
        "stage",
        "left",
        "right",
        "left_goals",
        "right_goals",
    ]
    assert cup.table.null_count().sum_horizontal().item() == 0


def test_pairs_have_names_and_no_features(cup):
    names = cup.pairs.names.tolist()
    assert cup.pairs.items is None
    assert len(names) == 32
    assert names == sorted(set(cup.table["left"]) | set(cup.table["right"]))
    assert [names[i] for i in cup.pairs.left] == cup.table["left"].to_list()
    assert [names[i] for i in cup.pairs.right] == cup.table["right"].to_list()


def test_outcome_is_the_sign_of_right_minus_left(cup):
    assert cup.y.dtype == np.int8
    for row, y in zip(cup.table.rows(named=True), cup.y, strict=True):
        if row["left_goals"] > row["right_goals"]:
            assert y == Outcome.LEFT
        elif row["left_goals"] < row["right_goals"]:
            assert y == Outcome.RIGHT
        else:
            assert y == Outcome.TIE


def test_stages_of_the_tournament(cup):
    stages = Counter(cup.table["stage"].to_list())
    assert stages == {f"Group {letter}": 6 for letter in "ABCDEFGH"} | {
        "Round of 16": 8,
        "Quarter-final": 4,
        "Semi-final": 2,
        "Third place": 1,
        "Final": 1,
    }


def test_each_group_is_a_round_robin_of_four(cup):
    seen = set()
    for letter in "ABCDEFGH":
        group = cup.table.filter(pl.col("stage") == f"Group {letter}")
        games = {frozenset(pair) for pair in group.select("left", "right").iter_rows()}
        teams = set().union(*games)
        assert len(games) == 6
        assert len(teams) == 4
        assert not teams & seen
        seen |= teams
    assert len(seen) == 32


def test_every_stage_is_played_by_those_who_came_through(cup):
    players = {
        stage: [
            team for row in matches(cup) if row[1] == stage for team in (row[2], row[3])
        ]
        for stage in cup.table["stage"].unique()
    }
    for stage in ("Round of 16", "Quarter-final", "Semi-final"):
        assert len(players[stage]) == len(set(players[stage]))
    assert set(players["Quarter-final"]) < set(players["Round of 16"])
    assert set(players["Semi-final"]) < set(players["Quarter-final"])
    last_two = set(players["Final"]) | set(players["Third place"])
    assert last_two == set(players["Semi-final"])
    # Nobody who lost after extra time goes on, except to the match for third place.
    order = ["Round of 16", "Quarter-final", "Semi-final", "Final"]
    for earlier, later in itertools.pairwise(order):
        for row in matches(cup):
            if row[1] == earlier and row[4] != row[5]:
                loser = row[2] if row[4] < row[5] else row[3]
                assert loser not in players[later]


def test_the_two_best_of_every_group_go_on(cup):
    """Points, then goal difference, then goals: enough to rank all groups of 2022."""
    last_sixteen = {
        team
        for row in matches(cup)
        if row[1] == "Round of 16"
        for team in (row[2], row[3])
    }
    for letter in "ABCDEFGH":
        table = {}
        for _, stage, left, right, a, b in matches(cup):
            if stage == f"Group {letter}":
                for team, own, other in ((left, a, b), (right, b, a)):
                    points, difference, goals = table.get(team, (0, 0, 0))
                    points += 3 if own > other else int(own == other)
                    table[team] = (points, difference + own - other, goals + own)
        best = sorted(table, key=lambda team: table[team], reverse=True)[:2]
        assert set(best) <= last_sixteen, (letter, table)


def test_everyone_plays_three_times_and_the_semifinalists_seven(cup):
    games = Counter(cup.table["left"].to_list() + cup.table["right"].to_list())
    assert min(games.values()) == 3
    seven = {team for team, count in games.items() if count == 7}
    assert seven == {"Argentina", "Croatia", "France", "Morocco"}


def test_dates_are_in_order_and_no_team_plays_twice_a_day(cup):
    dates = cup.table["date"].to_list()
    assert dates == sorted(dates)
    assert dates[0] == datetime.date(2022, 11, 20)
    assert dates[-1] == datetime.date(2022, 12, 18)
    played = [(row[0], team) for row in matches(cup) for team in (row[2], row[3])]
    assert len(played) == len(set(played))


def test_totals_of_the_public_record(cup):
    goals = cup.table["left_goals"].sum() + cup.table["right_goals"].sum()
    assert goals == 172
    # Ten drawn group matches, and five knock-out matches that went to a shoot-out.
    assert int(np.sum(cup.y == 0)) == 15
    knockout = ~cup.table["stage"].str.starts_with("Group").to_numpy()
    assert int(np.sum(cup.y[knockout] == 0)) == 5


@pytest.mark.parametrize(
    ("stage", "left", "right", "score"),
    [
        ("Group A", "Qatar", "Ecuador", (0, 2)),
        ("Group C", "Argentina", "Saudi Arabia", (1, 2)),
        ("Group E", "Spain", "Costa Rica", (7, 0)),
        ("Group E", "Germany", "Japan", (1, 2)),
        ("Group G", "Cameroon", "Serbia", (3, 3)),
        ("Round of 16", "Portugal", "Switzerland", (6, 1)),
        ("Quarter-final", "Morocco", "Portugal", (1, 0)),
        ("Quarter-final", "Netherlands", "Argentina", (2, 2)),
        ("Semi-final", "Argentina", "Croatia", (3, 0)),
        ("Third place", "Croatia", "Morocco", (2, 1)),
        ("Final", "Argentina", "France", (3, 3)),
    ],
)
def test_well_known_results(cup, stage, left, right, score):
    found = [row for row in matches(cup) if row[1:4] == (stage, left, right)]
    assert [row[4:] for row in found] == [score]


def test_description_says_where_the_facts_come_from(cup):
    assert "public record" in cup.description
    assert "typed" in cup.description
    assert "shoot-out" in cup.description


def test_two_loads_do_not_share_memory(cup):
    other = load_worldcup2022()
    assert not np.shares_memory(cup.y, other.y)


def football_results():
    root = os.environ.get("TIEBREAK_DATA")
    if not root:
        pytest.skip("TIEBREAK_DATA is not set: no football results to check against")
    path = Path(root) / "football" / "results.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} does not exist: no football results to check against")
    return pl.read_csv(path, null_values=["NA"])


def test_equals_the_published_football_results(cup):
    """The list names the host first, the fixture list did not: sides may differ."""
    results = football_results().filter(
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


FOOTBALL = "football/results.csv.gz"
GOOD_FOOTBALL = """\
date,home_team,away_team,home_score,away_score,tournament,city,country,neutral
1990-06-08,Argentina,Cameroon,0,1,FIFA World Cup,Milan,Italy,TRUE
1872-11-30,Scotland,England,0,0,Friendly,Glasgow,Scotland,FALSE
1990-06-08,Italy,Austria,1,0,FIFA World Cup,Rome,Italy,FALSE
2030-01-01,Italy,Cameroon,NA,NA,Friendly,Rome,Italy,FALSE
"""


def test_a_small_table_of_football(write):
    write(FOOTBALL, GOOD_FOOTBALL)
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
def test_broken_tables_of_football(write, old, new, message):
    path = write(FOOTBALL, GOOD_FOOTBALL.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_football()
    assert str(path) in str(caught.value)


def test_no_file_of_football(write):
    with pytest.raises(FileNotFoundError, match="martj42/international_results"):
        load_football(download=False)


def test_the_published_list(published):
    """The counts are those of the list as of 31 July 2026, by its keeper's notes."""
    path = published(FOOTBALL)
    data = load_football()
    assert len(data.pairs) == 49520
    assert data.pairs.n_items == 337
    assert int(np.sum(data.y == 0)) == 11258
    assert (data.date.min(), data.date.max()) == (
        np.datetime64("1872-11-30"),
        np.datetime64("2026-07-19"),
    )
    assert (np.diff(data.date) >= np.timedelta64(0, "D")).all()
    assert data.n_unplayed == 0
    raw = pl.read_csv(path, infer_schema=False)
    assert data.advantage.sum() == raw["neutral"].str.contains("FALSE").sum()
    # Home teams win more often than away teams, and less so on neutral ground.
    home, neutral = data.y[data.advantage == 1], data.y[data.advantage == 0]
    assert home.mean() < neutral.mean() < 0


TENNIS = "tennis_atp/atp_matches_1991_2024.csv.gz"
HEADER = (
    "tourney_id,tourney_date,match_num,tourney_level,surface,best_of,round,winner_id,"
    "loser_id,winner_rank,loser_rank,winner_rank_points,loser_rank_points,score\n"
)
GOOD_TENNIS = (
    HEADER
    + """\
2024-1,20240101,300,A,Hard,3,F,11,12,5,,100,,6-4 3-6 7-6(2)
2024-1,20240101,299,A,Hard,3,SF,11,13,5,9,100,50,W/O
2024-1,20240101,298,A,Hard,3,SF,12,14,,70,,,6-2 1-0 RET
1996-96,19960722,7,O,,5,F,21,22,1,2,,,7-6(3) 6-4 6-3
1996-96,19960722,8,O,,5,BR,23,24,3,4,,,2-2 Played and abandoned
"""
)


def test_a_small_table_of_tennis(write):
    write(TENNIS, GOOD_TENNIS)
    data = load_tennis(swap=False)
    assert data.pairs.names[data.pairs.left].tolist() == [23, 21, 12, 11, 11]
    assert data.pairs.names[data.pairs.right].tolist() == [24, 22, 14, 13, 12]
    assert data.y.tolist() == [-1] * 5
    assert data.y.dtype == np.int8
    assert data.date.astype(str).tolist() == ["1996-07-22"] * 2 + ["2024-01-01"] * 3
    assert data.tournament.tolist() == ["1996-96"] * 2 + ["2024-1"] * 3
    assert data.round.tolist() == ["BR", "F", "SF", "SF", "F"]
    assert data.level.tolist() == ["O", "O", "A", "A", "A"]
    assert data.surface.tolist() == ["", "", "Hard", "Hard", "Hard"]
    assert data.best_of.tolist() == [5, 5, 3, 3, 3]
    np.testing.assert_array_equal(
        data.rank, [[3, 4], [1, 2], [np.nan, 70], [5, 9], [5, np.nan]]
    )
    assert data.walkover.tolist() == [False, False, False, True, False]
    assert data.unfinished.tolist() == [True, False, True, False, False]
    assert "CC BY-NC-SA 4.0" in data.description


def test_swapping_turns_whole_matches(write):
    rows = "".join(
        f"2024-{i},20240101,1,A,Clay,3,F,{i},{i + 1000},{i},{i + 5},,,6-0 6-0\n"
        for i in range(1, 1001)
    )
    write(TENNIS, HEADER + rows)
    plain, data = load_tennis(swap=False), load_tennis(random_state=3)
    turned = data.y == 1
    assert np.mean(turned) == pytest.approx(0.5, abs=0.1)  # six standard deviations
    names = (plain.pairs.names, data.pairs.names)
    winner, loser = names[0][plain.pairs.left], names[0][plain.pairs.right]
    left, right = names[1][data.pairs.left], names[1][data.pairs.right]
    np.testing.assert_array_equal(left, np.where(turned, loser, winner))
    np.testing.assert_array_equal(right, np.where(turned, winner, loser))
    np.testing.assert_array_equal(data.rank[turned], plain.rank[turned, ::-1])
    np.testing.assert_array_equal(data.rank[~turned], plain.rank[~turned])
    np.testing.assert_array_equal(load_tennis(random_state=3).y, data.y)
    assert (load_tennis(random_state=4).y != data.y).any()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "RET",
            "rained off",
            r"'score' is not a score.*line 4 \('6-2 1-0 rained off'\)",
        ),
        (",F,11,", ",Q1,11,", r"'round' is not one of ER, .*line 2 \('Q1'\)"),
        ("20240101", "20241301", r"'tourney_date' is not a day .*line 2 \(20241301\)"),
        (",3,F,", ",4,F,", r"'best_of' is not 3 or 5.*line 2 \(4\)"),
        ("11,13", "11,11", r"'loser_id' is not another one.*line 3 \(11\)"),
        ("5,9,", "five,9,", r"'winner_rank' is not a number.*line 3 \('five'\)"),
        ("7-6(3) 6-4 6-3", "", r"'score' is not text.*line 5 \(None\)"),
        ("surface", "court", "has no column 'surface'"),
    ],
)
def test_broken_tables_of_tennis(write, old, new, message):
    path = write(TENNIS, GOOD_TENNIS.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_tennis()
    assert str(path) in str(caught.value)


def test_no_file_of_tennis(write):
    with pytest.raises(FileNotFoundError, match="JeffSackmann/tennis_atp"):
        load_tennis(download=False)


def test_the_published_matches(published):
    """Counts of the yearly files 1991 to 2024, made independently of this reader."""
    path = published(TENNIS)
    data = load_tennis(swap=False)
    assert len(data.pairs) == 108375
    assert data.pairs.n_items == 3563
    assert np.isnan(data.rank).sum(axis=0).tolist() == [1215, 2584]
    assert int(np.sum(data.surface == "")) == 53
    scores = pl.read_csv(path, infer_schema=False)["score"]
    assert data.walkover.sum() == scores.str.contains("W/O|Walkover").sum()
    ended_early = scores.str.contains("RET|ABD|(?i)def|abandoned|unfinished")
    assert data.unfinished.sum() == ended_early.sum()
    assert (np.diff(data.date) >= np.timedelta64(0, "D")).all()


def test_nobody_plays_on_after_losing(published):
    """In knock-out events a player's loss is the last match, unless for the bronze."""
    published(TENNIS)
    data = load_tennis(swap=False)
    knockout = (data.level == "G") & (data.round != "RR")
    lost = set()
    for tournament, winner, loser in zip(
        data.tournament[knockout],
        data.pairs.left[knockout],
        data.pairs.right[knockout],
        strict=True,
    ):
        assert (tournament, winner) not in lost
        assert (tournament, loser) not in lost
        lost.add((tournament, loser))
    assert len(lost) > 10_000


GAMES = "chess_kaggle2010/games.csv.gz"
FIDE = "chess_fide2011/test_with_results.csv.gz"
GOOD_GAMES = """\
month,white,black,score
1,7,3,1
2,3,9,0.5
1,9,7,0
"""
GOOD_FIDE = """\
TEID,MonthID,WhitePlayer,BlackPlayer,WhiteScore,Leaderboard
1,133,6,43390,0.5,Private
2,133,8,6,-1,Spurious
3,134,6,8,0,Public
"""


def test_a_small_table_of_2010(write):
    write(GAMES, GOOD_GAMES)
    data = load_chess()
    assert data.month.tolist() == [1, 1, 2]
    assert data.pairs.names[data.pairs.left].tolist() == [7, 9, 3]
    assert data.pairs.names[data.pairs.right].tolist() == [3, 7, 9]
    assert data.y.tolist() == [-1, 1, 0]
    assert data.y.dtype == np.int8
    assert data.n_spurious == 0
    assert "Kaggle 2010" in data.description


def test_a_small_table_of_2011(write):
    """Invented games are left out and counted."""
    write(FIDE, GOOD_FIDE)
    data = load_chess_fide2011()
    assert data.month.tolist() == [133, 134]
    assert data.pairs.names[data.pairs.left].tolist() == [6, 6]
    assert data.pairs.names[data.pairs.right].tolist() == [43390, 8]
    assert data.y.tolist() == [0, 1]
    assert data.n_spurious == 1
    assert "Spurious" in data.description


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.5", "0.75", r"'score' is not one of 1.0, 0.5, 0.0.*line 3 \(0.75\)"),
        ("0.5", "-1", r"'score' is not one of.*line 3 \(-1.0\)"),
        ("0.5", "", r"'score' is not a number.*line 3 \(None\)"),
        ("7,3", "3,3", r"'black' is not another one.*line 2 \(3\)"),
        ("2,3", "May,3", r"'month' is not a whole number.*line 3 \('May'\)"),
        ("black", "schwarz", "has no column 'black'"),
    ],
)
def test_broken_tables_of_2010(write, old, new, message):
    path = write(GAMES, GOOD_GAMES.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_chess()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "-1,Sp",
            "1,Sp",
            r"'WhiteScore' is not -1, as in every.*line 3 \(1.0\)",
        ),
        ("0.5", "-1", r"'score' is not one of 1.0, 0.5, 0.0.*line 2 \(-1.0\)"),
        ("Public", "Secret", r"'Leaderboard' is not Public.*line 4 \('Secret'\)"),
        ("6,8,0", "8,8,0", r"'black' is not another one.*line 4 \(8\)"),
    ],
)
def test_broken_tables_of_2011(write, old, new, message):
    write(FIDE, GOOD_FIDE.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        load_chess_fide2011()


def test_no_files(write):
    with pytest.raises(FileNotFoundError, match="konect"):
        load_chess(download=False)
    with pytest.raises(FileNotFoundError, match="ChessRatings2"):
        load_chess_fide2011(download=False)


def test_the_published_games_of_2010(published):
    """Counts of KONECT's file, made independently of this reader."""
    published(GAMES)
    data = load_chess()
    assert [int(np.sum(data.y == y)) for y in (-1, 0, 1)] == [21163, 28666, 15224]
    assert data.pairs.n_items == 7301
    counts = np.bincount(data.month)[1:]
    assert (len(counts), counts.min(), counts.max()) == (100, 46, 2540)
    games = np.bincount(np.r_[data.pairs.left, data.pairs.right])
    assert int(np.sum(games >= 10)) == 3067
    assert (np.diff(data.month) >= 0).all()
    # KONECT numbered the players in order of first appearance, as Pairs does.
    np.testing.assert_array_equal(data.pairs.names, np.arange(1, 7302))


def test_the_published_games_of_2011(published):
    published(FIDE)
    data = load_chess_fide2011()
    assert data.n_spurious == 11543
    assert [int(np.sum(data.y == y)) for y in (-1, 0, 1)] == [34140, 25742, 28575]
    assert np.bincount(data.month)[133:].tolist() == [28460, 29569, 30428]
    assert data.pairs.n_items == 24926
