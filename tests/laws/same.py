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

from tests.laws.comparisons import Comparisons
from tiebreak import Pairs

Make = Callable[[], Any]


@dataclass(frozen=True)
class Data:
    """What a law is checked on: comparisons, or below graded items."""

    shape: Any  # how they are passed to the model
    shapes: tuple[Any, ...]  # how else they could be passed to it
    train: Any  # to fit on
    asked: Comparisons  # to predict: unseen items, where the shape allows it
    other: Any  # to fit on as well, with fewer features and other items
    atol: float  # accuracy of utilities, on top of what duality gaps allow
    diameter: float  # largest ‖Φ(right) - Φ(left)‖ asked for, see `slack`
    same_as: Make  # makes the model that learns the same from dense features

    limit = 2e-3  # of the slack: a looser one could not tell right from wrong

    def arguments(self, train: Any = None, shape: Any = None) -> dict[str, Any]:
        """Give what ``fit`` takes."""
        train = self.train if train is None else train
        return {"X": (shape or self.shape).pairs(train, train), "y": train.y}

    def fit(self, model: Any, train: Any = None, weight: Any = None) -> Any:
        """Fit in the shape of the case."""
        weights = {} if weight is None else {"sample_weight": weight}
        return model.fit(**self.arguments(train), **weights)

    def pairs(self, train: Any = None) -> Any:
        """Give the comparisons to predict, for a model fitted on `train`."""
        return self.shape.pairs(self.asked, self.train if train is None else train)

    def items(self, train: Any = None, rows: Any = slice(None)) -> Any:
        """Give the items to predict, for a model fitted on `train`."""
        train = self.train if train is None else train
        return self.shape.items(self.asked.items[rows], self.asked.names[rows], train)

    def n_weights(self, train: Any = None) -> int:
        """Count what has a weight of its own."""
        return len(self.train if train is None else train)

    def repeated(self, numbers: np.ndarray) -> Any:
        """Keep some of what has a weight of its own, repeated if repeated."""
        return self.train.take(numbers)

    def dense(self) -> tuple[dict[str, Any], Any]:
        """Give what ``fit`` takes of dense features, and the items to predict."""
        train, items, asked = self.train, self.train.items, self.asked.items
        if self.shape.name == "names":
            items = asked = np.eye(len(items))
        return {"X": Pairs(items, train.left, train.right), "y": train.y}, asked

    def assert_same(self, one: Any, two: Any, trains: tuple[Any, Any] = ()) -> None:
        """Assert that two models are solutions of the same program.

        Outcomes must be equal except where a difference is as close to the threshold
        as the accuracy of the solutions.
        """
        bound = slack(one, self) + slack(two, self)
        assert bound <= self.limit
        first, second = trains or (self.train, self.train)
        asked_one, asked_two = self.pairs(first), self.pairs(second)
        difference = one.difference(asked_one)
        assert_allclose(two.difference(asked_two), difference, rtol=0, atol=bound)
        for name in RESULTS:
            assert hasattr(one, name) == hasattr(two, name), name
            if hasattr(one, name):
                values = getattr(two, name), getattr(one, name)
                assert_allclose(*values, rtol=bound, atol=bound)
        if hasattr(one, "thresholds_"):
            # Where it cuts is as accurate as the utilities that it cuts.
            apart = one.thresholds_ - one.utility(self.items(first))[0]
            others = two.thresholds_ - two.utility(self.items(second))[0]
            assert_allclose(others, apart, rtol=0, atol=5 * bound)
        threshold = getattr(one, "threshold_", 0.0)
        clear = np.abs(np.abs(difference) - threshold) >= 2 * bound
        assert clear.mean() > 0.8
        assert_array_equal(two.predict(asked_two)[clear], one.predict(asked_one)[clear])


class GradedData(Data):
    """Graded items, or lists."""

    limit = 5e-3

    def arguments(self, train: Any = None, shape: Any = None) -> dict[str, Any]:
        return (shape or self.shape).arguments(self.train if train is None else train)

    def pairs(self, train: Any = None) -> Any:
        return Pairs(self.items(train), self.asked.left, self.asked.right)

    def items(self, train: Any = None, rows: Any = slice(None)) -> Any:
        train = self.train if train is None else train
        return self.shape.items(self.asked.items[rows], train)

    def n_weights(self, train: Any = None) -> int:
        train = self.train if train is None else train
        return len(train.groups()) if self.shape.lists else len(train)

    def repeated(self, numbers: np.ndarray) -> Any:
        if self.shape.lists:
            return self.train.take_groups(numbers.tolist())
        return self.train.take(numbers)

    def dense(self) -> tuple[dict[str, Any], Any]:
        train = self.train
        return {"X": train.items, "y": train.y, "qid": train.qid}, self.asked.items


# What fitted models say besides their predictions, as far as they have it.
RESULTS = [
    "threshold_",
    "intercept_",
    "margin_",
    "objective_",
    "outcome_",
    "shares_",
    "training_error_",
]


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


def fitted_state(model: Any) -> dict[str, Any]:
    """Collect what ``fit`` has learned and files keep, also of models inside."""
    state = {}
    for name, value in model.__getstate__().items():
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


def anew(model: Any) -> Any:
    """Make an unfitted model with the same parameters."""
    return type(model)(**model.get_params())


def assert_same_machines(one: Any, two: Any, items: np.ndarray) -> None:
    """Assert that two machines agree, as far as their duality gaps promise.

    See `slack`. Features lie in [-1, 2]², so no two items are further apart than 3 √2,
    and in the Gaussian kernel √2.
    """
    assert one.converged_ and two.converged_
    diameter = 3 * math.sqrt(2) if one.kernel == "linear" else math.sqrt(2)
    bound = 1e-9 + diameter * sum(
        math.sqrt(2 * model.gap_ * model.objective_) for model in (one, two)
    )
    differences = [
        np.subtract.outer(model.utility(items), model.utility(items))
        for model in (one, two)
    ]
    assert_allclose(*differences, rtol=0, atol=bound)
    assert_allclose(one.objective_, two.objective_, rtol=1e-7)
    if hasattr(one, "intercept_"):
        assert_allclose(one.intercept_, two.intercept_, rtol=0, atol=bound)
