# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1 and 2 (paths), tables 1 and 2 (reduction), and more features than that."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from papers.experiment import Experiment, Settings, generator
from papers.one_norm.data import DATA, N_FOLDS, corners, folds, read
from tiebreak import L1Ranker, l1_path
from tiebreak.datasets import load_uci
from tiebreak.metrics import kendall_tau_b, swapped_pairs
from tiebreak.solvers.hull import hull_vertices

__all__ = ["EXPERIMENTS", "LAMBDAS", "SLACKS"]

# `hull` is `item` on the corners of each grade, the paper's program; `random` is `item`
# on as many random rows of each grade.
SLACKS = ("pair", "item", "item-weighted", "hull", "random")
# Penalties around those that the paper's text names.
LAMBDAS = (1.0, 2.0, 3.0, 5.0, 7.0, 9.0, 9.25, 9.5, 11.0, 12.0, 13.0, 14.0, 16.0)
N_ALPHAS = 25
# Smallest alpha relative to the largest.
SMALLEST = 1e-3


def path_cells(quick: bool) -> list[Settings]:
    """List data, slacks and folds of figures 1 and 2, and one set of 32 features."""
    if quick:
        cells = [{"data": "concrete", "slack": slack, "fold": 0} for slack in SLACKS]
        return [cell | {"n_alphas": 5} for cell in cells]
    return [
        {"data": data, "slack": slack, "fold": fold}
        for data in (*DATA, "bank32nh")
        for slack in (SLACKS[:3] if data == "bank32nh" else SLACKS)
        for fold in range(N_FOLDS)
    ]


def path_cell(
    data: str, slack: str, fold: int, n_alphas: int = N_ALPHAS
) -> dict[str, Any]:
    """Follow the path on the training items; judge every alpha on the test items."""
    items = read(data)
    train, test = folds(data)[fold]
    rows = _rows_of(slack, items.X[train], items.y[train], fold)
    X, y = items.X[train][rows], items.y[train][rows]
    start = time.process_time()
    with warnings.catch_warnings():
        # That slacks per item can pay for everything is what this is to show.
        warnings.simplefilter("ignore", UserWarning)
        path = l1_path(
            X,
            y,
            n_alphas=n_alphas,
            eps=SMALLEST,
            slack="item" if slack in SLACKS[3:] else slack,
            cv=None,
        )
    seconds = time.process_time() - start
    return {"alphas": path.alphas, "coefs": path.coefs, "seconds": seconds} | _measures(
        path.coefs, items.X, items.y, train, test
    )


def _rows_of(slack: str, X: np.ndarray, y: np.ndarray, fold: int) -> np.ndarray:
    """Give the training rows of a program."""
    if slack not in SLACKS[3:]:
        return np.arange(len(y))
    kept = corners(X, y)
    if slack == "hull":
        return kept
    rng = generator("003", "random", fold)
    return np.concatenate(
        [
            rng.permutation(np.flatnonzero(y == grade))[: np.sum(y[kept] == grade)]
            for grade in np.unique(y)
        ]
    )


