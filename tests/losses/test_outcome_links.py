# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from tests.oracles import outcome_models as oracle
from tiebreak.losses import GLENN_DAVID, LINKS, RATING_LINKS, MixedLink

every_link = pytest.mark.parametrize("name", LINKS)
NO_TIES = {"davidson": -math.inf, "cumulative": 0.0}


def draw(rng, m=12):
    d = 3 * rng.normal(size=m)
    counts = rng.integers(0, 3, size=(m, 3)) * rng.uniform(0.2, 2.0, size=(m, 3))
    return d, counts


@every_link
@pytest.mark.parametrize("t", [0.01, 0.4, 1.7])
def test_probabilities_are_those_of_the_textbook(rng, name, t):
    d, _ = draw(rng)
    link = LINKS[name]
    r_left = rng.normal(size=len(d))
    worth = np.exp(r_left), np.exp(r_left + d)
    if name == "davidson":
        expected = oracle.davidson(*worth, link.to_parameter(t))
    elif name == "cumulative":
        expected = oracle.rao_kupper(*worth, link.to_parameter(t))
    else:
        expected = oracle.glenn_david(d, t)
    p = link.probabilities(d, t)
    assert_allclose(p, expected, rtol=1e-10)
    assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    ln_p = link.log_probabilities(d, t)
    assert_allclose(ln_p, np.log(expected), rtol=1e-9, atol=1e-15)
    assert_allclose(link.from_parameter(link.to_parameter(t)), t, rtol=1e-12)


@every_link
def test_a_swapped_comparison_has_the_swapped_probabilities(rng, name):
    d, counts = draw(rng)
    link = LINKS[name]
    turned = np.ascontiguousarray(counts[:, ::-1])
    p = link.probabilities(-d, 0.6)[:, ::-1]
    assert_allclose(p, link.probabilities(d, 0.6), rtol=1e-13)
    assert_allclose(link.value(-d, 0.6, turned), link.value(d, 0.6, counts))


@pytest.mark.parametrize("name", oracle.LINKS)
def test_without_ties_both_are_the_model_of_bradley_and_terry(rng, name):
    d, counts = draw(rng)
    link, t = LINKS[name], NO_TIES[name]
    p = link.probabilities(d, t)
    assert_allclose(p[:, 2], 1 / (1 + np.exp(-d)), rtol=1e-12)
    assert_array_equal(p[:, 1], 0)
    assert_array_equal(link.log_probabilities(d, t)[:, 1], -np.inf)
    assert link.start(0.0) == t
    assert link.from_parameter(link.to_parameter(t)) == t
    assert link.threshold(t) == 0
    assert link.value(d, t, counts) == math.inf
    counts[:, 1] = 0
    local = link.expand(d, t, counts)
    for value in (link.value(d, t, counts), local.value):
        assert_allclose(value, -(counts[:, [0, 2]] * np.log(p[:, [0, 2]])).sum())
    n = counts.sum(axis=1)
    assert_allclose(local.gradient, n * p[:, 2] - counts[:, 2], rtol=1e-10, atol=1e-12)
    assert_allclose(local.curvature, n * p[:, 2] * p[:, 0], rtol=1e-10)
    assert np.isfinite(local.tie_gradient) and np.isfinite(local.tie_curvature)
    in_d, _ = link.gradient(d, t, counts)
    assert_allclose(in_d, local.gradient, rtol=1e-9, atol=1e-13)


def test_without_ties_the_probit_is_the_model_of_thurstone(rng):
    d, counts = draw(rng)
    link = LINKS["probit"]
    assert link.start(0.0) == link.threshold(0.0) == 0.0
    p = link.probabilities(d, 0.0)
    assert_allclose(p, np.stack([norm.sf(d), 0 * d, norm.cdf(d)], axis=1), rtol=1e-12)
    assert np.isfinite(link.information(d, 0.0)).all()
    assert link.value(d, 0.0, counts) == link.value(d, -1e-9, counts) == math.inf
    counts[:, 1] = 0
    local = link.expand(d, 0.0, counts)
    assert_allclose(local.value, -(counts[:, ::2] * np.log(p[:, ::2])).sum())
    slope = counts[:, 0] * norm.pdf(d) / p[:, 0] - counts[:, 2] * norm.pdf(d) / p[:, 2]
    assert_allclose(local.gradient, slope, rtol=1e-10)


