# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets.

``load_worldcup2022`` reads a table that ships with the package; ``make_*`` functions
simulate. Other ``load_*`` functions read published sets from ``$TIEBREAK_DATA`` or the
user's cache, and download what is missing unless ``download=False``; ``REGISTRY`` holds
the terms and the sources of every set, and ``fetch`` gets all of it.

Everything is returned as a scikit-learn ``Bunch``: comparisons as ``pairs`` and ``y``,
graded rows as ``X``, ``y`` and ``qid``, ranked lists as ``orders``. Public names are
imported when they are first used, so that ``tiebreak data list`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# fmt: off
# isort: off
if TYPE_CHECKING:
    from tiebreak.datasets.loaders import (
        UCI_TABLES, load_chess, load_football, load_lightgbm_rank, load_llmfao,
        load_lm_arena, load_mq2008, load_sushi_orders, load_sushi_pairs, load_uci,
        load_worldcup2022,
    )
    from tiebreak.datasets.published import (
        REGISTRY, DataFile, DataSet, cache_dir, fetch,
    )
    from tiebreak.datasets.simulated import make_norms, make_orders, make_separable
# isort: on
# fmt: on

__all__ = [
    "REGISTRY", "UCI_TABLES", "DataFile", "DataSet", "cache_dir", "fetch", "load_chess",
    "load_football", "load_lightgbm_rank", "load_llmfao", "load_lm_arena",
    "load_mq2008", "load_sushi_orders", "load_sushi_pairs", "load_uci",
    "load_worldcup2022", "make_norms", "make_orders", "make_separable",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tiebreak.datasets' has no attribute {name!r}")
    kind = name.partition("_")[0]
    module = {"load": "loaders", "UCI": "loaders", "make": "simulated"}
    home = import_module(f"tiebreak.datasets.{module.get(kind, 'published')}")
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
