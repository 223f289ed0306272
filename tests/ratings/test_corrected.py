# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy.optimize import minimize

from tiebreak import BradleyTerry, Pairs
from tiebreak.ratings import corrected_strengths


def drawn(rng, n, n_items=4, ties=True, wrong=0.3):
    """People's votes, and those of a judge with other strengths and a side it likes."""
    strength = np.linspace(-1, 1, n_items)
    left = rng.integers(n_items, size=n)
    right = (left + rng.integers(1, n_items, size=n)) % n_items
    d = strength[right] - strength[left]
    odds = np.exp(np.stack([-d / 2, np.full(n, -0.5 if ties else -np.inf), d / 2], 1))
    people = (rng.random((n, 1)) > np.cumsum(odds, 1) / odds.sum(1, keepdims=True)).sum(
        1
    )
    people = people - 1.0
    own = np.sign(-d + 0.4 * left + rng.logistic(size=n))
    judge = np.where(rng.random(n) < wrong, own, people)
    return Pairs(None, left, right, names=np.arange(n_items)), people, judge


def aligned(found):
    order = np.argsort(found.items)
    return found.strength[order], np.sqrt(np.diag(found.covariance))[order]


def loss(x, pairs, vote, has_tie):
    """-ln p of each vote, by the formula."""
    d = x[pairs.right] - x[pairs.left]
    z = np.exp(-d / 2) + np.exp(d / 2) + (np.exp(x[-1]) if has_tie else 0)
    return np.log(z) - np.select([vote == 0], [x[-1] if has_tie else 0], vote * d / 2)


@pytest.mark.parametrize("ties", [True, False])
def test_equals_a_plain_minimum_of_the_formula(ties):
    rng = np.random.default_rng(1)
    pairs, people, judge = drawn(rng, 900, ties=ties)
    if not ties:
        judge[rng.random(900) < 0.2] = 0  # people never tie, the judge does
    both = np.arange(900) < 200
    found = corrected_strengths(pairs, np.where(both, people, np.nan), judge)
    assert 0.1 < found.trust < 0.9

    def mean_loss(x):
        own = loss(x, pairs, judge, ties)
        corrected = loss(x, pairs, people, ties) - found.trust * own
        return found.trust * own.mean() + corrected[both].mean()

    plain = minimize(mean_loss, np.zeros(4 + ties), tol=1e-12).x[:4]
    assert aligned(found)[0] == pytest.approx(plain - plain.mean(), abs=1e-5)


@pytest.mark.parametrize("ties", [True, False])
def test_people_alone_is_bradley_terry(ties):
    rng = np.random.default_rng(2)
    pairs, people, judge = drawn(rng, 600, ties=ties)
    both = np.arange(600) < 250
    model = BradleyTerry("davidson", alpha=0, tol=1e-12).fit(pairs[both], people[both])
    strength = model.strength_[np.argsort(model.items_)]
    reversed_judge = np.where(both, -people, judge)
    contrary = corrected_strengths(
        pairs, np.where(both, people, np.nan), reversed_judge
    )
    assert contrary.trust == 0
    assert contrary.factor == pytest.approx(1, abs=1e-6)
    assert aligned(contrary)[0] == pytest.approx(strength, abs=1e-8)
    known = np.sqrt(np.diag(model.covariance("sandwich")))[np.argsort(model.items_)]
    assert aligned(contrary)[1] == pytest.approx(known, rel=0.01)  # n - 1 there
    # A judge who votes on nothing else adds nothing.
    same = corrected_strengths(pairs[both], people[both], judge[both])
    assert same.trust > 0.1
    assert aligned(same)[0] == pytest.approx(strength, abs=1e-8)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_intervals_are_shorter_by_the_factor_of_theory(share):
    # Two items: the correlation of the scores is that of the votes.
    rng = np.random.default_rng(3)
    n_all, agree = 40_000, 0.8
    people = rng.choice([-1.0, 1.0], size=n_all, p=[0.4, 0.6])
    judge = np.where(rng.random(n_all) < agree, people, -1)
    rho = np.corrcoef(people, judge)[0, 1]
    some = np.where(rng.random(n_all) < share, people, np.nan)
    pairs = Pairs(None, np.zeros(n_all, int), np.ones(n_all, int), names=["a", "b"])
    found = corrected_strengths(pairs, some, judge)
    expected = np.sqrt(1 - rho**2 * (1 - found.n_both / n_all))
    assert found.factor == pytest.approx(expected, rel=0.03)
    assert found.factor < 0.9


@pytest.mark.parametrize(
    ("ties", "repeats"),
    [(True, 60), pytest.param(True, 400, marks=pytest.mark.extended),
     pytest.param(False, 400, marks=pytest.mark.extended)],
)  # fmt: skip
def test_intervals_cover_and_no_bias_towards_the_judge(ties, repeats):
    rng = np.random.default_rng(4)
    truth = np.linspace(-1, 1, 4)
    covered, errors, before, factors = [], [], [], []
    for _ in range(repeats):
        pairs, people, judge = drawn(rng, 2500, ties=ties)
        found = corrected_strengths(
            pairs, np.where(np.arange(2500) < 300, people, np.nan), judge
        )
        strength, error = aligned(found)
        covered.append(np.abs(strength - truth) < 1.96 * error)
        errors.append(strength - truth)
        before.append(found.people[np.argsort(found.items)] - truth)
        factors.append(found.factor)
    slack = 3 * np.sqrt(0.05 * 0.95 / repeats)  # strengths of a fit are not independent
    assert abs(np.mean(covered) - 0.95) < slack
    actual = np.sqrt(np.mean(np.square(errors)) / np.mean(np.square(before)))
    assert actual == pytest.approx(np.mean(factors), rel=0.15)
    assert np.mean(factors) < 0.9
    # The judge's own strengths are far away.
    pairs, people, judge = drawn(rng, 50_000, ties=ties)
    decided = judge != 0
    own = BradleyTerry(None, alpha=0).fit(pairs[decided], judge[decided])
    bias = np.abs(own.strength_[np.argsort(own.items_)] - truth).max()
    assert np.abs(np.mean(errors, axis=0)).max() < 0.2 * bias


def test_bad_input_is_named():
    pairs, people, judge = drawn(np.random.default_rng(5), 40)
    with pytest.raises(ValueError, match=r"people has 0 vote\(s\)"):
        corrected_strengths(pairs, np.full(40, np.nan), judge)
    with pytest.raises(ValueError, match="NaN where no person voted"):
        corrected_strengths(pairs, people[:3], judge)
    with pytest.raises(ValueError, match="people must hold -1"):
        corrected_strengths(pairs, people + 5, judge)
    unseen = np.where((pairs.left == 3) | (pairs.right == 3), np.nan, people)
    with pytest.raises(ValueError, match="People never voted on 3"):
        corrected_strengths(pairs, unseen, judge)
