# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks: what is measured, against whom, and what we promise.

A case returns rows (name, value, promise, note). Answers are compared before times.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.svm import LinearSVC

from benchmarks.boosted_cases import CASES as BOOSTED_CASES
from benchmarks.command_cases import CASES as COMMAND_CASES
from benchmarks.grade_cases import CASES as GRADE_CASES
from benchmarks.l1_cases import CASES as ONE_NORM_CASES
from benchmarks.least_squares_cases import CASES as SQUARES_CASES
from benchmarks.measure import (
    in_child,
    processor_ratio,
    processor_seconds,
    slope,
)
from benchmarks.order_cases import CASES as ORDER_CASES
from benchmarks.problems import (
    Libsvm,
    fit_from_items,
    fit_ours,
    make_problem,
    make_texts,
)
from benchmarks.pursuit_cases import CASES as PURSUIT_CASES
from benchmarks.rating_cases import CASES as RATING_CASES
from benchmarks.rows import Row
from benchmarks.scale_cases import CASES as SCALE_CASES
from tiebreak import LogisticCompare, SVMCompare, metrics, tune
from tiebreak.datasets import make_norms


def compilation() -> Iterator[Row]:
    """First use on a machine, and every later one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        cold = in_child("compile_first", environment=environment)["seconds"]
        warm = in_child("compile_first", environment=environment)["seconds"]
    yield Row("compile the solver, empty cache", f"{cold:.1f} s", "≤ 10 s", cold <= 10)
    yield Row("compile the solver, from its cache", f"{warm:.2f} s", "", None)


def fit_against_libsvm() -> Iterator[Row]:
    """SVMCompare against SVC(kernel="precomputed") with its kernel."""
    promises = {
        (5000, 14, 1.0): 10,
        (5000, 14, 1e3): 3,
        (5000, 2, 1.0): 25,
        (5000, 2, 1e3): 5,
    }
    for (n, p, C), promise in promises.items():
        pairs, y = make_problem(n, p)
        test, _ = make_problem(2000, p, seed=1)
        ours, theirs = fit_ours(pairs, y, C), Libsvm().fit(pairs, y, C)
        same = (ours.predict(test) == theirs.predict(test)).mean()
        excess = theirs.objective(C) / ours.objective_ - 1
        if excess < -1e-3:
            raise AssertionError(f"our objective is worse by {-excess:.2%}")
        a, b, ratio = processor_ratio(
            lambda pairs=pairs, y=y, C=C: fit_ours(pairs, y, C),
            lambda pairs=pairs, y=y, C=C: Libsvm().fit(pairs, y, C),
            repeat=3,
        )
        yield Row(
            f"fit, n = {n}, p = {p}, C = {C:g}: times faster",
            f"{ratio:.1f}×",
            f"≥ {promise}×",
            ratio >= promise,
            f"{a:.2f} s against {b:.2f} s; outcomes agree on {same:.1%}, their "
            f"objective is {excess:+.1e}; {ours.solver_}",
        )


def small_against_libsvm() -> Iterator[Row]:
    """1000 comparisons against libsvm with the kernel of an expert."""
    for p in (14, 2):
        pairs, y = make_problem(1000, p)
        ours, theirs = fit_ours(pairs, y, 1.0), fit_from_items(pairs, y, 1.0)
        apart = abs(ours.intercept_ / theirs.intercept_[0] - 1)
        if apart > 1e-2:
            raise AssertionError(f"the intercepts differ by {apart:.1%}")
        a, b, ratio = processor_ratio(
            lambda pairs=pairs, y=y: fit_ours(pairs, y, 1.0),
            lambda pairs=pairs, y=y: fit_from_items(pairs, y, 1.0),
            repeat=9,
        )
        yield Row(
            f"fit, n = 1000, p = {p}, C = 1, kernel from items: times faster",
            f"{ratio:.1f}×",
            "≥ 1×",
            ratio >= 1,
            f"{1e3 * a:.0f} ms against {1e3 * b:.0f} ms of processor time; intercepts "
            f"equal to {apart:.0e}",
        )


def text_against_linear_svc() -> Iterator[Row]:
    """SVMCompare on sparse rows like texts, and LinearSVC on the flipped differences.

    LinearSVC gets ever more iterations until its objective is as near to the optimum
    as ours, or it takes 20 seconds.
    """
    pairs, y = make_texts(12_000, 6000, 20_000)
    Z = pairs.values[pairs.right] - pairs.values[pairs.left]
    decided, tied = y != 0, y == 0
    signs = sp.diags_array(y[decided].astype(np.float64))
    flipped = sp.csr_matrix(sp.vstack([signs @ Z[decided], Z[tied], -Z[tied]]))
    flipped.indices = flipped.indices.astype(np.int32)
    flipped.indptr = flipped.indptr.astype(np.int32)
    label = np.r_[np.ones(decided.sum()), -np.ones(2 * tied.sum())]
    for C in (1.0, 10.0):

        def ours(tol=1e-3, C=C):
            machine = SVMCompare(C, kernel="linear", tie_weight=1, tol=tol)
            return machine.fit(pairs, y).objective_

        best = ours(1e-5)
        excess, a = ours() / best - 1, processor_seconds(ours)
        theirs, n_iter, b = np.inf, 500, 0.0
        while theirs > excess and b < 20:
            n_iter *= 2
            svc = LinearSVC(
                C=C, loss="hinge", tol=1e-6, max_iter=n_iter, intercept_scaling=10
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                b = processor_seconds(lambda svc=svc: svc.fit(flipped, label), 1)
            w, margin = svc.coef_[0], label * svc.decision_function(flipped)
            theirs = (0.5 * w @ w + C * np.maximum(0, 1 - margin).sum()) / best - 1
        yield Row(
            f"SVMCompare on text, 12,000 × 20,000, C = {C:g}: times LinearSVC's speed",
            f"{b / a:.1f}×",
            "≥ 1×",
            b >= a,
            f"{a:.2f} s against {b:.2f} s; objectives {excess:.1e} and {theirs:.1e} "
            "above the optimum",
        )


def wide_against_logistic_regression() -> Iterator[Row]:
    """LogisticCompare with more features than comparisons, and scikit-learn's."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(2000, 2, 4096))
    D = items[:, 1] - items[:, 0]
    d = D @ rng.normal(size=4096) / 32
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(-d)), 1, -1)

    def theirs(tol):
        model = LogisticRegression(C=0.5, fit_intercept=False, tol=tol, max_iter=1000)
        w = model.fit(D, y).coef_[0]
        return np.logaddexp(0, -y * (D @ w)).sum() + w @ w

    def ours(tol):
        return LogisticCompare(1.0, tol=tol).fit(items, y).objective_

    for name, tol, peer in (("as accurate", 1e-3, 1e-9), ("defaults", 1e-8, 1e-4)):
        excess = theirs(peer) / ours(tol) - 1
        if excess < -1e-13:
            raise AssertionError(f"our objective is worse by {-excess:.2e}")
        a, b, ratio = processor_ratio(
            partial(ours, tol), partial(theirs, peer), repeat=3
        )
        yield Row(
            f"LogisticCompare, 2000 × 4096, {name}: times scikit-learn's speed",
            f"{ratio:.2f}×",
            "≥ 1×" if name == "as accurate" else "",
            ratio >= 1 if name == "as accurate" else None,
            f"{a:.2f} s against {b:.2f} s of processor time; their objective is "
            f"{excess:+.1e}",
        )


