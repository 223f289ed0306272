# SPDX-License-Identifier: BSD-3-Clause
"""What a report says, as plain data: nothing here knows how a page looks."""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from tiebreak import ratings
from tiebreak.data import Pairs
from tiebreak.data.markup import isolate
from tiebreak.ratings import BradleyTerry
from tiebreak.ratings.checks.report import PairsReport
from tiebreak.ratings.leaderboard import ResultsMatrix
from tiebreak.selection.results import ForwardResult, TuneResult

Link = Literal["davidson", "cumulative", "threshold"]
_LINKS = ("davidson", "cumulative", "threshold")
_LINK_OF: dict[str | None, Link] = {"rao-kupper": "cumulative"}
_LINK_OF |= {"davidson": "davidson", "half": "davidson", None: "davidson"}


@dataclass(frozen=True, eq=False)
class CompareData:
    """What the page needs to predict the outcome of any two items.

    With d = strength of right - strength of left (- `advantage`, if left has it),
    divided by √(1 + doubt of left + doubt of right) where there are doubts:

    * ``"davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : tie : exp(d/2);
    * ``"cumulative"``: P(right) = 1 / (1 + tie exp(-d)) and P(left) =
      1 / (1 + tie exp(d));
    * ``"threshold"``: a tie if abs(d) ≤ tie, else the better one; no probabilities.

    Attributes
    ----------
    names, strengths : sequence and ndarray of shape (n,)
        Names of the items, best first, and their strengths.
    link : {"davidson", "cumulative", "threshold"}
        How a difference becomes a prediction.
    tie : float
        ν, κ or the threshold.
    advantage : float or None
        What playing at home (or first, or with white) adds to left, if it is known.
    doubts : ndarray of shape (n,) or None
        3 (D ln 10 / (400 π))² for the deviation D of Glicko's systems, whose
        g(√(D²left + D²right)) the divisor is the inverse of.
    """

    names: Sequence[Any]
    strengths: NDArray[np.float64]
    link: Link
    tie: float
    advantage: float | None = None
    doubts: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.link not in _LINKS:
            raise ValueError(
                f"link is {self.link!r}; expected 'davidson', 'cumulative' or "
                "'threshold'."
            )
        for what, values in (("strength", self.strengths), ("doubt", self.doubts)):
            if values is not None and len(self.names) != len(values):
                raise ValueError(
                    f"There are {len(self.names)} names and {len(values)} {what}s; "
                    f"expected one {what} for every name."
                )

    @classmethod
    def from_model(cls, model: Any) -> Self | None:
        """Take strengths and tie parameter from a fitted model of named items.

        Parameters
        ----------
        model : BradleyTerry, Elo, Glicko, Glicko2, or another model
            Fitted.

        Returns
        -------
        CompareData or None
            None if it is another model; see `from_utilities`.
        """
        doubts = None
        if isinstance(model, BradleyTerry):
            ties = getattr(model, "tie_model_", model.ties)
            strengths, link = model.strength_, _LINK_OF[ties]
            advantage = getattr(model, "advantage_", None)
        elif isinstance(model, ratings.Elo | ratings.Glicko | ratings.Glicko2):
            scale = model.scale if isinstance(model, ratings.Elo) else 400.0
            per_point = math.log(10.0) / scale
            strengths = model.rating_ * (model.slope_ * per_point)
            advantage = model.advantage_ * model.slope_ * per_point or None
            link = "davidson"
            if not isinstance(model, ratings.Elo):
                doubts = 3.0 * (model.deviation_ * per_point / math.pi) ** 2
        else:
            return None
        best = np.argsort(-strengths, kind="stable")
        names = model.items_[best].tolist()
        if doubts is not None:
            doubts = doubts[best]
        return cls(names, strengths[best], link, model.tie_, advantage, doubts)

    @classmethod
    def from_utilities(
        cls, model: Any, names: NDArray[Any], utility: NDArray[np.float64]
    ) -> Self | None:
        """Take utilities of named items, and what the model makes of differences.

        Parameters
        ----------
        model : estimator
            Fitted on items with features: one with ``predict_proba``, ``link`` and
            ``tie_`` such as :class:`~tiebreak.LogisticCompare`, or one with
            ``threshold_``; or a Pipeline that ends in one.
        names, utility : ndarray of shape (n,)
            Names of the items, and their utilities.

        Returns
        -------
        CompareData or None
            None if the model says neither how probable ties are nor where they end.
        """
        last = last_step(model)
        best = np.argsort(-utility, kind="stable")
        items, strengths = names[best].tolist(), utility[best]
        link = getattr(last, "link", None)
        if link in _LINKS and hasattr(last, "tie_"):
            return cls(items, strengths, link, float(last.tie_))
        if hasattr(last, "threshold_"):
            return cls(items, strengths, "threshold", float(last.threshold_))
        return None


