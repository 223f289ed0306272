# SPDX-License-Identifier: BSD-3-Clause
"""HedgeOrder: weights as by hand, greedy orders, and no utility."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from tests.models.inputs import refused
from tests.oracles import hedge_plain as plain
from tiebreak import HedgeOrder, Orders, Pairs, load, save

ITEMS = np.array([[3.0, 1.0, 7.0], [2.0, 5.0, 7.0], [1.0, 0.0, 7.0], [0.0, 4.0, 7.0]])
LISTS = [[0, 1, 2], [1, [2, 3]], [3, 0]]
both_kinds = pytest.mark.parametrize("preference", ["hedge", "naive_bayes"])


def quietly(call, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return call(*args, **kwargs)


def test_weights_by_hand():
    """Of 6 pairs the first two attributes are wrong on one each."""
    # Pairs: 0>1, 0>2, 1>2; 1>2, 1>3; 3>0. Attribute 0 reads 3 > 2 > 1 > 0, which is
    # wrong on 3>0 only. Attribute 1 reads 5 > 4 > 1 > 0, wrong on 0>1 only; the third
    # says nothing, half a loss on every pair.
    model = HedgeOrder(0.5, n_rounds=2).fit(Orders(ITEMS, LISTS))
    assert_allclose(model.losses_, [1 / 6, 1 / 6, 1 / 2])
    # β^(2 · loss): 4^(-1/6), 4^(-1/6), ½ for attributes; 4^(-5/6) twice and ½ against.
    up, down = 4 ** (-1 / 6), 4 ** (-5 / 6)
    total = 2 * up + 2 * down + 1
    expected = np.array([[up, up, 0.5], [down, down, 0.5]]) / total
    assert_allclose(model.weights_, expected)
    assert_allclose(model.loss_curve_[0], 0.5)
    assert model.n_iter_ == 2
    # Item 1 against 0: attribute 1 is for it, attribute 0 against; a tie.
    pairs = Pairs(ITEMS, [0, 2, 3], [1, 1, 2])
    net = (up - down) / total
    assert_allclose(model.difference(pairs), [0, 2 * net, 0], atol=1e-15)
    assert_array_equal(model.predict(pairs), [0, 1, 0])


@st.composite
def random_orders(draw):
    """Up to six items of few values in lists with ties; at least one pair."""
    n, p = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(-1, 2), min_size=n * p, max_size=n * p)
    X = np.array(draw(cells), dtype=float).reshape(n, p)
    orders = []
    for _ in range(draw(st.integers(1, 4))):
        items = draw(st.permutations(range(n)))[: draw(st.integers(1, n))]
        blocks: list[list[int]] = []
        for item in items:
            if blocks and draw(st.integers(0, 3)) == 0:
                blocks[-1].append(item)
            else:
                blocks.append([item])
        orders.append(blocks)
    assume(plain.pairs_of(orders))
    return X, orders


@given(random_orders(), st.sampled_from([0.1, 0.9]), st.integers(1, 40))
def test_weights_and_preferences_are_those_of_all_pairs(drawn, beta, n_rounds):
    X, orders = drawn
    model = quietly(HedgeOrder(beta, n_rounds=n_rounds).fit, Orders(X, orders))
    expected = plain.batch(X, orders, beta, n_rounds)
    assert_allclose(model.weights_, expected, rtol=1e-9)
    P = plain.preferences(X, expected)
    a, b = np.indices(P.shape).reshape(2, -1)
    difference = model.difference(Pairs(X, a, b))
    assert_allclose(difference, (P.T - P)[a, b], atol=1e-12)
    outcome = model.predict(Pairs(X, a, b))
    clear = np.abs(difference) > 1e-9
    assert_array_equal(outcome[clear], np.sign(difference[clear]))
    X2, y, qid = Orders(X, orders).grades()
    graded = quietly(HedgeOrder(beta, n_rounds=n_rounds).fit, X2, y, qid=qid)
    assert_allclose(graded.weights_, expected, rtol=1e-9)


@both_kinds
@given(drawn=random_orders())
def test_the_greedy_order_reaches_half_of_the_best(preference, drawn):
    X, orders = drawn
    model = quietly(HedgeOrder(preference=preference).fit, Orders(X, orders))
    if preference == "hedge":
        P = plain.preferences(X, model.weights_)
    else:
        P = plain.naive_bayes(X, orders, X)
    order = model.order(X)
    assert sorted(order.tolist()) == list(range(len(X)))
    best = plain.best_agreement(P)
    assert plain.agreement(order, P) >= 0.5 * best - 1e-12
    # And it is the order of the plain algorithm, or one as good step by step.
    expected = plain.greedy(P)
    assert plain.agreement(order, P) == pytest.approx(
        plain.agreement(expected, P), rel=1e-6
    )


def test_an_order_that_depends_on_what_else_is_there():
    """A cycle of preferences: the order of two items is relative."""
    X = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 1.0]])
    # Of three attributes with equal weights each beats the next by two votes to one.
    model = HedgeOrder(n_rounds=1).fit(Orders(X, [[0, 1], [1, 2], [2, 0]]))
    net = model.weights_[0] - model.weights_[1]
    assert_allclose(net, net[0])
    assert net[0] > 0
    pairs = Pairs(X, [0, 1, 2], [1, 2, 0])
    assert_array_equal(model.predict(pairs), [-1, -1, -1])
    # With the third item the claims are equal, and rows decide; without, the vote.
    assert_array_equal(model.order(X[[1, 0, 2]]), [0, 2, 1])
    assert_array_equal(model.order(X[[1, 0]]), [1, 0])


@given(random_orders())
def test_naive_bayes_is_that_of_all_pairs(drawn):
    X, orders = drawn
    asked = np.concatenate([X, X[:1] + 0.3])
    P = plain.naive_bayes(X, orders, asked)
    a, b = np.indices(P.shape).reshape(2, -1)
    model = HedgeOrder(preference="naive_bayes")
    quietly(model.fit, Orders(X, orders))
    difference = model.difference(Pairs(asked, a, b))
    assert_allclose(difference, (P.T - P)[a, b], atol=1e-6)


def easy(seed=0, n_lists=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    utility = X @ [1.0, 0.5, 0.0]
    chosen = [rng.choice(50, 6, replace=False) for _ in range(n_lists)]
    return Orders(X, [row[np.argsort(-utility[row])] for row in chosen])


@both_kinds
def test_weights_of_lists_and_rows(preference):
    orders = easy()
    weight = np.arange(30) % 3
    rows = np.repeat(np.arange(30), weight)
    one = HedgeOrder(preference=preference).fit(orders, sample_weight=weight)
    two = HedgeOrder(preference=preference).fit(orders[rows])
    assert_allclose(one.weights_, two.weights_)
    assert_array_equal(one.order(orders.values), two.order(orders.values))
    X, y, qid = orders.grades()
    weight = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weight)
    one = HedgeOrder(preference=preference).fit(X, y, qid=qid, sample_weight=weight)
    two = HedgeOrder(preference=preference).fit(X[rows], y[rows], qid=qid[rows])
    assert_allclose(one.weights_, two.weights_)
    pairs = Pairs(X, np.arange(20), np.arange(20, 40))
    assert_allclose(one.difference(pairs), two.difference(pairs))


@both_kinds
def test_shapes_files_and_scores(preference, tmp_path):
    orders = easy()
    model = HedgeOrder(preference=preference).fit(orders)
    X, table = orders.values, pd.DataFrame(orders.values, columns=list("abc"))
    named = HedgeOrder(preference=preference).fit(Orders(table, list(orders)))
    sparse = HedgeOrder(preference=preference)
    sparse.fit(Orders(sp.csr_array(X), list(orders)))
    for other in (named, sparse, load(save(model, tmp_path / "model"))):
        assert_array_equal(other.weights_, model.weights_)
        asked = table if other is named else X
        assert_array_equal(other.order(asked), model.order(X))
    with pytest.warns(UserWarning, match="HedgeOrder was fitted with feature names"):
        named.order(X)
    assert_array_equal(sparse.order(sp.csr_array(X)), model.order(X))
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    words = ["feature names should match"]
    refused(ValueError, words, named.order, table[["c", "b", "a"]])
    refused(ValueError, ["2 features", "expecting 3"], model.order, X[:, :2])
    # Groups are ordered one by one, and scored so.
    rows, y, qid = orders.grades()
    groups = model.order(rows, qid=qid)
    assert [len(order) for order in groups] == [6] * 30
    for order, number in zip(groups, range(30), strict=True):
        members = np.flatnonzero(qid == number)
        assert_array_equal(order, members[model.order(rows[members])])
    right = sum(y[o[i]] > y[o[j]] for o in groups for i in range(6) for j in range(i))
    assert model.score(orders) == pytest.approx(1 - right / (30 * 15))
    assert model.score(rows, y, qid=qid) == model.score(orders) > 0.85
    refused(ValueError, ["fitted with qid"], model.score, rows, y)
    pairs = Pairs(rows, np.arange(0, 20), np.arange(1, 21))
    outcome = model.predict(pairs)
    assert model.score(pairs, outcome) == 1.0
    refused(TypeError, ["y must be a column"], model.score, pairs)


@both_kinds
def test_there_is_no_utility_and_it_says_why(preference):
    orders = easy()
    model = HedgeOrder(preference=preference)
    for call in (model.utility, model.predict, model.order):
        with pytest.raises(NotFittedError):
            call(ITEMS)
    model.fit(orders)
    words = ["no utility", "order\\(X\\)", "RankBoost"]
    refused(TypeError, words, model.utility, orders.values)
    refused(TypeError, words, model.predict, orders.values)
    refused(TypeError, ["order takes items"], model.order, Pairs(ITEMS, [0], [1]))


def test_input_that_does_not_do():
    fit = HedgeOrder().fit
    words = ["got comparisons", "RankSVM"]
    refused(TypeError, words, fit, Pairs(ITEMS, [0], [1]), [1])
    refused(ValueError, ["no pair to learn from"], fit, Orders(ITEMS, [[0], [[1, 2]]]))
    refused(TypeError, ["no features"], fit, Orders(None, [["a", "b"]]))
    with pytest.warns(UserWarning, match="1 of 2 groups"):
        fit(Orders(ITEMS, [[0, 1], [2]]))
    model = HedgeOrder().fit(Orders(ITEMS, LISTS))
    model.set_params(preference="naive_bayes")
    refused(ValueError, ["another preference"], model.order, ITEMS)


def test_rounds_end_when_the_loss_is_stationary():
    orders = easy()
    model = HedgeOrder(n_rounds=5000, tol=1e-6).fit(orders)
    assert 30 < model.n_iter_ < 5000
    assert abs(np.diff(model.loss_curve_)[-1]) < 1e-6
    assert np.all(np.abs(np.diff(model.loss_curve_)[:-1]) >= 1e-6)
    # Until stationary a single attribute remains, which is why rounds are set.
    assert model.weights_.max() > 0.9
