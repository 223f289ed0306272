# SPDX-License-Identifier: BSD-3-Clause
"""The squared-norm simulation, one pair at a time.

x is uniform on [-2, 2]^2, x' = x + a normal offset of standard deviation 1/2 in each
coordinate, or a uniform one between two ends; with label noise e of standard deviation
`noise`, a pair is a tie when |r(x') - r(x) + e| <= 1 for r the squared norm.
"""

import numpy as np


def squared_norm(x, norm):
    """Square of the 1-, 2- or infinity-norm of one point."""
    if norm == 1:
        return sum(abs(v) for v in x) ** 2
    if norm == 2:
        return sum(v * v for v in x)
    return max(abs(v) for v in x) ** 2


def simulate(norm, noise, n_per_class, seed, ends=None):
    """Draw pairs until there are n of each class.

    Returns (ties, others), each a list of rows (x1, x2, x1', x2', y).
    """
    rng = np.random.default_rng(seed)
    ties, others = [], []
    while min(len(ties), len(others)) < n_per_class:
        x = [4.0 * rng.random() - 2.0 for _ in range(2)]
        if ends is None:
            z = [v + 0.5 * rng.standard_normal() for v in x]
        else:
            z = [v + ends[0] + (ends[1] - ends[0]) * rng.random() for v in x]
        d = squared_norm(z, norm) - squared_norm(x, norm)
        d += noise * rng.standard_normal()
        if abs(d) <= 1:
            ties.append((*x, *z, 0))
        else:
            others.append((*x, *z, 1 if d > 0 else -1))
    return ties[:n_per_class], others[:n_per_class]
