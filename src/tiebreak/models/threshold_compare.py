# SPDX-License-Identifier: BSD-3-Clause
"""Any utility becomes a comparer by a threshold learned exactly.

Boundary convention: a difference exactly at the threshold is a tie.
"""

import copy
import sys
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from tiebreak.data import (
    Orders,
    Pairs,
    as_pairs,
    check_grades,
    check_weights,
    is_pairs,
    read_comparisons,
)
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.items import RawTable
from tiebreak.data.outcome import OUTCOMES
from tiebreak.data.parameters import COUNT, check_parameters
from tiebreak.data.validation import check_lists, pairs_within_groups
from tiebreak.metrics.scorers import last_step, utility_of
from tiebreak.models.base import ThresholdWarning, UtilityMixin, end_of_pipeline
from tiebreak.solvers import best_threshold


@dataclass(eq=False, repr=False)
class ThresholdCompare(UtilityMixin, ClassifierMixin, BaseEstimator):
    """Learn when a difference of utilities is a tie, for any ranker.

    The ranker is fitted on the training data; then the threshold ::

        τ = argmin_{τ ≥ 0}  Σ weight · [predicted outcome with τ ≠ y]

    over the same comparisons is found exactly, by sorting: a tie is
    ``|r(right) - r(left)| <= τ``. τ is the midpoint of the lowest optimal interval.

    Graded items and orders are compared within groups: equal grades and shared
    positions are ties, and a pair weighs w_i w_j.

    Parameters
    ----------
    ranker : estimator
        A model with utilities, or a Pipeline that ends with one. For graded items any
        scikit-learn regressor.
    max_pairs : int or None, default=2,000,000
        Graded items and orders: of more pairs, τ is learned from a random sample of
        this size, always the same. None: from all.

    Attributes
    ----------
    ranker_ : estimator
        The fitted ranker.
    threshold_, training_error_ : float
        τ, and the weighted share of training comparisons that it gets wrong.
    n_pairs_ : int
        Number of comparisons behind τ.
    classes_ : ndarray
        The outcomes -1, 0, 1.
    n_features_in_ : int
        Number of features, when the ranker knows it.

    Examples
    --------
    >>> from tiebreak import RankSVM, ThresholdCompare
    >>> from tiebreak.datasets import make_norms
    >>> data = make_norms(300, norm=2, random_state=0)
    >>> model = ThresholdCompare(RankSVM(ties="both")).fit(data.pairs, data.y)
    >>> bool(model.score(data.pairs, data.y) > 0.8)
    True
    """

    __module__ = "tiebreak"  # where users find it
    __metadata_request__fit: ClassVar = {"qid": True}

    ranker: Any
    _: KW_ONLY
    max_pairs: int | None = 2_000_000

    _parameters: ClassVar = {"max_pairs": COUNT | None}

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker, then the threshold.

        Parameters
        ----------
        X, y, qid
            As in ``RankSVM.fit``. The ranker gets ``qid`` if its ``fit`` takes it.
        sample_weight : array-like of shape (n,), optional
            As in ``RankSVM.fit``; with metadata routing, the ranker must request it.

        Returns
        -------
        Self
        """
        check_parameters(self)
        fit = self._fit_pairs if is_pairs(X) else self._fit_items
        return self._keep(fit(X, y, qid, sample_weight))

    def _fit_pairs(
        self, X: Any, y: Any, qid: Any, sample_weight: Any
    ) -> dict[str, Any]:
        data = read_comparisons(X, y, sample_weight, qid=qid, decode=True)
        if sample_weight is not None:
            # Rows without weight are absent also for steps that see no weights.
            X, sample_weight = data.pairs, data.weight
        draft = self._fit_ranker(X, data.y, {"sample_weight": sample_weight})
        difference = draft.difference(data.pairs)
        learned = _learn_threshold(difference, data.y, data.weight)
        return {**vars(draft), **learned, "classes_": data.classes}

    def _fit_items(
        self, X: Any, y: Any, qid: Any, sample_weight: Any
    ) -> dict[str, Any]:
        grade, group, weight = _graded_rows(X, y, qid, sample_weight)
        # Rows of a precomputed kernel belong to columns, so that none can be left out.
        kernel = getattr(end_of_pipeline(self.ranker)[0], "kernel", None)
        if not weight.all() and kernel != "precomputed":
            X, y, qid, sample_weight = _present(X, y, qid, sample_weight)
            grade, group, weight = _graded_rows(X, y, qid, sample_weight)
        draft = self._fit_ranker(X, y, {"qid": qid, "sample_weight": sample_weight})
        lists = isinstance(X, Orders)
        utility = draft._utility_of_entries(X) if lists else draft.utility(X)
        pairs = pairs_within_groups(group, grade, limit=self.max_pairs or sys.maxsize)
        if pairs.n_possible == 0:
            raise ValueError(
                f"None of the {group.max() + 1} group(s) has two items to compare. "
                "Check that qid is the group and not the row number."
            )
        left, right = pairs.left, pairs.right
        difference = utility[right] - utility[left]
        learned = _learn_threshold(difference, pairs.y, weight[left] * weight[right])
        learned["fitted_with_qid_"] = lists or qid is not None
        return {**vars(draft), **learned, "classes_": OUTCOMES.copy()}

    def _fit_ranker(self, X: Any, y: Any, columns: dict[str, Any]) -> Self:
        """Return a copy with a fitted ranker."""
        passed = {k: v for k, v in columns.items() if v is not None}
        params = self._names_of_ranker(passed)
        with warnings.catch_warnings():
            # The warning that advises what is being done here.
            warnings.simplefilter("ignore", ThresholdWarning)
            ranker = clone(self.ranker).fit(X, y, **params)
        draft = copy.copy(self)
        return draft._keep({"ranker_": ranker, "fitted_on_items_": not is_pairs(X)})

    def _names_of_ranker(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Names of weights and groups in the ranker's ``fit``."""
        if columns and get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **columns).ranker.fit)
        (last, prefix), names = end_of_pipeline(self.ranker), {}
        for name, values in columns.items():
            if has_fit_parameter(last, name):
                names[prefix + name] = values
            elif name == "sample_weight":
                raise ValueError(
                    f"{type(last).__name__} takes no sample_weight; leave it out, or "
                    "use a ranker that does."
                )
        return names

    @property
    def _by_name(self) -> bool:
        return hasattr(end_of_pipeline(self.ranker_)[0], "items_")

    @property
    def n_features_in_(self) -> int:
        """Number of features that the ranker was fitted on."""
        check_is_fitted(self)
        return int(self.ranker_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features that the ranker was fitted on."""
        check_is_fitted(self)
        return self.ranker_.feature_names_in_

    def utility(self, X: Any) -> Floats:
        """Utility of items, as the ranker gives it.

        Parameters
        ----------
        X : items
            As the ranker takes them.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if is_pairs(X):
            return super().utility(X)
        return np.asarray(utility_of(self.ranker_, X), dtype=np.float64)

    def _utility_of_entries(self, orders: Orders) -> Floats:
        if self._by_name:
            return super()._utility_of_entries(orders)
        return self.utility(_items_of(orders))[orders.flat]

    def difference(self, X: Any) -> Floats:
        """Difference of utilities, r(right) - r(left).

        Parameters
        ----------
        X
            As in ``RankSVM.difference``.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = as_pairs(X)
        # Pipelines and regressors that were fitted on items know no comparisons.
        if not self.fitted_on_items_ or isinstance(self.ranker_, UtilityMixin):
            last, data = last_step(self.ranker_, pairs)
            if hasattr(last, "difference"):
                return np.asarray(last.difference(data), dtype=np.float64)
        utility = self.utility(_items_of(pairs))
        return utility[pairs.right] - utility[pairs.left]

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata goes to the ranker.

        Returns
        -------
        MetadataRouter
        """
        fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(ranker=self.ranker, method_mapping=fit)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranker_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.ranker).input_tags.sparse
        return tags


