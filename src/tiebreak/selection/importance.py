# SPDX-License-Identifier: BSD-3-Clause
"""What a feature of the items is worth to a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_random_state

from tiebreak.data import Orders, Pairs, as_pairs, is_pairs
from tiebreak.data.items import ItemTable, RawTable, Table, as_table
from tiebreak.selection.tuner import choose_scorer, row_columns, scored_columns

Rows = NDArray[np.int64]


def permutation_importance(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    scoring: str | Callable[..., float] | None = None,
    n_repeats: int = 5,
    random_state: Any = None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Bunch:
    """Measure how much the score falls when a feature is permuted among items.

    As scikit-learn's function of that name, for every shape of knowledge: the values of
    one feature are exchanged among the *items* that occur in the rows, so that an item
    keeps one value in all of its comparisons or lists.

    Parameters
    ----------
    estimator : estimator
        A fitted model, or a Pipeline or search that ends with one.
    X, y
        Comparisons and outcomes, Orders, or items and grades; best held-out ones. A
        frame or texts may stand before a transformer: columns are permuted as they are,
        and texts as one feature.
    scoring : str or callable, optional
        As in :func:`tune`. By default ``"error"`` for comparisons,
        ``"swapped_pairs"`` for graded items and orders.
    n_repeats : int, default=5
        Number of permutations, the same ones for every feature.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.
    qid, sample_weight : array-like of shape (n,), optional
        Groups of graded items and weights of the rows, for the score.
    n_jobs : int, optional
        Worker processes; features are divided among them.

    Returns
    -------
    Bunch
        ``importances`` of shape (n_features, n_repeats), the score minus that with a
        permuted feature, ``importances_mean`` and ``importances_std``, as of
        scikit-learn.

    Examples
    --------
    >>> from tiebreak import SVMCompare
    >>> from tiebreak.datasets import make_norms
    >>> from tiebreak.selection import permutation_importance
    >>> train, test = make_norms(100, random_state=0), make_norms(100, random_state=1)
    >>> model = SVMCompare().fit(train.pairs, train.y)
    >>> worth = permutation_importance(model, test.pairs, test.y, random_state=0)
    >>> worth.importances.shape, bool(worth.importances_mean.min() > 0.1)
    ((2, 5), True)
    """
    scorer = choose_scorer(scoring, X)
    X, table, touched = _items_of(X)
    n_rows = len(X) if y is None else len(np.asarray(y))
    columns = row_columns(n_rows, sample_weight, qid, None)
    taken = scored_columns(scorer)
    unused = [name for name in columns if name not in taken]
    if unused:
        raise TypeError(
            f"the scorer {scorer!r} takes no {unused[0]}; leave it out, or try another "
            "scoring."
        )
    random = check_random_state(random_state)
    orders = [random.permutation(touched) for _ in range(n_repeats)]

    def score(column: int) -> list[float]:
        found = []
        for order in orders:
            rows = _permute(table, column, touched, order)
            if isinstance(X, Pairs | Orders):
                rows = X.with_items(_like(table, rows))
            found.append(float(scorer(estimator, rows, y, **columns)))
        return found

    baseline = float(scorer(estimator, X, y, **columns))
    features = range(table.n_features)
    scores = joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(score)(j) for j in features)
    importances = baseline - np.array(scores)
    return Bunch(
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
    )


def _items_of(X: Any) -> tuple[Any, Table, Rows]:
    """Return the rows, their item table, and the numbers of the items that occur."""
    if is_pairs(X) and not isinstance(X, Pairs):
        pairs = as_pairs(X)  # in an array, equal features are one item
        distinct, number = pairs.unique_items()
        X = Pairs._of(distinct, number[pairs.left], number[pairs.right], None)
    if isinstance(X, Pairs | Orders):
        return X, X._features, X.touched()
    table = as_table(X, name="X")
    return X, table, np.arange(table.n_items)


def _like(table: Table, values: Any) -> Any:
    """Return values as a table of the same kind, with its names of features."""
    return replace(table, values=values) if isinstance(table, ItemTable) else values


def _permute(table: Table, column: int, rows: Rows, order: Rows) -> Any:
    """Return the items with the values of one feature of `order` put at `rows`."""
    given = table.given() if isinstance(table, RawTable) else table.values
    source = np.arange(table.n_items)
    source[rows] = order
    if hasattr(given, "iloc"):
        given = given.copy(deep=False)
        given.isetitem(column, given.iloc[source, column].set_axis(given.index))
        return given
    if isinstance(given, pl.DataFrame):
        return given.with_columns(given.to_series(column)[source])
    if sp.issparse(given):
        columns = given.tocsc()
        there = columns[:, [column]].tocsr()[source]
        parts = columns[:, :column], there, columns[:, column + 1 :]
        new: Any = sp.csr_array(sp.hstack(parts, format="csr"))
    elif given.ndim == 1:
        return given[source]
    else:
        new = given.copy()
        new[:, column] = given[source, column]
    return new
