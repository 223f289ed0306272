# SPDX-License-Identifier: BSD-3-Clause
"""Pursuits: steps against the products they need, memory, and prediction.

``python -m benchmarks.run -k pursuit --markdown`` runs these.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import in_child, interleaved
from benchmarks.rows import Row
from tiebreak import CoRankingPursuit, MatchingPursuit, RankingPursuit, RankSVM
from tiebreak.kernels import KernelFunction

N, P, STEPS = 5000, 10, 100


def make_items(
    n: int, seed: int = 0, n_groups: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items with a curved utility, graded with noise, in groups of equal size."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, P))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, y + 0.1 * rng.standard_normal(n), np.arange(n) % n_groups


def needed_products(X: np.ndarray, gamma: float) -> None:
    """The kernel matrix of all items, and one product with it for every step."""
    K = KernelFunction("rbf", gamma).block(X, X)
    q = np.ones(len(X))
    for _ in range(STEPS):
        q = K @ q
        q /= np.abs(q).max()


def check_fit(model: RankingPursuit, X: np.ndarray, y: np.ndarray, qid) -> None:
    """Compare with least squares on the chosen columns, centered in groups."""
    K = KernelFunction("rbf", model.gamma_).block(X, X[model.support_])
    size = np.bincount(qid)[qid][:, None]
    sums = [np.bincount(qid, column) for column in np.column_stack([K, y]).T]
    means = np.column_stack(sums)[qid] / size
    centered = np.sqrt(size) * (np.column_stack([K, y]) - means)
    a = np.linalg.lstsq(centered[:, :-1], centered[:, -1], rcond=None)[0]
    best = np.sum((centered[:, -1] - centered[:, :-1] @ a) ** 2)
    reached = model.objective_path_[-1]
    if not reached <= best * (1 + 1e-6):
        raise AssertionError(f"the coefficients leave {reached}, the best {best}")


def pursuit_steps() -> Iterator[Row]:
    """100 basis functions at n = 5000, against the matrix products that they need."""
    gamma = 1 / P
    forms: dict[str, tuple[int, Callable[[], MatchingPursuit | RankingPursuit]]] = {
        "RankingPursuit, one group": (
            1,
            lambda: RankingPursuit(STEPS, alpha=0, gamma=gamma),
        ),
        "RankingPursuit, 500 groups": (
            500,
            lambda: RankingPursuit(STEPS, alpha=0, gamma=gamma),
        ),
        "RankingPursuit(prefit=True), one group": (
            1,
            lambda: RankingPursuit(STEPS, alpha=0, gamma=gamma, prefit=True),
        ),
        "MatchingPursuit": (1, lambda: MatchingPursuit(STEPS, gamma=gamma)),
    }
    for name, (n_groups, make) in forms.items():
        X, y, qid = make_items(N, n_groups=n_groups)
        model = make().fit(X, y, qid=qid)
        if isinstance(model, RankingPursuit):
            check_fit(model, X, y, qid)
        ours, peer, ratio = interleaved(
            lambda make=make, X=X, y=y, qid=qid: make().fit(X, y, qid=qid),
            lambda X=X: needed_products(X, gamma),
            5,
        )
        yield Row(
            f"{STEPS} steps at n = {N}: {name}",
            f"{1 / ratio:.2f}× the products",
            "≤ 2×",
            1 / ratio <= 2,
            f"{ours:.2f} s against {peer:.2f} s for the kernel matrix of all items and "
            f"{STEPS} products of it with a vector",
        )


def pursuit_memory() -> Iterator[Row]:
    """Peak memory of a fit whose dictionary would take 200 MB."""
    reports = {
        cache: in_child("fit_pursuit", n=N, steps=50, cache_size=cache)
        for cache in (25, 100, 400)
    }
    support = {tuple(report["support"]) for report in reports.values()}
    if len(support) > 1:
        raise AssertionError("the choice depends on the memory")
    for cache, report in reports.items():
        # Metadata the columns of the dictionary: those chosen, and the items.
        bound = min(cache, 8e-6 * N * N + 16) + 8e-6 * N * 50 + 20
        yield Row(
            f"memory, n = {N}, cache_size={cache}",
            f"{report['peak']:.0f} MB",
            f"≤ {bound:.0f} MB",
            report["peak"] <= bound,
            f"{report['seconds']:.1f} s; the whole dictionary takes 200 MB",
        )


def pursuit_prediction() -> Iterator[Row]:
    """Prediction of 20,000 items, with a tenth of the columns of RankSVM's."""
    n = 2000
    X, y, _ = make_items(n)
    test, truth, _ = make_items(20_000, seed=1)
    options = {"kernel": "rbf", "gamma": 1 / P}
    machine = RankSVM(1 / n, loss="squared_hinge", **options).fit(X, y)
    pursuit = RankingPursuit(n // 10, **options).fit(X, y)
    ours, peer, ratio = interleaved(
        lambda: pursuit.utility(test), lambda: machine.utility(test), 7
    )
    scores = pursuit.score(test, truth), machine.score(test, truth)
    if scores[0] < scores[1] - 0.02:
        raise AssertionError(f"the pursuit ranks worse: {scores}")
    yield Row(
        f"prediction with {n // 10} of {n} columns, against RankSVM's",
        f"{ratio:.1f}×",
        "≥ 10×",
        ratio >= 10,
        f"{1e3 * ours:.0f} ms against {1e3 * peer:.0f} ms, {len(machine.item_coef_)} "
        f"columns; pairs in order {scores[0]:.3f} and {scores[1]:.3f}",
    )


def pursuit_views() -> Iterator[Row]:
    """Two views with centers of their own: all m² pairs in every step."""
    X, y, _ = make_items(3000)
    m = 1000
    known = np.where(np.arange(len(y)) < m, y, np.nan)
    views = [list(range(5)), list(range(5, P))]
    for indices in ("free", "shared"):
        model = CoRankingPursuit(20, views=views, nu=0.01, indices=indices)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            start = time.perf_counter()
            model.fit(X, known)
        seconds = time.perf_counter() - start
        count = m * m if indices == "free" else m
        yield Row(
            f"two views, {m} graded and {len(y) - m} other items, {indices} centers",
            f"{seconds:.2f} s",
            "",
            None,
            f"20 steps of {count} candidates",
        )


CASES = (pursuit_steps, pursuit_memory, pursuit_prediction, pursuit_views)
