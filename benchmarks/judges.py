# SPDX-License-Identifier: BSD-3-Clause
"""Whether judges are modeled well: ``python -m benchmarks.judges``.

Votes of judges with known strengths are drawn again and again and rated with
`JudgeBradleyTerry`. Of mixed judges 30 % toss coins and 5 % vote the other way round,
and all have an own tie width and side bias; equal judges differ in nothing. Columns:
share of strengths, and of differences of two, inside their 95 % intervals, with the
standard error over runs, and Kendall's τ with the truth, of this model and minus that
of `BradleyTerry`. ``--growth`` measures time instead, in seconds of processor,
``--held-out`` the log loss of votes of published sets, each predicted from the
other four fifths, and ``--verdicts`` how often `check_judges` calls honest judges with
own opinions careless, and how often it finds one who tosses coins.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import kendalltau

from tiebreak import (
    BradleyTerry,
    DataWarning,
    JudgeBradleyTerry,
    Pairs,
)
from tiebreak.datasets import (
    load_published,
    load_sushi_pairs,
)
from tiebreak.ratings import check_judges

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """Votes to be drawn again and again."""

    judges: int
    votes: int  # of a judge
    mixed: bool = True
    n_items: int = 10
    ties: str = "davidson"


def draw(setting: Setting, seed: Any) -> tuple[Pairs, Any, Any, Floats]:
    """Give pairs, outcomes, judges, and the strengths that an average judge sees."""
    rng, n, n_judges = np.random.default_rng(seed), setting.n_items, setting.judges
    theta = 0.8 * rng.normal(size=n)
    a, t, b = np.ones(n_judges), np.full(n_judges, math.log(0.6)), np.zeros(n_judges)
    if setting.mixed:
        careless, turned = round(0.3 * n_judges), round(0.05 * n_judges)
        a[:careless], a[careless : careless + turned] = 0.0, -1.0
        t += 0.3 * rng.normal(size=n_judges)
        b += 0.1 + 0.2 * rng.normal(size=n_judges)
    judge = np.repeat(np.arange(n_judges), setting.votes)
    left = rng.integers(0, n, len(judge))
    right = (left + rng.integers(1, n, len(judge))) % n
    d = a[judge] * (theta[right] - theta[left]) - b[judge]
    if setting.ties == "davidson":
        odds = np.stack([np.exp(-d / 2), np.exp(t[judge]), np.exp(d / 2)], axis=1)
        below = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)[:, :2]
    else:
        width = np.exp(t[judge])
        below = 1.0 / (1.0 + np.exp(np.stack([d + width, d - width], axis=1)))
    y = (rng.random(len(judge))[:, None] > below).sum(axis=1) - 1
    truth = (theta - theta.mean()) * a.mean()
    return Pairs._of(None, left, right, np.arange(n)), y, judge, truth


def one(setting: Setting, seed: Any) -> list[float]:
    """Draw, fit, and compare with the truth."""
    pairs, y, judge, truth = draw(setting, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    truth = truth[model.items_]
    low, high = model.intervals().T
    i, j = np.triu_indices(len(truth), 1)
    gap, apart = model.distribution().differences(i, j), truth[j] - truth[i]
    inside = (gap.quantile(0.025) <= apart) & (apart <= gap.quantile(0.975))
    tau, plain = (
        kendalltau(truth, found)[0]
        for found in (model.strength_, model.plain_.strength_)
    )
    covered = ((low <= truth) & (truth <= high)).mean()
    return [covered, inside.mean(), tau, tau - plain, (high - low).mean()]


SETTINGS = [
    Setting(judges, votes, mixed)
    for mixed in (True, False)
    for judges, votes in [
        (5, 20), (5, 100), (5, 400), (20, 20), (20, 100), (100, 10), (100, 50),
        (500, 5), (500, 20),
    ]
]  # fmt: skip


def coverage(n_runs: int, jobs: int, settings: list[Setting]) -> None:
    """Print the table of coverage."""
    heads = ["judges", "votes of each", "they are", "strengths", "differences"]
    heads += ["τ", "τ − τ of BradleyTerry", "width"]
    print(f"| {' | '.join(heads)} |\n|{len(heads) * '---|'}")
    for setting in settings:
        work = (delayed(one)(setting, (k, setting.judges)) for k in range(n_runs))
        rows = np.array(Parallel(jobs)(work))
        mean, error = rows.mean(axis=0), rows.std(axis=0) / math.sqrt(n_runs)
        kind = "mixed" if setting.mixed else "equal"
        cells = [str(setting.judges), str(setting.votes), kind]
        cells += [f"{mean[k]:.3f} ± {error[k]:.3f}" for k in (0, 1)]
        cells += [f"{mean[2]:.3f}", f"{mean[3]:+.3f} ± {error[3]:.3f}"]
        cells.append(f"{mean[4]:.2f}")
        print(f"| {' | '.join(cells)} |", flush=True)


def growth() -> None:
    """Print processor seconds for more and more votes, and the slope."""
    one(Setting(20, 20), 0)  # compile
    sizes, seconds = [62_500, 125_000, 250_000, 500_000, 1_000_000], []
    print("| votes | judges | items | seconds of processor |\n|---|---|---|---|")
    for size in sizes:
        pairs, y, judge, _ = draw(Setting(size // 100, 100, n_items=200), 0)
        begin = time.process_time()
        JudgeBradleyTerry().fit(pairs, y, rater=judge)
        seconds.append(time.process_time() - begin)
        print(f"| {size:,} | {size // 100:,} | 200 | {seconds[-1]:.2f} |", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"\nseconds grow with votes to the power of {slope:.2f}")


def published() -> Iterator[tuple[str, Pairs, Any, Any]]:
    """Give votes of published sets, and who cast them."""
    votes = load_published("llmfao")
    yield "llmfao, raters", votes.pairs, votes.y, votes.rater
    games = load_published("football1872")
    since = np.asarray(games.period) >= np.datetime64("2000-01-01")
    pairs, y = games.pairs[since], games.y[since]
    yield "football since 2000, tournaments", pairs, y, games.tournament[since]
    sushi = load_sushi_pairs(0)
    kinds = Pairs(None, *sushi.sushi.T)
    yield "sushi, people", kinds, sushi.y, sushi.person


def held_out() -> None:
    """Print mean log losses of held-out votes, and differences with errors."""
    heads = ["votes, judges", "n", "BradleyTerry", "with a side", "JudgeBradleyTerry"]
    print(f"| {' | '.join(heads)} | difference |\n|{6 * '---|'}")
    for name, pairs, y, judge in published():
        fold = np.random.default_rng(0).permutation(len(y)) % 5
        loss = np.full((3, len(y)), np.nan)
        for k in range(5):
            train = np.flatnonzero(fold != k)
            known = np.union1d(pairs.left[train], pairs.right[train])
            seen = np.isin(pairs.left, known) & np.isin(pairs.right, known)
            test = np.flatnonzero((fold == k) & seen)
            for row, share in enumerate(predicted(pairs, y, judge, train, test)):
                happened = share[np.arange(len(test)), y[test] + 1]
                loss[row, test] = -np.log(happened)
        kept = np.isfinite(loss[0])  # items without other votes are left out
        loss, judge = loss[:, kept], judge[kept]
        gain = loss[2] - loss[0]
        own = np.bincount(np.unique(judge, return_inverse=True)[1], gain - gain.mean())
        cells = [name, f"{len(gain):,}", *(f"{x:.4f}" for x in loss.mean(axis=1))]
        error = math.sqrt(float(own @ own)) / len(gain)
        print(f"| {' | '.join(cells)} | {gain.mean():+.4f} ± {error:.4f} |", flush=True)


def predicted(
    pairs: Pairs, y: Any, judge: Any, train: Any, test: Any
) -> Iterator[Floats]:
    """Give the probabilities of three models."""
    given, ahead = pairs[train], np.ones(len(train))
    yield BradleyTerry("davidson").fit(given, y[train]).predict_proba(pairs[test])
    model = BradleyTerry("davidson").fit(given, y[train], advantage=ahead)
    yield model.predict_proba(pairs[test], advantage=np.ones(len(test)))
    model = JudgeBradleyTerry().fit(given, y[train], rater=judge[train])
    yield model.predict_proba(pairs[test], rater=judge[test])


def verdicts(n_runs: int, jobs: int) -> None:
    """Print how often a table has a wrong verdict, and how often a coin is found."""
    heads = ["judges", "votes of each", "sd of opinions", "honest called careless"]
    heads += ["called of other opinions or unclear", "coin found", "power said"]
    print(f"| {' | '.join(heads)} |\n|{len(heads) * '---|'}")
    for n_judges, votes in [(10, 40), (10, 100), (10, 200), (40, 100)]:
        for taste in (0.0, 0.3, 0.5):
            work = (
                delayed(one_verdict)(n_judges, votes, taste, k) for k in range(n_runs)
            )
            mean = np.mean(Parallel(jobs)(work), axis=0)
            cells = [str(n_judges), str(votes), str(taste), *(f"{x:.2f}" for x in mean)]
            print(f"| {' | '.join(cells)} |", flush=True)


def one_verdict(n_judges: int, votes: int, taste: float, seed: int) -> list[float]:
    """Draw votes of honest judges on ten items, and again with one coin."""
    rng = np.random.default_rng([seed, n_judges, votes])
    own = 0.8 * rng.normal(size=10) + taste * rng.normal(size=(n_judges, 10))
    judge = np.repeat(np.arange(n_judges), votes)
    left = rng.integers(0, 10, len(judge))
    right = (left + rng.integers(1, 10, len(judge))) % 10
    p = 1.0 / (1.0 + np.exp(own[judge, left] - own[judge, right]))
    pairs = Pairs._of(None, left, right, np.arange(10))
    toss = rng.random(len(judge))
    honest = check_judges(pairs, np.where(toss < p, 1, -1), judge).table["verdict"]
    p[judge == 0] = 0.5
    lazy = check_judges(pairs, np.where(toss < p, 1, -1), judge).table.sort("judge")
    careless = honest == "careless"
    other = ~careless & (honest != "")
    found = lazy["verdict"][0] == "careless"
    return [careless.any(), other.any(), found, lazy["power"][0]]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="runs of a setting")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--verdicts", action="store_true")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings")
    given = parser.parse_args()
    if given.growth:
        growth()
    elif given.verdicts:
        verdicts(given.n, given.jobs)
    elif given.held_out:
        warnings.simplefilter("ignore", DataWarning)
        held_out()
    else:
        chosen = SETTINGS if given.only is None else [SETTINGS[k] for k in given.only]
        coverage(given.n, given.jobs, chosen)


if __name__ == "__main__":
    main()
