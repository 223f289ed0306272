# SPDX-License-Identifier: BSD-3-Clause
"""What can be learned from comparisons, and what misleads.

The findings and their sentences are in :mod:`tiebreak.ratings.checks.pairs_report`.

Boundary conventions: a weight counts as that many comparisons, so a row of weight 0 is
absent. An item is over another when it won strictly more of their comparisons.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.special import betainc, chdtrc, ndtri

from tiebreak.data import Comparisons, Pairs, as_pairs, check_outcomes, check_weights
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import (
    Periods,
    find_distinct,
    order_periods,
    readable_period,
    take_rows,
)
from tiebreak.data.comparison_graph import (
    ComparisonCounts,
    ComparisonGraph,
    count_comparisons,
)
from tiebreak.models.covariates import (
    check_row_column,
    check_row_numbers,
    covariate_separation,
)
from tiebreak.ratings.checks.likelihood_tests import check_position, check_strengths
from tiebreak.ratings.checks.pairs_report import (
    MOST_ITEMS,
    CycleFacts,
    Level,
    Named,
    NewcomerFacts,
    PairsReport,
    PeriodFacts,
    PositionFacts,
    RaterFacts,
    StrengthFacts,
    find_all,
)
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.existence import (
    endless_members,
    has_decided_cycle,
    open_members,
)

FEW_GAMES = 3
MOST_ITEMS_FOR_TRIADS = 400
_STARTS = 20  # how many items a short cycle is looked for from
_ROUNDING = 1e-12  # sums of weights that differ by less are equal
CONSTANT_VOTES = 10
_DRIFT_GAMES, _DRIFT_PENALTY = 12, 0.5  # in each half; on strengths
# Newcomers have fewer games than this, and than half the median; so many at least,
# of so many items at most.
_NEWCOMER_GAMES, _NEWCOMERS, _NEWCOMER_ITEMS = 30, 3, 500


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

    Triads are counted for up to 400 items, strengths tested for up to 1,500; of teams
    neither is.

    Parameters
    ----------
    X, y : Pairs or array of shape (n, 2, n_features), array-like of shape (n,)
        Comparisons (in an array, rows of equal features are the same item) and outcomes
        -1 (left), 0 (tie), +1 (right).
    rater, advantage : array-like of shape (n,), optional
        Who judged; and the advantage of left, such as 1 at home. The effect of position
        is then that of the advantage.
    period, sample_weight : array-like of shape (n,), optional
        When, in any type that can be sorted; and weights.
    sided : bool, default=True
        Whether the side of an item means anything. False for comparisons made of grades
        or ranked lists: no effect of position is tested.

    Returns
    -------
    PairsReport
        To ``print``; ``ok``, ``findings``, ``to_dict()`` for programs.

    Notes
    -----
    Equal strengths are tested by 2 (ℓ̂ - ℓ₀) on N - 1 degrees of freedom, less one per
    further set of items that never meets the others; where a quarter of the items has
    fewer than 24 games, by 199 draws from equal items. Position is tested by the
    likelihood ratio of an effect beside strengths (penalty 0.05). Comparisons are taken
    as independent.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.ratings import check_pairs
    >>> pairs = Pairs(None, ["Ada", "Bo", "Cy", "Ada"], ["Bo", "Cy", "Bo", "Cy"])
    >>> report = check_pairs(pairs, [-1, -1, -1, -1])
    >>> report.ok, report.has_maximum_likelihood
    (True, False)
    >>> found = {finding.code: finding.items for finding in report.findings}
    >>> found["undefeated"]
    ('Ada',)
    """
    pairs = _merge_items(X)
    n = len(pairs)
    outcome = check_outcomes(y, n)
    weight = check_weights(sample_weight, n)
    periods = None if period is None else order_periods(period, n)
    favor = None if advantage is None else check_row_numbers(advantage, "advantage", n)

    present = weight > 0
    same = pairs.sides[0] == pairs.sides[1]
    counted = present & ~same
    compared = pairs[counted]
    kept = compared.compact()
    raters = None
    if rater is not None:
        column = check_row_column(rater, "rater", n)
        raters = find_distinct(take_rows(column, counted))
    columns = {} if raters is None else {"rater": raters.codes}
    if favor is not None:
        columns["advantage"] = favor[counted]
    votes = Comparisons(kept, outcome[counted], weight[counted], columns)
    teams = kept.members is not None
    single, row = kept.opponents()
    graph = ComparisonGraph.of(single, votes.y[row], votes.weight[row])
    items = Named(kept.names, compared.touched())
    games = graph.wins + graph.ties + graph.losses
    together, runs_away = (), False
    if kept.members is not None:
        left, right = (kept.members[side] for side in kept.sides)
        games = votes.weight @ (left + right)
        if kept.n_items <= MOST_ITEMS_FOR_TRIADS:
            together, runs_away = _check_members(votes, items)
    told_apart = raters is not None or periods is not None or sample_weight is not None
    repeated, facts, drift = _count_copied(votes), None, None
    if told_apart:
        repeated = _count_repeated(votes, periods, counted)
    if raters is not None and len(kept) and not teams:
        facts = check_raters(votes, raters.values)
    if periods is not None and len(kept) and not teams:
        drift = check_drift(votes, periods.place[counted])
    newcomers = None if teams else check_newcomers(votes, games)
    cells = None if favor is None or teams else _count_cells(votes)
    left, tie, right = np.bincount(votes.y + 1, votes.weight, 3).tolist()
    met = triu(graph.beats + graph.beats.T + graph.tied).data
    report = PairsReport(
        n_rows=int(present.sum()),
        n_items=kept.n_items,
        n_connected=kept.n_items if teams else int((graph.strong_component == 0).sum()),
        n_comparisons=left + tie + right,
        left=left,
        tie=tie,
        right=right,
        n_pairs=len(met),
        **_range(met),
        self_rows=tuple(np.flatnonzero(present & same).tolist()),
        repeated_rows=repeated,
        components=tuple(map(items.of, _members(graph.component)[1:])),
        undefeated=items.with_counts(graph.undefeated, games, most_first=True),
        winless=items.with_counts(graph.winless, games, most_first=True),
        winning_groups=() if teams else tuple(map(items.of, graph.winning_groups)),
        losing_groups=() if teams else tuple(map(items.of, graph.losing_groups)),
        few_games=items.with_counts(np.flatnonzero(games < FEW_GAMES), games),
        strengths=None if teams else _strengths(graph, cells),
        cycles=None if teams else find_cycles(graph, items),
        position=_position(votes, cells) if sided and not teams else None,
        raters=facts,
        periods=None if periods is None else _when(periods, np.flatnonzero(present)),
        drift=drift,
        newcomers=newcomers,
        findings=(),
    )
    # Strengths and the tie parameter can also run away together; see bradley_terry.py.
    runs_away = runs_away or (
        not teams
        and graph.is_strongly_connected
        and 0 < report.tie < report.n_comparisons
        and not has_decided_cycle(graph)
    )
    separated = None if cells is None else _separated(cells, kept.n_items)
    absent = n - report.n_rows
    findings = find_all(report, items, absent, runs_away, separated, together)
    return replace(report, findings=findings)


