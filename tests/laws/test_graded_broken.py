# SPDX-License-Identifier: BSD-3-Clause
"""Every law of graded items can fail: for each one a model that breaks it.

The models here are a linear `RankSVM` with one thing done wrong, the kind of mistake
that the law is there for. The unbroken model passes all laws in
``test_graded_laws.py``.
"""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from tests.laws.graded import DENSE, ORDERS, PANDAS, SPARSE
from tests.laws.graded_cases import MODELS, NEWTON, make_data
from tests.laws.graded_laws import LAWS
from tiebreak import Orders, Pairs, RankSVM
from tiebreak.data import is_pairs


class ConstructorConverts(RankSVM):
    def __init__(self, C=1, kernel="linear", loss="squared_hinge", tol=1e-12):
        super().__init__(float(C), kernel=kernel, loss=loss, tol=tol)


class CloneKeepsTheFit(RankSVM):
    def __sklearn_clone__(self):
        return copy.deepcopy(self)


class OrderNeedsNoFit(RankSVM):
    def order(self, X, qid=None):
        return np.arange(len(X)) if not hasattr(self, "coef_") else super().order(X)


class FitSetsC(RankSVM):
    def fit(self, X, y=None, **rest):
        self.C = 2.0
        return super().fit(X, y, **rest)


class EveryFitIsAnother(RankSVM):
    fits = 0

    def fit(self, X, y=None, **rest):
        EveryFitIsAnother.fits += 1
        super().fit(X, y, **rest)
        self.coef_ *= 1 + 1e-15 * self.fits
        return self


class StartsFromTheLastFit(RankSVM):
    def fit(self, X, y=None, **rest):
        before = getattr(self, "n_features_in_", X.shape[-1])
        super().fit(X, y, **rest)
        self.before_ = before
        return self


class FillsInMissingFeatures(RankSVM):
    def utility(self, X):
        return X @ self.coef_[: X.shape[1]]


