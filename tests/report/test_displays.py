# SPDX-License-Identifier: BSD-3-Clause
"""The displays draw the numbers they are given."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from tiebreak import (
    BradleyTerry,
    Elo,
    Leaderboard,
    LogisticCompare,
    Pairs,
)
from tiebreak.report import CalibrationDisplay, LeaderboardDisplay

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


ITEMS = np.random.default_rng(0).normal(size=(10, 2, 3))
OUTCOMES = np.array([-1, 0, 1, 1, -1] * 2)
MAKERS = {
    "leaderboard": lambda **more: LeaderboardDisplay.from_estimator(
        BradleyTerry(alpha=0.1).fit(GAMES, Y), **more
    ),
    "calibration": lambda **more: CalibrationDisplay.from_estimator(
        LogisticCompare().fit(ITEMS, OUTCOMES), ITEMS, OUTCOMES, **more
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
