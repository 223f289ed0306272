# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiebreak.data import Orders

ITEMS = np.array([[1.0], [2.0], [3.0], [4.0]])


@pytest.fixture
def orders():
    return Orders(ITEMS, [[3, [0, 2], 1], [1, 3], [[2, 0]]])


def test_flat_form(orders):
    np.testing.assert_array_equal(orders.flat, [3, 0, 2, 1, 1, 3, 2, 0])
    np.testing.assert_array_equal(orders.position, [0, 1, 1, 3, 0, 1, 0, 0])
    np.testing.assert_array_equal(orders.indptr, [0, 4, 6, 8])
    for array in (orders.flat, orders.position, orders.indptr):
        assert array.dtype == np.int64
    np.testing.assert_array_equal(orders.lengths, [4, 2, 2])
    assert (len(orders), orders.shape, orders.n_items) == (3, (3,), 4)
    assert orders.has_features
    assert orders.values is ITEMS


def test_iteration_gives_the_lists_back(orders):
    assert list(orders) == [[3, [0, 2], 1], [1, 3], [[2, 0]]]


@pytest.mark.parametrize(
    "rows", [[2, 0], np.array([2, 0]), (np.array([2, 0]), ...), slice(None, None, -2)]
)
def test_rows_are_lists(orders, rows):
    taken = orders[rows]
    assert list(taken) == [[[2, 0]], [3, [0, 2], 1]]
    np.testing.assert_array_equal(taken.indptr, [0, 2, 6])
    assert taken.items is orders.items


def test_masks_single_rows_and_nothing(orders):
    assert list(orders[[False, True, False]]) == [[1, 3]]
    assert list(orders[1]) == [[1, 3]]
    assert list(orders[[]]) == []
    with pytest.raises(IndexError, match="out of bounds"):
        orders[3]


def test_an_array_is_lists_of_one_length():
    assert list(Orders(ITEMS, np.array([[0, 1], [3, 2]]))) == [[0, 1], [3, 2]]


@pytest.mark.parametrize("column", [pd.Series, pl.Series])
def test_a_column_of_lists(column):
    assert list(Orders(ITEMS, column([[0, 1], [3]]))) == [[0, 1], [3]]


def test_names():
    orders = Orders(None, [["b", ["a", "c"]], ["c"]])
    np.testing.assert_array_equal(orders.names, ["b", "a", "c"])
    np.testing.assert_array_equal(orders.flat, [0, 1, 2, 2])
    assert list(orders) == [["b", ["a", "c"]], ["c"]]
    assert orders.feature_names is None
    given = Orders(ITEMS, [["b", "d"], ["a"]], names=list("abcd"))
    np.testing.assert_array_equal(given.flat, [1, 3, 0])
    assert list(given) == [["b", "d"], ["a"]]
    numbered = Orders(ITEMS, [[40, 10]], names=[10, 20, 30, 40])
    np.testing.assert_array_equal(numbered.flat, [3, 0])


@pytest.mark.parametrize(
    ("sequences", "names", "message"),
    [
        (
            [[0, 1], [2, 4]],
            None,
            r"0 to 3, .*entry 1 of sequence 1 \(4\)",
        ),
        ([[0, -1]], None, r"entry 1 of sequence 0 \(-1\)"),
        ([[0], [1, 2, 1]], None, r"only once.*entry 2 of sequence 1 \(1\)"),
        ([["a", ["b", "a"]]], list("abcd"), r"entry 2 of sequence 0 \('a'\)"),
        ([["a", "x"]], list("abcd"), r"4 names.*entry 1 of sequence 0 \('x'\)"),
        ([[0], []], None, "Sequence 1 is empty"),
        ([[0, []]], None, "Sequence 0 holds an empty list of tied items"),
        ([], None, "There are no sequences"),
        ([[0, None]], None, r"1 missing value\(s\).*entry 1 of sequence 0"),
        ([[0.0], [1.0, np.nan]], None, r"1 missing value\(s\).*entry 1 of sequence 1"),
        ([[0, [1, [2]]]], None, "must have one dimension, got"),
        ([[0] * 8], None, "7 occur again.*and 2 more"),
    ],
)
def test_refused_values(sequences, names, message):
    with pytest.raises(ValueError, match=message):
        Orders(ITEMS, sequences, names=names)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ("ab", "Sequence 0 must be a list of items, best first, got .a."),
        (3, "not iterable"),
        ([0, 1], "Sequence 0 must be a list of items, best first, got 0"),
        ([[0], "ab"], "Sequence 1 must be a list of items, best first, got 'ab'"),
        ([["a"]], "got object values, such as 'a'"),
    ],
)
def test_refused_types(sequences, message):
    with pytest.raises(TypeError, match=message):
        Orders(ITEMS, sequences)


