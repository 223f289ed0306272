# SPDX-License-Identifier: BSD-3-Clause
"""Which values parameters may have: a table in each estimator, checked before a fit.

::

    _parameters = {"C": POSITIVE, "alpha": NOT_NEGATIVE | "auto", "x": one_of("a", "b")}

Numbers are bounded so that sums and products stay finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

# Features, grades and parameters are at most this in size, and parameters that must be
# positive at least one over it.
LARGEST = 1e30
# Weights multiply, so they are not as large; those of old results may be very small.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-60, 1e15


@dataclass(frozen=True)
class Values:
    """A range of numbers, possibly empty, and other values."""

    words: str = ""  # the range, for messages
    low: float = np.inf
    high: float = -np.inf
    whole: bool = False
    others: tuple[Any, ...] = ()
    by_item: bool = False  # whether a mapping from items to values is allowed

    def __or__(self, other: Any) -> Values:
        return replace(self, others=(*self.others, other))

    def __contains__(self, value: Any) -> bool:
        if self.by_item and isinstance(value, Mapping):
            return all(own in self for own in value.values())
        if isinstance(value, bool | np.bool_):
            return bool(value) in [v for v in self.others if isinstance(v, bool)]
        if isinstance(value, Integral if self.whole else Real):
            return bool(self.low <= value <= self.high)  # type: ignore[operator]
        return isinstance(value, str | None) and value in self.others

    def __str__(self) -> str:
        *first, last = [*([self.words] if self.words else []), *map(repr, self.others)]
        return f"{', '.join(first)} or {last}" if first else str(last)


def one_of(*values: Any) -> Values:
    """One of some words, True, False or None."""
    return Values(others=values)


POSITIVE = Values(
    f"a positive number ({1 / LARGEST:g} to {LARGEST:g})", 1 / LARGEST, LARGEST
)
NOT_NEGATIVE = Values(
    f"a number that is not negative (at most {LARGEST:g})", 0.0, LARGEST
)
NUMBER = Values(f"a finite number (at most {LARGEST:g} in size)", -LARGEST, LARGEST)
COUNT = Values("a whole number of at least 1", 1, np.inf, whole=True)
FLAG = one_of(True, False)


def refuse_parameter(model: Any, name: str, expected: Any) -> NoReturn:
    """Raise the error of an invalid parameter."""
    setting = f"{type(model).__name__} got {name}={getattr(model, name)!r}"
    raise ValueError(f"{setting}; expected {expected}.")


def check_parameters(model: Any, table: Mapping[str, Values] | None = None) -> None:
    """Refuse parameters that a table, by default the model's own, does not allow."""
    for name, values in (table or model._parameters).items():
        if getattr(model, name) not in values:
            refuse_parameter(model, name, values)