def text_against_logistic_regression() -> Iterator[Row]:
    """LogisticCompare on sparse rows like texts without ties, and scikit-learn's."""
    pairs, y = make_texts(12_000, 6000, 20_000)
    pairs, y = pairs[np.flatnonzero(y)], y[y != 0]

    def theirs():
        Z = sp.csr_matrix(pairs.values[pairs.right] - pairs.values[pairs.left])
        Z.indices, Z.indptr = Z.indices.astype(np.int32), Z.indptr.astype(np.int32)
        model = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9, max_iter=1000)
        w = model.fit(Z, y).coef_[0]
        return np.logaddexp(0, -y * (Z @ w)).sum() + w @ w

    def ours():
        return LogisticCompare(1.0).fit(pairs, y)

    excess = theirs() / ours().objective_ - 1
    if excess < -1e-9:
        raise AssertionError(f"our objective is worse by {-excess:.2e}")
    a, b, ratio = processor_ratio(ours, theirs, repeat=5)
    yield Row(
        "LogisticCompare on text without ties: times scikit-learn's speed",
        f"{ratio:.1f}×",
        "≥ 1×",
        ratio >= 1,
        f"{a:.2f} s against {b:.2f} s; their objective is {excess:+.1e}",
    )


def kernel_against_logistic_regression() -> Iterator[Row]:
    """LogisticCompare with a kernel; the peer gets a factor of the pair kernel."""
    for p in (14, 2):
        pairs, y = make_problem(2000, p)
        decided = np.flatnonzero(y)  # a classifier knows no ties
        pairs, y = pairs[decided], y[decided]

        def ours(pairs=pairs, y=y, p=p):
            return LogisticCompare(1.0, kernel="rbf", gamma=1 / p).fit(pairs, y)

        def theirs(pairs=pairs, y=y, p=p):
            X, left, right = pairs.values, pairs.left, pairs.right
            K = rbf_kernel(X, gamma=1 / p)
            D = K[right] - K[left]
            D = D[:, right] - D[:, left]
            F = np.linalg.cholesky(D + 1e-10 * np.eye(len(y)))
            model = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-9)
            w = model.set_params(max_iter=1000).fit(F, y).coef_[0]
            return np.logaddexp(0, -y * (F @ w)).sum() + w @ w

        excess = theirs() / ours().objective_ - 1
        if excess < -1e-7:
            raise AssertionError(f"our objective is worse by {-excess:.2e}")
        a, b, ratio = processor_ratio(ours, theirs, 3)
        yield Row(
            f"LogisticCompare, rbf, {len(y)} decided pairs, p = {p}: times faster than "
            "LogisticRegression on a factor",
            f"{ratio:.1f}×",
            "≥ 1×",
            ratio >= 1,
            f"{a:.2f} s against {b:.2f} s of processor time; their objective is "
            f"{excess:+.1e}",
        )
    sizes, reports = [1000, 2000, 4000, 8000], []
    for n in sizes:
        reports.append(in_child("fit", who="logistic", n=n, p=14, C=0.5))
    seconds = [report["processor"] for report in reports]
    yield Row(
        "LogisticCompare, rbf, p = 14, half ties: growth in pairs",
        f"n^{slope(sizes, seconds):.2f}",
        "≤ n^2.3",
        slope(sizes, seconds) <= 2.3,
        "; ".join(
            f"{n}: {r['processor']:.2f} s, {r['peak']:.0f} MB"
            for n, r in zip(sizes, reports, strict=True)
        ),
    )


