# SPDX-License-Identifier: BSD-3-Clause
"""The picture of level curves: what is drawn, refused and saved."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.contour import QuadContourSet
from matplotlib.quiver import Quiver

from tiebreak.data import Pairs
from tiebreak.datasets import make_norms
from tiebreak.report.level_curves import draw_level_curves

ITEMS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
PAIRS = Pairs(ITEMS, [0, 1, 2], [1, 2, 3])
Y = np.array([0, -1, 1])


def model(function, **attributes):
    return SimpleNamespace(utility=function, **attributes)


def linear(X):
    return X @ np.array([1.0, 0.5])


def artists(axis, kind):
    return [artist for artist in axis.get_children() if isinstance(artist, kind)]


def lines(axis):
    """The contour lines, not the fill, of a panel."""
    (curves,) = [c for c in artists(axis, QuadContourSet) if not c.filled]
    return curves


def notes(axis):
    return " ".join(text.get_text() for text in axis.texts)


def test_ties_are_segments_and_arrows_point_to_the_better_item():
    figure = draw_level_curves({}, PAIRS, Y)
    (panel,) = figure.axes
    (ties,) = artists(panel, LineCollection)
    assert np.array_equal(ties.get_segments(), [[[0, 0], [1, 0]]])
    (arrows,) = artists(panel, Quiver)
    tails = np.column_stack([arrows.X, arrows.Y])
    heads = tails + np.column_stack([arrows.U, arrows.V])
    # Pair 1 is item 1 against 2 with the left better; pair 2 is 2 against 3, right.
    assert np.array_equal(tails, ITEMS[[2, 2]])
    assert np.array_equal(heads, ITEMS[[1, 3]])


@pytest.mark.parametrize("outcome", [-1, 0, 1])
def test_one_kind_of_outcome_alone(outcome):
    figure = draw_level_curves({"m": model(linear)}, PAIRS, np.full(3, outcome))
    figure.draw_without_rendering()
    assert len(artists(figure.axes[0], Quiver)) == (outcome != 0)


def test_every_item_lies_inside_every_panel():
    data = make_norms(50, norm=1, random_state=0)
    figure = draw_level_curves({"m": model(data.utility)}, data.pairs, data.y)
    for panel in figure.axes:
        low, high = np.transpose([panel.get_xlim(), panel.get_ylim()])
        assert np.all(low < data.pairs.values)
        assert np.all(data.pairs.values < high)


def test_curves_of_a_model_are_one_threshold_apart():
    figure = draw_level_curves({"m": model(linear, threshold_=0.25)}, PAIRS, Y)
    levels = lines(figure.axes[1]).levels
    assert np.diff(levels) == pytest.approx(0.25)
    # Utilities of the items run from 0 to 3.5; both ends are points, not curves.
    assert levels[0] == pytest.approx(0.25)
    assert levels[-1] == pytest.approx(3.25)
    assert "one threshold apart" in notes(figure.axes[1])


def test_too_many_curves_are_thinned_by_the_smallest_whole_number():
    figure = draw_level_curves({"m": model(linear, threshold_=0.05)}, PAIRS, Y)
    # 69 curves inside (0, 3.5), at most 24 wanted: every third leaves 0.15, ..., 3.45.
    assert lines(figure.axes[1]).levels == pytest.approx(np.arange(0.15, 3.46, 0.15))
    assert "3 thresholds apart" in notes(figure.axes[1])


@pytest.mark.parametrize("threshold", [None, 0.0, -1.0, np.nan])
def test_without_a_positive_threshold_curves_are_evenly_spaced(threshold):
    figure = draw_level_curves({"m": model(linear, threshold_=threshold)}, PAIRS, Y)
    assert lines(figure.axes[1]).levels == pytest.approx(np.arange(0.14, 3.4, 0.14))
    assert "evenly spaced" in notes(figure.axes[1])


def test_true_curves_follow_their_own_threshold():
    figure = draw_level_curves({}, PAIRS, Y, utility=linear, threshold=0.5)
    curves = lines(figure.axes[0])
    assert np.diff(curves.levels) == pytest.approx(0.5)
    red, green, blue, _ = curves.get_edgecolor()[0]
    assert red == green == blue


def test_darker_is_higher():
    (fill,) = [
        c
        for c in artists(
            draw_level_curves({"m": model(linear)}, PAIRS, Y).axes[1], QuadContourSet
        )
        if c.filled
    ]
    assert np.all(np.diff(fill.levels) > 0)
    lightness = fill.get_facecolor()[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(lightness) < 0)


@pytest.mark.parametrize(
    ("utility", "words"),
    [
        (lambda X: np.zeros(len(X)), "equal for all items"),
        (lambda X: 1e9 + 1e-9 * X[:, 0], "equal for all items"),
        (lambda X: 1e-3 * X[:, 0], "no two items differ by a threshold"),
    ],
)
def test_nothing_to_draw_is_said(utility, words):
    figure = draw_level_curves({"m": model(utility, threshold_=1.0)}, PAIRS, Y)
    assert not artists(figure.axes[1], QuadContourSet)
    assert words in notes(figure.axes[1])


def test_titles_and_labels():
    models = {name: model(linear) for name in ("rank", "rank2", "compare", "x", "y")}
    figure = draw_level_curves(models, PAIRS, Y)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["training pairs", *models]
    assert {axis.get_xlabel() for axis in figure.axes} == {"feature 1"}
    assert [axis.get_ylabel() for axis in figure.axes] == [
        "feature 2",
        "",
        "",
        "",
        "feature 2",
        "",
    ]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["tie", "arrow to the better item", "darker: higher utility"]


def test_all_items_at_one_place():
    pairs = Pairs([[1.0, 1.0], [1.0, 1.0]], [0], [1])
    figure = draw_level_curves({"m": model(linear, threshold_=1.0)}, pairs, [0])
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_xlim()
    assert low < 1 < high


@pytest.mark.parametrize(
    "pairs", [Pairs(np.ones((2, 3)), [0], [1]), Pairs(None, ["a"], ["b"]), PAIRS[[]]]
)
def test_only_pairs_in_the_plane(pairs):
    with pytest.raises(ValueError, match=r"exactly 2 features, got Pairs\("):
        draw_level_curves({}, pairs, np.zeros(len(pairs)))
