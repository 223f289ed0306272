# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4 and 5: error against size, and area against the share of ties."""

from __future__ import annotations

from typing import Any

from papers.experiment import Experiment, Settings
from papers.svmcompare.beyond import BEYOND
from papers.svmcompare.checks import CHECKS
from papers.svmcompare.chess import CHESS, CHESS_2011
from papers.svmcompare.methods import (
    METHODS,
    NORMS,
    choose,
    draw,
    draw_uniform,
    judge,
    true_model,
)

__all__ = ["EXPERIMENTS"]

DATA = (*NORMS, "sushi")
SIZES = (50, 100, 200, 400, 800)
SHARES = tuple(tenth / 10 for tenth in range(1, 10))
SEEDS = 4


def _cells(sizes: tuple[int, ...], shares: tuple[float, ...], quick: bool) -> list[Any]:
    return [
        {"data": data, "n": n, "ties": ties, "seed": seed, "method": method}
        | ({"grid": 3} if quick else {})
        for data in (("l1",) if quick else DATA)
        for n in sizes
        for ties in shares
        for seed in range(1 if quick else SEEDS)
        for method in (*METHODS, *(["true"] if data != "sushi" else []))
    ]


def _uniform(cells: list[Settings]) -> list[Settings]:
    norms = [cell for cell in cells if cell["data"] != "sushi"]
    norms.sort(key=lambda cell: int(cell["seed"]))
    return [cell | {"offsets": "uniform"} for cell in norms]


def error_cells(quick: bool) -> list[Settings]:
    """List sizes, data and methods of figure 4, with normal and uniform offsets."""
    cells = _cells((50,) if quick else SIZES, (0.5,), quick)
    return cells + _uniform(cells)


def area_cells(quick: bool) -> list[Settings]:
    """List shares of ties, data and methods of figure 5, with uniform offsets."""
    cells = _cells((50,) if quick else (400,), (0.5,) if quick else SHARES, quick)
    return [cell for cell in cells if cell["data"] == "sushi"] + _uniform(cells)


def _compute(
    scoring: str,
    data: str,
    n: int,
    ties: float,
    seed: int,
    method: str,
    grid: int,
    offsets: str = "normal",
) -> dict[str, Any]:
    make = draw_uniform if offsets == "uniform" else draw
    train, valid, test = make(data, n, ties, seed)
    if method == "true":
        return true_model(data, test)
    model, chosen = choose(method, train, valid, scoring, grid)
    return judge(model, test) | chosen


def error_cell(
    data: str,
    n: int,
    ties: float,
    seed: int,
    method: str,
    grid: int = 10,
    offsets: str = "normal",
) -> dict[str, Any]:
    """Choose by the smallest error."""
    return _compute("error", data, n, ties, seed, method, grid, offsets)


def area_cell(
    data: str,
    n: int,
    ties: float,
    seed: int,
    method: str,
    grid: int = 10,
    offsets: str = "normal",
) -> dict[str, Any]:
    """Choose by the largest area."""
    return _compute("auc", data, n, ties, seed, method, grid, offsets)


EXPERIMENTS = [
    Experiment(
        "000-figure4",
        "test error against the number of pairs",
        error_cells,
        error_cell,
        ("sushi",),
    ),
    Experiment(
        "000-figure5",
        "area under the curve against the share of ties",
        area_cells,
        area_cell,
        ("sushi",),
    ),
    CHECKS,
    CHESS,
    CHESS_2011,
    BEYOND,
]
