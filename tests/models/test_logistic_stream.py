# SPDX-License-Identifier: BSD-3-Clause
"""One step per comparison, against loops and against batches."""

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from tests.models.inputs import ITEMS, LEFT, RIGHT, Y, good_pairs, refused
from tests.models.test_logistic_compare import draw, outcomes, parameter
from tests.oracles import outcome_models as oracle
from tiebreak import Elo, NystroemMap, Pairs
from tiebreak.datasets import load_chess
from tiebreak.losses import LINKS
from tiebreak.metrics import comparison_log_loss
from tiebreak.models.logistic import stream as logistic_steps
from tiebreak.models.logistic.logistic_compare import LogisticCompare

every_link = pytest.mark.parametrize("link", oracle.LINKS)


@every_link
@pytest.mark.parametrize("t", [0.02, 0.7, 3.0])
def test_slopes_are_derivatives(link, t):
    for y in (-1, 0, 1):
        for d in (-2.0, 0.0, 0.3, 9.0):
            counts = oracle.count_rows([y])
            local = LINKS[link].expand(np.array([d]), t, counts)
            slopes = logistic_steps._slopes(link == "cumulative", y, d, t)
            expected = [
                local.gradient[0],
                local.curvature[0],
                local.tie_gradient,
                local.tie_curvature,
            ]
            assert_allclose(slopes, expected, rtol=1e-9, atol=1e-12)


@every_link
@pytest.mark.parametrize("in_tie", [False, True])
@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_implicit_steps_solve_their_equation(link, in_tie, size):
    for y in (-1, 0, 1):
        for d in (-30.0, -2.0, 0.0, 0.3):
            step = logistic_steps._implicit_step(
                link == "cumulative", y, d, 0.7, size, in_tie
            )
            expected = oracle.implicit_step(link, y, d, 0.7, size, in_tie)
            assert_allclose(step, expected, rtol=1e-7, atol=1e-9)


@every_link
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_equals_a_plain_loop(rng, link, rate):
    pairs, y = draw(rng, link, 40, 12)
    items = pairs.values * (rng.random(pairs.values.shape) < 0.7)
    items[0] = items[1]
    pairs = pairs.with_items(items)
    weight = rng.uniform(0.2, 3.0, len(y))
    model = LogisticCompare(0.4, link=link, learning_rate=rate)
    model.partial_fit(pairs, y, sample_weight=weight)
    delta = items[pairs.right] - items[pairs.left]
    coef, t = oracle.follow(link, delta, y, weight, np.full(3, 0.4), rate)
    assert_allclose(model.coef_, coef, rtol=1e-5, atol=1e-6)
    assert_allclose(parameter(link, model), t, rtol=1e-5, atol=1e-6)
    assert np.abs(coef).max() > 0.05
    assert_allclose(model.threshold_, LINKS[link].threshold(t), rtol=1e-5)
    assert_array_equal(model.classes_, [-1, 0, 1])
    assert_allclose(model.utility(items), items @ model.coef_)


@every_link
def test_names_and_deviations_are_columns(rng, link):
    n = 8
    items = rng.normal(size=(n, 2))
    names = np.array([f"item {i}" for i in range(n)])
    left = rng.integers(0, n, 30)
    right = (left + rng.integers(1, n, 30)) % n
    y = rng.integers(-1, 2, 30)
    one_hot = np.eye(n)[right] - np.eye(n)[left]
    weight = np.ones(30)
    # Names enter when they come; before, they change nothing.
    model = LogisticCompare(0.4, link=link)
    for part in (slice(0, 3), slice(3, 4), slice(4, 30)):
        model.partial_fit(Pairs(None, names[left[part]], names[right[part]]), y[part])
    coef, t = oracle.follow(link, one_hot, y, weight, np.full(n, 0.4))
    assert_allclose(model.utility(names), coef, rtol=1e-5, atol=1e-6)
    assert_allclose(parameter(link, model), t, rtol=1e-5, atol=1e-6)
    assert sorted(model.items_) == sorted(names)
    model = LogisticCompare(0.4, link=link, identity=0.9)
    for part in (slice(0, 3), slice(3, 30)):
        rows = Pairs(items, left[part], right[part], names=names)
        model.partial_fit(rows, y[part])
    delta = np.hstack([items[right] - items[left], one_hot])
    coef, t = oracle.follow(link, delta, y, weight, np.repeat([0.4, 0.9], [2, n]))
    assert_allclose(model.coef_, coef[:2], rtol=1e-5, atol=1e-6)
    mine = model.utility(items, names=names) - model.utility(items)
    assert_allclose(mine, coef[2:], rtol=1e-5, atol=1e-6)
    assert_allclose(parameter(link, model), t, rtol=1e-5, atol=1e-6)


