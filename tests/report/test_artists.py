# SPDX-License-Identifier: BSD-3-Clause
"""Cells of a matrix, in every kind of file that matplotlib writes."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tiebreak.report.artists import Cell, Cells
from tiebreak.report.figures import figure_settings, figure_svg

CELLS = [
    Cell(0, 1, "cell-0-1", "62", "2-1-1", (1.0, 0.5, 0.25, 1.0), 0.25),
    Cell(1, 0, "cell-1-0", "38", "1-1-2", (0.0, 0.5, 1.0, 1.0)),
]


def draw(small, cells=CELLS):
    with figure_settings():
        figure = Figure(figsize=(2, 2))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(-0.5, 1.5)
        axes.set_ylim(1.5, -0.5)
        axes.axis("off")
        axes.add_artist(Cells(cells, small=small))
    return figure


def written(figure):
    svg = figure_svg(
        figure, "m", "Title", "Words", {"cell-0-1": "a & b", "cell-1-0": "b, a"}
    )
    return ElementTree.fromstring(re.sub(r' xmlns="[^"]+"', "", svg))


def test_a_cell_is_a_group_with_its_title_around_its_middle():
    root = written(draw(small=False))
    groups = [g for g in root.iter("g") if g.find("title") is not None]
    assert [g.find("title").text for g in groups] == ["a & b", "b, a"]
    for group, texts, middle in zip(
        groups, (["62", "2-1-1"], ["38", "1-1-2"]), ((108, 36), (36, 108)), strict=True
    ):
        assert [t.text for t in group.iter("text")] == texts
        for text in group.iter("text"):
            # The anchor is the middle: fonts of readers differ in width.
            assert text.get("text-anchor") == "middle"
            assert float(text.get("x")) == pytest.approx(middle[0])
            assert abs(float(text.get("y")) - middle[1]) < 20
        (square,) = group.iter("path")
        numbers = np.array(re.findall(r"-?[\d.]+", square.get("d")), dtype=float)
        corners = numbers[:8].reshape(4, 2)
        np.testing.assert_allclose(corners.mean(axis=0), middle, atol=0.02)
        np.testing.assert_allclose(np.ptp(corners, axis=0), 0.94 * 72, atol=0.02)
    assert groups[0].find("path").get("fill") == "#ff8040"


def test_the_line_at_the_foot_is_as_long_as_it_says():
    root = written(draw(small=False))
    (line,) = [p for p in root.iter("path") if "stroke-width" in p.attrib]
    x1, y1, x2, y2 = map(float, re.findall(r"-?[\d.]+", line.get("d")))
    assert (x1 + x2) / 2 == pytest.approx(108)
    assert x2 - x1 == pytest.approx(0.25 * 0.84 * 72, abs=0.02)
    assert y1 == y2 == pytest.approx(36 + 0.4 * 72, abs=0.02)  # below the middle


def test_small_cells_have_one_number():
    texts = [t.text for t in written(draw(small=True)).iter("text")]
    assert texts == ["62", "38"]


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_all_formats_show_cells(kind):
    full, empty = io.BytesIO(), io.BytesIO()
    draw(small=False).savefig(full, format=kind)
    draw(small=False, cells=[]).savefig(empty, format=kind)
    assert len(full.getvalue()) > len(empty.getvalue())


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def test_pixels_have_the_color_of_the_cell():
    found = pixels(draw(small=True))
    side = len(found)
    corner = found[side // 20, side // 2 + side // 20] / 255
    np.testing.assert_allclose(corner, CELLS[0].color[:3], atol=0.01)
    middle = found[side // 5 : side // 3, 6 * side // 10 : 9 * side // 10]
    assert (middle.astype(int).sum(axis=2) < 150).any()  # dark figures
    hidden = draw(small=True)
    hidden.axes[0].artists[0].set_visible(False)
    assert (pixels(hidden) == 255).all()
