# SPDX-License-Identifier: BSD-3-Clause
"""All settings of a method at once, for the choice among them.

A person has about forty jokes, so that a fit costs less than what is around it. Here
the kernels of all widths are one array of shape (widths, rows, columns), and a step of
a pursuit is taken for all of them together. The answers are those of the models of the
library, which the tests compare; what is judged in the end is fitted by the library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["chosen_ridge_paths", "co_paths", "pursuit_paths", "ridge_paths"]

Floats = NDArray[np.float64]

# A column whose part beyond the chosen ones is smaller than this is one of them.
_DEPENDENT = 1e-10


def ridge_paths(
    K: Floats, Q: Floats, y: Floats, alphas: Floats, centered: bool
) -> Floats:
    """Utilities of regularized least squares, for all widths and penalties.

    Parameters
    ----------
    K : ndarray of shape (W, n, n)
        Kernels between training items.
    Q : ndarray of shape (W, m, n)
        Kernels between test and training items.
    y : ndarray of shape (n,)
        Scores.
    alphas : ndarray of shape (A,)
        Penalties, added to the eigenvalues.
    centered : bool
        Whether differences are fitted: the same with the kernel centered, for a
        penalty of n times alpha.

    Returns
    -------
    ndarray of shape (W, A, m)
    """
    if centered:
        K = K - K.mean(axis=1, keepdims=True)
        K = K - K.mean(axis=2, keepdims=True)
        y = y - y.mean()
    values, vectors = np.linalg.eigh(K)
    parts = np.einsum("wni,n->wi", vectors, y)
    scaled = parts[:, None, :] / (values[:, None, :] + alphas[:, None])
    return np.matmul(scaled, np.matmul(Q, vectors).transpose(0, 2, 1))


def pursuit_paths(
    K: Floats,
    Q: Floats,
    y: Floats,
    n_steps: int,
    *,
    centered: bool,
    backfit: bool = True,
    prefit: bool = False,
    shrink: float = 1.0,
) -> tuple[Floats, NDArray[np.int64]]:
    """Utilities after every step of a pursuit, and what it chose, for all widths.

    Back-fitting by orthogonal columns: the part of a chosen column that the former ones
    do not have explains its share of the residual once and for all.

    Parameters
    ----------
    K, Q, y
        As in `ridge_paths`.
    n_steps : int
        Number of steps.
    centered : bool
        Whether differences of scores are fitted (ranking pursuit), or scores.
    backfit : bool, default=True
        Whether all coefficients are solved for again after every step.
    prefit : bool, default=False
        Whether a step takes the column that is best after back-fitting, not before.
    shrink : float, default=1.0
        Share of a step that is taken, without back-fitting.

    Returns
    -------
    utilities : ndarray of shape (W, n_steps, m)
        A pursuit that can go no further stays where it is.
    chosen : ndarray of int of shape (W, n_steps)
        The column of every step.
    """
    W, n, m = len(K), K.shape[1], Q.shape[1]
    columns = K - K.mean(axis=1, keepdims=True) if centered else K
    rest = np.repeat((y - y.mean() if centered else y)[None], W, axis=0)
    norms = np.einsum("wij,wij->wj", columns, columns)
    whole = norms
    eligible = norms > 1e-18 * np.einsum("wij,wij->wj", K, K)
    width = np.arange(W)
    basis, image = np.zeros((W, n, n_steps)), np.zeros((W, m, n_steps))
    utility, found = np.zeros((W, m)), np.zeros((W, n_steps, m))
    order = np.zeros((W, n_steps), dtype=np.int64)
    for step in range(n_steps):
        e = np.matmul(rest[:, None, :], columns)[:, 0]
        while True:
            gain = np.where(eligible, e**2 / np.where(eligible, norms, 1.0), -1.0)
            best = gain.argmax(axis=1)
            own, shown = columns[width, :, best], Q[width, :, best].copy()
            for _ in range(2 if backfit else 0):  # once more, for what rounding left
                share = np.matmul(own[:, None, :], basis).transpose(0, 2, 1)
                own = own - np.matmul(basis, share)[:, :, 0]
                shown -= np.matmul(image, share)[:, :, 0]
            size = np.einsum("wi,wi->w", own, own)
            goes_on = eligible[width, best] & (size > _DEPENDENT * whole[width, best])
            # A column that depends on the chosen ones is passed over.
            passed = eligible[width, best] & ~goes_on
            if not passed.any():
                break
            eligible[width[passed], best[passed]] = False
        scale = np.where(goes_on, 1.0 / np.sqrt(np.where(goes_on, size, 1.0)), 0.0)
        basis[:, :, step] = own * scale[:, None]
        image[:, :, step] = shown * scale[:, None]
        part = shrink * np.einsum("wi,wi->w", basis[:, :, step], rest)
        rest = rest - part[:, None] * basis[:, :, step]
        utility = utility + part[:, None] * image[:, :, step]
        found[:, step], order[:, step] = utility, best
        if backfit:
            eligible[width, best] = False
        if prefit:  # of every column, what the chosen ones do not have
            share = np.matmul(basis[:, None, :, step], columns)
            columns = columns - basis[:, :, step, None] * share
            Q = Q - image[:, :, step, None] * share
            left = np.einsum("wij,wij->wj", columns, columns)
            eligible &= left > _DEPENDENT * whole
            norms = np.where(eligible, left, 1.0)
    return found, order


def chosen_ridge_paths(
    K: Floats, Q: Floats, y: Floats, n_steps: int, alphas: Floats
) -> Floats:
    """Utilities of RankRLS on the items that a pursuit with back-fitting chooses.

    Of the function that a few items span, the minimum of Σ ((s_i - s_j) - (f_i - f_j))²
    and a multiple of its squared norm: back-fitting with a penalty.

    Parameters
    ----------
    K, Q, y, alphas
        As in `ridge_paths`, with differences fitted.
    n_steps : int
        Number of chosen items.

    Returns
    -------
    ndarray of shape (W, A, m)
    """
    order = pursuit_paths(K, Q, y, n_steps, centered=True)[1]
    width = np.arange(len(K))[:, None]
    columns = np.take_along_axis(K, order[:, None, :], axis=2)
    own = K[width[:, :, None], order[:, :, None], order[:, None, :]]
    fitted = columns - columns.mean(axis=1, keepdims=True)
    right = np.matmul((y - y.mean())[None, None, :], fitted)[:, 0]
    gram = np.matmul(fitted.transpose(0, 2, 1), fitted)
    system = gram[:, None] + alphas[:, None, None] * own[:, None]
    coef = np.matmul(
        np.linalg.pinv(system, rcond=1e-13, hermitian=True), right[:, None, :, None]
    )[..., 0]
    shown = np.take_along_axis(Q, order[:, None, :], axis=2)
    return np.matmul(coef, shown.transpose(0, 2, 1))


def co_paths(
    views: tuple[Floats, Floats],
    tests: tuple[Floats, Floats],
    y: Floats,
    nu: float,
    n_steps: int,
    *,
    own: bool = False,
) -> Floats:
    """Utilities after every step of the pursuit of two views.

    Parameters
    ----------
    views : two ndarrays of shape (W, n + l, c)
        Kernels of the training items, those with a score first, with the centers of a
        view, of which another view may have more or fewer.
    tests : two ndarrays of shape (W, m, c)
        Kernels of the test items with the centers.
    y : ndarray of shape (n,)
        Scores.
    nu : float
        How much disagreement on the l items without a score costs.
    n_steps : int
        Number of steps.
    own : bool, default=False
        Whether every view has a residual of its own and is drawn to the other, which is
        equation (1) of the paper, or all views have that of their mean, its figure 1.

    Returns
    -------
    ndarray of shape (W, n_steps, m)
        Of the mean of the views.
    """
    n, W, m = len(y), len(views[0]), tests[0].shape[1]
    scored = [_centered(view[:, :n]) for view in views]
    others = [_centered(view[:, n:]) for view in views]
    n_others = others[0].shape[1]
    diagonal, eligible = [], []
    for on_scored, on_others, view in zip(scored, others, views, strict=True):
        norm = n * np.einsum("wij,wij->wj", on_scored, on_scored)
        cost = n_others * np.einsum("wij,wij->wj", on_others, on_others)
        diagonal.append(norm + 2.0 * nu * cost)
        eligible.append(norm > 1e-18 * n * np.einsum("wij,wij->wj", view, view))
    between = -2.0 * nu * n_others * np.matmul(others[0].transpose(0, 2, 1), others[1])
    A, B = diagonal[0][:, :, None], diagonal[1][:, None, :]
    determinant = A * B - between**2
    # Two columns that are the same on the items without a score, and nothing on those
    # with one, have no best coefficients.
    allowed = eligible[0][:, :, None] & eligible[1][:, None, :]
    allowed &= determinant > 1e-12 * A * B
    determinant = np.where(allowed, determinant, 1.0)
    width = np.arange(W)
    rest = [np.repeat((y - y.mean())[None], W, axis=0)] * 2
    apart = np.zeros((W, n_others))  # the first view less the second, where unscored
    utility, found = np.zeros((W, m)), np.zeros((W, n_steps, m))
    for step in range(n_steps):
        e = [
            n * np.matmul(rest[v][:, None, :], scored[v])[:, 0]
            - 2.0 * nu * n_others * sign * np.matmul(apart[:, None, :], others[v])[:, 0]
            for v, sign in ((0, 1.0), (1, -1.0))
        ]
        e0, e1 = e[0][:, :, None], e[1][:, None, :]
        gain = (e0**2 * B - 2.0 * e0 * e1 * between + e1**2 * A) / determinant
        flat = np.where(allowed, gain, 0.0).reshape(W, -1).argmax(axis=1)
        i, j = np.divmod(flat, views[1].shape[2])
        c, d = between[width, i, j], determinant[width, i, j]
        f0, f1 = e[0][width, i], e[1][width, j]
        ok = allowed[width, i, j]
        a0 = np.where(ok, (f0 * diagonal[1][width, j] - f1 * c) / d, 0.0)[:, None]
        a1 = np.where(ok, (f1 * diagonal[0][width, i] - f0 * c) / d, 0.0)[:, None]
        steps = a0 * scored[0][width, :, i], a1 * scored[1][width, :, j]
        if own:
            rest = [rest[v] - steps[v] for v in (0, 1)]
            apart += a0 * others[0][width, :, i] - a1 * others[1][width, :, j]
        else:
            rest = [rest[0] - 0.5 * (steps[0] + steps[1])] * 2
        utility = utility + 0.5 * (
            a0 * tests[0][width, :, i] + a1 * tests[1][width, :, j]
        )
        found[:, step] = utility
    return found


def _centered(columns: Floats) -> Floats:
    return columns - columns.mean(axis=1, keepdims=True)
