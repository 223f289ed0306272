# SPDX-License-Identifier: BSD-3-Clause
"""The displays draw the numbers they are given."""

import datetime
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from tiebreak import BradleyTerry, Elo, Leaderboard, Pairs
from tiebreak.metrics import comparison_auc, comparison_roc_curve
from tiebreak.ratings.results_matrix import ResultsMatrix
from tiebreak.report import (
    CalibrationDisplay,
    ComparisonROCDisplay,
    HistoryDisplay,
    LeaderboardDisplay,
    ResultsMatrixDisplay,
    WeightsDisplay,
)

GAMES = Pairs(None, list("aabbcc$"), list("bcca$$a"))
Y = [-1, 0, 1, 1, -1, 0, 1]


def board():
    return Leaderboard(BradleyTerry(alpha=0.1).fit(GAMES, Y))


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_a_leaderboard_is_drawn_from_the_best_down():
    table = board().table
    display = LeaderboardDisplay.from_leaderboard(board(), top=3).plot()
    assert labels(display.ax_.yaxis) == table["item"].to_list()[:3]
    (points,) = display.ax_.lines
    np.testing.assert_allclose(points.get_xdata(), table["rating"][:3])
    segments = np.array(display.ax_.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 0], table["lower"][:3])
    np.testing.assert_allclose(segments[:, 1, 0], table["upper"][:3])
    assert display.ax_.yaxis_inverted()
    assert "95 %" in display.ax_.get_xlabel()


def test_a_leaderboard_without_intervals_has_none():
    display = LeaderboardDisplay.from_leaderboard(Leaderboard(Elo().fit(GAMES, Y)))
    assert not display.plot().ax_.collections
    assert "interval" not in display.ax_.get_xlabel()


def test_given_axes_are_drawn_on():
    figure = Figure()
    axes = figure.add_subplot()
    display = LeaderboardDisplay(["a"], [1.0]).plot(axes)
    assert display.ax_ is axes
    assert display.figure_ is figure


def test_dollars_are_no_mathematics():
    display = LeaderboardDisplay(["$x^2$"], [1.0]).plot()
    assert not display.ax_.get_yticklabels()[0].get_parse_math()


def test_the_roc_curve_keeps_its_shape_with_fewer_points(rng):
    n = 20_000
    d = rng.normal(size=n)
    y = np.where(np.abs(d + 0.5 * rng.normal(size=n)) < 0.3, 0, np.sign(d)).astype(int)
    display = ComparisonROCDisplay.from_predictions(y, d).plot()
    curve = display.ax_.lines[1]
    x, h = curve.get_data()
    assert len(x) < 1100
    fpr, tpr, _ = comparison_roc_curve(y, d)
    assert (x[0], h[0], x[-1], h[-1]) == (0.0, 0.0, fpr[-1], tpr[-1])
    assert abs(np.trapezoid(h, x) - np.trapezoid(tpr, fpr)) < 0.005
    assert display.auc == comparison_auc(y, d, close=True)


def test_calibration_by_hand():
    proba = [[0.25, 0.25, 0.5], [0.2, 0.3, 0.5], [0.9, 0.1, 0.0], [0.2, 0.0, 0.8]]
    weight = [1.0, 3.0, 1.0, 0.0]
    display = CalibrationDisplay.from_predictions(
        [-1, 1, -1, 0], proba, n_bins=2, sample_weight=weight
    )
    left, tie, right = display.curves
    np.testing.assert_allclose(left.predicted, [(0.25 + 0.6) / 4, 0.9])
    np.testing.assert_allclose(left.happened, [0.25, 1.0])
    np.testing.assert_allclose(left.share, [0.8, 0.2])
    np.testing.assert_allclose(tie.happened, [0.0])
    # A probability of exactly one half is in the upper bin.
    np.testing.assert_allclose(right.predicted, [0.0, 0.5])
    np.testing.assert_allclose(right.happened, [0.0, 0.75])
    drawn = display.plot().ax_.lines[1]
    np.testing.assert_allclose(drawn.get_ydata(), left.happened)


