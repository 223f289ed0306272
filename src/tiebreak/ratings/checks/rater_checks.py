# SPDX-License-Identifier: BSD-3-Clause
"""Who judges well: agreement with others, consistency, and what leaving out changes.

Boundary conventions: a vote is compared with the others if it is no tie and their
strengths of its two items differ. A majority of a judge's own votes is strict.

**Careless or of another opinion?** Of a judge's n compared votes, o_i is the log odds
of right by the others' strengths. An *honest* judge has a taste z_j ~ N(0, σ²) for each
item and a habit b ~ N(0, 1) for sides: logit P(right) = o_i + z_right - z_left + b. A
*coin* chooses right with one probability q whatever the items are: ½, or, as probably
before the votes, uniform. With m_σ and c the marginal probabilities of all n votes
(m_σ by Laplace's approximation) E_σ = c / m_σ says how much better a coin explains
them, and T, the least of ln E_σ over σ = 0, ¼, ½ and 1, is large only if an honest
judge of none of these tastes does. As m_σ = c / E_σ, ::

    P(T ≥ t | honest, σ) = E[1(T ≥ t) / E_σ | coin] ≤ exp(-t),

so that a few coins, drawn on the judge's own questions, give small p-values exactly:
the largest over σ, times the number of judges. The mean of 1 / E_σ over σ is, by
Markov's inequality, evidence against a coin.
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
from scipy.special import expit, gammaln, log_expit, logsumexp

from tiebreak.data import Pairs
from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import factorize, plain_values
from tiebreak.data.markup import results_html
from tiebreak.data.messages import closest
from tiebreak.io.result import first_of, plural
from tiebreak.metrics import Alpha, kendall_tau_b, krippendorff_alpha
from tiebreak.models.covariates import check_level, check_row_column
from tiebreak.ratings.checks.check_pairs import binomial_at_most, wilson_interval
from tiebreak.ratings.leaderboard_table import text_table
from tiebreak.ratings.named_results import Results, check_results
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.existence import label_components
from tiebreak.solvers import minimize_newton

VERSION = 1
# With more judges than this they are left out in so many groups.
_GROUPS = 100
_ENOUGH = 10  # votes from which copies and judges who only tie are named
_SHOWN = 20  # judges in the terminal
_TASTES = (0.0, 0.25, 0.5, 1.0)  # standard deviations of an honest judge's opinions
# Votes of a judge, and items in them, at most, in the test for carelessness.
_VOTES, _ITEMS = 1000, 100
_COINS, _SIZES = 200, 8  # coins drawn, and numbers of votes at which for the power
# So far below what Markov's inequality asks for, coins need not be drawn.
_HOPELESS = 5.0
_STEPS, _LONGEST = 30, 2.0  # of Newton, and the longest, in logits
_SENTENCES = {
    "careless": "Drop {}: their votes depend less on the items than those of any "
    "honest judge would.",
    "opposite": "Votes of {} go against the others: are the answers reversed?",
    "other opinions": "Votes of {} agree less with the others than expected, but "
    "prefer some items to others consistently: other opinions, no reason to drop.",
    "unclear": "Votes of {} agree less with the others than expected; they are too few "
    "to tell other opinions from carelessness.",
}


@dataclass(frozen=True, eq=False)
class JudgesReport:
    """What `check_judges` says.

    Attributes
    ----------
    table : polars.DataFrame
        One row per judge, most votes first: ``judge``, ``votes``, shares of ``ties``
        and, among decided votes, of ``left``; ``compared`` votes and the share
        ``agreement`` of them that sides with the others, its interval ``lower`` to
        ``upper``, and what is ``expected`` of a judge like the others; ``p_careless``,
        at most the probability of such votes from an honest judge, times the number of
        judges, and the ``power`` with which a coin would be found at this number of
        votes; ``same``, the share of others' votes on the same question that agree;
        ``repeats`` and ``reversals``, own answers to the same question with equal and
        with exchanged sides, and the shares ``repeats_equal`` and ``reversals_equal``;
        ``triads`` of items and how many are ``cycles``; ``verdict``: "careless",
        "opposite", "other opinions", "unclear" or "". What is not known is null.
    alpha : Alpha or None
        Krippendorff's, of all judges; None if no question has two or all answers agree.
    confusion : polars.DataFrame or None
        With `people`: how the votes of each other judge compare with theirs on the same
        questions; the shares ``same``, ``both_tie``, ``judge_ties``, ``people_tie`` and
        ``opposite`` add up to 1.
    change : dict or None
        What dropping the careless changes: Kendall's ``tau`` of both rankings, items
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
        """Show sentences and tables, the judges with a verdict first."""
        yield from map(Text, self._sentences())
        order = (pl.col("verdict") == "").cast(pl.Int8)
        rows = self.table.sort(order, pl.col("votes"), descending=[False, True])
        heads = [
            "judge",
            "votes",
            "agreement",
            f"{self.level:.0%}",
            "expected",
            "power",
            "verdict",
        ]
        cells = []
        for row in rows.head(_SHOWN).iter_rows(named=True):
            interval = "–"
            if row["agreement"] is not None:
                interval = f"{100 * row['lower']:.0f}–{row['upper']:.0%}"
            shares = map(_percent, (row["expected"], row["power"]))
            start = row["judge"], f"{row['votes']:,}", _percent(row["agreement"])
            cells.append((*start, interval, *shares, row["verdict"]))
        more = len(rows) - len(cells)
        caption = f"and {plural(more, 'more judge')}: --json or .table" * bool(more)
        yield text_table(heads, cells, names=(0, 6), caption=caption)
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

    def _sentences(self) -> list[str]:
        sentences = []
        for verdict, sentence in _SENTENCES.items():
            rows = self.table.filter(pl.col("verdict") == verdict)
            if len(rows):
                sentences.append(sentence.format(_list(rows["judge"].to_list())))
        if self.change is not None:
            after = self.change
            first = f"{after['first']} is first"
            if after["first"] != after["first_before"]:
                first += f" instead of {after['first_before']}"
            sentences.append(
                f"Without the careless {plural(after['moved'], 'item')} of "
                f"{after['items']} would have another rank (Kendall's tau "
                f"{after['tau']:.3f}), and {first}."
            )
        elif self.table["agreement"].is_not_null().any():
            if (self.table["verdict"] == "").all():
                sentences.append("No judge agrees clearly less than expected.")
            rows = self.table.drop_nulls("power")
            votes, power = (np.median(rows[name]) for name in ("votes", "power"))
            sentences.append(
                f"A judge who tosses coins is found with probability {power:.0%} at "
                f"{votes:,.0f} votes, the median."
            )
        if self.alpha is not None:
            a = self.alpha
            sentences.append(
                f"Krippendorff's alpha is {a.alpha:.2f} ({a.low:.2f} to {a.high:.2f}) "
                f"on {plural(a.n_units, 'question')} with two judges or more."
            )
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
    *expected* to reach the mean of P(stronger item | no tie).

    A judge is *careless* if an honest one, who may have other opinions of the items,
    would hardly give votes that a coin explains so much better (``p_careless < 1 -
    level``); only these are to be dropped. Of judges whose agreement is improbably low
    (binomial p, below ``1 - level`` divided by the number of judges) those whose
    interval ends below ½ are *opposite*, those whose votes no coin explains have *other
    opinions*, and the rest is *unclear*. Rows count once.

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
    >>> report.table.select("judge", "votes", "agreement", "verdict").rows()[3]
    ('eve', 30, 0.0, 'opposite')
    """
    check_level(level)
    results = check_results(X, y, None, "check_judges")
    votes = _Votes.read(results, rater, question)
    names, n = votes.names, len(votes.names)
    unknown = [one for one in people if one not in names]
    if unknown:
        raise ValueError(
            f"people has {unknown[0]!r}, who is not among the judges {_list(names)}."
            f"{closest(unknown[0], names)}"
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
    table |= _compare(model, results, votes.rater, n, level)
    table |= votes.consistency() | votes.triads()
    apart = np.flatnonzero((table["compared"] == 0) & (table["ties"] < 1))
    if model is not None and len(apart):
        notes.append(
            "The others decided nothing on the items of "
            f"{_list([names[k] for k in apart])}, not even through other items, so "
            "there is nothing to agree on."
        )
    frame = pl.DataFrame({"judge": names} | {name: table[name] for name in _COLUMNS})
    frame = frame.with_columns(pl.col(pl.Float64).fill_nan(None))
    change = None
    if model is not None and (table["verdict"] == "careless").any():
        change = _change(model, (table["verdict"] != "careless").astype(float))
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
    *("p_careless", "power", "same", "repeats", "repeats_equal", "reversals"),
    *("reversals_equal", "triads", "cycles", "verdict"),
)


_OWN = ("question", "rater")


@dataclass(frozen=True, eq=False)
class _Votes:
    """Votes of judges on questions, the item of the lower number left."""

    names: list[Any]  # (J,) judges
    rater: Codes  # (n,)
    low: Codes  # (n,) the two items
    high: Codes
    question: Codes  # (n,), of the same two items
    value: Codes  # (n,) outcome, with sides exchanged where turned
    turned: Flags

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

    def triads(self) -> dict[str, Codes]:
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

    def confusion(self, human: Flags) -> pl.DataFrame:
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


def _mean_by(code: Codes, values: NDArray[Any], n: int) -> Floats:
    with np.errstate(invalid="ignore"):
        mean = np.bincount(code, values, n) / np.bincount(code, minlength=n)
    return mean.astype(np.float64)


def _compare(
    model: BradleyTerry | None, results: Results, rater: Codes, n: int, level: float
) -> dict[str, NDArray[Any]]:
    """Compare decided votes with a model of the others' votes; NaN without one."""
    odds = np.zeros(results.n_rows)  # ln of right to left, by the others
    groups = np.array_split(np.random.default_rng(0).permutation(n), min(n, _GROUPS))
    group_of = np.empty(n, dtype=np.int64)
    for number, group in enumerate(groups):
        group_of[group] = number
    rows = np.argsort(group_of[rater], kind="stable")
    sizes = np.bincount(group_of[rater], minlength=len(groups))
    decided = results.outcome != 0
    for group, own in zip(groups, np.split(rows, sizes.cumsum()[:-1]), strict=True):
        if model is not None:
            counts = model.rater_counts_[group].sum(axis=0).reshape(-1, 3)
            own = own[decided[own]]
            odds[own] = _predict(model, model.pair_counts_ - counts, results, own)
    kept = odds != 0.0
    of, right = rater[kept], results.outcome[kept] > 0
    compared = np.bincount(of, minlength=n).astype(np.float64)
    agreed = np.bincount(of, (odds[kept] > 0) == right, n)
    hoped = np.bincount(of, expit(np.abs(odds[kept])), n)
    with np.errstate(invalid="ignore"):  # 0/0 is not known
        agreement, expected = agreed / compared, hoped / compared
        lower, upper = wilson_interval(agreed, compared, level)
    known, at_most = np.flatnonzero(compared), 1 - level
    p_low, p_careless, power = np.full((3, n), np.nan)
    p_low[known] = binomial_at_most(agreed[known], compared[known], expected[known])
    p_low, low = np.minimum(p_low * len(known), 1.0), np.zeros(n, dtype=bool)
    low[known] = p_low[known] < at_most
    verdict = np.where(low & (upper < 0.5), "opposite", "").astype("<U14")
    needed = np.log(max(len(known), 1) / at_most)
    by_judge = _Compared.of(results, odds, rater, n)
    p_careless[known] = 1.0
    hopeful = by_judge.without_taste() > needed - _HOPELESS
    for k in known[hopeful[known] | low[known]]:
        seen = by_judge.coin_odds(k)
        drawn = np.append(by_judge.coin_odds(k, _COINS), seen, axis=1)
        p_careless[k] = min(1.0, len(known) * _tail(drawn, seen)[0])
        if p_careless[k] < at_most and not verdict[k]:
            verdict[k] = "careless"
        elif low[k] and not verdict[k]:
            against = logsumexp(-seen) - np.log(len(seen))
            verdict[k] = "other opinions" if against > needed else "unclear"
    power[known] = by_judge.power(compared[known], at_most / max(len(known), 1))
    return {
        "compared": np.rint(compared).astype(np.int64),
        "agreement": agreement,
        "lower": lower,
        "upper": upper,
        "expected": expected,
        "p_careless": p_careless,
        "power": power,
        "verdict": verdict,
    }


