# SPDX-License-Identifier: BSD-3-Clause
"""Claims, verdicts, and what is refused."""

import json

import numpy as np
import pytest

from tests.robustness.test_fewest import draw_votes
from tiebreak import BradleyTerry, Leaderboard, Pairs
from tiebreak.data.markup import results_text
from tiebreak.robustness import Audit, Claim, ClaimAudit, audit_pairs
from tiebreak.robustness.claims import read_claim, usual_claims


def duel(wins, losses, ties=0, names=("A", "B")):
    """Votes on two items: so many for the first, for the second, and ties."""
    n = wins + losses + ties
    y = np.array([-1] * wins + [1] * losses + [0] * ties)
    return Pairs(left=[names[0]] * n, right=[names[1]] * n), y


def verdict(result, claim):
    return {str(c.claim): c for c in result.claims}[claim]


# Each kind of weakness is called by its name


def test_only_luck():
    pairs, y = duel(24, 16)
    result = verdict(audit_pairs(pairs, y), "A is above B")
    assert result.verdict == "cannot be told"
    assert result.removal.number == 8
    assert result.reversal.number == 4
    assert result.confidence < 0.95
    assert result.broken_by == []


def test_only_one_choice():
    # Against C, A won 100 of 160; B won 10 of 15 and tied the other 300.
    blocks = [("A", -1, 100), ("A", 1, 60), ("B", -1, 10), ("B", 1, 5), ("B", 0, 300)]
    left = [name for name, _, times in blocks for _ in range(times)]
    y = [outcome for _, outcome, times in blocks for _ in range(times)]
    pairs = Pairs(left=left, right=["C"] * len(left))
    claim = audit_pairs(pairs, y, ties="davidson", claims=["A > B"]).claims[0]
    assert claim.verdict == "depends on how ties are counted"
    assert claim.broken_by == ["ties left out"]
    assert claim.confidence > 0.95
    assert claim.holds == claim.of - 1


@pytest.mark.parametrize("kind", ["rater", "unit"])
def test_only_one_rater_or_unit(kind):
    rng = np.random.default_rng(0)
    raters = [f"r{k}" for k in range(40) for _ in range(5)]
    outcomes = np.where(rng.random(200) < 0.5, -1, 1)
    outcomes[:100], outcomes[100:] = -1, 1
    outcomes = outcomes[rng.permutation(200)]
    pairs, y = duel(200 + 120, 0)
    y = np.concatenate([outcomes, np.full(120, -1)])
    rater = np.array(raters + ["bot"] * 120)
    audit = audit_pairs(pairs, y, **{kind: rater})
    result = verdict(audit, "A is above B")
    assert result.to_dict()[f"{kind}s"] == {
        f"{kind}s": 1, "names": ["bot"], "verified": True, "exact": True
    }  # fmt: skip
    assert result.verdict == f"depends on one {kind}: bot"
    assert f"{kind}s" in results_text(audit, 120)


def test_a_claim_that_holds():
    pairs, y = duel(300, 100, 50)
    result = verdict(audit_pairs(pairs, y), "A is first")
    assert result.verdict == "holds"
    assert result.holds == result.of > 4
    assert result.confidence > 0.99


def test_a_claim_that_hangs_on_one_vote():
    rng = np.random.default_rng(3)
    pairs, y = duel(1001, 1000)
    y = y[rng.permutation(len(y))]
    result = verdict(audit_pairs(pairs, y), "A is above B")
    assert result.verdict == "fragile: 1 vote"
    (row,) = result.removal.members
    assert y[row] == -1


def test_halves_in_time_count_only_where_they_contradict():
    # In the first half B is ahead by one vote, which is no contradiction.
    y = np.array([-1] * 20 + [1] * 21 + [-1] * 80 + [1] * 20)
    pairs = Pairs(left=["A"] * len(y), right=["B"] * len(y))
    period = np.repeat([1, 2], [41, 100])
    result = verdict(audit_pairs(pairs, y, period=period), "A is above B")
    assert not any("half" in name for name in result.broken_by)
    # Turned into a clear contradiction, it is one.
    y[:41] = 1
    y[41:] = -1
    result = verdict(audit_pairs(pairs, y, period=period), "A is above B")
    assert "only the earlier half" in result.broken_by


def test_a_category_that_says_the_contrary():
    y = np.array([-1] * 150 + [1] * 50 + [1] * 60 + [-1] * 20)
    pairs = Pairs(left=["A"] * len(y), right=["B"] * len(y))
    language = np.repeat(["en", "de"], [200, 80])
    result = audit_pairs(pairs, y, by=language)
    claim = verdict(result, "A is above B")
    assert claim.broken_by == ["only de"]
    assert claim.verdict == "depends on the category"


