# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak.rank`: from a table to a model, a leaderboard and its held-out quality.

`read_source` reads and chooses rows, `rank_source` does everything else, and `rank` is
both in one call. The answer is a `RankResult`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from inspect import Parameter, Signature, cleandoc
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from tiebreak import BradleyTerry, Leaderboard
from tiebreak.data import Comparisons, Data, Grades
from tiebreak.data.columns import factorize
from tiebreak.io import ReadOptions
from tiebreak.io.columns import closest
from tiebreak.io.result import first_of, shorten
from tiebreak.options import (
    RankOptions,
    default_of,
    describe_options,
    flag,
    in_python,
)
from tiebreak.pipeline.held_out import (
    OrderQuality,
    check_data,
    fit_data,
    order_held_out,
    predict_held_out,
)
from tiebreak.pipeline.leaderboard import (
    board_items,
    list_weights,
    rank_rows,
    rate_items,
)
from tiebreak.pipeline.models import (
    Choice,
    Tuned,
    choose_model,
    say_half_life,
    tune_model,
)
from tiebreak.pipeline.read import Progress, read_source, silent
from tiebreak.pipeline.result import RankResult
from tiebreak.pipeline.source import Source
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.selection.results import ForwardResult


def rank(data: Any, **options: Any) -> RankResult:
    """Rank the items of a table or a file, as ``tiebreak rank`` does.

    Reads, checks the data, chooses a model and fits it, makes a leaderboard, and
    measures how well held-out results are predicted.

    Parameters
    ----------
    data : table, str or path
        A pandas or polars frame, an Arrow table, a Hugging Face dataset, or the name of
        a file, a folder or a pattern.
    OPTIONS
    **reading
        What to know about the table, such as ``left``, ``right``, ``outcome``,
        ``rater``, ``period``, ``meaning``, ``where`` and ``drop_duplicates``; all
        fields of :class:`tiebreak.io.ReadOptions`.

    Returns
    -------
    RankResult
        With ``leaderboard``, ``model``, ``checks``, ``quality`` and ``report(path)``.

    Examples
    --------
    >>> import polars as pl
    >>> from tiebreak import rank
    >>> votes = pl.DataFrame({
    ...     "left": ["Ada", "Bo", "Cy", "Ada", "Ada"],
    ...     "right": ["Bo", "Cy", "Ada", "Bo", "Cy"],
    ...     "outcome": ["left", "left", "left", "tie", "left"],
    ... })
    >>> answer = rank(votes)
    >>> answer.leaderboard.table["item"].to_list()
    ['Ada', 'Bo', 'Cy']
    """
    unknown = [name for name in options if name not in _OPTIONS | _READING]
    if unknown:
        raise TypeError(
            f"rank() got an unknown argument {unknown[0]!r}."
            f"{closest(unknown[0], sorted(_OPTIONS | _READING))}"
        )
    reading = {name: options.pop(name) for name in list(options) if name in _READING}
    with in_python():
        asked = RankOptions(**options)
        return rank_source(read_source(data, ReadOptions(**reading), asked), asked)


_OPTIONS = {one.name for one in fields(RankOptions)}
_READING = {one.name for one in fields(ReadOptions) if one.metadata["panel"]}
_TEXT = cleandoc(str(rank.__doc__)).replace("OPTIONS", describe_options(RankOptions))
rank.__doc__ = f"{_TEXT}\n"
rank.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        Parameter("data", Parameter.POSITIONAL_OR_KEYWORD),
        *(
            Parameter(one.name, Parameter.KEYWORD_ONLY, default=default_of(one))
            for one in fields(RankOptions)
        ),
        Parameter("reading", Parameter.VAR_KEYWORD),
    ]
)


