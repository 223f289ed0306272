# SPDX-License-Identifier: BSD-3-Clause
"""The charts of a report, each an SVG element with a caption.

A new chart is a function here, which draws a display with `_chart`, and a call of it in
the section of :mod:`tiebreak.report.page` that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from tiebreak.data.markup import clean, element, escape, paragraph, scrolling, shorten
from tiebreak.ratings.checks.report import plural
from tiebreak.ratings.leaderboard import ResultsMatrix
from tiebreak.report.data import Picture, QualityData
from tiebreak.report.displays import (
    CalibrationDisplay,
    ComparisonROCDisplay,
    HistoryDisplay,
    ResultsMatrixDisplay,
)
from tiebreak.report.figures import figure_settings, figure_svg
from tiebreak.report.selection_displays import TuningDisplay, WeightsDisplay
from tiebreak.selection import TuneResult

_MOST_IN_MATRIX = 30
_MOST_LINES, _MOST_CROWDED = 8, 5
_CROWDED = 60  # points of a line; fewer such lines can be told apart


def _chart(
    display: Any,
    prefix: str,
    title: str,
    description: str,
    caption: str,
    *,
    names: Sequence[tuple[str, str]] = (),
    size: str = "",
) -> str:
    """Draw a display with a caption; `names`: shortened names and the whole ones."""
    with figure_settings():
        display.plot()
        hovers = getattr(display, "hovers_", None)
        svg = figure_svg(display.figure_, prefix, title, description, hovers, names)
    return _figure(svg, caption, size)


def _figure(svg: str, caption: str, size: str = "") -> str:
    scroll = scrolling(svg, "Chart, can be scrolled", f"chart-box {size}".strip())
    return element("figure", scroll + element("figcaption", escape(caption)))


def _whole_names(names: Iterable[Any], most: int) -> list[tuple[str, str]]:
    """Pair the shortened names of a chart with the whole ones."""
    shown = ((shorten(name, most), clean(name)) for name in names)
    return [(short, whole) for short, whole in shown if short != whole]


def matrix_chart(matrix: ResultsMatrix) -> str:
    """Draw who beats whom."""
    n = min(len(matrix.items), _MOST_IN_MATRIX)
    best = ResultsMatrix(matrix.items[:n], matrix.wins[:n, :n], matrix.ties[:n, :n])
    return _chart(
        ResultsMatrixDisplay(best),
        "matrix",
        "Who beats whom",
        f"A table of {n} rows and {n} columns. Each cell is the share of points of "
        "the item of its row against the item of its column, in percent.",
        "Points of the row against the column, in percent: 100 won everything (blue), "
        "50 even, 0 lost everything (orange). A tie counts half; the line at the foot "
        "of a cell is as long as the share of ties. No cell: never met.",
        names=_whole_names(best.items, 24),
        size="large" if n > 12 else "",
    )


def history_chart(history: pl.DataFrame, items: list[Any], note: str = "") -> str:
    """Draw ratings over time."""
    known = set(history["item"].unique().to_list())
    chosen = [item for item in items if item in known]
    crowded = len(history) > _CROWDED * len(known)
    chosen = chosen[: _MOST_CROWDED if crowded else _MOST_LINES]
    if not chosen:
        return ""
    return _chart(
        HistoryDisplay(history, chosen),
        "history",
        "Ratings over time",
        f"Ratings over time of {', '.join(map(shorten, chosen))}, one line each.",
        f"Each line is named at its right end. {note}".strip(),
        names=_whole_names(chosen, 24),
        size="wide",
    )


def weights_chart(weights: Any) -> str:
    """Draw the largest weights."""
    display = WeightsDisplay(weights)
    drawn = display.weights
    caption = "A bar to the right: more of it makes an item better; to the left: worse."
    if len(weights) > len(drawn):
        caption += f" The largest {len(drawn)} of {len(weights)} are drawn."
    return _chart(
        display,
        "weights",
        "Weights of features",
        "; ".join(f"{shorten(name)}: {weight:.3g}" for name, weight in drawn),
        caption,
        names=_whole_names((name for name, _ in drawn), 32),
    )


def tuning_chart(result: TuneResult, notes: Sequence[str] = ()) -> str:
    """Draw the scores of the combinations that were tried."""
    display = TuningDisplay(result)
    best = display.number(result.best_score_)
    less = "less" if display.less_is_better else "more"
    said = (
        f"{plural(len(result.table), 'combination')} of settings "
        f"{'were' if len(result.table) != 1 else 'was'} tried on results that were "
        f"held out. The best is {display.choice()} ({display.metric}: {best})."
    )
    if np.isfinite(result.corrected_score) and len(result.table) > 1:
        said += (
            " The best of many looks better than it is: expect "
            f"{display.number(result.corrected_score)} on new results."
        )
    words = paragraph(said, "lead") + "".join(map(paragraph, notes))
    if not display.settings:
        return words
    with figure_settings():
        display.plot()
        svg = figure_svg(
            display.figure_,
            "tuning",
            "Scores of the settings that were tried",
            f"{display.metric} over {' and '.join(display.settings[:2])}. {said}",
            display.hovers_,
        )
    caption = f"The numbers are {display.metric}: {less} is better. "
    if len(display.settings) > 1:
        caption += "The darker a cell, the better; the choice is framed."
    else:
        caption += "The choice has a ring; bars show how much the parts differ."
    if len(display.settings) > 2:
        caption += f" Each cell is the best over {', '.join(display.settings[2:])}."
    return words + _figure(svg, caption)


def picture_chart(picture: Picture, number: int) -> str:
    """Show a figure of the caller."""
    svg = figure_svg(
        picture.figure, f"picture{number}", picture.title, picture.description
    )
    heading = element("h3", escape(picture.title))
    return heading + _figure(svg, picture.description, "wide paper")


def roc_chart(quality: QualityData) -> str:
    """Draw the ROC curve of held-out rows."""
    outcome, difference = quality.outcome, quality.difference
    if difference is None and quality.proba is not None:
        difference = quality.proba[:, 2] - quality.proba[:, 0]
    if outcome is None or difference is None:
        return ""
    counted = np.ones(len(outcome)) if quality.weight is None else quality.weight
    is_tie = np.asarray(outcome)[counted > 0] == 0
    if is_tie.all() or not is_tie.any():
        return ""
    display = ComparisonROCDisplay.from_predictions(
        outcome, difference, sample_weight=quality.weight, name=quality.model
    )
    return _chart(
        display,
        "roc",
        "Telling ties from differences",
        f"ROC curve for three outcomes; the area under it is {display.auc:.2f}.",
        "Telling ties from differences. A model that calls more pairs different finds "
        "more winners, and calls more ties wrongly. The higher the line, the better.",
        names=_whole_names([quality.model], 32),
    )


def calibration_chart(quality: QualityData) -> str:
    """Draw how often outcomes happened against their probabilities."""
    if quality.outcome is None or quality.proba is None or not len(quality.outcome):
        return ""
    display = CalibrationDisplay.from_predictions(
        quality.outcome, quality.proba, sample_weight=quality.weight
    )
    curves = []
    for curve in display.curves:
        points = zip(curve.predicted, curve.happened, strict=True)
        said = (f"said {said:.0%}, happened {was:.0%}" for said, was in points)
        curves.append(f"{curve.outcome}: {', '.join(said)}.")
    return _chart(
        display,
        "calibration",
        "Do the probabilities mean what they say?",
        " ".join(curves),
        "Do the probabilities mean what they say? Of results said to have 30\u00a0%, "
        "about 30\u00a0% should happen: points near the dotted line are right.",
    )
