# SPDX-License-Identifier: BSD-3-Clause
"""RankRLS: closed forms against fitting again, one path against separate fits.

``python -m benchmarks.run -k squares --markdown`` runs these and prints the rows of
their table. The peer is the model itself, fitted once for each group, pair or alpha.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.measure import PeakMemory, interleaved, processor_ratio
from benchmarks.rows import Row
from tiebreak import RankRLS

ALPHAS = np.logspace(-3, 3, 30)
FORMS = {
    "Gaussian kernel, 1000 items × 10": ({"gamma": 0.1}, 1000, 10),
    "linear, 10,000 items × 30": ({"kernel": "linear"}, 10_000, 30),
    "linear, 500 items × 2000": ({"kernel": "linear"}, 500, 2000),
}


def make_groups(
    n: int, p: int, n_groups: int = 100
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grade items by a curved utility, each group on a scale with its own origin."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    qid = rng.permutation(np.arange(n) % n_groups)
    y = X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(n_groups)[qid]
    return X, y + 0.3 * rng.standard_normal(n), qid


def squares_group_out() -> Iterator[Row]:
    """Leave-one-group-out at 100 groups against 100 fits."""
    for label, (options, n, p) in FORMS.items():
        X, y, qid = make_groups(n, p)
        model = RankRLS(1.0, **options)

        def closed(
            model: RankRLS = model, X: Any = X, y: Any = y, qid: Any = qid
        ) -> np.ndarray:
            return model.leave_group_out(X, y, qid=qid)

        def again(
            model: RankRLS = model, X: Any = X, y: Any = y, qid: Any = qid
        ) -> np.ndarray:
            utility = np.empty(len(y))
            for g in range(100):
                out = qid == g
                model.fit(X[~out], y[~out], qid=qid[~out])
                utility[out] = model.utility(X[out])
            return utility

        expected = again()
        apart = np.abs(closed() - expected).max() / np.abs(expected).max()
        if apart > 1e-8:
            raise AssertionError(f"{label}: utilities differ by {apart:.1e}")
        a, b, ratio = interleaved(closed, again, 3)
        yield Row(
            f"RankRLS, {label}: a group left out, against 100 fits",
            f"{ratio:.0f}×",
            "≥ 20×",
            ratio >= 20,
            f"{a:.2f} s against {b:.1f} s; utilities equal to {apart:.0e}",
        )


def squares_path() -> Iterator[Row]:
    """A path of 30 alphas against 30 fits."""
    for label, (options, n, p) in FORMS.items():
        X, y, qid = make_groups(n, p)
        template = RankRLS(**options)

        def path(t: RankRLS = template, X: Any = X, y: Any = y, qid: Any = qid) -> list:
            return list(t.path(X, y, ALPHAS, qid=qid))

        def fits(o: dict = options, X: Any = X, y: Any = y, qid: Any = qid) -> list:
            return [RankRLS(a, **o).fit(X, y, qid=qid) for a in ALPHAS]

        apart = 0.0
        for one, other in zip(path(), fits(), strict=True):
            u, v = one.utility(X[:500]), other.utility(X[:500])
            apart = max(apart, np.abs(u - v).max() / np.abs(v).max())
        if apart > 1e-8:
            raise AssertionError(f"{label}: utilities differ by {apart:.1e}")
        a, b, ratio = interleaved(path, fits, 3)
        yield Row(
            f"RankRLS, {label}: path of 30 alphas, against 30 fits",
            f"{ratio:.1f}×",
            "",
            None,
            f"{a:.2f} s against {b:.2f} s; utilities equal to {apart:.0e}",
        )


def squares_products() -> Iterator[Row]:
    """Conjugate gradients where the kernel matrix would not fit."""
    X, y, qid = make_groups(12_000, 10)
    small = slice(4000)
    direct = RankRLS(1.0, gamma=0.1).fit(X[small], y[small], qid=qid[small])
    model = RankRLS(1.0, gamma=0.1, solver="cg").fit(X[small], y[small], qid=qid[small])
    if model.objective_ > direct.objective_ * (1 + 1e-9):
        raise AssertionError(f"{model.objective_} is worse than {direct.objective_}")
    with PeakMemory() as memory:
        seconds = _timed(lambda: model.fit(X, y, qid=qid))
    matrix = 8 * len(y) ** 2 / 1e6
    yield Row(
        "RankRLS, Gaussian kernel, 12,000 items × 10, conjugate gradients: memory",
        f"{memory.used:.0f} MB",
        "",
        None,
        f"of {matrix:.0f} MB for the matrix; {seconds:.0f} s, {model.n_iter_} products "
        f"to a gap of {model.gap_:.0e}",
    )


def squares_against_peers() -> Iterator[Row]:
    """One fit against KernelRidge, and against plain normal equations."""
    X, y, _ = make_groups(3000, 10)
    model, ridge = RankRLS(1.0, gamma=0.1), KernelRidge(alpha=1.0, gamma=0.1)
    ridge.set_params(kernel="rbf").fit(X, y)
    # One group of n items weighs every difference n times as much.
    K = rbf_kernel(X, gamma=0.1)
    center = np.eye(len(y)) - 1 / len(y)
    H = len(y) * center @ K @ center + np.eye(len(y))
    b = np.linalg.solve(H, len(y) * center @ y)
    expected = K @ center @ b
    found = model.fit(X, y).utility(X)
    _check_utilities(found, expected)
    with PeakMemory() as memory:
        model.fit(X, y)
    a, b, ratio = processor_ratio(lambda: model.fit(X, y), lambda: ridge.fit(X, y), 3)
    yield Row(
        "RankRLS, Gaussian kernel, 3000 items, against KernelRidge",
        f"{ratio:.2f}×",
        "≥ 1×",
        ratio >= 1,
        f"{a:.2f} s against {b:.2f} s of processor time; peak "
        f"{memory.used * 1e6 / (8 * len(y) ** 2):.1f} n² doubles",
    )
    X, y, _ = make_groups(100_000, 50)
    model, n = RankRLS(1.0, kernel="linear"), len(y)

    def plain() -> np.ndarray:
        centered = X - X.mean(axis=0)
        H = n * (centered.T @ centered) + np.eye(X.shape[1])
        return np.linalg.solve(H, n * (centered.T @ (y - y.mean())))

    _check_utilities(model.fit(X, y).coef_, plain())
    a, b, ratio = processor_ratio(lambda: model.fit(X, y), plain, 7)
    yield Row(
        "RankRLS, linear, 100,000 items × 50, against plain normal equations",
        f"{ratio:.2f}×",
        "≥ 1×",
        ratio >= 1,
        f"{1e3 * a:.0f} ms against {1e3 * b:.0f} ms of processor time",
    )


def _check_utilities(found: np.ndarray, expected: np.ndarray) -> None:
    apart = np.ptp(found - expected) / np.ptp(expected)
    if apart > 1e-8:
        raise AssertionError(f"utilities differ by {apart:.1e}")


def _timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


CASES = (
    squares_group_out,
    squares_path,
    squares_products,
    squares_against_peers,
)
