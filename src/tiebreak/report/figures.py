# SPDX-License-Identifier: BSD-3-Clause
"""Figures of matplotlib as SVG inside a page; the colors and axes to draw with.

Matplotlib writes SVG for files: with style attributes and a style sheet, which a strict
Content-Security-Policy forbids; with ids that several figures share; in black on
white. What is done here makes it part of a page: attributes instead of styles, ids with
a prefix, a title and a description for hover and screen readers, and classes by which
the style sheet of the page gives every color a light and a dark value.

Nothing here imports matplotlib before something is drawn.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Self
from xml.etree import ElementTree

from sklearn.utils.validation import check_is_fitted

from tiebreak.data.markup import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    """Draw with our settings, whatever those of the user are."""
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
    """Give the axes to draw on: those of the caller, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def tidy_axes(
    axes: Axes, *hidden: str, grid: Literal["both", "x"] | None = "both"
) -> Axes:
    """Draw a faint grid, and hide some sides of the frame."""
    if grid is not None:
        axes.grid(axis=grid, color=GREY, alpha=0.3, linewidth=0.6)
    for side in hidden:
        axes.spines[side].set_visible(False)
    return axes


class Display:
    """A picture of a few numbers, which ``plot`` draws.

    The class methods ``from_estimator``, ``from_predictions`` and others compute the
    numbers and draw them.
    """

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default on a new figure, made without pyplot, which notebooks
            show.

        Returns
        -------
        Self
        """
        self.ax_ = self._draw(ax)
        self.figure_ = self.ax_.get_figure(root=True)  # type: ignore[assignment]
        self._is_new = ax is None
        return self

    def _draw(self, ax: Any) -> Axes:
        """Draw on axes, or on new ones, and return them."""
        raise NotImplementedError

    def _repr_png_(self) -> bytes | None:
        """Show a figure of our own in a notebook; others belong to who made them."""
        if not getattr(self, "_is_new", False):
            return None
        file = io.BytesIO()
        self.figure_.savefig(file, format="png")
        return file.getvalue()


def fitted_model(estimator: Any, attribute: str, kinds: str) -> Any:
    """Give the model inside searches and pipelines, which must have an attribute."""
    check_is_fitted(estimator)
    while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
        found = getattr(estimator, "best_estimator_", None)
        estimator = estimator.steps[-1][1] if found is None else found
    if not hasattr(estimator, attribute):
        raise TypeError(
            f"This picture needs {attribute}, which {kinds} have; "
            f"{type(estimator).__name__} has none."
        )
    return estimator


def figure_svg(
    figure: Figure,
    prefix: str,
    title: str,
    description: str,
    hovers: Mapping[str, str] | None = None,
    names: Sequence[tuple[str, str]] = (),
) -> str:
    """Write a figure as an SVG element of a page.

    `hovers`: texts by the id of an artist; `names`: pairs of a text and its long form.
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
