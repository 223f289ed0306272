# SPDX-License-Identifier: BSD-3-Clause
"""`tiebreak.rank`: from a table to a model, a leaderboard and its held-out quality.

`read_source` reads and chooses rows, `rank_source` does everything else, and `rank` is
both in one call. The answer is put in words and into a report by
`tiebreak.pipeline.report`.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import Parameter, Signature, cleandoc
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions
from rich.text import Text
from sklearn.base import clone

from tiebreak import BradleyTerry, Leaderboard
from tiebreak.data.columns import factorize
from tiebreak.data.markup import results_html
from tiebreak.io import FileError, ReadOptions
from tiebreak.io.columns import closest
from tiebreak.io.result import first_of, in_command, in_python, plural, shorten
from tiebreak.options import TIES, RankOptions, default_of, describe_options
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.held_out import (
    check_data,
    columns_for,
    predict_held_out,
    take_rows,
)
from tiebreak.pipeline.leaderboard import (
    board_items,
    item_utilities,
    list_weights,
    rank_rows,
    rate_items,
)
from tiebreak.pipeline.models import (
    CLASSES,
    Choice,
    Tuned,
    choose_model,
    find_estimator,
    make_estimator,
    say_half_life,
    tune_model,
    unwrap,
)
from tiebreak.pipeline.partitions import GradedFiles
from tiebreak.pipeline.report import about_items, about_quality, report_data, show
from tiebreak.pipeline.source import Asked, Progress, Source, read_source, silent
from tiebreak.ratings.checks.report import PairsReport
from tiebreak.ratings.leaderboard import RatingScale
from tiebreak.report import write_report
from tiebreak.selection.results import ForwardResult, TuneResult


@dataclass(frozen=True, eq=False)
class RankResult:
    """What `tiebreak.rank` found; ``print`` it, or show it in a notebook.

    Attributes
    ----------
    choice : Choice
        The model with its ``name`` and the ``reason`` for it.
    checks : PairsReport or None
        What the data can support, see :func:`~tiebreak.check_pairs`; None without
        names.
    leaderboard : Leaderboard or None
        Of items that have only names, with ``categories`` if asked for.
    quality : ForwardResult or None
        How well held-out results were predicted.
    weights : list of (str, float) or None
        Features and their weights, the largest first.
    items : polars.DataFrame or None
        Items with features and names, in the columns of a leaderboard; of graded rows
        their ranks within the query.
    effects, moves : polars.DataFrame or None
        Effects of covariates and position, in rating points, and how many ranks each
        item moves because covariates are taken into account.
    detected, notes, warnings : list of str
        What the data hold, what intervals rest on, and what else to distrust.
    category_notes : dict of str to list of str
        What to know about each category: who won or lost everything in it, or why it
        has no leaderboard.
    title, data, utility : str, ComparisonData, ndarray or None
        Name of the data, the comparisons, and utilities of items with features.
    tuning, tuning_notes : TuneResult or None, list of str
        How settings were chosen.
    options : RankOptions
        What was asked for.
    """

    __module__ = "tiebreak"  # where users find it

    choice: Choice
    checks: PairsReport | None
    leaderboard: Leaderboard | None
    weights: list[tuple[str, float]] | None
    quality: ForwardResult | None
    data: ComparisonData
    warnings: list[str] = field(default_factory=list)
    items: pl.DataFrame | None = None
    utility: NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)
    tuning: TuneResult | None = None
    tuning_notes: list[str] = field(default_factory=list)
    effects: pl.DataFrame | None = None
    moves: pl.DataFrame | None = None
    category_notes: dict[str, list[str]] = field(default_factory=dict)
    detected: list[str] = field(default_factory=list)
    title: str = ""
    options: RankOptions = field(default_factory=RankOptions)

    @property
    def model(self) -> Any:
        """The fitted model.

        Returns
        -------
        estimator
        """
        return self.choice.model

    @property
    def table(self) -> pl.DataFrame | None:
        """The table of the leaderboard, also of items with features.

        Returns
        -------
        polars.DataFrame or None
            None if items have no names.
        """
        if self.leaderboard is not None:
            return self.leaderboard.table
        ranked = self.items is not None and "rating" in self.items.columns
        return self.items if ranked else None

    def summary(self) -> list[str]:
        """Give the result in sentences.

        Returns
        -------
        list of str
        """
        return [*about_items(self), *about_quality(self), *self.tuning_notes]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report, one page that opens offline.

        Parameters
        ----------
        path : str or path
            The file, usually ``report.html``; replaced if it exists.
        """
        write_report(report_data(self), path)

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Any]:
        for part in show(self, options.max_width):
            yield Text(part) if isinstance(part, str) else part

    def __str__(self) -> str:
        file = io.StringIO()
        Console(file=file, width=100, color_system=None).print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def __repr__(self) -> str:
        n = self.data.pairs.n_items
        return f"RankResult({plural(n, 'item')}, {self.choice.name})"

    def _repr_html_(self) -> str:
        return results_html(*show(self, _NARROW))


