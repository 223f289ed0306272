# SPDX-License-Identifier: BSD-3-Clause
"""When few rows need no thin factor: ``python -m benchmarks.decisions.few_rows``.

`RankSVM` on comparisons that contradict each other (a tie counts for both sides), whose
kernel is not thin. The interior-point method on the whole matrix takes over once the
rounds have cost as much as it would; compared with rounds alone, at most 800 of them,
and with libsvm on the explicit pair kernel, every comparison mirrored, which stops
after 10⁷ steps. Beside the times is how far an objective is above ours.
"""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from tiebreak import Pairs, RankSVM
from tiebreak.datasets import make_norms
from tiebreak.solvers.dual_qp import run

GAMMA = 3.0
COSTS = (1.0, 100.0, 1e4)


def main() -> None:
    """Print seconds of processor time, and how far objectives are above ours."""
    table = Table("comparisons", "C", "ours", "rounds alone", "libsvm")
    _fit(*_draw(50), 1.0)  # compiles
    for n in (400, 1000):
        pairs, y = _draw(n)
        for cost in COSTS:
            ours = _fit(pairs, y, cost)
            few, run._FEW = run._FEW, 0
            try:
                alone = _fit(pairs, y, cost)
            finally:
                run._FEW = few
            others = [_show(fit, ours) for fit in (alone, _libsvm(pairs, y, cost))]
            table.add_row(f"{n}", f"{cost:g}", f"{ours.seconds:.2f} s", *others)
    Console().print(table)


class Fit(NamedTuple):
    """How a fit ended."""

    seconds: float
    objective: float
    converged: bool


def _draw(n: int) -> tuple[Pairs, np.ndarray]:
    made = make_norms(n, norm=np.inf, random_state=0)
    return made.pairs, made.y


def _fit(pairs: Pairs, y: np.ndarray, cost: float) -> Fit:
    start = time.process_time()
    model = RankSVM(cost, gamma=GAMMA, ties="both", max_iter=800)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where rounds alone do not converge
        model.fit(pairs, y)
    seconds = time.process_time() - start
    return Fit(seconds, model.objective_, model.converged_)


def _libsvm(pairs: Pairs, y: np.ndarray, cost: float) -> Fit:
    """Solve the same program with libsvm."""
    start = time.process_time()
    # Twice the decided ones, and ties in both directions.
    rows = np.tile(np.arange(len(y)), 2)
    sign = np.concatenate([np.where(y == 0, 1, y), np.where(y == 0, -1, y)])
    K = rbf_kernel(pairs.values, gamma=GAMMA)
    K = (K[pairs.right] - K[pairs.left])[rows] * sign[:, None]
    K = (K[:, pairs.right] - K[:, pairs.left])[:, rows] * sign
    mirrored = np.block([[K, -K], [-K, K]])
    label = np.repeat([1, -1], len(K))
    model = SVC(C=cost / 2, kernel="precomputed", max_iter=10_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it stops at its number of steps
        model.fit(mirrored, label)
    seconds = time.process_time() - start
    coef = np.zeros(2 * len(K))
    coef[model.support_] = model.dual_coef_[0]
    fitted = K @ (coef[: len(K)] - coef[len(K) :])
    norm = (coef[: len(K)] - coef[len(K) :]) @ fitted
    value = 0.5 * norm + cost * np.maximum(0.0, 1.0 - fitted).sum()
    return Fit(seconds, float(value), bool(model.fit_status_ == 0))


def _show(fit: Fit, ours: Fit) -> str:
    apart = fit.objective / ours.objective - 1.0
    word = "" if fit.converged else ", not finished"
    return f"{fit.seconds:.2f} s, {apart:+.0e}{word}"


if __name__ == "__main__":
    main()
