# SPDX-License-Identifier: BSD-3-Clause
from fractions import Fraction

import numpy as np
import pytest

from tiebreak.data.parameters import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    check_parameters,
    one_of,
)


@pytest.mark.parametrize(
    ("values", "inside", "outside"),
    [
        (POSITIVE, [1e-30, 1, np.float32(2), Fraction(1, 3), 1e30], [0, -1, 1e31]),
        (NOT_NEGATIVE | "auto", [0, 0.0, "auto"], [-1e-9, "car", None, 10**400]),
        (NUMBER | None, [-1e30, np.int64(3), None], ["1", [1.0], 1j]),
        (COUNT, [1, np.int8(7), 10**400], [0, 1.0, "1", None]),
        (FLAG, [True, np.False_], [1, 0, "True", None]),
        (one_of("a", None), ["a", np.str_("a"), None], ["b", 0, False, ["a"]]),
    ],
)
def test_what_is_allowed(values, inside, outside):
    assert all(value in values for value in inside)
    assert not any(value in values for value in outside)
    assert values is FLAG or True not in values
    assert np.nan not in values and np.inf not in values


def test_what_is_expected_is_said():
    assert str(POSITIVE | "auto" | None) == (
        "a positive number (1e-30 to 1e+30), 'auto' or None"
    )
    assert str(one_of("sum", "mean")) == "'sum' or 'mean'"
    assert str(COUNT) == "a whole number of at least 1"

    class Model:
        _parameters = {"C": POSITIVE, "loss": one_of("hinge", "log")}  # noqa: RUF012
        C, loss = 1.0, "log"

    check_parameters(Model())
    Model.loss = "hunge"
    with pytest.raises(ValueError, match="Model got loss='hunge'; expected 'hinge' or"):
        check_parameters(Model())
