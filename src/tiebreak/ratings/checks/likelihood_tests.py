# SPDX-License-Identifier: BSD-3-Clause
"""Likelihood-ratio tests of equal items and of an effect of the side.

Both are in Davidson's model, its tie parameter fitted. With few games per item the
statistic is not chi-square; its distribution is then that of data drawn from equal
items.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import lsqr
from scipy.special import chdtrc

from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.losses import (
    LINKS,
    ComparisonObjective,
    CovariateDesign,
    Design,
    Expansion,
    ItemDesign,
    JointDesign,
)
from tiebreak.ratings.checks.pairs_report import (
    MOST_ITEMS,
    MOST_ITEMS_FOR_POSITION,
    StrengthFacts,
)
from tiebreak.solvers import conjugate_gradients, minimize_newton

Floats = NDArray[np.float64]

# The log-likelihood comes within 0.05 of its supremum, where no maximum exists.
_NEARLY_NONE = 1e-4
# Without a penalty strengths of few games turn chance into an effect.
_LIGHT = 0.05
_ENOUGH_GAMES = 24  # of a quarter of the items, for the chi-square distribution
_MOST_RESAMPLES, _FEWEST_RESAMPLES = 399, 20
_COUNTED = 199  # resamples; of fewer only the mean is used
_BUDGET = 1e8  # resamples times items³: about a second
_TOL, _MAX_STEPS = 1e-5, 100
_IDENTIFIED = 1e-6


def check_strengths(
    cells: ComparisonCounts, n_items: int, n_components: int
) -> StrengthFacts | None:
    """Test whether any item is better, covariates having an effect in both models.

    None if nothing is decided, or items are too many.
    """
    if n_items > MOST_ITEMS or not cells.counts[:, ::2].any():
        return None
    # Fractional weights are not games that could be drawn.
    few = (cells.counts == np.floor(cells.counts)).all()
    few &= np.quantile(sum(cells.tally(n_items)), 0.25) < _ENOUGH_GAMES
    resamples = int(min(_MOST_RESAMPLES, _BUDGET / n_items**3)) if few else 0
    strengths = ItemDesign(cells.left, cells.right, n_items)
    covariates = CovariateDesign(cells.covariates)
    equal, equal_at = _fit(covariates, cells.counts, 0)
    free, free_at = _fit(JointDesign(strengths, covariates), cells.counts, n_items)
    statistic = max(0.0, 2 * (_loss(equal, equal_at) - _loss(free, free_at)))
    degrees = n_items - n_components
    if cells.covariates.shape[1] and not is_identified(cells, n_items):
        degrees -= 1
    if degrees == 0:
        return None
    p_value = float(chdtrc(degrees, statistic))
    if few:
        if resamples < _FEWEST_RESAMPLES:
            return StrengthFacts(statistic, degrees, None, 0)
        beta, t = equal.split(equal_at)
        probability = equal.link.probabilities(equal.design.apply(beta), t)
        drawn = _draw_statistics(cells, n_items, probability, resamples)
        if resamples >= _COUNTED:
            # Equal ones count, with rounding: small data give few different values.
            above = np.count_nonzero(drawn >= statistic - 0.01)
            p_value = (1 + above) / (1 + resamples)
        else:
            p_value = float(chdtrc(degrees, statistic * degrees / drawn.mean()))
    return StrengthFacts(statistic, degrees, p_value, resamples)


def check_position(
    cells: ComparisonCounts, n_items: int
) -> tuple[float, float, float] | None:
    """Test the effect of the only covariate, strengths being lightly penalized.

    Estimate, standard error and p-value; None if strengths can explain all of it.
    """
    if n_items > MOST_ITEMS_FOR_POSITION or not is_identified(cells, n_items):
        return None
    strengths = ItemDesign(cells.left, cells.right, n_items)
    usual = _usual_advantage(cells, n_items)
    both = np.column_stack([cells.covariates, usual])
    equal = JointDesign(strengths, CovariateDesign(both[:, 1:]))
    joint = JointDesign(strengths, CovariateDesign(both))
    without, without_at = _fit(equal, cells.counts, n_items, _LIGHT)
    start = np.insert(without_at, n_items, 0.0)
    objective, at = _fit(joint, cells.counts, n_items, _LIGHT, start)
    gain = without.value(without_at) - objective.value(at)
    objective.expand(at)
    unit = np.zeros(len(at))
    unit[n_items] = 1.0
    diagonal = objective.hessian_diagonal()
    column, _ = conjugate_gradients(
        objective.hessian_product,
        unit,
        lambda r: r / diagonal,
        lambda r, z: float(r @ z) < 1e-8 / diagonal[n_items],
        10 * len(at),
    )
    p_value = float(chdtrc(1, max(0.0, 2 * gain)))
    return float(at[n_items]), float(np.sqrt(column[n_items])), p_value


def _usual_advantage(cells: ComparisonCounts, n_items: int) -> Floats:
    """Give left's mean advantage over all its games minus right's, shape (m,).

    With this column the penalty shrinks strengths towards what listing says (Mundlak,
    1978); without it, what it takes from favorites listed first would go to the effect.
    """
    games = cells.counts.sum(axis=1)
    favor = games * cells.covariates[:, 0]
    total = np.bincount(cells.left, favor, n_items)
    total = total - np.bincount(cells.right, favor, n_items)
    mean = total / np.maximum(sum(cells.tally(n_items)), np.finfo(float).tiny)
    return np.asarray(mean[cells.left] - mean[cells.right], np.float64)


def is_identified(cells: ComparisonCounts, n_items: int) -> bool:
    """Say whether strengths cannot take the place of the only covariate."""
    z = cells.covariates[:, 0]
    low, high = np.minimum(cells.left, cells.right), np.maximum(cells.left, cells.right)
    pair = low * n_items + high
    order = np.argsort(pair)
    turned = np.where(cells.left < cells.right, z, -z)[order]
    if ((np.diff(pair[order]) == 0) & (np.diff(turned) != 0)).any():
        return True  # the same two items met with different advantages
    design = ItemDesign(low, high, n_items).matrix()
    left_over = lsqr(design[order], turned, 0, 1e-9, 1e-9)[3]
    return bool(left_over > _IDENTIFIED * np.linalg.norm(z))


def _fit(
    design: Design,
    counts: Floats,
    n_items: int,
    alpha: float = _NEARLY_NONE,
    start: Floats | None = None,
) -> tuple[ComparisonObjective, Floats]:
    """Fit with a penalty on strengths, and next to none on an effect."""
    link = LINKS["davidson"]
    share = float(counts[:, 1].sum() / counts.sum())
    t = link.start(share)
    penalty = np.full(design.n_coef, _NEARLY_NONE)
    penalty[:n_items] = alpha
    tie = None if share else t
    objective = ComparisonObjective(design, link, counts, penalty, tie=tie)
    if start is None:
        start = np.zeros(objective.n_variables)
        if share:
            start[-1] = t
    if design.n_coef:  # else there is only t, which is best where it starts
        start = minimize_newton(objective, start, tol=_TOL).x
    return objective, start


def _loss(objective: ComparisonObjective, x: Floats) -> float:
    beta, t = objective.split(x)
    return objective.link.value(objective.design.apply(beta), t, objective.counts)


def _draw_statistics(
    cells: ComparisonCounts, n_items: int, probability: Floats, n_resamples: int
) -> Floats:
    """Statistics of draws from equal items, always the same ones."""
    rng = np.random.default_rng(0)
    games = cells.counts.sum(axis=1).astype(np.int64)
    draws = rng.multinomial(games, probability, (n_resamples, len(games)))
    counts = draws.astype(np.float64)
    equal = _smallest_losses(_sparse_design(cells, 0), counts)
    return 2 * (equal - _smallest_losses(_sparse_design(cells, n_items), counts))


def _sparse_design(cells: ComparisonCounts, n_items: int) -> sp.csr_array:
    """Design of strengths (of none, if n_items is 0) and covariates."""
    m, q = cells.covariates.shape
    columns = np.tile(np.arange(n_items, n_items + q), (m, 1))
    values = -cells.covariates
    if n_items:
        ones = np.ones(m)
        columns = np.column_stack([cells.left, cells.right, columns])
        values = np.column_stack([-ones, ones, values])
    return _by_rows(columns, values, n_items + q)


def _products(design: sp.csr_array) -> sp.csr_array:
    """Products of any two columns of a design (m, n), shape (m, n²)."""
    m, n = design.shape
    columns, values = design.indices.reshape(m, -1), design.data.reshape(m, -1)
    places = columns[:, :, None].astype(np.int64) * n + columns[:, None, :]
    products = values[:, :, None] * values[:, None, :]
    return _by_rows(places.reshape(m, -1), products.reshape(m, -1), n * n)


def _by_rows(columns: NDArray[np.int64], values: Floats, width: int) -> sp.csr_array:
    m, k = columns.shape
    entries = values.ravel(), columns.ravel(), k * np.arange(m + 1)
    return sp.csr_array(entries, shape=(m, width))


def _smallest_losses(design: sp.csr_array, counts: Floats) -> Floats:
    """Nearly unpenalized minima for counts (B, m, 3), by Newton's method."""
    # All draws in one, as every check of a small file waits for them.
    link, q, products = LINKS["davidson"], design.shape[1], _products(design)
    out, active = np.empty(len(counts)), np.arange(len(counts))
    share = (counts[:, :, 1].sum(axis=1) + 0.5) / (counts.sum(axis=(1, 2)) + 1.0)
    x = np.zeros((len(counts), q + 1))
    x[:, q] = [link.start(one) for one in share]

    def expand(x: Floats) -> tuple[Floats, list[Expansion]]:
        """Losses of the active draws, and derivatives in d and t."""
        d = np.ascontiguousarray((design @ x[:, :q].T).T)
        local = [
            link.expand(*one) for one in zip(d, x[:, q], counts[active], strict=True)
        ]
        penalty = _NEARLY_NONE * (x**2).sum(axis=1)
        return np.array([one.value for one in local]) + penalty, local

    loss, local = expand(x)
    for _ in range(_MAX_STEPS):
        if len(active) == 0:
            break
        _, in_d, in_t, curvature, cross, in_tt = (
            np.array(column) for column in zip(*local, strict=True)
        )
        gradient = 2 * _NEARLY_NONE * x
        gradient[:, :q] += (design.T @ in_d.T).T
        gradient[:, q] += in_t
        hessian = np.zeros((len(x), q + 1, q + 1))
        hessian[:, :q, :q] = (products.T @ curvature.T).T.reshape(len(x), q, q)
        hessian[:, :q, q] = hessian[:, q, :q] = (design.T @ cross.T).T
        hessian[:, q, q] = in_tt
        hessian += 2 * _NEARLY_NONE * np.eye(q + 1)
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        fall = -(gradient * step).sum(axis=1)
        go = fall > 1e-3
        out[active] = loss - _NEARLY_NONE * (x**2).sum(axis=1)
        active, x, step, loss, fall = active[go], x[go], step[go], loss[go], fall[go]
        length = np.ones(len(active))
        for _ in range(30):
            trial = x + length[:, None] * step
            new_loss, local = expand(trial)
            short = new_loss <= loss - 1e-4 * length * fall
            if short.all():
                break
            length = np.where(short, length, 0.5 * length)
        x, loss = trial, new_loss
    return out
