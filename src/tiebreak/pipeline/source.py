# SPDX-License-Identifier: BSD-3-Clause
"""The data of a file as the commands use them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Comparisons, Data, Lists, Pairs
from tiebreak.data.messages import Nouns
from tiebreak.data.scores import ScoreTable
from tiebreak.data.validation import pairs_within_groups

_MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class Source:
    """The data that were read and selected, and their description."""

    data: Data
    detected: list[str]  # in words
    title: str = ""
    sided: bool = True  # whether left and right mean something
    skipped: pl.DataFrame | None = None  # rows that could not be read
    categories: dict[str, NDArray[np.int64]] = field(default_factory=dict)  # their rows
    labels: tuple[str, ...] = ()  # of the covariates, which are ``columns["context"]``
    deviations: tuple[float, ...] = ()  # by which they were divided
    nouns: Nouns = field(default_factory=dict)  # for items, comparisons and sides
    scores: ScoreTable | None = None  # of which the comparisons were made
    classes: Mapping[Any, Any] = field(default_factory=dict)  # of items, by name
    pictures: Mapping[Any, str] = field(default_factory=dict)  # of items, as data URIs

    @property
    def n_items(self) -> int:
        """Number of items."""
        data = self.data
        if isinstance(data, Comparisons):
            return data.pairs.n_items
        return data.orders.n_items if isinstance(data, Lists) else len(data)

    @property
    def named(self) -> Comparisons | None:
        """The comparisons by name alone; None without names."""
        data = compare_lists(self.data) if isinstance(self.data, Lists) else self.data
        return data.by_name() if isinstance(data, Comparisons) else None


def compare_lists(lists: Lists) -> Comparisons:
    """Compare every two items of each list, or about 20 pairs per entry."""
    orders = lists.orders
    group = np.repeat(np.arange(len(orders)), orders.lengths)
    n_pairs = int((orders.lengths * (orders.lengths - 1) // 2).sum())
    limit = _MOST_PAIRS
    if n_pairs > limit:
        limit = int(np.clip(20 * len(group), limit // 10, limit))
    grade = -orders.position.astype(np.float64)
    compared = pairs_within_groups(group, grade, limit=limit)
    # Items in unknown order are not tied.
    kept = (compared.y != 0) | ~orders.unordered[compared.group]
    left, right, y, group = (column[kept] for column in compared[:4])
    names = np.arange(orders.n_items) if orders.names is None else orders.names
    pairs = Pairs(orders.items, orders.flat[left], orders.flat[right], names=names)
    weight = None if lists.weight is None else lists.weight[group]
    return Comparisons(pairs, y, weight, {"rater": group})
