# SPDX-License-Identifier: BSD-3-Clause
"""The fewest votes against all subsets, and against fits by another program."""

import numpy as np
import pytest

from tests.extended import RUNS_ALL
from tests.oracles.fewest_votes import fewest_votes, fit_votes
from tiebreak.data.comparison_graph import number_comparisons
from tiebreak.losses import LINKS
from tiebreak.robustness.fewest import (
    EQUAL,
    Strengths,
    VoteCounts,
    fewest,
    group_changes,
    item_changes,
    not_found_up_to,
    predicted_number,
    vote_changes,
)

ALPHA = 0.1


def draw_votes(rng, n_items, n_votes, *, ties=0.5, spread=1.0):
    strength = spread * rng.normal(size=n_items)
    left = rng.integers(n_items, size=n_votes)
    right = (left + rng.integers(1, n_items, size=n_votes)) % n_items
    d = strength[right] - strength[left]
    odds = np.stack([np.exp(-d / 2), np.full(n_votes, ties), np.exp(d / 2)], axis=1)
    upto = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    outcome = (rng.random(n_votes)[:, None] > upto[:, :2]).sum(axis=1) - 1
    return left, right, outcome.astype(np.int8)


def problem(left, right, outcome, n_items, weight=None, link="davidson", alpha=ALPHA):
    weight = np.ones(len(left)) if weight is None else weight
    none = np.empty((len(left), 0))
    cells = number_comparisons(left, right, outcome, n_items, none)
    votes = VoteCounts(n_items, *cells, weight)
    strengths = Strengths(votes, LINKS[link], alpha, np.zeros(0))
    return votes, strengths.fit(votes.counts)


def leader(fit, n_items):
    order = np.argsort(-fit.beta[:n_items], kind="stable")
    return [(int(order[0]), int(other)) for other in order[1:]]


@pytest.mark.parametrize("reverse", [False, True], ids=["removal", "reversal"])
def test_the_number_is_that_of_the_exhaustive_search(reverse, capsys):
    n_cases = 200 if RUNS_ALL else 12
    equal = counted = 0
    for case in range(n_cases):
        rng = np.random.default_rng([case, reverse])
        n_items, n_votes = int(rng.integers(2, 6)), int(rng.integers(3, 15))
        left, right, outcome = draw_votes(rng, n_items, n_votes)
        votes, start = problem(left, right, outcome, n_items)
        pairs = leader(start, n_items)
        if min(start.claim(*pair) for pair in pairs) <= EQUAL:
            continue
        changes = vote_changes(votes, reverse=reverse)
        result = fewest(start, changes, pairs)
        most = n_votes if result is None else result.number
        truth = fewest_votes(
            left, right, outcome, n_items, ALPHA, pairs, most, reverse=reverse
        )
        counted += 1
        equal += (None if result is None else result.number) == truth
        if result is not None and truth is not None:
            assert result.number >= truth
    with capsys.disabled():
        print(f"\n{equal} of {counted} equal the exhaustive search")
    assert equal >= 0.95 * counted
    assert counted >= 0.7 * n_cases


@pytest.mark.parametrize("seed", range(4))
def test_without_the_votes_another_program_agrees(seed):
    rng = np.random.default_rng(seed)
    left, right, outcome = draw_votes(rng, 6, 120, spread=0.5)
    votes, start = problem(left, right, outcome, 6)
    pairs = leader(start, 6)
    removals = vote_changes(votes)
    result = fewest(start, removals, pairs)
    kept = np.ones(120, dtype=bool)
    kept[removals.list_members(result.chosen)] = False
    assert np.count_nonzero(~kept) == result.number
    theta = fit_votes(left[kept], right[kept], outcome[kept], 6, ALPHA, solver="scipy")
    assert min(theta[a] - theta[b] for a, b in pairs) < 1e-5
    whole = fit_votes(left, right, outcome, 6, ALPHA, solver="scipy")
    assert min(whole[a] - whole[b] for a, b in pairs) > 0


def test_without_ties_choix_agrees():
    choix = pytest.importorskip("choix", reason="choix is in the extra bench")
    rng = np.random.default_rng(5)
    left, right, outcome = draw_votes(rng, 5, 200, ties=0.0, spread=0.4)
    votes, start = problem(left, right, outcome, 5)
    pairs = leader(start, 5)
    removals = vote_changes(votes)
    result = fewest(start, removals, pairs)
    kept = np.setdiff1d(np.arange(200), removals.list_members(result.chosen))
    win = np.where(outcome < 0, left, right)
    lose = np.where(outcome < 0, right, left)
    theta = choix.opt_pairwise(
        5, list(zip(win[kept], lose[kept], strict=True)), alpha=ALPHA
    )
    assert min(theta[a] - theta[b] for a, b in pairs) < 1e-3


