# SPDX-License-Identifier: BSD-3-Clause
"""The laws that compare two fits, on small graded items of every awkward kind.

Few grades and many ties, identical items of different grades, constant features,
weights of zero, groups of one row, groups whose grades are all equal.
"""

import warnings

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.laws.graded import Graded, item_table, sequences_of
from tests.laws.same import anew, assert_same_machines
from tiebreak import Orders, RankSVM

models = st.builds(
    RankSVM,
    st.sampled_from([1e-6, 0.01, 1.0, 30.0]),
    kernel=st.sampled_from(["linear", "rbf"]),
    gamma=st.just(0.5),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    per_group=st.sampled_from(["sum", "mean"]),
    tol=st.just(1e-9),
)


@st.composite
def graded_items(draw):
    """Draw up to twelve rows of two features of -1, 0, 1 or 2, in up to four groups."""
    feature = st.integers(-1, 2)
    row = st.tuples(
        feature, feature, st.integers(0, 2), st.sampled_from("dcab"), st.integers(0, 3)
    )
    rows = draw(st.lists(row, min_size=2, max_size=12))
    items = np.array([row[:2] for row in rows], dtype=float)
    y = np.array([row[2] for row in rows], dtype=float)
    qid = np.array([row[3] for row in rows])
    weight = np.array([row[4] for row in rows])
    data = Graded(items, y, qid)
    assume(data.take(np.flatnonzero(weight)).n_pairs() > 0)
    return data, weight


def fit(model, data, weight=None):
    """Fit quietly: that groups are idle, or items alike, is another test's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(data.items, data.y, qid=data.qid, sample_weight=weight)


@given(graded_items(), models)
def test_a_whole_weight_is_that_many_rows(drawn, model):
    data, weight = drawn
    rows = np.repeat(np.arange(len(data)), weight)
    weighted, repeated = fit(model, data, weight), fit(anew(model), data.take(rows))
    assert_same_machines(weighted, repeated, data.items)


@given(graded_items(), models, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_names_of_groups_do_not_matter(drawn, model, random):
    data, weight = drawn
    rows = list(range(len(data)))
    random.shuffle(rows)
    other = data.take(np.array(rows))
    renamed = Graded(other.items, np.exp(other.y), np.char.add("x", other.qid))
    one, two = fit(model, data, weight), fit(anew(model), renamed, weight[rows])
    assert_same_machines(one, two, data.items)


@given(graded_items(), models)
def test_lists_are_graded_rows(drawn, model):
    data, _ = drawn
    table, code = item_table(data)
    lists = sequences_of(data, code)
    weight = 1.0 + np.arange(len(lists)) % 3
    orders = Orders(table, lists)
    twice = [row for row, count in enumerate(weight) for _ in range(int(count))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = model.fit(orders, sample_weight=weight)
        two = anew(model).fit(orders[twice])
    assert_same_machines(one, two, data.items)
    if model.per_group == "sum":
        rows = np.zeros(len(data))
        for members, count in zip(data.groups(), weight, strict=True):
            rows[members] = np.sqrt(count)
        assert_same_machines(one, fit(anew(model), data, rows), data.items)


@given(graded_items(), models)
def test_the_certificate_is_a_certificate(drawn, model):
    """Recompute the primal objective from the utilities alone, pair by pair."""
    data, weight = drawn
    fit(model, data, weight)
    utility, loss, n_pairs = model.utility(data.items), 0.0, 0
    for rows in data.groups():
        total = of_group = 0.0
        for i in rows:
            for j in rows:
                if data.y[i] > data.y[j] and weight[i] * weight[j] > 0:
                    pair = float(weight[i] * weight[j])
                    slack = max(0.0, 1 - (utility[i] - utility[j]))
                    slack **= 2 if model.loss == "squared_hinge" else 1
                    of_group, total = of_group + pair * slack, total + pair
                    n_pairs += 1
        loss += of_group / (total if model.per_group == "mean" and total else 1.0)
    # w = Σ dual_coef Φ(item), so ‖w‖² = Σ dual_coef u(item), within the tolerance.
    norm = model.dual_coef_ @ utility[model.support_]
    primal = 0.5 * norm + model.C * loss
    assert_allclose(model.objective_, primal, rtol=1e-4, atol=1e-12)
    if model.kernel == "linear":
        exact = 0.5 * model.coef_ @ model.coef_ + model.C * loss
        assert_allclose(model.objective_, exact, rtol=1e-9, atol=1e-15)
    assert 0 <= model.gap_ <= 1e-9
    assert model.n_pairs_ == n_pairs
