# SPDX-License-Identifier: BSD-3-Clause
"""Chess: on tables written here, and on the published games when present."""

import numpy as np
import pytest

from tiebreak.datasets import load_chess, load_chess_fide2011

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
