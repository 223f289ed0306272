# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page that needs nothing else.

The page is built from strings, and every string of the user goes through
:mod:`tiebreak.report.markup`. Its Content-Security-Policy lets run what this file puts
there, by its hash, and nothing else: no other script or style, no request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.atomic import atomic_path
from tiebreak.ratings.checks.report import count_text, percent
from tiebreak.report.charts import (
    calibration_chart,
    history_chart,
    matrix_chart,
    picture_chart,
    roc_chart,
    tuning_chart,
    weights_chart,
)
from tiebreak.report.data import CompareData, ReportData
from tiebreak.report.markup import (
    as_json,
    element,
    escape,
    isolate,
    name_html,
    paragraph,
    shorten,
)
from tiebreak.report.summary import MOST_ROWS, column, first_screen, leaderboard_table

_MOST_COMPARED = 2000


def compare_section(compare: CompareData | None) -> str:
    """Write the section "compare any two", and the numbers that its script reads.

    Parameters
    ----------
    compare : CompareData or None
        Items and strengths; at most 2,000 can be chosen from.

    Returns
    -------
    str
        HTML; empty if there are no two items.
    """
    if compare is None or len(compare.names) < 2:
        return ""
    names = _distinct_names(compare.names[:_MOST_COMPARED])
    certain = math.isinf(compare.tie)
    content = {
        "names": names,
        "strengths": _rounded(compare.strengths, len(names)),
        "link": compare.link,
        "tie": None if certain else float(compare.tie),  # None: a tie is certain
        "advantage": compare.advantage,
    }
    if compare.doubts is not None:
        content["doubts"] = _rounded(compare.doubts, len(names))
    notes = ""
    if len(compare.names) > len(names):
        notes = paragraph(
            f"The first {len(names):,} of {len(compare.names):,} items can be compared."
        )
    fields = "".join(
        element("label", label, for_=side)
        + f'<input id="{side}" list="names" autocomplete="off" spellcheck="false" '
        'dir="auto">'
        for side, label in (("left", "Left"), ("right", "Right"))
    )
    if compare.advantage:
        fields += (
            '<label class="check" for="advantage"><input id="advantage" '
            'type="checkbox"> Left has the advantage (at home, first, or white)</label>'
        )
    bar = (
        '<svg id="odds" viewBox="0 0 300 20" preserveAspectRatio="none" '
        'aria-hidden="true"><rect class="f-blue" height="20"/>'
        '<rect class="odds-tie" height="20"/><rect class="f-orange" height="20"/></svg>'
    )
    live = element("p", "", id="verdict", class_="lead", aria_live="polite")
    table = element("div", "", id="chances")
    form = element("div", fields, class_="versus") + '<datalist id="names"></datalist>'
    data_block = element(
        "script", as_json(content), type="application/json", id="strengths"
    )
    inner = element("div", form + live + bar + table, id="comparer", hidden=True)
    fallback = element(
        "noscript", paragraph("Comparing two items needs JavaScript in the browser.")
    )
    return notes + inner + fallback + data_block


def _rounded(values: NDArray[np.float64], count: int) -> list[float]:
    """Write numbers so short that probabilities keep eight digits."""
    return [round(float(value), 8) for value in values[:count]]


