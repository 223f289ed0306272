# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets.

``load_worldcup2022`` reads a table that ships with the package; ``make_*`` functions
simulate. Other ``load_*`` functions read published sets from ``$TIEBREAK_DATA`` or the
user's cache, and download what is missing unless ``download=False``; ``REGISTRY`` holds
the terms and the sources of every set, and ``fetch`` gets all of it.

Everything is returned as a small frozen dataclass: comparisons as ``pairs`` and ``y``,
graded rows as ``X``, ``y`` and ``qid``, ranked lists as ``orders``.
"""

from tiebreak.datasets.fetching import FetchError, fetch
from tiebreak.datasets.graded import (
    UCI_TABLES,
    GradedQueries,
    JesterRatings,
    RegressionTable,
    load_jester,
    load_lightgbm_rank,
    load_mq2008,
    load_uci,
)
from tiebreak.datasets.matches import (
    ChessGames,
    FootballMatches,
    TennisMatches,
    WorldCup,
    load_chess,
    load_chess_fide2011,
    load_football,
    load_tennis,
    load_worldcup2022,
)
from tiebreak.datasets.places import cache_dir, data_path
from tiebreak.datasets.registry import REGISTRY, DataFile, DataSet, Delivery, Served
from tiebreak.datasets.simulated_orders import (
    ArtificialOrders,
    PolynomialUtility,
    make_orders,
)
from tiebreak.datasets.simulated_pairs import (
    LinearUtility,
    NormPairs,
    SeparablePairs,
    SquaredNorm,
    make_norms,
    make_separable,
)
from tiebreak.datasets.sushi import (
    SushiOrders,
    SushiPairs,
    load_sushi_orders,
    load_sushi_pairs,
)
from tiebreak.datasets.votes import (
    ArenaVotes,
    CrowdVotes,
    load_llmfao,
    load_lm_arena,
)

__all__ = [
    "REGISTRY", "UCI_TABLES", "ArenaVotes", "ArtificialOrders", "ChessGames",
    "CrowdVotes", "DataFile", "DataSet", "Delivery", "FetchError", "FootballMatches",
    "GradedQueries", "JesterRatings", "LinearUtility", "NormPairs",
    "PolynomialUtility", "RegressionTable", "SeparablePairs", "Served", "SquaredNorm",
    "SushiOrders", "SushiPairs", "TennisMatches", "WorldCup", "cache_dir", "data_path",
    "fetch", "load_chess", "load_chess_fide2011", "load_football", "load_jester",
    "load_lightgbm_rank", "load_llmfao", "load_lm_arena", "load_mq2008",
    "load_sushi_orders", "load_sushi_pairs", "load_tennis", "load_uci",
    "load_worldcup2022", "make_norms", "make_orders", "make_separable",
]  # fmt: skip
