# SPDX-License-Identifier: BSD-3-Clause
"""Ratings of jokes: a small matrix written here, and the published one."""

import io

import numpy as np
import pytest

from tiebreak.datasets import load_jester

FILE = "jester/jester1_ratings.npz"


def pack(**arrays):
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def small():
    ratings = np.full((3, 100), -32768, dtype=np.int16)
    ratings[0, :3] = [-995, 0, 1000]
    ratings[1, 99] = 782
    ratings[2, 50] = -1
    return {"ratings": ratings, "part": np.array([1, 1, 3], dtype=np.uint8)}


def test_a_small_matrix(write):
    write(FILE, pack(**small()))
    data = load_jester()
    assert data.ratings.shape == (3, 100)
    assert data.ratings[0, :3].tolist() == [-9.95, 0.0, 10.0]
    assert data.ratings[1, 99] == 7.82
    assert data.ratings[2, 50] == -0.01
    assert np.isnan(data.ratings).sum() == 300 - 5
    assert data.part.tolist() == [1, 1, 3]
    assert "Goldberg" in data.description


def changed(**arrays):
    return pack(**small() | arrays)


def with_rating(row, joke, value):
    ratings = small()["ratings"]
    ratings[row, joke] = value
    return changed(ratings=ratings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (with_rating(1, 7, 1001), "row 1, joke 7 has 1001 hundredths, expected -1000"),
        (with_rating(2, 50, -32768), "row 2 holds no rating at all"),
        (changed(part=np.array([1, 2, 4])), "part is not 1, 2 or 3"),
        (
            changed(part=np.array([1, 2])),
            r"shape \(3, 100\), expected int16 of shape \(2,",
        ),
        (changed(ratings=np.zeros((3, 100))), "ratings are float64"),
        (pack(ratings=small()["ratings"]), "the arrays cannot be read"),
        (pack(**small() | {"part": np.array([None] * 3)}), "cannot be read .*pickle"),
        (pack(**small())[:-50], "the arrays cannot be read"),
        (b"", "the arrays cannot be read"),
    ],
)
def test_broken_files(write, content, message):
    path = write(FILE, content)
    with pytest.raises(ValueError, match=message) as caught:
        load_jester()
    assert str(caught.value).startswith(str(path))


def test_no_file(write):
    with pytest.raises(FileNotFoundError, match="eigentaste"):
        load_jester(download=False)


def test_the_published_ratings(published):
    published(FILE)
    data = load_jester()
    rated = np.isfinite(data.ratings)
    assert data.ratings.shape == (73421, 100)
    assert int(rated.sum()) == 4136360
    assert np.nanmin(data.ratings) == -9.95
    assert np.nanmax(data.ratings) == 10
    assert np.nanmean(data.ratings) == pytest.approx(0.742, abs=5e-4)
    counts = rated.sum(axis=1)
    for part, people, low, high in [
        (1, 24983, 36, 100), (2, 23500, 36, 100), (3, 24938, 15, 35),
    ]:  # fmt: skip
        assert int(np.sum(data.part == part)) == people
        assert counts[data.part == part].min() == low
        assert counts[data.part == part].max() == high
