# SPDX-License-Identifier: BSD-3-Clause
"""Bad parameters and kernels, and solutions that do not converge."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.models.inputs import (
    ITEMS,
    LEFT,
    RIGHT,
    Y,
    good_pairs,
    refused,
)
from tiebreak import (
    Pairs,
    RankSVM,
    SVMCompare,
    ThresholdCompare,
)


@pytest.mark.parametrize("model", [SVMCompare, RankSVM])
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0}, ["C=0", "positive"]),
        ({"tol": np.nan}, ["tol=nan", "positive"]),
        ({"max_iter": 1.5}, ["max_iter=1.5", "whole"]),
        ({"cache_size": "1"}, ["cache_size='1'", "positive"]),
        ({"gamma": -1}, ["gamma=-1", "positive number", "'scale' or 'auto'"]),
        ({"kernel": "poly", "degree": 1.5}, ["degree=1.5", "whole number"]),
        ({"kernel": "poly", "coef0": np.inf}, ["coef0=inf", "finite"]),
        ({"kernel": "gauss"}, ["kernel='gauss'", "'linear', 'poly', 'rbf'"]),
        ({"kernel": None}, ["kernel=None", "callable"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_parameters(model, parameters, words):
    refused(ValueError, words, model(**parameters).fit, good_pairs(), Y)
    inside = ThresholdCompare(model(**parameters))
    refused(ValueError, words, inside.fit, good_pairs(), Y)


def gram():
    return ITEMS @ ITEMS.T + 1.0


@pytest.mark.parametrize("model", [SVMCompare, RankSVM])
def test_a_precomputed_kernel_that_is_none(model):
    def fit(K):
        return model(kernel="precomputed").fit(Pairs(K, LEFT, RIGHT), Y)

    K = gram()
    K[1, 3] += 0.5
    words = ["symmetric", "K\\[1, 3\\] = ", "K\\[3, 1\\] = "]
    refused(ValueError, words, fit, K)
    words = ["square", "items × items", "\\(5, 2\\)"]
    refused(ValueError, words, fit, ITEMS)
    K = gram()
    K[2, 2] = np.nan
    refused(ValueError, ["finite", "NaN at row 2, column 2"], fit, K)
    good = fit(gram())
    words = ["X has 2 features", "expecting 5"]
    refused(ValueError, words, good.predict, good_pairs())
    refused(ValueError, words, good.utility, ITEMS)


@pytest.mark.parametrize("model", [SVMCompare, RankSVM])
@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda A, B: A @ A.T[:, :2], ["shape \\(5, 2\\)", "expected \\(5, 5\\)"]),
        (lambda A, B: 1.0, ["shape \\(\\)", "expected \\(5, 5\\)", "every pair"]),
        (lambda A, B: (A @ B.T).ravel(), ["shape \\(25,\\)", "expected \\(5, 5\\)"]),
        (lambda A, B: np.sqrt(A @ B.T - 1), ["returned nan for rows 0 and", "finite"]),
        (lambda A, B: 1 / (A @ B.T), ["returned inf for rows", "finite"]),
        (
            lambda A, B: A[:, :1] * B[:, 1],
            ["must be symmetric, but K"],
        ),
    ],
    ids=["narrow", "number", "vector", "nan", "inf", "asymmetric"],
)
def test_a_kernel_function_that_is_none(model, kernel, words):
    def quiet(A, B):
        with np.errstate(all="ignore"):
            return kernel(A, B)

    refused(ValueError, words, model(kernel=quiet).fit, good_pairs(), Y)


@pytest.mark.parametrize(
    "make",
    [
        lambda **kw: SVMCompare(1e3, kernel="linear", **kw),
        lambda **kw: RankSVM(1e3, kernel="linear", **kw),
        lambda **kw: RankSVM(1e3, ties="both", **kw),
    ],
    ids=["SVMCompare", "RankSVM", "RankSVM(both)"],
)
def test_no_convergence_warns_with_the_gap_and_keeps_the_result(make):
    pairs, y = hard()
    with pytest.warns(UserWarning) as caught:
        # No solution in floating point is as accurate as that.
        model = make(max_iter=1, tol=1e-16).fit(pairs, y)
    # The intercept that was reached may call for a warning of its own.
    assert caught[0].category is ConvergenceWarning
    said = str(caught[0].message)
    assert type(model).__name__ in said
    assert f"relative duality gap of {model.gap_:.2g}" in said
    assert f"after {model.n_iter_} iterations" in said
    assert "tol=1e-16" in said
    assert "larger max_iter" in said
    assert not model.converged_
    assert caught[0].filename == __file__
    assert np.isfinite(model.difference(pairs)).all()
    assert np.ptp(model.difference(pairs)) > 0
    better = make().fit(pairs, y)
    assert better.converged_
    assert better.gap_ <= 1e-3
    assert better.objective_ <= model.objective_ * (1 + 1e-3)


def hard(seed=0, n=150):
    """Draw outcomes that depend on the items only a little."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(40, 3))
    left = rng.integers(0, 40, n)
    right = (left + rng.integers(1, 40, n)) % 40
    d = items[right, 0] - items[left, 0] + 2 * rng.normal(size=n)
    return Pairs(items, left, right), np.where(np.abs(d) < 1, 0, np.sign(d)).astype(int)
