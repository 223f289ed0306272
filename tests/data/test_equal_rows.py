# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal

from tiebreak.data import items as equal_rows
from tiebreak.data.items import number_rows


def by_dictionary(values):
    seen = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in values.tolist()]


@given(
    npst.arrays(
        np.float64,
        st.tuples(st.integers(0, 12), st.integers(1, 3)),
        elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, 1e308]),
    )
)
def test_equals_a_dictionary_of_rows(values):
    codes, first = number_rows(values)
    assert codes.tolist() == by_dictionary(values)
    assert_array_equal(codes[first], np.arange(len(first)))
    assert_array_equal(values[first][codes], values)
    assert (np.diff(first) > 0).all()


def test_rows_with_the_same_hash_stay_apart(monkeypatch):
    monkeypatch.setattr(equal_rows, "hash_rows", lambda bits, keys: keys.fill(7))
    values = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [2.0, 0.0], [3.0, 1.0]])
    codes, first = number_rows(values)
    assert_array_equal(codes, [0, 1, 0, 1, 2])
    assert_array_equal(first, [0, 1, 4])


def test_read_only_tables_are_fine():
    values = np.array([[1.0], [2.0], [1.0]])
    values.flags.writeable = False
    assert_array_equal(number_rows(values)[0], [0, 1, 0])
