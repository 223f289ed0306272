# SPDX-License-Identifier: BSD-3-Clause
"""Graded items: RankSVM on all pairs, and kernels by landmarks, at scale.

``python -m benchmarks.run -k graded --markdown`` runs these and prints the rows of
their table. How accurate they are is measured by :mod:`benchmarks.accuracy`.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from sklearn.metrics import ndcg_score

from benchmarks.grade_problems import (
    LIBRARY,
    fit_linear_svc,
    fit_ours,
    make_graded,
)
from benchmarks.measure import in_child, processor_ratio, slope
from benchmarks.rows import Row
from tiebreak import NystroemMap, RankSVM, metrics

SIZES = {
    "10⁵ items × 50, one group": (100_000, 1),
    "10⁶ items × 50, 10⁴ groups": (1_000_000, 10_000),
}
THREADS = {1: "one thread", 2: "two threads"}


def graded_compilation() -> Iterator[Row]:
    """First fits of graded items on a machine, and every later one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        cold = in_child("compile_graded", environment=environment)["seconds"]
        warm = in_child("compile_graded", environment=environment)["seconds"]
    yield Row("compile for graded items, empty cache", f"{cold:.1f} s", "", None)
    yield Row("compile for graded items, from its cache", f"{warm:.2f} s", "", None)


def graded_against_linear_svc() -> Iterator[Row]:
    """RankSVM against LinearSVC on the differences of all pairs, n = 1000 items."""
    data = make_graded(1000)
    best = fit_ours(data, 1e-12).objective_
    ours = fit_ours(data)
    a = min(_timed(lambda: fit_ours(data)) for _ in range(20))
    forms = {"every pair both ways": True, "every other pair turned round": False}
    for label, both_signs in forms.items():
        start = time.perf_counter()
        w = fit_linear_svc(data, both_signs)
        b = time.perf_counter() - start
        excess = data.objective(w) / best - 1
        if ours.objective_ / best - 1 > max(excess, 1e-4):
            raise AssertionError(f"our objective {ours.objective_} is the worse one")
        yield Row(
            f"RankSVM, 1000 items: times faster than LinearSVC, {label}",
            f"{b / a:,.0f}×",
            "≥ 1000×",
            b / a >= 1000,
            f"{1e3 * a:.1f} ms against {b:.1f} s for {ours.n_pairs_:,} pairs; above "
            f"the optimum by {ours.objective_ / best - 1:.0e} and {excess:.0e}",
        )


def graded_at_scale() -> Iterator[Row]:
    """10⁵ items in one group and 10⁶ in 10⁴ groups, within 1e-4 of the optimum."""
    for label, (n, n_groups) in SIZES.items():
        for threads, words in THREADS.items():
            if threads > len(os.sched_getaffinity(0)):
                continue
            report = in_child("fit_graded", n=n, n_groups=n_groups, threads=threads)
            yield Row(
                f"{label}, {words}",
                f"{report['seconds']:.2f} s",
                "",
                None,
                f"{report['n_iter']} Newton steps, {report['n_products']} products; "
                f"{report['excess']:.0e} above the optimum",
            )
            cost = report["solver"] / report["n_iter"] / report["unit"]
            yield Row(
                f"{label}, {words}: a Newton step, in sorts and two products",
                f"{cost:.1f}×",
                "≤ 5×",
                cost <= 5,
                f"{1e3 * report['solver'] / report['n_iter']:.0f} ms against "
                f"{1e3 * report['unit']:.0f} ms",
            )
        yield Row(
            f"{label}: peak memory, in sizes of the data",
            f"{report['memory']:.2f}×",
            "≤ 1.4×",
            report["memory"] <= 1.4,
            f"data of {report['megabytes']:.0f} MB included",
        )


def graded_growth() -> Iterator[Row]:
    """How the time of a fit grows from 10⁴ to 10⁶ items."""
    sizes = [10_000, 31_600, 100_000, 316_000, 1_000_000]
    for label, per_group in (("one group", None), ("groups of 100", 100)):
        seconds = []
        for n in sizes:
            data = make_graded(n, 1 if per_group is None else n // per_group)
            fit_ours(data)
            seconds.append(min(_timed(lambda: fit_ours(data)) for _ in range(3)))  # noqa: B023
        yield Row(
            f"growth in items, {label}",
            f"n^{slope(sizes, seconds):.2f}",
            "≤ n^1.2",
            slope(sizes, seconds) <= 1.2,
            f"{1e3 * seconds[0]:.0f} ms for {sizes[0]:,}, {seconds[-1]:.2f} s for "
            f"{sizes[-1]:,}",
        )


def graded_against_compiled() -> Iterator[Row]:
    """Whole runs against a rankSVM in C++."""
    for label, (n, n_groups) in SIZES.items():
        for threads, words in THREADS.items():
            name = f"{label}, {words}: times faster than C++"
            if LIBRARY not in os.environ:
                yield Row(name, "–", "≥ 1.5×", None, f"${LIBRARY} names no library")
                continue
            report = in_child(
                "against_compiled", n=n, n_groups=n_groups, threads=threads
            )
            yield Row(
                name,
                f"{report['ratio']:.1f}×",
                "≥ 1.5×",
                report["ratio"] >= 1.5,
                f"{report['ours']:.2f} s against {report['peer']:.2f} s; it took "
                f"{report['n_iter']} steps and {report['n_products']} products to "
                f"{report['excess']:.0e} above the optimum",
            )


def graded_kernel() -> Iterator[Row]:
    """A Gaussian kernel on 10⁵ items by 300 landmarks."""
    rng = np.random.default_rng(0)
    n, n_test = 100_000, 20_000
    X = rng.standard_normal((n + n_test, 50)) @ rng.standard_normal((50, 50)) / 50**0.5
    u = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * X[:, 3]
    y = np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8])).astype(float)
    train, test = slice(n), slice(n, None)
    ranker = RankSVM(10 / n, kernel="linear", loss="squared_hinge")
    linear = ranker.fit(X[train], y[train]).utility(X[test])
    NystroemMap(random_state=0).fit(X[:1000]).transform(X[:1000])
    start = time.perf_counter()
    features = NystroemMap(random_state=0).fit(X[train])
    chosen = time.perf_counter()
    Z = features.transform(X[train])
    mapped = time.perf_counter()
    ranker.fit(Z, y[train])
    seconds = time.perf_counter() - start
    utility = ranker.utility(features.transform(X[test]))
    swapped = metrics.swapped_pairs(y[test], utility)
    by_linear = metrics.swapped_pairs(y[test], linear)
    if swapped >= by_linear:
        raise AssertionError(f"a kernel does not help: {swapped} and {by_linear}")
    yield Row(
        "RBF, 10⁵ items × 50 by 300 landmarks",
        f"{seconds:.1f} s",
        "≤ 10 s",
        seconds <= 10,
        f"{chosen - start:.1f} s landmarks, {mapped - chosen:.1f} s features, the rest "
        f"RankSVM; mean error {features.mean_error_:.2f} of the kernel; pairs swapped "
        f"{swapped:.3f}, linear {by_linear:.3f}",
    )


