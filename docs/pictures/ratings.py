# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the models that know items by name."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    JudgeBradleyTerry,
    Leaderboard,
    Orders,
    Pairs,
    PlackettLuce,
)
from tiebreak.datasets import load_worldcup2022
from tiebreak.ratings import OrderClusters

from .style import BLUE, GREY, INK, ORANGE, panels

__all__ = [
    "bradley_terry",
    "elo",
    "glicko",
    "judge_bradley_terry",
    "order_clusters",
    "plackett_luce",
    "uncertainty",
]


def bradley_terry(quick: bool) -> Figure:
    """Strengths with intervals, and probabilities of a match, World Cup 2022."""
    cup = load_worldcup2022()
    model = BradleyTerry("rao-kupper").fit(cup.pairs, cup.y)
    best = model.order(model.items_)[:12]
    strengths, match = panels(2, 3.3)
    low, high = model.intervals().T
    rows = np.arange(len(best))
    strengths.hlines(rows, low[best], high[best], color=GREY)
    strengths.plot(model.strength_[best], rows, "o", color=BLUE)
    strengths.set_yticks(rows, model.items_[best])
    strengths.set(ylim=(len(best) - 0.5, -0.5), xlabel="strength, 95 % intervals")
    strengths.set_title("the best 12 of 32 teams, 64 matches")

    d = np.linspace(-5, 5, 101)
    shares = model._link.probabilities(d, model._tie).T
    for share, name, color in zip(
        shares, ("left", "tie", "right"), (BLUE, ORANGE, INK), strict=True
    ):
        match.plot(d, share, color=color, label=name)
    match.set(ylim=(0, 1), xlabel="strength of right − strength of left")
    match.set_ylabel("probability")
    match.set_title(f"equal teams tie in {model.tie_probability_:.0%} of matches")
    match.legend(loc="center left")
    return strengths.figure


def uncertainty(quick: bool) -> Figure:
    """Three questions about one leaderboard: the best, the ranks, and two items."""
    rng, n = np.random.default_rng(3), 8
    skill = np.tile(1500 + 40.0 * np.arange(n, 0, -1), (1600, 1))
    left, right, y = _play(rng, skill, 1600)
    names = np.array(list("ABCDEFGH"))
    board = Leaderboard.from_results(Pairs(None, names[left], names[right]), y)
    table, rows = board.table, np.arange(n)
    best, ranks = panels(2, 3.0)
    ends = table["lower"].to_numpy(), table["upper"].to_numpy()
    for row, could in zip(rows, table["could_be_best"], strict=True):
        if could:
            best.axhspan(row - 0.5, row + 0.5, color=ORANGE, alpha=0.15, lw=0)
    best.hlines(rows, *ends, color=GREY)
    best.plot(table["rating"], rows, "o", color=BLUE)
    first, *others = table["item"].to_list()[:4]
    versus = board.versus(first, *others)
    text = ", ".join(f"{b}: p = {p:.2g}" for b, p in versus["other", "p_value"].rows())
    best.set(yticks=rows, yticklabels=table["item"], ylim=(n - 0.5, -0.5))
    best.set_title("band: could be best", color=ORANGE)
    best.set_xlabel(f"rating; {first} against {text}")
    spans = table["rank_best"].to_numpy(), table["rank_worst"].to_numpy()
    ranks.hlines(rows, *spans, color=INK, lw=3)
    ranks.set(yticks=rows, yticklabels=table["item"], ylim=(n - 0.5, -0.5))
    ranks.set_xlabel("rank, all eight at once")
    ranks.set_title("possible ranks")
    return best.figure


