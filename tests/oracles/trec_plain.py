# SPDX-License-Identifier: BSD-3-Clause
"""What trec_eval computes of a query, as its manual and source say it."""

import math


def measures(grades, scores, k):
    """ndcg, ndcg_cut_k, map and recip_rank of one query, from two dictionaries."""
    # Documents of equal score: the name that is later in the alphabet comes first.
    ranked = sorted(scores, key=lambda name: (scores[name], name), reverse=True)
    ideal = sorted((g for g in grades.values() if g > 0), reverse=True)

    def discounted(gains):
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))

    gains = [max(grades.get(name, 0), 0) for name in ranked]
    ndcg, cut = 0.0, 0.0
    if ideal:
        ndcg = discounted(gains) / discounted(ideal)
        cut = discounted(gains[:k]) / discounted(ideal[:k])
    found, precision, first = 0, 0.0, 0.0
    for place, gain in enumerate(gains, 1):
        if gain > 0:
            found += 1
            precision += found / place
            first = first or 1.0 / place
    return ndcg, cut, precision / len(ideal) if ideal else 0.0, first
