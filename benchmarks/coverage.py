# SPDX-License-Identifier: BSD-3-Clause
"""Whether statements about strengths hold: ``python -m benchmarks.coverage``.

Tournaments of known strengths are drawn again and again, rated with the default model,
and every statement is compared with the truth. Columns: share of ratings, and of
differences of two ratings, inside their 95 % intervals; share of tournaments in which
all statements about ranks and groups together are true; share of tournaments in which
any two items were called different.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from tiebreak import BradleyTerry, Orders, Pairs, PlackettLuce
from tiebreak.datasets import load_worldcup2022
from tiebreak.ratings.strengths.distribution import Separation

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Schedule = tuple[Ints, Ints]


def round_robin(n: int, games: float, rng: np.random.Generator) -> Schedule:
    """All pairs as often as possible, the last round drawn at random."""
    left, right = np.triu_indices(n, 1)
    chosen = np.resize(rng.permutation(len(left)), max(1, round(n * games / 2)))
    return left[chosen], right[chosen]


def world_cup(n: int, games: float, rng: np.random.Generator) -> Schedule:
    """The 64 matches of 2022, repeated; 32 items."""
    pairs = load_worldcup2022().pairs
    times = max(1, round(games / 4))
    return np.tile(pairs.left, times), np.tile(pairs.right, times)


def hub(n: int, games: float, rng: np.random.Generator) -> Schedule:
    """One item meets all the others, who never meet each other."""
    m = max(1, round(n * games / 2))
    return np.zeros(m, dtype=np.int64), 1 + np.resize(np.arange(n - 1), m)


def power_law(n: int, games: float, rng: np.random.Generator) -> Schedule:
    """Item k takes part with a chance proportional to 1/k."""
    share = 1.0 / np.arange(1, n + 1)
    share /= share.sum()
    m = max(1, round(n * games / 2))
    left, right = rng.choice(n, m, p=share), rng.choice(n, m, p=share)
    right[left == right] = (right[left == right] + 1) % n
    return left, right


SCHEDULES: dict[str, Callable[[int, float, np.random.Generator], Schedule]] = {
    "round robin": round_robin,
    "world cup": world_cup,
    "hub": hub,
    "power law": power_law,
}


def davidson(d: Floats) -> Floats:
    """About 23 % ties between equals."""
    odds = np.stack([np.exp(-d / 2), np.full(len(d), 0.6), np.exp(d / 2)], axis=1)
    return odds / odds.sum(axis=1, keepdims=True)


def rao_kupper(d: Floats) -> Floats:
    """About 20 % ties between equals; on the scale of ratings."""
    d = d / (2.0 * expit(0.4))
    left, right = expit(-d - 0.4), expit(d - 0.4)
    return np.stack([left, 1 - left - right, right], axis=1)


def no_ties(d: Floats) -> Floats:
    """Bradley and Terry."""
    return np.stack([expit(-d), 0 * d, expit(d)], axis=1)


def thurstone(d: Floats) -> Floats:
    """Normal instead of logistic, fitted by Bradley and Terry: not quite the model."""
    return np.stack([ndtr(-d / 1.702), 0 * d, ndtr(d / 1.702)], axis=1)


# The truth. What is fitted is the default, which does not know it.
TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "davidson": davidson,
    "rao-kupper": rao_kupper,
    "no ties": no_ties,
    "thurstone": thurstone,
}


@dataclass(frozen=True)
class Setting:
    """A tournament to be drawn again and again."""

    schedule: str = "round robin"
    truth: str = "davidson"
    n_items: int = 20
    games: float = 3  # of an item
    spread: float | None = 0.8  # of the strengths; None: drawn from the prior
    lists: tuple[int, int, int] | None = None  # how many, items seen, items listed
    raters: int | None = None  # who vote; each has an own opinion of every item
    opinion: float = 0.0  # standard deviation of these
    unequal: bool = False  # three raters give 40, 20 and 10 % of the votes
    newcomer: int = 0  # games of an item that is as good as the best


def play(setting: Setting, seed: tuple[int, ...]) -> tuple[Any, Floats]:
    """Give a fitted model of one tournament, and the strengths of its items."""
    rng = np.random.default_rng(seed)
    spread = setting.spread
    if spread is None:
        spread = min(abs(rng.standard_cauchy()), 20.0)
    n = 32 if setting.schedule == "world cup" else setting.n_items
    theta = spread * rng.standard_normal(n)
    if setting.lists is not None:
        return rank_lists(theta, *setting.lists, rng)
    left, right = SCHEDULES[setting.schedule](n, setting.games, rng)
    if setting.newcomer:
        theta = np.append(theta, theta.max())
        left = np.append(left, np.full(setting.newcomer, n))
        right = np.append(right, rng.integers(n, size=setting.newcomer))
        n += 1
    d, given = theta[right] - theta[left], {}
    if setting.raters is not None:
        share = np.full(setting.raters, 1.0 / setting.raters)
        if setting.unequal:
            share[:3], share[3:] = (0.4, 0.2, 0.1), 0.3 / (setting.raters - 3)
        rater = rng.choice(setting.raters, len(left), p=share)
        own = setting.opinion * rng.standard_normal((setting.raters, n))
        d = d + own[rater, right] - own[rater, left]
        given["rater"] = rater
    share = TRUTHS[setting.truth](d).cumsum(axis=1)
    outcome = (rng.random(len(d))[:, None] > share[:, :2]).sum(axis=1) - 1
    model = BradleyTerry()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(Pairs(None, left, right), outcome, **given)
    if setting.opinion:
        theta = population_strengths(theta, setting)
    theta = theta[model.items_]
    return model, theta - theta.mean()


def rank_lists(
    theta: Floats, n_lists: int, n_seen: int, n_listed: int, rng: np.random.Generator
) -> tuple[Any, Floats]:
    """Give a model of lists of the best of the items that their authors saw."""
    drawn = [rng.permutation(len(theta))[:n_seen] for _ in range(n_lists)]
    seen = np.array([i[np.argsort(-theta[i] - rng.gumbel(size=n_seen))] for i in drawn])
    orders = Orders(None, seen[:, :n_listed], seen=seen)
    model = PlackettLuce(unlisted="lower" if n_listed < n_seen else "unknown")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(orders)
    theta = theta[model.items_]
    return model, theta - theta.mean()


def population_strengths(theta: Floats, setting: Setting) -> Floats:
    """Give the strengths that votes of endlessly many raters would have."""
    probability = TRUTHS[setting.truth]
    left, right = np.triu_indices(len(theta), 1)
    points, weight = np.polynomial.hermite_e.hermegauss(31)
    apart = theta[right] - theta[left]
    moved = apart[:, None] + setting.opinion * math.sqrt(2.0) * points
    share = probability(moved.ravel()).reshape(len(apart), len(points), 3)
    mean = np.einsum("k,ikc->ic", weight / weight.sum(), share)
    pairs = Pairs(None, np.tile(left, 3), np.tile(right, 3), names=range(len(theta)))
    outcome = np.repeat([-1, 0, 1], len(left))
    model = BradleyTerry(setting.truth if mean[:, 1].any() else None, alpha=0)
    model.fit(pairs, outcome, sample_weight=1e4 * mean.T.ravel())
    return model.strength_[np.argsort(model.items_)]


@dataclass(frozen=True)
class Coverage:
    """Shares of statements that were true, and how much they say."""

    ratings: float
    differences: float  # of two items, chosen beforehand, without their priors
    tie: float  # intervals of the probability of a tie
    ranks: float  # all at once, with groups
    best: float  # the best item could be best
    size: float  # of the set of items that could be best
    all_pairs: float  # size of that set by comparing all pairs at once
    called: float  # the newcomer differs from its equal by `versus`
    width: float  # of the interval of a rating, mean


def judge(model: Any, truth: Floats, setting: Setting) -> Coverage:
    """Compare all statements about one tournament with the truth."""
    lower, upper = model.intervals().T
    n, known = len(truth), model.contrasts()
    i, j = np.triu_indices(n, 1)
    gap, apart = known.compare(i, j, 0.95), truth[j] - truth[i]
    found = Separation.of(known.posterior, 0.95, known.component)
    _, surely = found._apart(np.arange(n))
    wrong = surely & ~(truth[:, None] > truth[None, :])
    ranks = found.ranks()
    order = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    last = n - (truth[None, :] < truth[:, None]).sum(axis=1)
    # Equal items share all ranks between these; an interval must meet them.
    ranked = ((ranks[:, 0] <= last) & (order <= ranks[:, 1])).all()
    tie = np.full(1, np.nan)
    if setting.lists is None and model.ties_.any() and not setting.opinion:
        share = TRUTHS[setting.truth](apart)[:, 1]
        pairs = Pairs(None, model.items_[i], model.items_[j])
        low, high = model.predict_interval(pairs)[:, 1].T
        tie = (low <= share) & (share <= high)
    first = truth == truth.max()
    best = known.best >= 0.05
    called = math.nan
    if setting.newcomer:
        two = np.flatnonzero(first)
        called = float(known.compare(two[:1], two[1:2], 0.95).p_value[0] < 0.05)
    return Coverage(
        ((lower <= truth) & (truth <= upper)).mean(),
        ((gap.lower <= apart) & (apart <= gap.upper)).mean(),
        tie.mean(),
        float(not wrong.any() and bool(ranked)),
        float(best[first].all()),
        float(best.sum()),
        float((ranks[:, 0] == 1).sum()),
        called,
        float((upper - lower).mean()),
    )


def one(setting: Setting, seed: tuple[int, ...]) -> tuple[float, ...] | None:
    """Draw and judge one tournament; None if nothing but ties came out."""
    model, truth = play(setting, seed)
    if np.isinf(model.tie_).any():
        return None
    return astuple(judge(model, truth, setting))


def measure(
    setting: Setting, n_tournaments: int, seed: int = 0, jobs: int = 1
) -> Coverage:
    """Draw tournaments, and give the shares of true statements."""
    work = (delayed(one)(setting, (seed, k)) for k in range(n_tournaments))
    found = [row for row in Parallel(jobs)(work) if row is not None]
    return Coverage(*np.mean(np.array(found, dtype=np.float64), axis=0).tolist())


SETTINGS: list[Setting] = [
    *(
        Setting(schedule, games=games, spread=spread)
        for schedule, games in [
            ("round robin", 1),
            ("round robin", 3),
            ("round robin", 30),
            ("round robin", 400),
            ("world cup", 4),
            ("hub", 4),
            ("power law", 6),
        ]
        for spread in (0.0, 0.3, 0.8, 1.5)
    ),
    *(
        Setting(truth=truth, games=games)
        for truth in ("rao-kupper", "no ties", "thurstone")
        for games in (3, 30, 200)
    ),
    *(Setting(games=60, spread=0.5, newcomer=games) for games in (10, 30)),
    *(Setting(games=games, spread=None) for games in (1, 3, 30)),
    *(
        Setting("lists", "", n, lists[0] * lists[2] / n, spread, lists)
        for n, lists in [
            (8, (60, 6, 2)),
            (20, (30, 20, 2)),
            (20, (30, 3, 3)),
            (20, (30, 5, 5)),
        ]
        for spread in (0.3, 0.8, 1.5)
    ),
    *(
        Setting(n_items=12, games=60, raters=raters, opinion=opinion)
        for raters in (1, 2, 3, 5, 20, 200)
        for opinion in (0.0, 0.6)
        if raters > 2 or not opinion
    ),
    *(
        Setting(n_items=12, games=games, raters=12, opinion=0.4, unequal=True)
        for games in (60, 200, 1000)
    ),
]


def main() -> None:
    """Measure every setting and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="tournaments of a setting")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    heads = ["schedule", "truth", "items", "games", "spread", "raters", "opinion"]
    heads += [field.name.replace("_", " ") for field in fields(Coverage)]
    print(f"| {' | '.join(heads)} |\n|{len(heads) * '---|'}")
    for setting in SETTINGS:
        found = measure(setting, options.n, jobs=options.jobs)
        games = f"{setting.games:g}"
        if setting.newcomer:
            games += f", newcomer {setting.newcomer}"
        raters = "–" if setting.raters is None else str(setting.raters)
        name = setting.schedule
        if setting.lists is not None:
            name = "{0} lists, best {2} of {1}".format(*setting.lists)
        cells = [name, setting.truth, str(setting.n_items), games]
        cells.append("prior" if setting.spread is None else f"{setting.spread:g}")
        cells += [raters + " unequal" * setting.unequal, f"{setting.opinion:g}"]
        cells += ["–" if math.isnan(x) else f"{x:.3f}" for x in astuple(found)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
