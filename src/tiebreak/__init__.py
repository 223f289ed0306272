# SPDX-License-Identifier: BSD-3-Clause
"""Learn to rank and to compare, with ties.

From who-beat-whom (ties included), graded items or ranked lists, learn a utility for
every item, seen or unseen, and predict left, tie or right for any two.

Public names are imported when they are first used, so that ``tiebreak --help`` does not
wait for compilers and solvers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tiebreak.lazy import names_of

if TYPE_CHECKING:
    from tiebreak import datasets, metrics, ratings, report, selection
    from tiebreak.data import OnItems, Orders, Outcome, Pairs
    from tiebreak.data.messages import DataWarning, FitWarning, TiebreakWarning
    from tiebreak.kernels import NystroemMap
    from tiebreak.models import (
        BoostedUtility,
        CoRankingPursuit,
        ExpectedRankRegression,
        HedgeOrder,
        L1Ranker,
        LogisticCompare,
        MajorityCompare,
        MatchingPursuit,
        MaxMarginCompare,
        OrderSVM,
        OrdinalSVM,
        RankBoost,
        RankingPursuit,
        RankRLS,
        RankSVM,
        SVMCompare,
        SwapSVM,
        ThresholdCompare,
        WithoutTies,
    )
    from tiebreak.persistence import load, save, to_onnx
    from tiebreak.pipeline.audit import audit
    from tiebreak.pipeline.rank import rank
    from tiebreak.ratings import (
        BradleyTerry,
        Elo,
        Glicko,
        Glicko2,
        JudgeBradleyTerry,
        Leaderboard,
        PlackettLuce,
        check_pairs,
    )
    from tiebreak.selection import L1RankerCV, l1_path, tune

__version__ = "0.2.0"

_SUBPACKAGES = ("datasets", "metrics", "ratings", "report", "selection")
_HOMES = {
    "data": "OnItems Orders Outcome Pairs",
    "data.messages": "DataWarning FitWarning TiebreakWarning",
    "kernels": "NystroemMap",
    "models": (
        "BoostedUtility CoRankingPursuit ExpectedRankRegression HedgeOrder L1Ranker "
        "LogisticCompare MajorityCompare MatchingPursuit MaxMarginCompare "
        "OrderSVM OrdinalSVM RankBoost RankRLS RankSVM RankingPursuit "
        "SVMCompare SwapSVM ThresholdCompare WithoutTies"
    ),
    "persistence": "load save to_onnx",
    "pipeline.audit": "audit",
    "pipeline.rank": "rank",
    "ratings": (
        "BradleyTerry Elo Glicko Glicko2 JudgeBradleyTerry Leaderboard PlackettLuce "
        "check_pairs"
    ),
    "selection": "L1RankerCV l1_path tune",
}
_HOME_OF, _find = names_of("tiebreak", _HOMES)

__all__ = sorted(["__version__", *_SUBPACKAGES, *_HOME_OF])


def __getattr__(name: str) -> Any:
    return import_module(f"tiebreak.{name}") if name in _SUBPACKAGES else _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
