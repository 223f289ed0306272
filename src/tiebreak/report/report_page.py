# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page that needs nothing else.

The page is built from strings, and every string of the user goes through
:mod:`tiebreak.report.markup`. Its Content-Security-Policy lets run what this file puts
there, by its hash, and nothing else: no other script or style, no request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import os
from importlib import resources

from tiebreak.data.atomic import atomic_path
from tiebreak.report.markup import element, escape, isolate
from tiebreak.report.report_data import ReportData
from tiebreak.report.report_sections import page_sections

__all__ = ["render_report", "write_report"]


def render_report(data: ReportData) -> str:
    """Write a report as HTML.

    Parameters
    ----------
    data : ReportData
        What it says.

    Returns
    -------
    str
        One page without references to anything outside; the same for the same data.

    Examples
    --------
    >>> import polars as pl
    >>> from tiebreak.report import ReportData, render_report
    >>> board = pl.DataFrame({"item": ["Ada", "<b>"], "rating": [1520.0, 1480.0]})
    >>> page = render_report(ReportData("Chess", board))
    >>> "&lt;b&gt;" in page, "<b>" in page
    (True, False)
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    sections = page_sections(data)
    links = "".join(
        element("li", element("a", escape(heading), href=f"#{name}"))
        for name, heading, _ in sections[1:]
    )
    written = [
        element(
            "section",
            element("h2", escape(heading), id=f"{name}-heading") + content,
            id=name,
            aria_labelledby=f"{name}-heading",
        )
        for name, heading, content in sections
    ]
    # Behind the summary: the first screen is for the answer.
    written.insert(1, element("nav", element("ul", links), aria_label="Sections"))
    title = isolate(data.title, 120)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            '<link rel="icon" href="data:,">',
            element("title", escape(title)),
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            element("header", element("h1", escape(title), dir="auto")),
            element("main", "".join(written)),
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def write_report(data: ReportData, path: str | os.PathLike[str]) -> None:
    """Write a report to a file, whole or not at all.

    Parameters
    ----------
    data : ReportData
        What it says.
    path : path
        The file, usually ``report.html``; replaced if it exists.
    """
    page = render_report(data)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _asset(name: str) -> str:
    """Read a file of ours that goes into the page as it is."""
    file = resources.files("tiebreak.report").joinpath("assets", name)
    return file.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
