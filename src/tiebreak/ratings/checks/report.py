# SPDX-License-Identifier: BSD-3-Clause
"""The report of `check_pairs`, as text, in the terminal and for programs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

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


_COLORS = {"problem": "red", "warning": "yellow", "note": "cyan"}
_WIDTH = 88


@dataclass(frozen=True)
class PairsReport:
    """What comparisons hold, and what stands in the way of learning from them.

    Counts of comparisons, games and votes are sums of weights: a row of weight 2
    counts as two rows, one of weight 0 is absent. An item compared with itself is
    reported in `self_rows` and counted nowhere else. ``str(report)`` is a text of a
    few lines; a rich console prints it in color; ``to_dict()`` is for JSON.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight, comparisons of an item with itself included.
    n_items : int
        Items that were compared with another one.
    n_connected : int
        The most items for which finite strengths of maximum likelihood exist together:
        the size of the largest strong component of the comparison graph.
    n_comparisons, left, tie, right : float
        All comparisons, and those won by left, tied, won by right.
    n_pairs : int
        Distinct pairs of items compared, whichever stood left.
    fewest, median, most : float
        Comparisons per distinct pair.
    self_rows : tuple of int
        Rows that compare an item with itself.
    repeated_rows : int or None
        Rows that equal an earlier row in items, outcome, rater and period; None when
        neither raters, periods nor weights were given to tell occasions apart.
    components : tuple of tuples
        Names of the items of every component but the largest: they never meet the rest.
    undefeated, winless : tuple of (item, games)
        Items that won, or lost, all their games.
    winning_groups, losing_groups : tuple of tuples
        Groups of items that won, or lost, all games against the others.
    few_games : tuple of (item, games)
        Items with fewer than three games.
    cycles : CycleFacts
        Contradictions to any ranking.
    position : PositionFacts or None
        Who wins, by side; None when nothing is decided or sides mean nothing.
    raters : RaterFacts or None
        How raters vote; None when no raters were given.
    periods : PeriodFacts or None
        When; None when no periods were given.
    findings : tuple of Finding
        Problems first, then warnings, then notes.
    """

    n_rows: int
    n_items: int
    n_connected: int
    n_comparisons: float
    left: float
    tie: float
    right: float
    n_pairs: int
    fewest: float
    median: float
    most: float
    self_rows: tuple[int, ...]
    repeated_rows: int | None
    components: tuple[tuple[Any, ...], ...]
    undefeated: tuple[tuple[Any, float], ...]
    winless: tuple[tuple[Any, float], ...]
    winning_groups: tuple[tuple[Any, ...], ...]
    losing_groups: tuple[tuple[Any, ...], ...]
    few_games: tuple[tuple[Any, float], ...]
    cycles: CycleFacts
    position: PositionFacts | None
    raters: RaterFacts | None
    periods: PeriodFacts | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem: every strength can be learned."""
        return not any(finding.level == "problem" for finding in self.findings)

    @property
    def tie_rate(self) -> float:
        """Share of ties among the comparisons; NaN when there are none."""
        return self.tie / self.n_comparisons if self.n_comparisons else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The attributes, ``ok`` and ``tie_rate``; tuples as lists, None where there
            is no number, names of other types than text and numbers as text.
        """
        plain: dict[str, Any] = _plain(self)
        plain["ok"] = self.ok
        plain["tie_rate"] = self.tie_rate if self.n_comparisons else None
        return plain

    def __str__(self) -> str:
        lines = [_hang("", self._verdict()), ""]
        facts = self._facts()
        width = 2 + max(len(name) for name, _ in facts)
        lines += [_hang(f"{name}:".ljust(width), text) for name, text in facts]
        if self.findings:
            lines.append("")
        for finding in self.findings:
            lines.append(_hang(finding.level.upper().ljust(9), finding.message))
        return "\n".join(lines)

    def __rich__(self) -> Panel:
        """Show facts and findings in the terminal.

        Returns
        -------
        rich.panel.Panel
        """
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="bold", no_wrap=True)
        facts.add_column()
        for name, text in self._facts():
            facts.add_row(name, Text(text))
        parts: list[Any] = [facts]
        if self.findings:
            found = Table.grid(padding=(0, 2))
            found.add_column(no_wrap=True)
            found.add_column()
            for finding in self.findings:
                color = f"bold {_COLORS[finding.level]}"
                found.add_row(Text(finding.level, style=color), Text(finding.message))
            parts += ["", found]
        color = "green" if self.ok else "red"
        title = Text(self._verdict(), style=f"bold {color}")
        return Panel(Group(title, "", *parts), title="check_pairs", title_align="left")

    def _verdict(self) -> str:
        n_problems = sum(finding.level == "problem" for finding in self.findings)
        if not n_problems:
            return "No problem found: the strength of every item can be learned."
        text = f"{plural(n_problems, 'problem')}: not every strength can be learned."
        if 1 < self.n_connected < self.n_items:
            text += (
                f" Without a penalty, at most {self.n_connected:,} of "
                f"{self.n_items:,} items can be rated together."
            )
        return text

    def _facts(self) -> list[tuple[str, str]]:
        total = self.n_comparisons
        facts = [
            (
                "Comparisons",
                f"{count_text(total)} of {plural(self.n_items, 'item')}"
                + (f", in {self.n_rows:,} rows" if total != self.n_rows else ""),
            )
        ]
        if total:
            shares = ((self.left, "left"), (self.tie, "tie"), (self.right, "right"))
            outcomes = ", ".join(
                f"{side} {count_text(count)} ({percent(count / total)})"
                for count, side in shares
            )
            facts += [("Outcomes", outcomes), ("Pairs", self._pairs_text())]
        if self.position is not None:
            facts.append(("Position", _position_text(self.position)))
        if self.n_items > 2:
            facts.append(("Cycles", _cycles_text(self.cycles)))
        if self.raters is not None:
            facts.append(("Raters", _raters_text(self.raters)))
        if self.periods is not None:
            when = self.periods
            order = "in order" if when.is_sorted else "not in order"
            periods = (
                f"{plural(when.n_periods, 'value')} from {when.first} to {when.last}"
            )
            facts.append(("Periods", f"{periods}, rows {order}"))
        return facts

    def _pairs_text(self) -> str:
        possible = self.n_items * (self.n_items - 1) // 2
        text = f"{self.n_pairs:,} of {possible:,} possible, "
        if self.fewest == self.most:
            return f"{text}each compared {_times(self.most)}"
        return (
            f"{text}each compared {count_text(self.fewest)} to {_times(self.most)}, "
            f"median {count_text(self.median)}"
        )


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count_text(count)} times"


def _position_text(position: PositionFacts) -> str:
    side = "left" if position.side == "left" else "the side with the advantage"
    return (
        f"{side} won {percent(position.share)} of {count_text(position.decided)} "
        "decided comparisons, 95% interval "
        f"{percent(position.low)} to {percent(position.high)}"
    )


def _cycles_text(cycles: CycleFacts) -> str:
    lie = "no item lies on a cycle"
    if cycles.n_items:
        lie = f"{plural(cycles.n_items, 'item')} lie on a cycle"
    if cycles.decided_triads is None:
        return f"{lie} (too many items to count circular triads)"
    if not cycles.decided_triads:
        return lie
    assert cycles.circular_triads is not None
    share = cycles.circular_triads / cycles.decided_triads
    return (
        f"{percent(share)} of {plural(cycles.decided_triads, 'decided triad')} "
        f"circular (coin tosses: 25%), {lie}"
    )


def _raters_text(raters: RaterFacts) -> str:
    text = f"{raters.n_raters:,}, "
    if raters.fewest == raters.most:
        return f"{text}with {count_text(raters.most)} votes each"
    return (
        f"{text}with {count_text(raters.fewest)} to {count_text(raters.most)} votes, "
        f"median {count_text(raters.median)}"
    )


def _hang(label: str, text: str) -> str:
    return textwrap.fill(
        text,
        width=_WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool):
        return value
    # Subclasses, such as NumPy's numbers and text, become what they are based on.
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return str(value)
