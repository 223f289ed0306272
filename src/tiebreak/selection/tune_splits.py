# SPDX-License-Identifier: BSD-3-Clause
"""Training sets and the sets that score them, with what belongs to their rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from tiebreak.data import Orders, as_pairs, is_pairs
from tiebreak.data.columns import as_column, factorize
from tiebreak.metrics import GradeScorer, PairScorer, get_scorer
from tiebreak.selection.splitters import QueryKFold

Params = dict[str, Any]
Fold = tuple[np.ndarray, np.ndarray]

# What a scorer of the user's own is told when it has an argument of that name.
_TOLD = ("qid", "sample_weight")


@dataclass(frozen=True)
class Split:
    """One training set and the set that scores it.

    Attributes
    ----------
    X, y : object
        Training rows.
    fit : dict
        What else ``fit`` takes for these rows.
    X_test, y_test : object
        Rows that score.
    score : dict
        What the scorer takes for these rows.
    ask : dict
        What predictions take for these rows.
    """

    X: Any
    y: Any
    fit: Params
    X_test: Any
    y_test: Any
    score: Params
    ask: Params


def choose_scorer(
    scoring: str | Callable[..., float] | None, X_test: Any
) -> Callable[..., float]:
    """Find the scorer, and refuse one that is for another shape of data.

    Parameters
    ----------
    scoring : str, callable or None
        As in ``tune``.
    X_test : Pairs, array-like, items or Orders
        What is to be scored.

    Returns
    -------
    callable
        A scorer of comparisons or of graded items by name, a callable as it is.
    """
    of_pairs = is_pairs(X_test)
    if scoring is None:
        scoring = "error" if of_pairs else "swapped_pairs"
    scorer = get_scorer(scoring)
    if isinstance(scorer, PairScorer) and not of_pairs:
        raise TypeError(
            f"scoring={scorer.name!r} is for comparisons with outcomes, but graded "
            "items or orders are to be scored. Leave scoring out for 'swapped_pairs', "
            "or try 'kendall_tau_b' or get_scorer('ndcg', k=10)."
        )
    if isinstance(scorer, GradeScorer) and of_pairs:
        raise TypeError(
            f"scoring={scorer.name!r} is for graded items or orders, but comparisons "
            "are to be scored. Leave scoring out for 'error', or try 'auc'."
        )
    return scorer


def row_columns(
    n_rows: int,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
    columns: Mapping[str, Any] | None,
) -> Params:
    """Gather what belongs to the rows, and check that it is as long.

    Parameters
    ----------
    n_rows : int
        Number of comparisons, items or lists.
    sample_weight, qid, columns
        As in ``tune``.

    Returns
    -------
    dict
    """
    given = {"sample_weight": sample_weight, "qid": qid}
    kept = {name: as_column(v, name) for name, v in given.items() if v is not None}
    found = kept | dict(columns or {})
    for name, column in found.items():
        if len(column) != n_rows:
            raise ValueError(
                f"{name} has {len(column)} values but there are {n_rows} rows; they "
                "must be as many."
            )
    return found


def make_splits(
    model: Any,
    X: Any,
    y: Any,
    validation: tuple[Any, ...] | None,
    cv: Any,
    extra: Params,
    scorer: Any,
) -> Iterator[Split]:
    """Divide the rows.

    Parameters
    ----------
    model : estimator
        Tells whether folds are stratified, and whether columns of X belong to rows.
    X, y, validation, cv
        As in ``tune``.
    extra : dict
        What belongs to the rows, see :func:`row_columns`.
    scorer : callable
        Tells what it takes.

    Yields
    ------
    Split
    """
    told = _told_columns(scorer)
    if validation is not None:
        yield _validation_split(X, y, validation, cv, extra, told)
        return
    if is_pairs(X):
        X = as_pairs(X)
    y = None if y is None else np.asarray(y)
    asked = _asked_columns(model, scorer)
    for train, test in _fold_rows(model, X, y, cv, extra.get("qid")):
        fit = {name: _safe_indexing(v, train) for name, v in extra.items()}
        at_test = {name: _safe_indexing(v, test) for name, v in extra.items()}
        yield Split(
            _take(model, X, train, train),
            None if y is None else y[train],
            fit,
            _take(model, X, test, train),
            None if y is None else y[test],
            {name: v for name, v in at_test.items() if name in told},
            {name: v for name, v in at_test.items() if name in asked},
        )


def _validation_split(
    X: Any, y: Any, validation: tuple[Any, ...], cv: Any, extra: Params, told: set[str]
) -> Split:
    if cv is not None:
        raise ValueError("give a validation set or cv, not both.")
    if len(validation) not in (2, 3):
        raise ValueError(
            "validation must be (X, y), or (X, y, qid) for graded items, got "
            f"{len(validation)} parts."
        )
    X_test, y_test, qid = (*validation, None)[:3]
    of_items = not is_pairs(X_test) and not isinstance(X_test, Orders)
    if qid is None and "qid" in extra and of_items:
        raise ValueError(
            "the training items have groups (qid) and those of validation have none, "
            "so items of different groups would be compared. Give validation=(X, y, "
            "qid)."
        )
    score = {} if qid is None or "qid" not in told else {"qid": qid}
    return Split(X, y, extra, X_test, y_test, score, {})


def _take(model: Any, X: Any, rows: np.ndarray, train: np.ndarray) -> Any:
    """Take rows; of a kernel matrix between graded items the training columns too."""
    if isinstance(X, Orders):
        return X[rows]
    inner = getattr(model, "ranker", model)
    if not is_pairs(X) and getattr(inner, "kernel", None) == "precomputed":
        return _safe_indexing(_safe_indexing(X, rows), train, axis=1)
    return _safe_indexing(X, rows)


def _told_columns(scorer: Any) -> set[str]:
    """Name the columns that a scorer takes."""
    metadata = getattr(scorer, "metadata", None)
    if metadata is not None:
        return set(metadata)
    try:
        return set(signature(scorer).parameters) & set(_TOLD)
    except (TypeError, ValueError):  # a callable that does not say
        return set()


def _asked_columns(model: Any, scorer: Any) -> set[str]:
    """Name the columns that predictions take, for scorers that can be told."""
    if not isinstance(scorer, PairScorer) or hasattr(model, "steps"):
        return set()
    method = getattr(model, scorer.response_method, None)
    return set() if method is None else set(signature(method).parameters)


def _fold_rows(
    model: Any, X: Any, y: np.ndarray | None, cv: Any, qid: np.ndarray | None
) -> list[Fold]:
    """Row numbers of the folds; with groups no group is on both sides."""
    if qid is None:
        stratified = is_classifier(model) and is_pairs(X)
        folds = check_cv(5 if cv is None else cv, y, classifier=stratified)
        return list(folds.split(X, y))
    if cv is None or isinstance(cv, Integral):
        cv = QueryKFold(5 if cv is None else int(cv))
    if not hasattr(cv, "split"):
        parts = list(cv)
    elif "qid" in signature(cv.split).parameters:
        parts = list(cv.split(X, y, qid=qid))
    else:
        with warnings.catch_warnings():
            # Some splitters say that they ignore groups; what they do is checked below.
            warnings.simplefilter("ignore", UserWarning)
            parts = list(cv.split(X, y, groups=qid))
    group, names = factorize(qid)
    for train, test in parts:
        both = np.intersect1d(group[train], group[test])
        if len(both):
            name = names[both[0]]
            name = name.item() if isinstance(name, np.generic) else name
            raise ValueError(
                f"cv={cv!r} puts rows of {len(both)} group(s), such as qid {name!r}, "
                "into both training and test set. Use QueryKFold."
            )
    return parts
