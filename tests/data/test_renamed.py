# SPDX-License-Identifier: BSD-3-Clause
"""Old names of modules work for one release, and warn."""

import importlib

import pytest

import tiebreak.io
import tiebreak.outofcore

RENAMED = [
    ("tiebreak.scale", "PartedTable", tiebreak.outofcore.PartitionedTable),
    ("tiebreak.scale", "PartedPairs", tiebreak.outofcore.PartitionedPairs),
    ("tiebreak.scale", "running", tiebreak.outofcore.running),
    ("tiebreak.data.files", "Recognized", tiebreak.io.ReadResult),
    ("tiebreak.data.files", "read_file", tiebreak.io.read_file),
]


@pytest.mark.parametrize(("module", "name", "value"), RENAMED)
def test_old_names_are_the_new_things(module, name, value):
    old = importlib.import_module(module)
    with pytest.warns(FutureWarning, match=f"{module}.{name} is .* since version 0.2"):
        assert getattr(old, name) is value


def test_old_imports_work_and_warn_where_they_stand():
    with pytest.warns(
        FutureWarning, match="is tiebreak.outofcore.PartitionedTable"
    ) as w:
        from tiebreak.scale import PartedTable
    assert PartedTable is tiebreak.outofcore.PartitionedTable
    assert w[0].filename == __file__


@pytest.mark.parametrize("module", ["tiebreak.scale", "tiebreak.data.files"])
def test_names_that_never_were_are_not_there(module):
    old = importlib.import_module(module)
    with pytest.raises(AttributeError, match="which has no 'nothing'"):
        _ = old.nothing


def test_a_similar_new_name_is_mentioned():
    old = importlib.import_module("tiebreak.data.files")
    with pytest.raises(AttributeError, match=r"mean tiebreak\.io\.read_unlabeled\?"):
        _ = old.read_unjudged
