# SPDX-License-Identifier: BSD-3-Clause
"""Beliefs about utilities, compared with integration and a general minimizer."""

import numpy as np
import pytest

from tests.oracles import asking_plain
from tiebreak import BradleyTerry, Pairs
from tiebreak.ask import beliefs as module
from tiebreak.ask.beliefs import Beliefs, expected_information


def some_answers(n, m, seed, tie=0.3, spread=1.0):
    rng = np.random.default_rng(seed)
    theta = spread * rng.standard_normal(n)
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    d = theta[right] - theta[left]
    p = np.stack([asking_plain.probability(d, tie, c) for c in (-1, 0)])
    y = (rng.random(m) > np.cumsum(p, axis=0)).sum(axis=0) - 1
    return theta, np.stack([left, right, y], axis=1)


@pytest.mark.parametrize("y", [-1, 0, 1])
def test_one_answer_gives_the_moments_of_the_posterior(y):
    root = np.array([[1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [-0.2, 0.3, 1.1]])
    mean, cov, t = np.array([0.4, -0.3, 0.1]), root @ root.T, 0.2
    beliefs = Beliefs(mean.copy(), cov.copy(), tie=t)
    beliefs.learn(2, 0, y)
    new_mean, new_cov = asking_plain.moments_after(mean, cov, 2, 0, y, t)
    np.testing.assert_allclose(beliefs.mean, new_mean, atol=1e-6)
    np.testing.assert_allclose(beliefs.cov, new_cov, atol=1e-5)
    assert np.abs(new_mean - mean).max() > 0.02


@pytest.mark.parametrize("mu, s, t", [(0, 1, 0), (1.3, 0.4, -1), (-4, 2.5, 0.7)])
def test_expected_information_is_the_integral(mu, s, t):
    result = expected_information(np.array([mu]), np.array([s]), t)[0]
    assert result == pytest.approx(asking_plain.information(mu, s, t), rel=2e-3)


def test_a_refit_maximizes_the_posterior():
    _, answers = some_answers(5, 60, seed=1)
    fitted = Beliefs.prior(5).refit(answers)
    theta, t, cov = asking_plain.posterior(*answers.T, np.eye(5))
    np.testing.assert_allclose(fitted.mean, theta, atol=1e-4)
    assert fitted.tie == pytest.approx(t, abs=1e-4)
    np.testing.assert_allclose(fitted.cov, cov, atol=1e-4)


def test_features_tell_of_items_that_nobody_saw():
    features = np.array([[0.0], [1.0], [2.0], [3.0]])
    before = Beliefs.prior(4, features)
    answers = np.tile([0, 2, 1], (6, 1))
    fitted = before.refit(answers)
    theta, _, cov = asking_plain.posterior(*answers.T, np.linalg.inv(before.cov))
    np.testing.assert_allclose(fitted.mean, theta, atol=1e-4)
    np.testing.assert_allclose(fitted.cov, cov, atol=1e-4)
    assert fitted.mean[3] > fitted.mean[1] + 0.1  # never asked about


def test_a_refit_is_bradley_terry_with_that_prior():
    _, answers = some_answers(8, 3000, seed=2)
    fitted = Beliefs.prior(8)
    for _ in range(30):
        fitted = fitted.refit(answers)
    model = BradleyTerry(ties="davidson", alpha=0.5 / fitted.width)
    left, right, y = answers.T
    model.fit(Pairs(None, left, right), y)
    centered = fitted.mean - fitted.mean.mean()
    # Apart from three imagined answers, which say something of ties only.
    np.testing.assert_allclose(model.utility(np.arange(8)), centered, atol=2e-3)


def test_many_items_are_learned_without_covariances(monkeypatch):
    theta, answers = some_answers(60, 3000, seed=3)
    dense = Beliefs.prior(60).refit(answers)
    monkeypatch.setattr(module, "MOST_DENSE", 10)
    thin = Beliefs.prior(60)
    assert not thin.is_dense
    for row in answers:
        thin.learn(*row)
    assert np.corrcoef(thin.mean, theta)[0, 1] > 0.9
    np.testing.assert_allclose(
        Beliefs.prior(60).refit(answers).mean, dense.mean, atol=1e-4
    )


def test_the_width_of_the_prior_is_learned():
    widths = []
    for spread in (0.3, 2.0):
        _, answers = some_answers(60, 6000, seed=4, spread=spread)
        fitted = Beliefs.prior(60)
        for _ in range(20):
            fitted = fitted.refit(answers)
        widths.append(np.sqrt(fitted.width))
    assert widths == pytest.approx([0.3, 2.0], rel=0.35)
