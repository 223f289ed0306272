# SPDX-License-Identifier: BSD-3-Clause
import io
import math
from itertools import combinations

import numpy as np
import pytest
from rich.console import Console
from scipy.special import expit, log_expit

from tiebreak import BradleyTerry, Pairs
from tiebreak.metrics import krippendorff_alpha
from tiebreak.ratings import check_judges
from tiebreak.ratings.checks.rater_checks import (
    _Compared,
    _honest_design,
    _log_coin,
    _log_honest,
    _tail,
)

CARE = {"ann": 1.0, "bo": 1.0, "cy": 1.0, "dan": 0.6, "eve": 0.0, "rev": -1.0}


def simulated(n, care=CARE, seed=3, n_items=8, prompts=2):
    """Votes of judges whose differences are multiplied by their care."""
    rng = np.random.default_rng(seed)
    names = np.array(list(care))
    strength = np.linspace(-2, 2, n_items)
    left = rng.integers(n_items, size=n)
    right = (left + rng.integers(1, n_items, size=n)) % n_items
    rater = names[rng.integers(len(names), size=n)]
    d = (strength[right] - strength[left]) * np.array([care[one] for one in rater])
    odds = np.exp(np.stack([-d / 2, np.full(n, -0.7), d / 2], axis=1))
    y = (rng.random((n, 1)) > np.cumsum(odds, 1) / odds.sum(1, keepdims=True)).sum(1)
    prompt = rng.integers(prompts, size=n)
    return Pairs(None, left, right), y - 1, rater, prompt


def rows(report):
    return {row["judge"]: row for row in report.table.iter_rows(named=True)}


def test_agreement_is_with_a_model_of_the_others_votes():
    pairs, y, rater, _ = simulated(300)
    found = rows(check_judges(pairs, y, rater))
    full = BradleyTerry().fit(pairs, y)
    for judge in CARE:
        own = rater == judge
        model = BradleyTerry(full.tie_model_, alpha=full.alpha_)
        model.fit(pairs[~own], y[~own])
        own &= y != 0
        chance = model.predict_proba(pairs[own])
        favorite = np.where(chance[:, 2] > chance[:, 0], 1, -1)
        expected = np.maximum(chance[:, 0], chance[:, 2]) / (1 - chance[:, 1])
        row = found[judge]
        assert row["compared"] == own.sum() > 20
        assert row["agreement"] == pytest.approx((favorite == y[own]).mean(), abs=1e-12)
        assert row["expected"] == pytest.approx(expected.mean(), abs=1e-5)
        assert row["lower"] < row["agreement"] < row["upper"] or judge == "rev"


def test_consistency_and_circles_by_enumeration():
    pairs, y, rater, prompt = simulated(700)
    report = check_judges(pairs, y, rater, question=prompt, people=["ann", "bo"])
    found = rows(report)
    votes = [
        (who, int(q), frozenset([int(a), int(b)]), int(a), int((-1, b, a)[o]))
        for who, q, a, b, o in zip(
            rater, prompt, pairs.names[pairs.left], pairs.names[pairs.right], y,
            strict=True,
        )
    ]  # fmt: skip
    for judge in CARE:
        mine = [vote for vote in votes if vote[0] == judge]
        equal = {True: [], False: []}
        for one, two in combinations(mine, 2):
            if one[1:3] == two[1:3]:
                equal[one[3] == two[3]].append(one[4] == two[4])
        row = found[judge]
        assert row["repeats"] == len(equal[True]) > 0
        assert row["repeats_equal"] == pytest.approx(np.mean(equal[True]))
        assert row["reversals"] == len(equal[False]) > 0
        assert row["reversals_equal"] == pytest.approx(np.mean(equal[False]))
        same = []
        for vote in mine:
            other = [
                v[4] == vote[4] for v in votes if v[0] != judge and v[1:3] == vote[1:3]
            ]
            same += [np.mean(other)] if other else []
        assert row["same"] == pytest.approx(np.mean(same))
        net = {}
        for _, _, both, _, winner in mine:
            for item in both:
                net[item, next(iter(both - {item}))] = (
                    net.get((item, next(iter(both - {item}))), 0)
                    + (winner == item)
                    - (winner not in (item, -1))
                )
        triads = cycles = 0
        for a, b, c in combinations(range(8), 3):
            signs = [np.sign(net.get(p, 0)) for p in ((a, b), (b, c), (c, a))]
            triads += 0 not in signs
            cycles += abs(sum(signs)) == 3
        assert (row["triads"], row["cycles"]) == (triads, cycles)
        assert triads > 0
    assert sum(row["cycles"] for row in found.values()) > 0
    unit = [str((v[1], sorted(v[2]))) for v in votes]
    value = [0 if v[4] == -1 else (1 if v[4] == min(v[2]) else -1) for v in votes]
    alpha = krippendorff_alpha(unit, rater, value, level="ordinal", symmetric=True)
    assert report.alpha.alpha == pytest.approx(alpha.alpha)

    confusion = {row["judge"]: row for row in report.confusion.iter_rows(named=True)}
    assert set(confusion) == set(CARE) - {"ann", "bo"}
    for judge, row in confusion.items():
        shares, n = np.zeros(5), 0
        for vote in (one for one in votes if one[0] == judge):
            said = [
                v[4] for v in votes if v[0] in ("ann", "bo") and v[1:3] == vote[1:3]
            ]
            n += bool(said)
            for other in said:
                tie, other_tie = vote[4] == -1, other == -1
                kind = (1 if other_tie else 2) if tie else (3 if other_tie else 4)
                kind = 0 if not tie and vote[4] == other else kind
                shares[kind] += 1 / len(said)
        assert row["votes"] == n
        names = ("same", "both_tie", "judge_ties", "people_tie", "opposite")
        assert [row[name] for name in names] == pytest.approx((shares / n).tolist())


