# SPDX-License-Identifier: BSD-3-Clause
"""Sushi: on made-up files always, on the published ones when present."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from tiebreak.datasets import load_sushi_orders, load_sushi_pairs
from tiebreak.datasets.sushi import _PREFECTURES


@pytest.fixture(scope="module")
def made_up():
    """Tables of the shape of the publisher's: scores, sushi, people."""
    rng = np.random.default_rng(0)
    scores = np.full((5000, 100), -1)
    for row in scores:
        row[rng.choice(100, 10, replace=False)] = rng.choice(
            5, 10, p=[0.05, 0.1, 0.2, 0.25, 0.4]
        )
    kinds = [
        [i, f"name_{i}", *rng.integers(0, 3, 3), *rng.uniform(0, 4, 4)]
        for i in range(100)
    ]
    people = [
        [
            1000 + i,
            rng.integers(0, 2),
            rng.integers(0, 6),
            rng.integers(60, 900),
            *(rng.integers(0, 47), 0, 0),
            *(rng.integers(0, 47), 0, 0),
            0,
        ]
        for i in range(5000)
    ]
    return scores, kinds, people


def write(folder, scores, kinds, people):
    def save(name, rows, separator):
        text = "".join(separator.join(map(str, row)) + "\n" for row in rows)
        (folder / "sushi" / name).write_text(text)

    (folder / "sushi").mkdir()
    save("sushi3b.5000.10.score", scores, " ")
    save("sushi3.idata", kinds, "\t")
    save("sushi3.udata", people, "\t")


@pytest.fixture(scope="module")
def made_up_folder(made_up, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write(folder, *made_up)
    return folder


@pytest.fixture
def use_made_up(made_up_folder, monkeypatch):
    monkeypatch.setenv("TIEBREAK_DATA", str(made_up_folder))


@pytest.fixture
def sushi_folder(monkeypatch):
    root = os.environ.get("TIEBREAK_DATA")
    if not root:
        pytest.skip("TIEBREAK_DATA is not set: no sushi data")
    folder = Path(root) / "sushi"
    if not (folder / "sushi3b.5000.10.score").exists():
        pytest.skip(f"{folder} has no sushi3b.5000.10.score: no sushi data")
    return folder


def naive_pairs(scores):
    """Rows (person, worse or equal sushi, other sushi, outcome), person by person."""
    rows = []
    for person, given in enumerate(scores):
        rated = [(score, sushi) for sushi, score in enumerate(given) if score >= 0]
        rated.sort()
        for (a, i), (b, j) in zip(rated[0::2], rated[1::2], strict=True):
            rows.append((person, i, j, int(b > a)))
    return np.array(rows)


def test_protocol_pair_by_pair(use_made_up, made_up):
    scores, kinds, people = made_up
    data = load_sushi_pairs(swap=False)
    expected = naive_pairs(scores)
    assert np.array_equal(data.person, expected[:, 0])
    assert np.array_equal(data.sushi, expected[:, 1:3])
    assert np.array_equal(data.y, expected[:, 3])
    assert data.y.dtype == np.int8
    assert data.pairs.shape == (25000, 2, 14)
    place = dict(enumerate(_PREFECTURES.values()))
    array = np.asarray(data.pairs)
    for row in range(0, 25000, 997):
        person = people[data.person[row]]
        for side in range(2):
            features = [
                *kinds[data.sushi[row, side]][2:],
                *person[1:4],
                *place[person[4]],
                *place[person[7]],
            ]
            assert array[row, side].tolist() == pytest.approx(features)


def test_feature_names(use_made_up):
    names = load_sushi_pairs().pairs.feature_names
    assert names[:3] == ("style", "major_group", "minor_group")
    assert names[7:10] == ("gender", "age", "time")
    assert len(set(names)) == 14


def test_swapping_turns_whole_pairs_and_their_outcome(use_made_up):
    plain = load_sushi_pairs(swap=False)
    swapped = load_sushi_pairs(random_state=3)
    turned = np.any(plain.sushi != swapped.sushi, axis=1)
    assert np.array_equal(swapped.sushi[turned], plain.sushi[turned, ::-1])
    assert np.array_equal(swapped.pairs.left[turned], plain.pairs.right[turned])
    assert np.array_equal(swapped.pairs.right[turned], plain.pairs.left[turned])
    assert np.array_equal(swapped.pairs.left[~turned], plain.pairs.left[~turned])
    assert np.array_equal(swapped.y, np.where(turned, -plain.y, plain.y))
    assert np.array_equal(swapped.person, plain.person)
    # Binomial with standard deviation 0.003; ties are swapped as well.
    assert np.mean(turned) == pytest.approx(0.5, abs=0.02)
    assert np.mean(turned[plain.y == 0]) == pytest.approx(0.5, abs=0.02)


def test_seeds(use_made_up):
    first, again, other = (load_sushi_pairs(random_state=s).y for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def broken(part, row, column, value):
    def change(tables):
        tables[part][row][column] = value
        return tables

    return change


def upside_down(tables):
    scores = np.array(tables[0])
    return [np.where(scores >= 0, 4 - scores, -1).tolist(), *tables[1:]]


def truncated(tables):
    return [tables[0][:-1], *tables[1:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (truncated, "4999 rows and 100 columns, expected 5000 and 100"),
        (upside_down, "upside down .* before 29 December 2015"),
        (broken(0, 7, 0, 9), "row 8, column 1 is 9, expected a score of 0 to 4"),
        (broken(0, 7, 0, "x"), "row 8, column 1 is 'x', expected a number"),
        (broken(1, 4, 5, "?"), "idata: row 5, column 6 is '\\?', expected a number"),
        (broken(2, 0, 4, 47), "row 1, column 5 is prefecture 47 .foreign countries."),
        (broken(2, 1, 7, 99), "row 2, column 8 is prefecture 99, which has no"),
    ],
)
def test_files_that_are_not_the_release(
    made_up, tmp_path, monkeypatch, change, message
):
    scores, kinds, people = made_up
    tables = [scores.tolist(), [list(r) for r in kinds], [list(r) for r in people]]
    write(tmp_path, *change(tables))
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=message):
        load_sushi_pairs()


def test_wrong_number_of_scores_names_the_row(made_up, tmp_path, monkeypatch):
    scores, kinds, people = made_up
    scores = scores.copy()
    scores[12, np.flatnonzero(scores[12] >= 0)[0]] = -1
    write(tmp_path, scores, kinds, people)
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="row 13 has 9 scores, expected 10"):
        load_sushi_pairs()


