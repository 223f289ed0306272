# SPDX-License-Identifier: BSD-3-Clause
"""Rank documents that lie in many files, with and without a cluster.

A month of search logs is a folder of Parquet files, one per day, and a query may occur
on several days. They are brought together by query, fitted where they are, and judged
where they are. With Dask installed the same happens on two worker processes.

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
from tiebreak.outofcore import PartitionedTable, evaluate, repartition, running

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


def fit_and_judge(folder: Path) -> tuple[RankSVM, dict[str, float]]:
    """Fit on the files of a folder; share of swapped pairs and NDCG on them."""
    table = PartitionedTable(folder, features=FEATURES)
    model = RankSVM(kernel="linear", loss="squared_hinge")
    model.fit(table, "grade", qid="query")
    names = ["swapped_pairs", "ndcg"]
    return model, evaluate(model, table, "grade", qid="query", metrics=names)


def main(folder: Path) -> dict[str, float]:
    """Write, repartition, fit and evaluate; return the results."""
    write_days(folder / "days")
    try:
        fit_and_judge(folder / "days")
    except ValueError as error:
        print(str(error).split(".")[0].split(": group")[0])
    files = repartition(folder / "days", folder / "queries", qid="query", n_parts=4)
    model, judged = fit_and_judge(folder / "queries")
    print(f"{len(files)} files, {model.n_pairs_:,} pairs")
    print("weights:", dict(zip(FEATURES, model.coef_.round(2).tolist(), strict=True)))
    print("swapped pairs {swapped_pairs:.3f}, NDCG {ndcg:.3f}".format(**judged))
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("without Dask: that was all")
        return judged
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        running(client=client),
    ):
        there, _ = fit_and_judge(folder / "queries")
    same = np.allclose(there.coef_, model.coef_, rtol=1e-3)
    print("on two workers:", "the same weights" if same else "other weights")
    return judged | {"same": float(same)}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
