# SPDX-License-Identifier: BSD-3-Clause
"""Look at comparisons before fitting: what can be learned, and what misleads.

Boundary conventions: a weight counts as that many comparisons, so a row of weight 0 is
absent; a comparison of an item with itself is reported and counted nowhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import triu

from tiebreak.data import Pairs, as_pairs, check_outcomes, check_weights
from tiebreak.data.columns import as_column, refuse_missing
from tiebreak.data.comparison_graph import ComparisonGraph
from tiebreak.data.distinct import Distinct, find_distinct, number_keys
from tiebreak.data.periods import Periods, order_periods, readable_period
from tiebreak.ratings.existence import has_decided_cycle
from tiebreak.ratings.inputs import check_row_numbers
from tiebreak.ratings.majority_cycles import find_cycles
from tiebreak.ratings.pair_facts import CycleFacts, PeriodFacts, PositionFacts
from tiebreak.ratings.pair_findings import Named, find_all
from tiebreak.ratings.pairs_report import PairsReport
from tiebreak.ratings.proportions import binomial_two_sided, wilson_interval
from tiebreak.ratings.rater_checks import Votes, check_raters

__all__ = ["check_pairs"]

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
    >>> from tiebreak.ratings.check_pairs import check_pairs
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
