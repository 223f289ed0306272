# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of teams: a side is the sum of its members."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from tests.oracles import teams_plain as oracle
from tiebreak import (
    BradleyTerry,
    DataWarning,
    Elo,
    Glicko,
    JudgeBradleyTerry,
    Leaderboard,
    LogisticCompare,
    Pairs,
    PlackettLuce,
    RankSVM,
    SVMCompare,
    check_pairs,
    load,
    save,
)

NAMES = np.array([f"m{i}" for i in range(8)])


def play(rng, n=120, sizes=(2, 2), ties=0.4, n_members=8):
    """Games of random teams; member i has the strength i / 3."""
    games = []
    for _ in range(n):
        members = rng.permutation(n_members)[: sum(sizes)].tolist()
        left, right = members[: sizes[0]], members[sizes[0] :]
        d = sum(right) / 3 - sum(left) / 3
        share = np.array([np.exp(-d / 2), ties, np.exp(d / 2)])
        outcome = int(rng.choice([-1, 0, 1], p=share / share.sum()))
        games.append((left, right, outcome, float(rng.integers(1, 3))))
    return games


def read(games):
    left, right, y, weight = zip(*games, strict=True)
    sides = [[NAMES[team].tolist() for team in side] for side in (left, right)]
    return Pairs.from_teams(*sides), np.array(y), np.array(weight)


def by_number(model):
    place = {name: k for k, name in enumerate(model.items_.tolist())}
    return model.strength_[[place[name] for name in NAMES if name in place]]


@pytest.mark.parametrize("sizes", [(2, 2), (1, 3)])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_it_is_the_optimum_of_a_general_solver(sizes, alpha):
    games = play(np.random.default_rng(1), sizes=sizes)
    pairs, y, weight = read(games)
    model = BradleyTerry("davidson", alpha=alpha).fit(pairs, y, sample_weight=weight)
    theta, nu, least = oracle.fit(games, 8, alpha)
    if sizes == (2, 2):
        theta = theta - theta.mean()
    assert_allclose(by_number(model), theta, atol=2e-4)
    assert model.tie_ == pytest.approx(nu, rel=1e-3)
    assert model.objective_ == pytest.approx(least, rel=1e-7)
    d = [sum(theta[i] for i in r) - sum(theta[i] for i in lft) for lft, r, *_ in games]
    assert_allclose(model.difference(pairs), d, atol=1e-3)
    assert_allclose(model.difference(pairs.swap()), -model.difference(pairs))
    mirrored = BradleyTerry("davidson", alpha=alpha)
    mirrored.fit(pairs.swap(), -y, sample_weight=weight)
    assert_allclose(by_number(mirrored), by_number(model), atol=1e-7)


@pytest.mark.parametrize("alpha", ["auto", 0.3, 0.0])
def test_the_covariance_is_the_inverse_of_the_dense_hessian(alpha):
    games = play(np.random.default_rng(2))
    pairs, y, weight = read(games)
    model = BradleyTerry("davidson", alpha=alpha).fit(pairs, y, sample_weight=weight)
    if alpha == "auto":
        assert model.standard_errors().max() < 1.0
        assert model.alpha_ > 0
        return
    x = np.append(by_number(model), np.log(model.tie_))
    h, n = 1e-4, len(x)
    unit = h * np.eye(n)

    def at(*steps):
        return oracle.cost(x + sum(steps), games, 8, alpha)

    H = np.array(
        [[at(a, b) - at(a, -b) - at(-a, b) + at(-a, -b) for b in unit] for a in unit]
    ) / (4 * h * h)
    center = np.eye(8) - 1 / 8
    expected = center @ np.linalg.pinv(H, rcond=1e-6)[:8, :8] @ center
    order = [model.items_.tolist().index(name) for name in NAMES]
    found = model.covariance("model")[np.ix_(order, order)]
    assert_allclose(found, expected, atol=2e-5)


def test_teams_of_one_are_pairs():
    games = play(np.random.default_rng(3), sizes=(1, 1))
    left, right, y, weight = (np.array(c) for c in zip(*games, strict=True))
    teams = Pairs.from_teams(NAMES[left], NAMES[right])
    plain = Pairs(left=NAMES[left].ravel(), right=NAMES[right].ravel())
    assert teams.members is None
    assert_array_equal(teams.names, plain.names)
    one = BradleyTerry().fit(teams, y, sample_weight=weight)
    two = BradleyTerry().fit(plain, y, sample_weight=weight)
    assert_array_equal(one.strength_, two.strength_)
    # A few teams beside them change the way, not what a pair says.
    mixed = Pairs.from_teams([*NAMES[left], NAMES[:2]], [*NAMES[right], NAMES[2:4]])
    known = BradleyTerry().fit(mixed[:-1], y, sample_weight=weight)
    assert known._problem.members is not None
    assert_allclose(known.prior_alphas_, two.prior_alphas_, rtol=1e-6)
    assert_allclose(known.strength_, two.strength_, atol=1e-7)
    assert_allclose(known.covariance(), two.covariance(), atol=1e-7)
    assert_array_equal(known.wins_, two.wins_)


