# SPDX-License-Identifier: BSD-3-Clause
"""A dictionary of kernel functions: one column for every center.

Column j holds k(center j, row i) for all rows i. As many columns as fit stay in memory;
the others are computed again in every pass, in blocks.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiebreak.data.arrays import Floats
from tiebreak.data.threads import chunks, in_threads, n_threads
from tiebreak.kernels.functions import Evaluator, KernelFunction, Table

# Turns a block of columns, given as rows, into one number per column.
Measure = Callable[[Floats], Floats]

# Bytes of the columns that all threads work on at a time. Larger blocks are no faster.
_WORKING = 16e6
# Columns of a product with a vector, which needs no memory of its own.
_PRODUCT = 4096
# Arrays as large as a block that exist while one is computed and measured.
_COPIES = 4


class MatrixDictionary:
    """Columns that are given as an array."""

    def __init__(self, columns: Floats) -> None:
        self._kept: Floats | None = columns
        self.n_columns, self.n_rows = columns.shape
        self.n_kept, self._size = self.n_columns, _block_size(_WORKING, self.n_rows)

    def columns(self, index: NDArray[np.intp] | slice) -> Floats:
        """Give some columns, one in each row."""
        assert self._kept is not None
        return self._kept[index]

    def products(self, q: Floats) -> Floats:
        """Inner products of all columns with one or several vectors."""
        return self._apply(lambda block: block @ q, _PRODUCT)

    def measure(self, function: Measure) -> Floats:
        """Apply a function to all columns, a block at a time, in threads."""
        return self._apply(function, self._size)

    def _apply(self, function: Measure, size: int) -> Floats:
        return np.concatenate(self._apply_to_kept(function, size))

    def _apply_to_kept(self, function: Measure, size: int) -> list[Floats]:
        """Apply a function to the kept columns, in blocks of `size`."""
        kept = self._kept
        assert kept is not None
        parts = chunks(self.n_kept, size, self.n_rows) if self.n_kept else []
        return in_threads(lambda part: function(kept[part]), parts)


class KernelDictionary(MatrixDictionary):
    """Columns of a kernel at centers."""

    def __init__(
        self,
        function: KernelFunction,
        values: Table,
        centers: Table,
        cache_bytes: float,
    ) -> None:
        self.function, self._values, self._centers = function, values, centers
        self.n_rows, self.n_columns = values.shape[0], centers.shape[0]
        working = min(_WORKING, 0.25 * cache_bytes)
        self._size = _block_size(working, self.n_rows)
        overhead = _COPIES * n_threads() * self._size * 8.0 * self.n_rows
        overhead += self._prepare(0.25 * cache_bytes)
        fits = int(max(0.0, cache_bytes - overhead) // (8 * self.n_rows))
        self.n_kept = min(fits, self.n_columns)
        self._kept = None

    def _prepare(self, allowed: float) -> float:
        """Center the rows for repeated blocks, if memory allows; give its bytes."""
        n, p = self.n_rows, self._values.shape[1]
        needed = 24.0 * (n + self.n_columns) * (p + 2)
        dense = not sp.issparse(self._values) and not sp.issparse(self._centers)
        self._evaluator: Evaluator | None = None
        if not dense or needed > allowed:
            return 0.0
        both = np.vstack([self._values, self._centers])
        self._evaluator = self.function.evaluator(both, np.float64)
        return needed

    def columns(self, index: NDArray[np.intp] | slice) -> Floats:
        """Give some columns, one in each row."""
        number = np.arange(self.n_columns)[index]
        if self._kept is None:
            return self._block(number)
        out = np.empty((len(number), self.n_rows))
        kept = number < self.n_kept
        out[kept] = self._kept[number[kept]]
        if not kept.all():
            out[~kept] = self._block(number[~kept])
        return out

    def _apply(self, function: Measure, size: int) -> Floats:
        if self._kept is None:
            return self._measure_first(function)
        others = self._parts(self.n_kept)
        rest = in_threads(lambda part: function(self._block(part)), others)
        return np.concatenate([*self._apply_to_kept(function, size), *rest])

    def _measure_first(self, function: Measure) -> Floats:
        """Compute every column, and keep as many as fit."""
        kept = np.empty((self.n_kept, self.n_rows))

        def visit(part: slice) -> Floats:
            block = self._block(part)
            room = kept[part]  # empty behind the last column that fits
            room[:] = block[: len(room)]
            return function(block)

        values = np.concatenate(in_threads(visit, self._parts(0)))
        self._kept = kept
        return values

    def _parts(self, first: int) -> list[slice]:
        """Cut the columns from `first` on into blocks."""
        starts = range(first, self.n_columns, self._size)
        return [slice(a, min(a + self._size, self.n_columns)) for a in starts]

    def _block(self, columns: NDArray[np.intp] | slice) -> Floats:
        if self._evaluator is None:
            return self.function.block(self._centers[columns], self._values)
        n = self.n_rows
        if isinstance(columns, slice):
            columns = slice(columns.start + n, columns.stop + n)
        else:
            columns = columns + n
        return self._evaluator(columns, slice(0, n), None)


def _block_size(working: float, n_rows: int) -> int:
    """Count the columns of a block, so that those of all threads fit."""
    return max(1, int(working / (_COPIES * n_threads() * 8 * n_rows)))
