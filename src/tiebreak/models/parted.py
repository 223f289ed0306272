# SPDX-License-Identifier: BSD-3-Clause
"""What models share that are fitted on data in partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tiebreak.data import Pairs, check_weights
from tiebreak.data.messages import warn_user
from tiebreak.data.outcome import warn_both_bad, warn_no_left
from tiebreak.models.base import check_positive
from tiebreak.scale import (
    CountedPart,
    PartedPairs,
    PartedTable,
    PartFacts,
    Parts,
    add_alike,
    check_alike,
    open_parts,
)

__all__ = [
    "Told",
    "add_up",
    "ask",
    "build_compared",
    "check_linear",
    "fit_named",
    "remember_parted",
    "sample_share",
    "tell_of_comparisons",
]

# Rows that are brought here for the preconditioner: so many, or some per variable.
_SAMPLE, _PER_VARIABLE, _LARGEST_SAMPLE = 8000, 8, 16_000


@dataclass(frozen=True, eq=False)
class Told:
    """What the partitions told of themselves.

    Attributes
    ----------
    facts : list of PartFacts
        One for each partition.
    first : PartFacts
        The first one with rows.
    totals : ndarray of shape (3,) or None
        Weights of left, tie and right.
    n_selves, n_both_bad : int
        Comparisons of an item with itself, and those that call both items bad.
    """

    facts: Sequence[PartFacts]
    first: PartFacts
    totals: NDArray[np.float64] | None = None
    n_selves: int = 0
    n_both_bad: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(fact.n_rows for fact in self.facts)


def ask(parts: Parts) -> Told:
    """Ask all partitions what they hold, and check that they fit together.

    Parameters
    ----------
    parts : Parts
        The partitions.

    Returns
    -------
    Told
    """
    answers = parts.each(_tell)
    facts = [answer[0] for answer in answers]
    first = check_alike(facts, parts.labels)
    if answers[0][1] is None:
        return Told(facts, first)
    totals = np.sum([answer[1] for answer in answers], axis=0)
    n_selves, n_both_bad = (sum(answer[k] for answer in answers) for k in (2, 3))
    return Told(facts, first, totals, n_selves, n_both_bad)


def _tell(part: Any) -> tuple[Any, ...]:
    totals = getattr(part, "totals", None)
    if totals is None:
        return part.facts, None
    return part.facts, totals, part.n_selves, part.n_both_bad


def tell_of_comparisons(told: Told) -> None:
    """Warn of what is odd about comparisons; refuse weights that are all zero.

    Parameters
    ----------
    told : Told
        What the partitions told.
    """
    assert told.totals is not None
    left, tie, right = told.totals
    if not told.totals.any():
        check_weights(np.zeros(1), 1)
    if left == 0 and tie and right:
        warn_no_left()
    if told.n_both_bad:
        warn_both_bad(told.n_both_bad, told.n_rows)
    if told.n_selves:
        warn_user(
            f"{told.n_selves} comparison(s) are of an item with itself; such a tie "
            "carries no information about utilities."
        )


def check_linear(model: Any, needed: Mapping[str, Any]) -> None:
    """Refuse parameters that have no meaning for data in partitions.

    Parameters
    ----------
    model : estimator
        The model, with a ``kernel``.
    needed : mapping
        Values that other parameters must have.
    """
    check_positive(model, *(n for n in ("C", "alpha") if hasattr(model, n)), "tol")
    check_positive(model, "max_iter")
    name = type(model).__name__
    if not (isinstance(model.kernel, str) and model.kernel == "linear"):
        raise ValueError(
            f"{name} got kernel={model.kernel!r}; on data in partitions the kernel is "
            "'linear'. For others let NystroemMap make features first: "
            "features = NystroemMap(kernel).fit(sample), then "
            "fit(PartedTable(source).map(features.transform), ...)."
        )
    for parameter, value in needed.items():
        if (got := getattr(model, parameter)) != value:
            raise ValueError(
                f"{name} got {parameter}={got!r}; on data in partitions it is "
                f"{parameter}={value!r}."
            )


def build_compared(
    kind: Callable[..., Any], data: PartedTable | PartedPairs, **options: Any
) -> Callable[[dict[str, Any]], Any]:
    """Give what makes parts of comparisons, with the table of items if there is one.

    Parameters
    ----------
    kind : class
        The part.
    data : PartedTable or PartedPairs
        The comparisons.
    **options
        Further parameters of the part.

    Returns
    -------
    callable
    """
    if isinstance(data, PartedPairs):
        options |= {"items": data.items, "names": data.names}
    return partial(kind, **options)


def fit_named(
    model: Any, data: PartedTable | PartedPairs, y: Any, sample_weight: Any
) -> bool:
    """Fit a model here if items are known by name and nothing else.

    Parameters
    ----------
    model : estimator
        The model.
    data : PartedTable or PartedPairs
        The data.
    y, sample_weight : str, collection of Dask or None
        Columns.

    Returns
    -------
    bool
        Whether that was so, and the model is fitted.
    """
    if not isinstance(data, PartedPairs) or data.items is not None:
        return False
    pairs, outcome, weight, _ = add_up(data, y=y, weight=sample_weight)
    model.fit(pairs, outcome, sample_weight=weight)
    return True


def add_up(
    data: PartedTable | PartedPairs, **roles: Any
) -> tuple[Pairs, NDArray[np.int8], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Add up alike comparisons of items that have names only, in one pass.

    The sum over comparisons is then a sum over the few that differ, with weights.

    Parameters
    ----------
    data : PartedPairs
        Comparisons.
    **roles : str, collection of Dask or None
        Columns: y, weight, and others that tell rows apart.

    Returns
    -------
    pairs : Pairs
    outcome : ndarray of int8 of shape (m,)
    weight : ndarray of shape (m,)
    others : dict of ndarray
        The other columns.
    """
    if not isinstance(data, PartedPairs):
        raise TypeError(
            "Expected comparisons in partitions: PartedPairs(source, left, right), "
            f"with the names of the two columns of items; got {data!r}."
        )
    parts = open_parts(data, CountedPart, **roles)
    try:
        told = ask(parts)
        tell_of_comparisons(told)
        tables = [table for (table,) in parts.each(_table_of) if table is not None]
    finally:
        parts.close()
    added = add_alike(pl.concat(tables, how="vertical_relaxed"))
    others = {
        name: added[name].to_numpy()
        for name in added.columns
        if name not in ("left", "right", "y", "weight")
    }
    pairs = Pairs(None, added["left"], added["right"])
    return pairs, added["y"].to_numpy(), added["weight"].to_numpy(), others


def _table_of(part: CountedPart) -> tuple[pl.DataFrame | None]:
    return (part.table,)


def sample_share(told: Told) -> float:
    """Which part of the rows makes a preconditioner that is good enough."""
    wanted = min(max(_SAMPLE, _PER_VARIABLE * told.first.n_features), _LARGEST_SAMPLE)
    return wanted / told.n_rows


def remember_parted(model: Any, told: Told) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``; forget an earlier fit.

    Parameters
    ----------
    model : estimator
        The model that is being fitted.
    told : Told
        What the partitions told.
    """
    model._forget()
    model.n_features_in_ = told.first.n_features
    if told.first.feature_names is not None:
        model.feature_names_in_ = np.asarray(told.first.feature_names, dtype=object)