def test_verdicts_and_what_dropping_the_careless_changes():
    pairs, y, rater, _ = simulated(4000)
    report = check_judges(pairs, y, rater)
    verdict = {judge: row["verdict"] for judge, row in rows(report).items()}
    assert verdict == {
        "ann": "", "bo": "", "cy": "", "dan": "", "eve": "careless", "rev": "opposite",
    }  # fmt: skip
    assert rows(report)["eve"]["p_careless"] < 1e-4
    assert rows(report)["ann"]["p_careless"] == 1
    assert min(report.table["power"]) > 0.9
    assert report.change["items"] == 8
    assert report.change["first"] == 7
    assert "Drop eve: their votes" in str(report)
    assert "Votes of rev go against the others" in str(report)
    file = io.StringIO()
    Console(file=file, width=100).print(report)
    assert file.getvalue().index("rev") < file.getvalue().index("ann")
    good = np.isin(rater, ["ann", "bo", "cy"])
    calm = check_judges(pairs[good], y[good], rater[good])
    assert set(calm.table["verdict"]) == {""}
    assert calm.change is None
    assert "No judge agrees clearly less" in str(calm)
    assert "tosses coins is found with probability 100%" in str(calm)
    Console(file=file).print(check_judges(pairs, y, np.arange(len(y)) % 22))
    assert file.getvalue().count("and 2 more judges: --json") == 1


def with_tastes(seed, taste, lazy=0, n_judges=10, votes=100, n_items=10, right=0.5):
    """Votes of judges with own opinions; the first `lazy` ones toss coins."""
    rng = np.random.default_rng(seed)
    strength = 0.8 * rng.normal(size=n_items)
    own = strength + taste * rng.normal(size=(n_judges, n_items))
    rater = np.repeat(np.arange(n_judges), votes)
    left = rng.integers(n_items, size=len(rater))
    other = (left + rng.integers(1, n_items, size=len(rater))) % n_items
    chance = expit(own[rater, other] - own[rater, left])
    chance = np.where(rater < lazy, right, chance)
    y = np.where(rng.random(len(rater)) < chance, 1, -1)
    return Pairs(None, left, other), y, rater


def test_other_opinions_are_no_carelessness():
    pairs, y, rater = with_tastes(1, taste=1.0, votes=400)
    report = check_judges(pairs, y, rater)
    found = set(report.table["verdict"])
    assert found <= {"", "other opinions", "opposite"}
    assert "other opinions" in found
    assert "other opinions, no reason to drop" in str(report)
    assert "Drop" not in str(report)
    assert report.change is None


def test_who_always_chooses_one_side_is_careless():
    report = check_judges(*with_tastes(0, taste=0.3, lazy=1, votes=200, right=0.97))
    assert rows(report)[0]["verdict"] == "careless"


def test_marginal_probabilities_by_quadrature():
    # One pair of items: z_right - z_left + b is normal with variance 2 σ² + 1.
    odds, sign = np.full(7, 0.8), np.array([[1, 1, -1, 1, -1, 1, 1], [-1] * 7])
    design = _honest_design(np.zeros(7, int), np.ones(7, int), 2)
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    for taste in (0.0, 0.5):
        d = 0.8 + np.sqrt(2 * taste**2 + 1) * node
        exact = np.log(
            np.exp(log_expit(sign[:, :, None] * d).sum(axis=1)) @ weight / weight.sum()
        )
        assert _log_honest(odds, *design, sign, taste) == pytest.approx(exact, abs=0.05)
    heads = np.arange(6)
    share = [_log_coin(k, 5) + np.log(math.comb(5, k)) for k in heads]
    assert np.exp(share).sum() == pytest.approx(1)