def test_missing_data_says_where_they_are_published(tmp_path, monkeypatch):
    monkeypatch.setenv("TIEBREAK_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"kamishima\.net/sushi"):
        load_sushi_pairs(download=False)


def test_published_counts(sushi_folder):
    """The paper: 17,832 equality and 7,168 inequality pairs."""
    data = load_sushi_pairs(random_state=0)
    assert int(np.sum(data.y == 0)) == 17832
    assert int(np.sum(data.y != 0)) == 7168
    assert set(load_sushi_pairs(swap=False).y.tolist()) == {0, 1}


def test_published_pairs_person_by_person(sushi_folder):
    scores = np.loadtxt(sushi_folder / "sushi3b.5000.10.score", dtype=int)
    data = load_sushi_pairs(swap=False)
    expected = naive_pairs(scores)
    assert np.array_equal(data.sushi, expected[:, 1:3])
    assert np.array_equal(data.y, expected[:, 3])


def test_prefecture_numbers_are_the_publishers(sushi_folder):
    text = (sushi_folder / "README-en.txt").read_text(encoding="ascii")
    numbered = text[text.index("* prefecture no") : text.index("* region no")]
    numbers = dict(re.findall(r"(\d+):(\w+)", numbered))
    assert list(_PREFECTURES) == [numbers[str(code)] for code in range(47)]
    assert numbers["47"] == "foreign"


def kilometers(first, second):
    """Great-circle distance between two prefectural capitals."""
    place = {name: np.radians(where) for name, where in _PREFECTURES.items()}
    (a, b), (c, d) = place[first], place[second]
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(h))


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        # Great-circle distances between the cities, to the nearest ten kilometers.
        ("Tokyo", "Osaka", 400),
        ("Hokkaido", "Tokyo", 830),
        ("Tokyo", "Fukuoka", 880),
        ("Kagoshima", "Okinawa", 660),
        ("Kyoto", "Shiga", 10),
    ],
)
def test_known_distances(first, second, distance):
    assert kilometers(first, second) == pytest.approx(distance, abs=15)


