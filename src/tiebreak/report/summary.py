# SPDX-License-Identifier: BSD-3-Clause
"""The first screen: who is best, how sure that is, and what to distrust."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import polars as pl

from tiebreak.ratings.checks.report import count_text, percent, plural
from tiebreak.ratings.leaderboard.text import rating_digits
from tiebreak.report.data import ReportData
from tiebreak.report.markup import clean, element, escape, name_html, paragraph

MOST_ROWS = 1000
_LONGEST_GROUP = 12
_COLUMNS = [
    *("rank", "item", "rating", "lower", "upper", "rank_best", "rank_worst"),
    *("group", "wins", "ties", "losses"),
]
_NOTHING = "–"
_MARGIN = 0.25  # of the axis of intervals, beyond the ratings


def number_text(value: float | None, digits: int) -> str:
    """Write a rating with a true minus sign.

    Parameters
    ----------
    value : float or None
        What to write.
    digits : int
        Decimals.

    Returns
    -------
    str
        A dash if there is no number.

    Examples
    --------
    >>> number_text(-12.34, 1), number_text(None, 0)
    ('−12.3', '–')
    """
    if value is None or math.isnan(value):
        return _NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    # "-0" is not a number that people write.
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def leaderboard_table(board: pl.DataFrame, level: float) -> str:
    """Write the table.

    Parameters
    ----------
    board : polars.DataFrame
        The leaderboard, best first.
    level : float
        Confidence of the intervals.

    Returns
    -------
    str
        HTML.
    """
    digits = rating_digits(board)
    shown = board.head(MOST_ROWS)
    missing = [
        pl.lit(None).alias(name) for name in _COLUMNS if name not in board.columns
    ]
    shown = shown.with_columns(missing)
    sure = shown["lower"].is_not_null().any()
    ranked = shown["rank_best"].is_not_null().any()
    counted = shown["wins"].is_not_null().any()
    heads = [_head("Rank", "number", "ascending"), _head("Item", "text")]
    heads.append(_head("Rating", "number"))
    if sure:
        # Sorted by its lower end: who is good for sure.
        heads.append(_head(f"{100 * level:g} % interval", "number", class_="wide-cell"))
    if ranked:
        heads += [_head("Could be rank", "number"), _head("Group", "text")]
    if counted:
        heads += [_head(name, "number") for name in ("Won", "Tied", "Lost")]
    scale = _Scale(shown)
    rows = []
    for place, row in enumerate(shown.iter_rows(named=True), start=1):
        cells = [
            _number(row["rank"] or place, str(row["rank"] or place)),
            element("th", name_html(row["item"]), scope="row", class_="item"),
            _number(row["rating"], number_text(row["rating"], digits)),
        ]
        if sure:
            cells.append(_interval(row, scale, digits))
        if ranked:
            cells += [_ranks(row), _group(row["group"])]
        if counted:
            cells += [_count(row[name]) for name in ("wins", "ties", "losses")]
        rows.append(element("tr", "".join(cells)))
    return element(
        "table",
        element("thead", element("tr", "".join(heads)))
        + element("tbody", "".join(rows)),
        id="board",
    )


def _head(
    text: str, kind: str, order: str | None = None, class_: str | None = None
) -> str:
    button = element("button", escape(text), type="button")
    return element(
        "th",
        button,
        scope="col",
        data_kind=kind,
        aria_sort=order or "none",
        class_=" ".join(filter(None, (kind, class_))),
    )


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
    """Places of ratings on a common axis from 0 to 100.

    It holds all ratings. Intervals may reach a quarter beyond them; what is longer ends
    at the edge, because an item of which nothing is known would make all others dots.
    """

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
    short = letters
    if len(letters) > _LONGEST_GROUP:
        parts = letters.split(" ")
        short = f"{parts[0]}…{parts[-1]}"
    whole = letters if short != letters else None
    return element("td", escape(short), title=whole, class_="group")


def first_screen(data: ReportData) -> str:
    """Write the summary, for readers who know nothing of the method.

    Parameters
    ----------
    data : ReportData
        What to say.

    Returns
    -------
    str
        HTML: three cards, then the sentences of the caller.
    """
    cards = []
    if len(data.leaderboard):
        cards += [_best(data), _certainty(data)]
    else:
        cards += [_matters(data), _goodness(data)]
    cards.append(_distrust(data))
    sentences = "".join(paragraph(sentence) for sentence in data.summary)
    return element("div", "".join(cards), class_="cards") + element(
        "div", sentences, class_="words"
    )


def _card(label: str, value: str, text: str, class_: str = "") -> str:
    return element(
        "div",
        element("h3", escape(label))
        + element("p", value, class_="value")
        + element("p", text),
        class_=f"card {class_}".strip(),
    )


def column(board: pl.DataFrame, name: str) -> list[Any]:
    """Give a column of a leaderboard; None for every item if it has none.

    Parameters
    ----------
    board : polars.DataFrame
        The leaderboard.
    name : str
        Which column.

    Returns
    -------
    list
    """
    return board[name].to_list() if name in board.columns else [None] * len(board)


def _names(items: Iterable[Any], most: int = 3) -> str:
    listed = list(items)
    shown = [name_html(item, 40) for item in listed[:most]]
    more = len(listed) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _best(data: ReportData) -> str:
    board = data.leaderboard
    ranks = column(board, "rank")
    first = [item for item, rank in zip(board["item"], ranks, strict=True) if rank == 1]
    first = first or board["item"].to_list()[:1]
    digits = rating_digits(board)
    text = f"Rating {number_text(board['rating'][0], digits)}"
    lower, upper = column(board, "lower")[0], column(board, "upper")[0]
    if lower is not None and upper is not None:
        text += (
            f", with {100 * data.level:g} % confidence between "
            f"{number_text(lower, digits)} and {number_text(upper, digits)}"
        )
    text += f". The best of {plural(len(board), 'item')}."
    label = "First place" if len(first) == 1 else "First place is shared"
    value = name_html(first[0], 40) if len(first) == 1 else _names(first, 2)
    return _card(label, value, escape(text))


def _certainty(data: ReportData) -> str:
    board = data.leaderboard
    worst = column(board, "rank_worst")[0]
    label = "How sure is that?"
    if worst is None:
        return _card(
            label,
            "Not known",
            "This method gives no margin of error. Small differences may be chance.",
        )
    sure = f"With {100 * data.level:g} % confidence"
    if worst == 1:
        text = f"{sure}, no other item is better."
        return _card(label, "Clearly first", escape(text))
    text = escape(f"{sure}, its true rank is anywhere from 1 to {worst:,}.")
    text += f" Closest behind: {_names(board['item'][1:worst].to_list())}."
    return _card(label, f"Rank 1 to {worst:,}", text)


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
    """Say how often held-out results were foretold, and how often without learning."""
    quality = data.quality
    if quality is None:
        return ""
    rows = {str(row["model"]): row for row in quality.rows}
    mine, base = rows.get(quality.model, {}), rows.get(str(quality.baseline), {})
    if mine.get("accuracy") is None:
        return ""
    text = "This is how often it named the right outcome of results it had not seen."
    if base.get("accuracy") is not None:
        text += (
            " Always naming the most common outcome is right in "
            f"{percent(base['accuracy'])}."
        )
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
    doubts = [f["message"] for f in findings if f["level"] == "warning"]
    doubts = [*data.warnings, *doubts]
    label = "What should I distrust?"
    if not problems and not doubts:
        text = "The data were checked, and nothing in them asks for caution."
        if data.checks is None:
            text = "Nothing came up. Items that are known by features are not checked."
        return _card(label, "Nothing found", escape(text))
    counts = [plural(len(problems), "problem")] if problems else []
    counts += [plural(len(doubts), "warning")] if doubts else []
    first = escape(_beginning([*problems, *doubts][0]))
    link = element("a", "All checks and warnings", href="#checks")
    text = f"{first} {link}"
    kind = "problem" if problems else "warning"
    return _card(label, escape(" and ".join(counts)), text, kind)


def _beginning(text: str, most: int = 200) -> str:
    """Give the first sentences of a text, as many as there is room for.

    Examples
    --------
    >>> _beginning("One item never lost. Try a penalty.", 25)
    'One item never lost.'
    """
    whole = clean(text)
    if len(whole) <= most:
        return whole
    end = whole.rfind(". ", 0, most)
    return whole[: end + 1] if end > 0 else whole[: most - 1].rstrip() + "…"
