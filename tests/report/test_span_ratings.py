# SPDX-License-Identifier: BSD-3-Clause
"""Ratings over time from a model that knows no time."""

import datetime

import numpy as np
import polars as pl
import pytest

from tiebreak import BradleyTerry, Pairs
from tiebreak.report.history import rate_spans

NAMES = np.array(["rise", "fall", "even", "calm"])


def make_games(rng, n, days, drift=1.5):
    """Give games in which one item rises by `drift` while another falls as much."""
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    day = rng.integers(0, days, n)
    when = 2 * day / (days - 1) - 1  # from -1 to 1
    strength = np.stack([drift * when, -drift * when, 0 * when, 0 * when])
    rows = np.arange(n)
    d = strength[right, rows] - strength[left, rows] + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.3, 0, np.sign(d)).astype(np.int8)
    period = np.datetime64("2020-01-01") + day
    return Pairs(None, NAMES[left], NAMES[right]), y, period


def test_who_rises_and_who_falls(rng):
    pairs, y, period = make_games(rng, 8000, 400)
    model = BradleyTerry("davidson").fit(pairs, y)
    table, note = rate_spans(model, pairs, y, period, NAMES.tolist())
    assert table["item"].unique(maintain_order=True).to_list() == NAMES.tolist()
    by_item = {
        item: part["rating"].to_numpy() for (item,), part in table.group_by("item")
    }
    assert all(len(rating) == 16 for rating in by_item.values())
    assert by_item["rise"][-1] - by_item["rise"][0] > 2.0
    assert by_item["fall"][-1] - by_item["fall"][0] < -2.0
    assert abs(by_item["even"][-1] - by_item["even"][0]) < 1.2
    times = table.filter(table["item"] == "rise")["time"].to_numpy()
    assert (np.diff(times) > np.timedelta64(0, "D")).all()
    assert "16 spans of about 500 results" in note and "95 % intervals" in note


def test_a_span_is_fitted_by_itself_and_moved_to_the_level_of_its_items(rng):
    pairs, y, period = make_games(rng, 400, 3)
    weight = rng.uniform(0.5, 2.0, 400)
    home = rng.integers(0, 2, 400).astype(float)
    model = BradleyTerry(alpha=0.3).fit(pairs, y, advantage=home, sample_weight=weight)
    table, _ = rate_spans(
        model,
        pairs,
        y,
        period,
        ["calm", "rise"],
        unit=100.0,
        zero=1500.0,
        advantage=home,
        sample_weight=weight,
    )
    rows = np.flatnonzero(period == np.datetime64("2020-01-02"))
    one = BradleyTerry(alpha=0.3).fit(
        pairs[rows], y[rows], advantage=home[rows], sample_weight=weight[rows]
    )
    results = one.wins_ + one.ties_ + one.losses_
    gap = model.utility(one.items_) - one.strength_
    shift = (results * gap).sum() / results.sum()
    expected = 1500 + 100 * (one.utility(["calm", "rise"]) + shift)
    middle = table.filter(pl.col("time") == datetime.date(2020, 1, 2))
    np.testing.assert_allclose(middle["rating"], expected, rtol=1e-6)
    assert middle["item"].to_list() == ["calm", "rise"]


def test_an_item_has_no_point_where_it_has_few_results(rng):
    pairs, y, period = make_games(rng, 900, 9)
    early = period < np.datetime64("2020-01-05")
    left = np.where(early & (np.arange(900) % 3 == 0), "new", NAMES[pairs.left])
    left[np.flatnonzero(~early)[:2]] = "new"
    games = Pairs(None, left.astype(str), pairs.names[pairs.right])
    same = games.left == games.right
    games, y, period = games[~same], y[~same], period[~same]
    model = BradleyTerry(alpha=0.1).fit(games, y)
    table, _ = rate_spans(model, games, y, period, ["new", "calm", "nobody"])
    new = table.filter(table["item"] == "new")
    assert 3 <= new["rating"].count() < len(new)
    assert "nobody" not in table["item"]
    top, _ = rate_spans(model, games, y, period, ["calm", "new"], top=1)
    assert top["item"].unique().to_list() == ["calm"]


def test_nothing_is_said_of_little(rng):
    pairs, y, period = make_games(rng, 250, 50)
    model = BradleyTerry(alpha=0.1).fit(pairs, y)
    assert rate_spans(model, pairs, y, period, NAMES.tolist()) == (None, "")
    pairs, y, period = make_games(rng, 600, 2)
    model = BradleyTerry(alpha=0.1).fit(pairs, y)
    assert rate_spans(model, pairs, y, period, NAMES.tolist()) == (None, "")
    pairs, y, period = make_games(rng, 600, 20)
    assert rate_spans(model, pairs, y, period, ["nobody"]) == (None, "")


@pytest.mark.extended
def test_nineteen_of_twenty_bands_hold_the_truth(rng):
    held = []
    for _ in range(12):
        pairs, y, period = make_games(rng, 1600, 400, drift=0.0)
        model = BradleyTerry("davidson", alpha=0.1).fit(pairs, y)
        table, _ = rate_spans(model, pairs, y, period, NAMES.tolist())
        # All four are equally good, at all times.
        truth = model.strength_.mean()
        held.append(table.select((pl.col("lower") < truth) & (pl.col("upper") > truth)))
    share = pl.concat(held).to_series().mean()
    assert 0.9 < share < 0.99