def judge_bradley_terry(quick: bool) -> Figure:
    """How well judges tell items apart, and the strengths with and without that."""
    rng = np.random.default_rng(5)
    n, n_items, n_judges = (1200, 8, 12) if quick else (4800, 20, 24)
    theta = np.linspace(-1.5, 1.5, n_items)
    care = np.where(np.arange(n_judges) < n_judges // 3, 0.0, 1.3)
    care[-1] = -1.3
    judge = rng.integers(0, n_judges, n)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = care[judge] * (theta[right] - theta[left])
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-d)), 1, -1)
    # The average judge has the discrimination 1, and sees the strengths of the model.
    theta, care = theta * care.mean(), care / care.mean()
    pairs = Pairs(None, left, right)
    model = JudgeBradleyTerry().fit(pairs, y, rater=judge)
    plain = BradleyTerry("davidson").fit(pairs, y)
    judges, items = panels(2, 3.0)
    table = model.judges()
    rows = np.arange(n_judges)
    ends = [table[f"discrimination_{end}"] for end in ("lower", "upper")]
    judges.hlines(rows, *ends, color=GREY)
    judges.plot(table["discrimination"], rows, "o", color=BLUE, label="learned")
    truth = care[table["judge"].to_numpy()]
    judges.plot(truth, rows, "|", color=INK, label="true")
    judges.axvline(0, color=ORANGE, linewidth=1)
    judges.set(xlabel="discrimination, 95 % intervals", ylabel="judge")
    judges.set_yticks([])
    judges.invert_yaxis()
    judges.set_title("a third toss coins, one is reversed")
    judges.legend(loc="lower right")
    place = plain.items_.astype(int)
    items.plot(theta[place], plain.strength_, "o", color=GREY, label="all votes equal")
    items.plot(theta[place], model.strength_, "o", color=BLUE, label="with judges")
    items.axline((0, 0), slope=1, color=INK, linewidth=0.8)
    items.set(xlabel="true strength", ylabel="learned strength")
    items.set_title("strengths of the items")
    items.legend()
    return judges.figure


def plackett_luce(quick: bool) -> Figure:
    """Strengths with intervals from lists, and the choices that a list consists of."""
    rng = np.random.default_rng(3)
    names = np.array(["apple", "banana", "cherry", "date", "elder", "fig", "grape"])
    truth = np.linspace(1.2, -1.2, len(names))
    lists = []
    for _ in range(40 if quick else 150):
        some = rng.choice(len(names), 4, replace=False)
        lists.append(
            names[some[np.argsort(-(truth + rng.gumbel(size=7))[some])]].tolist()
        )
    model = PlackettLuce().fit(Orders(None, lists))
    best = model.order(model.items_)
    strengths, choices = panels(2, 3.0)
    low, high = model.intervals().T
    rows = np.arange(len(best))
    strengths.hlines(rows, low[best], high[best], color=GREY)
    strengths.plot(model.strength_[best], rows, "o", color=BLUE, label="learned")
    true = dict(zip(names.tolist(), truth.tolist(), strict=True))
    place = [true[name] for name in model.items_[best]]
    strengths.plot(place, rows, "|", color=ORANGE, markersize=12, label="truth")
    strengths.set_yticks(rows, model.items_[best])
    strengths.set(ylim=(len(best) - 0.5, -0.5), xlabel="strength, 95 % intervals")
    strengths.set_title(f"from {len(lists)} lists of four")
    strengths.legend(loc="lower right")

    example = lists[0]
    strength = dict(zip(model.items_.tolist(), model.strength_.tolist(), strict=True))
    for stage in range(len(example) - 1):
        left = example[stage:]
        odds = np.exp([strength[name] for name in left])
        start = 0.0
        for number, (name, share) in enumerate(
            zip(left, odds / odds.sum(), strict=True)
        ):
            color = BLUE if number == 0 else GREY
            choices.barh(
                stage,
                share,
                left=start,
                color=color,
                alpha=0.6 if number else 1,
                edgecolor="white",
            )
            if share < 0.11:
                start += share
                continue
            choices.annotate(
                f"{name}\n{share:.2f}",
                (start + share / 2, stage),
                ha="center",
                va="center",
                fontsize=7.5,
                color="white" if number == 0 else INK,
            )
            start += share
    choices.set_yticks(range(3), ["1st", "2nd", "3rd"])
    choices.set(ylim=(2.6, -0.6), xlim=(0, 1), xlabel="probability of the next choice")
    choices.set_title("one list: choices among what is left")
    return strengths.figure


