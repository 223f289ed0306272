# SPDX-License-Identifier: BSD-3-Clause
"""Every finding has data that trigger it, and data that do not."""

import datetime
import json
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.ratings.test_prior_by import two_classes
from tiebreak import Outcome, Pairs
from tiebreak.ratings.checks import check_pairs as majority_cycles
from tiebreak.ratings.checks.check_pairs import check_pairs
from tiebreak.ratings.strengths.bradley_terry import BradleyTerry

# Connected, nothing undefeated, three games each, as many wins left as right.
SOUND = ("a>b", "b>c", "c>a", "b<a", "c<b", "a<c", "a=b")


def read(*rows):
    """Read rows such as "a>b", "a=b", "a<b"."""
    left, sign, right = zip(*(re.split("([>=<])", row) for row in rows), strict=True)
    outcome = [{">": -1, "=": 0, "<": 1}[s] for s in sign]
    return Pairs(None, left, right), np.array(outcome)


def check(*rows, **columns):
    return check_pairs(*read(*rows), **columns)


def text_of(report):
    return " ".join(str(report).split())


def codes(report):
    return [finding.code for finding in report.findings]


def finding(report, code):
    (found,) = [found for found in report.findings if found.code == code]
    return found


# --- facts ---------------------------------------------------------------------------


def test_sound_data_have_no_problem_and_facts_are_counted():
    report = check(*SOUND)
    assert report.ok
    assert report.has_maximum_likelihood
    assert codes(report) == ["contradictory", "cycle"]
    assert (report.n_rows, report.n_items, report.n_connected) == (7, 3, 3)
    assert (report.n_comparisons, report.left, report.tie, report.right) == (7, 3, 1, 3)
    assert report.tie_rate == pytest.approx(1 / 7)
    assert (report.n_pairs, report.fewest, report.median, report.most) == (3, 2, 2, 3)
    assert report.repeated_rows is None
    assert report.raters is None
    assert report.periods is None


def test_position_is_counted_for_the_left_side():
    position = check(*SOUND, "a>b").position
    assert (position.side, position.decided, position.wins) == ("left", 7, 4)
    assert position.share == pytest.approx(4 / 7)
    interval = binomtest(4, 7).proportion_ci(method="wilson")
    assert (position.low, position.high) == pytest.approx(tuple(interval))


def test_position_with_an_advantage_flips_signs_and_leaves_out_zeros():
    report = check("a>b", "a<b", "a<b", "b=a", advantage=[1, -2, 0, 1])
    position = report.position
    assert (position.side, position.decided, position.wins) == ("advantage", 2, 2)
    assert "the side with the advantage won 100.0% of 2 decided" in text_of(report)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"),
            st.sampled_from("abcd"),
            st.sampled_from([-1, 0, 1]),
            st.sampled_from([0, 1, 1, 2, 3]),
            st.sampled_from("uv"),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_a_weight_is_so_many_rows(rows):
    left, right, outcome, weight, rater = map(np.array, zip(*rows, strict=True))
    # Outcomes of 0 and 1 alone are refused until they are declared.
    if not weight.any() or -1 not in outcome[weight > 0]:
        return
    times = np.repeat(np.arange(len(rows)), weight)
    pairs = Pairs(None, left, right)

    def facts(report):
        plain = report.to_dict()
        for key in ("n_rows", "self_rows", "repeated_rows"):
            del plain[key]
        rowwise = ("self_comparison", "repeated", "weightless")
        plain["findings"] = [f for f in plain["findings"] if f["code"] not in rowwise]
        return plain

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="y holds only 0 and 1")
        weighted = check_pairs(pairs, outcome, rater=rater, sample_weight=weight)
        repeated = check_pairs(pairs[times], outcome[times], rater=rater[times])
    assert facts(weighted) == facts(repeated)


# --- findings ------------------------------------------------------------------------

FEW = (*SOUND, "a>x", "b>x", "d>a", "e>a", "e>b")
GROUPS = (*SOUND, "p=q", "p>a", "q>b", "x=z", "x<a")
FIRST = ("a>b", "b>c", "c>a") * 4
BUSY = (*("a=b", "b=c") * 5, *SOUND)
VOTERS = ["busy"] * 10 + ["fair"] * 7


