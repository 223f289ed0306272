# SPDX-License-Identifier: BSD-3-Clause
"""The real files, detected without options; counts are their publishers'."""

import numpy as np
import pytest

from tiebreak.io import read_file


def outcomes(result):
    return [int((result.data.y == outcome).sum()) for outcome in (-1, 0, 1)]


def test_tennis(data_dir):
    result = read_file(data_dir / "tennis_atp/atp_matches_1991_2024.csv.gz")
    assert len(result.data.pairs) == 108_375 and result.data.pairs.n_items == 3_563
    left, tie, right = outcomes(result)
    assert tie == 0 and abs(left - right) < 2_000
    assert result.data.columns["period"][0] == np.datetime64("1990-12-31")


def test_half_points_of_chess_say_what_numbers_mean(data_dir):
    result = read_file(data_dir / "chess_kaggle2010/games.csv.gz")
    assert outcomes(result) == [21_163, 28_666, 15_224]
    assert result.data.pairs.n_items == 7_301
    assert np.unique(result.data.columns["period"]).tolist() == list(range(1, 101))


@pytest.mark.parametrize(("part", "n_items"), [("3a", 10), ("3b", 100)])
def test_sushi(data_dir, part, n_items):
    result = read_file(data_dir / f"sushi/sushi{part}.5000.10.order")
    assert len(result.data.orders) == 5_000 and result.data.orders.n_items == n_items
    assert (result.data.orders.lengths == 10).all()


def test_concrete(data_dir):
    result = read_file(data_dir / "uci/concrete.csv")
    assert result.data.items.shape == (1_030, 8)
    assert result.data.items.feature_names[0] == "cement"
    assert (result.data.y.min(), result.data.y.max()) == pytest.approx(
        (2.33, 82.6), abs=0.01
    )
    assert "strength, is taken as the grade; --grade" in result.sentences[1]
