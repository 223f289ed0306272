# SPDX-License-Identifier: BSD-3-Clause
"""Models compared on rows that they have not seen: later periods, or folds."""

from io import StringIO
from math import log

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console
from scipy import stats
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import BradleyTerry, LogisticCompare, MajorityCompare, OnItems, Pairs
from tiebreak.metrics import (
    comparison_log_loss,
)
from tiebreak.ratings.over_time.elo import Elo
from tiebreak.selection import ItemKFold, PeriodSplit, evaluate_folds, evaluate_forward
from tiebreak.selection.results import parameter_names


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts every row with the same probabilities."""

    def __init__(self, proba=(0.5, 0.3, 0.2)):
        self.proba = proba

    def fit(self, X, y):
        self.classes_ = np.array([-1, 0, 1])
        return self

    def predict_proba(self, X):
        return np.tile(self.proba, (len(X), 1))

    def predict(self, X):
        return np.full(len(X), int(np.argmax(self.proba)) - 1)


class ByName(Constant):
    """Knows only the items it has seen, and notes what it was given."""

    calls = []  # noqa: RUF012

    def fit(self, X, y, *, period=None, advantage=None, rater=None, sample_weight=None):
        self.items_ = set(X.names[X.touched()].tolist())
        given = {
            "period": period,
            "advantage": advantage,
            "rater": rater,
            "sample_weight": sample_weight,
        }
        ByName.calls.append(("fit", X, np.asarray(y), given))
        return super().fit(X, y)

    def predict(self, X, *, advantage=None):
        unseen = set(X.names[X.touched()].tolist()) - self.items_
        if unseen:
            raise ValueError(f"unseen: {unseen}")
        ByName.calls.append(("predict", X, None, {"advantage": advantage}))
        return super().predict(X)


@pytest.fixture(autouse=True)
def forget():
    ByName.calls.clear()


def simulate(rng, n=300, n_items=6, n_periods=20):
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    strength = np.linspace(-1, 1, n_items)
    noisy = strength[right] - strength[left] + rng.logistic(size=n)
    y = np.where(np.abs(noisy) < 0.5, 0, np.sign(noisy)).astype(int)
    period = rng.integers(0, n_periods, n)
    names = np.array(list("abcdefghij"))
    return Pairs(None, names[left], names[right]), y, period


# --- PeriodSplit ---------------------------------------------------------------------


@given(
    period=st.lists(st.integers(0, 9), min_size=4, max_size=40),
    n_splits=st.integers(1, 4),
    min_train=st.none() | st.integers(1, 10) | st.floats(0.05, 0.6),
)
def test_blocks_are_whole_periods_in_order_of_time(period, n_splits, min_train):
    splitter = PeriodSplit(n_splits, min_train=min_train)
    period = np.array(period)
    try:
        folds = list(splitter.split(period, period=period))
    except ValueError as error:
        assert "cannot make" in str(error)
        return
    assert len(folds) == splitter.get_n_splits() == n_splits
    for train, test in folds:
        assert len(train) and len(test)
        assert period[train].max() < period[test].min()
        # The past is whole, and so is the block.
        assert len(train) == (period < period[test].min()).sum()
        assert len(test) == np.isin(period, period[test]).sum()
        for rows in (train, test):
            expected = rows[np.lexsort((rows, period[rows]))]
            np.testing.assert_array_equal(rows, expected)
    tested = np.concatenate([test for _, test in folds])
    rest = np.setdiff1d(np.arange(len(period)), folds[0][0])
    np.testing.assert_array_equal(np.sort(tested), rest)
    if isinstance(min_train, int):
        assert len(folds[0][0]) >= min_train
    elif min_train is not None:
        assert len(folds[0][0]) >= min_train * len(period)


@pytest.mark.parametrize(
    ("sizes", "rows"),
    # Half of what follows the first 10 rows ends at row 25. Cuts are at rows 21 and 30,
    # 20 and 29, 20 and 30 (equally near: the later one).
    [
        ([10, 6, 5, 9, 10], [11, 19]),
        ([10, 10, 9, 11], [19, 11]),
        ([10, 10, 10, 10], [20, 10]),
    ],
)
def test_a_block_ends_at_the_nearest_period(sizes, rows):
    period = np.repeat(np.arange(len(sizes)), sizes)
    splits = PeriodSplit(2, min_train=10).split(period, period=period)
    assert [len(test) for _, test in splits] == rows


def test_min_train_moves_the_first_cut_no_further_than_needed():
    period = np.repeat(np.arange(10), 10)
    for min_train, rows in ((31, 40), (40, 40), (0.35, 40), (0.4, 40), (1, 10)):
        splitter = PeriodSplit(2, min_train=min_train)
        assert len(next(splitter.split(period, period=period))[0]) == rows


@pytest.mark.parametrize(
    ("splitter", "period", "error", "message"),
    [
        (PeriodSplit(3), [1, 2, 3], ValueError, "cannot make 3 .* 3 period"),
        (PeriodSplit(2, min_train=9), [1, 2, 3], ValueError, "to train on"),
        (PeriodSplit(0), [1, 2, 3], ValueError, "n_splits must be an integer"),
        (PeriodSplit(1.5), [1, 2, 3], ValueError, "n_splits must be an integer"),
        (PeriodSplit(1, min_train=0), [1, 2, 3], ValueError, "min_train must be"),
        (PeriodSplit(1, min_train=1.5), [1, 2, 3], ValueError, "min_train must be"),
        (PeriodSplit(1, min_train="x"), [1, 2, 3], ValueError, "min_train must be"),
        (PeriodSplit(1), [1, 2], ValueError, "period has 2 values but there are 3"),
        (PeriodSplit(1), None, ValueError, "needs the column period"),
    ],
)
def test_what_cannot_be_split_is_refused(splitter, period, error, message):
    with pytest.raises(error, match=message):
        list(splitter.split(np.zeros(3), period=period))


def test_scikit_learn_routes_periods(rng):
    pairs, y, period = simulate(rng)
    model, splitter = BradleyTerry(alpha=0.1), PeriodSplit(3)
    by_groups = cross_val_score(model, pairs, y, groups=period, cv=splitter)
    assert len(by_groups) == 3
    with config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            model, pairs, y, cv=splitter, params={"period": period}
        )
    np.testing.assert_array_equal(routed, by_groups)


# --- evaluate_forward: what is learned and predicted ---------------------------------


def test_metrics_are_those_computed_by_hand():
    pairs = Pairs(None, list("aabab"), list("bbaba"))
    y = [-1, 0, -1, 1, 0]
    result = evaluate_forward(
        {"constant": Constant()}, pairs, y, period=[1, 1, 2, 3, 3], n_splits=2
    )
    # Tested are rows 2, 3 and 4: left, right, tie, each with 0.5, 0.3, 0.2.
    row = result.table.row(0, named=True)
    assert (row["model"], row["n_test"], row["n_unseen"]) == ("constant", 3, 0)
    assert row["accuracy"] == pytest.approx(1 / 3)
    assert row["log_loss"] == pytest.approx(-(log(0.5) + log(0.2) + log(0.3)) / 3)
    brier = (0.25 + 0.09 + 0.04) + (0.25 + 0.09 + 0.64) + (0.25 + 0.49 + 0.04)
    assert row["brier"] == pytest.approx(brier / 3)
    rps = (0.25 + 0.04) / 2 + (0.25 + 0.64) / 2 + (0.25 + 0.04) / 2
    assert row["rps"] == pytest.approx(rps / 3)
    # The shares before row 2 are left 1, tie 1; before rows 3 and 4 left 2, tie 1.
    shares = result.proba["baseline"]
    np.testing.assert_allclose(shares[0], [1 / 2, 1 / 2, 0])
    np.testing.assert_allclose(shares[1:], [[2 / 3, 1 / 3, 0]] * 2)
    assert result.predicted["baseline"].tolist() == [-1, -1, -1]
    assert result.table["log_loss"][1] == np.inf  # no right side had won before


def test_a_weight_of_zero_is_an_absent_row(rng):
    pairs, y, period = simulate(rng)
    weight = (rng.random(len(y)) < 0.8).astype(float)
    kept = weight > 0
    models = {"strengths": BradleyTerry(alpha=0.1), "constant": Constant()}
    weighted = evaluate_forward(models, pairs, y, period=period, sample_weight=weight)
    absent = evaluate_forward(models, pairs[kept], y[kept], period=period[kept])
    np.testing.assert_array_equal(weighted.row, np.flatnonzero(kept)[absent.row])
    assert weighted.table["n_test"].to_list() == absent.table["n_test"].to_list()
    np.testing.assert_allclose(
        weighted.table["log_loss"].to_numpy(), absent.table["log_loss"].to_numpy()
    )


# --- columns -------------------------------------------------------------------------


def test_models_get_the_columns_that_they_take_and_their_own_rows(rng):
    pairs, y, period = simulate(rng)
    n = len(y)
    when = np.array([f"month {p:02}" for p in period])
    rater, weight = rng.integers(0, 5, n), rng.uniform(0.5, 2, n)
    advantage = rng.normal(size=n)
    evaluate_forward(
        {"taker": ByName(), "other": Constant()},
        pairs,
        y,
        period=when,
        n_splits=2,
        advantage=advantage,
        rater=pl.Series(rater),
        sample_weight=weight,
    )
    kinds = [call[0] for call in ByName.calls]
    assert kinds.count("fit") == 2
    splits = list(PeriodSplit(2).split(pairs, period=period))
    fits = [call for call in ByName.calls if call[0] == "fit"]
    for (_, X, outcome, got), (train, _) in zip(fits, splits, strict=True):
        np.testing.assert_array_equal(X.left, pairs.left[train])
        np.testing.assert_array_equal(outcome, y[train])
        np.testing.assert_array_equal(got["period"], when[train])
        np.testing.assert_array_equal(got["advantage"], advantage[train])
        np.testing.assert_array_equal(got["rater"], rater[train])
        np.testing.assert_array_equal(got["sample_weight"], weight[train])
    asked = [call for call in ByName.calls if call[0] == "predict"]
    for (_, X, _, got), (_, test) in zip(asked, splits, strict=True):
        np.testing.assert_array_equal(X.left, pairs.left[test])
        np.testing.assert_array_equal(got["advantage"], advantage[test])


def test_an_advantage_can_be_given_by_model(rng):
    pairs, y, period = simulate(rng)
    home = np.ones(len(y))
    models = {"points": Elo(), "none": Elo(), "size": BradleyTerry(alpha=0.1)}
    result = evaluate_forward(
        models,
        pairs,
        y,
        period=period,
        n_splits=2,
        advantage={"points": 200 * home, "size": home},
    )
    plain = evaluate_forward(models, pairs, y, period=period, n_splits=2)
    same = {
        name: np.array_equal(result.proba[name], plain.proba[name]) for name in models
    }
    assert same == {"points": False, "none": True, "size": False}
    one = evaluate_forward(Elo(), pairs, y, period=period, n_splits=2, advantage=200)
    np.testing.assert_allclose(one.proba["Elo"], result.proba["points"])


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"advantage": [1.0]}, ValueError, "advantage has 1 values but there are 4"),
        (
            {"context": [[1.0]] * 4},
            ValueError,
            "not taken in fit by 'n', 'c'",
        ),
        ({"advantage": {"x": 1}}, ValueError, "not taken in fit by 'x'"),
        ({"advantage": {"c": 1}}, ValueError, "not taken in fit by 'c'"),
        ({"advantage": {"n": [1]}}, ValueError, "advantage has 1 values"),
        ({"sample_weight": [1]}, ValueError, "sample_weight has 1 values"),
        ({"period": [1]}, ValueError, "period has 1 values but there are 4 rows"),
        ({"n_splits": 9}, ValueError, "cannot make 9 test block"),
    ],
)
def test_bad_columns_are_refused(columns, error, message):
    pairs = Pairs(None, list("abab"), list("baba"))
    given = {"period": [1, 2, 3, 4], "n_splits": 2} | columns
    with pytest.raises(error, match=message):
        evaluate_forward(
            {"n": ByName(), "c": Constant()}, pairs, [-1, 0, 1, -1], **given
        )


@pytest.mark.parametrize("models", [{}, {"baseline": Constant()}])
def test_bad_names_of_models_are_refused(models):
    pairs = Pairs(None, list("abab"), list("baba"))
    with pytest.raises(ValueError, match="at least one, and none called"):
        evaluate_forward(models, pairs, [-1, 0, 1, -1], period=[1, 2, 3, 4], n_splits=1)


def test_an_error_of_a_model_names_it():
    pairs = Pairs(None, list("aaab"), list("bbba"))
    with pytest.raises(ValueError, match="won all its comparisons") as caught:
        evaluate_forward(
            {"bare": BradleyTerry(alpha=0)},
            pairs,
            [-1, -1, -1, -1],
            period=[1, 2, 3, 4],
            n_splits=2,
        )
    assert "model 'bare' in block 0" in caught.value.__notes__[0]


# --- unseen items --------------------------------------------------------------------


@pytest.fixture
def newcomer():
    # Item "c" appears first in period 3; it is known in period 4.
    pairs = Pairs(None, list("abacca"), list("bababc"))
    return pairs, [-1, 1, 0, -1, 1, 0], [1, 2, 3, 3, 4, 4]


def test_rows_with_unseen_items_are_left_out_for_all_models(newcomer):
    pairs, y, period = newcomer
    models = {"by name": ByName(), "any": Constant()}
    result = evaluate_forward(models, pairs, y, period=period, n_splits=2, min_train=2)
    assert result.row.tolist() == [2, 4, 5]
    assert result.table["n_unseen"].to_list() == [1, 1, 1]
    assert result.table["n_test"].to_list() == [3, 3, 3]
    by_split = result.by_split.filter(pl.col("model") == "any")
    assert by_split["n_unseen"].to_list() == [1, 0]
    assert by_split["n_test"].to_list() == [1, 2]
    assert "Left out: 1 row of unseen items." in str(result)


def test_rows_with_unseen_items_stay_if_every_model_can_predict_them(newcomer):
    pairs, y, period = newcomer
    result = evaluate_forward(
        {"any": Constant(), "majority": MajorityCompare(), "elo": Elo(unseen="prior")},
        pairs,
        y,
        period=period,
        n_splits=2,
        min_train=2,
    )
    assert result.row.tolist() == [2, 3, 4, 5]
    assert result.table["n_unseen"].to_list() == [0] * 4
    assert "Left out" not in str(result)


def test_a_block_of_unseen_items_alone_is_empty():
    pairs = Pairs(None, list("abca"), list("badb"))
    result = evaluate_forward(
        ByName(), pairs, [-1, 1, 0, -1], period=[1, 1, 2, 3], n_splits=2
    )
    assert result.by_split["n_test"].to_list() == [0, 0, 1, 1]
    assert result.by_split["accuracy"].is_null().to_list() == [True, True, False, False]
    assert result.proba["ByName"].shape == (1, 3)


def test_columns_go_to_the_steps_of_a_pipeline_that_take_them():
    model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    steps = ["onitems__sample_weight", "logisticcompare__sample_weight"]
    assert parameter_names(model.fit, "sample_weight") == steps
    assert parameter_names(model.fit, "context") == []
    assert parameter_names(LogisticCompare().fit, "context") == ["context"]


def test_nothing_left_to_evaluate_is_refused():
    pairs = Pairs(None, list("abcd"), list("badc"))
    with pytest.raises(ValueError, match="Each of the 2 test rows has an unseen item"):
        evaluate_forward(
            ByName(), pairs, [-1, 1, -1, 1], period=[1, 1, 2, 2], n_splits=1
        )


# --- the result ----------------------------------------------------------------------


def test_a_model_without_probabilities_has_only_an_accuracy(rng):
    pairs, y, period = simulate(rng)
    result = evaluate_forward(MajorityCompare(), pairs, y, period=period)
    row = result.table.row(0, named=True)
    assert row["model"] == "MajorityCompare"
    assert row["accuracy"] > 0
    assert row["log_loss"] is row["brier"] is row["rps"] is None
    assert result.table.schema["log_loss"] == pl.Float64
    with pytest.raises(ValueError, match="gives no probabilities, so it has no rps"):
        result.losses("MajorityCompare", "rps")
    assert result.difference("MajorityCompare", "baseline", "accuracy").n_periods > 1


def test_differences_and_their_errors_are_those_of_a_loop(rng):
    pairs, y, period = simulate(rng)
    weight = rng.uniform(0.5, 2, len(y))
    models = {"strengths": BradleyTerry(alpha=0.1), "elo": Elo()}
    result = evaluate_forward(models, pairs, y, period=period, sample_weight=weight)
    for metric in ("accuracy", "log_loss", "brier", "rps"):
        table = dict(result.table.select("model", metric).iter_rows())
        found = result.difference("strengths", "elo", metric)
        assert found.mean == pytest.approx(table["strengths"] - table["elo"])
        d = result.losses("strengths", metric) - result.losses("elo", metric)
        w = weight[result.row]
        total = 0.0
        tested = sorted(set(period[result.row]))
        for p in tested:
            at = period[result.row] == p
            total += sum(w[at] * (d[at] - found.mean)) ** 2
        b = len(tested)
        assert found.n_periods == b
        blocks = result.by_split.filter(pl.col("model") == "elo")
        overlap = blocks["n_test"].sum() / blocks["n_train"].sum()
        assert found.standard_error == pytest.approx(
            np.sqrt((1 + overlap) * total * b / (b - 1)) / w.sum()
        )


def test_one_period_has_no_standard_error():
    pairs = Pairs(None, list("abab"), list("baba"))
    result = evaluate_forward(
        Constant(), pairs, [-1, 1, -1, 1], period=[1, 1, 2, 2], n_splits=1
    )
    found = result.difference("Constant", "baseline")
    assert found.n_periods == 1
    assert np.isnan(found.standard_error)


def test_unknown_models_and_metrics_are_refused(rng):
    pairs, y, period = simulate(rng, n=60)
    result = evaluate_forward(Constant(), pairs, y, period=period, n_splits=2)
    with pytest.raises(ValueError, match="one of Constant, baseline; got 'x'"):
        result.difference("x", "baseline")
    with pytest.raises(ValueError, match=r"one of accuracy, .* got 'auc'"):
        result.difference("Constant", "baseline", "auc")


def test_the_table_by_split_says_when(rng):
    pairs, y, period = simulate(rng)
    dates = np.datetime64("2020-01-01") + 31 * period
    result = evaluate_forward(Constant(), pairs, y, period=dates, n_splits=3)
    by_split = result.by_split.filter(pl.col("model") == "Constant")
    assert by_split["split"].to_list() == [0, 1, 2]
    assert by_split.schema["first"] == pl.Date
    splits = list(PeriodSplit(3).split(pairs, period=dates))
    for row, (train, test) in zip(by_split.iter_rows(named=True), splits, strict=True):
        assert row["first"] == dates[test].min().item()
        assert row["last"] == dates[test].max().item()
        assert (row["n_train"], row["n_test"]) == (len(train), len(test))
    assert result.by_split["n_test"].sum() == 2 * result.table["n_test"][0]
    in_seconds = dates.astype("datetime64[s]")  # as pandas reads a column of dates
    again = evaluate_forward(Constant(), pairs, y, period=in_seconds, n_splits=3)
    assert again.table.equals(result.table)


def test_the_text_and_the_terminal_show_the_table(rng):
    pairs, y, period = simulate(rng)
    models = {"[strengths]": BradleyTerry(alpha=0.1), "majority": MajorityCompare()}
    result = evaluate_forward(models, pairs, y, period=period, n_splits=3)
    stream = StringIO()
    Console(file=stream, width=100).print(result)
    for text in (str(result), stream.getvalue()):
        assert "3 blocks" in text
        assert "–" in text
        for name in (*models, "baseline"):
            assert name in text
        assert f"{result.table['rps'][0]:.4f}" in text


@pytest.fixture
def votes(rng):
    theta = rng.normal(size=8)
    left = rng.integers(0, 8, 400)
    right = (left + rng.integers(1, 8, 400)) % 8
    d = theta[right] - theta[left] + rng.logistic(size=400)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    return Pairs(None, left, right), y


def test_every_row_is_predicted_once_from_other_folds(votes):
    pairs, y = votes
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, random_state=3)
    assert_array_equal(np.sort(result.row), np.arange(400))
    proba = np.empty((400, 3))
    for train, test in KFold(5, shuffle=True, random_state=3).split(y):
        model = BradleyTerry(alpha=0.1).fit(pairs[train], y[train])
        proba[test] = model.predict_proba(pairs[test])
    assert_allclose(result.proba["BradleyTerry"], proba[result.row])
    row = result.table.row(0, named=True)
    assert row["log_loss"] == pytest.approx(comparison_log_loss(y, proba))
    assert "each predicted from the other folds of 5." in str(result)
    better = result.difference("BradleyTerry", "baseline")
    assert better.mean < 0 and better.n_periods == 400


@pytest.mark.parametrize("grouped", [False, True])
def test_folds_are_those_of_scikit_learn(grouped, rng):
    """Rows of weight 0 are absent, and with them one of the groups."""
    left = rng.integers(0, 4, 53)
    pairs, y = Pairs(None, left, (left + 1) % 4), rng.integers(-1, 2, 53)
    group, weight = np.arange(53) % 11, np.ones(53)
    weight[group == 3] = 0.0
    kept = np.flatnonzero(weight)
    given = {"groups": group if grouped else None, "sample_weight": weight}
    found = evaluate_folds(Constant(), pairs, y, cv=4, random_state=5, **given)
    kind, together = (GroupKFold, group[kept]) if grouped else (KFold, None)
    folds = kind(4, shuffle=True, random_state=5).split(kept, groups=together)
    for number, (_, test) in enumerate(folds):
        assert_array_equal(found.row[found.split == number], kept[test])


def test_errors_of_folds_are_those_of_nadeau_and_bengio(votes):
    """Five folds of 80 rows, 320 to train on: (1/5 + 80/320) s²."""
    pairs, y = votes
    folds = KFold(5, shuffle=True, random_state=3)
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, cv=folds)
    d = result.losses("BradleyTerry") - result.losses("baseline")
    means = [d[result.split == k].mean() for k in range(5)]
    found = result.difference("BradleyTerry", "baseline")
    assert found.n_periods == 5
    assert found.standard_error**2 == pytest.approx(0.45 * np.var(means, ddof=1))
    assert found.interval(0.9) == pytest.approx(
        stats.t.interval(0.9, 4, found.mean, found.standard_error)
    )
    # Of a number of folds the rows are independent: 0.45 · (variance of a mean of 80).
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, random_state=3)
    found = result.difference("BradleyTerry", "baseline")
    assert found.standard_error**2 == pytest.approx(0.45 * d.var(ddof=1) / 80)
    with pytest.raises(ValueError, match=r"between 0 and 1, .* got 95"):
        found.interval(95)


def test_raters_are_taken_together(votes, rng):
    pairs, y = votes
    rater = rng.integers(0, 11, 400)
    result = evaluate_folds(BradleyTerry(alpha=0.1), pairs, y, rater=rater)
    assert result.difference("BradleyTerry", "baseline").n_periods == 11


def test_groups_and_items_are_held_out_whole(rng):
    items = rng.normal(size=(40, 3))
    left = rng.integers(0, 40, 500)
    right = (left + rng.integers(1, 40, 500)) % 40
    y = np.sign((items[right] - items[left]).sum(axis=1)).astype(int)
    pairs, query = Pairs(items, left, right), rng.integers(0, 9, 500)
    result = evaluate_folds(LogisticCompare(), pairs, y, groups=query)
    folds = [set(query[result.row[result.split == k]].tolist()) for k in range(5)]
    assert sum(map(len, folds)) == 9
    by_item = evaluate_folds(LogisticCompare(), pairs, y, cv=ItemKFold(4))
    assert 0 < len(by_item.row) < 500
    assert by_item.table["accuracy"][0] > 0.9
