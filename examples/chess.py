# SPDX-License-Identifier: BSD-3-Clause
"""Rate chess players over 100 months, and foretell games from what was known before.

Needs the games of the Kaggle contest of 2010: see ``tiebreak.datasets.load_chess``. Run
it with ``python examples/chess.py``.
"""

import numpy as np
import polars as pl
from rich.console import Console
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    Elo,
    Glicko,
    Glicko2,
    Leaderboard,
    LogisticCompare,
    OnItems,
    Pairs,
    check_pairs,
)
from tiebreak.datasets import load_chess
from tiebreak.metrics import (
    comparison_auc,
    comparison_error,
    comparison_log_loss,
    ranked_probability_score,
)
from tiebreak.ratings import game_features
from tiebreak.selection import evaluate_forward

FIRST_TEST_MONTH, ENOUGH, SURE = 91, 10, 250.0


def main() -> None:
    """Print who is best, which rating foretells best, and what features add."""
    console = Console()
    games = load_chess()
    console.rule(f"{len(games.y):,} games of {games.pairs.n_items:,} players")
    console.print(check_pairs(games.pairs, games.y, period=games.month))

    glicko = Glicko().fit(games.pairs, games.y, period=games.month)
    # The best rating of all may be luck in three games; a narrow interval is not.
    board = Leaderboard(glicko).table
    sure = board.filter(pl.col("upper") - pl.col("lower") < SURE)
    shown = ["rank", "item", "rating", "lower", "upper", "wins", "ties", "losses"]
    console.print("Glicko after 100 months", sure.select(shown).head(8))

    console.rule("Ratings, fitted month by month, on the months after")
    # White moves first, which is worth about 35 points.
    ratings = {
        "Elo, FIDE's rule": Elo("fide", advantage=35, unseen="prior"),
        "Glicko": Glicko(advantage=35, unseen="prior"),
        "Glicko-2": Glicko2(advantage=35, unseen="prior"),
    }
    console.print(
        evaluate_forward(
            ratings,
            games.pairs,
            games.y,
            period=games.month,
            n_splits=10,
            min_train=0.5,
        )
    )

    console.rule(f"Sixteen features of both players, months {FIRST_TEST_MONTH} to 100")
    features = game_features(games.pairs, games.y, period=games.month)
    # Nothing is known of a player's first games, so they teach nothing.
    known = features.n_before.min(axis=1) >= ENOUGH
    past = games.month < FIRST_TEST_MONTH
    train, test = known & past, known & ~past
    everything = make_pipeline(OnItems(StandardScaler()), LogisticCompare(alpha=1.0))
    everything.fit(features.pairs[train], games.y[train])
    two = features.pairs.values[:, [0, 1]]
    only_ratings = features.pairs.with_items(two)
    simple = make_pipeline(OnItems(StandardScaler()), LogisticCompare(alpha=1.0))
    simple.fit(only_ratings[train], games.y[train])
    shares = np.bincount(games.y[train] + 1) / train.sum()
    rows = [
        _scores("all features", everything, features.pairs[test], games.y[test]),
        _scores("Elo and Glicko only", simple, only_ratings[test], games.y[test]),
        _scores_of("shares", np.tile(shares, (test.sum(), 1)), games.y[test]),
    ]
    console.print(f"{train.sum():,} games to learn from, {test.sum():,} to foretell")
    console.print(pl.DataFrame(rows))
    weights = everything[-1].coef_
    order = np.argsort(-np.abs(weights))[:6]
    console.print(
        "What matters most, per standard deviation: "
        + ", ".join(f"{features.feature_names[j]} {weights[j]:+.2f}" for j in order)
    )


def _scores(name: str, model: object, pairs: Pairs, y: np.ndarray) -> dict[str, object]:
    auc = comparison_auc(y, model.decision_function(pairs))
    return _scores_of(name, model.predict_proba(pairs), y) | {"AUC": auc}


def _scores_of(name: str, proba: np.ndarray, y: np.ndarray) -> dict[str, object]:
    return {
        "model": name,
        "accuracy": 1 - comparison_error(y, proba.argmax(axis=1) - 1),
        "log loss": comparison_log_loss(y, proba),
        "RPS": ranked_probability_score(y, proba),
        "AUC": None,
    }


if __name__ == "__main__":
    main()
