# SPDX-License-Identifier: BSD-3-Clause
"""What `check_pairs` finds: facts, findings, and how numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "LEVELS",
    "CycleFacts",
    "Finding",
    "PeriodFacts",
    "PositionFacts",
    "RaterFacts",
    "count_text",
    "percent",
    "plural",
]

Level = Literal["problem", "warning", "note"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a reader of the data should know.

    Attributes
    ----------
    level : {"problem", "warning", "note"}
        Problem: a strength cannot be learned. Warning: numbers may mislead. Note: good
        to know.
    code : str
        What kind of finding it is; stable, for programs.
    message : str
        What was found, with names, and what to try.
    items : tuple
        All items (or raters) it is about; the message names the first.
    """

    level: Level
    code: str
    message: str
    items: tuple[Any, ...] = ()


@dataclass(frozen=True)
class PositionFacts:
    """Who wins, by side.

    Attributes
    ----------
    side : str
        ``"left"``, or ``"advantage"`` when an advantage was given: then rows without
        one are not counted.
    decided, wins : float
        Decided comparisons, and how many of them that side won.
    share : float
        wins / decided.
    low, high : float
        Wilson's 95% interval of the share.
    p_value : float
        Two-sided binomial test of a share of one half.
    """

    side: str
    decided: float
    wins: float
    share: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class CycleFacts:
    """Cycles of "won more often than it lost against".

    Attributes
    ----------
    n_items : int
        How many items lie on a cycle.
    example : tuple
        Names: each won more often than it lost against the next, the last against
        the first. Empty if there is no cycle.
    scores : tuple of (wins, losses)
        Of each item of the example against the next.
    circular_triads, decided_triads : int or None
        Sets of three items that form a cycle, of all where each pair has a majority.
        None: too many items to count.
    """

    n_items: int
    example: tuple[Any, ...]
    scores: tuple[tuple[float, float], ...]
    circular_triads: int | None
    decided_triads: int | None


@dataclass(frozen=True)
class RaterFacts:
    """How raters vote.

    Attributes
    ----------
    n_raters : int
        How many there are.
    fewest, median, most : float
        Votes per rater.
    one_vote : tuple
        Raters with one vote.
    constant : tuple of (rater, outcome, votes)
        Raters of ten votes or more that always say the same.
    contrary : tuple of (rater, share, votes)
        Raters who agree with the others significantly less often than half the time:
        the share of their decided votes that agree, and how many these are.
    """

    n_raters: int
    fewest: float
    median: float
    most: float
    one_vote: tuple[Any, ...]
    constant: tuple[tuple[Any, int, float], ...]
    contrary: tuple[tuple[Any, float, float], ...]


@dataclass(frozen=True)
class PeriodFacts:
    """When comparisons took place.

    Attributes
    ----------
    n_periods : int
        Distinct values.
    first, last : object
        Smallest and largest value.
    is_sorted : bool
        Whether rows are in order of time.
    unsorted_row : int or None
        The first row that is earlier than the one before it.
    """

    n_periods: int
    first: Any
    last: Any
    is_sorted: bool
    unsorted_row: int | None


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "item"), plural(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def count_text(count: float) -> str:
    """Write a sum of weights: whole numbers in full, others with four digits.

    Examples
    --------
    >>> count_text(135634.0), count_text(2.5)
    ('135,634', '2.5')
    """
    return f"{int(count):,}" if float(count).is_integer() else f"{count:,.4g}"


def percent(share: float) -> str:
    """Write a share in percent, with one decimal.

    Examples
    --------
    >>> percent(0.12345)
    '12.3%'
    """
    return f"{100 * share:.1f}%"
