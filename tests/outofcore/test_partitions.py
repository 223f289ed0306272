# SPDX-License-Identifier: BSD-3-Clause
"""Steps are told, kept and gone on from."""

import numpy as np
import pytest

from tests.outofcore.cases import cut_groups, make_graded
from tiebreak import RankSVM
from tiebreak.outofcore import PartitionedTable, running
from tiebreak.outofcore import partitions as parts_module
from tiebreak.outofcore.partitions import LocalPartitions, current

pytestmark = pytest.mark.filterwarnings("ignore:.*groups have one item")


@pytest.fixture
def table(rng, tmp_path):
    data = make_graded(rng, n_groups=50)
    folder = data.write(tmp_path / "x", cut_groups(rng, data.qid, 3))
    return PartitionedTable(folder, data.columns)


def new_svm(C=5.0, **options):
    return RankSVM(C, kernel="linear", loss="squared_hinge", tol=1e-10, **options)


def fit(model, table, **settings):
    with running(**settings):
        return model.fit(table, "grade", qid="query", sample_weight="w")


def test_every_step_is_told(table):
    steps = []
    model = fit(new_svm(), table, tell=steps.append)
    assert [step.number for step in steps] == list(range(model.n_iter_ + 1))
    values = [step.value for step in steps]
    assert values == sorted(values, reverse=True)
    assert values[-1] == model.objective_ and steps[-1].gap == model.gap_
    np.testing.assert_array_equal(steps[-1].x, model.coef_)


def test_settings_hold_inside_the_block_only():
    assert current().keep is None
    with running(keep=True):
        with running(keep=False):
            assert current().keep is False
        assert current().keep is True
    assert current().keep is None


class Part:
    """A part of a stated size."""

    def __init__(self, size):
        self.size = size

    def __sizeof__(self):
        return self.size


@pytest.mark.parametrize(
    "keep, sizes, n_read",
    [
        (None, (100, 100), 2),
        (None, (10**15, 10**15), 6),
        (None, (600_000, 600_000), 4),  # one of the two
        (None, (1000, 10**15), 4),  # a small first one says nothing of the others
        (True, (10**15, 10**15), 2),
        (False, (100, 100), 6),
    ],
)
def test_parts_are_kept_while_they_fit(keep, sizes, n_read, monkeypatch):
    # Half of what is free is a million: room for one part of 600,000 and not for two.
    monkeypatch.setattr(parts_module, "_free_memory", lambda: 2e6)
    read = []

    def reader(size):
        def columns():
            read.append(1)
            return {"size": size}

        return columns

    readers = [reader(size) for size in sizes]
    parts = LocalPartitions(readers, "ab", lambda columns: Part(columns["size"]), keep)
    for _ in range(3):
        parts.sum(lambda part: (1,))
    assert len(read) == n_read
    assert parts.each(lambda part, own: own, own=[3, 4]) == [3, 4]
