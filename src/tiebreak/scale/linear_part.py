# SPDX-License-Identifier: BSD-3-Clause
"""Partitions as functions of the weights of features."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiebreak.losses import UtilityLoss
from tiebreak.losses.linear_objective import back_product, forward_product
from tiebreak.scale.facts import PartFacts

__all__ = ["LinearPart", "MovingPart"]

Floats = NDArray[np.float64]


class MovingPart:
    """A partition as a smooth function that is told at every call where it is.

    It remembers where it was last, so that this costs nothing as long as it stays, and
    goes there first if another worker has built it anew in the meantime. A partition
    without rows is the function zero.
    """

    facts: PartFacts
    is_empty = True

    def _fill(self) -> None:
        """Say that there are rows."""
        self.is_empty = False
        self._at: Floats | None = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def expand(self, x: Floats) -> tuple[float, Floats]:
        """Give value and gradient at x."""
        if self.is_empty:
            return 0.0, np.zeros(len(x))
        with self._lock:
            self._at = x
            return self._expand(x)

    def hessian_product(self, x: Floats, v: Floats) -> Floats:
        """Give the Hessian at x times v."""
        if self.is_empty:
            return np.zeros(len(x))
        with self._lock:
            self._go(x)
            return self._hessian_product(v)

    def hessian_diagonal(self, x: Floats) -> Floats:
        """Give the diagonal of the Hessian at x, or what is near it."""
        if self.is_empty:
            return np.zeros(len(x))
        with self._lock:
            self._go(x)
            return self._hessian_diagonal()

    def hessian(self, x: Floats) -> Floats:
        """Give the Hessian at x."""
        if self.is_empty:
            return np.zeros((len(x), len(x)))
        with self._lock:
            self._go(x)
            return self._hessian()

    def _go(self, x: Floats) -> None:
        if self._at is None or not np.array_equal(self._at, x):
            self.expand(x)

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        raise NotImplementedError

    def _hessian_product(self, v: Floats) -> Floats:
        raise NotImplementedError

    def _hessian_diagonal(self) -> Floats:
        raise NotImplementedError

    def _hessian(self) -> Floats:
        raise NotImplementedError


class LinearPart(MovingPart):
    """L(A x) of the rows of a partition."""

    A: Any
    loss: UtilityLoss

    def _expand(self, x: Floats) -> tuple[float, Floats]:
        value, slope = self.loss.expand(forward_product(self.A, x))
        return value, back_product(self.A, slope)

    def _hessian_product(self, v: Floats) -> Floats:
        bent = self.loss.hessian_product(forward_product(self.A, v))
        return back_product(self.A, bent)

    def _hessian_diagonal(self) -> Floats:
        squares = self.A**2 if isinstance(self.A, np.ndarray) else self.A.power(2)
        return np.asarray(squares.T @ self.loss.hessian_diagonal()).ravel()

    def _hessian(self) -> Floats:
        return self.loss.sketch(self.A, np.iinfo(np.int64).max)
