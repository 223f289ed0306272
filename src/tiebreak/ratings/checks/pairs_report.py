# SPDX-License-Identifier: BSD-3-Clause
"""The report of `check_pairs`: its facts, its findings, and how they are written.

A problem is what cannot be learned with the default prior (alpha="auto") either, a
warning what may mislead, a note what is good to know. Every message says what was
found, with names, and what to try. The report can be shown as text, in the terminal,
and as plain values for programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tiebreak.data.columns import plain_values
from tiebreak.data.markup import results_html, results_text
from tiebreak.data.messages import list_rows
from tiebreak.io.result import plural

Level = Literal["problem", "warning", "note"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a reader of the data should know."""

    level: Level
    code: str  # what kind of finding it is; stable, for programs
    message: str  # what was found, with names, and what to try
    items: tuple[Any, ...] = ()  # all items (or raters) it is about


@dataclass(frozen=True)
class PositionFacts:
    """Who wins, by side."""

    side: str  # "left", or "advantage": then rows without one are not counted
    decided: float
    wins: float  # of that side
    share: float  # wins / decided
    low: float  # Wilson's 95% interval of the share, from here
    high: float  # to here
    # In a model with strengths, so that favorites may be listed first: the effect in
    # favor of the side, log odds. None: strengths can explain all of it, or there are
    # more than 10,000 items.
    estimate: float | None
    standard_error: float | None
    p_value: float | None  # likelihood ratio of this effect


@dataclass(frozen=True)
class StrengthFacts:
    """Whether any item is better: a likelihood-ratio test of equal strengths."""

    statistic: float  # 2 (largest log-likelihood - that of equal strengths)
    degrees: int  # of freedom
    p_value: float | None  # None: too few games per item, and too many items
    resamples: int  # drawn for the p-value where games are few; 0: chi-square


@dataclass(frozen=True)
class CycleFacts:
    """Cycles of "won more often than it lost against"."""

    n_items: int  # that lie on a cycle
    example: tuple[Any, ...]  # each over the next, the last over the first; or empty
    scores: tuple[tuple[float, float], ...]  # wins and losses against the next
    circular_triads: int | None  # None: too many items to count
    decided_triads: int | None  # where each of the three pairs has a majority


@dataclass(frozen=True)
class RaterFacts:
    """How raters vote."""

    n_raters: int
    fewest: float  # votes per rater
    median: float
    most: float
    one_vote: tuple[Any, ...]  # raters
    constant: tuple[tuple[Any, int, float], ...]  # rater, outcome, votes: ten or more
    contrary: tuple[tuple[Any, float, float], ...]  # rater, agreement, decided votes


@dataclass(frozen=True)
class PeriodFacts:
    """When comparisons took place."""

    n_periods: int  # distinct values
    first: Any
    last: Any
    is_sorted: bool
    unsorted_row: int | None  # the first that is earlier than the row before it


def count_text(count: float) -> str:
    """Write a sum of weights: whole numbers in full, others with four digits."""
    return f"{int(count):,}" if float(count).is_integer() else f"{count:,.4g}"


def _percent(share: float) -> str:
    """Write a share in percent, with one decimal."""
    return f"{100 * share:.1f}%"


_COLORS = {"problem": "red", "warning": "yellow", "note": "cyan"}
_WIDTH = 88
# For the tests of strengths, and of position: about a second each.
MOST_ITEMS, MOST_ITEMS_FOR_POSITION = 1_500, 10_000


