# SPDX-License-Identifier: BSD-3-Clause
"""Who judges well: agreement with others, consistency, and what leaving out changes.

Boundary conventions: a vote is compared with the others if it is no tie and their
strengths of its two items differ. A majority of a judge's own votes is strict.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from rich.text import Text

from tiebreak.data import Pairs
from tiebreak.data.columns import factorize, plain_values
from tiebreak.data.markup import results_html
from tiebreak.io.result import first_of, plural
from tiebreak.metrics import Alpha, kendall_tau_b, krippendorff_alpha
from tiebreak.models.covariates import check_level, check_row_column
from tiebreak.ratings.checks.check_pairs import binomial_at_most, wilson_interval
from tiebreak.ratings.leaderboard_table import text_table
from tiebreak.ratings.named_results import Results, check_results
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.existence import label_components
from tiebreak.solvers import minimize_newton

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

VERSION = 1
# With more judges than this they are left out in so many groups.
_GROUPS = 100
_ENOUGH = 10  # votes from which copies and judges who only tie are named
_SHOWN = 20  # judges in the terminal


@dataclass(frozen=True, eq=False)
class JudgesReport:
    """What `check_judges` says.

    Attributes
    ----------
    table : polars.DataFrame
        One row per judge, most votes first: ``judge``, ``votes``, shares of ``ties``
        and, among decided votes, of ``left``; ``compared`` votes and the share
        ``agreement`` of them that sides with the others, its interval ``lower`` to
        ``upper``, and what is ``expected`` of a judge like the others; ``care``, from 0
        to 1; ``same``, the share of others' votes on the same question that agree;
        ``repeats`` and ``reversals``, own answers to the same question with equal and
        with exchanged sides, and the shares ``repeats_equal`` and ``reversals_equal``;
        ``triads`` of items and how many are ``cycles``; ``advice``: "drop",
        "down-weight" or "". What is not known is null.
    alpha : Alpha or None
        Krippendorff's, of all judges; None if no question has two or all answers agree.
    confusion : polars.DataFrame or None
        With `people`: how the votes of each other judge compare with theirs on the same
        questions; the shares ``same``, ``both_tie``, ``judge_ties``, ``people_tie`` and
        ``opposite`` add up to 1.
    change : dict or None
        What following the advice changes: Kendall's ``tau`` of both rankings, items
        ``moved`` to another rank, ``first`` and ``first_before``.
    level : float
    notes : list of str
    """

    table: pl.DataFrame
    alpha: Alpha | None
    confusion: pl.DataFrame | None
    change: dict[str, Any] | None
    level: float
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Give what can be written as JSON.

        Returns
        -------
        dict
        """
        return {
            "version": VERSION,
            "level": self.level,
            "alpha": None if self.alpha is None else vars(self.alpha),
            "judges": self.table.to_dicts(),
            "confusion": None if self.confusion is None else self.confusion.to_dicts(),
            "change": self.change,
            "notes": self.notes,
        }

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _repr_html_(self) -> str:
        return results_html(*self.__rich_console__())

    def __rich_console__(self, *_: Any) -> Iterator[Any]:
        """Show tables and sentences, the judges with advice first."""
        order = (pl.col("advice") == "").cast(pl.Int8)
        rows = self.table.sort(order, pl.col("votes"), descending=[False, True])
        heads = ["judge", "votes", "agreement", f"{self.level:.0%}", "expected"]
        cells = []
        for row in rows.head(_SHOWN).iter_rows(named=True):
            interval = "–"
            if row["agreement"] is not None:
                interval = f"{100 * row['lower']:.0f}–{row['upper']:.0%}"
            shares = _percent(row["agreement"]), interval, _percent(row["expected"])
            cells.append((row["judge"], f"{row['votes']:,}", *shares, row["advice"]))
        yield text_table([*heads, "advice"], cells, names=(0, len(heads)))
        if self.confusion is not None:
            yield Text("Against people, on the same questions:")
            most = self.confusion.sort("votes", descending=True).head(_SHOWN)
            yield text_table(
                (name.replace("_", " ") for name in most.columns),
                (
                    (judge, f"{votes:,}", *map(_percent, shares))
                    for judge, votes, *shares in most.iter_rows()
                ),
            )
        yield from map(Text, self._sentences())

    def _sentences(self) -> list[str]:
        sentences = []
        if self.alpha is not None:
            a = self.alpha
            sentences.append(
                f"Krippendorff's alpha is {a.alpha:.2f} ({a.low:.2f} to {a.high:.2f}) "
                f"on {plural(a.n_units, 'question')} with two judges or more."
            )
        for advice, verb in (("drop", "Drop"), ("down-weight", "Down-weight")):
            rows = self.table.filter(pl.col("advice") == advice)
            if len(rows):
                sentences.append(f"{verb} {_list(rows['judge'].to_list())}.")
        if self.change is not None:
            after = self.change
            first = f"{after['first']} is first"
            if after["first"] != after["first_before"]:
                first += f" instead of {after['first_before']}"
            sentences.append(
                f"Then {plural(after['moved'], 'item')} of {after['items']} would have "
                f"another rank (Kendall's tau {after['tau']:.3f}), and {first}."
            )
        elif self.table["agreement"].is_not_null().any():
            sentences.append("No judge agrees less with the others than expected.")
        return sentences + self.notes


