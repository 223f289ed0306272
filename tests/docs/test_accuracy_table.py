# SPDX-License-Identifier: BSD-3-Clause
"""The table of NDCG@10 in the docs is the one that was measured."""

import numpy as np
import pytest

from benchmarks.accuracy import (
    BOOST_ROUNDS,
    METHODS,
    N_INNER,
    RESULTS,
    ROUNDS,
    fit_boosted,
    fit_catboost,
    fit_lightgbm,
    fit_rank_boost,
    fit_xgboost,
    merge,
    read,
    table,
)
from tests.meta.sources import ROOT


@pytest.fixture(scope="module")
def rows():
    return merge(read(RESULTS))


def test_the_docs_have_the_table_that_was_measured(rows):
    text = (ROOT / "docs" / "choosing.md").read_text("utf-8")
    assert table(rows) in text


def test_divisions_are_averaged_query_by_query():
    name = next(iter(METHODS))
    row = {"set": "s", "method": name, "ours": False}
    two = [
        row | {"repeat": 0, "ndcg": [0.2, 0.4], "seconds": 1.0},
        row | {"repeat": 1, "ndcg": [0.4, 1.0], "seconds": 3.0},
    ]
    [merged] = merge(two)
    assert merged["ndcg"].tolist() == pytest.approx([0.3, 0.7])
    assert merged["seconds"] == 2.0


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


def test_every_method_has_twelve_settings():
    trees = (fit_boosted, fit_lightgbm, fit_xgboost, fit_catboost)
    stages = dict.fromkeys(trees, len(ROUNDS)) | {fit_rank_boost: len(BOOST_ROUNDS)}
    for method in METHODS.values():
        assert len(method.grid) * stages.get(method.fit, 1) == 12
    assert N_INNER == 3


def test_differences_are_paired():
    ndcg = {"one": [0.5, 0.7, 0.9], "two": [0.4, 0.5, 0.9], "ours": [0.4, 0.8, 0.9]}
    rows = [
        {"set": "s", "method": name, "ours": name == "ours", "ndcg": q, "seconds": 1.0}
        for name, q in ndcg.items()
    ]
    lines = table(rows).splitlines()
    assert lines[2] == "| one | .700 | the best peer | 1 |"
    gap = np.subtract(ndcg["two"], ndcg["one"])
    error = f"{gap.std(ddof=1) / 3**0.5:.3f}"[1:]
    assert lines[3] == f"| two | .600 | −.100 ± {error} | 1 |"
    assert lines[4].startswith("| ours | .700 | +.000 ± .0")
