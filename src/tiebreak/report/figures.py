# SPDX-License-Identifier: BSD-3-Clause
"""Figures of matplotlib as SVG that can stand inside a page.

Matplotlib writes SVG for files: with style attributes and a style sheet, which a strict
Content-Security-Policy forbids; with ids that several figures share; in black on
white. What is done here makes it part of a page: attributes instead of styles, ids with
a prefix, a title and a description for hover and screen readers, and classes by which
the style sheet of the page gives every color a light and a dark value.

Hundreds of small cells with numbers, drawn by one artist.

Every text of matplotlib is laid out by itself, which for the cells of a large matrix
takes seconds. The numbers in cells are short and stand in the middle, so there is
nothing to lay out: one artist hands all of them to the renderer, in groups that carry
the ids by which a page finds them.

Ticks of logarithmic axes as plain numbers.

Matplotlib writes powers of ten as mathematics, but texts of our figures are never
mathematics, because names of items may hold dollar signs.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from tiebreak.report.markup import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


# Okabe and Ito's blue and orange: told apart with every common color blindness.
BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#000000", "#767676"
# The style sheet has the classes f- (fill) and s- (stroke) of these colors.
_CLASSES = {BLUE: "blue", ORANGE: "orange", INK: "ink", GREY: "grey"}

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
# What matplotlib states as a style sheet for all elements.
_EVERYWHERE = {"stroke-linejoin": "round", "stroke-linecap": "butt"}
_DROPPED = {"metadata", "style"}


@contextmanager
def figure_settings(salt: str = "tiebreak") -> Iterator[None]:
    """Draw with our settings, whatever those of the user are.

    Parameters
    ----------
    salt : str, default="tiebreak"
        Makes the ids of a figure the same in every run.

    Notes
    -----
    Names such as ``$x^2$`` are text, not mathematics. Characters that no installed
    font has are no reason for a warning: the reader's browser has its own fonts.
    """
    import matplotlib

    settings: dict[Any, Any] = {
        "text.parse_math": False,
        "text.usetex": False,
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": 10.0,
        "axes.unicode_minus": True,
    }
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        yield


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Give the axes to draw on: those of the caller, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes or None
        The caller's.
    width, height : float
        Of a new figure, in inches. It is made without pyplot, so it needs no display
        and no closing.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def figure_svg(
    figure: Figure,
    prefix: str,
    title: str,
    description: str,
    hovers: Mapping[str, str] | None = None,
    names: Sequence[tuple[str, str]] = (),
) -> str:
    """Write a figure as an SVG element of a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write; drawn inside :func:`figure_settings`.
    prefix : str
        Begins every id, so that figures of one page do not collide.
    title, description : str
        For hover and for screen readers.
    hovers : mapping of str to str, optional
        Titles of parts of the figure, by the ``gid`` of the artist.
    names : sequence of (shown, whole)
        Texts that were shortened, with what they stand for; shown on hover.

    Returns
    -------
    str
        Without style attributes, scripts, dates, or references to anything outside.
    """
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
    file = io.StringIO()
    with figure_settings(prefix):
        figure.savefig(
            file,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    written = file.getvalue()
    root = ElementTree.fromstring(written[written.index("<svg") :])
    return _inline(root, prefix, title, description, hovers or {}, dict(names))


def _inline(
    root: ElementTree.Element,
    prefix: str,
    title: str,
    description: str,
    hovers: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(_SVG) in _DROPPED:
                parent.remove(child)
    for part in root.iter():
        part.tag = part.tag.removeprefix(_SVG)
        identity = part.get("id", "")
        _plain_attributes(part, prefix)
        if identity == "quiet":
            # What lies under a text of this id is what the pointer points at.
            part.set("pointer-events", "none")
        elif identity in hovers:
            _add_title(part, hovers[identity])
        elif part.tag == "text" and (part.text or "") in names:
            _add_title(part, names[part.text or ""])
    _forget_unused_ids(root)
    _unwrap(root)
    width, height = root.get("width"), root.get("height")
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= _EVERYWHERE
    root.attrib |= {
        "class": "chart",
        "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-desc",
        # The picture may shrink with the page; its shape is known before it is drawn.
        "data-size": f"{width} {height}",
    }
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        label = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
        label.text = clean(text)
        root.insert(place, label)
    return ElementTree.tostring(root, encoding="unicode")


def _add_title(part: ElementTree.Element, text: str) -> None:
    title = ElementTree.Element("title")
    title.text = clean(text)
    if part.tag == "text":  # its own words come before those of its children
        title.tail, part.text = part.text, None
    part.insert(0, title)


def _plain_attributes(part: ElementTree.Element, prefix: str) -> None:
    """Turn styles to attributes, prefix ids, round numbers, name colors."""
    given = dict(part.attrib)
    part.attrib.clear()
    for declaration in given.pop("style", "").split(";"):
        name, _, value = (text.strip() for text in declaration.partition(":"))
        if name == "font":
            # "italic bold 10px 'A', 'B'": families are up to the page.
            size = re.search(r"([\d.]+)px", value)
            given["font-size"] = size.group(1) if size else "10"
            if re.search(r"\b(bold|[6-9]00)\b", value.split("px")[0]):
                given["font-weight"] = "bold"
        elif name and not name.startswith(("font-family", "font-stretch", "-")):
            given[name] = value
    if part.tag in ("text", "use") and "fill" not in given:
        given["fill"] = INK  # matplotlib leaves out what is the default of SVG
    classes = []
    for name, value in given.items():
        if name in ("fill", "stroke") and value.lower() in _CLASSES:
            classes.append(f"{name[0]}-{_CLASSES[value.lower()]}")
        if name == "id":
            value = f"{prefix}-{value}"
        elif name in (_HREF, "href"):
            name, value = "href", value.replace("#", f"#{prefix}-", 1)
        elif name in ("d", "transform", "x", "y", "cx", "cy", "font-size", "points"):
            value = _NUMBER.sub(_two_digits, " ".join(value.split()))
        else:
            value = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
        if name.startswith("{") or (name == "stroke-linejoin" and value == "miter"):
            continue
        part.set(name, value)
    if classes:
        part.set("class", " ".join(classes))


def _two_digits(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


def _forget_unused_ids(root: ElementTree.Element) -> None:
    used: set[str] = set()
    for part in root.iter():
        used.add(part.get("href", "").removeprefix("#"))
        for value in part.attrib.values():
            used.update(_REFERENCE.findall(value))
    for part in root.iter():
        if part.get("id") not in used:
            part.attrib.pop("id", None)


def _unwrap(parent: ElementTree.Element) -> None:
    """Take away groups that say nothing."""
    children: list[Any] = []
    for child in parent:
        _unwrap(child)
        bare = child.tag == "g" and not child.attrib
        titled = any(part.tag == "title" for part in child)
        if bare and not titled:
            children.extend(child)
        else:
            children.append(child)
        child.tail = child.tail if parent.tag == "text" else None
    if parent.tag not in ("text", "title", "desc"):
        parent.text = None
    parent[:] = children


_INK = "#161616"
_HALF = 0.47  # of the side of a cell; the rest is the gap
_SQUARE = np.array(
    [(-_HALF, -_HALF), (_HALF, -_HALF), (_HALF, _HALF), (-_HALF, _HALF), (0.0, 0.0)]
)
_OUTLINE = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
_FOOT, _REACH = 0.4, 0.42  # where the line lies, and half its greatest length
_DIGIT = 0.73  # height of a digit, in units of the size of its font


class Cell(NamedTuple):
    """What stands in one cell.

    Attributes
    ----------
    row, column : int
        Where it is.
    gid : str
        Its id in the picture.
    text, fine : str
        The number in it, and a smaller line below it or nothing.
    color : tuple of four float
        Behind them.
    line : float
        How long the line at its foot is, between 0 and 1.
    """

    row: int
    column: int
    gid: str
    text: str
    fine: str
    color: tuple[float, ...]
    line: float = 0.0


class Cells(Artist):
    """Cells of a matrix, cell (i, j) around the point (j, i) of the axes.

    Parameters
    ----------
    cells : sequence of Cell
        What to draw.
    small : bool
        Whether there is room for one number only.
    """

    def __init__(self, cells: Sequence[Cell], *, small: bool) -> None:
        super().__init__()
        self.cells = cells
        self.small = small
        self.set_in_layout(False)  # inside the axes, whose size is known

    @allow_rasterization
    def draw(self, renderer: Any) -> None:
        """Draw all cells.

        Parameters
        ----------
        renderer : matplotlib renderer
            Of any backend.
        """
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
    """Write the numbers of a logarithmic axis as text.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Its scale has been set to ``"log"``.
    """
    axis.set_major_formatter(PlainLogFormatter())
    axis.set_minor_formatter(PlainLogFormatter())
