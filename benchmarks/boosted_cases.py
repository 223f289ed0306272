# SPDX-License-Identifier: BSD-3-Clause
"""`BoostedUtility` against LightGBM with as many trees of the same size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import processor_ratio
from benchmarks.rows import Row
from tiebreak import BoostedUtility, Pairs, metrics

N_ROUNDS = 100


def boosted_against_lightgbm() -> Iterator[Row]:
    """BoostedUtility of grades and of comparisons, and LightGBM's lambdarank."""
    import lightgbm

    rng = np.random.default_rng(0)
    n, per_group = 20_000, 20
    X = rng.normal(size=(n, 20))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n)
    y, qid = np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9])), np.arange(n)
    qid //= per_group
    left = rng.integers(0, n, n)
    right = (left + rng.integers(1, n, n)) % n
    pairs = Pairs(X, left, right)
    gap = score[right] - score[left]
    outcome = np.where(np.abs(gap) < 0.3, 0, np.sign(gap)).astype(np.int8)

    model = BoostedUtility(
        N_ROUNDS,
        learning_rate=0.2,  # of pairs it has smaller steps than lambdarank has
        l2=0.0,
        min_child_weight=1e-3,
        early_stopping=False,
    )

    def ours():
        return model.fit(X, y, qid=qid)

    def compared():
        return model.fit(pairs, outcome)

    def theirs():
        peer = lightgbm.LGBMRanker(
            n_estimators=N_ROUNDS, learning_rate=0.05, num_leaves=7, subsample=0.7,
            subsample_freq=1, n_jobs=1, verbosity=-1,
        )  # fmt: skip
        return peer.fit(X, y, group=np.bincount(qid))

    utilities = ours().utility(X), theirs().predict(X)
    quality = [metrics.ndcg(y, u, qid) for u in utilities]
    if quality[0] < quality[1] - 0.01:
        raise AssertionError(f"our NDCG is worse: {quality[0]:.3f}, {quality[1]:.3f}")
    for name, fit in (("grades", ours), ("as many comparisons", compared)):
        a, b, ratio = processor_ratio(fit, theirs, 3)
        yield Row(
            f"BoostedUtility, {N_ROUNDS} rounds, {n:,} rows, {name}: LightGBM's time",
            f"{1 / ratio:.2f}×",
            "≤ 1.5×",
            1 / ratio <= 1.5,
            f"{a:.2f} s against {b:.2f} s of lambdarank; NDCG of grades "
            f"{quality[0]:.3f} and {quality[1]:.3f}",
        )


CASES = (boosted_against_lightgbm,)
