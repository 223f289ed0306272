# SPDX-License-Identifier: BSD-3-Clause
"""Laws of fitting graded items: parameters, memory, features, input, files."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.laws.comparisons import make_comparisons
from tests.laws.graded_same import GradedData
from tests.laws.same import Make, assert_identical, assert_unfitted, fitted_state
from tiebreak import Orders, Pairs, load, save


def check_constructor_stores(make: Make, data: GradedData) -> None:
    """The constructor stores its parameters as they are, and nothing else."""
    model = make()
    given = model.get_params(deep=False)
    assert vars(model).keys() == given.keys()
    again = type(model)(**given)
    assert all(vars(again)[name] is value for name, value in given.items())


def check_clone(make: Make, data: GradedData) -> None:
    """A clone has the same parameters and nothing of the fit."""
    twin = clone(data.fit(make()))
    assert repr(twin.get_params()) == repr(make().get_params())
    assert fitted_state(twin) == {}
    assert_unfitted(twin, data)


def check_unfitted(make: Make, data: GradedData) -> None:
    """Before fit every method raises NotFittedError."""
    assert_unfitted(make(), data)


def check_fit_keeps_parameters(make: Make, data: GradedData) -> None:
    """Fit returns the model itself and changes none of its parameters."""
    model = make()
    before = model.get_params()
    shown = repr(before)
    assert data.fit(model) is model
    after = model.get_params()
    assert all(after[name] is before[name] for name in before)
    assert repr(after) == shown


def check_repeated_fit(make: Make, data: GradedData) -> None:
    """Fitting twice, or another model alike, gives the identical result."""
    model = data.fit(make())
    first = copy.deepcopy(model)
    assert_identical(data.fit(model), first, data)
    assert_identical(data.fit(make()), first, data)


def check_refit_forgets(make: Make, data: GradedData) -> None:
    """A model fitted on other data before is like one that never was fitted."""
    expected = data.fit(make())
    for shape in data.shapes:
        model = make().fit(**shape.given(data.other))
        assert_identical(data.fit(model), expected, data)


def check_refit_after_pairs(make: Make, data: GradedData) -> None:
    """A model fitted on comparisons before is like one that never was fitted."""
    expected = data.fit(make())
    other = make_comparisons(2, n_items=9, n_rows=30, n_features=2)
    table = other.items @ other.items.T if not data.shape.features else other.items
    model = make().fit(Pairs(table, other.left, other.right), other.y)
    assert_identical(data.fit(model), expected, data)


def check_feature_count(make: Make, data: GradedData) -> None:
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


def check_feature_names(make: Make, data: GradedData) -> None:
    """Names of features are remembered, and items with other names refused."""
    model, table = data.fit(make()), data.items()
    names = list(table.columns)
    assert list(model.feature_names_in_) == names
    utility = model.utility(table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert_array_equal(model.utility(data.asked.items), utility)
    name = type(getattr(model, "ranker_", model)).__name__  # who looks at them
    words = f"X does not have valid feature names, but {name} was fitted with feature"
    assert caught
    for warning in caught:
        assert warning.category is UserWarning
        assert str(warning.message) == f"{words} names"
    turned = table[names[::-1]]
    for call in (model.utility, model.predict, model.order):
        message = _refusal(call, turned)
        assert "feature names should match" in message
        assert str(names) in message
        assert str(names[::-1]) in message


def check_no_feature_names(make: Make, data: GradedData) -> None:
    """Without names of features there is no feature_names_in_."""
    assert not hasattr(data.fit(make()), "feature_names_in_")


def _frozen(value: Any) -> Any:
    """Copy an array, a sparse matrix or Orders to memory that cannot be written to."""
    value = copy.deepcopy(value)
    for part in _arrays(value):
        part.flags.writeable = False
    return value


def _arrays(value: Any) -> list[np.ndarray]:
    if sp.issparse(value):
        return [value.data, value.indices, value.indptr]
    if isinstance(value, Orders):
        return [value.flat, value.position, value.indptr, *_arrays(value.values)]
    return [value] if isinstance(value, np.ndarray) else []


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, Orders):
        return list(one) == list(two) and _same(one.values, two.values)
    if sp.issparse(one):
        return (one != two).nnz == 0
    return one.equals(two) if hasattr(one, "equals") else np.array_equal(one, two)


def check_read_only_input(make: Make, data: GradedData) -> None:
    """Input that cannot be written to is accepted, and no input is changed."""
    given = {name: _frozen(v) for name, v in data.shape.given(data.train).items()}
    given["sample_weight"] = _frozen(np.ones(data.n_weights()))
    items = _frozen(data.items())
    kept = copy.deepcopy((given, items))
    model = make().fit(**given)
    model.utility(items)
    model.order(items)
    model.predict(Pairs(items, data.asked.left, data.asked.right))
    if not data.shape.lists:
        model.score(**given)
    assert_identical(model, data.fit(make()), data)
    assert _same(items, kept[1])
    assert all(_same(given[name], kept[0][name]) for name in given)


def check_inputs_are_not_kept(make: Make, data: GradedData) -> None:
    """Writing into the training arrays after fit does not change the model."""
    given = copy.deepcopy(data.shape.given(data.train))
    given["sample_weight"] = np.ones(data.n_weights())
    model = make().fit(**given)
    before = model.utility(data.items())
    for value in given.values():
        for part in _arrays(value):
            if part.flags.writeable:
                part[...] = part[0]
    assert_array_equal(model.utility(data.items()), before)


def check_pickle(make: Make, data: GradedData) -> None:
    """A model that was pickled and read again predicts identically."""
    model = data.fit(make())
    assert_identical(pickle.loads(pickle.dumps(model)), model, data)


def check_joblib(make: Make, data: GradedData) -> None:
    """A model that was dumped by joblib and loaded again predicts identically."""
    model, file = data.fit(make()), io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    assert_identical(joblib.load(file), model, data)


def check_model_file(make: Make, data: GradedData) -> None:
    """A model that was saved and loaded again predicts identically."""
    model = data.fit(make())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tiebreak"
        save(model, file)
        assert_identical(load(file), model, data)