def test_each_rater_weighs_the_same():
    pairs, _ = duel(40, 0)
    y = np.repeat([-1, 1, -1, 1], [20, 10, 2, 8])
    rater = np.repeat(["a", "b"], [30, 10])
    claim = audit_pairs(pairs, y, rater=rater, alpha=0.5, claims=["A > B"]).claims[0]
    under = {one.choice: one.difference for one in claim.others}
    weight = np.repeat([20 / 30, 20 / 10], [30, 10])
    # Of two items the results alone are asked, without their prior.
    model = BradleyTerry(alpha=0.5).fit(pairs, y, sample_weight=weight)
    place = dict(zip(model.items_.tolist(), range(2), strict=True))
    two = np.array([place["B"]]), np.array([place["A"]])
    expected = model.contrasts("model").between(*two).mean[0]
    assert under["each rater weighs the same"] == pytest.approx(expected, abs=1e-6)
    assert expected < -0.1
    # Without a penalty the likelihood has a maximum only if everybody lost once.
    assert "no penalty" in under
    assert "no penalty" not in audit_pairs(*duel(5, 0), alpha=0.5).choices


def test_both_bad_votes():
    pairs, y = duel(100, 60, 80)
    bad = np.zeros(len(y), dtype=bool)
    bad[-40:] = True
    result = audit_pairs(pairs, y, both_bad=bad)
    assert "both-bad votes left out" in result.choices


# Two items that cannot be told apart


def test_votes_that_would_tell_two_apart():
    pairs, y = duel(55, 50)
    result = audit_pairs(pairs, y, claims=["A = B"]).claims[0]
    assert result.claim.kind == "equal"
    assert result.confidence is None
    kept = np.setdiff1d(np.arange(len(y)), result.removal.members)
    model = BradleyTerry(alpha=BradleyTerry().fit(pairs, y).alpha_)
    model.fit(pairs[kept], y[kept])
    # Without these votes the interval of the difference leaves out zero.
    gap = model.contrasts("model").between(np.array([0]), np.array([1]))
    near = abs(gap.mean[0]) - 1.96 * gap.errors()[0]
    assert -1e-6 < near < 0.1


# Many items, and choices of the person who asks


@pytest.mark.extended
def test_many_items_get_the_same_answers(monkeypatch):
    rng = np.random.default_rng(6)
    left, right, y = draw_votes(rng, 30, 600)
    pairs = Pairs(left=left, right=right)
    dense = audit_pairs(pairs, y)
    for module in ("robustness.claim_audit", "robustness.fewest"):
        monkeypatch.setattr(f"tiebreak.{module}.DENSE_LIMIT", 10)
    monkeypatch.setattr("tiebreak.losses.comparison_covariance._LARGEST_FULL", 10)
    large = audit_pairs(pairs, y)
    assert "more than" in large.notes[0]
    for one, two in zip(dense.claims, large.claims, strict=True):
        assert one.removal.number == two.removal.number
        assert one.reversal.number == two.reversal.number
        assert one.broken_by == two.broken_by
        assert one.confidence == pytest.approx(two.confidence, abs=0.05)
        for a, b in zip(one.others, two.others, strict=True):
            assert a.low == pytest.approx(b.low, abs=1e-6)


# Claims as text


def test_claims_are_read():
    names = ["A", "B > C", "D"]
    assert read_claim("A > D", names) == Claim("above", ("A", "D"))
    assert read_claim("A > B > C", names) == Claim("above", ("A", "B > C"))
    assert read_claim("A=D", names) == Claim("equal", ("A", "D"))
    assert read_claim("D is first", names) == Claim("first", ("D",))
    assert read_claim("A, D first", names) == Claim("top", ("A", "D"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A > X", "'X' is not among the items"),
        ("X first", "'X' is not among the items"),
        ("A > A", "names an item twice"),
        ("A best", "was not understood; expected 'A > B'"),
    ],
)
def test_claims_that_are_not_understood(text, message):
    with pytest.raises(ValueError, match=message):
        read_claim(text, ["A", "B"])


def test_the_usual_claims():
    claims = usual_claims(np.array([0.0, 2.0, 1.0]), np.array(["a", "b", "c"]), 2, 10)
    assert [str(claim) for claim in claims] == [
        "b is first",
        "b is above c",
        "c is above a",
        "the first 2 are b and c",
    ]


# What is written, and what is refused


