# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets.

``load_worldcup2022`` reads a table that ships with the package; ``make_*`` functions
simulate. Other ``load_*`` functions read published sets from ``$TIEBREAK_DATA`` or the
user's cache, and download what is missing unless ``download=False``; ``REGISTRY`` holds
the terms and the sources of every set, and ``fetch`` gets all of it.

Everything is returned as a small frozen dataclass: comparisons as ``pairs`` and ``y``,
graded rows as ``X``, ``y`` and ``qid``, ranked lists as ``orders``. Public names are
imported when they are first used, so that ``tiebreak data list`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# fmt: off
# isort: off
if TYPE_CHECKING:
    from tiebreak.datasets.fetching import FetchError, fetch
    from tiebreak.datasets.graded import (
        UCI_TABLES, GradedQueries, JesterRatings, RegressionTable, load_jester,
        load_lightgbm_rank, load_mq2008, load_uci,
    )
    from tiebreak.datasets.matches import (
        ChessGames, FootballMatches, TennisMatches, WorldCup, load_chess,
        load_chess_fide2011, load_football, load_tennis, load_worldcup2022,
    )
    from tiebreak.datasets.places import cache_dir, data_path
    from tiebreak.datasets.registry import REGISTRY, DataFile, DataSet, Delivery, Served
    from tiebreak.datasets.simulated_orders import (
        ArtificialOrders, PolynomialUtility, make_orders,
    )
    from tiebreak.datasets.simulated_pairs import (
        LinearUtility, NormPairs, SeparablePairs, SquaredNorm, make_norms,
        make_separable,
    )
    from tiebreak.datasets.sushi import (
        SushiOrders, SushiPairs, load_sushi_orders, load_sushi_pairs,
    )
    from tiebreak.datasets.votes import (
        ArenaVotes, CrowdVotes, load_llmfao, load_lm_arena,
    )
# isort: on
# fmt: on

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

_ROOMS = {
    "fetching": "FetchError fetch",
    "graded": "UCI_TABLES GradedQueries JesterRatings RegressionTable load_jester "
    "load_lightgbm_rank load_mq2008 load_uci",
    "matches": "ChessGames FootballMatches TennisMatches WorldCup load_chess "
    "load_chess_fide2011 load_football load_tennis load_worldcup2022",
    "places": "cache_dir data_path",
    "registry": "REGISTRY DataFile DataSet Delivery Served",
    "simulated_orders": "ArtificialOrders PolynomialUtility make_orders",
    "simulated_pairs": "LinearUtility NormPairs SeparablePairs SquaredNorm make_norms "
    "make_separable",
    "sushi": "SushiOrders SushiPairs load_sushi_orders load_sushi_pairs",
    "votes": "ArenaVotes CrowdVotes load_llmfao load_lm_arena",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'tiebreak.datasets' has no attribute {name!r}")
    value = getattr(import_module(f"tiebreak.datasets.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
