# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from tests.extended import few
from tests.oracles import bradley_terry_plain as plain
from tiebreak import DataWarning, Leaderboard, Pairs
from tiebreak.losses import LINKS
from tiebreak.ratings import BradleyTerry

EVERY = ["davidson", "rao-kupper", "glenn-david", None]
TIE = {"davidson": 0.8, "rao-kupper": 1.5, "glenn-david": 0.4, None: 0.0}


def make(ties, **options):
    """Give a model of these ties."""
    if ties == "glenn-david":
        return BradleyTerry(link="probit", **options)
    return BradleyTerry(ties, **options)


def simulate(rng, n=400, n_items=6, tie=0.8, kind="davidson", gamma=(), spread=0.7):
    """Draw comparisons from the model; gives codes, outcomes and covariates."""
    theta = spread * rng.normal(size=n_items)
    theta -= theta.mean()
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    z = rng.normal(size=(n, len(gamma))).round(1)
    gain = np.exp(theta[left] + z @ np.asarray(gamma, dtype=float))
    p = np.array(plain.probabilities(kind, gain, np.exp(theta[right]), tie))
    y = (rng.random(n) > np.cumsum(p, axis=0)[:2]).sum(axis=0) - 1
    return theta, left, right, y, z


def named(left, right, n_items):
    return Pairs(None, left, right, names=[f"i{k}" for k in range(n_items)])


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("q", few([2, 0]))
@pytest.mark.parametrize("ties", EVERY)
def test_strengths_are_those_of_a_general_solver(rng, ties, q, alpha):
    kind, gamma = ties or "davidson", [0.5, -0.3][:q]
    tie = TIE[ties]
    _, left, right, y, z = simulate(rng, 300, tie=tie, kind=kind, gamma=gamma)
    weight = rng.integers(1, 4, len(y)).astype(float)
    found = plain.fit(kind, left, right, y, weight, 6, z, alpha)
    model = make(ties, alpha=alpha).fit(
        named(left, right, 6), y, sample_weight=weight, context=z if q else None
    )
    assert model.converged_ and model.gap_ <= 1e-16
    assert_array_equal(model.items_, [f"i{k}" for k in range(6)])
    assert_allclose(model.strength_, found[0], atol=2e-6)
    assert model.strength_.mean() == pytest.approx(0.0, abs=1e-15)
    if q:
        assert_allclose(model.context_coef_, found[1], atol=2e-6)
    if ties:
        assert model.tie_ == pytest.approx(found[2], abs=2e-5)
    assert model.objective_ == pytest.approx(found[4](found[3]), rel=1e-9)


def test_agresti_baseball():
    # American League 1987, Agresti, Categorical Data Analysis, table 10.10. Strengths
    # and standard errors relative to Baltimore: R package BradleyTerry2, its vignette.
    names = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland"]
    names += ["Baltimore"]
    wins = np.array(
        [
            [0, 7, 9, 7, 7, 9, 11],
            [6, 0, 7, 5, 11, 9, 9],
            [4, 6, 0, 7, 7, 8, 12],
            [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12],
            [4, 4, 5, 6, 6, 0, 6],
            [2, 4, 1, 3, 1, 7, 0],
        ]
    )
    left, right = np.nonzero(wins)
    pairs = Pairs(None, left, right, names=names)
    model = BradleyTerry(None, alpha=0).fit(
        pairs, np.full(len(left), -1), sample_weight=wins[left, right]
    )
    relative = model.strength_ - model.strength_[-1]
    published = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]
    assert_allclose(relative, published, atol=6e-5)
    error = model.standard_errors("model", reference="Baltimore")
    published = [0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319, 0.0]
    assert_allclose(error, published, atol=6e-5)
    ends = model.intervals(reference="Baltimore", kind="model")
    assert_allclose(ends.mean(axis=1), relative, atol=1e-12)
    assert_allclose(np.diff(ends, axis=1).ravel(), 2 * 1.959964 * error, rtol=1e-6)


