# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4 and 5 as the authors' programs compute them, where ours differ.

``early``: the draws of figure 5, with the program of SVMcompare solved by libsvm as it
comes. ``grid`` and ``twice``: the draws of figure 4, with the threshold of `rank` and
`rank2` from the grid of the authors' script, on items standardized once and twice.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from papers.experiment import Experiment, Settings
from papers.svmcompare.methods import GAMMAS, NORMS, choose, draw_uniform, judge
from papers.svmcompare.thresholds import GridRank

__all__ = ["CHECKS", "TIES"]

N_PAIRS = 400
TIES: dict[str, Literal["ignore", "both"]] = {"rank": "ignore", "rank2": "both"}


def cells(quick: bool) -> list[Settings]:
    """List what is tried, on which draws."""
    seeds = range(1 if quick else 4)
    early = [
        {"tried": "early", "data": "sushi", "ties": ties, "seed": seed}
        | {"method": "early", "scoring": "auc"}
        for ties in ((0.9,) if quick else (0.1, 0.5, 0.9))
        for seed in seeds
    ]
    found = [
        {"tried": tried, "data": data, "ties": 0.5, "seed": seed}
        | {"method": method, "scoring": "error"}
        for data in (("sushi",) if quick else ("sushi", *NORMS))
        for seed in seeds
        for method in TIES
        for tried in (("grid", "twice") if data == "sushi" else ("twice",))
    ]
    return [cell | {"n": 40} for cell in early + found] if quick else early + found


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
    train, valid, test = draw_uniform(data, n, ties, seed)
    if tried == "early":
        model, chosen = choose(method, train, valid, scoring)
        return judge(model, test) | chosen
    best: tuple[float, dict[str, Any]] = (-1.0, {})
    for gamma in GAMMAS.tolist():
        for C in np.geomspace(1e-3, 1e3, 10).tolist():
            fitted = GridRank(C, gamma, TIES[method], tried == "twice").fit(*train)
            right = fitted.score(*valid)
            if right > best[0]:
                wrong = 1.0 - fitted.score(*test)
                best = right, {"error": wrong, "C": C, "gamma": gamma}
    return best[1]


CHECKS = Experiment(
    "000-checks", "what was tried where ours differs", cells, cell, ("sushi",)
)
