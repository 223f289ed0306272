# SPDX-License-Identifier: BSD-3-Clause
"""Every model has a page in one order, a row on ties, and links that lead somewhere."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import tiebreak
from papers.all_methods.experiments import EXPERIMENTS
from papers.all_methods.report import mean_ranks, means_of_sets
from papers.results import Results
from tiebreak import ratings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODELS = DOCS / "models"
PAGES = sorted(path for path in MODELS.glob("*.md") if path.stem != "index")
# Estimators that are no models.
OTHERS = {"OnItems", "WithoutTies"}
# Models that share a page.
SHARED = {"Glicko2": "glicko", "L1RankerCV": "l1-ranker"}
HEADINGS = ["Example", "When to use it", "Traps", "More"]


def estimators(module):
    values = {name: getattr(module, name) for name in module.__all__}
    return {
        n
        for n, v in values.items()
        if isinstance(v, type) and issubclass(v, BaseEstimator)
    }


ESTIMATORS = sorted((estimators(tiebreak) | estimators(ratings)) - OTHERS)


def page_of(name):
    """Give the name of the page of a model: SVMCompare is svm-compare."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return SHARED.get(name, words.lower())


def text_of(path):
    return path.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(path):
    """Give the anchors of the headings of a page, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", without_code(text_of(path)), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_has_a_page(name):
    page = MODELS / f"{page_of(name)}.md"
    assert name in text_of(page).split("## ")[0]


def test_there_is_no_page_without_a_model():
    assert {page.stem for page in PAGES} == {page_of(name) for name in ESTIMATORS}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_has_a_row_on_ties(name):
    rows = re.findall(
        r"^\| \[`(\w+)`\]\((\S+)\) \|(.+)\|$", text_of(DOCS / "ties.md"), re.M
    )
    found = {row[0]: row for row in rows}
    assert found[name][1] == f"models/{page_of(name)}.md"
    in_training, in_prediction = re.split(r"(?<!\\)\|", found[name][2])
    assert in_training.strip()
    assert in_prediction.strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_all_parts_in_order(page):
    text = text_of(page)
    assert re.findall(r"^## (.+)$", without_code(text), re.MULTILINE) == HEADINGS
    example, more = text.split("## Example")[1], text.split("## More")[1]
    assert ">>> " in example.split("## When to use it")[0]
    assert "../api/" in more and "../methods/" in more


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_index_leads_to_the_page(name):
    index = text_of(MODELS / "index.md")
    assert f"`{name}`" in index
    assert f"({page_of(name)}.md)" in index
    assert re.search(rf"^{page_of(name)}$", index, re.MULTILINE)  # in a toctree


@pytest.mark.parametrize(
    "page",
    [*PAGES, MODELS / "index.md", DOCS / "ties.md", DOCS / "choosing.md"],
    ids=lambda page: page.stem,
)
def test_links_lead_to_files_and_headings(page):
    links = re.findall(r"(?<=\]\()([^)\s]+)(?=\))", without_code(text_of(page)))
    assert links
    for link in links:
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_file(), link
        if anchor:
            assert anchor in anchors(target), link


def test_mean_ranks_are_those_of_the_results():
    _, means = means_of_sets(Results(EXPERIMENTS[0], quick=False).table())
    ranks = np.sort(mean_ranks(means))
    assert len(ranks) == 12

    table = text_of(DOCS / "choosing.md").split("| mean rank |")[1].split("\n\n")[0]
    stated = re.findall(r"\| ([\d.]+) \| [\d.]+ \|$", table, re.MULTILINE)
    assert np.array(stated, float) == pytest.approx(ranks, abs=0.0501)


@pytest.mark.parametrize(
    "page", [*PAGES, DOCS / "ties.md", DOCS / "choosing.md"], ids=lambda page: page.stem
)
def test_formulas_and_examples_fit_the_width_of_the_site(page):
    blocks = re.findall(r"^```\w*\n(.*?)^```", text_of(page), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert [line for line in lines if len(line) > 88] == []
