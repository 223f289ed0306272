# SPDX-License-Identifier: BSD-3-Clause
"""Where things stand in the plots of a page."""

import datetime
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.conftest import board_of
from tiebreak.ratings.leaderboard import ResultsMatrix
from tiebreak.report import charts
from tiebreak.report.history import history_chart
from tiebreak.report.tables import short_number


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 8))
def test_ticks_are_few_round_and_inside(low, span, most):
    high = low + span
    found = charts.ticks(low, high, most)
    assert len(found) <= most + 1
    step = 10.0 ** math.floor(math.log10(span / most))
    for value in found:
        assert low - 1e-6 * span <= value <= high + 1e-6 * span
        assert abs(value / step - round(value / step)) < 1e-4
    if len(found) > 2:
        np.testing.assert_allclose(np.diff(found), found[1] - found[0], rtol=1e-4)


def test_an_axis_puts_its_ends_at_the_edges_and_cuts_what_is_outside():
    axis = charts.Axis(1000.0, 2000.0, 5)
    assert [text for _, text in axis.ticks] == [
        "1000",
        "1200",
        "1400",
        "1600",
        "1800",
        "2000",
    ]
    assert [x for x, _ in axis.ticks] == [0, 200, 400, 600, 800, 1000]
    assert (axis.place(-5.0), axis.place(1500.0), axis.place(9e9)) == (0, 500, 1000)
    assert (axis.down(1250.0), axis.down(None)) == (750, None)
    assert charts.Axis(0.0, 1.0, 5).ticks[1][1] == "0.2"
    assert charts.Axis(3.0, 3.0).place(3.0) == 500.0


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0746, "0.0746"), (-2.0, "−2.00"), (123.4, "123"), (0.0, "0"), (None, "–")],
)
def test_short_numbers_have_three_digits(value, text):
    assert short_number(value) == text


def history(times, **more):
    return pl.DataFrame(
        {"time": times, "item": ["a"] * len(times), "rating": [1.0] * len(times)} | more
    )


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (40 * 365, ["1990", "2000"]),
        (500, ["Apr 1985", "Jul 1985"]),
        (12, ["7 Jan", "12 Jan"]),
    ],
)
def test_times_have_round_labels(days, expected):
    first = datetime.date(1985, 1, 2)
    times = [first + datetime.timedelta(days=k * days / 4) for k in range(5)]
    found = history_chart(history(times), ["a"])
    labels = [text for _, text in found["ticks"]]
    assert 2 <= len(labels) <= 8
    assert set(expected) <= set(labels)


def test_gaps_break_a_line_and_its_band():
    rating = [1.0, 2.0, None, 2.0, 1.0]
    frame = history([1, 2, 3, 4, 5]).with_columns(
        rating=pl.Series(rating),
        lower=pl.Series([None if v is None else v - 1 for v in rating]),
        upper=pl.Series([None if v is None else v + 1 for v in rating]),
    )
    found = history_chart(frame, ["b", "a"])
    (line,) = found["lines"]
    assert line["path"].count("M") == 2 and line["path"].count("L") == 2
    assert line["band"].count("Z") == 2


def test_names_at_the_ends_of_lines_do_not_overlap():
    names = list("abcde")
    frame = pl.DataFrame(
        {
            "row": [0, 1] * 5,
            "item": [name for name in names for _ in range(2)],
            "rating": [0.0, 1.0, 0.0, 1.0, 0.0, 1.01, 0.0, 0.0, 0.0, 0.01],
        }
    )
    found = history_chart(frame, names)
    places = sorted(line["label"] for line in found["lines"])
    assert min(np.diff(places)) >= 59.9
    assert places[0] >= 0 and places[-1] <= 1000


