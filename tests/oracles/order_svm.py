# SPDX-License-Identifier: BSD-3-Clause
"""Slow truth for the order support vector machine: every constraint is written out.

A list is a list of blocks, best first, each a list of rows of X. The program

    minimize   ½‖w‖² + ½λ Σ_t ‖v_t‖² + Σ cost ξ
    with       sign ((w + v_t)·x - b_t) ≥ 1 - ξ,  ξ ≥ 0

goes to HiGHS in the variables w and u_t = √λ v_t, whose squared norms add up without
factors. Imports nothing of tiebreak.
"""

import numpy as np

from tests.oracles import ordinal


def samples(lists, weight=None, cuts=None):
    """Write every item at every cut: row, cut, sign and weight, one by one.

    ``weight[i][row]`` is the weight of a row in list i. Cuts without an item on either
    side have no machine, and are left out.
    """
    out = []
    longest = max(sum(len(block) for block in blocks) for blocks in lists)
    for t in range(1, longest) if cuts is None else cuts:
        of_cut = []
        for i, blocks in enumerate(lists):
            if sum(len(block) for block in blocks) <= t:
                continue
            place = 0
            for block in blocks:
                first, last = place + 1, place + len(block)
                place = last
                if first <= t < last:
                    continue
                for row in block:
                    w = 1.0 if weight is None else weight[i][row]
                    of_cut.append((row, t, 1.0 if last <= t else -1.0, w))
        if len({sign for _, _, sign, _ in of_cut}) == 2:
            out += of_cut
    return out


def objective(X, drawn, C, coupling, w, V, b):
    """The primal value, term by term; V and b are mappings from cuts."""
    total = 0.5 * float(w @ w)
    total += 0.5 * coupling * sum(float(v @ v) for v in V.values())
    for row, t, sign, weight in drawn:
        value = float((w + V[t]) @ X[row]) - b[t]
        total += C * weight * max(0.0, 1.0 - sign * value)
    return total


def solve(X, drawn, C, coupling):
    """Minimize; returns w, the mappings V and b from cuts, and the objective there."""
    p = X.shape[1]
    cuts = sorted({t for _, t, _, _ in drawn})
    features = np.zeros((len(drawn), p * (1 + len(cuts))))
    for k, (row, t, _, _) in enumerate(drawn):
        own = p * (1 + cuts.index(t))
        features[k, :p] = X[row]
        features[k, own : own + p] = X[row] / np.sqrt(coupling)
    block = np.array([cuts.index(t) for _, t, _, _ in drawn])
    sign = np.array([sign for _, _, sign, _ in drawn])
    cost = C * np.array([weight for _, _, _, weight in drawn])
    u, levels, _ = ordinal.solve(features, block, sign, cost)
    parts = u.reshape(1 + len(cuts), p)
    V = {t: parts[1 + k] / np.sqrt(coupling) for k, t in enumerate(cuts)}
    b = dict(zip(cuts, levels, strict=True))
    return parts[0], V, b, objective(X, drawn, C, coupling, parts[0], V, b)
