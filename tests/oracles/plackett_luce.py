# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists with ties: probabilities by enumeration, strengths by a general solver.

A list is a list of blocks, each a list of item numbers, best first.
"""

from itertools import chain, combinations, permutations, product

import numpy as np
from scipy.optimize import minimize


def preference(chosen, theta, tie):
    """δ of the size times the geometric mean of the worths."""
    k = len(chosen)
    delta = 1.0 if k == 1 else tie.get(k, 0.0)
    return delta * np.exp(np.mean([theta[i] for i in chosen]))


def orders_of(items, sizes):
    """All orders of items, in blocks of these sizes."""
    if not items:
        yield []
    for block in (block for k in sizes for block in combinations(items, k)):
        left = [i for i in items if i not in block]
        yield from ([list(block), *after] for after in orders_of(left, sizes))


def probability(blocks, theta, tie, lower=()):
    """Probability of a list, one choice after another, above the rest in any order."""
    if len(lower):
        rest = orders_of(list(lower), [1, *tie])
        return sum(probability([*blocks, *more], theta, tie) for more in rest)
    total, left = 1.0, [i for block in blocks for i in block]
    for block in blocks:
        sizes = range(1, len(left) + 1)
        every = sum(
            preference(s, theta, tie) for k in sizes for s in combinations(left, k)
        )
        total *= preference(block, theta, tie) / every
        left = [i for i in left if i not in block]
    return total


def event_probability(blocks, theta):
    """Probability of blocks one above the other, each in any order within, no ties."""
    every = product(*(permutations(block) for block in blocks))
    lists = ([[i] for i in chain(*order)] for order in every)
    return sum(probability(order, theta, {}) for order in lists)


def fit(lists, weight, n_items, alpha, lower=None):
    """Strengths of mean 0 (without a penalty), δ by size, and the objective."""
    lower = len(lists) * [()] if lower is None else lower
    sizes = sorted({len(block) for blocks in lists for block in blocks} - {1})

    def unpack(x):
        tie = dict(zip(sizes, np.exp(x[n_items:]), strict=True))
        return x[:n_items], tie

    def cost(x):
        theta, tie = unpack(x)
        fits = sum(
            w * np.log(probability(blocks, theta, tie, rest))
            for blocks, w, rest in zip(lists, weight, lower, strict=True)
        )
        # The mean is free without a penalty; any weight on it keeps the rest.
        return -fits + alpha * theta @ theta + (theta.mean() ** 2 if alpha == 0 else 0)

    found = minimize(cost, np.zeros(n_items + len(sizes)), tol=1e-10)
    theta, tie = unpack(found.x)
    return theta, tie, found.fun