def mean_loss(model, pairs, y):
    return comparison_log_loss(y, model.predict_proba(pairs))


def stream_data(rng, link, n=20_000):
    scale = np.geomspace(0.01, 100, 8)
    items = (rng.normal(size=(400, 8)) + 2 * rng.normal(size=(400, 1))) * scale
    utility = items @ (0.4 * rng.normal(size=8) / scale)
    left = rng.integers(0, 400, n)
    right = (left + rng.integers(1, 400, n)) % 400
    y = outcomes(rng, link, utility[right] - utility[left], 0.5)
    return Pairs(items, left, right), y


@every_link
def test_a_stream_comes_close_to_the_batch(rng, link):
    pairs, y = stream_data(rng, link)
    alpha = 0.1
    best = mean_loss(LogisticCompare(alpha, link=link).fit(pairs, y), pairs, y)
    model = LogisticCompare(alpha, link=link)
    excess = []
    for _ in range(3):
        for start in range(0, len(y), 7000):
            part = slice(start, start + 7000)
            model.partial_fit(pairs[part], y[part])
        excess.append(mean_loss(model, pairs, y) / best - 1)
    assert excess[0] < 0.01
    assert excess[-1] < 0.002
    assert excess[-1] < excess[0] + 1e-5


@every_link
def test_how_rows_are_cut_into_calls_does_not_matter(rng, link, monkeypatch):
    pairs, y = draw(rng, link, 60)
    whole = LogisticCompare(link=link).partial_fit(pairs, y)
    parts = LogisticCompare(link=link)
    for row in range(10):
        parts.partial_fit(pairs[row], y[row : row + 1])
    parts.partial_fit(pairs[10:], y[10:])
    assert_array_equal(parts.coef_, whole.coef_)
    assert parts.tie_ == whole.tie_
    monkeypatch.setattr(logistic_steps, "_CHUNK", 7)
    again = LogisticCompare(link=link).partial_fit(pairs, y)
    assert_array_equal(again.coef_, whole.coef_)
    turned = LogisticCompare(link=link).partial_fit(pairs[::-1], y[::-1])
    assert np.abs(turned.coef_ - whole.coef_).max() > 1e-6


def test_weights(rng):
    pairs, y = draw(rng, n=300)
    zero = (np.arange(300) % 3 > 0).astype(float)
    absent = LogisticCompare().partial_fit(pairs[zero > 0], y[zero > 0])
    model = LogisticCompare().partial_fit(pairs, y, sample_weight=zero)
    assert_array_equal(model.coef_, absent.coef_)
    # A weight of two is one step twice as bold, which is about two steps.
    double = LogisticCompare().partial_fit(pairs, y, sample_weight=np.full(300, 2.0))
    rows = np.repeat(np.arange(300), 2)
    twice = LogisticCompare().partial_fit(pairs[rows], y[rows])
    once = LogisticCompare().partial_fit(pairs, y)
    close = np.abs(double.coef_ - twice.coef_).max()
    assert close < np.abs(once.coef_ - twice.coef_).max() + 0.05
    named = LogisticCompare().partial_fit(
        Pairs(None, ["a", "x"], ["b", "y"]), [1, -1], sample_weight=[1, 0]
    )
    assert_array_equal(named.items_, ["a", "b"])


@every_link
def test_it_goes_on_from_a_batch(rng, link):
    w = (1.0, -0.5, 0.3)
    pairs, y = draw(rng, link, 30_000, 200, w=w)
    first, rest = slice(0, 10_000), slice(10_000, None)
    batch = LogisticCompare(0.1, link=link).fit(pairs[first], y[first])
    model = copy.deepcopy(batch).partial_fit(pairs[rest], y[rest])
    assert not np.array_equal(model.coef_, batch.coef_)
    for name in ("objective_", "gap_", "n_iter_", "converged_"):
        assert hasattr(batch, name)
        assert not hasattr(model, name)
    whole = LogisticCompare(0.1, link=link).fit(pairs, y)
    best = mean_loss(whole, pairs, y)
    assert mean_loss(model, pairs, y) < best * 1.0005
    assert mean_loss(batch, pairs, y) > best
    # One more comparison hardly moves what ten thousand have said.
    near = copy.deepcopy(batch).partial_fit(pairs[rest.start], y[[rest.start]])
    assert_allclose(near.coef_, batch.coef_, atol=0.01)
    assert not np.array_equal(near.coef_, batch.coef_)
    # And a fit forgets the stream.
    again = model.fit(pairs[first], y[first])
    assert_array_equal(again.coef_, batch.coef_)
    near_again = again.partial_fit(pairs[rest.start], y[[rest.start]])
    assert_array_equal(near_again.coef_, near.coef_)


