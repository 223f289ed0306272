# SPDX-License-Identifier: BSD-3-Clause
"""The same claims under other choices that an analyst could have made.

One choice is changed at a time. A choice about all votes (ties, penalty, covariates,
weights of raters) breaks a claim when its strengths say otherwise. A part of the votes
(half of the time, one category) would often say otherwise by chance; it must contradict
a claim with the confidence asked for. Choices that the data do not allow are not
counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Pairs
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import factorize
from tiebreak.data.comparison_graph import ComparisonGraph, number_comparisons
from tiebreak.ratings.strengths.bradley_terry import LINK_OF, WEAK_EFFECT
from tiebreak.ratings.strengths.existence import has_decided_cycle
from tiebreak.robustness.fewest import EQUAL, StrengthFit, Strengths, VoteCounts

Pairing = list[tuple[int, int]]  # item numbers, better and worse

SMALL_PENALTY = 0.01
_FEWEST_OF_CATEGORY = 30  # votes
_MOST_CATEGORIES = 20


@dataclass(frozen=True, eq=False)
class Analysis:
    """Votes, and the choices that turn them into strengths."""

    names: NDArray[Any]
    left: Codes
    right: Codes
    outcome: NDArray[np.int8]
    weight: Floats
    covariates: Floats  # (n, q), in favor of left
    ties: str | None  # the tie model
    alpha: float

    def take(self, rows: NDArray[Any]) -> Analysis:
        """The same for some of the votes; all items stay."""
        columns = ("left", "right", "outcome", "weight", "covariates")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def fit(self, near: StrengthFit | None = None) -> StrengthFit:
        """Find the strengths, starting from another analysis."""
        n_items = len(self.names)
        cells = number_comparisons(
            self.left, self.right, self.outcome, n_items, self.covariates
        )
        votes = VoteCounts(n_items, *cells, self.weight)
        used = self.covariates if len(self.covariates) else np.zeros((1, 0))
        weak = WEAK_EFFECT * (used**2).mean(axis=0)
        strengths = Strengths(votes, LINK_OF[self.ties], self.alpha, weak)
        start = np.zeros(strengths.design.n_coef)
        if near is not None:
            start[:n_items] = near.beta[:n_items]
        return strengths.fit(votes.counts, start=start)

    def has_maximum(self) -> bool:
        """Whether the likelihood has a maximum without a penalty."""
        pairs = Pairs._of(None, self.left, self.right, self.names)
        graph = ComparisonGraph.of(pairs, self.outcome, self.weight)
        if not graph.is_strongly_connected or not graph.present.all():
            return False
        return bool(not (self.outcome == 0).any() or has_decided_cycle(graph))


@dataclass(frozen=True, eq=False)
class VoteColumns:
    """What else is known of the votes; None: nothing."""

    rater: NDArray[Any] | None = None
    unit: NDArray[Any] | None = None
    period: NDArray[Any] | None = None
    category: dict[str, Flags] = field(default_factory=dict)  # which votes
    both_bad: Flags | None = None


@dataclass(frozen=True, eq=False)
class OtherChoice:
    """Another analysis, its name, and what the answer depends on."""

    name: str
    depends: str
    analysis: Analysis
    is_part: bool = False  # of the votes

    @cached_property
    def _present(self) -> Flags:
        """Whether each item has votes, shape (N,)."""
        out = np.zeros(len(self.analysis.names), dtype=bool)
        out[self.analysis.left] = out[self.analysis.right] = True
        return out

    def pairs_with_votes(self, pairs: Pairing) -> Pairing:
        """Pairs (better, worse) without worse items that have no votes.

        Where a better item has none, no pair is left.
        """
        if not all(self._present[above] for above, _ in pairs):
            return []
        return [pair for pair in pairs if self._present[pair[1]]]

    def keeps(self, fit: StrengthFit, pairs: Pairing, critical: float) -> bool:
        """Whether all pairs stay, as far as this choice can tell."""
        fallen = [pairs[k] for k in np.flatnonzero(fit.claims(pairs) <= EQUAL)]
        if not self.is_part:
            return not fallen
        return not any(fit.claim(*p) < -critical * fit.error(*p) for p in fallen)


Named = Iterator[tuple[str, str, Analysis]]  # what the answer depends on, the choice


def other_choices(
    base: Analysis, columns: VoteColumns, has_advantage: bool, learned: float | None
) -> list[OtherChoice]:
    """List the choices that the data allow."""
    parts = (
        _tie_choices(base, columns.both_bad),
        _covariate_choices(base, has_advantage),
        _penalty_choices(base, learned),
        _rater_choices(base, columns.rater),
        _part_choices(base, columns),
    )
    return [
        OtherChoice(name, f"depends on {what}", analysis, part is parts[-1])
        for part in parts
        for what, name, analysis in part
    ]


_TIES = {
    "davidson": "by Davidson",
    "rao-kupper": "by Rao and Kupper",
    "half": "as half wins",
}


def _tie_choices(base: Analysis, bad: Flags | None) -> Named:
    tied, what = base.outcome == 0, "how ties are counted"
    if tied.any() and not tied.all():
        for ties, name in _TIES.items():
            if ties != base.ties:
                yield what, f"ties {name}", replace(base, ties=ties)
        yield what, "ties left out", replace(base.take(~tied), ties=None)
    if bad is not None and bad.any() and not bad.all():
        what = "how votes that call both bad are counted"
        yield what, "both-bad votes left out", base.take(~bad)


def _covariate_choices(base: Analysis, has_advantage: bool) -> Named:
    n, q = base.covariates.shape
    kept, rest = np.split(base.covariates, [int(has_advantage)], axis=1)
    if has_advantage:
        without = replace(base, covariates=rest)
        yield "the advantage", "without the advantage", without
    else:
        with_side = replace(base, covariates=np.append(np.ones((n, 1)), rest, axis=1))
        yield "the effect of the side", "with an effect of the side", with_side
    if q > int(has_advantage):
        yield "the covariates", "without covariates", replace(base, covariates=kept)


def _penalty_choices(base: Analysis, learned: float | None) -> Named:
    alphas = {"a learned penalty": learned}
    if base.alpha > 0 and base.has_maximum():
        alphas["no penalty"] = 0.0
    for alpha, name in ((SMALL_PENALTY, "a small penalty"), (1.0, "a penalty of 1")):
        if not np.isclose(base.alpha, alpha, rtol=0.5):
            alphas[name] = alpha
    for name, value in alphas.items():
        if value is not None:
            yield "the penalty", name, replace(base, alpha=value)


def _rater_choices(base: Analysis, column: NDArray[Any] | None) -> Named:
    rater, values = factorize([] if column is None else column)
    if len(values) < 2:
        return
    total = np.bincount(rater, base.weight)
    if not np.allclose(total, total[0]):
        scaled = base.weight / total[rater] * (base.weight.sum() / len(values))
        even = replace(base, weight=scaled)
        yield "how much each rater counts", "each rater weighs the same", even
    low, high = np.minimum(base.left, base.right), np.maximum(base.left, base.right)
    key = np.stack([rater, low, high], axis=1)
    first = np.unique(key, axis=0, return_index=True)[1]
    if len(first) < len(rater):
        again = base.take(np.sort(first))
        yield "repeated votes", "a rater's first vote on a pair only", again


def _part_choices(base: Analysis, columns: VoteColumns) -> Named:
    if columns.period is not None:
        order = np.argsort(columns.period, kind="stable")
        middle = columns.period[order[len(order) // 2]]
        early = np.asarray(columns.period < middle)
        for rows, name in ((early, "the earlier half"), (~early, "the later half")):
            if rows.any() and not rows.all():
                yield "when votes were cast", f"only {name}", base.take(rows)
    by_size = sorted(columns.category.items(), key=lambda category: -category[1].sum())
    for name, rows in by_size[:_MOST_CATEGORIES]:
        if rows.sum() >= _FEWEST_OF_CATEGORY and not rows.all():
            yield "the category", f"only {name}", base.take(rows)