def test_the_dictionary_is_json():
    rng = np.random.default_rng(2)
    left, right, y = draw_votes(rng, 6, 200)
    names = np.array(list("abcdef"))
    pairs = Pairs(left=names[left], right=names[right])
    start = np.datetime64("2026-01-01T10:00")
    period = start + 700 * np.sort(rng.integers(10, size=200))
    result = audit_pairs(pairs, y, period=period, rater=rng.integers(12, size=200))
    answer = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    days = [day for claim in answer["claims"] for day in claim["days"]["names"]]
    assert days
    assert all(day.startswith("2026-01-0") and len(day) == 10 for day in days)
    assert answer["version"] == 1
    assert answer["votes"] == 200
    for claim in answer["claims"]:
        assert claim["kind"] in ("first", "above", "top")
        removal = claim["removal"]
        assert len(removal["rows"]) == removal["votes"]
        assert 0 <= removal["not_found_up_to"] < max(1, removal["votes"])
        each = claim["choices"]["each"]
        assert [one["choice"] for one in each if not one["holds"]] == claim["choices"][
            "broken_by"
        ]
        for one in [claim["choices"]["as_asked"], *each]:
            assert one["low"] < one["difference"] < one["high"]
        assert claim["choices"]["holds"] <= claim["choices"]["of"]
        assert 0 <= claim["confidence"] <= 1
    assert len(result.table) == len(result.claims)
    assert "<table" in result._repr_html_()
    assert str(result).startswith(f"{len(result.claims)} claims about 6 items")


def test_confidence_is_shown_in_percent_and_never_as_certain():
    first, equal = Claim("first", ("A",)), Claim("equal", ("A", "B"))
    claims = [ClaimAudit(first, "holds", confidence=c) for c in (0.5, 1.0)]
    result = Audit([*claims, ClaimAudit(equal, "holds")], 9, 2, 0.95, [])
    rows = results_text(result, 200).splitlines()[3:6]
    assert [" ".join(row.split()[-2:]) for row in rows] == ["50 %", "99 %", "0 –"]


def test_rows_of_weight_zero_keep_their_numbers():
    pairs, y = duel(5, 4)
    weight = np.ones(9)
    weight[[0, 1]] = [0.0, 1.0]
    result = audit_pairs(pairs, y, sample_weight=weight, claims=["A > B"]).claims[0]
    assert result.verdict == "does not hold"
    result = audit_pairs(pairs, y, sample_weight=1.0 + weight, claims=["A > B"]).claims[
        0
    ]
    assert set(result.removal.members) <= set(range(5))


def test_an_interruption_keeps_what_is_finished():
    rng = np.random.default_rng(2)
    left, right, y = draw_votes(rng, 6, 200)

    def stop(step):
        if step.startswith("claim 3"):
            raise KeyboardInterrupt

    result = audit_pairs(Pairs(left=left, right=right), y, progress=stop)
    assert not result.complete
    assert len(result.claims) == 2


def test_only_ties_have_no_claim():
    with pytest.raises(ValueError, match="there is no claim to audit"):
        audit_pairs(*duel(0, 0, 4))


def test_who_is_first_is_asked_among_the_placed(rng):
    # 30 items with 200 games, of which 0 is clearly best, and 120 with three.
    left = np.r_[rng.integers(0, 30, 3000), np.repeat(np.arange(30, 150), 3)]
    right = np.r_[(left[:3000] + rng.integers(1, 30, 3000)) % 30, left[3000:] % 30]
    p = np.where(left == 0, 0.1, np.where(right == 0, 0.9, 0.5))
    y = np.where((rng.random(len(left)) < p) & (left < 30), 1, -1)
    pairs = Pairs(None, left, right)
    board = Leaderboard.from_results(pairs, y).table
    assert board.filter("could_be_best")["item"].to_list() == [0]
    questions = {"top": 0, "neighbors": 0}
    (claim,) = audit_pairs(pairs, y, **questions).claims
    assert str(claim.claim) == "0 is first" and claim.confidence >= 0.95
    (claim,) = audit_pairs(pairs, y, **questions, place_from=1).claims
    assert claim.confidence < 0.95
    every = Leaderboard.from_results(pairs, y, place_from=1).table
    assert every["could_be_best"].sum() > 1


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="'X' is not among the items"):
        audit_pairs(*duel(3, 1), claims=["A > X"])
    with pytest.raises(ValueError, match="'X' is not among the items"):
        audit_pairs(*duel(3, 1), claims=[Claim("first", ("X",))])


def test_items_that_never_met_are_said():
    pairs = Pairs(left=list("ABCD"), right=list("BADC"))
    with pytest.warns(UserWarning, match="never meet"):
        result = audit_pairs(pairs, [-1, 1, -1, 1], claims=["A > C"])
    assert result.claims[0].verdict.startswith("cannot be told: they never met")
