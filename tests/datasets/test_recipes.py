# SPDX-License-Identifier: BSD-3-Clause
"""Making tables of what publishers serve, on small examples written here.

That the published tables come out byte for byte is tested with `fetch`.
"""

import io
import zipfile

import numpy as np
import pytest

from tests.datasets import workbooks as wb
from tiebreak.datasets import recipes


def test_games_of_konect():
    edges = b"% asym\n7 8 1\t50.5\n8 7 0\t10\n9 7 -1\t50.5\n7 9 0\t1e2\n"
    (table,) = recipes.konect_games([edges])
    assert table == (
        b"month,white,black,score\n2,7,8,1.0\n1,8,7,0.5\n2,9,7,0.0\n3,7,9,0.5\n"
    )
    for line in (b"1 2 5\t10\n", b"1 2 1\n"):
        with pytest.raises(ValueError, match="is no game"):
            recipes.konect_games([edges + line])


ARFF = b"""\
% A comment about @attribute\r
@relation toy\r
@ATTRIBUTE 'Whole weight' real\r
@attribute kind { a, b}\r
@attribute class integer\r
\r
@data\r
1.50, a,3,\r
% another\r
?,b,4\r
-.9,b,5\r
"""


def test_tables_of_arff():
    (table,) = recipes.arff_table()([ARFF])
    assert table == b"Whole weight,kind,class\n1.50,a,3\n-.9,b,5\n"
    (table,) = recipes.arff_table(["x", "y", "z"])([ARFF])
    assert table.startswith(b"x,y,z\n1.50")
    with pytest.raises(ValueError, match="2 values for 3 attributes: '1,2'"):
        recipes.arff_table()([ARFF + b"1,2\n"])
    with pytest.raises(ValueError, match="0 rows and 0 attributes"):
        recipes.arff_table()([b"<html>"])
    with pytest.raises(ValueError, match="2 rows and 3 attributes"):
        recipes.arff_table(["x"])([ARFF])


def test_years_of_tennis():
    # The columns of 2024's file that we use, between others and in its order.
    header = (
        "tourney_id,tourney_name,surface,tourney_level,tourney_date,match_num,"
        "winner_id,loser_id,score,best_of,round,winner_rank,winner_rank_points,"
        "loser_rank,loser_rank_points\n"
    )
    first = header + '1991-1,"A, B",Hard,A,19910101,1,5,6,6-4 6-4,3,F,1,,2,\r\n'
    second = header + "1992-1,C,,G,19920101,2,6,5,W/O,5,R32,,10,3,20\n"
    (table,) = recipes.tennis_years([first.encode(), second.encode()])
    assert table.decode().splitlines() == [
        ",".join(recipes.TENNIS_COLUMNS),
        "1991-1,19910101,1,A,Hard,3,F,5,6,1,2,,,6-4 6-4",
        "1992-1,19920101,2,G,,5,R32,6,5,,3,10,20,W/O",
    ]
    with pytest.raises(ValueError, match="no column tourney_id"):
        recipes.tennis_years([b"<html>\n"])
    with pytest.raises(ValueError, match="has 1 fields, expected 15"):
        recipes.tennis_years([(header + "1991-1\n").encode()])


def archive(number, rows):
    """Pack a workbook of ratings: each row, as its count, then its 100 ratings."""
    cells = b"".join(
        wb.many_rk(i, 0, [wb.rk_of_hundredths(100 * count), *map(rk, ratings)])
        for i, (count, ratings) in enumerate(rows)
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        zipped.writestr(f"jester-data-{number}.xls", wb.workbook(cells))
    return packed.getvalue()


def rk(rating):
    return wb.rk_of_hundredths(round(100 * rating))


def test_ratings_of_jester():
    rng = np.random.default_rng(0)
    people = np.round(rng.uniform(-10, 10, (5, 100)), 2)
    people[rng.random((5, 100)) < 0.4] = 99
    rows = [(int((person != 99).sum()), person.tolist()) for person in people]
    served = [archive(1, rows[:2]), archive(2, rows[2:3]), archive(3, rows[3:])]
    (packed,) = recipes.jester_matrix(served)
    with np.load(io.BytesIO(packed)) as arrays:
        assert arrays["part"].tolist() == [1, 1, 2, 3, 3]
        assert arrays["part"].dtype == np.uint8
        ratings = arrays["ratings"]
    assert ratings.dtype == np.int16
    assert np.array_equal(ratings == recipes.NOT_RATED, people == 99)
    np.testing.assert_array_equal(
        ratings[people != 99], np.rint(100 * people[people != 99])
    )


def test_other_workbooks_are_not_jester():
    rows = [(100, [1.0] * 100)]
    with pytest.raises(ValueError, match=r"no 'jester-data-1\.xls'"):
        recipes.jester_matrix([archive(2, rows)])
    with pytest.raises(ValueError, match="counts other ratings"):
        recipes.jester_matrix([archive(1, [(99, [1.0] * 100)])])
    with pytest.raises(ValueError, match="has 100 columns and 0 empty"):
        recipes.jester_matrix([archive(1, [(99, [1.0] * 99)])])


def test_another_workbook_is_not_concrete():
    cells = wb.label(0, 0) + wb.many_rk(1, 0, [wb.rk_of_hundredths(1)] * 8)
    with pytest.raises(ValueError, match="other cells than expected"):
        recipes.concrete_table([wb.workbook(cells)])
