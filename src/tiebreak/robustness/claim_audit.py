# SPDX-License-Identifier: BSD-3-Clause
"""Audit the claims of a leaderboard: which of them survive.

How few votes (raters, units, items, days) overturn a claim, which other choices of
analysis do, and could it be luck? Strengths are those of `BradleyTerry`, whose tie
model and penalty stay as found on all votes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from rich.console import Group
from rich.text import Text
from scipy.special import ndtri

from tiebreak.data.arrays import Codes
from tiebreak.data.columns import factorize, readable_period
from tiebreak.data.markup import results_html
from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.io.result import plural
from tiebreak.models.covariates import (
    check_level,
    check_row_column,
    check_row_covariates,
)
from tiebreak.ratings import BradleyTerry
from tiebreak.ratings.leaderboard import choose_placed
from tiebreak.ratings.leaderboard_table import text_table
from tiebreak.ratings.named_results import check_results
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import StrengthDistribution
from tiebreak.robustness.choices import (
    Analysis,
    OtherChoice,
    Pairing,
    VoteColumns,
    other_choices,
)
from tiebreak.robustness.claims import Claim, read_claim, usual_claims
from tiebreak.robustness.fewest import (
    Changes,
    StrengthFit,
    fewest,
    fewest_apart,
    group_changes,
    item_changes,
    not_found_up_to,
    vote_changes,
)
from tiebreak.solvers.newton import DENSE_LIMIT

VERSION = 1
_N_DRAWS = 20_000
_MOST_RATERS = 20_000  # and days: more take memory, and one of them decides nothing
# A set of votes is called few if it is not more than this share of the votes on the
# items of the claim. A difference that is significant needs about 2 √n of n votes.
_FEW = 0.001
_HIGHEST = 200  # others, in the probability that an item is first

_LEGEND = (
    "remove, reverse: the fewest votes found whose removal or reversal overturns the "
    "claim, verified by fitting without them; fewer may do. choices: other choices of "
    "analysis under which it holds. confidence: that it is not luck."
)

_LARGE = (
    f"With more than {DENSE_LIMIT:,} items confidence is that of the model alone: "
    "votes are taken as independent of each other."
)


@dataclass(frozen=True, eq=False)
class FewestChanges:
    """Changes after which a claim does not hold, verified by a fit."""

    number: int
    members: list[Any]  # row numbers of votes, or names of raters, items or days
    exact: bool  # no smaller number does it: all were tried


def _changes_dict(changes: FewestChanges | None, unit: str) -> dict[str, Any]:
    return {
        unit: changes and changes.number,
        "rows" if unit == "votes" else "names": _plain(
            changes.members if changes else []
        ),
        "verified": changes is not None,
        "exact": changes is not None and changes.exact,
    }


def _plain(names: Iterable[Any]) -> list[Any]:
    """Names as JSON has them."""
    return [x if isinstance(x, (str, int, float)) else str(x) for x in names]


@dataclass(frozen=True, eq=False)
class UnderChoice:
    """A claim under one choice of analysis.

    The difference is that of the two strengths closest to overturning the claim.
    """

    choice: str
    holds: bool
    difference: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class ClaimAudit:
    """What was found about one claim.

    Attributes
    ----------
    claim : Claim
    removal, reversal, raters, units, items, days : FewestChanges or None
        The fewest that were found, or None.
    not_found : dict of str to int
        Of ``"removal"`` and ``"reversal"``: so many votes are not expected to overturn
        it, as their effects sum to less than two thirds of the margin. No proof.
    chosen : UnderChoice or None
        Under the choices asked for.
    others : list of UnderChoice
        Under each other choice that can tell.
    confidence : float or None
        That it is no luck: of "A is first", 1 minus the largest p-value of "is best" of
        the others; of "A is above B" 1 minus the p-value of :meth:`Leaderboard.versus`;
        of several first items 2 P(claim) - 1. None of "cannot be told apart".
    verdict : str
    """

    claim: Claim
    verdict: str
    removal: FewestChanges | None = None
    reversal: FewestChanges | None = None
    raters: FewestChanges | None = None
    units: FewestChanges | None = None
    items: FewestChanges | None = None
    days: FewestChanges | None = None
    not_found: dict[str, int] = field(default_factory=dict)
    chosen: UnderChoice | None = None
    others: list[UnderChoice] = field(default_factory=list)
    confidence: float | None = None

    @property
    def holds(self) -> int:
        """Under how many of the other choices it holds."""
        return sum(one.holds for one in self.others)

    @property
    def of(self) -> int:
        """How many other choices can tell."""
        return len(self.others)

    @property
    def broken_by(self) -> list[str]:
        """Names of the choices that break it."""
        return [one.choice for one in self.others if not one.holds]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""

        def votes(name: str) -> dict[str, Any]:
            changes = _changes_dict(getattr(self, name), "votes")
            return changes | {"not_found_up_to": self.not_found.get(name)}

        return {
            "claim": str(self.claim),
            "kind": self.claim.kind,
            "items": _plain(self.claim.items),
            "verdict": self.verdict,
            "removal": votes("removal"),
            "reversal": votes("reversal"),
            "other_items": _changes_dict(self.items, "items"),
            **{
                name: _changes_dict(getattr(self, name), name)
                for name in ("raters", "units", "days")
            },
            "choices": {
                "holds": self.holds,
                "of": self.of,
                "broken_by": self.broken_by,
                "as_asked": None if self.chosen is None else asdict(self.chosen),
                "each": [asdict(one) for one in self.others],
            },
            "confidence": self.confidence,
        }


@dataclass(frozen=True, eq=False)
class Audit:
    """Claims and what was found about each.

    Attributes
    ----------
    claims : list of ClaimAudit
    n_votes, n_items : int
    level : float
        Confidence that a claim needs to be more than luck.
    choices : list of str
        Other choices that the data allow.
    complete : bool
        False if it was interrupted.
    notes : list of str
    """

    claims: list[ClaimAudit]
    n_votes: int
    n_items: int
    level: float
    choices: list[str]
    complete: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        """One row per claim."""
        rows = [
            {
                "claim": str(claim.claim),
                "verdict": claim.verdict,
                "removed": claim.removal and claim.removal.number,
                "reversed": claim.reversal and claim.reversal.number,
                "raters": claim.raters and claim.raters.number,
                "units": claim.units and claim.units.number,
                "choices": f"{claim.holds} of {claim.of}",
                "confidence": claim.confidence,
            }
            for claim in self.claims
        ]
        whole = dict.fromkeys(("removed", "reversed", "raters", "units"), pl.Int64)
        types: dict[str, Any] = whole | {"confidence": pl.Float64}
        return pl.DataFrame(rows, schema_overrides=types)

    def renumber(self, rows: Codes) -> Audit:
        """Name votes by other row numbers, shape (n,)."""

        def moved(votes: FewestChanges | None) -> FewestChanges | None:
            return votes and replace(votes, members=rows[votes.members].tolist())

        claims = [
            replace(claim, removal=moved(claim.removal), reversal=moved(claim.reversal))
            for claim in self.claims
        ]
        return replace(self, claims=claims)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "version": VERSION,
            "votes": self.n_votes,
            "items": self.n_items,
            "level": self.level,
            "complete": self.complete,
            "choices": self.choices,
            "claims": [claim.to_dict() for claim in self.claims],
            "notes": self.notes,
        }

    def __str__(self) -> str:
        claims = plural(len(self.claims), "claim")
        head = f"{claims} about {self.n_items} items, {self.n_votes:,} votes"
        lines = [f"- {claim.claim}: {claim.verdict}" for claim in self.claims]
        return "\n".join([head, *lines, *self.notes])

    def __rich__(self) -> Group:
        """Show the table in the terminal."""
        table = self.table.rename({"removed": "remove", "reversed": "reverse"})
        asked = ("raters", "units")
        table = table.drop(name for name in asked if table[name].is_null().all())
        rows = []
        for *cells, confidence in table.iter_rows():
            # Draws do not tell more, and what is certain to them is not certain.
            sure = None if confidence is None else f"{min(int(100 * confidence), 99)} %"
            rows.append(["–" if cell is None else cell for cell in (*cells, sure)])
        shown = text_table(table.columns, rows, names=(0, 1))
        return Group(shown, *map(Text, [_LEGEND, *self.notes]))

    def _repr_html_(self) -> str:
        return results_html(self.__rich__())


def audit_pairs(
    X: Any,
    y: ArrayLike | None = None,
    *,
    claims: Iterable[Claim | str] | None = None,
    top: int = 5,
    neighbors: int = 10,
    level: float = 0.95,
    ties: Literal["auto", "davidson", "rao-kupper", "half"] = "auto",
    alpha: float | Literal["auto"] = "auto",
    advantage: ArrayLike | None = None,
    context: Any = None,
    rater: ArrayLike | None = None,
    unit: ArrayLike | None = None,
    period: ArrayLike | None = None,
    by: Any = None,
    both_bad: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    place_from: int | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Audit:
    """Audit the claims of a leaderboard of named `Pairs`; see `tiebreak.audit`.

    Other arguments are as in `BradleyTerry.fit`; categories `by` are labels, or columns
    of 0 and 1 by name; `both_bad` says which ties called both items bad. As on the
    leaderboard, those are first who are so among the items that are placed.
    """
    check_level(level)
    for name, number in (("top", top), ("neighbors", neighbors)):
        if number < 0:
            raise ValueError(f"{name} must not be negative; got {number}.")
    results = check_results(X, y, sample_weight, "audit")
    n_rows, names = results.n_rows, results.names
    if len(names) < 2 or not results.outcome.any():
        raise ValueError("Of one item, or of ties alone, there is no claim to audit.")
    covariates, _ = check_row_covariates(advantage, context, n_rows)

    def column(values: Any, name: str) -> Any:
        if values is None:
            return None
        return results.take(check_row_column(values, name, n_rows))

    bad = column(both_bad, "both_bad")
    if not isinstance(by, Mapping):
        of_rows: Any = [] if by is None else check_row_column(by, "by", n_rows)
        codes, labels = factorize(of_rows)
        by = {str(label): codes == code for code, label in enumerate(labels)}
    columns = VoteColumns(
        column(rater, "rater"),
        column(unit, "unit"),
        column(period, "period"),
        {name: column(mask, name).astype(bool) for name, mask in by.items()},
        None if bad is None else bad.astype(bool),
    )
    progress("fitting the strengths")

    def fit(alpha: Any) -> BradleyTerry:
        given = {"advantage": advantage, "context": context, "rater": rater}
        given |= {"unit": unit, "sample_weight": sample_weight}
        return BradleyTerry(ties=ties, alpha=alpha).fit(X, y, **given)

    model = fit(alpha)
    base = Analysis(
        names,
        results.left.astype(np.int64),
        results.right.astype(np.int64),
        results.outcome,
        results.weight,
        results.take(covariates),
        model.tie_model_ if (results.outcome == 0).any() else None,
        model.alpha_,
    )
    job = _Job(base, model, level, columns, place_from)
    if claims is None:
        strength = np.where(job.placed, job.start.beta[: len(names)], -math.inf)
        listed = usual_claims(strength, names, top, neighbors)
    else:
        listed = [
            claim if isinstance(claim, Claim) else read_claim(claim, names.tolist())
            for claim in claims
        ]
    for claim in listed:
        claim.pairs(names)  # refuses unknown names
    learned = None if alpha == "auto" else fit("auto").alpha_
    with one_blas_thread():  # products are small, and more threads only wait
        others = other_choices(base, columns, advantage is not None, learned)
        audit = job.run(listed, others, progress)
    kept = results.kept
    return audit if kept is None else audit.renumber(np.flatnonzero(kept))


class _Job:
    """The audit of one data set."""

    def __init__(
        self,
        base: Analysis,
        model: BradleyTerry,
        level: float,
        columns: VoteColumns,
        place_from: int | None,
    ) -> None:
        self.base, self.model, self.names = base, model, base.names
        self.level = level
        self.critical = float(ndtri(0.5 + 0.5 * level))
        self.component = model._components()
        self.placed = choose_placed(model, self._contrasts, place_from)
        self.start: StrengthFit = base.fit()
        self.votes = self.start.strengths.votes
        self.changes = {
            "removal": vote_changes(self.votes),
            "reversal": vote_changes(self.votes, reverse=True),
        }
        given = {"raters": columns.rater, "units": columns.unit}
        for unit, values in (given | {"days": columns.period}).items():
            if values is None:
                continue
            if values.dtype.kind == "M":
                values = values.astype("datetime64[D]")
            code, groups = factorize(values)
            if 1 < len(groups) <= _MOST_RATERS:
                names = list(map(readable_period, groups))
                self.changes[unit] = group_changes(self.votes, code, names)

    def run(
        self,
        claims: list[Claim],
        choices: list[OtherChoice],
        progress: Callable[[str], None],
    ) -> Audit:
        """Look at one claim after the other, until interrupted."""
        done: list[ClaimAudit] = []
        complete = True
        try:
            progress("fitting under other choices")
            fits = in_threads(lambda choice: choice.analysis.fit(self.start), choices)
            others = list(zip(choices, fits, strict=True))
            for number, claim in enumerate(claims):
                progress(f"claim {number + 1} of {len(claims)}: {claim}")
                done.append(self._audit(claim, others))
        except KeyboardInterrupt:
            complete = False
        return Audit(
            done,
            len(self.base.left),
            len(self.names),
            self.level,
            [choice.name for choice in choices],
            complete,
            [_LARGE] if len(self.names) > DENSE_LIMIT else [],
        )

    def _distribution(self, items: list[int]) -> StrengthDistribution:
        """Distribution of some strengths."""
        if len(self.names) <= DENSE_LIMIT:
            return self._contrasts.posterior.take(items)
        covariance = np.stack([self.start.solve(k)[items] for k in items])
        return StrengthDistribution.normal(self.start.beta[items], covariance)

    @cached_property
    def _contrasts(self) -> PairContrasts:
        return self.model.contrasts()

    def _confidence(
        self, claim: Claim, pairs: Pairing, contrasts: PairContrasts
    ) -> float:
        """1 minus a p-value, or 2 P - 1, P that all pairs are (better, worse)."""
        if claim.kind == "first":
            # That each of the others is not best, as on the leaderboard.
            best = np.zeros(len(self.names))
            best[self.placed] = contrasts.take(np.flatnonzero(self.placed)).best
            return 1.0 - float(best[[below for _, below in pairs]].max())
        if len(pairs) == 1:
            (above,), (below,) = np.array(pairs).T[:, :, None]
            apart = contrasts.compare(below, above, self.level)
            return max(0.0, 1.0 - 2.0 * float(apart.behind[0]))
        above = sorted({pair[0] for pair in pairs})
        below = np.array(sorted({pair[1] for pair in pairs}))
        # Of many items only those that reach high could be among the first.
        reach = 1.0 / np.sqrt(self.start.objective.hessian_diagonal()[below])
        high = np.argsort(-(self.start.beta[below] + 2.0 * reach), kind="stable")
        joint = self._distribution(above + below[high[:_HIGHEST]].tolist())
        draws = joint.mean + joint.draw(_N_DRAWS, np.random.default_rng(0))
        n = len(above)
        first = draws[:, :n].min(axis=1) > draws[:, n:].max(axis=1)
        return max(0.0, 2.0 * float(np.mean(first)) - 1.0)

    def _audit(
        self, claim: Claim, others: list[tuple[OtherChoice, StrengthFit]]
    ) -> ClaimAudit:
        # Of two items the results alone are asked, and of more the ratings.
        two = claim.kind in ("above", "equal")
        pairs = [
            (above, below)
            for above, below in claim.pairs(self.names)
            if self.component[above] == self.component[below]
            and (two or self.placed[below] or not self.placed[above])
        ]
        if not pairs:
            return ClaimAudit(
                claim, "cannot be told: they never met, not even through others"
            )
        above = sorted({pair[0] for pair in pairs})
        subjects = list(pairs[0]) if len(pairs) == 1 else above
        equal = claim.kind == "equal"
        start = self.start.alone if two else self.start
        others_go = item_changes(self.votes, subjects, self.names.tolist())
        smallest = {
            unit: self._fewest(start, equal, pairs, changes)
            for unit, changes in (*self.changes.items(), ("items", others_go))
        }
        sure = True
        confidence = None
        if not equal:
            confidence = self._confidence(claim, pairs, self._contrasts)
            # Whether votes that are independent of each other would make it sure.
            single = self._contrasts.without_excess()
            sure = self._confidence(claim, pairs, single) >= self.level
        under, broken = [], []
        for choice, fit in others:
            fit = fit.alone if two else fit
            there = choice.pairs_with_votes(pairs)
            if not there:
                continue
            one = there[0]
            holds = (
                abs(fit.claim(*one)) <= self.critical * fit.error(*one)
                if equal
                else choice.keeps(fit, there, self.critical)
            )
            under.append(self._under(choice.name, holds, fit, there))
            broken += [] if holds else [choice]
        not_found = {}
        if not equal:
            for name in ("removal", "reversal"):
                changes = self.changes[name]
                not_found[name] = self._not_found(start, pairs, changes, smallest[name])
        on = np.isin(self.base.left, subjects) | np.isin(self.base.right, subjects)
        few = max(1, _FEW * int(np.count_nonzero(on)))
        verdict = self._verdict(smallest, broken, confidence, sure, few)
        holds = verdict != "does not hold"
        return ClaimAudit(
            claim,
            verdict,
            **smallest,
            not_found=not_found,
            chosen=self._under("as asked", holds, start, pairs),
            others=under,
            confidence=confidence,
        )

    def _not_found(
        self,
        start: StrengthFit,
        pairs: Pairing,
        changes: Changes,
        smallest: FewestChanges | None,
    ) -> int:
        """So many changes are not expected to overturn a claim."""
        lower = not_found_up_to(start, changes, pairs)
        if smallest is None:
            return lower
        upper = max(0, smallest.number - 1)
        return upper if smallest.exact else min(lower, upper)

    def _under(
        self, name: str, holds: bool, fit: StrengthFit, pairs: Pairing
    ) -> UnderChoice:
        pair = fit.nearest(pairs)[0]
        middle, reach = fit.claim(*pair), self.critical * fit.error(*pair)
        ends = () if math.isinf(reach) else (middle - reach, middle + reach)
        return UnderChoice(name, holds, middle, *ends)

    def _fewest(
        self, start: StrengthFit, equal: bool, pairs: Pairing, changes: Changes
    ) -> FewestChanges | None:
        """Find what overturns a claim, or makes one of equal items surely better."""
        if equal:
            overturn = fewest_apart(start, changes, pairs[0], self.critical)
        else:
            overturn = fewest(start, changes, pairs)
        if overturn is None:
            return None
        members = changes.list_members(overturn.chosen)
        return FewestChanges(overturn.number, members, overturn.exact)

    def _verdict(
        self,
        smallest: dict[str, FewestChanges | None],
        broken: list[OtherChoice],
        confidence: float | None,
        sure: bool,
        few: float,
    ) -> str:
        removal = smallest["removal"]
        if removal is not None and removal.number == 0:
            return "does not hold"
        if removal is not None and removal.number <= few:
            return f"fragile: {plural(removal.number, 'vote')}"
        for kind in ("rater", "unit"):
            group = smallest.get(f"{kind}s")
            if sure and group is not None and group.number == 1:
                return f"depends on one {kind}: {group.members[0]}"
        if not sure or (confidence is not None and confidence < self.level):
            return "cannot be told"
        if broken:
            return " and ".join(dict.fromkeys(choice.depends for choice in broken))
        return "holds"
