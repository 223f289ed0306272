# SPDX-License-Identifier: BSD-3-Clause
"""Growth and peak memory of a fit: ``python -m benchmarks.decisions.growth``.

Of what has no such row in the tables: seconds of processor time at three sizes, each
twice the last, and the peak of memory above the data at the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import PeakMemory, processor_seconds, slope
from tiebreak import (
    Orders,
    Pairs,
    PlackettLuce,
    RankingPursuit,
    RankRLS,
)
from tiebreak.ratings import BradleyTerry


def graded(model: Any, n: int, p: int) -> Callable[[], Any]:
    """A fit of items with a noisy linear utility in five grades."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = np.digitize(X[:, 0] + rng.normal(size=n), [-1.5, -0.5, 0.5, 1.5])
    return lambda: model.fit(X, y)


def lists(model: Any, n: int, length: int, n_items: int) -> Callable[[], Any]:
    """A fit of lists of items that are drawn at random."""
    rng = np.random.default_rng(0)
    order = rng.random((n, n_items)).argsort(axis=1)[:, :length]
    orders = Orders(None, order.tolist())
    return lambda: model.fit(orders)


def votes(n: int) -> Callable[[], Any]:
    """Davidson's model of votes of 200 items."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 200, n)
    pairs = Pairs(None, left, (left + rng.integers(1, 200, n)) % 200)
    y = rng.integers(-1, 2, n).astype(np.int8)
    return lambda: BradleyTerry("davidson", alpha=0).fit(pairs, y)


CASES: dict[str, tuple[list[int], Callable[[int], Callable[[], Any]]]] = {
    "RankRLS, Gaussian, 10 features": (
        [750, 1500, 3000],
        lambda n: graded(RankRLS(kernel="rbf"), n, 10),
    ),
    "RankRLS, linear, 50 features": (
        [25_000, 50_000, 100_000],
        lambda n: graded(RankRLS(kernel="linear"), n, 50),
    ),
    "RankingPursuit, 50 steps": (
        [1250, 2500, 5000],
        lambda n: graded(RankingPursuit(50), n, 10),
    ),
    "PlackettLuce(alpha=0), lists of ten": (
        [12_500, 25_000, 50_000],
        lambda n: lists(PlackettLuce(alpha=0), n, 10, 100),
    ),
    "Davidson, votes": ([250_000, 500_000, 1_000_000], votes),
}


def main() -> None:
    """Measure and print a table."""
    print("| fit | size | seconds | growth | peak memory |\n|---|---|---|---|---|")
    for name, (sizes, make) in CASES.items():
        calls = [make(n) for n in sizes]
        calls[0]()  # compiles
        with PeakMemory() as peak:
            calls[-1]()
        seconds = [processor_seconds(call) for call in calls]
        print(
            f"| {name} | {sizes[-1]:,} | {seconds[-1]:.2f} s | "
            f"n^{slope(sizes, seconds):.2f} | {peak.used:.0f} MB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
