# SPDX-License-Identifier: BSD-3-Clause
r"""The fewest votes (raters, items, days) whose removal or reversal overturns a claim.

A claim is c(θ) = θ_a - θ_b > 0; equal strengths overturn it too. That one item is above
another is claimed of both without their priors (`ratings.strengths.contrasts`), whose
weights change c. With H the Hessian of
the objective at its minimum x and s_j the gradient of the loss of one vote of kind j,
one vote more of that kind moves the claim, to first order, by

.. math:: e_j = -c^\top H^{-1} s_j,

so one solve gives the effects of all votes, and the m most negative ones lower c most.
Effects grow as votes go, so at each minimum they are computed and chosen anew; m is
found by bisection. **What is returned was verified by a minimum without exactly these
votes**: it is an upper bound on the fewest. Where the sets of fewer votes are few, all
are tried, and the number is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.comparison_graph import number_cells
from tiebreak.losses import (
    ComparisonObjective,
    CovariateDesign,
    Design,
    HalfWins,
    ItemDesign,
    JointDesign,
    OutcomeLink,
)
from tiebreak.losses.comparison_covariance import HessianFactor
from tiebreak.ratings.strengths.contrasts import difference_weights
from tiebreak.solvers import chord_steps, conjugate_gradients, minimize_newton
from tiebreak.solvers.newton import DENSE_LIMIT

EQUAL = 1e-7  # a difference of strengths that is not more is none
_TOL = 1e-9
# Of steps with the factor of another minimum, in standard errors.
_ACCURACY = 1e-8
_SMALL = 150  # variables; up to so many a factor of their own is cheaper
_MOST_ROUNDS = 60  # of adding votes until the claim falls
_CHOSEN_AGAIN = 4  # times, for one number of votes
_DROPPED = 32  # votes; a larger set is not tried without each of its votes
# Up to so many votes all sets of fewer are tried, if there are not more than these.
_FEW_VOTES, _MOST_SETS = 24, 3000
_MOST_GROUPS = 100  # sets of raters, items or days that are tried
_MOST_ITEMS = 5  # without more others it is another leaderboard
# Effects at the start are of one vote each; a set may do up to this much more.
_SAFETY = 1.5
_RIVALS = 60


@dataclass(frozen=True, eq=False)
class VoteCounts:
    """Votes summed by cell and outcome: column 3 k + c is outcome c of cell k."""

    n_items: int
    left: Codes  # (m,) items of each cell, left ≤ right
    right: Codes
    covariates: Floats  # (m, q), in favor of left
    column: Codes  # (n,) of each vote
    weight: Floats  # (n,)

    @cached_property
    def counts(self) -> Floats:
        """Summed weights, shape (3 m,)."""
        return np.bincount(self.column, self.weight, 3 * len(self.left)).astype(float)


class Strengths:
    """Penalized strengths for any counts of the cells."""

    def __init__(
        self, votes: VoteCounts, link: OutcomeLink, alpha: float, weak: Floats
    ) -> None:
        self.votes, self.link, self.alpha = votes, link, alpha
        self.without_priors = False  # in claims
        design: Design = ItemDesign(votes.left, votes.right, votes.n_items)
        if votes.covariates.shape[1]:
            design = JointDesign(design, CovariateDesign(votes.covariates))
        self.design = design
        self.penalty = np.append(np.full(votes.n_items, alpha), weak)

    def fit(
        self,
        counts: Floats,
        near: StrengthFit | None = None,
        start: Floats | None = None,
    ) -> StrengthFit:
        """Minimize for counts (3 m,), from another minimum or a point."""
        table = counts.reshape(-1, 3)
        total, ties = float(table.sum()), float(table[:, 1].sum())
        share = ties / total if total else 0.0
        half = isinstance(self.link, HalfWins)
        free = slice(0, self.votes.n_items) if self.alpha == 0 else None
        tie = None if 0.0 < share < 1.0 and not half else self.link.start(0.0)
        objective = ComparisonObjective(
            self.design, self.link, table, self.penalty, tie=tie, free=free
        )
        x = np.zeros(objective.n_variables)
        if tie is None:
            x[-1] = self.link.start(share)
        if share == 1.0 or not total:  # equal items
            return StrengthFit(self, counts, x[: self.design.n_coef], None, objective)
        if start is not None:
            x[: self.design.n_coef] = start
        if near is not None:
            x[: self.design.n_coef] = near.beta
            if tie is None and near.tie is not None:
                x[-1] = near.tie
        # Few votes are changed, so the factor of the first minimum nearly fits.
        factor = None if near is None else near.factor_for(objective)
        best = None
        if factor is not None:
            best = chord_steps(objective.gradient, x, factor.solve, _ACCURACY)
        if best is None or not math.isfinite(objective.value(best)):
            best = minimize_newton(objective, x, tol=_TOL).x
        objective.expand(best)
        beta, t = objective.split(best)
        free_tie = t if tie is None else None
        return StrengthFit(self, counts, beta, free_tie, objective, factor)


@dataclass(frozen=True, eq=False)
class StrengthFit:
    """A minimum."""

    strengths: Strengths
    counts: Floats  # (3 m,)
    beta: Floats  # strengths, then effects of covariates
    tie: float | None
    objective: ComparisonObjective
    near: HessianFactor | None = None  # of a minimum close to this one
    _columns: dict[int, Floats] = field(default_factory=dict)

    def refit(self, counts: Floats) -> StrengthFit:
        """Minimize for counts that are close to these."""
        return self.strengths.fit(counts, self)

    @property
    def alone(self) -> StrengthFit:
        """The same fit, whose claims are of two items without their priors."""
        strengths = copy(self.strengths)
        strengths.without_priors = True
        return replace(self, strengths=strengths)

    def claim(self, above: int, below: int) -> float:
        """The difference of two strengths, or without their priors."""
        one, two, _ = self._weights(above, below)
        return float(one * self.beta[above] + two * self.beta[below])

    def claims(self, pairs: list[tuple[int, int]]) -> Floats:
        """The claims of several pairs."""
        if self.strengths.without_priors:
            return np.array([self.claim(*pair) for pair in pairs])
        above, below = np.array(pairs).T
        return self.beta[above] - self.beta[below]

    def nearest(self, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The pairs with the smallest claims: of many rivals only these could win."""
        order = np.argsort(self.claims(pairs), kind="stable")[:_RIVALS]
        return [pairs[place] for place in order.tolist()]

    def error(self, above: int, below: int) -> float:
        """The standard deviation of the difference."""
        if not hasattr(self.objective, "local"):
            return math.inf
        return math.sqrt(max(0.0, self._weights(above, below, spread=True)[2]))

    def _weights(
        self, above: int, below: int, spread: bool = False
    ) -> tuple[float, float, float]:
        """Weights of both strengths in a claim, and its variance if asked for."""
        alone = self.strengths.without_priors and hasattr(self.objective, "local")
        if not (alone or spread):
            return 1.0, -1.0, math.nan
        first, second = self.solve(above), self.solve(below)
        own, other, both = (
            np.array([x]) for x in (second[below], first[above], first[below])
        )
        precision = 2.0 * self.strengths.alpha if alone else 0.0
        two, one, variance = difference_weights(own, other, both, precision)
        return float(one[0]), float(two[0]), float(variance[0])

    def factor_for(self, objective: ComparisonObjective) -> HessianFactor | None:
        """A factor near another objective, where that saves work."""
        same = objective.n_variables == self.objective.n_variables
        return (self.near or self._factor) if same else None

    @cached_property
    def _factor(self) -> HessianFactor | None:
        objective = self.objective
        # Of more, products solve as fast as a factor, which fills up.
        if objective.n_variables > DENSE_LIMIT or not hasattr(objective, "local"):
            return None
        return HessianFactor(objective)

    def solve(self, item: int) -> Floats:
        """The column of an item in the inverse of the Hessian."""
        if item not in self._columns:
            objective = self.objective
            unit = np.zeros(objective.n_variables)
            unit[item] = 1.0
            near = None if len(unit) <= _SMALL else self.near
            if near is None and self._factor is not None:
                self._columns[item] = self._factor.solve(unit)
                return self._columns[item]
            diagonal = objective.hessian_diagonal()
            goal = 1e-16 / diagonal[item]
            self._columns[item] = conjugate_gradients(
                objective.hessian_product,
                unit,
                (lambda r: r / diagonal) if near is None else near.solve,
                lambda r, z: float(r @ z) <= goal,
                10 * len(unit),
            )[0]
        return self._columns[item]

    def effects(self, above: int, below: int) -> Floats:
        """How much one more vote of each kind moves the claim, (3 m,)."""
        if not hasattr(self.objective, "local"):
            return np.zeros(len(self.counts))
        objective = self.objective
        one, two, _ = self._weights(above, below)
        z = one * self.solve(above) + two * self.solve(below)
        in_d, in_t = self._scores
        out = objective.design.apply(z[: objective.n_coef])[:, None] * in_d
        if self.tie is not None:
            out = out + z[-1] * in_t
        return -out.ravel()

    @cached_property
    def _scores(self) -> tuple[Floats, Floats]:
        objective = self.objective
        t = objective.tie if objective.tie is not None else self.tie
        assert t is not None
        return objective.link.scores(objective.design.apply(self.beta), t)


