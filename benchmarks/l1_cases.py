# SPDX-License-Identifier: BSD-3-Clause
"""1-norm ranking: pairs, hull corners and thresholds as rows, and growth in items.

``python -m benchmarks.run -k one_norm --markdown`` runs these. Abalone and concrete are
published files, see :mod:`tiebreak.datasets`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import slope
from benchmarks.rows import Row
from tiebreak import L1Ranker
from tiebreak.datasets import load_uci
from tiebreak.models.l1.risks import GradedPairRisk

# α as a share of the smallest α that drops everything.
_SHARE = 0.1


def _abalone() -> tuple[np.ndarray, np.ndarray]:
    """Rings below 6, 6 to 15 and above 15, as Nan et al. have them."""
    data = load_uci("abalone", one_hot=False)
    return _scaled(data.X), np.digitize(data.y, [6, 16])


def _concrete() -> tuple[np.ndarray, np.ndarray]:
    """Five bins of equal frequency."""
    data = load_uci("concrete")
    return _scaled(data.X), np.searchsorted(
        np.quantile(data.y, [0.2, 0.4, 0.6, 0.8]), data.y, side="right"
    )


def _scaled(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def make_items(n: int, p: int = 50, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw items of p features, ten of which matter, in five grades with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    w = np.append(np.linspace(1.0, 0.1, 10), np.zeros(p - 10))
    u = X @ w + rng.standard_normal(n)
    return X, np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8]))


def _timed(call: Callable[[], L1Ranker]) -> tuple[L1Ranker, float]:
    start = time.perf_counter()
    model = call()
    return model, time.perf_counter() - start


def one_norm_rows() -> Iterator[Row]:
    """Abalone and concrete: rows and seconds of three forms of one program."""
    # With some of the rows all pairs are solved to the end, and answers are compared.
    for name, read, some in (
        ("concrete, 400 rows", _concrete, 400),
        ("abalone, 800 rows", _abalone, 800),
        ("concrete", _concrete, None),
        ("abalone", _abalone, None),
    ):
        X, y = read()
        chosen = np.random.default_rng(0).permutation(len(y))[:some]
        X, y = X[chosen], y[chosen]
        alpha = _SHARE * L1Ranker(slack="item-weighted").alpha_max(X, y)

        def fit(
            reduction: str | None,
            X: np.ndarray = X,
            y: np.ndarray = y,
            alpha: float = alpha,
        ) -> L1Ranker:
            model = L1Ranker(alpha, "item-weighted", reduction, time_limit=60.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                return model.fit(X, y)

        fit("threshold")
        short, quick = _timed(lambda: fit("threshold"))
        hull, corners = _timed(lambda: fit("hull"))
        every, slow = _timed(lambda: fit(None))
        if short.objective_ > every.objective_ * (1 + 1e-8):
            raise AssertionError(f"{short.objective_} is above {every.objective_}")
        if some is not None and not every.converged_:
            raise AssertionError(f"{name}: all pairs were not solved")
        if every.converged_ and short.objective_ < every.objective_ * (1 - 1e-8):
            raise AssertionError(f"{short.objective_} is below {every.objective_}")
        before, after = short.n_rows_
        ended = "" if every.converged_ else f"; stopped at a gap of {every.gap_:.0e}"
        yield Row(
            f"{name}: times faster by thresholds than by all pairs",
            f"{slow / quick:,.0f}×" if every.converged_ else f"> {slow / quick:,.0f}×",
            "≥ 100×" if name == "abalone" else "",
            slow / quick >= 100 if name == "abalone" else None,
            f"{quick:.2f} s with {after:,} rows against {slow:.1f} s with {before:,}"
            f"{ended}",
        )
        yield Row(
            f"{name}: hull corners",
            f"{corners:.1f} s",
            "",
            None,
            f"{hull.n_rows_[1]:,} of {before:,} rows; an approximation: it swaps "
            f"{1 - hull.score(X, y):.2%} of the pairs, all of them "
            f"{1 - short.score(X, y):.2%}",
        )


def one_norm_at_scale() -> Iterator[Row]:
    """10⁵ items × 50 features in five grades, and growth in items."""
    sizes = [12_500, 25_000, 50_000, 100_000]
    for slack in ("item", "pair"):
        seconds, model = [], L1Ranker()
        for n in sizes:
            X, y = make_items(n)
            # Known in advance, so that every size solves the same problem.
            alpha = 0.03 * n * (1 if slack == "item" else n / 4)
            model, time_taken = _timed(lambda: L1Ranker(alpha, slack).fit(X, y))  # noqa: B023
            seconds.append(time_taken)
        yield Row(
            f"slack={slack!r}, 10⁵ items × 50",
            f"{seconds[-1]:.1f} s",
            "solved",
            bool(model.converged_),
            f"gap {model.gap_:.0e}, {model.n_iter_} steps, "
            f"{len(model.selected_)} features",
        )
        growth = slope(sizes, seconds)
        yield Row(
            f"slack={slack!r}: growth in items",
            f"n^{growth:.2f}",
            "≤ n^1.3",
            growth <= 1.3,
            f"{seconds[0]:.2f} s for {sizes[0]:,}",
        )


def one_norm_path() -> Iterator[Row]:
    """A slack per pair with many features and a small penalty, against planes alone."""
    data = load_uci("bank32nh")
    X, y = _scaled(data.X), data.y
    small = 1e-3 * L1Ranker().alpha_max(X, y)
    L1Ranker(1.0).fit(X[:300], y[:300])

    def seconds(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
        alphas = L1Ranker().alpha_max(X, y) * np.logspace(0, -3, 50)
        start = time.process_time()
        gaps = [model.gap_ for model in L1Ranker().path(X, y, alphas)]
        return time.process_time() - start, max(gaps)

    taken, gap = seconds(X, y)
    fewer = [seconds(X[:n], y[:n])[0] for n in (2048, 4096)]
    growth = slope([2048, 4096, len(y)], [*fewer, taken])
    yield Row(
        "path of 50 values of α down to 0.001 of the largest, bank32nh (8192 × 32)",
        f"{taken:.1f} s",
        "≤ 60 s, certified",
        taken <= 60 and gap <= 1e-6,
        f"processor time; largest gap {gap:.0e}; growth n^{growth:.2f}",
    )
    start = time.process_time()
    quick = L1Ranker(small).fit(X, y)
    ours = time.process_time() - start
    rounded = GradedPairRisk.smoothed
    del GradedPairRisk.smoothed
    try:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            planes = L1Ranker(small, max_iter=200).fit(X, y)
        theirs = time.process_time() - start
    finally:
        GradedPairRisk.smoothed = rounded  # type: ignore[method-assign]
    if quick.objective_ > planes.objective_ * (1 + 1e-6):
        raise AssertionError(f"{quick.objective_} is above {planes.objective_}")
    yield Row(
        "one fit at 0.001 of the largest α, against planes and rows alone",
        f"> {theirs / ours:.0f}×",
        "",
        None,
        f"{ours:.2f} s to a gap of {quick.gap_:.0e} against {theirs:.0f} s to a gap of "
        f"{planes.gap_:.0e} after 200 linear programs",
    )


CASES = (one_norm_rows, one_norm_at_scale, one_norm_path)
