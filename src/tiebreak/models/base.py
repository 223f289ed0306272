# SPDX-License-Identifier: BSD-3-Clause
"""What every model can do once it has a utility.

Boundary conventions: a difference of utilities exactly at the threshold is a tie
(``|difference| <= threshold_``), and so is a difference of exactly zero where there
is no threshold. Equal utilities keep the order of their rows in ``order``.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tiebreak.data import (
    ItemTable,
    Orders,
    Pairs,
    as_items,
    as_pairs,
    check_grades,
    check_weights,
    is_pairs,
)
from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.columns import row_slices
from tiebreak.data.messages import DataWarning, FitWarning, closest, warn_user
from tiebreak.data.outcome import OUTCOMES, decode_outcomes
from tiebreak.data.parameters import Values, check_parameters
from tiebreak.data.validation import check_features
from tiebreak.metrics import comparison_accuracy, swapped_pairs
from tiebreak.metrics.metric_inputs import as_outcomes, outcome_vector


class ThresholdWarning(FitWarning):
    """A comparer predicts no tie, or nothing else; try ThresholdCompare."""


def to_outcomes(difference: Floats, threshold: float) -> NDArray[np.int8]:
    """Turn differences r(right) - r(left), shape (n,), into outcomes -1, 0, +1."""
    right, left = difference > threshold, difference < -threshold
    return right.astype(np.int8) - left.astype(np.int8)


Fit = TypeVar("Fit", bound=Callable[..., Any])


def fits_outcomes(fit: Fit) -> Fit:
    """Let the ``fit`` of a comparer take outcomes that scikit-learn has renumbered.

    It sets ``classes_``, in which predictions are given and scores are read.
    """

    @wraps(fit)
    def decoded(self: Any, X: Any, y: Any = None, **columns: Any) -> Any:
        by_name = not self._fits_items
        of_pairs, classes = is_pairs(X, by_name), OUTCOMES.copy()
        if of_pairs:
            y, classes = decode_outcomes(y)
        fit(self, X, y, **columns)
        if of_pairs or isinstance(self, ClassifierMixin):
            self.classes_ = classes
        return self

    return cast(Fit, decoded)


def outcome_scores(difference: Floats, threshold: float) -> Floats:
    """Scores of left, tie and right, shape (n, 3); the largest says `to_outcomes`."""
    size = np.abs(difference)
    tie = threshold - size
    # At the threshold the score of a side is 0, and that of the tie must be above it.
    tie = np.where(size <= threshold, np.maximum(tie, np.finfo(float).tiny), tie)
    return np.stack([-difference - threshold, tie, difference - threshold], axis=1)


class UtilityMixin:
    """Predictions, orders and scores of a model that has a utility.

    A subclass implements ``_utility(table)``, or for items without features has
    ``items_`` (names) and ``coef_`` (utilities). ``threshold_`` is the largest tie.
    """

    items_: np.ndarray
    coef_: Floats
    item_coef_: Floats
    dual_coef_: Floats
    threshold_: float
    classes_: np.ndarray

    __metadata_request__score: ClassVar = {"qid": True}

    _parameters: ClassVar[Mapping[str, Values]] = {}
    # Shapes and ranges of arrays in model files: see `persistence.checks.check_arrays`.
    _fitted_arrays: ClassVar[Mapping[str, str]] = {"items_": "n: any", "coef_": "p"}
    _fits_pairs: ClassVar[bool] = True
    _fits_items: ClassVar[bool] = False
    # Whether the utility of a team is the sum of its members'.
    _adds_members: bool = False
    # Largest difference that is a tie where there is no ``threshold_``.
    _tie_width: ClassVar[float] = 0.0

    if TYPE_CHECKING:  # fitted attributes, which type checkers cannot find

        def __getattr__(self, name: str) -> Any: ...

    def _utility(self, table: ItemTable) -> Floats:
        raise NotImplementedError

    @property
    def _by_name(self) -> bool:
        """Whether items are known by name, without features."""
        return hasattr(self, "items_")

    def utility(self, X: Any) -> Floats:
        """Utility r(x) of items; higher is better.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items, seen or unseen; their names for a model fitted without features.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        if is_pairs(X, self._by_name):
            raise TypeError(
                "utility takes items, got comparisons; for these use "
                "difference(pairs) or predict(pairs)."
            )
        if self._by_name:
            return self._utility_of_names(X)
        return self._utility_of_table(self._read_items(X))

    def _read_items(self, X: Any) -> ItemTable:
        """Read a table of items as numbers."""
        return as_items(X, name="X")

    def _utility_of_table(self, table: ItemTable) -> Floats:
        check_features(self, table)
        # Identical items get the identical utility, to the last bit: sums of products
        # can depend on where in the table a row stands.
        distinct, code = table.unique()
        return self._utility(distinct)[code]

    def _utility_of_names(self, names: Any) -> Floats:
        return self.coef_[self._places_of_names(names)]

    def _places_of_names(self, names: Any) -> NDArray[np.intp]:
        """Places of names among ``items_``; an unseen one is an error."""
        place = {name: i for i, name in enumerate(self.items_.tolist())}
        values = np.asarray(names)
        if values.ndim != 1:
            raise ValueError(
                f"{type(self).__name__} was fitted on items without features; expected "
                f"a list of their names, got shape {values.shape}."
            )
        unseen = [name for name in values.tolist() if name not in place]
        if unseen:
            shown = ", ".join(repr(name) for name in dict.fromkeys(unseen))
            raise ValueError(
                f"{len(set(unseen))} item(s) were not in the training comparisons: "
                f"{shown}. A model without features knows only the items in items_."
                f"{closest(unseen[0], place)}"
            )
        return np.array([place[name] for name in values.tolist()], dtype=np.intp)

    def difference(self, X: Any) -> Floats:
        """Difference of utilities, r(right) - r(left).

        Parameters
        ----------
        X : Pairs or array-like of shape (n, 2, n_features)
            Comparisons, without their outcomes.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        pairs = some_pairs(X, self._by_name).compact()
        utility, d = self._utility_of_items(pairs), np.empty(len(pairs))
        left, right = pairs.sides if self._adds_members else (pairs.left, pairs.right)
        utility = pairs.by_side(utility)
        for rows in row_slices(len(pairs)):
            d[rows] = utility[right[rows]] - utility[left[rows]]
        return d

    @available_if(is_classifier)
    def decision_function(self, X: Any) -> Floats:
        """Scores of left, tie and right for comparisons, or utilities of items.

        With d = r(right) - r(left) and τ = ``threshold_``, or 0, the columns are ::

            -d - τ,    τ - |d|,    d - τ,

        for the outcomes -1, 0, 1. The largest is that of ``predict``.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features) or items
            Dispatch is by type: Pairs and 3-D arrays are comparisons.

        Returns
        -------
        ndarray of shape (n, 3), or (n,) for items
        """
        check_is_fitted(self)
        if not is_pairs(X, self._by_name):
            return self.utility(X)
        return outcome_scores(
            self.difference(X), getattr(self, "threshold_", self._tie_width)
        )

    def _utility_of_items(self, pairs: Pairs) -> Floats:
        if self._by_name:
            return self._utility_of_names(self._names_of(pairs))
        return self._utility_of_table(self._table_of(pairs))

    def _utility_of_entries(self, orders: Orders) -> Floats:
        if self._by_name:
            return self.utility(self._names_of(orders)[orders.flat])
        return self._utility_of_table(self._read_items(orders._features))[orders.flat]

    def _table_of(self, pairs: Pairs) -> ItemTable:
        if not pairs.has_features:
            raise TypeError(
                f"{type(self).__name__} was fitted on items with features; these Pairs "
                "have none (items=None)."
            )
        return self._read_items(pairs._features)

    def _names_of(self, data: Pairs | Orders) -> NDArray[Any]:
        if data.names is None:
            raise ValueError(
                f"{type(self).__name__} was fitted on items without features, so items "
                f"are known by name; these {type(data).__name__} have no names."
            )
        return data.names

    def predict(self, X: Any) -> NDArray[Any]:
        """Outcomes of comparisons, or utilities of items.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features) or items
            Dispatch is by type: Pairs and 3-D arrays are comparisons.

        Returns
        -------
        ndarray of shape (n,)
            -1 (left), 0 (tie) or +1 (right) for comparisons; utilities for items.
        """
        check_is_fitted(self)
        if is_pairs(X, self._by_name):
            return self._to_classes(self.difference(X))
        return self.utility(X)

    def _to_classes(self, difference: Floats) -> NDArray[np.int8]:
        """Outcomes of differences, as ``classes_`` numbers them."""
        outcome = to_outcomes(difference, getattr(self, "threshold_", self._tie_width))
        first = getattr(self, "classes_", OUTCOMES)[0]
        return outcome + np.int8(first + 1)

    def order(self, X: Any, qid: ArrayLike | None = None) -> Codes | list[Codes]:
        """Row numbers of items, best first; equal utilities keep their order.

        Parameters
        ----------
        X : items
            As in ``utility``.
        qid : array-like of shape (n,), optional
            Group of each item; each group is ordered by itself.

        Returns
        -------
        ndarray of int of shape (n,), or with ``qid`` a list of such
            One per group, groups in order of first appearance.
        """
        utility = self._utility_in_groups(X, qid)
        best_first = np.argsort(-utility, kind="stable")
        if qid is None:
            return best_first
        group = check_grades(np.zeros((len(utility), 1)), utility, qid).group
        return [best_first[rows] for rows in split_groups(group[best_first])]

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Accuracy on comparisons; 1 - swapped-pair fraction on graded items.

        Parameters
        ----------
        X : Pairs, array-like of shape (n, 2, n_features), Orders or items
            Test data.
        y : array-like of shape (n,), optional
            Outcomes of comparisons or grades of items; not for Orders.
        qid : array-like of shape (n,), optional
            Groups of graded items; required if the model was fitted with groups.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float between 0 and 1, higher is better
        """
        check_is_fitted(self)
        if is_pairs(X, self._by_name):
            return accuracy(self, y, self.predict(X), sample_weight)
        if isinstance(X, Orders):
            y, qid = X.entry_grades()
            utility = self._utility_of_entries(X)
            return 1.0 - swapped_pairs(y, utility, qid=qid, sample_weight=sample_weight)
        if qid is None and getattr(self, "fitted_with_qid_", False):
            raise ValueError(
                f"{type(self).__name__} was fitted with qid; score needs qid too. In a "
                "search turn on sklearn.set_config(enable_metadata_routing=True)."
            )
        utility = self._utility_in_groups(X, qid)
        return 1.0 - swapped_pairs(y, utility, qid=qid, sample_weight=sample_weight)

    def _utility_in_groups(self, X: Any, qid: Any) -> Floats:
        """Numbers in the order of the items of each group."""
        return self.utility(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = self._fits_items
        tags.input_tags.three_d_array = self._fits_pairs
        tags.input_tags.sparse = True
        # Of such input scikit-learn takes rows and columns when it splits. Comparisons
        # keep their whole item table, so models that fit both cannot ask for it.
        is_precomputed = getattr(self, "kernel", None) == "precomputed"
        tags.input_tags.pairwise = is_precomputed and not self._fits_pairs
        tags.target_tags.required = True
        if self._fits_items and tags.estimator_type is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") or hasattr(self, "items_")

    def _keep(self, fitted: dict[str, Any]) -> Self:
        """Replace the attributes of an earlier fit by these."""
        self._forget()
        self.__dict__.update(fitted)
        return self

    def _forget(self) -> Self:
        """Drop the attributes of an earlier fit."""
        for name in [k for k in vars(self) if k.endswith("_") and k[0] != "_"]:
            delattr(self, name)
        return self


def split_groups(group: Codes) -> list[Codes]:
    """Return the rows of each group."""
    order = np.argsort(group, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group))[:-1])