@pytest.mark.parametrize("t", [1e-9, 1e-4, 0.02, 1.0])
def test_ties_of_the_probit_keep_their_digits_far_out(t):
    """P(tie) = ∫ φ from |d| - t to |d| + t, relative to φ(d)."""
    d = np.array([0.0, 1e-3, 0.6, 5.0, 30.0, 300.0])
    x, weight = np.polynomial.legendre.leggauss(80)
    at = t * x[:, None]
    relative = np.exp(-at * d - 0.5 * at**2)
    expected = np.log(t * weight @ relative) + norm.logpdf(d)
    link, ties = LINKS["probit"], np.tile([0.0, 1.0, 0.0], (len(d), 1))
    assert_allclose(link.log_probabilities(d, t)[:, 1], expected, rtol=1e-12)
    # The moments of the difference within these bounds give all derivatives.
    share = weight[:, None] * relative / (weight @ relative)
    mean = (share * at).sum(axis=0)
    variance = (share * (at - mean) ** 2).sum(axis=0)
    local = link.expand(d, t, ties)
    assert_allclose(local.gradient, d + mean, rtol=1e-9, atol=1e-13)
    assert_allclose(local.curvature, 1 - variance, rtol=1e-7)


@every_link
def test_nothing_but_ties(rng, name):
    d, _ = draw(rng)
    link = LINKS[name]
    assert_array_equal(link.probabilities(d, math.inf), np.tile([0, 1, 0], (12, 1)))
    expected = np.tile([-np.inf, 0, -np.inf], (12, 1))
    assert_array_equal(link.log_probabilities(d, math.inf), expected)
    assert link.threshold(math.inf) == math.inf
    assert link.from_parameter(link.to_parameter(math.inf)) == math.inf


@every_link
@pytest.mark.parametrize("t", [0.01, 0.4, 1.7])
def test_the_value_is_minus_the_log_likelihood(rng, name, t):
    d, counts = draw(rng)
    link = LINKS[name]
    expected = oracle.loss(name, d, t, counts)
    assert_allclose(link.value(d, t, counts), expected, rtol=1e-11)
    assert_allclose(link.expand(d, t, counts).value, expected, rtol=1e-11)


@every_link
@pytest.mark.parametrize("t", [0.05, 0.4, 1.7])
def test_derivatives(rng, name, t):
    d, counts = draw(rng)
    link, m = LINKS[name], len(d)
    x = np.append(d, t)

    def value(z):
        return oracle.loss(name, z[:-1], z[-1], counts)

    gradient = oracle.derivative(value, x)
    local = link.expand(d, t, counts)
    assert_allclose(local.gradient, gradient[:-1], rtol=1e-8, atol=1e-10)
    assert_allclose(local.tie_gradient, gradient[-1], rtol=1e-8)
    in_d, in_t = link.gradient(d, t, counts)
    assert_allclose(in_d, local.gradient, rtol=1e-11, atol=1e-13)
    assert_allclose(in_t, local.tie_gradient, rtol=1e-11)
    hessian = oracle.second_derivative(value, x)
    assert_allclose(hessian[:m, :m], np.diag(local.curvature), atol=1e-6)
    assert_allclose(hessian[:m, m], local.cross, atol=1e-6)
    assert_allclose(hessian[m, m], local.tie_curvature, rtol=1e-6)
    assert_array_equal(local.curvature >= 0, True)
    # Jointly convex.
    assert np.linalg.eigvalsh(hessian).min() > -1e-6


@every_link
@pytest.mark.parametrize("t", [0.05, 0.4, 1.7])
def test_scores_are_the_derivatives_of_each_outcome(rng, name, t):
    d, _ = draw(rng)
    link = LINKS[name]
    in_d, in_t = link.scores(d, t)
    for column in range(3):
        counts = np.zeros((len(d), 3))
        counts[:, column] = 1
        local = link.expand(d, t, counts)
        assert_allclose(in_d[:, column], local.gradient, rtol=1e-10, atol=1e-12)
        assert_allclose(in_t[:, column].sum(), local.tie_gradient, rtol=1e-10)
    # Expected scores are zero.
    p = link.probabilities(d, t)
    assert_allclose((p * in_d).sum(axis=1), 0, atol=1e-12)
    assert_allclose((p * in_t).sum(axis=1), 0, atol=1e-12)