@dataclass(frozen=True, eq=False)
class Changes:
    """What can be changed: votes of one kind, a rater, an item or a day."""

    change: sp.csr_array  # (U, 3 m): what one of the unit adds to the counts
    limit: Codes  # (U,) how often it can be done
    members: list[Any]  # rows of the votes of each unit, or the name of each unit
    of_votes: bool = False  # units are of single votes
    most: float = math.inf  # more changes are not looked for

    def apply(self, counts: Floats, chosen: Codes) -> Floats:
        """Give the counts after the chosen changes."""
        # Two items that go take their common votes with them once, not twice.
        return np.maximum(counts + self.change.T @ chosen.astype(float), 0.0)

    def list_members(self, chosen: Codes) -> list[Any]:
        """Rows of changed votes, ascending, or names of units."""
        units = np.flatnonzero(chosen)
        if not self.of_votes:
            return [self.members[u] for u in units]
        return sorted(row for u in units for row in self.members[u][: chosen[u]])


def vote_changes(votes: VoteCounts, *, reverse: bool = False) -> Changes:
    """Removal of single votes, or their reversal, which ties do not have."""
    kind, first = number_cells(votes.column, votes.weight[:, None])
    order, size = np.argsort(kind, kind="stable"), np.bincount(kind)
    members = [rows.tolist() for rows in np.split(order, size.cumsum()[:-1])]
    column, weight = votes.column[first], votes.weight[first]
    limit = size.astype(np.int64)
    units = np.arange(len(first))
    entries = [(-weight, units, column)]
    if reverse:
        outcome = column % 3
        entries.append((weight, units, column - outcome + 2 - outcome))
        limit = np.where(outcome == 1, 0, limit)
    value, row, at = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    shape = len(first), 3 * len(votes.left)
    change = sp.csr_array((value, (row, at)), shape=shape)
    return Changes(change, limit, members, of_votes=True)


