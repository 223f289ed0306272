# SPDX-License-Identifier: BSD-3-Clause
"""Models inside scikit-learn: its own checks, its searches, pipelines and routing."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags

from tests.extended import RUNS_ALL, extended
from tests.models.inputs import curved_pairs
from tiebreak import (
    BoostedUtility,
    BradleyTerry,
    CoRankingPursuit,
    Elo,
    ExpectedRankRegression,
    Glicko,
    Glicko2,
    HedgeOrder,
    JudgeBradleyTerry,
    L1Ranker,
    L1RankerCV,
    LogisticCompare,
    MajorityCompare,
    MatchingPursuit,
    MaxMarginCompare,
    OnItems,
    OrderSVM,
    OrdinalSVM,
    PlackettLuce,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
    SwapSVM,
    ThresholdCompare,
    WithoutTies,
)

PAIR_MODELS = [
    SVMCompare(),
    LogisticCompare(),
    BradleyTerry(),
    JudgeBradleyTerry(),
    Elo(),
    Glicko(),
    Glicko2(),
    PlackettLuce(),
    MaxMarginCompare(),
    MajorityCompare(),
    ThresholdCompare(RankSVM()),
    WithoutTies(LogisticCompare()),
]


class VoteItems(HedgeOrder):
    """As scikit-learn's checks know models: without methods that take pairs only."""

    @property
    def predict(self):
        raise AttributeError("predict is of comparisons")


