# SPDX-License-Identifier: BSD-3-Clause
"""Members of archives: only those asked for, and never more than expected."""

import io
import struct
import tracemalloc
import zipfile

import pytest

from tiebreak.datasets.archive import read_members


def pack(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
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
)
def test_what_is_no_such_archive(archive, message):
    with pytest.raises(ValueError, match=message):
        read_members(archive, ["one"], 1000)