def _to_all(matrix, n_items):
    """Map coefficients relative to the last item to strengths of mean 0."""
    full = np.zeros((n_items, len(matrix)))
    full[:-1, : n_items - 1] = np.eye(n_items - 1)
    full -= full.mean(axis=0)
    return full @ matrix @ full.T


@pytest.mark.parametrize("ties", EVERY)
def test_standard_errors_against_numerical_derivatives(rng, ties):
    kind = ties or "davidson"
    _, left, right, y, z = simulate(rng, 250, 5, tie=TIE[ties], kind=kind, gamma=[0.6])
    rater = rng.integers(0, 30, len(y))
    weight = rng.integers(1, 3, len(y)).astype(float)
    model = make(ties, alpha=0).fit(
        named(left, right, 5), y, advantage=z[:, 0], rater=rater, sample_weight=weight
    )
    *_, x, objective = plain.fit(kind, left, right, y, weight, 5, z, 0.0)
    inverse = np.linalg.inv(plain.numerical_hessian(objective, x))
    score = plain.row_scores(x, kind, left, right, y, 5, z)
    meat = score.T @ (weight[:, None] * score)
    covariances = {"sandwich": inverse @ meat @ inverse, "model": inverse}
    for name, expected in covariances.items():
        assert_allclose(model.covariance(name), _to_all(expected, 5), rtol=2e-3)
    assert_allclose(model.covariance(), model.covariance("cluster"), rtol=1e-12)
    last = model.covariance("sandwich", reference="i4")
    assert_allclose(last[:4, :4], covariances["sandwich"][:4, :4], rtol=2e-3)
    assert_allclose(last[4], 0.0, atol=1e-12)


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["model", "sandwich"])
def test_intervals_cover_the_truth(rng, kind):
    covered, ranked = [], []
    for _ in range(250):
        theta, left, right, y, _ = simulate(rng, 600, 8)
        model = BradleyTerry("davidson", alpha=0).fit(named(left, right, 8), y)
        ends = model.intervals(kind=kind)
        covered.append((ends[:, 0] <= theta) & (theta <= ends[:, 1]))
        ranks = model.rank_intervals(kind=kind)
        true_rank = 1 + (theta[None, :] > theta[:, None]).sum(axis=1)
        ranked.append((ranks[:, 0] <= true_rank) & (true_rank <= ranks[:, 1]))
    assert 0.92 <= np.mean(covered) <= 0.97
    assert np.mean(ranked) >= 0.95


@given(data=st.data())
def test_refuses_exactly_when_strengths_do_not_exist(data):
    n_items = data.draw(st.integers(2, 4))
    rows = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, n_items - 1),
                st.integers(0, n_items - 1),
                st.sampled_from([-1, 0, 1]),
            ).filter(lambda row: row[0] != row[1]),
            min_size=1,
            max_size=8,
        )
    )
    rows.append((*rows[0][:2], -1))  # y of only 0 and 1 has a warning of its own
    left, right, y = (np.array(column) for column in zip(*rows, strict=True))
    pairs = Pairs(None, left, right)
    exists = not plain.runs_away(pairs.left, pairs.right, y, pairs.n_items)
    try:
        model = BradleyTerry("davidson", alpha=0).fit(pairs, y)
    except ValueError as error:
        assert not exists
        assert "alpha" in str(error)
    else:
        assert exists
        assert model.converged_


def test_says_who_is_undefeated_or_never_meets_the_rest():
    pairs = Pairs(None, ["Ada", "Bo", "Cy", "Bo"], ["Bo", "Cy", "Bo", "Ada"])
    with pytest.raises(ValueError, match=r"1 item won all its comparisons: 'Ada'"):
        BradleyTerry("davidson", alpha=0).fit(pairs, [-1, -1, -1, 1])
    apart = Pairs(None, ["a", "b", "c", "d"], ["b", "a", "d", "c"])
    with pytest.raises(ValueError, match="never meet"):
        BradleyTerry("davidson", alpha=0).fit(apart, [-1, -1, -1, -1])
    with pytest.warns(UserWarning, match="never meet"):
        model = BradleyTerry(alpha=0.1, ties="davidson").fit(apart, [-1, -1, -1, -1])
    assert_allclose(model.strength_, 0.0, atol=1e-12)
    grown = Pairs(None, ["a", "a"], ["b", "b"])
    with pytest.raises(ValueError, match="grow together"):
        BradleyTerry("davidson", alpha=0).fit(grown, [-1, 0])
    finite = BradleyTerry(alpha=0.1, ties="davidson").fit(pairs, [-1, -1, -1, 1])
    assert finite.items_[np.argmax(finite.strength_)] == "Ada"