@every_link
@pytest.mark.parametrize("t", [1e-8, 0.5, 30.0, 400.0])
def test_extreme_differences_stay_finite(name, t):
    link = LINKS[name]
    d = np.array([-700.0, 700.0, -700.0, 700.0, 0.0, -1e4, 1e4])
    counts = np.array([[1, 0, 0]] * 2 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 2, dtype=float)
    local = link.expand(d, t, counts)
    for part in (local.value, local.gradient, local.curvature, local.cross):
        assert np.isfinite(part).all()
    assert np.isfinite([local.tie_gradient, local.tie_curvature]).all()
    assert_allclose(link.value(d, t, counts), local.value, rtol=1e-12)
    p = link.probabilities(d, t)
    assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    ln_p = link.log_probabilities(d, t)
    assert_allclose(local.value, -ln_p[counts > 0].sum(), rtol=1e-12)
    assert np.isfinite(ln_p).all()
    # Certain and right costs nothing, certain and wrong as much as the difference.
    if t == 0.5:
        assert_allclose(ln_p[0], [0, -350 + t, -700] if name == "davidson" else ln_p[0])
        assert_allclose(local.gradient[0], 0, atol=1e-15)
        wrong = 700.5 + 1 / 700.5 if name == "probit" else 1
        assert_allclose(local.gradient[1], wrong, rtol=1e-8)


ON_ONE_SCALE = RATING_LINKS | {"glenn-david": GLENN_DAVID}
every_rating_link = pytest.mark.parametrize("name", ON_ONE_SCALE)


@every_rating_link
@pytest.mark.parametrize("t", [-4.0, -1.0, 1.5])
def test_rating_links_are_the_textbook_on_one_scale(rng, name, t):
    d, counts = draw(rng)
    link, x = ON_ONE_SCALE[name], np.append(d, t)
    p = oracle.rating_probabilities(name, d, t)
    assert_allclose(link.probabilities(d, t), p, rtol=1e-10)
    assert_allclose(link.log_probabilities(d, t), np.log(p), rtol=1e-9)
    equal = link.probabilities(np.array([0.0, 1e-4]), t)
    assert_allclose(equal[0, 1], 1 / (1 + math.exp(-t)), rtol=1e-12)
    assert_allclose(np.log(equal[1, 2] / equal[1, 0]), 1e-4, rtol=1e-6)
    assert link.start(equal[0, 1]) == pytest.approx(t, rel=1e-12)
    nu = 2 * equal[0, 1] / (1 - equal[0, 1])
    c = norm.isf(0.5 - 0.5 * equal[0, 1])
    expected = {"davidson": nu, "rao-kupper": 1 + nu, "glenn-david": c}[name]
    assert link.to_parameter(t) == pytest.approx(expected, rel=1e-12)

    def value(z):
        p = oracle.rating_probabilities(name, z[:-1], z[-1])
        return -np.sum(counts * np.log(p))

    gradient, hessian = oracle.derivative(value, x), oracle.second_derivative(value, x)
    local, m = link.expand(d, t, counts), len(d)
    assert_allclose(link.value(d, t, counts), value(x), rtol=1e-11)
    assert_allclose(local.value, value(x), rtol=1e-11)
    assert_allclose(np.append(local.gradient, local.tie_gradient), gradient, rtol=1e-8)
    assert_allclose(hessian[:m, :m], np.diag(local.curvature), atol=1e-6)
    assert_allclose(hessian[:m, m], local.cross, atol=1e-6)
    assert_allclose(hessian[m, m], local.tie_curvature, rtol=1e-6)
    in_d, in_t = link.scores(d, t)
    assert_allclose((counts * in_d).sum(axis=1), local.gradient, rtol=1e-10)
    assert_allclose((counts * in_t).sum(), local.tie_gradient, rtol=1e-10)
    # Between equal items both have the same information.
    at_zero = link.information(np.zeros(1), t)[0]
    assert at_zero == pytest.approx(0.25 * (1 - equal[0, 1]), rel=1e-10)


