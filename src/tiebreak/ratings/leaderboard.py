# SPDX-License-Identifier: BSD-3-Clause
"""Leaderboards: ratings, how certain they are, and what to compare next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count, product
from string import ascii_lowercase
from typing import Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from rich.console import Console, ConsoleOptions
from rich.table import Table
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.comparison_graph import list_items
from tiebreak.data.markup import results_html
from tiebreak.data.messages import TiebreakWarning, in_nouns, noun, warn_user
from tiebreak.losses.comparison_covariance import LARGEST_COVARIANCE
from tiebreak.metrics.metric_inputs import positive_integer
from tiebreak.models.covariates import check_level
from tiebreak.ratings.leaderboard_table import (
    TALLY,
    WIDEST,
    draw_leaderboard,
    leaderboard_text,
)
from tiebreak.ratings.named_results import find_item
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.contrasts import PairContrasts
from tiebreak.ratings.strengths.distribution import Separation, StrengthDistribution
from tiebreak.ratings.strengths.inference import FEWEST_RATERS
from tiebreak.ratings.strengths.testing import count_votes

# Columns that are null where a model does not say.
UNKNOWN = {"lower": pl.Float64, "upper": pl.Float64, "could_be_best": pl.Boolean}
UNKNOWN |= {"rank_best": pl.Int64, "rank_worst": pl.Int64, "group": pl.String}


class Leaderboard:
    """Items by rating, with intervals of ratings and of ranks.

    The rating of a strength θ is anchor + scale / ln(base) · (θ - θ of the reference).

    Parameters
    ----------
    model : BradleyTerry, PlackettLuce, Elo, Glicko or another model with ``items_``
        Fitted, on items without features.
    level : float, default=0.95
        Confidence of each rating by itself, and of all statements about ranks and
        groups together.
    interval : {"sandwich", "cluster", "model"}, optional
        The `kind` of :meth:`BradleyTerry.covariance`.
    scale, base : float, default=400.0 and 10.0
        A small difference of x points means odds of base^(x / scale) to one, ties
        left aside, and with ties of Davidson's model every difference does;
        ``scale=1, base=math.e`` gives strengths. Elo and Glicko ignore both.
    reference : item name, optional
        The item whose rating is `anchor`, without uncertainty. None: the mean of all.
    anchor : float, default=1500.0
        Rating of the reference.
    place_from : int, optional
        Items with fewer results, or with a standard error above three times the median
        of those with as many, are listed apart, without a rank. None: of more than 100
        items, if at least 20 have 30 results, 30; else all items are placed.

    Attributes
    ----------
    table : polars.DataFrame
        One row per item, best first: ``rank``, ``item``, ``rating``, ``lower`` and
        ``upper`` (its interval), ``could_be_best`` (the true best item is among these,
        with confidence `level`), ``rank_best`` and ``rank_worst`` (interval of the
        rank, for all items at once), ``group`` (letters; two items without a common one
        are different), ``placed``, ``provisional``, ``wins``, ``ties``, ``losses``
        (whole numbers, but for sums of weights). What a model cannot say is null. A
        provisional item has fewer than three games, or fewer than 30 and a standard
        error twice that of the median item; it is placed by the lower end of its
        interval. Sets of items that never meet are
        numbered in a column ``set``, and ranked by themselves.
    notes : list of str
        What the intervals rest on: the prior, few raters, items that never meet.
    model, level : object, float
        As given.
    categories : dict of str to Leaderboard
        Of parts of the results, when :func:`rank` got `by`.

    Examples
    --------
    >>> from tiebreak import BradleyTerry, Leaderboard
    >>> from tiebreak.datasets import load_worldcup2022
    >>> cup = load_worldcup2022()
    >>> board = Leaderboard.from_results(cup.pairs, cup.y)
    >>> board.table["item"].to_list()[:2]
    ['France', 'Argentina']
    """

    __module__ = "tiebreak"  # where users find it

    table: pl.DataFrame
    model: Any
    level: float
    notes: list[str]
    _contrasts: PairContrasts | None
    categories: dict[str, Leaderboard]

    def __init__(
        self,
        model: Any,
        *,
        level: float = 0.95,
        interval: Literal["sandwich", "cluster", "model"] | None = None,
        scale: float = 400.0,
        base: float = 10.0,
        reference: Any = None,
        anchor: float = 1500.0,
        place_from: int | None = None,
    ) -> None:
        check_is_fitted(model)
        if not hasattr(model, "items_"):
            raise TypeError(
                f"A leaderboard lists items by name, but this {type(model).__name__} "
                "was fitted on items with features; see model.order(X)."
            )
        check_level(level)
        if not (scale > 0 and base > 1 and math.isfinite(scale + base + anchor)):
            raise ValueError(
                "A leaderboard needs a positive scale, a base above 1 and a finite "
                f"anchor; got {scale!r}, {base!r} and {anchor!r}."
            )
        self._scale = RatingScale(scale, base, reference, anchor)
        self._contrasts = find_contrasts(model, interval)
        placed = choose_placed(model, self._contrasts, place_from)
        columns = model_columns(model, self._contrasts, placed, level, self._scale)
        self.table = sort_board(pl.DataFrame(columns, schema_overrides=UNKNOWN))
        self.model, self.level, self.categories = model, level, {}
        self.notes = describe_basis(model, self._scale)
        if self._contrasts is not None:
            self.notes += describe_pulls(self._contrasts, model, columns, self._scale)
        if not placed.all():
            self.notes.append(
                f"{np.count_nonzero(~placed):,} of {len(placed):,} {noun('items')} "
                "have too few results to be placed: ranks, and who could be best, are "
                "among the others."
            )

    @classmethod
    def from_results(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        model: Any = None,
        sample_weight: ArrayLike | None = None,
        columns: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Leaderboard:
        """Fit a model and make its leaderboard.

        Parameters
        ----------
        X, y
            Pairs of items by name, and outcomes.
        model : estimator, optional
            A copy is fitted; :class:`~tiebreak.BradleyTerry` by default.
        sample_weight, columns : array-like and dict, optional
            Weights, and other row-aligned arguments of ``fit``, by name.
        **options
            Parameters of the leaderboard, such as `level` and `reference`.

        Returns
        -------
        Leaderboard
        """
        model = BradleyTerry() if model is None else model
        arguments = dict(columns or {})
        if sample_weight is not None:
            arguments["sample_weight"] = sample_weight
        return cls(clone(model).fit(X, y, **arguments), **options)

    @property
    def groups(self) -> list[list[Any]]:
        """Groups without a significant difference, best first."""
        letters = self.table["group"]
        if letters.is_null().any():
            return []
        groups: dict[str, list[Any]] = {}
        for item, of_item in zip(self.table["item"], letters, strict=True):
            for letter in of_item.split(" "):
                groups.setdefault(letter, []).append(item)
        return list(groups.values())

    def by_category(self) -> pl.DataFrame:
        """Leaderboards of all categories in one table.

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
        return pl.concat(tables, how="diagonal")

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
        place = {item: i for i, item in enumerate(self.model.items_.tolist())}
        best_first = [place[item] for item in self.table["item"].head(top)]
        return ResultsMatrix.of(self.model, np.array(best_first))

    def versus(self, item: Any, *others: Any) -> pl.DataFrame:
        """Compare an item with others.

        Parameters
        ----------
        item, *others : item names
            The item, and those to compare it with (none: all), best first.

        Returns
        -------
        polars.DataFrame
            One row per comparison: ``item``, ``other``, ``difference`` (rating points,
            positive if `item` is better) with its interval ``lower`` to ``upper``,
            ``probability`` (that `item` is better), ``p_value`` (two-sided),
            ``p_adjusted`` (Holm's method), and ``votes_needed``: direct comparisons
            that separate such a difference with a power of 80 %. Null between items
            that never meet. Differences are what the results say of these two, chosen
            beforehand, without their prior; ratings may differ the other way round.
        """
        model, contrasts = self.model, self._contrasts
        if contrasts is None:
            raise TypeError(
                "Differences need ratings with a margin of error; expected "
                "BradleyTerry or Glicko, and more than ties."
            )
        one = find_item(model.items_, item)
        rest = [find_item(model.items_, other) for other in others]
        rest = rest or [k for k in range(len(model.items_)) if k != one]
        if one in rest:
            raise ValueError(f"{item!r} cannot be compared with itself.")
        other = np.array(rest)
        unit = self._scale.unit if hasattr(model, "strength_") else 1.0
        gap = contrasts.compare(other, np.full(len(other), one), self.level)
        p_value, component = gap.p_value, component_of(model)
        apart = (component[other] != component[one]) | np.isinf(gap.upper)
        p_adjusted = p_value.copy()
        p_adjusted[~apart] = holm(p_value[~apart])
        columns: dict[str, Any] = {
            "difference": unit * gap.estimate,
            "lower": unit * gap.lower,
            "upper": unit * gap.upper,
            "probability": 1.0 - gap.behind,
            "p_value": p_value,
            "p_adjusted": p_adjusted,
        }
        if hasattr(model, "information"):
            votes = count_votes(gap.estimate, model.information(gap.estimate))
            columns["votes_needed"] = np.where(votes < _MOST_VOTES, votes, np.nan)
        columns = {name: np.where(apart, np.nan, c) for name, c in columns.items()}
        names = {"item": [item] * len(other), "other": model.items_[other]}
        known = pl.col(pl.Float64).fill_nan(None)
        whole = pl.col("^votes_needed$").cast(pl.Int64)
        table = pl.DataFrame(names | columns).with_columns(known).with_columns(whole)
        return table.sort("difference", nulls_last=True)

    def next_pairs(self, n_pairs: int = 10) -> pl.DataFrame:
        """Pairs whose comparison would teach most about the strengths.

        Parameters
        ----------
        n_pairs : int, default=10
            How many to name.

        Returns
        -------
        polars.DataFrame
            Columns ``left``, ``right`` and ``gain``, the expected information in nats
            once those above were compared.
        """
        positive_integer(n_pairs, "n_pairs")
        self._need_counts("The choice of pairs to compare next")
        model = self.model
        covariance, strength = model.covariance("model"), model.strength_
        pairs, gain = choose_next_pairs(
            strength, covariance, model.information, n_pairs
        )
        left, right = model.items_[pairs].T
        return pl.DataFrame({"left": left, "right": right, "gain": gain})

    def _need_counts(self, what: str) -> None:
        if not hasattr(self.model, "pair_counts_"):
            raise TypeError(
                f"{what} needs strengths from counted comparisons (BradleyTerry); this "
                f"leaderboard is of {type(self.model).__name__}."
            )

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[Table]:
        yield draw_leaderboard(self.table, self.level, options.max_width)

    def _repr_html_(self) -> str:
        """Show table and notes in a notebook."""
        return results_html(
            draw_leaderboard(self.table, self.level, WIDEST), *self.notes
        )

    def __str__(self) -> str:
        return leaderboard_text(self.table, self.level)

    def __repr__(self) -> str:
        n = len(self.table)
        return f"Leaderboard({n} item{'s' * (n != 1)}, {type(self.model).__name__})"


