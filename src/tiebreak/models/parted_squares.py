# SPDX-License-Identifier: BSD-3-Clause
"""Least squares on differences, of data in partitions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tiebreak.data.threads import one_blas_thread
from tiebreak.models.base import refuse_only_ties
from tiebreak.models.graded_program import refuse_no_pairs, refuse_weights
from tiebreak.models.parted import (
    ask,
    build_compared,
    check_linear,
    fit_named,
    remember_parted,
    tell_of_comparisons,
)
from tiebreak.models.squares_forms import CONSTANT, SquaresFit
from tiebreak.models.squares_program import LARGEST, warn_single_items
from tiebreak.scale import (
    ComparedSquares,
    GradedSquares,
    as_parted,
    check_groups,
    open_parts,
)
from tiebreak.solvers.ridge import RidgeSystem

__all__ = ["fit_parted_squares"]


def fit_parted_squares(
    model: Any, X: Any, y: Any, qid: Any, sample_weight: Any
) -> None:
    """Fit :class:`RankRLS` where the data are, in one pass.

    Parameters
    ----------
    model : RankRLS
        The model.
    X : PartedTable, PartedPairs, pattern of files or collection of Dask
        The data.
    y, qid, sample_weight : str, collection of Dask or None
        Columns.
    """
    data = as_parted(X)
    if fit_named(model, data, y, sample_weight):
        return
    check_linear(model, {})
    roles = {"y": y, "weight": sample_weight}
    if data.is_pairs:
        parts = open_parts(data, build_compared(ComparedSquares, data), **roles)
    else:
        build = partial(GradedSquares, per_group=model.per_group)
        parts = open_parts(data, build, qid=qid, **roles)
    try:
        told = ask(parts)
        if told.first.n_features > LARGEST:
            raise ValueError(
                f"RankRLS on data in partitions forms a matrix of its "
                f"{told.first.n_features} features; expected at most {LARGEST}. Try "
                "RankSVM(kernel='linear', loss='squared_hinge')."
            )
        if data.is_pairs:
            tell_of_comparisons(told)
        else:
            check_groups(told.facts, parts)
        sums = parts.sum(_sums_of, told.first.n_features)
    finally:
        parts.close()
    H, h, square, size, n_different = sums
    facts = told.facts
    n_groups = sum(fact.n_groups for fact in facts)
    if n_different == 0:
        if data.is_pairs:
            refuse_only_ties(model, told.n_rows)
        refuse_no_pairs(told.n_rows, n_groups)
    if not np.isfinite(H).all() or not np.isfinite(square):
        smallest = min(fact.smallest for fact in facts)
        refuse_weights(smallest, max(fact.largest for fact in facts))
    warn_single_items(sum(fact.n_idle_groups for fact in facts), n_groups)
    fit = _solve(H, h, square, size, float(model.alpha))
    remember_parted(model, told)
    assert fit.x is not None
    model.coef_, model.objective_ = fit.x, fit.value
    model.n_pairs_ = sum(fact.n_pairs for fact in facts)
    if not data.is_pairs:
        model.fitted_with_qid_ = qid is not None
    fit.unpack(model)


def _sums_of(part: Any, n_features: int) -> tuple[Any, ...]:
    if part.sums:
        sums: tuple[Any, ...] = part.sums
        return sums
    nothing = np.zeros(n_features)
    return np.zeros((n_features, n_features)), nothing, 0.0, nothing, 0


def _solve(
    H: np.ndarray, h: np.ndarray, square: float, size: np.ndarray, alpha: float
) -> SquaresFit:
    # What rounding leaves of features that are constant inside groups is no signal.
    constant = H.diagonal() <= CONSTANT**2 * size
    H[constant], H[:, constant], h[constant] = 0.0, 0.0, 0.0
    with one_blas_thread():
        solution = RidgeSystem(H, h).solve(alpha)
        x = solution.x
        value = max(square - float(x @ (2.0 * h - H @ x)), 0.0) + alpha * float(x @ x)
    return SquaresFit(
        x,
        np.zeros(0),
        value,
        solution.residual / (alpha * value),
        solution.n_iter,
        solution.method,
        solution.n_dropped,
        not x.any(),
    )
