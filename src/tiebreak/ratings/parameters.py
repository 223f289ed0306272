# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of ratings, checked and turned into plain numbers."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NoReturn

__all__ = ["finite_number", "positive_number", "refuse_parameter"]


def finite_number(model: Any, name: str) -> float:
    """Read a parameter that must be a finite number.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.

    Returns
    -------
    float
    """
    value = getattr(model, name)
    if not _is_finite(value):
        refuse_parameter(model, name, "a finite number")
    return float(value)


def positive_number(model: Any, name: str, or_else: str = "") -> float:
    """Read a parameter that must be a positive finite number.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.
    or_else : str, default=""
        What else it may be, for the message.

    Returns
    -------
    float
    """
    value = getattr(model, name)
    if not _is_finite(value) or value <= 0:
        refuse_parameter(model, name, f"a positive finite number{or_else}")
    return float(value)


def refuse_parameter(model: Any, name: str, expected: str) -> NoReturn:
    """Raise a ValueError that says what a parameter must be.

    Parameters
    ----------
    model : estimator
        The model.
    name : str
        Name of the parameter.
    expected : str
        What was expected.
    """
    raise ValueError(
        f"{type(model).__name__} got {name}={getattr(model, name)!r}; expected "
        f"{expected}."
    )


def _is_finite(value: Any) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and math.isfinite(value)
