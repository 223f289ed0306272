# SPDX-License-Identifier: BSD-3-Clause
"""Tables 2 and 3, figures 2 to 4: artificial orders and sushi."""

from __future__ import annotations

from typing import Any

from papers.experiment import Experiment, Settings, generator
from papers.supervised_ordering.methods import METHODS, MORE, cross_validate
from papers.supervised_ordering.noise import swaps_at_level
from papers.supervised_ordering.sushi import SUSHI
from tiebreak.datasets import make_orders

__all__ = ["EXPERIMENTS", "GUIDED", "GUIDE_SIZES", "LENGTH"]

DATA = ("li/num", "li/bin", "nl/num", "nl/bin")
DRAWS = 10
# Of lists of five; those of `nl` without noise are in figure 4 too, and have all.
FEW_DRAWS = 4
# Lists to learn from. The text says five, the title of table 2 ten; of the text's
# chances that an item (25.8 %) and a pair (99.5 %) are in none of 270 lists, 0.995²⁷⁰
# and (1 - 20 / 999,000)²⁷⁰, both are those of five.
LENGTH = 5
# What table 2(b) and figure 4 add: 1 % order noise and this much attribute noise.
NOISE = {"num": 0.4, "bin": 0.01}


def _cell(
    data: str,
    method: str,
    draw: int,
    order_noise: float = 0.0,
    attribute_noise: float = 0.0,
    n_items: int = 1000,
    n_orders: int = 300,
    length: int = 10,
    folds: int = 10,
) -> dict[str, Any]:
    shape, kind = data.split("/")
    # Short lists get their noise after they are cut, since the level depends on length.
    swaps = swaps_at_level(length, order_noise)
    made = make_orders(
        n_orders,
        10,
        n_items=n_items,
        attributes="numeric" if kind == "num" else "binary",
        # Not linear: the square and the cube in turn.
        degree=1 if shape == "li" else 2 + draw % 2,
        n_swaps=swaps if length == 10 else 0.0,
        attribute_noise=attribute_noise,
        random_state=generator("004", data, draw),
    )
    return cross_validate(
        method,
        made.orders,
        made.exact,
        length,
        folds,
        draw,
        0.0 if length == 10 else swaps,
    )


def table2_cells(quick: bool) -> list[Settings]:
    """List table 2(a), with more methods, and (b)."""
    if quick:
        return [
            {"data": "li/num", "method": method, "draw": 0, "n_orders": 30, "folds": 2}
            for method in ("cohen", "rb", "svor", "osvm", "err")
        ]
    return [
        {"data": data, "method": method, "draw": draw} | noise | length
        for length in ({"length": LENGTH}, {})
        for draw in range(DRAWS)
        for noisy in (False, True)
        for data in (DATA[2:] if noisy else DATA)
        for noise in [_noise(data) if noisy else {}]
        for method in (METHODS if length else (*METHODS, *MORE))
        if not length or draw < FEW_DRAWS or (data[:2] == "nl" and not noisy)
    ]


def _noise(data: str) -> Settings:
    return {"order_noise": 0.01, "attribute_noise": NOISE[data[-3:]]}


def noise_cells(quick: bool) -> list[Settings]:
    """List figures 2 and 3: levels of order noise and of attribute noise."""
    draws = range(1 if quick else DRAWS)
    levels = [{"order_noise": level} for level in (0.0, 0.01, 0.05, 0.1)]
    levels += [{"attribute_noise": level} for level in (0.2, 0.4, 0.8, 1.6)]
    small: Settings = {"n_orders": 30, "folds": 2} if quick else {}
    return [
        {"data": "nl/num", "method": method, "draw": draw} | level | small
        for level in (levels[1:2] if quick else levels)
        for draw in draws
        for method in (METHODS[:1] if quick else METHODS)
    ]


def size_cells(quick: bool) -> list[Settings]:
    """List figure 4: numbers of items, of lists, and lengths of lists."""
    if quick:
        return [
            {"data": "nl/num", "method": "err", "draw": 0, "n_orders": 20, "folds": 2}
        ]
    sizes: list[Settings] = [{"n_items": n} for n in (50, 200, 5000)]
    sizes += [{"n_orders": n} for n in (50, 100, 1000)]
    cells = []
    for data in DATA[2:]:
        every = [size | _noise(data) for size in sizes]
        # Short lists feel order noise more, so the survey has none here.
        every += [{"length": n} for n in (2, 3, 5)]
        cells += [
            {"data": data, "method": method, "draw": draw} | size
            for size in every
            for draw in range(DRAWS)
            for method in METHODS
        ]
    return cells


# What the survey calls its most important open problem: settings for other sizes.
GUIDED = {
    "svor": ("0.01", "0.1", "1", "10"),
    "osvm": ("0.01", "0.1", "1"),
    "rb": ("30", "100", "300", "1000"),
    "err": ("1", "2", "3"),
}
GUIDE_SIZES: tuple[Settings, ...] = (
    {},
    {"n_items": 50},
    {"n_items": 5000},
    {"n_orders": 100},
    {"n_orders": 2000},
    {"length": 2},
    {"length": 5},
)


def guide_cells(quick: bool) -> list[Settings]:
    """List settings for sizes: two folds of lists, one to learn and one to predict."""
    sizes = GUIDE_SIZES[3:4] if quick else GUIDE_SIZES
    return [
        {"data": "nl/num", "method": f"{method}-{value}", "draw": draw, "folds": 2}
        | ({} if "length" in size else _noise("nl/num"))
        | {"n_orders": 600}
        | size
        for size in sizes
        for draw in range(1 if quick else 2)
        for method, values in GUIDED.items()
        for value in values
    ]


EXPERIMENTS = [
    Experiment(
        "004-table2", "Spearman's rho on artificial orders", table2_cells, _cell
    ),
    Experiment("004-noise", "ρ against noise", noise_cells, _cell),
    Experiment("004-sizes", "ρ against sizes", size_cells, _cell),
    Experiment("004-guide", "settings for other sizes", guide_cells, _cell),
    SUSHI,
]
