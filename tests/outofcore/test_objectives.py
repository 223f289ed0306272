# SPDX-License-Identifier: BSD-3-Clause
"""The sum over partitions is the function of all rows, wherever they are cut."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.outofcore.cases import cut_groups, make_compared, make_graded
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    FeatureDesign,
    GradeSquaredHinge,
    GradeTree,
    LinearObjective,
    ListedSquaredHinge,
)
from tiebreak.outofcore.objectives import (
    GradedPartition,
    LikelihoodPartition,
    ListedPartition,
    SampledLikelihood,
    SampledPairs,
    SummedObjective,
    join_samples,
)
from tiebreak.outofcore.partitions import LocalPartitions

seeds = st.integers(0, 2**32 - 1)


def open_rows(columns, owner, build, keep=True):
    """Cut columns into partitions, by the number of each row's partition."""

    def reader(number):
        rows = np.flatnonzero(owner == number)
        cut = {name: column[rows] for name, column in columns.items()}
        return lambda: {"label": str(number), **cut}

    numbers = range(int(owner.max()) + 1)
    return LocalPartitions([*map(reader, numbers)], [*map(str, numbers)], build, keep)


def graded_parts(data, owner, per_group, keep=True):
    columns = {"X": data.X, "y": data.y, "qid": data.qid, "weight": data.weight}
    build = partial(GradedPartition, per_group=per_group)
    return open_rows(columns, owner, build, keep)


def compared_parts(data, owner, kind, **options):
    names = data.names
    columns = {"left": names[data.left], "right": names[data.right]}
    build = partial(kind, items=data.pairs.items, names=names, **options)
    return open_rows({**columns, "y": data.y, "weight": data.weight}, owner, build)


def assert_same(ours, theirs, rng):
    for _ in range(2):
        x, v = rng.normal(size=(2, ours.n_variables))
        value, gradient = ours.expand(x)
        expected, slope = theirs.expand(x)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(
            ours.hessian_product(v), theirs.hessian_product(v), rtol=1e-10, atol=1e-9
        )


@given(
    seed=seeds, n_parts=st.integers(1, 6), per_group=st.sampled_from(["sum", "mean"])
)
def test_graded_items_cut_anywhere(seed, n_parts, per_group):
    rng = np.random.default_rng(seed)
    data = make_graded(rng)
    owner = cut_groups(rng, data.qid, n_parts)
    parts = graded_parts(data, owner, per_group)
    _, group = np.unique(data.qid, return_inverse=True)
    tree = GradeTree(data.y, group, data.weight, per_group)
    whole = LinearObjective(data.X, GradeSquaredHinge(tree), 0.7)
    assert_same(SummedObjective(parts, np.ones(data.X.shape[1]), 0.7), whole, rng)


@given(seed=seeds, n_parts=st.integers(1, 6), ties=st.sampled_from(["ignore", "both"]))
def test_comparisons_cut_anywhere(seed, n_parts, ties):
    rng = np.random.default_rng(seed)
    data = make_compared(rng)
    parts = compared_parts(
        data, rng.integers(0, n_parts, len(data.y)), ListedPartition, ties=ties
    )
    listed = []
    rows = zip(data.left, data.right, data.y, data.weight, strict=True)
    for left, right, y, w in rows:
        if y:
            ends = (right, left) if y > 0 else (left, right)
            listed.append((*ends, w * (2 if ties == "both" else 1)))
        elif ties == "both":
            listed += [(left, right, w), (right, left, w)]
    better, worse, weight = map(np.array, zip(*listed, strict=True))
    loss = ListedSquaredHinge(better, worse, weight, len(data.items))
    whole = LinearObjective(data.items, loss, 1.3)
    assert_same(SummedObjective(parts, np.ones(data.items.shape[1]), 1.3), whole, rng)


@given(seed=seeds, n_parts=st.integers(1, 6), link=st.sampled_from(sorted(LINKS)))
def test_likelihood_cut_anywhere(seed, n_parts, link):
    rng = np.random.default_rng(seed)
    data = make_compared(rng)
    owner = rng.integers(0, n_parts, len(data.y))
    parts = compared_parts(data, owner, LikelihoodPartition, link=link)
    counts = np.zeros((len(data.y), 3))
    counts[np.arange(len(data.y)), data.y + 1] = data.weight
    p = data.items.shape[1]
    whole = ComparisonObjective(
        FeatureDesign(data.items, data.left, data.right),
        LINKS[link],
        counts,
        np.full(p, 0.3),
    )
    ours = SummedObjective(parts, np.append(np.full(p, 0.6), 0.0))
    x = np.append(rng.normal(size=p), abs(rng.normal()) + 0.1)
    value, gradient = ours.expand(x)
    expected, slope = whole.expand(x)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-9)
    v = rng.normal(size=p + 1)
    np.testing.assert_allclose(
        ours.hessian_product(v), whole.hessian_product(v), rtol=1e-10, atol=1e-9
    )
    np.testing.assert_allclose(ours.hessian(), whole.hessian(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.hessian_diagonal(), whole.hessian_diagonal(), rtol=1e-9, atol=1e-9
    )
    assert ours.value(x) == value


def test_a_part_that_was_built_anew_goes_to_the_point_first(rng):
    data = make_graded(rng)
    products = []
    x, v = rng.normal(size=(2, data.X.shape[1]))
    for keep in (True, False):
        parts = graded_parts(data, np.zeros(len(data.y), int), "sum", keep)
        objective = SummedObjective(parts, np.ones(data.X.shape[1]))
        objective.expand(x)
        products.append(objective.hessian_product(v))
    np.testing.assert_array_equal(*products)


def test_a_sample_of_everything_has_the_hessian_itself(rng):
    graded, compared = make_graded(rng), make_compared(rng)
    parts = graded_parts(graded, cut_groups(rng, graded.qid, 3), "mean")
    sample = join_samples(parts.each(GradedPartition.take, 1.0), "mean")
    x = rng.normal(size=graded.X.shape[1])
    objective = SummedObjective(parts, np.zeros(len(x)))
    objective.expand(x)
    np.testing.assert_allclose(
        objective.hessian(), sample.work(x, method="hessian")[0], atol=1e-9
    )
    owner = rng.integers(0, 3, len(compared.y))
    for kind, whole in (
        (ListedPartition, SampledPairs),
        (LikelihoodPartition, partial(SampledLikelihood, link="davidson")),
    ):
        parts = compared_parts(compared, owner, kind)
        taken = whole(parts.each(kind.take, 1.0))
        objective = SummedObjective(parts, np.zeros(len(x)))
        objective.expand(x)
        np.testing.assert_allclose(
            objective.hessian(), taken.work(x, method="hessian")[0], atol=1e-9
        )


def test_a_preconditioner_of_a_sample_saves_products(rng):
    data = make_graded(rng, n_groups=900)
    data.X[:, 0] *= 30.0
    parts = graded_parts(data, cut_groups(rng, data.qid, 3), "sum")
    sample = join_samples(parts.each(GradedPartition.take, 0.3), "sum")
    total = sum(fact.total for (fact,) in parts.each(lambda part: (part.facts,)))
    x = np.zeros(data.X.shape[1])
    objective = SummedObjective(
        parts, np.ones(len(x)), sample=sample, share=total / sample.tree.total
    )
    _, gradient = objective.expand(x)
    step = objective.preconditioner()(gradient)
    exact = np.linalg.solve(objective.hessian(), gradient)
    assert np.linalg.norm(step - exact) < 0.3 * np.linalg.norm(exact)
