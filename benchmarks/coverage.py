# SPDX-License-Identifier: BSD-3-Clause
"""Whether statements about strengths hold: ``python -m benchmarks.coverage``.

Tournaments of known strengths are drawn again and again, rated with the default model,
and every statement is compared with the truth; and studies of `tiebreak ask` end where
its page says that the goal is reached. The table has a share of true statements and its
standard error over tournaments, whose statements are not independent. A row is repeated
until the errors of its shares are at most ``--error``; results are kept in ``--log``,
and the command goes on where that file ends.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from benchmarks.asking import stop_once
from tiebreak import BradleyTerry, Orders, Outcome, Pairs, PlackettLuce
from tiebreak.datasets import load_worldcup2022
from tiebreak.ratings.leaderboard import rank_columns
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
    n = setting.n_items
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
        results = Outcome.parse(outcome, meaning="sign")
        model.fit(Pairs(None, left, right), results, **given)
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


_PAIRS = 20  # of two items in a tournament; likelihood ratios of all would take long


def judge(model: Any, truth: Floats, setting: Setting) -> Coverage:
    """Compare all statements about one tournament with the truth."""
    n, full = len(truth), model._coefficient_distribution(None)
    model._coefficient_distribution = lambda *_: full  # once for all statements
    known = model.contrasts()
    lower, upper = (known.posterior.quantile(share) for share in (0.025, 0.975))
    i, j = np.triu_indices(n, 1)
    drawn = np.random.default_rng(int(1e9 * np.ptp(truth)))
    some = drawn.permutation(len(i))[:_PAIRS]
    i, j = i[some], j[some]
    gap, apart = known.compare(i, j, 0.95), truth[j] - truth[i]
    found = Separation.of(known.posterior, 0.95, known.component)
    _, surely = found._apart(np.arange(n))
    wrong = surely & ~(truth[:, None] > truth[None, :])
    board = rank_columns(known, np.arange(n), 0.95)
    # Among those that it meets, if only through others.
    met = known.component[:, None] == known.component
    order = 1 + (met & (truth > truth[:, None])).sum(axis=1)
    last = (met & (truth >= truth[:, None])).sum(axis=1)
    # Equal items share all ranks between these; an interval must meet them.
    ranked = ((board["rank_best"] <= last) & (order <= board["rank_worst"])).all()
    tie = np.full(1, np.nan)
    if setting.lists is None and model.ties_.any() and not setting.opinion:
        share = TRUTHS[setting.truth](apart)[:, 1]
        pairs = Pairs(None, model.items_[i], model.items_[j])
        low, high = model.predict_interval(pairs)[:, 1].T
        tie = (low <= share) & (share <= high)
    first = truth == truth.max()
    best = np.array(board["could_be_best"])
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
        float((found.ranks()[:, 0] == 1).sum()),
        called,
        float((upper - lower).mean()),
    )


@dataclass(frozen=True)
class Study:
    """A study of `tiebreak ask` that ends where its goal is said to be reached."""

    n_items: int
    goal: str
    spread: float
    most: int = 1500  # answers


@dataclass(frozen=True)
class End:
    """How a study ended."""

    stopped: float
    true: float  # of those that stopped: the best are right, or the share of pairs
    wrongly: float  # of all: stopped, and the best are not right
    answers: float


Row = tuple[float, ...]


def one(setting: Setting | Study, seed: tuple[int, ...]) -> Row | None:
    """Draw and judge one tournament; None if nothing but ties came out."""
    if isinstance(setting, Study):
        n, goal, spread, most = astuple(setting)
        end = stop_once(n, goal, spread, seed[-1], 0.95, most)
        right, count = (math.nan, math.nan) if end is None else end
        wrongly = math.nan if goal == "ranking" else float(right < 1.0)
        return float(end is not None), right, wrongly, count
    model, truth = play(setting, seed)
    if np.isinf(model.tie_).any():
        return None
    return astuple(judge(model, truth, setting))


def measure(setting: Setting, n_tournaments: int, seed: int = 0) -> Coverage:
    """Draw tournaments, and give the shares of true statements."""
    rows = [one(setting, (seed, k)) for k in range(n_tournaments)]
    found = np.array([row for row in rows if row is not None], dtype=np.float64)
    return Coverage(*found.mean(axis=0).tolist())


_BOTH = (0.5, 0.8, 1.5)
SETTINGS: list[Setting | Study] = [
    *(
        Setting(truth=truth, games=games, spread=spread)
        for truth in ("davidson", "rao-kupper")
        for games in (30, 200)
        for spread in _BOTH
    ),
    *(Setting(truth=truth, games=3) for truth in TRUTHS),
    *(
        Setting(truth=truth, games=games)
        for truth in ("no ties", "thurstone")
        for games in (30, 200)
    ),
    *(
        Setting(games=60, spread=spread, newcomer=games)
        for spread in (0.5, 1.0)
        for games in (10, 30)
    ),
    *(
        Setting(n_items=12, games=games, raters=12, opinion=0.4, unequal=unequal)
        for unequal in (True, False)
        for games in (60, 200, 1000)
    ),
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
    *(Study(8, "best", spread) for spread in (0.0, 0.3, 0.5, 1.0, 2.0)),
    *(Study(10, "top:3", spread) for spread in (0.5, 1.0, 2.0)),
    *(Study(10, "ranking", spread) for spread in (0.5, 1.0, 2.0)),
    *(
        Setting(schedule, "davidson", n, games, spread)
        for schedule, n, games in [
            ("world cup", 32, 4),
            ("hub", 20, 30),
            ("power law", 20, 30),
        ]
        for spread in _BOTH
    ),
    *(Setting(games=games, spread=0.0) for games in (1, 3, 30, 200)),
    *(Setting(games=games, spread=None) for games in (1, 3, 30)),
    *(
        Setting(n_items=12, games=60, raters=raters, opinion=opinion)
        for raters in (1, 2, 3, 5, 20, 200)
        for opinion in (0.0, 0.6)
        if raters > 2 or not opinion
    ),
]

_RUNS = 25  # of a setting at a time
_EXACT = {"ratings", "differences", "tie", "ranks", "best", "called", "wrongly"}


def summary(rows: list[Row]) -> tuple[Floats, Floats]:
    """Means of the columns, and their standard errors over runs."""
    found = np.array(rows, dtype=np.float64)
    known = ~np.isnan(found)
    n = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, found, 0.0).sum(axis=0) / n
    variance = np.where(known, (found - mean) ** 2, 0.0).sum(axis=0) / n
    # As if half a run more had been wrong: runs that are all right have an error too.
    share = (mean * n + 0.5) / (n + 1.0)
    binary = (~known | np.isin(found, (0.0, 1.0))).all(axis=0)
    variance = np.where(binary, share * (1.0 - share), variance)
    return np.where(known.any(axis=0), mean, np.nan), np.sqrt(variance / n)


def columns(setting: Setting | Study) -> list[str]:
    """Names of what is measured."""
    kind = End if isinstance(setting, Study) else Coverage
    return [field.name for field in fields(kind)]


def is_exact(setting: Setting | Study, rows: list[Row], error: float) -> bool:
    """Whether the errors of all shares are small enough."""
    if len(rows) < 2 * _RUNS:
        return False
    mean, errors = summary(rows)
    shares = np.array([name in _EXACT for name in columns(setting)])
    return bool((errors[shares & ~np.isnan(mean)] <= error).all())


def describe(setting: Setting | Study) -> str:
    """Name a row."""
    spread = "prior" if setting.spread is None else f"{setting.spread:g}"
    if isinstance(setting, Study):
        return f"{setting.goal} of {setting.n_items}, spread {spread}"
    if setting.lists is not None:
        parts = ["{0} lists, best {2} of {1}".format(*setting.lists)]
    else:
        parts = [setting.schedule, setting.truth, f"{setting.games:g} games"]
    parts += [f"{setting.n_items} items", f"spread {spread}"]
    if setting.newcomer:
        parts.append(f"newcomer {setting.newcomer}")
    if setting.raters is not None:
        parts.append(f"{setting.raters}{' unequal' * setting.unequal} raters")
        parts.append(f"opinions {setting.opinion:g}")
    return ", ".join(parts)


def read_log(path: Path) -> dict[str, dict[int, list[Row]]]:
    """Runs of every row by their first number."""
    found: dict[str, dict[int, list[Row]]] = defaultdict(dict)
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            found[row["setting"]][row["first"]] = row["runs"]
    return found


def block(setting: Setting | Study, first: int) -> str:
    """Some runs, as a line of the log."""
    runs = [one(setting, (1, first + k)) for k in range(_RUNS)]
    kept = [[round(x, 5) for x in row] for row in runs if row is not None]
    return json.dumps({"setting": describe(setting), "first": first, "runs": kept})


def main() -> None:
    """Measure every setting and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1000, help="most runs of a row")
    parser.add_argument("--error", type=float, default=0.007, help="of a share")
    parser.add_argument("--log", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-k", default="", help="pattern: only rows that match")
    options = parser.parse_args()
    chosen = [row for row in SETTINGS if re.search(options.k, describe(row))]
    for first in range(0, options.n, _RUNS):
        known = read_log(options.log)
        todo = []
        for setting in chosen:
            own = known[describe(setting)]
            rows = [row for runs in own.values() for row in runs]
            if first not in own and not is_exact(setting, rows, options.error):
                todo.append(delayed(block)(setting, first))
        for line in Parallel(options.jobs, return_as="generator_unordered")(todo):
            with options.log.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    print(table(read_log(options.log)))


def table(known: dict[str, dict[int, list[Row]]]) -> str:
    """Write the tables of tournaments and of studies."""
    lines: list[str] = []
    heads: list[str] = []
    for setting in sorted(SETTINGS, key=lambda one: isinstance(one, Study)):
        rows = [row for runs in known[describe(setting)].values() for row in runs]
        if not rows:
            continue
        if heads != columns(setting):
            heads = columns(setting)
            names = [name.replace("_", " ") for name in heads]
            lines += ["", f"| setting | {' | '.join(names)} | runs |"]
            lines += [f"|---|{(len(heads) + 1) * '---:|'}"]
        cells = []
        for name, mean, error in zip(heads, *summary(rows), strict=True):
            cell = "" if math.isnan(mean) else f"{mean:.3g}"
            if cell and name in {*_EXACT, "true"}:
                cell = f"{mean:.3f} ± {error:.3f}".replace("0.", ".")
            cells.append(cell)
        lines.append(f"| {describe(setting)} | {' | '.join(cells)} | {len(rows)} |")
    return "\n".join(lines[1:])


if __name__ == "__main__":
    main()