def _check_members(votes: Comparisons, items: Named) -> tuple[tuple[Any, ...], bool]:
    """Name members of teams who cannot be told apart; whether others run away."""
    members, (left, right) = votes.pairs.members, votes.pairs.sides
    assert members is not None
    cells = count_comparisons(left, right, votes.y, votes.weight, members.shape[0])
    favor = (members[cells.left] - members[cells.right]).toarray()
    if len(some := open_members(favor)):
        return items.of(some), False
    return (), len(endless_members(cells, favor)) > 0


def _merge_items(X: Any) -> Pairs:
    """Comparisons of items with names; row numbers, where there are none."""
    pairs = as_pairs(X, by_name=True)
    if len(pairs) == 0:
        raise ValueError("There are no comparisons to check: X has 0 rows.")
    if pairs is not X and pairs.has_features:
        table, number = pairs.table.unique()
        pairs = Pairs._of(table, number[pairs.left], number[pairs.right], None)
    return pairs


def _count_repeated(votes: Comparisons, periods: Periods | None, counted: Flags) -> int:
    """Count the rows that equal an earlier one, weights aside."""
    left, right = votes.pairs.sides
    columns = {"left": left, "right": right, "outcome": votes.y}
    if "rater" in votes.columns:
        columns["rater"] = votes.columns["rater"]
    if periods is not None:
        columns["period"] = periods.place[counted]
    return len(votes) - pl.DataFrame(columns).hash_rows().n_unique()


