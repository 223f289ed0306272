# SPDX-License-Identifier: BSD-3-Clause
"""Look at comparisons before fitting: what can be learned, and what misleads.

Boundary conventions: a weight counts as that many comparisons, so a row of weight 0 is
absent; a comparison of an item with itself is reported and counted nowhere.

Cycles of "beat more often than it lost to": A over B over C over A.

Boundary convention: an item is over another when it won strictly more of their
comparisons; equally many wins, or only ties, decide nothing.

Which facts about comparisons are worth a word, and the words.

A problem is what keeps a strength from being learned, a warning what may mislead, a
note what is good to know. Every message says what was found, with names, and what to
try.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tiebreak.data import Pairs, as_pairs, check_outcomes, check_weights
from tiebreak.data.columns import (
    Distinct,
    Periods,
    as_column,
    find_distinct,
    number_keys,
    order_periods,
    plain_values,
    readable_period,
    refuse_missing,
)
from tiebreak.data.comparison_graph import ComparisonGraph
from tiebreak.data.messages import list_rows
from tiebreak.ratings.checks.raters import (
    Votes,
    binomial_two_sided,
    check_raters,
    wilson_interval,
)
from tiebreak.ratings.checks.report import (
    LEVELS,
    CycleFacts,
    Finding,
    PairsReport,
    PeriodFacts,
    PositionFacts,
    RaterFacts,
    count_text,
    percent,
    plural,
)
from tiebreak.ratings.inputs import check_row_numbers
from tiebreak.ratings.strengths.existence import has_decided_cycle

MOST_ITEMS_FOR_TRIADS = 400
_STARTS = 20  # how many items a short cycle is looked for from
_ROUNDING = 1e-12  # sums of weights that differ by less are equal


@dataclass(frozen=True, eq=False)
class MajorityCycles:
    """What contradicts a ranking.

    Attributes
    ----------
    items : ndarray of int64
        The items that lie on a cycle, ascending.
    example : tuple of int
        A cycle, each item over the next and the last over the first; empty if there
        is none. If there are circular triads to choose from, the one whose smallest
        margin is largest.
    circular_triads : int or None
        How many sets of three items form a cycle. None: too many items to count.
    decided_triads : int or None
        Of how many, where each of the three pairs has a majority.
    """

    items: NDArray[np.int64]
    example: tuple[int, ...]
    circular_triads: int | None
    decided_triads: int | None


def find_cycles(graph: ComparisonGraph) -> MajorityCycles:
    """Find the cycles of the majority relation.

    Items on a cycle are those of the strong components of two or more items, in
    O(n + N). Triads are counted by products of N × N matrices, so only up to
    `MOST_ITEMS_FOR_TRIADS` items: with M the matrix of "over", tr(M³)/3 are circular
    of tr(D³)/6 decided ones, D = M + Mᵀ.

    Parameters
    ----------
    graph : ComparisonGraph
        The comparisons.

    Returns
    -------
    MajorityCycles
    """
    margin = _margins(graph)
    _, label = connected_components(margin, directed=True, connection="strong")
    items = np.flatnonzero(np.bincount(label)[label] > 1).astype(np.int64)
    circular = decided = None
    example: tuple[int, ...] = ()
    compared = np.flatnonzero(graph.present)
    if len(compared) <= MOST_ITEMS_FOR_TRIADS:
        circular, decided = _count_triads(margin[compared][:, compared].toarray() > 0)
        if circular:
            triad = _widest_triad(margin[items][:, items].toarray())
            example = tuple(int(code) for code in items[list(triad)])
    if len(items) and not example:
        inside = margin[items][:, items]
        example = tuple(int(code) for code in items[_short_cycle(inside)])
    return MajorityCycles(items, example, circular, decided)


def _margins(graph: ComparisonGraph) -> csr_array:
    """Wins minus losses of i against j, where positive."""
    margin = csr_array(graph.beats - graph.beats.T)
    margin.data[margin.data <= _ROUNDING * graph.beats.data.max(initial=0.0)] = 0.0
    margin.eliminate_zeros()
    return margin


def _count_triads(over: NDArray[np.bool_]) -> tuple[int, int]:
    one_way = over.astype(np.float64)
    either = one_way + one_way.T
    # tr(M³) is the sum of M² times Mᵀ, entry by entry; whole numbers below 2⁵³.
    circular = ((one_way @ one_way) * one_way.T).sum() / 3
    decided = ((either @ either) * either).sum() / 6
    return round(circular), round(decided)


def _widest_triad(margin: NDArray[np.float64]) -> tuple[int, int, int]:
    """Give the circular triad whose smallest margin is largest."""
    best, triad = 0.0, (0, 0, 0)
    for middle in range(len(margin)):
        # Smallest margin of the cycle i → middle → j → i.
        into, out = margin[:, middle, np.newaxis], margin[np.newaxis, middle]
        smallest = np.minimum(np.minimum(into, out), margin.T)
        at = int(smallest.argmax())
        if smallest.flat[at] > best:
            best = float(smallest.flat[at])
            i, j = divmod(at, len(margin))
            triad = (i, middle, j)
    return triad


def _short_cycle(margin: csr_array) -> list[int]:
    """Give the shortest cycle through one of the first items, all of which have one."""
    found: list[int] = []
    into = csr_array(margin.T)
    for start in range(min(_STARTS, margin.shape[0])):
        order, before = breadth_first_order(margin, start, return_predecessors=True)
        # In order of distance, so the first item over the start closes a shortest one.
        closes = np.isin(
            order, into.indices[into.indptr[start] : into.indptr[start + 1]]
        )
        path = [int(order[closes.argmax()])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        if not found or len(path) < len(found):
            found = path[::-1]
    return found


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
        *_position_finding(report),
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


def _position_finding(report: PairsReport) -> Iterator[Finding]:
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


FEW_GAMES = 3
_LARGEST_KEY = 2**62


def check_pairs(
    X: Any,
    y: ArrayLike,
    *,
    rater: ArrayLike | None = None,
    advantage: ArrayLike | None = None,
    period: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sided: bool = True,
) -> PairsReport:
    """Say what comparisons hold, and what stands in the way of learning from them.

    Looks for items that never meet the rest, items and groups that won or lost
    everything, items of few games, items compared with themselves, cycles, an effect
    of position, repeated rows, raters whose votes say nothing, and rows out of order.
    Takes O(n + N) for n comparisons of N items, and products of N × N matrices to count
    circular triads of up to 400 items.

    Parameters
    ----------
    X : Pairs or array-like of shape (n, 2, n_features)
        Comparisons. In an array, rows of equal features are the same item.
    y : array-like of shape (n,)
        Outcomes: -1 left is better, 0 tie, +1 right is better.
    rater : array-like of shape (n,), optional
        Who judged; of any type.
    advantage : array-like of shape (n,), optional
        Advantage of the left side, such as 1 at home, 0 on neutral ground. The effect
        of position is then that of the side with the advantage.
    period : array-like of shape (n,), optional
        When; anything that can be sorted.
    sample_weight : array-like of shape (n,), optional
        Weights; each counts as that many comparisons.
    sided : bool, default=True
        Whether it means something which item is on the left. False for comparisons
        that were made of grades or ranked lists: their sides are only the order of a
        table, and no effect of position is looked for.

    Returns
    -------
    PairsReport
        ``print`` it. ``ok`` says whether every strength can be learned, ``findings``
        holds what was found, ``to_dict()`` everything as plain values.

    Raises
    ------
    ValueError
        If outcomes, weights or the length of a column are wrong, as in ``fit``.

    Notes
    -----
    The effect of position is the share of decided comparisons that a side won. It
    takes for granted that strong items stand on both sides alike.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.ratings.checks.check_pairs import check_pairs
    >>> pairs = Pairs(None, ["Ada", "Bo", "Cy", "Ada"], ["Bo", "Cy", "Bo", "Cy"])
    >>> report = check_pairs(pairs, [-1, -1, -1, -1])
    >>> report.ok
    False
    >>> report.findings[0].code, report.findings[0].items
    ('undefeated', ('Ada',))
    >>> report.tie_rate
    0.0
    """
    pairs = _merge_items(X)
    n = len(pairs)
    outcome = check_outcomes(y, n)
    weight = check_weights(sample_weight, n)
    periods = None if period is None else order_periods(period, n)
    favor = None if advantage is None else check_row_numbers(advantage, "advantage", n)

    present = weight > 0
    same = pairs.left == pairs.right
    counted = present & ~same
    whole = bool(counted.all())
    compared = pairs if whole else pairs[counted]
    kept = compared.compact()
    raters = None if rater is None else _distinct_raters(rater, counted)
    votes = Votes(
        kept.left,
        kept.right,
        outcome if whole else outcome[counted],
        weight if whole else weight[counted],
        kept.n_items,
        None if raters is None else raters.codes,
        favor if favor is None or whole else favor[counted],
    )
    graph = ComparisonGraph.of(kept, votes.outcome, votes.weight)
    items = Named(kept.names, compared.touched())
    games = graph.wins + graph.ties + graph.losses
    report = PairsReport(
        n_rows=int(present.sum()),
        n_items=kept.n_items,
        n_connected=int((graph.strong_component == 0).sum()),
        **_count_outcomes(votes),
        **_count_pairs(graph),
        self_rows=tuple(np.flatnonzero(present & same).tolist()),
        repeated_rows=(
            None
            if raters is None and periods is None and sample_weight is None
            else _count_repeated(votes, periods, counted)
        ),
        components=tuple(map(items.of, _members(graph.component)[1:])),
        undefeated=items.with_counts(graph.undefeated, games, most_first=True),
        winless=items.with_counts(graph.winless, games, most_first=True),
        winning_groups=tuple(map(items.of, graph.winning_groups)),
        losing_groups=tuple(map(items.of, graph.losing_groups)),
        few_games=items.with_counts(np.flatnonzero(games < FEW_GAMES), games),
        cycles=_describe_cycles(graph, items),
        position=_position(votes) if sided else None,
        raters=(
            None
            if raters is None or len(kept) == 0
            else check_raters(votes, raters.values)
        ),
        periods=None if periods is None else _when(periods, np.flatnonzero(present)),
        findings=(),
    )
    # Strengths and the tie parameter can also run away together; see existence.py.
    runs_away = (
        graph.is_strongly_connected
        and 0 < report.tie < report.n_comparisons
        and not has_decided_cycle(graph)
    )
    findings = find_all(report, items, absent=n - report.n_rows, runs_away=runs_away)
    return replace(report, findings=findings)


def _merge_items(X: Any) -> Pairs:
    """Give comparisons of items with names; row numbers, where there are none."""
    pairs = as_pairs(X)
    if len(pairs) == 0:
        raise ValueError("There are no comparisons to check: X has 0 rows.")
    if pairs is not X:
        table, number = pairs.unique_items()
        pairs = Pairs._of(table, number[pairs.left], number[pairs.right], None)
    return pairs


def _distinct_raters(rater: ArrayLike, counted: NDArray[np.bool_]) -> Distinct:
    column = as_column(rater, "rater")
    if len(column) != len(counted):
        raise ValueError(
            f"rater has {len(column)} values but there are {len(counted)} rows; they "
            "must be as many."
        )
    refuse_missing(column, "rater")
    return find_distinct(column if counted.all() else column[counted])


def _count_outcomes(votes: Votes) -> dict[str, Any]:
    left, tie, right = np.bincount(votes.outcome + 1, votes.weight, 3).tolist()
    total = left + tie + right
    return {"n_comparisons": total, "left": left, "tie": tie, "right": right}


def _count_pairs(graph: ComparisonGraph) -> dict[str, Any]:
    met = triu(graph.beats + graph.beats.T + graph.tied).data
    if len(met) == 0:
        return {"n_pairs": 0, "fewest": 0.0, "median": 0.0, "most": 0.0}
    return {
        "n_pairs": len(met),
        "fewest": float(met.min()),
        "median": float(np.median(met)),
        "most": float(met.max()),
    }


def _count_repeated(
    votes: Votes, periods: Periods | None, counted: NDArray[np.bool_]
) -> int:
    """Count the rows that equal an earlier one in everything but the weight."""
    columns = [votes.left, votes.right, votes.outcome.astype(np.int64) + 1]
    if votes.rater is not None:
        columns.append(votes.rater)
    if periods is not None:
        columns.append(periods.place[counted])
    keys, size = np.zeros(len(votes.left), dtype=np.int64), 1
    for column in columns:
        values = 1 + int(column.max(initial=0))
        if size * values > _LARGEST_KEY:
            # Numbered anew, keys are below the number of rows.
            keys, size = number_keys(keys.view(np.uint64))[0], len(keys)
        keys *= values
        keys += column
        size *= values
    keys.sort()  # in place, so that ten million keys need no second array
    return int(np.count_nonzero(keys[1:] == keys[:-1]))


def _members(label: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """List the members of each class, of labels 0, 1, ... without gaps."""
    ends = np.cumsum(np.bincount(label))
    return np.split(np.argsort(label, kind="stable"), ends[:-1]) if len(ends) else []


def _describe_cycles(graph: ComparisonGraph, items: Named) -> CycleFacts:
    cycles = find_cycles(graph)
    example = np.asarray(cycles.example, dtype=np.int64)
    following = np.roll(example, -1)
    return CycleFacts(
        n_items=len(cycles.items),
        example=items.of(example),
        scores=tuple(
            (float(graph.beats[i, j]), float(graph.beats[j, i]))
            for i, j in zip(example, following, strict=True)
        ),
        circular_triads=cycles.circular_triads,
        decided_triads=cycles.decided_triads,
    )


def _position(votes: Votes) -> PositionFacts | None:
    side, favored = "left", np.ones(len(votes.left))
    if votes.advantage is not None:
        side, favored = "advantage", np.sign(votes.advantage)
    # Left wins with outcome -1: then, favored, the product is -1.
    won = -favored * votes.outcome
    wins = float(votes.weight[won > 0].sum())
    decided = float(votes.weight[won != 0].sum())
    if decided == 0:
        return None
    low, high = wilson_interval(wins, decided)
    return PositionFacts(
        side=side,
        decided=decided,
        wins=wins,
        share=wins / decided,
        low=low,
        high=high,
        p_value=binomial_two_sided(wins, decided),
    )


def _when(periods: Periods, rows: NDArray[np.int64]) -> PeriodFacts:
    """Describe the periods of some rows."""
    when = periods.place[rows]
    backwards = np.flatnonzero(np.diff(when) < 0)
    return PeriodFacts(
        n_periods=len(np.unique(when)),
        first=readable_period(periods.values[when.min()]),
        last=readable_period(periods.values[when.max()]),
        is_sorted=len(backwards) == 0,
        unsorted_row=int(rows[backwards[0] + 1]) if len(backwards) else None,
    )
