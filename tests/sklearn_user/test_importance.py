# SPDX-License-Identifier: BSD-3-Clause
"""What a feature is worth: scikit-learn's functions on the item table."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import LogisticCompare, OnItems, Pairs, RankRLS


def test_a_column_of_the_items_is_permuted():
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.normal(size=(60, 3)), columns=["size", "price", "noise"])
    left, right = rng.permuted(np.tile(np.arange(60), (400, 1)), axis=1)[:, :2].T
    worth = 2 * items["size"].to_numpy() - items["price"].to_numpy()
    y = np.sign(worth[right] - worth[left]).astype(int)
    model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    model.fit(Pairs(items, left, right), y)

    def accuracy(model, items, _):
        return model.score(Pairs(items, left, right), y)

    result = permutation_importance(
        model, items, None, scoring=accuracy, n_repeats=5, random_state=0
    )
    size, price, noise = result.importances_mean
    assert size > price > 0.1 > abs(noise)


def test_partial_dependence_of_the_utility():
    """A line for a linear model."""
    rng = np.random.default_rng(0)
    items, left = rng.normal(size=(30, 3)), rng.integers(30, size=100)
    pairs = Pairs(items, left, (left + rng.integers(1, 30, size=100)) % 30)
    y = np.sign((items[pairs.right] - items[pairs.left]) @ [2.0, -1.0, 0.0])
    for model, options in (
        (RankRLS(kernel="linear"), {}),
        (LogisticCompare(), {"response_method": "decision_function"}),
    ):
        model.fit(pairs, y.astype(int))
        result = partial_dependence(model, items, [0], grid_resolution=5, **options)
        slope = np.diff(result["average"][0]) / np.diff(result["grid_values"][0])
        assert_allclose(slope, model.coef_[0])