_NARROW = 100  # columns: without the picture of intervals


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
    try:
        asked = RankOptions(**options)
        source = read_source(data, ReadOptions(**reading), asked)
        return _in_python(rank_source(source, asked))
    except FileError as error:
        raise type(error)(error.path, in_python(error.reason, _VALUES)) from None
    except ValueError as error:
        raise ValueError(in_python(str(error), _VALUES)) from error


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
_VALUES = (*TIES, *CLASSES, "none")


def _in_python(answer: RankResult) -> RankResult:
    """Write options as arguments in all that is said."""
    said = ("detected", "notes", "warnings", "tuning_notes")
    word = partial(in_python, columns=_VALUES)
    worded: Any = {name: [*map(word, getattr(answer, name))] for name in said}
    if answer.checks is not None:
        worded["checks"] = answer.checks.worded(word)
    parts = answer.category_notes.items()
    worded["category_notes"] = {name: [*map(word, notes)] for name, notes in parts}
    choice = replace(answer.choice, reason=word(answer.choice.reason))
    return replace(answer, choice=choice, **worded)


def rank_source(
    source: Source,
    options: RankOptions,
    *,
    tuner: Callable[[Choice], Tuned] | None = None,
    progress: Progress = silent,
) -> RankResult:
    """Return the answer: check, choose, tune, fit, make a leaderboard, evaluate."""
    # ``tuner`` chooses settings; ``progress`` is called before each step.
    if not isinstance(source.found, Asked):
        answer = _rank_grades(source.found, options, progress)
        return replace(answer, detected=source.detected, title=source.title)
    asked, data = source.found, source.found.data
    if tuner is None and options.tune:
        tuner = partial(_tune, data.by_row)
    if data.pairs.has_features:
        _refuse_with_features(options)
    tuned = checks = board = utility = items = effects = moves = None
    notes: list[str] = []
    parts: dict[str, list[str]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if data.by_name is not None:
            progress("checking the data")
            # Whether the side matters is what the checks find out by themselves.
            hidden = {"context", *["advantage"] * options.position}
            kept = {name: c for name, c in data.columns.items() if name not in hidden}
            checks = check_data(replace(data, columns=kept)).worded(in_command)
            warnings.filterwarnings("ignore", _NEVER_MEET)
        judges = {key: c for key, c in data.columns.items() if key == "rater"}
        if judges and options.model != "judge-bradley-terry":
            # Until the report only who is who matters; numbers are quicker than names.
            numbers = {"rater": factorize(data.columns["rater"])[0]}
            data = replace(data, columns=data.columns | numbers)
        given: Any = {"half_life": options.half_life, "ties": options.ties}
        choice = choose_model(options.model, data, options.settings, **given)
        if tuner is not None:
            progress(f"tuning {choice.name}")
            tuned = tuner(choice)
            choice = replace(choice, model=tuned.model)
        progress(f"fitting {choice.name}")
        fitted = _fit(choice.model, data, asked.labels)
        reason = choice.reason + say_half_life(fitted, data)
        choice = replace(choice, reason=reason)
        if data.pairs.has_features:
            progress("rating the items")
            utility = rate_items(fitted, data)
            items = board_items(utility, data, fitted, _scale_of(options))
            items = rank_rows(utility, data) if items is None else items
        else:
            progress("making the leaderboard")
            board = _board(fitted, options)
            effects = find_effects(board, asked.deviations)
            if asked.labels:
                progress("fitting without the covariates")
                moves = _find_moves(choice.model, data, board, options)
            notes = list(board.notes)
            asked = replace(asked, data=data)
            parts = _add_categories(board, choice.model, asked, options, progress)
    said = _messages(caught)
    progress("predicting held-out results")
    quality = _quality(choice.name, choice.model, data.by_row, said)
    answer = RankResult(
        replace(choice, model=fitted),
        checks,
        board,
        list_weights(fitted, data.pairs),
        quality,
        replace(data, columns=data.columns | judges),
        said,
        items,
        utility,
        notes,
        effects=effects,
        moves=moves,
        category_notes=parts,
        detected=source.detected,
        title=source.title,
        options=options,
    )
    if tuned is None:
        return answer
    return replace(answer, tuning=tuned.result, tuning_notes=tuned.notes)


def _tune(data: ComparisonData, choice: Choice) -> Tuned:
    return tune_model(choice, data)


def _refuse_with_features(options: RankOptions) -> None:
    for name in ("by", "covariates", "position"):
        if getattr(options, name):
            raise ValueError(
                f"--{name} is for items that have only names; leave it out, or --items."
            )


def _fit(model: Any, data: ComparisonData, labels: Sequence[str] = ()) -> Any:
    columns = columns_for(model, data.columns)
    if "context" in columns and labels:
        columns["context"] = pl.DataFrame(columns["context"], list(labels))
    return unwrap(model.fit(data.pairs, data.y, **columns))


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
    model: Any, data: ComparisonData, board: Leaderboard, options: RankOptions
) -> pl.DataFrame:
    """Return the ranks of all items with and without covariates."""
    columns = {name: c for name, c in data.columns.items() if name != "context"}
    plain = _fit(clone(model), replace(data, columns=columns))
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
    asked: Asked,
    options: RankOptions,
    progress: Progress,
) -> dict[str, list[str]]:
    """Add a leaderboard for each category, and return what to know about each."""
    notes: dict[str, list[str]] = {}
    reference = _scale_of(options).reference
    for name, rows in asked.categories.items():
        progress(f"ranking {name}")
        own, said = options, notes.setdefault(name, [])
        try:
            part = take_rows(asked.data, rows)
            fitted = _fit(clone(model), part, asked.labels)
            if reference is not None and reference not in fitted.items_.tolist():
                own = replace(options, anchor=None)
                said.append(
                    f"{shorten(reference)} is not in it, so ratings are measured from "
                    "the mean."
                )
            board.categories[name] = _board(fitted, own)
        except ValueError as error:
            said.append(f"There is no leaderboard. {in_command(str(error))}")
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
    data: ComparisonData, options: RankOptions, models: Sequence[str] = ()
) -> Leaderboard:
    """Return the leaderboard of items by name alone, for comparisons of items."""
    # ``models`` are those that have what is asked for; all if there are none.
    if models and options.model not in ("auto", *models):
        listed = ", ".join(["auto", *models])
        raise ValueError(
            f"--model must be one of {listed} here; got {options.model!r}."
        )
    if data.by_name is None:
        raise ValueError(
            "The items of this file have no names, so they cannot be asked for by name."
        )
    named = replace(data, pairs=data.by_name)
    given: Any = {"half_life": options.half_life, "ties": options.ties}
    choice = choose_model(options.model, named, options.settings, **given)
    columns = columns_for(choice.model, named.columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _NEVER_MEET)
        fitted = choice.model.fit(named.pairs, named.y, **columns)
    return Leaderboard(fitted, level=options.level)


