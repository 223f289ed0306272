# SPDX-License-Identifier: BSD-3-Clause
"""The result of a ranking: page, terminal, documents and JSON read it.

What only reports show, such as ratings over time, is computed when it is first read.
"""

import datetime
import hashlib
import math
import os
import platform
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

from tiebreak import BradleyTerry, Leaderboard, __version__, ratings
from tiebreak.data import Comparisons, Data, Grades, Lists
from tiebreak.data.columns import factorize, row_slices
from tiebreak.data.markup import isolate, results_html, results_text
from tiebreak.data.messages import first_of, noun, plural, speaking_of
from tiebreak.io.result import printable
from tiebreak.options import RankOptions
from tiebreak.pipeline.leaderboard import find_disagreements, last_step
from tiebreak.pipeline.models import Choice
from tiebreak.pipeline.order_quality import OrderQuality
from tiebreak.pipeline.source import Source
from tiebreak.ratings.checks.pairs_report import PairsReport, say_comparisons
from tiebreak.ratings.leaderboard import RatingScale, ResultsMatrix
from tiebreak.ratings.leaderboard_table import WIDEST, draw_leaderboard, text_table
from tiebreak.report import write_report
from tiebreak.report.history import rate_spans
from tiebreak.report.tables import p_text, plain
from tiebreak.selection.results import ForwardResult, TuneResult

_DRAWN = 20  # items in the chart of ratings over time
_CONSIDERED = 2 * _DRAWN  # the best, of which those with enough results are drawn
_CLEAR_GAIN = 0.05
_SHOWN_WEIGHTS = _SHOWN_MOVES = _SHOWN_OF_CATEGORY = 10
_SHOWN_ROWS, _SHOWN_NOTES = 20, 3
_NARROW = 100  # columns: without the picture of intervals
# Judges and votes up to which the report compares judges, within seconds.
_MOST_JUDGES, _MOST_VOTES, _SHOWN_JUDGES = 1_000, 200_000, 30
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "polars")
_CITATION = """The tiebreak developers ({year}). tiebreak: learning to rank and to
compare, ties included. Version {version}.

@software{{tiebreak,
  author = {{{{The tiebreak developers}}}},
  title = {{tiebreak: learning to rank and to compare, ties included}},
  version = {{{version}}},
  year = {{{year}}}
}}"""


def _now() -> str:
    return datetime.datetime.now().astimezone().isoformat(timespec="minutes")