def order_clusters(quick: bool) -> Figure:
    """Scores of items in clusters of two tastes; one cluster and more than two."""
    rng = np.random.default_rng(1)
    names = np.array(["toro", "uni", "maguro", "anago", "ebi", "kappa", "tamago"])
    rich = np.linspace(1.5, -1.5, len(names))
    tastes = np.stack([rich, np.array([-1.5, -1.0, 1.5, 0.0, 0.5, 1.0, -0.5])])
    lists = []
    for number in range(60 if quick else 300):
        some = rng.choice(len(names), 5, replace=False)
        liked = tastes[number % 3 // 2] + 0.6 * rng.normal(size=len(names))
        lists.append(names[some[np.argsort(-liked[some])]].tolist())
    orders = Orders(None, lists)
    model = OrderClusters(2).fit(orders)
    scores, distances = panels(2, 3.0)
    rows = np.argsort(np.argsort(-model.scores_[0]))
    shares = np.bincount(model.labels_) / len(orders)
    for own, share, color in zip(model.scores_, shares, (BLUE, ORANGE), strict=True):
        label = f"{share:.0%} of the lists"
        line = np.argsort(rows)
        scores.plot(own[line], rows[line], "o-", color=color, lw=0.8, label=label)
    scores.set_yticks(rows, model.items_)
    scores.set(ylim=(len(names) - 0.5, -0.5), xlabel="score in the center")
    scores.set_title("two clusters, two central orders")
    scores.legend(loc="upper center")
    counts = np.arange(1, 6)
    falls = [OrderClusters(k).fit(orders).inertia_ / len(orders) for k in counts]
    distances.plot(counts, falls, "o-", color=BLUE)
    distances.set_xticks(counts)
    distances.set(ylim=(0, None), xlabel="n_clusters", ylabel="mean of 1 − ρ")
    distances.set_title("distance of the lists from their center")
    return scores.figure


def elo(quick: bool) -> Figure:
    """A player who improves: a small K follows late, a large one shakes."""
    games = 300 if quick else 1500
    rng = np.random.default_rng(0)
    skill = np.full((games, 10), 1200.0) + np.linspace(-150, 150, 10)
    skill[:, 9] = np.where(np.arange(games) < games // 3, 1200, 1500)
    skill += 1200 - skill.mean(axis=1, keepdims=True)  # as the ratings, whose sum stays
    left, right, y = _play(rng, skill, games)
    axes = panels(2, 2.9)
    for axis, k in zip(axes, (8, 40), strict=True):
        history = (
            Elo(k=k).fit(Pairs(None, left, right, names=np.arange(10)), y).history_
        )
        own = history.filter(pl.col("item") == 9)
        axis.plot(skill[:, 9], "--", color=INK, label="true strength")
        axis.plot(own["row"], own["rating"], color=BLUE, label="rating")
        axis.set(xlabel="games of all ten players", ylim=(1050, 1700))
        axis.set_title(f"K = {k}")
    axes[0].set_ylabel("rating")
    axes[0].legend(loc="upper left")
    return axes[0].figure


def glicko(quick: bool) -> Figure:
    """Deviations shrink with games and grow with idle time."""
    periods = 30 if quick else 60
    rng = np.random.default_rng(2)
    left, right, y, when = [], [], [], []
    skill = np.linspace(-200, 200, 8)
    idle = range(periods // 3, 2 * periods // 3)
    for period in range(periods):
        for a, b in rng.permutation(8).reshape(4, 2):
            if period in idle and 7 in (a, b):
                continue
            chance = 1 / (1 + 10 ** ((skill[b] - skill[a]) / 400))
            left.append(a)
            right.append(b)
            y.append(-1 if rng.random() < chance else 1)
            when.append(period)
    pairs = Pairs(None, left, right, names=np.arange(8))
    axes = panels(2, 2.9)
    for axis, model in zip(axes, (Glicko(c=40.0), Glicko2()), strict=True):
        model.fit(pairs, y, period=when)
        own = model.history_.filter(pl.col("item") == 7)
        time, rating = own["period"].to_numpy(), own["rating"].to_numpy()
        deviation = own["deviation"].to_numpy()
        for part in (time < idle.start, time >= idle.stop):
            axis.fill_between(
                time[part],
                rating[part] - 2 * deviation[part],
                rating[part] + 2 * deviation[part],
                color=BLUE,
                alpha=0.2,
                linewidth=0,
            )
            axis.plot(time[part], rating[part], color=BLUE)
        axis.axhline(
            1500 + skill[7] - skill.mean(), color=INK, linestyle="--", label="truth"
        )
        axis.axvspan(idle.start, idle.stop - 1, color=GREY, alpha=0.15, linewidth=0)
        axis.annotate("does not play", (periods / 2, 1000), ha="center")
        axis.set(xlabel="period", ylim=(950, 2350))
        axis.set_title(type(model).__name__)
    axes[0].set_title("Glicko(c=40)")
    axes[0].set_ylabel("rating ± two deviations")
    axes[1].legend(loc="upper right")
    return axes[0].figure


def _play(
    rng: np.random.Generator, skill: np.ndarray, games: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # Random opponents; wins, and draws between those who are close, by strength.
    left = rng.integers(0, skill.shape[1], games)
    right = (left + rng.integers(1, skill.shape[1], games)) % skill.shape[1]
    rows = np.arange(games)
    d = (skill[rows, right] - skill[rows, left]) * np.log(10) / 400
    odds = np.stack([np.exp(-d / 2), np.full(games, 0.5), np.exp(d / 2)])
    share = np.cumsum(odds / odds.sum(axis=0), axis=0)
    return left, right, (rng.random(games) > share[:2]).sum(axis=0) - 1
