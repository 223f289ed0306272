# SPDX-License-Identifier: BSD-3-Clause
"""The answer in words, in the terminal, and what its report shows."""

from __future__ import annotations

import datetime
import hashlib
import io
import platform
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from math import isfinite
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rich import box
from rich.table import Table

import tiebreak as tb
from tiebreak import BradleyTerry, __version__
from tiebreak.data import ItemTable
from tiebreak.data.columns import factorize
from tiebreak.data.markup import Name
from tiebreak.io.result import printable
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.leaderboard import (
    feature_dependence,
    feature_importance,
    find_disagreements,
    item_utilities,
)
from tiebreak.ratings.checks.report import count_text, plural
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.ratings.leaderboard_table import as_table
from tiebreak.report import (
    CompareData,
    QualityData,
    ReportData,
    draw_level_curves,
    rate_spans,
)
from tiebreak.report.data import last_step, who_is_best
from tiebreak.selection.results import TuneResult

if TYPE_CHECKING:
    from tiebreak.pipeline.rank import RankResult

_DRAWN = 20  # items in the chart of ratings over time
_CONSIDERED = 2 * _DRAWN  # the best, of which those with enough results are drawn
_PAIRS_IN_PLANE = 60  # more would hide each other
_CLEAR_GAIN = 0.05
_NO_ITEMS = pl.DataFrame({"item": [], "rating": []})
_SHOWN_WEIGHTS = 10
_SHOWN_SETTINGS = 12
_SHOWN_MOVES = 10
_SHOWN_OF_CATEGORY = 10


def show(answer: RankResult, width: int) -> Iterator[Any]:
    """Give all that the terminal shows: sentences as text, and tables."""
    if answer.checks is not None:
        yield answer.checks.__rich__()
    yield printable(f"Model: {answer.choice.name}, {answer.choice.reason}")
    if answer.tuning is not None:
        yield _settings(answer.tuning)
    board, table = answer.leaderboard, answer.table
    if table is not None:
        yield as_table(table, answer.options.level, width)
    yield from map(printable, answer.notes)
    if answer.effects is not None:
        yield _effects(answer.effects, answer.options.level)
        yield from map(printable, about_effects(answer.effects, answer.options))
    if answer.moves is not None:
        yield from _moves(answer.moves)
    for name, notes in answer.category_notes.items():
        part = None if board is None else board.categories.get(name)
        if part is not None:
            yield printable(f"{name}: {_count(part.table)}")
            yield as_table(part.table, part.level, width, _SHOWN_OF_CATEGORY)
        yield from (printable(f"{name}: {note}") for note in notes)
    for name, weight in (answer.weights or [])[:_SHOWN_WEIGHTS]:
        yield printable(f"{weight:+8.3f}  {name}")
    if answer.quality is not None:
        yield answer.quality.__rich__()
    yield from (printable(f"Warning: {warning}") for warning in answer.warnings)
    yield from map(printable, answer.summary())


def _count(table: pl.DataFrame) -> str:
    if table["wins"].is_null().any():
        return plural(len(table), "item")
    games = (table["wins"] + table["losses"] + table["ties"]).sum() / 2
    return f"{games:,.0f} comparisons of {plural(len(table), 'item')}"