def _items_of(pairs: Pairs | Orders) -> Any:
    if not pairs.has_features:
        return pairs.names
    names, table = pairs.feature_names, pairs._items
    if names is None or isinstance(table, RawTable) or pairs.table.is_sparse:
        return pairs.raw
    return pl.DataFrame(pairs.values, schema=list(names))


def _graded_rows(
    X: Any, y: Any, qid: Any, sample_weight: Any
) -> tuple[Floats, Codes, Floats]:
    """Give grade, group and weight of items or list entries."""
    if isinstance(X, Orders):  # whose items need no features here
        if X.unordered.any():
            raise ValueError(
                "ThresholdCompare learns ties, and these Orders have items in unknown "
                "order; fit the ranker alone."
            )
        weight = np.sqrt(check_lists(X, y, qid, sample_weight))
        return *X.entry_grades(), np.repeat(weight, X.lengths)
    # What the items must be is for the ranker to say.
    grades = check_grades(np.zeros((_num_samples(X), 1)), y, qid)
    return grades.y, grades.group, check_weights(sample_weight, len(grades.y))


def _present(X: Any, y: Any, qid: Any, sample_weight: Any) -> tuple[Any, Any, Any, Any]:
    """Leave out rows or lists of weight zero, also for steps that see no weights."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    rows = np.flatnonzero(weight)
    if isinstance(X, Orders):
        return X[rows], y, qid, weight[rows]
    qid = None if qid is None else _safe_indexing(qid, rows)
    return _safe_indexing(X, rows), _safe_indexing(y, rows), qid, weight[rows]


def _learn_threshold(
    difference: Floats, outcome: Any, weight: Floats
) -> dict[str, Any]:
    threshold, wrong = best_threshold(difference, outcome, weight)
    return {
        "threshold_": threshold,
        "training_error_": float(wrong / weight.sum()),
        "n_pairs_": len(outcome),
    }
