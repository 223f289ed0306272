# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose

from papers.all_methods.report import critical_difference, mean_ranks


def test_the_critical_difference_of_a_textbook():
    """Four methods on fourteen sets: 1.25 in Demšar, JMLR 7 (2006), section 3.2.2."""
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_ranks_share_ties():
    means = np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1]])
    assert_allclose(mean_ranks(means), [(1 + 2.5) / 2, (2 + 2.5) / 2, (3 + 1) / 2])
