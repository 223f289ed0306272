# SPDX-License-Identifier: BSD-3-Clause
"""Scikit-learn transformers on the items of comparisons and ranked lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from tiebreak.data.arrays import Floats
from tiebreak.data.items import ItemTable, RawTable, Table, as_table
from tiebreak.data.orders import Orders
from tiebreak.data.outcome import check_outcomes, decode_outcomes
from tiebreak.data.pairs import Pairs
from tiebreak.data.validation import (
    as_sides,
    check_features,
    check_weights,
    is_pairs,
    remember_features,
)


class OnItems(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply a transformer to items, inside a pipeline that ends in a comparer.

    The transformer is fitted on the items that the training rows touch, each once, and
    transforms the whole item table.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Its clone sees the items in their original form (frame, array or texts).

    Attributes
    ----------
    transformer_ : transformer
        The fitted clone.
    n_features_in_, feature_names_in_ : int, ndarray of str
        Number of the items' features, and their names, if any.
    fitted_on_frame_ : bool
        Whether the transformer was fitted on a frame.

    Notes
    -----
    The result is of the same kind as X: `Pairs`, `Orders`, a 3-D array, or a table of
    items, which the transformer gets with `y`. Let a ``OneHotEncoder`` ignore the
    categories that only held-out items have.

    Transformers that need a target, such as ``SelectKBest()``, get 1 for items that won
    at least as many training comparisons as they lost (in lists: against every lower
    item), else 0.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tiebreak import OnItems, Pairs
    >>> pairs = Pairs([[1.0], [3.0], [9.0]], left=[0, 0], right=[1, 1])
    >>> OnItems(StandardScaler()).fit_transform(pairs).values.ravel()
    array([-1.,  1.,  7.])
    >>> answers = Pairs(["a long answer", "an answer", "no"], left=[0], right=[1])
    >>> OnItems(TfidfVectorizer()).fit_transform(answers)
    Pairs(1 comparison of 3 items, 3 features, sparse)
    """

    __module__ = "tiebreak"  # where users find it

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> OnItems:
        """Fit the transformer on the items that the rows touch.

        Parameters
        ----------
        X : Pairs, Orders, array of shape (n, 2, n_features) or table of items
            The training rows.
        y : array-like of shape (n,), optional
            Outcomes, or the target of a table of items.
        sample_weight : array-like of shape (n,), optional
            Rows of weight zero are absent; others count in the target of items, or if
            the transformer takes weights.

        Returns
        -------
        OnItems
        """
        of_items = not (is_pairs(X) or isinstance(X, Orders))
        weights: dict[str, Any] = {}
        if sample_weight is not None:
            if of_items and has_fit_parameter(self.transformer, "sample_weight"):
                weights["sample_weight"] = sample_weight
            else:
                X, y, sample_weight = _present_rows(X, y, sample_weight)
        table = _table_of(X)
        if not of_items:
            y = _majorities(X, y, sample_weight, table.n_items)
        if isinstance(X, Pairs | Orders):
            touched = X.touched()
            table, y = table.take(touched), y if y is None else y[touched]
        remember_features(self, table)
        items = table.original() if isinstance(table, RawTable) else table.values
        self.fitted_on_frame_ = hasattr(items, "columns")
        self.transformer_ = clone(self.transformer)
        self.transformer_.fit(items, y, **weights)
        return self

    def set_output(self, *, transform: str | None = None) -> OnItems:
        """Choose the container of transformed items, as in scikit-learn.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Given to the transformer.

        Returns
        -------
        OnItems
        """
        for inner in (self.transformer, getattr(self, "transformer_", None)):
            if inner is not None:
                inner.set_output(transform=transform)
        return self

    def transform(self, X: Any) -> Any:
        """Transform all items of X.

        Parameters
        ----------
        X : Pairs, Orders, array of shape (n, 2, n_features) or table of items
            The rows.

        Returns
        -------
        Pairs, Orders, array or DataFrame
        """
        check_is_fitted(self)
        table = _table_of(X)
        check_features(self, table)
        values = self.transformer_.transform(self._as_fitted(table))
        if not (is_pairs(X) or isinstance(X, Orders)) and hasattr(values, "columns"):
            if hasattr(X, "index") and hasattr(values, "index"):
                values.index = X.index
            return values
        new = self._new_table(table, values)
        if isinstance(X, Pairs | Orders):
            return X.with_items(new)
        if is_pairs(X):
            dense = new.original() if isinstance(new, RawTable) else new.dense()
            return np.reshape(dense, (len(X), 2, new.n_features))
        return _like(X, new)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Name the features that `transform` gives.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features that go in; those seen in `fit` if None.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is None:
            input_features = getattr(self, "feature_names_in_", None)
        return self.transformer_.get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.transformer)
        both = {"two_d_array": True, "three_d_array": True}
        tags.input_tags = replace(inner.input_tags, **both)
        tags.target_tags = inner.target_tags
        return tags

    def _new_table(self, table: Table, values: Any) -> Table:
        label = type(self.transformer_).__name__
        new = as_table(values, name=f"items after {label}")
        names = new.feature_names
        if table.feature_names and hasattr(self.transformer_, "get_feature_names_out"):
            columns = np.asarray(table.feature_names, dtype=object)
            names = tuple(self.transformer_.get_feature_names_out(columns))
        if isinstance(new, RawTable):
            return RawTable(new.source, None, new.numbers, names)
        return ItemTable(new.values, names)

    def _as_fitted(self, table: Table) -> Any:
        """Give items as the transformer was fitted: in a frame or not."""
        framed, names = getattr(self, "fitted_on_frame_", False), table.feature_names
        if isinstance(table, RawTable):
            numbers = None if framed else table.numbers
            return table.original() if numbers is None else numbers.values
        if framed and names is not None and not table.is_sparse:
            return pl.DataFrame(table.values, schema=list(names))
        return table.values


