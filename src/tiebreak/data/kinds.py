# SPDX-License-Identifier: BSD-3-Clause
"""The three kinds of data: comparisons, graded items and ranked lists.

Each has the arguments of a model's ``fit``, selects rows, and knows which rows a split
must keep together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import as_names, factorize, take_rows
from tiebreak.data.items import ItemTable, feature_attributes
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import OUTCOMES
from tiebreak.data.pairs import Pairs

Columns = Mapping[str, NDArray[Any]]
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """n comparisons of items, with their outcomes and columns of the same rows."""

    pairs: Pairs
    y: NDArray[Any]  # (n,) outcomes, or margins; (0,) where they are to be predicted
    weight: Any = None  # (n,); None: 1 each
    columns: Columns = field(default_factory=dict)  # advantage, rater, unit, …
    rows: Any = None  # (n,) places in what was read; None: all of it, in order
    others: Columns = field(default_factory=dict)  # other columns of a file
    marks: Columns = field(default_factory=dict)  # exchanged, both_bad, fingerprint
    classes: Codes = field(default_factory=OUTCOMES.copy)  # or as renumbered, 0, 1, 2

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def together(self) -> Codes | None:
        """Numbers of rows that a split must not part, those of a unit; None: any."""
        unit = self.columns.get("unit")
        return None if unit is None else factorize(unit)[0]

    @property
    def attributes(self) -> dict[str, Any]:
        """What a fit keeps of its input: features of items, or their names."""
        if self.pairs.items is not None:
            return feature_attributes(self.pairs.items)
        return {} if self.pairs.names is None else {"items_": self.pairs.names.copy()}

    @property
    def items(self) -> ItemTable | None:
        """Features of all items; None without."""
        return self.pairs.items

    @property
    def names(self) -> NDArray[Any] | None:
        """Names of all items; None without."""
        return self.pairs.names

    def touched(self) -> Codes:
        """Return the numbers of the items that occur."""
        return self.pairs.touched()

    def by_name(self) -> Comparisons | None:
        """Return the comparisons without features; None if items have no names."""
        pairs = self.pairs
        if pairs.names is None or not pairs.has_features:
            return None if pairs.names is None else self
        return replace(self, pairs=pairs._replace(_items=None).compact())

    def take(self, rows: Any) -> Comparisons:
        """Return some comparisons; the items stay."""
        return replace(
            self,
            pairs=self.pairs[rows],
            y=self.y[rows],
            weight=_take(self.weight, rows),
            columns=_take_all(self.columns, rows),
            rows=np.arange(len(self))[rows] if self.rows is None else self.rows[rows],
            others=_take_all(self.others, rows),
            marks=_take_all(self.marks, rows),
        )

    def arguments(self) -> Arguments:
        """Return what ``fit`` takes: positional arguments, and columns by name."""
        return (self.pairs, self.y), _weighted(self.columns, self.weight)


@dataclass(frozen=True, eq=False)
class Grades:
    """n graded items in groups; rows of different groups are not compared."""

    items: ItemTable  # features, one row per graded item
    y: Floats  # (n,) grades; higher is better, NaN where unknown
    group: Codes  # (n,) from 0 as first seen
    group_names: NDArray[Any]  # (G,) the qid of each group; [0] without qid
    weight: Any = None  # (n,); None: 1 each. A pair weighs the product of two
    has_groups: bool = False  # whether there is a qid
    names: NDArray[Any] | None = None  # (n,) of the items, where known
    orders: Orders | None = None  # the lists, when grades were read from them
    group_weight: Any = None  # (G,) of lists, whose rows weigh its root
    graph: Any = None  # (n, n) sparse: weights of pairs i < j, in place of groups

    @classmethod
    def of(
        cls,
        items: ItemTable,
        y: Floats,
        qid: NDArray[Any] | None,
        names: NDArray[Any] | None = None,
    ) -> Grades:
        """Return graded items of columns that were checked."""
        group, distinct = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64)
        if qid is not None:
            group, values = factorize(qid)
            distinct = as_names(values)
        return cls(items, y, group, distinct, has_groups=qid is not None, names=names)

    @property
    def qid(self) -> NDArray[Any] | None:
        """Group of each row in its original type; None without."""
        return self.group_names[self.group] if self.has_groups else None

    def touched(self) -> Codes:
        """Return the numbers of the items that occur: all."""
        return np.arange(len(self))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def attributes(self) -> dict[str, Any]:
        """What a fit keeps of its input: features, and whether there are groups."""
        features = feature_attributes(self.table)
        return {**features, "fitted_with_qid_": self.has_groups}

    @property
    def item_weight(self) -> Any:
        """Weight of each row by itself and not in a pair, shape (n,)."""
        return self.weight if self.orders is None else self.group_weight[self.group]

    @property
    def table(self) -> ItemTable:
        """The table of items, in which an item of several lists is one row."""
        return self.items if self.orders is None else self.orders.table

    @property
    def places(self) -> Codes:
        """Row of each graded item in `table`, shape (n,)."""
        return np.arange(len(self.y)) if self.orders is None else self.orders.flat

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return len(self.group_names)

    def entry_grades(self) -> tuple[Floats, Codes]:
        """Return the grade and the group of each row."""
        return self.y, self.group

    def take(self, rows: Any) -> Grades:
        """Return some graded items and the groups that they are in."""
        group, groups = factorize(self.group[rows])
        return replace(
            self,
            items=self.items.take(np.arange(len(self))[rows]),
            y=self.y[rows],
            group=group,
            group_names=self.group_names[groups],
            weight=_take(self.weight, rows),
            names=_take(self.names, rows),
            orders=None,
            group_weight=_take(self.group_weight, groups),
        )

    def arguments(self) -> Arguments:
        """Return what ``fit`` takes: positional arguments, and columns by name."""
        qid = {} if self.qid is None else {"qid": self.qid}
        return (self.items, self.y), _weighted(qid, self.weight)

    @property
    def together(self) -> Codes | None:
        """Group of each row, which a split must keep whole; None without."""
        return self.group if self.has_groups else None


@dataclass(frozen=True, eq=False)
class Lists:
    """n ranked lists of items, best first, with columns of the same lists."""

    together: ClassVar[None] = None  # a split may part any two lists

    orders: Orders
    weight: Floats | None = None  # (n,); None: 1 each
    columns: Columns = field(default_factory=dict)
    unlisted: str = "unknown"  # of items seen and left out: unknown, or lower

    def __len__(self) -> int:
        return len(self.orders)

    @property
    def items(self) -> ItemTable | None:
        """Features of all items; None without."""
        return self.orders.items

    @property
    def names(self) -> NDArray[Any] | None:
        """Names of all items; None without."""
        return self.orders.names

    def touched(self) -> Codes:
        """Return the numbers of the items that occur."""
        return self.orders.touched()

    def by_name(self) -> Lists | None:
        """Return the lists without features; None if items have no names."""
        orders = self.orders
        if orders.names is None or orders.items is None:
            return None if orders.names is None else self
        return replace(self, orders=orders._replace(_items=None))

    def entry_grades(self) -> tuple[Floats, Codes]:
        """Return the grade and the list of each entry; higher is better."""
        return self.orders.entry_grades()

    def take(self, rows: Any) -> Lists:
        """Return some lists; the items stay."""
        return replace(
            self,
            orders=self.orders[rows],
            weight=_take(self.weight, rows),
            columns=_take_all(self.columns, rows),
        )

    def arguments(self) -> Arguments:
        """Return what ``fit`` takes: positional arguments, and columns by name."""
        return (self.orders,), _weighted(self.columns, self.weight)


Data = Comparisons | Grades | Lists


def _take(column: NDArray[Any] | None, rows: Any) -> NDArray[Any] | None:
    return None if column is None else take_rows(column, rows)


def _take_all(columns: Columns, rows: Any) -> Columns:
    return {name: take_rows(column, rows) for name, column in columns.items()}


def _weighted(columns: Columns, weight: Floats | None) -> dict[str, Any]:
    return dict(columns) if weight is None else {**columns, "sample_weight": weight}
