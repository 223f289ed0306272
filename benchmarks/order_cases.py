# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: strengths against choix, RankBoost against its explicit pairs.

``python -m benchmarks.run -k order --markdown`` runs these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import processor_ratio, processor_seconds, slope
from benchmarks.rows import Row
from tiebreak import Orders, Pairs, PlackettLuce, RankBoost

N_FEATURES = 10
FEW = 2


def order_strengths_against_choix() -> Iterator[Row]:
    """PlackettLuce on lists of ten of 100 items, from lists, against choix."""
    import choix

    n_items, ranker = 100, PlackettLuce(alpha=0.0)
    ranked = rank_items(100_000, 10, n_items)
    lists = ranked[:20_000].tolist()
    ours = ranker.fit(Orders(None, lists))
    strength = ours.utility(np.arange(n_items))
    off = np.abs(strength - choix.ilsr_rankings(n_items, lists)).max()
    if off > 1e-6:
        raise AssertionError(f"strengths differ by {off}")
    a, b, ratio = processor_ratio(
        lambda: ranker.fit(Orders(None, lists)),
        lambda: choix.ilsr_rankings(n_items, lists),
        repeat=5,
    )
    yield Row(
        "PlackettLuce, 20,000 lists of ten: times faster than choix's I-LSR",
        f"{ratio:.0f}×",
        "≥ 10×",
        ratio >= 10,
        f"{a:.2f} s against {b:.1f} s of processor time; equal to {off:.0e}",
    )
    sizes, seconds = [12_500, 25_000, 50_000, 100_000], []
    for n in sizes:
        orders = Orders(None, ranked[:n])
        seconds.append(processor_seconds(lambda: ranker.fit(orders)))  # noqa: B023
    learned = processor_seconds(lambda: PlackettLuce().fit(orders))
    with_ties = Orders(None, [[r[0], r[1:3], *r[3:]] for r in ranked.tolist()])
    tied = processor_seconds(lambda: ranker.fit(with_ties))
    reading = processor_seconds(lambda: Orders(None, ranked.tolist()))
    yield Row(
        "PlackettLuce, 10⁵ lists of ten: a fit, and its growth in lists",
        f"{seconds[-1]:.2f} s, n^{slope(sizes, seconds):.2f}",
        "seconds",
        seconds[-1] <= 5,
        f"with a learned prior {learned:.1f} s, with a tie in every list {tied:.1f} s;"
        f" Orders of lists of lists {reading:.2f} s; processor time",
    )


def order_best_and_worst() -> Iterator[Row]:
    """PlackettLuce on choices of the best and the worst of five of 60 items."""
    ranked = rank_items(10_000, 5, 60)
    sets = np.sort(ranked, axis=1)
    read = processor_seconds(lambda: _best_worst(sets, ranked))
    orders = _best_worst(sets, ranked)
    fit = processor_seconds(lambda: PlackettLuce().fit(orders))
    yield Row(
        "PlackettLuce, best and worst of 10,000 sets of five of 60 items",
        f"{fit:.2f} s",
        "≤ 2 s",
        fit <= 2,
        f"prior learned; Orders.from_best_worst {read:.2f} s; processor time",
    )


def _best_worst(sets: np.ndarray, ranked: np.ndarray) -> Orders:
    return Orders.from_best_worst(sets, ranked[:, 0], ranked[:, -1])


def rank_items(n: int, length: int, n_items: int) -> np.ndarray:
    """Draw n lists of some of the items from the model, best first."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=n_items)
    items = rng.permuted(np.tile(np.arange(n_items), (n, 1)), axis=1)[:, :length]
    worth = strength[items] + rng.gumbel(size=items.shape)
    return np.take_along_axis(items, np.argsort(-worth, axis=1), axis=1)


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


CASES = (
    order_strengths_against_choix,
    order_best_and_worst,
    order_boosting_against_pairs,
    order_boosting_growth,
)
