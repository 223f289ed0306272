# SPDX-License-Identifier: BSD-3-Clause
"""Models fitted on partitions are those fitted on all rows."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak import LogisticCompare, NystroemMap, RankRLS, RankSVM, load, save
from tiebreak.outofcore import PartitionedPairs, PartitionedTable, fit, fits

LINEAR = {"kernel": "linear"}
MODELS = [RankSVM(**LINEAR, loss="squared_hinge", tol=1e-10), RankRLS(**LINEAR)]
pytestmark = pytest.mark.filterwarnings("ignore:.*groups have one item")


@pytest.fixture
def graded(rng, tmp_path):
    data = make_graded(rng, n_groups=60)
    folder = data.write(tmp_path / "graded", cut_groups(rng, data.qid, 4))
    return data, folder


@pytest.fixture
def compared(rng, tmp_path):
    data = make_compared(rng, n=400)
    folder = data.write(tmp_path / "compared", rng.integers(0, 3, len(data.y)))
    return data, folder


def fit_files(model, data, folder, keep=False):
    """Fit all rows, and the files of a folder."""
    whole = clone(model).fit(data.X, data.y, qid=data.qid, sample_weight=data.weight)
    columns = {"qid": "query", "sample_weight": "w"}
    return whole, fit(clone(model), folder, "grade", **columns, keep=keep)


@pytest.mark.parametrize("per_group", ["sum", "mean"])
@pytest.mark.parametrize("keep", [True, False])
def test_rank_svm_of_graded_files(graded, per_group, keep):
    data, folder = graded
    model = RankSVM(0.3, **LINEAR, loss="squared_hinge", per_group=per_group, tol=1e-10)
    whole, parted = fit_files(model, data, folder, keep)
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-4, atol=1e-6)
    assert np.linalg.norm(parted.coef_) > 0.1
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert parted.n_pairs_ == whole.n_pairs_ and parted.converged_
    assert parted.feature_names_in_.tolist() == data.columns
    assert parted.fitted_with_qid_


@pytest.mark.parametrize("per_group", ["sum", "mean"])
def test_rank_rls_of_graded_files(graded, per_group, tmp_path):
    data, folder = graded
    whole, parted = fit_files(RankRLS(2.0, **LINEAR, per_group=per_group), data, folder)
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    assert parted.n_pairs_ == whole.n_pairs_
    save(parted, tmp_path / "model.tiebreak")
    again = load(tmp_path / "model.tiebreak")
    items = pl.DataFrame(data.X, schema=parted.feature_names_in_.tolist())
    np.testing.assert_array_equal(again.utility(items), parted.utility(items))


def test_the_gap_of_rank_rls_is_relative_to_penalty_and_objective(graded, monkeypatch):
    solve = fits.RidgeSystem.solve
    monkeypatch.setattr(
        fits.RidgeSystem, "solve", lambda *args: replace(solve(*args), residual=3.0)
    )
    _, parted = fit_files(RankRLS(2.0, **LINEAR), *graded)
    assert parted.gap_ == pytest.approx(3.0 / (2.0 * parted.objective_))


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(0.3, **LINEAR, loss="squared_hinge", tol=1e-10),
        RankSVM(0.3, **LINEAR, loss="squared_hinge", ties="both", tol=1e-10),
        LogisticCompare(0.5),
        LogisticCompare(0.5, link="cumulative"),
        LogisticCompare(0.5, link="probit"),
        RankRLS(0.5, **LINEAR),
    ],
    ids=repr,
)
def test_comparisons_of_items_with_features(compared, model):
    data, folder = compared
    log = PartitionedPairs(folder, "a", "b", items=data.items, names=data.names)
    whole = clone(model).fit(data.pairs, data.y, sample_weight=data.weight)
    parted = fit(model, log, "winner", sample_weight="w")
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-5, atol=1e-6)
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    if hasattr(whole, "tie_"):
        assert parted.tie_ == pytest.approx(whole.tie_, rel=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_comparisons_without_ties_and_with_nothing_else(compared, tmp_path, share):
    data, _ = compared
    data.y[:] = 0 if share else np.where(data.y, data.y, 1)
    folder = data.write(tmp_path / "other", np.arange(len(data.y)) % 2)
    log = PartitionedPairs(folder, "a", "b", items=data.items, names=data.names)
    if share:
        with pytest.warns(UserWarning, match="tie"):
            model = fit(LogisticCompare(0.5), log, "winner")
        assert not model.coef_.any()
        with pytest.raises(ValueError, match="comparisons are ties"):
            fit(RankRLS(**LINEAR), log, "winner")
    else:
        model = fit(LogisticCompare(0.5), log, "winner")
        whole = LogisticCompare(0.5).fit(data.pairs, data.y)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-6)
        assert model.tie_ == whole.tie_


def test_outcomes_may_be_words(compared, tmp_path):
    data, _ = compared
    words = np.array(["model_a", "tie (bothbad)", "model_b"])
    frame = data.frame(np.arange(len(data.y)))
    spelled = frame.with_columns(winner=pl.Series(words[data.y + 1]))
    spelled.write_parquet(tmp_path / "words.parquet")
    items = {"items": data.items, "names": data.names}
    log = PartitionedPairs(tmp_path / "words.parquet", "a", "b", **items)
    with pytest.warns(UserWarning, match="both items are bad"):
        model = fit(LogisticCompare(0.5), log, "winner")
    whole = LogisticCompare(0.5).fit(data.pairs, data.y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-6)


def test_a_nystroem_map_makes_kernels_linear(rng, tmp_path):
    X = rng.uniform(-2, 2, size=(300, 2))
    y = np.round(-np.abs(X).sum(axis=1))
    qid = np.repeat(np.arange(30), 10)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y, "q": qid})
    for number in range(3):
        part = frame.filter(pl.col("q") % 3 == number)
        part.write_ipc(tmp_path / f"{number}.arrow", compression="uncompressed")
    table = PartitionedTable(tmp_path, features=["a", "b"])
    features = NystroemMap(gamma=1.0, n_landmarks=40, random_state=0)
    mapped = features.fit_transform(frame[["a", "b"]].to_numpy())
    model = RankSVM(**LINEAR, loss="squared_hinge")
    parts = table.map(np.asarray).map(features.transform)
    assert fit(model, parts, "y", qid="q").score(mapped, y, qid=qid) > 0.9
    whole = clone(model).fit(mapped, y, qid=qid)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-3)


@pytest.mark.parametrize("model", MODELS, ids=["svm", "rls"])
def test_partitions_without_rows_or_weights_change_nothing(model, rng, tmp_path):
    data = make_graded(rng)
    owner = cut_groups(rng, data.qid, 2)
    data.weight[owner == 1] = 0.0
    folder = data.write(tmp_path / "x", owner)
    data.frame(np.zeros(0, int)).write_parquet(f"{folder}/zzz.parquet")
    whole, parted = fit_files(model, data, folder)
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-3, atol=1e-5)
