# SPDX-License-Identifier: BSD-3-Clause
"""Other readings of the paper, and what its pursuit may have been instead.

Of one view: ``long``, without back-fitting and with up to 200 steps; ``prefit``, where
a step takes the column whose joint refit is best; ``slow``, without back-fitting and
with tenths of steps, which is no reading but shows what restraint gives; ``penalty``,
where the back-fitting has the penalty of RankRLS, with seven tenths of the jokes, as
sparse as the paper says its solutions are. Of two views: ``functions``, equation (1)
instead of figure 1; ``centers``, where jokes without a score are centers too;
``points``, where views share features and kernel, and each has its centers in one half
of the jokes with and without a score.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.experiment import Experiment, Settings
from papers.ranking_pursuit.jester import GROUPS, Person, draw_people
from papers.ranking_pursuit.kernels import (
    ALPHAS,
    NUS,
    halves,
    kernels,
    path_errors,
    stay,
)
from papers.ranking_pursuit.paths import chosen_ridge_paths, co_paths, pursuit_paths

__all__ = ["ONE_VIEW", "READINGS", "TWO_VIEWS"]

Floats = NDArray[np.float64]

ONE_VIEW = ("long", "prefit", "slow", "penalty")
TWO_VIEWS = ("functions", "centers", "points")
N_RUNS, N_TEST, N_HOLD_OUT = 3, 300, 100
MOST_STEPS = {"long": 200, "slow": 200, "prefit": 15}
MOST_PAIRS, SHARE = 15, 0.7


def cells(quick: bool) -> list[Settings]:
    """List readings, groups and runs."""
    if quick:
        small = {"group": "60-80", "run": 0, "hide": True, "n_people": 1}
        return [{"reading": reading} | small for reading in ("slow", "points")]
    return [
        {"reading": reading, "group": group, "run": run, "hide": hide}
        for run in range(N_RUNS)
        for hide in (False, True)
        for group in GROUPS
        for reading in (*ONE_VIEW, *(TWO_VIEWS if hide else ()))
    ]


def cell(
    reading: str, group: str, run: int, hide: bool, n_people: int | None = None
) -> dict[str, Any]:
    """Choose the settings on some people, judge them on those of the tables."""

    def errors(n: int, purpose: str, first: int) -> Floats:
        people = draw_people(group, run, n, purpose)[: n_people or first]
        return np.mean([_along(reading, p.hidden(hide)) for p in people], axis=0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of widths that leave nothing to learn
        chosen = errors(300, "hold-out", N_HOLD_OUT)
        judged = errors(N_TEST, "test", N_TEST)
    place = int(np.argmin(chosen))
    where = np.unravel_index(place, chosen.shape)
    return {
        "disagreement": float(judged.flat[place]),
        "hold_out": float(chosen.flat[place]),
        "place": [int(index) for index in where],
    }


def _along(reading: str, person: Person) -> Floats:
    """Give the disagreement of all settings on a person: steps are the last axis."""
    X, Z, y = person.X_train, person.X_test, person.y_train
    if reading == "penalty":
        n_steps = round(SHARE * len(y))
        utility = chosen_ridge_paths(kernels(X, X), kernels(Z, X), y, n_steps, ALPHAS)
        return path_errors(person, utility)
    if reading in ONE_VIEW:
        back = reading == "prefit"
        n_steps = min(MOST_STEPS[reading], len(y) - 1) if back else MOST_STEPS[reading]
        utility, _ = pursuit_paths(
            kernels(X, X),
            kernels(Z, X),
            y,
            n_steps,
            centered=True,
            backfit=back,
            prefit=back,
            shrink=0.1 if reading == "slow" else 1.0,
        )
        return path_errors(person, stay(utility, MOST_STEPS[reading]))
    every = np.vstack([X, person.X_hidden])
    if reading != "points":
        centers = every if reading == "centers" else X
        views, tests = [], []
        for columns in halves(X.shape[1]):
            views.append(kernels(every[:, columns], centers[:, columns]))
            tests.append(kernels(Z[:, columns], centers[:, columns]))
    else:
        K, Q = kernels(every, every), kernels(Z, every)
        # Every other joke with a score, and every other one without.
        place = np.concatenate([np.arange(len(y)), np.arange(len(person.X_hidden))])
        views = [K[:, :, place % 2 == view] for view in (0, 1)]
        tests = [Q[:, :, place % 2 == view] for view in (0, 1)]
    own = reading == "functions"
    found = [
        co_paths((views[0], views[1]), (tests[0], tests[1]), y, nu, MOST_PAIRS, own=own)
        for nu in NUS
    ]
    return path_errors(person, np.array(found))


READINGS = Experiment("002-readings", "other readings of the paper", cells, cell)
