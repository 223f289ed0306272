# SPDX-License-Identifier: BSD-3-Clause
"""Advantage, context and standard errors of `LogisticCompare`."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import tiebreak
from tests.oracles import outcome_models as oracle
from tiebreak import BradleyTerry, LogisticCompare, Pairs
from tiebreak.models.logistic import logistic_compare as module

every_link = pytest.mark.parametrize("link", oracle.LINKS)
EFFECTS = np.array([0.5, 0.4, -0.3])  # of the advantage and two columns of context


def draw(rng, items, n=300, t=0.4, link="davidson"):
    """Comparisons from the model itself, with an advantage and a context."""
    left = rng.integers(0, len(items), n)
    right = (left + rng.integers(1, len(items), n)) % len(items)
    advantage, context = rng.integers(-1, 2, n).astype(float), rng.normal(size=(n, 2))
    d = (items[right] - items[left]) @ np.linspace(1.0, -1.0, items.shape[1])
    d = d - np.column_stack([advantage, context]) @ EFFECTS
    share = oracle.probabilities(link, d, t).cumsum(axis=1)[:, :2]
    y = (rng.random(n)[:, None] > share).sum(axis=1) - 1
    given = {"advantage": advantage, "context": context}
    return Pairs(items, left, right), y, given


def test_one_hot_features_and_names_are_bradley_terry(rng):
    pairs, y, given = draw(rng, np.eye(6), link="davidson")
    named = Pairs(None, pairs.left, pairs.right)
    weight = rng.integers(0, 3, len(y))
    strengths = BradleyTerry("davidson", alpha=0.2)
    strengths.fit(named, y, **given, sample_weight=weight)
    for data in (pairs, named):
        model = LogisticCompare(0.2, link="davidson")
        model.fit(data, y, **given, sample_weight=weight)
        asked = np.eye(6) if data is pairs else np.arange(6)
        expected = strengths.utility(np.arange(6))
        assert_allclose(model.utility(asked), expected, atol=1e-6)
        assert model.advantage_ == pytest.approx(strengths.advantage_, abs=1e-6)
        assert_allclose(model.context_coef_, strengths.context_coef_, atol=1e-6)
        one, other = model.coefficients()[6:], strengths.coefficients()
        assert_array_equal(one["coefficient"], other["coefficient"])
        assert_allclose(one["standard_error"], other["standard_error"], atol=1e-6)
        # ln ν, and the logarithm of the odds p₀ : (1 - p₀) = ν / 2
        apart = [0.0] * (len(one) - 1) + [math.log(2.0)]
        assert_allclose(
            one["estimate"], other["estimate"].to_numpy() + apart, atol=1e-6
        )
        apart = strengths.distribution().differences(named.left, named.right).errors()
        assert_allclose(model.standard_errors(data), apart, atol=1e-6)
        for method in ("difference", "decision_function", "predict_proba", "predict"):
            for covariates in ({}, given):
                found = getattr(model, method)(data, **covariates)
                expected = getattr(strengths, method)(named, **covariates)
                assert_allclose(found, expected, atol=1e-6)
        assert model.score(data, y, **given) == strengths.score(named, y, **given)
        assert model.score(data, y) == strengths.score(named, y)
    # Items without features are measured from their mean, as strengths are.
    assert_allclose(model.standard_errors(), strengths.standard_errors(), atol=1e-6)
    assert_allclose(
        model.standard_errors(strengths.items_[::-1]),
        strengths.standard_errors()[::-1],
        atol=1e-6,
    )


@every_link
def test_the_optimum_and_its_errors_are_those_of_the_textbook(rng, link):
    pairs, y, given = draw(rng, rng.normal(size=(9, 3)), n=120, link=link)
    model = LogisticCompare(0.3, link=link).fit(pairs, y, **given)
    rows = np.asarray(pairs)[:, 1] - np.asarray(pairs)[:, 0]
    rows = np.column_stack([rows, -given["advantage"], -given["context"]])
    counts, penalty = oracle.count_rows(y), np.array([0.3] * 3 + [0.0] * 3)
    x, value = oracle.solve(link, rows, counts, penalty)
    table = model.coefficients()
    assert_allclose(table["estimate"], x, atol=1e-5)
    assert model.objective_ == pytest.approx(value, rel=1e-10)
    # H⁻¹ + H⁻¹ (M - I)₊ H⁻¹, from one row after another.
    at = table["estimate"].to_numpy()
    H = oracle.second_derivative(oracle.objective(link, rows, counts, penalty), at)
    meat, none = np.zeros_like(H), np.zeros(6)
    for k in range(len(y)):
        one = oracle.objective(link, rows[k : k + 1], counts[k : k + 1], none)
        score = oracle.derivative(one, at)
        meat += np.outer(score, score)
    surplus = meat - H + np.diag(np.append(2 * penalty, 0.0))
    factor = np.linalg.cholesky(H)
    values, vectors = np.linalg.eigh(
        np.linalg.solve(factor, np.linalg.solve(factor, surplus).T)
    )
    root = np.linalg.solve(factor.T, vectors * np.sqrt(np.maximum(values, 0)))
    covariance = np.linalg.inv(H) + root @ root.T
    errors = np.sqrt(np.diag(covariance))
    assert_allclose(table["standard_error"], errors, rtol=1e-4)
    assert_allclose(model.standard_errors(), errors[:3], rtol=1e-4)
    whole = np.sqrt(np.einsum("ij,jk,ik->i", rows, covariance[:6, :6], rows))
    assert_allclose(model.standard_errors(pairs, **given), whole, rtol=1e-4)
    items = np.sqrt(
        np.einsum("ij,jk,ik->i", rows[:, :3], covariance[:3, :3], rows[:, :3])
    )
    assert_allclose(model.standard_errors(rows[:, :3]), items, rtol=1e-4)
    # Intervals are quantiles over the joint distribution of difference and ties.
    found = model.predict_interval(pairs, **given, level=0.9)[:20]
    draws = rng.multivariate_normal(at, covariance, 40_000)
    gaps, ties = draws[:, :6] @ rows[:20].T, draws[:, [6] * 20]
    ends = np.quantile(oracle.probabilities(link, gaps, ties), (0.05, 0.95), axis=0)
    assert_allclose(found, np.moveaxis(ends, 0, 2), atol=0.01)


def test_deviations_of_named_items_have_errors(rng):
    items = rng.normal(size=(7, 2))
    pairs, y, given = draw(rng, items)
    names = [f"item {i}" for i in range(7)]
    named = Pairs(items, pairs.left, pairs.right, names=names)
    model = LogisticCompare(0.3, identity=0.8).fit(named, y, **given)
    # The same with a feature of each item, scaled so that its penalty is λ.
    scaled = np.hstack([items, np.sqrt(0.3 / 0.8) * np.eye(7)])
    plain = LogisticCompare(0.3).fit(Pairs(scaled, pairs.left, pairs.right), y, **given)
    assert_allclose(
        model.standard_errors(named, **given),
        plain.standard_errors(Pairs(scaled, pairs.left, pairs.right), **given),
        rtol=1e-6,
    )
    assert_allclose(
        model.coefficients()["standard_error"],
        plain.coefficients()["standard_error"].gather([0, 1, 9, 10, 11, 12]),
        rtol=1e-6,
    )
    # A new name has the deviation's prior, and so has every item without names.
    known = Pairs(items[:2], [0], [1], names=names[:2])
    new = Pairs(items[:2], [0], [1], names=["item 0", "new"])
    assert model.standard_errors(new) > model.standard_errors(known)
    both = model.standard_errors(Pairs(items[:1], [0], [0]))
    assert_array_equal(both, 0.0)


def test_names_of_context_and_features(rng):
    items = pd.DataFrame(rng.normal(size=(8, 2)), columns=["price", "size"])
    pairs, y, given = draw(rng, items.to_numpy())
    context = pd.DataFrame(given["context"], columns=["rain", "night"])
    model = LogisticCompare().fit(
        Pairs(items, pairs.left, pairs.right), y, context=context
    )
    assert model.context_names_ == ("rain", "night")
    names = ["price", "size", "rain", "night", "tie"]
    assert model.coefficients()["coefficient"].to_list() == names
    assert not hasattr(model, "advantage_")
    model.fit(pairs, y, context=given["context"][:, 0])
    assert not hasattr(model, "context_names_")
    named = model.coefficients()["coefficient"].to_list()
    assert named == ["feature 0", "feature 1", "context 0", "tie"]


def test_no_ties_have_no_tie_parameter(rng):
    pairs, y, given = draw(rng, rng.normal(size=(8, 2)))
    rows = np.flatnonzero(y)
    model = LogisticCompare().fit(
        pairs[rows], y[rows], advantage=given["advantage"][rows]
    )
    assert model.coefficients()["coefficient"].to_list()[2:] == ["advantage"]


def test_a_file_keeps_the_errors_of_few_coefficients(rng, tmp_path, monkeypatch):
    pairs, y, given = draw(rng, rng.normal(size=(8, 2)))
    model = LogisticCompare().fit(pairs, y, **given)
    again = tiebreak.load(tiebreak.save(model, tmp_path / "few"))
    assert_array_equal(
        model.standard_errors(pairs, **given), again.standard_errors(pairs, **given)
    )
    assert_array_equal(
        model.predict_proba(pairs, **given), again.predict_proba(pairs, **given)
    )
    monkeypatch.setattr(module, "LARGEST_SAVED", 4)
    forgetful = tiebreak.load(tiebreak.save(model, tmp_path / "many"))
    with pytest.raises(ValueError, match="no standard errors"):
        forgetful.standard_errors(pairs)
    assert_array_equal(forgetful.predict(pairs), model.predict(pairs))


def test_covariates_that_cannot_be_learned_are_refused(rng):
    pairs, y, given = draw(rng, rng.normal(size=(8, 2)))
    with pytest.raises(ValueError, match=r"Column\(s\) \[0\].*are 0 in every row"):
        LogisticCompare().fit(pairs, y, advantage=0.0)
    endless = np.where(y == 0, 0.0, -y)
    with pytest.raises(ValueError, match=r"ever larger effect of advantage.*Leave it"):
        LogisticCompare(kernel="rbf").fit(pairs, y, advantage=endless)
    with pytest.raises(ValueError, match="context has 3 rows but there are 300"):
        LogisticCompare().fit(pairs, y, context=given["context"][:3])
    model = LogisticCompare().fit(pairs, y, context=given["context"])
    with pytest.raises(ValueError, match="fitted without advantage"):
        model.predict_proba(pairs, advantage=1)
    with pytest.raises(ValueError, match=r"fitted with 2, and context has 1 column"):
        model.difference(pairs, context=given["advantage"])
