# SPDX-License-Identifier: BSD-3-Clause
"""A certificate is never false, whatever the scale of features and weights.

Features times s with the cost divided by s², and weights times s with the cost divided
by s, are the same problem in other units. So at every scale a fit gives the solution in
these units, or says that it has none: a refusal, or a warning without a certificate.
"""

import math
import warnings

import numpy as np
import pytest

from tests.extended import RUNS_ALL
from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    L1Ranker,
    LogisticCompare,
    Orders,
    OrdinalSVM,
    Pairs,
    PlackettLuce,
    RankRLS,
    RankSVM,
    SVMCompare,
    SwapSVM,
)

SCALES = [10.0**k for k in (8, -8, 100, -100, 160, -160, 300, -300)]

_rng = np.random.default_rng(7)
ITEMS = _rng.normal(size=(24, 3))
LEFT = _rng.integers(0, 24, 100)
RIGHT = (LEFT + _rng.integers(1, 24, 100)) % 24
_noisy = (ITEMS[RIGHT] - ITEMS[LEFT]) @ [1.0, -0.5, 0.25] + _rng.logistic(0, 0.4, 100)
Y = np.where(np.abs(_noisy) < 0.5, 0, np.sign(_noisy)).astype(int)
GRADE = np.clip(np.round(1.5 + ITEMS @ [1.0, -0.5, 0.25]), 0, 3)
QID = np.arange(24) // 8
NAMES = np.array([f"item {k}" for k in range(24)])
LISTS = [NAMES[_rng.permutation(24)[:5]].tolist() for _ in range(30)]


def power(s, k):
    """Give s to the power k, 0 or inf where it is out of reach."""
    with np.errstate(all="ignore"):
        return float(np.float64(s) ** k)


def pairs(model, s):
    return model.fit(Pairs(ITEMS * s, LEFT, RIGHT), Y)


def graded(model, s):
    return model.fit(ITEMS * s, GRADE, qid=QID)


def one_group(model, s):
    return model.fit(ITEMS * s, GRADE)


def weighted_pairs(model, s):
    weight = np.full(len(Y), s)
    return model.fit(Pairs(ITEMS, LEFT, RIGHT), Y, sample_weight=weight)


def weighted_grades(model, s):
    weight = np.full(len(GRADE), power(s, 0.5))  # a pair weighs the product of two
    return model.fit(ITEMS, GRADE, qid=QID, sample_weight=weight)


def weighted_names(model, s):
    weight = np.full(len(Y), s)
    return model.fit(Pairs(None, NAMES[LEFT], NAMES[RIGHT]), Y, sample_weight=weight)


def weighted_lists(model, s):
    return model.fit(Orders(None, LISTS), sample_weight=np.full(len(LISTS), s))


