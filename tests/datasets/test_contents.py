# SPDX-License-Identifier: BSD-3-Clause
"""Packed files are known by what they hold."""

import gzip
import hashlib

import numpy as np
import pytest

from tiebreak.datasets.contents import DAMAGED, content_sha256, write_content

CONTENT = b"left,right\n" * 100
HASH = hashlib.sha256(CONTENT).hexdigest()


def test_the_same_content_is_the_same_file(tmp_path):
    for name in ("a.csv", "b.csv.gz", "c.csv.gz"):
        write_content(tmp_path / name, CONTENT)
        assert content_sha256(tmp_path / name) == HASH
    assert (tmp_path / "a.csv").read_bytes() == CONTENT
    packed = (tmp_path / "b.csv.gz").read_bytes()
    assert packed == (tmp_path / "c.csv.gz").read_bytes()
    assert gzip.decompress(packed) == CONTENT
    assert packed[3:8] == bytes(5)  # no name, no time


def test_how_it_was_packed_does_not_matter(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(CONTENT, 1))
    assert content_sha256(tmp_path / "a.gz") == HASH
    first, second = np.arange(5, dtype=np.int16), np.ones((2, 2))
    np.savez(tmp_path / "a.npz", first=first, second=second)
    np.savez_compressed(tmp_path / "b.npz", second=second, first=first)
    assert content_sha256(tmp_path / "a.npz") == content_sha256(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", first=first, second=2 * second)
    assert content_sha256(tmp_path / "a.npz") != content_sha256(tmp_path / "c.npz")


@pytest.mark.parametrize("keep", [0, 5, 30, -1])
def test_what_cannot_be_unpacked_is_damaged(tmp_path, keep):
    packed = gzip.compress(CONTENT)[:keep] if keep else b"plain text"
    (tmp_path / "a.gz").write_bytes(packed)
    assert content_sha256(tmp_path / "a.gz") == DAMAGED
    np.savez(tmp_path / "a.npz", first=np.arange(5))
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content[:keep] if keep else b"plain text")
    assert content_sha256(tmp_path / "a.npz") == DAMAGED