@pytest.mark.parametrize("t", [-3.0, -0.2, 2.0])
def test_a_mixed_link_is_the_mean(t):
    link = MixedLink(list(RATING_LINKS.values()), (0.3, 0.7))
    d, h = np.linspace(-3, 3, 7), 1e-5
    one, two = (link.probabilities(d, t) for link in RATING_LINKS.values())
    assert_allclose(link.probabilities(d, t), 0.3 * one + 0.7 * two, rtol=1e-12)
    slope = link.log_probabilities(d - h, t) - link.log_probabilities(d + h, t)
    assert_allclose(link.scores(d, t)[0], slope / (2 * h), atol=1e-8)
    limit = link.threshold(t)
    at, beyond = link.probabilities(np.array([limit, limit + 1e-6]), t)
    assert beyond[2] > beyond[1]
    assert at[1] == pytest.approx(at[2]) if limit else at[1] <= at[2]


def test_small_curvatures_keep_their_digits():
    # The sum of two sigmoids would round them to zero long before.
    d, t, counts = np.array([60.0]), 0.5, np.array([[1.0, 0.0, 0.0]])
    bend = LINKS["cumulative"].expand(d, t, counts).curvature
    assert_allclose(bend, np.exp(-60.5), rtol=1e-12)
    bend = LINKS["davidson"].expand(d, t, counts).curvature
    assert_allclose(bend, 0.25 * np.exp(t - 30), rtol=1e-9)


@every_link
@given(t=st.floats(0.01, 5.0))
def test_at_the_threshold_a_tie_is_as_probable_as_a_win(name, t):
    link = LINKS[name]
    limit = link.threshold(t)
    beyond = np.array([limit + 1e-6, -limit - 1e-6])
    assert_array_equal(link.probabilities(beyond, t).argmax(axis=1), [2, 0])
    p = link.probabilities(np.array([0.0, limit]), t)
    if limit > 0:
        assert_allclose(p[1, 1], p[1, 2], rtol=1e-9)
        assert p[0].argmax() == 1
    else:
        assert p[0, 1] <= p[0, 0]


@every_link
@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_the_start_gives_equal_items_this_share_of_ties(name, share):
    link = LINKS[name]
    t = link.start(share)
    assert_allclose(link.probabilities(np.zeros(1), t)[0, 1], share, rtol=1e-12)
    # The best constant model: no other t fits the counts of equal items better.
    counts = np.array([[(1 - share) / 2, share, (1 - share) / 2]])
    assert_allclose(link.expand(np.zeros(1), t, counts).tie_gradient, 0, atol=1e-12)


def test_outside_its_range_the_cumulative_link_is_infinite(rng):
    d, counts = draw(rng)
    link = LINKS["cumulative"]
    assert link.value(d, -1e-9, counts) == math.inf
    assert link.value(d, 0.0, counts) == math.inf
    counts[:, 1] = 0
    assert link.value(d, -1e-9, counts) == math.inf
    assert np.isfinite(link.value(d, 0.0, counts))


def test_links_are_known_by_their_names():
    assert tuple(LINKS) == (*oracle.LINKS, "probit")
    assert all(LINKS[name].name == name for name in LINKS)


def test_losses_of_almost_certain_outcomes_keep_their_digits_with_a_probit():
    link, t = LINKS["probit"], 8.0
    for d, row, others in [
        (1.0, [0.0, 1, 0], norm.sf(7) + norm.sf(9)),
        (16.0, [0.0, 0, 1], norm.sf(8)),
        (-16.0, [1.0, 0, 0], norm.sf(8)),
    ]:
        value = link.value(np.array([d]), t, np.array([row]))
        assert_allclose(value, -math.log1p(-others), rtol=1e-10)


@pytest.mark.parametrize("name", oracle.LINKS)
def test_losses_of_almost_certain_outcomes_keep_their_digits(name):
    """-ln p ≈ 1 - p, of which nothing would be left after 1 - (1 - p)."""
    t, d = 60.0, np.array([3.0, -200.0, 200.0])
    counts = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    if name == "davidson":
        others = 2 * math.cosh(1.5) * math.exp(-t), math.exp(t - 100.0)
    else:
        others = 2 * math.cosh(3.0) * math.exp(-t), math.exp(t - 200.0)
    for k in range(3):
        expected = others[min(k, 1)]
        row = d[k : k + 1], t, counts[k : k + 1]
        assert_allclose(LINKS[name].value(*row), expected, rtol=1e-12)
        assert_allclose(LINKS[name].expand(*row).value, expected, rtol=1e-12)