LINEAR = {"kernel": "linear", "tol": 1e-6}
# The model at a scale, how it is fitted, and by which power of it the objective grows.
FEATURES = {
    "SVMCompare": (lambda s: SVMCompare(power(s, -2), **LINEAR), pairs, -2),
    "SVMCompare(rbf)": (lambda s: SVMCompare(), pairs, 0),
    "SVMCompare(poly)": (
        lambda s: SVMCompare(kernel="poly", gamma=power(s, -2)),
        pairs,
        0,
    ),
    "LogisticCompare": (lambda s: LogisticCompare(0.3 * power(s, 2)), pairs, 0),
    "LogisticCompare(cumulative)": (
        lambda s: LogisticCompare(0.3 * power(s, 2), link="cumulative"),
        pairs,
        0,
    ),
    "LogisticCompare(rbf)": (lambda s: LogisticCompare(0.3, kernel="rbf"), pairs, 0),
    "RankSVM, pairs": (lambda s: RankSVM(power(s, -2), **LINEAR), pairs, -2),
    "RankSVM": (lambda s: RankSVM(power(s, -2), **LINEAR), graded, -2),
    "RankSVM(squared)": (
        lambda s: RankSVM(power(s, -2), loss="squared_hinge", **LINEAR),
        graded,
        -2,
    ),
    "RankSVM(rbf)": (lambda s: RankSVM(tol=1e-6), graded, 0),
    "SwapSVM": (lambda s: SwapSVM(power(s, -2), **LINEAR), graded, -2),
    "OrdinalSVM": (lambda s: OrdinalSVM(power(s, -2), **LINEAR), one_group, -2),
    "L1Ranker": (lambda s: L1Ranker(0.5 * s), graded, 0),
    "RankRLS": (lambda s: RankRLS(0.5 * power(s, 2), kernel="linear"), graded, 0),
}
WEIGHTS = {
    "SVMCompare": (lambda s: SVMCompare(1.0 / s, **LINEAR), weighted_pairs, 0),
    "LogisticCompare": (lambda s: LogisticCompare(0.3 * s), weighted_pairs, 1),
    "RankSVM, pairs": (lambda s: RankSVM(1.0 / s, **LINEAR), weighted_pairs, 0),
    "RankSVM": (lambda s: RankSVM(1.0 / s, **LINEAR), weighted_grades, 0),
    "SwapSVM": (lambda s: SwapSVM(1.0 / s, **LINEAR), weighted_grades, 0),
    "RankRLS": (lambda s: RankRLS(0.5 * s, kernel="linear"), weighted_grades, 1),
    # Evidence for a model of ties is of the weights' own size, so one is named.
    "BradleyTerry": (
        lambda s: BradleyTerry("davidson", alpha=0.3 * s),
        weighted_names,
        1,
    ),
    "BradleyTerry(0)": (lambda s: BradleyTerry(alpha=0), weighted_names, 1),
    "PlackettLuce": (lambda s: PlackettLuce(0.3 * s), weighted_lists, 1),
}
CASES = [
    (kind, name, *case)
    for kind, cases in (("features", FEATURES), ("weights", WEIGHTS))
    for name, case in cases.items()
]


def fitted(make, fit, s):
    """Fit at a scale; give the model and what it warned of, or why it refused."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            return fit(make(s), s), [str(w.message) for w in said]
        except ValueError as error:
            # An error of LAPACK is one too, and tells nobody what to do.
            assert not isinstance(error, np.linalg.LinAlgError)
            return None, [str(error)]


def holds(make, fit, grows, s, at_one):
    """Whether a fit gives the scaled answer, or says that it has none."""
    model, said = fitted(make, fit, s)
    if model is None:
        return True
    certified = getattr(model, "converged_", model.gap_ <= 1e-6)
    if not certified or any("Nothing was learned" in text for text in said):
        return bool(said)
    # In logarithms, because the scale itself may be out of reach.
    expected = math.log(at_one.objective_) + grows * math.log(s)
    right = model.objective_ > 0 and abs(math.log(model.objective_) - expected) < 1e-3
    return right and math.isfinite(model.gap_)


@pytest.mark.parametrize(
    ("number", "kind", "name", "make", "fit", "grows"),
    [pytest.param(k, *c, id=f"{c[1]}-{c[0]}") for k, c in enumerate(CASES)],
)
def test_the_scaled_answer_or_none(number, kind, name, make, fit, grows):
    at_one, _ = fitted(make, fit, 1.0)
    # By default two of the eight scales, of every model others.
    tried = SCALES if RUNS_ALL else [SCALES[number % 8], SCALES[(number + 3) % 8]]
    wrong = [s for s in tried if not holds(make, fit, grows, s, at_one)]
    assert wrong == []


@pytest.mark.parametrize("s", [1e-60, 1e-15, 1e15])
@pytest.mark.parametrize("rows", [slice(0, 1), slice(None)], ids=["one", "all"])
@pytest.mark.parametrize(
    "make",
    [
        BradleyTerry,
        lambda: BradleyTerry("rao-kupper"),
        lambda: BradleyTerry("davidson", alpha=0.3),
        Elo,
        Glicko,
        Glicko2,
    ],
    ids=["auto", "rao-kupper", "fixed", "Elo", "Glicko", "Glicko2"],
)
def test_weights_of_different_sizes(make, rows, s):
    weight = np.ones(len(Y))
    weight[rows] = s

    def fit(model, _):
        pairs = Pairs(None, NAMES[LEFT], NAMES[RIGHT])
        return model.fit(pairs, Y, sample_weight=weight)

    model, said = fitted(lambda _: make(), fit, s)
    if model is None:
        assert "weights" in said[0]
    else:
        pairs = Pairs(None, NAMES[LEFT], NAMES[RIGHT])
        assert np.isfinite(model.difference(pairs)).all()
