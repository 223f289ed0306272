# SPDX-License-Identifier: BSD-3-Clause
"""The page of the papers: names are found, calls run, and numbers are the results'."""

import re

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

import tiebreak
from tests.meta.sources import ROOT
from tiebreak import Pairs, metrics, ratings
from tiebreak.datasets import make_orders, make_separable

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "papers" / "RESULTS.md").read_text(encoding="utf-8")
NAMES = (
    "SVMrank", "rank2", "SVMcompare", "Herbrich₅", "SVOR₅", "SVM_multi", "RLS",
    "RankRLS", "KMP", "matching pursuit", "ranking pursuit", "semi-supervised",
    "preference graph",
    "convex hull reduction", "1-norm", "Cohen's method", "Hedge", "RankBoost", "RB",
    "OSVM", "Order SVM", "SVOR", "ERR", "expected rank regression", "k-o'means",
    "central order", "attributed central order", "Spearman distance",
)  # fmt: skip
DIFFERENT = (
    "tie_weight", "RankingPursuit(alpha)", "feedback", "slack", "nu",
    "ExpectedRankRegression",
)  # fmt: skip
OUTSIDE = {
    "KernelRidge": KernelRidge,
    "LinearRegression": LinearRegression,
    "MinMaxScaler": MinMaxScaler,
    "PolynomialFeatures": PolynomialFeatures,
    "make_pipeline": make_pipeline,
}
# The last column of the tables of programs, and the code in it.
CALLS = [
    code
    for line in PAGE[: PAGE.index("## Defaults")].splitlines()
    if line.startswith("|")
    for code in re.findall(r"`([^`]+)`", line.rsplit(" | ", 1)[-1])
    if not code.startswith(("model.", "papers/"))
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_paper_is_on_the_page(name):
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", PAGE)


def test_the_search_of_the_site_finds_the_names():
    """Every word of a name, as people type it, is a word of the page in the index."""
    english = pytest.importorskip("sphinx.search.en").SearchEnglish({})

    def words(text):
        return {english.stem(w) for w in english.split(text) if english.word_filter(w)}

    typed = [*NAMES, "Herbrich5", "SVOR5", "ACO", "kernel matching pursuit"]
    known = words(PAGE)
    assert [name for name in typed if not words(name) <= known] == []


def data_for(code):
    """Small data of the shape that a program of the papers is about."""
    if "Elo" in code or "Glicko" in code:
        return (Pairs(None, ["a", "b", "a"], ["b", "c", "c"]), [-1, 0, 1])
    if "Compare" in code:
        made = make_separable(20, random_state=0)
        return made.pairs, made.y
    lists = make_orders(12, 4, n_items=10, random_state=0).orders
    if re.search("Order|Boost|Expected", code):
        return (lists,)
    return lists.values, np.arange(10) % 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("code", CALLS)
def test_a_call_makes_the_program(code):
    known = {n: getattr(tiebreak, n) for n in tiebreak.__all__}
    known |= {n: getattr(ratings, n) for n in ratings.__all__} | OUTSIDE
    known |= {n: getattr(metrics, n) for n in metrics.__all__}
    made = eval(code.removeprefix("tiebreak.ratings."), known)
    if "(" in code:
        made.fit(*data_for(code))


def test_there_are_calls_of_all_papers():
    assert len(CALLS) > 25 and sum("(" in code for code in CALLS) > 20


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_default_that_differs_is_in_the_table(name):
    assert f"{name}" in PAGE[PAGE.index("## Defaults") :]


def test_numbers_beside_the_papers_are_those_of_the_results():
    """Ours and theirs, after every command."""
    lines = re.findall(r"`python -m papers run.*?\n\n", PAGE, re.DOTALL)
    assert len(lines) == 5
    for line in lines:
        numbers = re.findall(
            r"(?<![\w.,-])\d[\d,]*\.?\d+(?![\w-])", line.split(". ", 1)[1]
        )
        numbers = [n for n in numbers if "." in n or "," in n]
        assert numbers and [n for n in numbers if n not in RESULTS] == []


def test_every_page_of_methods_tells_differences():
    pages = sorted((ROOT / "docs" / "methods").glob("[a-z]*.md"))
    assert len(pages) > 10
    without = [
        page.name
        for page in pages
        if "## Differences from the paper" not in page.read_text(encoding="utf-8")
    ]
    assert without == []


def test_settings_by_size_are_those_of_the_results():
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    table = page.split("### Settings by size")[1].split("## By size")[0]
    results = RESULTS.split("### Settings for other sizes")[1].split("### ")[0]
    numbers = re.findall(r"(?<!\d)\.\d{3}", table[table.index("| |") :])
    assert len(numbers) > 24
    assert [n for n in numbers if f"0{n}" not in results] == []
