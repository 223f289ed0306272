# SPDX-License-Identifier: BSD-3-Clause
"""``half_life`` of BradleyTerry: old comparisons count less."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from tiebreak import Pairs
from tiebreak.datasets import load_chess, load_published
from tiebreak.ratings import BradleyTerry, Leaderboard
from tiebreak.ratings.checks.pairs_report import say_comparisons
from tiebreak.report.tables import board_cells
from tiebreak.selection import evaluate_forward

NAMES = np.array([f"i{k}" for k in range(8)])


def simulate(rng, n=1200, drift=0.0, n_periods=60):
    """Draw comparisons of items whose strengths walk at random."""
    steps = rng.normal(size=(n_periods, 8))
    steps[1:] *= drift
    theta = np.cumsum(steps, axis=0)
    period = np.sort(rng.integers(0, n_periods, n))
    left = rng.integers(0, 8, n)
    right = (left + rng.integers(1, 8, n)) % 8
    d = theta[period, right] - theta[period, left] + rng.logistic(size=n)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    return Pairs(None, left, right, names=NAMES), y, period


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_a_half_life_is_a_weight_by_age(ties, rng):
    pairs, y, period = simulate(rng, 300)
    order = rng.permutation(300)  # any order of rows
    pairs, y, period = pairs[order], y[order], period[order]
    weight = rng.choice([0.5, 1.0, 2.0], 300)
    home, rater = rng.choice([0.0, 1.0], 300), rng.integers(0, 9, 300)
    columns = {"advantage": home, "rater": rater}
    found = BradleyTerry(ties, alpha=0.1, half_life=12.5).fit(
        pairs, y, period=period, sample_weight=weight, **columns
    )
    by_hand = weight * 0.5 ** ((period.max() - period) / 12.5)
    same = BradleyTerry(ties, alpha=0.1)
    same.fit(pairs, y, sample_weight=by_hand, **columns)
    assert found.half_life_ == 12.5
    assert same.half_life_ == np.inf
    assert_allclose(found.strength_, same.strength_, atol=1e-12)
    assert found.advantage_ == pytest.approx(same.advantage_, abs=1e-12)
    assert_allclose(found.standard_errors(), same.standard_errors(), rtol=1e-9)
    assert_allclose(found.pair_counts_, same.pair_counts_)
    # Counts stay counts, in the order of the weighted ones.
    plain = BradleyTerry(ties, alpha=0.1).fit(pairs, y, sample_weight=weight, **columns)
    assert_allclose(found.pair_votes_, plain.pair_counts_)
    assert_allclose(found.wins_, plain.wins_)
    board = Leaderboard(found)
    assert sum(board.table["wins"]) == plain.wins_.sum()
    assert board.matrix().wins.sum() == pytest.approx(plain.wins_.sum())
    assert any("weighted by age" in note for note in board.notes)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("5y", 5 * 365.25),
        ("18m", 1.5 * 365.25),
        ("26w", 182),
        (" 90 D", 90),
        ("1.5d", 1.5),
    ],
)
def test_times_in_words_are_days(text, days, rng):
    pairs, y, period = simulate(rng, 200)
    date = np.datetime64("2020-02-27") + 30 * period
    found = BradleyTerry(alpha=0.1, half_life=text).fit(pairs, y, period=date)
    same = BradleyTerry(alpha=0.1, half_life=days).fit(pairs, y, period=30 * period)
    assert found.half_life_ == pytest.approx(days)
    assert_allclose(found.strength_, same.strength_, atol=1e-9)


def test_dates_of_all_types_are_the_same(rng):
    pairs, y, period = simulate(rng, 200)
    date = np.datetime64("1969-12-01") + period
    found = [
        BradleyTerry(alpha=0.1, half_life=20).fit(pairs, y, period=when).strength_
        for when in (
            date,
            date.astype("datetime64[ns]"),
            [datetime.date.fromisoformat(str(one)) for one in date],
            pd.Series(pd.to_datetime(date)),
            period,
        )
    ]
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-12)


def test_a_very_old_item_is_not_forgotten(rng):
    pairs, y, period = simulate(rng, 300)
    old = Pairs(None, ["ancient", "i0"], ["i0", "i1"])
    both = Pairs(
        None,
        np.r_[old.names[old.left], NAMES[pairs.left]],
        np.r_[old.names[old.right], NAMES[pairs.right]],
    )
    when = np.r_[-1e9, -1e9, period]
    model = BradleyTerry(alpha=0.1, half_life=1.0).fit(
        both, np.r_[-1, 1, y], period=when
    )
    assert model.strength_[model.items_ == "ancient"] == pytest.approx(0.0, abs=1.0)
    assert model.converged_


def test_the_half_life_is_that_of_a_plain_loop(rng):
    pairs, y, period = simulate(rng, drift=0.25)
    home = rng.choice([0.0, 1.0], len(y))
    model = BradleyTerry("rao-kupper", alpha=0.2, half_life="auto")
    chosen = model.fit(pairs, y, period=period, advantage=home).half_life_
    tried = [59 * 2.0**k for k in range(-7, 2)] + [None]
    # Six equal parts of the rows, moved to where a period begins.
    begins = [int(np.flatnonzero(period == period[200 * k])[0]) for k in range(1, 6)]
    loss = dict.fromkeys(tried, 0.0)
    for begin, end in zip(begins, [*begins[1:], len(y)], strict=True):
        for half_life in tried:
            past = BradleyTerry("rao-kupper", alpha=0.2, half_life=half_life).fit(
                pairs[:begin], y[:begin], period=period[:begin], advantage=home[:begin]
            )
            proba = past.predict_proba(pairs[begin:end], advantage=home[begin:end])
            happened = proba[np.arange(end - begin), y[begin:end] + 1]
            loss[half_life] -= np.log(happened).sum()
    best = min(loss, key=loss.get)
    assert chosen == (np.inf if best is None else best)
    same = BradleyTerry("rao-kupper", alpha=0.2, half_life=chosen)
    same.fit(pairs, y, period=period, advantage=home)
    assert_allclose(model.strength_, same.strength_, atol=1e-12)


@pytest.mark.parametrize(
    "half_life", [0, -1.0, np.inf, np.nan, True, "5", "5x", "y", "0y"]
)
def test_what_is_no_half_life_is_refused(half_life, rng):
    pairs, y, period = simulate(rng, 100)
    with pytest.raises(ValueError, match="half_life must be a positive number"):
        BradleyTerry(half_life=half_life).fit(pairs, y, period=period)


def test_what_has_no_time_is_refused(rng):
    pairs, y, period = simulate(rng, 100)
    for half_life in (3.0, "5y", "auto"):
        model = BradleyTerry(alpha=0.1, half_life=half_life)
        with pytest.raises(
            ValueError, match=r"but no times; expected fit\(\.\.\., per"
        ):
            model.fit(pairs, y)
        with pytest.raises(ValueError, match="period has 99 values"):
            model.fit(pairs, y, period=period[1:])
        with pytest.raises(TypeError, match=r"numbers or dates .*as period.*'0'"):
            model.fit(pairs, y, period=np.where(period < 0, "a", "0"))
    with pytest.raises(ValueError, match="'5y' is a time, but period holds numbers"):
        BradleyTerry(half_life="5y").fit(pairs, y, period=period)
    with pytest.raises(ValueError, match=r"two items of an earlier block"):
        BradleyTerry(half_life="auto").fit(pairs, y, period=np.zeros(100))


def test_sums_of_weights_are_named(rng):
    pairs, y, _ = simulate(rng, 60)
    board = Leaderboard.from_results(pairs, y, sample_weight=np.full(60, 0.3))
    whole = Leaderboard.from_results(pairs, y, sample_weight=np.full(60, 3.0))
    named = ["sums of weights" in " ".join(str(b).split()) for b in (board, whole)]
    assert named == [True, False]
    heads, _ = board_cells(board.table, 0.95)
    assert heads["votes"] == "Weight of votes"
    assert say_comparisons(18.3) == "comparisons of weight 18.3"
    assert say_comparisons(5367.0) == "5,367 comparisons"


def matches_of(name, folder):
    """Pairs, outcomes and times of a published set, the first two thirds to learn."""
    if name == "tennis":
        table = pl.read_csv(folder / "tennis_atp" / "atp_matches_1991_2024.csv.gz")
        table = table.sort("tourney_date", maintain_order=True).tail(30_000)
        pairs, y = Pairs.from_winners(
            table["winner_id"], table["loser_id"], exchange=True
        )
        return pairs, y, table["tourney_date"].cast(pl.String).str.to_date("%Y%m%d")
    if name == "chess":
        games = load_chess()
        return games.pairs, games.y, games.month
    games = load_published("football1872")
    return games.pairs, games.y, games.period


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")  # sets that never meet
@pytest.mark.parametrize("name", ["football", "chess", "tennis"])
def test_a_learned_half_life_predicts_no_worse_than_none(name, data_dir):
    pairs, y, period = matches_of(name, data_dir)
    models = {"auto": BradleyTerry(half_life="auto"), "none": BradleyTerry()}
    result = evaluate_forward(
        models, pairs, y, period=period, n_splits=1, min_train=0.7
    )
    change = result.difference("auto", "none")
    assert change.mean < 2.0 * change.standard_error
    if name == "football":  # a long past: the gain is clear
        assert change.mean < -2.0 * change.standard_error
