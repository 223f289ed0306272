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

from tests.laws.comparisons import Comparisons
from tests.laws.same import (
    Data,
    Make,
    assert_identical,
    assert_unfitted,
    fitted_state,
)
from tiebreak import Pairs


def check_clone(make: Make, data: Data) -> None:
    """A clone has the same parameters and nothing of the fit."""
    model = data.fit(make())
    twin = clone(model)
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
    expected, other = data.fit(make()), data.other
    for shape in data.shapes:
        model = make().fit(shape.pairs(other, other), other.y)
        assert_identical(data.fit(model), expected, data)


def check_feature_count(make: Make, data: Data) -> None:
    """The number of features is remembered, and another number refused."""
    model = data.fit(make())
    pairs, items = data.pairs(), _without_last_column(data.items())
    n_features = pairs.shape[2]
    assert model.n_features_in_ == n_features
    if isinstance(pairs, np.ndarray):
        pairs = pairs[:, :, :-1]
    else:
        pairs = Pairs(items, pairs.left, pairs.right)
    for call, argument in (
        (model.predict, pairs),
        (model.difference, pairs),
        (model.utility, items),
        (model.predict, items),
        (model.order, items),
    ):
        message = _refusal(call, argument)
        assert f"X has {n_features - 1} features" in message
        assert f"expecting {n_features} features" in message


def _without_last_column(table: Any) -> Any:
    return table.iloc[:, :-1] if hasattr(table, "iloc") else table[:, :-1]


def _refusal(call: Callable[[Any], Any], argument: Any) -> str:
    try:
        call(argument)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{call.__name__} accepted what it should refuse")


def check_feature_names(make: Make, data: Data) -> None:
    """Names of features are remembered, and items with other names refused."""
    model = data.fit(make())
    table = data.items()
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


def _frozen(table: Any) -> Any:
    """Copy a table into memory that cannot be written to."""
    if sp.issparse(table):
        table = table.copy()
        parts = [table.data, table.indices, table.indptr]
    elif isinstance(table, np.ndarray):
        table = table.copy()
        parts = [table]
    else:
        return copy.deepcopy(table)
    for part in parts:
        part.flags.writeable = False
    return table


def _same_table(one: Any, two: Any) -> bool:
    if sp.issparse(one):
        return (one != two).nnz == 0
    return one.equals(two) if hasattr(one, "equals") else np.array_equal(one, two)


def check_read_only_input(make: Make, data: Data) -> None:
    """Input that cannot be written to is accepted, and no input is changed."""
    train = data.train
    frozen = Comparisons(
        *(_frozen(getattr(train, name)) for name in train.__dataclass_fields__)
    )
    X, asked = data.shape.pairs(frozen, frozen), data.pairs()
    weight, items = _frozen(np.ones(len(train))), _frozen(data.items())
    if isinstance(X, np.ndarray):
        X.flags.writeable = asked.flags.writeable = False
    elif X.has_features and not data.shape.named:
        X = X.with_items(_frozen(X.values))
        asked = asked.with_items(_frozen(asked.values))
    kept = copy.deepcopy((X, asked, items))
    model = make().fit(X, frozen.y, sample_weight=weight)
    model.predict(asked)
    model.utility(items)
    model.order(items)
    model.score(asked, _frozen(data.asked.y))
    assert_identical(model, data.fit(make(), weight=np.ones(len(train))), data)
    assert _same_table(items, kept[2])
    for name in train.__dataclass_fields__:
        assert_array_equal(getattr(frozen, name), getattr(train, name))
    for given, copied in ((X, kept[0]), (asked, kept[1])):
        if isinstance(given, np.ndarray):
            assert_array_equal(given, copied)
            continue
        assert_array_equal(given.left, copied.left)
        assert_array_equal(given.right, copied.right)
        if given.has_features:
            assert _same_table(given.values, copied.values)


def check_inputs_are_not_kept(make: Make, data: Data) -> None:
    """Writing into the training arrays after fit does not change the model."""
    X, y = data.shape.pairs(data.train, data.train), data.train.y.copy()
    if isinstance(X, np.ndarray):
        X = X.copy()
        parts = [X]
    else:
        X = copy.deepcopy(X)
        parts = [X.left, X.right]
        if X.has_features:
            parts.append(X.values.data if sp.issparse(X.values) else X.values)
    weight = np.ones(len(y))
    model = make().fit(X, y, sample_weight=weight)
    before = model.difference(data.pairs())
    for part in [*parts, y, weight]:
        if part.flags.writeable:
            part[...] = 0
    assert_array_equal(model.difference(data.pairs()), before)


def check_pickle(make: Make, data: Data) -> None:
    """A model that was pickled and read again predicts identically."""
    model = data.fit(make())
    assert_identical(pickle.loads(pickle.dumps(model)), model, data)


def check_joblib(make: Make, data: Data) -> None:
    """A model that was dumped by joblib and loaded again predicts identically."""
    model, file = data.fit(make()), io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    assert_identical(joblib.load(file), model, data)