def test_tails_of_honest_judges_from_coins_are_those_of_honest_judges():
    rng, n = np.random.default_rng(0), 60
    left = rng.integers(6, size=n)
    right = (left + rng.integers(1, 6, size=n)) % 6
    strength, first = np.linspace(-1, 1, 6), np.array([0, n])
    odds, same = strength[right] - strength[left] + 1e-9, np.zeros(n, dtype=np.int64)
    sign, seen = np.ones(n, dtype=np.int64), []
    coins = _Compared(odds, left, right, sign, same, first).coin_odds(0, 1000)
    for _ in range(200):
        own = strength + 0.5 * rng.normal(size=6)
        chance = expit(own[right] - own[left] + rng.normal())
        sign = np.where(rng.random(n) < chance, 1, -1)
        seen.append(_Compared(odds, left, right, sign, same, first).coin_odds(0)[:, 0])
    at = np.quantile(np.min(seen, axis=1), [0.5, 0.9])
    weight = np.exp(-coins[2])
    tail = [(weight * (coins.min(axis=0) >= one)).mean() for one in at]
    assert tail == pytest.approx([0.5, 0.1], rel=0.4)
    assert (_tail(coins, np.tile(at, (4, 1))) > np.multiply(tail, 1 - 1e-9)).all()


@pytest.mark.extended
@pytest.mark.parametrize("taste", [0.0, 0.3, 0.5])
def test_judges_with_own_taste_are_rarely_called_careless(taste):
    wrong = found = said = 0.0
    for seed in range(60):
        table = check_judges(*with_tastes(seed, taste)).table
        wrong += (table["verdict"] == "careless").any()
        table = check_judges(*with_tastes(seed, taste, lazy=1)).table.sort("judge")
        found += table["verdict"][0] == "careless"
        said += table["power"][0]
    assert wrong <= 7  # 5 % would be 3
    assert found >= 36
    assert said / 60 == pytest.approx(found / 60, abs=0.15)


@pytest.mark.extended
def test_verdicts_are_rarely_given_about_equal_judges():
    wrong = 0
    for seed in range(100):
        care = dict.fromkeys(map(str, range(10)), 1.0)
        pairs, y, rater, _ = simulated(600, care, seed)
        wrong += (check_judges(pairs, y, rater).table["verdict"] != "").any()
    assert wrong <= 15  # two tests at 5 %


def test_more_judges_than_groups_are_left_out_together():
    care = dict.fromkeys(map(str, range(150)), 1.0)
    pairs, y, rater, _ = simulated(3000, care)
    table = check_judges(pairs, y, rater).table
    assert len(table) == 150
    assert table["agreement"].mean() == pytest.approx(
        table["expected"].mean(), abs=0.03
    )


def test_judges_of_whom_little_is_known():
    left = ["A", "B", "C"] * 10 + ["A"] * 11 + ["X"]
    right = ["B", "C", "A"] * 10 + ["B"] * 11 + ["Y"]
    y = [-1, -1, 1] * 10 + [0] * 10 + [-1, 1]
    rater = ["ann", "bo"] * 15 + ["tie"] * 10 + ["one", "alone"]
    found = check_judges(Pairs(None, left, right), y, rater)
    judge = rows(found)
    assert judge["tie"]["ties"] == 1
    assert judge["tie"]["agreement"] is judge["tie"]["left"] is None
    assert judge["one"]["agreement"] == 1
    assert judge["alone"]["compared"] == 0
    text = str(found)
    assert "Only ties were given by tie." in text
    assert "2 judges gave one vote" in text
    assert "nothing on the items of alone, not even" in text


def test_copies_are_named_and_one_judge_is_no_error():
    pairs, y, _, _ = simulated(60)
    twice = pairs[np.tile(np.arange(60), 2)]
    found = check_judges(twice, np.tile(y, 2), np.repeat(["ann", "bo"], 60))
    assert "ann, bo gave the same answers" in str(found)
    assert found.alpha.alpha > 0.5
    alone = check_judges(pairs, y, ["ann"] * 60)
    assert "All 60 votes are of one judge, ann" in str(alone)
    assert alone.table["agreement"].is_null().all()
    assert alone.alpha is None
    ties = check_judges(pairs, 0 * y, ["ann", "bo"] * 30)
    assert ties.table["ties"].to_list() == [1, 1]


def test_unknown_people_and_missing_raters_are_named():
    pairs, y, rater, _ = simulated(60)
    with pytest.raises(ValueError, match="people has 'zoe', who is not among"):
        check_judges(pairs, y, rater, people=["zoe"])
    with pytest.raises(ValueError, match="rater"):
        check_judges(pairs, y, [None, *rater[1:]])
    with pytest.raises(ValueError, match="level"):
        check_judges(pairs, y, rater, level=2)


@pytest.mark.parametrize("width", [72, 80, 200])
def test_names_and_advice_are_shown_in_a_terminal_of_any_width(width):
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 3, 400), rng.integers(3, 6, 400)
    rater = np.array(["somebody with a long name", "bo", "cy", "di"])[
        np.arange(400) % 4
    ]
    y = np.where(rater == "bo", -1, 1)
    report = check_judges(Pairs(None, left, right), y, rater)
    file = io.StringIO()
    Console(file=file, width=width).print(report)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    heads = {"judge", "votes", "agreement", "95%"}
    assert any(heads <= set(line.split()) for line in lines)
    assert "somebody" in file.getvalue()
