# SPDX-License-Identifier: BSD-3-Clause
"""The displays draw the numbers they are given."""

import datetime
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import (
    BradleyTerry,
    Elo,
    L1RankerCV,
    Leaderboard,
    LogisticCompare,
    OnItems,
    Pairs,
    RankSVM,
    SVMCompare,
    report,
)
from tiebreak.metrics import comparison_auc, comparison_roc_curve
from tiebreak.ratings.leaderboard import ResultsMatrix
from tiebreak.report import (
    CalibrationDisplay,
    ComparisonROCDisplay,
    HistoryDisplay,
    LeaderboardDisplay,
    ResultsMatrixDisplay,
    TuningDisplay,
    WeightsDisplay,
)
from tiebreak.report.artists import Cells
from tiebreak.selection import TuneResult

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


def test_an_outcome_that_nobody_thought_of_has_no_curve():
    proba = [[0.4, 0.0, 0.6], [0.7, 0.0, 0.3]]
    names = [
        curve.outcome
        for curve in CalibrationDisplay.from_predictions([1, -1], proba).curves
    ]
    assert names == ["left wins", "right wins"]
    # One that happened all the same is drawn.
    display = CalibrationDisplay.from_predictions([1, 0], proba)
    assert [curve.outcome for curve in display.curves][1] == "tie"
    colors = {line.get_label(): line.get_color() for line in display.plot().ax_.lines}
    assert colors["tie"] != colors["left wins"] != colors["right wins"]


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
    (drawn,) = (a for a in display.ax_.get_children() if isinstance(a, Cells))
    assert [(c.row, c.column, c.text, c.fine) for c in drawn.cells] == [
        (0, 1, "62", "2-1-1"),
        (1, 0, "38", "1-1-2"),
    ]
    assert [c.line for c in drawn.cells] == [0.25, 0.25]  # a quarter of the games
    assert not drawn.small


def test_counts_too_long_for_a_cell_are_left_to_the_hover():
    wins = np.array([[0.0, 123456.0], [234567.0, 0.0]])
    matrix = ResultsMatrix(np.array(["a", "b"]), wins, np.zeros((2, 2)))
    display = ResultsMatrixDisplay(matrix).plot()
    (drawn,) = (a for a in display.ax_.get_children() if isinstance(a, Cells))
    assert [cell.fine for cell in drawn.cells] == ["", ""]
    assert "123,456 won, 0 tied, 234,567 lost" in display.hovers_["cell-0-1"]


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
    assert len(line.get_xdata()) <= 151
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


def test_history_has_gaps_where_there_is_no_rating():
    frame = pl.DataFrame(
        {
            "time": [1, 2, 3, 1, 2, 3],
            "item": ["a"] * 3 + ["b"] * 3,
            "rating": [5.0, None, 7.0, 9.0, 8.0, None],
        }
    )
    display = HistoryDisplay(frame)
    assert display.items == ["b", "a"]  # by the last rating that there is
    first, second = display.plot().ax_.lines
    np.testing.assert_array_equal(first.get_ydata(), [9.0, 8.0, np.nan])
    np.testing.assert_array_equal(second.get_ydata(), [5.0, np.nan, 7.0])
    assert first.get_marker() == "o"  # else one point between gaps is not seen
    ends = {text.get_text(): text.xy for text in display.ax_.texts}
    assert ends == {"a": (3.0, 7.0), "b": (2.0, 8.0)}


def test_history_refuses_other_tables():
    with pytest.raises(ValueError, match="expected 'item'"):
        HistoryDisplay(pl.DataFrame({"item": ["a"], "rating": [1.0]}))


def test_weights_are_drawn_from_the_largest_down():
    display = WeightsDisplay([("a", 1.0), ("$b$", -3.0), ("c", 2.0)], top=2).plot()
    assert labels(display.ax_.yaxis) == ["$b$", "c"]
    assert [bar.get_width() for bar in display.ax_.patches] == [-3.0, 2.0]


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
    assert display.choice() == "C = 1, gamma = 0.1, tol = 0.001"
    (drawn,) = (a for a in display.ax_.get_children() if isinstance(a, Cells))
    texts = {(cell.row, cell.column): cell.text for cell in drawn.cells}
    # Rows are gamma, columns C; each the better of two, the greater score.
    assert texts == {
        (0, 0): "0.0\u00a0%",
        (1, 0): "2.0\u00a0%",
        (2, 0): "5.0\u00a0%",  # the other one is not a number
        (0, 1): "6.0\u00a0%",
        (1, 1): "8.0\u00a0%",
        (2, 1): "10.0\u00a0%",
    }
    assert display.hovers_["cell-2-1"] == "C = 10, gamma = 2: 10.0\u00a0%"
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
    assert display.number(-0.4) == "0.400"
    assert TuningDisplay(tuned(grid, [[0.7], [0.8], [0.6]], "auc")).number(0.8) == (
        "0.800"
    )