def check_judges(
    X: Any,
    y: ArrayLike,
    rater: ArrayLike,
    *,
    people: Sequence[Any] = (),
    question: ArrayLike | None = None,
    level: float = 0.95,
) -> JudgesReport:
    """Say of each judge how well it agrees with the others and with itself.

    *Agreement* is the share of a judge's decided votes for the item that is stronger by
    a `BradleyTerry` model of the other judges' votes (of more than 100 judges, 100
    groups are left out in turn), with Wilson's interval. A judge like the others is
    *expected* to reach the mean of P(stronger item | no tie). *Care* = (agreement - ½)
    / (expected - ½) is the share of votes in which a judge is like the others, if it
    tosses a coin in the rest. If agreement is improbably low (binomial p, a bound by
    Hoeffding 1956, below ``1 - level`` divided by the number of judges), the advice is
    to drop a judge whose interval reaches down to ½, and to weight others by their
    care. Rows count once.

    Parameters
    ----------
    X : Pairs
        Comparisons of items known by name.
    y, rater : array-like of shape (n,)
        Outcomes -1 (left), 0 (tie), +1 (right), and who judged.
    people : sequence, optional
        Raters whom others, such as models, are compared with.
    question : array-like of shape (n,), optional
        What was asked about the two items, such as a prompt; None: one question for
        every two items.
    level : float, default=0.95
        Confidence of intervals.

    Returns
    -------
    JudgesReport

    Examples
    --------
    >>> from tiebreak import Pairs
    >>> from tiebreak.ratings import check_judges
    >>> pairs = Pairs(left=list("ABCABC") * 20, right=list("BCABCA") * 20)
    >>> y = [-1, -1, 1] * 20 + [-1, -1, 1] * 10 + [1, 1, -1] * 10
    >>> rater = ["ann", "bo"] * 30 + ["cy"] * 30 + ["eve"] * 30
    >>> report = check_judges(pairs, y, rater)
    >>> report.table.select("judge", "votes", "agreement", "advice").rows()[3]
    ('eve', 30, 0.0, 'drop')
    """
    check_level(level)
    results = check_results(X, y, None, "check_judges")
    votes = _Votes.read(results, rater, question)
    names, n = votes.names, len(votes.names)
    unknown = [one for one in people if one not in names]
    if unknown:
        raise ValueError(
            f"people has {unknown[0]!r}, who is not among the judges {_list(names)}."
        )
    decided = results.outcome != 0
    table: dict[str, Any] = {"votes": np.bincount(votes.rater)}
    table["ties"] = _mean_by(votes.rater, ~decided, n)
    left = results.outcome[decided] == -1
    table["left"] = _mean_by(votes.rater[decided], left, n)
    notes, model = _notes(votes, table), None
    if n > 1 and decided.any():
        with warnings.catch_warnings():
            # Only votes on items that the others compared, too, are looked at.
            warnings.filterwarnings("ignore", ".*comparable only by the penalty")
            pairs = Pairs._of(None, results.left, results.right, results.names)
            model = BradleyTerry().fit(pairs, results.outcome, rater=votes.rater)
    table |= _agreement(model, n, level) | votes.consistency() | votes.triads()
    apart = np.flatnonzero((table["compared"] == 0) & (table["ties"] < 1))
    if model is not None and len(apart):
        notes.append(
            "The others decided nothing on the items of "
            f"{_list([names[k] for k in apart])}, not even through other items, so "
            "there is nothing to agree on."
        )
    advice = _advise(table, level)
    frame = pl.DataFrame({"judge": names} | {name: table[name] for name in _COLUMNS})
    frame = frame.with_columns(
        pl.col(pl.Float64).fill_nan(None), advice=pl.Series(advice)
    )
    change = None
    if model is not None and (advice != "").any():
        weight = np.where(advice == "down-weight", table["care"], advice == "")
        change = _change(model, weight)
    human = np.array([name in set(people) for name in names])
    return JudgesReport(
        frame.sort("votes", descending=True, maintain_order=True),
        votes.alpha(level),
        votes.confusion(human) if people else None,
        change,
        level,
        notes,
    )


