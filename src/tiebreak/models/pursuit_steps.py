# SPDX-License-Identifier: BSD-3-Clause
"""How many steps of a pursuit to keep: by a validation set, or by cross-validation.

One run gives the models of all numbers of steps. Each is judged by the fraction of
swapped pairs of graded items, or of comparisons that are predicted wrongly, and of
equally good ones the smallest is kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, check_cv

from tiebreak.data import (
    ItemTable,
    Orders,
    as_items,
    as_pairs,
    check_comparisons,
    check_grades,
    is_pairs,
)
from tiebreak.data.columns import as_column, factorize
from tiebreak.data.features import check_features
from tiebreak.metrics import comparison_error, swapped_pairs

__all__ = ["check_steps", "cross_validate", "validation_errors"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
# Utilities of items after every step: a table of n items to shape (n, n_steps).
Utilities = Callable[[ItemTable], Floats]


def check_steps(model: Any, validation: Any) -> None:
    """Refuse a number of steps that is none.

    Parameters
    ----------
    model : estimator
        With ``n_basis`` and ``max_basis``.
    validation : tuple or None
        As in ``fit``.
    """
    by_folds = hasattr(model, "max_basis")
    for name in ("n_basis", "max_basis") if by_folds else ("n_basis",):
        value = getattr(model, name)
        if by_folds and name == "n_basis" and value == "cv":
            continue
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or value < 1:
            other = " or 'cv'" if by_folds and name == "n_basis" else ""
            raise ValueError(
                f"{type(model).__name__} got {name}={value!r}; expected a whole number "
                f"of at least 1{other}."
            )
    if isinstance(model.n_basis, str) and validation is not None:
        raise ValueError(
            "n_basis='cv' and a validation set both choose the number of basis "
            "functions; give n_basis a number, the largest to try, or no validation."
        )


def validation_errors(
    model: Any, validation: tuple[Any, ...], utilities: Utilities
) -> Floats:
    """Judge all steps of a pursuit.

    Parameters
    ----------
    model : estimator
        Is being fitted, and knows its features.
    validation : (X, y) or (X, y, qid)
        As in ``fit``.
    utilities : callable
        Utilities of a table of items after every step.

    Returns
    -------
    ndarray of shape (n_steps,)
        The error after every step.
    """
    if not isinstance(validation, list | tuple) or len(validation) not in (2, 3):
        count = len(validation) if isinstance(validation, list | tuple) else 1
        raise ValueError(
            "validation must be (X, y), or (X, y, qid) for graded items, got "
            f"{count} part(s)."
        )
    X, y, qid = (*validation, None)[:3]
    if is_pairs(X):
        pairs, outcome, _ = check_comparisons(X, y)
        check_features(model, pairs.table)
        at_items = utilities(pairs.table)
        difference = at_items[pairs.right] - at_items[pairs.left]
        return np.array([comparison_error(outcome, np.sign(d)) for d in difference.T])
    if isinstance(X, Orders):
        X, y, qid = X.grades()
    elif qid is None and getattr(model, "fitted_with_qid_", False):
        raise ValueError(
            "the training items have groups (qid) and those of validation have none, "
            "so items of different groups would be compared. Give validation=(X, y, "
            "qid)."
        )
    grades = check_grades(X, y, qid)
    check_features(model, grades.items)
    return np.array(
        [
            swapped_pairs(grades.y, utility, qid=grades.group)
            for utility in utilities(grades.items).T
        ]
    )


def cross_validate(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Floats:
    """Judge all numbers of steps up to ``max_basis`` on folds that were left out.

    Parameters
    ----------
    model : estimator
        A clone of it is fitted on every fold.
    X, y, qid, sample_weight
        As in ``fit``, which has checked them.

    Returns
    -------
    ndarray of shape (max_basis,)
        The error after every step, a mean over the folds. Where the pursuit of a fold
        ended early, its last model counts.
    """
    X = X if isinstance(X, Orders) else as_pairs(X) if is_pairs(X) else as_items(X)
    if getattr(y, "ndim", 1) == 2:  # a single column
        y = np.ravel(np.asarray(y))
    given = {"y": y, "qid": qid, "sample_weight": sample_weight}
    columns = {k: as_column(v, k) for k, v in given.items() if v is not None}
    errors = []
    for train, test in _folds(model.cv, len(X), columns.get("y"), columns.get("qid")):
        fold = clone(model).set_params(n_basis=model.max_basis)
        if not isinstance(X, Orders) and not is_pairs(X):
            _keep_centers(fold, X)
        kept = {name: column[train] for name, column in columns.items()}
        held: list[Any] = [None]
        if not isinstance(X, Orders):
            held = [columns[name][test] for name in ("y", "qid") if name in columns]
        with warnings.catch_warnings():
            # What is to be said of the data is said of all of it.
            warnings.simplefilter("ignore", UserWarning)
            fold.fit(
                _take(model, X, train, train),
                kept.pop("y", None),
                **kept,
                validation=(_take(model, X, test, train), *held),
            )
        error = fold.validation_path_
        padding = (0, model.max_basis - len(error))
        errors.append(np.pad(error, padding, mode="edge"))
    return np.mean(errors, axis=0)


def _folds(
    cv: Any, n_rows: int, y: NDArray[Any] | None, qid: NDArray[Any] | None
) -> list[tuple[Rows, Rows]]:
    """Row numbers of the folds; no group is on both sides, if there are several."""
    group = None if qid is None else factorize(qid)[0]
    n_groups = 1 if group is None else int(group.max()) + 1
    given = cv
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if not 2 <= int(cv) <= n_rows:
            raise ValueError(
                f"cv={cv!r} folds of {n_rows} rows; expected at least 2 and at most as "
                "many as there are rows."
            )
        # Rows may be sorted by grade, so they are shuffled, in the same way always.
        cv = KFold(int(cv), shuffle=True, random_state=0)
        if n_groups > 1:
            cv = GroupKFold(min(cv.n_splits, n_groups))
    with warnings.catch_warnings():
        # Some splitters say that they ignore groups; what they do is checked below.
        warnings.simplefilter("ignore", UserWarning)
        parts = list(check_cv(cv).split(np.zeros((n_rows, 1)), y, group))
    for train, test in parts if n_groups > 1 else []:
        assert qid is not None and group is not None
        both = np.isin(group[test], group[train])
        if both.any():
            name = qid[test][both].tolist()[0]
            raise ValueError(
                f"cv={given!r} puts rows of a group, such as qid {name!r}, into both "
                "training and test set. Use a number, or QueryKFold or GroupKFold."
            )
    return parts


def _keep_centers(model: Any, table: ItemTable) -> None:
    """Write centers that are row numbers as items: a fold has other rows."""
    centers = model.centers
    if centers is None or np.ndim(centers) != 1:
        return
    if model.kernel == "precomputed":
        raise ValueError(
            "n_basis='cv' with a precomputed kernel cannot keep given centers, which "
            "may be rows that a fold leaves out. Give n_basis a number, or centers "
            "none."
        )
    model.set_params(centers=table.take(np.asarray(centers)).values)


def _take(model: Any, X: Any, rows: Rows, train: Rows) -> Any:
    """Take rows; of a kernel matrix between graded items the training columns too."""
    if not isinstance(X, ItemTable):
        return X[rows]
    part = X.take(rows)
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        return ItemTable(part.values[:, train])
    return part
