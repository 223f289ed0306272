# SPDX-License-Identifier: BSD-3-Clause
"""Columns beside the comparisons reach fits and predictions of a search."""

import numpy as np
import pytest

from tiebreak import BradleyTerry, Elo, Pairs, tune
from tiebreak.metrics import comparison_log_loss
from tiebreak.selection import PeriodSplit


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
    assert found.best_model.advantage_ > 0.5


def test_periods_are_fitted_with_and_folds_follow_the_time(games):
    pairs, y, _ = games
    period = np.arange(400) // 20
    folds = list(PeriodSplit(2).split(pairs, period=period))
    found = tune(
        Elo(), pairs, y, {"k": [10.0, 40.0]}, cv=folds, columns={"period": period}
    )
    for row in found.table.iter_rows(named=True):
        train, test = folds[1]
        model = Elo(k=row["k"]).fit(pairs[train], y[train], period=period[train])
        wrong = (model.predict(pairs[test]) != y[test]).mean()
        assert row["split_1"] == pytest.approx(-wrong)


def test_columns_are_checked_and_part_of_the_search(games, tmp_path):
    pairs, y, home = games
    file = tmp_path / "search.json"

    def search(home):
        return tune(
            BradleyTerry(),
            pairs,
            y,
            {"alpha": [0.1]},
            cv=2,
            columns={"advantage": home},
            checkpoint=file,
        )

    search(home)
    with pytest.raises(ValueError, match="belongs to another search"):
        search(1 - home)
    with pytest.raises(ValueError, match="advantage has 3 values but there are 400"):
        search(home[:3])
    with pytest.raises(TypeError, match="takes no period"):
        tune(BradleyTerry(), pairs, y, {"alpha": [1.0]}, columns={"period": y})