def group_changes(votes: VoteCounts, group: Codes, names: list[Any]) -> Changes:
    """Removal of all votes of raters or days, numbered (n,)."""
    shape = len(names), 3 * len(votes.left)
    entries = sp.coo_array((-votes.weight, (group, votes.column)), shape=shape)
    return Changes(entries.tocsr(), np.ones(shape[0], dtype=np.int64), names)


def item_changes(votes: VoteCounts, kept: list[int], names: list[Any]) -> Changes:
    """Removal of items that the claim is not about, with all their votes."""
    m = len(votes.left)
    columns = np.arange(3 * m)
    entries = np.tile(-votes.counts, 2)
    items = np.concatenate([np.repeat(votes.left, 3), np.repeat(votes.right, 3)])
    change = sp.coo_array(
        (entries, (items, np.tile(columns, 2))), shape=(votes.n_items, 3 * m)
    ).tocsr()
    limit = np.ones(votes.n_items, dtype=np.int64)
    limit[kept] = 0
    return Changes(change, limit, names, most=_MOST_ITEMS)


@dataclass(frozen=True, eq=False)
class Overturn:
    """Changes that overturn a claim, verified by a minimum."""

    chosen: Codes  # (U,)
    fit: StrengthFit
    exact: bool = False  # no smaller number does it

    @property
    def number(self) -> int:
        """How many changes."""
        return int(self.chosen.sum())


