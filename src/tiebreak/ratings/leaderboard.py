# SPDX-License-Identifier: BSD-3-Clause
"""Leaderboards: ratings, how certain they are, what they rest on, what to compare next.

The public class comes first; then the scale of ratings, intervals and ranks,
categories, the matrix of results, pairs to compare next, and the terminal table.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from rich import box
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tiebreak.data.columns import factorize
from tiebreak.data.messages import list_rows, warn_user
from tiebreak.metrics.inputs import positive_integer
from tiebreak.ratings.inputs import check_results, check_row_column
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.inference import (
    KINDS,
    LARGEST_COVARIANCE,
    check_level,
    ranks_and_groups,
)

Floats = NDArray[np.float64]


class Leaderboard:
    """Items by rating, with intervals of ratings and of ranks.

    A strength θ (natural logarithm) is shown as the rating
    anchor + scale / ln(base) · (θ - θ of the reference). ``print`` a leaderboard, or
    take its `table`.

    Parameters
    ----------
    model : BradleyTerry, PlackettLuce, Elo, Glicko or another model with ``items_``
        Fitted, on items without features.
    level : float, default=0.95
        Confidence of the intervals.
    interval : {"sandwich", "cluster", "model", "bootstrap"}, optional
        Where the intervals of BradleyTerry come from; PlackettLuce has ``"sandwich"``
        and ``"model"``. None: ``"cluster"`` if there are raters, else ``"sandwich"``.
    n_resamples : int, default=1000
        Of the bootstrap.
    scale, base : float, default=400.0 and 10.0
        At a difference of `scale` the odds of winning are `base` to one, ties left
        aside; ``scale=1, base=math.e`` gives strengths. Elo and Glicko ignore both.
    reference : item name, optional
        The item whose rating is `anchor`, without uncertainty. None: the mean of all.
    anchor : float, default=1500.0
        Rating of the reference.
    random_state : int or None, default=0
        Seed of the bootstrap.

    Attributes
    ----------
    table : polars.DataFrame
        One row per item, best first: ``rank``, ``item``, ``rating``, ``lower`` and
        ``upper`` (interval of the rating), ``rank_best`` and ``rank_worst`` (interval
        of the rank), ``group`` (letters; items that share one cannot be told apart),
        ``wins``, ``ties``, ``losses``. What a model cannot say is null: Elo has no
        intervals, PlackettLuce no wins, more than 10,000 strengths no intervals.
    model, level : object, float
        As given.
    categories : dict of str to Leaderboard
        Leaderboards of parts of the results, when :meth:`from_results` got `by`.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Leaderboard
    >>> from tiebreak.datasets import load_worldcup2022
    >>> cup = load_worldcup2022()
    >>> model = BradleyTerry(alpha=0.1)
    >>> board = Leaderboard.from_results(cup.pairs, cup.y, model=model)
    >>> board.table["item"].to_list()[:2]
    ['France', 'Argentina']
    """

    __module__ = "tiebreak"  # where users find it

    table: pl.DataFrame
    model: Any
    level: float
    categories: dict[str, Leaderboard]

    def __init__(
        self,
        model: Any,
        *,
        level: float = 0.95,
        interval: str | None = None,
        n_resamples: int = 1000,
        scale: float = 400.0,
        base: float = 10.0,
        reference: Any = None,
        anchor: float = 1500.0,
        random_state: int | None = 0,
    ) -> None:
        check_is_fitted(model)
        if not hasattr(model, "items_"):
            raise TypeError(
                f"A leaderboard lists items by name, but this {type(model).__name__} "
                "was fitted on items with features. Order a table of items with "
                "model.order(X) and model.utility(X) instead."
            )
        uncertain = Uncertain(level, interval, n_resamples, random_state)
        shown = RatingScale(scale, base, reference, anchor)
        table = pl.DataFrame(model_columns(model, uncertain, shown))
        table = table.sort("rating", descending=True, maintain_order=True)
        ranks = table["rating"].rank("min", descending=True).cast(pl.Int64)
        self.table = table.insert_column(0, ranks.alias("rank"))
        self.model, self.level, self.categories = model, level, {}

    @classmethod
    def from_results(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        model: Any = None,
        by: Any = None,
        sample_weight: ArrayLike | None = None,
        columns: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Leaderboard:
        """Fit a model and make its leaderboard.

        Parameters
        ----------
        X, y
            Comparisons of items by name (Pairs), and outcomes -1, 0, +1.
        model : estimator, optional
            Fitted on a copy of it; :class:`~tiebreak.BradleyTerry` by default.
        by : array-like of shape (n,), or DataFrame or dict of columns of 0 and 1
            Categories, each with a leaderboard of its own next to that of all rows: a
            column of labels, or columns of 0 and 1, one per category, that may overlap.
        sample_weight, columns : array-like and dict, optional
            Weights, and other row-aligned arguments of ``fit``, by name.
        **options
            Parameters of the leaderboard, such as `level` and `reference`.

        Returns
        -------
        Leaderboard
        """
        model = BradleyTerry() if model is None else model
        results = check_results(X, y, sample_weight, "Leaderboard")
        parts = split_categories(by, results.n_rows)
        given = dict(columns or {})
        if sample_weight is not None:
            given["sample_weight"] = sample_weight

        def board(rows: NDArray[np.int64] | None) -> Leaderboard:
            taken = {name: _take(value, rows) for name, value in given.items()}
            fitted = clone(model).fit(_take(X, rows), _take(y, rows), **taken)
            return cls(fitted, **options)

        whole = board(None)
        for name, rows in parts.items():
            try:
                whole.categories[name] = board(rows)
            except ValueError as error:
                raise ValueError(f"In the category {name!r}: {error}") from error
        return whole

    @property
    def groups(self) -> list[list[Any]]:
        """Groups of items that cannot be told apart, best first; they may overlap."""
        letters = self.table["group"]
        if letters.is_null().any():
            return []
        found: dict[str, list[Any]] = {}
        for item, of_item in zip(self.table["item"], letters, strict=True):
            for letter in of_item.split(" "):
                found.setdefault(letter, []).append(item)
        return list(found.values())

    def by_category(self) -> pl.DataFrame:
        """Give the leaderboards of all categories in one table.

        Returns
        -------
        polars.DataFrame
            `table` with a column ``category`` before it; first ``"all"``.
        """
        boards = {"all": self} | self.categories
        tables = [
            board.table.select(pl.lit(name).alias("category"), pl.all())
            for name, board in boards.items()
        ]
        return pl.concat(tables)

    def matrix(self, top: int = 30) -> ResultsMatrix:
        """Results between the best items.

        Parameters
        ----------
        top : int, default=30
            How many items, from the best.

        Returns
        -------
        ResultsMatrix
        """
        positive_integer(top, "top")
        self._need_counts("A matrix of results")
        best_first = np.argsort(-self.model.coef_, kind="stable")
        return ResultsMatrix.of(self.model, best_first[:top])

    def next_pairs(self, n_pairs: int = 10) -> pl.DataFrame:
        """Pairs whose comparison would teach most about the strengths.

        Parameters
        ----------
        n_pairs : int, default=10
            How many to name; fewer if there are not so many pairs.

        Returns
        -------
        polars.DataFrame
            Columns ``left``, ``right`` and ``gain``, the expected information in nats
            when those above it were compared before.
        """
        positive_integer(n_pairs, "n_pairs")
        self._need_counts("The choice of pairs to compare next")
        model = self.model
        covariance, strength = model.covariance("model"), model.strength_
        found = choose_next_pairs(strength, covariance, model.information, n_pairs)
        left, right = model.items_[found.left], model.items_[found.right]
        return pl.DataFrame({"left": left, "right": right, "gain": found.gain})

    def _need_counts(self, what: str) -> None:
        if not hasattr(self.model, "pair_counts_"):
            raise TypeError(
                f"{what} needs strengths from counted comparisons (BradleyTerry); this "
                f"leaderboard is of {type(self.model).__name__}."
            )

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Table]:
        yield as_table(self.table, self.level, options.max_width)

    def __str__(self) -> str:
        return as_text(self.table, self.level)

    def __repr__(self) -> str:
        n = len(self.table)
        return f"Leaderboard({n} item{'s' * (n != 1)}, {type(self.model).__name__})"


@dataclass(frozen=True)
class RatingScale:
    """Rating = anchor + scale / ln(base) · (θ - θ of the reference)."""

    scale: float = 400.0
    base: float = 10.0
    reference: Any = None  # None: the mean of all items
    anchor: float = 1500.0

    def __post_init__(self) -> None:
        """Refuse scales that turn the order around or are no numbers."""
        for name, good, expected in (
            ("scale", lambda v: v > 0, "positive"),
            ("base", lambda v: v > 1, "larger than 1"),
            ("anchor", lambda v: True, "finite"),
        ):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or not good(value):
                must = f"{name} of a leaderboard must be a {expected} number"
                raise ValueError(f"{must}; got {value!r}.")

    @property
    def unit(self) -> float:
        """Rating points per unit of strength."""
        return self.scale / math.log(self.base)

    def place(self, items: NDArray[Any]) -> int | None:
        """Give the number of the reference item among `items`, or None."""
        if self.reference is None:
            return None
        found = np.flatnonzero(items == self.reference)
        if len(found) != 1:
            raise ValueError(
                f"The reference {self.reference!r} is not among the items; the model's "
                "items_ lists them."
            )
        return int(found[0])

    def apply(self, strength: Floats, place: int | None) -> Floats:
        """Give ratings of strengths; the last axis is of items."""
        mean = strength.mean(axis=-1, keepdims=True)
        zero = mean if place is None else strength[..., [place]]
        return self.anchor + self.unit * (strength - zero)


@dataclass(frozen=True)
class Uncertain:
    """How intervals are found."""

    level: float
    interval: str | None
    n_resamples: int
    random_state: int | None

    def __post_init__(self) -> None:
        """Refuse what is not among the choices."""
        check_level(self.level)
        if self.interval not in (None, "bootstrap", *KINDS):
            choices = ", ".join(map(repr, (*KINDS, "bootstrap")))
            raise ValueError(
                f"interval must be one of {choices} or None; got {self.interval!r}."
            )
        positive_integer(self.n_resamples, "n_resamples")


def model_columns(
    model: Any, uncertain: Uncertain, scale: RatingScale
) -> dict[str, Any]:
    """Give the columns of a leaderboard, items in the model's order."""
    nothing = [None] * len(model.items_)
    empty = ("lower", "upper", "rank_best", "rank_worst", "group")
    columns: dict[str, Any] = dict.fromkeys(empty, nothing)
    if hasattr(model, "strength_"):
        rating = _strengths(model, uncertain, scale, columns)
    else:
        rating = np.asarray(model.coef_, dtype=np.float64)
        if hasattr(model, "deviation_"):
            # Errors of these ratings are taken to be independent.
            level, deviation = uncertain.level, model.deviation_
            half = norm.ppf(0.5 + 0.5 * level) * deviation
            columns["lower"], columns["upper"] = rating - half, rating + half
            columns |= _ranks_and_groups(rating, deviation**2, level)
    for name in ("wins", "ties", "losses"):
        columns[name] = getattr(model, f"{name}_", nothing)
    return {"item": model.items_, "rating": rating} | columns