def test_tuning_without_a_choice_to_make_still_says_what_was_taken():
    display = TuningDisplay(tuned([{"C": 1.0}], [[-0.25]]))
    assert display.settings == []
    assert display.choice() == "C = 1"
    assert display.plot().ax_.get_xlabel() == "C"


GRADES = np.random.default_rng(0).normal(size=(30, 3))
ITEMS = GRADES[:20].reshape(10, 2, 3)
OUTCOMES = np.array([-1, 0, 1, 1, -1] * 2)
PATH = L1RankerCV(alphas=[50.0, 5.0], cv=2)
SEARCH = GridSearchCV(RankSVM(), {"C": [1.0, 2.0], "tol": [1e-3, 1e-4]}, cv=2)
# What each display is made from. None: its docstring says why it has no such method.
SOURCES = {
    "LeaderboardDisplay": ((BradleyTerry(alpha=0.1), GAMES, Y), (), None),
    "HistoryDisplay": ((Elo(), GAMES, Y), (), None),
    "ResultsMatrixDisplay": ((BradleyTerry(alpha=0.1), GAMES, Y), (), None),
    "ComparisonROCDisplay": (
        (make_pipeline(OnItems(StandardScaler()), SVMCompare()), ITEMS, OUTCOMES),
        (ITEMS, OUTCOMES),
        (OUTCOMES, np.arange(10.0)),
    ),
    "CalibrationDisplay": (
        (LogisticCompare(), ITEMS, OUTCOMES),
        (ITEMS, OUTCOMES),
        (OUTCOMES, np.full((10, 3), 1 / 3)),
    ),
    "TuningDisplay": ((SEARCH, GRADES, GRADES[:, 0]), (), None),
    "WeightsDisplay": ((RankSVM(kernel="linear"), GRADES, GRADES[:, 0]), (), None),
    "L1PathDisplay": ((PATH, GRADES, GRADES[:, 0].round()), (), None),
}


def test_every_display_is_listed():
    assert set(SOURCES) == {name for name in report.__all__ if "Display" in name}


@pytest.mark.parametrize("name", SOURCES)
def test_displays_are_made_and_drawn_as_those_of_scikit_learn(name):
    kind = getattr(report, name)
    (model, *data), more, predictions = SOURCES[name]
    ways = {"from_estimator": (model.fit(*data), *more)}
    if predictions is None:
        assert not hasattr(kind, "from_predictions")
        assert "there is no ``from_predictions``" in " ".join(kind.__doc__.split())
    else:
        ways["from_predictions"] = predictions
    for way, arguments in ways.items():
        make = getattr(kind, way)
        new = make(*arguments)
        assert isinstance(new, kind)
        assert new.ax_ in new.figure_.axes
        assert new._repr_png_().startswith(b"\x89PNG")  # notebooks show it
        figure = Figure()
        ax = figure.subplots()
        given = make(*arguments, ax=ax)
        assert given.ax_ is ax
        assert given.figure_ is figure
        assert figure.axes[0] is ax and ax.has_data()
        assert given._repr_png_() is None  # its figure belongs to who made it
        assert new.plot(ax=ax) is new
        assert new.ax_ is ax


def test_a_search_of_scikit_learn_is_drawn_like_one_of_ours():
    search = SEARCH.fit(GRADES, GRADES[:, 0])
    display = TuningDisplay.from_estimator(search)
    assert display.result.best_params_ == search.best_params_
    np.testing.assert_allclose(
        display.result.table["score"], search.cv_results_["mean_test_score"]
    )
    with pytest.raises(TypeError, match="fitted search of a single score"):
        TuningDisplay.from_estimator(GridSearchCV(RankSVM(), {}))


def test_weights_have_the_names_of_the_features():
    table = pl.DataFrame({"size": GRADES[:, 0], "price": GRADES[:, 1]})
    model = RankSVM(kernel="linear").fit(table, GRADES[:, 0] - 0.1 * GRADES[:, 1])
    weights = WeightsDisplay.from_estimator(model).weights
    assert [name for name, _ in weights] == ["size", "price"]
    assert weights[0][1] > 0 > weights[1][1]
    with pytest.raises(TypeError, match=r"needs n_features_in_.*BradleyTerry has none"):
        WeightsDisplay.from_estimator(BradleyTerry().fit(GAMES, Y))
    with pytest.raises(TypeError, match="needs history_, which Elo, Glicko"):
        HistoryDisplay.from_estimator(model)


@pytest.mark.extended
def test_pyplot_is_never_imported():
    code = (
        "import sys; from tiebreak.report import WeightsDisplay; "
        "WeightsDisplay([('a', 1.0)]).plot(); "
        "assert 'matplotlib' in sys.modules; "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
