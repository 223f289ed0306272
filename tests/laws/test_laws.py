# SPDX-License-Identifier: BSD-3-Clause
"""Every law on every model and every shape that it takes."""

import pytest

from tests.laws.cases import CASES, MODELS, NEEDS, law_applies, make_data
from tests.laws.laws import LAWS


def _crossed():
    for model, shape in CASES:
        for name, law in LAWS.items():
            if law_applies(name, model, shape):
                yield pytest.param(
                    law, model, shape, id=f"{model.name}-{shape.name}-{name}"
                )


@pytest.mark.parametrize(("law", "model", "shape"), list(_crossed()))
def test_law(law, model, shape):
    law(model.make, make_data(model, shape))


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
