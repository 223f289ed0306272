# SPDX-License-Identifier: BSD-3-Clause
"""The sections of a report; one without data is empty."""

from __future__ import annotations

from typing import Any

from tiebreak.ratings.pair_facts import count_text, percent
from tiebreak.report.markup import element, escape, isolate, name_html, paragraph
from tiebreak.report.report_charts import (
    calibration_chart,
    history_chart,
    matrix_chart,
    picture_chart,
    roc_chart,
    tuning_chart,
    weights_chart,
)
from tiebreak.report.report_compare import compare_section
from tiebreak.report.report_data import ReportData
from tiebreak.report.report_summary import column, first_screen
from tiebreak.report.report_table import (
    MOST_ROWS,
    leaderboard_table,
)

__all__ = ["page_sections"]

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