def rank_source(
    source: Source,
    options: RankOptions,
    *,
    tuner: Callable[[Choice], Tuned] | None = None,
    progress: Progress = silent,
) -> RankResult:
    """Return the answer: check, choose, tune, fit, make a leaderboard, evaluate."""
    # ``tuner`` chooses settings; ``progress`` is called before each step.
    data = source.data
    if tuner is None and options.tune:
        tuner = partial(_tune, source)
    if data.items is not None:
        _refuse_with_features(options)
    tuned = checks = board = utility = items = effects = moves = None
    notes: list[str] = []
    parts: dict[str, list[str]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not isinstance(data, Grades) and data.names is not None:
            progress("checking the data")
            checks = check_data(_without_columns(source, options))
            warnings.filterwarnings("ignore", _NEVER_MEET)
        fast = source
        if options.model != "judge-bradley-terry":
            fast = _number_raters(source)
        ties = {"half_life": options.half_life, "ties": options.ties}
        choice = choose_model(options.model, fast, options.settings, **ties)  # type: ignore[arg-type]
        if tuner is not None:
            progress(f"tuning {choice.name}")
            tuned = tuner(choice)
            choice = replace(choice, model=tuned.model)
        progress(f"fitting {choice.name}")
        fitted = fit_data(choice.model, fast.data, source.labels)
        reason = choice.reason + say_half_life(fitted, data)
        choice = replace(choice, reason=reason)
        if data.items is not None:
            progress("rating the items")
            utility = rate_items(fitted, data)
            items = board_items(utility, data, fitted, _scale_of(options))
            items = rank_rows(utility, data) if items is None else items
        else:
            progress("making the leaderboard")
            board = _board(fitted, options)
            effects = find_effects(board, source.deviations)
            if source.labels:
                progress("fitting without the covariates")
                moves = _find_moves(choice.model, fast.data, board, options)
            notes = list(board.notes)
            parts = _add_categories(board, choice.model, fast, options, progress)
    sentences = _messages(caught)
    progress("predicting held-out results")
    quality = _quality(choice, fast, sentences)
    answer = RankResult(
        replace(choice, model=fitted),
        checks,
        board,
        list_weights(fitted, data),
        quality,
        source,
        sentences,
        items,
        utility,
        notes,
        effects=effects,
        moves=moves,
        category_notes=parts,
        options=options,
    )
    if tuned is None:
        return answer
    return replace(answer, tuning=tuned.result, tuning_notes=tuned.notes)


def _without_columns(source: Source, options: RankOptions) -> Source:
    """Leave out what the checks find out by themselves: whether the side matters."""
    hidden = {"context", *["advantage"] * options.position}

    data = source.data
    if not isinstance(data, Comparisons):
        return source
    kept = {name: c for name, c in data.columns.items() if name not in hidden}
    return replace(source, data=replace(data, columns=kept))


def _number_raters(source: Source) -> Source:
    """Number raters: until the report only who is who matters, and names are slow."""
    data = source.data
    if not isinstance(data, Comparisons) or "rater" not in data.columns:
        return source
    numbers = {"rater": factorize(data.columns["rater"])[0]}
    return replace(source, data=replace(data, columns={**data.columns, **numbers}))


def _tune(source: Source, choice: Choice) -> Tuned:
    return tune_model(choice, source.data)


def _refuse_with_features(options: RankOptions) -> None:
    for name in ("by", "covariates", "position"):
        if getattr(options, name):
            raise ValueError(
                f"{flag(name)} is for items that have only names; leave it out, or "
                f"{flag('items')}."
            )


def _scale_of(options: RankOptions) -> RatingScale:
    name, value = options.zero()
    return RatingScale(reference=name, anchor=value)


def _board(fitted: Any, options: RankOptions) -> Leaderboard:
    scale = _scale_of(options)
    given: dict[str, Any] = {"level": options.level, "anchor": scale.anchor}
    if scale.reference is not None:
        given["reference"] = scale.reference
    return Leaderboard(fitted, **given)


def find_effects(
    board: Leaderboard, deviations: Sequence[float] = ()
) -> pl.DataFrame | None:
    """Return effects of advantage and covariates in rating points; None without."""
    model = board.model
    if not isinstance(model, BradleyTerry) or not model.pair_covariates_.shape[1]:
        return None
    unit = RatingScale().unit
    table = model.coefficients(board.level).filter(
        ~pl.col("coefficient").is_in(["tie", "zero"])
    )
    table = table.select(
        pl.col("coefficient").alias("effect"),
        (unit * pl.col("estimate")).alias("points"),
        (unit * pl.col("lower")).alias("lower"),
        (unit * pl.col("upper")).alias("upper"),
        "p_value",
    )
    first = [None] * (len(table) - len(deviations))
    given = pl.Series("standard_deviation", [*first, *deviations], dtype=pl.Float64)
    return table.with_columns(given)


def _find_moves(
    model: Any, data: Data, board: Leaderboard, options: RankOptions
) -> pl.DataFrame:
    """Return the ranks of all items with and without covariates."""
    assert isinstance(data, Comparisons)
    columns = {name: c for name, c in data.columns.items() if name != "context"}
    plain = fit_data(clone(model), replace(data, columns=columns))
    without = Leaderboard(plain, level=options.level).table
    names = {"rank": "rank_without", "rating": "rating_without"}
    table = board.table.select("item", "rank", "rating").join(
        without.select("item", "rank", "rating").rename(names), on="item"
    )
    apart = table["rating"].mean() - table["rating_without"].mean()  # type: ignore[operator]
    return table.with_columns(
        pl.col("rating_without") + apart,
        (pl.col("rank_without") - pl.col("rank")).alias("moved"),
    )


def _add_categories(
    board: Leaderboard,
    model: Any,
    source: Source,
    options: RankOptions,
    progress: Progress,
) -> dict[str, list[str]]:
    """Add a leaderboard for each category, and return what to know about each."""
    notes: dict[str, list[str]] = {}
    reference = _scale_of(options).reference
    for name, rows in source.categories.items():
        progress(f"ranking {name}")
        own, said = options, notes.setdefault(name, [])
        try:
            part = source.data.take(rows)
            fitted = fit_data(clone(model), part, source.labels)
            if reference is not None and reference not in fitted.items_.tolist():
                own = replace(options, anchor=None)
                said.append(
                    f"{shorten(reference)} is not in it, so ratings are measured from "
                    "the mean."
                )
            board.categories[name] = _board(fitted, own)
        except ValueError as error:
            said.append(f"There is no leaderboard. {error}")
            continue
        said += _say_one_sided(board.categories[name].table)
    return notes


def _say_one_sided(table: pl.DataFrame) -> list[str]:
    """Say which items won, or lost, everything."""
    if "wins" not in table.columns or table["wins"].is_null().any():
        return []
    said = []
    for least, most, verb in (("losses", "wins", "won"), ("wins", "losses", "lost")):
        found = table.filter((pl.col(least) + pl.col("ties") == 0) & (pl.col(most) > 0))
        if len(found):
            names = first_of([shorten(name) for name in found["item"]], 5)
            said.append(f"{names} {verb} everything: the rating rests on the prior.")
    return said


def rank_names(
    source: Source, options: RankOptions, models: Sequence[str] = ()
) -> Leaderboard:
    """Return the leaderboard of items by name alone, for comparisons of items."""
    # ``models`` are those that have what is asked for; all if there are none.
    if models and options.model not in ("auto", *models):
        listed = ", ".join(["auto", *models])
        raise ValueError(
            f"{flag('model')} must be one of {listed} here; got {options.model!r}."
        )
    data = None if isinstance(source.data, Grades) else source.data.by_name()
    if data is None:
        raise ValueError(
            "The items of this file have no names, so they cannot be asked for by name."
        )
    named = replace(source, data=data)
    choice = choose_model(
        options.model,
        named,
        options.settings,
        half_life=options.half_life,
        ties=options.ties,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NEVER_MEET)
        fitted = fit_data(choice.model, named.data)
    return Leaderboard(fitted, level=options.level)


# The checks, and the notes of the leaderboard, say so too.
_NEVER_MEET = ".*comparable only by the penalty alpha"


def _messages(caught: list[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(str(one.message) for one in caught))


def _quality(
    choice: Choice, source: Source, sentences: list[str]
) -> ForwardResult | OrderQuality | None:
    """Return the quality of a model on held-out rows; if there is none, say why."""
    data, models = source.data, {choice.name: choice.model}
    halved = getattr(choice.model, "ties", None) == "half"
    if halved and isinstance(data, Comparisons) and not data.y.all():
        data = data.take(np.flatnonzero(data.y))
        sentences.append(
            "Held-out quality is that of decided results: a tie that counts as half a "
            "win for each has no probability."
        )
    try:
        if isinstance(data, Comparisons):
            return predict_held_out(models, data)
        return order_held_out(models, data)
    except ValueError as error:
        sentences.append(f"Held-out quality is not known: {error}")
        return None