def _table_of(X: Any) -> Table:
    if isinstance(X, Pairs | Orders):
        return X._features
    if is_pairs(X):
        sides = as_sides(X)
        return as_table(sides.reshape(2 * len(sides), sides.shape[2]), name="X")
    return as_table(X, name="X")


def _present_rows(X: Any, y: Any, sample_weight: ArrayLike) -> tuple[Any, Any, Floats]:
    """Leave out the rows of weight zero."""
    if not isinstance(X, Pairs | Orders):
        X = as_sides(X) if is_pairs(X) else as_table(X, name="X")
    weight = check_weights(sample_weight, len(X))
    present = weight > 0
    if y is not None:
        y = np.asarray(y)[present]
    if isinstance(X, ItemTable | RawTable):
        return X.take(np.flatnonzero(present)), y, weight[present]
    return X[present], y, weight[present]


def _majorities(X: Any, y: Any, weight: Any, n_items: int) -> NDArray[Any] | None:
    """Return 1 for items that won at least as often as they lost, else 0."""
    if weight is None:
        weight = np.ones(len(X))
    if isinstance(X, Orders):
        grade, row = X.entry_grades()
        key = row * (np.ptp(grade) + 1.0) + (grade - grade.min())
        # Rank from the middle of the list: half of the lower items minus the higher.
        lead = rankdata(key) - X.indptr[row] - (X.lengths[row] + 1) / 2
        return (np.bincount(X.flat, weight[row] * lead, n_items) >= 0).astype(int)
    if y is None:
        return None
    outcome = weight * check_outcomes(decode_outcomes(y)[0], len(X))
    left, right = np.arange(2 * len(X)).reshape(-1, 2).T
    if isinstance(X, Pairs):
        left, right = X.left, X.right
    lead = np.bincount(right, outcome, n_items) - np.bincount(left, outcome, n_items)
    return (lead >= 0).astype(int)


def _like(X: Any, table: Table) -> Any:
    """Give the new features of a DataFrame as a DataFrame, else as an array."""
    if isinstance(table, RawTable):
        return table.original()
    names = table.feature_names
    if names is None or table.is_sparse or not hasattr(X, "columns"):
        return table if isinstance(X, ItemTable) else table.values
    if hasattr(X, "iloc"):
        return type(X)(table.values, columns=list(names), index=X.index)
    return type(X)(table.values, schema=list(names))
