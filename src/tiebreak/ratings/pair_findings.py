# SPDX-License-Identifier: BSD-3-Clause
"""Which facts about comparisons are worth a word, and the words.

A problem is what keeps a strength from being learned, a warning what may mislead, a
note what is good to know. Every message says what was found, with names, and what to
try.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import plain_values
from tiebreak.data.messages import list_rows
from tiebreak.ratings.pair_facts import (
    LEVELS,
    Finding,
    RaterFacts,
    count_text,
    percent,
    plural,
)
from tiebreak.ratings.pairs_report import PairsReport

__all__ = ["Named", "find_all"]

_SHOWN = 5
_POSITION_LEVEL = 0.01  # of the test for an effect of position
_SMALL_EFFECT = 0.02  # of position: significant, but no reason for a warning
_ONE_SIDED = 10  # decided comparisons, all won by one side
_FEWEST_TRIADS = 20  # to say anything about their share
_ONE_SIDED_QUANTILE = 1.645  # of the normal distribution, at level 0.05
_WORDS = {-1: "left", 0: "a tie", 1: "right"}


@dataclass(frozen=True, eq=False)
class Named:
    """Names of items, and how to write them.

    Attributes
    ----------
    names : ndarray of shape (N,) or None
        The names.
    numbers : ndarray of int64 of shape (N,)
        Row numbers of the item table, which stand for names where there are none.
    """

    names: NDArray[Any] | None
    numbers: NDArray[np.int64]

    def of(self, codes: Any) -> tuple[Any, ...]:
        """Give the names of items as Python values.

        Parameters
        ----------
        codes : sequence of int
            Which items.

        Returns
        -------
        tuple
        """
        names = self.numbers if self.names is None else self.names
        return tuple(plain_values(names[np.asarray(codes, dtype=np.int64)]))

    def with_counts(
        self,
        codes: NDArray[np.int64],
        counts: NDArray[np.float64],
        most_first: bool = False,
    ) -> tuple[tuple[Any, float], ...]:
        """Give names and counts of items, in order of the counts.

        Parameters
        ----------
        codes : ndarray of int64
            Which items.
        counts : ndarray of shape (N,)
            Counts of all items.
        most_first : bool, default=False
            Whether the order is descending.

        Returns
        -------
        tuple of (name, count)
        """
        key = -counts[codes] if most_first else counts[codes]
        codes = codes[np.argsort(key, kind="stable")]
        return tuple(zip(self.of(codes), counts[codes].tolist(), strict=True))

    def text(self, name: Any) -> str:
        """Write a name, or ``item 3`` if it is a row number.

        Parameters
        ----------
        name : object
            As `of` gives it.

        Returns
        -------
        str
        """
        return f"item {name}" if self.names is None else repr(name)


def find_all(
    report: PairsReport, items: Named, absent: int, runs_away: bool
) -> tuple[Finding, ...]:
    """Find everything that is worth a word.

    Parameters
    ----------
    report : PairsReport
        The facts.
    items : Named
        How to write names.
    absent : int
        Rows of weight 0.
    runs_away : bool
        Whether strengths and the tie parameter can grow together without end.

    Returns
    -------
    tuple of Finding
        Problems first, then warnings, then notes.
    """
    found = [
        *_separation(report, items),
        *_other_problems(report, runs_away),
        *_rows(report, absent),
        *_few_games(report, items),
        *_position(report),
        *_cycles(report, items),
    ]
    if report.raters is not None:
        found += _raters(report.raters)
    return tuple(sorted(found, key=lambda finding: LEVELS.index(finding.level)))


def _separation(report: PairsReport, items: Named) -> Iterator[Finding]:
    outside = tuple(name for group in report.components for name in group)
    if outside:
        groups = plural(len(report.components) + 1, "set")
        yield Finding(
            "problem",
            "disconnected",
            f"The items fall into {groups} that never meet, not even through others; "
            f"outside the largest set are {_list([items.text(n) for n in outside])}. "
            "Strengths of different sets cannot be compared. Add comparisons between "
            "them, or rate each set by itself; a penalty (alpha > 0) centers each set "
            "at 0, by assumption and not by data.",
            outside,
        )
    for code, verb, end, counted in (
        ("undefeated", "won", "grows", report.undefeated),
        ("winless", "lost", "falls", report.winless),
    ):
        if counted:
            its, them = ("its", "it") if len(counted) == 1 else ("their", "them")
            yield Finding(
                "problem",
                code,
                f"{plural(len(counted), 'item')} {verb} all {its} games: "
                f"{_list(_with_games(counted, items))}. Without a penalty {its} "
                f"strength {end} without end. Try alpha > 0, more comparisons, or "
                f"leave {them} out.",
                tuple(name for name, _ in counted),
            )
    for code, verb, groups_ in (
        ("winning_group", "won", report.winning_groups),
        ("losing_group", "lost", report.losing_groups),
    ):
        if groups_:
            names = tuple(name for group in groups_ for name in group)
            lists = [_list([items.text(n) for n in group]) for group in groups_]
            who = "A group of items" if len(groups_) == 1 else "Groups of items"
            yield Finding(
                "problem",
                code,
                f"{who} {verb} every game against the rest: "
                f"{_list([f'({text})' for text in lists], 3)}. How far they are from "
                "the rest cannot be learned without a penalty. Try alpha > 0, or more "
                "comparisons across.",
                names,
            )


def _other_problems(report: PairsReport, runs_away: bool) -> Iterator[Finding]:
    if report.n_comparisons == 0:
        yield Finding(
            "problem",
            "nothing",
            "No two different items are compared, so there is nothing to learn from.",
        )
    elif report.tie == report.n_comparisons:
        yield Finding(
            "warning",
            "only_ties",
            "Every comparison is a tie, so all items are equally strong. Check how the "
            "outcomes were read.",
        )
    if runs_away:
        yield Finding(
            "problem",
            "consistent",
            "The decided comparisons contradict each other nowhere, so strengths and "
            "the tie parameter of a tie model grow together without end. Try "
            "alpha > 0, or more comparisons.",
        )


def _rows(report: PairsReport, absent: int) -> Iterator[Finding]:
    if report.self_rows:
        yield Finding(
            "warning",
            "self_comparison",
            f"{_rows_that(len(report.self_rows), 'compare')} an item with itself: "
            f"{list_rows(report.self_rows)}. Models refuse this; keep the other rows: "
            "pairs[keep] with keep = pairs.left != pairs.right.",
        )
    when = report.periods
    if when is not None and when.unsorted_row is not None:
        yield Finding(
            "warning",
            "unsorted",
            f"Rows are not in order of time: row {when.unsorted_row} is earlier than "
            "the one before it. Ratings over time follow the rows; sort them by period "
            "first.",
        )
    if report.repeated_rows:
        yield Finding(
            "note",
            "repeated",
            f"{_rows_that(report.repeated_rows, 'repeat')} an earlier row: the same "
            f"items and outcome{_also(report)}. Each counts; if it was not another "
            "occasion, remove it.",
        )
    if absent:
        yield Finding(
            "note", "weightless", f"{_rows_that(absent, 'weigh')} 0, so left out."
        )


def _rows_that(count: int, verb: str) -> str:
    return f"{plural(count, 'row')} {verb}{'s' * (count == 1)}"


def _also(report: PairsReport) -> str:
    rater = ", the same rater" if report.raters is not None else ""
    return rater + (", the same period" if report.periods is not None else "")


def _few_games(report: PairsReport, items: Named) -> Iterator[Finding]:
    few = report.few_games
    if few:
        have, them = ("has", "it") if len(few) == 1 else ("have", "them")
        yield Finding(
            "warning",
            "few_games",
            f"{plural(len(few), 'item')} {have} fewer than 3 games: "
            f"{_list(_with_games(few, items))}. A strength learned from so few is "
            f"little more than a guess. Try alpha > 0, or leave {them} out.",
            tuple(name for name, _ in few),
        )


def _position(report: PairsReport) -> Iterator[Finding]:
    position = report.position
    if position is None:
        return
    left = position.side == "left"
    side = "The left side" if left else "The side with the advantage"
    decided = f"{count_text(position.decided)} decided comparisons"
    if position.share in (0.0, 1.0) and position.decided >= _ONE_SIDED:
        verb = "won" if position.share == 1.0 else "lost"
        yield Finding(
            "warning",
            "one_sided",
            f"{side} {verb} all {decided}. If rows name the winner first, position "
            "says nothing: swap sides at random before adding an advantage or "
            "predicting.",
        )
        return
    if position.p_value >= _POSITION_LEVEL:
        return
    small = abs(position.share - 0.5) < _SMALL_EFFECT
    advice = (
        "Try advantage=1 in fit, which learns its size."
        if left
        else "The effect is learned when fit gets the same advantage."
    )
    p_value = "p < 0.001" if position.p_value < 0.001 else f"p = {position.p_value:.3f}"
    yield Finding(
        "warning" if left and not small else "note",
        "position",
        f"{side} won {percent(position.share)} of {decided} ({p_value})"
        f"{': small, but not chance' if small else ''}. {advice}",
    )


def _cycles(report: PairsReport, items: Named) -> Iterator[Finding]:
    cycles = report.cycles
    if (cycles.decided_triads or 0) >= _FEWEST_TRIADS:
        assert cycles.circular_triads is not None
        assert cycles.decided_triads is not None
        n = cycles.decided_triads
        # For coin tosses triads are uncorrelated: mean n/4 and variance 3n/16.
        gap = (n / 4 - cycles.circular_triads) / np.sqrt(3 * n / 16)
        if gap < _ONE_SIDED_QUANTILE:
            share = percent(cycles.circular_triads / n)
            yield Finding(
                "warning",
                "contradictory",
                f"{share} of {plural(n, 'decided triad')} of items are circular, no "
                "fewer than if coins had been tossed (25%): these comparisons do not "
                "show that any item is better than another.",
            )
    if cycles.example:
        names = [items.text(name) for name in cycles.example]
        following = [*names[1:], names[0]]
        steps = [
            f"{a} beat {b} ({count_text(won)} to {count_text(lost)})"
            for a, b, (won, lost) in zip(names, following, cycles.scores, strict=True)
        ]
        yield Finding(
            "note",
            "cycle",
            f"No ranking agrees with every majority: {_list(steps)}.",
            cycles.example,
        )


def _raters(raters: RaterFacts) -> Iterator[Finding]:
    if raters.contrary:
        voters = [
            f"{name!r} (agrees in {percent(share)} of {count_text(votes)} votes)"
            for name, share, votes in raters.contrary
        ]
        disagree = "disagrees" if len(voters) == 1 else "disagree"
        yield Finding(
            "warning",
            "contrary_rater",
            f"{plural(len(voters), 'rater')} {disagree} with everyone, more often than "
            f"chance: {_list(voters)}. Check whether sides or outcomes were exchanged, "
            "or leave them out.",
            tuple(name for name, _, _ in raters.contrary),
        )
    if raters.constant:
        voters = [
            f"{name!r} ({_WORDS[outcome]}, {count_text(votes)} times)"
            for name, outcome, votes in raters.constant
        ]
        say = "says" if len(voters) == 1 else "say"
        yield Finding(
            "warning",
            "constant_rater",
            f"{plural(len(voters), 'rater')} always {say} the same: {_list(voters)}. "
            "Such votes know nothing of the items; consider leaving them out.",
            tuple(name for name, _, _ in raters.constant),
        )
    if raters.one_vote:
        have = "has" if len(raters.one_vote) == 1 else "have"
        yield Finding(
            "note",
            "one_vote",
            f"{plural(len(raters.one_vote), 'rater')} {have} one vote only: "
            f"{_list([repr(name) for name in raters.one_vote])}. Nothing can be said "
            "about them.",
            raters.one_vote,
        )


def _with_games(counted: Sequence[tuple[Any, float]], items: Named) -> list[str]:
    return [
        f"{items.text(name)} ({count_text(games)}{' game' if games == 1 else ' games'})"
        for name, games in counted
    ]


def _list(texts: Sequence[str], shown: int = _SHOWN) -> str:
    more = len(texts) - shown
    return ", ".join(texts[:shown]) + (f" and {more:,} more" if more > 0 else "")
