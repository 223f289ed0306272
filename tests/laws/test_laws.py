# SPDX-License-Identifier: BSD-3-Clause
"""Every law on every model and every shape that it takes."""

import pytest
from numpy.testing import assert_array_equal

from tests.laws.cases import CASES, MODELS, NEEDS, TRAIN, law_applies, make_data
from tests.laws.comparisons import DENSE, gaussian
from tests.laws.crossing import cross
from tests.laws.laws import LAWS
from tests.laws.same import fitted_state
from tiebreak import RankSVM, SVMCompare


def _name(kernel):
    return getattr(kernel, "__name__", kernel)


@pytest.mark.parametrize(
    ("law", "model", "shape"), list(cross(MODELS, LAWS, law_applies))
)
def test_law(law, model, shape):
    law(model.make, make_data(model, shape))


@pytest.mark.parametrize("first", ["linear", "poly", "rbf", gaussian], ids=_name)
@pytest.mark.parametrize("second", ["linear", "poly", "rbf", gaussian], ids=_name)
@pytest.mark.parametrize("machine", [SVMCompare, RankSVM])
def test_another_kernel_leaves_nothing_of_the_one_before(machine, first, second):
    pairs = DENSE.pairs(TRAIN, TRAIN)
    model = machine(10.0, kernel=first).fit(pairs, TRAIN.y)
    model.set_params(kernel=second).fit(pairs, TRAIN.y)
    expected = machine(10.0, kernel=second).fit(pairs, TRAIN.y)
    assert fitted_state(model).keys() == fitted_state(expected).keys()
    assert_array_equal(model.difference(pairs), expected.difference(pairs))


def test_the_registry_names_existing_laws():
    assert set(NEEDS) <= set(LAWS)
    for model in MODELS:
        assert set(model.without) <= set(LAWS), model.name
        assert all(model.without.values()), model.name


def test_every_law_is_stated_in_one_sentence_and_used():
    used = {
        name
        for name in LAWS
        if any(law_applies(name, model, shape) for model, shape in CASES)
    }
    assert used == set(LAWS)
    for law in LAWS.values():
        assert law.__doc__.count("\n") <= 1 and law.__doc__.endswith("."), law.__name__
