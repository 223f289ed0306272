# SPDX-License-Identifier: BSD-3-Clause
"""Which pair is asked about, and when the goal is reached."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.asking import stop_once
from benchmarks.simulated_people import OwnAsker, People, run
from tests.oracles import asking_plain
from tiebreak.ask.beliefs import Beliefs
from tiebreak.ask.choose import Chooser, Goal, Pair, Prompts, Settings, aim
from tiebreak.ask.engine import rate_answers
from tiebreak.metrics import kendall_tau_b


def beliefs_of(n, seed=0):
    rng = np.random.default_rng(seed)
    root = np.tril(rng.normal(0, 0.3, (n, n))) + 0.3 * np.eye(n)
    return Beliefs(rng.normal(0, 1, n), root @ root.T)


def play(chooser, n, rater=0, y=lambda i, j: int(np.sign(j - i))):
    """Ask and answer; larger numbers are better."""
    asked = []
    for _ in range(n):
        pair = chooser.ask(rater)
        chooser.answer(pair.left, pair.right, y(pair.left, pair.right))
        asked.append(pair)
    return asked


def learn(chooser, *answers):
    """Answers (left, right, y) that somebody gave."""
    for left, right, y in answers:
        chooser.note("somebody", left, right)
        chooser.answer(left, right, y)


def weight_of(goal, beliefs, k, j):
    """How much a goal wants to know the difference of two items."""
    mean, variance = beliefs.mean, beliefs.variance
    if goal == "scale":
        return 1.0
    if goal == "ranking":
        s2 = variance[k] + variance[j] - 2 * beliefs.cov[k, j]
        return norm.sf(abs(mean[k] - mean[j]) / math.sqrt(s2)) / s2
    border = np.sort(mean)[[-3, -2]].mean()
    return math.prod(norm.pdf(border, mean[i], math.sqrt(variance[i])) for i in (k, j))


@pytest.mark.parametrize("goal", ["ranking", "top:2", "scale"])
def test_the_pair_of_most_value_is_chosen(goal):
    """The one whose answer lowers the weighted variances of all differences most."""
    chooser = Chooser(7, Settings(goal=goal, min_each=0), seed=0)
    learn(chooser, *((k % 7, (k + 1 + k % 5) % 7, k % 3 - 1) for k in range(12)))
    chooser.refit()
    learn(chooser, (0, 1, 1))
    beliefs, contrasts = chooser.beliefs, {}
    for i, j in combinations(range(7), 2):
        contrasts[i, j] = np.eye(7)[j] - np.eye(7)[i]
    values = {}
    for pair, c in contrasts.items():
        s2 = c @ beliefs.cov @ c
        information = asking_plain.information(c @ beliefs.mean, s2**0.5, beliefs.tie)
        known = 1 - math.exp(-2 * information)
        values[pair] = (
            known
            / s2
            * sum(
                weight_of(goal, beliefs, *other) * (o @ beliefs.cov @ c) ** 2
                for other, o in contrasts.items()
            )
        )
    chosen = values[tuple(sorted(chooser.ask("me")[:2]))]
    # Chance decides between values that differ by less than two percent; the weights
    # are those of the last fit, and the table of information is not exact.
    assert chosen >= 0.93 * max(values.values())
    assert chosen > 1.15 * np.median(list(values.values()))


@pytest.mark.parametrize("goal", ["ranking", "top:2", "scale"])
def test_an_answer_changes_what_the_others_can_tell(goal):
    beliefs = beliefs_of(7, seed=3)
    result = aim(Goal.read(goal, 7), beliefs)
    np.testing.assert_allclose(result.weights.sum(axis=0), 0, atol=1e-12)
    before = result.reach.copy()
    for answer in ((4, 1, 1), (0, 4, 0), (2, 6, -1)):
        result.learn(beliefs, *beliefs.learn(*answer))
    expected = beliefs.cov @ result.weights @ beliefs.cov
    _, _, reach = result.among(beliefs, np.arange(7))
    np.testing.assert_allclose(reach, expected, atol=1e-10)
    assert np.abs(reach - before).max() > 1e-3


@pytest.mark.parametrize("strategy", ["information", "swiss", "random"])
def test_rules_that_hold_for_every_strategy(strategy):
    chooser = Chooser(8, Settings(strategy=strategy, min_each=3, repeat=0.3), seed=1)
    asked = play(chooser, 60)
    keys = [tuple(sorted(pair[:2])) for pair in asked]
    for k, key in enumerate(keys):
        assert key not in keys[max(0, k - 10) : k]  # not twice within ten
    assert chooser.games.min() >= 3
    games = np.bincount(np.ravel([k for k in keys[:16]]), minlength=8)
    assert games.min() >= 2
    again = [pair for pair in asked if pair.reason == "repeat"]
    assert 3 <= len(again) <= 25
    left = sum(pair.left < pair.right for pair in asked)
    assert 15 < left < 45  # sides are drawn at random


def test_what_a_person_said_before_counts_half_when_it_is_asked_again():
    """Not at all for another person, who is asked what tells most."""
    chooser = Chooser(30, Settings(min_each=0, repeat=0.0), seed=0)
    best = [tuple(sorted(chooser.ask(rater)[:2])) for rater in ("Ada", "Bo")]
    for i, j in best:
        chooser.answer(i, j, 0)
    items, value = np.arange(30), np.ones((30, 30))
    np.fill_diagonal(value, -np.inf)
    (a, b), other = best[0], best[1]
    value[a, b] = value[b, a] = 1.9
    value[other] = value[other[::-1]] = 1.5
    for k in range(20):  # so long ago that it may be asked again
        chooser._asked["Ada"].append((0, k + 1))
    chooser._values = items, items, value.copy()
    assert chooser.ask("Ada")[:2] in (other, other[::-1])
    chooser._values = items, items, value.copy()
    assert chooser.ask("Cy")[:2] in ((a, b), (b, a))


def test_two_people_are_not_asked_about_the_same_pair_at_once():
    chooser = Chooser(20, seed=3)
    pairs = [chooser.ask(rater) for rater in range(10)]
    assert len({tuple(sorted(pair[:2])) for pair in pairs}) == 10
    items = np.ravel([pair[:2] for pair in pairs])
    assert len(set(items.tolist())) == 20  # and everybody about other items


def test_when_all_pairs_are_open_there_is_none_to_ask():
    chooser = Chooser(3, seed=0)
    assert [chooser.ask(1) is None for _ in range(4)] == [False] * 3 + [True]


def test_only_allowed_pairs_are_asked():
    prompts = Prompts([["p"]] * 3 + [["q"]] * 3)
    chooser = Chooser(6, Settings(min_each=5), prompts=prompts, seed=0)
    assert all(p.left // 3 == p.right // 3 for p in play(chooser, 20))


def test_of_many_items_those_of_one_prompt_are_found():
    """A matrix of all pairs of 30,000 took 6 GB; here two items share a prompt each."""
    chooser = Chooser(30_000, prompts=Prompts([[str(k // 2)] for k in range(30_000)]))
    assert {pair.left ^ pair.right for pair in play(chooser, 5)} == {1}


def test_what_is_taken_back_was_never_learned():
    kept, undone = Chooser(6, seed=0), Chooser(6, seed=0)
    learn(undone, (0, 1, 1), (2, 3, 0), (4, 5, -1), (1, 2, 1))
    learn(kept, (0, 1, 1), (4, 5, -1), (1, 2, 1))
    undone.undo(2, 3, 0)
    kept.refit()
    undone.refit()
    np.testing.assert_allclose(undone.beliefs.mean, kept.beliefs.mean, atol=1e-5)
    assert np.ptp(kept.beliefs.mean) > 0.1


def test_a_fit_of_old_answers_is_brought_up_to_date_or_dropped():
    chooser = Chooser(5, seed=0)
    learn(chooser, (0, 1, 1))
    fit = chooser.fit(*chooser.snapshot())
    learn(chooser, (2, 3, 1))
    assert chooser.adopt(fit)
    assert chooser.beliefs.mean[3] > 0.1
    chooser.undo(0, 1, 1)
    assert not chooser.adopt(fit)


def board_of(n, m, spread=1.0, seed=0, level=0.95):
    """The leaderboard of answers about random pairs."""
    people, rng = (
        People.draw(n, seed, spread, careless=0.0),
        np.random.default_rng(seed),
    )
    pairs = [Pair(*rng.choice(n, 2, replace=False).tolist(), "") for _ in range(m)]
    rows = [(*pair[:2], people.answer(pair), k % 9) for k, pair in enumerate(pairs)]
    return rate_answers(rows, level)


def percent(look):
    return float(look.words.partition(" ")[0])


def test_how_far_a_goal_is_says_the_leaderboard():
    """No slack: two items are in the right order, or they are not."""
    board = board_of(7, 200, 1.5)
    known, rng = board._contrasts.posterior, np.random.default_rng(1)
    order = np.argsort(-known.mean)
    theta = (known.mean + known.draw(20000, rng))[:, order]
    top = np.mean(theta[:, 3:].max(axis=1) < theta[:, :3].min(axis=1))
    i, j = np.triu_indices(7, 1)
    right = np.mean(theta[:, j] < theta[:, i])
    explained = np.sum(known.mean**2)
    share = explained / (explained + np.trace(known.total))
    looks = {
        goal: Goal.read(goal, 7).look(board, 7, 0.95)
        for goal in ("top:3", "ranking", "scale", "best")
    }
    assert percent(looks["top:3"]) == pytest.approx(100 * top, abs=4)
    assert percent(looks["ranking"]) == pytest.approx(100 * right, abs=1)
    assert percent(looks["scale"]) == pytest.approx(100 * share, abs=0.1)
    assert 0.2 < top < 0.9 and 0.7 < right < 0.95
    assert looks["ranking"].share == pytest.approx((right - 0.5) / 0.45, abs=0.02)
    possible = board.table["could_be_best"].sum()
    assert (
        looks["best"].words == f"{possible} of 7 items could be best (95 % confidence)"
    )
    assert looks["best"][:2] == ((7 - possible) / 6, possible == 1)
    two_more = Goal.read("best", 9).look(board, 9, 0.95)  # without an answer
    assert two_more.words.startswith(f"{possible + 2} of 9 items could be best")
    assert Goal.read("ranking", 9).look(None, 9, 0.95) == (
        0.0, False, "50 % of all pairs in the right order (95 % is the goal)"
    )  # fmt: skip


@pytest.mark.parametrize("text", ["top:0", "top:9", "worst", "top:x", ""])
def test_a_goal_that_cannot_be_is_refused(text):
    with pytest.raises(ValueError, match="goal"):
        Goal.read(text, 9)


@pytest.mark.parametrize(
    "options", [{"level": 1.0}, {"level": 0.0}, {"strategy": "x"}, {"repeat": 0.7},
              {"min_each": -1}],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Settings(**options)


def test_one_of_many_items_is_found_without_all_pairs():
    chooser = Chooser(5000, Settings(goal="best"), seed=0)
    pairs = play(chooser, 5)
    assert len({i for p in pairs for i in p[:2]}) == 10


@pytest.mark.parametrize(
    "goal, n_answers", [("ranking", 60), ("top:3", 90), ("best", 110)]
)
def test_people_without_noise_are_ranked_and_the_goal_is_reached(goal, n_answers):
    chooser, rows = Chooser(8, Settings(goal), seed=0), []
    for _ in range(0, n_answers, 10):
        for left, right, _ in play(chooser, 10):
            rows.append((left, right, int(np.sign(right - left)), 0))
        chooser.refit()
    board = rate_answers(rows, 0.95)
    assert chooser.goal.look(board, 8, 0.95)[:2] == (1.0, True)
    assert not chooser.goal.look(rate_answers(rows[:15], 0.95), 8, 0.95).reached
    assert board.table["item"].to_list() == list(range(8))[::-1]


@pytest.mark.extended
def test_information_is_nearer_to_the_truth_than_chance():
    def nearness(strategy):
        for seed in range(12):
            people = People.draw(20, seed, 2.0)
            asker = OwnAsker(20, Settings(strategy=strategy, repeat=0.0), seed)
            for _ in run(people, asker, 200):
                pass
            yield kendall_tau_b(asker.utilities(), people.theta)

    more = np.subtract(list(nearness("information")), list(nearness("random")))
    assert more.mean() > 0.02


@pytest.mark.extended
@pytest.mark.parametrize("goal, spread", [("best", 1), ("best", 2), ("ranking", 2)])
def test_what_is_claimed_at_the_stop_is_true(goal, spread):
    """Although pairs are chosen by the answers, and the rule is looked at often."""
    ends = [stop_once(8, goal, spread, seed, 0.95, 300) for seed in range(24)]
    right = [end[0] for end in ends if end]
    assert len(right) >= 3
    assert np.mean(right) > 0.95 - (0.15 if goal == "best" else 0.02)


@pytest.mark.extended
def test_of_equal_items_none_is_called_the_best():
    ends = [stop_once(8, "best", 0.0, seed, 0.95, 150) for seed in range(24)]
    assert sum(end is not None for end in ends) <= 1
