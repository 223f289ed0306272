# SPDX-License-Identifier: BSD-3-Clause
import io
import math
import re

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rich.cells import cell_len
from rich.console import Console

from tests.ratings.test_bradley_terry import named, simulate
from tiebreak import Orders, Pairs, SVMCompare
from tiebreak.ratings import BradleyTerry, Elo, Glicko, Leaderboard, PlackettLuce
from tiebreak.ratings.leaderboard import UNKNOWN, choose_next_pairs
from tiebreak.ratings.strengths.distribution import Separation


@pytest.fixture
def results(rng):
    _, left, right, y, _ = simulate(rng, 900, 7)
    return named(left, right, 7), y


def test_few_raters_are_a_note(results):
    pairs, y = results
    for n, expected in ((1, "1 rater"), (2, "2 raters"), (19, "only 19"), (20, None)):
        model = BradleyTerry().fit(pairs, y, rater=np.arange(len(y)) % n)
        notes = " ".join(Leaderboard(model).notes)
        assert ("rater" in notes) == (expected is not None)
        assert (expected or "") in notes


def test_ratings_are_strengths_on_the_scale(results):
    model = BradleyTerry("davidson", alpha=0).fit(*results)
    board = Leaderboard(model)
    table = board.table
    assert table["rating"].is_sorted(descending=True)
    assert table["rank"].to_list() == list(range(1, 8))
    place = {name: k for k, name in enumerate(model.items_.tolist())}
    rows = [place[name] for name in table["item"]]
    strength = model.strength_[rows]
    # 400 points are odds of ten to one, ties left aside; the mean is 1500.
    assert_allclose(table["rating"], 1500 + 400 * strength / math.log(10), rtol=1e-12)
    first, last = table["item"][0], table["item"][-1]
    p = model.predict_proba(Pairs(None, [first], [last]))[0]
    gap = table["rating"][0] - table["rating"][-1]
    assert p[0] / p[2] == pytest.approx(10 ** (gap / 400))
    error = model.standard_errors()[rows] * 400 / math.log(10)
    assert_allclose(table["upper"] - table["lower"], 2 * 1.959964 * error, rtol=1e-6)
    ranks = model.rank_intervals(simultaneous=True)[rows]
    best = model.contrasts().best[rows] >= 0.05
    assert_array_equal(table["could_be_best"], best)
    assert_array_equal(table["rank_best"], np.where(best, 1, ranks[:, 0].clip(min=2)))
    alone = best & (best.sum() == 1)
    assert_array_equal(table["rank_worst"], np.where(alone, 1, ranks[:, 1]))
    assert_array_equal(table["wins"], model.wins_[rows])
    assert_array_equal(table["losses"], model.losses_[rows])
    separation = Separation.of(model.distribution(), 0.95, model._components())
    groups = separation.groups((model.contrasts().best >= 0.05) & (best.sum() == 1))
    assert board.groups == [model.items_[group].tolist() for group in groups]
    assert (table["rank_best"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_worst"]).all()


def test_a_reference_is_where_it_is_put_and_certain(results):
    scale = {"scale": 1.0, "base": math.e, "reference": "i3", "anchor": 0.0}
    model = BradleyTerry("davidson", alpha=0).fit(*results)
    for interval in (None, "model"):
        board = Leaderboard(model, interval=interval, **scale)
        row = board.table.row(by_predicate=pl.col("item") == "i3", named=True)
        assert row["rating"] == row["lower"] == row["upper"] == 0.0
        relative = model.strength_ - model.strength_[3]
        assert_allclose(board.table["rating"], np.sort(relative)[::-1], atol=1e-12)
    with pytest.raises(ValueError, match="'nobody' is not among the items"):
        Leaderboard(model, reference="nobody")


def test_elo_has_no_intervals_and_glicko_has(results):
    pairs, y = results
    elo = Leaderboard.from_results(pairs, y, model=Elo())
    assert elo.table["lower"].is_null().all()
    assert elo.table["rank_best"].is_null().all()
    assert elo.groups == []
    assert elo.table["rating"].to_list() == sorted(elo.model.rating_, reverse=True)
    assert elo.table["item"][0] in str(elo)
    strengths = Leaderboard.from_results(pairs, y).table.sort("item")
    counts = ["wins", "ties", "losses"]
    assert elo.table.sort("item").select(counts).equals(strengths.select(counts))
    glicko = Leaderboard.from_results(pairs, y, model=Glicko(), level=0.9)
    half = (glicko.table["upper"] - glicko.table["lower"]) / 2
    order = np.argsort(-glicko.model.rating_, kind="stable")
    assert_allclose(half, 1.644854 * glicko.model.deviation_[order], rtol=1e-6)
    for board in (elo, glicko):
        with pytest.raises(TypeError, match="needs strengths from counted"):
            board.matrix()
        with pytest.raises(TypeError, match="needs strengths from counted"):
            board.next_pairs()


@pytest.mark.parametrize(
    "tied",
    [[], [["c", ["a", "b"]]], [["c", ["a", "b"]], ["b", ["c", "d", "a"]]]],
    ids=["no ties", "of two", "of two and three"],
)
def test_plackett_luce_has_intervals_and_no_counts(tied):
    lists = [list("abcd"), list("bacd"), list("dcba"), list("acbd"), *tied]
    model = PlackettLuce(alpha=0).fit(Orders(None, lists))
    assert len(model.tie_) == len(tied)
    board = Leaderboard(model, scale=1.0, base=math.e, anchor=0.0)
    order = np.argsort(-model.strength_, kind="stable")
    table = board.table
    assert table["item"].to_list() == model.items_[order].tolist()
    assert_allclose(table["rating"], model.strength_[order], atol=1e-12)
    assert_allclose(table.select("lower", "upper"), model.intervals()[order])
    assert_array_equal(
        table.select("rank_best", "rank_worst"),
        model.rank_intervals(simultaneous=True)[order],
    )
    assert table["wins"].is_null().all()
    assert "votes_needed" not in board.versus("a").columns
    assert "95 % interval" in str(board)
    with pytest.raises(TypeError, match="needs strengths from counted"):
        board.matrix()


def test_matrix_counts_who_beat_whom(results):
    pairs, y = results
    board = Leaderboard.from_results(pairs, y)
    matrix = board.matrix(top=4)
    assert matrix.items.tolist() == board.table["item"].to_list()[:4]
    names = pairs.names
    for a, one in enumerate(matrix.items):
        for b, two in enumerate(matrix.items):
            left = (names[pairs.left] == one) & (names[pairs.right] == two)
            right = (names[pairs.left] == two) & (names[pairs.right] == one)
            wins = (y[left] == -1).sum() + (y[right] == 1).sum()
            ties = (y[left | right] == 0).sum()
            assert matrix.wins[a, b] == wins
            assert matrix.ties[a, b] == ties
    assert_array_equal(matrix.games, matrix.games.T)
    assert np.isnan(np.diag(matrix.points)).all()
    off = ~np.eye(4, dtype=bool)
    assert_allclose((matrix.points + matrix.points.T)[off], 1.0)


def test_next_pairs_are_named_once(results):
    found = Leaderboard.from_results(*results).next_pairs(5)
    assert found.columns == ["left", "right", "gain"]
    assert len(found.unique(["left", "right"])) == 5
    assert (found["gain"] > 0).all()


def test_names_are_text_and_never_markup():
    names = ["[bold red]", "<b>", "日本", "x" * 120]
    left, right = np.triu_indices(4, 1)
    pairs = Pairs(None, np.tile(left, 2), np.tile(right, 2), names=names)
    board = Leaderboard.from_results(pairs, [-1] * 6 + [1] * 6)
    text = str(board)
    for name in names[:3]:
        assert name in text
    assert text.count("x") >= 120
    file = io.StringIO()
    Console(file=file, width=100).print(board)
    assert "[bold red]" in file.getvalue()
    assert max(map(len, file.getvalue().splitlines())) <= 100


NAMES = [
    "gemini-2.5-flash-lite-preview-06-17-thinking",
    "gemini-2.5-pro-preview-03-25",
    "Saint Vincent and the Grenadines",
    "Democratic Republic of the Congo",
    "富士山と富士五湖の写真",
    "🎉 party",
    "o3",
]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_names_keep_whole_words_and_other_columns_make_room(width, rng):
    left, right = np.triu_indices(len(NAMES), 1)
    pairs = Pairs(None, np.tile(left, 99), np.tile(right, 99), names=NAMES)
    board = Leaderboard.from_results(pairs, rng.integers(-1, 2, len(pairs)))
    file = io.StringIO()
    Console(file=file, width=width).print(board)
    lines = file.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    rows = [line for line in lines if re.match(r" {1,5}\d+ ", line)]
    assert len(rows) == len(NAMES)
    for name in NAMES:
        words = re.split(r"(?<=[- ])", name)
        assert all(any(word.strip() in line for line in lines) for word in words)
    # A row for each item, and no more than one further line for each.
    table = lines[lines.index(rows[0]) : lines.index(rows[-1]) + 1]
    assert len(table) <= 2 * len(NAMES)
    if width == 200:
        assert len(table) == len(NAMES)
        assert "●" in rows[0] and "won/tied/lost" in file.getvalue()
    if width == 60:
        assert "columns without room: group, won/tied/lost" in " ".join(
            file.getvalue().split()
        )


def test_only_ties_show_what_is_known():
    pairs = Pairs(None, ["a", "b"], ["b", "a"])
    with pytest.warns(UserWarning, match="Every comparison is a tie"):
        board = Leaderboard.from_results(pairs, [0, 0])
    assert board.table["rating"].to_list() == [1500.0, 1500.0]
    assert board.table["rank"].to_list() == [1, 1]
    assert board.table["lower"].is_null().all()


def test_bad_input(results):
    model = SVMCompare(kernel="linear")
    pairs = Pairs(
        [[3.0, 0.0], [0.0, 1.0], [0.0, 2.0], [3.0, 0.0]], [0, 1, 2], [1, 2, 3]
    )
    with pytest.raises(TypeError, match="items with features"):
        Leaderboard(model.fit(pairs, [-1, 0, 1]))
    for options, message in (
        ({"level": 2}, "level must be"),
        ({"interval": "guess"}, "kind must be one of"),
        ({"scale": 0}, "positive scale"),
        ({"base": 1}, "base above 1"),
        ({"anchor": math.inf}, "finite anchor"),
    ):
        with pytest.raises(ValueError, match=message):
            Leaderboard.from_results(*results, **options)


def test_information_is_the_expected_squared_score(rng):
    _, left, right, y, _ = simulate(rng)
    for ties in ("davidson", "rao-kupper"):
        model = BradleyTerry(ties, alpha=0).fit(named(left, right, 6), y)
        d, h = np.array([-1.3, 0.0, 0.4]), 1e-6
        link, t = model._link, model._tie
        slope = np.log(link.probabilities(d + h, t)) - np.log(
            link.probabilities(d - h, t)
        )
        expected = (link.probabilities(d, t) * (slope / (2 * h)) ** 2).sum(axis=1)
        assert_allclose(model.information(d), expected, rtol=1e-6)


def test_gain_is_that_of_the_determinant(rng):
    # ½ ln(1 + h v) is the fall of half the log determinant of the covariance.
    root = rng.normal(size=(4, 4))
    covariance = root @ root.T + np.eye(4)
    strength = rng.normal(size=4)

    def information(d):
        return 0.25 / np.cosh(d / 2) ** 2

    pairs, gain = choose_next_pairs(strength, covariance, information, 6)
    assert len({tuple(sorted(pair)) for pair in pairs}) == 6
    assert len(choose_next_pairs(strength, covariance, information, 10)[1]) == 6
    hessian = np.linalg.inv(covariance)
    for k, (i, j) in enumerate(pairs):
        gains = {}
        for a in range(4):
            for b in range(a):
                e = np.zeros(4)
                e[a], e[b] = 1, -1
                h = information(strength[a] - strength[b])
                after = hessian + h * np.outer(e, e)
                gains[b, a] = 0.5 * np.log(
                    np.linalg.det(after) / np.linalg.det(hessian)
                )
        assert gain[k] == pytest.approx(gains[i, j])
        if k == 0:
            assert gain[k] == pytest.approx(max(gains.values()))
        e = np.zeros(4)
        e[i], e[j] = 1, -1
        hessian = hessian + information(strength[i] - strength[j]) * np.outer(e, e)


@pytest.mark.filterwarnings("ignore:Every comparison is a tie")
def test_what_is_not_known_has_its_type_and_no_note():
    board = Leaderboard.from_results(Pairs(None, ["a"] * 9, ["b"] * 9), np.zeros(9))
    assert board.table.select(list(UNKNOWN)).null_count().row(0) == (2,) * 6
    assert {name: board.table.schema[name] for name in UNKNOWN} == UNKNOWN
    assert not any("Equal items" in note for note in board.notes)
