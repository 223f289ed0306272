# SPDX-License-Identifier: BSD-3-Clause
"""Which cases of a costly product run by default, and which only with TESTS=all."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

RUNS_ALL = os.environ.get("TIEBREAK_TESTS", "short") == "all"


def few(values: Iterable[Any], keep: int = 1) -> list[Any]:
    """Give values for ``parametrize``, of which all but the first are extended."""
    return [
        value if number < keep else extended(value)
        for number, value in enumerate(values)
    ]


def extended(value: Any) -> Any:
    """Mark one value, or one tuple of them, for ``parametrize`` as extended."""
    if isinstance(value, type(pytest.param())):
        marks = (*value.marks, pytest.mark.extended)
        return pytest.param(*value.values, marks=marks, id=value.id)
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.extended)
