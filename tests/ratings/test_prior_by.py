# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from tiebreak import BradleyTerry, Leaderboard, Pairs


def two_classes(seed, n_old=12, n_new=6, games=40, few=10, lead=1.0, spread=0.5):
    """Results of veterans, and of newcomers of a stronger class with few games."""
    rng = np.random.default_rng(seed)
    n = n_old + n_new
    theta = spread * rng.normal(size=n) + lead * (np.arange(n) >= n_old)
    left = np.concatenate(
        [np.repeat(np.arange(n_old), games), np.repeat(np.arange(n_old, n), few)]
    )
    right = rng.integers(0, n_old - 1, len(left))
    right = right + (right >= left)
    y = np.where(rng.random(len(left)) < expit(theta[right] - theta[left]), 1, -1)
    classes = {k: "new" if k >= n_old else "old" for k in range(n)}
    return Pairs._of(None, left, right, np.arange(n)), y, classes, theta - theta.mean()


@pytest.fixture(scope="module")
def results():
    return two_classes(3)


def general(pairs, y, alpha, code):
    """Minimize over strengths and class means, by a solver that knows neither."""
    n = len(code)

    def value(z):
        theta, mean = z[:n], z[n:]
        d = theta[pairs.right] - theta[pairs.left]
        loss = np.logaddexp(0, -y * d).sum()
        return loss + alpha * ((theta - mean[code]) ** 2).sum() + 1e-9 * z @ z

    z = minimize(value, np.zeros(n + 2), method="BFGS", options={"gtol": 1e-7}).x
    return z[:n] - z[:n].mean(), z[n:] - z[:n].mean()


def test_strengths_and_means_minimize_the_objective(results):
    pairs, y, classes, _ = results
    model = BradleyTerry(alpha=0.7, prior_by=classes).fit(pairs, y)
    code = np.array([classes[k] == "new" for k in range(18)]).astype(int)
    theta, mean = general(pairs, y, 0.7, code)
    np.testing.assert_allclose(model.strength_, theta, atol=1e-4)
    assert model.prior_names_.tolist() == ["old", "new"]
    np.testing.assert_allclose(model.prior_means_, mean, atol=1e-4)
    np.testing.assert_array_equal(model.prior_class_, code)
    # Where the objective is least, a mean is that of the strengths of the class.
    for k in (0, 1):
        own = model.strength_[code == k].mean()
        assert model.prior_means_[k] == pytest.approx(own, abs=1e-6)


def test_covariances_are_those_of_strengths_and_means_together(results):
    pairs, y, classes, _ = results
    model = BradleyTerry(alpha=0.7, prior_by=classes).fit(pairs, y)
    d = model.strength_[pairs.right] - model.strength_[pairs.left]
    design = np.eye(18)[pairs.right] - np.eye(18)[pairs.left]
    share = np.eye(2)[model.prior_class_]
    within = np.eye(18) - share @ np.linalg.inv(share.T @ share) @ share.T
    weight = expit(d) * expit(-d)
    hessian = design.T @ (weight[:, None] * design) + 1.4 * within
    np.testing.assert_allclose(
        model.covariance("model"), np.linalg.pinv(hessian), atol=1e-6
    )
    table = model.coefficients()
    assert table["coefficient"].to_list() == ["new - old"]
    gap = np.diff(model.prior_means_)[0]
    assert table["estimate"][0] == pytest.approx(gap, abs=1e-6)


def test_one_class_is_the_plain_model(results):
    pairs, y, classes, _ = results
    plain = BradleyTerry().fit(pairs, y)
    same = BradleyTerry(prior_by=dict.fromkeys(classes, "all")).fit(pairs, y)
    np.testing.assert_array_equal(plain.strength_, same.strength_)


def test_differences_of_two_items_have_no_prior(results):
    pairs, y, classes, _ = results
    left, right = np.zeros(1, int), np.full(1, 17)
    both = [
        BradleyTerry(alpha=0.7, prior_by=by).fit(pairs, y).contrasts()
        for by in (None, classes)
    ]
    none, by = (one.between(left, right) for one in both)
    alone = np.ones(18)
    alone[[0, 17]] = 0.0
    d0, code = np.zeros(18), np.array([classes[k] == "new" for k in range(18)])

    def value(z):  # the priors of both are left out
        theta = z[:18]
        d = theta[pairs.right] - theta[pairs.left]
        own = alone @ (theta - z[18:][code.astype(int)]) ** 2
        return np.logaddexp(0, -y * d).sum() + 0.7 * own + 1e-9 * z @ z

    z = minimize(value, np.append(d0, [0, 0]), method="BFGS").x
    assert by.mean[0] == pytest.approx(z[17] - z[0], abs=0.3 * by.errors()[0])
    assert by.errors()[0] == pytest.approx(none.errors()[0], rel=0.1)


def test_wrong_classes_are_refused(results):
    pairs, y, classes, _ = results
    with pytest.raises(ValueError, match="no class for 17"):
        few = {k: c for k, c in classes.items() if k != 17}
        BradleyTerry(prior_by=few).fit(pairs, y)
    with pytest.raises(ValueError, match="alpha=0 has none"):
        BradleyTerry(alpha=0, prior_by=classes).fit(pairs, y)


@pytest.mark.extended
def test_newcomers_of_a_stronger_class():
    inside, error = np.zeros(2), np.zeros(2)
    for seed in range(60):
        pairs, y, classes, theta = two_classes(seed)
        for k, by in enumerate((None, classes)):
            model = BradleyTerry(prior_by=by).fit(pairs, y)
            low, high = model.intervals()[12:].T
            inside[k] += ((low <= theta[12:]) & (theta[12:] <= high)).mean() / 60
            error[k] += ((model.strength_ - theta)[12:] ** 2).mean() / 60
            Leaderboard(model)
    assert inside[1] > 0.92
    assert error[1] < 0.8 * error[0]
