# SPDX-License-Identifier: BSD-3-Clause
"""A report as one page that needs nothing else: the frame, then its sections in order.

The page is built from strings, and every string of the user goes through
:mod:`tiebreak.data.markup`. Its Content-Security-Policy lets run what this file puts
there, by its hash, and nothing else: no other script or style, no request to anywhere.

`page_sections` lists the sections. A new chart is drawn in
:mod:`tiebreak.report.charts` and written by the section it belongs to.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data.atomic import atomic_path
from tiebreak.data.markup import (
    as_json,
    clean,
    element,
    escape,
    isolate,
    name_html,
    paragraph,
    scrolling,
    shorten,
)
from tiebreak.ratings.checks.report import count_text, percent, plural
from tiebreak.ratings.leaderboard import rating_digits, short_group
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

MOST_ROWS = 1000
_COLUMNS = [
    *("rank", "item", "rating", "lower", "upper", "rank_best", "rank_worst"),
    *("group", "provisional", "wins", "ties", "losses"),
]
_NOTHING = "–"
_MARGIN = 0.25  # of the axis of intervals, beyond the ratings
_MOST_COMPARED = 2000
_LEVELS = {"problem": "Problem", "warning": "Warning", "note": "Note"}
_METRICS = {
    "accuracy": "Right outcomes",
    "error": "Wrong outcomes",
    "log_loss": "Log loss",
    "brier": "Brier score",
    "rps": "Ranked probability score",
}
_SHARES = {"accuracy", "error"}


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
    written = []
    for name, heading, content in sections:
        label = f"{name}-heading"
        inner = element("h2", escape(heading), id=label) + content
        written.append(element("section", inner, id=name, aria_labelledby=label))
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


def page_sections(data: ReportData) -> list[tuple[str, str, str]]:
    """Write the sections that have data: id, heading and content."""
    tuning = ""
    if data.tuning is not None:
        tuning = tuning_chart(data.tuning, data.tuning_notes)
    sections = [
        ("summary", "Summary", first_screen(data)),
        ("leaderboard", "Leaderboard", _leaderboard(data)),
        ("categories", "By category", _categories(data)),
        ("effects", "What else decides", _effects(data)),
        ("matrix", "Who beats whom", _matrix(data)),
        ("quality", "How good is it?", _quality(data)),
        ("weights", "What matters", _weights(data)),
        ("tuning", "How the settings were chosen", tuning),
        ("history", "Ratings over time", _history(data)),
        ("checks", "Data and warnings", _checks(data)),
        ("compare", "Compare any two", compare_section(data.compare)),
        ("reproduce", "How to reproduce this", _reproduce(data)),
    ]
    return [section for section in sections if section[2]]


def _leaderboard(data: ReportData) -> str:
    n = len(data.leaderboard)
    if not n:
        return ""
    field = (
        element("label", "Search items", for_="search")
        + '<input id="search" type="search" autocomplete="off" spellcheck="false">'
        + element("output", "", id="found", for_="search", aria_live="polite")
    )
    search = element("div", field, class_="search", hidden=True)
    notes = ["Higher ratings are better. Press a heading to sort by it."]
    board = data.leaderboard
    if any(value is not None for value in column(board, "lower")):
        notes.append(
            f"The bar shows where each rating by itself lies with {100 * data.level:g} "
            "% confidence. What is said of ranks and groups holds with that confidence "
            "for all items at once."
        )
    if any(value is not None for value in column(board, "group")):
        notes.append("Items that share a group letter cannot be told apart.")
    if any(column(board, "provisional")):
        notes.append(
            "Provisional items have few results; they stand where the lower end of "
            "their interval puts them."
        )
    if n > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS:,} of {n:,} items are shown.")
    table = leaderboard_table(board, data.level)
    table = scrolling(table, "Leaderboard, can be scrolled", "tall")
    return paragraph(" ".join(notes)) + search + table


_OF_CATEGORY = ("rank", "item", "rating", "lower", "upper", "wins", "ties", "losses")


def _categories(data: ReportData) -> str:
    """Write a plain table for each category, folded up."""
    parts = []
    for name, notes in data.category_notes.items():
        said = "".join(paragraph(note) for note in notes)
        board = data.categories.get(name)
        count = "no leaderboard" if board is None else plural(len(board), "item")
        heading = element("summary", f"{name_html(name)}: {count}")
        table = "" if board is None else _plain(board.select(_OF_CATEGORY))
        parts.append(element("details", heading + said + table))
    return "".join(parts)


def _effects(data: ReportData) -> str:
    if data.effects is None:
        return ""
    said = paragraph(
        "Rating points that a side gains by having it, or by one standard deviation "
        "more of it, with their intervals."
    )
    moves = ""
    if data.moves is not None:
        moved = data.moves.filter(pl.col("moved") != 0)
        text = f"{len(moved):,} of {len(data.moves):,} items have another rank with it."
        moves = paragraph(text) + (_plain(moved) if len(moved) else "")
    return said + _plain(data.effects) + moves


def _plain(table: pl.DataFrame) -> str:
    """Write a table as it is, with rounded numbers."""
    numbers = [kind.is_numeric() for kind in table.dtypes]
    classes = ["number" if number else None for number in numbers]
    heads = "".join(
        element("th", escape(name.replace("_", " ")), scope="col", class_=class_)
        for name, class_ in zip(table.columns, classes, strict=True)
    )
    rows = []
    for row in table.head(MOST_ROWS).iter_rows():
        cells = (
            element("td", _cell(value), class_=class_)
            for value, class_ in zip(row, classes, strict=True)
        )
        rows.append(element("tr", "".join(cells)))
    body = element("thead", element("tr", heads)) + element("tbody", "".join(rows))
    return scrolling(element("table", body, class_="plain"), "Table, can be scrolled")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        text = f"{value:,.1f}" if abs(value) >= 10 or value == 0 else f"{value:.3g}"
        return escape(text.removesuffix(".0"))
    return "–" if value is None else name_html(value)


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
        cells = element("th", label, scope="row") + cells
        rows.append(element("tr", cells, class_=mine))
    head = element("tr", element("th", "Model", scope="col") + heads)
    body = element("thead", head) + element("tbody", "".join(rows))
    table = element("table", body, class_="plain")
    directions = (
        "More right outcomes are better; of every other number, less is better."
    )
    charts = roc_chart(quality) + calibration_chart(quality)
    return (
        _verdict(quality)
        + (paragraph(quality.note) if quality.note else "")
        + scrolling(table, "Quality of predictions, can be scrolled")
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
        heading = element("h3", "What was read, and what was done")
        parts.append(heading + element("ul", said))
    if facts is not None:
        terms = "".join(
            element("div", element("dt", escape(term)) + element("dd", escape(text)))
            for term, text in _fact_texts(facts)
        )
        parts.append(element("dl", terms, class_="facts"))
    order = list(_LEVELS)
    entries.sort(key=lambda entry: order.index(entry[0]))
    if entries:
        listed = ""
        for level, message in entries:
            said = element("span", escape(message), dir="auto")
            line = f"{element('strong', _LEVELS[level])} {said}"
            listed += element("li", line, class_=level)
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
        pairs = f"{facts['n_pairs']:,} of {possible:,} possible"
        texts.append(("Different pairs", pairs))
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


def first_screen(data: ReportData) -> str:
    """Write the summary, for readers who know nothing of the method."""
    cards = [_matters(data), _goodness(data)]
    if len(data.leaderboard):
        cards = [_best(data), _certainty(data)]
    cards.append(_distrust(data))
    sentences = "".join(paragraph(sentence) for sentence in data.summary)
    words = element("div", sentences, class_="words")
    return element("div", "".join(cards), class_="cards") + words


def _card(label: str, value: str, text: str, class_: str = "") -> str:
    head = element("h3", escape(label)) + element("p", value, class_="value")
    class_ = f"card {class_}".strip()
    return element("div", head + element("p", text), class_=class_)


def column(board: pl.DataFrame, name: str) -> list[Any]:
    """Give a column of a leaderboard; None for every item if it has none."""
    return board[name].to_list() if name in board.columns else [None] * len(board)


def _names(items: Iterable[Any], most: int = 3) -> str:
    listed = list(items)
    shown = [name_html(item, 40) for item in listed[:most]]
    more = len(listed) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _placed(board: pl.DataFrame) -> pl.DataFrame:
    """Give the items that have enough results to be placed; all, if none has."""
    if "provisional" not in board.columns or board["provisional"].all():
        return board
    return board.filter(~pl.col("provisional"))


def _is_unplaced(board: pl.DataFrame) -> bool:
    return "provisional" in board.columns and bool(board["provisional"].all())


def _best(data: ReportData) -> str:
    board = _placed(data.leaderboard)
    label = "First place"
    if _is_unplaced(board) or _has_problem(data):
        text = "There are too few results for that."
        if _has_problem(data):
            text = "A problem in the data stands against it."
        return _card(label, "Not known", escape(text))
    ranks = column(board, "rank")
    same = ranks[0] is not None
    first = [
        item
        for item, rank in zip(board["item"], ranks, strict=True)
        if same and rank == ranks[0]
    ]
    first = first or board["item"].to_list()[:1]
    digits = rating_digits(data.leaderboard)
    text = f"Rating {number_text(board['rating'][0], digits)}"
    lower, upper = column(board, "lower")[0], column(board, "upper")[0]
    if lower is not None and upper is not None:
        text += (
            f", with {100 * data.level:g} % confidence between "
            f"{number_text(lower, digits)} and {number_text(upper, digits)}"
        )
    text += f". The highest of {plural(len(board), 'item')}"
    text += "." if len(board) == len(data.leaderboard) else " with enough results."
    label = "First place" if len(first) == 1 else "First place is shared"
    value = name_html(first[0], 40) if len(first) == 1 else _names(first, 2)
    return _card(label, value, escape(text))


def _has_problem(data: ReportData) -> bool:
    return any(finding["level"] == "problem" for finding in data.findings())


def _certainty(data: ReportData) -> str:
    board = _placed(data.leaderboard)
    worst = column(board, "rank_worst")[0]
    label = "How sure is that?"
    if worst is None:
        text = "This method gives no margin of error. Small differences may be chance."
        return _card(label, "Not known", text)
    if _is_unplaced(board) or _has_problem(data):
        return ""
    sure = f"With {100 * data.level:g} % confidence"
    if worst == 1:
        text = f"{sure}, no other item is better."
        return _card(label, "Clearly first", escape(text))
    whole = data.leaderboard
    could = [
        item
        for item, best in zip(whole["item"], whole["rank_best"], strict=True)
        if best == 1
    ]
    text = escape(f"{sure}, any of these could be best: ") + f"{_names(could)}."
    return _card(label, f"{len(could):,} could be best", text)


def _matters(data: ReportData) -> str:
    """Say which features count most, where there is no leaderboard to show."""
    if not data.weights:
        return ""
    (first, weight), *rest = sorted(data.weights, key=lambda pair: -abs(pair[1]))[:3]
    way = "better" if weight >= 0 else "worse"
    text = f"More of it makes an item {way}."
    if rest:
        others = [
            f"{name_html(name, 40)} (more is {'better' if size >= 0 else 'worse'})"
            for name, size in rest
        ]
        verb = "comes" if len(others) == 1 else "come"
        text += f" Then {verb} {' and '.join(others)}."
    return _card("What matters most", name_html(first, 40), text)


def _goodness(data: ReportData) -> str:
    """Say how often held-out results were predicted, and how often without learning."""
    quality = data.quality
    if quality is None:
        return ""
    rows = {str(row["model"]): row for row in quality.rows}
    mine, base = rows.get(quality.model, {}), rows.get(str(quality.baseline), {})
    if mine.get("accuracy") is None:
        return ""
    text = "This is how often it named the right outcome of results it had not seen."
    if base.get("accuracy") is not None:
        share = percent(base["accuracy"])
        text += f" Always naming the most common outcome is right in {share}."
    loss, trivial = mine.get("log_loss"), base.get("log_loss")
    if loss is not None and trivial is not None:
        how = "better" if loss < trivial else "no better"
        text += (
            f" Its probabilities are {how} than knowing only how often each outcome "
            "occurs."
        )
    label = "How good is it?"
    return _card(label, escape(f"{percent(mine['accuracy'])} right"), escape(text))


def _distrust(data: ReportData) -> str:
    findings = data.findings()
    problems = [f["message"] for f in findings if f["level"] == "problem"]
    warnings = [f["message"] for f in findings if f["level"] == "warning"]
    warnings = [*data.warnings, *warnings]
    label = "What should I distrust?"
    if not problems and not warnings:
        text = "The data were checked, and nothing in them asks for caution."
        if data.checks is None:
            text = "Nothing came up. Items that are known by features are not checked."
        return _card(label, "Nothing found", escape(text))
    counts = [plural(len(problems), "problem")] if problems else []
    counts += [plural(len(warnings), "warning")] if warnings else []
    first = escape(_beginning([*problems, *warnings][0]))
    link = element("a", "All checks and warnings", href="#checks")
    text = f"{first} {link}"
    kind = "problem" if problems else "warning"
    return _card(label, escape(" and ".join(counts)), text, kind)


def _beginning(text: str, most: int = 200) -> str:
    """Give the first sentences of a text, as many as there is room for."""
    whole = clean(text)
    if len(whole) <= most:
        return whole
    end = whole.rfind(". ", 0, most)
    return whole[: end + 1] if end > 0 else whole[: most - 1].rstrip() + "…"


def number_text(value: float | None, digits: int) -> str:
    """Write a rating with a true minus sign."""
    if value is None or math.isnan(value):
        return _NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    # "-0" is not a number that people write.
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def leaderboard_table(board: pl.DataFrame, level: float) -> str:
    """Write the table."""
    digits = rating_digits(board)
    shown = board.head(MOST_ROWS)
    missing = [pl.lit(None).alias(name) for name in _COLUMNS if name not in board]
    shown = shown.with_columns(missing)
    sure = shown["lower"].is_not_null().any()
    ranked = shown["rank_best"].is_not_null().any()
    lettered = shown["group"].is_not_null().any()
    counted = shown["wins"].is_not_null().any()
    heads = [_head("Rank", "number", "ascending"), _head("Item", "text")]
    heads.append(_head("Rating", "number"))
    if sure:
        # Sorted by its lower end: who is good for sure.
        each = f"{100 * level:g} % interval of each"
        heads.append(_head(each, "number", class_="wide-cell"))
    if ranked:
        heads.append(_head("Could be rank", "number"))
    if lettered:
        heads.append(_head("Group", "text"))
    if counted:
        heads += [_head(name, "number") for name in ("Won", "Tied", "Lost")]
    scale = _Scale(shown)
    rows = []
    for place, row in enumerate(shown.iter_rows(named=True), start=1):
        cells = [
            _number(row["rank"] or place, str(row["rank"] or place)),
            _item(row),
            _number(row["rating"], number_text(row["rating"], digits)),
        ]
        if sure:
            cells.append(_interval(row, scale, digits))
        if ranked:
            cells.append(_ranks(row))
        if lettered:
            cells.append(_group(row["group"]))
        if counted:
            cells += [_count(row[name]) for name in ("wins", "ties", "losses")]
        rows.append(element("tr", "".join(cells)))
    head = element("thead", element("tr", "".join(heads)))
    return element("table", head + element("tbody", "".join(rows)), id="board")


def _item(row: dict[str, Any]) -> str:
    name = name_html(row["item"])
    if row["provisional"]:
        name += element("small", " provisional")
    return element("th", name, scope="row", class_="item")


def _head(
    text: str, kind: str, order: str | None = None, class_: str | None = None
) -> str:
    button = element("button", escape(text), type="button")
    names = {"data_kind": kind, "aria_sort": order or "none"}
    class_ = " ".join(filter(None, (kind, class_)))
    return element("th", button, scope="col", **names, class_=class_)


def _value(value: float | None) -> str | None:
    """Give a number for sorting, with all its digits; None sorts last."""
    if value is None or math.isnan(value):
        return None
    return f"{value:.10g}".replace("inf", "Infinity")


def _number(value: float | None, text: str) -> str:
    return element("td", escape(text), data_v=_value(value), class_="number")


def _count(value: float | None) -> str:
    return _number(value, _NOTHING if value is None else count_text(value))


class _Scale:
    """Places of ratings on a common axis from 0 to 100."""

    def __init__(self, board: pl.DataFrame) -> None:
        values = {}
        for name in ("lower", "rating", "upper"):
            column = board[name].cast(pl.Float64)
            values[name] = column.filter(column.is_finite()).to_list()
        ratings = values["rating"] or [0.0, 1.0]
        worst, best = min(ratings), max(ratings)
        margin = _MARGIN * (best - worst) if best > worst else math.inf
        self.low = max(min([worst, *values["lower"]]), worst - margin)
        high = min(max([best, *values["upper"]]), best + margin)
        self.span = (high - self.low) or 1.0

    def place(self, value: float) -> str:
        x = min(max(100 * (value - self.low) / self.span, 0.0), 100.0)
        return f"{x:.1f}".removesuffix(".0")


def _interval(row: dict[str, Any], scale: _Scale, digits: int) -> str:
    lower, upper = row["lower"], row["upper"]
    if lower is None or upper is None:
        return element("td", _NOTHING, class_="number")
    start, middle, end = (scale.place(row[n]) for n in ("lower", "rating", "upper"))
    bar = (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" '
        f'aria-hidden="true"><path class="range" d="M{start} 5H{end}"/>'
        f'<path class="dot" d="M{middle} 1V9"/></svg>'
    )
    text = f"{number_text(lower, digits)} to {number_text(upper, digits)}"
    label = element("span", text, class_="ends")
    both = element("div", label + bar)
    return element("td", both, data_v=_value(lower), class_="interval")


def _ranks(row: dict[str, Any]) -> str:
    best, worst = row["rank_best"], row["rank_worst"]
    if best is None or worst is None:
        return _number(None, _NOTHING)
    text = str(best) if best == worst else f"{best}–{worst}"
    # Equal beginnings are put in order by their ends.
    return _number(best + worst / 1e6, text)


def _group(group: str | None) -> str:
    letters = str(group or _NOTHING)
    short = short_group(letters)
    whole = letters if short != letters else None
    return element("td", escape(short), title=whole, class_="group")


def compare_section(compare: CompareData | None) -> str:
    """Write the section "compare any two", and the numbers that its script reads."""
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
    kind = "application/json"
    data_block = element("script", as_json(content), type=kind, id="strengths")
    inner = element("div", form + live + bar + table, id="comparer", hidden=True)
    fallback = paragraph("Comparing two items needs JavaScript in the browser.")
    return notes + inner + element("noscript", fallback) + data_block


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
