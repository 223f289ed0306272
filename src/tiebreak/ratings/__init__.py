# SPDX-License-Identifier: BSD-3-Clause
"""Items known by name: ratings over time, strengths, checks and leaderboards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tiebreak.lazy import names_of

if TYPE_CHECKING:
    from tiebreak.ratings.checks.check_pairs import check_pairs
    from tiebreak.ratings.checks.judges import JudgesReport, check_judges
    from tiebreak.ratings.leaderboard import Leaderboard
    from tiebreak.ratings.over_time.elo import Elo
    from tiebreak.ratings.over_time.glicko import Glicko, Glicko2
    from tiebreak.ratings.strengths.bradley_terry import BradleyTerry
    from tiebreak.ratings.strengths.corrected import (
        CorrectedStrengths,
        corrected_strengths,
    )
    from tiebreak.ratings.strengths.judges import JudgeBradleyTerry
    from tiebreak.ratings.strengths.plackett_luce import PlackettLuce
    from tiebreak.ratings.strengths.testing import likelihood_ratio_test, votes_needed

_HOMES = {
    "checks.check_pairs": "check_pairs",
    "checks.judges": "JudgesReport check_judges",
    "leaderboard": "Leaderboard",
    "over_time.elo": "Elo",
    "over_time.glicko": "Glicko Glicko2",
    "strengths.bradley_terry": "BradleyTerry",
    "strengths.corrected": "CorrectedStrengths corrected_strengths",
    "strengths.judges": "JudgeBradleyTerry",
    "strengths.plackett_luce": "PlackettLuce",
    "strengths.testing": "likelihood_ratio_test votes_needed",
}
_, __getattr__ = names_of("tiebreak.ratings", _HOMES)

__all__ = [
    "BradleyTerry", "CorrectedStrengths", "Elo", "Glicko", "Glicko2",
    "JudgeBradleyTerry", "JudgesReport", "Leaderboard", "PlackettLuce",
    "check_judges", "check_pairs", "corrected_strengths",
    "likelihood_ratio_test", "votes_needed",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
