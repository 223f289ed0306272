# SPDX-License-Identifier: BSD-3-Clause
"""Audit the claims of a leaderboard: which of them survive.

Three questions of every claim: how few votes (raters, items, days) overturn it, which
other choices of analysis do, and could it be luck? Votes are rows; strengths are those
of `BradleyTerry`, whose tie model and penalty stay as they were found on all votes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text
from scipy.special import ndtri

from tiebreak.data.columns import factorize, readable_period
from tiebreak.data.markup import results_html
from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.models.covariates import check_level, check_row_covariates
from tiebreak.ratings import BradleyTerry
from tiebreak.ratings.inputs import (
    check_results,
    check_row_column,
)
from tiebreak.ratings.leaderboard import split_categories
from tiebreak.ratings.strengths.distribution import StrengthDistribution
from tiebreak.robustness.choices import (
    Analysis,
    Choice,
    Columns,
    holds_under,
    other_choices,
)
from tiebreak.robustness.claims import Claim, read_claim, usual_claims
from tiebreak.robustness.fewest import (
    Changes,
    Fit,
    Overturn,
    SearchApart,
    Strengths,
    fewest,
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
_MOST_ITEMS = 5  # without more others it is another leaderboard
_HIGHEST = 200  # others, in the probability that an item is first
_NEAREST = 20  # rivals, in the question whether votes alone make a claim sure

_LEGEND = (
    "remove, reverse: the fewest votes found whose removal or reversal overturns the "
    "claim, verified by fitting without them; fewer may do. choices: other choices of "
    "analysis under which it holds. confidence: that it is not luck."
)

_LARGE = (
    f"With more than {DENSE_LIMIT:,} items confidence is that of the model alone: "
    "votes are taken as independent of each other."
)

Floats = NDArray[np.float64]
Pairing = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Found:
    """Changes after which a claim no longer holds, verified by fitting without them."""

    number: int
    what: str  # votes, raters, items or days
    members: list[Any]  # row numbers of votes, or names
    exact: bool  # no smaller number does it: all were tried


def _found_dict(found: Found | None, what: str) -> dict[str, Any]:
    return {
        what: None if found is None else found.number,
        "rows" if what == "votes" else "names": _plain(found.members if found else []),
        "verified": found is not None,
        "exact": found is not None and found.exact,
    }


def _plain(names: Iterable[Any]) -> list[Any]:
    """Names as JSON has them."""
    return [x if isinstance(x, (str, int, float)) else str(x) for x in names]


@dataclass(frozen=True, eq=False)
class UnderChoice:
    """A claim under one choice of analysis.

    The difference is that of the two strengths that are closest to overturning the
    claim, better minus worse, with an interval of the level of the audit.
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
    removal, reversal, raters, items, days : Found or None
        The fewest that were found; None where nothing was, or nothing is known of them.
    not_found : dict of str to int
        Of ``"removal"`` and ``"reversal"``: so many votes are not expected to overturn
        it. Their effects, one by one, sum to less than two thirds of the margin; it is
        no proof.
    chosen : UnderChoice or None
        Under the choices that were asked for.
    others : list of UnderChoice
        Under each other choice that can tell.
    confidence : float or None
        Two-sided confidence that it is no luck, 2 P(claim) - 1; None of "cannot be told
        apart".
    verdict : str
    """

    claim: Claim
    removal: Found | None
    reversal: Found | None
    raters: Found | None
    items: Found | None
    days: Found | None
    verdict: str
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
        """Names of the choices under which it does not hold."""
        return [one.choice for one in self.others if not one.holds]

    def to_dict(self) -> dict[str, Any]:
        """Give what can be written as JSON."""
        out: dict[str, Any] = {
            "claim": str(self.claim),
            "kind": self.claim.kind,
            "items": _plain(self.claim.items),
            "verdict": self.verdict,
        }
        for name in ("removal", "reversal"):
            found = _found_dict(getattr(self, name), "votes")
            out[name] = found | {"not_found_up_to": self.not_found.get(name)}
        out["raters"] = _found_dict(self.raters, "raters")
        out["other_items"] = _found_dict(self.items, "items")
        out["days"] = _found_dict(self.days, "days")
        out["choices"] = {
            "holds": self.holds,
            "of": self.of,
            "broken_by": self.broken_by,
            "as_asked": None if self.chosen is None else asdict(self.chosen),
            "each": [asdict(one) for one in self.others],
        }
        return out | {"confidence": self.confidence}


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
        The other choices of analysis that the data allow.
    complete : bool
        False if it was interrupted; the claims there are were finished.
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
        """One row per claim: verdict, votes, raters, choices and confidence."""
        rows = [
            {
                "claim": str(found.claim),
                "verdict": found.verdict,
                "removed": found.removal.number if found.removal else None,
                "reversed": found.reversal.number if found.reversal else None,
                "raters": found.raters.number if found.raters else None,
                "choices": f"{found.holds} of {found.of}",
                "confidence": found.confidence,
            }
            for found in self.claims
        ]
        whole = dict.fromkeys(("removed", "reversed", "raters"), pl.Int64)
        types: dict[str, Any] = whole | {"confidence": pl.Float64}
        return pl.DataFrame(rows, schema_overrides=types)

    def renumber(self, rows: NDArray[np.int64]) -> Audit:
        """Name votes by other row numbers, ascending, shape (n,)."""

        def moved(found: Found | None) -> Found | None:
            if found is None:
                return None
            return replace(found, members=rows[found.members].tolist())

        claims = [
            replace(c, removal=moved(c.removal), reversal=moved(c.reversal))
            for c in self.claims
        ]
        return replace(self, claims=claims)

    def to_dict(self) -> dict[str, Any]:
        """Give what can be written as JSON."""
        return {
            "version": VERSION,
            "votes": self.n_votes,
            "items": self.n_items,
            "level": self.level,
            "complete": self.complete,
            "choices": self.choices,
            "claims": [found.to_dict() for found in self.claims],
            "notes": self.notes,
        }

    def __str__(self) -> str:
        claims = f"{len(self.claims)} claim{'s' * (len(self.claims) != 1)}"
        head = f"{claims} about {self.n_items} items, {self.n_votes:,}"
        lines = [f"- {found.claim}: {found.verdict}" for found in self.claims]
        return "\n".join([f"{head} votes", *lines, *self.notes])

    def __rich__(self) -> Group:
        """Show the table in the terminal."""
        shown = Table(header_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        table = self.table.rename({"removed": "remove", "reversed": "reverse"})
        if table["raters"].is_null().all():
            table = table.drop("raters")
        for name in table.columns:
            number = name not in ("claim", "verdict")
            justify: Any = "right" if number else "left"
            shown.add_column(name, justify=justify, no_wrap=number, overflow="fold")
        for *cells, confidence in table.iter_rows():
            # Draws do not tell more, and what is certain to them is not certain.
            sure = "–" if confidence is None else f"{min(int(100 * confidence), 99)} %"
            texts = ["–" if cell is None else str(cell) for cell in cells]
            shown.add_row(*map(Text, [*texts, sure]))
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
    period: ArrayLike | None = None,
    by: Any = None,
    both_bad: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Audit:
    """Ask of the claims of a leaderboard whether they would survive.

    Parameters
    ----------
    X, y
        `Pairs` of items known by name, and outcomes -1 (left), 0 (tie), +1 (right).
    claims : iterable of Claim or str, optional
        ``"A > B"``, ``"A = B"``, ``"A first"``, ``"A, B, C first"``. By default who is
        first, who is above the next (for the first `neighbors`), and the first `top`.
    top, neighbors : int, default=5 and 10
        See `claims`.
    level : float, default=0.95
        Confidence that a claim needs to be more than luck.
    ties, alpha
        As in `BradleyTerry`. What is learned is learned once, on all votes.
    advantage, context, rater, period, sample_weight : optional
        As in `BradleyTerry.fit`.
    by : array-like of shape (n,), or mapping of str to array-like of bool, optional
        Categories of the votes, such as a language, as in `Leaderboard.from_results`.
    both_bad : array-like of bool of shape (n,), optional
        Which of the ties called both items bad.
    progress : callable, optional
        Is told each step.

    Returns
    -------
    Audit

    Notes
    -----
    Numbers of votes are upper bounds: each was verified by fitting without exactly
    these votes, but a smaller set may exist unless ``exact`` says that all were tried.
    That nothing was found is no proof that there is nothing.

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.robustness import audit_pairs
    >>> votes = Pairs(left=list("AAAAABBB"), right=list("BBBBBCCC"))
    >>> found = audit_pairs(votes, [-1, -1, -1, -1, 1, -1, -1, -1], top=1)
    >>> print(found)
    3 claims about 3 items, 8 votes
    - A is first: cannot be told
    - A is above B: cannot be told
    - B is above C: cannot be told
    """
    check_level(level)
    for name, number in (("top", top), ("neighbors", neighbors)):
        if number < 0:
            raise ValueError(f"{name} must not be negative; got {number}.")
    results = check_results(X, y, sample_weight, "audit")
    n_rows = results.n_rows
    names = results.names
    if len(names) < 2:
        raise ValueError("An audit needs at least two items.")
    columns, _ = check_row_covariates(advantage, context, n_rows)
    known = _known_columns(results, n_rows, rater, period, by, both_bad)
    progress("fitting the strengths")

    def fit(ties: Any, alpha: Any) -> BradleyTerry:
        model = BradleyTerry(ties=ties, alpha=alpha)
        columns: Any = {"advantage": advantage, "context": context, "rater": rater}
        return model.fit(X, y, sample_weight=sample_weight, **columns)

    model = fit(ties, alpha)
    if not (results.outcome != 0).any():
        raise ValueError(
            "Every comparison is a tie, so nobody is above anybody and there is no "
            "claim to audit."
        )
    base = Analysis(
        names,
        results.left.astype(np.int64),
        results.right.astype(np.int64),
        results.outcome,
        results.weight,
        results.take(columns),
        model.tie_model_ if (results.outcome == 0).any() else None,
        model.alpha_,
    )
    rows = np.arange(n_rows) if results.kept is None else np.flatnonzero(results.kept)
    learned = None if alpha == "auto" else fit(ties, "auto").alpha_
    job = _Job(base, known, model, rows, level, advantage is not None, learned)
    asked = _read_claims(claims, job, top, neighbors)
    with one_blas_thread():  # products are small, and more threads only wait
        return job.run(asked, progress)


def _known_columns(
    results: Any,
    n_rows: int,
    rater: Any,
    period: Any,
    by: Any,
    both_bad: Any,
) -> Columns:
    def column(values: Any, name: str) -> Any:
        if values is None:
            return None
        return results.take(check_row_column(values, name, n_rows))

    groups = {}
    for name, rows in split_categories(by, n_rows).items():
        inside = np.zeros(n_rows, dtype=bool)
        inside[rows] = True
        groups[name] = results.take(inside)
    bad = column(both_bad, "both_bad")
    return Columns(
        column(rater, "rater"),
        column(period, "period"),
        groups or None,
        None if bad is None else bad.astype(bool),
    )


def _read_claims(
    claims: Iterable[Claim | str] | None, job: _Job, top: int, neighbors: int
) -> list[Claim]:
    if claims is None:
        return usual_claims(job.start.beta[: len(job.names)], job.names, top, neighbors)
    names = job.names.tolist()
    asked = [c if isinstance(c, Claim) else read_claim(c, names) for c in claims]
    for claim in asked:
        claim.pairs(job.names)  # refuses unknown names
    return asked


class _Job:
    """The audit of one data set."""

    def __init__(
        self,
        base: Analysis,
        columns: Columns,
        model: BradleyTerry,
        rows: NDArray[np.int64],
        level: float,
        has_advantage: bool,
        learned: float | None,
    ) -> None:
        self.base, self.columns, self.model = base, columns, model
        self.rows, self.level, self.has_advantage = rows, level, has_advantage
        self.learned, self.names = learned, base.names
        self.component = model._components()
        self.votes = base.count()
        self.strengths: Strengths = base.strengths(self.votes)
        self.start: Fit = self.strengths.fit(self.votes.counts)
        self.removals = vote_changes(self.votes)
        self.reversals = vote_changes(self.votes, reverse=True)
        self.groups = {
            "raters": self._groups(columns.rater),
            "days": self._groups(columns.period),
        }

    def _groups(self, values: Any) -> tuple[Changes, list[Any]] | None:
        if values is None:
            return None
        if values.dtype.kind == "M":
            values = values.astype("datetime64[D]")
        code, known = factorize(values)
        if not 1 < len(known) <= _MOST_RATERS:
            return None
        return group_changes(self.votes, code), list(map(readable_period, known))

    def run(self, claims: list[Claim], progress: Callable[[str], None]) -> Audit:
        """Look at one claim after the other; interrupted, keep what is finished."""
        done: list[ClaimAudit] = []
        complete, others = True, []
        try:
            progress("fitting under other choices")
            listed = other_choices(
                self.base, self.columns, self.has_advantage, self.learned
            )
            fits = in_threads(lambda choice: choice.analysis.fit(self.start), listed)
            others = list(zip(listed, fits, strict=True))
            for number, claim in enumerate(claims):
                progress(f"claim {number + 1} of {len(claims)}: {claim}")
                done.append(self._audit(claim, others))
        except KeyboardInterrupt:
            complete = False
        names = [choice.name for choice, _ in others]
        n = len(self.rows)
        notes = [_LARGE] if self._is_large else []
        return Audit(done, n, len(self.names), self.level, names, complete, notes)

    @cached_property
    def _known(self) -> StrengthDistribution | None:
        """Distribution of the strengths; of too many items only parts are computed."""
        return None if self._is_large else self.model.distribution()

    @property
    def _is_large(self) -> bool:
        return len(self.names) > DENSE_LIMIT

    def _distribution(self, items: list[int]) -> StrengthDistribution:
        """Distribution of the strengths of some items."""
        known = self._known
        if known is None:
            columns = [self.start.solve(k)[items] for k in items]
            return StrengthDistribution.normal(
                self.start.beta[items], np.stack(columns)
            )
        return StrengthDistribution(
            known.center[:, items],
            known.covariance[:, items][:, :, items],
            known.weight,
            None if known.excess is None else known.excess[np.ix_(items, items)],
            known.df,
            None if known.sides is None else known.sides[:, :, items],
        )

    def _confidence(self, pairs: Pairing) -> float:
        """2 P - 1, with P the probability that all pairs are (better, worse)."""
        if len(pairs) == 1:
            two = self._distribution(list(pairs[0]))
            apart = two.differences(np.array([1]), np.array([0]))
            return max(0.0, 1.0 - 2.0 * float(apart.below(np.zeros(1))[0]))
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

    def _audit(self, claim: Claim, others: list[tuple[Choice, Fit]]) -> ClaimAudit:
        asked = claim.pairs(self.names)
        pairs = [(a, b) for a, b in asked if self.component[a] == self.component[b]]
        if not pairs:
            nothing = dict.fromkeys(("removal", "reversal", "raters", "items", "days"))
            verdict = "cannot be told: they never met, not even through others"
            return ClaimAudit(claim, **nothing, verdict=verdict)  # type: ignore[arg-type]
        above = sorted({pair[0] for pair in pairs})
        subjects = list(pairs[0]) if len(pairs) == 1 else above
        equal = claim.kind == "equal"
        find = self._find_apart if equal else self._find
        removal = find(self.removals, pairs, "votes")
        reversal = find(self.reversals, pairs, "votes")
        found: dict[str, Found | None] = {
            what: find(known[0], pairs, what, known[1]) if known else None
            for what, known in self.groups.items()
        }
        rest = item_changes(self.votes, subjects)
        found["items"] = find(rest, pairs, "items", self.names.tolist(), _MOST_ITEMS)
        confidence = None if equal else self._confidence(pairs)
        under, broken = [], []
        for choice, fit in others:
            holds = self._holds(claim, choice, fit, pairs)
            if holds is not None:
                there = [p for p in pairs if choice.present[p[1]]]
                under.append(self._under(choice.name, holds, fit, there))
                broken += [] if holds else [choice]
        not_found = {}
        for name, changes, what in (
            ("removal", self.removals, removal),
            ("reversal", self.reversals, reversal),
        ):
            if not equal:
                lower = not_found_up_to(self.start, changes, pairs)
                upper = lower if what is None else max(0, what.number - 1)
                not_found[name] = upper if what and what.exact else min(lower, upper)
        verdict = self._verdict(
            removal,
            found["raters"],
            broken,
            confidence,
            pairs,
            self._votes_on(subjects),
        )
        is_so = verdict != "does not hold"
        return ClaimAudit(
            claim,
            removal,
            reversal,
            **found,
            not_found=not_found,
            chosen=self._under("as asked", is_so, self.start, pairs),
            others=under,
            confidence=confidence,
            verdict=verdict,
        )

    def _under(self, name: str, holds: bool, fit: Fit, pairs: Pairing) -> UnderChoice:
        pair = min(pairs, key=lambda one: fit.claim(*one))
        middle, reach = fit.claim(*pair), _critical(self.level) * fit.error(*pair)
        if math.isinf(reach):
            return UnderChoice(name, holds, middle)
        return UnderChoice(name, holds, middle, middle - reach, middle + reach)

    def _find(
        self,
        changes: Changes,
        pairs: Pairing,
        what: str,
        names: Any = None,
        most: float = math.inf,
    ) -> Found | None:
        overturn = fewest(self.strengths, self.start, changes, pairs, most)
        return None if overturn is None else self._name(changes, overturn, what, names)

    def _find_apart(
        self,
        changes: Changes,
        pairs: Pairing,
        what: str,
        names: Any = None,
        most: float = math.inf,
    ) -> Found | None:
        """Find what makes either of two items surely better than the other."""
        critical = _critical(self.level)
        best = None
        for above, below in (pairs[0], pairs[0][::-1]):
            search = SearchApart(
                self.strengths, self.start, changes, above, below, most
            )
            search.critical = critical
            found = search.run()
            if found is not None and (best is None or found.number < best.number):
                best = found
        return None if best is None else self._name(changes, best, what, names)

    def _name(
        self, changes: Changes, overturn: Overturn, what: str, names: Any
    ) -> Found:
        if names is None:
            members = self.rows[changes.rows(overturn.chosen)].tolist()
        else:
            members = [names[k] for k in np.flatnonzero(overturn.chosen)]
        return Found(overturn.number, what, members, overturn.exact)

    def _holds(
        self, claim: Claim, choice: Choice, fit: Fit, pairs: Pairing
    ) -> bool | None:
        if claim.kind != "equal":
            return holds_under(choice, fit, pairs, self.level)
        if not choice.has(pairs[0]):
            return None
        return not self._apart(fit, pairs[0])

    def _apart(self, fit: Fit, pair: tuple[int, int]) -> bool:
        return abs(fit.claim(*pair)) > _critical(self.level) * fit.error(*pair)

    def _votes_on(self, items: list[int]) -> int:
        on = np.isin(self.base.left, items) | np.isin(self.base.right, items)
        return int(np.count_nonzero(on))

    def _verdict(
        self,
        removal: Found | None,
        raters: Found | None,
        broken: list[Choice],
        confidence: float | None,
        pairs: Pairing,
        n_votes: int,
    ) -> str:
        if removal is not None and removal.number == 0:
            return "does not hold"
        if removal is not None and removal.number <= max(1, _FEW * n_votes):
            return f"fragile: {removal.number} vote{'s' * (removal.number > 1)}"
        by_chance = confidence is not None and not self._sure_by_votes(pairs)
        if not by_chance and raters is not None and raters.number == 1:
            return f"depends on one rater: {raters.members[0]}"
        if by_chance or (confidence is not None and confidence < self.level):
            return "cannot be told"
        if broken:
            return " and ".join(dict.fromkeys(choice.depends for choice in broken))
        return "holds"

    def _sure_by_votes(self, pairs: Pairing) -> bool:
        """Whether votes that are independent of each other would make it sure."""
        nearest = sorted(pairs, key=lambda pair: self.start.claim(*pair))[:_NEAREST]
        return all(self._apart(self.start, pair) for pair in nearest)


def _critical(level: float) -> float:
    return float(ndtri(0.5 + 0.5 * level))
