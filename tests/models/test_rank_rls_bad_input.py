# SPDX-License-Identifier: BSD-3-Clause
"""RankRLS: bad input is refused, and unusual input is answered or spoken of."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from tests.models.inputs import refused
from tiebreak import Orders, Pairs, RankRLS

X = np.array(
    [[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [2.2, 1.0], [0.5, 0.0], [1.5, 1.5], [3.0, 0.0]]
)
Y = np.array([0.0, 1.0, 2.0, 2.0, 5.0, 6.0, 7.0])
QID = np.array(["b", "b", "b", "b", "a", "a", "a"])
MODELS = {
    "linear": lambda **kw: RankRLS(**({"kernel": "linear"} | kw)),
    "rbf": lambda **kw: RankRLS(**kw),
    "linear cg": lambda **kw: RankRLS(**({"kernel": "linear", "solver": "cg"} | kw)),
    "rbf cg": lambda **kw: RankRLS(**({"solver": "cg"} | kw)),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def easy(scale=1.0):
    """Grade 30 items of 3 groups by a linear utility."""
    rng = np.random.default_rng(1)
    items = rng.normal(size=(30, 2))
    qid = np.repeat([0, 1, 2], 10)
    return items * scale, np.round(2 * items @ [1.0, 0.5]) + 10 * qid, qid


@every_model
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0}, ["RankRLS got alpha=0.0", "positive finite"]),
        ({"alpha": -1}, ["alpha=-1", "positive finite"]),
        ({"alpha": np.nan}, ["alpha=nan", "positive finite"]),
        ({"alpha": np.inf}, ["alpha=inf", "positive finite"]),
        ({"alpha": "1"}, ["alpha='1'", "positive finite"]),
        ({"per_group": "x"}, ["per_group='x'", "'sum', 'mean'"]),
        ({"solver": "lsqr"}, ["solver='lsqr'", "'auto', 'direct', 'cg'"]),
        ({"tol": 0}, ["tol=0", "positive finite"]),
        ({"max_iter": 2.5}, ["max_iter=2.5", "whole number"]),
        ({"kernel": "x"}, ["kernel='x' is not known"]),
        ({"kernel": "rbf", "gamma": 0}, ["gamma=0 must be a positive number"]),
        ({"kernel": "poly", "degree": 0}, ["degree=0", "at least 1"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_parameters(make, options, words):
    model = make(**options)
    refused(ValueError, words, model.fit, X, Y, qid=QID)
    refused(ValueError, words, model.leave_group_out, X, Y, qid=QID)
    refused(ValueError, words, model.leave_pair_out, X, Y, qid=QID)
    if "alpha" not in options:
        refused(ValueError, words, model.path, X, Y, [1.0], qid=QID)


@every_model
def test_grades(make):
    for value, words in (
        (np.nan, ["missing grade", "row 2"]),
        (np.inf, ["finite", "row 2 \\(inf\\)"]),
    ):
        bad = Y.copy()
        bad[2] = value
        refused(ValueError, words, make().fit, X, bad, qid=QID)
    words = ["no pair.*7 sample.*2 group", "different grades"]
    refused(ValueError, words, make().fit, X, np.ones(7), qid=QID)
    refused(ValueError, ["no pair"], make().fit, X, Y, qid=range(7))
    weight = [1, 0, 0, 0, 0, 0, 1]
    refused(ValueError, ["no pair"], make().fit, X, Y, qid=QID, sample_weight=weight)
    for factor in (1e300, 1e-300):
        words = ["weight of a pair", "near 1"]
        weight = np.full(7, factor)
        refused(ValueError, words, make().fit, X, Y, sample_weight=weight)


@every_model
def test_grades_of_any_unit(make):
    utility = make(alpha=0.1).fit(X, Y, qid=QID).utility(X)
    for factor in (1e-300, 1e-9, 1e9, 1e140):
        model = make(alpha=0.1).fit(X, factor * Y, qid=QID)
        assert_allclose(model.utility(X) / factor, utility, rtol=1e-7)
    shifted = make(alpha=0.1).fit(X, Y - 2.0**40, qid=QID)
    assert_allclose(shifted.utility(X), utility, rtol=1e-3)
    words = ["squared differences of the grades overflows", "Scale the grades"]
    refused(ValueError, words, make().fit, X, 1e300 * Y, qid=QID)


@every_model
def test_a_group_of_one_is_counted_and_left_out(make):
    plain = make(gamma=0.5).fit(X, Y, qid=QID)
    wide = np.vstack([X, [[9.0, -9.0]]])
    model = make(gamma=0.5)
    with pytest.warns(UserWarning, match="1 of 3 groups have one item only") as caught:
        model.fit(wide, np.append(Y, 100.0), qid=np.append(QID, "alone"))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_allclose(model.utility(X), plain.utility(X), atol=1e-9)
    assert (model.n_pairs_, plain.n_pairs_) == (9, 9)
    assert 7 not in model.support_


@every_model
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1])
def test_constant_features_give_equal_utilities_and_say_so(make, convert, constant):
    same = convert(np.full((7, 2), constant))
    model = make()
    with pytest.warns(UserWarning, match=r"same utility.*Nothing was learned") as said:
        model.fit(same, Y, qid=QID)
    assert len(said) == 1
    assert model.converged_
    assert np.ptp(model.utility(same)) == 0
    assert np.isfinite(model.utility(X)).all()


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("alpha", [1.0, 1e-8])
def test_a_feature_that_is_constant_inside_groups_weighs_nothing(convert, alpha):
    of_group = np.where(QID == "a", 1e6, 0.1)
    wide = np.column_stack([X, of_group, np.full(7, 0.3)])
    model = RankRLS(alpha, kernel="linear").fit(convert(wide), Y, qid=QID)
    plain = RankRLS(alpha, kernel="linear").fit(X, Y, qid=QID)
    assert_array_equal(model.coef_[2:], [0.0, 0.0])
    assert_allclose(model.coef_[:2], plain.coef_, rtol=1e-7)
    found = RankRLS(alpha, kernel="linear").leave_group_out(convert(wide), Y, qid=QID)
    for name in "ab":
        model.fit(convert(wide[name != QID]), Y[name != QID])
        expected = model.utility(convert(wide[name == QID]))
        assert_allclose(found[name == QID], expected, rtol=1e-6)


@every_model
def test_duplicated_items_of_different_grades(make):
    twice = X[[0, 0, 2, 3, 4, 5, 6]]
    for alpha in (1e-3, 1.0):
        model = make(alpha=alpha).fit(twice, Y, qid=QID)
        utility = model.utility(twice)
        assert utility[0] == utility[1]
        assert np.isfinite(utility).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_alpha_lost_in_rounding(kernel):
    # Two equal columns, and two equal rows: the system is singular without alpha.
    items = np.column_stack([X, X])[[0, 1, 2, 3, 3, 4, 5, 6]]
    y, qid = Y[[0, 1, 2, 3, 3, 4, 5, 6]], QID[[0, 1, 2, 3, 3, 4, 5, 6]]
    model = RankRLS(1e-200, kernel=kernel, gamma=0.5)
    with pytest.warns(UserWarning, match=r"alpha=1e-200 is lost in rounding"):
        model.fit(items, y, qid=qid)
    reference = RankRLS(1e-7, kernel=kernel, gamma=0.5).fit(items, y, qid=qid)
    assert_allclose(model.utility(items), reference.utility(items), atol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        (of_path,) = RankRLS(kernel=kernel, gamma=0.5).path(items, y, [1e-200], qid=qid)
    assert_allclose(of_path.utility(items), model.utility(items), atol=1e-9)


@every_model
def test_a_huge_alpha_still_puts_items_in_order(make):
    items, y, qid = easy()
    model = make(alpha=1e100).fit(items, y, qid=qid)
    assert model.score(items, y, qid=qid) > 0.9
    larger = make(alpha=1e9).fit(items, y, qid=qid)
    assert_allclose(
        1e100 * model.utility(items), 1e9 * larger.utility(items), rtol=1e-3, atol=1e-3
    )


@every_model
@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e-6, 1e6, 1e100, 1e200, 1e300])
def test_features_of_any_unit(make, scale):
    """A right answer, or a word: never NaN, and nothing learned in silence."""
    items, y, qid = easy(scale)
    model = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(items, y, qid=qid)
        except ValueError as error:
            assert "Scale the features" in str(error)
            assert scale > 1e6 or scale < 1e-6
            return
    assert np.isfinite(model.utility(items)).all()
    assert {warning.category for warning in caught} <= {UserWarning}
    if not caught:
        assert model.score(items, y, qid=qid) > 0.9


@every_model
def test_weights_of_very_different_sizes(make):
    weight = np.array([1e9, 1e-9, 1.0, 1e9, 1e-9, 1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, Y, qid=QID, sample_weight=weight)
    utility = model.utility(X)
    assert np.isfinite(utility).all()
    # The pair that weighs 10¹⁸ is as far apart as its grades.
    assert utility[3] - utility[0] == pytest.approx(2.0, abs=1e-3)


@every_model
def test_comparisons(make):
    pairs = Pairs(X, [0, 1, 2], [1, 2, 4])
    words = ["all 3 comparisons are ties", "RankRLS", "needs a winner"]
    refused(ValueError, words, make().fit, pairs, [0, 0, 0])
    words = ["all 1 comparisons are ties"]
    weight = [0.0, 1.0, 0.0]
    refused(ValueError, words, make().fit, pairs, [1, 0, -1], sample_weight=weight)
    words = ["qid groups graded items", "Leave qid out"]
    refused(ValueError, words, make().fit, pairs, [1, 0, -1], qid=[1, 1, 1])
    same = Pairs(X[[0, 0, 0]], [0, 1], [1, 2])
    with pytest.warns(UserWarning, match="Nothing was learned"):
        model = make().fit(same, [1, -1])
    assert_array_equal(model.decision_function(same), [0.0, 0.0])


@every_model
def test_orders(make):
    words = ["no features", "items=None", "item table"]
    refused(TypeError, words, make().fit, Orders(None, [["a", "b"]]))
    words = ["There is no pair to learn from: 3 sample", "2 group"]
    refused(ValueError, words, make().fit, Orders(X, [[0], [[1, 2]]]))


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_a_kernel_that_is_none(solver):
    model = RankRLS(kernel="precomputed", solver=solver)
    words = ["not positive semidefinite"]
    refused(ValueError, words, model.fit, -X @ X.T, Y, qid=QID)
    refused(ValueError, ["must be square", "\\(7, 2\\)"], model.fit, X, Y, qid=QID)
    assert not hasattr(model, "dual_coef_")
    words = ["not positive semidefinite", "coef0 ≥ 0"]
    model = RankRLS(kernel="poly", degree=1, gamma=1.0, coef0=-9.0, solver=solver)
    refused(ValueError, words, model.fit, X, Y, qid=QID)
    words = ["not finite|overflows", "Scale the features"]
    model = RankRLS(kernel="poly", gamma=1.0, solver=solver)
    with np.errstate(over="ignore"):
        refused(ValueError, words, model.fit, 1e120 * X, Y, qid=QID)
