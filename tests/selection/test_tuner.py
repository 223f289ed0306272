# SPDX-License-Identifier: BSD-3-Clause
"""The tuner on comparisons: choices, columns of rows and the picture."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Elo,
    OnItems,
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
    tune,
)
from tiebreak.datasets import make_norms
from tiebreak.metrics import comparison_log_loss, get_scorer
from tiebreak.selection import TuneResult

GRID = {"C": [0.01, 1.0, 100.0], "gamma": [0.05, 0.5, 5.0]}


@pytest.fixture(scope="module")
def data():
    return make_norms(120, norm=1, random_state=0), make_norms(
        150, norm=1, random_state=1
    )


def plain_loop(model, train, valid, grid, scoring):
    """What tune promises to equal."""
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for params in ParameterGrid(grid):
            fitted = type(model)(**(model.get_params(deep=False))).set_params(**params)
            fitted.fit(train.pairs, train.y)
            scores.append(get_scorer(scoring)(fitted, valid.pairs, valid.y))
    return np.array(scores)


@pytest.mark.parametrize("scoring", ["error", "auc"])
@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        (SVMCompare(), ""),
        (RankSVM(ties="both"), ""),
        (ThresholdCompare(RankSVM()), "ranker__"),
    ],
    ids=["compare", "rank2", "threshold"],
)
def test_equals_the_plain_loop(data, model, prefix, scoring):
    train, valid = data
    grid = {prefix + name: values for name, values in GRID.items()}
    found = tune(
        model,
        train.pairs,
        train.y,
        grid,
        validation=(valid.pairs, valid.y),
        scoring=scoring,
    )
    scores = plain_loop(model, train, valid, grid, scoring)
    np.testing.assert_allclose(found.table["score"], scores, atol=1e-4)
    best = list(ParameterGrid(grid))[int(np.argmax(scores))]
    assert found.best_params_ == best
    assert found.best_score_ == pytest.approx(scores.max(), abs=1e-4)
    assert len(set(np.round(scores, 6))) > 3
    score = get_scorer(scoring)(found.best_estimator_, valid.pairs, valid.y)
    assert score == pytest.approx(found.best_score_, abs=1e-4)


def test_equals_grid_search_cv(data):
    train, _ = data
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    ours = tune(SVMCompare(), train.pairs, train.y, GRID, cv=cv, scoring="error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(SVMCompare(), GRID, cv=cv).fit(train.pairs, train.y)
    np.testing.assert_allclose(
        ours.table["score"] + 1, theirs.cv_results_["mean_test_score"], atol=1e-9
    )
    assert ours.best_params_ == theirs.best_params_
    assert ours.table["split_2"].len() == 9
    np.testing.assert_array_equal(
        ours.table["place"], theirs.cv_results_["rank_test_score"]
    )


def test_weights_reach_fit_and_score(data):
    train, _ = data
    weight = np.where(np.arange(120) % 2, 0.0, 1.0)
    cv = [(np.arange(0, 80), np.arange(80, 120))]
    ours = tune(SVMCompare(), train.pairs, train.y, GRID, cv=cv, sample_weight=weight)
    half = np.arange(0, 120, 2)
    cut = [(np.arange(0, 40), np.arange(40, 60))]
    other = tune(SVMCompare(), train.pairs[half], train.y[half], GRID, cv=cut)
    np.testing.assert_allclose(ours.table["score"], other.table["score"], atol=1e-9)


@pytest.mark.extended
def test_workers_equal_serial(data):
    train, valid = data
    options = {"validation": (valid.pairs, valid.y), "scoring": "auc"}
    serial = tune(SVMCompare(), train.pairs, train.y, GRID, **options)
    shared = tune(SVMCompare(), train.pairs, train.y, GRID, n_jobs=2, **options)
    assert serial.table.equals(shared.table)


def test_weights_reach_the_last_step_of_a_pipeline(data):
    train, valid = data
    weight = np.linspace(0.1, 2.0, 120)
    pipe = make_pipeline(OnItems(StandardScaler()), SVMCompare(gamma=0.5))
    options = {"validation": (valid.pairs, valid.y), "scoring": "auc"}
    grid = {"svmcompare__C": [1.0, 10.0]}
    weighed = tune(pipe, train.pairs, train.y, grid, sample_weight=weight, **options)
    plain = tune(pipe, train.pairs, train.y, grid, **options)
    assert weighed.best_score_ != plain.best_score_
    with pytest.raises(TypeError, match=r"SVMCompare.fit takes no qid"):
        tune(pipe, train.pairs, train.y, grid, qid=np.arange(120) // 10, cv=3)


def test_errors_say_what_to_do(data):
    train, valid = data
    both = {"cv": 3, "validation": (valid.pairs, valid.y)}
    with pytest.raises(ValueError, match="not both"):
        tune(SVMCompare(), train.pairs, train.y, GRID, **both)
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        tune(SVMCompare(), train.pairs, train.y, {"c": [1]})
    with pytest.raises(ValueError, match="unknown scorer 'f1'"):
        tune(SVMCompare(), train.pairs, train.y, GRID, scoring="f1")
    with pytest.raises(ValueError, match="C=-1"):
        tune(SVMCompare(), train.pairs, train.y, {"C": [-1]}, cv=2)


# --- the score of the choice on new data ---------------------------------------------


def made(scores):
    """Give the result of a search with these scores, one row per combination."""
    scores = np.array(scores, dtype=float)
    best = int(np.nanargmax(scores.mean(axis=1)))
    candidates = [{"C": float(c)} for c in range(len(scores))]
    good = np.ones(scores.shape, dtype=bool)
    return TuneResult.make(candidates, scores, good, best, None, "auc")


def test_the_corrected_score_by_hand():
    # Without split 0 the second is chosen, which has 0 there; without split 1 the
    # first, which has 0 there.
    found = made([[1, 0], [0, 0.5]])
    assert (found.best_score_, found.corrected_score) == (0.5, 0)
    # Two splits of four are left out. With split 0 among them (three times) the second
    # is chosen and has 0 and 1 there, else the first, which has 0 and 0.
    found = made([[4, 0, 0, 0], [0, 1, 1, 1]])
    assert (found.best_score_, found.corrected_score) == (1, 0.25)
    assert repr(found) == "TuneResult(C=0: auc 0.25 (uncorrected 1), best of 2)"


def test_without_a_choice_or_with_one_split_there_is_nothing_to_correct():
    assert made([[0.5, 0.7]]).corrected_score == pytest.approx(0.6)
    assert made([[0.5]]).corrected_score == 0.5
    one_split = made([[0.5], [0.6]])
    assert np.isnan(one_split.corrected_score)
    assert repr(one_split) == "TuneResult(C=1: auc 0.6, best of 2)"
    # What has no score on some split is never the choice.
    odd = [[1, 0], [0, 0.5], [9, np.nan], [9, -np.inf]]
    assert made(odd).corrected_score == 0


@pytest.mark.parametrize("n_splits", range(2, 8))
def test_the_corrected_score_is_never_above_the_best(rng, n_splits):
    for _ in range(20):
        scores = rng.integers(0, 9, (6, n_splits)) / 8
        found = made(scores)
        assert found.corrected_score <= found.best_score_ + 1e-12
        assert made(scores + 3).corrected_score == pytest.approx(
            found.corrected_score + 3
        )
        scores[2] = scores.max(axis=0) + 0.125  # best on every split
        found = made(scores)
        assert found.corrected_score == pytest.approx(found.best_score_)


@pytest.fixture
def games(rng):
    n, names = 400, np.array(list("abcdefgh"))
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    home = rng.integers(0, 2, n).astype(float)
    d = (right - left) / 4 - 1.5 * home + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    return Pairs(None, names[left], names[right]), y, home


def test_an_advantage_is_fitted_and_predicted_with(games):
    pairs, y, home = games
    train, test = np.arange(300), np.arange(300, 400)
    found = tune(
        BradleyTerry(),
        pairs,
        y,
        {"alpha": [0.1, 1.0]},
        cv=[(train, test)],
        scoring="log_loss",
        columns={"advantage": home},
    )
    for row in found.table.iter_rows(named=True):
        model = BradleyTerry(alpha=row["alpha"])
        model.fit(pairs[train], y[train], advantage=home[train])
        proba = model.predict_proba(pairs[test], advantage=home[test])
        assert row["score"] == pytest.approx(-comparison_log_loss(y[test], proba))
    assert found.best_estimator_.advantage_ > 0.5


def test_columns_are_checked(games):
    pairs, y, home = games
    with pytest.raises(ValueError, match="advantage has 3 values but there are 400"):
        columns = {"advantage": home[:3]}
        tune(BradleyTerry(), pairs, y, {"alpha": [0.1]}, cv=2, columns=columns)
    with pytest.raises(TypeError, match="takes no context"):
        tune(Elo(), pairs, y, {"k": [10.0]}, columns={"context": y})