def _strengths(
    model: Any, uncertain: Uncertain, scale: RatingScale, columns: dict[str, Any]
) -> Floats:
    """Ratings of strengths; intervals, ranks and groups go into `columns`."""
    place = scale.place(model.items_)
    rating = scale.apply(model.strength_, place)
    # Nothing but ties: nothing is known. PlackettLuce has one number per size.
    if np.isposinf(model.tie_).any():
        return rating
    if len(rating) > LARGEST_COVARIANCE:
        warn_user(
            f"There are {len(rating):,} items, and intervals of ratings and ranks are "
            f"computed for {LARGEST_COVARIANCE:,} at most: the leaderboard has none."
        )
        return rating
    level = uncertain.level
    tails = [0.5 - 0.5 * level, 0.5 + 0.5 * level]
    if uncertain.interval == "bootstrap":
        if not hasattr(model, "bootstrap"):
            raise ValueError(
                "interval='bootstrap' is offered for BradleyTerry; "
                f"{type(model).__name__} has 'sandwich' and 'model'."
            )
        drawn = model.bootstrap(uncertain.n_resamples, uncertain.random_state)
        covariance = np.cov(drawn, rowvar=False)
        ends = np.quantile(scale.apply(drawn, place), tails, axis=0)
    else:
        covariance = model.covariance(uncertain.interval)
        relative = covariance
        if place is not None:
            row = covariance[place]
            relative = covariance - row[:, None] - row[None, :] + row[place]
        error = scale.unit * np.sqrt(np.maximum(np.diag(relative), 0.0))
        ends = rating + np.outer(norm.ppf(tails), error)
    columns["lower"], columns["upper"] = ends
    columns |= _ranks_and_groups(model.strength_, covariance, level)
    return rating


