# SPDX-License-Identifier: BSD-3-Clause
"""The sets that are published as workbooks."""

import hashlib

import numpy as np
import pytest

from papers.workbooks import (
    concrete_table,
    jester_hundredths,
    load_jester,
    read_workbook,
)
from tiebreak.datasets.published import find_set


def test_hundredths():
    rows = [[2, -9.95, 99, 10], [1, 99, 0.5, 99]]
    none = -32768
    expected = [[-995, none, 1000], [none, 50, none]]
    assert jester_hundredths(rows).tolist() == expected


def test_the_published_ratings(data_dir):
    ratings = load_jester()
    assert ratings.shape == (73421, 100)
    assert int(np.isfinite(ratings).sum()) == 4136360
    assert (np.nanmin(ratings), np.nanmax(ratings)) == (-9.95, 10)
    assert np.nanmean(ratings) == pytest.approx(0.742, abs=5e-4)


def test_the_workbook_on_concrete(data_dir):
    pytest.importorskip("python_calamine")
    path = data_dir / "uci" / "original" / "Concrete_Data.xls"
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    text = concrete_table(read_workbook(path))
    _, (file,) = find_set("uci/concrete.csv")
    assert hashlib.sha256(text.encode()).hexdigest() == file.sha256


def test_no_ratings(tmp_path, monkeypatch):
    monkeypatch.delenv("TIEBREAK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"python -m papers\.workbooks"):
        load_jester()
