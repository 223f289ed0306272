# SPDX-License-Identifier: BSD-3-Clause
"""One sweep of pair steps, a pair at a time with whole vectors."""

import numpy as np


def sweep_pairs_plain(X, weights, s, bounds, y, row, loading, up, down):
    """The naive twin: every step is exact for its two variables."""
    for i, j in zip(up, down, strict=True):
        e_i = y[i] - loading[i] @ weights @ X[row[i]]
        e_j = y[j] - loading[j] @ weights @ X[row[j]]
        room = min(bounds[1, i] - s[i], s[j] - bounds[0, j])
        if e_i - e_j <= 0 or room <= 0:
            continue
        difference = X[row[i]] - X[row[j]]
        curve = (loading[i] @ loading[i]) * (difference @ difference)
        move = min(room, (e_i - e_j) / max(curve, 1e-12))
        s[i] += move
        s[j] -= move
        weights += move * np.outer(loading[i], difference)
