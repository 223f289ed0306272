# SPDX-License-Identifier: BSD-3-Clause
"""Figures inside a page: no styles, no collisions, names as text."""

import re
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from tiebreak.report.figures import BLUE, figure_settings, figure_svg


def draw(label="$x^2$", gid=None):
    with figure_settings():
        figure = Figure(figsize=(3, 2), layout="constrained")
        axes = figure.add_subplot()
        (line,) = axes.plot([0, 1], [0, 1], "o-", color=BLUE)
        line.set_gid(gid)
        axes.set_title(label)
    return figure


def write(figure, prefix="a", **more):
    return figure_svg(figure, prefix, "Title <1>", "About & more", **more)


def test_there_are_no_styles_and_no_references_outside():
    svg = write(draw())
    assert "style" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert "xlink" not in svg
    assert "metadata" not in svg


def test_mathematics_is_text():
    assert ">$x^2$<" in write(draw())


def test_texts_that_are_made_while_drawing_are_text():
    figure = draw("")
    figure.axes[0].xaxis.set_major_formatter(lambda x, _: f"${x:.1f}$")
    assert ">$0.0$<" in write(figure)


def test_a_figure_made_elsewhere_is_text_too():
    figure = Figure()
    figure.add_subplot().set_title("$\\frac{1}$")  # not even valid mathematics
    assert "$\\frac{1}$" in write(figure)


def test_names_are_escaped():
    svg = write(draw("</text><script>"))
    assert "&lt;/text&gt;&lt;script&gt;" in svg
    ElementTree.fromstring(svg)


def test_title_and_description_are_referred_to():
    root = ElementTree.fromstring(write(draw()))
    assert root.get("aria-labelledby") == "a-title a-desc"
    found = {part.get("id"): part.text for part in root if part.get("id")}
    assert found["a-title"] == "Title <1>"
    assert found["a-desc"] == "About & more"


def test_ids_of_two_figures_differ_and_all_references_exist():
    first, second = write(draw(), "a"), write(draw(), "b")
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, known in zip((first, second), ids, strict=True):
        used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
        assert used
        assert {a or b for a, b in used} <= known


def test_colors_get_classes_for_light_and_dark():
    svg = write(draw())
    assert "s-blue" in svg
    assert "f-ink" in svg


def test_a_part_gets_the_title_it_was_given():
    svg = write(draw(gid="mine"), hovers={"mine": "Ada & Bo"})
    assert "<title>Ada &amp; Bo</title>" in svg


def test_a_shortened_name_is_whole_on_hover():
    svg = write(draw("lo…ng"), names=[("lo…ng", "long <name>")])
    assert "<title>long &lt;name&gt;</title>lo…ng</text>" in svg


def test_the_same_figure_is_written_the_same():
    assert write(draw()) == write(draw())


def test_the_settings_of_the_user_are_neither_used_nor_changed():
    with matplotlib.rc_context({"font.size": 30.0, "svg.fonttype": "path"}):
        figure = draw("Ada")
        assert ">Ada<" in write(figure)
        assert figure.axes[0].title.get_fontsize() < 20
        assert matplotlib.rcParams["font.size"] == 30.0


@pytest.mark.parametrize("name", ["👩‍🚀", "עברית", "漢字"])
def test_what_the_fonts_here_lack_is_no_warning(name):
    assert name in write(draw(name))