@pytest.mark.parametrize(
    ("rows", "columns", "code", "level", "items", "words"),
    [
        ("a=b b=c d=e a>b", {}, "disconnected", "problem", "de", "are 'd', 'e'"),
        ("a=a b=b", {}, "nothing", "problem", "", "No two"),
        (FEW, {}, "undefeated", "warning", "ed", "2 items .* 'e' .2 games., 'd' .1 g"),
        (FEW, {}, "winless", "warning", "x", "1 item .*: 'x' .2 games.*auto"),
        (FEW, {}, "few_games", "warning", "dxe", "3 games: 'd' .1 game., 'x' .2"),
        (GROUPS, {}, "winning_group", "warning", "pq", "'p', 'q'"),
        (GROUPS, {}, "losing_group", "warning", "xz", "'x', 'z'"),
        # One decided comparison around a cycle of two ties: θ and ν grow together.
        ("a>b b=c c=a", {}, "consistent", "warning", "", "without end"),
        ("a=b b=c a=c", {}, "only_ties", "warning", "", "Every comparison is a tie"),
        (("a>a", *SOUND, "b=b"), {}, "self_comparison", "warning", "", "row 0, row 8"),
        (FIRST, {}, "one_sided", "warning", "", "won all 12"),
        ("a>b a>b b>a b>c c>a", {}, "cycle", "note", "cab", "'a' beat 'b' .2 to 1"),
        (SOUND, {"sample_weight": [1] * 6 + [0]}, "weightless", "note", "", "1 row of"),
        (SOUND, {"period": [1, 2, 2, 5, 4, 6, 7]}, "unsorted", "warning", "", "row 4"),
        (SOUND, {"rater": [*"uvwwwww"]}, "one_vote", "note", "uv", "'u', 'v'. Nothing"),
        (BUSY, {"rater": VOTERS}, "constant_rater", "warning", ["busy"], "10 times"),
    ],
)
def test_findings_are_named_and_sound_data_have_none(
    rows, columns, code, level, items, words
):
    report = check(*(rows.split() if isinstance(rows, str) else rows), **columns)
    found = finding(report, code)
    assert found.level == level
    assert found.items == tuple(items)
    assert re.search(words, found.message)
    assert report.ok == all(each.level != "problem" for each in report.findings)
    plain = report.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    sound = check(*SOUND, rater=[*"uuuuvvv"], period=range(7))
    assert code not in codes(sound) or code == "cycle"


def test_limits_of_findings():
    assert "cycle" not in codes(check("a>b", "b>c", "a>c"))
    assert "consistent" not in codes(check("a>b", "b>c", "c=a"))
    assert "consistent" not in codes(check("a>b", "b>a"))
    assert "one_sided" not in codes(check(*FIRST, "a<b"))
    pairs, outcome = read(*FIRST)
    mirrored = check_pairs(pairs.swap(), -outcome)
    assert "lost all 12" in finding(mirrored, "one_sided").message
    fewer = check(*BUSY[1:], rater=VOTERS[1:])
    assert "constant_rater" not in codes(fewer)
    assert check(*FEW).few_games == (("d", 1.0), ("x", 2.0), ("e", 2.0))
    assert "at most 3 of 6 items" in text_of(check(*FEW))
    assert not check(*FEW).has_maximum_likelihood
    report = check(*SOUND, "c>q", "p=q", "p>a", "q>b")
    assert not {"winning_group", "losing_group"} & set(codes(report))
    report = check("a>a", *SOUND, "b=b")
    assert (report.self_rows, report.n_comparisons, report.n_rows) == ((0, 8), 7, 9)
    pairs = Pairs([[0.0], [1.0], [2.0], [3.0]], [1, 1, 3], [3, 2, 1])
    report = check_pairs(pairs, [-1, -1, -1])  # without names
    assert finding(report, "winless").items == (2,)
    assert "item 2 (1 game)" in finding(report, "winless").message


def test_nothing_to_compare_is_a_problem():
    report = check("a=a", "b=b", rater=["u", "v"], period=[1, 2])
    assert codes(report) == ["nothing", "self_comparison"]
    assert (report.n_items, report.n_comparisons, report.raters) == (0, 0, None)
    assert np.isnan(report.tie_rate)
    assert report.to_dict()["tie_rate"] is None
    assert "0 items" in text_of(report)


def test_an_effect_of_position_is_a_warning_unless_small_or_given():
    left, right = ["a>b", "b>a"], ["a<b", "b<a"]
    assert "position" not in codes(check(*left * 11, *right * 10))
    strong = check(*left * 30, *right * 10)
    assert finding(strong, "position").level == "warning"
    assert "75.0% of 80 decided" in finding(strong, "position").message
    unsided = check(*left * 30, *right * 10, sided=False)
    assert unsided.position is None
    assert "position" not in codes(unsided)
    assert "Position" not in str(unsided)
    small = check_pairs(*read(*left, *right), sample_weight=[5100, 5100, 4900, 4900])
    assert finding(small, "position").level == "note"
    assert "small" in finding(small, "position").message
    given = check(*left * 30, *right * 10, advantage=1)
    assert finding(given, "position").level == "note"


