# SPDX-License-Identifier: BSD-3-Clause
"""Data to learn from: bundled, simulated, and published sets.

``load_worldcup2022`` reads a table that ships with the package; ``make_*`` functions
simulate; other ``load_*`` functions read published sets, whose terms and sources are in
``REGISTRY``; ``fetch`` says where they are looked for.

Everything is returned as a scikit-learn ``Bunch``: comparisons as ``pairs`` and ``y``
(-1 left is better, 0 tie, +1 right), graded rows as ``X``, ``y`` and ``qid``, ranked
lists as ``orders``.
"""

from tiebreak.datasets.loaders import (
    PUBLISHED,
    UCI_TABLES,
    load_chess,
    load_published,
    load_sushi_orders,
    load_sushi_pairs,
    load_uci,
    load_worldcup2022,
)
from tiebreak.datasets.published import REGISTRY, DataFile, DataSet, cache_dir, fetch
from tiebreak.datasets.simulated import make_norms, make_orders, make_separable

__all__ = [
    "PUBLISHED", "REGISTRY", "UCI_TABLES", "DataFile", "DataSet", "cache_dir", "fetch",
    "load_chess", "load_published", "load_sushi_orders", "load_sushi_pairs", "load_uci",
    "load_worldcup2022", "make_norms", "make_orders", "make_separable",
]  # fmt: skip
