# SPDX-License-Identifier: BSD-3-Clause
"""Every compiled pass against its naive twin, written with whole arrays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tiebreak.solvers.dual_qp import interior_point as passes

N_ROWS = 7
SIZES = (5, 9, 1)


@pytest.fixture
def case(rng):
    """Draw a point, and what else the passes take; rows are shared inside blocks."""
    m = sum(SIZES)
    block = np.repeat(np.arange(len(SIZES)), SIZES)
    point = rng.uniform(0.1, 2.0, size=(5, m))
    point[0] = rng.normal(size=m)
    return {
        "point": point,
        "block": block,
        "row": rng.integers(0, N_ROWS, m),
        "starts": np.searchsorted(block, np.arange(len(SIZES) + 1)),
        "y": rng.normal(size=m),
        "values": rng.normal(size=(len(SIZES), N_ROWS)),
        "levels": rng.normal(size=len(SIZES)),
        "first": rng.normal(size=m),
        "step": rng.normal(size=m),
        "gradient": rng.normal(size=m),
    }


def summed(case, values):
    out = np.zeros((len(SIZES), N_ROWS))
    np.add.at(out, (case["block"], case["row"]), values)
    return out


def multiplier_steps(point, first, step, center):
    """Steps of z and w that follow from the step of s, with the predictor's terms."""
    _, p, t, z, w = point
    first_z = -z - z / p * first
    first_w = -w + w / t * first
    dz = (center - first * first_z) / p - z - z / p * step
    dw = (center + first * first_w) / t - w + w / t * step
    return dz, dw


def test_gradient(case):
    _, p, t, z, w = case["point"]
    out = np.empty_like(case["y"])
    total, residual = passes.barrier_gradient(
        case["point"],
        case["y"],
        case["values"],
        case["row"],
        case["starts"],
        case["levels"],
        out,
    )
    seen = case["values"][case["block"], case["row"]]
    expected = case["y"] - seen - case["levels"][case["block"]]
    assert_allclose(out, expected)
    assert_allclose(total, p @ z + t @ w)
    assert_allclose(residual, np.abs(expected - w + z).max())


def test_weights(case):
    _, p, t, z, w = case["point"]
    inverse, weights = np.empty(len(p)), np.full((len(SIZES), N_ROWS), 9.0)
    passes.barrier_weights(case["point"], case["row"], case["starts"], inverse, weights)
    assert_allclose(inverse, 1 / (z / p + w / t))
    assert_allclose(weights, summed(case, inverse))


def test_sums(case):
    out = np.full((len(SIZES), N_ROWS), 9.0)
    inverse = case["point"][1]
    passes.collect_weighted(inverse, case["gradient"], case["row"], case["starts"], out)
    assert_allclose(out, summed(case, inverse * case["gradient"]))


def test_step(case):
    inverse, out = case["point"][1], np.empty(sum(SIZES))
    passes.newton_step(
        inverse,
        case["gradient"],
        case["values"],
        case["row"],
        case["starts"],
        case["levels"],
        out,
    )
    seen = case["values"][case["block"], case["row"]] + case["levels"][case["block"]]
    assert_allclose(out, inverse * (case["gradient"] - seen))


def test_corrector(case):
    _, p, t, z, w = case["point"]
    out = np.empty(len(p))
    passes.corrected_gradient(case["point"], case["first"], 0.3, case["gradient"], out)
    dz = -z - z / p * case["first"]
    dw = -w + w / t * case["first"]
    up = (0.3 - case["first"] * dz) / p
    down = (0.3 + case["first"] * dw) / t
    assert_allclose(out, case["gradient"] + up - down)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_lengths(case, scale):
    _, p, t, z, w = case["point"]
    first, step, terms = scale * case["first"], scale * case["step"], np.full(3, 9.0)
    longest = passes.step_lengths(case["point"], first, step, 0.3, terms)
    dz, dw = multiplier_steps(case["point"], first, step, 0.3)
    values = np.concatenate([p, t, z, w])
    changes = np.concatenate([step, -step, dz, dw])
    falling = changes < 0
    expected = min(1.0, (-values[falling] / changes[falling]).min(initial=1.0))
    assert_allclose(longest, expected)
    assert_allclose(terms, [step @ (z - w), p @ dz + t @ dw, step @ (dz - dw)])
    # With these terms complementarity is known for every length of the step.
    a = 0.4 * longest
    ahead = (p + a * step) @ (z + a * dz) + (t - a * step) @ (w + a * dw)
    assert_allclose(ahead, p @ z + t @ w + a * (terms[0] + terms[1]) + a * a * terms[2])


def test_advance(case):
    before, point = case["point"], case["point"].copy()
    passes.advance(point, case["first"], case["step"], 0.3, 0.1)
    dz, dw = multiplier_steps(before, case["first"], case["step"], 0.3)
    ds = case["step"]
    assert_allclose(point, before + 0.1 * np.stack([ds, ds, -ds, dz, dw]))


def test_a_predictor_is_a_corrector_without_a_past(case):
    _, p, t, z, w = case["point"]
    nothing, right = np.zeros(len(p)), np.empty(len(p))
    passes.corrected_gradient(case["point"], nothing, 0.0, case["gradient"], right)
    assert_array_equal(right, case["gradient"])
    dz, dw = multiplier_steps(case["point"], nothing, case["step"], 0.0)
    # Straight at complementarity zero: p z + Δ(p z) = 0 to first order.
    assert_allclose(p * z + p * dz + z * case["step"], 0, atol=1e-12)
    assert_allclose(t * w + t * dw - w * case["step"], 0, atol=1e-12)
