# SPDX-License-Identifier: BSD-3-Clause
"""Rate football teams, with home advantage and draws, and predict matches.

Uses the international results of Mart Jürisoo (CC0) where they are present, see
``tiebreak.datasets.load_published``; else an invented league. Run it with
``python examples/football.py [FOLDER]``; the picture goes to FOLDER, by default the
current one.
"""

import sys
from pathlib import Path

import numpy as np

from tiebreak import BradleyTerry, Elo, Glicko, Leaderboard, Pairs, check_pairs
from tiebreak.datasets import load_published
from tiebreak.report import LeaderboardDisplay
from tiebreak.selection import evaluate_forward

FIRST_DAY, LAST_FOUR = np.datetime64("2006-01-01"), np.datetime64("2022-08-01")
POINTS = 400 / np.log(10)  # of a rating, in one unit of strength


def load_matches() -> tuple[str, Pairs, np.ndarray, np.ndarray, np.ndarray]:
    """Give a name, the matches, their outcomes, who was at home, and the days."""
    try:
        real = load_published("football", download=False)
    except FileNotFoundError:
        return simulate_league()
    rows = established(real.pairs, real.period >= FIRST_DAY)
    pairs, y, home, day = real.pairs, real.y, real.advantage, real.period
    return "international matches", pairs[rows], y[rows], home[rows], day[rows]


def simulate_league(n_teams: int = 18, n_seasons: int = 12) -> tuple:
    """Draw seasons in which every team hosts every other; home is worth 0.4."""
    rng = np.random.default_rng(0)
    names = np.array([f"Team {letter}" for letter in "ABCDEFGHIJKLMNOPQR"[:n_teams]])
    strength = rng.normal(size=n_teams)
    host, guest = np.nonzero(~np.eye(n_teams, dtype=bool))
    season = rng.permuted(np.tile(np.arange(len(host)), (n_seasons, 1)), axis=1).ravel()
    host, guest = host[season], guest[season]
    noisy = strength[guest] - strength[host] - 0.4 + rng.logistic(size=len(host))
    y = np.where(np.abs(noisy) < 0.7, 0, np.sign(noisy)).astype(int)
    day = np.datetime64("2014-08-01") + np.arange(len(host)) * 365 * n_seasons // len(y)
    pairs = Pairs(None, names[host], names[guest])
    return "simulated matches of a league", pairs, y, np.ones(len(y)), day


def established(pairs: Pairs, rows: np.ndarray, at_least: int = 20) -> np.ndarray:
    """Narrow rows down to matches between teams with many of them."""
    while True:
        games = np.bincount(pairs.left[rows], minlength=pairs.n_items)
        games += np.bincount(pairs.right[rows], minlength=pairs.n_items)
        enough = games >= at_least
        kept = rows & enough[pairs.left] & enough[pairs.right]
        if kept.sum() == rows.sum():
            return rows
        rows = kept


def main(folder: Path) -> None:
    """Print the leaderboard of four years and forecasts; draw the leaderboard."""
    what, pairs, y, home, day = load_matches()
    recent = established(pairs, day >= LAST_FOUR)
    print(f"{len(y):,} {what}, {recent.sum():,} of them since {LAST_FOUR}")
    report = check_pairs(pairs[recent], y[recent], advantage=home[recent])
    print(
        "Can every team be rated?",
        "yes" if report.has_maximum_likelihood else "only with a prior",
    )

    model = BradleyTerry()
    model.fit(pairs[recent], y[recent], advantage=home[recent])
    board = Leaderboard(model)
    for row in board.table.head(6).iter_rows(named=True):
        print(
            f"{row['rank']:3d}  {row['item']:12s} {row['rating']:5.0f}   "
            f"{row['lower']:.0f} to {row['upper']:.0f}, "
            f"rank {row['rank_best']} to {row['rank_worst']}"
        )
    print(f"Playing at home is worth {POINTS * model.advantage_:.0f} points.")

    first, second = board.table["item"][:2]
    match = Pairs(None, [first], [second])
    print(f"{first} against {second}, P(win, draw, loss):")
    for where, advantage in [("on neutral ground", 0), ("at home", 1)]:
        proba = model.predict_proba(match, advantage=advantage)[0]
        print(f"  {where:17s} {proba.round(2)}")

    print("\nWhich model predicts best? The last half of the matches, month by month:")
    points = 100 * home
    result = evaluate_forward(
        {"Bradley-Terry": model, "Elo": Elo(30), "Glicko": Glicko()},
        pairs,
        y,
        period=day.astype("datetime64[M]").astype(int),
        n_splits=10,
        min_train=0.5,
        advantage={"Bradley-Terry": home, "Elo": points, "Glicko": points},
    )
    for row in result.table.iter_rows(named=True):
        print(
            f"  {row['model']:13s} accuracy {row['accuracy']:.3f}   "
            f"log loss {row['log_loss']:.3f}"
        )

    folder.mkdir(parents=True, exist_ok=True)
    picture = LeaderboardDisplay(board, top=20).plot()
    picture.figure_.savefig(folder / "football.png")
    print(f"\nPicture: {folder / 'football.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
