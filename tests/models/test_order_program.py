# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.oracles import order_svm
from tiebreak.models.svm.order_svm import Places, choose_cuts


def places_of(lists):
    """Places of lists of tied blocks; rows in the order in which they are listed."""
    y, group = [], []
    for number, blocks in enumerate(lists):
        for grade, block in enumerate(blocks):
            y += [-float(grade)] * len(block)
            group += [number] * len(block)
    return Places.of_grades(np.array(y), np.array(group))


def test_places_of_a_list_with_ties():
    # First, two tied at places 2 and 3, last; and a list of two.
    places = places_of([[[0], [1, 2], [3]], [[4], [5]]])
    assert_array_equal(places.begin, [0, 1, 1, 3, 0, 1])
    assert_array_equal(places.end, [1, 3, 3, 4, 1, 2])
    assert_array_equal(places.length, [4, 4, 4, 4, 2, 2])
    assert (places.n_lists, places.n_idle) == (2, 0)


def test_sides_of_a_list_with_ties():
    places = places_of([[[0], [1, 2], [3]], [[4], [5]]])
    assert_array_equal(
        places.sides(np.array([1, 2, 3])),
        [
            [1, -1, -1, -1, 1, -1],
            [1, 0, 0, -1, 0, 0],  # the tie crosses, and the other list is too short
            [1, 1, 1, -1, 0, 0],
        ],
    )
    assert_array_equal(places.usable_cuts(), [1, 2, 3])


lists_of_blocks = st.lists(
    st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=1, max_size=4
)


@given(lists_of_blocks, st.randoms(use_true_random=False))
def test_sides_equal_a_loop(sizes, random):
    lists, y, group, n = [], [], [], 0
    for number, of_list in enumerate(sizes):
        blocks = []
        for grade, size in enumerate(of_list):
            blocks.append(list(range(n, n + size)))
            y += [-float(grade)] * size
            group += [number] * size
            n += size
        lists.append(blocks)
    rows = list(range(n))
    random.shuffle(rows)  # rows of a group need not stand together, nor in order
    y, group = np.array(y)[rows], np.array(group)[rows]
    # Groups are numbered by first appearance.
    group = np.unique(group, return_inverse=True)[1]
    places = Places.of_grades(y, group)
    drawn = order_svm.samples(lists)
    cuts = sorted({t for _, t, _, _ in drawn})
    assert_array_equal(places.usable_cuts(), cuts)
    expected = np.zeros((len(cuts), n))
    place = {row: number for number, row in enumerate(rows)}
    for row, t, sign, _ in drawn:
        expected[cuts.index(t), place[row]] = sign
    assert_array_equal(places.sides(np.array(cuts, dtype=int)), expected)
    assert places.n_lists == len(lists)
    assert places.n_idle == sum(len(of_list) == 1 for of_list in sizes)


def test_all_cuts_up_to_fifty_and_then_even_ones():
    fifty_one = places_of([[[row] for row in range(51)]])
    assert_array_equal(choose_cuts("Model", None, fifty_one), np.arange(1, 51))
    longer = places_of([[[row] for row in range(150)]])
    with pytest.warns(
        UserWarning, match=r"149 cuts, from the top 1 to the top 149; 50"
    ):
        cuts = choose_cuts("Model", None, longer)
    assert len(cuts) == 50
    assert (cuts[0], cuts[-1]) == (1, 149)
    assert set(np.diff(cuts)) == {3, 4}  # 148 steps over 49 gaps


def test_cuts_that_ties_cross_are_not_counted():
    # 120 items in two blocks have one cut; a short list adds the first one.
    places = places_of([[list(range(60)), list(range(60, 120))], [[120], [121]]])
    assert_array_equal(choose_cuts("Model", None, places), [1, 60])
    with pytest.warns(UserWarning, match=r"cuts \[3, 61\] have no item above or none"):
        cuts = choose_cuts("Model", [60, 3, 61, 1, 1], places)
    assert_array_equal(cuts, [1, 60])
    with pytest.raises(ValueError, match=r"cuts=\[3, 61\].*tied items cross all"):
        choose_cuts("Model", [3, 61], places)


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        (3, r"cuts=3; expected None or whole numbers"),
        ("all", r"cuts='all'; expected None"),
        ([], r"got no cuts; expected"),
        ([1, 0], r"row 1 \(0\); expected None or whole numbers t >= 1"),
        ([1.5], r"row 0 \(1.5\)"),
        ([True], r"row 0 \(True\)"),
        ([2, 4, 9], r"cuts \[4, 9\], but the longest list has 4.*below 4"),
        (list(range(1, 60)), r"59 different cuts; expected at most 50"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(cuts, message):
    places = places_of([[[0], [1], [2], [3]], [[4], [5]]])
    with pytest.raises(ValueError, match=message):
        choose_cuts("Model", cuts, places)


@pytest.mark.parametrize("lists", [[[[0]], [[1]]], [[[0, 1, 2]]], [[[0, 1]], [[2]]]])
def test_nothing_to_learn_is_an_error(lists):
    message = rf"nothing to learn from: .* in {len(lists)} group.*qid is the group"
    with pytest.raises(ValueError, match=message):
        choose_cuts("Model", None, places_of(lists))