_COLUMNS = (
    *("votes", "ties", "left", "compared", "agreement", "lower", "upper", "expected"),
    *("care", "same", "repeats", "repeats_equal", "reversals", "reversals_equal"),
    *("triads", "cycles"),
)


_OWN = ("question", "rater")


@dataclass(frozen=True, eq=False)
class _Votes:
    """Votes of judges on questions, the item of the lower number left."""

    names: list[Any]  # (J,) judges
    rater: Ints  # (n,)
    low: Ints  # (n,) the two items
    high: Ints
    question: Ints  # (n,), of the same two items
    value: Ints  # (n,) outcome, with sides exchanged where turned
    turned: NDArray[np.bool_]

    @classmethod
    def read(
        cls, results: Results, rater: ArrayLike, question: ArrayLike | None
    ) -> _Votes:
        codes, names = factorize(check_row_column(rater, "rater", results.n_rows))
        turned = results.left > results.right
        low = np.minimum(results.left, results.right)
        high = np.maximum(results.left, results.right)
        key = low * len(results.names) + high
        if question is not None:
            column = check_row_column(question, "question", results.n_rows)
            kind, kinds = factorize(column)
            key = factorize(key)[0] * len(kinds) + kind
        value = np.where(turned, -results.outcome, results.outcome).astype(np.int64)
        return cls(names, codes, low, high, factorize(key)[0], value, turned)

    def frame(self) -> pl.DataFrame:
        names = ("rater", "question", "value", "turned")
        return pl.DataFrame({name: getattr(self, name) for name in names})

    def alpha(self, level: float) -> Alpha | None:
        try:
            columns = self.question, self.rater, self.value
            return krippendorff_alpha(
                *columns, level="ordinal", symmetric=True, confidence=level,
                n_resamples=200,
            )  # fmt: skip
        except ValueError:
            return None

    def consistency(self) -> dict[str, NDArray[Any]]:
        """Agreement with others' and with own answers to the same question."""
        count = pl.len().cast(pl.Int64)
        own, equal = count.over(*_OWN), count.over(*_OWN, "value")
        side, side_equal = (
            count.over(*_OWN, "turned"),
            count.over(*_OWN, "turned", "value"),
        )
        others = count.over("question") - own
        agree = (count.over("question", "value") - equal) / others
        table = self.frame().select(
            "rater",
            same=pl.when(others > 0).then(agree),
            repeats=side - 1,
            reversals=own - side,
            repeats_equal=side_equal - 1,
            reversals_equal=equal - side_equal,
        )
        table = (
            table.group_by("rater")
            .agg(pl.col("same").mean(), pl.exclude("rater", "same").sum() // 2)
            .with_columns(
                pl.col("repeats_equal") / pl.col("repeats"),
                pl.col("reversals_equal") / pl.col("reversals"),
            )
        )
        return {column.name: column.to_numpy() for column in table.sort("rater")}

    def triads(self) -> dict[str, Ints]:
        """Count, by judge, triads with a majority each, and circular ones."""
        n_items, n = int(self.high.max()) + 1, len(self.names)
        # A node is an item as a judge sees it, so that all judges are one graph.
        first, second = (self.rater * n_items + side for side in (self.low, self.high))
        votes = pl.DataFrame({"first": first, "second": second, "value": self.value})
        net = votes.group_by("first", "second").agg(pl.sum("value"))
        first, second, value = net.filter(pl.col("value") != 0).to_numpy().T
        better, worse = np.where(value < 0, (first, second), (second, first))
        nodes, ends = np.unique([better, worse], return_inverse=True)
        shape = (len(nodes), len(nodes))
        beats = sp.csr_array((np.ones(len(value)), tuple(ends)), shape=shape)
        met = beats + beats.T
        judge = nodes // n_items
        out = {}
        for name, paths, closed, times in (
            ("triads", met @ met, met, 6),
            ("cycles", beats @ beats, beats.T, 3),
        ):
            count = np.asarray(paths.multiply(closed).sum(axis=1)).ravel()
            out[name] = np.rint(np.bincount(judge, count, n) / times).astype(np.int64)
        return out

    def confusion(self, human: NDArray[np.bool_]) -> pl.DataFrame:
        """Compare votes with those of people on the same questions."""
        people, tie = pl.col("human"), (pl.col("value") == 0).cast(pl.Float64)
        n, same = people.sum().over("question"), people.sum().over("question", "value")
        tied, decided = (people * tie).sum().over("question"), 1 - tie
        shares = {
            "same": decided * same / n,
            "both_tie": tie * tied / n,
            "judge_ties": tie * (n - tied) / n,
            "people_tie": decided * tied / n,
            "opposite": decided * (n - same - tied) / n,
        }
        votes = self.frame().with_columns(human=pl.Series(human[self.rater]))
        table = (
            votes.with_columns(**shares, n=n)
            .filter(~people & (pl.col("n") > 0))
            .group_by("rater")
            .agg(pl.len().cast(pl.Int64).alias("votes"), pl.col(*shares).mean())
            .sort("rater")
        )
        judges = pl.Series("judge", [self.names[k] for k in table["rater"]])
        return table.drop("rater").insert_column(0, judges)


def _mean_by(code: Ints, values: NDArray[Any], n: int) -> Floats:
    with np.errstate(invalid="ignore"):
        mean = np.bincount(code, values, n) / np.bincount(code, minlength=n)
    return mean.astype(np.float64)


def _agreement(model: Any, n: int, level: float) -> dict[str, NDArray[Any]]:
    """Compare decided votes with a model of the others' votes; NaN without one."""
    compared, agreed, hoped = np.zeros((3, n))
    groups = np.array_split(np.random.default_rng(0).permutation(n), min(n, _GROUPS))
    for group in groups if model is not None else ():
        own = model.rater_counts_[group]
        rest = model.pair_counts_ - own.sum(axis=0).reshape(-1, 3)
        rest = np.where(rest > 0.5, rest, 0.0)
        if not rest[:, ::2].any():
            continue  # the others only tie
        met = rest.sum(axis=1) > 0
        left, right = model.pair_left_, model.pair_right_
        part = label_components(len(model.items_), left[met], right[met])
        share = _predict(model, rest)
        known = (part[left] == part[right]) & (share != 0.5)
        decided = np.array([1, 0, 1]) * known[:, None]
        favored = np.stack([share < 0.5, 0 * share, share > 0.5], axis=1) * decided
        hope = np.maximum(share, 1 - share)[:, None] * decided
        compared[group] = own @ decided.ravel()
        agreed[group], hoped[group] = own @ favored.ravel(), own @ hope.ravel()
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 is not known
        agreement, expected = agreed / compared, hoped / compared
        lower, upper = wilson_interval(agreed, compared, level)
        care = np.clip((agreement - 0.5) / (expected - 0.5), 0.0, 1.0)
    return {
        "compared": np.rint(compared).astype(np.int64),
        "agreement": agreement,
        "lower": lower,
        "upper": upper,
        "expected": expected,
        "care": care,
    }


def _predict(model: BradleyTerry, counts: Floats) -> Floats:
    """Return P(right | no tie) of each pair by a model of other counts."""
    objective = model._problem.objective(model.alpha_, counts)
    x = minimize_newton(objective, model._solution(), tol=1e-6).x
    beta, t = objective.split(x)
    share = objective.link.probabilities(objective.design.apply(beta), t)
    return np.asarray(share[:, 2] / (share[:, 0] + share[:, 2]))


def _advise(table: dict[str, NDArray[Any]], level: float) -> NDArray[np.str_]:
    advice = np.full(len(table["care"]), "", dtype="<U11")
    known = np.flatnonzero(table["compared"])
    total = table["compared"][known]
    agreed = np.rint(table["agreement"][known] * total)
    p_value = binomial_at_most(agreed, total, table["expected"][known])
    low = known[p_value * len(known) < 1 - level]
    advice[low] = np.where(table["lower"][low] > 0.5, "down-weight", "drop")
    return advice


def _change(model: BradleyTerry, weight: Floats) -> dict[str, Any] | None:
    """How weights of judges change the ranking; None if nothing is left."""
    counts = (sp.diags_array(weight) @ model.rater_counts_).sum(axis=0).reshape(-1, 3)
    kept = counts.any(axis=1)
    seen = np.zeros(len(model.items_), dtype=bool)
    seen[model.pair_left_[kept]] = seen[model.pair_right_[kept]] = True
    if not counts[:, ::2].any() or seen.sum() < 2:
        return None
    objective = model._problem.objective(model.alpha_, counts)
    x = minimize_newton(objective, model._solution()).x
    before, after = model.strength_[seen], x[: len(seen)][seen]
    ranks = [np.argsort(np.argsort(-one, kind="stable")) for one in (before, after)]
    names = plain_values(model.items_[seen])
    return {
        "items": int(seen.sum()),
        "moved": int((ranks[0] != ranks[1]).sum()),
        "tau": kendall_tau_b(before, after),
        "first_before": names[int(before.argmax())],
        "first": names[int(after.argmax())],
    }


def _notes(votes: _Votes, table: dict[str, NDArray[Any]]) -> list[str]:
    """Say what hinders comparing judges."""
    notes, names = [], votes.names
    if len(names) == 1:
        notes.append(
            f"All {len(votes.rater):,} votes are of one judge, {names[0]}, so there is "
            "nobody to agree with; only its consistency is known."
        )
    single = int((table["votes"] == 1).sum())
    if single:
        notes.append(f"{plural(single, 'judge')} gave one vote, which says little.")
    tying = [
        names[k]
        for k in np.flatnonzero((table["ties"] == 1) & (table["votes"] >= _ENOUGH))
    ]
    if tying:
        notes.append(f"Only ties were given by {_list(tying)}.")
    for copies in _find_copies(votes):
        notes.append(
            f"{_list(copies)} gave the same answers to the same questions; count them "
            "as one judge if they are copies."
        )
    return notes


def _find_copies(votes: _Votes) -> list[list[Any]]:
    """Find judges with the same questions and answers throughout."""
    order = np.lexsort((votes.value, votes.turned, votes.question, votes.rater))
    answers = np.stack([votes.question, votes.value, votes.turned], axis=1)[order]
    ends = np.cumsum(np.bincount(votes.rater))
    seen: dict[bytes, list[Any]] = {}
    for name, mine in zip(votes.names, np.split(answers, ends[:-1]), strict=True):
        if len(mine) >= _ENOUGH:
            seen.setdefault(mine.tobytes(), []).append(name)
    return [judges for judges in seen.values() if len(judges) > 1]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _list(names: list[Any]) -> str:
    return first_of([str(name) for name in names], 5)
