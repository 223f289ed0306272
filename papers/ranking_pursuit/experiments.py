# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 and 2: disagreement on held-out jokes, with all and with half of the scores.

Gaussian kernels exp(-‖x - x'‖² / 2σ²) with σ of 2^-15 … 2^15; widths, penalties and
numbers of basis functions are those with the least mean disagreement on other people,
drawn in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import euclidean_distances

from papers.experiment import Experiment, Settings
from papers.ranking_pursuit.jester import GROUPS, Person, draw_people
from tiebreak import (
    CoRankingPursuit,
    MatchingPursuit,
    RankingPursuit,
    RankRLS,
    RankSVM,
)
from tiebreak.metrics import disagreement

__all__ = ["EXPERIMENTS", "METHODS"]

METHODS = ("rls", "matching", "ranksvm", "rankrls", "pursuit")
SEMI = ("co-halves", "co-kernels")
WIDTHS = 2.0 ** np.arange(-15, 16)
ALPHAS = 10.0 ** np.arange(-4, 4)
COSTS = 10.0 ** np.arange(-3, 2)
NUS = (0.01, 0.1, 1.0)
MOST_BASIS = 30
N_RUNS, N_TEST, N_HOLD_OUT = 10, 300, 12

Candidates = Iterator[tuple[tuple[Any, ...], np.ndarray, float]]


def cells(quick: bool) -> list[Settings]:
    """List groups, runs and methods of both tables."""
    if quick:
        small = {"group": "60-80", "run": 0, "n_test": 2, "n_hold_out": 2}
        methods = [("rls", False), ("pursuit", False), ("co-halves", True)]
        return [small | {"method": m, "hide": hide} for m, hide in methods]
    return [
        {"group": group, "run": run, "method": method, "hide": hide}
        for hide in (False, True)
        for group in GROUPS
        for run in range(N_RUNS)
        for method in (*METHODS, *(SEMI if hide else ()))
    ]


def cell(
    group: str,
    run: int,
    method: str,
    hide: bool,
    n_test: int = N_TEST,
    n_hold_out: int = N_HOLD_OUT,
) -> dict[str, Any]:
    """Choose the settings on some people, judge them on others."""
    total: dict[tuple[Any, ...], float] = {}
    for person in draw_people(group, run, n_hold_out, "hold-out"):
        for settings, utility, _ in _candidates(method, person, hide, None):
            error = _error(person, utility)
            total[settings] = total.get(settings, 0.0) + error
    best = min(total, key=lambda settings: total[settings])
    errors, shares = [], []
    for person in draw_people(group, run, n_test, "test"):
        found = list(_candidates(method, person, hide, best))
        _, utility, share = found[-1]
        errors.append(_error(person, utility))
        shares.append(share)
    return {
        "disagreement": float(np.mean(errors)),
        "support": float(np.mean(shares)),
        "settings": list(best),
    }


def _error(person: Person, utility: np.ndarray) -> float:
    return disagreement(person.y_test, utility)


def _candidates(
    method: str, person: Person, hide: bool, only: tuple[Any, ...] | None
) -> Candidates:
    """Give settings, utilities of the test jokes, and the share of items needed."""
    scored = (len(person.y_train) + 1) // 2 if hide else len(person.y_train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in SEMI:
            yield from _together(method, person, scored, only)
            return
        X, y = person.X_train[:scored], person.y_train[:scored]
        own = euclidean_distances(X, squared=True)
        other = euclidean_distances(person.X_test, X, squared=True)
        fit = _FITS[method]
        # Every other width for the slowest: neighbors hardly differ.
        widths = WIDTHS[::2] if method == "ranksvm" else WIDTHS
        for width in widths if only is None else [only[0]]:
            K, Q = (np.exp(-d / (2.0 * width**2)) for d in (own, other))
            rest = None if only is None else only[1]
            for setting, coef in fit(K, y, rest):
                share = np.count_nonzero(coef) / len(coef)
                yield (float(width), setting), Q @ coef, share


def _ridge(K: np.ndarray, y: np.ndarray, only: float | None) -> Iterator[Any]:
    for alpha in ALPHAS if only is None else [only]:
        model = KernelRidge(alpha=alpha, kernel="precomputed").fit(K, y - y.mean())
        yield float(alpha), model.dual_coef_


def _rank_rls(K: np.ndarray, y: np.ndarray, only: float | None) -> Iterator[Any]:
    alphas = (ALPHAS if only is None else np.array([only])) * len(y)
    model = RankRLS(kernel="precomputed")
    for alpha, fitted in zip(alphas, model.path(K, y, alphas), strict=True):
        yield float(alpha / len(y)), fitted.item_coef_


def _rank_svm(K: np.ndarray, y: np.ndarray, only: float | None) -> Iterator[Any]:
    costs = COSTS if only is None else np.array([only])
    model = RankSVM(kernel="precomputed")
    for cost, fitted in zip(costs, model.path(K, y, costs), strict=True):
        yield float(cost), fitted.item_coef_


def _pursue(kind: type) -> Callable[..., Iterator[Any]]:
    def fit(K: np.ndarray, y: np.ndarray, only: int | None) -> Iterator[Any]:
        most = min(MOST_BASIS, len(y) - 1)
        model = kind(n_basis=most, kernel="precomputed").fit(K, y)
        for step, coefs in enumerate(model.path_, start=1):
            coef = np.zeros(len(y))
            np.add.at(coef, model.path_support_, coefs)
            if only is None or step <= only:
                yield step, coef

    return fit


_FITS = {
    "rls": _ridge,
    "rankrls": _rank_rls,
    "ranksvm": _rank_svm,
    "matching": _pursue(MatchingPursuit),
    "pursuit": _pursue(RankingPursuit),
}


def _together(
    method: str, person: Person, scored: int, only: tuple[Any, ...] | None
) -> Candidates:
    """Two views: halves of the reference users, or two kernels."""
    y = np.where(np.arange(len(person.y_train)) < scored, person.y_train, np.nan)
    half = person.X_train.shape[1] // 2
    widths = WIDTHS[::3] if only is None else [only[0]]
    for width in widths:
        gamma = 1.0 / (2.0 * width**2)
        views: list[Any] = [slice(0, half), slice(half, None)]
        if method == "co-kernels":
            views = [{"kernel": "rbf"}, {"kernel": "linear"}]
        for nu in NUS if only is None else [only[1]]:
            for n_basis in (2, 4, 8, 15) if only is None else [only[2]]:
                model = CoRankingPursuit(
                    min(n_basis, scored - 1), views=views, nu=nu, gamma=gamma
                )
                model.fit(person.X_train, y)
                share = len(model.support_items_) / len(y)
                utility = model.utility(person.X_test)
                yield (float(width), float(nu), n_basis), utility, share


EXPERIMENTS = [
    Experiment("002-tables", "disagreement on jokes", cells, cell, ("jester",))
]
