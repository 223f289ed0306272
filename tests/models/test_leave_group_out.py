# SPDX-License-Identifier: BSD-3-Clause
"""What RankRLS says of rows that are left out equals fitting again without them."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.models.test_rank_rls import (
    KERNELS,
    SETTINGS,
    every_kernel,
    every_mean,
    graded,
    make_graded,
)
from tests.oracles import rank_rls as oracle
from tiebreak import Orders, Pairs, RankRLS


@given(
    graded(),
    st.sampled_from(list(KERNELS)),
    st.sampled_from(["sum", "mean"]),
    st.sampled_from([0.1, 5.0]),
)
def test_it_equals_solving_again(data, kernel, per_group, alpha):
    X, y, group, weight = data
    # A second group, so that one can be left out.
    group[-1] = 1 - group[0] if len(y) > 3 else group[-1]
    model = RankRLS(alpha, kernel=kernel, per_group=per_group, **SETTINGS)
    K = KERNELS[kernel](X, X)
    given = {"qid": group, "sample_weight": weight}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* have one item only")
        if len(np.unique(group)) > 1:
            found = model.leave_group_out(X, y, **given)
            expected = oracle.leave_group_out(K, y, group, weight, per_group, alpha)
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@every_kernel
@every_mean
@pytest.mark.parametrize("p", [3, 50], ids=["columns", "rows"])
def test_a_group_left_out_equals_refitting(rng, kernel, per_group, p):
    X, y, qid = make_graded(rng, n=40, p=p)
    weight = rng.random(40)
    model = RankRLS(0.5, kernel=kernel, per_group=per_group, **SETTINGS)
    found = model.leave_group_out(X, y, qid=qid, sample_weight=weight)
    assert not hasattr(model, "dual_coef_")
    for g in range(5):
        out = qid == g
        model.fit(X[~out], y[~out], qid=qid[~out], sample_weight=weight[~out])
        utility = model.utility(X[out])
        assert_allclose(found[out], utility, atol=1e-8 * (1 + np.abs(utility).max()))


def test_gamma_is_that_of_the_rows_that_count(rng):
    X, y, qid = make_graded(rng)
    X[3] *= 1e3
    weight = np.ones(30)
    weight[3] = 0.0
    model = RankRLS()
    gamma = model.fit(X, y, qid=qid, sample_weight=weight).gamma_
    fixed = RankRLS(gamma=gamma)
    given = {"qid": qid, "sample_weight": weight}
    assert_allclose(
        model.leave_group_out(X, y, **given), fixed.leave_group_out(X, y, **given)
    )


def test_a_list_left_out(rng):
    items = rng.normal(size=(8, 3))
    lists = [[3, 1, [0, 2]], [5, 6, 7, 4], [1, 7, 0], [0, 3, 5]]
    orders, model = Orders(items, lists), RankRLS(kernel="linear")
    found = model.leave_group_out(orders, sample_weight=[1.0, 2.0, 0.5, 1.0])
    for k in range(4):
        rest = [i for i in range(4) if i != k]
        model.fit(orders[rest], sample_weight=np.array([1.0, 2.0, 0.5, 1.0])[rest])
        entries = slice(orders.indptr[k], orders.indptr[k + 1])
        utility = model.utility(items[orders.flat[entries]])
        assert_allclose(found[entries], utility, atol=1e-9)


def test_what_cannot_be_left_out(rng):
    X, y, qid = make_graded(rng)
    model = RankRLS()
    with pytest.raises(ValueError, match="at least two groups, got one"):
        model.leave_group_out(X, y)
    with pytest.raises(TypeError, match="got comparisons"):
        model.leave_group_out(Pairs(X, [0], [1]), [1])
    with pytest.raises(ValueError, match="alpha=1e-30 is lost in the rounding"):
        RankRLS(1e-30).leave_group_out(X, y, qid=qid)
