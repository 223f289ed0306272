# SPDX-License-Identifier: BSD-3-Clause
"""Items known by name: ratings over time, strengths, checks and leaderboards."""

from tiebreak.ratings.checks.check_pairs import check_pairs
from tiebreak.ratings.checks.rater_checks import JudgesReport, check_judges
from tiebreak.ratings.leaderboard import Leaderboard
from tiebreak.ratings.order_clusters import OrderClusters
from tiebreak.ratings.over_time.elo import Elo
from tiebreak.ratings.over_time.glicko import Glicko, Glicko2
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
from tiebreak.ratings.strengths.corrected import CorrectedStrengths, corrected_strengths
from tiebreak.ratings.strengths.judge_bradley_terry import JudgeBradleyTerry
from tiebreak.ratings.strengths.plackett_luce import PlackettLuce
from tiebreak.ratings.strengths.testing import likelihood_ratio_test, votes_needed

__all__ = [
    "BradleyTerry", "CorrectedStrengths", "Elo", "Glicko", "Glicko2",
    "JudgeBradleyTerry", "JudgesReport", "Leaderboard", "OrderClusters",
    "PlackettLuce", "check_judges", "check_pairs", "corrected_strengths",
    "likelihood_ratio_test", "votes_needed",
]  # fmt: skip
