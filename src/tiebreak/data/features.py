# SPDX-License-Identifier: BSD-3-Clause
"""What an estimator remembers of the features it was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.data.items import ItemTable

__all__ = ["check_features", "remember_features"]


def remember_features(estimator: Any, table: ItemTable) -> None:
    """Set ``n_features_in_`` and, where the features have names, ``feature_names_in_``.

    Parameters
    ----------
    estimator : object
        Estimator that is being fitted.
    table : ItemTable
        Its training items.
    """
    estimator.n_features_in_ = table.n_features
    if table.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(table.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_features(estimator: Any, table: ItemTable) -> None:
    """Refuse items whose features are not those of the fit.

    Parameters
    ----------
    estimator : object
        Fitted estimator.
    table : ItemTable
        Items to predict.
    """
    if table.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {table.n_features} features, but {type(estimator).__name__} is "
            f"expecting {estimator.n_features_in_} features as input."
        )
    seen = getattr(estimator, "feature_names_in_", None)
    names = table.feature_names
    if seen is not None and names is not None and tuple(seen) != names:
        raise ValueError(
            "The feature names should match those that were passed during fit, in the "
            f"same order: got {list(names)}, expected {list(seen)}."
        )