def test_strengths_that_change_are_found(rng):
    def draw(change, n_items=12, n=1_200):
        left = rng.integers(0, n_items, n)
        right = (left + rng.integers(1, n_items, n)) % n_items
        first, second = rng.normal(size=(2, n_items))
        late = np.arange(n) >= n // 2
        strength = np.where(late[:, None], first + change * second, first)
        rows = np.arange(n)
        d = strength[rows, right] - strength[rows, left] + rng.logistic(size=n)
        y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
        return Pairs(None, left, right), y, rows

    pairs, y, day = draw(1.0)
    report = check_pairs(pairs, y, period=day)
    assert report.drift < 0.001
    assert "--half-life auto" in finding(report, "drift").message
    # Of rows in another order nothing changes, of weights neither.
    mixed = rng.permutation(len(y))
    again = check_pairs(pairs[mixed], y[mixed], period=day[mixed])
    assert again.drift == pytest.approx(report.drift)
    twice = np.repeat(mixed, 2)
    double = check_pairs(pairs[twice], y[twice], period=day[twice])
    weighted = check_pairs(pairs, y, period=day, sample_weight=np.full(len(y), 2.0))
    assert weighted.drift == pytest.approx(double.drift)
    still = [check_pairs(*draw(0.0)[:2], period=day).drift for _ in range(40)]
    assert 0 < np.mean(np.array(still) < 0.2) < 0.4
    # Too few games in a half, and one time: not tested.
    assert check_pairs(pairs[:60], y[:60], period=day[:60]).drift is None
    assert check_pairs(pairs, y, period=day * 0).drift is None


def test_coin_tosses_are_called_so(rng):
    left, right = np.triu_indices(20, 1)
    names = np.arange(20)
    pairs = Pairs(None, names[left], names[right])
    # A regular tournament has as many circular triads as there can be.
    outcome = np.where((right - left) % 20 <= 10, -1, 1)
    report = check_pairs(pairs, outcome)
    assert report.cycles.circular_triads / report.cycles.decided_triads > 0.25
    assert "do not show that any" in finding(report, "contradictory").message
    strength = rng.permutation(20)
    ordered = np.sign(strength[right] - strength[left])
    report = check_pairs(pairs, ordered)
    assert report.strengths.p_value == pytest.approx(1 / 200)
    assert "contradictory" not in codes(report)


def test_triads_are_not_counted_among_many_items_and_that_is_said(monkeypatch):
    assert "1 decided triad circular" in text_of(check(*SOUND))
    monkeypatch.setattr(majority_cycles, "MOST_ITEMS_FOR_TRIADS", 2)
    report = check(*SOUND)
    assert report.cycles.circular_triads is None
    assert "too many items to count circular triads" in text_of(report)


def test_copied_rows_are_found_without_raters(rng):
    left = rng.integers(0, 6, 120)
    right = (left + rng.integers(1, 6, 120)) % 6
    votes, y = Pairs(None, left, right), rng.choice([-1, 1], 120)
    rows = np.repeat(np.arange(120), 3)
    report = check_pairs(votes[rows], y[rows])
    assert report.repeated_rows == pytest.approx(240, abs=8)
    message = finding(report, "repeated").message
    assert "--unit COLUMN" in message
    assert "--drop-duplicates" not in message  # other votes are equal too
    by_chance = rng.permutation(rows)
    ordered = np.lexsort((y[rows], right[rows], left[rows]))
    for order in (by_chance, rows[ordered], np.arange(120)):
        assert check_pairs(votes[order], y[order]).repeated_rows is None


def test_repeated_rows_are_counted_where_occasions_are_told_apart():
    pairs, outcome = read(*SOUND, *SOUND, "b<a")
    raters = ["u"] * 7 + ["v"] * 8
    assert check_pairs(pairs, outcome).repeated_rows is None
    assert check_pairs(pairs, outcome, rater=raters).repeated_rows == 1
    assert check_pairs(pairs, outcome, sample_weight=np.ones(15)).repeated_rows == 8
    report = check_pairs(pairs, outcome, period=[1] * 14 + [2])
    assert report.repeated_rows == 7
    assert "7 rows equal to an earlier one" in finding(report, "repeated").message
    assert "the same period" in finding(report, "repeated").message
    report = check_pairs(pairs, outcome, rater=raters, period=range(15))
    assert report.repeated_rows == 0
    assert "repeated" not in codes(report)


@pytest.mark.parametrize(
    "dates",
    [
        np.arange("2024-01-01", "2024-01-08", dtype="datetime64[D]"),
        np.arange("2024-01-01", "2024-01-08", dtype="datetime64[D]").astype("M8[ns]"),
        pl.date_range(datetime.date(2024, 1, 1), datetime.date(2024, 1, 7), eager=True),
        [datetime.date(2024, 1, k) for k in range(1, 8)],
        [f"2024-01-0{k}" for k in range(1, 8)],
    ],
    ids=["days", "nanoseconds", "polars", "python", "text"],
)
def test_periods_can_be_dates_of_any_kind(dates):
    report = check(*SOUND, period=dates)
    assert report.periods.is_sorted
    assert "from 2024-01-01 to 2024-01-07, rows in order" in text_of(report)
    assert report.to_dict()["periods"]["first"] == "2024-01-01"
    backwards = check(*SOUND, period=dates[::-1])
    assert backwards.periods.unsorted_row == 1