def test_batches_of_names_and_deviations_go_on(rng):
    n = 30
    items = rng.normal(size=(n, 2))
    names = np.array([f"item {i}" for i in range(n)])
    left = rng.integers(0, n, 8000)
    right = (left + rng.integers(1, n, 8000)) % n
    utility = items @ [1.0, -1.0] + 0.5 * rng.normal(size=n)
    y = outcomes(rng, "davidson", utility[right] - utility[left], 0.0)
    early = (left < 20) & (right < 20)
    for features, options in ((None, {}), (items, {"identity": 1.0})):
        pairs = Pairs(features, left, right, names=names)
        model = LogisticCompare(0.3, **options).fit(pairs[early], y[early])
        model.partial_fit(pairs[~early], y[~early])
        whole = LogisticCompare(0.3, **options).fit(pairs, y)
        best = mean_loss(whole, pairs, y)
        assert mean_loss(model, pairs, y) < 1.01 * best


@every_link
@pytest.mark.parametrize("kind", ["features", "names", "deviations"])
def test_a_batch_hands_over_its_hessian_and_its_weights(rng, link, kind):
    n, m = 6, 50
    items = rng.normal(size=(n, 2)) * [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [1, 0]]
    left = rng.integers(0, n, m)
    right = (left + rng.integers(1, n, m)) % n
    y, weight = rng.integers(-1, 2, m), rng.uniform(0.5, 2, m)
    one_hot = np.eye(n)[right] - np.eye(n)[left]
    parts, penalty = [items[right] - items[left]], [0.3, 0.3]
    if kind == "names":
        parts, penalty = [one_hot], [0.3] * n
    if kind == "deviations":
        parts, penalty = [*parts, one_hot], [0.3] * 2 + [0.8] * n
    delta = np.hstack(parts)
    model = LogisticCompare(
        0.3, link=link, identity=0.8 if kind == "deviations" else None
    )
    names = [f"item {i}" for i in range(n)]
    pairs = Pairs(None if kind == "names" else items, left, right, names=names)
    model.fit(pairs, y, sample_weight=weight)
    value, average, curvature, total = model._stream
    counts = oracle.count_rows(y, weight)
    f = oracle.objective(link, delta, counts, np.array(penalty))
    hessian = np.diag(oracle.second_derivative(f, value))
    t = parameter(link, model)
    scale = 1.0 if link == "davidson" else (1 - np.exp(-t)) ** 2
    assert_array_equal(average, value)
    assert_allclose(value[-1], t)
    assert_allclose(curvature[:-1], hessian[:-1], rtol=1e-5)
    assert_allclose(curvature[-1], scale * hessian[-1], rtol=1e-5)
    # A feature counts for every item that has it, up to all comparisons.
    touched = weight @ (delta != 0)
    if kind != "names":
        met = weight @ np.abs(one_hot)
        touched[:2] = np.minimum(met @ (items != 0), weight.sum())
    assert_allclose(total, [*touched, weight.sum()])


def test_an_item_against_itself_is_left_out():
    names = Pairs(None, ["a", "b", "a"], ["b", "c", "c"])
    model = LogisticCompare().partial_fit(names, [1, 0, -1])
    plain = copy.deepcopy(model).partial_fit(Pairs(None, ["a"], ["b"]), [0])
    with pytest.warns(UserWarning, match="item with itself"):
        model.partial_fit(Pairs(None, ["a", "a"], ["a", "b"]), [0, 0])
    assert_array_equal(model.utility(["a", "b", "c"]), plain.utility(["a", "b", "c"]))
    assert model.tie_ == plain.tie_


@every_link
def test_a_stream_never_says_never(rng, link):
    pairs, y = draw(rng, link, 400)
    decided = y != 0
    model = LogisticCompare(link=link).partial_fit(pairs[decided], y[decided])
    p = model.predict_proba(pairs)
    assert (p > 0).all()
    # After a batch without ties, or with nothing else, it learns that there are both.
    batch = LogisticCompare(link=link).fit(pairs[decided], y[decided])
    assert_array_equal(batch.predict_proba(pairs)[:, 1], 0)
    batch.partial_fit(pairs[~decided], y[~decided])
    assert batch.predict_proba(pairs)[:, 1].mean() > 0.05
    with pytest.warns(UserWarning, match="All comparisons are ties"):
        batch.fit(pairs[~decided], y[~decided])
    batch.partial_fit(pairs[decided], y[decided])
    assert (batch.predict_proba(pairs) > 0).all()
    assert math.isfinite(batch.tie_)
    d = batch.difference(pairs[decided])
    assert (np.sign(d) == y[decided]).mean() > 0.6


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", np.dot])
def test_other_kernels_cannot_be_followed(kernel):
    words = ["kernel='linear'", "Nystroem"]
    model = LogisticCompare(kernel=kernel)
    refused(ValueError, words, model.partial_fit, good_pairs(), Y)
    model = LogisticCompare().fit(good_pairs(), Y).set_params(kernel="rbf")
    model.fit(good_pairs(), Y).set_params(kernel="linear")
    words = ["fitted with another kernel"]
    refused(ValueError, words, model.partial_fit, good_pairs(), Y)


