# SPDX-License-Identifier: BSD-3-Clause
"""Rate national football teams, with home advantage and draws.

Needs the international results of Mart Jürisoo (CC0): see
``tiebreak.datasets.load_football``. Run it with ``python examples/football.py``.
"""

import numpy as np
from rich.console import Console

from tiebreak import BradleyTerry, Elo, Glicko, Leaderboard, Pairs, check_pairs
from tiebreak.datasets import load_football
from tiebreak.selection import evaluate_forward

FIRST_YEAR, LAST_FOUR = np.datetime64("2006-01-01"), np.datetime64("2022-08-01")


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


def main() -> None:
    """Print the leaderboard of four years, ratings over time, and forecasts."""
    console = Console()
    matches = load_football()
    console.rule(f"Four years of matches, {LAST_FOUR} to {matches.date.max()}")
    recent = established(matches.pairs, matches.date >= LAST_FOUR)
    pairs, y, home = matches.pairs[recent], matches.y[recent], matches.advantage[recent]
    console.print(check_pairs(pairs, y, advantage=home))
    model = BradleyTerry(alpha=0.2).fit(pairs, y, advantage=home)
    console.print(Leaderboard(model))
    even = model.predict_proba(Pairs(None, ["Spain"], ["Argentina"]))[0]
    at_home = model.predict_proba(Pairs(None, ["Spain"], ["Argentina"]), advantage=1)[0]
    console.print(
        f"Playing at home is worth {400 / np.log(10) * model.advantage_:.0f} points. "
        f"Spain against Argentina, win / draw / loss: {even.round(2)} on neutral "
        f"ground, {at_home.round(2)} in Spain.\n"
    )

    console.rule("Elo after every match since 1872, 100 points for playing at home")
    elo = Elo(30).fit(matches.pairs, matches.y, advantage=100 * matches.advantage)
    board = Leaderboard(elo).table
    console.print(board.select("rank", "item", "rating").head(10))
    peak = elo.history_.sort("rating", descending=True).unique("item", keep="first")
    console.print("Highest ratings ever", peak.sort("rating", descending=True).head(5))

    console.rule(f"Who foretells matches best? Fitted on the past since {FIRST_YEAR}")
    modern = established(matches.pairs, matches.date >= FIRST_YEAR)
    home = matches.advantage[modern]
    result = evaluate_forward(
        {
            "Bradley-Terry": BradleyTerry(alpha=0.2),
            "Elo": Elo(30),
            "Glicko": Glicko(),
        },
        matches.pairs[modern],
        matches.y[modern],
        period=matches.date[modern].astype("datetime64[M]").astype(int),
        n_splits=10,
        min_train=0.5,
        advantage={"Bradley-Terry": home, "Elo": 100 * home, "Glicko": 100 * home},
    )
    console.print(result)


if __name__ == "__main__":
    main()
