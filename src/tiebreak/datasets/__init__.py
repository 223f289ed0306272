# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets.

Three kinds, told apart by their names:

- ``load_worldcup2022`` reads a small table of real results that ships with the
  package;
- ``make_*`` functions simulate, seeded by ``random_state``;
- the other ``load_*`` functions read published sets, which are never part of the
  package, from ``$TIEBREAK_DATA`` or from the user's cache, and download what is
  missing unless ``download=False``; ``REGISTRY`` holds the terms and the sources of
  every set, and ``fetch`` gets all of it.

Everything is returned as a small frozen dataclass. Comparisons are ``pairs`` with
outcomes ``y`` in {-1, 0, 1}, the sign of r(right) - r(left), ready for
``fit(pairs, y)``; graded rows are ``X``, ``y`` and ``qid``; ranked lists are
``orders``.

Public names are imported when they are first used, so that ``tiebreak data list`` does
not wait for readers that it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiebreak.datasets.catalog import DataFile, DataSet, Delivery, Served
    from tiebreak.datasets.chess import ChessGames, load_chess, load_chess_fide2011
    from tiebreak.datasets.fetching import FetchError, fetch
    from tiebreak.datasets.football import FootballMatches, load_football
    from tiebreak.datasets.graded import (
        GradedQueries,
        load_lightgbm_rank,
        load_mq2008,
    )
    from tiebreak.datasets.jester import JesterRatings, load_jester
    from tiebreak.datasets.norms import NormPairs, SquaredNorm, make_norms
    from tiebreak.datasets.orders_artificial import (
        ArtificialOrders,
        PolynomialUtility,
        make_orders,
    )
    from tiebreak.datasets.real import cache_dir, data_path
    from tiebreak.datasets.registry import REGISTRY
    from tiebreak.datasets.separable import (
        LinearUtility,
        SeparablePairs,
        make_separable,
    )
    from tiebreak.datasets.sushi import SushiPairs, load_sushi_pairs
    from tiebreak.datasets.sushi_orders import SushiOrders, load_sushi_orders
    from tiebreak.datasets.tennis import TennisMatches, load_tennis
    from tiebreak.datasets.uci import UCI_TABLES, RegressionTable, load_uci
    from tiebreak.datasets.votes import (
        ArenaVotes,
        CrowdVotes,
        load_llmfao,
        load_lm_arena,
    )
    from tiebreak.datasets.worldcup import WorldCup, load_worldcup2022

__all__ = [
    "REGISTRY",
    "UCI_TABLES",
    "ArenaVotes",
    "ArtificialOrders",
    "ChessGames",
    "CrowdVotes",
    "DataFile",
    "DataSet",
    "Delivery",
    "FetchError",
    "FootballMatches",
    "GradedQueries",
    "JesterRatings",
    "LinearUtility",
    "NormPairs",
    "PolynomialUtility",
    "RegressionTable",
    "SeparablePairs",
    "Served",
    "SquaredNorm",
    "SushiOrders",
    "SushiPairs",
    "TennisMatches",
    "WorldCup",
    "cache_dir",
    "data_path",
    "fetch",
    "load_chess",
    "load_chess_fide2011",
    "load_football",
    "load_jester",
    "load_lightgbm_rank",
    "load_llmfao",
    "load_lm_arena",
    "load_mq2008",
    "load_sushi_orders",
    "load_sushi_pairs",
    "load_tennis",
    "load_uci",
    "load_worldcup2022",
    "make_norms",
    "make_orders",
    "make_separable",
]

_HOMES = {
    "catalog": ("DataFile", "DataSet", "Delivery", "Served"),
    "chess": ("ChessGames", "load_chess", "load_chess_fide2011"),
    "fetching": ("FetchError", "fetch"),
    "football": ("FootballMatches", "load_football"),
    "graded": ("GradedQueries", "load_lightgbm_rank", "load_mq2008"),
    "jester": ("JesterRatings", "load_jester"),
    "norms": ("NormPairs", "SquaredNorm", "make_norms"),
    "orders_artificial": ("ArtificialOrders", "PolynomialUtility", "make_orders"),
    "real": ("cache_dir", "data_path"),
    "registry": ("REGISTRY",),
    "separable": ("LinearUtility", "SeparablePairs", "make_separable"),
    "sushi": ("SushiPairs", "load_sushi_pairs"),
    "sushi_orders": ("SushiOrders", "load_sushi_orders"),
    "tennis": ("TennisMatches", "load_tennis"),
    "uci": ("UCI_TABLES", "RegressionTable", "load_uci"),
    "votes": ("ArenaVotes", "CrowdVotes", "load_llmfao", "load_lm_arena"),
    "worldcup": ("WorldCup", "load_worldcup2022"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tiebreak.datasets' has no attribute {name!r}")
    value = getattr(import_module(f"tiebreak.datasets.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
