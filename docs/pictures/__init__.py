# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the model pages, drawn by the models themselves.

``python -m docs.pictures`` from the root of the repository writes all of them to
``docs/images/models``, ``python -m docs.pictures elo rank-svm`` only these. Every
picture has a fixed seed, so that the files change only when the library does.
"""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from . import comparing, graded, lists, ratings, sparse

__all__ = ["PICTURES"]

# The name of a picture is that of the page of its model. A function takes `quick`:
# True draws the same picture from less data, for the tests.
PICTURES: dict[str, Callable[[bool], Figure]] = {
    "boosted-utility": comparing.boosted_utility,
    "bradley-terry": ratings.bradley_terry,
    "co-ranking-pursuit": sparse.co_ranking_pursuit,
    "elo": ratings.elo,
    "expected-rank-regression": lists.expected_rank_regression,
    "glicko": ratings.glicko,
    "hedge-order": lists.hedge_order,
    "judge-bradley-terry": ratings.judge_bradley_terry,
    "l1-ranker": sparse.l1_ranker,
    "logistic-compare": comparing.logistic_compare,
    "majority-compare": comparing.majority_compare,
    "matching-pursuit": sparse.matching_pursuit,
    "max-margin-compare": comparing.max_margin_compare,
    "nystroem-map": graded.nystroem_map,
    "order-clusters": ratings.order_clusters,
    "order-svm": lists.order_svm,
    "ordinal-svm": graded.ordinal_svm,
    "plackett-luce": ratings.plackett_luce,
    "rank-boost": lists.rank_boost,
    "rank-rls": graded.rank_rls,
    "rank-svm": graded.rank_svm,
    "ranking-pursuit": sparse.ranking_pursuit,
    "svm-compare": comparing.svm_compare,
    "swap-svm": graded.swap_svm,
    "threshold-compare": comparing.threshold_compare,
    "uncertainty": ratings.uncertainty,
}