class FewGrades(OrdinalSVM):
    """As scikit-learn's checks know models of a few grades, not of any numbers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = tags.regressor_tags = None
        return tags


ITEM_MODELS = [
    BoostedUtility(20, min_child_weight=1.0, early_stopping=False),
    RankBoost(),
    RankBoost(20),
    RankBoost(20, weak="stump"),
    RankBoost(20, weak="stump", feedback="majority"),
    ExpectedRankRegression(),
    VoteItems(),
    VoteItems(preference="naive_bayes"),
    RankSVM(tol=1e-10),
    RankSVM(loss="squared_hinge"),
    RankSVM(loss="squared_hinge", kernel="linear", per_group="mean"),
    RankSVM(kernel="linear", tol=1e-9),
    RankSVM(loss="squared_hinge", pairs_per_item=3, random_state=0),
    RankRLS(),
    RankRLS(kernel="linear", per_group="mean"),
    RankRLS(solver="cg", tol=1e-16),
    RankingPursuit(),
    RankingPursuit(3),
    RankingPursuit(3, kernel="linear", backfit=False),
    MatchingPursuit(3, prefit=True),
    CoRankingPursuit(3),
    CoRankingPursuit(3, views=["rbf", "poly"], objective="functions", indices="shared"),
    SwapSVM(),
    SwapSVM(kernel="linear", tol=1e-9),
    OrderSVM(),
    OrderSVM(kernel="linear", tol=1e-9),
    L1Ranker(),
    L1Ranker(0.1),
    L1Ranker(0.01, "item"),
    L1Ranker(0.01, "item-weighted", None, adjacent=True),
    L1RankerCV(n_alphas=4, cv=2),
    FewGrades(),
    FewGrades(tol=1e-9),
    FewGrades(kernel="linear", tol=1e-9),
]
# What scikit-learn can check of an estimator that does not take tables. It does not
# run these by itself for such estimators.
WITHOUT_DATA = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


# Checks that are expected to fail, each with the reason.
WEIGHTS = [
    f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")
]
DRAWN = dict.fromkeys(WEIGHTS, "a second row draws partners of its own")
PLACES = dict.fromkeys(WEIGHTS, "a second row takes a place of its own in the list")


def expected_failures(estimator):
    expected = {}
    if isinstance(estimator, OrderSVM):
        expected |= PLACES
    if getattr(estimator, "pairs_per_item", None):
        expected |= DRAWN
    return expected


def checks_of(estimator):
    """List the checks that scikit-learn has for an estimator."""
    with warnings.catch_warnings():
        # It says once per estimator that pairs are not a table.
        warnings.simplefilter("ignore", SkipTestWarning)
        return list(
            estimator_checks.estimator_checks_generator(
                estimator,
                expected_failed_checks=expected_failures(estimator),
                mark="xfail",
            )
        )


def check_id(value):
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    return getattr(getattr(value, "func", value), "__name__", None)


def all_checks():
    """List every check; by default those of a few estimators of different families."""
    few = {
        SVMCompare,
        LogisticCompare,
        RankSVM,
        RankRLS,
        OrdinalSVM,
        RankBoost,
        OnItems,
    }
    for estimator in [*PAIR_MODELS, *ITEM_MODELS, OnItems(StandardScaler())]:
        by_default = type(estimator) in few
        few.discard(type(estimator))
        if by_default or RUNS_ALL:
            cases = checks_of(estimator)
            yield from cases if by_default else map(extended, cases)


@pytest.mark.parametrize(("estimator", "check"), list(all_checks()), ids=check_id)
@pytest.mark.filterwarnings("ignore:.* gives all training items the same")
@pytest.mark.filterwarnings("ignore:OrderSVM.* the lists have .* cuts")
@pytest.mark.filterwarnings("ignore:.*Pursuit stopped after")
@pytest.mark.filterwarnings("ignore:L1Ranker dropped every feature")
@pytest.mark.filterwarnings("ignore:Features have very different scales")
def test_check_estimator(estimator, check):
    check(estimator)


def test_scikit_learn_checks_tables_only():
    # If this changes, the checks without data and the laws may be doubled work.
    assert [len(checks_of(model)) for model in PAIR_MODELS] == [1] * len(PAIR_MODELS)
    for model in [*ITEM_MODELS, OnItems(StandardScaler())]:
        assert len(checks_of(model)) > 45


def test_tags_say_what_a_model_fits():
    def fits(model):
        tags = get_tags(model).input_tags
        return tags.two_d_array, tags.three_d_array, tags.pairwise, tags.sparse

    assert fits(SVMCompare(kernel="precomputed")) == (False, True, False, True)
    # Rows of comparisons have no columns, and of two shapes one cannot be split.
    assert fits(RankSVM(kernel="precomputed")) == (True, True, False, True)
    assert fits(RankSVM(kernel=lambda A, B: A @ B.T)) == (True, True, False, True)
    assert fits(ThresholdCompare(RankSVM())) == (False, True, False, True)
    for model in (SwapSVM, OrderSVM, OrdinalSVM):
        assert fits(model()) == (True, False, False, True)
        assert fits(model(kernel="precomputed")) == (True, False, True, True)
    assert get_tags(RankSVM()).target_tags.required


# One model of every class, each as users know it.
ALL_MODELS = {type(model): model for model in [*PAIR_MODELS, *ITEM_MODELS]}
ALL_MODELS |= {HedgeOrder: HedgeOrder(), OrdinalSVM: OrdinalSVM()}
for adapted in (VoteItems, FewGrades):
    del ALL_MODELS[adapted]


@pytest.mark.parametrize("name", WITHOUT_DATA)
@pytest.mark.parametrize("model", ALL_MODELS.values(), ids=check_id)
def test_checks_that_need_no_data(model, name):
    if not hasattr(estimator_checks, name):
        pytest.skip(f"this scikit-learn has no {name}")
    getattr(estimator_checks, name)(type(model).__name__, clone(model))


def test_comparers_are_split_by_outcome_and_rankers_are_not():
    pairs, y = curved_pairs()
    rows = np.argsort(y, kind="stable")
    pairs, y = pairs[rows], y[rows]
    comparer, ranker = SVMCompare(C=10.0, gamma=0.1), RankSVM(C=10.0, gamma=0.1)
    for model, stratified in ((comparer, True), (ranker, False)):
        scores = cross_val_score(model, pairs, y, cv=3)
        folds = (StratifiedKFold(3) if stratified else KFold(3)).split(pairs, y)
        expected = [
            clone(model).fit(pairs[train], y[train]).score(pairs[test], y[test])
            for train, test in folds
        ]
        assert_allclose(scores, expected)


def test_a_ranker_has_no_classes_to_renumber():
    pairs, y = curved_pairs()
    with pytest.raises(ValueError, match=r"y must hold -1.*0 \(tie\).*\(2\)"):
        cross_val_predict(RankSVM(), pairs, y, cv=3, method="decision_function")
