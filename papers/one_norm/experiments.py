# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1 and 2 (paths), tables 1 and 2 (reduction), and more features than that."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from papers.experiment import Experiment, Settings, generator
from papers.one_norm.data import DATA, N_FOLDS, folds, read
from tiebreak import L1Ranker, l1_path
from tiebreak.datasets import load_uci
from tiebreak.metrics import kendall_tau_b, swapped_pairs
from tiebreak.solvers.hull import hull_vertices

__all__ = ["EXPERIMENTS", "SMALLEST_OF_MANY"]

SLACKS = ("pair", "item", "item-weighted")
N_ALPHAS = 25
# Smallest alpha relative to the largest. With 32 features and a slack for every pair
# smaller ones take hundreds of linear programs each.
SMALLEST, SMALLEST_OF_MANY = 1e-3, 0.03


def path_cells(quick: bool) -> list[Settings]:
    """List data, slacks and folds of figures 1 and 2, and one set of 32 features."""
    if quick:
        cells = [{"data": "concrete", "slack": slack, "fold": 0} for slack in SLACKS]
        return [cell | {"n_alphas": 5} for cell in cells]
    return [
        {"data": data, "slack": slack, "fold": fold}
        for data in (*DATA, "bank32nh")
        for slack in SLACKS
        for fold in range(N_FOLDS)
    ]


def path_cell(
    data: str, slack: str, fold: int, n_alphas: int = N_ALPHAS
) -> dict[str, Any]:
    """Follow the path on the training items; judge every alpha on the test items."""
    items = read(data)
    train, test = folds(data)[fold]
    many = data == "bank32nh" and slack == "pair"
    start = time.process_time()
    with warnings.catch_warnings():
        # That slacks per item can pay for everything is what this is to show.
        warnings.simplefilter("ignore", UserWarning)
        path = l1_path(
            items.X[train],
            items.y[train],
            n_alphas=n_alphas,
            eps=SMALLEST_OF_MANY if many else SMALLEST,
            slack=slack,
            cv=None,
        )
    seconds = time.process_time() - start
    rows = []
    for w in path.coefs:
        utility, own = items.X[test] @ w, items.X[train] @ w
        rows.append(
            {
                "tau": _tau(items.y[test], utility),
                "cut": _tau(items.y[test], _cut(utility, own, items.y[train])),
                "swapped": swapped_pairs(items.y[test], utility),
            }
        )
    return {
        "alphas": path.alphas,
        "coefs": path.coefs,
        "seconds": seconds,
        **{name: [row[name] for row in rows] for name in rows[0]},
    }


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
]
