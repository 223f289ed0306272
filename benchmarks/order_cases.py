# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: RankBoost by running sums against RankBoost over explicit pairs.

``python -m benchmarks.run -k order --markdown`` runs these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import slope
from benchmarks.rows import Row
from tiebreak import Orders, Pairs, RankBoost

N_FEATURES = 10
FEW = 2


def order_boosting_against_pairs() -> Iterator[Row]:
    """A round of RankBoost on a list of 1000 items, against all its pairs."""
    for weak in ("feature", "stump"):
        orders, pairs = _list_and_pairs(1000)
        rounds = 12
        ours = RankBoost(rounds, weak=weak).fit(orders)
        peer = RankBoost(rounds, weak=weak).fit(pairs, np.ones(len(pairs)))
        if not (
            np.array_equal(ours.features_, peer.features_)
            and np.allclose(ours.alphas_, peer.alphas_, rtol=1e-8)
        ):
            raise AssertionError("running sums and explicit pairs boost differently")
        outcome = np.ones(len(pairs))
        a, b = _per_round(
            lambda n, weak=weak: RankBoost(n, weak=weak).fit(orders),  # noqa: B023
            lambda n, weak=weak: RankBoost(n, weak=weak).fit(pairs, outcome),  # noqa: B023
        )
        yield Row(
            f"RankBoost({weak}), a list of 1000: times faster per round than its pairs",
            f"{b / a:,.0f}×",
            "≥ 100×",
            b / a >= 100,
            f"{1e6 * a:.0f} µs against {1e3 * b:.1f} ms for {len(pairs):,} pairs and "
            f"{N_FEATURES} features; the same rankers and weights",
        )


def order_boosting_growth() -> Iterator[Row]:
    """How a round of RankBoost grows with the length of a list."""
    sizes = [1000, 4000, 16_000, 64_000]
    for weak in ("feature", "stump"):
        seconds = []
        for n in sizes:
            orders = _list(n)
            seconds.append(
                _round_seconds(
                    lambda rounds, orders=orders, weak=weak: RankBoost(
                        rounds, weak=weak
                    ).fit(orders),
                    60,
                )
            )
        found = slope(sizes, seconds)
        yield Row(
            f"RankBoost({weak}): growth of a round in the length of a list",
            f"n^{found:.2f}",
            "≤ n^1.1",
            found <= 1.1,
            f"{1e6 * seconds[0]:.0f} µs for {sizes[0]:,} items, "
            f"{1e3 * seconds[-1]:.1f} ms for {sizes[-1]:,}",
        )


def _list(n: int) -> Orders:
    """One list of n items with noise, so that boosting has something to do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, N_FEATURES))
    utility = X @ rng.normal(size=N_FEATURES) + 2 * rng.normal(size=n)
    return Orders(X, [np.argsort(-utility)])


def _list_and_pairs(n: int) -> tuple[Orders, Pairs]:
    orders = _list(n)
    better, worse = np.triu_indices(n, 1)
    return orders, Pairs(orders.table, orders.flat[worse], orders.flat[better])


def _per_round(
    ours: Callable[[int], object], peer: Callable[[int], object]
) -> tuple[float, float]:
    """Seconds per round of both, in turn; the medians."""
    times = [(_round_seconds(ours, 400), _round_seconds(peer, 12)) for _ in range(5)]
    a, b = np.median(times, axis=0)
    return float(a), float(b)


def _round_seconds(fit: Callable[[int], object], rounds: int) -> float:
    """Seconds of a round: what more rounds cost more."""
    return (_best(lambda: fit(rounds + FEW)) - _best(lambda: fit(FEW))) / rounds


def _best(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


CASES = (order_boosting_against_pairs, order_boosting_growth)