def test_without_ties_and_with_nothing_but_ties():
    pairs = Pairs(None, ["a", "b", "a"], ["b", "a", "b"])
    for ties, none in (("davidson", 0.0), ("rao-kupper", 1.0), (None, 0.0)):
        model = BradleyTerry(ties, alpha=0).fit(pairs, [-1, -1, -1])
        assert model.tie_ == none
        assert model.threshold_ == 0.0
        # a won two of three.
        assert_allclose(model.strength_, [np.log(2) / 2, -np.log(2) / 2])
        assert_allclose(model.predict_proba(pairs[:1]), [[2 / 3, 0, 1 / 3]])
    with pytest.raises(ValueError, match="ties=None has no place"):
        BradleyTerry(None, alpha=0).fit(pairs, [-1, 0, 1])
    with pytest.warns(UserWarning, match="Every comparison is a tie"):
        model = BradleyTerry("davidson", alpha=0).fit(pairs, [0, 0, 0])
    assert model.tie_ == np.inf
    assert_array_equal(model.strength_, [0, 0])
    assert_array_equal(model.predict_proba(pairs[:1]), [[0, 1, 0]])
    assert_array_equal(model.predict(pairs), [0, 0, 0])
    with pytest.raises(ValueError, match="Every comparison was a tie"):
        model.standard_errors()


@pytest.mark.parametrize("ties", EVERY[:-1])
def test_prediction_is_the_most_probable_outcome(rng, ties):
    _, left, right, y, _ = simulate(rng, 600, tie=2.5, spread=2.0)
    pairs, home = named(left, right, 6), rng.choice([-1.0, 0.0, 1.0], 600)
    model = make(ties, alpha=0).fit(pairs, y, advantage=home)
    p = model.predict_proba(pairs, advantage=home)
    assert_allclose(p.sum(axis=1), 1.0)
    assert_array_equal(model.predict(pairs, advantage=home), p.argmax(axis=1) - 1)
    assert_array_equal(
        model.predict(pairs), model.predict_proba(pairs).argmax(axis=1) - 1
    )
    assert {-1, 0, 1} == set(model.predict(pairs).tolist())
    accuracy = (model.predict(pairs, advantage=home) == y).mean()
    assert model.score(pairs, y, advantage=home) == pytest.approx(accuracy)
    assert model.score(pairs, y) == pytest.approx((model.predict(pairs) == y).mean())
    turned = model.predict_proba(pairs.swap(), advantage=-home)
    assert_allclose(turned, p[:, ::-1], atol=1e-14)


@pytest.mark.parametrize("truth", ["davidson", "rao-kupper"])
def test_the_tie_model_is_the_one_that_fits(rng, truth):
    d = np.repeat([0.0, 1.0, 2.5, 3.5], 3000)
    link = LINKS["davidson" if truth == "davidson" else "cumulative"]
    share = link.probabilities(d, link.start(0.4))
    y = (rng.random(len(d))[:, None] > share.cumsum(axis=1)[:, :2]).sum(axis=1) - 1
    left = np.zeros(len(d), dtype=np.int64)
    right = np.repeat([1, 2, 3, 4], 3000)
    for alpha in ("auto", 0.1):
        model = BradleyTerry(alpha=alpha).fit(Pairs(None, left, right), y)
        assert model.tie_model_ == truth
    other = {"davidson": "rao-kupper", "rao-kupper": "davidson"}[truth]
    best, worse = (
        BradleyTerry(name).fit(Pairs(None, left, right), y).likelihood().log_likelihood
        for name in (truth, other)
    )
    assert best > worse