def _count_copied(votes: Comparisons) -> int | None:
    """Count rows that equal the row before, where chance or sorting cannot explain it.

    Of n rows in random order, n_k of kind k, about Σ n_k (n_k - 1) / n do.
    """
    left, right = votes.pairs.sides
    pair = left.astype(np.int64) * (int(right.max(initial=0)) + 1) + right
    kind, n = 3 * pair + votes.y, max(len(pair), 1)
    equal, stretches = (kind[1:] == kind[:-1]).sum(), (pair[1:] != pair[:-1]).sum()
    of_kind = np.unique(kind, return_counts=True)[1]
    usual = float((of_kind * (of_kind - 1.0)).sum()) / n
    is_sorted = stretches < 2 * len(np.unique(pair))
    copied = equal > 2.0 * usual + 5.0 * math.sqrt(usual) + 5.0 and not is_sorted
    return int(equal) if copied else None


def _range(counts: Floats) -> dict[str, float]:
    """Give the least, the median and the largest count; 0 without any."""
    counts = counts if len(counts) else np.zeros(1)
    ends = {"fewest": float(counts.min()), "most": float(counts.max())}
    return ends | {"median": float(np.median(counts))}


def _members(label: Codes) -> list[Codes]:
    """List the members of each class, of labels 0, 1, ... without gaps."""
    ends = np.cumsum(np.bincount(label))
    return np.split(np.argsort(label, kind="stable"), ends[:-1]) if len(ends) else []


def _count_cells(votes: Comparisons) -> ComparisonCounts:
    """Count comparisons by pair and advantage, 1 for left if none is given."""
    pairs, n, columns = votes.pairs, votes.pairs.n_items, (votes.y, votes.weight)
    if "advantage" in votes.columns:
        favor = votes.columns["advantage"][:, None]
        return count_comparisons(pairs.left, pairs.right, *columns, n, favor)
    # As if items on the right were others, so that sides are kept.
    cells = count_comparisons(pairs.left, pairs.right + n, *columns, 2 * n)
    ones = np.ones((len(cells.left), 1))
    return ComparisonCounts(cells.left, cells.right - n, cells.counts, ones)


def _strengths(
    graph: ComparisonGraph, cells: ComparisonCounts | None
) -> StrengthFacts | None:
    """Test equal strengths; cells are those of an advantage, if one was given."""
    if graph.n_items > MOST_ITEMS or not graph.present.any():
        return None
    if cells is None or not cells.covariates.any():
        low, high = triu(graph.adjacency + graph.adjacency.T, 1).tocoo().coords
        counts = [graph.beats[low, high], graph.tied[low, high], graph.beats[high, low]]
        nothing = np.empty((len(low), 0))
        cells = ComparisonCounts(low, high, np.column_stack(counts), nothing)
    return check_strengths(cells, graph.n_items, graph.n_components)


def _separated(cells: ComparisonCounts, n_items: int) -> Level | None:
    """Whether the effect of the advantage has no finite estimate, and how bad."""
    if not cells.covariates.any():
        return None
    if covariate_separation(cells, n_items, penalized=True):
        return "problem"
    if n_items <= MOST_ITEMS and covariate_separation(cells, n_items):
        return "warning"
    return None


def _position(
    votes: Comparisons, cells: ComparisonCounts | None
) -> PositionFacts | None:
    side, favored = "left", np.ones(len(votes))
    if "advantage" in votes.columns:
        side, favored = "advantage", np.sign(votes.columns["advantage"])
    # Left wins with outcome -1: then, favored, the product is -1.
    won = -favored * votes.y
    wins = float(votes.weight[won > 0].sum())
    decided = float(votes.weight[won != 0].sum())
    if decided == 0:
        return None
    test = check_position(cells or _count_cells(votes), votes.pairs.n_items)
    interval = map(float, wilson_interval(wins, decided))
    shares = decided, wins, wins / decided, *interval
    return PositionFacts(side, *shares, *(test or (None, None, None)))


