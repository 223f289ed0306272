# SPDX-License-Identifier: BSD-3-Clause
"""Laws of fitting: parameters, memory, features, and what happens to the input."""

from __future__ import annotations

import copy
import io
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.laws.same import (
    Data,
    Make,
    assert_identical,
    assert_unfitted,
    fitted_state,
)
from tiebreak import Orders, Pairs


def check_constructor_stores(make: Make, data: Data) -> None:
    """The constructor stores its parameters as they are, and nothing else."""
    model = make()
    arguments = model.get_params(deep=False)
    assert vars(model).keys() == arguments.keys()
    again = type(model)(**arguments)
    assert all(vars(again)[name] is value for name, value in arguments.items())


def check_clone(make: Make, data: Data) -> None:
    """A clone has the same parameters and nothing of the fit."""
    twin = clone(data.fit(make()))
    assert repr(twin.get_params()) == repr(make().get_params())
    assert fitted_state(twin) == {}
    assert_unfitted(twin, data)


def check_unfitted(make: Make, data: Data) -> None:
    """Before fit every method raises NotFittedError."""
    assert_unfitted(make(), data)


def check_fit_keeps_parameters(make: Make, data: Data) -> None:
    """Fit returns the model itself and changes none of its parameters."""
    model = make()
    before = model.get_params(deep=True)
    shown = repr(before)
    assert data.fit(model) is model
    after = model.get_params(deep=True)
    assert before.keys() == after.keys()
    assert all(after[name] is before[name] for name in before)
    assert repr(after) == shown


def check_repeated_fit(make: Make, data: Data) -> None:
    """Fitting twice, or another model alike, gives the identical result."""
    model = data.fit(make())
    first = copy.deepcopy(model)
    assert_identical(data.fit(model), first, data)
    assert_identical(data.fit(make()), first, data)


def check_refit_forgets(make: Make, data: Data) -> None:
    """A model fitted on other data before is like one that never was fitted."""
    expected = data.fit(make())
    for shape in data.shapes:
        model = make().fit(**data.arguments(data.other, shape))
        assert_identical(data.fit(model), expected, data)


def check_failed_refit(make: Make, data: Data) -> None:
    """A fit that fails leaves the model as it was."""
    model = data.fit(make())
    before = copy.deepcopy(model)
    nothing = {"sample_weight": np.zeros(data.n_weights(data.other))}
    _refusal(
        lambda arguments: model.fit(**arguments), data.arguments(data.other) | nothing
    )
    assert_identical(model, before, data)
    equal = data.arguments(data.other)
    if equal["y"] is not None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(**(equal | {"y": np.zeros(len(equal["y"]))}))
        except ValueError:  # of those that cannot learn from equal grades, or ties
            assert_identical(model, before, data)


def check_feature_count(make: Make, data: Data) -> None:
    """The number of features is remembered, and another number refused."""
    model, items = data.fit(make()), data.items()
    n_features = items.shape[1]
    assert model.n_features_in_ == n_features
    fewer = items.iloc[:, :-1] if hasattr(items, "iloc") else items[:, :-1]
    pairs = Pairs(fewer, data.asked.left, data.asked.right)
    for call, argument in (
        (model.utility, fewer),
        (model.predict, fewer),
        (model.order, fewer),
        (model.predict, pairs),
        (model.difference, pairs),
    ):
        message = _refusal(call, argument)
        assert f"X has {n_features - 1} features" in message
        assert f"expecting {n_features} features" in message


def _refusal(call: Callable[[Any], Any], argument: Any) -> str:
    try:
        call(argument)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{call.__name__} accepted what it should refuse")


def check_feature_names(make: Make, data: Data) -> None:
    """Names of features are remembered, and items with other names refused."""
    model, table = data.fit(make()), data.items()
    names = list(table.columns)
    assert list(model.feature_names_in_) == names
    utility = model.utility(table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert_array_equal(model.utility(data.asked.items), utility)
    words = (
        r"X does not have valid feature names, but \w+ was fitted with feature names"
    )
    assert caught
    for warning in caught:
        assert warning.category is UserWarning
        assert re.fullmatch(words, str(warning.message))
    turned = table[names[::-1]]
    pairs = Pairs(turned, data.asked.left, data.asked.right)
    for call, argument in (
        (model.utility, turned),
        (model.order, turned),
        (model.predict, pairs),
        (model.difference, pairs),
    ):
        message = _refusal(call, argument)
        assert "feature names should match" in message
        assert str(names) in message
        assert str(names[::-1]) in message


def check_no_feature_names(make: Make, data: Data) -> None:
    """Without names of features there is no feature_names_in_."""
    assert not hasattr(data.fit(make()), "feature_names_in_")


def _arrays(value: Any) -> list[np.ndarray]:
    if sp.issparse(value):
        return [value.data, value.indices, value.indptr]
    if isinstance(value, Orders):
        return [value.flat, value.position, value.indptr, *_arrays(value.values)]
    if isinstance(value, Pairs):
        features = _arrays(value.values) if value.has_features else []
        return [value.left, value.right, *features]
    return [value] if isinstance(value, np.ndarray) else []


def _frozen(value: Any) -> Any:
    """Copy what a user passes to memory that cannot be written to."""
    value = copy.deepcopy(value)
    for part in _arrays(value):
        part.flags.writeable = False
    return value


def _same(one: Any, two: Any) -> bool:
    if hasattr(one, "equals"):
        return one.equals(two)
    parts = zip(_arrays(one), _arrays(two), strict=True)
    return all(np.array_equal(*both) for both in parts)


def check_read_only_input(make: Make, data: Data) -> None:
    """Input that cannot be written to is accepted, and no input is changed."""
    arguments = data.arguments() | {"sample_weight": np.ones(data.n_weights())}
    arguments = {name: _frozen(value) for name, value in arguments.items()}
    asked = [_frozen(data.items()), _frozen(data.pairs())]
    kept = copy.deepcopy([*arguments.values(), *asked])
    model = make().fit(**arguments)
    model.utility(asked[0])
    model.order(asked[0])
    model.predict(asked[1])
    model.score(asked[1], _frozen(data.asked.y))
    assert_identical(model, data.fit(make(), weight=np.ones(data.n_weights())), data)
    both = zip([*arguments.values(), *asked], kept, strict=True)
    assert all(_same(*values) for values in both)


def check_inputs_are_not_kept(make: Make, data: Data) -> None:
    """Writing into the training arrays after fit does not change the model."""
    arguments = copy.deepcopy(data.arguments())
    arguments["sample_weight"] = np.ones(data.n_weights())
    model = make().fit(**arguments)
    before = model.difference(data.pairs())
    for value in arguments.values():
        for part in _arrays(value):
            if part.flags.writeable:
                part[...] = part[0]
    assert_array_equal(model.difference(data.pairs()), before)


def check_pickle(make: Make, data: Data) -> None:
    """A model that was pickled, or dumped by joblib, predicts identically."""
    model, file = data.fit(make()), io.BytesIO()
    assert_identical(pickle.loads(pickle.dumps(model)), model, data)
    joblib.dump(model, file)
    file.seek(0)
    assert_identical(joblib.load(file), model, data)
