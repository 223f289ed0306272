# SPDX-License-Identifier: BSD-3-Clause
"""The three methods of the paper, their data and how their parameters are chosen."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.experiment import generator
from papers.svmcompare.early import EarlyCompare
from tiebreak import OnItems, Pairs, RankSVM, SVMCompare, ThresholdCompare, tune
from tiebreak.datasets import load_sushi_pairs, make_norms
from tiebreak.metrics import comparison_auc, get_scorer

__all__ = [
    "GAMMAS",
    "METHODS",
    "NORMS",
    "Drawn",
    "choose",
    "draw",
    "draw_uniform",
    "judge",
    "sushi",
    "true_model",
]

NORMS = {"l1": 1.0, "l2": 2.0, "linf": np.inf}
# Offsets between opponents in the script of the figure of 2014; later ones are normal.
UNIFORM = {"l1": (-0.5, 0.5), "l2": (-1.0, 0.5), "linf": (-1.0, 1.0)}
METHODS = {
    "rank": lambda: ThresholdCompare(RankSVM(C=1.0)),
    "rank2": lambda: ThresholdCompare(RankSVM(C=1.0, ties="both")),
    "compare": lambda: SVMCompare(tie_weight=1),
}
GAMMAS = np.geomspace(2.0**-7, 2.0**4, 10)
N_TEST = 10_000
# Fewer of the sushi pairs differ: at a share of ties of 0.1 this is what is left.
N_SUSHI_TEST = 5_000


class Drawn(NamedTuple):
    """Comparisons and outcomes."""

    pairs: Pairs
    y: np.ndarray


@cache
def sushi() -> Drawn:
    """Read all 25,000 comparisons of sushi."""
    found = load_sushi_pairs(random_state=0)
    return Drawn(found.pairs, found.y)


def draw(
    data: str,
    n: int,
    ties: float,
    seed: int,
    test_seed: int | None = None,
    offset: float | tuple[float, float] = 0.5,
) -> tuple[Drawn, Drawn, Drawn]:
    """Draw training, validation and test comparisons with the same share of ties.

    The test set of a simulation is one, the same for all sizes and seeds, unless a seed
    of its own is given.
    """
    rng = generator(data, n, ties, seed)
    if data == "sushi":
        pairs, y = sushi()
        order = rng.permutation(len(y))
        tied, others = order[y[order] == 0], order[y[order] != 0]
        parts = []
        for size in (n, n, N_SUSHI_TEST):
            n_tied = round(ties * size)
            rows = np.concatenate([tied[:n_tied], others[: size - n_tied]])
            tied, others = tied[n_tied:], others[size - n_tied :]
            parts.append(Drawn(pairs[rows].compact(), y[rows]))
        return parts[0], parts[1], parts[2]
    own = () if test_seed is None else (test_seed,)
    made = [
        make_norms(
            size, norm=NORMS[data], tie_share=ties, offset=offset, random_state=source
        )
        for size, source in (
            (n, rng),
            (n, rng),
            (N_TEST, generator("test", data, *own)),
        )
    ]
    train, valid, test = (Drawn(part.pairs, part.y) for part in made)
    return train, valid, test


def draw_uniform(
    data: str, n: int, ties: float, seed: int
) -> tuple[Drawn, Drawn, Drawn]:
    """Draw as the figures of 2014: uniform offsets, and a test set for every seed."""
    if data == "sushi":
        return draw(data, n, ties, seed)
    return draw(data, n, ties, seed, test_seed=seed, offset=UNIFORM[data])


def choose(
    method: str,
    train: Drawn,
    valid: Drawn,
    scoring: str,
    size: int = 10,
) -> tuple[Pipeline, dict[str, Any]]:
    """Fit the paper's grid and keep what is best on the validation set."""
    make = EarlyCompare if method == "early" else METHODS[method]
    model = make_pipeline(OnItems(StandardScaler()), make())
    last = model.steps[-1][0]
    inner = f"{last}__ranker" if method.startswith("rank") else last
    grid = {
        f"{inner}__gamma": np.geomspace(GAMMAS[0], GAMMAS[-1], size).tolist(),
        f"{inner}__C": np.geomspace(1e-3, 1e3, size).tolist(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = tune(
            model,
            *train,
            grid,
            validation=tuple(valid),
            scoring=scoring,
            progress=False,
        )
    names = {
        key.rsplit("__", 1)[-1]: value for key, value in found.best_params_.items()
    }
    return found.best_estimator_, names


def judge(model: Pipeline, test: Drawn) -> dict[str, float]:
    """Error and area of a model on test comparisons."""
    area = get_scorer("auc")(model, test.pairs, test.y)
    if isinstance(model[-1], EarlyCompare):
        return {"auc": area}
    return {"error": 1.0 - model.score(test.pairs, test.y), "auc": area}


def true_model(data: str, test: Drawn) -> dict[str, float]:
    """Error and area of the utility that made the data."""
    made = make_norms(1, norm=NORMS[data], random_state=0)
    utility = made.utility(test.pairs.values)
    d = utility[test.pairs.right] - utility[test.pairs.left]
    predicted = np.where(np.abs(d) <= made.threshold, 0, np.sign(d))
    return {
        "error": float(np.mean(predicted != test.y)),
        "auc": comparison_auc(test.y, d),
    }