def test_many_items_use_products_instead_of_factors(rng):
    n_items = 1700
    theta = rng.normal(size=n_items)
    ring = np.arange(n_items)
    left = np.concatenate([ring, ring, rng.integers(0, n_items, 20_000)])
    right = np.concatenate(
        [(ring + 1) % n_items] * 2 + [rng.integers(0, n_items, 20_000)]
    )
    keep = left != right
    left, right = left[keep], right[keep]
    d = theta[right] - theta[left]
    y = (rng.random(len(d)) < 1 / (1 + np.exp(-d))).astype(int) * 2 - 1
    y[:n_items], y[n_items : 2 * n_items] = 1, -1  # everyone wins and loses
    y[-2000:] = 0
    model = BradleyTerry("davidson", alpha=0).fit(named(left, right, n_items), y)
    assert model.converged_
    p = model.predict_proba(named(left, right, n_items))
    expected = np.bincount(left, p[:, 0] + p[:, 1] / 2, n_items)
    expected += np.bincount(right, p[:, 2] + p[:, 1] / 2, n_items)
    assert_allclose(expected, model.wins_ + model.ties_ / 2, atol=1e-4)


THREE = Pairs(None, ["a", "b", "c"], ["b", "c", "a"])


def fit_three(**columns):
    return BradleyTerry("davidson", alpha=0).fit(THREE, [-1, -1, -1], **columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"advantage": [1.0, 0.0]}, "advantage has 2 values"),
        ({"context": [1.0, 0.0]}, "context has 2 values"),
        ({"rater": [1.0, 0.0]}, "rater has 2 values"),
        ({"advantage": [1.0, 0.0, np.inf]}, "advantage must be finite"),
        ({"context": [1.0, 0.0, np.nan]}, "context has 1 missing"),
        ({"context": ["x", "y", "z"]}, "must hold numbers"),
        ({"advantage": 0}, "0 in every row"),
        ({"rater": ["me", None, "me"]}, "rater has 1 missing"),
    ],
)
def test_bad_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        fit_three(**columns)


def test_bad_comparisons():
    pairs = Pairs(None, ["a", "b"], ["b", "b"])
    with pytest.warns(UserWarning, match=r"item with itself.*: row 1 \('b'\)"):
        assert BradleyTerry("davidson").fit(pairs, [-1, 0]).tie_ == 0
    with pytest.raises(TypeError, match="features but no"):
        BradleyTerry("davidson", alpha=0).fit(np.zeros((2, 2, 3)), [-1, 1])
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 2, 0], names=["a", "b", "c"])
    model = BradleyTerry("davidson", alpha=0).fit(pairs, [-1, -1, -1])
    assert_array_equal(model.items_, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.predict_proba(Pairs(None, ["a"], ["d"])), "training .*: 'd'"),
        (lambda m: m.intervals(reference="d"), "'d' is not among the items"),
        (lambda m: m.predict_proba(THREE, advantage=1), "fitted without advantage"),
        (lambda m: m.predict(THREE, context=[1, 2, 3]), "fitted without context"),
        (lambda m: m.intervals(95), "level must be"),
        (lambda m: m.covariance("exact"), "kind must be one of"),
        (lambda m: m.standard_errors("cluster"), "at least two raters, got 0"),
    ],
)
def test_bad_questions(call, message):
    with pytest.raises(ValueError, match=message):
        call(fit_three())


def test_one_rater_says_as_much_as_the_votes():
    model = fit_three(rater=["me", "me", "me"])
    with pytest.raises(ValueError, match="at least two raters, got 1"):
        model.standard_errors("cluster")
    assert_allclose(model.standard_errors(), model.standard_errors("sandwich"))


