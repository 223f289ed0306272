# SPDX-License-Identifier: BSD-3-Clause
"""Hypothesis strategies for metrics: few values, so that almost everything ties."""

import numpy as np
from hypothesis import strategies as st

WEIGHTS = st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.0])


@st.composite
def comparisons(draw, max_rows=10):
    """Outcomes, differences and weights with ties and non-ties of weight > 0."""
    n = draw(st.integers(0, max_rows))
    outcome = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    difference = draw(st.lists(st.integers(-3, 3), min_size=n + 2, max_size=n + 2))
    weight = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    sure = [0, draw(st.sampled_from([-1, 1]))]
    order = draw(st.permutations(range(n + 2)))
    return (
        np.array(outcome + sure)[order],
        np.array(difference, dtype=float) / 2,
        np.array([*weight, 1.0, 2.0])[order],
    )


@st.composite
def graded_groups(draw, max_rows=12, max_groups=3):
    """Grades 0 … 3, utilities −2 … 2, group names and weights."""
    n = draw(st.integers(1, max_rows))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    names = st.sampled_from(["b", "a", "c"][:max_groups])
    return (
        column(st.integers(0, 3)),
        column(st.integers(-2, 2)) / 4,
        column(names),
        column(WEIGHTS),
    )
