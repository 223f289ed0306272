# SPDX-License-Identifier: BSD-3-Clause
"""Utilities that are served without Python: export to ONNX."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    L1Ranker,
    LogisticCompare,
    MatchingPursuit,
    NystroemMap,
    OnItems,
    OrderSVM,
    OrdinalSVM,
    Pairs,
    RankBoost,
    RankingPursuit,
    RankRLS,
    RankSVM,
    SVMCompare,
    SwapSVM,
    to_onnx,
)

runtime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
pytest.importorskip("onnx", reason="the extra onnx is not installed")


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 0.0]
    return X, np.round(X[:, 0] + np.sin(X[:, 1]))


def run(graph, X):
    """What a server does: no scikit-learn, no tiebreak."""
    session = runtime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(["utility"], {"items": X})[0]


def scaled(model):
    return make_pipeline(StandardScaler(), model)


RANKERS = {
    "linear": scaled(RankSVM(kernel="linear")),
    "without mean": make_pipeline(
        StandardScaler(with_mean=False), RankSVM(kernel="linear")
    ),
    "rbf": scaled(RankSVM()),
    "poly": scaled(RankRLS(kernel="poly", degree=2, coef0=1.0)),
    "pursuit": scaled(RankingPursuit(8)),
    "grades": scaled(OrdinalSVM()),
    "orders": scaled(OrderSVM()),
    "swaps": scaled(SwapSVM()),
    "one norm": scaled(L1Ranker(1.0)),
    "values": scaled(MatchingPursuit(8)),
    **{
        f"nystroem {kernel}": make_pipeline(
            StandardScaler(),
            NystroemMap(kernel, coef0=1.0, n_landmarks=20, random_state=0),
            RankSVM(kernel="linear", loss="squared_hinge"),
        )
        for kernel in ("linear", "poly", "rbf")
    },
}


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_is_the_same_function_in_onnx(name, items):
    """A pipeline in, a graph out; utilities agree to rounding."""
    X, y = items
    y = np.clip(y, -1, 1) if name == "grades" else y
    model = RANKERS[name].fit(X, y)
    expected = model[-1].utility(model[:-1].transform(X))
    np.testing.assert_allclose(run(to_onnx(model), X), expected, rtol=1e-8, atol=1e-8)
    single = run(to_onnx(model, dtype="float32"), X.astype(np.float32))
    np.testing.assert_allclose(single, expected, atol=1e-3 * np.ptp(expected))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", [SVMCompare, LogisticCompare])
def test_a_comparer_gives_utilities_to_be_subtracted(kind, kernel, items):
    """The outcome is in the difference of two utilities and the threshold."""
    X, _ = items
    rng = np.random.default_rng(1)
    pairs = Pairs(X, rng.integers(0, 30, 200), rng.integers(30, 60, 200))
    y = np.sign(np.round(X[pairs.right, 0] - X[pairs.left, 0])).astype(int)
    model = make_pipeline(OnItems(StandardScaler()), kind(kernel=kernel)).fit(pairs, y)
    utility = run(to_onnx(model), X)
    d = utility[pairs.right] - utility[pairs.left]
    np.testing.assert_allclose(d, model[-1].difference(model[0].transform(pairs)))
    outcome = np.where(np.abs(d) <= model[-1].threshold_, 0, np.sign(d))
    np.testing.assert_array_equal(outcome, model.predict(pairs))


def test_what_cannot_be_written_is_refused(items):
    """A graph that leaves something out would be wrong in silence."""
    X, y = items
    with pytest.raises(TypeError, match="cannot write PCA; before the model"):
        to_onnx(make_pipeline(PCA(), RankSVM(kernel="linear")).fit(X, y))
    with pytest.raises(TypeError, match="cannot write this RankBoost"):
        to_onnx(RankBoost(5).fit(X, y))
    names = BradleyTerry().fit(Pairs(left=["a", "b"], right=["b", "a"]), [-1, -1])
    with pytest.raises(TypeError, match="cannot write this BradleyTerry"):
        to_onnx(names)
    with pytest.raises(ValueError, match="dtype='half'"):
        to_onnx(names, dtype="half")
