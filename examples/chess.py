# SPDX-License-Identifier: BSD-3-Clause
"""Rate chess players over time, and predict games from what was known before.

Uses the games of the Kaggle contest of 2010 where they are present, see
``tiebreak.datasets.load_chess``; else invented players whose strength drifts. Run it
with ``python examples/chess.py [FOLDER]``; the picture goes to FOLDER, by default the
current one.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import Elo, Glicko, Glicko2, Leaderboard, LogisticCompare, OnItems, Pairs
from tiebreak.datasets import load_chess
from tiebreak.metrics import comparison_log_loss
from tiebreak.selection import evaluate_forward

FIRST_TEST_MONTH, ENOUGH, SURE = 91, 10, 250.0
WHITE = 35  # points that moving first is worth, about
COLUMNS = ("elo", "glicko", "white", "games", "win share", "draw share")
GAMES = COLUMNS.index("games")


def load_games() -> tuple[str, Pairs, np.ndarray, np.ndarray]:
    """Give a name, the games with white on the left, outcomes and months."""
    try:
        games = load_chess(download=False)
    except FileNotFoundError:
        return simulate_games()
    return "games of a contest", games.pairs, games.y, games.month


def simulate_games(n_players: int = 60, n_months: int = 100) -> tuple:
    """Draw 60 games a month of players who get better and worse slowly."""
    rng = np.random.default_rng(0)
    steps = rng.normal(scale=0.15, size=(n_months, n_players))
    strength = rng.normal(scale=1.2, size=n_players) + np.cumsum(steps, axis=0)
    month = np.repeat(np.arange(1, n_months + 1), 60)
    white = rng.integers(n_players, size=len(month))
    black = (white + rng.integers(1, n_players, size=len(month))) % n_players
    ahead = strength[month - 1, black] - strength[month - 1, white] - 0.2
    noisy = ahead + rng.logistic(size=len(month))
    y = np.where(np.abs(noisy) < 0.9, 0, np.sign(noisy)).astype(int)
    return "simulated games", Pairs(None, white, black, names=range(60)), y, month


def describe_players(pairs: Pairs, y: np.ndarray, *ratings: np.ndarray) -> Pairs:
    """Compare players by what was known before a game: ratings, color, record."""
    counts = np.zeros((pairs.n_items, 3))  # games that each player won, drew, lost
    record = np.empty((len(y), 2, 3))
    for row, (white, black) in enumerate(zip(pairs.left, pairs.right, strict=True)):
        record[row] = counts[[white, black]]
        counts[white, 1 + y[row]] += 1
        counts[black, 1 - y[row]] += 1
    games = record.sum(axis=2)
    shares = record[:, :, :2] / np.maximum(games, 1)[:, :, None]
    color = np.tile([1.0, 0.0], (len(y), 1))
    values = np.stack([*ratings, color, games, *np.moveaxis(shares, 2, 0)], axis=2)
    place = np.arange(0, 2 * len(y), 2)
    return Pairs(values.reshape(-1, len(COLUMNS)), place, place + 1)


def main(folder: Path) -> None:
    """Print who is best, which rating predicts best, and what features add."""
    what, pairs, y, month = load_games()
    print(f"{len(y):,} {what}, {pairs.n_items:,} players, {month.max()} months")

    elo = Elo("fide", advantage=WHITE).fit(pairs, y, period=month)
    glicko = Glicko(advantage=WHITE).fit(pairs, y, period=month)
    # The best rating of all may be luck in three games; a narrow interval is not.
    board = Leaderboard(glicko).table
    sure = board.filter(pl.col("upper") - pl.col("lower") < SURE)
    for row in sure.head(4).iter_rows(named=True):
        print(
            f"  player {row['item']:4d}  {row['rating']:.0f}  "
            f"({row['lower']:.0f} to {row['upper']:.0f})  {row['wins']:.0f} won, "
            f"{row['ties']:.0f} drawn, {row['losses']:.0f} lost"
        )

    print("\nRatings on the second half of the months, each from those before:")
    ratings = {
        "Elo, FIDE's rule": Elo("fide", advantage=WHITE, unseen="prior"),
        "Glicko": Glicko(advantage=WHITE, unseen="prior"),
        "Glicko-2": Glicko2(advantage=WHITE, unseen="prior"),
    }
    result = evaluate_forward(
        ratings, pairs, y, period=month, n_splits=5, min_train=0.5
    )
    for row in result.table.iter_rows(named=True):
        print(f"  {row['model']:17s} log loss {row['log_loss']:.3f}")

    print(f"\nSix features of both players, months {FIRST_TEST_MONTH} to 100:")
    features = describe_players(pairs, y, elo.before_, glicko.before_)
    # Nothing is known of a player's first games, so they teach nothing.
    known = features.values[:, GAMES].reshape(-1, 2).min(axis=1) >= ENOUGH
    past = month < FIRST_TEST_MONTH
    train, test = known & past, known & ~past
    everything = make_pipeline(OnItems(StandardScaler()), LogisticCompare(alpha=1.0))
    everything.fit(features[train], y[train])
    ratings_only = features.with_items(features.values[:, [0, 1]])
    simple = make_pipeline(OnItems(StandardScaler()), LogisticCompare(alpha=1.0))
    simple.fit(ratings_only[train], y[train])
    shares = np.bincount(y[train] + 1) / train.sum()
    for name, proba in {
        "all features": everything.predict_proba(features[test]),
        "Elo and Glicko": simple.predict_proba(ratings_only[test]),
        "baseline": np.tile(shares, (test.sum(), 1)),
    }.items():
        print(f"  {name:17s} log loss {comparison_log_loss(y[test], proba):.3f}")
    weights = everything[-1].coef_
    most = np.argsort(-np.abs(weights))[:4]
    told = (f"{COLUMNS[j]} {weights[j]:+.2f}" for j in most)
    print("  what matters most: " + ", ".join(told))

    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for player in sure["item"].head(5):
        months = glicko.history_.filter(pl.col("item") == player)
        axes.plot(months["period"], months["rating"], label=f"player {player}")
    axes.set(xlabel="month", ylabel="rating")
    axes.legend(frameon=False)
    figure.savefig(folder / "chess.png")
    print(f"\nPicture: {folder / 'chess.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
