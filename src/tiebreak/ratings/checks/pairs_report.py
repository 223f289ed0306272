# SPDX-License-Identifier: BSD-3-Clause
"""The report of `check_pairs`: its facts, its findings, and how they are written.

A problem is what the default prior (alpha="auto") cannot learn either, a warning what
may mislead, a note what is good to know.
"""

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

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import plain_values
from tiebreak.data.markup import results_html, results_text
from tiebreak.data.messages import first_of, in_nouns, list_rows, noun, plural
from tiebreak.options import flag

Level = Literal["problem", "warning", "note"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a reader of the data should know."""

    level: Level
    code: str  # one of FINDINGS; stable, for programs
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


@dataclass(frozen=True)
class NewcomerFacts:
    """Whether items of few games are as strong as the others, as the prior says."""

    n_items: int
    most: float  # games of them
    points: float  # by which their mean is above that of the others
    p_value: float


@dataclass(frozen=True)
class PeriodFacts:
    """When comparisons took place."""

    n_periods: int  # distinct values
    first: Any
    last: Any
    is_sorted: bool
    unsorted_row: int | None  # the first that is earlier than the row before it


def count_text(count: float) -> str:
    """Write a sum of weights: whole or large ones in full, others with four digits."""
    return f"{count:,.4g}" if count % 1.0 and count < 1e4 else f"{count:,.0f}"


def say_comparisons(weight: float) -> str:
    """Name a sum: that many comparisons or, not whole, their weight."""
    whole, count = float(weight).is_integer(), count_text(weight)
    many = noun("comparisons")
    return f"{count} {many}" if whole else f"{many} of weight {count}"


_COLORS = {"problem": "red", "warning": "yellow", "note": "cyan"}
_WIDTH = 88
# For the tests of strengths, and of position: about a second each.
MOST_ITEMS, MOST_ITEMS_FOR_POSITION = 1_500, 10_000


@dataclass(frozen=True)
class PairsReport:
    """What comparisons hold, and what stands in the way of learning from them.

    Counts are sums of weights. An item compared with itself is in `self_rows` and
    counted nowhere else.

    Attributes
    ----------
    n_rows, n_items : int
        Rows of positive weight, `self_rows` included, and items compared with another
        one.
    n_connected : int
        Size of the largest strong component of the comparison graph.
    n_comparisons, left, tie, right : float
        All comparisons, and those won by left, tied, won by right.
    n_pairs : int
        Distinct pairs of items, whichever stood left.
    fewest, median, most : float
        Comparisons per distinct pair.
    self_rows : tuple of int
        Rows that compare an item with itself.
    repeated_rows : int or None
        Rows that equal an earlier one in items, outcome, rater and period. Without
        raters, periods and weights those that equal the row before; None if chance, or
        sorted rows, explain them.
    components : tuple of tuples
        Items of every component but the largest, which never meet the rest.
    undefeated, winless, few_games : tuple of (item, games)
        Items that won, or lost, all their games, and those with fewer than three.
    winning_groups, losing_groups : tuple of tuples
        Groups of items that won, or lost, all games against the others.
    strengths : StrengthFacts or None
        Whether any item is better; None, here and below: not tested, or not given.
    cycles : CycleFacts or None
        Contradictions to any ranking.
    position : PositionFacts or None
        Who wins, by side.
    raters, periods : RaterFacts and PeriodFacts, or None
        How raters vote, and when.
    drift : float or None
        P-value of the same strengths in both halves of the time.
    newcomers : NewcomerFacts or None
        Whether items of few games are as strong as others.
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
    cycles: CycleFacts | None
    position: PositionFacts | None
    raters: RaterFacts | None
    periods: PeriodFacts | None
    drift: float | None
    newcomers: NewcomerFacts | None
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether a model can learn from these comparisons: no problem."""
        return not any(finding.level == "problem" for finding in self.findings)

    @property
    def has_maximum_likelihood(self) -> bool:
        """Whether finite strengths exist without a prior, that is, with alpha=0."""
        endless = ("consistent", "separated", "together")
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
        facts, findings = Table.grid(padding=(0, 2)), Table.grid(padding=(0, 2))
        facts.add_column(style="bold", no_wrap=True)
        findings.add_column(no_wrap=True)
        for name, text in self.facts():
            facts.add_row(name, Text(text))
        for finding in self.findings:
            level = Text(finding.level, style=f"bold {_COLORS[finding.level]}")
            findings.add_row(level, Text(finding.message))
        title = Text(self._verdict(), style=f"bold {'green' if self.ok else 'red'}")
        return Group(title, "", facts, "", findings)

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())

    def _verdict(self) -> str:
        n_problems = sum(finding.level == "problem" for finding in self.findings)
        text = f"{plural(n_problems, 'problem')}: not everything can be learned."
        if not n_problems:
            text = (
                f"No problem found: the strength of every {noun('item')} can be learned"
            )
            prior = " with the default prior."
            text += "." if self.has_maximum_likelihood else prior
        if 1 < self.n_connected < self.n_items:
            text += (
                f" Without a prior, at most {self.n_connected:,} of "
                f"{self.n_items:,} {noun('items')} can be rated together."
            )
        return text

    def facts(self) -> list[tuple[str, str]]:
        """Say what the data are: labels and texts."""
        total = self.n_comparisons
        rows = f", in {self.n_rows:,} rows" if total != self.n_rows else ""
        rows += ", summed by weight" * (not float(total).is_integer())
        teams = "teams of " * (self.cycles is None)
        compared = f"{count_text(total)} of {teams}{plural(self.n_items, 'item')}{rows}"
        facts = [(noun("Comparisons"), compared)]
        if total:
            shares = ((self.left, "left"), (self.tie, "tie"), (self.right, "right"))
            outcomes = ", ".join(
                f"{noun(side)} {count_text(count)} ({count / total:.1%})"
                for count, side in shares
            )
            possible = self.n_items * (self.n_items - 1) // 2
            met = f"{self.n_pairs:,} of {possible:,} possible, each compared "
            met += _range_text(self, "time")
            facts += [("Outcomes", outcomes), ("Pairs", met)]
        if self.position is not None:
            facts.append(("Position", _position_text(self.position, self.n_items)))
        if (self.left or self.right) and self.cycles is not None:
            facts.append(("Strengths", _strengths_text(self.strengths, self.n_items)))
        if self.n_items > 2 and self.cycles is not None:
            facts.append(("Cycles", _cycles_text(self.cycles)))
        if self.raters is not None:
            each = _range_text(self.raters, "vote")
            facts.append(("Raters", f"{self.raters.n_raters:,}, each with {each}"))
        if self.periods is not None:
            when = self.periods
            order = "in order" if when.is_sorted else "not in order"
            periods = plural(when.n_periods, "value")
            periods = f"{periods} from {when.first} to {when.last}"
            if self.drift is not None:
                order += f"; strengths alike in both halves: {_p_text(self.drift)}"
            facts.append(("Periods", f"{periods}, rows {order}"))
        return facts


def _range_text(facts: PairsReport | RaterFacts, unit: str) -> str:
    if facts.fewest == facts.most:
        many = noun(unit if facts.most == 1 else f"{unit}s")
        return f"{count_text(facts.most)} {many}"
    median = count_text(facts.median)
    ends = count_text(facts.fewest), count_text(facts.most)
    return f"{ends[0]} to {ends[1]} {noun(f'{unit}s')}, median {median}"


def _position_text(position: PositionFacts, n_items: int) -> str:
    side = noun("left") if position.side == "left" else "the side with the advantage"
    text = (
        f"{side} won {position.share:.1%} of {count_text(position.decided)} "
        f"decided {noun('comparisons')}, 95% interval {position.low:.1%} to "
        f"{position.high:.1%}; "
    )
    if position.p_value is None:
        if n_items > MOST_ITEMS_FOR_POSITION:
            return text + f"not tested beside the strengths of so many {noun('items')}"
        return text + "not tested, because strengths can explain all of it"
    return (
        f"{text}effect beside strengths {position.estimate:+.2f} (standard error "
        f"{position.standard_error:.2f}, {_p_text(position.p_value)})"
    )


def _p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _strengths_text(test: StrengthFacts | None, n_items: int) -> str:
    if test is None and n_items > MOST_ITEMS:
        return f"not tested against equal ones, because {noun('items')} are too many"
    if test is None:
        return "not tested, because the advantage can explain all differences"
    text = (
        f"2 x log-likelihood ratio against equal ones {test.statistic:,.1f} on "
        f"{plural(test.degrees, 'degree')} of freedom"
    )
    if test.p_value is None:
        return text + in_nouns(
            "; too few games per item for a p-value of so many items"
        )
    drawn = f", from {test.resamples} random draws" if test.resamples else ""
    return f"{text}, {_p_text(test.p_value)}{drawn}"


def _cycles_text(cycles: CycleFacts) -> str:
    text = f"{plural(cycles.n_items, 'item')} on a cycle"
    if cycles.circular_triads is None or cycles.decided_triads is None:
        return f"{text} (too many {noun('items')} to count circular triads)"
    if not cycles.decided_triads:
        return text
    share = f"{cycles.circular_triads / cycles.decided_triads:.1%}"
    triads = plural(cycles.decided_triads, "decided triad")
    return f"{text}, {share} of {triads} circular (coin tosses: 25%)"


_SHOWN = 5
_POSITION_LEVEL = 0.01  # of the test for an effect of position
_SMALL_EFFECT = 0.08  # of position, log odds: 52% of games; no reason for a warning
_ONE_SIDED = 10  # decided comparisons, all won by one side
# Of the tests whether any item is better, whether items change, and of newcomers.
_LEVEL = 0.05
_WORDS = {-1: "left", 0: "a tie", 1: "right"}
_PRIOR = (
    'The default prior (alpha="auto") keeps strengths finite, with wide intervals; '
    "alpha=0 is an error."
)
# What may be found: its code, its level and its sentence, of each level the most
# important first.
FINDINGS: dict[str, tuple[Level, str]] = {
    "disconnected": (
        "problem",
        "The items fall into {sets} that never meet, not even through others; outside "
        "the largest set are {names}. Strengths of different sets cannot be compared. "
        "Add comparisons between them, or rate each set by itself.",
    ),
    "nothing": (
        "problem",
        "No two different items are compared, so there is nothing to learn from.",
    ),
    "separated": (
        "problem",
        "The effect of the advantage has no finite estimate{why}.",
    ),
    "self_comparison": (
        "warning",
        "{count} of an item with itself: {rows}. Models leave them out.",
    ),
    "only_ties": (
        "warning",
        "Every comparison is a tie, so all items are equally strong. Check how the "
        "outcomes were read.",
    ),
    "contradictory": (
        "warning",
        "Equal items would give such results too ({p}): these comparisons do not show "
        "that any item is better than another.",
    ),
    "one_sided": (
        "warning",
        "{side} {verb} all {decided}. If rows name the winner first, position says "
        "nothing: swap sides at random before adding an advantage or predicting.",
    ),
    "unsorted": (
        "warning",
        "Rows are not in order of time: row {row} is earlier than the one before it. "
        "Ratings over time follow the rows; sort them by period first.",
    ),
    "drift": (
        "warning",
        "Strengths differ between the first and the second half of the time ({p}): "
        "ratings are means over all of it, unless --half-life auto lets old results "
        "count less.",
    ),
    "position": (
        "warning",
        "{side} has an effect of {estimate:+.2f} beside strengths, in log odds, with "
        "standard error {error:.2f} ({p}){small}; it won {share} of {decided}. Its "
        "size is learned with {advice}.",
    ),
    "one_rater": (
        "warning",
        "All votes are those of one rater: intervals allow for other votes of this "
        "rater, and not for what others would say.",
    ),
    "constant_rater": (
        "warning",
        "{count} with always the same outcome: {names}. Such votes know nothing of "
        "the items; consider leaving them out.",
    ),
    "consistent": (
        "warning",
        "The decided comparisons contradict each other nowhere, so strengths and the "
        "tie parameter would grow together without end. " + _PRIOR,
    ),
    "undefeated": ("warning", "{count} won every game: {names}. " + _PRIOR),
    "winless": ("warning", "{count} lost every game: {names}. " + _PRIOR),
    "winning_group": (
        "warning",
        "Groups that won every game against the rest: {names}. By how much they are "
        "better, the games do not say. " + _PRIOR,
    ),
    "losing_group": (
        "warning",
        "Groups that lost every game against the rest: {names}. By how much they are "
        "worse, the games do not say. " + _PRIOR,
    ),
    "together": (
        "warning",
        "Nothing tells how strengths of {names} differ: they were always on the same "
        "side, or never met the others. The default prior divides what they share.",
    ),
    "few_games": (
        "warning",
        "{count} with fewer than 3 games: {names}. A strength learned from so few is "
        "little more than a guess: look at the interval.",
    ),
    "newcomers": (
        "note",
        "{count} with at most {most} games are {better} than the others, on average by "
        "{points:.0f} points ({p}), but the prior pulls them to the mean of all; "
        "{prior_by} gives each class its own mean.",
    ),
    "repeated": (
        "note",
        "{count} equal to an earlier one: the same items and outcome{also}. Each "
        "counts; if they are rows of one task or match, name it by {unit}{drop}.",
    ),
    "weightless": ("note", "{count} of weight 0, left out."),
    "one_vote": (
        "note",
        "{count} with one vote only: {names}. Nothing can be said about them.",
    ),
    "cycle": ("note", "No ranking agrees with every majority: {names}."),
}


@dataclass(frozen=True, eq=False)
class Named:
    """Names of items, and how to write them."""

    names: NDArray[Any] | None
    numbers: Codes

    def of(self, codes: Any) -> tuple[Any, ...]:
        """Give the names of items as Python values."""
        names = self.numbers if self.names is None else self.names
        return tuple(plain_values(names[np.asarray(codes, dtype=np.int64)]))

    def with_counts(
        self,
        codes: Codes,
        counts: Floats,
        most_first: bool = False,
    ) -> tuple[tuple[Any, float], ...]:
        """Names and counts of items, in order of the counts."""
        key = -counts[codes] if most_first else counts[codes]
        codes = codes[np.argsort(key, kind="stable")]
        return tuple(zip(self.of(codes), counts[codes].tolist(), strict=True))

    def texts(self, names: Sequence[Any]) -> list[str]:
        """Names, or ``item 3`` for row numbers."""
        unnamed = self.names is None
        return [f"item {name}" if unnamed else repr(name) for name in names]


def find_all(
    report: PairsReport,
    items: Named,
    absent: int,
    runs_away: bool,
    advantage: Level | None = None,
    together: Sequence[Any] = (),
) -> tuple[Finding, ...]:
    """Find everything that is worth a word.

    `absent` rows weigh 0; `runs_away`: strengths and ties grow together; `advantage`:
    how bad it is that its effect is endless; `together`: inseparable members of teams.
    """
    findings = [
        *([_finding("together", together, items.texts(together))] if together else []),
        *_of_items(report, items, runs_away),
        *_of_advantage(report.position, advantage),
        *_of_rows(report, absent),
        *_with_games("few_games", report.few_games, items),
        *_of_newcomers(report.newcomers),
        *_of_position(report.position),
        *_of_contradictions(report, items),
        *_of_raters(report.raters),
    ]
    order = [*FINDINGS]
    return tuple(
        sorted(
            findings, key=lambda one: (LEVELS.index(one.level), order.index(one.code))
        )
    )


def _finding(
    code: str,
    about: Sequence[Any] = (),
    names: Sequence[str] = (),
    level: Level | None = None,
    **values: Any,
) -> Finding:
    """Fill in a sentence of the table."""
    usual, sentence = FINDINGS[code]
    message = in_nouns(sentence).format(names=first_of(names, _SHOWN), **values)
    return Finding(level or usual, code, message, tuple(about))


def _of_items(report: PairsReport, items: Named, runs_away: bool) -> Iterator[Finding]:
    outside = [name for group in report.components for name in group]
    if outside:
        sets = plural(len(report.components) + 1, "set")
        yield _finding("disconnected", outside, items.texts(outside), sets=sets)
    yield from _with_games("undefeated", report.undefeated, items)
    yield from _with_games("winless", report.winless, items)
    for code, groups in (
        ("winning_group", report.winning_groups),
        ("losing_group", report.losing_groups),
    ):
        if groups:
            lists = [f"({first_of(items.texts(group), _SHOWN)})" for group in groups]
            yield _finding(code, [name for group in groups for name in group], lists)
    if report.n_comparisons == 0:
        yield _finding("nothing")
    elif report.tie == report.n_comparisons:
        yield _finding("only_ties")
    if runs_away:
        yield _finding("consistent")


def _with_games(
    code: str, counted: Sequence[tuple[Any, float]], items: Named
) -> Iterator[Finding]:
    if counted:
        names = [name for name, _ in counted]
        texts = [
            f"{text} ({count_text(games)} game{'s' * (games != 1)})"
            for text, (_, games) in zip(items.texts(names), counted, strict=True)
        ]
        yield _finding(code, names, texts, count=plural(len(names), "item"))


def _of_advantage(
    position: PositionFacts | None, level: Level | None
) -> Iterator[Finding]:
    if level == "problem":
        games = "is in no decided game"
        if position is not None:
            verb = "won" if position.share == 1.0 else "lost"
            games = f"{verb} all its {count_text(position.decided)} decided games"
        why = f": the side with it {games}. Leave it out, or add games that end "
        yield _finding("separated", why=why + "otherwise")
    elif level == "warning":
        why = ", strengths explain it as well or grow with it; " + _PRIOR[:-1]
        yield _finding("separated", level=level, why=why)


def _of_rows(report: PairsReport, absent: int) -> Iterator[Finding]:
    if report.self_rows:
        rows, count = list_rows(report.self_rows), plural(len(report.self_rows), "row")
        yield _finding("self_comparison", rows=rows, count=count)
    when = report.periods
    if when is not None and when.unsorted_row is not None:
        yield _finding("unsorted", row=when.unsorted_row)
    if report.drift is not None and report.drift < _LEVEL:
        yield _finding("drift", p=_p_text(report.drift))
    if report.repeated_rows:
        also = ", the same rater" * (report.raters is not None)
        also += ", the same period" * (when is not None)
        # Without raters or periods rows that were votes would go too.
        drop = f", if copies, leave them out by {flag('drop_duplicates')}" * bool(also)
        count, unit = plural(report.repeated_rows, "row"), flag("unit", "COLUMN")
        yield _finding("repeated", also=also, count=count, unit=unit, drop=drop)
    if absent:
        yield _finding("weightless", count=plural(absent, "row"))


def _of_newcomers(new: NewcomerFacts | None) -> Iterator[Finding]:
    if new is not None and new.p_value < _LEVEL:
        yield _finding(
            "newcomers",
            count=plural(new.n_items, "item"),
            most=count_text(new.most),
            better="better" if new.points > 0 else "worse",
            points=abs(new.points),
            p=_p_text(new.p_value),
            prior_by=flag("prior_by", "COLUMN"),
        )


def _of_position(position: PositionFacts | None) -> Iterator[Finding]:
    if position is None:
        return
    left = position.side == "left"
    values: dict[str, Any] = {
        "side": "The left side" if left else "The side with the advantage",
        "share": f"{position.share:.1%}",
        "decided": f"{count_text(position.decided)} decided comparisons",
    }
    if position.share in (0.0, 1.0) and position.decided >= _ONE_SIDED:
        verb = "won" if position.share else "lost"
        yield _finding("one_sided", verb=verb, **values)
    elif position.p_value is not None and position.p_value < _POSITION_LEVEL:
        assert position.estimate is not None
        small = abs(position.estimate) < _SMALL_EFFECT
        yield _finding(
            "position",
            level="warning" if left and not small else "note",
            estimate=position.estimate,
            error=position.standard_error,
            p=_p_text(position.p_value),
            small=": small, but not chance" * small,
            advice=f"{flag('position')} in rank, or advantage=1 in fit"
            if left
            else "advantage",
            **values,
        )


def _of_contradictions(report: PairsReport, items: Named) -> Iterator[Finding]:
    test = report.strengths
    if test is not None and test.p_value is not None and test.p_value >= _LEVEL:
        yield _finding("contradictory", p=_p_text(test.p_value))
    if report.cycles is None:
        return
    cycle = items.texts(report.cycles.example)
    if cycle:
        following = [*cycle[1:], cycle[0]]
        steps = [
            f"{a} beat {b} ({count_text(won)} to {count_text(lost)})"
            for a, b, (won, lost) in zip(
                cycle, following, report.cycles.scores, strict=True
            )
        ]
        yield _finding("cycle", report.cycles.example, steps)


def _of_raters(raters: RaterFacts | None) -> Iterator[Finding]:
    if raters is None:
        return
    voters = {
        "constant_rater": {
            name: f"{name!r} ({_WORDS[outcome]}, {count_text(votes)} times)"
            for name, outcome, votes in raters.constant
        },
        "one_vote": {name: repr(name) for name in raters.one_vote},
    }
    if raters.n_raters == 1:
        del voters["one_vote"]
        yield _finding("one_rater")
    for code, texts in voters.items():
        if texts:
            count = plural(len(texts), "rater")
            yield _finding(code, list(texts), list(texts.values()), count=count)