@dataclass(frozen=True, eq=False)
class RankResult:
    """The result of `tiebreak.rank`; ``print`` it, or show it in a notebook.

    Attributes
    ----------
    choice : Choice
        The model with its ``name`` and the ``reason`` for it.
    checks : PairsReport or None
        The result of :func:`~tiebreak.check_pairs`; None without names.
    leaderboard : Leaderboard or None
        Of items that have only names.
    weights : list of (str, float) or None
        Features and their weights, the largest first; of models without weights,
        their ``shares`` of what the model says.
    quality : ForwardResult, OrderQuality or None
        How well held-out results were predicted, or items put in order.
    source : Source
        The data, and what was detected in them.
    warnings : list of str
        What to distrust.
    items, utility : polars.DataFrame or None, ndarray or None
        Items with features and names, in the columns of a leaderboard (graded rows are
        ranked within the query), and their utilities.
    notes : list of str
        Assumptions of the intervals.
    tuning, tuning_notes : TuneResult or None, list of str
        How settings were chosen.
    effects, moves : polars.DataFrame or None
        Effects of covariates and position in points, and how they move each item.
    category_notes : dict of str to list of str
        Notes on each category.
    options : RankOptions
        The options of the ranking.
    audit : dict or None
        The result of ``tiebreak audit --json``, which the report shows.
    in_pandas : bool
        Whether `table` is one of pandas, as the data were.
    command, date : str
        The command that makes the report, and when it was made.
    """

    __module__ = "tiebreak"  # where users find it

    choice: Choice
    checks: PairsReport | None
    leaderboard: Leaderboard | None
    weights: list[tuple[str, float]] | None
    quality: ForwardResult | OrderQuality | None
    source: Source
    warnings: list[str] = field(default_factory=list)
    items: pl.DataFrame | None = None
    utility: NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)
    tuning: TuneResult | None = None
    tuning_notes: list[str] = field(default_factory=list)
    effects: pl.DataFrame | None = None
    moves: pl.DataFrame | None = None
    category_notes: dict[str, list[str]] = field(default_factory=dict)
    options: RankOptions = field(default_factory=RankOptions)
    audit: dict[str, Any] | None = None
    shares: str = ""
    in_pandas: bool = False
    command: str = ""
    date: str = field(default_factory=_now)

    @property
    def data(self) -> Data:
        """The comparisons, graded items or lists that were ranked."""
        return self.source.data

    @property
    def title(self) -> str:
        """The name of the data."""
        return self.source.title

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self.choice.model

    @property
    def table(self) -> Any:
        """The table of the leaderboard, also of items with features, or None.

        In pandas if the data came in pandas, else in polars.
        """
        if self.board is None or not self.in_pandas:
            return self.board
        import pandas as pd

        return pd.DataFrame(
            {name: self.board[name].to_numpy() for name in self.board.columns}
        )

    @property
    def board(self) -> pl.DataFrame | None:
        """The same table in polars."""
        if self.leaderboard is not None:
            return self.leaderboard.table
        ranked = self.items is not None and "rating" in self.items.columns
        return self.items if ranked else None

    @property
    def categories(self) -> dict[str, pl.DataFrame]:
        """Leaderboards of parts of the results, by name."""
        boards = {} if self.leaderboard is None else self.leaderboard.categories
        return {name: board.table for name, board in boards.items()}

    @property
    def recognized(self) -> list[str]:
        """What was read, and what was done."""
        model = f"Model: {self.choice.name}, {self.choice.reason}"
        return [*self.source.detected, model, *self.notes]

    @cached_property
    def compare(self) -> dict[str, Any] | None:
        """What predicts the outcome of any two items, see `compare_two`."""
        if self.board is None:
            return compare_two(self.model)
        return compare_two(self.model, self.data.names, self.utility)

    @cached_property
    def differences(self) -> pl.DataFrame | None:
        """What `Leaderboard.versus` says of the first items, see `compare_all`."""
        return None if self.leaderboard is None else compare_all(self.leaderboard)

    @cached_property
    def matrix(self) -> ResultsMatrix | None:
        """Results between the best items, at most 30."""
        if self.leaderboard is None or not isinstance(self.model, BradleyTerry):
            return None
        return self.leaderboard.matrix()

    @cached_property
    def history(self) -> tuple[pl.DataFrame | None, str]:
        """Ratings over time, where time is known, and what a point is."""
        data, model = self.data, self.model
        if self.leaderboard is None or not isinstance(data, Comparisons):
            return None, ""
        table = self.leaderboard.table
        best = table["item"].head(_CONSIDERED)
        period = data.columns.get("period")
        if isinstance(model, BradleyTerry):
            if period is None:
                return None, ""
            unit = RatingScale().unit
            place = np.flatnonzero(model.items_ == best[0])[0]
            zero = table["rating"][0] - unit * model.strength_[place]
            columns = data.arguments()[1]
            of_rows = columns.keys() & {"advantage", "sample_weight"}
            return rate_spans(
                model,
                data.pairs,
                data.y,
                period,
                best.to_list(),
                top=_DRAWN,
                unit=unit,
                zero=zero,
                **{name: columns[name] for name in of_rows},
            )
        if not hasattr(model, "history_"):
            return None, ""
        history = model.history_.filter(
            pl.col("item").is_in(best.head(_DRAWN).implode())
        )
        bands = ""
        if "deviation" in history.columns:
            bands = " A band is twice the deviation by Glicko's own rule."
            reach = 1.96 * pl.col("deviation")
            history = history.with_columns(
                lower=pl.col("rating") - reach, upper=pl.col("rating") + reach
            )
        if "period" not in history.columns:
            rows = "The ratings after every result, in the order of the file."
            return history, rows + bands
        if period is not None and period.dtype.kind not in "iuf":
            # The model was given the numbers of the dates; see `columns_for`.
            dates = pl.Series("period", np.unique(period))
            history = history.with_columns(dates.gather(history["period"]))
        return history, f"The ratings after every period.{bands}"

    @cached_property
    def practically_equal(self) -> pl.DataFrame | None:
        """Items of a score table whose means surely differ by less than allowed."""
        scores = self.source.scores
        if scores is None:
            return None
        return scores.differences(self.options.level).filter("equal").drop("equal")

    @cached_property
    def disagreements(self) -> pl.DataFrame | None:
        """The outcomes that the model holds for the least probable."""
        return find_disagreements(self.model, self.data)

    @cached_property
    def judges(self) -> dict[str, Any] | None:
        """How well judges agree; None without judges, or with too many."""
        return compare_judges(self.source, self.options.level)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of items, sides, outcomes and features, as they were read."""
        data, digest = self.data, hashlib.sha256()
        names = [] if data.names is None else data.names.tolist()
        digest.update("\n".join(map(str, names)).encode("utf-8", "replace"))
        parts: list[Any] = []
        if isinstance(data, Comparisons):
            parts, members = [*data.pairs.sides, data.y], data.pairs.members
            parts += [] if members is None else [members.indices, members.indptr]
        elif isinstance(data, Lists):
            parts = [data.orders.flat, data.orders.position, data.orders.indptr]
            parts += [data.orders.unordered] * bool(data.orders.unordered.any())
        parts += map(np.asarray, data.arguments()[1].values())
        if data.items is not None:
            values = data.items.values
            sparse = data.items.is_sparse
            parts += (values.data, values.indices) if sparse else (values,)
        for part in parts:
            for rows in row_slices(len(part)):  # copies stay small
                some = part[rows].astype(str) if part.dtype == object else part[rows]
                digest.update(some.tobytes())
        return digest.hexdigest()

    @property
    def methods(self) -> str:
        """Every choice, in one paragraph for a paper."""
        with speaking_of(self.source.nouns):
            return self._methods()

    def _methods(self) -> str:
        model, table, name = self.model, self.board, self.choice.name
        half = ", a tie counting as half a win for each side"
        n_items = len(table) if table is not None else self.source.n_items
        sentences = [
            f"We ranked {plural(n_items, 'item')} by {_say_data(self)} with "
            f"{_MODELS.get(name, name)}"
            f"{' and of each item' * hasattr(last_step(model), 'item_effect_')}"
            f"{half * (getattr(model, 'tie_model_', '') == 'half')}."
        ]
        for note in self.notes:
            note = note.replace("Prior: strengths are", "We took strengths to be")
            sentences.append(note.replace(". This width was", "; this width was"))
        if self.effects is not None:
            effects = " and of ".join(self.effects["effect"].to_list())
            sentences.append(f"The model also estimates the effect of {effects}.")
        if hasattr(model, "strength_") and table is not None and table["lower"].count():
            odds = 10.0
            if hasattr(model, "tie_probability_"):
                probabilities = model._link.probabilities(np.log([10.0]), model._tie)
                odds = probabilities[0, 2] / probabilities[0, 0]
            sentences.append(
                f"A difference of 400 rating points means odds of {odds:.3g} to one, "
                f"ties left aside. We report a {100 * self.options.level:g} % "
                "confidence interval for each rating; statements about ranks and "
                f"groups hold for all {noun('items')} jointly, at one look at the data."
            )
        if isinstance(self.quality, ForwardResult):
            ours, base = (100 * share for share in self.quality.table["accuracy"][:2])
            sentences.append(
                f"The model predicted {ours:.1f} % of held-out results, and the most "
                f"common outcome alone is right in {base:.1f} %. Held out were "
                f"{' '.join(self.quality.heading())}"
            )
        elif self.quality is not None:
            sentences += self.quality.heading() + self.quality.say_metrics()
        sentences.append(f"Computed with tiebreak {__version__}.")
        return " ".join(sentences)

    @property
    def citation(self) -> str:
        """How to cite the program."""
        return _CITATION.format(version=__version__, year=self.date[:4])

    @property
    def versions(self) -> dict[str, str]:
        """Programs and their versions."""
        ours = {"tiebreak": __version__, "Python": platform.python_version()}
        return ours | {name: version(name) for name in _LIBRARIES}

    def summary(self) -> list[str]:
        """Return the result in sentences.

        Returns
        -------
        list of str
        """
        with speaking_of(self.source.nouns):
            items, quality = about_items(self), about_quality(self)
            return items + quality if self.board is not None else quality + items

    def headline(self, category: str) -> list[str]:
        """Return who is best in a category, and of how many results."""
        board = self.categories[category]
        with speaking_of(self.source.nouns):
            return [who_is_best(board, self.options.level), _count(board)]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report, one page that opens offline.

        Parameters
        ----------
        path : str or path
            The file, usually ``report.html``; replaced if it exists.
        """
        with speaking_of(self.source.nouns):
            write_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Returns
        -------
        dict
            Tables as lists of rows; of `quality` no single predictions.
        """
        quality: dict[str, Any] | None = None
        tuning = matrix = None
        if self.quality is not None:
            rows = self.quality.table.drop("n_test", "n_unseen", strict=False)
            quality = {"rows": rows, "model": self.choice.name, "baseline": "baseline"}
            quality |= {"note": " ".join(self.quality.heading())}
        if quality is not None and isinstance(self.quality, OrderQuality):
            quality |= self.quality.to_dict(self.options.level)
        if self.tuning is not None:
            parts = vars(self.tuning).items()
            tuning = {n.rstrip("_"): v for n, v in parts if n != "best_estimator_"}
        if self.matrix is not None:
            matrix = {n: getattr(self.matrix, n) for n in ("items", "wins", "ties")}
        same = (
            *("title", "weights", "tuning_notes", "effects", "moves", "categories"),
            *("category_notes", "recognized", "warnings", "compare", "command"),
            *("versions", "date", "fingerprint", "methods", "citation", "audit"),
            *("disagreements", "judges", "practically_equal"),
        )
        history, note = self.history
        parts_of = {name: getattr(self, name) for name in same} | {
            "leaderboard": [] if self.board is None else self.board,
            "level": self.options.level,
            "summary": self.summary(),
            "checks": None if self.checks is None else self.checks.to_dict(),
            "quality": quality,
            "tuning": tuning,
            "matrix": matrix,
            "history": history,
            "history_note": note,
        }
        return plain(parts_of)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Any]:
        for part in self.parts(options.max_width):
            yield Text(printable(part)) if isinstance(part, str) else part

    def __str__(self) -> str:
        return results_text(self, _NARROW)

    def __repr__(self) -> str:
        items = plural(self.source.n_items, "item")
        return f"RankResult({items}, {self.choice.name})"

    def _repr_html_(self) -> str:
        return results_html(*self.parts(WIDEST))

    def parts(self, width: int, rows: int = _SHOWN_ROWS, **options: bool) -> list[Any]:
        """Return what is shown: sentences and tables; see `show`."""
        with speaking_of(self.source.nouns):
            return list(show(self, width, rows, **options))


def show(
    result: RankResult,
    width: int,
    rows: int = _SHOWN_ROWS,
    *,
    verbose: bool = False,
    in_command: bool = False,
) -> Iterator[Any]:
    """Give what the terminal shows, the answer first: sentences and tables."""
    level, how = result.options.level, ": --all" * in_command
    detected = result.source.detected
    told = [sentence for sentence in detected if sentence.startswith("Direction:")]
    if result.board is None:
        yield from about_quality(result)
    yield from (*about_items(result), *told)
    if result.board is not None:
        yield draw_leaderboard(result.board, level, width, rows, how)
    if result.effects is not None:
        if verbose or len(result.effects) > 1:
            yield _effects(result.effects, level)
        yield from about_effects(result.effects, result.options)
    if result.moves is not None:
        yield from _moves(result.moves)
    for name, notes in result.category_notes.items():
        part = result.categories.get(name)
        if part is not None:
            yield f"{name}: {_count(part)}"
            yield draw_leaderboard(part, level, width, _SHOWN_OF_CATEGORY)
        yield from (f"{name}: {note}" for note in notes)
    for name, weight in (result.weights or [])[:_SHOWN_WEIGHTS]:
        number = f"{100 * weight:7.1f} %" if result.shares else f"{weight:+8.3f}"
        yield f"{number}  {name}"
    if result.quality is not None and (verbose or result.board is None):
        yield result.quality.__rich__()
    if isinstance(result.quality, OrderQuality):
        yield from result.quality.say_metrics(level)
    if result.board is not None:
        yield from about_quality(result)
    yield from result.tuning_notes
    if result.tuning is not None and verbose:
        yield result.tuning.__rich__()
    if result.checks is not None and verbose:
        yield result.checks.__rich__()
    model = f"Model: {result.choice.name}, {result.choice.reason}"
    others = [sentence for sentence in detected if sentence not in told]
    yield " ".join([*others, model, *result.notes * verbose])
    findings = () if result.checks is None or verbose else result.checks.findings
    said = [(str(each.level), each.message) for each in findings]
    first = sum(kind == "problem" for kind, _ in said)
    said[first:first] = [("warning", text) for text in result.warnings]
    most = len(said) if verbose else _SHOWN_NOTES
    yield from (f"{kind.capitalize()}: {text}" for kind, text in said[:most])
    if more := len(said[most:]) + len(result.notes) * (not verbose):
        where = "--verbose or in the report" if in_command else "in the report"
        yield f"{plural(more, 'more note')}: {where}."


def _count(table: pl.DataFrame) -> str:
    if table["wins"].is_null().any():
        return plural(len(table), "item")
    games = float(table.select("wins", "ties", "losses").to_numpy().sum()) / 2
    return f"{say_comparisons(games)} of {plural(len(table), 'item')}"


def _effects(effects: pl.DataFrame, level: float) -> Table:
    heads = ["effect", "points", f"{100 * level:g} % interval", "p", "per"]
    rows = []
    for effect, points, lower, upper, p_value, size in effects.iter_rows():
        interval = f"{lower:+.1f} … {upper:+.1f}"
        per = "" if size is None else f"{size:.3g}"
        rows.append((effect, f"{points:+.1f}", interval, p_text(p_value), per))
    return text_table(heads, rows)


def about_effects(effects: pl.DataFrame, options: RankOptions) -> list[str]:
    """Say what the effects of position and covariates mean."""
    sentences = []
    for row in effects.filter(pl.col("effect") == "advantage").iter_rows(named=True):
        what = "Being shown first" if options.position else "The advantage"
        interval = f"{row['lower']:+.0f} … {row['upper']:+.0f}"
        sentences.append(f"{what} is worth {row['points']:+.0f} points ({interval}).")
    if effects["standard_deviation"].is_not_null().any():
        sentences.append(
            "An effect is the rating points that a side gains by one standard "
            "deviation more of it (per). Ratings are those of "
            f"{noun('items')} equal in it."
        )
    return sentences


def _moves(moves: pl.DataFrame) -> Iterator[Any]:
    moved = moves.filter(pl.col("moved") != 0)
    yield (
        f"With these covariates {len(moved)} of {plural(len(moves), 'item')} have "
        "another rank."
    )
    most = moved.sort(pl.col("moved").abs(), descending=True, maintain_order=True)
    heads = (noun("item"), "rank", "without", "moved", "rating", "without")
    columns = ("item", "rank", "rank_without", "moved", "rating", "rating_without")
    first = most.head(_SHOWN_MOVES).sort("rank").select(columns)
    more = len(moved) - len(first)
    if len(first):
        yield text_table(
            heads,
            (
                (item, rank, before, f"{change:+d}", f"{rating:.0f}", f"{without:.0f}")
                for item, rank, before, change, rating, without in first.iter_rows()
            ),
            caption=f"and {more} more, which moved less" if more else None,
        )


def about_items(result: RankResult) -> list[str]:
    """Say who is best, or what the features say."""
    table, data, sentences = result.board, result.data, []
    if table is not None:
        findings = () if result.checks is None else result.checks.findings
        problems = {each.code for each in findings if each.level == "problem"}
        sentences.append(who_is_best(table, result.options.level, problems))
        unseen = 0 if data.items is None else len(data.items) - len(data.touched())
        if unseen:
            sentences.append(
                f"{plural(unseen, 'item')} {'was' if unseen == 1 else 'were'} never "
                "compared, and rated by features alone."
            )
    elif data.items is not None:
        sentences.append(
            f"It rates items by {plural(data.items.n_features, 'feature')}, so also "
            "items that nobody has graded yet."
        )
    equal, scores = result.practically_equal, result.source.scores
    if equal is not None and scores is not None and scores.tolerance.size:
        pairs = [
            f"{isolate(str(a))} and {isolate(str(b))}" for a, b, *_ in equal.rows()
        ]
        some = f"{plural(len(pairs), 'pair')} of items" if pairs else "No two items"
        sentences.append(
            f"{some} {'is' if len(pairs) == 1 else 'are'} shown to be practically "
            f"equal, with mean scores within {scores.tolerance}"
            f"{': ' * bool(pairs)}{first_of(pairs, 3)}."
        )
    if result.weights:
        strongest = ", ".join(name for name, _ in result.weights[:3])
        shares = f" ({result.shares})" * bool(result.shares)
        sentences.append(f"What matters most: {strongest}{shares}.")
    return sentences


def who_is_best(
    table: pl.DataFrame, level: float, problems: Collection[str | None] = ()
) -> str:
    """Say who could be best; of items that never meet, among most of them."""
    if problems:
        inside = table.clear()
        if set(problems) == {"disconnected"} and "set" in table.columns:
            inside = table.filter(pl.col("set") == table["set"].mode().min())
        others = len(table) - len(inside)
        if others >= len(inside):
            return (
                f"No {noun('item')} is called the best, because of a problem in the "
                "data; see the data checks."
            )
        items, these = ("item", "was") if others == 1 else ("items", "were")
        return (
            f"{who_is_best(inside, level)[:-1]}; {others} other {noun(items)} {these} "
            "never compared with these, not even through others."
        )
    first = [isolate(str(item)) for item in table.filter(pl.col("rank") == 1)["item"]]
    shared = f"{len(first)} {noun('items')} share the highest rating"
    if table["could_be_best"].is_null().all():
        if len(first) > 1:
            return f"{shared}."
        return f"{first[0]} has the highest rating."
    placed = table.filter("placed")
    confident = f"with {100 * level:g} % confidence"
    among = " that have enough results" if len(placed) < len(table) else ""
    rivals = placed.filter("could_be_best")["item"]
    if len(rivals) == 1:
        of = f" of the {len(placed)} {noun('items')}{among}" * bool(among)
        return f"{isolate(str(rivals[0]))} is best{of}, {confident}."
    some = f"{len(rivals)} of {len(placed)} {noun('items')}"
    if len(rivals) == len(placed):
        some = f"each of the {len(placed)} {noun('items')}"
    if len(first) > 1:
        return f"{shared}; {some}{among} could be best, {confident}."
    few = len(placed.filter("could_be_best", "provisional"))
    why = "."
    if few == len(rivals) - 1:
        why = f"; the {'other one has' if few == 1 else 'others have'} few results."
    return f"{first[0]} is ahead, but {some}{among} could be best, {confident}{why}"


def about_quality(result: RankResult) -> list[str]:
    """Say how well held-out results were predicted."""
    if result.quality is None:
        return []
    if isinstance(result.quality, OrderQuality):
        return result.quality.heading()
    ours, base = result.quality.table.rows(named=True)[:2]
    sentences = [
        f"It predicted {ours['accuracy']:.0%} of held-out results; always saying "
        f"the most common outcome is right in {base['accuracy']:.0%}."
    ]
    gain = ours["accuracy"] - base["accuracy"]
    if ours["log_loss"] is None:
        return sentences
    if ours["log_loss"] < base["log_loss"]:
        if gain <= 0:
            sentences.append(
                "That is not more often, but it predicts better how likely each "
                "outcome is."
            )
    elif gain > _CLEAR_GAIN:
        what_to_try = "" if result.tuning else "; tuning makes them more careful"
        sentences.append(
            "Its probabilities are too sure, and worse than knowing how often each "
            f"outcome occurs{what_to_try}."
        )
    else:
        sentences.append(
            "Its probabilities are no better than knowing how often each outcome "
            "occurs."
        )
    return sentences


_MODELS = {
    "bradley-terry": "the model of Bradley and Terry (1952)",
    "judge-bradley-terry": "a model of Bradley and Terry for judges that differ",
    "plackett-luce": "the model of Plackett (1975) and Luce (1959)",
    "elo": "ratings of Elo (1978)",
    "glicko": "Glicko ratings (Glickman 1999)",
    "glicko2": "Glicko-2 ratings (Glickman 2001)",
    "logistic-compare": "a logistic model of the features",
    "rank-svm": "a ranking support vector machine",
}


def _say_data(result: RankResult) -> str:
    data, checks = result.source.data, result.checks
    if isinstance(data, Lists):
        return plural(len(data), "ranked list")
    if isinstance(data, Grades):
        return f"their grades in {plural(data.n_groups, 'group')}"
    rows = checks.n_comparisons if checks else len(data)
    ties = 100 * (checks.tie_rate if checks else np.mean(data.y == 0))
    return f"{say_comparisons(rows)}, of which {ties:.1f} % are ties,"


def compare_two(
    model: Any,
    names: NDArray[Any] | None = None,
    utility: NDArray[np.float64] | None = None,
) -> dict[str, Any] | None:
    """Return what predicts any two items, by name or by utility; None if nothing does.

    With d = strength of right - strength of left (- ``advantage`` of left), divided by
    √(1 + doubt of left + doubt of right) where there are doubts, the ``link`` is

    * ``"davidson"``: P(left) : P(tie) : P(right) = exp(-d/2) : tie : exp(d/2);
    * ``"cumulative"``: P(right) = 1 / (1 + tie exp(-d)) and P(left) =
      1 / (1 + tie exp(d));
    * ``"rating"``: the mean of Davidson's at tie 2p / (1 - p) with weight ``davidson``
      and the cumulative one at d / (1 + p) and tie (1 + p) / (1 - p), p = ``tie``;
    * ``"threshold"``: a tie if abs(d) ≤ tie, else the better one; no probabilities.

    A doubt is 3 (D ln 10 / (400 π))² for Glicko's deviation D.
    """
    doubts = advantage = davidson = None
    if names is not None and utility is not None:
        last = last_step(model)
        link, tie, strengths = getattr(last, "link", None), None, utility
        if link in ("davidson", "cumulative"):
            tie = getattr(last, "tie_", None)
        if tie is None:
            link, tie = "threshold", getattr(last, "threshold_", None)
        if tie is None:
            return None
        tie = float(tie)
    elif isinstance(model, BradleyTerry):
        names, tie, strengths = model.items_, model.tie_probability_, model.strength_
        advantage = getattr(model, "advantage_", None)
        share, link = model.tie_model_probability_, "rating"
        davidson = 1.0 - share if model.tie_model_ == "rao-kupper" else share
    elif isinstance(model, ratings.Elo | ratings.Glicko | ratings.Glicko2):
        names, tie, link = model.items_, model.tie_, "davidson"
        scale = model.scale if isinstance(model, ratings.Elo) else 400.0
        per_point = math.log(10.0) / scale
        strengths = model.rating_ * (model.slope_ * per_point)
        advantage = model.advantage_ * model.slope_ * per_point or None
        if not isinstance(model, ratings.Elo):
            doubts = 3.0 * (model.deviation_ * per_point / math.pi) ** 2
    else:
        return None
    best = np.argsort(-strengths, kind="stable")
    return {
        "names": names[best].tolist(),
        "strengths": strengths[best],
        "doubts": None if doubts is None else doubts[best],
        "link": link,
        "tie": tie,
        "davidson": davidson,
        "advantage": advantage,
    }


def compare_all(board: Leaderboard, most: int = 60) -> pl.DataFrame | None:
    """Compare every two of the first items by `Leaderboard.versus`, with their record.

    None without intervals.
    """
    names, model = board.table["item"].head(most).to_list(), board.model
    if len(names) < 2 or board.table["lower"].is_null().all():
        return None
    table = pl.concat(
        board.versus(one, *names[place:]).select(
            "item", "other", "difference", "lower", "upper", "probability", "p_value"
        )
        for place, one in enumerate(names[:-1], 1)
    )
    if not isinstance(model, BradleyTerry):
        return table
    number = {name: k for k, name in enumerate(model.items_.tolist())}
    counts = ResultsMatrix.of(model, np.array([number[name] for name in names]))
    number = {name: k for k, name in enumerate(names)}
    one, other = (np.array([number[n] for n in table[c]]) for c in ("item", "other"))
    wins, ties = counts.wins, counts.ties[one, other]
    return table.with_columns(won=wins[one, other], tied=ties, lost=wins[other, one])


def compare_judges(source: Source, level: float) -> dict[str, Any] | None:
    """Return `RankResult.judges`."""
    whole = source.data
    if not isinstance(whole, Comparisons):
        return None
    named, rater = whole.by_name(), whole.columns.get("rater")
    if rater is None or named is None or len(rater) > _MOST_VOTES:
        return None
    if named.pairs.members is not None:
        return None
    codes, names = factorize(rater)
    if not 1 < len(names) <= _MOST_JUDGES:
        return None
    judge = np.array([str(name) for name in names])[codes]
    report = ratings.check_judges(named.pairs, whole.y, judge, level=level)
    first = report.table.sort(pl.col("verdict") == "", maintain_order=True)
    shown = first.head(_SHOWN_JUDGES).rename({"judge": "name"})
    columns = ["name", "votes", "agreement", "lower", "upper", "verdict", "ties"]
    columns += ["left"] * source.sided
    notes = str(report).splitlines()
    if len(first) > len(shown):
        notes.append(
            f"{len(shown)} of {len(first):,} judges are shown, those with a verdict "
            "first; tiebreak judges FILE lists all as JSON."
        )
    return {"judges": shown.select(columns).to_dicts(), "notes": notes}