def test_what_was_seen():
    seen = [["c", "z", "a"], ("b", "c")]
    orders = Orders(None, [["a", "b"], ["c"]], seen=seen)
    assert orders.names.tolist() == ["a", "b", "c", "z"]
    for some in (orders, orders.with_items(ITEMS), orders[[0, 1]]):
        assert [part.tolist() for part in some.unlisted()] == [[0, 0, 1], [2, 3, 1]]
    assert list(orders[[1]].seen) == [["b", "c"]]
    row, item = Orders(ITEMS, [[0, 3], [2]])[[1]].unlisted()
    assert (row.tolist(), item.tolist()) == ([0, 0, 0], [0, 1, 3])
    row, item = Orders(ITEMS, [[0, 3], [2]], seen=[[1], [2]]).unlisted()
    assert (row.tolist(), item.tolist()) == ([0], [1])
    for wrong, words in (([[1]], "has 1 lists for 2"), ([[1], [7]], "In seen: .*7")):
        with pytest.raises(ValueError, match=words):
            Orders(ITEMS, [[0, 3], [2]], seen=wrong)


def test_sets_are_items_in_unknown_order():
    orders = Orders(
        None, [["d", {"c", "a", "b"}, "e"], ["a", ["b", "c"]], [{"e"}, "a"]]
    )
    assert orders.names.tolist() == ["d", "a", "b", "c", "e"]  # whatever the hash seed
    assert orders.position.tolist() == [0, 1, 1, 1, 4, 0, 1, 1, 0, 1]
    assert orders.unordered.tolist() == [True, False, True]
    assert list(orders) == [["d", {"a", "b", "c"}, "e"], ["a", ["b", "c"]], ["e", "a"]]
    assert list(Orders(None, list(orders))) == list(orders)
    for some in (orders[[1, 0]], orders[[1, 0]].with_items(np.eye(5))):
        assert list(some) == list(orders)[1::-1]
    y, qid = orders.entry_grades()
    assert y.tolist() == [2, 1, 1, 1, 0, 0, -1, -1, 1, 0]
    assert qid.tolist() == [0] * 5 + [1] * 3 + [2] * 2
    with pytest.raises(ValueError, match=r"Sequence 1 has tied items .* one of both"):
        Orders(None, [["a", "b"], [["a", "b"], {"c", "d"}]])
    with pytest.raises(TypeError, match="Sequence 0 must be a list"):
        Orders(None, [{"a", "b"}])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_best_and_worst_of_sets(kind):
    sets = [["b", "a", "c", "d"], ["a", "c", "d", "e"]]
    columns = kind(["a", "d"]), kind(["d", "c"])
    orders = Orders.from_best_worst(kind(sets), *columns)
    assert list(orders) == [["a", {"b", "c"}, "d"], ["d", {"a", "e"}, "c"]]
    assert orders.names.tolist() == ["a", "b", "c", "d", "e"]
    best = Orders.from_best_worst(kind(sets), columns[0])
    assert list(best) == [["a", {"b", "c", "d"}], ["d", {"a", "c", "e"}]]


