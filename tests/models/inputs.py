# SPDX-License-Identifier: BSD-3-Clause
"""A small set of good comparisons, every model, and how a refusal is tested."""

import re
import warnings

import numpy as np
import pytest

from tiebreak import (
    BoostedUtility,
    L1Ranker,
    LogisticCompare,
    MajorityCompare,
    MaxMarginCompare,
    Pairs,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)

LEFT = np.array([0, 1, 2, 3, 0, 1])
RIGHT = np.array([1, 2, 3, 4, 2, 3])
Y = np.array([1, 1, 0, -1, 1, 1])
ITEMS = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [2.2, 1.0], [0.5, 0.0]])

MODELS = {
    "SVMCompare": lambda: SVMCompare(C=10.0),
    "SVMCompare(linear)": lambda: SVMCompare(C=10.0, kernel="linear"),
    "RankSVM": lambda: RankSVM(C=10.0),
    "RankSVM(both)": lambda: RankSVM(C=10.0, kernel="linear", ties="both"),
    "L1Ranker": lambda: L1Ranker(0.1),
    "RankingPursuit": lambda: RankingPursuit(2),
    "RankRLS": lambda: RankRLS(0.1),
    "RankRLS(linear)": lambda: RankRLS(0.1, kernel="linear"),
    "RankBoost": lambda: RankBoost(30),
    "RankBoost(stump)": lambda: RankBoost(30, weak="stump"),
    "BoostedUtility": lambda: BoostedUtility(
        30, min_child_weight=0.5, early_stopping=False
    ),
    "MaxMarginCompare": MaxMarginCompare,
    "MaxMarginCompare(qp)": lambda: MaxMarginCompare("qp"),
    "ThresholdCompare": lambda: ThresholdCompare(RankSVM(C=10.0)),
    "LogisticCompare": lambda: LogisticCompare(0.1),
    "MajorityCompare": MajorityCompare,
}
MACHINES = [name for name in MODELS if "SVM" in name]
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
every_machine = pytest.mark.parametrize(
    "make", [MODELS[name] for name in MACHINES], ids=MACHINES
)


def good_pairs():
    return Pairs(ITEMS, LEFT, RIGHT)


def fitted(make):
    return make().fit(good_pairs(), Y)


def refused(error, words, call, *args, **kwargs):
    """Assert that a call is refused with all these words in the message."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    for word in words:
        assert re.search(word, str(caught.value)), (word, str(caught.value))


def quietly(model, pairs, y):
    """Fit without warnings, where they are not the point of a test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(pairs, y)


def curved_pairs(n_rows=90, seed=0):
    """Compare by a curved utility, ties below 0.5; features of different sizes."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(25, 2))
    left = rng.integers(0, 25, n_rows)
    right = (left + rng.integers(1, 25, n_rows)) % 25
    utility = items[:, 0] + 0.3 * items[:, 1] ** 2
    difference = utility[right] - utility[left] + 0.1 * rng.normal(size=n_rows)
    y = np.where(np.abs(difference) <= 0.5, 0, np.sign(difference)).astype(int)
    return Pairs(items * [1.0, 100.0], left, right), y
