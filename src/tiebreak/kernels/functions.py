# SPDX-License-Identifier: BSD-3-Clause
"""Kernel functions.

A kernel is described by ``kernel``, ``gamma``, ``degree`` and ``coef0`` exactly as in
scikit-learn:

* ``"linear"``: ``x·z``
* ``"poly"``: ``(gamma x·z + coef0) ** degree``
* ``"rbf"``: ``exp(-gamma ‖x - z‖²)``
* a callable ``kernel(X, Z)`` with values of shape ``(len(X), len(Z))``
* ``"precomputed"``: the item table holds the kernel values; see
  :class:`tiebreak.kernels.rows.GramKernel`.

The exponential of a block is vectorized by the compiler, faster than ``np.exp``:
``exp(v) = 2^k · exp(r)`` with k the rounded ``v / ln 2``, so ``|r| ≤ ½ ln 2``; the
Taylor series of exp(r) reaches the last bit after 8 (single) or 14 (double) terms.
Values of v below -87 (single) and -700 (double) give the exponential of these bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from tiebreak.data.jit import njit
from tiebreak.data.parameters import COUNT, NUMBER, POSITIVE, Values, check_parameters

# What the parameters `kernel` and `gamma` of models may be.
Kernel: TypeAlias = (
    Literal["linear", "poly", "rbf", "precomputed"] | Callable[..., np.ndarray]
)
Gamma: TypeAlias = float | Literal["scale", "auto"]

# Long enough to amortize the loop, short enough for the first-level cache.
_CHUNK = 1024


def exp_in_place(block: np.ndarray) -> np.ndarray:
    """Replace every entry of a C-contiguous block by its exponential."""
    flat = block.reshape(-1)
    if block.dtype == np.float32:
        exp_single(flat)
    else:
        exp_double(flat)
    return block


# Added to a number this small, these round it to a whole one in the lowest bits; the
# four-fold sums below wait less for each other than Horner's scheme does.
_ROUND_SINGLE, _ROUND_DOUBLE = np.float32(12582912.0), 6755399441055744.0


@njit(cache=True, nogil=True)
def exp_single(x):  # type: ignore[no-untyped-def]
    """Replace a vector of float32 by its exponentials."""
    series = np.empty(_CHUNK, dtype=np.float32)
    shifted = np.empty(_CHUNK, dtype=np.float32)
    bits = shifted.view(np.int32)
    for start in range(0, len(x), _CHUNK):
        part = x[start : start + _CHUNK]
        for i in range(len(part)):
            v = part[i] if part[i] > np.float32(-87.0) else np.float32(-87.0)
            shifted[i] = v * np.float32(1.44269504) + _ROUND_SINGLE
            k = shifted[i] - _ROUND_SINGLE
            r = v - k * np.float32(0.693359375) - k * np.float32(-2.12194440e-4)
            square = r * r
            a = np.float32(1.0) + r
            b = np.float32(0.5) + r * np.float32(1 / 6)
            c = np.float32(1 / 24) + r * np.float32(1 / 120)
            d = np.float32(1 / 720) + r * np.float32(1 / 5040)
            series[i] = a + square * (b + square * (c + square * d))
        for i in range(len(part)):
            bits[i] = (bits[i] + np.int32(127)) << np.int32(23)
        for i in range(len(part)):
            part[i] = series[i] * shifted[i]


@njit(cache=True, nogil=True)
def exp_double(x):  # type: ignore[no-untyped-def]
    """Replace a vector of float64 by its exponentials."""
    series = np.empty(_CHUNK, dtype=np.float64)
    shifted = np.empty(_CHUNK, dtype=np.float64)
    bits = shifted.view(np.int64)
    for start in range(0, len(x), _CHUNK):
        part = x[start : start + _CHUNK]
        for i in range(len(part)):
            v = part[i] if part[i] > -700.0 else -700.0
            shifted[i] = v * 1.4426950408889634 + _ROUND_DOUBLE
            k = shifted[i] - _ROUND_DOUBLE
            r = v - k * 0.693145751953125 - k * 1.4286068203094172e-6
            square = r * r
            fourth = square * square
            a = (1.0 + r) + square * (0.5 + r * (1 / 6))
            b = (1 / 24 + r * (1 / 120)) + square * (1 / 720 + r * (1 / 5040))
            c = 1 / 3628800 + r * (1 / 39916800)
            c = (1 / 40320 + r * (1 / 362880)) + square * c
            d = 1 / 479001600 + r * (1 / 6227020800)
            series[i] = a + fourth * (b + fourth * (c + fourth * d))
        for i in range(len(part)):
            bits[i] = (bits[i] + 1023) << 52
        for i in range(len(part)):
            part[i] = series[i] * shifted[i]


# What `make_kernel` checks where they have a meaning.
_NAMES = ("linear", "poly", "rbf", "precomputed")
KERNEL_PARAMETERS = {
    "kernel": Values("a callable kernel(X, Z)", others=_NAMES),
    "gamma": POSITIVE | "scale" | "auto",
    "degree": COUNT,
    "coef0": NUMBER,
}

# A dense array or a CSR array; SciPy has no types to say it with.
Table: TypeAlias = Any
Rows: TypeAlias = np.ndarray | slice
Evaluator: TypeAlias = Callable[..., np.ndarray]

# Above this value of gamma·‖x‖² (x centered) the exponent of the RBF kernel, computed
# in single precision from an inner product, would lose more than about 1e-5.
_SINGLE_PRECISION_LIMIT = 64.0


@dataclass(frozen=True)
class KernelFunction:
    """A kernel with all its parameters resolved to numbers."""

    name: str | Callable[..., np.ndarray]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def block(self, A: Table, B: Table) -> np.ndarray:
        """Kernel values between rows of ``A`` and rows of ``B``, in float64."""
        if not isinstance(self.name, str):
            return self._call(A, B)
        if self.name == "rbf" and not sp.issparse(A) and not sp.issparse(B):
            # Far from the origin, distances would be small differences of large norms.
            center = B.mean(axis=0)
            A, B = A - center, B - center
        inner = A @ B.T
        if sp.issparse(inner):
            inner = inner.toarray()
        inner = np.asarray(inner)
        if self.name == "linear":
            return inner
        inner *= self.gamma
        if self.name == "poly":
            inner += self.coef0
            return inner**self.degree
        inner *= 2.0
        inner -= (self.gamma * squared_norms(A))[:, None]
        inner -= (self.gamma * squared_norms(B))[None, :]
        # Rounding can leave a distance of a hair below zero.
        np.minimum(inner, 0.0, out=inner)
        return exp_in_place(np.ascontiguousarray(inner))

    @property
    def is_definite(self) -> bool:
        """Whether its matrices are always positive semidefinite."""
        return self.name in ("linear", "rbf") or (
            self.name == "poly" and self.coef0 >= 0
        )

    def diagonal(self, A: Table) -> np.ndarray:
        """``k(x, x)`` for every row of ``A``."""
        if not isinstance(self.name, str):
            steps = range(0, A.shape[0], 256)
            return np.concatenate(
                [np.diag(self._call(A[i : i + 256], A[i : i + 256])) for i in steps]
            )
        if self.name == "rbf":
            return np.ones(A.shape[0])
        norms = squared_norms(A)
        if self.name == "linear":
            return norms
        return (self.gamma * norms + self.coef0) ** self.degree

    def evaluator(self, A: Table, dtype: type) -> Evaluator:
        """Prepare fast repeated blocks between rows of one table."""
        if self.name == "rbf" and isinstance(A, np.ndarray):
            centered = A - A.mean(axis=0)
            norms = self.gamma * squared_norms(centered)
            if dtype is np.float64 or norms.max() <= _SINGLE_PRECISION_LIMIT:
                return _augmented_rbf(centered, norms, self.gamma, dtype)

        def block(i: Rows, j: Rows, out: np.ndarray | None = None) -> np.ndarray:
            return self.block(A[i], A[j]).astype(dtype, copy=False)

        return block

    def _call(self, A: Table, B: Table) -> np.ndarray:
        assert callable(self.name)
        block = np.asarray(self.name(A, B), dtype=np.float64)
        expected = (A.shape[0], B.shape[0])
        if block.shape != expected:
            raise ValueError(
                f"the kernel function returned an array of shape {block.shape} for "
                f"two tables; expected {expected}, a value for every pair of rows."
            )
        if not np.isfinite(block).all():
            i, j = np.argwhere(~np.isfinite(block))[0]
            raise ValueError(
                f"the kernel function returned {block[i, j]} for rows {i} and {j} of "
                "its arguments; kernel values must be finite."
            )
        return block


def _augmented_rbf(
    centered: np.ndarray, norms: np.ndarray, gamma: float, dtype: type
) -> Evaluator:
    """Blocks ``exp(u·v)`` with ``u·v = 2γ x·z - γ‖x‖² - γ‖z‖²``."""
    n, p = centered.shape
    left: np.ndarray = np.empty((n, p + 2), dtype=dtype)
    left[:, :p], left[:, p], left[:, p + 1] = centered * (2.0 * gamma), -norms, 1.0
    right: np.ndarray = np.empty((n, p + 2), dtype=dtype)
    right[:, :p], right[:, p], right[:, p + 1] = centered, 1.0, -norms

    def block(i: Rows, j: Rows, out: np.ndarray | None = None) -> np.ndarray:
        return exp_in_place(np.matmul(left[i], right[j].T, out=out))

    return block


def squared_norms(A: Table) -> np.ndarray:
    """Squared length of every row."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def make_kernel(model: Any, items: Table) -> KernelFunction:
    """Resolve the kernel of an estimator, or of a view, against its training items."""
    if callable(model.kernel) or model.kernel == "linear":
        return KernelFunction(model.kernel)
    check_parameters(model, KERNEL_PARAMETERS)
    gamma, p = model.gamma, items.shape[1]
    if gamma == "auto":
        gamma = 1.0 / p
    elif gamma == "scale":
        if sp.issparse(items):
            variance = items.multiply(items).mean() - items.mean() ** 2
        else:
            variance = items.var()
        if variance > 0 or items.max() > items.min():
            with np.errstate(over="ignore", divide="ignore"):
                gamma = 1.0 / (p * variance)
        else:
            gamma = 1.0
        if not np.isfinite(gamma):
            raise ValueError(f"gamma='scale' is {gamma}: scale the features first.")
    degree, coef0 = int(model.degree), float(model.coef0)
    return KernelFunction(model.kernel, float(gamma), degree, coef0)
