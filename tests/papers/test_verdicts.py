# SPDX-License-Identifier: BSD-3-Clause
import math

import pytest

from papers.tables import Sample
from papers.verdicts import errors_apart, verdict


def test_standard_errors_of_a_difference():
    """Means 11 and 10, variances of the means 1 and 0.5² / 4."""
    ours = Sample([10.0, 12.0])
    assert errors_apart(ours, 10.0, spread=0.5, repetitions=4) == pytest.approx(
        1.0 / math.sqrt(1.0 + 0.0625)
    )
    assert errors_apart(ours, 10.0) == pytest.approx(1.0 / math.sqrt(2.0))
    assert errors_apart(ours, 10.0, higher=True) == pytest.approx(-1.0 / math.sqrt(2.0))
    # Read off a figure to ± 3: a uniform error of variance 3.
    assert errors_apart(ours, 10.0, reading=3.0) == pytest.approx(1.0 / math.sqrt(5.0))


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0]])
def test_nothing_is_said_without_spread(values):
    assert errors_apart(Sample(values), 0.0) is None


def test_verdicts():
    assert verdict({}) == ""
    assert verdict({"a": None}) == ""
    assert verdict({"a": 1.9, "b": -2.0}) == (
        "Reproduced: all 2 numbers are within two standard errors of the difference."
    )
    assert verdict({"a": 2.1, "b": -2.1, "c": 0.0, "d": None, "e": 9.0}) == (
        "Of 4 numbers one is reproduced, within two standard errors of the "
        "difference, one is better and two are worse: a (2.1) and e (9.0), in "
        "standard errors."
    )