def test_tied_teams_stay_tied():
    pairs = Pairs.from_teams(
        [["a", "b"], ["a", "c"], ["a", "d"]], [["c", "d"], ["b", "d"], ["b", "c"]]
    )
    with pytest.warns(DataWarning, match="Every comparison is a tie"):
        model = BradleyTerry().fit(pairs, [0, 0, 0])
    assert_array_equal(model.strength_, 0.0)
    model = BradleyTerry(alpha=0.1).fit(pairs[[0, 0, 0, 1, 2]], [-1, 1, 0, 0, 0])
    assert_allclose(model.strength_, 0.0, atol=1e-9)
    assert_array_equal(model.predict(pairs), 0)


def test_unseen_teams_of_known_members():
    pairs, y, weight = read(play(np.random.default_rng(4), n=400))
    model = BradleyTerry().fit(pairs, y, sample_weight=weight)
    new = Pairs.from_teams([["m0", "m1", "m2"], ["m7"]], [["m5", "m6", "m7"], ["m0"]])
    theta = by_number(model)
    d = [theta[5:].sum() - theta[:3].sum(), theta[0] - theta[7]]
    assert_allclose(model.difference(new), d)
    share = model.predict_proba(new)
    assert share[0, 2] > 0.9 and share[1, 0] > 0.5
    interval = model.predict_interval(new)
    assert (interval[..., 0] < share).all() and (share < interval[..., 1]).all()
    # Pairs of members by themselves have the intervals of the joint distribution.
    single = Pairs(left=["m7"], right=["m0"])
    assert_allclose(interval[1], model.predict_interval(single)[0], atol=0.02)
    with pytest.raises(ValueError, match=r"1 item\(s\) were not in .*'z'"):
        model.predict(Pairs.from_teams([["m0", "z"]], [["m1", "m2"]]))
    table = Leaderboard(model)
    best = table.table["item"][0]
    assert best in ("m7", "m6")
    wins = sum(w for (_, _, o, w) in play(np.random.default_rng(4), n=400) if o)
    assert model.wins_.sum() == 2 * wins


def test_members_who_are_always_together():
    teams = [["a", "b"], ["a", "b"], ["c", "d"], ["a", "b"], ["c", "e"], ["d", "e"]]
    other = [["c", "d"], ["c", "e"], ["a", "b"], ["d", "e"], ["a", "b"], ["a", "b"]]
    pairs, y = Pairs.from_teams(teams, other), [-1, -1, -1, 1, -1, 1]
    with pytest.warns(DataWarning, match="strengths of 'a', 'b' differ"):
        model = BradleyTerry().fit(pairs, y)
    assert model.strength_[0] == pytest.approx(model.strength_[1])
    with pytest.raises(ValueError, match="strengths of 'a', 'b' differ"):
        BradleyTerry(alpha=0).fit(pairs, y)
    report = check_pairs(pairs, y)
    assert report.findings[0].items == ("a", "b")
    assert not report.has_maximum_likelihood
    assert report.few_games == ()


def test_strengths_without_a_finite_maximum():
    pairs = Pairs.from_teams(
        [["a", "b"], ["a", "c"], ["a", "d"]], [["c", "d"], ["b", "d"], ["b", "c"]]
    )
    with pytest.raises(ValueError, match="No result contradicts ever larger"):
        BradleyTerry(alpha=0).fit(pairs, [-1, -1, -1])
    assert not check_pairs(pairs, [-1, -1, -1]).has_maximum_likelihood
    both = pairs[[0, 1, 2, 0, 1, 2]], [-1, -1, -1, 1, 1, 1]
    assert np.isfinite(BradleyTerry(alpha=0).fit(*both).strength_).all()
    assert check_pairs(*both).has_maximum_likelihood


def test_members_on_both_sides_cancel():
    left, right = [["a", "x"], ["b", "x"], ["c", "x"]], [["b", "x"], ["c", "x"], ["a"]]
    pairs = Pairs.from_teams(left[:2], right[:2])
    plain = Pairs(left=["a", "b"], right=["b", "c"])
    with pytest.warns(DataWarning, match="'x'"):
        one = BradleyTerry(alpha=0.2).fit(pairs, [-1, -1])
    two = BradleyTerry(alpha=0.2).fit(plain, [-1, -1])
    assert_allclose(one.difference(pairs), two.difference(plain))
    same = Pairs.from_teams([["a", "b"]], [["b", "a"]])
    with pytest.raises(ValueError, match="Every comparison is of an item with itself"):
        BradleyTerry().fit(same, [-1])