# The checks, and the notes of the leaderboard, say so too.
_NEVER_MEET = ".*comparable only by the penalty alpha"


def _messages(caught: list[warnings.WarningMessage]) -> list[str]:
    return list(dict.fromkeys(in_command(str(one.message)) for one in caught))


def _quality(
    name: str, model: Any, data: ComparisonData, said: list[str]
) -> ForwardResult | None:
    """Return the quality of a model on held-out rows; if there is none, say why."""
    if getattr(model, "ties", None) == "half" and not data.y.all():
        data = take_rows(data, np.flatnonzero(data.y))
        said.append(
            "Held-out quality is that of decided results: a tie that counts as half a "
            "win for each has no probability."
        )
    try:
        return predict_held_out({name: model}, data)
    except ValueError as error:
        said.append(f"Held-out quality is not known: {in_command(str(error))}")
        return None


# Models of graded items that are fitted where the files are, and how.
_PARTITIONED: dict[str, dict[str, Any]] = {
    "rank-svm": {"kernel": "linear", "loss": "squared_hinge"},
    "rank-rls": {"kernel": "linear"},
}


def _rank_grades(
    graded: GradedFiles, options: RankOptions, progress: Progress
) -> RankResult:
    """Return the answer of a linear model that is fitted where the files are."""
    # Its table of items, and the comparisons that are returned next to it, are those of
    # the queries on which quality was measured.
    if options.half_life is not None:
        raise ValueError(
            "--half-life is for comparisons with dates, and not for graded items; "
            "leave it out."
        )
    if options.tune:
        raise ValueError(
            "--tune is not for graded items in partitions, whose best settings depend "
            "on how many there are. Leave it out, or put all rows in one file."
        )
    choice = _choose_partitioned(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        progress(f"fitting {choice.name}")
        fitted = graded.fit(choice.model)
    said = _messages(caught)
    progress("predicting held-out results")
    sample = graded.sample()
    assert sample.items is not None and sample.grades is not None
    comparer = choose_model(choice.name, sample, choice.settings).model
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
    return RankResult(
        choice, None, None, weights, quality, sample, said, items, utility,
        options=options,
    )  # fmt: skip


def _choose_partitioned(options: RankOptions) -> Choice:
    name = "rank-svm" if options.model == "auto" else options.model
    if name not in _PARTITIONED:
        raise ValueError(
            f"{name!r} is not fitted on graded items in partitions. Choose --model "
            f"from {', '.join(['auto', *_PARTITIONED])}; for other models put all rows "
            "in one file, and leave --dask out."
        )
    settings = _PARTITIONED[name] | dict(options.settings)
    reason = "items are graded, and it is fitted where the files are read."
    reason = reason if options.model == "auto" else "as you asked."
    return Choice(
        name, make_estimator(find_estimator(name), settings), reason, settings
    )
