# SPDX-License-Identifier: BSD-3-Clause
"""Table 3: orders of sushi by people who disagree (broad) or agree (narrow).

The survey made both samples by k-o'means and does not say how. Here the broad sample is
people at random, and the narrow one people of the tightest of ten clusters of all 5000.
Its 12 binary attributes are taken to be the minor groups.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from papers.experiment import Experiment, Settings, generator
from papers.supervised_ordering.methods import METHODS, cross_validate
from tiebreak import Orders
from tiebreak.datasets import load_sushi_orders
from tiebreak.ratings import OrderClusters

__all__ = ["PUBLISHED", "SUSHI"]

# Lists, their length, the sample; then Cohen, RB, SVOR, OSVM and ERR of the survey.
PUBLISHED = {
    (500, 10, "broad"): (0.364, 0.384, 0.393, 0.400, 0.397),
    (100, 5, "broad"): (0.354, 0.356, 0.284, 0.315, 0.271),
    (100, 2, "broad"): (0.337, 0.281, 0.115, 0.208, 0.010),
    (500, 10, "narrow"): (0.543, 0.583, 0.719, 0.708, 0.705),
    (100, 5, "narrow"): (0.548, 0.612, 0.646, 0.655, 0.617),
    (100, 2, "narrow"): (0.577, 0.542, 0.522, 0.540, 0.421),
}
MORE = ("err-linear", "rb-300", "rb-lists", "cohen-bayes")
N_DRAWS = 10
N_CLUSTERS = 10


@cache
def _read() -> Orders:
    orders = load_sushi_orders("b").orders
    values = orders.values
    groups = values[:, [2]] == np.arange(12)
    return orders.with_items(np.hstack([groups, values[:, 3:]]))


@cache
def _tightest() -> np.ndarray:
    """Give the people of the tightest cluster that is large enough."""
    clusters = OrderClusters(N_CLUSTERS, n_init=3).fit(_read())
    members = [np.flatnonzero(clusters.labels_ == c) for c in range(N_CLUSTERS)]
    large = [own for own in members if len(own) >= 500]
    return min(large, key=lambda own: float(clusters.distance_[own].mean()))


def cells(quick: bool) -> list[Settings]:
    """List sizes, samples, draws and methods."""
    if quick:
        small = {"n": 20, "length": 5, "sample": "broad", "draw": 0}
        return [small | {"method": method} for method in ("cohen", "err-linear")]
    return [
        {"n": n, "length": length, "sample": sample, "draw": draw, "method": method}
        for n, length, sample in PUBLISHED
        for draw in range(N_DRAWS)
        for method in (*METHODS, *MORE)
    ]


def cell(n: int, length: int, sample: str, draw: int, method: str) -> dict[str, Any]:
    """Ten folds of people; lists of ten to be predicted."""
    orders, rng = _read(), generator("004-sushi", sample, draw)
    people = _tightest() if sample == "narrow" else np.arange(len(orders))
    people = rng.permutation(people)[:n]
    mine = orders[people]
    return cross_validate(method, mine, mine, length, 10, draw)


SUSHI = Experiment("004-table3", "ρ on orders of sushi", cells, cell, ("sushi",))
