# SPDX-License-Identifier: BSD-3-Clause
"""The table of NDCG@10 in the docs is the one that was measured."""

import pytest

from benchmarks.accuracy import METHODS, RESULTS, merge, read, table
from tests.meta.sources import ROOT


@pytest.fixture(scope="module")
def rows():
    return merge(read(RESULTS))


def test_the_docs_have_the_table_that_was_measured(rows):
    text = (ROOT / "docs" / "choosing.md").read_text("utf-8")
    assert table(rows) in text


def test_every_method_has_the_same_divisions():
    found: dict[int, set] = {}
    for row in read(RESULTS):
        found.setdefault(row["repeat"], set()).add((row["set"], row["method"]))
    assert {len(cells) for cells in found.values()} == {2 * len(METHODS)}


def test_every_method_was_measured_on_the_same_queries(rows):
    sets = {row["set"] for row in rows}
    assert len(sets) == 2 and len(rows) == 2 * len(METHODS)
    for name in sets:
        sizes = {len(row["ndcg"]) for row in rows if row["set"] == name}
        assert len(sizes) == 1 and sizes.pop() > 100
