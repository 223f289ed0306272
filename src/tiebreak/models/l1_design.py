# SPDX-License-Identifier: BSD-3-Clause
"""Features in the units of the solver: centered if dense, and at most 1 in size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.messages import warn_user

__all__ = ["ScaledDesign"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Features whose sizes differ by more than this are worth a warning.
_WILD = 1e3


@dataclass(frozen=True, eq=False)
class ScaledDesign:
    """Features as the solver sees them.

    Attributes
    ----------
    A : ndarray or csr_array of shape (n, k)
        Features that are not constant, at most 1 in size.
    size : ndarray of shape (k,)
        What they were divided by.
    columns : ndarray of int of shape (k,)
        Where they stand among all features.
    n_features : int
        Number of all features.
    """

    A: Any
    size: Floats
    columns: Codes
    n_features: int

    @classmethod
    def read(cls, values: Any, names: Any = None) -> ScaledDesign:
        """Scale features; warn if their sizes are far apart.

        Parameters
        ----------
        values : ndarray or csr_array of shape (n, p)
            Features.
        names : sequence of str, optional
            Their names.

        Returns
        -------
        ScaledDesign
        """
        p = values.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(values):
                spread = _sparse_spread(values)
                size = np.asarray(abs(values).max(axis=0).toarray()).ravel()
                size[spread == 0.0] = 0.0
                columns = np.flatnonzero(size)
                scale = sp.diags_array(1.0 / size[columns])
                A = sp.csr_array(values[:, columns] @ scale)
            else:
                A = values - values.mean(axis=0)
                A[:, np.ptp(values, axis=0) == 0.0] = 0.0
                spread = size = np.abs(A).max(axis=0, initial=0.0)
                columns = np.flatnonzero(size)
                A = np.ascontiguousarray(A[:, columns] / size[columns])
        if not np.isfinite(size).all():
            raise ValueError(
                "L1Ranker: features are too large for floating-point numbers; the "
                f"largest is {np.abs(values).max():.3g}. Scale them first, for example "
                "with StandardScaler."
            )
        _warn_of_scale(spread, names)
        return cls(A, size[columns], columns, p)

    def unscale(self, weights: Floats) -> Floats:
        """Give the weights of all features for those of scaled ones."""
        coef = np.zeros(self.n_features)
        coef[self.columns] = weights / self.size
        return coef


def _sparse_spread(values: Any) -> Floats:
    """Give max - min of the columns of a CSR array, its zeros included."""
    high = np.asarray(values.max(axis=0).toarray()).ravel()
    return high - np.asarray(values.min(axis=0).toarray()).ravel()


def _warn_of_scale(spread: Floats, names: Any) -> None:
    varying = np.flatnonzero(spread)
    if len(varying) < 2:
        return
    small, large = varying[spread[varying].argmin()], varying[spread[varying].argmax()]
    if spread[large] <= _WILD * spread[small]:
        return

    def name(j: int) -> str:
        return f"feature {j}" if names is None else repr(names[j])

    warn_user(
        "Features have very different scales: values of "
        f"{name(small)} spread over {spread[small]:.2g}, of {name(large)} over "
        f"{spread[large]:.2g}. The 1-norm is not scale free: it drops features with "
        "small values first. Scale them, for example with StandardScaler."
    )
