# SPDX-License-Identifier: BSD-3-Clause
"""The first screen: who is best, how sure that is, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from tiebreak.ratings.leaderboard_text import rating_digits
from tiebreak.ratings.pair_facts import percent, plural
from tiebreak.report.markup import clean, element, escape, name_html, paragraph
from tiebreak.report.report_data import ReportData
from tiebreak.report.report_table import number_text

__all__ = ["column", "first_screen"]


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
