# SPDX-License-Identifier: BSD-3-Clause
"""Fifteen ordinary programs, as somebody writes who has read the docs only."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

import tiebreak
from tiebreak import (
    BoostedUtility,
    BradleyTerry,
    Elo,
    Glicko,
    JudgeBradleyTerry,
    Leaderboard,
    LogisticCompare,
    OnItems,
    Orders,
    Outcome,
    Pairs,
    PlackettLuce,
    RankSVM,
    SVMCompare,
)
from tiebreak.metrics import ndcg
from tiebreak.selection import QueryKFold, evaluate_forward

TEAMS = ["Ajax", "Benfica", "Celtic", "Dynamo", "Everton", "Fulham"]


def season(n=180, seed=0):
    """Home team, away team, goals and a date."""
    rng = np.random.default_rng(seed)
    strength = dict(zip(TEAMS, np.linspace(1.0, -1.0, 6), strict=True))
    rows = []
    for number in range(n):
        home, away = rng.choice(TEAMS, 2, replace=False)
        edge = 0.5 * (strength[home] - strength[away])
        goals = rng.poisson(np.exp([0.3 + edge, 0.1 - edge]))
        date = pd.Timestamp("2023-08-01") + pd.Timedelta(days=2 * number)
        rows.append((date, home, away, *goals))
    games = pd.DataFrame(rows, columns=["date", "home", "away", "hg", "ag"])
    games["result"] = np.select(
        [games.hg > games.ag, games.hg < games.ag], list("HA"), "D"
    )
    return games


def items(n=60, seed=0):
    rng = np.random.default_rng(seed)
    wines = pd.DataFrame(
        {"alcohol": rng.normal(12, 1, n), "sugar": rng.gamma(2.0, 2.0, n)},
        index=[f"wine {i}" for i in range(n)],
    )
    return wines, wines.alcohol - 12 - 0.3 * (wines.sugar - 4)


def tastings(n=400, seed=1):
    wines, taste = items()
    rng = np.random.default_rng(seed)
    left, right = rng.choice(len(wines), (2, n))
    right = np.where(left == right, (right + 1) % len(wines), right)
    d = taste.to_numpy()[right] - taste.to_numpy()[left] + rng.logistic(0, 0.4, n)
    better = np.select([d < -0.5, d > 0.5], ["left", "right"], "tie")
    names = wines.index.to_numpy()
    return wines, pd.DataFrame({"a": names[left], "b": names[right], "better": better})


def search(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 12)
    X = rng.normal(size=(len(qid), 5))
    y = np.digitize(X @ [1, 0.5, 0, 0, 0] + rng.normal(size=len(qid)), [0.5, 1.5])
    return X, y, qid


def test_football():
    games = season()
    pairs, y = Pairs.from_frame(games, left="home", right="away", outcome="result")
    model = BradleyTerry().fit(pairs, y, advantage=1)
    board = Leaderboard(model)
    assert board.table["item"][0] in TEAMS[:2]
    assert model.advantage_ > 0
    proba = model.predict_proba(Pairs(None, ["Ajax"], ["Fulham"]), advantage=1)
    assert proba[0, 0] > 0.5


def test_arena():
    rng = np.random.default_rng(0)
    votes = pd.DataFrame(rng.choice(["opal", "onyx", "jade"], (300, 2)))
    votes.columns = ["model_a", "model_b"]
    words = ["model_a", "model_b", "tie", "both_bad"]
    votes["winner"] = rng.choice(words, 300, p=[0.4, 0.3, 0.2, 0.1])
    with pytest.warns(UserWarning) as said:
        pairs, y = Pairs.from_frame(
            votes, left="model_a", right="model_b", outcome="winner"
        )
        model = BradleyTerry().fit(pairs, y)
    assert any("with itself" in str(w.message) for w in said)
    assert Leaderboard(model).table.height == 3


def test_chess_elo():
    games = pd.DataFrame(
        {
            "white": [101, 102, 103, 101],
            "black": [102, 103, 101, 103],
            "score": [1, 0.5, 0, 1],
            "date": pd.to_datetime(
                ["2024-01-05", "2024-01-06", "2024-02-01", "2024-02-09"]
            ),
        }
    )
    y = Outcome.parse(games["score"], meaning="score")
    elo = Elo(k=20, init={101: 1400.0}).fit(games[["white", "black"]], y)
    assert elo.items_.tolist() == [101, 102, 103]
    assert elo.rating_[0] > 1400
    assert elo.predict(pd.DataFrame({"white": [101], "black": [102]})).tolist() == [-1]
    newcomer = pd.DataFrame({"white": [104], "black": [101]})
    with pytest.raises(ValueError, match=r"set_params\(unseen='prior'\)[^?]*$"):
        elo.predict(newcomer)
    assert elo.set_params(unseen="prior").predict(newcomer).tolist() == [1]
    glicko = Glicko(period_length="30d")
    glicko.fit(games[["white", "black"]], y, period=games["date"])
    assert (glicko.deviation_ < 350).all()


def test_fixtures():
    games = season()
    y = Outcome.parse(games["result"])
    model = BradleyTerry().fit(games[["home", "away"]], y)
    fixtures = [("Ajax", "Everton"), ("Fulham", "Benfica")]
    proba = pd.DataFrame(
        model.predict_proba(fixtures), columns=["home", "draw", "away"]
    )
    assert_allclose(proba.sum(axis=1), 1.0)
    assert proba.home[0] > proba.home[1]


def test_wines():
    wines, comparisons = tastings()
    pairs, y = Pairs.from_frame(
        comparisons, left="a", right="b", outcome="better", items=wines
    )
    model = tiebreak.make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    model.fit(pairs, y)
    best = wines.index[model.order(wines)[:10]]
    assert wines.loc[best].alcohol.mean() > wines.alcohol.mean()
    new = pd.DataFrame({"alcohol": [14.0, 10.0], "sugar": [1.0, 12.0]})
    assert np.diff(model.utility(new))[0] < 0


def test_search():
    X, y, qid = search()
    train, test = next(QueryKFold(4).split(X, y, qid))
    ranker = RankSVM(kernel="linear", loss="squared_hinge").fit(
        X[train], y[train], qid=qid[train]
    )
    each = ndcg(y[test], ranker.utility(X[test]), qid[test], k=10, average=False)
    assert len(each) == 10
    assert np.mean(each) > 0.75


def test_texts():
    good = ["clear answer with an example", "short and clear", "example and a reason"]
    bad = ["i do not know", "no idea", "as an ai i do not"]
    rng = np.random.default_rng(0)
    texts = [f"{text} {rng.integers(20)}" for text in good + bad for _ in range(8)]
    value = np.repeat([1, 0], 24)
    left, right = rng.permuted(np.tile(np.arange(48), (2, 4)), axis=1)
    left, right = left[left != right], right[left != right]
    pairs, y = Pairs(texts, left, right), np.sign(value[right] - value[left])
    model = tiebreak.make_pipeline(OnItems(TfidfVectorizer()), LogisticCompare())
    calibrated = CalibratedClassifierCV(model, cv=3).fit(pairs, y)
    assert calibrated.predict_proba(pairs).shape == (len(pairs), 3)
    prompt = left % 5
    out = cross_val_predict(model, pairs, y, groups=prompt, cv=GroupKFold(3))
    assert (out == y).mean() > 0.7


def test_ballots():
    ballots = pd.DataFrame(
        {
            "voter": [1, 1, 1, 2, 2, 2, 3, 3, 3],
            "candidate": ["x", "y", "z", "y", "x", "z", "x", "z", "y"],
            "rank": [1, 2, 2, 1, 2, 3, 1, 2, 3],
        }
    )
    orders = Orders.from_frame(ballots, list="voter", item="candidate", place="rank")
    model = PlackettLuce().fit(orders)
    assert model.items_[model.order(model.items_)][0] == "x"


def test_judges():
    rng = np.random.default_rng(0)
    n = 600
    votes = pd.DataFrame(
        {"left": rng.choice(list("pqrs"), n), "judge": rng.choice(8, n)}
    )
    shift = rng.integers(1, 4, n)
    votes["right"] = [
        "pqrs"[("pqrs".index(a) + s) % 4]
        for a, s in zip(votes.left, shift, strict=True)
    ]
    y = np.where(rng.random(n) < 0.75, np.where(votes.left < votes.right, -1, 1), 0)
    model = JudgeBradleyTerry().fit(votes[["left", "right"]], y, rater=votes["judge"])
    assert model.judges().height == 8
    assert model.items_[np.argmax(model.strength_)] == "p"


def test_forward_evaluation():
    games = season(240)
    y = Outcome.parse(games["result"])
    models = {"elo": Elo(), "glicko": Glicko(), "bt": BradleyTerry(half_life="90d")}
    result = evaluate_forward(
        models, games[["home", "away"]], y, period=games["date"], n_splits=3
    )
    assert set(result.table["model"]) >= set(models)
    assert (result.table["log_loss"] < 1.3).all()
    for unit in ("period[M]", "datetime64[s]"):
        when = games["date"].astype(unit)
        again = evaluate_forward(models, games[["home", "away"]], y, period=when)
        assert again.table["n_test"][0] > 100


def test_serving(tmp_path):
    wines, comparisons = tastings()
    pairs, y = Pairs.from_frame(
        comparisons, left="a", right="b", outcome="better", items=wines
    )
    model = tiebreak.make_pipeline(
        OnItems(StandardScaler()), SVMCompare(kernel="linear")
    )
    tiebreak.save(model.fit(pairs, y), tmp_path / "wines.tiebreak")
    again = tiebreak.load(tmp_path / "wines.tiebreak")
    assert_allclose(again.utility(wines), model.utility(wines))


def test_trees():
    pytest.importorskip("lightgbm")
    X, y, qid = search(60)
    trees = BoostedUtility(n_rounds=60).fit(X, y, qid=qid)
    assert trees.score(X, y, qid=qid) > 0.7
    assert trees.feature_importances_.argmax() == 0


def test_tuning():
    wines, comparisons = tastings()
    pairs, y = Pairs.from_frame(
        comparisons, left="a", right="b", outcome="better", items=wines
    )
    model = tiebreak.make_pipeline(
        OnItems(StandardScaler()), SVMCompare(kernel="linear")
    )
    grid = {"svmcompare__C": [0.01, 0.1, 1.0]}
    found = GridSearchCV(model, grid, cv=3).fit(pairs, y)
    ours = tiebreak.tune(model, pairs, y, grid, cv=3)
    assert ours.best_params_ == found.best_params_


def test_rank():
    games = season()
    result = tiebreak.rank(games, left="home", right="away", outcome="result")
    assert result.table["item"][0] in TEAMS[:2]
    goals = tiebreak.rank(
        games.rename(columns={"hg": "home_goals", "ag": "away_goals"})
    )
    assert len(goals.table) == 6
    assert "<table" in result._repr_html_()


def test_grades():
    rng = np.random.default_rng(0)
    reviews = pl.DataFrame(
        {
            "person": np.repeat(np.arange(30), 8),
            "stars": rng.integers(1, 6, 240),
            "price": rng.normal(size=240),
        }
    )
    stars = reviews["stars"] + (reviews["price"] > 0)
    model = RankSVM(kernel="linear")
    model.fit(reviews[["price"]], stars, qid=reviews["person"])
    assert model.coef_[0] > 0
    assert model.score(reviews[["price"]], stars, qid=reviews["person"]) > 0.5
