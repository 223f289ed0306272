# SPDX-License-Identifier: BSD-3-Clause
"""Separable comparisons: separable by the given margin, and scaled as asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from tiebreak.datasets import LinearUtility, make_separable


def differences(data):
    left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    return right - left


def constraints(data):
    """Rows a, b of all constraints a.w <= 1 - m (ties) and b.w >= 1 + m (others)."""
    D = differences(data)
    ties = D[data.y == 0]
    others = D[data.y != 0] * data.y[data.y != 0, None]
    return np.vstack([ties, -ties]), others


def largest_margin(data):
    """Margin of the max-margin linear program."""
    ties, others = constraints(data)
    p = ties.shape[1]
    A = np.vstack(
        [
            np.column_stack([ties, np.ones(len(ties))]),
            np.column_stack([-others, np.ones(len(others))]),
        ]
    )
    b = np.concatenate([np.ones(len(ties)), -np.ones(len(others))])
    bounds = [(None, None)] * p + [(0, None)]
    result = linprog(np.append(np.zeros(p), -1.0), A_ub=A, b_ub=b, bounds=bounds)
    assert result.status == 0
    return result.x[-1]


def quadratic_margin(data, scale):
    """Margin -1/beta of the hard-margin quadratic program, by a general solver.

    Solved for v = scale * u, which leaves well-conditioned constraints.
    """
    ties, others = constraints(data)
    scale = np.asarray(scale, dtype=float)
    A = np.vstack([-ties / scale, others / scale])
    sign = np.concatenate([-np.ones(len(ties)), np.ones(len(others))])
    A = np.column_stack([A, sign])
    start = np.append(data.w * scale, -1.0) / data.margin
    result = minimize(
        lambda v: np.sum((v[:-1] / scale) ** 2),
        start,
        jac=lambda v: np.append(2 * v[:-1] / scale**2, 0.0),
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert result.success
    assert np.min(A @ result.x - 1) > -1e-8
    return -1 / result.x[-1]


@given(
    n_pairs=st.integers(1, 50),
    n_features=st.integers(1, 5),
    margin=st.floats(0.01, 0.95),
    tie_share=st.floats(0, 1),
    exponent=st.integers(-6, 6),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_pairs_keep_the_margin(n_pairs, n_features, margin, tie_share, exponent, seed):
    scale = 10.0 ** (exponent * np.arange(n_features) / n_features)
    data = make_separable(
        n_pairs,
        n_features=n_features,
        margin=margin,
        scale=scale,
        tie_share=tie_share,
        random_state=seed,
    )
    gain = differences(data) @ data.w
    ties = data.y == 0
    assert data.pairs.shape == (n_pairs, 2, n_features)
    assert int(ties.sum()) == round(tie_share * n_pairs)
    # The items are stored rounded, so the difference moves in the last digits.
    assert np.all(np.abs(gain[ties]) <= 1 - margin + 1e-12)
    assert np.all(np.abs(gain[~ties]) >= 1 + margin - 1e-12)
    assert np.array_equal(data.y[~ties], np.sign(gain[~ties]))


def test_true_weights_and_utility_agree():
    data = make_separable(10, n_features=3, scale=(1, 2, 3), random_state=0)
    X = data.pairs.values
    assert np.array_equal(data.utility(X), X @ data.w)
    assert np.linalg.norm(data.w * (1, 2, 3)) == pytest.approx(1.5)


def test_scale_multiplies_the_features_and_nothing_else():
    plain = make_separable(30, random_state=4)
    scaled = make_separable(30, scale=(0.1, 50), random_state=4)
    assert np.array_equal(plain.y, scaled.y)
    assert np.allclose(
        np.asarray(scaled.pairs), np.asarray(plain.pairs) * (0.1, 50), rtol=1e-14
    )
    assert np.allclose(scaled.w * (0.1, 50), plain.w, rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.05, 0.4])
def test_linear_program_reaches_the_margin(seed, margin):
    data = make_separable(60, n_features=3, margin=margin, random_state=seed)
    best = largest_margin(data)
    assert margin - 1e-9 <= best < 1


def test_with_many_pairs_the_margin_is_nearly_the_largest():
    data = make_separable(3000, margin=0.3, random_state=0)
    assert largest_margin(data) == pytest.approx(0.3, abs=0.01)


def test_unequal_scales_part_the_quadratic_from_the_linear_program():
    """The linear program does not see the scale; the quadratic one loses by it."""
    loss = {(1, 1): [], (1, 100): []}
    for seed in range(12):
        best = {}
        for scale, losses in loss.items():
            data = make_separable(20, margin=0.5, scale=scale, random_state=seed)
            best[scale] = largest_margin(data)
            losses.append(best[scale] - quadratic_margin(data, scale))
        assert best[1, 100] == pytest.approx(best[1, 1], abs=1e-7)
    for losses in loss.values():
        assert min(losses) > -1e-7
    plain, scaled = (np.array(losses) for losses in loss.values())
    assert np.sum(scaled > 1e-3) >= 4
    assert np.sum(scaled > 1e-3) > np.sum(plain > 1e-3)
    assert scaled.mean() > 2 * plain.mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"margin": 0}, "margin must be strictly between 0 and 1, got 0"),
        ({"margin": 1}, "margin must be strictly between 0 and 1, got 1"),
        ({"margin": float("nan")}, "margin must be strictly"),
        ({"scale": (1,)}, "each of the 2 features, got shape"),
        ({"scale": (1, 0)}, "positive and finite, got 0.0 for feature 1"),
        ({"scale": (1, np.inf)}, "positive and finite, got inf for feature 1"),
        ({"n_pairs": 0}, "n_pairs must be at least 1"),
        ({"tie_share": -0.1}, "tie_share must be"),
        ({"margin": 1 - 1e-9}, "ties .* too rare .* smaller margin"),
    ],
)
def test_impossible_requests(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_separable(**{"random_state": 0} | arguments)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[1.0, 2.0, 3.0]]])
def test_utility_refuses_another_number_of_features(X):
    with pytest.raises(ValueError, match="exactly 2 feature"):
        LinearUtility(np.ones(2))(X)
