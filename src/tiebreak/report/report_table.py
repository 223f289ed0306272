# SPDX-License-Identifier: BSD-3-Clause
"""The leaderboard of a report: a table that sorts, with intervals drawn in its rows."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from tiebreak.ratings.leaderboard_text import rating_digits
from tiebreak.ratings.pair_facts import count_text
from tiebreak.report.markup import element, escape, name_html

__all__ = ["MOST_ROWS", "leaderboard_table", "number_text"]

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
