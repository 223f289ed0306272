# SPDX-License-Identifier: BSD-3-Clause
"""The main job: from comparisons to a model, a leaderboard, its quality, a report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak import BradleyTerry, Leaderboard
from tiebreak.cli.checks import check_known
from tiebreak.cli.choose import Choice, choose_model
from tiebreak.cli.held_out import columns_for, foretell_held_out
from tiebreak.cli.item_tables import board_items, rank_rows, rate_items
from tiebreak.cli.knowledge import Knowledge
from tiebreak.cli.report_parts import compare_items, draw_plane, ratings_over_time
from tiebreak.cli.tuning import Tuned
from tiebreak.data import Pairs
from tiebreak.data.columns import factorize
from tiebreak.ratings.pair_facts import plural
from tiebreak.ratings.pairs_report import PairsReport
from tiebreak.report import QualityData, ReportData
from tiebreak.report.markup import isolate
from tiebreak.selection import ForwardResult, TuneResult

__all__ = ["RankAnswer", "list_weights", "rank", "report_data", "summary"]

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
    known: Knowledge,
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
    known : Knowledge
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
        quality = foretell_held_out({choice.name: choice.model}, known.by_row)
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


def summary(answer: RankAnswer, known: Knowledge) -> list[str]:
    """Say the result in plain words.

    Parameters
    ----------
    answer : RankAnswer
        What was found.
    known : Knowledge
        The comparisons.

    Returns
    -------
    list of str
    """
    about_items, about_quality = _about_items(answer, known), _about_quality(answer)
    return [*about_items, *about_quality, *answer.tuning_notes]


def _about_items(answer: RankAnswer, known: Knowledge) -> list[str]:
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
    known: Knowledge,
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
    known : Knowledge
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
