# SPDX-License-Identifier: BSD-3-Clause
"""The laws that compare two fits, on small comparisons of every awkward kind.

Few items and many rows: the same pair again and again, in both directions and with
different outcomes, identical items, items without features in common, weights of zero,
one row only, ties only.
"""

import warnings

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.laws.comparisons import Comparisons
from tests.laws.same import anew, assert_same_machines
from tiebreak import Pairs, RankSVM, SVMCompare

KERNELS = ("linear", "rbf")
MACHINES = (
    lambda **kw: SVMCompare(**kw),
    lambda **kw: SVMCompare(tie_weight=1, **kw),
    lambda **kw: RankSVM(**kw),
    lambda **kw: RankSVM(ties="both", **kw),
)


@st.composite
def comparisons(draw):
    """Draw comparisons of two to five items with two features of -1, 0, 1 or 2."""
    n_items = draw(st.integers(2, 5))
    feature = st.integers(-1, 2)
    item = st.tuples(feature, feature)
    items = draw(st.lists(item, min_size=n_items, max_size=n_items))
    pair = st.tuples(st.integers(0, n_items - 1), st.integers(1, n_items - 1))
    row = st.tuples(pair, st.sampled_from([-1, 0, 0, 1]), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    left = np.array([pair[0] for pair, _, _ in rows])
    right = (left + [pair[1] for pair, _, _ in rows]) % n_items
    # As declared outcomes, also where they are 0 and 1 only.
    y = np.array([outcome for _, outcome, _ in rows], dtype=np.int8)
    weight = np.array([weight for _, _, weight in rows])
    assume(weight.any())
    names = np.array([f"item {i}" for i in range(n_items)])
    return Comparisons(np.array(items, dtype=float), names, left, right, y), weight


models = st.builds(
    lambda make, kernel, C: make(kernel=kernel, C=C, gamma=0.5, tol=1e-8),
    st.sampled_from(MACHINES),
    st.sampled_from(KERNELS),
    st.sampled_from([1e-6, 0.01, 1.0, 30.0]),
)


def fit(model, data, weight=None):
    """Fit quietly: that ties are few, or everything, is another test's business."""
    pairs = Pairs(data.items, data.left, data.right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(pairs, data.y, sample_weight=weight)


def learns(model, y):
    """Say whether the model accepts the outcomes: without ties there is an order."""
    return bool(np.any(y)) or getattr(model, "ties", None) != "ignore"


@given(comparisons(), models)
def test_a_whole_weight_is_that_many_rows(drawn, model):
    data, weight = drawn
    rows = np.repeat(np.arange(len(data)), weight)
    assume(learns(model, data.y[rows]))
    weighted, repeated = fit(model, data, weight), fit(anew(model), data.take(rows))
    assert_same_machines(weighted, repeated, data.items)


@given(comparisons(), models)
def test_swapping_every_second_row_changes_nothing(drawn, model):
    data, _ = drawn
    assume(learns(model, data.y))
    odd = np.arange(len(data)) % 2 == 1
    swapped = data.swapped()
    mixed = Comparisons(
        data.items,
        data.names,
        np.where(odd, swapped.left, data.left),
        np.where(odd, swapped.right, data.right),
        np.where(odd, swapped.y, data.y),
    )
    assert_same_machines(fit(model, data), fit(anew(model), mixed), data.items)


@given(comparisons(), models, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_items_does_not_matter(drawn, model, random):
    data, weight = drawn
    assume(learns(model, data.y[weight > 0]))
    rows, items = list(range(len(data))), list(range(len(data.items)))
    random.shuffle(rows)
    random.shuffle(items)
    other = data.take(np.array(rows)).renumbered(np.array(items))
    one, two = fit(model, data, weight), fit(anew(model), other, weight[rows])
    assert_same_machines(one, two, data.items)


@given(comparisons(), models)
def test_the_certificate_is_a_certificate(drawn, model):
    """Recompute the primal objective from the utilities alone."""
    data, weight = drawn
    present = weight > 0
    assume(learns(model, data.y[present]))
    fit(model, data, weight)
    utility = model.utility(data.items)
    y, d = data.y, utility[data.right] - utility[data.left]
    hinge = np.where(y != 0, np.maximum(0, 1 - y * d), 0.0)
    tied = np.maximum(0, 1 - d) + np.maximum(0, 1 + d)
    if getattr(model, "ties", None) == "both":
        hinge = np.where(y == 0, tied, 2 * hinge)
    elif isinstance(model, SVMCompare) and np.any(y[present] == 0):
        beta = model.intercept_
        tied = np.maximum(0, 1 + d + beta) + np.maximum(0, 1 - d + beta)
        decided = weight[y != 0].sum()
        if model.tie_weight == "balanced" and decided:
            tied *= decided / (2 * weight[y == 0].sum())
        hinge = np.where(y == 0, tied, np.maximum(0, 1 - y * d - beta))
    a = np.bincount(data.right[model.support_], model.dual_coef_, len(data.items))
    a -= np.bincount(data.left[model.support_], model.dual_coef_, len(data.items))
    # u = Σ a Φ(item), so ‖u‖² = Σ a u(item).
    primal = 0.5 * a @ utility + model.C * weight @ hinge
    assert_allclose(model.objective_, primal, rtol=1e-6, atol=1e-12)
    assert 0 <= model.gap_ <= 1e-8
