# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak.rank`: from a table to a model, a leaderboard and its held-out quality."""

import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from inspect import Parameter, Signature, cleandoc
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from tiebreak import BradleyTerry, Leaderboard
from tiebreak.data import Comparisons, Data, Grades
from tiebreak.data.columns import factorize
from tiebreak.data.messages import speaking_of
from tiebreak.io.result import first_of, shorten
from tiebreak.options import RankOptions, default_of, describe_options, flag, in_python
from tiebreak.pipeline.held_out import (
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
from tiebreak.pipeline.models import Choice, choose_model, say_half_life, tune_model
from tiebreak.pipeline.order_quality import OrderQuality
from tiebreak.pipeline.read import Progress, read_source, silent, split_options
from tiebreak.pipeline.result import RankResult
from tiebreak.pipeline.source import Source
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.selection.results import ForwardResult


def rank(data: Any, **options: Any) -> RankResult:
    """Rank the items of a table or a file, as ``tiebreak rank`` does.

    Checks the data, chooses and fits a model, makes a leaderboard, and measures how
    well held-out results are predicted.

    Parameters
    ----------
    data : table, str or path
        A pandas or polars frame, an Arrow table, a Hugging Face dataset, or the name of
        a file, a folder or a pattern.
    OPTIONS
    **reading
        Fields of :class:`tiebreak.io.ReadOptions`, such as ``left``, ``right``,
        ``outcome``, ``rater``, ``period``, ``where`` and ``drop_duplicates``.

    Returns
    -------
    RankResult

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
    with in_python():
        reading, ranking = split_options(options)
        result = rank_source(read_source(data, reading, ranking), ranking)
        return replace(result, in_pandas=hasattr(data, "iloc"))


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
    source: Source, options: RankOptions, *, progress: Progress = silent
) -> RankResult:
    """Check, choose, fit, rate and evaluate; return the result."""
    with speaking_of(source.nouns):
        return _rank(source, options, progress)


def _rank(source: Source, options: RankOptions, progress: Progress) -> RankResult:
    data, tuning, notes = source.data, None, list[str]()
    _refuse_options(source, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checks = None
        if not isinstance(data, Grades) and data.names is not None:
            progress("checking the data")
            # The checks find out by themselves whether the side matters.
            checks = check_data(
                source, without=("context", *["advantage"] * options.position)
            )
            warnings.filterwarnings("ignore", _NEVER_MEET)
        if options.model != "judge-bradley-terry":
            source = _number_raters(source)
        choice = choose_model(options.model, source, options.model_settings)
        if source.classes:
            choice = _with_prior(choice, source)
        if options.tune:
            progress(f"tuning {choice.name}")
            choice, tuning, notes = tune_model(choice, source.data)
        progress(f"fitting {choice.name}")
        fitted = fit_data(choice.model, source.data, source.labels)
        choice = replace(choice, reason=choice.reason + say_half_life(fitted, data))
        progress("rating the items")
        if data.items is not None:
            rated = _rate_by_features(fitted, data, options)
        else:
            rated = _rate_by_name(choice.model, fitted, source, options, progress)
    sentences = list(dict.fromkeys(str(one.message) for one in caught))
    weights, shares = list_weights(fitted, data)
    progress("predicting held-out results")
    quality = _evaluate(choice, source, sentences)
    return RankResult(
        choice=replace(choice, model=fitted),
        checks=checks,
        weights=weights,
        shares=shares,
        quality=quality,
        source=replace(source, data=data),
        warnings=sentences,
        options=options,
        tuning=tuning,
        tuning_notes=notes,
        **rated,
    )


# The checks, and the notes of the leaderboard, say so too.
_NEVER_MEET = ".*comparable only by the penalty alpha"


def _refuse_options(source: Source, options: RankOptions) -> None:
    """Refuse what the data have no place for."""
    for name in ("by", "covariates", "position"):
        if getattr(options, name) and source.data.items is not None:
            raise ValueError(
                f"{flag(name)} is for items that have only names, not {flag('items')}."
            )


def _with_prior(choice: Choice, source: Source) -> Choice:
    """Give the model classes of items, and say so."""
    if not isinstance(choice.model, BradleyTerry):
        raise ValueError(f"{flag('prior_by')} is for {flag('model', 'bradley-terry')}.")
    model = clone(choice.model).set_params(prior_by=source.classes)
    names = first_of(sorted(map(str, set(source.classes.values()))))
    reason = f" Ratings of few results are pulled to the mean of their class: {names}."
    return replace(choice, model=model, reason=choice.reason + reason)


def _number_raters(source: Source) -> Source:
    """Replace raters by numbers, which are faster than names."""
    data = source.data
    if not isinstance(data, Comparisons) or "rater" not in data.columns:
        return source
    numbers = {"rater": factorize(data.columns["rater"])[0]}
    return replace(source, data=replace(data, columns={**data.columns, **numbers}))


def _rate_by_features(fitted: Any, data: Data, options: RankOptions) -> dict[str, Any]:
    """Return utilities, and the leaderboard or ranks in queries."""
    name, value = options.zero()
    utility = rate_items(fitted, data)
    items = board_items(
        utility, data, fitted, RatingScale(reference=name, anchor=value)
    )
    items = rank_rows(utility, data) if items is None else items
    return {"leaderboard": None, "utility": utility, "items": items}


def _rate_by_name(
    model: Any, fitted: Any, source: Source, options: RankOptions, progress: Progress
) -> dict[str, Any]:
    """Return the leaderboards of all and of each category, and effects."""
    board, moves = _make_board(fitted, options), None
    if source.labels:
        progress("fitting without the covariates")
        moves = _find_moves(model, source.data, board)
    return {
        "leaderboard": board,
        "notes": list(board.notes),
        "effects": _find_effects(board, source.deviations),
        "moves": moves,
        "category_notes": _add_categories(board, model, source, options, progress),
    }


def _make_board(fitted: Any, options: RankOptions) -> Leaderboard:
    name, value = options.zero()
    return Leaderboard(
        fitted,
        level=options.level,
        reference=name,
        anchor=value,
        place_from=options.place_from,
    )


def _find_effects(
    board: Leaderboard, deviations: Sequence[float] = ()
) -> pl.DataFrame | None:
    """Return effects of advantage and covariates in rating points, or None."""
    model = board.model
    if not isinstance(model, BradleyTerry) or not model.pair_covariates_.shape[1]:
        return None
    unit = RatingScale().unit
    table = model.coefficients(board.level).filter(
        ~pl.col("coefficient").is_in(["tie", "zero"])
    )
    classes = [None] * (len(getattr(model, "prior_names_", "0")) - 1)
    unscaled = [None] * (len(table) - len(deviations) - len(classes))
    return table.select(
        effect="coefficient",
        points=unit * pl.col("estimate"),
        lower=unit * pl.col("lower"),
        upper=unit * pl.col("upper"),
        p_value="p_value",
        standard_deviation=pl.Series(
            [*unscaled, *deviations, *classes], dtype=pl.Float64
        ),
    )


def _find_moves(model: Any, data: Data, board: Leaderboard) -> pl.DataFrame:
    """Return the ranks of all items with and without covariates."""
    assert isinstance(data, Comparisons)
    columns = {name: c for name, c in data.columns.items() if name != "context"}
    plain = fit_data(clone(model), replace(data, columns=columns))
    without = Leaderboard(plain, level=board.level).table
    shown = ("item", "rank", "rating")
    table = board.table.select(shown).join(
        without.select(shown), on="item", suffix="_without"
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
    """Add a leaderboard for each category, and return notes."""
    notes: dict[str, list[str]] = {}
    reference, _ = options.zero()
    for name, rows in source.categories.items():
        progress(f"ranking {name}")
        own, sentences = options, notes.setdefault(name, [])
        try:
            fitted = fit_data(clone(model), source.data.take(rows), source.labels)
            if reference is not None and reference not in fitted.items_.tolist():
                own = replace(options, anchor=None)
                sentences.append(
                    f"{shorten(reference)} is not in it, so ratings are measured from "
                    "the mean."
                )
            board.categories[name] = _make_board(fitted, own)
        except ValueError as error:
            sentences.append(f"There is no leaderboard. {error}")
            continue
        sentences += _say_one_sided(board.categories[name].table)
    return notes


def _say_one_sided(table: pl.DataFrame) -> list[str]:
    """Say which items won, or lost, everything."""
    if "wins" not in table.columns or table["wins"].is_null().any():
        return []
    sentences = []
    for least, most, verb in (("losses", "wins", "won"), ("wins", "losses", "lost")):
        rows = table.filter((pl.col(least) + pl.col("ties") == 0) & (pl.col(most) > 0))
        if len(rows):
            names = first_of([shorten(name) for name in rows["item"]], 5)
            sentences.append(
                f"{names} {verb} everything: the rating rests on the prior."
            )
    return sentences


def _evaluate(
    choice: Choice, source: Source, sentences: list[str]
) -> ForwardResult | OrderQuality | None:
    """Return the held-out quality of a model; if there is none, say why."""
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


def rank_names(
    source: Source, options: RankOptions, models: Sequence[str] = ()
) -> Leaderboard:
    """Return the leaderboard of comparisons by name alone."""
    # ``models`` are those that have what is asked for; all if there are none.
    if models and options.model not in ("auto", *models):
        listed = ", ".join(["auto", *models])
        raise ValueError(
            f"{flag('model')} must be one of {listed} here; got {options.model!r}."
        )
    data = None if isinstance(source.data, Grades) else source.data.by_name()
    if data is None:
        raise ValueError("The items of this file have no names, so none can be named.")
    named = replace(source, data=data)
    choice = choose_model(options.model, named, options.model_settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NEVER_MEET)
        fitted = fit_data(choice.model, named.data)
    return Leaderboard(fitted, level=options.level, place_from=options.place_from)
