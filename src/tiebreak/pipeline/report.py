# SPDX-License-Identifier: BSD-3-Clause
"""The answer in words, and what its report shows."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from tiebreak import BradleyTerry, __version__
from tiebreak.data.markup import isolate
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.rank import RankAnswer
from tiebreak.ratings.checks.report import plural
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.report import CompareData, Picture, QualityData, ReportData, rate_spans
from tiebreak.report.data import last_step

_DRAWN = 8  # items in the chart of ratings over time
_CONSIDERED = 3 * _DRAWN  # the best, of which those with enough results are drawn
_PAIRS_IN_PLANE = 60  # more would hide each other
_CLEAR_GAIN = 0.05
_NO_ITEMS = pl.DataFrame({"item": [], "rating": []})
_LEVEL_CURVES = (
    "Left: comparisons of two items, by their two features; an arrow points to the "
    "better item, a line joins a tie. Right: what was learned from them. Items on the "
    "same curve are equally good; the darker, the better."
)


def summary(answer: RankAnswer, data: ComparisonData) -> list[str]:
    """Return the result in sentences."""
    about_items, about_quality = _about_items(answer, data), _about_quality(answer)
    return [*about_items, *about_quality, *answer.tuning_notes]


def _about_items(answer: RankAnswer, data: ComparisonData) -> list[str]:
    table, said = answer.leaderboard, []
    if table is not None:
        level = 0.95 if answer.board is None else answer.board.level
        if answer.checks is None or answer.checks.ok:
            said.append(_who_is_best(table, level))
        else:
            said.append(
                "No item is called the best, because of a problem in the data; see the "
                "data checks."
            )
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


def _about_quality(answer: RankAnswer) -> list[str]:
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


def _who_is_best(table: pl.DataFrame, level: float) -> str:
    placed = table
    if "provisional" in table.columns:
        placed = table.filter(~pl.col("provisional"))
    if not len(placed):
        return "No item has enough results to be placed, so none is called the best."
    best = placed.row(0, named=True)
    name, confident = isolate(str(best["item"])), f"with {100 * level:g} % confidence"
    if best["rank_worst"] is None:
        return f"{name} has the highest rating."
    if best["rank_worst"] == 1:
        return f"{name} is best, {confident}."
    rivals = len(table.filter(pl.col("rank_best") == 1))
    some = f"{rivals} of {len(table)} items"
    if rivals == len(table):
        some = f"each of the {len(table)} items"
    return f"{name} is ahead, but {some} could be best, {confident}."


def report_data(
    answer: RankAnswer,
    data: ComparisonData,
    title: str,
    command: str,
    date: str,
    detected: Sequence[str] = (),
) -> ReportData:
    """Return what the report shows; ``detected`` says what the file holds."""
    model, board = answer.choice.model, answer.board
    table, names = answer.leaderboard, data.item_names
    if table is None or answer.utility is None or names is None:
        compare = CompareData.from_model(model)
    else:
        compare = CompareData.from_utilities(model, names, answer.utility)
    matrix, history, note = None, None, ""
    if board is not None:
        history, note = ratings_over_time(model, board.table, data.whole)
        if isinstance(model, BradleyTerry):
            matrix = board.matrix()
    # What is said of quality and settings has a place of its own on the page.
    said = [*_about_items(answer, data), *_about_quality(answer)]
    if table is None:
        said = _about_items(answer, data)[:1]
    quality = None
    if answer.quality is not None:
        quality = QualityData.from_forward(answer.quality, answer.choice.name)
    versions = {"tiebreak": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "numba", "polars"):
        versions[name] = version(name)
    return ReportData(
        title=title,
        leaderboard=_NO_ITEMS if table is None else table,
        summary=said,
        level=0.95 if board is None else board.level,
        matrix=matrix,
        quality=quality,
        weights=answer.weights,
        pictures=draw_plane(model, data),
        history=history,
        history_note=note,
        tuning=answer.tuning,
        tuning_notes=answer.tuning_notes,
        recognized=[
            *detected,
            f"Model: {answer.choice.name}, {answer.choice.reason}",
            *answer.notes,
        ],
        checks=answer.checks,
        warnings=answer.warnings,
        compare=compare,
        command=command,
        versions=versions,
        date=date,
    )


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
        return (None, "") if found is None else (found.table, found.note)
    if not hasattr(model, "history_"):
        return None, ""
    history = model.history_.filter(pl.col("item").is_in(best.head(_DRAWN).implode()))
    if "period" not in history.columns:
        note = "The ratings after every result, in the order of the file."
        return history, note
    if period is not None and period.dtype.kind not in "iuf":
        # The model was given the numbers of the dates; see `columns_for`.
        dates = pl.Series("period", np.unique(period))
        history = history.with_columns(dates.gather(history["period"]))
    return history, "The ratings after every period."


def draw_plane(model: Any, data: ComparisonData) -> list[Picture]:
    """Return level curves of what was learned, if items have exactly two features."""
    pairs = data.pairs
    if not pairs.has_features or pairs.shape[2] != 2:
        return []
    from tiebreak.report import draw_level_curves
    from tiebreak.report.figures import figure_settings

    last = last_step(model)
    learned = SimpleNamespace(
        utility=model.predict, threshold_=getattr(last, "threshold_", None)
    )
    with figure_settings():
        figure = draw_level_curves(
            {"what was learned": learned},
            pairs,
            data.y,
            resolution=81,
            most_pairs=_PAIRS_IN_PLANE,
            title="what was compared",
        )
    return [Picture("Level curves", _LEVEL_CURVES, figure)]
