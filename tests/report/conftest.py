# SPDX-License-Identifier: BSD-3-Clause
"""Reports to test: one of real results, and one of names that mean harm."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tiebreak import BradleyTerry, Elo, Leaderboard, Pairs, check_pairs
from tiebreak.options import RankOptions
from tiebreak.pipeline.result import compare_all, compare_two
from tiebreak.report import render_report

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


COLUMNS = {"rank": pl.Int64, "item": pl.String, "rating": pl.Float64}
COLUMNS |= dict.fromkeys(("lower", "upper", "wins", "ties", "losses"), pl.Float64)
COLUMNS |= dict.fromkeys(("rank_best", "rank_worst"), pl.Int64) | {"group": pl.String}


def board_of(columns):
    """Make a leaderboard; what is not given is not known."""
    table = pl.DataFrame(columns)
    n = len(table)
    unknown = [pl.Series(c, [None] * n, t) for c, t in COLUMNS.items()]
    unknown[0] = pl.Series("rank", range(1, n + 1), pl.Int64)
    unknown.append(pl.Series("provisional", [False] * n))
    unknown.append(pl.Series("placed", [True] * n))
    unknown.append(pl.Series("could_be_best", [None] * n, pl.Boolean))
    missing = [column for column in unknown if column.name not in table.columns]
    return table.with_columns(missing)


def result_of(title, table=None, *, summary=(), **parts):
    """Make what a page reads of a RankResult; without parts it has none."""
    nothing = ("checks", "effects", "moves", "matrix", "compare", "weights", "quality")
    nothing += ("disagreements", "tuning", "audit", "differences")
    texts = ("command", "date", "fingerprint", "methods", "citation", "shares")
    content = dict.fromkeys((*nothing, "judges")) | dict.fromkeys(texts, "")
    content |= {"warnings": [], "tuning_notes": [], "recognized": [], "versions": {}}
    content |= {"categories": {}, "category_notes": {}}
    content |= {"options": RankOptions(), "choice": SimpleNamespace(name="model")}
    content["source"] = SimpleNamespace(scores=None, pictures={})
    content |= {"title": title, "board": table, "history": (None, "")}
    content["headline"] = lambda name: [f"Best in {name}.", "12 comparisons"]
    return SimpleNamespace(summary=lambda: list(summary), **(content | parts))


def quality_of(rows, outcome=(), proba=None, note=""):
    """Make what a page reads of a ForwardResult; the first row is that of the model."""
    known = dict.fromkeys(("model", "accuracy", "log_loss", "brier", "rps"))
    return SimpleNamespace(
        table=pl.DataFrame([known | row for row in rows]),
        heading=lambda: [note],
        outcome=np.asarray(outcome),
        weight=np.ones(len(outcome)),
        proba={} if proba is None else {rows[0]["model"]: np.asarray(proba)},
    )


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
        {"model": names[0], "accuracy": 0.6, "log_loss": 0.9},
        {"model": "baseline", "accuracy": 0.4, "log_loss": 1.1, "brier": 0.66},
    ]
    content = {
        "summary": [f"{name} is one of {k}.\ud800" for name in names[:3]],
        "choice": SimpleNamespace(name=names[0]),
        "matrix": board.matrix(30),
        "quality": quality_of(rows, y, proba, names[1]),
        "weights": [(name, (-1.0) ** i * (i + 0.5)) for i, name in enumerate(names)],
        "history": (Elo().fit(pairs, y).history_, "Every <game>."),
        "checks": check_pairs(pairs, y),
        "warnings": names[:4],
        "compare": compare_two(model),
        "differences": compare_all(board),
        "command": f"tiebreak rank '{names[0]}'",
        "versions": {"tiebreak": "0.1", names[2]: names[3]},
        "date": "2026-01-02",
    }
    return result_of(names[0], board.table, **(content | more)), model


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


UNDER = {"holds": True, "difference": 0.21, "low": -0.05, "high": None}
AUDIT = {
    "version": 1,
    "votes": 600,
    "items": 6,
    "level": 0.95,
    "complete": True,
    "choices": ["ties half", "no prior", "<b>drop both bad</b>", "last half"],
    "claims": [
        {
            "claim": claim,
            "kind": "first",
            "items": ["item 0"],
            "verdict": verdict,
            "removal": {"votes": votes, "rows": [], "verified": True, "exact": True},
            "reversal": {"votes": 3, "rows": [], "verified": True, "exact": True},
            "raters": {"raters": None, "names": [], "verified": False, "exact": False},
            "other_items": {"items": None, "names": [], "verified": False, "exact": 0},
            "days": {"days": None, "names": [], "verified": False, "exact": False},
            "choices": {"holds": 4 - len(broken), "of": 4, "broken_by": broken}
            | {"as_asked": UNDER | {"choice": "as asked"}}
            | {"each": [UNDER | {"choice": "<b>drop both bad</b>", "holds": False}]},
            "confidence": sure,
        }
        for claim, verdict, votes, broken, sure in [
            ("item 0 is first", "holds", 61, [], 1.0),
            ("<i>item 1</i> is above item 2", "fragile: 1 vote", 1, ["no prior"], 0.31),
            ("item 2 and item 3 cannot be told apart", "holds", None, [], None),
        ]
    ],
    "notes": ["A <note>."],
}
JUDGES = {
    "judges": [
        {"name": "<b>Ann</b>", "votes": 400, "agreement": 0.81, "lower": 0.77}
        | {"upper": 0.85, "ties": 0.1, "left": 0.52, "verdict": ""},
        {"name": "Bob", "votes": 12, "verdict": "unclear"},
    ],
    "notes": ["Two judges."],
}


def full_report(rng_seed):
    """Make a report that has every section, and its model."""
    rng = np.random.default_rng(rng_seed)
    names = [f"item {i}" for i in range(12)]
    data, model = report_of(names, rng)
    parts = [report_of(names[:k], rng, n=300)[0].board for k in (12, 9)]
    table = data.board.select("item", "rank", "rating")
    moves = table.with_columns(
        rank_without=pl.Series([2, 1, *range(3, 13)]),
        rating_without=pl.col("rating") + 1.0,
        moved=pl.Series([1, -1, *[0] * 10]),
    )
    effects = pl.DataFrame(
        {
            "effect": ["advantage", "log:<words>"],
            "points": [12.5, -30.0],
            "lower": [5.0, -45.0],
            "upper": [20.0, 2.0],
            "p_value": [1e-6, 0.04],
            "standard_deviation": [None, 0.5],
        }
    )
    more = {
        "categories": {"math": parts[0], "<i>code</i>": parts[1]},
        "category_notes": {"math": [], "<i>code</i>": ["A <note>."], "none": ["Why."]},
        "effects": effects,
        "moves": moves,
        "disagreements": pl.DataFrame(
            {"left": ["<a>"], "right": ["b"], "said": ["left"], "predicted": ["right"]}
            | {"probability": [0.02]}
        ),
        "audit": AUDIT,
        "judges": JUDGES,
        "fingerprint": "ab12" * 16,
        "methods": "We ranked 12 items.",
        "citation": "The tiebreak developers.\n@software{tiebreak}",
        "summary": lambda: ["item 0 is best."],
        "warnings": [],
        "title": "Everything",
    }
    return SimpleNamespace(**(vars(data) | more)), model


@pytest.fixture
def plain_board():
    """Give a leaderboard of three items without intervals."""
    return board_of({"item": ["Ada", "Bo", "Cy"], "rating": [1520.4, 1500.0, 1479.6]})
