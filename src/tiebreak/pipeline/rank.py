# SPDX-License-Identifier: BSD-3-Clause
"""The main job: from data to a model, a leaderboard and its held-out quality.

Before it the data are read (`tiebreak.pipeline.comparisons`, or
`tiebreak.pipeline.partitions` of many files); after it the answer is put in words and
into a report (`tiebreak.pipeline.report`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import BradleyTerry, Leaderboard, OnItems
from tiebreak.data.columns import factorize
from tiebreak.models import RankRLS, RankSVM, ThresholdCompare
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import check_data, columns_for, predict_held_out
from tiebreak.pipeline.leaderboard import (
    board_items,
    item_utilities,
    list_weights,
    rank_rows,
    rate_items,
)
from tiebreak.pipeline.models import (
    Choice,
    Tuned,
    choose_model,
    say_half_life,
    set_alpha,
)
from tiebreak.pipeline.partitions import GradedFiles
from tiebreak.ratings.checks.report import PairsReport
from tiebreak.selection import ForwardResult, TuneResult


@dataclass(frozen=True, eq=False)
class RankAnswer:
    """What the main job found."""

    choice: Choice  # the model, fitted, and why it was chosen
    checks: PairsReport | None  # what the data can support; None without names
    board: Leaderboard | None  # of items that have only names
    weights: list[tuple[str, float]] | None  # of features
    quality: ForwardResult | None  # how well held-out results were predicted
    warnings: list[str] = field(default_factory=list)
    # The leaderboard of items with features and names, in the columns of `board`; of
    # graded rows without names, or with queries, their ranks within the query.
    items: pl.DataFrame | None = None
    utility: NDArray[Any] | None = None  # of all items with features
    notes: list[str] = field(default_factory=list)  # what intervals rest on
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
    data: ComparisonData,
    *,
    model: str = "auto",
    alpha: float | str | None = None,
    half_life: str | None = None,
    level: float = 0.95,
    bootstrap: int = 0,
    reference: str | None = None,
    tuner: Callable[[Choice], Tuned] | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> RankAnswer:
    """Return the answer: check, choose, tune, fit, make a leaderboard, evaluate."""
    # Intervals have a confidence of ``level``, from standard errors or from
    # ``bootstrap`` resamples. ``tuner`` chooses settings; ``progress`` is called before
    # each step.
    tuned = checks = board = utility = items = None
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if data.by_name is not None:
            progress("checking the data")
            checks = check_data(data)
            warnings.filterwarnings("ignore", _NEVER_MEET)
        if "rater" in data.columns:
            # From here on only who is who matters, and numbers are quicker than names.
            numbers = {"rater": factorize(data.columns["rater"])[0]}
            data = replace(data, columns=data.columns | numbers)
        choice = choose_model(model, data, alpha, half_life=half_life)
        if bootstrap and isinstance(choice.model, BradleyTerry):
            choice = _without_penalty(choice, alpha, tuned=tuner is not None)
        if tuner is not None:
            progress(f"tuning {choice.name}")
            tuned = tuner(choice)
            choice = replace(choice, model=tuned.model)
        progress(f"fitting {choice.name}")
        columns = columns_for(choice.model, data.columns)
        try:
            fitted = choice.model.fit(data.pairs, data.y, **columns)
        except ValueError as error:
            if not (bootstrap and isinstance(choice.model, BradleyTerry)):
                raise
            message = f"--bootstrap sets --alpha 0, without a prior. {error}"
            raise ValueError(message) from error
        reason = choice.reason + say_half_life(fitted, data)
        choice = replace(choice, reason=reason)
        if data.pairs.has_features:
            progress("rating the items")
            utility = rate_items(fitted, data)
            items = board_items(utility, data, fitted, reference)
            items = rank_rows(utility, data) if items is None else items
        else:
            progress("making the leaderboard")
            options: dict[str, Any] = {"level": level, "reference": reference}
            if bootstrap and isinstance(fitted, BradleyTerry):
                progress(f"drawing {bootstrap:,} bootstrap resamples")
                options |= {"interval": "bootstrap", "n_resamples": bootstrap}
            board = Leaderboard(fitted, **options)
            notes = board.notes
    said = _messages(caught)
    progress("predicting held-out results")
    quality = _quality(choice.name, choice.model, data.by_row, said)
    weights = list_weights(fitted, data.pairs)
    answer = RankAnswer(choice, checks, board, weights, quality, said, items, utility)
    answer = replace(answer, notes=notes)
    if tuned is None:
        return answer
    return replace(answer, tuning=tuned.result, tuning_notes=tuned.notes)


def rank_names(
    data: ComparisonData, *, model: str, alpha: float | str | None, level: float
) -> Leaderboard:
    """Return the leaderboard of items by name alone, for comparisons of items."""
    if data.by_name is None:
        raise ValueError(
            "The items of this file have no names, so they cannot be asked for by name."
        )
    named = replace(data, pairs=data.by_name)
    choice = choose_model(model, named, alpha)
    columns = columns_for(choice.model, named.columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NEVER_MEET)
        fitted = choice.model.fit(named.pairs, named.y, **columns)
    return Leaderboard(fitted, level=level)


# The checks, and the notes of the leaderboard, say so too.
_NEVER_MEET = ".*comparable only by the penalty alpha"


def _without_penalty(choice: Choice, alpha: float | str | None, tuned: bool) -> Choice:
    """Return the model without a penalty, which the bootstrap needs."""
    if tuned or alpha not in (None, 0):
        given = "--tune" if tuned else f"--alpha {alpha}"
        raise ValueError(
            "--bootstrap is for strengths without a penalty, where resamples show how "
            f"far they may be from the truth; leave {given} out, or --bootstrap."
        )
    reason = f"{choice.reason} --bootstrap sets --alpha 0, without a prior."
    return replace(choice, model=choice.model.set_params(alpha=0.0), reason=reason)


def _messages(caught: list[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(str(one.message) for one in caught))


def _quality(
    name: str, model: Any, data: ComparisonData, said: list[str]
) -> ForwardResult | None:
    """Return the quality of a model on held-out rows; if there is none, say why."""
    try:
        return predict_held_out({name: model}, data)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {error}")
        return None


# Models of graded items that are fitted where the files are.
PARTITIONED_MODELS: dict[str, Callable[[], Any]] = {
    "linear-svm": lambda: RankSVM(kernel="linear", loss="squared_hinge"),
    "rank-rls": lambda: RankRLS(kernel="linear"),
}
_REASONS = {
    "linear-svm": "items are graded, and it is fitted where the files are read."
}


def rank_grades(
    graded: GradedFiles,
    model: str = "auto",
    alpha: float | str | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> tuple[RankAnswer, ComparisonData]:
    """Return the answer of a linear model that is fitted where the files are."""
    # Its table of items, and the comparisons that are returned next to it, are those of
    # the queries on which quality was measured.
    choice = _choose(model, alpha)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        progress(f"fitting {choice.name}")
        fitted = graded.fit(choice.model)
    said = _messages(caught)
    progress("predicting held-out results")
    sample = graded.sample()
    assert sample.items is not None and sample.grades is not None
    fresh = PARTITIONED_MODELS[choice.name]().set_params(**choice.model.get_params())
    comparer = make_pipeline(OnItems(StandardScaler()), ThresholdCompare(fresh))
    quality = _quality(choice.name, comparer, sample, said)
    n_sampled, n_rows = len(sample.grades), sum(graded.n_rows)
    if quality is not None and n_sampled < n_rows:
        said.append(
            f"Held-out quality was measured on {n_sampled:,} rows, in queries drawn at "
            f"random; the model was fitted on all {n_rows:,}."
        )
    utility = item_utilities(fitted, sample.items)
    choice = replace(choice, model=fitted)
    weights, items = list_weights(fitted, sample.pairs), rank_rows(utility, sample)
    answer = RankAnswer(choice, None, None, weights, quality, said, items, utility)
    return answer, sample


def _choose(asked: str, alpha: float | str | None) -> Choice:
    name = "linear-svm" if asked == "auto" else asked
    if name not in PARTITIONED_MODELS:
        raise ValueError(
            f"{asked!r} is not fitted on graded items in partitions. Choose --model "
            f"from {', '.join(['auto', *PARTITIONED_MODELS])}; for other models put "
            "all rows in one file, and leave --dask out."
        )
    model = PARTITIONED_MODELS[name]()
    if alpha is not None:
        set_alpha(model, alpha)
    reason = _REASONS[name] if asked == "auto" else "as you asked."
    return Choice(name, model, reason)
