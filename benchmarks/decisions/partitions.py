# SPDX-License-Identifier: BSD-3-Clause
"""What a pass over partitions costs: ``python -m benchmarks.decisions.partitions``.

Times of a value with its gradient and of a product with the Hessian on local worker
processes, for several numbers of workers, rows and features; they are the constants
of the cost model in benchmarks/README.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.scale_cases import start_cluster, time_passes


def main() -> None:
    """Print one line per setting."""
    print("workers     rows  features  files   value+gradient  Hessian product")
    for n_workers in (1, 2, 4):
        with start_cluster(n_workers) as client:
            for n, p, k in (
                (2_000, 20, 8),
                (500_000, 20, 8),
                (500_000, 100, 8),
                (500_000, 20, 64),
                (1_000_000, 20, 8),
            ):
                value, product = measure(n, p, k, client)
                print(
                    f"{n_workers:7d} {n:8d} {p:9d} {k:6d} {1e3 * value:13.1f} ms "
                    f"{1e3 * product:13.1f} ms",
                    flush=True,
                )


def measure(n: int, p: int, k: int, client: Any) -> tuple[float, float]:
    """Median seconds of both kinds of pass."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(k):
            rows = n // k
            frame = pl.DataFrame(
                rng.standard_normal((rows, p)), schema=[f"f{j}" for j in range(p)]
            ).with_columns(
                grade=pl.Series(rng.integers(0, 5, rows)),
                query=pl.Series(np.arange(rows) // 20 + number * rows),
            )
            frame.write_parquet(Path(folder) / f"{number}.parquet")
        return time_passes(folder, client)


if __name__ == "__main__":
    main()