@dataclass(frozen=True)
class RatingScale:
    """The scale of ratings, see `Leaderboard`."""

    scale: float = 400.0
    base: float = 10.0
    reference: Any = None  # None: the mean of all items
    anchor: float = 1500.0

    @property
    def unit(self) -> float:
        """Rating points per unit of strength."""
        return self.scale / math.log(self.base)

    def place(self, items: NDArray[Any]) -> int | None:
        """Number of the reference among `items`, or None."""
        if self.reference is None:
            return None
        return find_item(items, self.reference, "The reference ")

    def apply(self, strength: Floats, place: int | None) -> Floats:
        """Ratings of strengths; the last axis is of items."""
        mean = strength.mean(axis=-1, keepdims=True)
        zero = mean if place is None else strength[..., [place]]
        return self.anchor + self.unit * (strength - zero)


def find_contrasts(model: Any, interval: str | None) -> PairContrasts | None:
    """What a model knows of its strengths or ratings, and their differences."""
    if not hasattr(model, "strength_"):
        if not hasattr(model, "deviation_"):
            return None
        # Errors of these ratings are taken to be independent.
        rating = np.asarray(model.coef_, dtype=np.float64)
        known = StrengthDistribution.normal(rating, model.deviation_**2)
        return PairContrasts.of(known, 0, 0.0, component_of(model))
    # Nothing but ties: nothing is known. PlackettLuce has one number per size.
    if np.isposinf(model.tie_).any():
        return None
    n = len(model.items_)
    # Variances of counted comparisons with a penalty need no matrix.
    matrix = model.alpha_ == 0 or not hasattr(model, "pair_counts_")
    if matrix and n > LARGEST_COVARIANCE:
        warn_user(
            f"There are {n:,} items, and intervals of at most {LARGEST_COVARIANCE:,} "
            "without a penalty, or of lists: the leaderboard has none.",
            TiebreakWarning,
        )
        return None
    return model.contrasts(interval)


