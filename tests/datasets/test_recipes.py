# SPDX-License-Identifier: BSD-3-Clause
"""Making tables of what publishers serve, on small examples written here.

That the published tables come out byte for byte is tested with `fetch`.
"""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pytest

from tests.datasets import workbooks as wb
from tiebreak.datasets import recipes
from tiebreak.datasets.recipes import read_members, read_numbers


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


def pack(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            # A time of writing would make another archive, and another id, every time.
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def test_members_come_in_the_order_asked_for():
    archive = pack(**{"a/one": b"1", "a/two": b"22", "../../three": b"333"})
    assert read_members(archive, ["a/two", "a/one"], 3) == [b"22", b"1"]


def test_a_bomb_is_not_unpacked():
    archive = pack(bomb=bytes(50_000_000))
    assert len(archive) < 60_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 1,000 bytes"):
            read_members(archive, ["bomb"], 1000)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_all_members_together_are_limited():
    archive = pack(one=bytes(60), two=bytes(60))
    assert [len(part) for part in read_members(archive, ["one", "two"], 120)] == [
        60
    ] * 2
    with pytest.raises(ValueError, match="more than 119 bytes"):
        read_members(archive, ["one", "two"], 119)


def test_an_archive_that_lies_about_its_size():
    content = b"x" * 5000
    archive = pack(liar=content).replace(
        struct.pack("<I", len(content)), struct.pack("<I", 5)
    )
    with pytest.raises(ValueError, match="cannot be read as a ZIP archive"):
        read_members(archive, ["liar"], 10_000)


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"<html>not here</html>", "cannot be read as a ZIP archive"),
        (b"", "cannot be read as a ZIP archive"),
        (pack(other=b"1"), "the archive has no 'one'; it has 'other'"),
        (pack(), "the archive has no 'one'; it has nothing"),
        (pack(one=b"12345")[:-30], "cannot be read as a ZIP archive"),
        (pack(one=b"abc" * 99).replace(b"one", b"\0" * 3, 1), "ZIP archive"),
    ],
    ids=["a page", "empty", "another member", "no member", "cut off", "two names"],
)
def test_what_is_no_such_archive(archive, message):
    with pytest.raises(ValueError, match=message):
        read_members(archive, ["one"], 1000)


def upper_half(value):
    """Pack a number whose lower 34 bits are 0 as its upper half."""
    return struct.unpack("<Q", struct.pack("<d", value))[0] >> 32


@pytest.mark.parametrize("padding", [5000, 100_000, 8_000_000])
def test_every_kind_of_cell(padding):
    """8 MB need a list of tables, as the largest published workbooks do."""
    cells = [
        wb.label(0, 0),
        wb.number(0, 1, 1 / 3),
        wb.rk(1, 0, 99 << 2 | 2),
        wb.rk(1, 1, wb.rk_of_hundredths(-782)),
        wb.many_rk(
            2, 0, [upper_half(0.5), upper_half(-2.0) | 1, (-3 << 2 | 2) % 2**32]
        ),
        wb.formula(3, 0, struct.pack("<d", 1e300)),
        wb.formula(3, 1, b"\0\0\0\0\0\0\xff\xff"),
        wb.number(3, 2, -0.0),
    ]
    found = read_numbers(wb.workbook(b"".join(cells), padding=padding))
    nan = np.nan
    expected = [
        [nan, 1 / 3, nan], [99, -7.82, nan], [0.5, -0.02, -3], [1e300, nan, 0],
    ]  # fmt: skip
    np.testing.assert_array_equal(found, expected)


def test_hundredths_are_exact():
    every = np.arange(-1000, 1001)
    packed = [wb.rk_of_hundredths(int(value)) for value in every]
    found = read_numbers(wb.workbook(wb.many_rk(0, 0, packed)))
    np.testing.assert_array_equal(found, every[None] / 100)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html></html>", "no workbook in the format .xls"),
        (pack(one=b"12345"), "no workbook in the format .xls"),
        (wb.workbook(b"", name="Other"), "cannot be read"),
        (wb.workbook(b""), "holds no numbers"),
        (wb.workbook(wb.label(3, 2)), "holds no numbers"),
        (wb.workbook(wb.number(0, 0, 1.0))[:2000], "cannot be read"),
        (wb.workbook(wb.number(0, 0, 1.0))[:40], "cannot be read"),
    ],
    ids=["a page", "an archive", "no workbook", "empty", "text", "cut off", "a stump"],
)
def test_what_is_no_such_workbook(content, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(content)


def test_a_chain_of_sectors_without_an_end_is_followed_once():
    content = bytearray(wb.workbook(wb.number(0, 0, 1.0)))
    # The first sector is the last of its chain; the second leads to the first.
    at = content.index(struct.pack("<III", wb.END, 0, 1))
    struct.pack_into("<I", content, at, 1)
    np.testing.assert_array_equal(read_numbers(bytes(content)), [[1.0]])


def test_a_published_workbook(published):
    """The table was made of the workbook by another program."""
    numbers = read_numbers(published("uci/original/Concrete_Data.xls").read_bytes())
    table = pl.read_csv(
        published("uci/concrete.csv"), schema_overrides=[pl.Float64] * 9
    )
    assert np.isnan(numbers[0]).all()
    np.testing.assert_array_equal(numbers[1:], table.to_numpy())
