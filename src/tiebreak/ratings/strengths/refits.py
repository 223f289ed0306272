# SPDX-License-Identifier: BSD-3-Clause
"""Tests by draws from a fitted model, where games are too few for chi-square.

With a statistic T of the results, and T₁, …, T_B those of B tables that are drawn from
the smaller model as fitted (always the same ones), p = (1 + #{b: T_b ≥ T}) / (1 + B).
All tables, drawn or not, are fitted alike: by maximum likelihood in Davidson's model,
all at once.
"""

import numpy as np
import scipy.sparse as sp

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.comparison_graph import ComparisonCounts
from tiebreak.losses import LINKS, Expansion

# The log-likelihood comes within 0.05 of its supremum, where no maximum exists.
NEARLY_NONE = 1e-4
_ENOUGH_GAMES = 24  # of a quarter of the items, for the chi-square distribution
DRAWS = 199
MOST_DRAWN = 170  # items; then draws take less than a second
_MAX_STEPS = 100


def has_few_games(cells: ComparisonCounts, n_items: int) -> bool:
    """Whether chi-square does not hold, and games can be drawn."""
    few = np.quantile(sum(cells.tally(n_items)), 0.25) < _ENOUGH_GAMES
    return bool(few) and is_whole(cells.counts)


def is_whole(counts: Floats) -> bool:
    """Whether these are counts of games, and not sums of fractional weights."""
    return bool((counts == np.floor(counts)).all())


def ratio_p_value(
    small: sp.csr_array, large: sp.csr_array, counts: Floats, probability: Floats
) -> float:
    """P-value of the likelihood ratio of two designs, drawn from the smaller."""
    tables = _draw_tables(counts, probability)
    gain = fit_draws(small, tables)[0] - fit_draws(large, tables)[0]
    return _share_above(2.0 * gain)


def pearson_p_value(design: sp.csr_array, counts: Floats, probability: Floats) -> float:
    """P-value of Pearson's statistic of a design, drawn from its model."""
    tables = _draw_tables(counts, probability)
    x = fit_draws(design, tables)[1]
    d, t = (design @ x[:, :-1].T).T, np.repeat(x[:, -1], len(counts))
    share = LINKS["davidson"].probabilities(d.ravel(), t).reshape(tables.shape)
    expected = share * tables.sum(axis=2, keepdims=True)
    return _share_above(((tables - expected) ** 2 / expected).sum(axis=(1, 2)))


def _draw_tables(counts: Floats, probability: Floats) -> Floats:
    """The counts (m, 3), then draws of as many games; (1 + B, m, 3)."""
    games = counts.sum(axis=1).astype(np.int64)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(games, probability, (DRAWS, len(games)))
    return np.concatenate([counts[None], draws])


def _share_above(statistic: Floats) -> float:
    """Share that is as large as the first, with rounding, itself included."""
    # Small data give few different values.
    return float(np.mean(statistic >= statistic[0] - 0.01))


def sparse_design(cells: ComparisonCounts, n_items: int) -> sp.csr_array:
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


def _by_rows(columns: Codes, values: Floats, width: int) -> sp.csr_array:
    m, k = columns.shape
    entries = values.ravel(), columns.ravel(), k * np.arange(m + 1)
    return sp.csr_array(entries, shape=(m, width))


def fit_draws(design: sp.csr_array, counts: Floats) -> tuple[Floats, Floats]:
    """Nearly unpenalized minima (B,) for counts (B, m, 3), and where (B, n + 1)."""
    # All draws in one, as every check of a small file waits for them.
    link, q, products = LINKS["davidson"], design.shape[1], _products(design)
    out, active = np.empty(len(counts)), np.arange(len(counts))
    found = np.empty((len(counts), q + 1))
    share = (counts[:, :, 1].sum(axis=1) + 0.5) / (counts.sum(axis=(1, 2)) + 1.0)
    x = np.zeros((len(counts), q + 1))
    x[:, q] = [link.start(one) for one in share]

    def expand(x: Floats) -> tuple[Floats, list[Expansion]]:
        """Losses of the active draws, and derivatives in d and t."""
        d = np.ascontiguousarray((design @ x[:, :q].T).T)
        local = [
            link.expand(*one) for one in zip(d, x[:, q], counts[active], strict=True)
        ]
        penalty = NEARLY_NONE * (x**2).sum(axis=1)
        return np.array([one.value for one in local]) + penalty, local

    loss, local = expand(x)
    for _ in range(_MAX_STEPS):
        if len(active) == 0:
            break
        _, in_d, in_t, curvature, cross, in_tt = (
            np.array(column) for column in zip(*local, strict=True)
        )
        gradient = 2 * NEARLY_NONE * x
        gradient[:, :q] += (design.T @ in_d.T).T
        gradient[:, q] += in_t
        hessian = np.zeros((len(x), q + 1, q + 1))
        hessian[:, :q, :q] = (products.T @ curvature.T).T.reshape(len(x), q, q)
        hessian[:, :q, q] = hessian[:, q, :q] = (design.T @ cross.T).T
        hessian[:, q, q] = in_tt
        hessian += 2 * NEARLY_NONE * np.eye(q + 1)
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        fall = -(gradient * step).sum(axis=1)
        go = fall > 1e-3
        out[active] = loss - NEARLY_NONE * (x**2).sum(axis=1)
        found[active] = x
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
    return out, found
