# SPDX-License-Identifier: BSD-3-Clause
"""What ``tiebreak rank`` puts into its report and its leaderboard, file by file."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from tests.pipeline.answers import rank_data
from tiebreak import LogisticCompare, Pairs, load
from tiebreak.cli.app import app
from tiebreak.data import Comparisons, Grades, ItemTable
from tiebreak.metrics.scorers import difference_of
from tiebreak.pipeline.leaderboard import (
    board_items,
    find_disagreements,
    rank_rows,
)
from tiebreak.pipeline.read import readable_title
from tiebreak.pipeline.result import compare_judges
from tiebreak.pipeline.source import Source
from tiebreak.ratings.leaderboard import RatingScale


@pytest.fixture
def ranked(tmp_path):
    """Give a function that runs the command and reads what it wrote."""

    def run(path, *options):
        out = tmp_path / "out"
        done = CliRunner().invoke(
            app, ["rank", str(path), "--out", str(out), *map(str, options)]
        )
        assert done.exit_code == 0, done.output
        page = (out / "report.html").read_text(encoding="utf-8")
        return done.output, page, pl.read_csv(out / "leaderboard.csv"), out

    return run


def sections(page):
    return re.findall(r'<section id="(\w+)"', page)


def first_screen(page):
    return re.sub(r"<[^>]+>", " ", page[page.index("<header") : page.index("<nav")])


def words(page, section):
    part = page[page.index(f'<section id="{section}"') :]
    return re.sub(r"<[^>]+>", " ", part[: part.index("</section>")])


def numbers_of(page):
    """Give what the page compares any two with, and the names that go with it."""
    block = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])["compare"]
    table = page[page.index('<table id="board"') :]
    names = re.findall(r"<th scope=row><bdi>(.*?)</bdi>", table[: table.index("</tab")])
    return block | {"names": names}


@pytest.fixture
def matches(tmp_path, rng):
    """Write 900 dated matches of six teams, of which one rises."""
    n = 900
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    day = np.sort(rng.integers(0, 300, n))
    strength = np.array([[0.0, 0.3, -0.3, 0.5, -0.5, 0.0]]).repeat(n, axis=0)
    strength[:, 5] = 3.0 * day / 300 - 1.5
    rows = np.arange(n)
    d = strength[rows, right] - strength[rows, left] - 0.3 + rng.logistic(size=n)
    frame = pl.DataFrame(
        {
            "date": np.datetime64("2021-01-01") + day,
            "home_team": [f"team {i}" for i in left],
            "away_team": [f"team {i}" for i in right],
            "home_score": (d < -0.4).astype(int),
            "away_score": (d > 0.4).astype(int),
        }
    )
    path = tmp_path / "matches.csv"
    frame.write_csv(path)
    return path


def test_dated_matches_have_a_history_also_without_a_model_of_time(ranked, matches):
    _, page, board, _ = ranked(matches)
    assert sections(page) == [
        *("effects", "matrix", "compare", "history", "quality"),
        *("checks", "made"),
    ]
    told = words(page, "history")
    assert "cut by time into 9 spans of about 100 results" in told
    assert "1 more item in grey" in told
    assert "Apr 2021" in told  # the axis shows dates
    read = words(page, "checks")
    assert "date is when, from 2021-01-01 to" in read
    assert "Model: bradley-terry" in read
    assert board.columns[:3] == ["rank", "item", "rating"]
    assert set(numbers_of(page)) >= {"advantage", "strengths"}


def test_glicko_shows_dates_and_compares_with_deviations(ranked, matches):
    _, page, _, out = ranked(matches, "--model", "glicko")
    assert "after every period" in words(page, "history")
    assert re.search(r"from 2021-\d\d-\d\d to 2021-10-\d\d", words(page, "quality"))
    numbers, model = numbers_of(page), load(out / "model.tiebreak")
    i, j = numbers["names"].index("team 1"), numbers["names"].index("team 4")
    assert model.advantage == "auto" and model.advantage_ > 0
    for home in (0, 1):
        d = numbers["strengths"][j] - numbers["strengths"][i]
        d -= home * numbers["advantage"]
        d /= np.sqrt(1 + numbers["doubts"][i] + numbers["doubts"][j])
        odds = np.array([np.exp(-d / 2), numbers["tie"], np.exp(d / 2)])
        teams = Pairs(None, ["team 1"], ["team 4"])
        expected = model.predict_proba(teams, advantage=home)[0]
        np.testing.assert_allclose(odds / odds.sum(), expected, atol=1e-6)


def test_graded_rows_of_two_features(ranked, tmp_path, rng):
    n = 120
    x = rng.normal(size=(n, 2))
    grade = np.clip(np.round(1.5 + x[:, 0] + 0.3 * rng.normal(size=n)), 0, 3)
    query = rng.permutation(np.repeat(["b", "a", "=c", "d", "e", "f"], n // 6))
    path = tmp_path / "graded.csv"
    pl.DataFrame(
        {"query": query, "grade": grade.astype(int), "sweet": x[:, 0], "<b>": x[:, 1]}
    ).write_csv(path)
    printed, page, table, out = ranked(path)
    assert sections(page) == ["weights", "quality", "checks", "made"]
    assert "In held-out queries it put" in first_screen(page)
    assert "What matters most" in first_screen(page)
    assert "&lt;b&gt;" in page
    assert "It rates items by 2 features" in " ".join(printed.split())
    # Every row of the file once, query by query as they appear, best first.
    assert table.columns == ["row", "query", "grade", "utility", "rank"]
    assert sorted(table["row"]) == list(range(1, n + 1))
    written = ["'=c" if name == "=c" else str(name) for name in query]
    assert table["query"].to_list() == [written[row - 1] for row in table["row"]]
    assert table["grade"].to_list() == [grade[row - 1] for row in table["row"]]
    order = list(dict.fromkeys(written))
    assert list(dict.fromkeys(table["query"])) == order
    for _, part in table.group_by("query"):
        assert part["rank"].to_list() == list(range(1, 21))
        assert part["utility"].is_sorted(descending=True)
    rows = pl.DataFrame(x[table["row"].to_numpy() - 1], schema=["sweet", "<b>"])
    utility = load(out / "model.tiebreak").predict(rows)
    np.testing.assert_allclose(
        np.ptp(table["utility"].to_numpy() - utility), 0, atol=1e-9
    )


def test_items_with_features_and_names(ranked, tmp_path, rng):
    items = rng.normal(size=(12, 2))
    names = [f"wine {i}" for i in range(12)]
    left = rng.integers(0, 10, 300)
    right = (left + rng.integers(1, 10, 300)) % 10
    d = items[right, 0] - items[left, 0] + 0.5 * rng.logistic(size=300)
    words_of = np.where(np.abs(d) < 0.3, "tie", np.where(d > 0, "right", "left"))
    votes, wines = tmp_path / "votes.csv", tmp_path / "wines.csv"
    pl.DataFrame(
        {
            "left": [names[i] for i in left],
            "right": [names[i] for i in right],
            "outcome": words_of,
        }
    ).write_csv(votes)
    pl.DataFrame({"item": names, "sweet": items[:, 0], "sour": items[:, 1]}).write_csv(
        wines
    )
    printed, page, board, out = ranked(votes, "--items", wines)
    assert sections(page) == [
        *("compare", "weights", "quality", "checks", "made"),
    ]
    assert sorted(board["item"]) == sorted(names)
    assert board["rating"].is_sorted(descending=True)
    games = dict(
        board.select("item", pl.sum_horizontal("wins", "ties", "losses")).rows()
    )
    expected = np.bincount(np.append(left, right), minlength=12)
    assert games == dict(zip(names, expected, strict=True))
    assert games["wine 10"] == 0
    assert "2 items were never compared" in first_screen(page)
    assert "wine 11" in printed
    model = load(out / "model.tiebreak")
    table = pl.DataFrame(items, schema=["sweet", "sour"])
    pairs = Pairs(table, [0, 10], [11, 3], names=np.array(names))
    ratings = dict(board.select("item", "rating").rows())
    points = [ratings[names[j]] - ratings[names[i]] for i, j in ((0, 11), (10, 3))]
    difference = np.log(10) / 400 * np.array(points)
    np.testing.assert_allclose(difference_of(model, pairs), difference, atol=1e-6)
    numbers = numbers_of(page)
    assert sorted(numbers["names"]) == sorted(names)
    assert numbers["link"] == "davidson"


def known_items(rng, names=None):
    items, left = rng.normal(size=(5, 2)), rng.integers(0, 4, 60)
    pairs = Pairs(items, left, (left + rng.integers(1, 4, 60)) % 4, names=names)
    return Comparisons(pairs, rng.integers(-1, 2, 60).astype(np.int8))


def graded_items(rng, names=None, query=None):
    return Grades.of(ItemTable(rng.normal(size=(5, 2))), np.arange(5.0), query, names)


def test_a_leaderboard_needs_different_names_and_one_query(rng):
    utility = np.array([0.5, 2.0, -1.0, 2.0, 0.0])
    names = np.array(list("abcde"))

    def columns(known):
        found = board_items(utility, known, object())
        return None if found is None else found.select("rank", "item", "rating").rows()

    expected = [
        (1, "b", 2.0), (1, "d", 2.0), (3, "a", 0.5), (4, "e", 0.0), (5, "c", -1.0)
    ]  # fmt: skip
    assert columns(known_items(rng, names)) == expected
    assert columns(graded_items(rng, names, np.zeros(5))) == expected
    assert columns(known_items(rng)) is None
    assert columns(graded_items(rng, np.array(list("abcda")))) is None
    assert columns(graded_items(rng, names, np.array([0, 0, 1, 1, 1]))) is None
    known = known_items(rng, names)
    moved = board_items(utility, known, object(), RatingScale(reference="d"))
    assert moved["rating"].to_list() == [0.0, 0.0, -1.5, -2.0, -3.0]
    with pytest.raises(ValueError, match="reference 'x' is not among"):
        board_items(utility, known, object(), RatingScale(reference="x"))


def test_rows_are_ranked_within_their_query(rng):
    query = np.array(["q", "p", "q", "q", "p"])
    known = graded_items(rng, np.array(list("vwxyz")), query)
    found = rank_rows(np.array([1.0, 5.0, 3.0, 3.0, 6.0]), known)
    assert found.columns == ["row", "item", "query", "grade", "utility", "rank"]
    assert found["row"].to_list() == [3, 4, 1, 5, 2]
    assert found["rank"].to_list() == [1, 1, 3, 1, 2]
    alone = rank_rows(np.array([1.0, 2.0, 0.0, 3.0, 4.0]), known_items(rng))
    assert alone["row"].to_list() == [5, 4, 2, 1, 3]


def test_the_history_of_numbered_periods_keeps_their_numbers(rng):
    left = rng.integers(0, 3, 400)
    names = np.array(["a", "b", "c"])
    pairs = Pairs(None, names[left], names[(left + rng.integers(1, 3, 400)) % 3])
    y = rng.integers(-1, 2, 400).astype(np.int8)
    month = np.sort(rng.integers(5, 25, 400))
    known = Comparisons(pairs, y, columns={"period": month})
    for model, column in (("glicko", "period"), ("bradley-terry", "time")):
        answer = rank_data(known, model=model)
        history, note = answer.history
        assert set(history[column]) <= set(range(5, 25))
        assert ("by Glicko's own rule" in note) == (model == "glicko")
    undated = Comparisons(pairs, y)
    for model, is_known in (("elo", True), ("bradley-terry", False)):
        history, _ = rank_data(undated, model=model).history
        assert (history is not None) is is_known


def test_a_model_that_names_no_more_but_knows_odds_says_so(rng):
    # Nine of ten are ties, which is all that accuracy sees.
    items, left = rng.normal(size=(40, 1)), rng.integers(0, 40, 3000)
    right = (left + rng.integers(1, 40, 3000)) % 40
    d = items[right, 0] - items[left, 0]
    y = np.where(rng.random(3000) < 0.15, np.sign(d), 0).astype(np.int8)
    known = Comparisons(Pairs(items, left, right), y)
    answer = rank_data(known, "x")
    said = " ".join(answer.summary())
    assert "predicts better how likely each outcome is" in said
    assert answer.compare is None


@pytest.fixture
def tasted(rng):
    """Give wines of three features; the second decides, the last does not."""
    items = rng.normal(size=(60, 3))
    left = rng.integers(0, 60, 900)
    right = (left + rng.integers(1, 60, 900)) % 60
    d = (items[right] - items[left]) @ [0.5, 3.0, 0.0] + 0.3 * rng.logistic(size=900)
    y = np.where(np.abs(d) < 0.3, 0, np.sign(d)).astype(np.int8)
    table = pl.DataFrame(items, schema=["sweet", "sour", "label"])
    names = np.array([f"wine {i}" for i in range(60)])
    data = Comparisons(Pairs(table, left, right, names=names), y)
    return LogisticCompare(kernel="linear").fit(data.pairs, y), data


def test_the_largest_disagreements_are_the_least_probable_outcomes(tasted):
    model, data = tasted
    found = find_disagreements(model, data)
    proba = model.predict_proba(data.pairs)[np.arange(900), data.y + 1]
    assert found["probability"].is_sorted()
    assert found["probability"][0] == proba.min()
    place = int(np.argmin(proba))
    assert found["left"][0] == f"wine {data.pairs.left[place]}"
    assert found["said"][0] == ["left", "tie", "right"][data.y[place] + 1]
    assert (found["said"] != found["predicted"]).all()


def test_a_report_says_how_it_was_made(tasted, rng):
    answer = rank_data(tasted[1], "wines")
    page = replace(answer, date="2026-01-02")
    assert page.methods.startswith("We ranked 60 items by 900 comparisons, of ")
    assert "a logistic model of the features" in page.methods
    assert page.methods.endswith(f"Computed with tiebreak {page.versions['tiebreak']}.")
    assert "(2026)" in page.citation and "@software{tiebreak," in page.citation
    assert len(page.fingerprint) == 64
    changed = tasted[1].y.copy()
    changed[0] = 1 if changed[0] < 1 else -1
    for y, is_same in ((tasted[1].y, True), (changed, False)):
        other = replace(page, source=Source(Comparisons(tasted[1].pairs, y), []))
        assert (other.fingerprint == page.fingerprint) is is_same


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/x/lm_arena_140k/battles.csv.gz", "Lm arena 140k battles"),
        ("/x/world-cup_2022.csv", "World cup 2022"),
        ("/x/chess/train.parquet", "Chess train"),
        ("/x/IPL", "IPL"),
    ],
)
def test_a_title_is_the_name_of_the_file_made_readable(path, title):
    assert readable_title(Path(path)) == title


def test_judges_of_a_file_are_compared():
    votes = Comparisons(
        Pairs(None, ["A", "B", "C"] * 20, ["B", "C", "A"] * 20),
        np.array([-1, -1, 1] * 20, dtype=np.int8),
        columns={"rater": np.array(["ann", "bo"] * 30)},
    )
    found = compare_judges(Source(votes, []), 0.95)
    assert [judge["name"] for judge in found["judges"]] == ["ann", "bo"]
    assert all(judge["agreement"] == 1 for judge in found["judges"])
    assert any("Krippendorff" in note for note in found["notes"])
    assert compare_judges(Source(replace(votes, columns={}), []), 0.95) is None
    alone = {"rater": np.array(["ann"] * 60)}
    assert compare_judges(Source(replace(votes, columns=alone), []), 0.95) is None
    assert {judge["left"] for judge in found["judges"]} == {2 / 3}
    unsided = compare_judges(Source(votes, [], sided=False), 0.95)
    assert all("left" not in judge for judge in unsided["judges"])