def _ranks_and_groups(
    strength: Floats, covariance: Floats, level: float
) -> dict[str, Any]:
    ranks, groups = ranks_and_groups(strength, covariance, level)
    letters: list[list[str]] = [[] for _ in strength]
    for number, group in enumerate(groups):
        for item in group:
            letters[item].append(_letter(number))
    group_of = [" ".join(of_item) for of_item in letters]
    return {"rank_best": ranks[:, 0], "rank_worst": ranks[:, 1], "group": group_of}


def _letter(number: int) -> str:
    """Count a, b, …, z, aa, ab, and so on."""
    letter = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letter = chr(ord("a") + digit) + letter
    return letter


_MANY = 200


def split_categories(by: Any, n_rows: int) -> dict[str, NDArray[np.int64]]:
    """Find the rows of every category."""
    if by is None:
        return {}
    if isinstance(by, Mapping) or hasattr(by, "columns"):
        names = list(by) if isinstance(by, Mapping) else list(by.columns)
        return {str(name): _rows_of_flag(by[name], str(name), n_rows) for name in names}
    labels = check_row_column(by, "by", n_rows, "comparisons")
    codes, distinct = factorize(labels)
    if len(distinct) > _MANY:
        raise ValueError(
            f"by has {len(distinct)} different categories, the most that makes sense "
            f"is {_MANY}; for numbers or dates, cut them into a few ranges first."
        )
    return {
        str(label): np.flatnonzero(codes == code) for code, label in enumerate(distinct)
    }


