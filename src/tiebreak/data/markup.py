# SPDX-License-Identifier: BSD-3-Clause
"""Text of other people in HTML, SVG, JSON and tables: always text, never markup.

Everything that reports and notebooks show goes through one of these functions.
"""

import html
import io
import json
import re
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console, Group
from rich.containers import Lines
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

# Characters that XML forbids, lone surrogates that UTF-8 cannot write, and the other
# control characters, which have no picture.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Marks that change the direction of the text that follows them.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"[\t\n\u2028\u2029]")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_MARK = "\ufffd"  # the replacement character

_LONGEST = 60


def clean(text: Any) -> str:
    r"""Give text that every format can hold, on one line."""
    return _UNPRINTABLE.sub(_MARK, _SPACES.sub(" ", str(text).replace("\r\n", " ")))


def shorten(text: Any, most: int = _LONGEST) -> str:
    """Give clean text of at most `most` characters, its middle left out."""
    whole = clean(text)
    if len(whole) <= most:
        return whole
    tail = max(1, (most - 1) // 3)
    return f"{whole[: most - 1 - tail]}…{whole[-tail:]}"


def isolate(text: Any, most: int = _LONGEST) -> str:
    """Shorten a name for use inside a sentence of any text direction."""
    short = _DIRECTIONS.sub(_MARK, shorten(text, most))
    return short if short.isascii() else f"{_ISOLATE}{short}{_END_ISOLATE}"


# After a space, a hyphen and the like, and after a dot that is in no number.
_BREAK = re.compile(r"(?<=[\s\-_/:,])(?=\S)|(?<=\.)(?=[^\W\d])")


class Name(Text):
    """A name in a table of the terminal, broken between words if it must be.

    Words end at spaces, hyphens, slashes and the like; only a word wider than the
    column is cut.
    """

    def lines(self, width: int) -> list[str]:
        """Give the lines of the name in a column of some width."""
        lines = [""]
        for piece in _BREAK.split(self.plain):
            if cell_len((lines[-1] + piece).rstrip()) > width and lines[-1]:
                lines.append("")
            if cell_len(piece.rstrip()) > width:
                *full, piece = chop_cells(piece, width)
                lines[-1:] = [*full, ""]
            lines[-1] += piece
        return [line.rstrip() for line in lines]

    def wrap(self, console: Console, width: int, *args: Any, **options: Any) -> Lines:
        """Give the lines to a table."""
        lines = Lines(Text(line, self.style) for line in self.lines(width))
        for line in lines:
            line.pad_right(width - line.cell_len)
        return lines


def visible(text: Any) -> str:
    """Give clean text without marks that change the text direction."""
    return _DIRECTIONS.sub(_MARK, clean(text))


def escape(text: Any) -> str:
    """Give clean text for HTML and SVG, between tags or inside quotes."""
    return html.escape(clean(text), quote=True)


def element(tag: str, content: str = "", **attributes: Any) -> str:
    """Write an element, its attributes escaped."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{tag}{written}>{content}</{tag}>"


def as_json(value: Any) -> str:
    r"""Write JSON that can stand inside a ``script`` element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def results_text(part: Any, width: int) -> str:
    """Write what the terminal shows as plain text, without colors."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None, markup=False, emoji=False).print(
        part
    )
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().splitlines())


def results_html(*parts: Any) -> str:
    """Show rich texts, tables, and their groups in a notebook, for ``_repr_html_``."""
    return element("div", "".join(map(_part_html, parts)))


def _part_html(part: Any) -> str:
    if isinstance(part, Panel):
        return _part_html(part.renderable)
    if isinstance(part, Group):
        return "".join(map(_part_html, part.renderables))
    if not isinstance(part, Table):
        return element("p", _text_html(part)) if str(part) else ""
    # Text without a heading is a picture made of characters.
    align = [
        f"text-align:{column.justify}"
        + ";white-space:pre;font-family:monospace"
        * (column.justify == "left" and not str(column.header))
        for column in part.columns
    ]
    headings = [
        element("th", _text_html(column.header), style=style)
        for column, style in zip(part.columns, align, strict=True)
    ]
    rows = [
        "".join(
            element("td", _text_html(cell), style=style)
            for cell, style in zip(cells, align, strict=True)
        )
        for cells in zip(*(column.cells for column in part.columns), strict=True)
    ]
    head = element("thead", element("tr", "".join(headings))) * part.show_header
    body = element("tbody", "".join(element("tr", row) for row in rows))
    caption = "" if part.caption is None else element("p", _text_html(part.caption))
    return element("table", head + body) + caption


def _text_html(text: Any) -> str:
    """Write a text in its own direction, isolated from the rest."""
    plain = visible(text)
    written = escape(plain) if plain.isascii() else element("bdi", escape(plain))
    bold = isinstance(text, Text) and "bold" in str(text.style)
    return element("strong", written) if bold else written
