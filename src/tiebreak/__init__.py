# SPDX-License-Identifier: BSD-3-Clause
"""Learn to rank and to compare, with ties.

From who-beat-whom (ties included), graded items or ranked lists, learn a utility for
every item, seen or unseen, and predict left, tie or right for any two.
"""

from tiebreak import datasets, metrics, ratings, selection
from tiebreak.data import OnItems, Orders, Outcome, Pairs
from tiebreak.models import (
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    load,
    save,
)
from tiebreak.ratings import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    Leaderboard,
    check_pairs,
)
from tiebreak.selection import tune

__version__ = "0.1.0.dev0"

__all__ = [
    "BradleyTerry",
    "Elo",
    "Glicko",
    "Glicko2",
    "Leaderboard",
    "LogisticCompare",
    "MajorityCompare",
    "MaxMarginCompare",
    "OnItems",
    "Orders",
    "Outcome",
    "Pairs",
    "RankSVM",
    "SVMCompare",
    "ThresholdCompare",
    "__version__",
    "check_pairs",
    "datasets",
    "load",
    "metrics",
    "ratings",
    "save",
    "selection",
    "tune",
]

# Model files and messages name classes by where users find them.
for _name in __all__:
    _public = globals()[_name]
    if isinstance(_public, type):
        _public.__module__ = "tiebreak"
del _name, _public
