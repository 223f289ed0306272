# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a path draws its weights and scores."""

import io
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from tiebreak import L1RankerCV, l1_path
from tiebreak.report import L1PathDisplay
from tiebreak.report.figures import figure_settings, figure_svg


def make():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, np.digitize(X[:, 0] - 0.5 * X[:, 1], [-0.7, 0.7])


def test_weights_and_scores_are_drawn():
    X, y = make()
    path = l1_path(X, y, n_alphas=5, cv=3)
    display = L1PathDisplay.from_path(path).plot()
    assert display.features[:2] == [0, 1]
    lines = {line.get_label(): line for line in display.ax_.lines}
    assert_allclose(lines["feature 0"].get_xdata(), path.alphas)
    assert_allclose(lines["feature 0"].get_ydata(), path.coefs[:, 0])
    shown = display.score_ax_.lines[0]
    # A loss is drawn as the loss that people know.
    assert_allclose(shown.get_ydata(), -path.mean_scores)
    assert display.score_ax_.get_ylabel() == "pairs in the wrong order"
    best = display.score_ax_.lines[1]
    assert_allclose(best.get_xdata()[0], path.alphas[path.best])
    for ax in (display.ax_, display.score_ax_):
        assert ax.get_xscale() == "log"
    display.figure_.savefig(io.BytesIO(), format="png")


def test_from_an_estimator_and_without_scores():
    X, y = make()
    model = L1RankerCV(alphas=[50.0, 5.0, 0.0], cv=2, scoring="kendall_tau_b").fit(X, y)
    display = L1PathDisplay.from_estimator(model, top=1).plot()
    assert display.features == [0]
    assert_allclose(display.alphas, [50.0, 5.0])
    assert display.score_ax_.get_ylabel() == "kendall tau b"
    assert_allclose(
        display.score_ax_.lines[0].get_ydata(), model.scores_[:2].mean(axis=1)
    )
    alone = L1PathDisplay([2, 1], [[0, 0], [0, 3.0]], names=["$a$", "$b$"]).plot()
    assert alone.score_ax_ is None
    (text,) = alone.ax_.get_legend().get_texts()
    assert text.get_text() == "$b$"
    assert not text.get_parse_math()
    nothing = L1PathDisplay([2.0], [[0.0]]).plot()
    assert nothing.features == []


@pytest.mark.parametrize(
    ("alphas", "labels"),
    [
        (np.geomspace(50, 0.02, 5), ["0.1", "1", "10"]),
        (np.geomspace(8, 2, 5), ["2", "3", "4", "6"]),  # less than a power of ten
        (np.geomspace(1, 1e-7, 5), ["1e-06", "0.0001", "0.01", "1"]),
    ],
)
def test_ticks_are_plain_numbers(alphas, labels):
    with figure_settings():
        display = L1PathDisplay(alphas, np.ones((5, 1)), np.ones((5, 2))).plot()
        svg = figure_svg(display.figure_, "path", "Path", "A path.")
    assert "$" not in svg
    shown = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert set(labels) <= set(shown)


def test_given_axes_are_drawn_on():
    figure = Figure()
    axes = figure.subplots(2)
    display = L1PathDisplay([2, 1], [[0], [1]], [[0.1], [0.2]]).plot(axes)
    assert display.ax_ is axes[0] and display.score_ax_ is axes[1]
    assert display.figure_ is figure
    alone = display.plot(axes[0])
    assert alone.ax_ is axes[0] and alone.score_ax_ is None
    with pytest.raises(ValueError, match="draws on 2 axes at most, got 3"):
        display.plot(Figure().subplots(3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, 2], [[0.0]]), r"coefs has shape \(1, 1\)"),
        (([1, 0], [[0.0], [1.0]]), "above 0"),
        (([2, 1], [[0], [1]], [[1.0]]), "a row for each of the 2 alphas"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        L1PathDisplay(*arguments)
