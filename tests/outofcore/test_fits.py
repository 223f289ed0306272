# SPDX-License-Identifier: BSD-3-Clause
"""Models fitted on partitions are those fitted on all rows."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak import (
    BradleyTerry,
    LogisticCompare,
    NystroemMap,
    RankRLS,
    RankSVM,
    load,
    metrics,
    save,
)
from tiebreak.outofcore import (
    PartitionedPairs,
    PartitionedTable,
    evaluate,
    running,
    sample_rows,
)
from tiebreak.outofcore.evaluation import split_rows

LINEAR = {"kernel": "linear"}


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


def fit_both(model, whole, parted):
    a = type(model)(**model.get_params()).fit(*whole[0], **whole[1])
    return a, model.fit(*parted[0], **parted[1])


@pytest.mark.parametrize("per_group", ["sum", "mean"])
@pytest.mark.parametrize("keep", [True, False, None])
@pytest.mark.filterwarnings("ignore:.*groups have one item")
def test_rank_svm_of_graded_files(graded, per_group, keep):
    data, folder = graded
    model = RankSVM(0.3, **LINEAR, loss="squared_hinge", per_group=per_group, tol=1e-10)
    with running(keep=keep):
        whole, parted = fit_both(
            model,
            ((data.X, data.y), {"qid": data.qid, "sample_weight": data.weight}),
            ((folder, "grade"), {"qid": "query", "sample_weight": "w"}),
        )
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-4, atol=1e-6)
    assert np.linalg.norm(parted.coef_) > 0.1
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert parted.n_pairs_ == whole.n_pairs_ and parted.converged_
    assert parted.feature_names_in_.tolist() == data.columns
    assert parted.score(folder, "grade", qid="query") == pytest.approx(
        whole.score(data.X, data.y, qid=data.qid)
    )


@pytest.mark.parametrize("per_group", ["sum", "mean"])
@pytest.mark.filterwarnings("ignore:.*groups have one item")
def test_rank_rls_of_graded_files(graded, per_group, tmp_path):
    data, folder = graded
    whole, parted = fit_both(
        RankRLS(2.0, **LINEAR, per_group=per_group),
        ((data.X, data.y), {"qid": data.qid, "sample_weight": data.weight}),
        ((folder, "grade"), {"qid": "query", "sample_weight": "w"}),
    )
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    assert parted.n_pairs_ == whole.n_pairs_
    save(parted, tmp_path / "model.tiebreak")
    again = load(tmp_path / "model.tiebreak")
    items = pl.DataFrame(data.X, schema=parted.feature_names_in_.tolist())
    np.testing.assert_array_equal(again.utility(items), parted.utility(items))


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(0.3, **LINEAR, loss="squared_hinge", tol=1e-10),
        RankSVM(0.3, **LINEAR, loss="squared_hinge", ties="both", tol=1e-10),
        LogisticCompare(0.5),
        LogisticCompare(0.5, link="cumulative"),
        RankRLS(0.5, **LINEAR),
    ],
    ids=repr,
)
def test_comparisons_of_items_with_features(compared, model):
    data, folder = compared
    log = PartitionedPairs(folder, "a", "b", items=data.items, names=data.names)
    whole, parted = fit_both(
        model,
        ((data.pairs, data.y), {"sample_weight": data.weight}),
        ((log, "winner"), {"sample_weight": "w"}),
    )
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-5, atol=1e-6)
    assert parted.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    if hasattr(whole, "tie_"):
        assert parted.tie_ == pytest.approx(whole.tie_, rel=1e-5)
    assert parted.score(log, "winner", sample_weight="w") == pytest.approx(
        whole.score(data.pairs, data.y, sample_weight=data.weight)
    )


@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry(alpha=0.1),
        BradleyTerry("rao-kupper", alpha=0.1),
        LogisticCompare(0.5),
        RankSVM(0.3, **LINEAR, tol=1e-8),
        RankRLS(0.5, **LINEAR),
    ],
    ids=repr,
)
def test_comparisons_of_names_are_added_up(compared, model):
    data, folder = compared
    whole, parted = fit_both(
        model,
        ((data.named, data.y), {"sample_weight": data.weight}),
        ((PartitionedPairs(folder, "a", "b"), "winner"), {"sample_weight": "w"}),
    )
    assert sorted(parted.items_) == sorted(whole.items_)
    np.testing.assert_allclose(
        parted.utility(whole.items_), whole.utility(whole.items_), atol=1e-4
    )


def test_bradley_terry_knows_advantages_and_raters(compared, rng, tmp_path):
    data, _ = compared
    home = rng.integers(0, 2, len(data.y))
    rater = np.array(["ann", "bob", "cy"])[rng.integers(0, 3, len(data.y))]
    frame = data.frame(np.arange(len(data.y)))
    frame = frame.with_columns(home=pl.Series(home), who=pl.Series(rater))
    for number in range(3):
        frame[number::3].write_parquet(tmp_path / f"{number}.parquet")
    parted = BradleyTerry(alpha=0.1).fit(
        PartitionedPairs(f"{tmp_path}/*.parquet", "a", "b"),
        "winner",
        advantage="home",
        rater="who",
        sample_weight="w",
    )
    whole = BradleyTerry(alpha=0.1).fit(
        data.named, data.y, advantage=home, rater=rater, sample_weight=data.weight
    )
    assert parted.advantage_ == pytest.approx(whole.advantage_, abs=1e-6)
    order = [parted.items_.tolist().index(name) for name in whole.items_]
    np.testing.assert_allclose(parted.strength_[order], whole.strength_, atol=1e-6)
    np.testing.assert_allclose(
        parted.standard_errors()[order], whole.standard_errors(), atol=1e-6
    )


def test_bradley_terry_knows_times(compared, rng, tmp_path):
    data, _ = compared
    day = np.datetime64("2024-01-01") + rng.integers(0, 40, len(data.y))
    frame = data.frame(np.arange(len(data.y))).with_columns(day=pl.Series(day))
    for number in range(3):
        frame[number::3].write_parquet(tmp_path / f"{number}.parquet")
    model = BradleyTerry(alpha=0.1, half_life="2w")
    parted = clone(model).fit(
        PartitionedPairs(f"{tmp_path}/*.parquet", "a", "b"),
        "winner",
        period="day",
        sample_weight="w",
    )
    whole = model.fit(data.named, data.y, period=day, sample_weight=data.weight)
    assert parted.half_life_ == whole.half_life_ == 14.0
    order = [parted.items_.tolist().index(name) for name in whole.items_]
    np.testing.assert_allclose(parted.strength_[order], whole.strength_, atol=1e-6)


def test_a_nystroem_map_makes_kernels_linear(rng, tmp_path):
    X = rng.uniform(-2, 2, size=(300, 2))
    y = np.round(-np.abs(X).sum(axis=1))
    qid = np.repeat(np.arange(30), 10)
    for number in range(3):
        rows = qid % 3 == number
        frame = {"a": X[rows, 0], "b": X[rows, 1], "y": y[rows], "q": qid[rows]}
        pl.DataFrame(frame).write_parquet(tmp_path / f"{number}.parquet")
    table = PartitionedTable(tmp_path, features=["a", "b"])
    some = sample_rows(table, 200, random_state=0)
    assert some.shape == (200, 2) and len(np.unique(some.to_numpy(), axis=0)) == 200
    features = NystroemMap(gamma=1.0, n_landmarks=40, random_state=0).fit(some)
    model = RankSVM(**LINEAR, loss="squared_hinge")
    mapped = table.map(features.transform)
    assert model.fit(mapped, "y", qid="q").score(mapped, "y", qid="q") > 0.9
    plain = RankSVM(**LINEAR, loss="squared_hinge").fit(table, "y", qid="q")
    assert plain.score(table, "y", qid="q") < 0.7
    whole = RankSVM(**LINEAR, loss="squared_hinge")
    whole.fit(features.transform(pl.DataFrame(X, schema=["a", "b"])), y, qid=qid)
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-3)


@pytest.mark.filterwarnings("ignore:.*groups have one item")
def test_metrics_are_those_of_all_rows(graded, compared):
    data, folder = graded
    frame = pl.DataFrame(data.X, schema=data.columns)
    model = RankRLS(2.0, **LINEAR).fit(frame, data.y, qid=data.qid)
    rows = np.flatnonzero(data.weight > 0)
    args = data.y[rows], model.utility(frame[rows]), data.qid[rows]
    found = evaluate(
        model,
        folder,
        "grade",
        qid="query",
        sample_weight="w",
        metrics=["swapped_pairs", "disagreement", "top_k_precision"],
    )
    weight = data.weight[rows]
    assert found["swapped_pairs"] == pytest.approx(metrics.swapped_pairs(*args, weight))
    assert found["disagreement"] == pytest.approx(metrics.disagreement(*args, weight))
    assert found["top_k_precision"] == pytest.approx(metrics.top_k_precision(*args))

    data, folder = compared
    comparer = LogisticCompare(0.5).fit(data.pairs, data.y)
    log = PartitionedPairs(folder, "a", "b", items=data.items, names=data.names)
    found = evaluate(comparer, log, "winner", sample_weight="w")
    proba = comparer.predict_proba(data.pairs)
    for name in ("comparison_log_loss", "comparison_brier", "ranked_probability_score"):
        expected = getattr(metrics, name)(data.y, proba, data.weight)
        assert found[name] == pytest.approx(expected)
    predicted = comparer.predict(data.pairs)
    error = metrics.comparison_error(data.y, predicted, data.weight)
    assert found["comparison_error"] == pytest.approx(error)


def test_ndcg_over_partitions(rng, tmp_path):
    data = make_graded(rng, n_groups=40)
    data.y = np.maximum(data.y, 0.0)
    data.weight[:] = 1.0
    folder = data.write(tmp_path / "graded", cut_groups(rng, data.qid, 4))
    table = PartitionedTable(folder, features=data.columns)
    model = RankRLS(2.0, **LINEAR)
    with pytest.warns(UserWarning, match="one item only"):
        model.fit(table, "grade", qid="query")
    found = evaluate(model, table, "grade", qid="query", metrics=["ndcg"])["ndcg"]
    utility = model.utility(data.frame(np.arange(len(data.y)))[data.columns])
    assert found == pytest.approx(metrics.ndcg(data.y, utility, data.qid))


def test_rows_are_numbered_from_the_first_of_their_partition():
    """Partitions without a chosen row, without any row, and a row at every edge."""
    rows = np.array([0, 2, 3, 9])
    found = split_rows(rows, [3, 0, 4, 2, 1])
    assert [part.tolist() for part in found] == [[0, 2], [], [0], [], [0]]