def test_the_probit_without_ties_is_thurstones_model(rng):
    theta, left, right, y, _ = simulate(rng, 500, tie=0.0, kind="glenn-david")
    pairs = named(left, right, 6)
    for ties in ("auto", None):
        model = BradleyTerry(ties, link="probit", alpha=0).fit(pairs, y)
        d = model.strength_[right] - model.strength_[left]
        p = norm.cdf(d * np.sqrt(np.pi / 8))  # 1/s at c = 0
        assert_allclose(model.predict_proba(pairs)[:, 2], p, rtol=1e-12)
        # At the maximum of the likelihood no strength can be improved.
        hazard = y * norm.pdf(d * np.sqrt(np.pi / 8)) / np.where(y > 0, p, 1 - p)
        slope = np.bincount(right, hazard) - np.bincount(left, hazard)
        assert_allclose(slope, 0.0, atol=1e-6)
        assert model.tie_ == model.tie_probability_ == 0.0
        assert model.tie_model_ == "glenn-david"
    error = model.standard_errors("model")
    assert (np.abs(model.strength_ - theta * np.sqrt(8 / np.pi)) < 4 * error).all()
    only = BradleyTerry(link="probit").fit
    with pytest.warns(DataWarning, match="Every comparison is a tie"):
        ties = only(pairs, 0 * y)
    assert_array_equal(ties.predict_proba(pairs[:1]), [[0, 1, 0]])


def test_the_probit_has_one_model_of_ties(rng):
    _, left, right, y, _ = simulate(rng, 500, tie=0.4, kind="glenn-david")
    pairs = named(left, right, 6)
    for ties in ("davidson", "rao-kupper", "half"):
        with pytest.raises(ValueError, match="a model of ties of its own"):
            BradleyTerry(ties, link="probit").fit(pairs, y)
    with pytest.raises(ValueError, match="ties=None"):
        BradleyTerry(None, link="probit").fit(pairs, y)
    # Only who asks for it gets it.
    assert BradleyTerry().fit(pairs, y).tie_model_ != "glenn-david"
    model = BradleyTerry(link="probit").fit(pairs, y)
    assert model.tie_model_probability_ == 1.0
    chance, ends = model.predict_proba(pairs[:9]), model.predict_interval(pairs[:9])
    assert ((ends[..., 0] < chance) & (chance < ends[..., 1])).all()
    assert "Glenn and David" in " ".join(Leaderboard(model).notes)
    item, other = model.items_[np.argsort(model.strength_)[[-1, 0]]]
    row = Leaderboard(model).versus(item, other)
    assert row["difference"][0] > 0
    assert row["p_value"][0] < 0.05


@pytest.mark.parametrize(
    ("counts", "published"),
    [
        ([(2, 2, 6)], [0.4159726, 0.7742595]),
        ([(20, 20, 60), (10, 20, 70)], [0.4670001, 0.7898785, 0.4533125]),
    ],
)
def test_the_probit_has_the_published_numbers_of_the_2_ac_protocol(counts, published):
    """Tau, d' of women, and how much larger it is for men.

    Christensen, Lee and Brockhoff, "Estimation of the Thurstonian model for the 2-AC
    protocol", 2012, examples 1 and 5, with the digits that R's sensR prints for
    example(clm2twoAC). There the noise of d' has the variance 2.
    """
    y = np.repeat([-1, 0, 1] * len(counts), np.ravel(counts))
    men = np.repeat(np.arange(len(counts)), np.sum(counts, axis=1))[:, None]
    pairs = Pairs(None, ["A"] * len(y), ["B"] * len(y))
    context = men if len(counts) > 1 else None
    model = BradleyTerry(link="probit", alpha=0).fit(pairs, y, context=context)
    c = norm.ppf((1 + model.tie_probability_) / 2)
    s = 2 * norm.pdf(c) / norm.sf(c)
    found = [c, np.diff(model.strength_)[0] / s]
    if len(counts) > 1:
        found.append(-model.context_coef_[0] / s)  # context is in favor of left
    assert_allclose(np.sqrt(2) * np.array(found), published, atol=2e-7)


@pytest.mark.extended
def test_intervals_of_the_probit_cover_the_truth(rng):
    covered = []
    for _ in range(150):
        theta, left, right, y, _ = simulate(rng, 600, 8, 0.4, "glenn-david")
        theta = theta * plain.scale_of("glenn-david", 0.4)
        ends = BradleyTerry(link="probit").fit(named(left, right, 8), y).intervals()
        covered.append((ends[:, 0] <= theta) & (theta <= ends[:, 1]))
    assert 0.92 <= np.mean(covered) <= 0.975
