# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.solvers import best_threshold

rows = st.lists(
    st.tuples(
        st.integers(-4, 4).map(float), st.sampled_from([-1, 0, 1]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=12,
).filter(lambda rows: sum(row[2] for row in rows) > 0)


def wrong(difference, outcome, weight, tau):
    said = np.where(np.abs(difference) <= tau, 0, np.sign(difference))
    return weight[said != outcome].sum()


@settings(max_examples=200)
@given(rows)
def test_equals_brute_force(rows):
    difference, outcome, weight = np.array(rows, dtype=float).T
    tau, loss = best_threshold(difference, outcome, weight)
    assert tau >= 0
    assert wrong(difference, outcome, weight, tau) == loss
    # Every threshold that can matter: the sizes themselves and all points between.
    tried = np.unique(np.r_[0.0, np.arange(0, 5, 0.25)])
    losses = np.array([wrong(difference, outcome, weight, t) for t in tried])
    assert loss == losses.min()
    # The lowest optimal stretch, of differences that carry weight.
    lowest = tried[np.argmax(losses == loss)]
    stretch = tried[np.argmax(losses == loss) :]
    worse = np.flatnonzero(losses[np.argmax(losses == loss) :] > loss)
    if len(worse):
        assert tau == (lowest + stretch[worse[0]]) / 2
    else:
        assert tau == lowest


def test_boundaries():
    def find(d, y):
        return best_threshold(np.array(d), np.array(y), np.ones(len(d)))

    # All ties: the last interval has no end, so its beginning is taken.
    assert find([0.5, -2.0], [0, 0]) == (2.0, 0.0)
    # No ties: half of the smallest difference.
    assert find([1.0, -2.0], [1, -1]) == (0.5, 0.0)
    # A difference of zero is always a tie.
    assert find([0.0], [1]) == (0.0, 1.0)
    # Sizes that only rounding separates move together.
    low, high = 1.0, 1.0 + 1e-12
    assert find([low, high, 3.0], [0, 1, 0]) == (3.0, 1.0)
    assert find([low, high, 3.0], [0, 1, 1]) == (1.5, 1.0)


def test_cost_is_that_of_sorting(rng):
    n = 300_000
    d = rng.normal(size=n)
    y = np.where(np.abs(d) < 0.7, 0, np.sign(d)).astype(int)
    tau, loss = best_threshold(d, y, np.ones(n))
    assert loss == 0
    assert abs(tau - 0.7) < 1e-3
