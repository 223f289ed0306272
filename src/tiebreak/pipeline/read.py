# SPDX-License-Identifier: BSD-3-Clause
"""Read a table, a file or many, and select rows, with covariates and categories.

No model is imported here, to say at once what was read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data import Comparisons, Data, Grades
from tiebreak.data.columns import factorize, readable_period
from tiebreak.data.messages import closest
from tiebreak.io import read_file
from tiebreak.io.frames import is_path
from tiebreak.io.result import ReadOptions, ReadResult, plural
from tiebreak.options import Covariate, RankOptions, flag
from tiebreak.pipeline.source import Source

Progress = Callable[[str], None]
Flags = NDArray[np.bool_]


def _values(
    covariate: Covariate, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """Return the covariate of each row, shape (n,)."""
    sides = [columns[name].astype(np.float64) for name in covariate.columns]
    for name, side in zip(covariate.columns, sides, strict=True):
        if covariate.log and not (side > 0).all():
            rows = flag("where", f"{name} > 0")
            raise ValueError(f"{name} is not positive in all rows; try {rows}.")
    sides = [np.log(side) for side in sides] if covariate.log else sides
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def select_rows(read: ReadResult, options: RankOptions, title: str = "") -> Source:
    """Return the rows that the options select, with their covariates."""
    data, sentences = read.data, list(read.sentences)
    sided = read.sided and isinstance(data, Comparisons)
    source = Source(data, sentences, title, sided, read.skipped, nouns=read.nouns)
    source = replace(source, scores=read.scores)
    if not isinstance(data, Comparisons):
        _refuse_for_items(data, options)
        return source
    classes: Mapping[Any, Any] = {}
    if options.prior_by is not None:
        data, classes = _with_classes(data, options.prior_by)
    kept = _selected(data, options, sentences)
    if not kept.all():
        data = data.take(np.flatnonzero(kept))
        if not data.pairs.has_features:
            data = replace(data, pairs=data.pairs.compact())
    if options.position:
        data = _with_position(data, read.sided)
    data, labels, deviations = _with_covariates(data, options)
    categories = {}
    if options.categories:
        categories = _categories(options.categories, data.others, sentences)
    return replace(
        source, data=data, categories=categories, labels=labels, deviations=deviations,
        classes=classes,
    )  # fmt: skip


def _with_classes(
    data: Comparisons, by: str | Mapping[Any, Any]
) -> tuple[Comparisons, Mapping[Any, Any]]:
    """Return comparisons by name, and the class of each item by a feature."""
    table, named = data.items, data.by_name()
    if not isinstance(by, str) and table is None:
        return data, by
    if table is None or data.names is None or named is None:
        raise ValueError(
            f"{flag('prior_by')}: name the table of items with {flag('items')}."
        )
    features = table.feature_names or ()
    own = [k for k, name in enumerate(features) if name.partition("=")[0] == by]
    if not own:
        columns = dict.fromkeys(name.partition("=")[0] for name in features)
        raise ValueError(f"{flag('prior_by', by)} must be one of {', '.join(columns)}.")
    values = table.values[:, own]
    values = values.toarray() if table.is_sparse else values
    if len(own) > 1:
        words = [features[k].partition("=")[2] for k in own]
        labels = [words[k] for k in values.argmax(axis=1)]
    else:
        labels = [f"{value:g}" for value in values[:, 0]]
    return named, dict(zip(data.names.tolist(), labels, strict=True))


def _refuse_for_items(data: Data, options: RankOptions) -> None:
    if isinstance(data, Grades) and not data.items.n_features:
        raise ValueError(
            "The graded items have no features; name "
            f"{flag('item')} and {flag('person')}, or their table by {flag('items')}."
        )
    for name in ("since", "until", "position", "half_life", "ties", "prior_by"):
        if getattr(options, name) not in (None, False):
            raise ValueError(f"{flag(name)} is for comparisons; leave it out.")


def _selected(data: Comparisons, options: RankOptions, sentences: list[str]) -> Flags:
    """Return which rows are selected, and say how many are not."""
    kept = np.ones(len(data), dtype=bool)
    for name, where in (("since", options.since), ("until", options.until)):
        if where is not None:
            inside = _within(data, name, where)
            sentences.append(_left_out(flag(name, where), kept & ~inside))
            kept &= inside
            if not kept.any():
                period = data.columns["period"]
                first, last = map(readable_period, (period.min(), period.max()))
                raise ValueError(
                    f"{flag(name, where)} leaves no comparison: {first} to {last}."
                )
    if options.ties == "drop":
        tied = data.y == 0
        sentences.append(_left_out(flag("ties", "drop"), kept & tied, "tie"))
        kept &= ~tied
    if not kept.any():
        raise ValueError(f"No comparison is left. {sentences[-1]}")
    return kept


def _with_covariates(
    data: Comparisons, options: RankOptions
) -> tuple[Comparisons, tuple[str, ...], tuple[float, ...]]:
    """Return comparisons with covariates of variance 1, labels and deviations."""
    turned = data.marks.get("exchanged")
    columns, labels, deviations = [], [], []
    for covariate in options.parsed_covariates():
        values = _values(covariate, data.others)
        if turned is not None:
            values = np.where(turned, -values, values)
        deviation = float(values.std())
        if not deviation:
            raise ValueError(f"{covariate.label} is {values[0]:g} in every row.")
        columns.append(values / deviation)
        labels.append(covariate.label)
        deviations.append(deviation)
    if columns:
        context = {"context": np.stack(columns, axis=1)}
        data = replace(data, columns={**data.columns, **context})
    return data, tuple(labels), tuple(deviations)


def _left_out(why: str, rows: Flags, noun: str = "row") -> str:
    return f"{why} left out {plural(int(rows.sum()), noun)}."


def _within(data: Comparisons, name: str, where: Any) -> Flags:
    """Say which rows are not before ``since``, or not after ``until``."""
    period = data.columns.get("period")
    if period is None:
        raise ValueError(f"{flag(name)} needs dates; name {flag('period')}.")
    numbers = period.dtype.kind in "iuf"
    try:
        bound: Any = float(where) if numbers else np.datetime64(str(where).strip())
        if bound != bound:
            raise ValueError
    except ValueError:
        expected = "a number" if numbers else "a date such as 2024-05-31"
        raise ValueError(f"{flag(name)} got {where!r}; expected {expected}.") from None
    if name == "since":
        return np.asarray(period >= bound)
    if numbers:
        return np.asarray(period <= bound)
    next_one = bound + np.ones((), bound.dtype.str.replace("M8", "m8"))
    return np.asarray(period < next_one)  # the end of that day, month or year


def _with_position(data: Comparisons, sided: bool) -> Comparisons:
    if "advantage" in data.columns:
        raise ValueError(f"An advantage is learned; leave {flag('position')} out.")
    if "exchanged" in data.marks or not sided:
        raise ValueError(f"{flag('position')} needs to know who was shown first.")
    return replace(data, columns={**data.columns, "advantage": np.ones(len(data))})


_MANY = 200
_YES, _NO = {"1", "true", "1.0"}, {"0", "false", "0.0"}


def _categories(
    names: Sequence[str],
    others: Mapping[str, NDArray[Any]],
    sentences: list[str],
) -> dict[str, NDArray[np.int64]]:
    """Return the rows of each category."""
    categories: dict[str, NDArray[np.int64]] = {}
    for name in names:
        column = others[name]
        known = np.array([value is not None for value in column])
        if not known.all():
            sentences.append(
                f"{plural(int((~known).sum()), 'row')} without a value in {name} count "
                "in the leaderboard of all, and in no other."
            )
        words = {str(value).lower() for value in set(column[known].tolist())}
        if words <= _YES | _NO and words & _YES:
            yes = np.array([str(value).lower() in _YES for value in column])
            categories[name] = np.flatnonzero(yes & known)
            continue
        rows = np.flatnonzero(known)
        codes, distinct = factorize(column[known].astype(str))
        if len(distinct) > _MANY:
            raise ValueError(
                f"{flag('by', name)} has {len(distinct)} different values."
            )
        prefix = f"{name}: " if len(names) > 1 else ""
        for code, label in enumerate(distinct):
            categories[f"{prefix}{label}"] = rows[codes == code]
    return categories


def silent(step: str) -> None:
    """Show no progress."""


def split_options(options: Mapping[str, Any]) -> tuple[ReadOptions, RankOptions]:
    """Divide arguments into those of reading and those of ranking."""
    reading = {one.name for one in fields(ReadOptions) if one.metadata["panel"]}
    known = reading | {one.name for one in fields(RankOptions)}
    for name in options:
        if name not in known:
            near = closest(name, sorted(known))
            raise TypeError(f"got an unknown argument {name!r}.{near}")
    read = {name: value for name, value in options.items() if name in reading}
    rank = {name: value for name, value in options.items() if name not in reading}
    return ReadOptions(**read), RankOptions(**rank)


_UNTOLD = {"data", "train", "test", "results", "votes", "battles", "games", "matches"}


def readable_title(path: Path) -> str:
    """Make a title of the name of a file, or of its folder."""
    name = path.name.split(".")[0] or path.name
    if name.lower() in _UNTOLD and path.resolve().parent.name:
        name = f"{path.resolve().parent.name} {name}"
    words = " ".join(name.replace("_", " ").replace("-", " ").split()) or str(path)
    return words[:1].upper() + words[1:]


def read_source(
    data: Any,
    reading: ReadOptions,
    options: RankOptions,
    *,
    progress: Progress = silent,
) -> Source:
    """Return the selected data of a table, a file or many."""
    title = options.title or "table"
    if is_path(data):
        path = Path(data)
        title = options.title or readable_title(path)
        progress(f"reading {path.name}")
    read = in_time(read_file(data, options.with_columns(reading)))
    drawn = _pictures(data, reading).items()
    pictures = {read.labels.get(name, name): picture for name, picture in drawn}
    return replace(select_rows(read, options, title), pictures=pictures)


_ANSWERS = ".answers.sqlite"


def _pictures(data: Any, reading: ReadOptions) -> dict[str, str]:
    """Return pictures of items: of a folder, or those that ``tiebreak ask`` showed."""
    named = reading.labels is not None and Path(reading.labels).is_dir()
    asked = is_path(data) and str(data).endswith(_ANSWERS)
    if not (named or asked):
        return {}
    from tiebreak.ask.items import draw_thumbnails

    folder = Path((named and reading.labels) or str(data).removesuffix(_ANSWERS))
    try:
        return draw_thumbnails(folder)
    except (ImportError, OSError, ValueError):
        if named:
            raise
        return {}  # the answers alone were moved


def in_time(read: ReadResult) -> ReadResult:
    """Return comparisons in order of time, where known (stable)."""
    data = read.data
    if not isinstance(data, Comparisons) or "period" not in data.columns:
        return read
    period = data.columns["period"]
    if bool((period[1:] >= period[:-1]).all()):
        return read
    sentence = "The rows, which are not in order of time, were sorted."
    return replace(
        read,
        data=data.take(np.argsort(period, kind="stable")),
        sentences=[*read.sentences, sentence],
    )
