# SPDX-License-Identifier: BSD-3-Clause
"""Tennis: on tables written here, and on the published matches when present."""

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import load_tennis

NAME = "tennis_atp/atp_matches_1991_2024.csv.gz"
HEADER = (
    "tourney_id,tourney_date,match_num,tourney_level,surface,best_of,round,winner_id,"
    "loser_id,winner_rank,loser_rank,winner_rank_points,loser_rank_points,score\n"
)
GOOD = (
    HEADER
    + """\
2024-1,20240101,300,A,Hard,3,F,11,12,5,,100,,6-4 3-6 7-6(2)
2024-1,20240101,299,A,Hard,3,SF,11,13,5,9,100,50,W/O
2024-1,20240101,298,A,Hard,3,SF,12,14,,70,,,6-2 1-0 RET
1996-96,19960722,7,O,,5,F,21,22,1,2,,,7-6(3) 6-4 6-3
1996-96,19960722,8,O,,5,BR,23,24,3,4,,,2-2 Played and abandoned
"""
)


def test_a_small_table(write):
    write(NAME, GOOD)
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
    write(NAME, HEADER + rows)
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
def test_broken_tables(write, old, new, message):
    path = write(NAME, GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_tennis()
    assert str(path) in str(caught.value)


def test_no_file(write):
    with pytest.raises(FileNotFoundError, match="JeffSackmann/tennis_atp"):
        load_tennis(download=False)


def test_the_published_matches(published):
    """Counts of the yearly files 1991 to 2024, made independently of this reader."""
    path = published(NAME)
    data = load_tennis(swap=False)
    assert len(data.pairs) == 108375
    assert data.pairs.n_items == 3563
    assert np.isnan(data.rank).sum(axis=0).tolist() == [1215, 2584]
    assert int(np.sum(data.surface == "")) == 53
    scores = pl.read_csv(path, infer_schema=False)["score"]
    assert data.walkover.sum() == scores.str.contains("W/O|Walkover").sum()
    ended_early = scores.str.contains("RET|ABD|(?i)def|abandoned|unfinished")
    assert data.unfinished.sum() == ended_early.sum()
    assert (np.diff(data.date) >= np.timedelta64(0)).all()


def test_nobody_plays_on_after_losing(published):
    """In knock-out events a player's loss is the last match, unless for the bronze."""
    published(NAME)
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
