# SPDX-License-Identifier: BSD-3-Clause
"""A leaderboard: ratings, how sure they are, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from rich.console import Console, ConsoleOptions
from rich.table import Table
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tiebreak.metrics.inputs import positive_integer
from tiebreak.ratings.bradley_terry import BradleyTerry
from tiebreak.ratings.categories import split_categories
from tiebreak.ratings.inputs import check_results
from tiebreak.ratings.leaderboard_columns import Uncertain, model_columns
from tiebreak.ratings.leaderboard_text import as_table, as_text
from tiebreak.ratings.next_pairs import choose_next_pairs
from tiebreak.ratings.rating_scale import RatingScale
from tiebreak.ratings.results_matrix import ResultsMatrix

__all__ = ["Leaderboard"]


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
        and ``"model"``. None: ``"cluster"`` if it was fitted with raters, else
        ``"sandwich"``.
    n_resamples : int, default=1000
        Resamples of the bootstrap.
    scale : float, default=400.0
        The difference of ratings at which the odds of winning are `base` to one, ties
        left aside. Ratings of Elo and Glicko are shown as they are.
    base : float, default=10.0
        The odds at a difference of `scale`. Elo's scale is 400 and 10; strengths
        themselves are ``scale=1, base=math.e``.
    reference : item name, optional
        The item whose rating is `anchor`, without uncertainty. None: the mean of all
        items is.
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
        intervals, PlackettLuce counts no wins, and strengths have no intervals with
        more than 10,000 items.
    model : object
        The fitted model.
    level : float
        Confidence of the intervals.
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
        columns = model_columns(
            model, uncertain, RatingScale(scale, base, reference, anchor)
        )
        table = pl.DataFrame(columns).sort(
            "rating", descending=True, maintain_order=True
        )
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
        X : Pairs
            Comparisons of items by name.
        y : array-like of shape (n,)
            Outcomes -1, 0, +1.
        model : estimator, optional
            Fitted on a copy of it; :class:`~tiebreak.BradleyTerry` by default.
        by : array-like of shape (n,), or DataFrame or dict of columns of 0 and 1
            Categories. A column of labels cuts the rows into parts; columns of 0 and
            1, one per category, may overlap. Every category gets a leaderboard of its
            own, beside that of all rows.
        sample_weight : array-like of shape (n,), optional
            Weights.
        columns : dict, optional
            Row-aligned arguments of the model's ``fit``, by name: ``advantage``,
            ``context``, ``rater``, ``period``.
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
        rows = zip(self.table["item"], letters, strict=True)
        found: dict[str, list[Any]] = {}
        for item, of_item in rows:
            for letter in of_item.split(" "):
                found.setdefault(letter, []).append(item)
        return list(found.values())

    def by_category(self) -> pl.DataFrame:
        """Give the leaderboards of all categories in one table.

        Returns
        -------
        polars.DataFrame
            The columns of `table` behind a column ``category``; all rows first, as
            ``"all"``.
        """
        boards = {"all": self} | self.categories
        return pl.concat(
            [
                board.table.select(pl.lit(name).alias("category"), pl.all())
                for name, board in boards.items()
            ]
        )

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
        return ResultsMatrix.of(self.model, self._best_first()[:top])

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
        found = choose_next_pairs(
            model.strength_,
            model.covariance("model"),
            model.information,
            n_pairs,
        )
        return pl.DataFrame(
            {
                "left": model.items_[found.left],
                "right": model.items_[found.right],
                "gain": found.gain,
            }
        )

    def _best_first(self) -> NDArray[np.int64]:
        return np.argsort(-self.model.coef_, kind="stable")

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


def _take(values: Any, rows: NDArray[np.int64] | None) -> Any:
    """Take rows of a column, a table or comparisons; one number stays as it is."""
    if rows is None or np.ndim(values) == 0:
        return values
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, list | tuple):
        return [values[row] for row in rows]
    return values[rows]
