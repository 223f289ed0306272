# SPDX-License-Identifier: BSD-3-Clause
"""Models in MLflow, without pickles."""

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import StandardScaler

from tiebreak import LogisticCompare, OnItems, Pairs, make_pipeline
from tiebreak.persistence import TRUSTED


def fitted():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(30, 3))
    pairs = Pairs(items, range(30), rng.permutation(30))
    y = np.sign(items[pairs.right, 0] - items[pairs.left, 0]).astype(int)
    model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    return model.fit(pairs, y), items


def test_skops_needs_the_types_that_are_listed():
    model, items = fitted()
    data = skops.io.dumps(model)  # as MLflow does it
    needed = skops.io.get_untrusted_types(data=data)
    assert needed and set(needed) <= set(TRUSTED)
    again = skops.io.loads(data, trusted=list(TRUSTED))
    assert np.array_equal(again.utility(items), model.utility(items))


@pytest.mark.filterwarnings("ignore::UserWarning:mlflow")  # of its own type hints
def test_mlflow_keeps_a_model_by_skops(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    model, items = fitted()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.sklearn.save_model(
        model,
        tmp_path / "model",
        serialization_format="skops",
        skops_trusted_types=list(TRUSTED),
    )
    again = mlflow.sklearn.load_model(tmp_path / "model")
    assert np.array_equal(again.utility(items), model.utility(items))
