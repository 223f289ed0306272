# SPDX-License-Identifier: BSD-3-Clause
"""Orders of sushi: on made-up files always, on the published ones when present."""

import numpy as np
import pytest

from tiebreak.datasets import load_sushi_orders

SET_A = (
    "ebi", "anago", "maguro", "ika", "uni", "ikura", "tamago", "toro", "tekka_maki",
    "kappa_maki",
)  # fmt: skip


@pytest.fixture
def made_up(write):
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


def test_names_lists_and_features(made_up):
    lists, kinds, names = made_up
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
def test_orders_that_are_not_the_release(made_up, write, old, new, message, tmp_path):
    name = "sushi/sushi3a.5000.10.order"
    text = (tmp_path / "data" / name).read_text()
    path = write(name, text.replace(old, new, 1))
    with pytest.raises(ValueError, match=message) as caught:
        load_sushi_orders("a")
    assert str(caught.value).startswith(str(path))


def test_short_lists_and_missing_kinds(made_up, write, tmp_path):
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