def memory_against_libsvm() -> Iterator[Row]:
    """Peak memory of one fit above imports and data, in processes of their own."""
    for p in (14, 2):
        for C in (1.0, 1e3):
            ours = in_child("fit", who="ours", n=5000, p=p, C=C)["peak"]
            peer = in_child("fit", who="libsvm", n=5000, p=p, C=C)["peak"]
            yield Row(
                f"memory, p = {p}, C = {C:g}: times less",
                f"{peer / ours:.1f}×",
                "≥ 5×",
                peer / ours >= 5,
                f"{ours:.0f} MB against {peer:.0f} MB",
            )


def twenty_thousand() -> Iterator[Row]:
    """20,000 comparisons of p = 14 within 1.5 GB."""
    report = in_child("fit", who="ours", n=20_000, p=14, C=1.0)
    yield Row(
        "20,000 comparisons, p = 14, C = 1: memory",
        f"{report['peak']:.0f} MB",
        "≤ 1500 MB",
        bool(report["peak"] <= 1500 and report["converged"]),
        f"{report['seconds']:.1f} s, relative gap {report['gap']:.1e}",
    )


def grid_against_cold_fits() -> Iterator[Row]:
    """The 10 × 10 grid of the paper in one call against 100 cold fits."""
    grid = {"C": np.geomspace(1e-3, 1e3, 10), "gamma": np.geomspace(2**-7, 2**4, 10)}
    for n in (400, 1000):
        train = make_norms(n, norm=1, random_state=0)
        valid = make_norms(n, norm=1, random_state=1)

        def by_tune(train=train, valid=valid):
            validation = (valid.pairs, valid.y)
            return tune(
                SVMCompare(tie_weight=1), train.pairs, train.y, grid,
                validation=validation, refit=False, progress=False,
            )  # fmt: skip

        def by_loop(train=train, valid=valid):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [
                    SVMCompare(tie_weight=1, **params)
                    .fit(train.pairs, train.y)
                    .score(valid.pairs, valid.y)
                    for params in ParameterGrid(grid)
                ]

        found, scores = by_tune(), by_loop()
        best = list(ParameterGrid(grid))[int(np.argmax(scores))]
        if found.best_params_ != best:
            raise AssertionError(f"the choices differ: {found.best_params_} and {best}")
        apart = np.abs(found.table["score"].to_numpy() + 1.0 - scores).max()
        if apart > 2.0 / n:
            raise AssertionError(f"the scores differ by up to {apart:.2g}")
        a, b, ratio = processor_ratio(by_tune, by_loop, repeat=5)
        yield Row(
            f"10 × 10 grid, {n} comparisons: times faster than 100 cold fits",
            f"{ratio:.1f}×",
            "≥ 5×",
            ratio >= 5,
            f"{a:.2f} s against {b:.2f} s of processor time, scores within {apart:.2g}",
        )


