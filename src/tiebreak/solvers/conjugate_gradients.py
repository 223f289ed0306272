# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients for symmetric positive definite systems known by products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def conjugate_gradients(
    product: Callable[[Vector], Vector],
    right_side: Vector,
    precondition: Callable[[Vector], Vector],
    is_solved: Callable[[Vector, Vector], bool],
    max_iter: int,
) -> tuple[Vector, int]:
    """Solve H x = b from x = 0.

    Every iterate is a descent direction of the quadratic ½ xᵀHx - bᵀx, so stopping
    early is safe. It stops too where H shows no curvature, which only rounding does.

    Parameters
    ----------
    product : callable
        v to H v.
    right_side : ndarray of shape (q,)
        b.
    precondition : callable
        r to M⁻¹ r, with M near H.
    is_solved : callable
        Is told the residual r = b - H x and M⁻¹ r.
    max_iter : int
        Largest number of products.

    Returns
    -------
    x : ndarray of shape (q,)
    n_products : int
    """
    x = np.zeros_like(right_side)
    residual = right_side.copy()
    direction = z = precondition(residual)
    size = float(residual @ z)
    n_products = 0
    while n_products < max_iter and size > 0.0 and not is_solved(residual, z):
        image = product(direction)
        n_products += 1
        bend = float(direction @ image)
        if bend <= 0.0:
            break
        x += (size / bend) * direction
        residual -= (size / bend) * image
        z = precondition(residual)
        size, before = float(residual @ z), size
        direction = z + (size / before) * direction
    return x, n_products
