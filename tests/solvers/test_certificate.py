# SPDX-License-Identifier: BSD-3-Clause
"""What overflows certifies nothing."""

from math import inf, nan

import pytest

from tiebreak.solvers.certificate import relative_gap


@pytest.mark.parametrize(
    ("difference", "size", "gap"),
    [
        (1.0, 4.0, 0.25),
        (-1e-17, 1.0, 0.0),
        (0.0, 0.0, 0.0),
        (1.0, inf, inf),
        (nan, 1.0, inf),
        (1.0, nan, inf),
        (-inf, 1.0, inf),
    ],
)
def test_only_finite_numbers_make_a_certificate(difference, size, gap):
    assert relative_gap(difference, size) == gap
