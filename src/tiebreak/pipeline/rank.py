# SPDX-License-Identifier: BSD-3-Clause
"""The main job: from comparisons to a model, a leaderboard, its quality, a report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Leaderboard,
    OnItems,
    RankRLS,
    RankSVM,
    ThresholdCompare,
)
from tiebreak.data import Pairs
from tiebreak.data.columns import factorize
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import check_known, columns_for, predict_held_out
from tiebreak.pipeline.items import board_items, item_utilities, rank_rows, rate_items
from tiebreak.pipeline.models import Choice, choose_model, set_alpha
from tiebreak.pipeline.partitioned_grades import GradedFiles
from tiebreak.pipeline.tuning import Tuned
from tiebreak.ratings.checks.report import PairsReport, plural
from tiebreak.ratings.leaderboard.scale import RatingScale
from tiebreak.report import CompareData, Picture, QualityData, ReportData, rate_spans
from tiebreak.report.data import last_step
from tiebreak.report.markup import isolate
from tiebreak.selection import ForwardResult, TuneResult

_DRAWN = 8  # items in the chart of ratings over time
_CONSIDERED = 3 * _DRAWN  # the best, of which those with enough results are drawn
_PAIRS_IN_PLANE = 60  # more would hide each other


def ratings_over_time(
    model: Any, table: pl.DataFrame, known: ComparisonData
) -> tuple[pl.DataFrame | None, str]:
    """Give ratings over time, where time is known.

    Parameters
    ----------
    model : estimator
        The fitted model, of items by name.
    table : polars.DataFrame
        Its leaderboard.
    known : ComparisonData
        The comparisons.

    Returns
    -------
    history : polars.DataFrame or None
        For :class:`~tiebreak.report.HistoryDisplay`.
    note : str
        What a point is.
    """
    best = table["item"].head(_CONSIDERED)
    period = known.columns.get("period")
    if isinstance(model, BradleyTerry):
        if period is None:
            return None, ""
        unit = RatingScale().unit
        place = np.flatnonzero(model.items_ == best[0])[0]
        given = {
            name: known.columns[name]
            for name in ("advantage", "sample_weight")
            if name in known.columns
        }
        found = rate_spans(
            model,
            known.pairs,
            known.y,
            period,
            best.to_list(),
            top=_DRAWN,
            unit=unit,
            zero=table["rating"][0] - unit * model.strength_[place],
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


def draw_plane(model: Any, known: ComparisonData) -> list[Picture]:
    """Draw level curves of what was learned, if items have exactly two features.

    Parameters
    ----------
    model : estimator
        The fitted model.
    known : ComparisonData
        The comparisons.

    Returns
    -------
    list of Picture
        One, or none.
    """
    pairs = known.pairs
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
            known.y,
            resolution=81,
            most_pairs=_PAIRS_IN_PLANE,
            title="what was compared",
        )
    return [
        Picture(
            "Level curves",
            "Left: comparisons of two items, by their two features; an arrow points to "
            "the better item, a line joins a tie. Right: what was learned from them. "
            "Items on the same curve are equally good; the darker, the better.",
            figure,
        )
    ]


def compare_items(
    model: Any, known: ComparisonData, utility: NDArray[np.float64] | None
) -> CompareData | None:
    """Give what the page needs to compare any two items.

    Parameters
    ----------
    model : estimator
        The fitted model.
    known : ComparisonData
        The comparisons.
    utility : ndarray of shape (N,) or None
        Utilities of the items of a leaderboard, if the model knows their features.

    Returns
    -------
    CompareData or None
    """
    if utility is None or known.item_names is None:
        return CompareData.from_model(model)
    return CompareData.from_utilities(model, known.item_names, utility)


_CLEAR_GAIN = 0.05
_NO_ITEMS = pl.DataFrame({"item": [], "rating": []})


@dataclass(frozen=True, eq=False)
class RankAnswer:
    """What the main job found.

    Attributes
    ----------
    choice : Choice
        The model, fitted, and why it was chosen.
    checks : PairsReport or None
        What the data can support; None for items without names.
    board : Leaderboard or None
        The leaderboard of items with names.
    weights : list of (str, float) or None
        Weights of features.
    quality : ForwardResult or None
        How well held-out results were foretold.
    warnings : list of str
        What was warned about on the way.
    items : polars.DataFrame or None
        The leaderboard of items with features and names, in the columns of ``board``;
        for graded rows without names, or with queries, their ranks within the query.
    utility : ndarray of shape (N,) or None
        Utilities of all items with features.
    tuning : TuneResult or None
        How settings were chosen.
    tuning_notes : list of str
        What is to be said of that.
    """

    choice: Choice
    checks: PairsReport | None
    board: Leaderboard | None
    weights: list[tuple[str, float]] | None
    quality: ForwardResult | None
    warnings: list[str] = field(default_factory=list)
    items: pl.DataFrame | None = None
    utility: NDArray[np.float64] | None = None
    tuning: TuneResult | None = None
    tuning_notes: list[str] = field(default_factory=list)

    @property
    def leaderboard(self) -> pl.DataFrame | None:
        """The table of the leaderboard; None if items have no names."""
        if self.board is not None:
            return self.board.table
        ranked = self.items is not None and "rating" in self.items.columns
        return self.items if ranked else None


def rank(
    known: ComparisonData,
    *,
    model: str = "auto",
    alpha: float | None = None,
    level: float = 0.95,
    bootstrap: int = 0,
    reference: str | None = None,
    tuner: Callable[[Choice], Tuned] | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> RankAnswer:
    """Check, choose, fit, evaluate.

    Parameters
    ----------
    known : ComparisonData
        The comparisons.
    model : str, default="auto"
        Name of a model, or ``"auto"``.
    alpha : float, optional
        Penalty.
    level : float, default=0.95
        Confidence of intervals.
    bootstrap : int, default=0
        Resamples of the bootstrap; 0: intervals from standard errors.
    reference : str, optional
        The item that ratings are measured from.
    tuner : callable, optional
        Chooses the settings of a model.
    progress : callable
        Is told each step before it begins.

    Returns
    -------
    RankAnswer
    """
    pairs, y, columns = known.pairs, known.y, known.columns
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checks = None
        if known.by_name is not None:
            progress("checking the data")
            checks = check_known(known)
        if "rater" in columns:
            # From here on only who is who matters, and numbers are quicker than names.
            numbers = {"rater": factorize(columns["rater"])[0]}
            known = replace(known, columns=columns | numbers)
            columns = known.columns
        choice = choose_model(model, known, None if tuner else checks, alpha)
        tuned = None
        if tuner is not None:
            progress(f"tuning {choice.name}")
            tuned = tuner(choice)
            choice = replace(choice, model=tuned.model)
        progress(f"fitting {choice.name}")
        fitted = choice.model.fit(pairs, y, **columns_for(choice.model, columns))
        board = utility = items = None
        if pairs.has_features:
            progress("rating the items")
            utility = rate_items(fitted, known)
            items = board_items(utility, known, fitted, reference)
            items = rank_rows(utility, known) if items is None else items
        else:
            progress("making the leaderboard")
            options: dict[str, Any] = {"level": level, "reference": reference}
            if bootstrap and isinstance(fitted, BradleyTerry):
                progress(f"drawing {bootstrap:,} bootstrap resamples")
                options |= {"interval": "bootstrap", "n_resamples": bootstrap}
            board = Leaderboard(fitted, **options)
    said = list(dict.fromkeys(str(one.message) for one in caught))
    progress("foretelling held-out results")
    quality = None
    try:
        quality = predict_held_out({choice.name: choice.model}, known.by_row)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {error}")
    weights = list_weights(fitted, pairs)
    return RankAnswer(
        choice, checks, board, weights, quality, said, items, utility,
        tuning=None if tuned is None else tuned.result,
        tuning_notes=[] if tuned is None else tuned.notes,
    )  # fmt: skip


def list_weights(fitted: Any, pairs: Pairs) -> list[tuple[str, float]] | None:
    """Give the weights of features, the largest first.

    Parameters
    ----------
    fitted : estimator
        The fitted model, also at the end of a pipeline.
    pairs : Pairs
        Comparisons with its features.

    Returns
    -------
    list of (str, float) or None
        None if items have no features, or the model has no weights.
    """
    last = fitted[-1] if hasattr(fitted, "steps") else fitted
    last = getattr(last, "ranker_", last)
    if not pairs.has_features or not hasattr(last, "coef_"):
        return None
    names = pairs.feature_names or [f"feature {j}" for j in range(pairs.shape[2])]
    order = np.argsort(-np.abs(last.coef_))
    return [(str(names[j]), float(last.coef_[j])) for j in order]


def summary(answer: RankAnswer, known: ComparisonData) -> list[str]:
    """Say the result in plain words.

    Parameters
    ----------
    answer : RankAnswer
        What was found.
    known : ComparisonData
        The comparisons.

    Returns
    -------
    list of str
    """
    about_items, about_quality = _about_items(answer, known), _about_quality(answer)
    return [*about_items, *about_quality, *answer.tuning_notes]


def _about_items(answer: RankAnswer, known: ComparisonData) -> list[str]:
    table, said = answer.leaderboard, []
    if table is not None:
        said += _who_is_best(table)
        unseen = int((~known.compared).sum()) if known.pairs.has_features else 0
        if unseen:
            said.append(
                f"{plural(unseen, 'item')} {'was' if unseen == 1 else 'were'} never "
                "compared, and rated by features alone."
            )
    elif answer.items is not None:
        said.append(
            f"It rates items by {plural(known.pairs.shape[2], 'feature')}, so also "
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
            f"It foretold {ours['accuracy']:.0%} of held-out results; always saying "
            f"the most common outcome is right in {base['accuracy']:.0%}."
        )
        useful = ours["log_loss"] is not None and ours["log_loss"] < base["log_loss"]
        if useful and ours["accuracy"] <= base["accuracy"]:
            said.append(
                "That is not more often, but it knows better how likely each outcome "
                "is."
            )
        if ours["log_loss"] is not None and not useful:
            gain = ours["accuracy"] - base["accuracy"]
            said.append(_about_probabilities(gain, answer.tuning is not None))
    uncertain = answer.checks is not None and not answer.checks.ok
    if uncertain and answer.board is not None:
        said.append("Not every item can be rated with certainty; see the data checks.")
    return said


def _about_probabilities(gain: float, tuned: bool) -> str:
    """Say what is wrong with probabilities that are worse than the shares."""
    if gain > _CLEAR_GAIN:
        what_to_try = "" if tuned else "; --tune makes them more careful"
        return (
            "Its probabilities are too sure, and worse than knowing how often each "
            f"outcome occurs{what_to_try}."
        )
    return (
        "Its probabilities are no better than knowing how often each outcome occurs: "
        "there are too few results to foretell from."
    )


def _who_is_best(table: pl.DataFrame) -> list[str]:
    best = table.row(0, named=True)
    name = isolate(str(best["item"]))
    if best["rank_worst"] is None:
        return [f"{name} has the highest rating."]
    if best["rank_worst"] == 1:
        return [f"{name} is best, and no other item can be, as far as the data tell."]
    rivals = len(table.filter(pl.col("rank_best") == 1))
    if rivals > 1:
        return [
            f"{name} is ahead, but {rivals} of {len(table)} items could be best as far "
            "as the data tell."
        ]
    return [f"{name} is ahead, and its rank is between 1 and {best['rank_worst']}."]


def report_data(
    answer: RankAnswer,
    known: ComparisonData,
    title: str,
    command: str,
    date: str,
    recognized: Sequence[str] = (),
) -> ReportData:
    """Gather what the report shows.

    Parameters
    ----------
    answer : RankAnswer
        What was found.
    known : ComparisonData
        The comparisons.
    title : str
        Title of the page.
    command : str
        How to make the report again.
    date : str
        When it was made.
    recognized : sequence of str
        What the file holds, in words.

    Returns
    -------
    ReportData
    """
    model, board = answer.choice.model, answer.board
    table = answer.leaderboard
    utility = None if table is None else answer.utility
    matrix, history, note = None, None, ""
    if board is not None:
        history, note = ratings_over_time(model, board.table, known.whole)
        if isinstance(model, BradleyTerry):
            matrix = board.matrix()
    # What is said of quality and settings has a place of its own on the page.
    said = [*_about_items(answer, known), *_about_quality(answer)]
    if table is None:
        said = _about_items(answer, known)[:1]
    quality = None
    if answer.quality is not None:
        quality = QualityData.from_forward(answer.quality, answer.choice.name)
    return ReportData(
        title=title,
        leaderboard=_NO_ITEMS if table is None else table,
        summary=said,
        level=0.95 if board is None else board.level,
        matrix=matrix,
        quality=quality,
        weights=answer.weights,
        pictures=draw_plane(model, known),
        history=history,
        history_note=note,
        tuning=answer.tuning,
        tuning_notes=answer.tuning_notes,
        recognized=[
            *recognized,
            f"Model: {answer.choice.name}, {answer.choice.reason}",
        ],
        checks=answer.checks,
        warnings=answer.warnings,
        compare=compare_items(model, known, utility),
        command=command,
        versions=versions(),
        date=date,
    )


def versions() -> dict[str, str]:
    """Give the versions of what computed the result."""
    import platform
    from importlib.metadata import version

    from tiebreak import __version__

    found = {"tiebreak": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "numba", "polars"):
        found[name] = version(name)
    return found


PARTED_MODELS: dict[str, Callable[[], Any]] = {
    "linear-svm": lambda: RankSVM(kernel="linear", loss="squared_hinge"),
    "rank-rls": lambda: RankRLS(kernel="linear"),
}
"""Models of graded items that are fitted where the files are."""

_REASONS = {
    "linear-svm": "items are graded, and it is fitted where the files are read."
}


def rank_grades(
    graded: GradedFiles,
    model: str = "auto",
    alpha: float | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> tuple[RankAnswer, ComparisonData]:
    """Fit a linear model where the files are, and measure its quality on some queries.

    Parameters
    ----------
    graded : GradedFiles
        The files.
    model : str, default="auto"
        Name of a model, or ``"auto"``.
    alpha : float, optional
        Penalty.
    progress : callable
        Is told each step before it begins.

    Returns
    -------
    answer : RankAnswer
        Its table of items holds the queries of the sample only.
    sample : ComparisonData
        The queries on which quality was measured.
    """
    choice = _choose(model, alpha)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        progress(f"fitting {choice.name}")
        fitted = graded.fit(choice.model)
    said = list(dict.fromkeys(str(one.message) for one in caught))
    progress("foretelling held-out results")
    sample = graded.sample()
    quality = None
    fresh = PARTED_MODELS[choice.name]().set_params(**choice.model.get_params())
    comparer = make_pipeline(OnItems(StandardScaler()), ThresholdCompare(fresh))
    try:
        quality = predict_held_out({choice.name: comparer}, sample)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {error}")
    n_sampled = 0 if sample.grades is None else len(sample.grades)
    if quality is not None and n_sampled < sum(graded.n_rows):
        said.append(
            f"Held-out quality was measured on {n_sampled:,} rows, in queries drawn at "
            f"random; the model was fitted on all {sum(graded.n_rows):,}."
        )
    assert sample.items is not None
    utility = item_utilities(fitted, sample.items)
    answer = RankAnswer(
        replace(choice, model=fitted),
        None,
        None,
        list_weights(fitted, sample.pairs),
        quality,
        said,
        rank_rows(utility, sample),
        utility,
    )
    return answer, sample


def _choose(asked: str, alpha: float | None) -> Choice:
    name = "linear-svm" if asked == "auto" else asked
    if name not in PARTED_MODELS:
        raise ValueError(
            f"{asked!r} is not fitted on graded items in parts. Choose --model from "
            f"{', '.join(['auto', *PARTED_MODELS])}; for other models put all rows in "
            "one file, and leave --dask out."
        )
    model = PARTED_MODELS[name]()
    if alpha is not None:
        set_alpha(model, alpha)
    reason = _REASONS[name] if asked == "auto" else "as you asked."
    return Choice(name, model, reason)