def choose_placed(
    model: Any, contrasts: PairContrasts | None, place_from: int | None
) -> Flags:
    """Which items have enough results for a rank; see `Leaderboard`."""
    n, games = len(model.items_), count_games(model)
    enough = games >= (_ENOUGH_GAMES if place_from is None else place_from)
    sparse = n > _MANY and np.count_nonzero(enough) >= _PLACED
    if contrasts is None or not (sparse or place_from is not None) or not enough.any():
        return np.ones(n, dtype=bool)
    error = contrasts.posterior.errors()
    return enough & (error <= _UNSURE * np.median(error[enough]))


def count_games(model: Any) -> Floats:
    """How many results each item has; infinitely many if the model does not say."""
    if hasattr(model, "pair_counts_"):  # old results count by their weight
        return getattr(model, "plain_", model)._n_results
    if not hasattr(model, "wins_"):
        return np.full(len(model.items_), np.inf)
    return np.sum([getattr(model, f"{name}_") for name in TALLY], axis=0)


def component_of(model: Any) -> Codes:
    """Label items that met, if only through others; all 0 over time."""
    if hasattr(model, "_components"):
        return model._components()
    return np.zeros(len(model.items_), dtype=np.int64)


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for their number (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * (len(p_values) - np.arange(len(p_values)))
    out = np.empty(len(p_values))
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out


def model_columns(
    model: Any,
    contrasts: PairContrasts | None,
    placed: Flags,
    level: float,
    scale: RatingScale,
) -> dict[str, Any]:
    """Give the columns of a leaderboard, items in the model's order."""
    n, component, games = len(model.items_), component_of(model), count_games(model)
    nothing = [None] * n
    columns: dict[str, Any] = dict.fromkeys(UNKNOWN, nothing)
    rating, unit, place = np.asarray(model.coef_, dtype=np.float64), 1.0, None
    if hasattr(model, "strength_"):
        place = scale.place(model.items_)
        rating, unit = scale.apply(model.strength_, place), scale.unit
    provisional = games < _FEW_GAMES
    if contrasts is not None:
        shown, tail = contrasts.posterior, 0.5 - 0.5 * level
        error = shown.errors()
        if place is not None:
            shown = shown.relative_to(place)
        zero = rating - unit * shown.mean
        columns["lower"] = zero + unit * shown.quantile(tail)
        columns["upper"] = zero + unit * shown.quantile(1.0 - tail)
        columns |= rank_columns(contrasts, np.flatnonzero(placed), level)
        unsure = error > _UNCERTAIN * np.median(error)
        provisional |= unsure & (games < _ENOUGH_GAMES)
    columns |= {"placed": placed, "provisional": provisional}
    if component.any():
        size = np.bincount(component)
        columns["set"] = 1 + np.argsort(np.argsort(-size, kind="stable"))[component]
    sums = [getattr(model, f"{name}_", nothing) for name in TALLY]
    if hasattr(model, "wins_") and np.array_equal(sums, np.floor(sums)):
        sums = [np.asarray(column, np.int64) for column in sums]  # not of weights
    tally = dict(zip(TALLY, sums, strict=True))
    return {"item": model.items_, "rating": rating} | columns | tally


def rank_columns(
    contrasts: PairContrasts,
    placed: Codes,
    level: float,
) -> dict[str, Any]:
    """Who could be best, ranks and groups of the items that are placed."""
    n = len(contrasts.component)
    if len(placed) < n:
        contrasts = contrasts.take(placed)
    best = contrasts.best >= 1.0 - level
    separation = Separation.of(contrasts.posterior, level, contrasts.component)
    first, last = separation.ranks().T
    # One question has one answer: the first rank is possible for these, and no others.
    alone = best & (np.bincount(contrasts.component, best)[contrasts.component] == 1)
    first = np.where(best, 1, np.maximum(first, 2))
    columns: dict[str, Any] = {
        "could_be_best": best.tolist(),
        "rank_best": first.tolist(),
        "rank_worst": np.where(alone, 1, np.maximum(first, last)).tolist(),
        "group": _letters(separation.groups(alone), len(placed)),
    }
    out = {name: np.full(n, None) for name in columns}
    for name, column in columns.items():
        out[name][placed] = column
    return {name: column.tolist() for name, column in out.items()}


_MOST_VOTES = 1e12  # items that need more are equal, as far as votes can show
_FEW_GAMES, _ENOUGH_GAMES = 3, 30
_UNCERTAIN = 2.0  # times the median standard error: a quarter of its information
# Of more items than these, if so many have enough games, only those are placed, unless
# their standard error is so many times the median.
_MANY, _PLACED, _UNSURE = 100, 20, 3.0


def sort_board(table: pl.DataFrame) -> pl.DataFrame:
    """Sort and rank items, provisional ones by the lower end."""
    sure = pl.coalesce("lower", "rating")
    place = pl.when("provisional").then(sure).otherwise("rating")
    # A difference that is only rounding is none.
    table = table.with_columns(place.round_sig_figs(12).alias("place"))
    by = ("placed", "place")
    table = table.sort(by, descending=True, maintain_order=True)
    ranked = pl.when("placed").then("place")
    ranks = ranked.rank("min", descending=True).cast(pl.Int64)
    if "set" in table.columns:  # between sets nothing is ranked
        table = table.sort("set", maintain_order=True)
        ranks = ranks.over("set")
    return table.select(ranks.alias("rank"), pl.all().exclude("place"))


_FEW_RATERS = 20
_TIE_MODELS = {
    "davidson": "Davidson",
    "rao-kupper": "Rao and Kupper",
    "glenn-david": "Glenn and David",
}


def describe_basis(model: Any, scale: RatingScale) -> list[str]:
    """Say what intervals of strengths rest on besides the results."""
    notes = []
    if 0.0 < (tie := getattr(model, "tie_probability_", 0.0)) < 1.0:
        own = getattr(model, "tie_model_", model.ties)
        sure = getattr(model, "tie_model_probability_", 1.0)
        words = f"the model of {_TIE_MODELS[own]}"
        if sure < 1.0:
            (other,) = _TIE_MODELS.keys() - {own, "glenn-david"}
            words = (
                f"the models of {_TIE_MODELS[own]} (probability {sure:.0%}) and of "
                f"{_TIE_MODELS[other]}, averaged"
            )
        share = f"{100 * tie:.{2 if tie < 0.99 else 4}g} %"
        notes.append(
            in_nouns(f"Equal items tie in {share} of comparisons; ties follow {words}.")
        )
    if getattr(model, "half_life_", np.inf) < np.inf:
        notes.append(
            "Results are weighted by age, in ratings and intervals; wins, ties and "
            "losses count all alike."
        )
    alpha = getattr(model, "alpha_", 0.0)
    if alpha > 0:
        # Two digits: the width is known no better.
        half = float(f"{1.96 * scale.unit / math.sqrt(2.0 * alpha):.2g}")
        learned = " This width was learned from the results." * (model.alpha == "auto")
        mean = (
            "the mean of their class"
            if hasattr(model, "prior_means_")
            else "their mean"
        )
        notes.append(
            f"Prior: strengths are within ± {half:g} points of {mean}, for 95 % of "
            f"{noun('items')}.{learned}"
        )
    if hasattr(model, "deviation_"):
        notes.append(
            "Intervals are deviations by Glicko's own rule: where strengths change, "
            "they contain the present one less often than they say."
        )
    if getattr(model, "spread_", np.zeros(1)).any():
        notes.append(model.describe_judges())
    raters = getattr(model, "rater_counts_", None)
    if raters is not None and raters.shape[0] < FEWEST_RATERS:
        one = raters.shape[0] == 1
        votes, same = ("1 rater", "this rater") if one else ("2 raters", "these raters")
        notes.append(
            f"All votes are those of {votes}: the intervals allow for other votes of "
            f"{same}, not for other raters."
        )
    elif raters is not None and raters.shape[0] < _FEW_RATERS:
        notes.append(
            f"There are only {raters.shape[0]} raters: the intervals are wider, "
            "because so few say little about other raters."
        )
    if raters is not None and raters.shape[0] >= FEWEST_RATERS:
        votes, rows = raters.tocoo(), abs(model._problem.strengths.matrix())
        places, shape = (votes.row, votes.col // 3), (raters.shape[0], rows.shape[0])
        met = sp.csr_array((votes.data, places), shape=shape) @ rows > 0
        if len(alone := np.flatnonzero(met.sum(axis=0) == 1)):
            notes.append(
                f"Only one rater judged {list_items(alone, model.items_)}: the "
                "interval allows for other votes of this rater, not for other raters."
            )
    component = component_of(model)
    if component.any():
        notes.append(
            in_nouns(
                f"The items fall into {component.max() + 1} sets that never meet, not "
                "even through others: nothing says which of two items of different "
                "sets is better. Each set has its own ranks."
            )
        )
    return notes


def describe_pulls(
    contrasts: PairContrasts, model: Any, columns: dict[str, Any], scale: RatingScale
) -> list[str]:
    """Say by how much the prior pulls items of few results towards the mean."""
    variance = replace(contrasts.mode, excess=None).errors() ** 2
    share = np.minimum(contrasts.precision * variance, 1.0 - 1e-6)
    center = np.abs(contrasts.mode.mean - contrasts.prior_mean)
    pull = scale.unit * center * share / (1.0 - share)
    pull[~(columns["provisional"] & columns["placed"])] = 0.0
    most = np.argsort(-pull, kind="stable")[:3]
    parts = [f"{model.items_[k]} by {pull[k]:.0f}" for k in most if pull[k] >= 1.0]
    about = (
        f"The prior pulls {noun('items')} of few results towards the mean, in points: "
    )
    return [f"{about}{', '.join(parts)}."] if parts else []


def _letters(groups: list[Codes] | None, n: int) -> list[str | None]:
    """Groups of each item as letters; None where they would be too many."""
    if groups is None:
        return [None] * n
    letters: list[list[str]] = [[] for _ in range(n)]
    # Counted a, b, …, z, aa, ab, and so on.
    counted = chain.from_iterable(
        product(ascii_lowercase, repeat=length) for length in count(1)
    )
    for letter, group in zip(counted, groups, strict=False):
        for item in group:
            letters[item].append("".join(letter))
    return [" ".join(of_item) for of_item in letters]


@dataclass(frozen=True, eq=False)
class ResultsMatrix:
    """Results between every two of some items.

    Attributes
    ----------
    items : ndarray of shape (k,)
        Names of the items, in the order of rows and columns.
    wins, ties : ndarray of shape (k, k)
        ``wins[i, j]``: how often i beat j (its side the other's), and tied; old results
        count in full.
    """

    items: NDArray[Any]
    wins: Floats
    ties: Floats

    @classmethod
    def of(cls, model: BradleyTerry, chosen: Codes) -> ResultsMatrix:
        """Build the matrix of items, by number, from the counts of a model."""
        names = model.items_
        place = np.full(len(names), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        pairs, cell = model._compared.opponents()
        i, j = place[pairs.left], place[pairs.right]
        shown = (i >= 0) & (j >= 0)
        i, j, counts = i[shown], j[shown], model.pair_votes_[cell[shown]]
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


def choose_next_pairs(
    strength: Floats,
    covariance: Floats,
    information: Callable[[Floats], Floats],
    n_pairs: int,
) -> tuple[Codes, Floats]:
    """Choose comparisons (k, 2) greedily by expected information, in nats (k,).

    A comparison of Fisher information h = E[(∂ ln P/∂d)²] gains ½ ln(1 + h v), v the
    variance of d given those chosen before.
    """
    n = len(strength)
    h = information((strength - strength[:, None]).ravel()).reshape(n, n)
    present, chosen, gains = covariance.copy(), [], []
    open_pairs = np.triu(np.ones((n, n), dtype=bool), 1)
    for _ in range(min(n_pairs, n * (n - 1) // 2)):
        variance = np.diag(present)
        spread = variance[:, None] + variance[None, :] - 2.0 * present
        gain = 0.5 * np.log1p(h * np.maximum(spread, 0.0))
        best = int(np.argmax(np.where(open_pairs, gain, -1.0)))
        i, j = np.unravel_index(best, gain.shape)
        open_pairs[i, j] = False
        chosen.append((int(i), int(j)))
        gains.append(float(gain[i, j]))
        # The inverse of the Hessian after h (e_j - e_i)(e_j - e_i)ᵀ is added to it.
        column = present[:, j] - present[:, i]
        present -= np.outer(column, column) * (h[i, j] / (1.0 + h[i, j] * spread[i, j]))
    return np.array(chosen, dtype=np.int64).reshape(-1, 2), np.array(gains)
