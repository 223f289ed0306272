# SPDX-License-Identifier: BSD-3-Clause
"""Where ours is worse than figures 4 and 5: what was tried to find out why.

``others``: other draws, each with a test set of its own. ``offset``: opponents at
offsets of standard deviation 0.6 instead of 0.5. ``wide``: the draws of ``others`` for
SVMcompare, with costs up to 10⁵ instead of 10³. ``early``: the draws of figure 5, with
the program of SVMcompare solved by libsvm as it comes.
"""

from __future__ import annotations

from typing import Any

from papers.experiment import Experiment, Settings
from papers.svmcompare.methods import (
    METHODS,
    choose,
    draw,
    grid_of_costs,
    judge,
    true_model,
)

__all__ = ["CHECKS"]

N_PAIRS, OFFSET = 400, 0.6
# Draws that no figure has.
SEEDS = range(100, 108)
# What is tried on them, with which methods.
TRIED = {
    "others": (*METHODS, "true"),
    "offset": (*METHODS, "true"),
    "wide": ("compare",),
}


def cells(quick: bool) -> list[Settings]:
    """List what is tried, with how much."""
    if quick:
        return [_settings("early", "sushi", 0.9, 0, "early", "auc") | {"n": 40}]
    new = [
        _settings(tried, "linf", ties, seed, method, scoring)
        for seed in SEEDS
        for ties, scoring in ((0.1, "auc"), (0.5, "auc"), (0.5, "error"))
        for tried, methods in TRIED.items()
        for method in methods
        if scoring == "auc" or method in ("compare", "true")
    ]
    early = [
        _settings("early", data, ties, seed, "early", "auc")
        for data, shares in (("linf", (0.1, 0.5)), ("sushi", (0.1, 0.5, 0.9)))
        for ties in shares
        for seed in range(4)
    ]
    return new + early


def _settings(
    tried: str, data: str, ties: float, seed: int, method: str, scoring: str
) -> Settings:
    return {
        "tried": tried,
        "data": data,
        "ties": ties,
        "seed": seed,
        "method": method,
        "scoring": scoring,
    }


def cell(
    tried: str,
    data: str,
    ties: float,
    seed: int,
    method: str,
    scoring: str,
    n: int = N_PAIRS,
) -> dict[str, Any]:
    """Choose on the validation set and judge on the test set, as the figures do."""
    train, valid, test = draw(
        data,
        n,
        ties,
        seed,
        test_seed=None if tried == "early" else seed,
        offset=OFFSET if tried == "offset" else 0.5,
    )
    if method == "true":
        return true_model(data, test)
    costs = grid_of_costs(1e5 if tried == "wide" else 1e3)
    model, chosen = choose(method, train, valid, scoring, costs=costs)
    return judge(model, test) | chosen


CHECKS = Experiment(
    "000-checks", "what was tried where ours is worse", cells, cell, ("sushi",)
)
