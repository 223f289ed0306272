# SPDX-License-Identifier: BSD-3-Clause
"""What a law is checked on, and what it means that two models are same."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tests.laws.comparisons import Comparisons, Shape

__all__ = [
    "Data",
    "Make",
    "assert_identical",
    "assert_same",
    "assert_unfitted",
    "fitted_state",
    "slack",
]

Make = Callable[[], Any]


@dataclass(frozen=True)
class Data:
    """What a law is checked on.

    Attributes
    ----------
    shape : Shape
        How comparisons are passed to the model.
    shapes : tuple of Shape
        How else they could be passed to it.
    train : Comparisons
        To fit on.
    asked : Comparisons
        To predict: items not seen in training, where the shape allows it.
    other : Comparisons
        To fit on as well, with fewer features and other items.
    atol : float
        How far the utilities of two solutions of the same program may be apart, on
        top of what their duality gaps allow.
    diameter : float
        Largest ‖Φ(right) - Φ(left)‖ of the asked comparisons, see :func:`slack`.
    same_as : callable
        Makes the model that learns the same from a dense table of features.
    """

    shape: Shape
    shapes: tuple[Shape, ...]
    train: Comparisons
    asked: Comparisons
    other: Comparisons
    atol: float
    diameter: float
    same_as: Make

    def fit(
        self,
        model: Any,
        train: Comparisons | None = None,
        weight: np.ndarray | None = None,
    ) -> Any:
        """Fit on comparisons in the shape of the case."""
        train = self.train if train is None else train
        weights = {} if weight is None else {"sample_weight": weight}
        return model.fit(self.shape.pairs(train, train), train.y, **weights)

    def pairs(self, train: Comparisons | None = None) -> Any:
        """Give the comparisons to predict, for a model fitted on `train`."""
        return self.shape.pairs(self.asked, self.train if train is None else train)

    def items(self, train: Comparisons | None = None) -> Any:
        """Give the items to predict, for a model fitted on `train`."""
        train = self.train if train is None else train
        return self.shape.items(self.asked.items, self.asked.names, train)


# What fitted models say besides their predictions, as far as they have it.
RESULTS = (
    "threshold_",
    "intercept_",
    "margin_",
    "objective_",
    "outcome_",
    "shares_",
    "training_error_",
)


def slack(model: Any, data: Data) -> float:
    """Bound the distance of the differences of utilities from the exact solution.

    The objective of a support vector machine is ½‖u‖² plus a convex function, hence
    strongly convex: ‖u - u*‖² ≤ 2 (primal - dual), and so no difference u·d is off by
    more than √(2 · gap_ · objective_) · ‖d‖.
    """
    solved = getattr(model, "ranker_", model)
    solved = solved.steps[-1][1] if hasattr(solved, "steps") else solved
    if not hasattr(solved, "gap_"):
        return data.atol
    gap = 2.0 * solved.gap_ * solved.objective_
    return data.atol + data.diameter * math.sqrt(gap)


def assert_same(one: Any, two: Any, data: Data, trains: tuple[Any, Any] = ()) -> None:
    """Assert that two models are solutions of the same program.

    Outcomes must be equal except where a difference is as close to the threshold as
    the accuracy of the solutions.
    """
    bound = slack(one, data) + slack(two, data)
    # A looser bound could not tell a right answer from a wrong one.
    assert bound <= 2e-3
    first, second = trains or (data.train, data.train)
    asked_one, asked_two = data.pairs(first), data.pairs(second)
    difference = one.difference(asked_one)
    assert_allclose(two.difference(asked_two), difference, rtol=0, atol=bound)
    for name in RESULTS:
        assert hasattr(one, name) == hasattr(two, name), name
        if hasattr(one, name):
            assert_allclose(
                getattr(two, name), getattr(one, name), rtol=bound, atol=bound
            )
    clear = np.abs(np.abs(difference) - getattr(one, "threshold_", 0.0)) >= 2 * bound
    assert clear.mean() > 0.8
    assert_array_equal(two.predict(asked_two)[clear], one.predict(asked_one)[clear])


def fitted_state(model: Any) -> dict[str, Any]:
    """Collect what ``fit`` has learned, also of models inside."""
    state = {}
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            if hasattr(value, "get_params"):
                inner = fitted_state(value)
                state |= {f"{name}.{key}": inner[key] for key in inner}
            else:
                state[name] = value
    for name, step in getattr(model, "steps", []):
        inner = fitted_state(step)
        state |= {f"{name}.{key}": inner[key] for key in inner}
    return state


def assert_identical(one: Any, two: Any, data: Data) -> None:
    """Assert that two models have learned the same, to the last bit."""
    state, other = fitted_state(one), fitted_state(two)
    assert state.keys() == other.keys()
    assert state
    for name, value in state.items():
        if sp.issparse(value):
            assert (value != other[name]).nnz == 0, name
        else:
            assert_array_equal(other[name], value, err_msg=name, strict=True)
    pairs = data.pairs()
    assert_array_equal(two.difference(pairs), one.difference(pairs))
    assert_array_equal(two.predict(pairs), one.predict(pairs))
    assert_array_equal(two.utility(data.items()), one.utility(data.items()))


def assert_unfitted(model: Any, data: Data) -> None:
    """Assert that no method answers before ``fit``."""
    pairs, items, y = data.pairs(), data.items(), data.asked.y
    calls = {
        "predict of pairs": lambda: model.predict(pairs),
        "predict of items": lambda: model.predict(items),
        "difference": lambda: model.difference(pairs),
        "utility": lambda: model.utility(items),
        "order": lambda: model.order(items),
        "score of pairs": lambda: model.score(pairs, y),
        "score of items": lambda: model.score(items, np.arange(len(data.asked.items))),
        "check_is_fitted": lambda: check_is_fitted(model),
    }
    for name, call in calls.items():
        try:
            call()
        except NotFittedError:
            continue
        raise AssertionError(f"{name} of an unfitted model did not say so")