@pytest.mark.parametrize(
    "model", [Elo(), Glicko(), PlackettLuce(), JudgeBradleyTerry()], ids=repr
)
def test_models_of_single_items_refuse_teams_by_name(model):
    pairs, y, _ = read(play(np.random.default_rng(0), n=20))
    with pytest.raises(TypeError, match=f"{type(model).__name__} compares single"):
        model.fit(pairs, y)


@pytest.mark.parametrize("model", [RankSVM(), SVMCompare(), LogisticCompare()])
def test_features_of_teams(model):
    rng = np.random.default_rng(6)
    games = play(rng, n=200, ties=0.1)
    _, y, _ = read(games)
    left, right = [game[0] for game in games], [game[1] for game in games]
    X = np.column_stack([np.arange(8) / 3, rng.normal(size=8)])
    teams = Pairs.from_teams(left, right, X)
    array = np.asarray(teams)
    assert_allclose(array[0, 0], X[left[0]].sum(axis=0))
    if not isinstance(model, LogisticCompare):
        with pytest.raises(TypeError, match="These Pairs compare teams"):
            model.fit(teams, y)
        return
    model.fit(teams, y)
    summed = LogisticCompare().fit(array, y)
    assert_allclose(model.coef_, summed.coef_)
    assert model.coef_[0] > 0.5
    assert_allclose(model.difference(teams), summed.difference(array))
    assert_allclose(model.predict_interval(teams), summed.predict_interval(array))
    assert cross_val_score(LogisticCompare(), teams, y).mean() > 0.6
    with pytest.raises(ValueError, match="kernel='linear'"):
        LogisticCompare(kernel="rbf").fit(teams, y)
    with pytest.raises(TypeError, match="have no features"):
        LogisticCompare().fit(read(games)[0], y)


def test_selecting_and_saving(tmp_path):
    pairs, y, _ = read(play(np.random.default_rng(7)))
    some = pairs[[5, 3]]
    assert repr(some) == "Pairs(2 comparisons of teams of 8 items, no features)"
    assert len(some.compact().names) == len(some.touched()) < 8
    small = some.compact()
    for k, side in enumerate(small.sides):
        assert_array_equal(
            small.side_names[side], pairs.side_names[pairs.sides[k][[5, 3]]]
        )
    model = BradleyTerry().fit(pairs, y, rater=np.arange(len(y)) % 7)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict_proba(pairs), model.predict_proba(pairs))
    assert_array_equal(again.intervals(), model.intervals())
    assert model.goodness_of_fit().table["left"][0].count(" + ") == 1
    assert model.likelihood().n_parameters == 7 + 1


# The first ten of 121 games of an office: winners, then losers. Tabulated in "Analysing
# foosball data using R: who is the ultimate player?", D2D CRC, 2017.
FOOSBALL = """
Terry Grant_N Dave Nick_B
Dave Trent Nick_B Grant_N
Dave Ross
Dave Andrew_N Terry Hugh
Terry Nick_L Grant_N Nick_B
Terry Grant_N Dave Asanga
Terry Asanga Dave Andrew_N
Dave Asanga Blake Scott_W
Dave Scott_W Grant_N Nick_L
Dave Grant_N Hugh Nick_B
"""


@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_published_games_as_logistic_regression_has_them():
    rows = [line.split() for line in FOOSBALL.split("\n")[1:-1]]
    won = [row[: len(row) // 2] for row in rows]
    lost = [row[len(row) // 2 :] for row in rows]
    pairs = Pairs.from_teams(won, lost)
    model = BradleyTerry(alpha=0.5).fit(pairs, np.full(10, -1))
    games = zip(won, lost, strict=True)
    rows = [[(n in a) - float(n in b) for n in pairs.names] for a, b in games]
    design = np.array(rows)
    both = np.vstack([design, -design])  # scikit-learn needs both outcomes
    peer = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10)
    peer.fit(both, np.repeat([1, 0], 10))
    # Every game twice at C = 1/2 is every game once beside ½‖θ‖².
    assert_allclose(model.strength_, peer.coef_[0], atol=1e-5)
    assert_allclose(model.predict_proba(pairs)[:, 0], expit(design @ peer.coef_[0]))
    assert model.items_[model.strength_.argmax()] in ("Dave", "Terry")


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::tiebreak.DataWarning")
def test_intervals_of_members_cover():
    rng, hits = np.random.default_rng(1), []
    for _ in range(60):
        theta = rng.normal(scale=0.5, size=8)
        sides = np.array([rng.permutation(8)[:4] for _ in range(100)])
        d = theta[sides[:, 2:]].sum(axis=1) - theta[sides[:, :2]].sum(axis=1)
        y = np.where(rng.random(100) < expit(d), 1, -1)
        pairs = Pairs.from_teams(sides[:, :2].tolist(), sides[:, 2:].tolist())
        model = BradleyTerry().fit(pairs, y)
        lower, upper = model.intervals().T
        true = theta[model.items_] - theta.mean()
        hits.append(((lower <= true) & (true <= upper)).mean())
    assert np.mean(hits) > 0.9