def last_step(model: Any) -> Any:
    """Give what predicts at the end of a Pipeline; a model itself otherwise."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


@dataclass(frozen=True, eq=False)
class QualityData:
    """How well results were predicted that the model had not seen.

    Attributes
    ----------
    rows : sequence of dict
        One per model: ``model``, ``accuracy``, ``log_loss``, ``brier`` and ``rps``, all
        rows the same; None where a model has none.
    model, baseline : str
        The model of the report and the trivial one (or None), among the rows.
    note : str
        How the results were held out, in words.
    outcome, proba : ndarray of shape (m,) and (m, 3), or None
        What happened in the held-out rows, and probabilities that the model gave.
    weight : ndarray of shape (m,) or None
        Weights of the held-out rows.
    """

    rows: Sequence[Mapping[str, Any]]
    model: str
    baseline: str | None = None
    note: str = ""
    outcome: NDArray[Any] | None = None
    proba: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None

    @classmethod
    def from_forward(cls, result: ForwardResult, model: str) -> Self:
        """Take what a forward evaluation found.

        Parameters
        ----------
        result : ForwardResult
            Of :func:`tiebreak.selection.evaluate_forward`.
        model : str
            The model of the report.

        Returns
        -------
        QualityData
        """
        names = ["model", "accuracy", "log_loss", "brier", "rps"]
        rows, note = result.table.select(names).to_dicts(), " ".join(result.heading())
        happened = result.outcome, result.proba.get(model)
        return cls(rows, model, "baseline", note, *happened, weight=result.weight)


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report says. What is None or empty has no section.

    Attributes
    ----------
    title : str
        Of the page; usually the name of the data.
    leaderboard : polars.DataFrame
        As the ``table`` of a :class:`~tiebreak.Leaderboard`: ``rank``, ``item``,
        ``rating``, ``lower``, ``upper``, ``rank_best``, ``rank_worst``, ``group``,
        ``wins``, ``ties``, ``losses``; columns may be null or, but for ``item`` and
        ``rating``, missing.
    summary : sequence of str
        Sentences in plain words.
    level : float
        Confidence of the intervals.
    matrix, quality : ResultsMatrix and QualityData, or None
        Results between the best items, at most 30, and how good predictions were.
    weights, level_curves : sequence of (str, float) or None, bytes or None
        Features and their weights, and a picture of the utility of two features (PNG).
    history, history_note : polars.DataFrame or None, str
        Columns ``time`` (or ``period``, ``row``), ``item``, ``rating``, of which the
        first 5 to 8 items of the leaderboard are drawn; what a point is, in words.
    tuning, tuning_notes : TuneResult or None, sequence of str
        How settings of the model were chosen, and what else is to be said of it.
    effects, moves : polars.DataFrame or None
        Effects of covariates and of position in rating points, ``effect``, ``points``,
        ``lower``, ``upper``, ``p_value``, ``standard_deviation``; and ``item``,
        ``rank``, ``rank_without``, ``moved`` and ratings with and without covariates.
    categories, category_notes : mapping of str to polars.DataFrame, and to list of str
        Leaderboards of parts of the results, by name, and what to know about them.
    recognized : sequence of str
        What the data hold and how they were read, in words.
    checks : PairsReport or None
        What :func:`~tiebreak.check_pairs` found.
    warnings : sequence of str
        What else to distrust.
    compare : CompareData or None
        For "compare any two".
    command, versions, date : str, mapping of str to str, str
        What to type to get this report again, programs and their versions, and when.
    fingerprint, methods, citation : str
        Of the data; every choice in one paragraph for a paper; and how to cite.
    importance : polars.DataFrame or None
        ``feature``, ``drop`` (the share of outcomes that are no longer predicted when
        its values are exchanged among items) with ``lower``, ``upper``.
    dependence : mapping of str to polars.DataFrame
        By feature ``value`` and ``utility``: the mean utility if all items had it.
    disagreements : polars.DataFrame or None
        ``left``, ``right``, ``said`` (what people said), ``predicted``, ``probability``
        (that the model gave to what they said), the most surprising first.
    audit : mapping or None
        What ``tiebreak audit --json`` writes: ``claims`` and what each survives.
    judges : mapping or None
        ``judges``, a list of mappings with ``name``, ``votes``, ``agreement`` with the
        rest and its interval ``lower`` to ``upper``, ``ties`` and ``left`` (shares), of
        which all but the name may be missing; and ``notes``, a list of str.
    """

    title: str
    leaderboard: pl.DataFrame
    summary: Sequence[str] = ()
    level: float = 0.95
    matrix: ResultsMatrix | None = None
    quality: QualityData | None = None
    weights: Sequence[tuple[str, float]] | None = None
    level_curves: bytes | None = None
    history: pl.DataFrame | None = None
    history_note: str = ""
    tuning: TuneResult | None = None
    tuning_notes: Sequence[str] = ()
    effects: pl.DataFrame | None = None
    moves: pl.DataFrame | None = None
    categories: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    category_notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    recognized: Sequence[str] = ()
    checks: PairsReport | None = None
    warnings: Sequence[str] = ()
    compare: CompareData | None = None
    command: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    fingerprint: str = ""
    methods: str = ""
    citation: str = ""
    importance: pl.DataFrame | None = None
    dependence: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    disagreements: pl.DataFrame | None = None
    audit: Mapping[str, Any] | None = None
    judges: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        missing = {"item", "rating"} - set(self.leaderboard.columns)
        if missing:
            raise ValueError(
                f"The leaderboard has the columns {self.leaderboard.columns}; expected "
                f"also {sorted(missing)}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Give everything but the picture as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Tables as lists of rows; of `quality` no single predictions.
        """
        names = [f.name for f in fields(self) if f.name != "level_curves"]
        return {name: plain(getattr(self, name)) for name in names}


def who_is_best(
    table: pl.DataFrame, level: float, problems: Collection[str | None] = ()
) -> str:
    """Say who is best, and how sure that is.

    Of items that never meet, who is best among most of them. An item of another set may
    always be above, so it stands in every `rank_worst`, and in no `rank_best`.
    """
    if problems:
        inside = table.clear()
        if set(problems) == {"disconnected"} and "set" in table.columns:
            inside = table.filter(pl.col("set") == table["set"].mode().min())
        others = len(table) - len(inside)
        if others >= len(inside):
            return (
                "No item is called the best, because of a problem in the data; see the "
                "data checks."
            )
        if "rank_worst" in table.columns:
            inside = inside.with_columns(pl.col("rank_worst") - others)
        items, these = ("item", "was") if others == 1 else ("items", "were")
        return (
            f"{who_is_best(inside, level)[:-1]}; {others} other {items} {these} never "
            "compared with these, not even through others."
        )
    placed = table
    if "provisional" in table.columns:
        placed = table.filter(~pl.col("provisional"))
    if not len(placed):
        return "No item has enough results to be placed, so none is called the best."
    best = placed.row(0, named=True)
    name, confident = isolate(str(best["item"])), f"with {100 * level:g} % confidence"
    if best.get("rank_worst") is None:
        return f"{name} has the highest rating."
    if best["rank_worst"] == 1:
        return f"{name} is best, {confident}."
    # Of items with few results nothing is said: many of them could be best.
    few = len(table) - len(placed)
    unsure = len(table.filter(pl.col("rank_best") == 1))
    rivals = len(placed.filter(pl.col("rank_best") == 1))
    known = " that have enough results" if few else ""
    if best["rank_worst"] == 1 + unsure - rivals:
        return f"{name} is best of the {len(placed)} items{known}, {confident}."
    some = f"{rivals} of {len(placed)} items"
    if rivals == len(placed):
        some = f"each of the {len(placed)} items"
    return f"{name} is ahead, but {some}{known} could be best, {confident}."


def plain(value: Any) -> Any:
    """Turn a value to what JSON can hold."""
    if isinstance(value, PairsReport):
        return value.to_dict()
    if isinstance(value, QualityData):
        names: tuple[str, ...] = "rows", "model", "baseline", "note"
        return plain({name: getattr(value, name) for name in names})
    if isinstance(value, TuneResult):
        names = "scoring", "best_params_", "best_score_", "corrected_score", "table"
        return plain({name.rstrip("_"): getattr(value, name) for name in names})
    if isinstance(value, CompareData | ResultsMatrix):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, pl.DataFrame):
        return [plain(row) for row in value.iter_rows(named=True)]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


_MOST_SPANS = 16
_ROWS_OF_SPAN = 100
_FEW_RESULTS = 5.0  # of an item in a span; a rating of fewer is mostly chance
_FEW_POINTS = 3  # of a line
_PENALTY = 0.1
_MOST_WITH_ERRORS = 500  # of a span; more take seconds
_Z = 1.959963984540054


def rate_spans(
    model: BradleyTerry,
    pairs: Pairs,
    y: NDArray[np.int8],
    period: NDArray[Any],
    items: list[Any],
    *,
    top: int = 8,
    unit: float = 1.0,
    zero: float = 0.0,
    **columns: NDArray[Any],
) -> tuple[pl.DataFrame, str] | None:
    """Rate items by the results of one span of time after the other.

    Rows are cut into up to 16 spans of consecutive periods with nearly equal numbers of
    rows. Each span is fitted by itself, with the penalty of the model or 0.1. Its
    strengths θ are known up to a constant only, so they are moved to where its items
    lie over all the time: with n_j results of item j in the span, a rating is ::

        zero + unit (θᵢˢ + Σⱼ nⱼ (θⱼ - θⱼˢ) / Σⱼ nⱼ).

    Parameters
    ----------
    model : BradleyTerry
        Fitted on all rows.
    pairs, y : Pairs, ndarray of shape (n,)
        The rows, and their outcomes.
    period : ndarray of numbers or dates of shape (n,)
        When they took place, in any order.
    items : list
        Names of items to rate, the most important first.
    top : int, default=8
        How many of them: the first that have enough results in three spans or more.
    unit, zero : float
        How ratings are shown.
    **columns : ndarray of shape (n,)
        Further arguments of the fit, such as ``advantage`` and ``sample_weight``.

    Returns
    -------
    (polars.DataFrame, str) or None
        A table of ``time`` (the middle of a span), ``item``, ``rating``, and the ends
        of its 95 % interval ``lower`` and ``upper`` (of up to 500 items), null where an
        item has too few results in a span; and what a point is, in words. None if there
        are too few rows or periods for three spans, or no item has enough results in
        three of them.
    """
    block, count = _cut(period)
    if count < _FEW_POINTS:
        return None
    # Not one that was learned from all rows: items may differ more within a span.
    penalty = 0.0 if model.alpha == "auto" else float(model.alpha)
    middles, ratings = [], np.full((2, count, len(items)), np.nan)
    for span in range(count):
        rows = np.flatnonzero(block == span)
        times = period[rows]
        middles.append(np.partition(times, len(times) // 2)[len(times) // 2])
        fresh = clone(model).set_params(alpha=max(penalty, _PENALTY))
        fresh.set_params(half_life=None)  # within a span all count the same
        given = {name: column[rows] for name, column in columns.items()}
        with warnings.catch_warnings():
            # What can be said of the data is said of all of them.
            warnings.simplefilter("ignore")
            fresh.fit(pairs[rows], y[rows], **given)
        ratings[:, span] = _ratings(model, fresh, items)
    dense = np.flatnonzero(np.isfinite(ratings[0]).sum(axis=0) >= _FEW_POINTS)[:top]
    if not len(dense):
        return None
    rating, error = (unit * part[:, dense].T.ravel() for part in ratings)
    cells = {
        "time": np.tile(np.array(middles), len(dense)),
        "item": [items[place] for place in dense for _ in range(count)],
        "rating": zero + rating,
        "lower": zero + rating - _Z * error,
        "upper": zero + rating + _Z * error,
    }
    table = pl.DataFrame(cells).with_columns(pl.col(pl.Float64).fill_nan(None))
    note = (
        f"The results were cut by time into {count} spans of about "
        f"{round(len(y) / count):,} results. Each point is the rating that the results "
        "of one span alone give; on average the items of a span are taken to be as "
        "good as over the whole time. Where an item has fewer than "
        f"{_FEW_RESULTS:.0f} results in a span it has no point."
    )
    return table, note


def _cut(period: NDArray[Any]) -> tuple[NDArray[np.int8], int]:
    """Number the span of every row, and count the spans."""
    n = len(period)
    wanted = min(_MOST_SPANS, n // _ROWS_OF_SPAN)
    if wanted < _FEW_POINTS:
        return np.zeros(n, dtype=np.int8), 1
    places = np.arange(1, wanted) * n // wanted
    edges = np.unique(np.partition(period, places)[places])
    edges = edges[edges > period.min()]
    block = np.searchsorted(edges, period, side="right").astype(np.int8)
    return block, len(edges) + 1


def _ratings(
    model: BradleyTerry, fresh: BradleyTerry, items: list[Any]
) -> NDArray[np.float64]:
    """Strengths of a span on the scale of all spans, and their standard errors.

    NaN where little is known. What is moved to the level of its items has the variance
    of θᵢ - Σⱼ wⱼ θⱼ, with the shares w of the results.
    """
    overall = model.utility(fresh.items_)
    results = fresh.wins_ + fresh.ties_ + fresh.losses_
    share = results / results.sum()
    strengths = fresh.strength_ + share @ (overall - fresh.strength_)
    errors = np.full(len(strengths), np.nan)
    if len(strengths) <= _MOST_WITH_ERRORS:
        covariance = _covariance(fresh)
        mean = covariance @ share
        variance = np.diag(covariance) - 2.0 * mean + share @ mean
        errors = np.sqrt(np.maximum(variance, 0.0))
    known = results >= _FEW_RESULTS
    both = zip(strengths[known], errors[known], strict=True)
    found = dict(zip(fresh.items_[known].tolist(), both, strict=True))
    return np.array([found.get(item, (np.nan, np.nan)) for item in items]).T


def _covariance(model: BradleyTerry) -> NDArray[np.float64]:
    """The inverse of the expected Hessian, which is quicker than `covariance`."""
    left, right = model.pair_left_, model.pair_right_
    gap = model.strength_[right] - model.strength_[left]
    known = model.pair_counts_.sum(axis=1) * model.information(gap)
    hessian = np.diag(np.full(len(model.items_), 2.0 * float(model.alpha)))
    for i, j, sign in ((left, left, 1), (right, right, 1), (left, right, -1)):
        np.add.at(hessian, (i, j), sign * known)
    np.add.at(hessian, (right, left), -known)
    return np.asarray(np.linalg.inv(hessian))
