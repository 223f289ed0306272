# SPDX-License-Identifier: BSD-3-Clause
"""Let pages of the site be files that live outside ``docs``, with working links.

``CHANGELOG.md``, ``papers/RESULTS.md`` and some others belong where they are, and are
read there too. A page below ``docs`` whose include directive names such a file shows
its text. Links in the text are relative to the file, and links of other pages lead to
the file; both are written anew, so that they lead to the page.
"""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
_FENCE = re.compile(r"^ *(```+|~~~+)")
# Code comes first, so that a link inside code is none.
_LINK = re.compile(r"`[^`]+`|(?<=\]\()([^()\s]+)(?=\))")
_ADDRESS = re.compile(r"[a-z]+:|#|/")


def find_outside_pages(docs: Path) -> dict[Path, Path]:
    """Find the pages that show a file from outside, by the path of that file."""
    root = docs.parent
    found = {}
    for page in sorted(docs.rglob("*.md")):
        for name in _INCLUDE.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / name).resolve()
            if path.is_relative_to(root) and not path.is_relative_to(docs):
                found[path] = page
    return found


def move_links(text: str, home: Path, page: Path, pages: dict[Path, Path]) -> str:
    """Write the links of a text for another place.

    Parameters
    ----------
    text : str
        Markdown.
    home : Path
        The file that its links are relative to.
    page : Path
        The file that they shall be relative to.
    pages : dict
        The page that shows a file, for the files that a page shows.

    Returns
    -------
    str

    Examples
    --------
    >>> root = Path("/project")
    >>> pages = {root / "NEWS.md": root / "docs" / "news.md"}
    >>> design = root / "docs" / "design" / "index.md"
    >>> move_links("[News](../../NEWS.md#new)", design, design, pages)
    '[News](../news.md#new)'
    >>> move_links("![](fig.svg) `[](fig.svg)`", root / "NEWS.md", design, pages)
    '![](../../fig.svg) `[](fig.svg)`'
    """

    def move(match: re.Match[str]) -> str:
        target = match.group(1)
        if target is None or _ADDRESS.match(target):
            return match.group(0)
        name, mark, anchor = target.partition("#")
        path = Path(home.parent, name).resolve()
        shown = pages.get(path) or pages.get(path / "README.md")
        if shown is None and home == page:
            return target
        return relpath(shown or path, page.parent).replace("\\", "/") + mark + anchor

    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found.group(1)
        elif found and found.group(1).startswith(fence):
            fence = ""
        elif not fence:
            line = _LINK.sub(move, line)
        lines.append(line)
    return "".join(lines)


def _read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname)).resolve()
    if page.suffix != ".md":
        return
    pages = find_outside_pages(Path(app.srcdir).resolve())

    def include(match: re.Match[str]) -> str:
        path = (page.parent / match.group(1)).resolve()
        if path not in pages:
            return match.group(0)
        app.env.note_dependency(str(path))
        return move_links(path.read_text(encoding="utf-8"), path, page, pages)

    own = move_links(source[0], page, page, pages)
    source[0] = _INCLUDE.sub(include, own)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", _read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
