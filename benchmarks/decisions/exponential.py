# SPDX-License-Identifier: BSD-3-Clause
"""Is our exponential worth its lines? ``python -m benchmarks.decisions.exponential``.

Compares :func:`tiebreak.kernels.functions.exp_in_place` with ``np.exp(x, out=x)`` on
blocks of the size that kernel rows have. It stays as long as it is clearly faster on
common processors; with 512-bit vectors NumPy has its own fast path.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console

from benchmarks.measure import interleaved
from tiebreak.kernels.functions import exp_in_place


def main() -> None:
    """Print nanoseconds per value for both, and the ratio."""
    rng = np.random.default_rng(0)
    console = Console(highlight=False)
    for dtype in (np.float32, np.float64):
        exponents = -8 * rng.random((64, 10_000)).astype(dtype)
        block = exponents.copy()
        apart = np.abs(exp_in_place(block) / np.exp(exponents) - 1).max()
        times = []
        for _ in range(30):
            copies = [exponents.copy() for _ in range(2)]
            times.append(
                interleaved(
                    lambda copies=copies: exp_in_place(copies[0]),
                    lambda copies=copies: np.exp(copies[1], out=copies[1]),
                    repeat=1,
                )
            )
        ours, peer, ratio = np.median(times, axis=0)
        size = exponents.size / 1e9
        console.print(
            f"{np.dtype(dtype).name}: {ours / size:.2f} ns against "
            f"{peer / size:.2f} ns a value, {ratio:.1f}×; largest relative difference "
            f"{apart:.1e}"
        )


if __name__ == "__main__":
    main()
