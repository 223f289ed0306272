# SPDX-License-Identifier: BSD-3-Clause
"""Text of strangers stays text."""

import html
import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tiebreak.data.markup import (
    as_json,
    clean,
    element,
    escape,
    isolate,
    results_html,
    shorten,
)


@given(st.text())
def test_escaped_text_is_read_back_and_has_no_markup(text):
    written = escape(text)
    assert not set(written) & set("<>\"'")
    assert html.unescape(written) == clean(text)
    # XML has fewer characters than HTML, and UTF-8 no lone surrogates.
    read = ElementTree.fromstring(f"<a>{written}</a>".encode())
    assert (read.text or "") == clean(text)


@given(st.recursive(st.text(), st.lists))
def test_json_is_read_back_and_cannot_end_its_element(value):
    written = as_json(value)
    assert json.loads(written) == value
    assert written.isascii()
    assert not set(written) & set("<>&")


def test_json_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="JSON"):
        as_json(float("nan"))


@given(st.text(), st.integers(4, 80))
def test_short_text_is_short_and_keeps_its_ends(text, most):
    short = shorten(text, most)
    assert len(short) <= most
    if len(clean(text)) <= most:
        assert short == clean(text)
    else:
        assert short[0] == clean(text)[0]
        assert short[-1] == clean(text)[-1]
        assert "…" in short


@pytest.mark.parametrize("mark", list("\u202a\u202b\u202d\u202e\u2066\u2067\u2069"))
def test_no_name_turns_the_sentence_around_it(mark):
    name = isolate(f"name{mark}")
    assert name[0] == "\u2068"
    assert name[-1] == "\u2069"
    assert mark not in name[1:-1]


def test_plain_names_are_not_wrapped():
    assert isolate("Ada") == "Ada"


def test_attributes_are_escaped_and_left_out():
    written = element("p", "x", title='"><b>', data_v=0, hidden=True, id=None)
    assert written == '<p title="&quot;&gt;&lt;b&gt;" data-v="0" hidden>x</p>'


def shown(heading, cell, caption):
    """Read the texts of a table in HTML back."""
    table = Table(caption=caption)
    table.add_column(Text(heading))
    table.add_column("", justify="right")
    table.add_row(Text(cell), "1")
    written = results_html(Panel(Group("", Text("title", style="bold"), table)))
    return ElementTree.fromstring(written.encode())


def test_a_table_of_the_terminal_is_a_table_of_a_notebook():
    page = shown("name", "Ada", "few")
    assert [part.tag for part in page] == ["p", "table", "p"]
    assert page.findtext("p/strong") == "title"
    assert page.findtext("table/thead/tr/th") == "name"
    assert [cell.text for cell in page.findall("table/tbody/tr/td")] == ["Ada", "1"]
    assert page.findall(".//td")[1].get("style").startswith("text-align:right")
    assert page.findall("p")[1].text == "few"


@given(st.text(), st.text(), st.text(min_size=1))
def test_texts_in_a_table_are_neither_markup_nor_directions(heading, cell, caption):
    page = shown(heading, cell, caption)
    turned = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    heading, cell = Text(heading).plain, Text(cell).plain  # without control codes
    expected = [clean(text) for text in ("title", heading, "", cell, "1", caption)]
    for mark in turned:
        expected = [text.replace(mark, "\ufffd") for text in expected]
    places = [".//strong", ".//th[1]", ".//th[2]", ".//td[1]", ".//td[2]", "p[2]"]
    assert ["".join(page.find(at).itertext()) for at in places] == expected
