# SPDX-License-Identifier: BSD-3-Clause
"""Every law can fail: for each one a model that breaks it, and no other reason why.

The models here are a `RankSVM` (or another model) with one thing done wrong, the kind
of mistake that the law is there for. The unbroken model passes all laws in
``test_laws.py``.
"""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from tests.laws.cases import MODELS, make_data
from tests.laws.comparisons import ARRAY, DENSE, PANDAS, SPARSE
from tests.laws.laws import LAWS
from tiebreak import Pairs, RankSVM, SVMCompare
from tiebreak.models.base import OUTCOMES


class CloneKeepsTheFit(RankSVM):
    def __sklearn_clone__(self):
        return copy.deepcopy(self)


class OrderNeedsNoFit(RankSVM):
    def order(self, X, qid=None):
        return np.arange(len(X)) if not hasattr(self, "coef_") else super().order(X)


class FitSetsC(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        self.C = 2.0
        return super().fit(X, y, sample_weight=sample_weight)


class EveryFitIsAnother(RankSVM):
    fits = 0

    def fit(self, X, y, *, sample_weight=None):
        EveryFitIsAnother.fits += 1
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ *= 1 + 1e-15 * self.fits
        return self


class RemembersTheFirstFit(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        first = getattr(self, "first_", len(y))
        super().fit(X, y, sample_weight=sample_weight)
        self.first_ = first
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
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
        return self


class WritesIntoTheWeights(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        if sample_weight is not None:
            sample_weight /= sample_weight.mean()
        return super().fit(X, y, sample_weight=sample_weight)


class KeepsTheItems(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self._items = X.values
        return self

    def difference(self, X):
        return super().difference(X) + np.abs(self._items).sum()


class ForgetsOnTheWay(RankSVM):
    def __setstate__(self, state):
        super().__setstate__(state)
        self.coef_ = self.coef_.astype(np.float32)


class IgnoresWeights(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y)


class RoundsUpWeights(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        if sample_weight is not None:
            sample_weight = np.maximum(sample_weight, 0.1)
        return super().fit(X, y, sample_weight=sample_weight)


class NormalizesWeights(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        if sample_weight is not None:
            sample_weight = sample_weight / sample_weight.sum()
        return super().fit(X, y, sample_weight=sample_weight)


class PrefersLeft(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y, sample_weight=np.where(np.asarray(y) < 0, 2.0, 1.0))


class HasASideBias(RankSVM):
    def difference(self, X):
        return super().difference(X) + 0.01


class LooksAtTheFirstRows(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X[:20], y[:20])


class LooksAtTheFirstItem(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ += X.values[0]
        return self


class ScalesByAllItems(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ /= X.values.std()
        return self


class CentersSparseItems(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        if sp.issparse(X.values):
            self.coef_[0] = 0
        return self


class DependsOnThePrecision(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ = self.coef_.astype(X.dtype)
        return self


class DependsOnTheLastBits(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ += (1e7 * np.abs(X.values)).sum(axis=0) % 1
        return self


class PredictsFloats(RankSVM):
    def predict(self, X):
        return super().predict(X).astype(float)


class PredictsNoLoss(RankSVM):
    def predict(self, X):
        return np.abs(super().predict(X))


class DoublesDifferences(RankSVM):
    def difference(self, X):
        return 2 * super().difference(X)


class PredictsRanks(RankSVM):
    def predict(self, X):
        if isinstance(X, Pairs):
            return super().predict(X)
        return np.argsort(np.argsort(self.utility(X)))


class CentersEveryBatch(RankSVM):
    def difference(self, X):
        difference = super().difference(X)
        return difference - difference[0]


class SignOnly(SVMCompare):
    def predict(self, X):
        return np.sign(self.difference(X)).astype(np.int8)


class TiesBelowTheThreshold(SVMCompare):
    def predict(self, X):
        difference = self.difference(X)
        return np.sign(difference) * (np.abs(difference) >= self.threshold_)


class ScoresTheDifference(RankSVM):
    def decision_function(self, X):
        return self.difference(X) if isinstance(X, Pairs) else self.utility(X)


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


class DependsOnTheOrigin(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.coef_ *= 1 + X.values.mean()
        return self


class SharesItsClasses(SVMCompare):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.classes_ = SHARED
        return self


SHARED = OUTCOMES.copy()


class HasAThreshold(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.threshold_ = 0.0
        return self


class ScoresWithoutWeights(RankSVM):
    def score(self, X, y=None, *, qid=None, sample_weight=None):
        return super().score(X, y)


class LearnsTheOpposite(RankSVM):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, -y, sample_weight=sample_weight)


BROKEN = [
    ("clone", CloneKeepsTheFit, DENSE),
    ("unfitted", OrderNeedsNoFit, DENSE),
    ("fit_keeps_parameters", FitSetsC, DENSE),
    ("repeated_fit", EveryFitIsAnother, DENSE),
    ("refit_forgets", RemembersTheFirstFit, DENSE),
    ("feature_count", FillsInMissingFeatures, DENSE),
    ("feature_names", LooksAtNoNames, PANDAS),
    ("no_feature_names", InventsNames, DENSE),
    ("read_only_input", WritesIntoTheWeights, DENSE),
    ("inputs_are_not_kept", KeepsTheItems, DENSE),
    ("pickle", ForgetsOnTheWay, DENSE),
    ("joblib", ForgetsOnTheWay, DENSE),
    ("weight_two", IgnoresWeights, DENSE),
    ("weight_zero", RoundsUpWeights, DENSE),
    ("weight_one", NormalizesWeights, DENSE),
    ("swapped_training", PrefersLeft, DENSE),
    ("swapped_prediction", HasASideBias, DENSE),
    ("swapped_prediction", HasASideBias, ARRAY),
    ("row_order", LooksAtTheFirstRows, DENSE),
    ("item_order", LooksAtTheFirstItem, DENSE),
    ("unused_items", ScalesByAllItems, DENSE),
    ("same_as_dense", CentersSparseItems, SPARSE),
    ("number_types", DependsOnThePrecision, ARRAY),
    ("float32_is_close", DependsOnTheLastBits, DENSE),
    ("outcomes", PredictsFloats, DENSE),
    ("both_signs", PredictsNoLoss, DENSE),
    ("difference", DoublesDifferences, DENSE),
    ("prediction_of_items", PredictsRanks, DENSE),
    ("prediction_by_row", CentersEveryBatch, DENSE),
    ("signs_and_threshold", SignOnly, DENSE),
    ("exactly_at_the_threshold", TiesBelowTheThreshold, DENSE),
    ("scores", ScoresTheDifference, DENSE),
    ("identical_items", DependsOnThePlace, DENSE),
    ("order", TurnsAnAscendingOrder, DENSE),
    ("order_of_groups", SortsGroups, DENSE),
    ("translation", DependsOnTheOrigin, DENSE),
    ("classes", SharesItsClasses, DENSE),
    ("ranker", HasAThreshold, DENSE),
    ("score", ScoresWithoutWeights, DENSE),
    ("learns", LearnsTheOpposite, DENSE),
]
LINEAR = next(model for model in MODELS if model.name == "RankSVM(linear)")


@pytest.mark.parametrize(
    ("law", "broken", "shape"),
    [pytest.param(*b, id=f"{b[0]}-{b[1].__name__}-{b[2].name}") for b in BROKEN],
)
def test_a_law_finds_the_model_that_breaks_it(law, broken, shape):
    data = make_data(LINEAR, shape)
    # Writing into memory that is read-only is numpy's error, all others are ours.
    error = ValueError if law == "read_only_input" else AssertionError
    with pytest.raises(error):
        LAWS[law](lambda: broken(kernel="linear", tol=1e-10), data)


def test_there_is_a_broken_model_for_every_law():
    assert {law for law, _, _ in BROKEN} == set(LAWS)
