# SPDX-License-Identifier: BSD-3-Clause
"""Rank documents that lie in many files, with and without a cluster.

A month of search logs is a folder of Parquet files, one per day, and a query may occur
on several days. They are brought together by query and fitted where they are. With Dask
installed the same happens on two worker processes.

    python examples/many_files.py [FOLDER]
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak import RankSVM
from tiebreak.metrics import ndcg, swapped_pairs
from tiebreak.outofcore import PartitionedTable, fit

FEATURES = ["words", "clicks", "age"]


def write_days(folder: Path, n_days: int = 6, n_rows: int = 3000) -> None:
    """Write one file a day; queries come back on other days."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(n_days):
        X = rng.standard_normal((n_rows, 3))
        relevance = X @ [1.0, 2.0, -0.5] + rng.standard_normal(n_rows)
        frame = pl.DataFrame(X, schema=FEATURES).with_columns(
            grade=pl.Series(np.clip(np.round(relevance), 0, 4)),
            query=pl.Series(rng.integers(0, 400, n_rows)),
        )
        frame.write_parquet(folder / f"day{day}.parquet")


def bring_together(days: Path, folder: Path, n_files: int = 4) -> None:
    """Write files that each hold all rows of their queries."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n_files):
        rows = pl.scan_parquet(days / "*.parquet").filter(
            pl.col("query").hash() % n_files == number
        )
        rows.sink_ipc(folder / f"{number}.arrow")


def fit_files(folder: Path, client: object = None) -> RankSVM:
    """Fit on the files of a folder, in this process or on a cluster."""
    table = PartitionedTable(folder, features=FEATURES)
    model = RankSVM(kernel="linear", loss="squared_hinge")
    return fit(model, table, "grade", qid="query", client=client, keep=True)


def main(folder: Path) -> dict[str, float]:
    """Write, bring together, fit and evaluate; return the results."""
    write_days(folder / "days")
    try:
        fit_files(folder / "days")
    except ValueError as error:
        print(str(error).split(".")[0].split(": group")[0])
    bring_together(folder / "days", folder / "queries")
    model = fit_files(folder / "queries")
    print(f"{model.n_pairs_:,} pairs")
    print("weights:", dict(zip(FEATURES, model.coef_.round(2).tolist(), strict=True)))
    rows = pl.read_parquet(folder / "days" / "*.parquet")
    graded = rows["grade"], model.utility(rows[FEATURES]), rows["query"]
    results = {"swapped_pairs": swapped_pairs(*graded), "ndcg": ndcg(*graded)}
    print("swapped pairs {swapped_pairs:.3f}, NDCG {ndcg:.3f}".format(**results))
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("without Dask: that was all")
        return results
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        there = fit_files(folder / "queries", client)
    same = np.allclose(there.coef_, model.coef_, rtol=1e-3)
    print("on two workers:", "the same weights" if same else "other weights")
    return results | {"same": float(same)}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
