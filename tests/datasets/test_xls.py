# SPDX-License-Identifier: BSD-3-Clause
"""Numbers from old workbooks: written here, and one that a publisher serves."""

import struct

import numpy as np
import polars as pl
import pytest

from tests.datasets import workbooks as wb
from tiebreak.datasets.xls import read_numbers


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
        (wb.workbook(b"", name="Book"), "no part called Workbook"),
        (wb.workbook(b""), "holds no numbers"),
        (wb.workbook(wb.number(0, 0, 1.0), version=0x0500), "version of Excel 97"),
        (wb.workbook(wb.number(0, 0, 1.0))[:2000], "cut short or damaged"),
        (wb.workbook(wb.number(0, 0, 1.0))[:40], "cut short or damaged"),
        (wb.workbook(wb.number(0, 0, 1.0), end=b""), "cut short or damaged"),
    ],
)
def test_what_is_no_such_workbook(content, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(content)


def test_a_chain_of_sectors_without_an_end():
    content = bytearray(wb.workbook(wb.number(0, 0, 1.0)))
    # The first sector is the last of its chain; the second leads to the first.
    at = content.index(struct.pack("<III", wb.END, 0, 1))
    struct.pack_into("<I", content, at, 1)
    with pytest.raises(ValueError, match="cut short or damaged"):
        read_numbers(bytes(content))


def test_a_published_workbook(published):
    """The table was made of the workbook by another program."""
    numbers = read_numbers(published("uci/original/Concrete_Data.xls").read_bytes())
    table = pl.read_csv(
        published("uci/concrete.csv"), schema_overrides=[pl.Float64] * 9
    )
    assert np.isnan(numbers[0]).all()
    np.testing.assert_array_equal(numbers[1:], table.to_numpy())