def test_best_and_worst_by_row_number():
    orders = Orders.from_best_worst([[0, 3], [1, 2, 3]], [3, 1], [0, 2], ITEMS)
    assert list(orders) == [[3, 0], [1, 3, 2]]
    assert orders.grades()[0].ravel().tolist() == [4.0, 1.0, 2.0, 4.0, 3.0]
    assert orders.entry_grades()[0].tolist() == [0, -1, 2, 1, 0]


@pytest.mark.parametrize(
    ("best", "worst", "words"),
    [
        (
            ["a", "x"],
            ["b", "c"],
            "of set 1 must be different items of it, got 'x', 'c'",
        ),
        (["a", "b"], ["b", "b"], "best and worst of set 1 must be .* got 'b', 'b' of"),
        (["a", "b"], ["b", None], "got 'b', None of"),
        (["a"], ["b", "c"], "best"),
    ],
)
def test_best_and_worst_must_be_of_their_set(best, worst, words):
    with pytest.raises(ValueError, match=words):
        Orders.from_best_worst([["a", "b", "c"], ["b", "c"]], best, worst)


def test_grades(orders):
    X, y, qid = orders.grades()
    np.testing.assert_array_equal(X.ravel(), [4, 1, 3, 2, 2, 4, 3, 1])
    np.testing.assert_array_equal(y, [0, -1, -1, -3, 0, -1, 0, 0])
    assert y.dtype == np.float64
    np.testing.assert_array_equal(qid, [0, 0, 0, 0, 1, 1, 2, 2])
    X_part, y_part, qid_part = orders[[2, 1]].grades()
    np.testing.assert_array_equal(X_part.ravel(), [3, 1, 2, 4])
    np.testing.assert_array_equal(y_part, [0, 0, 0, -1])
    np.testing.assert_array_equal(qid_part, [0, 0, 1, 1])


def test_no_features():
    orders = Orders(None, [["a", "b"]])
    for use in (Orders.grades, lambda o: o.values):
        with pytest.raises(TypeError, match="have no features"):
            use(orders)
    with pytest.raises(TypeError, match=r"Use orders.grades\(\)"):
        np.asarray(orders)


def test_touched_and_with_items(orders):
    np.testing.assert_array_equal(orders[[1]].touched(), [1, 3])
    other = orders.with_items(pd.DataFrame({"u": [5.0, 6.0, 7.0, 8.0]}))
    assert other.feature_names == ("u",)
    assert list(other) == list(orders)
    np.testing.assert_array_equal(other.values.ravel(), [5, 6, 7, 8])
    with pytest.raises(ValueError, match="has 1 rows for 4 items"):
        orders.with_items([[1.0]])


def test_repr(orders):
    assert repr(orders) == "Orders(3 lists of 4 items, 1 feature)"
    assert repr(Orders(None, [["a"]])) == "Orders(1 list of 1 item, no features)"
    assert repr(Orders(sp.csr_array(ITEMS), [[0]])) == (
        "Orders(1 list of 4 items, 1 feature, sparse)"
    )


@st.composite
def ranked_lists(draw):
    sequences = []
    for _ in range(draw(st.integers(1, 4))):
        codes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True))
        sequence, rest = [], list(codes)
        while rest:
            size = draw(st.integers(1, len(rest)))
            block, rest = rest[:size], rest[size:]
            sequence.append(block if size > 1 else block[0])
        sequences.append(sequence)
    return sequences


@given(ranked_lists())
def test_round_trip_and_positions(sequences):
    items = np.arange(6.0)[:, None]
    orders = Orders(items, sequences)
    assert list(orders) == sequences
    assert list(Orders(items, list(orders))) == sequences
    for row, sequence in enumerate(sequences):
        taken = orders[[row]]
        blocks = [b if isinstance(b, list) else [b] for b in sequence]
        # An item's position is the number of items that are better.
        expected = [sum(map(len, blocks[:i])) for i, b in enumerate(blocks) for _ in b]
        np.testing.assert_array_equal(taken.position, expected)
