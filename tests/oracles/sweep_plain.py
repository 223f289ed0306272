# SPDX-License-Identifier: BSD-3-Clause
"""One sweep of coordinate descent, each step from scratch with whole arrays."""

import numpy as np


def sweep_plain(X, q, s, levels, penalty, order):
    """Maximize yᵀs - ½ Σₖ ‖Xᵀcₖ‖² - Σ_b levels·Σs - ½ penalty (Σs)² one by one."""
    features = np.einsum("mk,mp->mkp", q.loads, X[q.row]).reshape(q.size, -1)
    same = q.block[:, None] == q.block
    H = features @ features.T + penalty * same
    s = s.copy()
    for i in order:
        gradient = q.linear[i] - H[i] @ s - levels[q.block[i]]
        s[i] = np.clip(s[i] + gradient / max(H[i, i], 1e-12), q.lower[i], q.upper[i])
    return s
