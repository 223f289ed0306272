# SPDX-License-Identifier: BSD-3-Clause
"""Rank language models by pairwise votes, with ties, raters and categories.

Uses two published sets of votes where they are present, see
``tiebreak.datasets.load_published``; else invented votes. Run it
with ``python examples/language_models.py [FOLDER]``; the picture goes to FOLDER, by
default the current one.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.datasets import load_published
from tiebreak.report import LeaderboardDisplay

N_MODELS = 12  # of the invented votes


def load_votes() -> tuple[str, Pairs, np.ndarray, dict[str, np.ndarray]]:
    """Give a name, the votes, outcomes, and which votes are on which topic."""
    try:
        votes = load_published("lm_arena_140k")
    except FileNotFoundError:
        return simulate_votes()
    topics = {name: votes[name] == 1 for name in ("math", "creative_writing")}
    return "votes of an arena", votes.pairs, votes.y, topics


def simulate_votes(n: int = 6000) -> tuple:
    """Draw votes on two topics; the last model is good at math and else poor."""
    rng = np.random.default_rng(0)
    math = rng.random(n) < 0.3
    quality = np.tile(np.linspace(1.2, -1.2, N_MODELS), (n, 1))
    quality[math, -1] += 2.0
    left = rng.integers(N_MODELS, size=n)
    right = (left + rng.integers(1, N_MODELS, size=n)) % N_MODELS
    vote = np.arange(n)
    noisy = quality[vote, right] - quality[vote, left] + rng.logistic(size=n)
    y = np.where(np.abs(noisy) < 0.6, 0, np.sign(noisy)).astype(int)
    names = np.array([f"model-{number:02d}" for number in range(1, N_MODELS + 1)])
    topics = {"math": math, "creative_writing": ~math}
    return "simulated votes", Pairs(None, names[left], names[right]), y, topics


def load_crowd() -> tuple[str, Pairs, np.ndarray, np.ndarray]:
    """Give a name, the votes, outcomes, and the people who judged."""
    try:
        crowd = load_published("llmfao", download=False)
    except FileNotFoundError:
        return simulate_crowd()
    return "votes of a crowd", crowd.pairs, crowd.y, crowd.rater


def simulate_crowd(n_people: int = 60, votes_each: int = 40) -> tuple:
    """Draw votes of people who have tastes of their own, on top of the quality."""
    rng = np.random.default_rng(1)
    quality = np.linspace(1.0, -1.0, N_MODELS)
    taste = quality + rng.normal(scale=0.8, size=(n_people, N_MODELS))
    person = np.repeat(np.arange(n_people), votes_each)
    left = rng.integers(N_MODELS, size=len(person))
    right = (left + rng.integers(1, N_MODELS, size=len(person))) % N_MODELS
    noisy = taste[person, right] - taste[person, left] + rng.logistic(size=len(person))
    y = np.where(np.abs(noisy) < 0.6, 0, np.sign(noisy)).astype(int)
    pairs = Pairs(None, left, right, names=range(N_MODELS))
    return "simulated votes of a crowd", pairs, y, person


def main(folder: Path) -> None:
    """Print leaderboards, where models shine, and what to ask next."""
    what, pairs, y, topics = load_votes()
    print(f"{len(y):,} {what}, {pairs.n_items} models, {np.mean(y == 0):.0%} ties")
    board = Leaderboard.from_results(pairs, y)
    math = topics["math"]
    at_math = Leaderboard.from_results(pairs[math], y[math])
    for row in board.table.head(5).iter_rows(named=True):
        print(
            f"{row['rank']:3d}  {row['item']:32.32s} {row['rating']:5.0f}   "
            f"rank {row['rank_best']} to {row['rank_worst']}"
        )
    moved = board.table.join(at_math.table, on="item", suffix="_math")
    moved = moved.with_columns(gain=pl.col("rank") - pl.col("rank_math"))
    best = moved.top_k(1, by="gain").row(0, named=True)
    print(
        f"Better at math than overall: {best['item']}, rank {best['rank_math']} at "
        f"math and {best['rank']} overall"
    )
    print("Most informative votes to collect next:")
    for left, right, gain in board.next_pairs(3).iter_rows():
        print(f"  {left} against {right}  ({1000 * gain:.2f} millinats)")

    what, pairs, y, person = load_crowd()
    print(f"\n{len(y):,} {what}, {len(np.unique(person))} people")
    alone = BradleyTerry().fit(pairs, y).standard_errors()
    together = BradleyTerry().fit(pairs, y, rater=person).standard_errors()
    print(
        "Votes of one person depend on each other: clustered by person, standard\n"
        f"errors are {np.median(together / alone):.2f} times those of single votes."
    )

    folder.mkdir(parents=True, exist_ok=True)
    picture = LeaderboardDisplay(board, top=15).plot()
    picture.figure_.savefig(folder / "language_models.png")
    print(f"\nPicture: {folder / 'language_models.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
