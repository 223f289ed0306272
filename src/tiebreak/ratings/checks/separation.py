# SPDX-License-Identifier: BSD-3-Clause
r"""Whether effects of covariates, such as an advantage, have finite estimates.

The likelihood has no maximum if coefficients can grow along a direction
(δθ, δβ, δt) that no comparison contradicts. With δd = δθ_right - δθ_left - zᵀδβ, a win
of right asks for δd ≥ 2 δt, a win of left for -δd ≥ 2 δt, and a tie for \|δd\| ≤ 2 δt,
δt ≥ 0; without ties δt = 0. Directions along which no probability changes count too:
then any value of β fits as well. Linear programs on the counts decide exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.solvers.linear_program import LinearProgram

Floats = NDArray[np.float64]

_ROUNDING = 1e-6


class EndlessEffect(NamedTuple):
    """A covariate whose effect has no finite estimate."""

    column: int  # of the covariates
    sign: int  # towards which infinity it grows: +1, -1; 0: any value fits


def covariate_separation(
    counts: ComparisonCounts, n_items: int, *, penalized: bool = False
) -> tuple[EndlessEffect, ...]:
    """List the covariates without a finite effect; strengths are free, or penalized.

    A penalty keeps strengths still: then only directions of β and t are looked for.
    """
    if _is_contradicted(counts, n_items, penalized):
        return ()
    rows, q = _constraints(counts, 0 if penalized else n_items)
    free = rows.shape[1] - q - 1
    size = np.r_[np.full(free, np.inf), np.ones(q), np.inf]
    smallest = np.r_[-size[:-1], 0.0]
    if not counts.counts[:, 1].any():
        size[-1] = 0.0  # without ties there is no tie parameter
    cost = np.zeros(len(size))
    program = LinearProgram(cost, rows, 0.0, col_lower=smallest, col_upper=size)
    found = []
    for column in range(q):
        grows = []
        for sign in (1, -1):
            program.change_costs([-sign], [free + column])
            # A cone: the largest value is 0, or what the bounds of 1 allow.
            grows.append(program.solve().objective < -_ROUNDING)
        program.change_costs([0.0], [free + column])
        if any(grows):
            found.append(EndlessEffect(column, int(grows[0]) - int(grows[1])))
    return tuple(found)


def _is_contradicted(counts: ComparisonCounts, n_items: int, penalized: bool) -> bool:
    """Say, at a glance, whether a single covariate has a finite effect; False: maybe.

    Wins of both sides in a cell leave δd = 0: with strengths still, or in two cells of
    the same items, that leaves δβ = 0.
    """
    if counts.covariates.shape[1] != 1:
        return counts.covariates.shape[1] == 0
    both = (counts.counts[:, 0] > 0) & (counts.counts[:, 2] > 0)
    if penalized:
        return bool((both & (counts.covariates[:, 0] != 0)).any())
    pair = counts.left[both] * n_items + counts.right[both]
    return len(np.unique(pair)) < len(pair)


def _constraints(counts: ComparisonCounts, n_items: int) -> tuple[sp.csr_array, int]:
    """Give the matrix of what outcomes ask of (δθ, δβ, δt), and the columns of β."""
    m, q = counts.covariates.shape
    scale = np.abs(counts.covariates).max(axis=0, initial=0.0)
    scaled = counts.covariates / np.where(scale > 0, scale, 1.0)
    cell, ones = np.arange(m), np.ones(m)
    parts = [sp.csr_array(-scaled)]
    if n_items:
        places = np.tile(cell, 2), np.concatenate([counts.right, counts.left])
        signs = np.concatenate([ones, -ones])
        parts.insert(0, sp.csr_array((signs, places), shape=(m, n_items)))
    d = sp.csr_array(sp.hstack(parts, format="csr"))
    left, tie, right = (counts.counts > 0).T
    blocks = []
    for happened, side, twice in (
        (right, 1.0, -2.0),
        (left, -1.0, -2.0),
        (tie, 1.0, 2.0),
        (tie, -1.0, 2.0),
    ):
        some = np.flatnonzero(happened)
        of_tie = sp.csr_array(np.full((len(some), 1), twice))
        blocks.append(sp.hstack([side * d[some], of_tie], format="csr"))
    return sp.csr_array(sp.vstack(blocks, format="csr")), q


def describe_covariate_separation(
    found: Sequence[EndlessEffect], names: Sequence[str]
) -> list[str]:
    """Say what was found, one sentence for each covariate."""
    sentences = []
    for column, sign in found:
        if sign:
            won, end = ("won", "grows") if sign > 0 else ("lost", "falls")
            text = (
                f"No comparison contradicts an ever larger effect of {names[column]}: "
                f"the side that it favors {won} wherever strengths leave it open, so "
                f"its effect {end} without end."
            )
        else:
            text = (
                f"The effect of {names[column]} cannot be told from strengths: any "
                "value fits as well."
            )
        sentences.append(text)
    return sentences