def some_pairs(X: Any, by_name: bool = False) -> Pairs:
    """Check comparisons without their outcomes: at least one."""
    pairs = as_pairs(X, by_name)
    if len(pairs) == 0:
        raise ValueError(
            "There are no comparisons: 0 sample(s) while a minimum of 1 is required."
        )
    return pairs


def clones_along(model: Any, name: str, values: Iterable[float]) -> list[Any]:
    """Return unfitted clones for the values of one parameter."""
    clones = [clone(model).set_params(**{name: value}) for value in values]
    if not clones:
        raise ValueError(f"a path needs at least one value of {name}, got none.")
    for one in clones:
        check_parameters(one)
    return clones


def end_of_pipeline(model: Any) -> tuple[Any, str]:
    """Return the last step of a Pipeline and its prefix in ``fit``."""
    if not hasattr(model, "steps"):
        return model, ""
    name, last = model.steps[-1]
    return last, "" if get_config()["enable_metadata_routing"] else f"{name}__"


def certificate(objective: float, solution: Any) -> dict[str, Any]:
    """Return the attributes on the accuracy of a convex solution."""
    return {
        "objective_": objective,
        "gap_": solution.gap,
        "n_iter_": solution.n_iter,
        "converged_": solution.converged,
    }


def warn_gap(model: Any, n_iter: int, gap: float) -> None:
    """Warn that the tolerance was not reached."""
    warn_user(
        f"{type(model).__name__} stopped after {n_iter} iterations with a relative "
        f"duality gap of {gap:.2g}, not tol={model.tol:g}. Try a larger max_iter.",
        ConvergenceWarning,
    )


def warn_flat(model: Any, why: str) -> None:
    """Warn that all utilities are equal."""
    warn_user(
        f"{type(model).__name__} gives all training items the same utility: {why}. "
        "Nothing was learned.",
        FitWarning,
    )


def warn_one_kind(y: NDArray[np.int8]) -> bool:
    """Warn of no ties, or of ties alone; return whether it did."""
    if not y.any():
        warn_user(
            "All comparisons are ties: the utility is zero everywhere and every "
            "prediction is a tie.",
            DataWarning,
        )
    elif y.all():
        warn_user(
            "There are no ties among the comparisons, so the model only orders, with "
            "threshold_ = 0.",
            DataWarning,
        )
    return not y.any() or bool(y.all())


def accuracy(
    model: Any,
    y: ArrayLike | None,
    predicted: NDArray[Any],
    sample_weight: ArrayLike | None,
) -> float:
    """Return the weighted share of outcomes that were predicted."""
    # Unlike in fit, a few rows without a left winner are nothing unusual.
    y, predicted = as_outcomes(model, y), as_outcomes(model, predicted)
    outcome = outcome_vector(y, "y", len(predicted))
    weight = check_weights(sample_weight, len(predicted))
    return comparison_accuracy(outcome, predicted, weight)