def _when(periods: Periods, rows: Codes) -> PeriodFacts:
    when = periods.place[rows]
    backwards = np.flatnonzero(np.diff(when) < 0)
    return PeriodFacts(
        n_periods=len(np.unique(when)),
        first=readable_period(periods.values[when.min()]),
        last=readable_period(periods.values[when.max()]),
        is_sorted=len(backwards) == 0,
        unsorted_row=int(rows[backwards[0] + 1]) if len(backwards) else None,
    )


def check_drift(votes: Comparisons, when: Codes) -> float | None:
    """Test whether strengths are the same in both halves of the time.

    With the residual g = y - E[y] of a row by strengths of all rows and u = e_right -
    e_left, let s = Σ ±g u, + in the second half. If nothing changes its covariance is
    about S = Σ v u uᵀ, v = g² / (1 - l/2) with l the leverage of the row, and |s|² is
    about tr S / k times χ²_k, k = (tr S)² / tr S². Rows are those between items with 12
    games in each half; None if there are none, or nothing is decided.
    """
    n, sides = votes.pairs.n_items, [votes.pairs.left, votes.pairs.right]
    late = when >= max(np.sort(when)[len(when) // 2], when.min() + 1)

    def by_item(column: Floats) -> Floats:
        return np.sum([np.bincount(side, column, n) for side in sides], axis=0)

    games = [by_item(votes.weight * half) for half in (late, ~late)]
    enough = np.min(games, axis=0)[sides].min(axis=0) >= _DRIFT_GAMES
    votes, late = votes.take(np.flatnonzero(enough)), late[enough]
    if not votes.y.any():
        return None
    model, pairs = _fit_votes(votes, _DRIFT_PENALTY)
    sides, weight = [pairs.left, pairs.right], votes.weight
    lost, tied, won = model.predict_proba(pairs).T
    g, spread = votes.y - (won - lost), 1.0 - tied - (won - lost) ** 2
    signed = np.where(late, weight, -weight) * g
    s = np.bincount(pairs.right, signed, n) - np.bincount(pairs.left, signed, n)
    inverse = 1.0 / (by_item(weight * spread) + 8.0 * _DRIFT_PENALTY)
    v = weight * g**2 / (1.0 - 0.5 * spread * inverse[sides].sum(axis=0))
    total, met = by_item(v), csr_array((v, sides), (n, n))
    k = total.sum() ** 2 / (total @ total + (met + met.T).power(2).sum())
    return float(chdtrc(k, k * (s @ s) / total.sum()))


def check_newcomers(votes: Comparisons, games: Floats) -> NewcomerFacts | None:
    """Test whether items of few games are as strong as the others, as the prior says.

    It is the difference of the means of both classes in `BradleyTerry(prior_by=...)`.
    None: nothing is decided, a class has fewer than 3 items, or there are over 500.
    """
    if not 2 * _NEWCOMERS <= len(games) <= _NEWCOMER_ITEMS or not votes.y.any():
        return None
    few = games < min(_NEWCOMER_GAMES, 0.5 * float(np.median(games)))
    sizes = int(few.sum()), int((~few).sum())
    if min(sizes) < _NEWCOMERS:
        return None
    model, _ = _fit_votes(votes, "auto", dict(enumerate(few.tolist())))
    effect = model.coefficients().row(0, named=True)
    sign = 1.0 if model.prior_names_[1] else -1.0
    points = sign * effect["estimate"] * 400.0 / math.log(10.0)
    return NewcomerFacts(sizes[0], float(games[few].max()), points, effect["p_value"])


def find_cycles(graph: ComparisonGraph, names: Named) -> CycleFacts:
    """Find the cycles of the majority relation, and the widest triad."""
    margin = _margins(graph)
    _, label = connected_components(margin, directed=True, connection="strong")
    items = np.flatnonzero(np.bincount(label)[label] > 1).astype(np.int64)
    circular = decided = None
    cycle: list[int] = []
    compared = np.flatnonzero(graph.present)
    if len(compared) <= MOST_ITEMS_FOR_TRIADS:
        circular, decided = _count_triads(margin[compared][:, compared].toarray() > 0)
        if circular:
            cycle = list(_widest_triad(margin[items][:, items].toarray()))
    if len(items) and not cycle:
        cycle = _short_cycle(margin[items][:, items])
    example = items[cycle]
    scores = tuple(
        (float(graph.beats[i, j]), float(graph.beats[j, i]))
        for i, j in zip(example, np.roll(example, -1), strict=True)
    )
    return CycleFacts(len(items), names.of(example), scores, circular, decided)


def _margins(graph: ComparisonGraph) -> csr_array:
    """Wins minus losses of i against j, where positive."""
    margin = csr_array(graph.beats - graph.beats.T)
    margin.data[margin.data <= _ROUNDING * graph.beats.data.max(initial=0.0)] = 0.0
    margin.eliminate_zeros()
    return margin


def _count_triads(over: Flags) -> tuple[int, int]:
    one_way = over.astype(np.float64)
    either = one_way + one_way.T
    # tr(M³) is the sum of M² times Mᵀ, entry by entry; whole numbers below 2⁵³.
    circular = ((one_way @ one_way) * one_way.T).sum() / 3
    decided = ((either @ either) * either).sum() / 6
    return round(circular), round(decided)


def _widest_triad(margin: Floats) -> tuple[int, int, int]:
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
    """Give the shortest cycle through one of the first items."""
    shortest: list[int] = []
    into = csr_array(margin.T)
    for start in range(min(_STARTS, margin.shape[0])):
        order, before = breadth_first_order(margin, start, return_predecessors=True)
        # In order of distance, so the first item over the start closes a shortest one.
        over = into.indices[into.indptr[start] : into.indptr[start + 1]]
        closes = np.isin(order, over)
        path = [int(order[closes.argmax()])]
        while path[-1] != start:
            path.append(int(before[path[-1]]))
        if not shortest or len(path) < len(shortest):
            shortest = path[::-1]
    return shortest


def check_raters(votes: Comparisons, names: list[Any]) -> RaterFacts:
    """Describe the raters, and find those whose votes say nothing."""
    rater, n = votes.columns["rater"], len(names)
    total = np.bincount(rater, votes.weight, n).astype(float)
    present = total > 0
    voted = np.bincount(3 * rater + votes.y + 1, minlength=3 * n).reshape(n, 3) > 0
    constant = (voted.sum(axis=1) == 1) & (total >= CONSTANT_VOTES)
    return RaterFacts(
        n_raters=int(present.sum()),
        **_range(total[present]),
        one_vote=tuple(names[code] for code in np.flatnonzero(total == 1)),
        constant=tuple(
            (names[code], int(voted[code].argmax()) - 1, float(total[code]))
            for code in np.flatnonzero(constant)
        ),
    )


def _fit_votes(
    votes: Comparisons, alpha: Any, prior_by: Any = None
) -> tuple[BradleyTerry, Pairs]:
    """Fit strengths of items that are named by their numbers."""
    names = np.arange(votes.pairs.n_items)
    pairs = Pairs._of(None, votes.pairs.left, votes.pairs.right, names)
    tied = (votes.y == 0).any()
    ties: Any = "davidson" if tied else None
    model = BradleyTerry(ties, alpha=alpha, prior_by=prior_by)
    with warnings.catch_warnings():
        # True of a part of the votes, these would say nothing; and items that never
        # meet are not compared here either.
        known = "y holds only 0 and 1|.* comparable only by the penalty"
        warnings.filterwarnings("ignore", message=known)
        model.fit(pairs, votes.y, sample_weight=votes.weight)
    return model, pairs


def wilson_interval(wins: Any, total: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Wilson's intervals for shares."""
    z = float(ndtri((1 + level) / 2))
    # Nothing is divided by the total alone, which may be the sum of tiny weights.
    share, whole = wins / total, total + z**2
    center = (wins + z**2 / 2) / whole
    half = z / whole * np.sqrt(share * (1 - share) * total + z**2 / 4)
    return np.maximum(0.0, center - half), np.minimum(1.0, center + half)


def binomial_at_most(wins: ArrayLike, total: ArrayLike, share: Any = 0.5) -> Any:
    """P(at most so many wins)."""
    lost = np.subtract(total, wins)
    # Older SciPy has no value where nothing was lost.
    tail = betainc(np.maximum(lost, 1e-300), np.add(wins, 1.0), 1.0 - share)
    return np.where(lost > 0, tail, 1.0)
