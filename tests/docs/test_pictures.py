# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the model pages can be drawn, and every page has its own."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from docs.pictures import PICTURES
from docs.pictures.style import draw, save_picture
from tests.extended import few

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "models").glob("*.md"))
IMAGES = ROOT / "docs" / "images" / "models"
LARGEST = 60_000


@pytest.mark.parametrize("name", few(PICTURES, keep=6))
def test_a_picture_shows_something_and_says_what(name):
    figure = draw(PICTURES[name], quick=True)
    assert figure.axes
    for axis in figure.axes:
        assert axis.get_title(loc="left")
        marks = (Line2D, Collection, Rectangle)
        drawn = [mark for mark in axis.get_children() if isinstance(mark, marks)]
        assert any(mark is not axis.patch for mark in drawn)
        assert all(len(text.get_text()) < 60 for text in axis.texts)


def test_a_file_is_the_same_in_every_run(tmp_path):
    name = "max-margin-compare"
    files = [
        save_picture(PICTURES[name], tmp_path / f"{number}.svg", quick=True)
        for number in range(2)
    ]
    first, second = (path.read_bytes() for path in files)
    assert first == second
    assert b"<dc:date>" not in first


@pytest.mark.parametrize("name", PICTURES)
def test_the_file_of_a_picture_is_there_and_small(name):
    path = IMAGES / f"{name}.svg"
    assert path.stat().st_size <= LARGEST
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_there_is_no_picture_that_nothing_draws():
    assert {path.stem for path in IMAGES.iterdir()} == set(PICTURES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_its_own_picture_with_words_for_it(page):
    found = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    if page.stem == "index":
        assert not found
        return
    assert [target for _, target in found] == [f"../images/models/{page.stem}.svg"]
    assert page.parent.joinpath(found[0][1]).is_file()
    assert len(found[0][0]) > 20
