# SPDX-License-Identifier: BSD-3-Clause
"""In a notebook: results as tables, pictures on given axes, warnings that are read."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning

import tiebreak
from tiebreak import (
    BradleyTerry,
    DataWarning,
    FitWarning,
    Leaderboard,
    LogisticCompare,
    Pairs,
    RankSVM,
    SVMCompare,
    TiebreakWarning,
    check_pairs,
    tune,
)
from tiebreak.models import ThresholdWarning
from tiebreak.report import CalibrationDisplay, LeaderboardDisplay
from tiebreak.selection import evaluate_folds

HOSTILE = ["<script>alert(1)</script>", "[red]Ada[/red]", "gnp.\u202eexe"]


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    pairs = Pairs(left=rng.choice(HOSTILE[:2], 30), right=np.repeat(HOSTILE[2], 30))
    return pairs, rng.choice([-1, 0, 1], 30)


# What the last line of a cell shows


def test_leaderboards_draw_their_intervals(votes):
    board = Leaderboard.from_results(*votes)
    frame = pd.DataFrame({"left": votes[0].names[votes[0].left], "right": HOSTILE[2]})
    frame["outcome"] = np.array(["left", "tie", "right"])[votes[1] + 1]
    for html in (board._repr_html_(), tiebreak.rank(frame)._repr_html_()):
        pictures = re.findall(r"white-space:pre[^>]*><bdi>([^<]*)</bdi>", html)
        assert len(pictures) == 3
        assert all(re.fullmatch(" *─*●─* *", picture) for picture in pictures)
        assert len(set(map(len, pictures))) == 1  # on one scale
    assert board.table.schema["wins"].is_integer()
    weighted = Leaderboard.from_results(*votes, sample_weight=np.full(30, 0.3))
    assert weighted.table.schema["wins"].is_float()
    assert "sums of weights" in weighted._repr_html_()


@pytest.mark.parametrize("library", [pd, pl])
def test_the_table_comes_back_in_the_library_that_came_in(library):
    votes = {"left": ["a", "b", "a"], "right": ["b", "c", "c"], "outcome": ["left"] * 3}
    frame = library.DataFrame(votes)
    table = tiebreak.rank(frame).table
    assert type(table) is type(frame)
    assert list(table["item"]) == ["a", "b", "c"]
    assert list(table["wins"]) == [2, 1, 0]
    assert table["wins"].dtype in ("int64", pl.Int64)


def test_results_are_tables_and_names_are_text(votes):
    models = {name: BradleyTerry() for name in HOSTILE}
    pages = [
        result._repr_html_()
        for result in (
            Leaderboard.from_results(*votes),
            check_pairs(*votes),
            tune(BradleyTerry(), *votes, {"alpha": [0.1, 1.0]}, cv=2),
            evaluate_folds(models, *votes),
        )
    ]
    for html in pages:
        assert "<table>" in html
        assert "<script>" not in html
        assert "\u202e" not in html
    board = pages[0]
    assert "&lt;script&gt;" in board
    assert "[red]Ada[/red]" in board
    assert "Prior: strengths are within" in board  # what the intervals rest on


@pytest.mark.parametrize(
    "name", [n for n in tiebreak.__all__ if hasattr(getattr(tiebreak, n), "fit")]
)
def test_every_model_has_the_diagram_of_scikit_learn(name):
    kind = getattr(tiebreak, name)
    needed = {
        "ThresholdCompare": {"ranker": tiebreak.RankSVM(C=3.0)},
        "OnItems": {"transformer": tiebreak.NystroemMap()},
        "WithoutTies": {"model": tiebreak.RankSVM()},
    }
    model = kind(**needed.get(name, {}))
    assert f"{name}" in model._repr_html_()
    assert "text/html" in model._repr_mimebundle_()


# Pictures


def test_pictures_go_where_you_put_them(votes):
    model = BradleyTerry().fit(*votes)
    figure, (left, right) = plt.subplots(1, 2)
    board = LeaderboardDisplay.from_estimator(model, ax=left)
    curves = CalibrationDisplay.from_estimator(model, *votes, ax=right)
    assert board.ax_ is left and curves.ax_ is right
    assert board.figure_ is curves.figure_ is figure
    again = CalibrationDisplay.from_predictions(votes[1], model.predict_proba(votes[0]))
    assert again.figure_ is not figure
    assert plt.get_fignums() == [figure.number]  # no other one was made
    plt.close(figure)


# Warnings


WINES = pd.DataFrame({"acid": [1.0, 2.0, 3.0, 4.0], "sugar": [1.0, 4.0, 2.0, 3.0]})


def test_names_of_the_features_of_compared_items():
    left, right, y = [0, 1, 2], [2, 3, 1], [1, -1, 0]
    named = Pairs(WINES, left, right)
    unnamed = Pairs(WINES.to_numpy(), left, right)
    model = LogisticCompare().fit(named, y)
    model.predict(named)  # no warning
    model.predict(named[1:])
    for asked in (unnamed, np.asarray(unnamed)):
        with pytest.warns(UserWarning, match="LogisticCompare was fitted with feature"):
            model.predict(asked)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        model.fit(unnamed, y).predict(named)


def test_warnings_have_categories():
    for category in (DataWarning, FitWarning, ThresholdWarning):
        assert issubclass(category, TiebreakWarning)
    items = WINES.to_numpy()
    with pytest.warns(DataWarning, match="There are no ties"):
        SVMCompare().fit(Pairs(items, [0, 1], [2, 3]), [1, 1])
    with pytest.warns(FitWarning, match="the same utility"):
        RankSVM(kernel="linear").fit(items[[0, 0]], [1, 2])
    with pytest.warns(ConvergenceWarning):
        LogisticCompare(1.0, max_iter=1, tol=1e-8).fit(
            Pairs(items, [0, 1], [2, 3]), [1, -1]
        )


# Looking around


def test_tab_shows_only_what_is_ours():
    assert dir(tiebreak) == sorted(tiebreak.__all__)
