# SPDX-License-Identifier: BSD-3-Clause
"""Items known by name: ratings over time, strengths, checks and leaderboards."""

from tiebreak.ratings.bradley_terry import BradleyTerry
from tiebreak.ratings.check_pairs import check_pairs
from tiebreak.ratings.elo import Elo
from tiebreak.ratings.game_features import GameFeatures, game_features
from tiebreak.ratings.glicko import Glicko
from tiebreak.ratings.glicko2 import Glicko2
from tiebreak.ratings.leaderboard import Leaderboard
from tiebreak.ratings.plackett_luce import PlackettLuce

__all__ = [
    "BradleyTerry",
    "Elo",
    "GameFeatures",
    "Glicko",
    "Glicko2",
    "Leaderboard",
    "PlackettLuce",
    "check_pairs",
    "game_features",
]