def growth() -> Iterator[Row]:
    """How cost grows with size."""
    sizes = [1000, 2000, 4000, 8000]
    seconds = []
    for n in sizes:
        pairs, y = make_problem(n, 14)
        start = time.perf_counter()
        fit_ours(pairs, y, 1.0)
        seconds.append(time.perf_counter() - start)
    yield Row(
        "growth of a fit in comparisons, p = 14, C = 1",
        f"n^{slope(sizes, seconds):.2f}",
        "≤ n^2.3",
        slope(sizes, seconds) <= 2.3,
    )
    rng = np.random.default_rng(0)
    sizes = [50_000, 100_000, 200_000, 400_000]
    seconds = []
    for n in sizes:
        y, utility = rng.integers(0, 5, n), rng.normal(size=n)
        metrics.swapped_pairs(y[:100], utility[:100])
        start = time.perf_counter()
        metrics.swapped_pairs(y, utility)
        seconds.append(time.perf_counter() - start)
    yield Row(
        "growth of swapped_pairs in items",
        f"n^{slope(sizes, seconds):.2f}",
        "≤ n^1.3",
        slope(sizes, seconds) <= 1.3,
        f"{seconds[-1]:.2f} s for {sizes[-1]:,} items",
    )


CASES: dict[str, Callable[[], Iterator[Row]]] = {
    case.__name__: case
    for case in (
        # First, because a child counts the memory of the process that started it.
        *COMMAND_CASES,
        compilation,
        fit_against_libsvm,
        small_against_libsvm,
        memory_against_libsvm,
        text_against_linear_svc,
        wide_against_logistic_regression,
        text_against_logistic_regression,
        kernel_against_logistic_regression,
        twenty_thousand,
        grid_against_cold_fits,
        growth,
        *RATING_CASES,
        *GRADE_CASES,
        *BOOSTED_CASES,
        *SQUARES_CASES,
        *ONE_NORM_CASES,
        *PURSUIT_CASES,
        *ORDER_CASES,
        *SCALE_CASES,
    )
}