def graded_default() -> Iterator[Row]:
    """`RankSVM()` as it comes: Gaussian kernel, hinge, one group; certified gaps."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 10))
    u = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(5000)
    y = np.digitize(u, np.quantile(u, [0.2, 0.4, 0.6, 0.8]))
    RankSVM().fit(X[:200], y[:200])
    seconds = []
    for n, wanted in ((800, 0.3), (5000, 10.0)):
        start = time.process_time()
        model = RankSVM().fit(X[:n], y[:n])
        seconds.append(time.process_time() - start)
        if not model.converged_:
            raise AssertionError(f"{n} items: a gap of {model.gap_}")
        yield Row(
            f"RankSVM() on one group of {n:,} items × 10",
            f"{seconds[-1]:.2f} s",
            f"≤ {wanted:g} s",
            seconds[-1] <= wanted,
            f"processor time; {model.n_iter_} rounds and steps, gap {model.gap_:.0e}",
        )
    growth = slope([800, 5000], seconds)
    yield Row("RankSVM(): growth in items", f"n^{growth:.2f}", "", None, "")


def graded_metrics_against_peers() -> Iterator[Row]:
    """Metrics of one list and of many, against SciPy and scikit-learn."""
    rng = np.random.default_rng(0)
    for shape in ((1, 1000), (1, 100_000), (1, 1_000_000), (10_000, 100)):
        U = rng.normal(size=shape)
        Y = U + rng.normal(size=shape)
        grades = np.digitize(Y, [-1, 0, 1, 2]).astype(float)
        y, u, grade = Y.ravel(), U.ravel(), grades.ravel()
        qid = None if len(U) == 1 else np.repeat(np.arange(len(U)), shape[1])
        cases: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
            "ndcg, scikit-learn": (
                lambda: metrics.ndcg(grade, u, qid, gain="linear"),  # noqa: B023
                lambda: ndcg_score(grades, U),  # noqa: B023
            ),
            "ndcg, scikit-learn's ignore_ties": (
                lambda: metrics.ndcg(grade, u, qid, gain="linear"),  # noqa: B023
                lambda: ndcg_score(grades, U, ignore_ties=True),  # noqa: B023
            ),
        }
        if qid is None:
            cases |= {
                "kendall_tau_b, SciPy": (
                    lambda: metrics.kendall_tau_b(y, u),  # noqa: B023
                    lambda: stats.kendalltau(y, u).statistic,  # noqa: B023
                ),
                "spearman_rho, SciPy": (
                    lambda: metrics.spearman_rho(y, u),  # noqa: B023
                    lambda: stats.spearmanr(y, u).statistic,  # noqa: B023
                ),
                "swapped_pairs, SciPy's tau": (
                    lambda: 1 - 2 * metrics.swapped_pairs(y, u),  # noqa: B023
                    lambda: stats.kendalltau(y, u).statistic,  # noqa: B023
                ),
                "kendall_tau_b of five grades, SciPy": (
                    lambda: metrics.kendall_tau_b(grade, u),  # noqa: B023
                    lambda: stats.kendalltau(grade, u).statistic,  # noqa: B023
                ),
            }
        for name, (ours, peer) in cases.items():
            if abs(ours() - peer()) > 1e-9:
                raise AssertionError(f"{name}: {ours()} and {peer()}")
            a, b, ratio = processor_ratio(ours, peer, 101 if U.size <= 1000 else 7)
            yield Row(
                f"{name}, {shape[0]:,} × {shape[1]:,}",
                f"{ratio:.1f}×",
                "≥ 1×",
                ratio >= 1,
                f"{1e3 * a:.2f} ms against {1e3 * b:.2f} ms of processor time",
            )


def _timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


CASES = (
    graded_compilation,
    graded_against_linear_svc,
    graded_at_scale,
    graded_growth,
    graded_against_compiled,
    graded_kernel,
    graded_default,
    graded_metrics_against_peers,
)
