# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.ratings.test_bradley_terry import named, simulate
from tiebreak.ratings import BradleyTerry
from tiebreak.ratings.leaderboard.board import choose_next_pairs


def test_information_is_the_expected_squared_score(rng):
    _, left, right, y, _ = simulate(rng)
    for ties in ("davidson", "rao-kupper"):
        model = BradleyTerry(ties).fit(named(left, right, 6), y)
        d, h = np.array([-1.3, 0.0, 0.4]), 1e-6
        link, t = model._link, model._tie
        slope = np.log(link.probabilities(d + h, t)) - np.log(
            link.probabilities(d - h, t)
        )
        expected = (link.probabilities(d, t) * (slope / (2 * h)) ** 2).sum(axis=1)
        assert_allclose(model.information(d), expected, rtol=1e-6)


def test_gain_is_that_of_the_determinant(rng):
    # ½ ln(1 + h v) is the fall of half the log determinant of the covariance.
    root = rng.normal(size=(4, 4))
    covariance = root @ root.T + np.eye(4)
    strength = rng.normal(size=4)

    def information(d):
        return 0.25 / np.cosh(d / 2) ** 2

    found = choose_next_pairs(strength, covariance, information, 6)
    assert (
        len({tuple(sorted(p)) for p in zip(found.left, found.right, strict=True)}) == 6
    )
    hessian = np.linalg.inv(covariance)
    for k, (i, j) in enumerate(zip(found.left, found.right, strict=True)):
        gains = {}
        for a in range(4):
            for b in range(a):
                e = np.zeros(4)
                e[a], e[b] = 1, -1
                h = information(strength[a] - strength[b])
                after = hessian + h * np.outer(e, e)
                gains[b, a] = 0.5 * np.log(
                    np.linalg.det(after) / np.linalg.det(hessian)
                )
        assert found.gain[k] == pytest.approx(gains[i, j])
        if k == 0:
            assert found.gain[k] == pytest.approx(max(gains.values()))
        e = np.zeros(4)
        e[i], e[j] = 1, -1
        hessian = hessian + information(strength[i] - strength[j]) * np.outer(e, e)


def test_there_are_no_more_pairs_than_there_are():
    found = choose_next_pairs(np.zeros(3), np.eye(3), np.ones_like, 10)
    assert len(found.left) == 3
