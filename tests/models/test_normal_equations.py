# SPDX-License-Identifier: BSD-3-Clause
"""Both forms of the squared differences: their gap is what it says."""

import numpy as np
import pytest

from tiebreak.losses import GroupLaplacian
from tiebreak.models.least_squares.normal_equations import (
    ColumnForm,
    LinearPoints,
    RowForm,
)
from tiebreak.solvers.ridge import RidgeSolution


def make_forms(rng):
    group = np.repeat([0, 1, 2], 5)
    # The last feature is constant inside groups.
    X = np.column_stack([rng.normal(size=(15, 3)), group])
    laplacian = GroupLaplacian(group)
    points, target = LinearPoints(X), laplacian.root(rng.normal(size=15))
    return ColumnForm(points, laplacian, target), RowForm(points, laplacian, target)


def perturbed(form, step, alpha):
    """Finish with the solution moved by a step."""
    x = form.system.solve(alpha).x + step
    rest = form.system.h - form.system.H @ x - alpha * x
    return form.finish(RidgeSolution(x, rest @ rest, 1, "cholesky"), alpha)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_the_gap_bounds_what_is_lost(rng, alpha):
    columns, rows = make_forms(rng)
    best = [form.finish(form.system.solve(alpha), alpha) for form in (columns, rows)]
    assert best[0].value == pytest.approx(best[1].value, rel=1e-12)
    assert max(fit.gap for fit in best) < 1e-20
    for size in (1e-3, 1.0):
        for form in (columns, rows):
            step = size * rng.normal(size=len(form.system.h))
            found = perturbed(form, step, alpha)
            lost = found.value - best[0].value
            assert 0.0 < lost <= found.gap * found.value * (1 + 1e-9)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_the_gap_of_columns_can_be_all_of_it(rng, alpha):
    form, _ = make_forms(rng)
    best = form.finish(form.system.solve(alpha), alpha)
    # Of a feature that is constant only the penalty speaks.
    found = perturbed(form, np.array([0.0, 0.0, 0.0, 2.0]), alpha)
    assert found.value - best.value == pytest.approx(4.0 * alpha, rel=1e-9)
    assert found.gap * found.value == pytest.approx(4.0 * alpha, rel=1e-9)
