# SPDX-License-Identifier: BSD-3-Clause
"""The first screen: who is best, how sure that is, and what to distrust."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from tiebreak.ratings.pair_facts import plural
from tiebreak.report.markup import element, escape, name_html, paragraph, shorten
from tiebreak.report.report_data import ReportData
from tiebreak.report.report_table import number_text, rating_digits

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
    digits = rating_digits(board["rating"])
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


def _distrust(data: ReportData) -> str:
    findings = data.findings()
    problems = [f["message"] for f in findings if f["level"] == "problem"]
    doubts = [f["message"] for f in findings if f["level"] == "warning"]
    doubts = [*data.warnings, *doubts]
    label = "What should I distrust?"
    if not problems and not doubts:
        text = "The data were checked, and nothing in them asks for caution."
        if data.checks is None:
            text = "Nothing came up, but the data were not checked."
        return _card(label, "Nothing found", escape(text))
    counts = [plural(len(problems), "problem")] if problems else []
    counts += [plural(len(doubts), "warning")] if doubts else []
    first = escape(shorten([*problems, *doubts][0], 220))
    link = element("a", "All checks and warnings", href="#checks")
    text = f"{first} {link}"
    kind = "problem" if problems else "warning"
    return _card(label, escape(" and ".join(counts)), text, kind)
