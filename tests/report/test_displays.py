# SPDX-License-Identifier: BSD-3-Clause
"""The displays draw the numbers they are given."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV

from tiebreak import (
    BradleyTerry,
    Elo,
    Leaderboard,
    LogisticCompare,
    Pairs,
    RankSVM,
)
from tiebreak.report import CalibrationDisplay, LeaderboardDisplay, TuningDisplay
from tiebreak.selection import TuneResult

GAMES = Pairs(None, list("aabbcc$"), list("bcca$$a"))
Y = [-1, 0, 1, 1, -1, 0, 1]


def board():
    return Leaderboard(BradleyTerry(alpha=0.1).fit(GAMES, Y))


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_a_leaderboard_is_drawn_from_the_best_down():
    table = board().table
    display = LeaderboardDisplay(board(), top=3).plot()
    assert labels(display.ax_.yaxis) == table["item"].to_list()[:3]
    (points,) = display.ax_.lines
    np.testing.assert_allclose(points.get_xdata(), table["rating"][:3])
    segments = np.array(display.ax_.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 0], table["lower"][:3])
    np.testing.assert_allclose(segments[:, 1, 0], table["upper"][:3])
    assert display.ax_.yaxis_inverted()
    assert "95 %" in display.ax_.get_xlabel()


def test_a_leaderboard_without_intervals_has_none():
    display = LeaderboardDisplay(Leaderboard(Elo().fit(GAMES, Y)))
    assert not display.plot().ax_.collections
    assert "interval" not in display.ax_.get_xlabel()


def test_dollars_are_no_mathematics():
    display = LeaderboardDisplay(board()).plot()
    assert "$" in labels(display.ax_.yaxis)
    assert not any(n.get_parse_math() for n in display.ax_.get_yticklabels())


def test_calibration_by_hand():
    proba = [[0.25, 0.25, 0.5], [0.2, 0.3, 0.5], [0.9, 0.1, 0.0], [0.2, 0.0, 0.8]]
    weight = [1.0, 3.0, 1.0, 0.0]
    display = CalibrationDisplay.from_predictions(
        [-1, 1, -1, 0], proba, n_bins=2, sample_weight=weight
    )
    left, tie, right = display.curves
    np.testing.assert_allclose(left.predicted, [(0.25 + 0.6) / 4, 0.9])
    np.testing.assert_allclose(left.happened, [0.25, 1.0])
    np.testing.assert_allclose(tie.happened, [0.0])
    # A probability of exactly one half is in the upper bin.
    np.testing.assert_allclose(right.predicted, [0.0, 0.5])
    np.testing.assert_allclose(right.happened, [0.0, 0.75])
    drawn = display.plot().ax_.lines[1]
    np.testing.assert_allclose(drawn.get_ydata(), left.happened)


def test_an_outcome_that_nobody_thought_of_has_no_curve():
    proba = [[0.4, 0.0, 0.6], [0.7, 0.0, 0.3]]
    names = [
        curve.outcome
        for curve in CalibrationDisplay.from_predictions([1, -1], proba).curves
    ]
    assert names == ["left", "right"]
    # One that happened all the same is drawn.
    display = CalibrationDisplay.from_predictions([1, 0], proba)
    assert [curve.outcome for curve in display.curves][1] == "tie"
    colors = {line.get_label(): line.get_color() for line in display.plot().ax_.lines}
    assert colors["tie"] != colors["left wins"] != colors["right wins"]


def tuned(candidates, scores, scoring="error", best=None):
    scores = np.array(scores, dtype=float)
    place = int(np.nanargmax(scores.mean(axis=1))) if best is None else best
    good = np.ones(scores.shape, dtype=bool)
    return TuneResult.make(candidates, scores, good, place, None, scoring)


def test_tuning_of_two_settings_is_a_table_of_the_best_scores():
    grid = [
        {"a__C": c, "a__gamma": g, "a__tol": t}
        for c in (1.0, 10.0)
        for g in (0.1, 0.5, 2.0)
        for t in (1e-3, 1e-4)
    ]
    scores = -np.arange(12.0)[:, None] / 100
    scores[4] = np.nan
    display = TuningDisplay(tuned(grid, scores)).plot()
    assert display.settings == ["C", "gamma", "tol"]
    assert display.less_is_better
    drawn = ((text.get_position(), text.get_text()) for text in display.ax_.texts)
    texts = {(row, column): text for (column, row), text in drawn}
    # Rows are gamma, columns C; each the better of two, the greater score.
    assert texts == {
        (0, 0): "0.000",
        (1, 0): "0.020",
        (2, 0): "0.050",  # the other one is not a number
        (0, 1): "0.060",
        (1, 1): "0.080",
        (2, 1): "0.100",
    }
    (cells,) = display.ax_.images
    best, *_, worst = np.sort(cells.get_array().ravel())[::-1]
    assert (best, worst) == (0.0, -0.1)
    (frame,) = display.ax_.patches
    assert frame.get_xy() == (-0.47, -0.47)


def test_tuning_of_one_setting_is_a_curve_with_its_spread():
    grid = [{"alpha": a} for a in (0.1, 1.0, 10.0)]
    scores = [[-0.7, -0.5], [-0.4, -0.4], [-0.9, -0.9]]
    display = TuningDisplay(tuned(grid, scores, "log_loss")).plot()
    curve, ring = display.ax_.lines[0], display.ax_.lines[-1]
    np.testing.assert_allclose(curve.get_ydata(orig=False), [0.6, 0.4, 0.9])
    assert ring.get_xdata() == [1]
    assert labels(display.ax_.xaxis) == ["0.1", "1", "10"]
    assert display.ax_.get_ylabel() == "log loss"
    more = TuningDisplay(tuned(grid, [[0.7], [0.8], [0.6]], "auc")).plot()
    np.testing.assert_allclose(more.ax_.lines[0].get_ydata(orig=False), [0.7, 0.8, 0.6])


def test_tuning_of_a_single_value():
    display = TuningDisplay(tuned([{"C": 1.0}], [[-0.25]]))
    assert display.settings == []
    assert display.plot().ax_.get_xlabel() == "C"


GRADES = np.random.default_rng(0).normal(size=(30, 3))
ITEMS = GRADES[:20].reshape(10, 2, 3)
OUTCOMES = np.array([-1, 0, 1, 1, -1] * 2)
SEARCH = GridSearchCV(RankSVM(), {"C": [1.0, 2.0], "tol": [1e-3, 1e-4]}, cv=2)
MAKERS = {
    "leaderboard": lambda **more: LeaderboardDisplay.from_estimator(
        BradleyTerry(alpha=0.1).fit(GAMES, Y), **more
    ),
    "calibration": lambda **more: CalibrationDisplay.from_estimator(
        LogisticCompare().fit(ITEMS, OUTCOMES), ITEMS, OUTCOMES, **more
    ),
    "tuning": lambda **more: TuningDisplay.from_estimator(
        SEARCH.fit(GRADES, GRADES[:, 0]), **more
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_displays_are_made_and_drawn_as_those_of_scikit_learn(name):
    new = MAKERS[name]()
    assert new.ax_ in new.figure_.axes
    assert new._repr_png_().startswith(b"\x89PNG")  # notebooks show it
    figure = Figure()
    ax = figure.subplots()
    other = MAKERS[name](ax=ax)
    assert other.ax_ is ax and other.figure_ is figure
    assert ax.has_data()
    assert other._repr_png_() is None  # its figure belongs to who made it
    assert new.plot(ax=ax) is new and new.ax_ is ax


def test_a_search_of_scikit_learn_is_drawn_like_one_of_ours():
    search = SEARCH.fit(GRADES, GRADES[:, 0])
    display = TuningDisplay.from_estimator(search)
    assert display.result.best_params_ == search.best_params_
    np.testing.assert_allclose(
        display.result.table["score"], search.cv_results_["mean_test_score"]
    )
    with pytest.raises(TypeError, match="fitted search of a single score"):
        TuningDisplay.from_estimator(GridSearchCV(RankSVM(), {}))


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "tiebreak\[plot\]"'):
        LeaderboardDisplay(board()).plot()


@pytest.mark.extended
def test_a_file_is_ranked_without_matplotlib(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None; "
        "from tiebreak.cli import main; main()"
    )
    file = tmp_path / "votes.csv"
    file.write_text("left,right,outcome\n" + "ada,bob,left\n" * 9 + "bob,ada,tie\n")
    command = [sys.executable, "-c", code, "rank", str(file)]
    subprocess.run([*command, "--out", str(tmp_path / "out")], check=True)
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.extended
def test_pyplot_is_never_imported():
    code = (
        "import sys; from tiebreak.report import LeaderboardDisplay; "
        "from tiebreak import Elo, Pairs; "
        "model = Elo().fit(Pairs(None, ['a'], ['b']), [1]); "
        "LeaderboardDisplay.from_estimator(model); "
        "assert 'matplotlib' in sys.modules; "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