class LooksAtNoNames(RankSVM):
    def utility(self, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().utility(np.asarray(X))


class InventsNames(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
        return self


class SortsTheGrades(RankSVM):
    def fit(self, X, y=None, **rest):
        y.sort()
        return super().fit(X, y, **rest)


class KeepsTheItems(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self._items = X
        return self

    def utility(self, X):
        return super().utility(X) + np.abs(self._items).sum()


class ForgetsOnTheWay(RankSVM):
    def __setstate__(self, state):
        super().__setstate__(state)
        if hasattr(self, "coef_"):
            self.coef_ = self.coef_.astype(np.float32)


class NormalizesWeights(RankSVM):
    def fit(self, X, y=None, *, sample_weight=None, **rest):
        if sample_weight is not None:
            sample_weight = sample_weight / sample_weight.sum()
        return super().fit(X, y, sample_weight=sample_weight, **rest)


class WeighsPairsByTheSum(RankSVM):
    def fit(self, X, y=None, *, sample_weight=None, **rest):
        if sample_weight is not None:
            sample_weight = np.sqrt(sample_weight)
        return super().fit(X, y, sample_weight=sample_weight, **rest)


class RoundsUpWeights(RankSVM):
    def fit(self, X, y=None, *, sample_weight=None, **rest):
        if sample_weight is not None:
            sample_weight = np.maximum(sample_weight, 0.1)
        return super().fit(X, y, sample_weight=sample_weight, **rest)


class WarnsOfAbsentGroups(RankSVM):
    def fit(self, X, y=None, *, qid=None, sample_weight=None):
        if sample_weight is not None:
            rows = sample_weight > 0
            X, y, qid = X[rows], y[rows], np.where(rows, qid, "absent")[rows]
            X, y = np.append(X, X[:1], axis=0), np.append(y, 0)
            qid = np.append(qid, "absent")
        return super().fit(X, y, qid=qid)


class TakesNeighborsForGroups(RankSVM):
    """Takes every seven rows for a group."""

    def fit(self, X, y=None, *, qid=None, **rest):
        rows = np.arange(len(y)) // 7
        return super().fit(X, y, qid=rows, **rest)


class SplitsGroupsByNumber(RankSVM):
    def fit(self, X, y=None, *, qid=None, **rest):
        return super().fit(X, y, qid=np.asarray(qid).astype(float), **rest)


class DividesByTheGroups(RankSVM):
    def fit(self, X, y=None, *, qid=None, **rest):
        n_groups = len(set(np.asarray(qid).tolist()))
        model = RankSVM(self.C / n_groups, kernel="linear", **NEWTON)
        vars(self).update(vars(model.fit(X, y, qid=qid, **rest)))
        return self


class ForgetsTheGroups(RankSVM):
    def fit(self, X, y=None, *, qid=None, **rest):
        return super().fit(X, y, **rest)


class WeighsByTheGrade(RankSVM):
    def fit(self, X, y=None, *, sample_weight=None, **rest):
        return super().fit(X, y, sample_weight=1.0 + np.abs(y), **rest)


class WarnsTwice(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        return super().fit(X, y, **rest)


class DropsZeros(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        if sp.issparse(X):
            self.coef_[0] = 0
        return self


class ReadsOrdersBackwards(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        if isinstance(X, Orders):
            self.coef_ *= -1
        return self


class DependsOnThePrecision(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.coef_ = self.coef_.astype(X.dtype)
        return self


class ReadsTheBuffer(RankSVM):
    def fit(self, X, y=None, **rest):
        X = np.asarray(X).ravel(order="K").reshape(X.shape)
        return super().fit(X, y, **rest)


class DependsOnTheOrigin(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.coef_ *= 1 + X.mean()
        return self


class PredictsRanks(RankSVM):
    def predict(self, X):
        if is_pairs(X):
            return super().predict(X)
        return np.argsort(np.argsort(self.utility(X)))


class DoublesDifferences(RankSVM):
    def difference(self, X):
        return 2 * super().difference(X)


class CentersEveryBatch(RankSVM):
    def utility(self, X):
        utility = super().utility(X)
        return utility - utility.mean()


class DependsOnThePlace(RankSVM):
    def utility(self, X):
        return super().utility(X) + 1e-15 * np.arange(len(X))


class TurnsAnAscendingOrder(RankSVM):
    def order(self, X, qid=None):
        return np.argsort(self.utility(X), kind="stable")[::-1]


class SortsGroups(RankSVM):
    def order(self, X, qid=None):
        best = np.argsort(-self.utility(X), kind="stable")
        return [best[qid[best] == group] for group in np.unique(qid)]


class ScoresAcrossGroups(RankSVM):
    def score(self, X, y=None, *, qid=None, sample_weight=None):
        everything = None if qid is None else np.zeros(len(y))
        return super().score(X, y, qid=everything, sample_weight=sample_weight)


class ScoresWithoutWeights(RankSVM):
    def score(self, X, y=None, *, qid=None, sample_weight=None):
        return super().score(X, y, qid=qid)


class LearnsTheOpposite(RankSVM):
    def fit(self, X, y=None, **rest):
        return super().fit(X, -y, **rest)


class ScoresWithoutGroups(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.fitted_with_qid_ = False
        return self


class HasAThreshold(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.threshold_ = 0.0
        return self


class ClaimsTooMuch(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.gap_ = 1e-3
        return self


class CountsTies(RankSVM):
    def fit(self, X, y=None, **rest):
        super().fit(X, y, **rest)
        self.n_pairs_ = len(y) * (len(y) - 1) // 2
        return self


class RemembersPairs(RankSVM):
    def fit(self, X, y=None, **rest):
        compared = isinstance(X, Pairs) or getattr(self, "compared_", False)
        super().fit(X, y, **rest)
        self.compared_ = compared
        return self


BROKEN = [
    ("constructor_stores", ConstructorConverts, DENSE),
    ("clone", CloneKeepsTheFit, DENSE),
    ("unfitted", OrderNeedsNoFit, DENSE),
    ("fit_keeps_parameters", FitSetsC, DENSE),
    ("repeated_fit", EveryFitIsAnother, DENSE),
    ("refit_forgets", StartsFromTheLastFit, DENSE),
    ("refit_after_pairs", RemembersPairs, DENSE),
    ("feature_count", FillsInMissingFeatures, DENSE),
    ("feature_names", LooksAtNoNames, PANDAS),
    ("no_feature_names", InventsNames, DENSE),
    ("read_only_input", SortsTheGrades, DENSE),
    ("inputs_are_not_kept", KeepsTheItems, DENSE),
    ("pickle", ForgetsOnTheWay, DENSE),
    ("joblib", ForgetsOnTheWay, DENSE),
    ("weight_one", NormalizesWeights, DENSE),
    ("weight_two", WeighsPairsByTheSum, DENSE),
    ("weight_two", NormalizesWeights, ORDERS),
    ("weight_zero", RoundsUpWeights, DENSE),
    ("weight_zero", RoundsUpWeights, ORDERS),
    ("weight_zero", WarnsOfAbsentGroups, DENSE),
    ("row_order", TakesNeighborsForGroups, DENSE),
    ("group_names", SplitsGroupsByNumber, DENSE),
    ("groups_are_sums", DividesByTheGroups, DENSE),
    ("groups_matter", ForgetsTheGroups, DENSE),
    ("increasing_grades", WeighsByTheGrade, DENSE),
    ("grades_within_groups", WeighsByTheGrade, DENSE),
    ("grades_within_groups", ForgetsTheGroups, DENSE),
    ("idle_groups", ForgetsTheGroups, DENSE),
    ("idle_groups", WarnsTwice, DENSE),
    ("same_as_dense", DropsZeros, SPARSE),
    ("grades_of_orders", ReadsOrdersBackwards, DENSE),
    ("number_types", DependsOnThePrecision, DENSE),
    ("memory_layout", ReadsTheBuffer, DENSE),
    ("translation", DependsOnTheOrigin, DENSE),
    ("prediction_of_items", PredictsRanks, DENSE),
    ("comparison_of_items", DoublesDifferences, DENSE),
    ("prediction_by_row", CentersEveryBatch, DENSE),
    ("identical_items", DependsOnThePlace, DENSE),
    ("order", TurnsAnAscendingOrder, DENSE),
    ("order_of_groups", SortsGroups, DENSE),
    ("score", ScoresAcrossGroups, DENSE),
    ("score", ScoresWithoutWeights, DENSE),
    ("score_of_training", LearnsTheOpposite, DENSE),
    ("score_needs_groups", ScoresWithoutGroups, DENSE),
    ("ranker", HasAThreshold, DENSE),
    ("certificate", ClaimsTooMuch, DENSE),
    ("number_of_pairs", CountsTies, DENSE),
]
# What a broken model raises by itself; every other law must say so.
OWN_ERROR = {
    SortsTheGrades: ValueError,  # memory that is read-only
    SplitsGroupsByNumber: ValueError,  # names are no numbers
    WarnsOfAbsentGroups: UserWarning,
}
LINEAR = next(model for model in MODELS if model.name == "RankSVM(linear)")


@pytest.mark.parametrize(
    ("law", "broken", "shape"),
    [pytest.param(*b, id=f"{b[0]}-{b[1].__name__}-{b[2].name}") for b in BROKEN],
)
def test_a_law_finds_the_model_that_breaks_it(law, broken, shape):
    data = make_data(LINEAR, shape)
    with pytest.raises(OWN_ERROR.get(broken, AssertionError)):
        LAWS[law](lambda: broken(kernel="linear", **NEWTON), data)


def test_a_file_of_another_model_is_not_the_model(monkeypatch):
    """The files take our own classes only, so here the file is what is broken."""
    data = make_data(LINEAR, DENSE)
    other = data.fit(RankSVM(2.0, kernel="linear", **NEWTON))
    monkeypatch.setattr("tests.laws.graded_fitting.load", lambda file: other)
    with pytest.raises(AssertionError):
        LAWS["model_file"](LINEAR.make, data)


def test_there_is_a_broken_model_for_every_law():
    assert {law for law, _, _ in BROKEN} | {"model_file"} == set(LAWS)
