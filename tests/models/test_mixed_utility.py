# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from tiebreak import (
    LogisticCompare,
    MixedUtility,
    NystroemMap,
    Orders,
    Pairs,
    PlackettLuce,
    RankSVM,
    load,
    save,
)
from tiebreak.metrics import kendall_tau_b
from tiebreak.models.mixed_utility import _MixedObjective, _read

W = np.array([1.0, -1.0, 0.5, 2.0])


def drawn(seed=0, n=40, steep=1.0, ties=True):
    """Items, comparisons, grades in groups, and lists, of one utility."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    utility = X @ W
    left = rng.integers(n, size=150)
    right = (left + rng.integers(1, n, size=150)) % n
    d = utility[right] - utility[left] + rng.logistic(size=150)
    y = np.where(np.abs(d) < 0.5 * ties, 0, np.sign(d)).astype(int)
    grades = np.digitize(utility + rng.normal(size=n), [-1, 1])
    lists = []
    for _ in range(60):
        some = rng.choice(n, 5, replace=False)
        noisy = steep * utility[some] + rng.gumbel(size=5)
        lists.append(some[np.argsort(-noisy)].tolist())
    return X, Pairs(X, left, right), y, grades, np.arange(n) % 4, Orders(X, lists)


def test_comparisons_alone_are_logistic_compare():
    _, pairs, y, *_ = drawn()
    found = MixedUtility(0.7, tol=1e-10).fit(pairs, y)
    model = LogisticCompare(0.7, tol=1e-10).fit(pairs, y)
    assert found.coef_ == pytest.approx(model.coef_, abs=1e-8)
    assert found.objective_ == pytest.approx(model.objective_, rel=1e-12)
    assert np.abs(model.coef_).max() > 0.5


def test_grades_alone_are_rank_svm():
    X, _, _, grades, qid, _ = drawn()
    found = MixedUtility(0.7, tol=1e-10).fit(X, grades, qid=qid)
    model = RankSVM(1 / 1.4, kernel="linear", loss="squared_hinge", tol=1e-13)
    model.fit(X, grades, qid=qid)
    assert found.coef_ == pytest.approx(model.coef_, abs=1e-8)
    assert found.n_pairs_ == model.n_pairs_


@pytest.mark.parametrize("tied", [False, True])
def test_lists_alone_are_plackett_luce(tied):
    rng = np.random.default_rng(1)
    lists = [rng.permutation(7)[:4].tolist() for _ in range(25)]
    if tied:
        lists = [[a, [b, c], d] for a, b, c, d in lists]
    found = MixedUtility(0.7, tol=1e-10).fit(Orders(np.eye(7), lists))
    model = PlackettLuce(alpha=0.7, tol=1e-10).fit(Orders(None, lists))
    strength = model.strength_[np.argsort(model.items_)]
    assert found.coef_ == pytest.approx(strength, abs=1e-8)
    assert np.abs(strength).max() > 0.1


def sources(seed=0, ties=True):
    X, pairs, y, grades, qid, orders = drawn(seed, ties=ties)
    graded = {"X": X, "y": grades, "qid": qid, "weight": 0.3}
    return X, pairs, y, [graded, {"X": orders, "weight": 2.0}]


def test_grades_beside_others_weigh_as_many_as_their_items():
    X, _, _, grades, qid, _ = drawn()
    rng = np.random.default_rng(0)
    w, weight = rng.normal(size=4), rng.uniform(0.5, 2.0, size=len(X))
    graded = {"X": X, "y": grades, "qid": qid, "sample_weight": weight}
    read = _read(MixedUtility(), graded)
    utility, expected = X @ w, 0.0
    for group in range(4):
        rows = np.flatnonzero(qid == group)
        better = [(i, j) for i in rows for j in rows if grades[i] > grades[j]]
        i, j = np.array(better).T
        both = weight[i] * weight[j]
        loss = np.maximum(1 - (utility[i] - utility[j]), 0) ** 2
        expected += weight[rows].sum() * (both @ loss) / both.sum()
    assert read.part(X).expand(w)[0] == pytest.approx(expected)


@pytest.mark.parametrize("tied", [False, True])
def test_gradient_and_hessian_by_differences(tied):
    X, pairs, y, more = sources(ties=tied)
    if tied:
        more[1] = {"X": Orders(X, [[0, [1, 2], 3], [4, 5, [6, 7]]])}
    read = [_read(MixedUtility(), one) for one in ({"X": pairs, "y": y}, *more)]
    parts = [source.part(source.table.values) for source in read]
    objective = _MixedObjective(
        parts, np.array([1, 0.3, 2]), np.array([1, 0.5, 3]), 0.2
    )
    rng = np.random.default_rng(2)
    x = 0.3 * rng.normal(size=objective.n_variables)
    gradient = lambda x: objective.expand(x)[1]  # noqa: E731
    assert check_grad(objective.value, gradient, x) < 1e-3
    objective.expand(x)
    hessian, v = objective.hessian(), rng.normal(size=len(x))
    assert objective.hessian_product(v) == pytest.approx(hessian @ v, abs=1e-8)
    slope = (gradient(x + 1e-6 * v) - gradient(x - 1e-6 * v)) / 2e-6
    assert hessian @ v == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_the_sum_of_losses_is_minimal_also_in_the_scales():
    _, pairs, y, more = sources()
    model = MixedUtility(0.2, tol=1e-10).fit(pairs, y, more=more)
    read = [_read(model, one) for one in ({"X": pairs, "y": y}, *more)]
    parts = [source.part(source.table.values) for source in read]

    def total(x):
        scales = np.exp([0.0, *x[-2:]])
        objective = _MixedObjective(parts, np.array([1, 0.3, 2]), scales, 0.2)
        return objective.value(x[:-2]) + 0.5 * x[-2:] @ x[-2:]

    start = np.concatenate([model.coef_, np.zeros(1), np.log(model.scale_[1:])])
    best = minimize(total, start + 0.1, tol=1e-10)
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    assert np.log(model.scale_[1:]) == pytest.approx(best.x[-2:], abs=1e-3)
    given = MixedUtility(0.2, scales=False).fit(pairs, y, more=more)
    assert given.scale_.tolist() == [1, 1, 1]
    assert given.objective_ > model.objective_
    assert given.loss_ @ [1, 0.3, 2] + 0.2 * given.coef_ @ given.coef_ == pytest.approx(
        given.objective_
    )


def test_learned_scales_are_those_of_the_sources():
    X, pairs, y, _, _, orders = drawn(3, steep=3.0, ties=False)
    many = {"X": orders}
    model = MixedUtility(0.01).fit(pairs, y, more=[many])
    assert 1.8 < model.scale_[1] < 4.5
    alone = MixedUtility(0.01).fit(pairs, y)
    better = [kendall_tau_b(X @ W, one.utility(X)) for one in (alone, model)]
    assert better[1] > better[0]


def test_landmarks_serve_all_sources(tmp_path):
    X, pairs, y, more = sources()
    landmarks = NystroemMap(n_landmarks=40, tol=1e-12, random_state=0)
    model = MixedUtility(0.5, transformer=landmarks).fit(pairs, y, more=more)
    phi = landmarks.fit(np.vstack([pairs.unique_items()[0].values, X, X])).transform(X)
    again = [dict(more[0], X=phi), dict(more[1], X=Orders(phi, _lists(more[1]["X"])))]
    linear = MixedUtility(0.5).fit(Pairs(phi, pairs.left, pairs.right), y, more=again)
    assert model.utility(X) == pytest.approx(linear.utility(phi), abs=1e-4)
    save(model, tmp_path / "mixed.tiebreak")
    copy = load(tmp_path / "mixed.tiebreak")
    assert np.array_equal(copy.utility(X), model.utility(X))


def _lists(orders):
    return [part.tolist() for part in np.split(orders.flat, orders.indptr[1:-1])]


def test_bad_sources_are_named():
    X, pairs, y, grades, *_ = drawn()
    fit = MixedUtility().fit
    with pytest.raises(ValueError, match="A source in more has 'grades'; expected 'X'"):
        fit(pairs, y, more=[{"grades": grades}])
    with pytest.raises(ValueError, match="weight of a source must be a positive num"):
        fit(pairs, y, more=[{"X": X, "y": grades, "weight": 0}])
    with pytest.raises(ValueError, match="features"):
        fit(pairs, y, more=[{"X": X[:, :2], "y": grades}])
    with pytest.raises(TypeError, match="needs features of the items"):
        fit(Pairs(None, ["a"], ["b"]), [1])
