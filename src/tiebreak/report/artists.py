# SPDX-License-Identifier: BSD-3-Clause
"""Artists of matplotlib: hundreds of small cells with numbers, and plain ticks.

Every text of matplotlib is laid out by itself, which for a large matrix takes seconds.
One artist hands all numbers to the renderer, in groups that carry the ids by which a
page finds them. Powers of ten are written as text, since texts of our figures are never
mathematics: names of items may hold dollar signs.

This module imports matplotlib; import it where something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_INK = "#161616"
_HALF = 0.47  # of the side of a cell; the rest is the gap
_SQUARE = np.array(
    [(-_HALF, -_HALF), (_HALF, -_HALF), (_HALF, _HALF), (-_HALF, _HALF), (0.0, 0.0)]
)
_OUTLINE = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
_FOOT, _REACH = 0.4, 0.42  # where the line lies, and half its greatest length
_DIGIT = 0.73  # height of a digit, in units of the size of its font


class Cell(NamedTuple):
    """What stands in one cell."""

    row: int
    column: int
    gid: str  # by which a page finds the cell
    text: str
    fine: str  # in small figures below the text
    color: tuple[float, ...]
    line: float = 0.0  # at the foot, as a share of the width


class Cells(Artist):
    """Cells of a matrix, cell (i, j) around the point (j, i) of the axes."""

    def __init__(self, cells: Sequence[Cell], *, small: bool) -> None:
        super().__init__()
        self.cells = cells
        self.small = small
        self.set_in_layout(False)  # inside the axes, whose size is known

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw all cells."""
        if not self.get_visible() or not self.cells:
            return
        assert self.axes is not None
        renderer.open_group("cells", self.get_gid())
        gc = renderer.new_gc()
        gc.set_linewidth(0.0)
        large, fine = (7.0, 0.0) if self.small else (9.0, 6.0)
        write = _Writer(renderer)
        to_pixels = self.axes.transData.transform
        middles = to_pixels([(cell.column, cell.row) for cell in self.cells])
        right, up = to_pixels([(1.0, 0.0), (0.0, -1.0)]) - to_pixels([(0.0, 0.0)])
        width, height = right[0], up[1]  # of a cell; rows count downwards
        square = _SQUARE * (width, height)
        for cell, middle in zip(self.cells, middles, strict=True):
            x, y = middle
            renderer.open_group("cell", cell.gid)
            outline = Path(square + middle, _OUTLINE)
            renderer.draw_path(gc, outline, IdentityTransform(), cell.color)
            write(x, y if self.small else y + 0.13 * height, cell.text, large)
            if cell.fine and not self.small:
                write(x, y - 0.2 * height, cell.fine, fine)
            renderer.close_group("cell")
        self._draw_lines(renderer, gc, middles, width, height)
        gc.restore()
        renderer.close_group("cells")
        self.stale = False

    def _draw_lines(
        self,
        renderer: Any,
        gc: Any,
        middles: NDArray[np.float64],
        width: float,
        height: float,
    ) -> None:
        length = np.array([cell.line for cell in self.cells])
        if not length.any():
            return
        x, y = middles[length > 0].T
        reach = _REACH * width * length[length > 0]
        foot = y - _FOOT * height
        ends = np.stack([x - reach, foot, x + reach, foot], axis=1).reshape(-1, 2)
        lines = Path(ends, [Path.MOVETO, Path.LINETO] * len(x))
        gc.set_foreground(_INK)
        gc.set_linewidth(renderer.points_to_pixels(1.2 if self.small else 2.0))
        gc.set_capstyle("butt")
        renderer.draw_path(gc, lines, IdentityTransform())


class _Writer:
    """Writes short texts around points, in pixels from the lower left corner."""

    def __init__(self, renderer: Any) -> None:
        self.renderer = renderer
        self.gc = renderer.new_gc()
        self.gc.set_foreground(_INK)
        self.height = renderer.get_canvas_width_height()[1]
        # Formats that know anchors take the middle from it, not the width we measured.
        self.anchor = Text(ha="center", transform=IdentityTransform())
        self.fonts: dict[float, FontProperties] = {}
        self.widths: dict[tuple[str, float], float] = {}

    def __call__(self, x: float, y: float, text: str, size: float) -> None:
        if size not in self.fonts:
            self.fonts[size] = FontProperties(size=size)
        font = self.fonts[size]
        if (text, size) not in self.widths:
            measured = self.renderer.get_text_width_height_descent(text, font, False)
            self.widths[text, size] = measured[0]
        base = y - 0.5 * _DIGIT * self.renderer.points_to_pixels(size)
        self.anchor.set_position((x, base))
        left = x - 0.5 * self.widths[text, size]
        if self.renderer.flipy():
            base = self.height - base
        self.renderer.draw_text(
            self.gc, left, base, text, font, 0.0, ismath=False, mtext=self.anchor
        )


class PlainLogFormatter(LogFormatter):
    """Write 0.1 instead of 10⁻¹; which ticks are labeled is up to matplotlib."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Give the label of a tick; empty if it has none."""
        return f"{x:g}" if super().__call__(x, pos) else ""


def write_plain_ticks(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis as text."""
    axis.set_major_formatter(PlainLogFormatter())
    axis.set_minor_formatter(PlainLogFormatter())