def _rows_of_flag(values: Any, name: str, n_rows: int) -> NDArray[np.int64]:
    column = check_row_column(values, f"by[{name!r}]", n_rows, "comparisons")
    wrong = np.flatnonzero(~np.isin(column, (0, 1)))
    if len(wrong):
        raise ValueError(
            f"by[{name!r}] must hold 0 and 1 (or False and True), got {len(wrong)} "
            f"other value(s): {list_rows(wrong, column[wrong[:5]])}. Give one column "
            "of labels instead if categories do not overlap."
        )
    rows = np.flatnonzero(column)
    if len(rows) == 0:
        raise ValueError(f"The category {name!r} has no comparison; leave it out.")
    return rows


def _take(values: Any, rows: NDArray[np.int64] | None) -> Any:
    """Take rows of a column, a table or comparisons; one number stays as it is."""
    if rows is None or np.ndim(values) == 0:
        return values
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, list | tuple):
        return [values[row] for row in rows]
    return values[rows]


@dataclass(frozen=True, eq=False)
class ResultsMatrix:
    """Results between every two of some items.

    Attributes
    ----------
    items : ndarray of shape (k,)
        Names of the items, in the order of rows and columns.
    wins, ties : ndarray of shape (k, k)
        ``wins[i, j]``: how often i beat j, as summed weights; how often they tied.
    """

    items: NDArray[Any]
    wins: Floats
    ties: Floats

    @classmethod
    def of(cls, model: BradleyTerry, chosen: NDArray[np.int64]) -> ResultsMatrix:
        """Build the matrix of chosen items, by number, from the counts of a model."""
        names = model.items_
        place = np.full(len(names), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        i, j = place[model.pair_left_], place[model.pair_right_]
        shown = (i >= 0) & (j >= 0)
        i, j, counts = i[shown], j[shown], model.pair_counts_[shown]
        wins, ties = np.zeros((2, len(chosen), len(chosen)))
        np.add.at(wins, (i, j), counts[:, 0])
        np.add.at(wins, (j, i), counts[:, 2])
        np.add.at(ties, (i, j), counts[:, 1])
        np.add.at(ties, (j, i), counts[:, 1])
        return cls(names[chosen], wins, ties)

    @property
    def games(self) -> Floats:
        """How often each two met; shape (k, k), symmetric."""
        return self.wins + self.wins.T + self.ties

    @property
    def points(self) -> Floats:
        """Share of points, a tie counting half; NaN for two who never met."""
        games = self.games
        with np.errstate(invalid="ignore"):
            share = (self.wins + 0.5 * self.ties) / games
        return np.where(games > 0, share, np.nan)

    def to_polars(self) -> pl.DataFrame:
        """Give one row per two items that met, each pair in both directions.

        Returns
        -------
        polars.DataFrame
            Columns item, opponent, wins, ties, losses.
        """
        i, j = np.nonzero(self.games)
        names = {"item": self.items[i], "opponent": self.items[j]}
        results = {"wins": self.wins[i, j], "ties": self.ties[i, j]}
        return pl.DataFrame(names | results | {"losses": self.wins[j, i]})


class NextPairs(NamedTuple):
    """Pairs to compare next, by item number, most informative first."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    gain: Floats  # nats


def choose_next_pairs(
    strength: Floats,
    covariance: Floats,
    information: Callable[[Floats], Floats],
    n_pairs: int,
) -> NextPairs:
    """Choose comparisons greedily by expected information.

    One more comparison of i and j adds h = E[(∂ ln P/∂d)²], its Fisher information, to
    the Hessian in the direction of their difference d, whose variance is v: it gains
    ½ ln(1 + h v). Each pair is chosen as if those before it had been compared.
    """
    n = len(strength)
    upper = np.triu_indices(n, 1)
    h = np.zeros((n, n))
    h[upper] = information(strength[upper[1]] - strength[upper[0]])
    present = covariance.copy()
    chosen: list[tuple[int, int, float]] = []
    open_pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    for _ in range(min(n_pairs, len(upper[0]))):
        variance = np.diag(present)
        spread = variance[:, None] + variance[None, :] - 2.0 * present
        gain = 0.5 * np.log1p(h * np.maximum(spread, 0.0))
        best = int(np.argmax(np.where(open_pairs, gain, -1.0)))
        i, j = np.unravel_index(best, gain.shape)
        open_pairs[i, j] = False
        chosen.append((int(i), int(j), float(gain[i, j])))
        # The inverse of the Hessian after h (e_j - e_i)(e_j - e_i)ᵀ is added to it.
        column = present[:, j] - present[:, i]
        present -= np.outer(column, column) * (h[i, j] / (1.0 + h[i, j] * spread[i, j]))
    codes = np.array([pair[:2] for pair in chosen], dtype=np.int64).reshape(-1, 2)
    return NextPairs(codes[:, 0], codes[:, 1], np.array([pair[2] for pair in chosen]))


_BAR = 24  # columns of the picture of an interval
_SHOWN = 50
_WIDE = 110  # a terminal with fewer columns gets no picture
_LONGEST_NAME = 48
_LINES_OF_NAME = 3
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LONGEST_GROUP = 12


def as_table(board: pl.DataFrame, level: float, width: int = _WIDE) -> Table:
    """Make a table for the terminal."""
    sure = not board["lower"].is_null().all()
    ranked = not board["rank_best"].is_null().all()
    counted = not board["wins"].is_null().all()
    drawn = sure and width >= _WIDE
    more = len(board) - _SHOWN
    table = Table(
        caption=f"and {more} more items" if more > 0 else None,
        header_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("item", overflow="fold", max_width=_LONGEST_NAME)
    table.add_column("rating", justify="right", no_wrap=True)
    if sure:
        table.add_column(f"{100 * level:g} % interval", justify="center", no_wrap=True)
    if drawn:
        table.add_column("", no_wrap=True)
    if ranked:
        table.add_column("ranks", justify="center", no_wrap=True)
        table.add_column("group", no_wrap=True)
    if counted:
        table.add_column("won/tied/lost", justify="right", no_wrap=True)
    best = board.head(_SHOWN)
    digits = rating_digits(board)
    ends = best.select(pl.min("lower"), pl.max("upper")).row(0)
    for row in best.iter_rows(named=True):
        # Text, not markup: a name such as "[red]" must appear as it is.
        rating = f"{row['rating']:z.{digits}f}"
        cells: list[Text | str] = [str(row["rank"]), Text(_name(row["item"])), rating]
        if sure:
            lower, upper = row["lower"], row["upper"]
            cells.append(f"{lower:z.{digits}f} … {upper:z.{digits}f}")
        if drawn:
            cells.append(_bar(row, *ends))
        if ranked:
            best_rank, worst_rank = row["rank_best"], row["rank_worst"]
            same = best_rank == worst_rank
            cells.append(str(best_rank) if same else f"{best_rank}–{worst_rank}")
            cells.append(short_group(row["group"]))
        if counted:
            cells.append(f"{row['wins']:g}/{row['ties']:g}/{row['losses']:g}")
        table.add_row(*cells)
    return table


def rating_digits(board: pl.DataFrame) -> int:
    """Choose how many decimals ratings need."""
    ends = [name for name in ("rating", "lower", "upper") if name in board.columns]
    values = pl.concat([board[name].cast(pl.Float64).rename("") for name in ends])
    finite = values.filter(values.is_finite())  # null is not finite either
    if not len(finite):
        return 0
    span = float(finite.max()) - float(finite.min())  # type: ignore[arg-type]
    return 0 if span >= 50 or span == 0.0 else 1 + (span < 10) + (span < 1)


def as_text(board: pl.DataFrame, level: float) -> str:
    """Make plain text, without colors, of the same table."""
    file = io.StringIO()
    # As wide as it needs: text goes to files and documents too.
    console = Console(file=file, width=500, color_system=None)
    console.print(as_table(board, level))
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().splitlines())


def _name(item: Any) -> str:
    """Write a name so that it steers no terminal, with its middle left out if long."""
    line = re.sub(r"[\t\r\n]+", " ", str(item))
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", line)
    most = _LINES_OF_NAME * _LONGEST_NAME
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def _bar(row: dict[str, Any], low: float, high: float) -> str:
    """Draw an interval and its middle on a common axis."""
    span = (high - low) or 1.0

    def column(value: float) -> int:
        return round((value - low) / span * (_BAR - 1))

    start, middle, end = (column(row[name]) for name in ("lower", "rating", "upper"))
    middle = min(max(middle, start), end)
    bar = [" "] * _BAR
    bar[start : end + 1] = ["─"] * (end - start + 1)
    bar[middle] = "●"
    return "".join(bar)


def short_group(group: str) -> str:
    """Shorten a long run of letters to its first and last."""
    letters = group.split(" ")
    return group if len(group) <= _LONGEST_GROUP else f"{letters[0]}…{letters[-1]}"
