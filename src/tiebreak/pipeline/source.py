# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a table that are asked for, with covariates and categories.

Nothing here waits for models to be imported, so that the command can say at once what
it read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import factorize, readable_period
from tiebreak.io import read_file
from tiebreak.io.frames import is_path
from tiebreak.io.result import ReadOptions, ReadResult, plural
from tiebreak.options import Covariate, RankOptions
from tiebreak.pipeline.comparisons import (
    ComparisonData,
    as_comparisons,
    in_time,
    is_partitioned,
    take_rows,
)
from tiebreak.pipeline.partitions import GradedFiles, list_partitions, read_partitions

Progress = Callable[[str], None]
Flags = NDArray[np.bool_]


def _values(
    covariate: Covariate, columns: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """Return the covariate of each row, shape (n,)."""
    sides = [columns[name].astype(np.float64) for name in covariate.columns]
    for name, side in zip(covariate.columns, sides, strict=True):
        if covariate.log and not (side > 0).all():
            wrong = int((side <= 0).sum())
            raise ValueError(
                f"{name} has no logarithm in {plural(wrong, 'row')}, where it is "
                "not positive. Leave log: out, or these rows, with "
                f"--where '{name} > 0'."
            )
    sides = [np.log(side) for side in sides] if covariate.log else sides
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


@dataclass(frozen=True, eq=False)
class Asked:
    """The comparisons that were asked for, and what was made of other columns."""

    data: ComparisonData
    sentences: list[str] = field(default_factory=list)  # what was left out, and how
    categories: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()  # of the covariates, which are ``columns["context"]``
    deviations: tuple[float, ...] = ()  # by which they were divided


def choose_rows(read: ReadResult, options: RankOptions) -> Asked:
    """Return the comparisons of a file that were asked for."""
    data = replace(as_comparisons(read), skipped=read.skipped)
    n, said = len(data.y), list(data.notes)
    kept = np.ones(n, dtype=bool)
    for name, where in (("since", options.since), ("until", options.until)):
        if where is not None:
            inside = _within(data, name, where)
            said.append(_left_out(f"--{name} {where}", kept & ~inside))
            kept &= inside
            if not kept.any():
                first, last = (readable_period(end(data.columns["period"]))
                               for end in (np.min, np.max))  # fmt: skip
                raise ValueError(
                    f"--{name} {where} leaves no comparison; they are from {first} to "
                    f"{last}."
                )
    if options.ties == "drop":
        tied = data.y == 0
        said.append(_left_out("--ties drop", kept & tied, "tie"))
        kept &= ~tied
    if not kept.any():
        raise ValueError(f"No comparison is left. {' '.join(said)}")
    turned = read.exchanged
    others = {name: column[kept] for name, column in read.others.items()}
    if not kept.all():
        data = take_rows(data, np.flatnonzero(kept))
        turned = None if turned is None else turned[kept]
        if not data.pairs.has_features and data.pairs.names is not None:
            pairs = data.pairs.compact()
            data = replace(data, pairs=pairs, item_names=pairs.names)
    if options.position:
        data = _with_position(data, turned)
    columns, labels, deviations = dict(data.columns), [], []
    made = []
    for covariate in options.parsed_covariates():
        values = _values(covariate, others)
        if turned is not None:
            values = np.where(turned, -values, values)
        deviation = float(values.std())
        if not deviation:
            raise ValueError(
                f"The covariate {covariate.label} is {values[0]:g} in every row, so "
                "its effect cannot be learned; leave it out of --covariates."
            )
        made.append(values / deviation)
        labels.append(covariate.label)
        deviations.append(deviation)
    if made:
        columns["context"] = np.stack(made, axis=1)
        data = replace(data, columns=columns)
    categories = {}
    if options.categories:
        categories = _categories(options.categories, others, said)
    return Asked(data, said, categories, tuple(labels), tuple(deviations))


def _left_out(why: str, rows: Flags, noun: str = "row") -> str:
    return f"{why} left out {plural(int(rows.sum()), noun)}."


def _within(data: ComparisonData, name: str, where: Any) -> Flags:
    """Say which rows are not before ``since``, or not after ``until``."""
    period = data.columns.get("period")
    if period is None:
        raise ValueError(
            f"--{name} needs to know when results took place, and no column says it; "
            f"name one with --period, or leave --{name} out."
        )
    numbers = period.dtype.kind in "iuf"
    try:
        bound: Any = float(where) if numbers else np.datetime64(str(where).strip())
        if bound != bound:
            raise ValueError
    except ValueError:
        expected = (
            "a number, as in the file" if numbers else "a date such as 2024-05-31"
        )
        raise ValueError(f"--{name} got {where!r}; expected {expected}.") from None
    if numbers:
        return np.asarray(period >= bound if name == "since" else period <= bound)
    if name == "since":
        return np.asarray(period >= bound)
    next_one = bound + np.ones((), bound.dtype.str.replace("M8", "m8"))
    return np.asarray(period < next_one)  # the end of that day, month or year


def _with_position(data: ComparisonData, turned: Flags | None) -> ComparisonData:
    if "advantage" in data.columns:
        raise ValueError(
            "The file says who has an advantage, whose effect is learned anyway; leave "
            "--position out."
        )
    if turned is not None or not data.sided:
        raise ValueError(
            "--position needs to know who was shown first, and this file does not say "
            "it; leave the option out, or name two sides with --left and --right."
        )
    ones = {"advantage": np.ones(len(data.y))}
    return replace(data, columns=data.columns | ones)


_MANY = 200
_YES, _NO = {"1", "true", "1.0"}, {"0", "false", "0.0"}


def _categories(
    names: Sequence[str],
    others: Mapping[str, NDArray[Any]],
    said: list[str],
) -> dict[str, NDArray[np.int64]]:
    """Return the rows of each category."""
    found: dict[str, NDArray[np.int64]] = {}
    for name in names:
        column = others[name]
        known = np.array([value is not None for value in column])
        if not known.all():
            said.append(
                f"{plural(int((~known).sum()), 'row')} without a value in {name} count "
                "in the leaderboard of all, and in no other."
            )
        words = {str(value).lower() for value in set(column[known].tolist())}
        if words <= _YES | _NO and words & _YES:
            yes = np.array([str(value).lower() in _YES for value in column])
            found[name] = np.flatnonzero(yes & known)
            continue
        rows = np.flatnonzero(known)
        codes, distinct = factorize(column[known].astype(str))
        if len(distinct) > _MANY:
            raise ValueError(
                f"--by {name} has {len(distinct):,} different values, and more than "
                f"{_MANY} leaderboards help nobody; choose another column, or some of "
                "the rows with --where."
            )
        prefix = f"{name}: " if len(names) > 1 else ""
        for code, label in enumerate(distinct):
            found[f"{prefix}{label}"] = rows[codes == code]
    return found


def silent(step: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, eq=False)
class Source:
    """What was read, and what was detected, in words."""

    found: Asked | GradedFiles
    detected: list[str]
    title: str


_UNTOLD = {"data", "train", "test", "results", "votes", "battles", "games", "matches"}


def readable_title(path: Path) -> str:
    """Make a title of the name of a file, or of its folder if the name says little."""
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
    partitioned: bool = False,
    client: Any = None,
    progress: Progress = silent,
) -> Source:
    """Return the comparisons of a table, a file or many; or where graded items are."""
    title = options.title or ("table" if not is_path(data) else str(data))
    if is_path(data):
        path = Path(data)
        title = options.title or readable_title(path)
        if partitioned or is_partitioned(path):
            if is_partitioned(path):
                list_partitions(path)
            options.refuse_partitions(reading)
            found, detected = read_partitions(path, reading, progress, client)
            if isinstance(found, ComparisonData):
                return Source(Asked(found), detected, title)
            return Source(found, detected, title)
        progress(f"reading {path.name}")
    read = in_time(read_file(data, options.with_columns(reading)))
    asked = choose_rows(read, options)
    return Source(asked, [*read.sentences, *read.questions, *asked.sentences], title)