# --- newcomers -----------------------------------------------------------------------


def test_items_of_few_games_are_compared_with_the_others():
    pairs, y, classes, theta = two_classes(0, n_old=15, n_new=8, lead=1.5)
    report = check_pairs(pairs, y)
    new = np.array([classes[k] == "new" for k in range(23)])
    model = BradleyTerry(None, prior_by=classes).fit(pairs, y)
    facts = report.newcomers
    assert (facts.n_items, facts.most) == (8, 10)
    gap = np.diff(model.prior_means_)[0]  # new - old
    assert facts.points == pytest.approx(400 / np.log(10) * gap, rel=1e-3)
    assert theta[new].mean() > theta[~new].mean()
    assert "8 items with at most 10 games are better" in str(report)
    assert "--prior-by COLUMN" in finding(report, "newcomers").message
    alike = check_pairs(*two_classes(2, lead=0.0)[:2])
    assert alike.newcomers.p_value > 0.05
    assert "newcomers" not in codes(alike)
    assert check_pairs(*two_classes(0, n_new=2)[:2]).newcomers is None


@pytest.mark.extended
def test_newcomers_like_the_others_are_rarely_named():
    p = [
        check_pairs(*two_classes(seed, lead=0.0)[:2]).newcomers.p_value
        for seed in range(100)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.11
    assert np.mean(np.array(p) < 0.01) <= 0.04


# --- input ---------------------------------------------------------------------------


def test_an_array_merges_items_of_equal_features():
    items = {"a": [0.0], "b": [1.0], "c": [2.0]}
    rows = [re.split("[>=<]", row) for row in SOUND]
    array = np.array([[items[left], items[right]] for left, right in rows])
    _, outcome = read(*SOUND)
    report = check_pairs(array, outcome)
    assert (report.n_items, report.n_pairs) == (3, 3)
    assert report.ok


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"rater": ["u"]}, "rater has 1 values but there are 7 rows"),
        ({"rater": [None, *"uvuvuv"]}, "rater has 1 missing value"),
        ({"period": [1, 2]}, "period has 2 values but there are 7 rows"),
        ({"period": [1, 2, 3, 4, 5, 6, np.nan]}, "period has 1 missing value"),
        ({"advantage": [1, 2]}, "advantage has 2 values but there are 7 rows"),
        ({"advantage": ["x"] * 7}, "advantage must hold numbers"),
        ({"sample_weight": [-1] + [1] * 6}, "Weights must be finite and not negative"),
        ({"sample_weight": [0] * 7}, "Every sample weight is zero"),
    ],
)
def test_bad_columns_are_refused(columns, message):
    with pytest.raises(ValueError, match=message):
        check(*SOUND, **columns)


def test_periods_that_cannot_be_sorted_are_refused():
    with pytest.raises(TypeError, match="not supported between"):
        check(*SOUND, period=[1, "x", 1, 1, 1, 1, 1])


# --- the report ----------------------------------------------------------------------


def test_the_text_begins_with_the_verdict_and_is_no_wider_than_a_terminal():
    rows = [*SOUND, "d>a", "x<[b]", "e=f", "a>a"]
    text = str(check(*rows, rater=[1, *"uvwxyzabcd"], period=range(11)))
    assert text.startswith("1 problem: not everything can be learned.")
    prior = check(*SOUND, "d>a", "d>b", "d>c")
    assert str(prior).startswith("No problem found: the strength of every item can")
    assert "with the default prior. Without" in text_of(prior)
    assert str(check(*SOUND)).startswith("No problem found")
    assert max(map(len, text.splitlines())) <= 88
    assert all(line == line.rstrip() for line in text.splitlines())


# --- size and real data --------------------------------------------------------------


def test_language_model_votes(data_dir):
    table = pl.read_csv(data_dir / "llmfao" / "llmfao.csv")
    pairs = Pairs(None, table["left"], table["right"])
    outcome = Outcome.parse(table["winner"].to_list())
    report = check_pairs(pairs, outcome, rater=table["worker"])
    assert (report.left, report.tie, report.right) == (2_911, 3_471, 2_549)
    assert report.raters.n_raters == 124
    votes = table.group_by("worker").agg(pl.col("winner").n_unique(), pl.len())
    same = votes.filter((pl.col("winner") == 1) & (pl.col("len") >= 10))["worker"]
    assert [name for name, _, _ in report.raters.constant] == same.to_list()
