# SPDX-License-Identifier: BSD-3-Clause
"""Reports to test: one of real results, and one of names that mean harm."""

import numpy as np
import polars as pl
import pytest

from tiebreak import BradleyTerry, Elo, Leaderboard, Pairs, check_pairs
from tiebreak.report import CompareData, QualityData, ReportData, render_report

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\"'>",
    "</script><script>alert(2)</script>",
    "$x^2$",
    "👩‍🚀 émoji",
    "עברית \u202e reversed",
    "long " * 2000,
    '=HYPERLINK("http://example.invalid","x")',
    "a\x00b\nc",
    "]]><svg onload=alert(3)>&amp;",
]


def report_of(names, rng, *, ties="davidson", n=600, **more):
    """Make results of items by name, and everything that a report says of them."""
    k = len(names)
    left = rng.integers(0, k, n)
    right = (left + rng.integers(1, k, n)) % k
    strength = np.linspace(1.5, -1.5, k)
    d = strength[right] - strength[left] + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    column = np.array(names, dtype=object)
    pairs = Pairs(None, column[left], column[right])
    home = rng.integers(0, 2, n).astype(float)
    model = BradleyTerry(ties, alpha=0.1).fit(pairs, y, advantage=home)
    board = Leaderboard(model)
    proba = model.predict_proba(pairs, advantage=home)
    rows = [
        {"model": names[0], "accuracy": 0.6, "log_loss": 0.9, "brier": None},
        {"model": "shares", "accuracy": 0.4, "log_loss": 1.1, "brier": 0.66},
    ]
    quality = QualityData(rows, names[0], "shares", names[1], y, proba)
    history = Elo().fit(pairs, y).history_
    content = {
        "summary": [f"{name} is one of {k}.\ud800" for name in names[:3]],
        "matrix": board.matrix(30),
        "quality": quality,
        "weights": [(name, (-1.0) ** i * (i + 0.5)) for i, name in enumerate(names)],
        "history": history,
        "checks": check_pairs(pairs, y),
        "warnings": names[:4],
        "compare": CompareData.from_model(model),
        "command": f"tiebreak rank '{names[0]}'",
        "versions": {"tiebreak": "0.1", names[2]: names[3]},
        "date": "2026-01-02",
    }
    data = ReportData(names[0], board.table, **(content | more))
    return data, model


@pytest.fixture(scope="session")
def hostile_report(rng_seed):
    """Give a report whose every string means harm, and its model."""
    return report_of(HOSTILE, np.random.default_rng(rng_seed))


@pytest.fixture(scope="session")
def hostile_page(hostile_report):
    """Give the page of the hostile report."""
    return render_report(hostile_report[0])


@pytest.fixture(scope="session")
def plain_report(rng_seed):
    """Give a report of six items, and its model."""
    names = [f"item {i}" for i in range(6)]
    return report_of(names, np.random.default_rng(rng_seed), warnings=["Beware."])


@pytest.fixture(scope="session")
def plain_page(plain_report):
    """Give the page of the report of six items."""
    return render_report(plain_report[0])


@pytest.fixture
def plain_board():
    """Give a leaderboard of three items without intervals."""
    return pl.DataFrame(
        {
            "rank": [1, 2, 3],
            "item": ["Ada", "Bo", "Cy"],
            "rating": [1520.4, 1500.0, 1479.6],
        }
    )
