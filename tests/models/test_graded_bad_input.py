# SPDX-License-Identifier: BSD-3-Clause
"""Graded items and orders: bad input is refused, unusual input is answered rightly."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from tests.models.inputs import refused
from tiebreak import Orders, RankSVM, SwapSVM

X = np.array(
    [[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [2.2, 1.0], [0.5, 0.0], [1.5, 1.5], [3.0, 0.0]]
)
Y = np.array([0.0, 1.0, 2.0, 2.0, 5.0, 6.0, 7.0])
QID = np.array(["b", "b", "b", "b", "a", "a", "a"])

SMOOTH = {"loss": "squared_hinge"}
DRAWN = {"kernel": "linear", "pairs_per_item": 2, "random_state": 0}
MODELS = {
    "linear": lambda **kw: RankSVM(**({"kernel": "linear"} | SMOOTH | kw)),
    "rbf": lambda **kw: RankSVM(**(SMOOTH | kw)),
    "linear hinge": lambda **kw: RankSVM(**({"kernel": "linear"} | kw)),
    "rbf hinge": lambda **kw: RankSVM(**kw),
    "drawn": lambda **kw: RankSVM(**(DRAWN | kw)),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
# Those whose solver sees all pairs at once.
SOLVERS = {name: make for name, make in MODELS.items() if name != "drawn"} | {
    "swap": lambda **kw: SwapSVM(**({"kernel": "linear"} | kw))
}
every_solver = pytest.mark.parametrize("make", SOLVERS.values(), ids=SOLVERS)


@every_model
@pytest.mark.parametrize(
    ("y", "qid", "groups"),
    [
        (Y, np.arange(7), 7),
        (Y, [f"row {i}" for i in range(7)], 7),
        (np.ones(7), QID, 2),
        (np.ones(7), None, 1),
        ((QID == "a").astype(float), QID, 2),
    ],
    ids=["row numbers", "row names", "equal", "equal without qid", "equal in groups"],
)
def test_no_pair_at_all(make, y, qid, groups):
    words = [f"no pair.*7 sample.*{groups} group\\(s\\)", "different grades", "row num"]
    refused(ValueError, words, make().fit, X, y, qid=qid)
    words = ["There is no pair to learn from"]
    refused(ValueError, words, make().fit, X, Y, sample_weight=[1, 0, 0, 0, 0, 0, 0.0])


@every_model
def test_orders_bring_their_own_grades(make):
    orders = Orders(X, [[0, 1, [2, 3]], [6, 5, 4]])
    words = ["Orders hold their own grades and groups"]
    refused(ValueError, words, make().fit, orders, [1, 2])
    refused(ValueError, words, make().fit, orders, qid=[1, 2])
    words = ["3 values", "2 rows"]
    refused(ValueError, words, make().fit, orders, sample_weight=[1, 2, 3])
    words = ["no features", "item table"]
    refused(TypeError, words, make().fit, Orders(None, [["a", "b"]]))
    words = ["There is no pair to learn from: 3 sample", "2 group"]
    refused(ValueError, words, make().fit, Orders(X, [[0], [[1, 2]]]))
    with pytest.warns(UserWarning, match="1 of 3 groups") as caught:
        model = make(tol=1e-9).fit(Orders(X, [[0, 1, [2, 3]], [6, 5, 4], [[1, 2, 3]]]))
    assert len(caught) == 1
    without = make(tol=1e-9).fit(orders)
    assert_allclose(model.utility(X), without.utility(X), atol=1e-3)


@every_model
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_constant_features_give_equal_utilities_and_say_so(make, convert, constant):
    same = convert(np.full((7, 2), constant))
    model = make()
    if model.pairs_per_item is not None and model.loss == "hinge":
        model.fit(same, Y, qid=QID)
    else:
        with pytest.warns(UserWarning, match="same utility.*Nothing was learned"):
            model.fit(same, Y, qid=QID)
    assert model.converged_
    assert np.ptp(model.utility(same)) == 0
    assert model.score(same, Y, qid=QID) == 0  # a tie is a swapped pair


def easy(scale=1.0):
    """Grade 30 items of 3 groups by a linear utility."""
    rng = np.random.default_rng(1)
    items = rng.normal(size=(30, 2))
    qid = np.repeat([0, 1, 2], 10)
    return items * scale, np.round(2 * items @ [1.0, 0.5]) + 10 * qid, qid


@every_solver
@pytest.mark.parametrize("C", [1e-30, 1e-20, 1e-12, 1e-6])
def test_tiny_c_still_puts_items_in_order(make, C):
    items, y, qid = easy()
    model = make(C=C).fit(items, y, qid=qid)
    assert model.converged_
    assert model.score(items, y, qid=qid) > 0.9
    # No pair reaches its margin, so that the solution is proportional to C.
    larger = make(C=1e-9, tol=1e-9).fit(items, y, qid=qid)
    assert_allclose(model.utility(items) / C, larger.utility(items) / 1e-9, rtol=1e-2)


def test_drawn_pairs_say_what_the_rows_contribute():
    items, y, qid = easy()
    for source in (
        (items, y, qid),
        (Orders(items, [[3, 1, 2], [12, 1, 14]]), None, None),
    ):
        model = RankSVM(kernel="linear", pairs_per_item=2, random_state=0, tol=1e-9)
        model.fit(source[0], source[1], qid=source[2])
        rows = items if source[1] is not None else items[[3, 1, 2, 12, 1, 14]]
        assert model.support_.max() < len(rows)
        assert_allclose(model.dual_coef_ @ rows[model.support_], model.coef_)