def _predict(
    model: BradleyTerry, counts: Floats, results: Results, rows: Codes
) -> Floats:
    """Return ln P(right) - ln P(left) by a model of other counts; 0: not known."""
    counts = np.where(counts > 0.5, counts, 0.0)
    if not counts[:, ::2].any():
        return np.zeros(len(rows))  # the others only tie
    objective = model._problem.objective(model.alpha_, counts)
    x = minimize_newton(objective, model._solution(), tol=1e-6).x
    beta, t = objective.split(x)
    left, right = results.left[rows], results.right[rows]
    share = objective.link.probabilities(beta[right] - beta[left], t)
    met = counts.sum(axis=1) > 0
    pairs = model.pair_left_[met], model.pair_right_[met]
    part = label_components(len(model.items_), *pairs)
    return np.where(part[left] == part[right], np.log(share[:, 2] / share[:, 0]), 0.0)


@dataclass(frozen=True, eq=False)
class _Compared:
    """Compared votes by judge, and how much better a coin explains them."""

    odds: Floats  # (n,) by the others
    left: Codes  # (n,)
    right: Codes
    sign: Codes  # (n,) 1 for right, -1 for left
    rater: Codes  # (n,) increasing
    first: Codes  # (J + 1,) where the votes of each begin

    @classmethod
    def of(cls, results: Results, odds: Floats, rater: Codes, n: int) -> _Compared:
        # In random order, so that the first votes of a judge are any of them.
        rows = np.random.default_rng(0).permutation(np.flatnonzero(odds))
        rows = rows[np.argsort(rater[rows], kind="stable")]
        first = np.append(0, np.bincount(rater[rows], minlength=n).cumsum())
        sign = results.outcome[rows].astype(np.int64)
        sides = results.left[rows], results.right[rows]
        return cls(odds[rows], *sides, sign, rater[rows], first)

    def without_taste(self) -> Floats:
        """Give ln E of σ = 0 for all judges at once, (J,)."""
        n, of, bias = len(self.first) - 1, self.rater, np.zeros(len(self.first) - 1)
        for _ in range(_STEPS):
            p = expit(self.odds + bias[of])
            slope = np.bincount(of, (self.sign > 0) - p, n) - bias
            bend = np.bincount(of, p * (1 - p), n) + 1.0
            bias += np.clip(slope / bend, -_LONGEST, _LONGEST)
        fit = np.bincount(of, log_expit(self.sign * (self.odds + bias[of])), n)
        right = np.bincount(of, self.sign > 0, n)
        coin = _log_coin(right, np.diff(self.first))
        return coin - (fit - 0.5 * bias**2 - 0.5 * np.log(bend))

    def coin_odds(self, judge: int, draws: int = 0) -> Floats:
        """Give ln E of a judge's votes, or of a coin's instead: tastes × draws."""
        start, stop = self.first[judge : judge + 2]
        own = slice(start, min(start + _VOTES, stop))
        seen = np.unique(np.stack([self.left[own], self.right[own]], axis=1), True)[1]
        if len(seen) > _ITEMS:
            own = slice(start, start + np.sort(seen)[_ITEMS] // 2)
        odds, sign = self.odds[own], self.sign[None, own]
        n = len(odds)
        if draws:  # the first half of them fair
            rng = np.random.default_rng(0)
            q = np.append(np.full(draws // 2, 0.5), rng.random(draws - draws // 2))
            sign = np.where(rng.random((draws, n)) < q[:, None], 1, -1)
        items, ends = np.unique([self.left[own], self.right[own]], return_inverse=True)
        left, right = ends.reshape(2, n)
        design = _honest_design(left, right, len(items))
        return _log_coin((sign > 0).sum(axis=1), n) - np.array(
            [_log_honest(odds, *design, sign, taste) for taste in _TASTES]
        )

    def power(self, compared: Floats, at_most: float) -> Floats:
        """Give P(a fair coin is found) at numbers of votes, drawn at some of them."""
        size = np.diff(self.first)
        order = np.argsort(size, kind="stable")[(size == 0).sum() :]
        if not len(order):
            return np.zeros(0)
        some = order[np.linspace(0, len(order) - 1, _SIZES).astype(int)]
        found = []
        for judge in some:
            drawn = self.coin_odds(judge, _COINS)
            found.append((_tail(drawn, drawn[:, : _COINS // 2]) < at_most).mean())
        sizes, place = np.unique(size[some], return_inverse=True)
        return np.interp(
            compared, sizes, np.bincount(place, found) / np.bincount(place)
        )


def _tail(drawn: Floats, seen: Floats) -> Floats:
    """P(T of an honest judge is as large), the largest over tastes, from coins."""
    reached = drawn.min(axis=0) >= seen.min(axis=0)[:, None]
    share = np.exp(-np.maximum(drawn, -50.0)).T / drawn.shape[1]
    return np.asarray((reached @ share).max(axis=1))


def _log_coin(right: Any, n: Any) -> Any:
    """Log probability of so many right of n votes: q = ½, or else uniform."""
    uniform = gammaln(right + 1.0) + gammaln(n - right + 1.0) - gammaln(n + 2.0)
    return np.logaddexp(uniform, -n * np.log(2.0)) - np.log(2.0)


def _honest_design(left: Codes, right: Codes, n_items: int) -> tuple[Any, Any]:
    """Rows of tastes and side, (n, k), and products of two columns, (k k, n)."""
    n, k, sign = len(left), n_items + 1, np.array([-1.0, 1.0, 1.0])
    column = np.stack([left, right, np.full(n, n_items)])

    def rows(value: Floats, place: Codes, width: int) -> sp.csr_array:
        at = np.tile(np.arange(n), len(value)), place.ravel()
        return sp.csr_array((value.repeat(n), at), (n, width))

    twice = column[:, None] * k + column
    products = rows(np.outer(sign, sign).ravel(), twice, k * k)
    return rows(sign, column, k), products.T.tocsr()


def _log_honest(
    odds: Floats, design: Any, products: Any, sign: Codes, taste: float
) -> Floats:
    """Log probability of rows of votes (R, n), by Laplace's approximation."""
    k, draws = design.shape[1], len(sign)
    unit = np.append(np.full(k - 1, taste), 1.0)
    z, move = np.zeros((draws, k)), np.inf
    for _ in range(_STEPS):
        d = odds + (design @ (z * unit).T).T
        p = expit(d)
        hessian = (products @ (p * (1 - p)).T).T.reshape(draws, k, k)
        hessian = hessian * np.outer(unit, unit) + np.eye(k)
        if move < 1e-3:
            break
        slope = (design.T @ ((sign > 0) - p).T).T * unit - z
        step = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
        longest = np.abs(design @ (step * unit).T).max(axis=0)
        z += step * np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300))[:, None]
        move = float(longest.max())
    fit = log_expit(sign * d).sum(axis=1) - 0.5 * (z * z).sum(axis=1)
    return np.asarray(fit - 0.5 * np.linalg.slogdet(hessian)[1])


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
