# SPDX-License-Identifier: BSD-3-Clause
"""The main job: from comparisons to a model, a leaderboard, its quality, a report."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from tiebreak import BradleyTerry, Leaderboard, check_pairs
from tiebreak.cli.choose import Choice, choose_model
from tiebreak.cli.held_out import columns_for, foretell_held_out
from tiebreak.cli.knowledge import Knowledge
from tiebreak.data import Pairs
from tiebreak.ratings.pairs_report import PairsReport
from tiebreak.report import CompareData, QualityData, ReportData
from tiebreak.report.markup import isolate
from tiebreak.selection import ForwardResult

__all__ = ["RankAnswer", "rank"]

_HISTORY_ITEMS = 8


@dataclass(frozen=True, eq=False)
class RankAnswer:
    """What the main job found.

    Attributes
    ----------
    choice : Choice
        The model, fitted, and why it was chosen.
    checks : PairsReport or None
        What the data can support; None for items with features.
    board : Leaderboard or None
        The leaderboard of items with names.
    weights : list of (str, float) or None
        Weights of features.
    quality : ForwardResult or None
        How well held-out results were foretold.
    warnings : list of str
        What was warned about on the way.
    """

    choice: Choice
    checks: PairsReport | None
    board: Leaderboard | None
    weights: list[tuple[str, float]] | None
    quality: ForwardResult | None
    warnings: list[str] = field(default_factory=list)


def rank(
    known: Knowledge,
    *,
    model: str = "auto",
    alpha: float | None = None,
    level: float = 0.95,
    bootstrap: int = 0,
    reference: str | None = None,
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
        if not pairs.has_features:
            progress("checking the data")
            checks = check_pairs(pairs, y, **columns)
        choice = choose_model(model, known, checks, alpha)
        progress(f"fitting {choice.name}")
        fitted = choice.model.fit(pairs, y, **columns_for(choice.model, columns))
        board = None
        if not pairs.has_features:
            progress("making the leaderboard")
            options: dict[str, Any] = {"level": level, "reference": reference}
            if bootstrap and isinstance(fitted, BradleyTerry):
                options |= {"interval": "bootstrap", "n_resamples": bootstrap}
            board = Leaderboard(fitted, **options)
    said = list(dict.fromkeys(str(one.message) for one in caught))
    progress("foretelling held-out results")
    quality = None
    try:
        quality = foretell_held_out({choice.name: choice.model}, known)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {error}")
    return RankAnswer(choice, checks, board, _weights(fitted, pairs), quality, said)


def _weights(fitted: Any, pairs: Pairs) -> list[tuple[str, float]] | None:
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
    said = []
    if answer.board is not None:
        said += _who_is_best(answer.board.table)
    if answer.weights:
        strongest = ", ".join(name for name, _ in answer.weights[:3])
        said.append(f"What matters most: {strongest}.")
    if answer.quality is not None:
        ours, base = answer.quality.table.rows(named=True)[:2]
        said.append(
            f"It foretold {ours['accuracy']:.0%} of held-out results; always saying "
            f"the most common outcome is right in {base['accuracy']:.0%}."
        )
        if ours["log_loss"] is not None and ours["log_loss"] >= base["log_loss"]:
            said.append(
                "Its probabilities are no better than knowing how often each outcome "
                "occurs: there are too few results to foretell from."
            )
    if answer.checks is not None and not answer.checks.ok:
        said.append("Not every item can be rated with certainty; see the data checks.")
    return said


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
    answer: RankAnswer, known: Knowledge, title: str, command: str, date: str
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

    Returns
    -------
    ReportData
    """
    model, board = answer.choice.model, answer.board
    table = pl.DataFrame({"item": [], "rating": []})
    matrix = history = None
    if board is not None:
        table = board.table
        if isinstance(model, BradleyTerry):
            matrix = board.matrix()
        elif hasattr(model, "history_"):
            best = table["item"].head(_HISTORY_ITEMS).implode()
            history = model.history_.filter(pl.col("item").is_in(best))
    quality = None
    if answer.quality is not None:
        quality = QualityData.from_forward(answer.quality, answer.choice.name)
    return ReportData(
        title=title,
        leaderboard=table,
        summary=summary(answer, known),
        level=0.95 if board is None else board.level,
        matrix=matrix,
        quality=quality,
        weights=answer.weights,
        history=history,
        checks=answer.checks,
        warnings=answer.warnings,
        compare=CompareData.from_model(model),
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
