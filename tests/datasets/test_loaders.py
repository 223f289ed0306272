# SPDX-License-Identifier: BSD-3-Clause
"""Loaders: facts about the published files, which were counted independently."""

import re

import numpy as np
import polars as pl
import pytest

from tiebreak.datasets import (
    UCI_TABLES,
    load_chess,
    load_published,
    load_sushi_orders,
    load_sushi_pairs,
    load_uci,
    loaders,
)

PREFECTURES = pl.read_csv(loaders.__file__.replace("loaders.py", "_prefectures.csv"))

FOOTBALL = """\
date,home_team,away_team,home_score,away_score,tournament,city,country,neutral
1872-11-30,Scotland,England,0,0,Friendly,Glasgow,Scotland,FALSE
1990-06-08,Argentina,Cameroon,0,1,FIFA World Cup,Milan,Italy,TRUE
1990-06-08,Italy,Austria,1,0,FIFA World Cup,Rome,Italy,FALSE
2030-01-01,Italy,Cameroon,NA,NA,Friendly,Rome,Italy,FALSE
"""


def write(folders, name, text):
    path = folders[0] / name
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_matches_that_were_not_played_are_left_out(folders):
    write(folders, "football/results.csv", FOOTBALL)
    data = load_published("football1872")
    assert data.y.tolist() == [0, 1, -1]
    assert data.away_score.tolist() == [0, 1, 0]
    assert data.advantage.tolist() == [1.0, 0.0, 1.0]
    assert data.tournament.tolist() == ["Friendly", "FIFA World Cup", "FIFA World Cup"]
    assert data.period.astype(str).tolist()[:2] == ["1872-11-30", "1990-06-08"]
    assert "CC0" in data.description


# Comparisons, left wins less right wins (None: not told), ties, items, and how many
# different values columns have; by the keepers' notes and the publishers' cards.
COMPARED = {
    "football1872": (49520, None, 11258, 337, {"advantage": 2}),
    "lm_arena_140k": (135634 - 10, None, None, 53, {"math": 2}),
    "llmfao": (8931, 362, 3471, 59, {"rater": 124, "prompt": 13, "id": 2139}),
}


@pytest.mark.filterwarnings("ignore:10 rows with the same item")
@pytest.mark.parametrize("name", COMPARED)
def test_published_comparisons(published, name):
    published(name)
    n, excess, ties, n_items, columns = COMPARED[name]
    data = load_published(name)
    assert (len(data.y), data.pairs.n_items) == (n, n_items)
    assert ties in (None, int(np.sum(data.y == 0)))
    assert excess in (None, -int(data.y.sum()))
    for column, n_values in columns.items():
        assert len(np.unique(data[column])) == n_values


@pytest.mark.filterwarnings("ignore:10 rows with the same item")
def test_the_published_votes_of_the_arena(published):
    """All votes of the publisher's card, but for those of a model with itself."""
    raw = pl.read_csv(published("lm_arena_140k"), infer_schema=False)
    same = raw.filter(pl.col("model_a") == pl.col("model_b"))["winner"].to_list()
    data = load_published("lm_arena_140k")
    assert len(same) == 10
    assert len(data.pairs) == 135634 - 10
    assert int(np.sum(data.y == -1)) == 48563 - same.count("model_a")
    assert int(np.sum(data.y == 1)) == 49785 - same.count("model_b")
    assert int(data.both_bad.sum()) == 15754 - same.count("both_bad")
    assert (data.y[data.both_bad] == 0).all()


def test_the_published_games_of_chess(published):
    """Counts of KONECT's file, made independently of this reader."""
    published("chess_kaggle2010/out.chess")
    data = load_chess()
    assert [int(np.sum(data.y == y)) for y in (-1, 0, 1)] == [21163, 28666, 15224]
    assert data.pairs.n_items == 7301
    counts = np.bincount(data.month)[1:]
    assert (len(counts), counts.min(), counts.max()) == (100, 46, 2540)
    games = np.bincount(np.r_[data.pairs.left, data.pairs.right])
    assert int(np.sum(games >= 10)) == 3067
    assert (np.diff(data.month) >= 0).all()
    # KONECT numbered the players in order of first appearance, as Pairs does.
    np.testing.assert_array_equal(data.pairs.names, np.arange(1, 7302))


