# SPDX-License-Identifier: BSD-3-Clause
"""The scale on which strengths are shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RatingScale"]


@dataclass(frozen=True)
class RatingScale:
    """Rating = anchor + scale / ln(base) · (θ - θ of the reference).

    Parameters
    ----------
    scale : float, default=400.0
        The difference of ratings at which the odds of winning are `base` to one, ties
        left aside.
    base : float, default=10.0
        The odds at a difference of `scale`. Elo's scale is 400 and 10; strengths
        themselves are ``scale=1, base=math.e``.
    reference : item name, optional
        The item whose rating is `anchor`. None: the mean of all items is.
    anchor : float, default=1500.0
        Rating of the reference.
    """

    scale: float = 400.0
    base: float = 10.0
    reference: Any = None
    anchor: float = 1500.0

    def __post_init__(self) -> None:
        """Refuse scales that turn the order around or are no numbers."""
        for name, good, expected in (
            ("scale", lambda v: v > 0, "positive"),
            ("base", lambda v: v > 1, "larger than 1"),
            ("anchor", lambda v: True, "finite"),
        ):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or not good(value):
                raise ValueError(
                    f"{name} of a leaderboard must be a {expected} number; got "
                    f"{value!r}."
                )

    @property
    def unit(self) -> float:
        """Rating points per unit of strength."""
        return self.scale / math.log(self.base)

    def place(self, items: NDArray[Any]) -> int | None:
        """Give the number of the reference item among `items`, or None."""
        if self.reference is None:
            return None
        found = np.flatnonzero(items == self.reference)
        if len(found) != 1:
            raise ValueError(
                f"The reference {self.reference!r} is not among the items; the model's "
                "items_ lists them."
            )
        return int(found[0])

    def apply(
        self, strength: NDArray[np.float64], place: int | None
    ) -> NDArray[np.float64]:
        """Give ratings of strengths; the last axis is of items."""
        zero = (
            strength.mean(axis=-1, keepdims=True)
            if place is None
            else strength[..., [place]]
        )
        return self.anchor + self.unit * (strength - zero)