def _measures(
    coefs: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> dict[str, Any]:
    """Judge every vector of weights on the test items, and on the training items."""
    found: dict[str, list[float]] = {"tau": [], "cut": [], "swapped": [], "own": []}
    for w in coefs:
        utility, own = X[test] @ w, X[train] @ w
        found["tau"].append(_tau(y[test], utility))
        found["cut"].append(_tau(y[test], _cut(utility, own, y[train])))
        found["swapped"].append(swapped_pairs(y[test], utility))
        found["own"].append(swapped_pairs(y[train], own))
    return found


def _tau(y: np.ndarray, utility: np.ndarray) -> float:
    """Kendall's τ-b, 0 where the utility says nothing."""
    return kendall_tau_b(y, utility) if np.ptp(utility) > 0 else 0.0


def _cut(utility: np.ndarray, own: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cut utilities into grades that are as frequent as those of the training items."""
    share = np.cumsum(np.unique(y, return_counts=True)[1])[:-1] / len(y)
    return np.digitize(utility, np.quantile(own, share))


REDUCTIONS = ("none", "hull", "threshold")


def reduction_cells(quick: bool) -> list[Settings]:
    """List table 1: data, folds and reductions of the paper's program."""
    if quick:
        return [
            {"data": "concrete", "fold": 0, "reduction": reduction, "n": 150}
            for reduction in REDUCTIONS
        ]
    return [
        {"data": data, "fold": fold, "reduction": reduction}
        for data in DATA
        for fold in range(N_FOLDS)
        for reduction in REDUCTIONS
        # All pairs of the largest two are not solved: their number is enough.
        if not (reduction == "none" and data != "concrete")
    ]


def reduction_cell(
    data: str, fold: int, reduction: str, n: int | None = None
) -> dict[str, Any]:
    """Solve equation (5) at one alpha; rows, seconds and objective."""
    items = read(data)
    train, _ = folds(data)[fold]
    train = train[:n]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = L1Ranker(
            1.0, slack="item", reduction=None if reduction == "none" else reduction
        ).fit(items.X[train], items.y[train])
    return {
        "pairs": model.n_rows_[0],
        "rows": model.n_rows_[1],
        "objective": model.objective_,
        "gap": model.gap_,
        "seconds": time.process_time() - start,
    }


def hull_cells(quick: bool) -> list[Settings]:
    """List table 2: dimensions and distributions."""
    return [
        {"kind": kind, "dimension": d, "draw": draw}
        for kind in ("normal", "uniform")
        for d in ((2, 3) if quick else range(2, 10))
        for draw in range(1 if quick else 5)
    ]


def hull_cell(kind: str, dimension: int, draw: int) -> dict[str, Any]:
    """Count corners of the hull of 1000 random points."""
    rng = generator("003", kind, dimension, draw)
    size = (1000, dimension)
    points = rng.normal(size=size) if kind == "normal" else rng.uniform(size=size)
    return {"corners": len(hull_vertices(points))}


def sex_cells(quick: bool) -> list[Settings]:
    """List folds of abalone, whose sex may be one number in the paper."""
    if quick:
        return [{"data": "abalone", "fold": 0, "n": 500}]
    return [{"data": "abalone", "fold": fold} for fold in range(N_FOLDS)]


def sex_cell(data: str, fold: int, n: int | None = None) -> dict[str, Any]:
    """Count rows after the hull reduction with nominal attributes as one number."""
    table, grades = load_uci(data, one_hot=False), read(data).y
    train = folds(data)[fold][0][:n]
    X = StandardScaler().fit_transform(table.X)[train]
    grade = grades[train]
    sizes = [len(hull_vertices(X[grade == g])) for g in np.unique(grade)]
    total = sum(sizes)
    return {"rows": (total**2 - sum(size**2 for size in sizes)) // 2}


def lambda_cells(quick: bool) -> list[Settings]:
    """List the paper's λ axis: data, folds, program and scale of the features."""
    return [
        {"data": data, "fold": fold, "slack": slack, "scale": scale}
        for data in (DATA[1:2] if quick else DATA[1:])
        for fold in range(1 if quick else N_FOLDS)
        for slack in ("item", "hull")
        for scale in ("deviation", "range")
    ]


def lambda_cell(data: str, fold: int, slack: str, scale: str) -> dict[str, Any]:
    """Solve equation (5) at penalties that the paper names; its eight attributes."""
    y = read(data).y
    scaler = StandardScaler() if scale == "deviation" else MinMaxScaler()
    X = scaler.fit_transform(load_uci(data, one_hot=False).X)
    train, test = folds(data)[fold]
    rows = _rows_of(slack, X[train], y[train], fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        path = l1_path(
            X[train][rows], y[train][rows], alphas=LAMBDAS, slack="item", cv=None
        )
    # The path goes from the largest penalty to the smallest.
    coefs = path.coefs[np.argsort(path.alphas)]
    kept = np.count_nonzero(coefs, axis=1)
    return {"kept": kept} | _measures(coefs, X, y, train, test)


EXPERIMENTS = [
    Experiment("003-paths", "weights and τ against α", path_cells, path_cell, ("uci",)),
    Experiment(
        "003-reduction",
        "rows before and after the reduction",
        reduction_cells,
        reduction_cell,
        ("uci",),
    ),
    Experiment("003-hull", "corners of random points", hull_cells, hull_cell),
    Experiment("003-sex", "nominal as one number", sex_cells, sex_cell, ("uci",)),
    Experiment("003-lambda", "the paper's λ axis", lambda_cells, lambda_cell, ("uci",)),
]
