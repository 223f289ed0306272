# SPDX-License-Identifier: BSD-3-Clause
"""Metrics by enumeration: every pair, every threshold, every order.

Written from the definitions, as slowly and plainly as possible. Expectations over
random tie-breaking are averages over all orders that the utilities allow.
"""

from itertools import combinations, pairwise, permutations

import numpy as np


def members(qid):
    """Row numbers of each group."""
    return [[i for i, q in enumerate(qid) if q == key] for key in sorted(set(qid))]


def comparison_error(outcome, predicted, weight):
    wrong = sum(w for y, z, w in zip(outcome, predicted, weight, strict=True) if y != z)
    return wrong / sum(weight)


def roc_point(outcome, difference, weight, threshold):
    """False and true positive rate when |difference| > threshold is different."""
    ties = different = false_positive = true_positive = 0.0
    for y, d, w in zip(outcome, difference, weight, strict=True):
        answer = 0 if abs(d) <= threshold else (1 if d > 0 else -1)
        if y == 0:
            ties += w
            false_positive += w * (answer != 0)
        else:
            different += w
            true_positive += w * (answer == y)
    return false_positive / ties, true_positive / different


def comparison_auc(outcome, difference, weight, close):
    """Chance that a tie and a non-tie are told apart, tie by non-tie.

    The area under a step of the curve counts, for one tie, the correctly signed
    non-ties that were called different before it, half of those called with it.
    """
    area = total = 0.0
    for y_tie, d_tie, w_tie in zip(outcome, difference, weight, strict=True):
        for y, d, w in zip(outcome, difference, weight, strict=True):
            if y_tie != 0 or y == 0:
                continue
            total += w_tie * w
            if y * d <= 0 or (d_tie == 0 and not close):
                continue
            before = abs(d) > abs(d_tie)
            together = abs(d) == abs(d_tie)
            area += w_tie * w * (before + 0.5 * together)
    return area / total


def pair_sums(y, utility, qid, weight):
    """Concordant, tied and discordant weight of pairs inside groups."""
    concordant = tied = discordant = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if qid[i] == qid[j] and y[i] > y[j]:
                w = weight[i] * weight[j]
                concordant += w * (utility[i] > utility[j])
                tied += w * (utility[i] == utility[j])
                discordant += w * (utility[i] < utility[j])
    return concordant, tied, discordant


def swapped_pairs(y, utility, qid, weight):
    concordant, tied, discordant = pair_sums(y, utility, qid, weight)
    return (tied + discordant) / (concordant + tied + discordant)


def disagreement(y, utility, qid, weight):
    concordant, tied, discordant = pair_sums(y, utility, qid, weight)
    return (tied / 2 + discordant) / (concordant + tied + discordant)


def disagreement_of_all(y, utility, qid, weight):
    """As the paper on ranking pursuit writes it, divided by its largest value."""
    total = every = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j and qid[i] == qid[j]:
                w = weight[i] * weight[j]
                total += w * abs(
                    np.sign(y[i] - y[j]) - np.sign(utility[i] - utility[j])
                )
                every += 2 * w
    return total / every if every else None


def orders_allowed(utility):
    """All orders of the rows, best first, in which utility never rises."""
    return [
        order
        for order in permutations(range(len(utility)))
        if all(utility[a] >= utility[b] for a, b in pairwise(order))
    ]


def dcg(gains, order, k):
    return sum(gains[i] / np.log2(p + 2) for p, i in enumerate(order[:k]))


def ndcg_of_group(gains, utility, k):
    """Mean DCG over the allowed orders by the best DCG of any order, or None."""
    best = max(dcg(gains, order, k) for order in permutations(range(len(gains))))
    if best == 0:
        return None
    return np.mean([dcg(gains, order, k) for order in orders_allowed(utility)]) / best


def average_precision_of_group(relevant, utility, k):
    """Mean over allowed orders of the mean precision at the relevant rows, or None."""
    k = len(relevant) if k is None else k
    n_found = min(sum(relevant), k)
    if n_found == 0:
        return None

    def of(order):
        places = [p for p, i in enumerate(order[:k], start=1) if relevant[i]]
        return sum(hit / p for hit, p in enumerate(places, start=1)) / n_found

    return np.mean([of(order) for order in orders_allowed(utility)])


def reciprocal_rank_of_group(relevant, utility, k):
    """Mean over allowed orders of one by the place of the first relevant row."""
    if not any(relevant):
        return None

    def of(order):
        places = [p for p, i in enumerate(order[:k], start=1) if relevant[i]]
        return 1 / places[0] if places else 0.0

    return np.mean([of(order) for order in orders_allowed(utility)])


def top_k_precision_of_group(y, utility, k):
    """Mean over allowed orders of the best overlap with any true top k."""
    k = min(k, len(y))
    true_tops = [
        set(top)
        for top in combinations(range(len(y)), k)
        if all(y[i] >= y[j] for i in top for j in set(range(len(y))) - set(top))
    ]
    return np.mean(
        [
            max(len(set(order[:k]) & top) for top in true_tops) / k
            for order in orders_allowed(utility)
        ]
    )


def log_loss(outcome, proba, weight):
    rows = zip(outcome, proba, weight, strict=True)
    return sum(-w * np.log(p[y + 1]) for y, p, w in rows) / sum(weight)


def brier(outcome, proba, weight):
    total = 0.0
    for y, p, w in zip(outcome, proba, weight, strict=True):
        total += w * sum((p[c + 1] - (y == c)) ** 2 for c in (-1, 0, 1))
    return total / sum(weight)


def ranked_probability_score(outcome, proba, weight):
    total = 0.0
    for y, p, w in zip(outcome, proba, weight, strict=True):
        left, left_or_tie = p[0], p[0] + p[1]
        total += w * ((left - (y <= -1)) ** 2 + (left_or_tie - (y <= 0)) ** 2) / 2
    return total / sum(weight)
