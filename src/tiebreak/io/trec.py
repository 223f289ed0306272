# SPDX-License-Identifier: BSD-3-Clause
"""Runs and judgments of TREC: files, and the metrics of trec_eval.

Runs and qrels are dicts of queries, each a dict of documents and scores or grades. Of
equal scores the later name comes first, as in trec_eval; a document without a grade is
not relevant, and a relevant one that was not retrieved has no rank.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from tiebreak.data.columns import as_column, as_column_of
from tiebreak.io.result import FileError

Scores = Mapping[str, Mapping[str, float]]


def read_trec(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read a run or qrels.

    Parameters
    ----------
    path : path
        Lines ``query Q0 document rank score tag`` of a run, or ``query 0 document
        grade`` of qrels.

    Returns
    -------
    dict of dict
        Scores or grades, by query and document.
    """
    out: dict[str, dict[str, float]] = {}
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        if not (fields := line.split()):
            continue
        of = out.setdefault(fields[0], {})
        try:
            value = float(fields[{4: 3, 6: 4}[len(fields)]])
        except (KeyError, ValueError):
            value = np.nan
        if not np.isfinite(value) or fields[2] in of:
            expected = "expected 4 fields of qrels or 6 of a run, each document once"
            raise FileError(Path(path), f"line {number}: {expected}.")
        of[fields[2]] = value
    return out


def write_trec(
    path: str | os.PathLike[str],
    qid: ArrayLike,
    document: ArrayLike,
    *,
    utility: ArrayLike | None = None,
    y: ArrayLike | None = None,
    tag: str = "tiebreak",
) -> None:
    """Write utilities as a run, or grades as qrels.

    Parameters
    ----------
    path : path
        The file; an older one is replaced.
    qid, document : array-like of shape (n,)
        Query and name of each document, without blanks.
    utility, y : array-like of shape (n,)
        One of both.
    tag : str, default="tiebreak"
        Name of the run.
    """
    if (utility is None) == (y is None):
        raise ValueError("Give utility for a run, or y for qrels.")
    queries = list(map(str, as_column(qid, "qid").tolist()))
    documents = list(map(str, as_column_of(document, "document", len(queries))))
    if any(len(name.split()) != 1 for name in [*queries, *documents]):
        raise ValueError("Names of queries and documents must have no blanks.")
    values = as_column_of(y if utility is None else utility, "values", len(queries))
    rows = list(zip(queries, documents, values.tolist(), strict=True))
    if utility is None:
        lines = [f"{query} 0 {name} {value:g}" for query, name, value in rows]
    else:
        run: dict[str, dict[str, float]] = {}
        for query, name, value in rows:
            run.setdefault(query, {})[name] = value
        lines = [
            f"{query} Q0 {name} {rank} {of[name]!r} {tag}"
            for query, of in run.items()
            for rank, name in enumerate(_best_first(of), 1)
        ]
    Path(path).write_text("\n".join(lines) + "\n", "utf-8")


def _best_first(of: Mapping[str, float]) -> list[str]:
    return [name for _, name in sorted(((v, k) for k, v in of.items()), reverse=True)]


def trec_metrics(
    qrels: Scores, run: Scores, *, k: int = 10, gain: str = "linear"
) -> pl.DataFrame:
    """Compute what trec_eval does, for every query.

    Parameters
    ----------
    qrels, run : dict of dict, as of `read_trec`
        Queries of only one of them are left out.
    k : int, default=10
        Documents that count for NDCG.
    gain : {"linear", "exp"}, default="linear"
        The grade g itself, as in trec_eval, or 2^g - 1, as in LightGBM.

    Returns
    -------
    polars.DataFrame
        Columns ``query``, ``ndcg`` (of all retrieved), ``ndcg@k``, ``map`` and ``mrr``;
        0 for queries without a relevant document, as in trec_eval.
    """
    rows = []
    for query in qrels.keys() & run.keys():
        grade = qrels[query]
        of = np.array([grade.get(name, 0.0) for name in _best_first(run[query])])
        ideal, of = np.sort([*grade.values(), 0.0])[::-1].clip(0), of.clip(0)
        if gain == "exp":
            ideal, of = np.exp2(ideal) - 1.0, np.exp2(of) - 1.0
        at = np.flatnonzero(of) + 1.0  # ranks of relevant documents
        n_relevant = max(np.count_nonzero(ideal), 1)
        value: dict[str, Any] = {"query": query}
        for name, n in (("ndcg", len(of) + len(ideal)), (f"ndcg@{k}", k)):
            best, reached = _discounted(ideal[:n]), _discounted(of[:n])
            value[name] = reached / best if best else 0.0
        value["map"] = float((np.arange(1, len(at) + 1) / at).sum() / n_relevant)
        value["mrr"] = float(1.0 / at[0]) if len(at) else 0.0
        rows.append(value)
    return pl.DataFrame(rows).sort("query") if rows else pl.DataFrame()


def _discounted(gains: Any) -> float:
    return float(gains @ (1.0 / np.log2(np.arange(2, len(gains) + 2))))
