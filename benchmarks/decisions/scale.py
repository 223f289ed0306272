# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a leaderboard of many votes: ``python -m benchmarks.decisions.scale``.

Files of 10⁷ votes on 200 items are counted by pair and outcome, one by one as workers
would, the counts are added, and `BradleyTerry` is fitted to them with its intervals.
Every size runs in a process of its own; beside it stands one table in memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import PeakMemory
from benchmarks.rating_cases import make_votes
from tiebreak import BradleyTerry, Pairs

SIZES = [10**k for k in range(4, 9)]
FILE = 10**7
IN_MEMORY = 10**7  # and no more
COLUMNS = ["a", "b", "y"]


def write(folder: Path) -> None:
    """Write one file, which stands for all of them."""
    pairs, y = make_votes(FILE, 200)
    names = pl.Series(pairs.names.tolist()).cast(pl.Enum(pairs.names.tolist()))
    sides = {"a": names[pairs.left], "b": names[pairs.right]}
    pl.DataFrame({**sides, "y": y}).write_parquet(folder / "votes.parquet")


def count(path: str, n: int) -> pl.DataFrame:
    """Count the first n votes of a file by pair and outcome."""
    votes = pl.scan_parquet(path).head(n).group_by(COLUMNS).len("votes")
    return votes.collect(engine="streaming")


def measure(path: str, n: int, way: str) -> dict[str, float]:
    """Processor seconds of counting and of the fit, and peak memory in MB."""
    make = BradleyTerry()
    make.fit(*make_votes(1000, 20))  # compiled code is loaded
    with PeakMemory() as memory:
        start = time.process_time()
        if way == "counts":
            files = [min(FILE, n - at) for at in range(0, n, FILE)]
            parts = [count(path, rows) for rows in files]
            table = pl.concat(parts).group_by(COLUMNS).agg(pl.col("votes").sum())
            table = table.sort(COLUMNS)
            weight = table["votes"]
        else:
            table, weight = pl.read_parquet(path, n_rows=n), None
        pairs = Pairs(None, table["a"].cast(pl.String), table["b"].cast(pl.String))
        counted = time.process_time()
        make.fit(pairs, table["y"], sample_weight=weight).intervals()
        fitted = time.process_time()
    strength = float(np.abs(make.strength_).max())
    seconds = {"count": counted - start, "fit": fitted - counted}
    return {**seconds, "MB": memory.used, "strength": strength}


def main() -> None:
    """Print the table."""
    print("| votes | counted by file: counting, fit, peak memory | one table |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for n in SIZES:
            cells, strengths = [], []
            for way in ("counts", "table"):
                if way == "table" and n > IN_MEMORY:
                    cells.append("–")
                    continue
                words = [str(Path(folder) / "votes.parquet"), str(n), way]
                one = [sys.executable, "-m", "benchmarks.decisions.scale", *words]
                report = json.loads(subprocess.check_output(one))
                strengths.append(report["strength"])
                cells.append(
                    f"{report['count']:.2f} s, {report['fit']:.2f} s, "
                    f"{report['MB']:.0f} MB"
                )
            if np.ptp(strengths) > 1e-6:
                raise AssertionError(f"strengths differ: {strengths}")
            print(f"| {n:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
    else:
        main()