def _distinct_names(names: Sequence[Any]) -> list[str]:
    """Shorten names, keeping them apart."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        short = shorten(name, 80)
        seen[short] = seen.get(short, 0) + 1
        found.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return found


_LEVELS = {"problem": "Problem", "warning": "Warning", "note": "Note"}
_METRICS = {
    "accuracy": "Right outcomes",
    "error": "Wrong outcomes",
    "log_loss": "Log loss",
    "brier": "Brier score",
    "rps": "Ranked probability score",
}
_SHARES = {"accuracy", "error"}


def page_sections(data: ReportData) -> list[tuple[str, str, str]]:
    """Write the sections that have data.

    Parameters
    ----------
    data : ReportData
        What to say.

    Returns
    -------
    list of (id, heading, content)
        In order; the content is HTML.
    """
    sections = [
        ("summary", "Summary", first_screen(data)),
        ("leaderboard", "Leaderboard", _leaderboard(data)),
        ("matrix", "Who beats whom", _matrix(data)),
        ("quality", "How good is it?", _quality(data)),
        ("weights", "What matters", _weights(data)),
        ("tuning", "How the settings were chosen", _tuning(data)),
        ("history", "Ratings over time", _history(data)),
        ("checks", "Data and warnings", _checks(data)),
        ("compare", "Compare any two", compare_section(data.compare)),
        ("reproduce", "How to reproduce this", _reproduce(data)),
    ]
    return [section for section in sections if section[2]]


def _scrolling(content: str, label: str, class_: str | None = None) -> str:
    return element(
        "div",
        content,
        class_=f"scroll {class_ or ''}".strip(),
        tabindex="0",
        role="region",
        aria_label=label,
    )


def _leaderboard(data: ReportData) -> str:
    n = len(data.leaderboard)
    if not n:
        return ""
    search = element(
        "div",
        element("label", "Search items", for_="search")
        + '<input id="search" type="search" autocomplete="off" spellcheck="false">'
        + element("output", "", id="found", for_="search", aria_live="polite"),
        class_="search",
        hidden=True,
    )
    notes = ["Higher ratings are better. Press a heading to sort by it."]
    board = data.leaderboard
    if any(value is not None for value in column(board, "lower")):
        notes.append(
            f"The bar shows where the true rating lies with {100 * data.level:g} % "
            "confidence; “could be rank” says the same of the rank."
        )
    if any(value is not None for value in column(board, "group")):
        notes.append("Items that share a group letter cannot be told apart.")
    if n > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS:,} of {n:,} items are shown.")
    table = leaderboard_table(board, data.level)
    return (
        paragraph(" ".join(notes))
        + search
        + _scrolling(table, "Leaderboard, can be scrolled", "tall")
    )


def _matrix(data: ReportData) -> str:
    if data.matrix is None or not data.matrix.games.any():
        return ""
    return matrix_chart(data.matrix)


def _quality(data: ReportData) -> str:
    quality = data.quality
    if quality is None:
        return ""
    names: list[str] = []
    for row in quality.rows:
        names += [name for name in row if name != "model" and name not in names]
    heads = "".join(
        element("th", escape(_METRICS.get(name, name)), scope="col", class_="number")
        for name in names
    )
    rows = []
    for row in quality.rows:
        name = str(row["model"])
        label = name_html(name)
        if name == quality.baseline:
            label += element("small", " baseline: knows nothing of the items")
        cells = "".join(
            element("td", escape(_metric_text(key, row.get(key))), class_="number")
            for key in names
        )
        mine = "mine" if name == quality.model else None
        rows.append(
            element("tr", element("th", label, scope="row") + cells, class_=mine)
        )
    table = element(
        "table",
        element("thead", element("tr", element("th", "Model", scope="col") + heads))
        + element("tbody", "".join(rows)),
        class_="plain",
    )
    directions = (
        "More right outcomes are better; of every other number, less is better."
    )
    charts = roc_chart(quality) + calibration_chart(quality)
    return (
        _verdict(quality)
        + (paragraph(quality.note) if quality.note else "")
        + _scrolling(table, "Quality of predictions, can be scrolled")
        + paragraph(directions, "small")
        + (element("div", charts, class_="pair") if charts else "")
    )


def _verdict(quality: Any) -> str:
    """Say in a sentence how the model compares with knowing nothing."""
    found = {str(row["model"]): row.get("accuracy") for row in quality.rows}
    mine, base = found.get(quality.model), found.get(quality.baseline)
    if mine is None:
        return ""
    text = (
        f"On results that it had not seen, {isolate(quality.model)} named the right "
        f"outcome {percent(mine)} of the time"
    )
    if base is not None:
        text += f"; without knowing the items one gets {percent(base)}"
    return paragraph(f"{text}.", "lead")


def _metric_text(name: str, value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, bool | str) or not isinstance(value, int | float):
        return str(value)
    if name in _SHARES:
        return percent(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _weights(data: ReportData) -> str:
    chart = weights_chart(data.weights) if data.weights else ""
    pictures = (picture_chart(p, i) for i, p in enumerate(data.pictures, start=1))
    return chart + "".join(pictures)


def _tuning(data: ReportData) -> str:
    return "" if data.tuning is None else tuning_chart(data.tuning, data.tuning_notes)


def _history(data: ReportData) -> str:
    if data.history is None or not len(data.history):
        return ""
    items = data.leaderboard["item"].to_list()
    return history_chart(data.history, items, data.history_note)


def _checks(data: ReportData) -> str:
    entries = [("warning", text) for text in data.warnings]
    entries += [(f["level"], f["message"]) for f in data.findings()]
    facts = data.facts()
    if facts is None and not entries and not data.recognized:
        return ""
    parts = []
    if data.recognized:
        said = "".join(
            element("li", element("span", escape(text), dir="auto"))
            for text in data.recognized
        )
        parts.append(
            element("h3", "What was read, and what was done") + element("ul", said)
        )
    if facts is not None:
        terms = "".join(
            element("div", element("dt", escape(term)) + element("dd", escape(text)))
            for term, text in _fact_texts(facts)
        )
        parts.append(element("dl", terms, class_="facts"))
    order = list(_LEVELS)
    entries.sort(key=lambda entry: order.index(entry[0]))
    if entries:
        listed = "".join(
            element(
                "li",
                element("strong", _LEVELS[level])
                + " "
                + element("span", escape(message), dir="auto"),
                class_=level,
            )
            for level, message in entries
        )
        parts.append(element("ul", listed, class_="findings"))
    elif facts is not None:
        parts.append(paragraph("Nothing stands in the way of a rating."))
    return "".join(parts)


def _fact_texts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the data are, from what is there."""
    total = facts.get("n_comparisons") or 0
    texts = []
    if total:
        texts.append(("Comparisons", count_text(total)))
    if facts.get("n_items") is not None:
        texts.append(("Items", f"{facts['n_items']:,}"))
    for name, label in (("left", "Left won"), ("tie", "Ties"), ("right", "Right won")):
        if total and facts.get(name) is not None:
            share = percent(facts[name] / total)
            texts.append((label, f"{count_text(facts[name])} ({share})"))
    if facts.get("n_pairs") is not None and facts.get("n_items", 0) > 1:
        possible = facts["n_items"] * (facts["n_items"] - 1) // 2
        texts.append(
            ("Different pairs", f"{facts['n_pairs']:,} of {possible:,} possible")
        )
    return texts


def _reproduce(data: ReportData) -> str:
    parts = []
    if data.command:
        parts.append(
            paragraph("This command makes the same report from the same data:")
            + element("pre", element("code", escape(data.command)))
        )
    if data.versions:
        listed = ", ".join(f"{name} {text}" for name, text in data.versions.items())
        parts.append(paragraph(f"Made with {listed}."))
    if data.date:
        parts.append(paragraph(f"Date: {data.date}."))
    return "".join(parts)


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