def predicted_number(effect: Floats, limit: Codes, margin: float) -> float:
    """How many of the strongest changes cover a margin, or infinity."""
    order = np.argsort(effect)
    order = order[(effect[order] < 0.0) & (limit[order] > 0)]
    covered = np.cumsum(-effect[order] * limit[order])
    place = int(np.searchsorted(covered, margin))
    if place == len(order):
        return math.inf
    before = covered[place - 1] if place else 0.0
    last = (margin - before) / -effect[order[place]]
    return float(limit[order[:place]].sum() + max(1.0, np.ceil(last - 1e-9)))


@dataclass(frozen=True, eq=False)
class OverturnSearch:
    """Looks for the fewest changes that overturn one claim.

    With `critical`, the first item must be below by so many standard errors.
    """

    start: StrengthFit
    changes: Changes
    items: tuple[int, int]  # above, below
    critical: float | None = None

    def run(self, known: Overturn | None = None) -> Overturn | None:
        """Give the smallest set of changes, or None; smaller than a known one."""
        if known is None:
            best = self._grow()
        else:
            best = self._best_of_size(known.number - 1, self.start)
        return None if best is None else self._drop(self._shrink(best))

    def _effects(self, fit: StrengthFit) -> Floats:
        return self.changes.change @ fit.effects(*self.items)

    def _fit(self, chosen: Codes, near: StrengthFit) -> StrengthFit:
        return near.refit(self.changes.apply(self.start.counts, chosen))

    def _margin(self, fit: StrengthFit) -> float:
        """What the changes must cover; ≤ 0 once overturned."""
        claim = fit.claim(*self.items)
        if self.critical is None:
            return claim - EQUAL
        return claim + self.critical * fit.error(*self.items)

    def _overturns(self, fit: StrengthFit) -> bool:
        return self._margin(fit) <= 0.0

    def _grow(self) -> Overturn | None:
        """Add the strongest changes until the claim falls."""
        limit, fit = self.changes.limit, self.start
        chosen = np.zeros(len(limit), dtype=np.int64)
        for _ in range(_MOST_ROUNDS):
            effect, room = self._effects(fit), limit - chosen
            need = predicted_number(effect, room, self._margin(fit))
            helpful = int(room[effect < 0.0].sum())
            if helpful == 0:
                return None
            count = helpful if math.isinf(need) else min(helpful, int(need))
            chosen = chosen + _strongest(effect, room, max(1, count))
            if chosen.sum() > self.changes.most:
                return None
            fit = self._fit(chosen, fit)
            if self._overturns(fit):
                return Overturn(chosen, fit)
        return None

    def _shrink(self, best: Overturn) -> Overturn:
        """Find a smaller number by bisection, choosing the best changes anew."""
        low = 0
        guess = predicted_number(
            self._effects(self.start),
            self.changes.limit,
            self._margin(self.start),
        )
        trial = min(best.number - 1, int(guess) if math.isfinite(guess) else 1 << 62)
        while best.number - low > 1:
            better = self._best_of_size(min(trial, best.number - 1), best.fit)
            if better is None:
                low = min(trial, best.number - 1)
            else:
                best = better
            # Near the prediction first, then in the middle.
            gap = best.number - low
            near = best.number - max(1, best.number // 16)
            trial = near if better is not None and near > low else low + gap // 2
        return best

    def _drop(self, best: Overturn) -> Overturn:
        """Take back the weakest changes while the claim stays down."""
        if best.number > _DROPPED:
            return best
        order = np.argsort(-self._effects(best.fit), kind="stable")
        for unit in order[best.chosen[order] > 0]:
            chosen = best.chosen.copy()
            chosen[unit] -= 1
            fit = self._fit(chosen, best.fit)
            if self._overturns(fit):
                return self._drop(Overturn(chosen, fit))
        return best

    def _best_of_size(self, number: int, near: StrengthFit) -> Overturn | None:
        """Choose the best changes at a minimum, go to theirs, repeat."""
        before: Codes | None = None
        for fit in (near, self.start):
            for _ in range(_CHOSEN_AGAIN):
                effect = self._effects(fit)
                chosen = _strongest(effect, self.changes.limit, number)
                if before is not None and np.array_equal(chosen, before):
                    break
                before, fit = chosen, self._fit(chosen, fit)
                if chosen.sum() == number and self._overturns(fit):
                    return Overturn(chosen, fit)
        return None


def _strongest(effect: Floats, room: Codes, number: int) -> Codes:
    """Changes with the most negative effects."""
    order = np.argsort(effect, kind="stable")
    order = order[room[order] > 0]
    upto = np.cumsum(room[order])
    taken = np.minimum(room[order], np.maximum(0, number - (upto - room[order])))
    out = np.zeros(len(effect), dtype=np.int64)
    out[order] = taken
    return out


def not_found_up_to(
    start: StrengthFit, changes: Changes, pairs: list[tuple[int, int]]
) -> int:
    """So many changes do not cover a margin, with a safety factor."""
    least = min(need for need, _ in _needs(start, changes, pairs, _SAFETY))
    most = int(changes.limit.sum())
    return most if math.isinf(least) else max(0, int(least) - 1)


def _needs(
    start: StrengthFit,
    changes: Changes,
    pairs: list[tuple[int, int]],
    safety: float = 1.0,
) -> list[tuple[float, tuple[int, int]]]:
    """How many changes would do for the nearest pairs, if each did `safety` more."""
    return [
        (
            predicted_number(
                safety * (changes.change @ start.effects(*pair)),
                changes.limit,
                start.claim(*pair) - EQUAL,
            ),
            pair,
        )
        for pair in start.nearest(pairs)
    ]


def _sets_of(limit: Codes, number: int) -> Iterator[Codes]:
    """All sets of so many changes."""
    units = np.flatnonzero(limit).tolist()
    for taken in combinations_with_replacement(units, number):
        times = np.bincount(taken, minlength=len(limit))
        if (times <= limit).all():
            yield times


def fewest(
    start: StrengthFit,
    changes: Changes,
    pairs: list[tuple[int, int]],
) -> Overturn | None:
    """Fewest changes that overturn one of several claims; None: none found."""
    if (start.claims(pairs) <= EQUAL).any():
        return Overturn(np.zeros(len(changes.limit), dtype=np.int64), start, exact=True)
    best: Overturn | None = None
    for need, pair in sorted(_needs(start, changes, pairs)):
        if need > _SAFETY * (changes.most if best is None else best.number):
            break
        if best is not None and best.number == 1:
            break
        best = OverturnSearch(start, changes, pair).run(best) or best
    if start.strengths.votes.n_items > DENSE_LIMIT:
        return best
    return _try_all(start, changes, pairs, best)


def fewest_apart(
    start: StrengthFit,
    changes: Changes,
    pair: tuple[int, int],
    critical: float,
) -> Overturn | None:
    """Fewest changes after which one of two items is surely better."""
    results = [
        OverturnSearch(start, changes, items, critical).run()
        for items in (pair[::-1], pair)
    ]
    return min(filter(None, results), key=lambda one: one.number, default=None)


def _try_all(
    start: StrengthFit,
    changes: Changes,
    pairs: list[tuple[int, int]],
    best: Overturn | None,
) -> Overturn | None:
    """Try every set smaller than the best, while they are few."""
    budget = _MOST_GROUPS
    if changes.of_votes:
        budget = _MOST_SETS if changes.limit.sum() <= _FEW_VOTES else 0
    most = int(changes.limit.sum()) + 1 if best is None else best.number
    for number in range(1, most):
        sets = list(islice(_sets_of(changes.limit, number), budget + 1))
        if len(sets) > budget:
            return best
        budget -= len(sets)
        for chosen in sets:
            fit = start.refit(changes.apply(start.counts, chosen))
            if any(fit.claim(*pair) <= EQUAL for pair in pairs):
                return Overturn(chosen, fit, exact=True)
    return None if best is None else replace(best, exact=True)
