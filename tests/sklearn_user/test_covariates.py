# SPDX-License-Identifier: BSD-3-Clause
"""What belongs to a comparison and not to an item: who was at home, the rain."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import LogisticCompare, OnItems, Pairs


@pytest.fixture(scope="module")
def season():
    """A season of 30 teams: what is known of teams, of games, and who won."""
    rng = np.random.default_rng(0)
    teams = pd.DataFrame({"budget": rng.normal(size=30), "age": rng.normal(25, 3, 30)})
    home, away = rng.integers(0, 15, 600), rng.integers(15, 30, 600)
    rain = pd.DataFrame({"rain": rng.random(600) < 0.3}).astype(float)
    better = teams["budget"].to_numpy()[away] - teams["budget"].to_numpy()[home]
    d = better - 0.6 + 0.4 * rain["rain"].to_numpy()  # rain is bad for home
    y = np.digitize(d + rng.logistic(size=600), [-0.5, 0.5]) - 1
    return Pairs(teams, home, away), y, rain


def test_an_advantage_and_a_context_are_learned_beside_features(season):
    """Effects stand in a table with their standard errors."""
    games, y, rain = season
    model = LogisticCompare(0.01, link="cumulative")
    model.fit(games, y, advantage=1, context=rain)
    table = model.coefficients()
    names = ["budget", "age", "advantage", "rain", "tie"]
    assert table["coefficient"].to_list() == names
    truth = np.array([1.0, 0.0, 0.6, -0.4, 0.5])
    assert (abs(table["estimate"] - truth) < 3 * table["standard_error"]).all()
    assert model.advantage_ > 0 > model.context_coef_[0]


def test_predictions_are_for_the_conditions_that_are_given(season):
    """Without conditions a prediction is for neutral ground."""
    games, y, _ = season
    model = LogisticCompare().fit(games, y, advantage=1)
    at_home = model.predict_proba(games, advantage=1)
    neutral, away = model.predict_proba(games), model.predict_proba(games, advantage=-1)
    assert (at_home[:, 0] > neutral[:, 0]).all()
    assert (neutral[:, 0] > away[:, 0]).all()
    low, high = model.predict_interval(games, advantage=1)[:, 0].T
    assert ((low < at_home[:, 0]) & (at_home[:, 0] < high)).all()


def test_a_pipeline_passes_conditions_to_its_last_step(season):
    """A name in front of the argument says which step it is for."""
    games, y, rain = season
    model = make_pipeline(OnItems(StandardScaler()), LogisticCompare())
    model.fit(games, y, logisticcompare__advantage=1, logisticcompare__context=rain)
    wet, dry = (model.predict_proba(games, context=x) for x in (np.ones(600), None))
    assert (wet[:, 2] > dry[:, 2]).all()


def test_a_search_routes_conditions_to_fit_and_score(season):
    """With metadata routing nothing has to be asked for."""
    games, y, rain = season
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(LogisticCompare(), {"alpha": [0.01, 1.0, 100.0]}, cv=3)
        search.fit(games, y, advantage=np.ones(600), context=rain)
        plain = cross_val_score(LogisticCompare(), games, y, cv=3)
    assert search.best_estimator_.context_names_ == ("rain",)
    assert search.best_score_ > plain.mean()