@pytest.mark.parametrize("proba", [[[0.5, 0.5]], [[1.2, 0.0, 0.0]], [[np.nan, 0, 1]]])
def test_calibration_refuses_other_probabilities(proba):
    with pytest.raises(ValueError, match="proba"):
        CalibrationDisplay.from_predictions([0], proba)


def test_the_matrix_says_points_ties_and_counts():
    wins = np.array([[0.0, 2, 0], [1, 0, 0], [0, 0, 0]])
    ties = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    matrix = ResultsMatrix(np.array(["a", "b", "c"]), wins, ties)
    display = ResultsMatrixDisplay(matrix).plot()
    assert display.hovers_ == {
        "cell-0-1": "a against b: 2 won, 1 tied, 1 lost",
        "cell-1-0": "b against a: 1 won, 1 tied, 2 lost",
    }
    texts = {text.get_position(): text.get_text() for text in display.ax_.texts}
    assert set(texts.values()) == {"62", "2-1-1", "38", "1-1-2"}
    assert all(text.get_gid() == "quiet" for text in display.ax_.texts)
    x = display.ax_.lines[0].get_xdata()
    assert x[1] - x[0] == pytest.approx(0.84 * 0.25)  # a quarter of the games


def test_the_matrix_takes_the_best_of_a_leaderboard():
    display = ResultsMatrixDisplay.from_leaderboard(board(), top=2)
    assert display.matrix.items.tolist() == board().table["item"].to_list()[:2]


def test_history_of_dates_numbers_and_text():
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 3)]
    for times, x in (
        (days, [18262.0, 18264.0]),
        ([5, 9], [5, 9]),
        (["q", "b"], [0, 1]),
    ):
        frame = pl.DataFrame({"time": times, "item": ["a", "a"], "rating": [1.0, 2.0]})
        display = HistoryDisplay(frame).plot()
        np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), x)
        assert [text.get_text() for text in display.ax_.texts] == ["a"]
        display.figure_.canvas.draw()


def test_history_keeps_first_and_last_of_many(rng):
    n = 10_000
    rating = rng.normal(size=n)
    frame = pl.DataFrame({"row": range(n), "item": ["a"] * n, "rating": rating})
    line = HistoryDisplay(frame).plot().ax_.lines[0]
    assert len(line.get_xdata()) <= 251
    assert line.get_xdata()[[0, -1]].tolist() == [0, n - 1]
    assert line.get_ydata()[-1] == rating[-1]
    np.testing.assert_array_equal(
        line.get_ydata(), rating[line.get_xdata().astype(int)]
    )


def test_history_shows_the_highest_last_ratings():
    frame = pl.DataFrame(
        {
            "period": [1, 1, 2, 2],
            "item": ["a", "b", "c", "a"],
            "rating": [9.0, 5.0, 7.0, 1.0],
        }
    )
    assert HistoryDisplay(frame, top=2).items == ["c", "b"]


def test_history_names_do_not_overlap():
    frame = pl.DataFrame(
        {
            "row": range(8),
            "item": list("abcdefgh"),
            "rating": [1.0 + i / 1e3 for i in range(8)],
        }
    )
    display = HistoryDisplay(frame).plot()
    heights = sorted(text.xyann[1] for text in display.ax_.texts)
    low, high = display.ax_.get_ylim()
    assert np.diff(heights).min() > 0.06 * (high - low)


def test_history_refuses_other_tables():
    with pytest.raises(ValueError, match="expected 'item'"):
        HistoryDisplay(pl.DataFrame({"item": ["a"], "rating": [1.0]}))


def test_weights_are_drawn_from_the_largest_down():
    display = WeightsDisplay([("a", 1.0), ("$b$", -3.0), ("c", 2.0)], top=2).plot()
    assert labels(display.ax_.yaxis) == ["$b$", "c"]
    assert [bar.get_width() for bar in display.ax_.patches] == [-3.0, 2.0]


def test_matplotlib_is_imported_to_draw_only_and_pyplot_never():
    code = (
        "import sys; from tiebreak.report import WeightsDisplay; "
        "assert 'matplotlib' not in sys.modules; "
        "WeightsDisplay([('a', 1.0)]).plot(); "
        "assert 'matplotlib' in sys.modules; "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
