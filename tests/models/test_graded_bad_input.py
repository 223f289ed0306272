# SPDX-License-Identifier: BSD-3-Clause
"""Graded items and orders: bad input is refused, unusual input is answered rightly."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from tests.models.inputs import refused
from tiebreak import FitWarning, Orders, Pairs, RankSVM, SwapSVM
from tiebreak.metrics import swapped_pairs

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


def fitted(make, **options):
    return make(**options).fit(X, Y, qid=QID)


def with_value(row, value):
    y = Y.astype(object)
    y[row] = value
    return y


@every_model
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (with_value(2, np.nan).astype(float), ["missing grade", "NaN", "row 2"]),
        (with_value(2, None), ["missing grade", "row 2", "remove these rows"]),
        (with_value(3, np.inf).astype(float), ["finite", "row 3 \\(inf\\)"]),
        (with_value(3, -np.inf).astype(float), ["finite", "row 3 \\(-inf\\)"]),
        (with_value(1, "good"), ["must hold numbers", "row 1 \\('good'\\)", "higher"]),
        (Y.astype(str), ["must hold numbers", "7 other", "row 0 \\('0.0'\\)"]),
        (Y + 1j, ["must hold numbers", "row 0"]),
        (Y[:5], ["5 grades", "7 rows", "as many"]),
        (np.append(Y, 1), ["8 grades", "7 rows"]),
        (np.column_stack([Y, Y]), ["y must have one dimension", "\\(7, 2\\)"]),
        (None, ["need grades", "requires y to be passed"]),
    ],
    ids=[
        "nan",
        "none",
        "inf",
        "minus inf",
        "word",
        "words",
        "complex",
        "few",
        "many",
        "wide",
        "no y",
    ],
)
def test_grades(make, y, words):
    refused(ValueError, words, make().fit, X, y, qid=QID)


@every_model
def test_score_checks_grades_and_groups_too(make):
    model = fitted(make)
    refused(ValueError, ["requires y to be passed"], model.score, X, qid=QID)
    bad = with_value(2, np.nan).astype(float)
    refused(ValueError, ["y", "row 2", "NaN|nan"], model.score, X, bad, qid=QID)
    refused(ValueError, ["5", "7"], model.score, X, Y[:5], qid=QID)
    refused(ValueError, ["qid", "3", "7"], model.score, X, Y, qid=QID[:3])
    refused(
        ValueError, ["no pair to compare", "7 group"], model.score, X, Y, qid=range(7)
    )


@every_model
def test_grades_that_are_unusual_but_numbers(make):
    expected = fitted(make).utility(X)
    for y in (
        Y.tolist(),
        pd.Series(Y, index=[9, 9, 8, 7, 6, 5, 4]),
        pl.Series(Y),
        Y.astype(np.int8),
        Y * 1e29,
        Y * 1e-300,
        -1e15 + Y,
    ):
        assert_array_equal(make().fit(X, y, qid=QID).utility(X), expected)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = make().fit(X, Y[:, None], qid=QID)
    assert_array_equal(column.utility(X), expected)
    yes_or_no = make().fit(X, np.array([0, 0, 1, 1, 0, 1, 1], dtype=bool), qid=QID)
    assert yes_or_no.n_pairs_ == (6 if make().pairs_per_item is None else 12)


@every_model
@pytest.mark.parametrize(
    ("qid", "words"),
    [
        (QID[:5], ["qid has 5 values", "7 rows"]),
        ([*QID[:6], None], ["qid", "missing", "row 6"]),
        (np.array([1, 1, 1, 1, 2, 2, np.nan]), ["qid", "missing", "row 6"]),
        ([["b"]] * 7, ["qid", "one dimension"]),
    ],
    ids=["few", "none", "nan", "nested"],
)
def test_groups(make, qid, words):
    refused(ValueError, words, make().fit, X, Y, qid=qid)


@every_model
def test_a_single_name_is_no_column_of_groups(make):
    refused(TypeError, ["qid"], make().fit, X, Y, qid="b")


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
def test_one_row_and_no_row(make):
    refused(ValueError, ["1 sample"], make().fit, X[:1], Y[:1])
    refused(ValueError, ["no rows"], make().fit, X[:0], Y[:0])


@every_model
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, 1, -2, 1, 1, 1, 1], ["not negative", "row 2 \\(-2"]),
        ([1, np.nan, 1, 1, 1, 1, 1], ["finite", "row 1 \\(nan\\)"]),
        ([1, 1, 1, 1, 1, 1, np.inf], ["finite", "row 6 \\(inf\\)"]),
        ([0] * 7, ["Every sample weight is zero"]),
        ([1, 2, 3], ["3 weights", "7 rows"]),
        (["much"] * 7, ["sample_weight must hold numbers", "row 0 \\('much'\\)"]),
        ([1e16] * 7, ["from 1e-60 to 1e\\+15", "row 0 \\(1e\\+16\\)"]),
        ([1e-61] * 7, ["from 1e-60 to 1e\\+15", "row 0 \\(1e-61\\)"]),
    ],
    ids=["negative", "nan", "inf", "zero", "few", "words", "huge", "tiny"],
)
@pytest.mark.parametrize("per_group", ["sum", "mean"])
def test_weights(make, per_group, weight, words):
    model = make(per_group=per_group)
    refused(ValueError, words, model.fit, X, Y, qid=QID, sample_weight=weight)


@every_solver
def test_weights_of_very_different_sizes(make):
    weight = np.array([1e9, 1e-9, 1.0, 1e9, 1e-9, 1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make().fit(X, Y, qid=QID, sample_weight=weight)
    assert np.isfinite(model.utility(X)).all()
    # The pair that weighs 10¹⁸ is put in order.
    assert model.utility(X)[3] > model.utility(X)[0]


@every_model
def test_features(make):
    for value, shown in ((np.nan, "NaN"), (np.inf, "inf")):
        bad = X.copy()
        bad[3, 1] = value
        words = ["finite", f"{shown} at row 3, column 1", "SimpleImputer"]
        refused(ValueError, words, make().fit, bad, Y, qid=QID)
        refused(ValueError, words, make().fit, sp.csr_array(bad), Y, qid=QID)
        refused(ValueError, words, fitted(make).utility, bad)
    refused(ValueError, ["no columns", "0 feature"], make().fit, X[:, :0], Y, qid=QID)
    refused(TypeError, ["hold numbers", "OneHotEncoder"], make().fit, X.astype(str), Y)
    refused(ValueError, ["omplex"], make().fit, X + 1j, Y)
    for X_bad in ("Ada", 7, None, ["Ada", "Bo"]):
        refused((TypeError, ValueError), ["X must"], make().fit, X_bad, [1, 2])


@every_model
def test_orders_bring_their_own_grades(make):
    orders = Orders(X, [[0, 1, [2, 3]], [6, 5, 4]])
    words = ["Orders hold their own grades and groups", "Call fit\\(orders\\)"]
    refused(ValueError, words, make().fit, orders, [1, 2])
    refused(ValueError, words, make().fit, orders, qid=[1, 2])
    words = ["3 weights", "2 rows"]
    refused(ValueError, words, make().fit, orders, sample_weight=[1, 2, 3])
    words = ["no features", "items=None", "item table"]
    refused(TypeError, words, make().fit, Orders(None, [["a", "b"]]))
    words = ["There is no pair to learn from: 3 sample", "2 group"]
    refused(ValueError, words, make().fit, Orders(X, [[0], [[1, 2]]]))
    with pytest.warns(UserWarning, match="1 of 3 groups") as caught:
        model = make(tol=1e-9).fit(Orders(X, [[0, 1, [2, 3]], [6, 5, 4], [[1, 2, 3]]]))
    assert len(caught) == 1
    without = make(tol=1e-9).fit(orders)
    assert_allclose(model.utility(X), without.utility(X), atol=1e-3)


@every_model
def test_groups_of_comparisons(make):
    words = ["qid groups graded items", "Leave qid out"]
    pairs, outcome = Pairs(X, [0, 1, 2], [1, 2, 4]), [1, 1, -1]
    refused(ValueError, words, make().fit, pairs, outcome, qid=["a", "a", "b"])
    array = np.asarray(pairs)
    refused(ValueError, words, make().fit, array, outcome, qid=["a", "a", "b"])
    path = make().path
    refused(ValueError, words, lambda: list(path(pairs, outcome, [1.0], qid=[1, 1, 2])))


@every_model
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pairs_per_item": 0}, ["pairs_per_item=0", "at least 1"]),
        ({"pairs_per_item": -1}, ["pairs_per_item=-1", "at least 1"]),
        ({"pairs_per_item": 1.5}, ["pairs_per_item=1.5", "whole number"]),
        ({"pairs_per_item": True}, ["pairs_per_item=True", "whole number"]),
        ({"pairs_per_item": "5"}, ["pairs_per_item='5'", "None"]),
        ({"per_group": "x"}, ["per_group='x'", "'sum' or 'mean'"]),
        ({"per_group": None}, ["per_group=None", "'sum' or 'mean'"]),
        ({"loss": "x"}, ["loss='x'", "'hinge' or 'squared_hinge'"]),
        ({"ties": "x"}, ["ties='x'", "'ignore' or 'both'"]),
        ({"C": 0.0}, ["C=0.0", "positive"]),
        ({"C": -1}, ["C=-1", "positive"]),
        ({"C": np.nan}, ["C=nan", "positive"]),
        ({"C": np.inf}, ["C=inf", "positive"]),
        ({"C": "1"}, ["C='1'", "positive"]),
        ({"C": True}, ["C=True", "positive"]),
        ({"tol": 0}, ["tol=0", "positive"]),
        ({"max_iter": 0}, ["max_iter=0", "whole number"]),
        ({"max_iter": 2.5}, ["max_iter=2.5", "whole number"]),
        ({"kernel": "x"}, ["kernel='x' is not known"]),
        ({"kernel": "rbf", "gamma": 0}, ["gamma=0 must be a positive number"]),
        ({"kernel": "rbf", "gamma": "x"}, ["gamma='x' must be a positive number"]),
        ({"kernel": "poly", "degree": 0}, ["degree=0", "at least 1"]),
        ({"kernel": "poly", "degree": 1.5}, ["degree=1.5", "integer"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_parameters(make, options, words):
    refused(ValueError, words, make(**options).fit, X, Y, qid=QID)
    model = make(**options)
    if "C" not in options:
        refused(ValueError, words, lambda: list(model.path(X, Y, [1.0], qid=QID)))


@every_model
def test_values_of_a_path(make):
    words = ["at least one value of C"]
    refused(ValueError, words, lambda: list(make().path(X, Y, [], qid=QID)))
    for bad in (0.0, -1.0, np.nan, "1"):
        words = ["C=", "positive"]
        refused(ValueError, words, lambda C=bad: list(make().path(X, Y, [C], qid=QID)))


@every_model
def test_what_a_failed_fit_leaves_is_not_fitted(make):
    model = make(kernel="precomputed")
    refused(ValueError, ["must be square", "\\(7, 2\\)"], model.fit, X, Y, qid=QID)
    with pytest.raises(ValueError, match="not fitted yet"):
        model.utility(X)
    K = X @ X.T
    K[0, 1] += 1
    refused(ValueError, ["symmetric", "K\\[0, 1\\]"], model.fit, K, Y, qid=QID)
    refused(ValueError, ["must be square"], model.fit, Orders(X, [[0, 1]]))


@every_solver
def test_a_kernel_that_is_none(make):
    model = make(kernel="precomputed")
    words = ["not positive semidefinite", "eigenvalue -"]
    refused(ValueError, words, model.fit, -X @ X.T, Y, qid=QID)


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


@every_model
def test_a_constant_feature_beside_others_changes_nothing(make):
    wide = np.column_stack([X, np.full(7, 5.0)])
    plain = fitted(make, gamma=0.5, tol=1e-9)
    model = make(gamma=0.5, tol=1e-9).fit(wide, Y, qid=QID)
    difference = np.subtract.outer(model.utility(wide), model.utility(wide))
    expected = np.subtract.outer(plain.utility(X), plain.utility(X))
    assert_allclose(difference, expected, atol=1e-3)


@every_model
def test_duplicated_items_of_different_grades(make):
    # Nothing can put items 0 and 1 in order, and the others not at all the less.
    twice = X[[0, 0, 2, 3, 4, 5, 6]]
    model = make(C=10.0).fit(twice, Y, qid=QID)
    utility = model.utility(twice)
    assert utility[0] == utility[1]
    assert swapped_pairs(Y, utility, QID) == pytest.approx(1 / 8)


@every_model
def test_one_item_again_and_again(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = make().fit(X[[2] * 7], Y, qid=QID)
    assert np.ptp(model.utility(X[[2] * 3])) == 0
    assert np.isfinite(model.utility(X)).all()


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


@every_solver
@pytest.mark.parametrize("C", [1e6, 1e12])
def test_huge_c(make, C):
    items, y, qid = easy()
    model = make(C=C)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(items, y, qid=qid)
    assert np.isfinite(model.utility(items)).all()
    assert model.score(items, y, qid=qid) > 0.95


@every_solver
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e3, 1e6])
def test_features_of_any_unit(make, scale):
    items, y, qid = easy(scale)
    model = make()
    with warnings.catch_warnings():
        smooth = getattr(model, "loss", "hinge") == "squared_hinge"
        if model.kernel == "linear" and not smooth and scale > 1e4:
            # Of a margin that is as good as hard, not all digits can be had.
            warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(items, y, qid=qid)
    assert model.score(items, y, qid=qid) > 0.9


@every_solver
@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e29, 1e100])
def test_features_at_the_end_of_the_numbers(make, scale):
    """A right answer, or a word: never NaN, and nothing learned in silence."""
    items, y, qid = easy(scale)
    model = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(items, y, qid=qid)
        except ValueError as error:
            assert "Scale the features" in str(error)
            return
    assert np.isfinite(model.utility(items)).all()
    said = {warning.category for warning in caught}
    assert said <= {UserWarning, FitWarning, ConvergenceWarning}
    if not said:
        assert model.score(items, y, qid=qid) > 0.9


@every_model
def test_features_of_mixed_units(make):
    items, y, qid = easy()
    mixed = items * [1.0, 1e-300]
    model = make().fit(mixed, y, qid=qid)
    assert np.isfinite(model.utility(mixed)).all()
    assert model.score(mixed, y, qid=qid) > 0.7


@every_model
def test_sparse_items_of_any_kernel(make):
    items, y, qid = easy()
    items[np.abs(items) < 0.3] = 0.0
    for matrix in (sp.csr_array(items), sp.csc_matrix(items), sp.coo_array(items)):
        model = make(tol=1e-9).fit(matrix, y, qid=qid)
        dense = make(tol=1e-9).fit(items, y, qid=qid)
        assert_allclose(
            model.utility(matrix), dense.utility(items), rtol=1e-3, atol=1e-4
        )
    assert_allclose(model.utility(items), model.utility(matrix), rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_what_ties_of_comparisons_mean_is_nothing_to_grades(loss):
    items, y, qid = easy()
    for drawn in (None, 3):
        utility = [
            RankSVM(
                kernel="linear",
                loss=loss,
                ties=ties,
                pairs_per_item=drawn,
                random_state=0,
                tol=1e-9,
            )
            .fit(items, y, qid=qid)
            .utility(items)
            for ties in ("ignore", "both")
        ]
        assert_allclose(*utility, rtol=1e-3, atol=1e-4)


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
