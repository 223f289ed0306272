# SPDX-License-Identifier: BSD-3-Clause
"""Every law of graded items on every model and every shape that it takes."""

import pytest
from numpy.testing import assert_array_equal

from tests.laws.comparisons import gaussian
from tests.laws.crossing import cross
from tests.laws.graded_cases import CASES, MODELS, NEEDS, TRAIN, law_applies, make_data
from tests.laws.graded_laws import LAWS
from tests.laws.same import fitted_state
from tiebreak import RankSVM


@pytest.mark.parametrize(
    ("law", "model", "shape"), list(cross(MODELS, LAWS, law_applies))
)
def test_law(law, model, shape):
    law(model.make, make_data(model, shape))


KERNELS = ["linear", "poly", "rbf", gaussian]


@pytest.mark.parametrize("first", KERNELS)
@pytest.mark.parametrize("second", KERNELS)
def test_another_kernel_leaves_nothing_of_the_one_before(first, second):
    def fit(model):
        return model.fit(TRAIN.items, TRAIN.y, qid=TRAIN.qid)

    model = fit(RankSVM(kernel=first, loss="squared_hinge"))
    fit(model.set_params(kernel=second))
    expected = fit(RankSVM(kernel=second, loss="squared_hinge"))
    assert fitted_state(model).keys() == fitted_state(expected).keys()
    assert_array_equal(model.utility(TRAIN.items), expected.utility(TRAIN.items))


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
