# SPDX-License-Identifier: BSD-3-Clause
"""What a person asks of a ranking: which model, which rows, which scale, what besides.

`RankOptions` refuses what cannot be meant, before anything is read. The rows that are
asked for, covariates and categories are made of a table here, too. Nothing here waits
for models to be imported, so that the command can say at once what it read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.columns import factorize, readable_period
from tiebreak.io import read_file
from tiebreak.io.frames import is_path
from tiebreak.io.result import ReadOptions, ReadResult, plural
from tiebreak.pipeline.comparisons import (
    ComparisonData,
    as_comparisons,
    in_time,
    is_partitioned,
    take_rows,
)

if TYPE_CHECKING:
    from tiebreak.pipeline.partitions import GradedFiles
    from tiebreak.ratings.leaderboard import RatingScale

Progress = Callable[[str], None]
Flags = NDArray[np.bool_]

TIES = ("auto", "davidson", "rao-kupper", "half", "drop")


@dataclass(frozen=True)
class Covariate:
    """A number for each comparison, in favor of left: of one column or of two."""

    columns: tuple[str, ...]
    log: bool = False

    @classmethod
    def parse(cls, text: str) -> Covariate:
        """Read ``a``, ``a:b``, ``log:a`` or ``log:a:b``."""
        log, parts = False, [part.strip() for part in text.split(":")]
        if parts[0] == "log" and len(parts) > 1:
            log, parts = True, parts[1:]
        if not all(parts) or len(parts) > 2:
            raise ValueError(
                f"--covariates got {text!r}; expected a column, left_column:"
                "right_column for their difference, or log:left_column:right_column "
                "for that of their logarithms."
            )
        return cls(tuple(parts), log)

    @property
    def label(self) -> str:
        """The covariate in words."""
        written = [f"log {name}" if self.log else name for name in self.columns]
        return " - ".join(written)

    def values(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Return the covariate of each row, shape (n,)."""
        sides = [columns[name].astype(np.float64) for name in self.columns]
        for name, side in zip(self.columns, sides, strict=True):
            if self.log and not (side > 0).all():
                wrong = int((side <= 0).sum())
                raise ValueError(
                    f"{name} has no logarithm in {plural(wrong, 'row')}, where it is "
                    "not positive. Leave log: out, or these rows, with "
                    f"--where '{name} > 0'."
                )
        sides = [np.log(side) for side in sides] if self.log else sides
        return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def read_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Read parameters of an estimator, each like ``C=10`` or ``kernel=linear``."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name.isidentifier() or not value:
            raise ValueError(
                f"--set got {text!r}; expected a parameter of the model and its value, "
                "such as C=10 or kernel=linear."
            )
        if name in settings:
            raise ValueError(f"--set names {name} twice; leave one out.")
        settings[name] = _read_value(value)
    return settings


def _read_value(text: str) -> Any:
    """Read a number, true, false, none, or a word."""
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


@dataclass(frozen=True)
class RankOptions:
    """What is asked of a ranking; the parameters of `tiebreak.rank`."""

    model: str = "auto"
    ties: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    half_life: str | float | None = None
    level: float = 0.95
    tune: bool = False
    anchor: Any = None
    by: str | Sequence[str] = ()
    covariates: str | Sequence[str] = ()
    position: bool = False
    since: Any = None
    until: Any = None
    title: str | None = None

    def __post_init__(self) -> None:
        _choose(self.ties, (None, *TIES), "--ties")
        allowed: tuple[Any, ...] = TIES
        if self.model == "judge-bradley-terry":
            allowed = ("davidson", "rao-kupper", "drop")
        elif self.model not in ("auto", "bradley-terry"):
            allowed = ("drop",)
        if self.ties not in (None, *allowed):
            raise ValueError(
                f"--ties {self.ties} is for --model bradley-terry, and not for "
                f"{self.model}; leave one of the two out."
            )
        for name in ("anchor", "covariates", "position"):
            asked = getattr(self, name) not in (None, (), "", False)
            if asked and self.model in ("elo", "glicko", "glicko2"):
                raise ValueError(
                    f"--{name} is for strengths (--model bradley-terry), and not for "
                    f"{self.model}; leave one of the two out."
                )
        self.parsed_covariates()
        self.rating_scale()
        if not 0 < self.level < 1:
            raise ValueError(f"--level must be between 0 and 1; got {self.level!r}.")

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns that --by names."""
        return _listed(self.by)

    def parsed_covariates(self) -> tuple[Covariate, ...]:
        """Return the covariates that were asked for."""
        found = tuple(map(Covariate.parse, _listed(self.covariates)))
        if len({covariate.label for covariate in found}) < len(found):
            raise ValueError("--covariates names the same one twice; leave one out.")
        return found

    def rating_scale(self) -> RatingScale:
        """Return the scale of the ratings."""
        from tiebreak.ratings.leaderboard import RatingScale

        if self.anchor is None:
            return RatingScale()
        name, value = _read_anchor(self.anchor)
        return RatingScale(reference=name, anchor=value)

    def with_columns(self, reading: ReadOptions) -> ReadOptions:
        """Return options of reading that fetch categories and covariates, too."""
        numbers = [name for one in self.parsed_covariates() for name in one.columns]
        return replace(
            reading, words=self.categories, numbers=tuple(dict.fromkeys(numbers))
        )

    def refuse_partitions(self, reading: ReadOptions) -> None:
        """Refuse what needs the rows of a folder, which are added up file by file."""
        asked = [name for name in _OF_ROWS if getattr(self, name)]
        asked += [
            name for name in ("where", "drop_duplicates") if getattr(reading, name)
        ]
        if asked:
            flags = ", ".join("--" + name.replace("_", "-") for name in asked)
            raise ValueError(
                f"Comparisons of a folder, or with --dask, are added up file by file, "
                f"and {flags} would need the rows themselves; put them in one file, "
                "or leave the option out."
            )


_OF_ROWS = ("by", "covariates", "position", "since", "until")


def _choose(value: Any, allowed: tuple[Any, ...], option: str) -> None:
    if value not in allowed:
        listed = ", ".join(str(one) for one in allowed if one is not None)
        raise ValueError(f"{option} must be one of {listed}; got {value!r}.")


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else list(given)
    return tuple(part.strip() for part in parts if part.strip())


def _read_anchor(given: Any) -> tuple[str | None, float]:
    """Read ``1000``, ``"NAME=1114"`` or ``{name: 1114}``."""
    name, value = None, given
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, value),) = given.items()
    elif isinstance(given, str) and "=" in given:
        name, _, value = given.rpartition("=")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or name == "":
        raise ValueError(
            f"--anchor got {given!r}; expected the rating of an item, NAME=1114, or of "
            "the mean of all, 1000."
        )
    return name, number


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
        values = covariate.values(others)
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
            from tiebreak.pipeline.partitions import list_partitions, read_partitions

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
