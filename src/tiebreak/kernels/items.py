# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between the rows of one item table, evaluated a block at a time.

Two forms share one small interface (``n_items``, ``block``, ``product``, ``paired``):
:class:`FunctionKernel` evaluates a kernel function and stores nothing,
:class:`GramKernel` looks values up in an items × items matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from tiebreak.data.threads import in_threads, scratch
from tiebreak.kernels.functions import KernelFunction, Table

__all__ = ["FunctionKernel", "GramKernel", "ItemKernel", "check_gram"]

_TILE = 256


class ItemKernel(Protocol):
    """What pair rows need from a kernel between N items."""

    n_items: int

    def block(
        self, index: np.ndarray, dtype: type, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Values between ``index`` and all items, shape ``(len(index), N)``.

        The result is the caller's to change; ``out`` may be used for it.
        """

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision, shape ``(N,)``."""

    def paired(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """``k(item i[t], item j[t])`` for every t."""


class GramKernel:
    """Kernel values looked up in a matrix.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        Symmetric matrix of the values between all items.
    """

    def __init__(self, gram: np.ndarray) -> None:
        self.gram = gram
        self.n_items = len(gram)

    def block(
        self, index: np.ndarray, dtype: type, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Values between ``index`` and all items, shape ``(len(index), N)``."""
        return self.gram[index].astype(dtype, copy=False)

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision, shape ``(N,)``."""
        return self.gram @ coef

    def paired(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """``k(item i[t], item j[t])`` for every t."""
        return self.gram[i, j]


class FunctionKernel:
    """Kernel values computed when they are asked for.

    Parameters
    ----------
    function : KernelFunction
        Gives the kernel between any two tables.
    table : ndarray or csr_array of shape (N, p)
        The items.
    """

    def __init__(self, function: KernelFunction, table: Table) -> None:
        self.function = function
        self.table = table
        self.n_items = table.shape[0]
        self._evaluators: dict[type, Callable[..., np.ndarray]] = {}

    def _evaluate(self, dtype: type) -> Callable[..., np.ndarray]:
        if dtype not in self._evaluators:
            self._evaluators[dtype] = self.function.evaluator(self.table, dtype)
        return self._evaluators[dtype]

    def block(
        self, index: np.ndarray, dtype: type, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Values between ``index`` and all items, shape ``(len(index), N)``."""
        return self._evaluate(dtype)(index, slice(None), out)

    def product(self, coef: np.ndarray) -> np.ndarray:
        """``K @ coef`` in double precision, shape ``(N,)``.

        Only columns with a non-zero coefficient are evaluated, and of two mirrored
        tiles only one.
        """
        used = np.flatnonzero(coef)
        order = np.concatenate([used, np.flatnonzero(coef == 0)])
        weight = coef[order]
        evaluate = self._evaluate(np.float64)
        out = np.zeros(self.n_items)

        def add_tile(start: int) -> np.ndarray:
            # Tile columns [start, stop) of the used items against every later row.
            stop = min(start + _TILE, len(used))
            part = np.zeros(self.n_items)
            for first in range(start, self.n_items, _TILE):
                last = min(first + _TILE, self.n_items)
                buffer = scratch("tile", (last - first, stop - start), np.float64)
                tile = evaluate(order[first:last], order[start:stop], buffer)
                part[first:last] += tile @ weight[start:stop]
                if first > start:
                    inner = min(last, len(used))
                    if inner > first:
                        part[start:stop] += weight[first:inner] @ tile[: inner - first]
            return part

        out[order] = sum(in_threads(add_tile, range(0, len(used), _TILE)))
        return out

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return self.function.diagonal(self.table)

    def paired(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """``k(item i[t], item j[t])`` for every t."""
        evaluate = self._evaluate(np.float64)
        same = i == j
        out = np.where(same, self._diagonal[i], 0.0)
        todo = np.flatnonzero(~same)
        for start in range(0, len(todo), 64):
            t = todo[start : start + 64]
            out[t] = np.diag(evaluate(i[t], j[t]))
        return out


def check_gram(gram: np.ndarray) -> np.ndarray:
    """Refuse an items × items matrix that is not square, finite and symmetric.

    Parameters
    ----------
    gram : ndarray of shape (N, N)
        Kernel values between all items.

    Returns
    -------
    ndarray of shape (N, N)
        The same matrix.
    """
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"a precomputed kernel must be square (items × items) for fit, got shape "
            f"{gram.shape}. Pass K[i, j] = k(item i, item j) between all items, also "
            "in Pairs(K, left, right). To search over graded items use tiebreak.tune, "
            "which takes columns with the rows."
        )
    scale = np.abs(gram).max(initial=0.0)
    for start in range(0, len(gram), _TILE):
        rows = slice(start, start + _TILE)
        apart = np.abs(gram[rows] - gram[:, rows].T)
        if apart.max(initial=0.0) > 1e-8 * max(scale, np.finfo(float).tiny):
            i, j = np.unravel_index(apart.argmax(), apart.shape)
            i += start
            raise ValueError(
                f"a precomputed kernel must be symmetric, but K[{i}, {j}] = "
                f"{gram[i, j]:g} and K[{j}, {i}] = {gram[j, i]:g}. "
                "If it is meant to be symmetric use (K + K.T) / 2."
            )
    return gram