@pytest.mark.parametrize(
    ("name", "grades", "n_features", "n_queries", "first"),
    [
        ("mq2008", [2319, 378, 177], 46, 156, 18219),
        ("lightgbm_rank/rank.train", [645, 1211, 858, 222, 69], 300, 201, 0),
        ("lightgbm_rank/rank.test", [206, 256, 252, 44, 10], 300, 50, 0),
    ],
)
def test_published_grades(published, name, grades, n_features, n_queries, first):
    published(name)
    data = load_published(name)
    assert data.X.shape == (sum(grades), n_features)
    assert np.bincount(data.y.astype(int)).tolist() == grades
    assert len(np.unique(data.qid)) == n_queries
    assert data.qid[0] == first


# Rows, inputs, target and its range, as the publishers and the papers list them.
FACTS = {
    "abalone": (4177, 8, "Class_Rings", 1, 29),
    "auto_mpg": (392, 7, "class", 9, 46.6),
    "bank32nh": (8192, 32, "rej", 0, 0.820),
    "bank8FM": (8192, 8, "rej", 0, 0.802),
    "boston_housing": (506, 13, "class", 5, 50),
    "concrete": (1030, 8, "strength", 2.33, 82.6),
    "diabetes": (43, 2, "c_peptide", 3.0, 6.6),
    "machine_cpu": (209, 6, "class", 6, 1150),
    "pyrimidines": (74, 27, "activity", 0.1, 0.9),
    "servo": (167, 4, "class", 0.131, 7.10),
    "stock": (950, 9, "company10", 34, 62),
    "triazines": (186, 60, "activity", 0.1, 0.9),
    "wpbc": (194, 32, "time", 1, 125),
}
# Attributes and how many of them are nominal, as in Table 1 of the swapped-pairs paper.
NOMINAL = {"abalone": 1, "auto_mpg": 3, "boston_housing": 1, "servo": 4}


def test_the_names():
    assert sorted(UCI_TABLES) == sorted(FACTS)
    with pytest.raises(ValueError, match=r"no table 'iris'\. Expected one of abal"):
        load_uci("iris")
    with pytest.raises(ValueError, match=r"no set 'fotball'\. Expected one of footb"):
        load_published("fotball")


@pytest.mark.parametrize("name", FACTS)
def test_the_published_tables(data_dir, name):
    rows, inputs, target, low, high = FACTS[name]
    plain, wide = load_uci(name, one_hot=False), load_uci(name)
    assert plain.X.shape == (rows, inputs)
    assert plain.target_name == target
    assert (plain.y.min(), plain.y.max()) == pytest.approx((low, high), abs=5e-3)
    assert np.isfinite(plain.X).all() and np.array_equal(wide.y, plain.y)
    names, nominal = wide.feature_names, 0
    for values, column in zip(plain.X.T, plain.feature_names, strict=True):
        spread = [k for k, name in enumerate(names) if name.startswith(f"{column}=")]
        expected = values[:, None]
        if spread:  # one 1 in every row, at the place of the value
            nominal += 1
            expected = expected == np.unique(values)
        columns = wide.X[:, spread or [names.index(column)]]
        assert np.array_equal(columns, expected)
    assert nominal == NOMINAL.get(name, 0)


def test_names_of_wpbc_fit_its_columns(data_dir):
    """Worst values are never below the means, under the corrected names."""
    table = load_uci("wpbc")
    column = dict(zip(table.feature_names, table.X.T, strict=True))
    for name in ("radius", "area", "perimeter"):
        assert (column[f"{name}_worst"] >= column[f"{name}_mean"]).all()