def test_prefectures_are_distinct_places_in_japan():
    north, east = zip(*_PREFECTURES.values(), strict=True)
    assert len(_PREFECTURES) == len(set(zip(north, east, strict=True))) == 47
    assert min(north) > 26
    assert max(north) < 43.1
    assert min(east) > 127
    assert max(east) < 141.4
    # Each capital is within a day's walk or two of another prefecture's, except for
    # the two islands at the ends.
    for name in set(_PREFECTURES) - {"Hokkaido", "Okinawa"}:
        nearest = min(
            kilometers(name, other) for other in _PREFECTURES if other != name
        )
        assert nearest < 130, name


SET_A = (
    "ebi", "anago", "maguro", "ika", "uni", "ikura", "tamago", "toro", "tekka_maki",
    "kappa_maki",
)  # fmt: skip


@pytest.fixture
def made_up_orders(write):
    """Write files of the shape of the publisher's; give the lists and the kinds."""
    rng = np.random.default_rng(0)
    # Set A's kinds stand somewhere in set B, in another order.
    names = [f"name_{i}" for i in range(100)]
    for name, place in zip(SET_A, rng.choice(100, 10, replace=False), strict=True):
        names[place] = name
    kinds = {name: rng.uniform(0, 4, 7).round(3).tolist() for name in names}
    lines = [[i, name, *kinds[name]] for i, name in enumerate(names)]
    write("sushi/sushi3.idata", "".join("\t".join(map(str, x)) + "\n" for x in lines))
    lists = {}
    for which, n_items in (("a", 10), ("b", 100)):
        lists[which] = [rng.permutation(n_items)[:10].tolist() for _ in range(5000)]
        rows = "".join(f"0 10 {' '.join(map(str, x))}\n" for x in lists[which])
        write(f"sushi/sushi3{which}.5000.10.order", f"{n_items} 1\n{rows}")
    return lists, kinds, names


def test_names_lists_and_features(made_up_orders):
    lists, kinds, names = made_up_orders
    for which, names_of_set in (("a", list(SET_A)), ("b", names)):
        orders = load_sushi_orders(which).orders
        assert len(orders) == 5000
        assert list(orders.names) == names_of_set
        assert list(orders[[0, 4999]]) == [
            [names_of_set[item] for item in lists[which][i]] for i in (0, 4999)
        ]
        assert orders.items.feature_names == (
            "style", "major_group", "minor_group", "oiliness", "eaten", "price", "sold",
        )  # fmt: skip
        expected = [kinds[name] for name in names_of_set]
        assert np.asarray(orders.items.values).tolist() == expected
    assert np.array_equal(load_sushi_orders().orders.flat, np.ravel(lists["b"]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10 1\n", "10 1\n0 10 0 1 2 3 4 5 6 7 8 9\n", "5,001 lists of 10 items, exp"),
        ("10 1\n", "11 1\n", "5,000 lists of 11 items, expected 5,000 of 10"),
        ("10 1\n0 10 ", "10 1\n0 11 10 ", "line 2"),
    ],
)
def test_orders_that_are_not_the_release(
    made_up_orders, write, old, new, message, tmp_path
):
    name = "sushi/sushi3a.5000.10.order"
    text = (tmp_path / "data" / name).read_text()
    path = write(name, text.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_sushi_orders("a")
    assert str(caught.value).startswith(str(path))


def test_short_lists_and_missing_kinds(made_up_orders, write, tmp_path):
    name = "sushi/sushi3a.5000.10.order"
    good = (tmp_path / "data" / name).read_text()
    lines = good.splitlines()
    lines[7] = "0 2 1 5"
    write(name, "\n".join(lines))
    with pytest.raises(ValueError, match="line 8 lists 2 items, expected 10"):
        load_sushi_orders("a")
    write(name, good)
    kinds = (tmp_path / "data" / "sushi" / "sushi3.idata").read_text()
    write("sushi/sushi3.idata", kinds.replace("\ttoro\t", "\ttorro\t"))
    with pytest.raises(ValueError, match="there is no sushi called 'toro'"):
        load_sushi_orders("a")
    assert len(load_sushi_orders("b").orders) == 5000


def test_sets_have_names():
    with pytest.raises(ValueError, match="which must be 'a' or 'b', got 'c'"):
        load_sushi_orders("c")


def test_no_files(write):
    with pytest.raises(FileNotFoundError, match=r"kamishima\.net/sushi"):
        load_sushi_orders(download=False)


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
