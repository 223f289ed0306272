# SPDX-License-Identifier: BSD-3-Clause
"""What a law of graded items is checked on, and what it means that models are same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.laws.comparisons import Comparisons
from tests.laws.graded import Graded, Shape
from tests.laws.same import Make, slack
from tiebreak import Pairs

__all__ = ["GradedData", "assert_same"]


@dataclass(frozen=True)
class GradedData:
    """What a law is checked on.

    Attributes
    ----------
    shape : Shape
        How graded items are passed to the model.
    shapes : tuple of Shape
        How else they could be passed to it.
    train : Graded
        To fit on.
    asked : Comparisons
        Items not seen in training, every two of them compared.
    other : Graded
        To fit on as well, with fewer features and other items.
    atol, diameter : float
        See :func:`tests.laws.same.slack`.
    same_as : callable
        Makes the model that learns the same from a dense table of features.
    """

    shape: Shape
    shapes: tuple[Shape, ...]
    train: Graded
    asked: Comparisons
    other: Graded
    atol: float
    diameter: float
    same_as: Make

    def fit(
        self,
        model: Any,
        train: Graded | None = None,
        weight: np.ndarray | None = None,
    ) -> Any:
        """Fit on graded items in the shape of the case."""
        given = self.shape.given(self.train if train is None else train)
        weights = {} if weight is None else {"sample_weight": weight}
        return model.fit(**given, **weights)

    def items(self, train: Graded | None = None) -> Any:
        """Give the items to predict, for a model fitted on `train`."""
        return self.shape.items(
            self.asked.items, self.train if train is None else train
        )

    def pairs(self, train: Graded | None = None) -> Pairs:
        """Give comparisons to predict, for a model fitted on `train`."""
        return Pairs(self.items(train), self.asked.left, self.asked.right)

    def n_weights(self, train: Graded | None = None) -> int:
        """Count what has a weight of its own: rows, or lists."""
        train = self.train if train is None else train
        return len(train.groups()) if self.shape.lists else len(train)

    def repeated(self, numbers: np.ndarray) -> Graded:
        """Keep some of what has a weight of its own, repeated if repeated."""
        if self.shape.lists:
            return self.train.take_groups(numbers.tolist())
        return self.train.take(numbers)


def assert_same(
    one: Any, two: Any, data: GradedData, trains: tuple[Any, Any] = ()
) -> None:
    """Assert that two models are solutions of the same program.

    They put items in the same order except where two utilities are as close as the
    accuracy of the solutions.
    """
    bound = slack(one, data) + slack(two, data)
    # A looser bound could not tell a right answer from a wrong one.
    assert bound <= 5e-3
    first, second = trains or (data.train, data.train)
    difference = one.difference(data.pairs(first))
    assert np.abs(difference).max() > 0.1
    assert_allclose(two.difference(data.pairs(second)), difference, rtol=0, atol=bound)
    if hasattr(one, "objective_"):
        gap = max(one.gap_, two.gap_)
        assert math.isclose(one.objective_, two.objective_, rel_tol=gap + 1e-9)
    if hasattr(one, "thresholds_"):
        # Where it cuts is as accurate as the utilities that it cuts.
        apart = one.thresholds_ - one.utility(data.items(first))[0]
        others = two.thresholds_ - two.utility(data.items(second))[0]
        assert_allclose(others, apart, rtol=0, atol=5 * bound)
    clear = np.abs(difference) >= 2 * bound
    assert clear.mean() > 0.8
    assert_array_equal(
        two.predict(data.pairs(second))[clear], one.predict(data.pairs(first))[clear]
    )