def _plain_table(*heads: str) -> Table:
    table = Table(
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for number, head in enumerate(heads):
        side = "right" if number else "left"
        table.add_column(head, justify=side, overflow="fold", no_wrap=bool(number))  # type: ignore[arg-type]
    return table


def _effects(effects: pl.DataFrame, level: float) -> Table:
    scaled = effects["standard_deviation"].is_not_null().any()
    heads = "effect", "points", f"{100 * level:g} % interval", "p"
    table = _plain_table(*heads, *["per"] * scaled)
    for row in effects.iter_rows(named=True):
        size = row["standard_deviation"]
        cells = [
            f"{row['points']:+.1f}",
            f"{row['lower']:+.1f} … {row['upper']:+.1f}",
            p_text(row["p_value"]),
        ]
        cells += ["" if size is None else f"{size:.3g}"] * scaled
        table.add_row(Name(printable(row["effect"])), *cells)
    return table


def p_text(value: float) -> str:
    """Write a p-value with four decimals."""
    return "< .0001" if value < 1e-4 else f"{value:.4f}".lstrip("0")


def about_effects(effects: pl.DataFrame, options: Any) -> list[str]:
    """Say what the effects of position and covariates mean."""
    said = []
    for row in effects.filter(pl.col("effect") == "advantage").iter_rows(named=True):
        what = "Being shown first" if options.position else "The advantage"
        interval = f"{row['lower']:+.0f} … {row['upper']:+.0f}"
        said.append(f"{what} is worth {row['points']:+.0f} points ({interval}).")
    if effects["standard_deviation"].is_not_null().any():
        said.append(
            "An effect is the rating points that a side gains by one standard "
            "deviation more of it (per). Ratings are those of items equal in it."
        )
    return said


def _moves(moves: pl.DataFrame) -> Iterator[Any]:
    moved = moves.filter(pl.col("moved") != 0)
    yield (
        f"With these covariates {len(moved)} of {plural(len(moves), 'item')} have "
        f"another rank{':' if len(moved) else '.'}"
    )
    if not len(moved):
        return
    table = _plain_table("item", "rank", "without", "moved", "rating", "without")
    most = moved.sort(pl.col("moved").abs(), descending=True, maintain_order=True)
    for row in most.head(_SHOWN_MOVES).sort("rank").iter_rows(named=True):
        ratings = f"{row['rating']:.0f}", f"{row['rating_without']:.0f}"
        ranks = f"{row['rank']}", f"{row['rank_without']}", f"{row['moved']:+d}"
        table.add_row(Name(printable(str(row["item"]))), *ranks, *ratings)
    yield table
    if len(moved) > _SHOWN_MOVES:
        yield f"These {_SHOWN_MOVES} moved most."


def _settings(found: TuneResult) -> Table:
    """Return a table of the best settings that were tried, in the order of the grid."""
    metric = found.scoring.replace("_", " ")
    n = len(found.table)
    some = f"The best {_SHOWN_SETTINGS} of {n}" if n > _SHOWN_SETTINGS else f"The {n}"
    expected = None
    if isfinite(found.corrected_score):
        expected = f"Expect {-found.corrected_score:.4f} of the choice on new results."
    table = Table(title=f"{some} settings that were tried", caption=expected)
    for name in (*found.best_params_, metric, "spread over splits"):
        table.add_column(name, justify="right")
    best = found.table.filter(found.table["place"] <= _SHOWN_SETTINGS)
    for row in best.head(_SHOWN_SETTINGS).iter_rows(named=True):
        cells = [f"{row[name]:.4g}" for name in found.best_params_]
        cells += [f"{-row['score']:.4f}", f"{row['spread']:.4f}"]
        chosen = all(row[name] == value for name, value in found.best_params_.items())
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def about_items(answer: RankResult) -> list[str]:
    """Say who is best, or what the features say."""
    table, data, said = answer.table, answer.data, []
    if table is not None:
        found = () if answer.checks is None else answer.checks.findings
        problems = {each.code for each in found if each.level == "problem"}
        said.append(who_is_best(table, answer.options.level, problems))
        unseen = int((~data.compared).sum()) if data.pairs.has_features else 0
        if unseen:
            said.append(
                f"{plural(unseen, 'item')} {'was' if unseen == 1 else 'were'} never "
                "compared, and rated by features alone."
            )
    elif answer.items is not None:
        said.append(
            f"It rates items by {plural(data.pairs.shape[2], 'feature')}, so also "
            "items that nobody has graded yet."
        )
    if answer.weights:
        strongest = ", ".join(name for name, _ in answer.weights[:3])
        said.append(f"What matters most: {strongest}.")
    return said


def about_quality(answer: RankResult) -> list[str]:
    """Say how well held-out results were predicted."""
    said = []
    if answer.quality is not None:
        ours, base = answer.quality.table.rows(named=True)[:2]
        said.append(
            f"It predicted {ours['accuracy']:.0%} of held-out results; always saying "
            f"the most common outcome is right in {base['accuracy']:.0%}."
        )
        useful = ours["log_loss"] is not None and ours["log_loss"] < base["log_loss"]
        if useful and ours["accuracy"] <= base["accuracy"]:
            said.append(
                "That is not more often, but it predicts better how likely each "
                "outcome is."
            )
        if ours["log_loss"] is not None and not useful:
            gain = ours["accuracy"] - base["accuracy"]
            said.append(_about_probabilities(gain, answer.tuning is not None))
    return said


def _about_probabilities(gain: float, tuned: bool) -> str:
    """Say what is wrong with probabilities that are worse than the baseline."""
    if gain > _CLEAR_GAIN:
        what_to_try = "" if tuned else "; --tune makes them more careful"
        return (
            "Its probabilities are too sure, and worse than knowing how often each "
            f"outcome occurs{what_to_try}."
        )
    return (
        "Its probabilities are no better than knowing how often each outcome occurs: "
        "there are too few results to learn from."
    )


def report_data(
    answer: RankResult, command: str = "", date: str | None = None
) -> ReportData:
    """Return what the report shows; ``command`` is what to type to get it again."""
    data, model, board = answer.data, answer.model, answer.leaderboard
    if date is None:
        date = datetime.datetime.now().astimezone().isoformat(timespec="minutes")
    table, names = answer.table, data.item_names
    if table is None or answer.utility is None or names is None:
        compare = CompareData.from_model(model)
    else:
        compare = CompareData.from_utilities(model, names, answer.utility)
    matrix, history, note = None, None, ""
    if board is not None:
        history, note = ratings_over_time(model, board.table, data.whole)
        if isinstance(model, BradleyTerry):
            matrix = board.matrix()
    said = [*about_items(answer), *about_quality(answer)]
    quality = None
    if answer.quality is not None:
        quality = QualityData.from_forward(answer.quality, answer.choice.name)
    importance, strongest = feature_importance(model, data), []
    if importance is not None:
        strongest = importance["feature"].head(2).to_list()
    versions = {"tiebreak": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "numba", "polars"):
        versions[name] = version(name)
    return ReportData(
        title=answer.title,
        leaderboard=_NO_ITEMS if table is None else table,
        summary=said,
        level=answer.options.level,
        matrix=matrix,
        quality=quality,
        weights=answer.weights,
        level_curves=draw_plane(model, data),
        history=history,
        history_note=note,
        tuning=answer.tuning,
        tuning_notes=answer.tuning_notes,
        recognized=[
            *answer.detected,
            f"Model: {answer.choice.name}, {answer.choice.reason}",
            *answer.notes,
        ],
        effects=answer.effects,
        moves=answer.moves,
        categories={} if board is None else _tables(board.categories),
        category_notes=answer.category_notes,
        checks=answer.checks,
        warnings=answer.warnings,
        compare=compare,
        command=command,
        versions=versions,
        date=date,
        fingerprint=fingerprint(data),
        methods=say_methods(answer),
        citation=_CITATION.format(version=__version__, year=date[:4]),
        importance=importance,
        dependence=feature_dependence(model, data, strongest),
        disagreements=find_disagreements(model, data),
        judges=compare_judges(data, answer.options.level),
    )


# Judges and votes up to which the report compares judges, within seconds.
_MOST_JUDGES, _MOST_VOTES, _SHOWN_JUDGES = 1_000, 200_000, 30


def compare_judges(data: ComparisonData, level: float) -> dict[str, Any] | None:
    """Return what the report says of judges; None without judges, or with too many."""
    whole, rater = data.whole, data.whole.columns.get("rater")
    named = whole.by_name
    if rater is None or named is None or not whole.sided or len(rater) > _MOST_VOTES:
        return None
    codes, names = factorize(rater)
    if not 1 < len(names) <= _MOST_JUDGES:
        return None
    judge = np.array([str(name) for name in names])[codes]
    found = tb.ratings.check_judges(named, whole.y, judge, level=level)
    first = found.table.sort(pl.col("advice") == "", maintain_order=True)
    shown = first.head(_SHOWN_JUDGES).rename({"judge": "name"})
    columns = ("name", "votes", "agreement", "lower", "upper", "ties", "left")
    notes = str(found).splitlines()
    if len(first) > len(shown):
        notes.append(
            f"{len(shown)} of {len(first):,} judges are shown, those with an advice "
            "first; tiebreak judges FILE lists all as JSON."
        )
    return {"judges": shown.select(columns).to_dicts(), "notes": notes}


def fingerprint(data: ComparisonData) -> str:
    """Return the SHA-256 of items, sides, outcomes and features, as they were read."""
    pairs, found = data.pairs, hashlib.sha256()
    names = [] if pairs.names is None else pairs.names.tolist()
    found.update("\n".join(map(str, names)).encode("utf-8", "replace"))
    for column in (pairs.left, pairs.right, data.y, *data.columns.values()):
        plain = np.asarray(column)
        if plain.dtype == object:
            plain = plain.astype(str)
        found.update(np.ascontiguousarray(plain).tobytes())
    if data.items is not None:
        values = data.items.values
        parts = (values.data, values.indices) if data.items.is_sparse else (values,)
        for part in parts:
            found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()


_CITATION = """The tiebreak developers ({year}). tiebreak: learning to rank and to
compare, ties included. Version {version}.

@software{{tiebreak,
  author = {{{{The tiebreak developers}}}},
  title = {{tiebreak: learning to rank and to compare, ties included}},
  version = {{{version}}},
  year = {{{year}}}
}}"""
_MODELS = {
    "bradley-terry": "the model of Bradley and Terry",
    "judge-bradley-terry": "a model of Bradley and Terry for judges that differ",
    "plackett-luce": "the model of Plackett and Luce",
    "elo": "Elo's ratings",
    "glicko": "Glickman's ratings (Glicko)",
    "glicko2": "Glickman's ratings (Glicko-2)",
    "logistic-compare": "a logistic model of the features",
    "rank-svm": "a ranking support vector machine with a tie threshold",
}
_TIES = {
    "davidson": ", with ties after Davidson",
    "rao-kupper": ", with ties after Rao and Kupper",
    "half": ", a tie counting as half a win for each side",
}


def say_methods(answer: RankResult) -> str:
    """Say in one paragraph, for a paper, what was done."""
    data, options, model = answer.data, answer.options, answer.model
    whole, table = data.whole, answer.table
    rows = answer.checks.n_comparisons if answer.checks else len(whole.y)
    n_items = len(table) if table is not None else data.pairs.n_items
    ties = 100 * (answer.checks.tie_rate if answer.checks else np.mean(whole.y == 0))
    name = answer.choice.name
    said = [
        f"We ranked {plural(n_items, 'item')} from {count_text(rows)} comparisons "
        f"({ties:.1f} % ties) with {_MODELS.get(name, name)}"
        f"{' and of each item' * hasattr(last_step(model), 'item_effect_')}"
        f"{_TIES.get(getattr(model, 'tie_model_', ''), '')}."
    ]
    said += answer.notes
    if answer.leaderboard is not None and hasattr(model, "strength_"):
        said.append("A difference of 400 rating points means odds of ten to one.")
        said.append(
            f"Intervals of ratings have {100 * options.level:g} % confidence each; "
            "what is said of ranks and groups has it for all items at once."
        )
    if answer.effects is not None:
        effects = ", ".join(answer.effects["effect"].to_list())
        said.append(f"The model takes into account: {effects}.")
    if answer.quality is not None:
        note = " ".join(answer.quality.heading())
        share = answer.quality.table["accuracy"][0]
        said.append(f"{note} It predicted {100 * share:.1f} % of outcomes.")
    said.append(f"Computed with tiebreak {__version__}.")
    return " ".join(said)


def _tables(boards: dict[str, Any]) -> dict[str, pl.DataFrame]:
    return {name: board.table for name, board in boards.items()}


def ratings_over_time(
    model: Any, table: pl.DataFrame, data: ComparisonData
) -> tuple[pl.DataFrame | None, str]:
    """Return ratings over time, where time is known, and what a point is."""
    best = table["item"].head(_CONSIDERED)
    period = data.columns.get("period")
    if isinstance(model, BradleyTerry):
        if period is None:
            return None, ""
        unit = RatingScale().unit
        place = np.flatnonzero(model.items_ == best[0])[0]
        zero = table["rating"][0] - unit * model.strength_[place]
        of_rows = [n for n in ("advantage", "sample_weight") if n in data.columns]
        given = {name: data.columns[name] for name in of_rows}
        found = rate_spans(
            model,
            data.pairs,
            data.y,
            period,
            best.to_list(),
            top=_DRAWN,
            unit=unit,
            zero=zero,
            **given,
        )
        return (None, "") if found is None else found
    if not hasattr(model, "history_"):
        return None, ""
    history = model.history_.filter(pl.col("item").is_in(best.head(_DRAWN).implode()))
    if "deviation" in history.columns:
        reach = 1.96 * pl.col("deviation")
        ends = {"lower": pl.col("rating") - reach, "upper": pl.col("rating") + reach}
        history = history.with_columns(**ends)
    if "period" not in history.columns:
        note = "The ratings after every result, in the order of the file."
        return history, note
    if period is not None and period.dtype.kind not in "iuf":
        # The model was given the numbers of the dates; see `columns_for`.
        dates = pl.Series("period", np.unique(period))
        history = history.with_columns(dates.gather(history["period"]))
    return history, "The ratings after every period."


def draw_plane(model: Any, data: ComparisonData) -> bytes | None:
    """Return level curves as PNG, if items have exactly two features."""
    pairs = data.pairs
    if not pairs.has_features or pairs.shape[2] != 2:
        return None
    import matplotlib

    last = last_step(model)
    names = pairs.table.feature_names

    def utility(points: Any) -> Any:
        return item_utilities(model, ItemTable(points, names))

    learned = SimpleNamespace(
        utility=utility, threshold_=getattr(last, "threshold_", None)
    )
    file = io.BytesIO()
    with matplotlib.rc_context(), warnings.catch_warnings():
        # The same picture whatever the settings of the user are; names are plain text.
        matplotlib.rcdefaults()
        matplotlib.rcParams["text.parse_math"] = False
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        figure = draw_level_curves(
            {"what was learned": learned},
            pairs,
            data.y,
            resolution=81,
            most_pairs=_PAIRS_IN_PLANE,
            title="what was compared",
        )
        figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()
