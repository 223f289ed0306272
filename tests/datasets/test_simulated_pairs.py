# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons: their distribution, their margin, what is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.stats import ks_2samp

from tests.oracles.norms_simulation import simulate, squared_norm
from tiebreak.datasets import LinearUtility, SquaredNorm, make_norms, make_separable

NORMS = (1, 2, np.inf)


def sides(data):
    return np.moveaxis(np.asarray(data.pairs), 1, 0)


@given(
    n_pairs=st.integers(1, 60),
    norm=st.sampled_from(NORMS),
    tie_share=st.floats(0, 1),
    noise=st.sampled_from([0.0, 0.25, 2.0]),
    n_features=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_counts_are_exact(n_pairs, norm, tie_share, noise, n_features, seed):
    data = make_norms(
        n_pairs,
        norm=norm,
        tie_share=tie_share,
        noise=noise,
        n_features=n_features,
        random_state=seed,
    )
    assert data.pairs.shape == (n_pairs, 2, n_features)
    assert data.pairs.n_items == 2 * n_pairs
    assert np.array_equal(data.pairs.touched(), np.arange(2 * n_pairs))
    assert data.y.shape == (n_pairs,)
    assert data.y.dtype == np.int8
    assert set(data.y.tolist()) <= {-1, 0, 1}
    assert int(np.sum(data.y == 0)) == round(tie_share * n_pairs)
    left, _ = sides(data)
    assert np.all(np.abs(left) <= 2)


@pytest.mark.parametrize("norm", NORMS)
def test_without_noise_the_labels_follow_the_utility(norm):
    data = make_norms(300, norm=norm, noise=0, n_features=3, random_state=5)
    for (x, z), y in zip(np.asarray(data.pairs), data.y, strict=True):
        difference = squared_norm(z, norm) - squared_norm(x, norm)
        expected = 0 if abs(difference) <= 1 else np.sign(difference)
        assert y == expected


@pytest.mark.parametrize("norm", NORMS)
def test_utility_is_the_squared_norm(norm):
    X = np.random.default_rng(0).normal(size=(50, 3))
    utility = SquaredNorm(norm, 3)
    assert utility(X) == pytest.approx([squared_norm(x, norm) for x in X])
    assert utility(X) == pytest.approx(np.linalg.norm(X, norm, axis=1) ** 2)


def misleading(rows, y, utility):
    """Share of pairs whose label the noise has turned."""
    gain = utility(rows[:, 2:4]) - utility(rows[:, :2])
    return np.mean(np.where(np.abs(gain) <= 1, 0, np.sign(gain)) != y)


@pytest.mark.parametrize("norm", NORMS)
def test_distribution_equals_one_pair_at_a_time(norm):
    """Both classes, feature by feature and in the difference, by Kolmogorov-Smirnov."""
    n = 4000
    data = make_norms(2 * n, norm=norm, random_state=1)
    ties, others = simulate(norm, 0.25, n, seed=2)
    rows = np.column_stack([*sides(data), data.y])
    for ours, naive in ((rows[data.y == 0], ties), (rows[data.y != 0], others)):
        naive = np.array(naive)
        columns = [(ours[:, j], naive[:, j]) for j in range(5)]
        steps = [(r[:, 2] - r[:, 0]) for r in (ours, naive)]
        gains = [
            data.utility(r[:, 2:4]) - data.utility(r[:, :2]) for r in (ours, naive)
        ]
        for a, b in [*columns, steps, gains]:
            assert ks_2samp(a, b).pvalue > 1e-3
        turned = [misleading(r, r[:, 4], data.utility) for r in (ours, naive)]
        # Shares of about 7 %; the standard error of their difference is 0.6 %.
        assert turned[0] == pytest.approx(turned[1], abs=0.02)
        assert turned[1] > 0.03


def test_the_comparison_would_see_a_variance_taken_for_a_deviation():
    """The tolerance above is not so wide that a noise of 1/2 would pass."""
    data = make_norms(8000, noise=0.5, random_state=1)
    rows = np.column_stack(sides(data))
    ties, others = (np.array(rows) for rows in simulate(2, 0.25, 4000, seed=2))
    for ours, naive in (((data.y == 0), ties), ((data.y != 0), others)):
        half = misleading(rows[ours], data.y[ours], data.utility)
        quarter = misleading(naive, naive[:, 4], data.utility)
        assert half > quarter + 0.02


def test_offset_is_how_far_opponents_are():
    spread = [
        np.subtract(
            *sides(make_norms(4000, tie_share=0.5, offset=h, random_state=0))
        ).std()
        for h in (0.25, 0.5, 1.0)
    ]
    assert spread == sorted(spread)
    assert spread[2] > 1.5 * spread[1] > 1.5 * spread[0]


def test_rows_are_shuffled():
    y = make_norms(400, random_state=0).y
    first_half_ties = int(np.sum(y[:200] == 0))
    # Hypergeometric with mean 100 and standard deviation 5; unshuffled 200 or 0.
    assert 70 < first_half_ties < 130


def test_only_the_informative_coordinates_decide():
    data = make_norms(500, norm=1, n_features=5, informative=2, noise=0, random_state=3)
    left, right = sides(data)
    difference = SquaredNorm(1, 2)(right[:, :2]) - SquaredNorm(1, 2)(left[:, :2])
    expected = np.where(np.abs(difference) <= 1, 0, np.sign(difference))
    assert np.array_equal(data.y, expected)
    assert np.array_equal(data.utility(left), SquaredNorm(1, 2)(left[:, :2]))
    # The others move as well, with the same offsets.
    assert np.std(right[:, 4] - left[:, 4]) == pytest.approx(0.5, rel=0.15)
    assert np.std(left[:, 4]) == pytest.approx(4 / np.sqrt(12), rel=0.15)


def test_seeds():
    def content(random_state):
        data = make_norms(30, random_state=random_state)
        return np.asarray(data.pairs).tolist(), data.y.tolist()

    assert content(7) == content(7)
    assert content(7) == content(np.random.default_rng(7))
    assert content(7) != content(8)
    generator = np.random.default_rng(7)
    assert content(generator) != content(generator)


def test_result_survives_pickling():
    data = make_norms(5, random_state=0)
    again = pickle.loads(pickle.dumps(data))
    assert np.array_equal(
        again.utility(again.pairs.values), data.utility(data.pairs.values)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_pairs": 0}, "n_pairs must be at least 1, got 0"),
        ({"norm": 3}, "norm must be 1, 2 or numpy.inf, got 3"),
        ({"norm": "1"}, "norm must be 1, 2 or numpy.inf, got '1'"),
        ({"tie_share": 1.5}, "tie_share must be a number from 0 to 1, got 1.5"),
        ({"tie_share": float("nan")}, "tie_share must be"),
        ({"noise": -1}, "standard deviation .* got -1"),
        ({"offset": 0}, "offsets of opponents .* got 0"),
        ({"noise": float("inf")}, "standard deviation .* got inf"),
        ({"n_features": 0}, "n_features must be at least 1"),
        ({"informative": 3}, "informative must be at most n_features=2, got 3"),
        ({"informative": 0}, "informative must be at least 1"),
        ({"noise": 1e9}, "of 5 ties .* too rare .* less noise"),
    ],
)
def test_impossible_norms(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_norms(**{"n_pairs": 10, "random_state": 0} | arguments)


@pytest.mark.parametrize("n_pairs", [10.0, True, "10", None])
def test_counts_must_be_integers(n_pairs):
    with pytest.raises(TypeError, match="n_pairs must be an integer"):
        make_norms(n_pairs)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[[1.0, 2.0]]]])
def test_utility_refuses_what_is_no_table_of_items(X):
    with pytest.raises(ValueError, match="at least 2 feature"):
        SquaredNorm(2, 2)(X)


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
def test_impossible_margins(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_separable(**{"random_state": 0} | arguments)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[1.0, 2.0, 3.0]]])
def test_utility_refuses_another_number_of_features(X):
    with pytest.raises(ValueError, match="exactly 2 feature"):
        LinearUtility(np.ones(2))(X)
