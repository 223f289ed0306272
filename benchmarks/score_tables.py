# SPDX-License-Identifier: BSD-3-Clause
"""Whether statements about score tables hold: ``python -m benchmarks.score_tables``.

Scores of items on tasks are drawn again and again: ability, an own taste of the task
for each item, and a level and a scale of the task. Tasks of one benchmark share half of
the variance of tastes. The truth is what the fit would find with endlessly many tasks:
from the exact probabilities of left, tie and right. Columns: share of ratings inside
their 95 % intervals; share of tables in which no statement about ranks and groups is
wrong; in which the best item could be best; in which no pair is wrongly called
practically equal; mean number of ranks in an interval; and of pairs called equal.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import astuple, dataclass, fields

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import ndtr

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.data.scores import ScoreTable, Tolerance

Floats = NDArray[np.float64]
_WIDTH = 0.5  # standard deviation of the logarithm of a task's scale


@dataclass(frozen=True)
class Setting:
    """A table to be drawn again and again."""

    n_tasks: int
    n_items: int
    spread: float = 0.5  # of abilities, in standard deviations of tastes
    tolerance: float = 0.3
    missing: float = 0.0  # share of the cells
    subtasks: int = 1  # of a benchmark; benchmarks are the units then


def draw(setting: Setting, theta: Floats, rng: np.random.Generator) -> ScoreTable:
    """Draw one table."""
    shape = setting.n_tasks, setting.n_items
    unit = np.arange(shape[0]) // setting.subtasks
    taste = rng.standard_normal(shape)
    if setting.subtasks > 1:
        shared = rng.standard_normal((int(unit.max()) + 1, shape[1]))
        taste = np.sqrt(0.5) * (taste + shared[unit])
    scale = np.exp(_WIDTH * rng.standard_normal((shape[0], 1)))
    scores = 2.0 * rng.standard_normal((shape[0], 1)) + scale * (theta + taste)
    scores[rng.random(shape) < setting.missing] = np.nan
    higher, tolerance = np.zeros(shape[0], dtype=bool), Tolerance(setting.tolerance)
    names = np.arange(shape[1]), np.arange(shape[0])
    return ScoreTable(*names, scores, higher, tolerance, unit)


def limit(setting: Setting, theta: Floats) -> Floats:
    """Give the strengths that endlessly many tasks would show."""
    left, right = np.triu_indices(len(theta), 1)
    points, weight = np.polynomial.hermite_e.hermegauss(61)
    edge = setting.tolerance * np.exp(-_WIDTH * points)
    apart = (theta[right] - theta[left])[:, None]
    below, within = (ndtr((end - apart) / np.sqrt(2.0)) for end in (-edge, edge))
    weight = weight / weight.sum()
    share = np.stack([below @ weight, (within - below) @ weight, 1 - within @ weight])
    pairs = Pairs(None, np.tile(left, 3), np.tile(right, 3), names=range(len(theta)))
    outcome, votes = np.repeat([-1, 0, 1], len(left)), 1e5 * share.ravel()
    model = BradleyTerry().fit(pairs, outcome, sample_weight=votes)
    return model.strength_[np.argsort(model.items_)]


@dataclass(frozen=True)
class Coverage:
    """Shares of statements that were true, and how much they say."""

    ratings: float
    ranks: float
    best: float
    equal: float
    width: float
    called_equal: float


def one(setting: Setting, seed: tuple[int, ...]) -> tuple[float, ...]:
    """Draw and judge one table."""
    rng = np.random.default_rng(seed)
    theta = setting.spread * rng.standard_normal(setting.n_items)
    table = draw(setting, theta, rng)
    left, right, y, task = table.compare()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BradleyTerry().fit(
            Pairs(None, left, right, names=table.names), y, unit=table.unit[task]
        )
        truth = limit(setting, theta)
    lower, upper = model.intervals().T
    truth = truth[model.items_] - truth.mean()
    board = Leaderboard(model).table.sort("item")
    better = (theta[None, :] > theta[:, None]).sum(axis=1)
    worse = (theta[None, :] < theta[:, None]).sum(axis=1)
    first, last = board["rank_best"].to_numpy(), board["rank_worst"].to_numpy()
    # Equal items share all ranks between these; an interval must meet them.
    met = (first <= len(theta) - worse) & (last >= 1 + better)
    # Too many groups are not listed; ranks say the same of different items.
    letters = [set((group or "a").split(" ")) for group in board["group"]]
    apart = np.array([[not a & b for b in letters] for a in letters])
    wrong = apart & (theta[None, :] == theta[:, None])
    could = board["could_be_best"].to_numpy()
    equal = table.differences(0.95).filter("equal")
    gap = theta[equal["item"].to_numpy()] - theta[equal["other"].to_numpy()]
    largest = np.exp(_WIDTH**2 / 2) * np.abs(gap).max(initial=0.0)
    found = Coverage(
        float(((lower <= truth) & (truth <= upper)).mean()),
        float(met.all() and not wrong.any()),
        float(could[theta.argmax()]),
        float(largest <= setting.tolerance),
        float((last - first + 1).mean()),
        float(len(equal)),
    )
    return astuple(found)


def measure(setting: Setting, n_tables: int, jobs: int = 1) -> Coverage:
    """Draw tables, and give the shares of true statements."""
    rows = Parallel(jobs)(delayed(one)(setting, (0, k)) for k in range(n_tables))
    return Coverage(*np.mean(np.array(rows, dtype=np.float64), axis=0).tolist())


SETTINGS = [
    *(
        Setting(tasks, items, spread)
        for tasks, items in [(10, 5), (10, 20), (10, 50), (30, 20), (200, 5), (200, 50)]
        for spread in (0.0, 0.5, 1.5)
    ),
    Setting(30, 20, missing=0.3),
    Setting(100, 20, subtasks=5),
    Setting(60, 20, tolerance=0.0),
    Setting(200, 5, spread=0.05, tolerance=0.6),
]


def main() -> None:
    """Measure every setting and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=300, help="tables of a setting")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    kinds = [*fields(Setting), *fields(Coverage)]
    heads = [one.name.replace("_", " ") for one in kinds]
    print(f"| {' | '.join(heads)} |\n|{len(heads) * '---|'}")
    for setting in SETTINGS:
        found = measure(setting, options.n, options.jobs)
        cells = [f"{value:g}" for value in astuple(setting)]
        cells += [f"{value:.3f}" for value in astuple(found)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