def naive_pairs(scores):
    """Rows (person, worse or equal sushi, other sushi, outcome), person by person."""
    rows = []
    for person, given in enumerate(scores):
        rated = [(score, sushi) for sushi, score in enumerate(given) if score >= 0]
        rated.sort()
        for (a, i), (b, j) in zip(rated[0::2], rated[1::2], strict=True):
            rows.append((person, i, j, int(b > a)))
    return np.array(rows)


def test_published_pairs_person_by_person(published):
    """The paper: 17,832 equality and 7,168 inequality pairs."""
    scores = np.loadtxt(published("sushi/sushi3b.5000.10.score"), dtype=int)
    data = load_sushi_pairs(random_state=0)
    assert int(np.sum(data.y == 0)) == 17832
    assert int(np.sum(data.y != 0)) == 7168
    expected = naive_pairs(scores)
    turned = data.sushi[:, 0] != expected[:, 1]
    # Binomial with standard deviation 0.003; ties are swapped as well.
    assert np.mean(turned) == pytest.approx(0.5, abs=0.02)
    assert np.mean(turned[data.y == 0]) == pytest.approx(0.5, abs=0.02)
    sides = np.where(turned[:, None], data.sushi[:, ::-1], data.sushi)
    assert np.array_equal(sides, expected[:, 1:3])
    assert np.array_equal(np.where(turned, -data.y, data.y), expected[:, 3])
    assert np.array_equal(data.person, expected[:, 0])
    assert np.array_equal(load_sushi_pairs(random_state=0).y, data.y)
    assert (load_sushi_pairs(random_state=1).y != data.y).any()


def test_published_features_of_sushi_and_people(published):
    options = {"has_header": False, "separator": "\t"}
    kinds = pl.read_csv(published("sushi/sushi3.idata"), **options).rows()
    people = pl.read_csv(published("sushi/sushi3.udata"), **options).rows()
    place = PREFECTURES.select("latitude", "longitude").rows()
    data = load_sushi_pairs(random_state=0)
    assert data.pairs.shape == (25000, 2, 14)
    names = data.pairs.feature_names
    assert names[:3] == ("style", "major_group", "minor_group")
    assert names[7:10] == ("gender", "age", "time")
    array = np.asarray(data.pairs)
    for row in range(0, 25000, 997):
        person = people[data.person[row]]
        for side in range(2):
            kind = kinds[data.sushi[row, side]]
            whole = [*kind[2:], *person[1:4], *place[person[4]], *place[person[7]]]
            assert array[row, side].tolist() == pytest.approx(whole)


def test_prefecture_numbers_are_the_publishers(published):
    text = published("sushi/README-en.txt").read_text(encoding="ascii")
    numbered = text[text.index("* prefecture no") : text.index("* region no")]
    numbers = dict(re.findall(r"(\d+):(\w+)", numbered))
    assert PREFECTURES["prefecture"].to_list() == [
        numbers[str(code)] for code in range(47)
    ]
    assert numbers["47"] == "foreign"


def test_the_published_orders(published):
    """Mean places in order; the first list, read by hand, and that all are whole."""
    published("sushi/sushi3a.5000.10.order")
    first = load_sushi_orders("a").orders
    assert next(iter(first)) == [
        "ikura", "ebi", "ika", "uni", "tamago", "kappa_maki", "tekka_maki", "anago",
        "toro", "maguro",
    ]  # fmt: skip
    assert np.array_equal(
        np.sort(first.flat.reshape(5000, 10)), np.tile(range(10), (5000, 1))
    )
    second = load_sushi_orders("b").orders
    assert second.n_items == 100
    assert set(first.names) < set(second.names)
    scores = np.loadtxt(published("sushi/sushi3b.5000.10.score"), dtype=int)
    rated = [np.flatnonzero(person >= 0).tolist() for person in scores]
    assert np.sort(second.flat.reshape(5000, 10)).tolist() == rated
    given = np.take_along_axis(scores, second.flat.reshape(5000, 10), axis=1).mean(
        axis=0
    )
    # Better places hold higher scores, from 3.90 to 1.19 on average.
    assert (np.diff(given) < 0).all()
    assert given[[0, 9]].round(2).tolist() == [3.9, 1.19]