def test_the_reversed_votes_overturn_it_too():
    rng = np.random.default_rng(1)
    left, right, outcome = draw_votes(rng, 6, 150, spread=0.5)
    votes, start = problem(left, right, outcome, 6)
    pairs = leader(start, 6)
    reversals = vote_changes(votes, reverse=True)
    result = fewest(start, reversals, pairs)
    changed = outcome.copy()
    changed[reversals.list_members(result.chosen)] *= -1
    assert (outcome[reversals.list_members(result.chosen)] != 0).all()
    theta = fit_votes(left, right, changed, 6, ALPHA)
    assert min(theta[a] - theta[b] for a, b in pairs) <= 1e-6
    removed = fewest(start, vote_changes(votes), pairs)
    assert result.number <= removed.number


@pytest.mark.parametrize("link", ["davidson", "cumulative"])
def test_effects_are_derivatives(link):
    rng = np.random.default_rng(3)
    left, right, outcome = draw_votes(rng, 5, 80)
    votes, start = problem(left, right, outcome, 5, link=link)
    effect = start.effects(0, 1)
    for column in np.flatnonzero(votes.counts)[::5]:
        for size in (1e-4, -1e-4):
            counts = votes.counts.copy()
            counts[column] += size
            moved = start.refit(counts).claim(0, 1) - start.claim(0, 1)
            assert moved / size == pytest.approx(effect[column], rel=1e-2, abs=1e-6)


def test_a_minimum_near_another_is_the_same_from_anywhere():
    rng = np.random.default_rng(4)
    left, right, outcome = draw_votes(rng, 40, 400)
    _, start = problem(left, right, outcome, 40, link="cumulative")
    few = start.counts.copy()
    few[np.flatnonzero(few)[:60]] = 0.0
    near, cold = start.refit(few), start.strengths.fit(few)
    assert near.near is not None
    np.testing.assert_allclose(near.beta, cold.beta, atol=1e-7)
    np.testing.assert_allclose(near.effects(0, 1), cold.effects(0, 1), atol=1e-8)
    assert near.error(0, 1) == pytest.approx(cold.error(0, 1), rel=1e-7)


def test_items_that_all_met_need_no_matrix(monkeypatch):
    """One list of 20,000 items would take 7 GB."""
    votes = *draw_votes(np.random.default_rng(5), 8, 150), 8
    full = problem(*votes)[1]
    assert full._factor is not None
    monkeypatch.setattr("tiebreak.robustness.fewest.DENSE_LIMIT", 5)
    large = problem(*votes)[1]
    assert large._factor is None
    np.testing.assert_allclose(large.effects(0, 1), full.effects(0, 1), rtol=1e-6)


def test_so_few_votes_are_not_found():
    # Six votes of one sort stand against three: each of three must go.
    left, right = np.zeros(9, dtype=np.int64), np.ones(9, dtype=np.int64)
    outcome = np.array([-1] * 6 + [1] * 3, dtype=np.int8)
    votes, start = problem(left, right, outcome, 2)
    changes = vote_changes(votes)
    assert 1 <= not_found_up_to(start, changes, [(0, 1)]) < 3
    nothing = item_changes(votes, [0, 1], [])
    assert not_found_up_to(start, nothing, [(0, 1)]) == 0  # of no items, none


def test_a_rater_goes_with_all_votes():
    left, right = np.zeros(9, dtype=np.int64), np.ones(9, dtype=np.int64)
    outcome = np.array([-1] * 6 + [1] * 3, dtype=np.int8)
    rater = np.array([0] * 6 + [1, 2, 3])
    votes, start = problem(left, right, outcome, 2)
    result = fewest(start, group_changes(votes, rater, list(range(4))), [(0, 1)])
    assert result.number == 1
    assert result.chosen.tolist() == [1, 0, 0, 0]


def test_a_third_item_can_decide_between_two():
    # A and B are even between themselves; only C, whom A beat, puts A ahead.
    left = np.array([0, 1, 0, 0, 1])
    right = np.array([1, 0, 2, 2, 2])
    outcome = np.array([-1, -1, -1, -1, 1], dtype=np.int8)
    votes, start = problem(left, right, outcome, 3)
    assert start.claim(0, 1) > 0.1
    changes = item_changes(votes, [0, 1], [])
    result = fewest(start, changes, [(0, 1)])
    assert result.chosen.tolist() == [0, 0, 1]


def test_a_prediction_counts_the_strongest_first():
    effect = np.array([-0.5, -0.2, 0.3, -0.2])
    limit = np.array([1, 2, 9, 1])
    assert predicted_number(effect, limit, 0.4) == 1
    assert predicted_number(effect, limit, 0.6) == 2
    assert predicted_number(effect, limit, 1.1) == 4
    assert np.isinf(predicted_number(effect, limit, 1.2))