@dataclass(frozen=True)
class PairsReport:
    """What comparisons hold, and what stands in the way of learning from them.

    Counts are sums of weights. An item compared with itself is reported in `self_rows`
    and counted nowhere else. ``str(report)`` is a text of a few lines; a rich console
    prints it in color; ``to_dict()`` is for JSON.

    Attributes
    ----------
    n_rows, n_items : int
        Rows of positive weight (comparisons of an item with itself included), and
        items that were compared with another one.
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
    undefeated, winless, few_games : tuple of (item, games)
        Items that won, or lost, all their games, and those with fewer than three.
    winning_groups, losing_groups : tuple of tuples
        Groups of items that won, or lost, all games against the others.
    strengths : StrengthFacts or None
        Whether any item is better; None when nothing is decided, or with more than
        1,500 items.
    cycles : CycleFacts
        Contradictions to any ranking.
    position : PositionFacts or None
        Who wins, by side; None when nothing is decided or sides mean nothing.
    raters, periods : RaterFacts and PeriodFacts, or None
        How raters vote, and when; None when they were not given.
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
    strengths: StrengthFacts | None
    cycles: CycleFacts
    position: PositionFacts | None
    raters: RaterFacts | None
    periods: PeriodFacts | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no problem: a model can learn from these comparisons."""
        return not any(finding.level == "problem" for finding in self.findings)

    @property
    def has_maximum_likelihood(self) -> bool:
        """Whether finite strengths exist without a prior, that is, with alpha=0."""
        endless = ("consistent", "separated")
        finite = not any(finding.code in endless for finding in self.findings)
        return finite and self.n_connected == self.n_items > 0

    @property
    def tie_rate(self) -> float:
        """Share of ties among the comparisons; NaN when there are none."""
        return self.tie / self.n_comparisons if self.n_comparisons else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The attributes, ``ok`` and ``tie_rate``; tuples as lists, other names as
            text, None where there is no number.
        """
        rate = self.tie_rate if self.n_comparisons else None
        facts = asdict(self) | {"ok": self.ok, "tie_rate": rate}
        plain: dict[str, Any] = json.loads(json.dumps(facts, default=str))
        return plain

    def __str__(self) -> str:
        return results_text(self._body(), _WIDTH)

    def __rich__(self) -> Panel:
        """Show facts and findings in the terminal."""
        return Panel(self._body(), title="data checks", title_align="left")

    def _body(self) -> Group:
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="bold", no_wrap=True)
        for name, text in self.facts():
            facts.add_row(name, Text(text))
        found = Table.grid(padding=(0, 2))
        found.add_column(no_wrap=True)
        for finding in self.findings:
            level = Text(finding.level, style=f"bold {_COLORS[finding.level]}")
            found.add_row(level, Text(finding.message))
        color = "green" if self.ok else "red"
        title = Text(self._verdict(), style=f"bold {color}")
        return Group(title, "", facts, "", found)

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())

    def _verdict(self) -> str:
        n_problems = sum(finding.level == "problem" for finding in self.findings)
        text = f"{plural(n_problems, 'problem')}: not everything can be learned."
        if not n_problems:
            text = "No problem found: the strength of every item can be learned"
            prior = " with the default prior."
            text += "." if self.has_maximum_likelihood else prior
        if 1 < self.n_connected < self.n_items:
            text += (
                f" Without a prior, at most {self.n_connected:,} of "
                f"{self.n_items:,} items can be rated together."
            )
        return text

    def facts(self) -> list[tuple[str, str]]:
        """Say what the data are: labels and texts."""
        total = self.n_comparisons
        rows = f", in {self.n_rows:,} rows" if total != self.n_rows else ""
        compared = f"{count_text(total)} of {plural(self.n_items, 'item')}{rows}"
        facts = [("Comparisons", compared)]
        if total:
            shares = ((self.left, "left"), (self.tie, "tie"), (self.right, "right"))
            outcomes = ", ".join(
                f"{side} {count_text(count)} ({_percent(count / total)})"
                for count, side in shares
            )
            facts += [("Outcomes", outcomes), ("Pairs", self._pairs_text())]
        if self.position is not None:
            facts.append(("Position", _position_text(self.position, self.n_items)))
        if self.left or self.right:
            facts.append(("Strengths", _strengths_text(self.strengths, self.n_items)))
        if self.n_items > 2:
            facts.append(("Cycles", _cycles_text(self.cycles)))
        if self.raters is not None:
            facts.append(("Raters", _raters_text(self.raters)))
        if self.periods is not None:
            when = self.periods
            order = "in order" if when.is_sorted else "not in order"
            periods = plural(when.n_periods, "value")
            periods = f"{periods} from {when.first} to {when.last}"
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


def _position_text(position: PositionFacts, n_items: int) -> str:
    side = "left" if position.side == "left" else "the side with the advantage"
    return (
        f"{side} won {_percent(position.share)} of {count_text(position.decided)} "
        f"decided comparison{'s' * (position.decided != 1)}, 95% interval "
        f"{_percent(position.low)} to {_percent(position.high)}"
        f"{_effect_text(position, n_items)}"
    )


def _effect_text(position: PositionFacts, n_items: int) -> str:
    if position.estimate is None or position.p_value is None:
        if n_items > MOST_ITEMS_FOR_POSITION:
            return "; not tested beside the strengths of so many items"
        return "; not tested, because strengths can explain all of it"
    return (
        f"; effect beside strengths {position.estimate:+.2f} (standard error "
        f"{position.standard_error:.2f}, {_p_text(position.p_value)})"
    )


def _p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _strengths_text(test: StrengthFacts | None, n_items: int) -> str:
    if test is None and n_items > MOST_ITEMS:
        return "not tested against equal ones, because items are too many"
    if test is None:
        return "not tested, because the advantage can explain all differences"
    text = (
        f"2 x log-likelihood ratio against equal ones {test.statistic:,.1f} on "
        f"{plural(test.degrees, 'degree')} of freedom"
    )
    if test.p_value is None:
        return f"{text}; too few games per item for a p-value of so many items"
    drawn = f", from {test.resamples} random draws" if test.resamples else ""
    return f"{text}, {_p_text(test.p_value)}{drawn}"


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
        f"{_percent(share)} of {plural(cycles.decided_triads, 'decided triad')} "
        f"circular (coin tosses: 25%), {lie}"
    )


def _raters_text(raters: RaterFacts) -> str:
    text = f"{raters.n_raters:,}, "
    if raters.fewest == raters.most:
        each = " each" * (raters.n_raters > 1)
        return f"{text}with {count_text(raters.most)} votes{each}"
    return (
        f"{text}with {count_text(raters.fewest)} to {count_text(raters.most)} votes, "
        f"median {count_text(raters.median)}"
    )


_SHOWN = 5
_POSITION_LEVEL = 0.01  # of the test for an effect of position
_SMALL_EFFECT = 0.08  # of position, log odds: 52% of games; no reason for a warning
_ONE_SIDED = 10  # decided comparisons, all won by one side
_LEVEL = 0.05  # of the test whether any item is better
_PRIOR = (
    'The default prior (alpha="auto") keeps {its} strength finite, with a wide '
    "interval; only alpha=0 refuses."
)
_WORDS = {-1: "left", 0: "a tie", 1: "right"}


@dataclass(frozen=True, eq=False)
class Named:
    """Names of items, and how to write them."""

    names: NDArray[Any] | None
    numbers: NDArray[np.int64]

    def of(self, codes: Any) -> tuple[Any, ...]:
        """Give the names of items as Python values."""
        names = self.numbers if self.names is None else self.names
        return tuple(plain_values(names[np.asarray(codes, dtype=np.int64)]))

    def with_counts(
        self,
        codes: NDArray[np.int64],
        counts: NDArray[np.float64],
        most_first: bool = False,
    ) -> tuple[tuple[Any, float], ...]:
        """Give names and counts of items, in order of the counts."""
        key = -counts[codes] if most_first else counts[codes]
        codes = codes[np.argsort(key, kind="stable")]
        return tuple(zip(self.of(codes), counts[codes].tolist(), strict=True))

    def text(self, name: Any) -> str:
        """Write a name, or ``item 3`` if it is a row number."""
        return f"item {name}" if self.names is None else repr(name)


def find_all(
    report: PairsReport,
    items: Named,
    absent: int,
    runs_away: bool,
    advantage: Level | None = None,
) -> tuple[Finding, ...]:
    """Find everything that is worth a word."""
    found = [
        *_separation(report, items),
        *_other_problems(report, runs_away),
        *_advantage(report, advantage),
        *_rows(report, absent),
        *_few_games(report, items),
        *_position_finding(report),
        *_no_differences(report),
        *_cycles(report, items),
    ]
    if report.raters is not None:
        found += _raters(report.raters)
    return tuple(sorted(found, key=lambda finding: LEVELS.index(finding.level)))


def _separation(report: PairsReport, items: Named) -> Iterator[Finding]:
    outside = tuple(name for group in report.components for name in group)
    if outside:
        groups = plural(len(report.components) + 1, "set")
        text = (
            f"The items fall into {groups} that never meet, not even through others; "
            f"outside the largest set are {_list([items.text(n) for n in outside])}. "
            "Strengths of different sets cannot be compared. Add comparisons between "
            "them, or rate each set by itself; a prior (alpha) centers each set at 0, "
            "by assumption and not by data."
        )
        yield Finding("problem", "disconnected", text, outside)
    for code, verb, counted in (
        ("undefeated", "won", report.undefeated),
        ("winless", "lost", report.winless),
    ):
        if counted:
            its = "its" if len(counted) == 1 else "their"
            text = (
                f"{plural(len(counted), 'item')} {verb} all {its} games: "
                f"{_list(_with_games(counted, items))}. {_PRIOR.format(its=its)}"
            )
            yield Finding("warning", code, text, tuple(name for name, _ in counted))
    for code, verb, groups_ in (
        ("winning_group", "won", report.winning_groups),
        ("losing_group", "lost", report.losing_groups),
    ):
        if groups_:
            names = tuple(name for group in groups_ for name in group)
            lists = [_list([items.text(n) for n in group]) for group in groups_]
            who = "A group of items" if len(groups_) == 1 else "Groups of items"
            text = (
                f"{who} {verb} every game against the rest: "
                f"{_list([f'({text})' for text in lists], 3)}. How far they are from "
                f"the rest, the games do not say. {_PRIOR.format(its='their')}"
            )
            yield Finding("warning", code, text, names)


def _other_problems(report: PairsReport, runs_away: bool) -> Iterator[Finding]:
    if report.n_comparisons == 0:
        text = "No two different items are compared, so there is nothing to learn from."
        yield Finding("problem", "nothing", text)
    elif report.tie == report.n_comparisons:
        text = (
            "Every comparison is a tie, so all items are equally strong. Check how the "
            "outcomes were read."
        )
        yield Finding("warning", "only_ties", text)
    if runs_away:
        text = (
            "The decided comparisons contradict each other nowhere, so strengths and "
            "the tie parameter of a tie model would grow together without end. "
            f"{_PRIOR.format(its='every')}"
        )
        yield Finding("warning", "consistent", text)


def _advantage(report: PairsReport, level: Level | None) -> Iterator[Finding]:
    if level == "warning":
        text = (
            "Strengths and the effect of the advantage cannot be told apart, or grow "
            'together without end. The default prior on strengths (alpha="auto") '
            "decides between them; only alpha=0 refuses."
        )
        yield Finding("warning", "separated", text)
    elif level == "problem":
        what = "decided none of its games"
        if report.position is not None:
            verb = "won" if report.position.share == 1.0 else "lost"
            what = f"{verb} all its {count_text(report.position.decided)} decided games"
        text = (
            f"The side with the advantage {what}, so the effect of the advantage has "
            "no finite estimate. Leave the advantage out, or add games that end "
            "otherwise; if rows name the winner first, swap sides at random."
        )
        yield Finding("problem", "separated", text)


def _rows(report: PairsReport, absent: int) -> Iterator[Finding]:
    if report.self_rows:
        text = (
            f"{_rows_that(len(report.self_rows), 'compare')} an item with itself: "
            f"{list_rows(report.self_rows)}. Models refuse this; keep the other rows: "
            "pairs[keep] with keep = pairs.left != pairs.right."
        )
        yield Finding("warning", "self_comparison", text)
    when = report.periods
    if when is not None and when.unsorted_row is not None:
        text = (
            f"Rows are not in order of time: row {when.unsorted_row} is earlier than "
            "the one before it. Ratings over time follow the rows; sort them by period "
            "first."
        )
        yield Finding("warning", "unsorted", text)
    if report.repeated_rows:
        text = (
            f"{_rows_that(report.repeated_rows, 'repeat')} an earlier row: the same "
            f"items and outcome{_also(report)}. Each counts; if it was not another "
            "occasion, remove it."
        )
        yield Finding("note", "repeated", text)
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
        text = (
            f"{plural(len(few), 'item')} {have} fewer than 3 games: "
            f"{_list(_with_games(few, items))}. A strength learned from so few is "
            f"little more than a guess. Look at the interval, or leave {them} out."
        )
        yield Finding("warning", "few_games", text, tuple(name for name, _ in few))


def _position_finding(report: PairsReport) -> Iterator[Finding]:
    position = report.position
    if position is None:
        return
    left = position.side == "left"
    side = "The left side" if left else "The side with the advantage"
    decided = f"{count_text(position.decided)} decided comparisons"
    if position.share in (0.0, 1.0) and position.decided >= _ONE_SIDED:
        verb = "won" if position.share == 1.0 else "lost"
        text = (
            f"{side} {verb} all {decided}. If rows name the winner first, position "
            "says nothing: swap sides at random before adding an advantage or "
            "predicting."
        )
        yield Finding("warning", "one_sided", text)
        return
    p_value, estimate = position.p_value, position.estimate
    if p_value is None or estimate is None or p_value >= _POSITION_LEVEL:
        return
    small = abs(estimate) < _SMALL_EFFECT
    advice = "The effect is learned when fit gets the same advantage, as in rank."
    if left:
        advice = "Its size is learned with advantage=1 in fit, or position in rank."
    text = (
        f"{side} has an effect of {estimate:+.2f} beside strengths, in log odds, with "
        f"standard error {position.standard_error:.2f} ({_p_text(p_value)})"
        f"{': small, but not chance' if small else ''}; it won "
        f"{_percent(position.share)} of {decided}. {advice}"
    )
    yield Finding("warning" if left and not small else "note", "position", text)


def _no_differences(report: PairsReport) -> Iterator[Finding]:
    test = report.strengths
    if test is None or test.p_value is None or test.p_value < _LEVEL:
        return
    text = (
        f"Equal items would give such results too ({_p_text(test.p_value)}): these "
        "comparisons do not show that any item is better than another."
    )
    yield Finding("warning", "contradictory", text)


def _cycles(report: PairsReport, items: Named) -> Iterator[Finding]:
    cycles = report.cycles
    if cycles.example:
        names = [items.text(name) for name in cycles.example]
        following = [*names[1:], names[0]]
        steps = [
            f"{a} beat {b} ({count_text(won)} to {count_text(lost)})"
            for a, b, (won, lost) in zip(names, following, cycles.scores, strict=True)
        ]
        text = f"No ranking agrees with every majority: {_list(steps)}."
        yield Finding("note", "cycle", text, cycles.example)


def _raters(raters: RaterFacts) -> Iterator[Finding]:
    if raters.contrary:
        voters = [
            f"{name!r} (agrees in {_percent(share)} of {count_text(votes)} votes)"
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
    if raters.n_raters == 1:
        yield Finding(
            "warning",
            "one_rater",
            "All votes are those of one rater: intervals allow for other votes of this "
            "rater, and not for what others would say.",
        )
    elif raters.one_vote:
        have = "has" if len(raters.one_vote) == 1 else "have"
        text = (
            f"{plural(len(raters.one_vote), 'rater')} {have} one vote only: "
            f"{_list([repr(name) for name in raters.one_vote])}. Nothing can be said "
            "about them."
        )
        yield Finding("note", "one_vote", text, raters.one_vote)


def _with_games(counted: Sequence[tuple[Any, float]], items: Named) -> list[str]:
    return [
        f"{items.text(name)} ({count_text(games)} {'game' if games == 1 else 'games'})"
        for name, games in counted
    ]


def _list(texts: Sequence[str], shown: int = _SHOWN) -> str:
    more = len(texts) - shown
    return ", ".join(texts[:shown]) + (f" and {more:,} more" if more > 0 else "")
