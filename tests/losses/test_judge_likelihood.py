# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives that votes of a judge have on average, by the definition."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tiebreak.losses import LINKS
from tiebreak.losses.judge_likelihood import _expected

STEP = 1e-4


def losses(cumulative, d, t):
    """Give -ln P of the three outcomes; t is ln of the threshold, or of ν."""
    link = LINKS["cumulative" if cumulative else "davidson"]
    return -link.log_probabilities(np.array([d]), math.exp(t) if cumulative else t)[0]


@pytest.mark.parametrize("cumulative", [True, False])
@pytest.mark.parametrize(("d", "t"), [(-1.2, -0.4), (0.3, 0.2), (2.0, -1.0)])
def test_expected_curvature_is_the_mean_over_outcomes(cumulative, d, t):
    def second(one, two):
        """Mixed difference of the losses along two directions of (d, t)."""
        one, two = STEP * np.array(one), STEP * np.array(two)
        corners = [(one + two, 1), (one - two, -1), (two - one, -1), (-one - two, 1)]
        total = sum(s * losses(cumulative, d + x[0], t + x[1]) for x, s in corners)
        return total / (4 * STEP**2)

    share = np.exp(-losses(cumulative, d, t))
    expected = [3.0 * share @ second(*axes) for axes in AXES]
    actual = _expected(cumulative, d, t, math.exp(t), 3.0)
    assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


AXES = [((1, 0), (1, 0)), ((1, 0), (0, 1)), ((0, 1), (0, 1))]