def test_calibration_counts_and_wilson_intervals(rng):
    n = 4000
    proba = rng.dirichlet([2.0, 1.0, 2.0], n)
    draws = (rng.random(n)[:, None] > proba.cumsum(axis=1)).sum(axis=1) - 1
    curves = charts.calibration_curves(draws, proba, np.ones(n))
    assert [curve.outcome for curve in curves] == ["left", "tie", "right"]
    for curve in curves:
        assert curve.weight.sum() == n and curve.weight.min() >= 30
        # Wilson's ends solve |p - share| = z √(p (1 - p) / n).
        for end in (curve.lower, curve.upper):
            reach = 1.96 * np.sqrt(end * (1 - end) / curve.weight)
            np.testing.assert_allclose(abs(end - curve.happened), reach, atol=1e-4)
        inside = (curve.lower <= curve.predicted) & (curve.predicted <= curve.upper)
        assert inside.sum() >= len(inside) - 2


def test_a_handful_of_rows_makes_no_point_of_its_own():
    p = np.append(np.full(500, 0.55), 0.95)
    proba = np.stack([1 - p, np.zeros(501), p], axis=1)
    outcome = np.append(np.ones(500), -1)
    right = charts.calibration_curves(outcome, proba, np.ones(501))[-1]
    assert right.weight.tolist() == [501]


def test_colors_fade_with_few_games():
    wins = np.array([[0.0, 3.0, 300.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    matrix = ResultsMatrix(np.array(list("abc")), wins, np.zeros((3, 3)))
    cells = charts.matrix_rows(matrix)
    few, many = cells[0][1][1], cells[0][1][2]
    assert few[0] == many[0] == "100"
    assert int(few[1][1:]) < int(many[1][1:]) == 9
    assert cells[1][1][0] == ("0", few[1].replace("p", "n"))


def test_bars_join_exactly_the_items_of_a_group():
    columns = {"item": list("abcdef"), "rating": [900.0, 800, 700, 600, 500, 400]}
    groups = ["a", "a b", "b", "c", "d", "c"]  # e differs from d and f
    chart = charts.critical_chart(board_of(columns | {"group": groups}))
    place = {one["item"]: one["x"] for one in chart["items"]}
    assert sorted(bar["x"] for bar in chart["bars"]) == [
        [place[item] for item in group] for group in ("fd", "cb", "ba")
    ]
    rows = [bar["y"] for bar in sorted(chart["bars"], key=lambda bar: bar["x"])]
    assert rows[0] == rows[1] != rows[2]  # which overlaps the second
    assert [place[item] for item in "fa"] == [250, 750]
    labels = [(one["left"], one["y"]) for one in chart["items"]]
    assert len(set(labels)) == 6 and max(y for _, y in labels) < chart["height"]
    assert charts.critical_chart(board_of(columns)) is None


def test_categories_are_compared_on_one_level():
    whole = pl.DataFrame(
        {"rank": [1, 2], "item": ["a", "b"], "rating": [1600.0, 1400.0]}
    )
    part = pl.DataFrame(
        {"item": ["b", "a"], "rating": [1060.0, 940.0]}
        | {"lower": [1050.0, 800.0], "upper": [1070.0, 1300.0], "rank": [1, 2]}
    )
    ranks = charts.category_ranks(whole, {"math": part, "none": part.clear()})
    # Rank there, color, how far it is from overall, and whether that is sure.
    nothing = ("", "", "", False)
    assert ranks["rows"] == [
        ("a", 1, [(2, "n9", "−160", False), nothing]),
        ("b", 2, [(1, "p9", "+160", True), nothing]),
    ]
    assert charts.category_ranks(whole, {}) is None


def test_an_audit_draws_the_difference_under_each_choice():
    under = {"holds": True, "difference": math.log(10), "low": 0.0, "high": 4.0}
    lower = {"choice": "no prior", "holds": False, "difference": -0.5}
    choices = {"as_asked": under | {"choice": "as asked"}}
    choices["each"] = [lower | {"low": None, "high": None}]
    chart = charts.choice_chart(choices)
    first, last = chart["rows"]
    assert (first["text"], first["interval"], first["asked"]) == ("400", "0 to 695", 1)
    assert (last["choice"], last["text"], last["interval"]) == ("no prior", "−87", "")
    assert first["from"] == chart["axis"].place(0) > last["x"]
    assert first["from"] < first["x"] < first["to"] and last["from"] is None
    assert charts.choice_chart({"as_asked": None, "each": []}) is None
