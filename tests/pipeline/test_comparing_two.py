# SPDX-License-Identifier: BSD-3-Clause
"""What the page computes from these numbers is what the model predicts."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Elo,
    Glicko,
    Glicko2,
    LogisticCompare,
    OnItems,
    Pairs,
    RankSVM,
    ThresholdCompare,
)
from tiebreak.metrics.scorers import difference_of
from tiebreak.pipeline.leaderboard import last_step
from tiebreak.pipeline.result import compare_two

NAMES = np.array(["Ada", "Bo", "Cy", "Dee", "Eve"])


@pytest.fixture
def games(rng):
    """Give games of five players, of whom one has only two."""
    left = rng.integers(0, 4, 120)
    right = (left + rng.integers(1, 4, 120)) % 4
    left, right = np.append(left, [4, 0]), np.append(right, [1, 4])
    y = rng.integers(-1, 2, 122)
    return Pairs(None, NAMES[left], NAMES[right]), y


def by_page(data, i, j, edge=0.0):
    """Predict as the script of the page does, from the documentation."""
    names = list(data["names"])
    a, b = names.index(i), names.index(j)
    d = data["strengths"][b] - data["strengths"][a] - edge
    if data["doubts"] is not None:
        d /= np.sqrt(1.0 + data["doubts"][a] + data["doubts"][b])
    if data["link"] == "davidson":
        return davidson(d, data["tie"])
    if data["link"] == "cumulative":
        return cumulative(d, data["tie"])
    p, share = data["tie"], data["davidson"]
    one = davidson(d, 2 * p / (1 - p))
    return share * one + (1 - share) * cumulative(d / (1 + p), (1 + p) / (1 - p))


def davidson(d, nu):
    odds = np.array([np.exp(-d / 2), nu, np.exp(d / 2)])
    return odds / odds.sum()


def cumulative(d, kappa):
    left, right = 1 / (1 + kappa * np.exp(d)), 1 / (1 + kappa * np.exp(-d))
    return np.array([left, 1 - left - right, right])


@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry(alpha=0.1),
        BradleyTerry("rao-kupper", alpha=0.1),
        Elo(advantage=60.0, scale=300.0),
        Glicko(),
        Glicko(advantage=80.0, c=40.0),
        Glicko2(advantage=25.0),
    ],
    ids=str,
)
def test_models_of_names(model, games):
    model.fit(*games)
    data = compare_two(model)
    assert np.all(np.diff(data["strengths"]) <= 0)
    for i in NAMES:
        for j in NAMES[i != NAMES]:
            pair = Pairs(None, [i], [j])
            expected = model.predict_proba(pair)[0]
            edge = data["advantage"] or 0.0
            np.testing.assert_allclose(by_page(data, i, j, edge), expected, atol=1e-12)


@pytest.mark.parametrize("link", ["davidson", "cumulative"])
@pytest.mark.parametrize("identity", [None, 0.5])
def test_models_of_features(rng, link, identity):
    items, left = rng.normal(size=(6, 3)), rng.integers(0, 6, 80)
    right = (left + rng.integers(1, 6, 80)) % 6
    pairs = Pairs(items, left, right, names=[f"n{i}" for i in range(6)])
    model = make_pipeline(
        OnItems(StandardScaler()), LogisticCompare(link=link, identity=identity)
    ).fit(pairs, rng.integers(-1, 2, 80))
    everyone = Pairs(items, np.zeros(6, int), np.arange(6), names=pairs.names)
    utility = difference_of(model, everyone)
    data = compare_two(model, pairs.names, utility)
    assert data["link"] == link
    expected = model.predict_proba(pairs)
    for row in range(10):
        i, j = (str(pairs.names[side[row]]) for side in (pairs.left, pairs.right))
        np.testing.assert_allclose(by_page(data, i, j), expected[row], atol=1e-9)


def test_models_with_a_threshold_and_others(rng):
    items, left = rng.normal(size=(6, 2)), rng.integers(0, 6, 60)
    pairs = Pairs(items, left, (left + rng.integers(1, 6, 60)) % 6)
    y = rng.integers(-1, 2, 60)
    names, utility = np.array(list("abcdef")), np.arange(6.0)
    model = make_pipeline(OnItems(StandardScaler()), ThresholdCompare(RankSVM()))
    data = compare_two(model.fit(pairs, y), names, utility)
    assert (data["link"], data["tie"]) == ("threshold", last_step(model).threshold_)
    assert data["names"] == list("fedcba")
    assert data["strengths"].tolist() == [5, 4, 3, 2, 1, 0]
    assert compare_two(model) is None
    assert compare_two(StandardScaler(), names, utility) is None
