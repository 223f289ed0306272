# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets found on disk.

Three kinds, told apart by their names:

- ``load_worldcup2022`` reads a small table of real results that ships with the
  package;
- ``make_*`` functions simulate, seeded by ``random_state``;
- the other ``load_*`` functions read published sets, which are never part of the
  package: ``data_path`` finds the files in ``$TIEBREAK_DATA`` or in the user's cache.

Everything is returned as a small frozen dataclass that holds ``pairs`` and outcomes
``y`` in {-1, 0, 1}, the sign of r(right) - r(left), ready for ``fit(pairs, y)``.
"""

from tiebreak.datasets.chess import ChessGames, load_chess, load_chess_fide2011
from tiebreak.datasets.football import FootballMatches, load_football
from tiebreak.datasets.norms import NormPairs, SquaredNorm, make_norms
from tiebreak.datasets.real import cache_dir, data_path
from tiebreak.datasets.separable import LinearUtility, SeparablePairs, make_separable
from tiebreak.datasets.sushi import SushiPairs, load_sushi_pairs
from tiebreak.datasets.tennis import TennisMatches, load_tennis
from tiebreak.datasets.votes import (
    ArenaVotes,
    CrowdVotes,
    load_llmfao,
    load_lm_arena,
)
from tiebreak.datasets.worldcup import WorldCup, load_worldcup2022

__all__ = [
    "ArenaVotes",
    "ChessGames",
    "CrowdVotes",
    "FootballMatches",
    "LinearUtility",
    "NormPairs",
    "SeparablePairs",
    "SquaredNorm",
    "SushiPairs",
    "TennisMatches",
    "WorldCup",
    "cache_dir",
    "data_path",
    "load_chess",
    "load_chess_fide2011",
    "load_football",
    "load_llmfao",
    "load_lm_arena",
    "load_sushi_pairs",
    "load_tennis",
    "load_worldcup2022",
    "make_norms",
    "make_separable",
]