def test_comparisons_of_another_kind_than_before():
    names = Pairs(None, LEFT, RIGHT)
    by_name = LogisticCompare().partial_fit(names, Y)
    words = ["without features", "no names"]
    refused(ValueError, words, by_name.partial_fit, good_pairs(), Y)
    model = LogisticCompare().partial_fit(good_pairs(), Y)
    refused(TypeError, ["with features", "items=None"], model.partial_fit, names, Y)
    named = Pairs(ITEMS, LEFT, RIGHT, names=list("abcde"))
    model.set_params(identity=1.0)
    refused(ValueError, ["identity=1.0", "fit again"], model.partial_fit, named, Y)
    model = LogisticCompare(identity=1.0)
    refused(ValueError, ["names=names"], model.partial_fit, good_pairs(), Y)


def test_bad_rows_change_nothing():
    model = LogisticCompare().partial_fit(good_pairs(), Y)
    before = model.coef_.copy()
    same = Pairs(ITEMS, [0, 1], [1, 1])
    refused(
        ValueError,
        ["There are no comparisons"],
        model.partial_fit,
        good_pairs()[:0],
        [],
    )
    refused(ValueError, ["y"], model.partial_fit, good_pairs(), Y[:3])
    refused(ValueError, ["-1"], model.partial_fit, good_pairs(), 2 * Y)
    refused(TypeError, ["Expected comparisons"], model.partial_fit, ITEMS, Y)
    weight = -np.ones(6)
    with pytest.raises(ValueError, match="not negative"):
        model.partial_fit(good_pairs(), Y, sample_weight=weight)
    assert_array_equal(model.coef_, before)
    with pytest.warns(UserWarning, match="item with itself"):
        model.partial_fit(same, [-1, 0])
    with pytest.raises(NotFittedError):
        LogisticCompare().predict(good_pairs())


def test_a_kernel_follows_dated_chess(data_dir):
    """Every month is predicted before it is learned from, as it would have been."""
    if not (data_dir / "chess_kaggle2010").is_dir():
        pytest.skip(f"chess_kaggle2010 is not in {data_dir}")
    games = load_chess()
    rows = np.argsort(games.month, kind="stable")
    pairs, y, month = games.pairs[rows], games.y[rows], games.month[rows]
    rating = Elo(k=24).fit(pairs, y, period=month).before_  # before the month
    side = np.tile([1.0, 0.0], (len(y), 1))  # white moves first
    ends, played = np.stack([pairs.left, pairs.right], axis=1), np.zeros((len(y), 2))
    for m in np.unique(month):
        past = np.bincount(ends[month < m].ravel(), minlength=pairs.n_items)
        played[month == m] = past[ends[month == m]]
    X = np.stack([(rating - 1200) / 100, np.log1p(played), side], axis=2)
    known = month <= 60
    few = X[known].reshape(-1, 3)[::20]
    landmarks = NystroemMap(gamma=0.1, n_landmarks=50, random_state=0).fit(few)
    Z = landmarks.transform(X.reshape(-1, 3)).reshape(len(y), 2, -1)
    model, batch = LogisticCompare(), LogisticCompare().fit(Z[known], y[known])
    model.partial_fit(Z[known], y[known])
    chance = {"stream": [], "batch": [], "constant": []}
    for m in np.unique(month[~known]):
        now, past = month == m, y[month < m]
        share = [(past == outcome).mean() for outcome in (-1, 0, 1)]
        chance["constant"].append(np.tile(share, (now.sum(), 1)))
        chance["batch"].append(batch.predict_proba(Z[now]))
        chance["stream"].append(model.predict_proba(Z[now]))
        model.partial_fit(Z[now], y[now])
    loss = {
        name: comparison_log_loss(y[~known], np.concatenate(of_months))
        for name, of_months in chance.items()
    }
    assert loss["stream"] < loss["constant"] - 0.05
    assert loss["stream"] < loss["batch"] + 0.002, loss
