# SPDX-License-Identifier: BSD-3-Clause
"""Every law on every model and every shape that it takes.

A law is ``check_something(make, data)``: ``make()`` gives a new, unfitted model and
``data`` is a :class:`~tests.laws.same.Data`. Its docstring states the law. It raises
AssertionError if the model breaks it. ``cases.py`` and ``graded_cases.py`` say which
laws do not apply to a model, and why.
"""

import pytest
from numpy.testing import assert_array_equal

from tests.extended import RUNS_ALL
from tests.laws import (
    cases,
    fitting,
    graded_cases,
    invariance,
    of_grades,
    of_pairs,
    predicting,
)
from tests.laws.comparisons import DENSE, gaussian
from tests.laws.same import fitted_state
from tiebreak import RankSVM, SVMCompare


def laws_of(*modules):
    return {
        name.removeprefix("check_"): law
        for module in modules
        for name, law in vars(module).items()
        if name.startswith("check_")
    }


COMMON = (fitting, invariance, predicting)
REGISTRIES = [
    (cases, laws_of(*COMMON, of_pairs)),
    (graded_cases, laws_of(*COMMON, of_grades)),
]


def cross(registry, laws):
    """Give a law, a model and a shape at a time, wherever the law applies.

    By default a law runs once per class: on one of its models and one shape, which
    change with the law, so that none of them is left out for long.
    """

    def applies(law, model, shape):
        needs = registry.NEEDS.get(law, lambda model, shape: True)
        return law not in model.without and needs(model, shape)

    variants = {}
    for model in registry.MODELS:
        variants.setdefault(model.name.split("(")[0], []).append(model)
    for number, model in enumerate(registry.MODELS):
        for place, (name, law) in enumerate(laws.items()):
            shapes = [shape for shape in model.shapes if applies(name, model, shape)]
            able = [
                other
                for other in variants[model.name.split("(")[0]]
                if any(applies(name, other, shape) for shape in other.shapes)
            ]
            for turn, shape in enumerate(shapes):
                chosen = able[place % len(able)] is model
                by_default = chosen and turn == (number + place) % len(shapes)
                if not by_default and not RUNS_ALL:
                    continue  # thousands of cases that would only be left out
                kind = registry.__name__.rpartition(".")[2]
                yield pytest.param(
                    law,
                    model,
                    registry.make_data(model, shape),
                    id=f"{kind}-{model.name}-{shape.name}-{name}",
                    marks=() if by_default else pytest.mark.extended,
                )


@pytest.mark.parametrize(
    ("law", "model", "data"), [case for both in REGISTRIES for case in cross(*both)]
)
def test_law(law, model, data):
    law(model.make, data)


KERNELS = ["linear", "poly", "rbf", gaussian]


@pytest.mark.parametrize("first", KERNELS)
@pytest.mark.parametrize("second", KERNELS)
@pytest.mark.parametrize("machine", [SVMCompare, RankSVM])
def test_another_kernel_leaves_nothing_of_the_one_before(machine, first, second):
    train = cases.TRAIN
    pairs = DENSE.pairs(train, train)
    model = machine(10.0, kernel=first).fit(pairs, train.y)
    model.set_params(kernel=second).fit(pairs, train.y)
    expected = machine(10.0, kernel=second).fit(pairs, train.y)
    assert fitted_state(model).keys() == fitted_state(expected).keys()
    assert_array_equal(model.difference(pairs), expected.difference(pairs))
