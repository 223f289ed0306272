# SPDX-License-Identifier: BSD-3-Clause
"""Glicko-2: Glickman's worked example, volatilities, and the plain loop."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from tests.oracles.glicko_plain import SCALE, Player, glicko2_update
from tests.ratings.test_glicko import glickmans_example
from tiebreak import Pairs
from tiebreak.ratings import Glicko2
from tiebreak.ratings.over_time.glicko import new_volatility

ONE = Pairs(None, ["a"], ["b"])


def test_glickmans_example():
    # M. E. Glickman, Example of the Glicko-2 system: r' = 1464.06, RD' = 151.52 and
    # σ' = 0.05999, from intermediate values of four digits.
    player = glickmans_example(tau=0.5)
    assert player["rating"] == pytest.approx(1464.06, abs=0.01)
    assert player["deviation"] == pytest.approx(151.52, abs=0.01)
    assert player["volatility"] == pytest.approx(0.05999, abs=1e-5)


def test_idle_periods_grow_the_deviation():
    model = Glicko2(deviation=100.0, volatility=0.2).fit(ONE, [0], period=[3])
    shrunk, sigma = model.deviation_[0], model.volatility_[0]
    # One period later nobody was idle; the update itself adds σ'².
    model.partial_fit(ONE, [0], period=[4])
    assert_array_equal(model.before_deviation_, [[shrunk, shrunk]])
    model = Glicko2(deviation=100.0, volatility=0.2).fit(ONE, [0], period=[3])
    model.partial_fit(ONE, [0], period=[8.5])
    # φ² += σ² for each of the 4.5 periods in between.
    grown = SCALE * math.sqrt((shrunk / SCALE) ** 2 + 4.5 * sigma**2)
    assert_allclose(model.before_deviation_, [[grown, grown]])
    start = Player(1500, grown, sigma)
    expected = glicko2_update(start, [(1500, grown, 0.5, 1.0)], 0.5)
    assert_allclose(model.deviation_, [expected.deviation] * 2)
    assert_allclose(model.volatility_, [expected.volatility] * 2)
    far = Glicko2(deviation=100.0).fit(ONE, [0], period=[3])
    far.partial_fit(ONE, [0], period=[1e6])
    assert_array_equal(far.before_deviation_, [[350, 350]])


def test_an_update_grows_what_games_cannot_shrink():
    # A game against somebody 4000 points away says nothing.
    model = Glicko2(deviation=50.0, volatility=0.3).fit(ONE, [-1], advantage=8000)
    grown = SCALE * math.hypot(50.0 / SCALE, 0.3)
    assert_allclose(model.deviation_, [grown, grown], rtol=1e-6)
    assert_allclose(model.rating_, [1500, 1500], rtol=0, atol=1e-6)
    model = Glicko2(deviation=349.0, volatility=0.3).fit(ONE, [-1], advantage=8000)
    assert_array_equal(model.deviation_, [350, 350])
    # Not even if it can no longer be told from certainty, or comes out otherwise.
    for y in (-1, 1):
        model = Glicko2().fit(ONE, [y], advantage=1e9)
        assert np.isfinite(model.rating_).all()
        assert_array_equal(model.deviation_, [350, 350])
        assert_array_equal(model.volatility_, [0.06, 0.06])


@given(
    log_sigma=st.floats(-7, 2),
    log_phi=st.floats(-5, 2),
    log_information=st.floats(-40, 9),
    surprise=st.floats(-30, 30),
    log_tau=st.floats(-2, 2),
)
def test_the_equation_for_the_volatility(
    log_sigma, log_phi, log_information, surprise, log_tau
):
    sigma, phi, tau = math.exp(log_sigma), math.exp(log_phi), math.exp(log_tau)
    v = math.exp(-log_information)
    delta = surprise * math.sqrt(phi**2 + v)
    a = 2 * log_sigma

    def h(x):
        z = math.exp(x)
        s = phi**2 + v + z
        return 0.5 * (z / s) * (delta**2 / s - 1) - (x - a) / tau**2

    found = 2 * math.log(new_volatility(sigma, phi, 1 / v, delta / v, tau))
    low, high = a - tau**2 / 2 - 1e-9, a
    if h(a) > 0:
        low, high = a, math.log(delta**2 - phi**2 - v)
    root = brentq(h, low, high, xtol=1e-14, rtol=1e-14)
    # Where the equation has several roots, any of them will do.
    assert abs(found - root) < 1e-10 or abs(h(found)) < 1e-10
