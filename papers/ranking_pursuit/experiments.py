# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 and 2: disagreement on held-out jokes, with all and with half of the scores.

Gaussian kernels exp(-‖x - x'‖² / 2σ²) with σ of 2^-15 … 2^15; widths, penalties and
numbers of basis functions are those with the least mean disagreement on other people,
drawn in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge

from papers.experiment import Experiment, Settings
from papers.ranking_pursuit.beyond import BEYOND
from papers.ranking_pursuit.jester import GROUPS, Person, draw_people
from papers.ranking_pursuit.kernels import (
    ALPHAS,
    NUS,
    WIDTHS,
    halves,
    kernel,
    kernels,
    path_errors,
    stay,
)
from papers.ranking_pursuit.paths import co_paths, pursuit_paths, ridge_paths
from papers.ranking_pursuit.readings import READINGS
from tiebreak import (
    CoRankingPursuit,
    MatchingPursuit,
    RankingPursuit,
    RankRLS,
    RankSVM,
)
from tiebreak.metrics import disagreement

__all__ = ["EXPERIMENTS", "METHODS", "N_RUNS", "SEMI"]

Floats = NDArray[np.float64]

METHODS = (
    "rls",
    "rls-centered",
    "matching",
    "ranksvm",
    "rankrls",
    "pursuit",
    "pursuit-plain",
)
SEMI = ("co-halves", "co-kernels", "co-halves-alone")
# RankSVM is the only one whose settings are fitted one by one: every other width.
SVM_WIDTHS = 2.0 ** np.arange(-1, 10, 2)
COSTS = 10.0 ** np.arange(-3, 1)
MOST_BASIS = {False: 30, True: 15}
N_RUNS, N_TEST, N_HOLD_OUT, N_HOLD_OUT_SVM = 10, 300, 300, 60


class Choice(NamedTuple):
    """One of the settings among which the hold-out people choose."""

    width: float
    other: float
    n_basis: int = 0


def cells(quick: bool) -> list[Settings]:
    """List groups, runs and methods of both tables."""
    if quick:
        small = {"group": "60-80", "run": 0, "n_test": 2, "n_hold_out": 2}
        methods = [("ranksvm", False), ("pursuit", False), ("co-halves", True)]
        return [small | {"method": m, "hide": hide} for m, hide in methods]
    return [
        {"group": group, "run": run, "method": method, "hide": hide}
        for run in range(N_RUNS)
        for hide in (False, True)
        for group in GROUPS
        for method in (*METHODS, *(SEMI if hide else ()))
    ]


def cell(
    group: str,
    run: int,
    method: str,
    hide: bool,
    n_test: int = N_TEST,
    n_hold_out: int | None = None,
) -> dict[str, Any]:
    """Choose the settings on some people, judge them on others."""
    if n_hold_out is None:
        n_hold_out = N_HOLD_OUT_SVM if method == "ranksvm" else N_HOLD_OUT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of widths that leave nothing to learn
        found = [
            _along(method, person.hidden(hide))
            for person in draw_people(group, run, n_hold_out, "hold-out")
        ]
        errors = np.mean([errors for _, errors in found], axis=0)
        place = int(np.argmin(errors))
        best = found[0][0][place]
        judged, shares = [], []
        for person in draw_people(group, run, n_test, "test"):
            utility, share = _fit(method, person.hidden(hide), best)
            judged.append(disagreement(person.y_test, utility))
            shares.append(share)
    return {
        "disagreement": float(np.mean(judged)),
        "support": float(np.mean(shares)),
        "settings": [float(best.width), best.other, best.n_basis],
        "hold_out": float(errors[place]),
    }


def _along(method: str, person: Person) -> tuple[list[Choice], Floats]:
    """Give all settings of a method, and the disagreement of each on a person."""
    X, Z, n = person.X_train, person.X_test, len(person.y_train)
    if method == "ranksvm":
        return _along_costs(person)
    if method in SEMI:
        steps = np.arange(1, MOST_BASIS[True] + 1)
        views, tests = [], []
        for columns, linear in _views(method, X.shape[1]):
            own = np.vstack([X, person.X_hidden])[:, columns]
            views.append(kernels(own, X[:, columns], linear))
            tests.append(kernels(Z[:, columns], X[:, columns], linear))
        nus = (0.0,) if method.endswith("alone") else NUS
        found = [
            co_paths(
                (views[0], views[1]),
                (tests[0], tests[1]),
                person.y_train,
                nu,
                len(steps),
            )
            for nu in nus
        ]
        choices = [Choice(w, nu, int(s)) for nu in nus for w in WIDTHS for s in steps]
        return choices, path_errors(person, np.concatenate(found)).ravel()
    K, Q = kernels(X, X), kernels(Z, X)
    if method in ("rls", "rls-centered", "rankrls"):
        y = person.y_train - (person.y_train.mean() if method != "rls" else 0.0)
        utility = ridge_paths(K, Q, y, ALPHAS, centered=method == "rankrls")
        choices = [Choice(w, float(alpha)) for w in WIDTHS for alpha in ALPHAS]
    else:
        steps = np.arange(1, MOST_BASIS[False] + 1)
        plain = method == "pursuit-plain"
        utility, _ = pursuit_paths(
            K,
            Q,
            person.y_train,
            len(steps) if plain else min(n - 1, len(steps)),
            centered=method != "matching",
            backfit=not plain,
        )
        choices = [Choice(w, 0.0, int(s)) for w in WIDTHS for s in steps]
        utility = stay(utility, len(steps))
    return choices, path_errors(person, utility).ravel()


def _along_costs(person: Person) -> tuple[list[Choice], Floats]:
    choices, errors = [], []
    for width in SVM_WIDTHS:
        K, Q = (
            kernel(Z, person.X_train, width) for Z in (person.X_train, person.X_test)
        )
        model = RankSVM(kernel="precomputed", tol=1e-2)
        for cost, fitted in zip(
            COSTS, model.path(K, person.y_train, COSTS), strict=True
        ):
            choices.append(Choice(float(width), float(cost)))
            errors.append(disagreement(person.y_test, Q @ fitted.item_coef_))
    return choices, np.array(errors)


def _fit(method: str, person: Person, best: Choice) -> tuple[Floats, float]:
    """Fit one setting: utilities of the test jokes, and the share of jokes needed."""
    X, Z, y = person.X_train, person.X_test, person.y_train
    if method in SEMI:
        views: list[Any] = [
            {"columns": columns, "kernel": "linear" if linear else "rbf"}
            for columns, linear in _views(method, X.shape[1])
        ]
        model = CoRankingPursuit(
            best.n_basis,
            views=views,
            nu=best.other,
            gamma=1.0 / (2.0 * best.width**2),
        )
        hidden = np.full(len(person.X_hidden), np.nan)
        model.fit(np.vstack([X, person.X_hidden]), np.concatenate([y, hidden]))
        return model.utility(Z), len(model.support_items_) / len(y)
    K, Q = kernel(X, X, best.width), kernel(Z, X, best.width)
    coef = _FITS[method](K, y, best)
    return Q @ coef, np.count_nonzero(coef) / len(coef)


def _ridge(K: Floats, y: Floats, best: Choice) -> Floats:
    return KernelRidge(alpha=best.other, kernel="precomputed").fit(K, y).dual_coef_


def _rank_rls(K: Floats, y: Floats, best: Choice) -> Floats:
    model = RankRLS(alpha=best.other * len(y), kernel="precomputed").fit(K, y)
    return model.item_coef_


def _rank_svm(K: Floats, y: Floats, best: Choice) -> Floats:
    return RankSVM(C=best.other, kernel="precomputed").fit(K, y).item_coef_


def _pursue(
    kind: type, backfit: bool = True
) -> Callable[[Floats, Floats, Choice], Floats]:
    def fit(K: Floats, y: Floats, best: Choice) -> Floats:
        n_basis = min(best.n_basis, len(y) - 1) if backfit else best.n_basis
        # As it is written down, a pursuit has no penalty.
        model = kind(n_basis, alpha=0.0, kernel="precomputed", backfit=backfit)
        model.fit(K, y)
        coef = np.zeros(len(y))
        np.add.at(coef, model.support_, model.dual_coef_)
        return coef

    return fit


_FITS: dict[str, Callable[[Floats, Floats, Choice], Floats]] = {
    "rls": _ridge,
    "rls-centered": lambda K, y, best: _ridge(K, y - y.mean(), best),
    "rankrls": _rank_rls,
    "ranksvm": _rank_svm,
    "matching": _pursue(MatchingPursuit),
    "pursuit": _pursue(RankingPursuit),
    "pursuit-plain": _pursue(RankingPursuit, backfit=False),
}


def _views(method: str, n_features: int) -> list[tuple[slice, bool]]:
    """Give the columns of two views, and whether their kernel is linear."""
    if method == "co-kernels":
        return [(slice(None), False), (slice(None), True)]
    return [(columns, False) for columns in halves(n_features)]


EXPERIMENTS = [
    Experiment("002-tables", "disagreement on jokes", cells, cell),
    READINGS,
    BEYOND,
]
