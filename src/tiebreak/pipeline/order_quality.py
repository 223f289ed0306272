# SPDX-License-Identifier: BSD-3-Clause
"""How well models order the items of queries or lists.

Intervals are percentiles of means over queries drawn with replacement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tiebreak.data.messages import first_of
from tiebreak.metrics import average_precision, ndcg, reciprocal_rank, swapped_pairs
from tiebreak.metrics.scorers import metric_words
from tiebreak.selection.results import metrics_table

_HIGHEST_GRADE = 31  # of relevance: the gain of a grade is 2 to its power
_DRAWS = 1000
_SHOWN = 5  # queries
_MAIN = "ndcg_10"
_METRICS: dict[str, Any] = {
    "ndcg_5": partial(ndcg, k=5),
    _MAIN: partial(ndcg, k=10),
    "map": average_precision,
    "mrr": reciprocal_rank,
}
EXPONENTIAL = "The gain of a grade in NDCG is 2^grade - 1, as in LightGBM."

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderQuality:
    """How well models order the items of queries or lists, chance last."""

    table: pl.DataFrame  # model, n_test, swapped_pairs, and means of `by_query`
    unit: str = "queries"  # or lists
    by_query: pl.DataFrame | None = None  # model, query and search metrics
    note: str = ""  # what the metrics mean

    @cached_property
    def _draws(self) -> dict[tuple[str, str], tuple[Floats, Floats]]:
        """By model and metric: values of queries, and means of drawn queries."""
        if self.by_query is None:
            return {}
        parts = self.by_query.partition_by("model", as_dict=True, maintain_order=True)
        names = self.by_query.columns[2:]
        values = np.hstack([part.select(names).to_numpy() for part in parts.values()])
        n, rng = len(values), np.random.default_rng(0)
        times = (
            np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(_DRAWS)
        )
        means = np.array([count @ values / n for count in times])
        keys = [(str(model), name) for (model,) in parts for name in names]
        return dict(zip(keys, zip(values.T, means.T, strict=True), strict=True))

    def intervals(self, level: float = 0.95) -> dict[str, dict[str, list[float]]]:
        """Return lower and upper end, by model and metric."""
        ends: dict[str, dict[str, list[float]]] = {}
        for (model, name), (_, means) in self._draws.items():
            ends.setdefault(model, {})[name] = _ends(means, level)
        return ends

    def differences(self, level: float = 0.95) -> dict[str, dict[str, Any]]:
        """Return by metric and model how far a model is above the first one."""
        first, gaps = self.table["model"][0], dict[str, dict[str, Any]]()
        for (model, name), (values, means) in self._draws.items():
            own, drawn = self._draws[first, name]
            if model not in (first, "baseline"):
                gap = values - own
                error = gap.std(ddof=1) / len(gap) ** 0.5 if len(gap) > 1 else np.nan
                gaps.setdefault(name, {})[model] = {
                    "mean": float(gap.mean()),
                    "standard_error": float(error),
                    "interval": _ends(means - drawn, level),
                    "worst": self._lowest(gap),
                }
        return gaps

    def worst(self) -> dict[str, float]:
        """Return the queries that the first model orders worst, by NDCG@10."""
        first = self.table["model"][0], _MAIN
        return self._lowest(self._draws[first][0]) if first in self._draws else {}

    def _lowest(self, values: Floats) -> dict[str, float]:
        assert self.by_query is not None
        rows = np.argsort(values, kind="stable")[:_SHOWN]
        names = self.by_query["query"].gather(rows).to_list()
        found = zip(names, values[rows].tolist(), strict=True)
        return {str(name): value for name, value in found if value < values.max()}

    def heading(self) -> list[str]:
        """Say how good the first model is, compared with chance."""
        if "swapped_pairs" not in self.table.columns:
            return []
        ours, chance = (1.0 - self.table["swapped_pairs"][row] for row in (0, -1))
        return [
            f"In {self.unit} it put {ours:.0%} of pairs in the right order; chance "
            f"gives {chance:.0%}."
        ]

    def say_metrics(self, level: float = 0.95) -> list[str]:
        """Give the search metrics of the first model with their intervals."""
        if self.by_query is None:
            return []
        ours = self.table.row(0, named=True)
        ends = self.intervals(level)[ours["model"]]
        shown = (
            f"{metric_words(name)} {ours[name]:.3f} ({low:.3f} … {high:.3f})"
            for name, (low, high) in ends.items()
        )
        n = self.by_query["query"].n_unique()
        means = f"means of {_count(n)}, with {100 * level:g} % intervals by query"
        return [f"{', '.join(shown)}: {means}.", self.note]

    def say_worst(self) -> list[str]:
        """Name the queries that lose most."""
        worst = [f"{name} ({value:.3f})" for name, value in self.worst().items()]
        return [f"Lowest NDCG@10: query {first_of(worst, _SHOWN)}."] if worst else []

    def say_differences(self) -> list[str]:
        """Say how models differ from the first one, on the same queries."""
        first, texts = self.table["model"][0], []
        for model, gap in self.differences().get(_MAIN, {}).items():
            text = say_gap(f"{model}: NDCG@10 by query", gap, first)
            lost = [f"{q} ({v:+.3f})" for q, v in gap["worst"].items() if v < 0]
            lose = f" It loses most in query {first_of(lost, 3)}." if lost else ""
            texts.append(text + lose)
        return texts

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return intervals, differences and the worst queries; {} without queries."""
        if self.by_query is None:
            return {}
        return {
            "intervals": self.intervals(level),
            "above_first": self.differences(level),
            "worst_queries": self.worst(),
            "note": self.note,
        }

    def __rich__(self) -> Group:
        """Return the table for the terminal, and the worst queries."""
        rows = self.table.drop("n_test")
        table: Table = metrics_table(rows.columns[1:], rows.iter_rows())
        return Group(table, *map(Text, self.say_worst()))


def say_gap(what: str, gap: dict[str, Any], first: str) -> str:
    """Say how far a model is above the first one."""
    if not np.isfinite(gap["mean"]):
        return f"{what} is infinite: a result was given a probability of 0."
    if not np.isfinite(gap["standard_error"]):
        return f"{what} {gap['mean']:+.4f} compared with {first}."
    low, high = gap["interval"]
    return (
        f"{what} {gap['mean']:+.4f} ± {gap['standard_error']:.4f} compared with "
        f"{first} (one standard error); 95 % interval from {low:+.4f} to {high:+.4f}."
    )


def _count(n: int) -> str:
    return f"{n:,} {'query' if n == 1 else 'queries'}"


def _ends(means: Floats, level: float) -> list[float]:
    tail = (1.0 - level) / 2
    return [float(end) for end in np.quantile(means, [tail, 1.0 - tail])]


def score_order(
    y: Floats,
    utility: dict[str, Floats],
    qid: NDArray[np.int64],
    queries: Sequence[Any] | NDArray[Any] | None = None,
    unit: str = "queries",
) -> OrderQuality:
    """Return swapped pairs and, of relevance grades in queries, search metrics.

    ``queries`` are the names of the groups, None if these are no queries.
    """
    rows: dict[str, dict[str, Any]] = {
        name: {"n_test": len(y), "swapped_pairs": swapped_pairs(y, values, qid=qid)}
        for name, values in utility.items()
    }
    rows["baseline"] = {"n_test": len(y), "swapped_pairs": 0.5}
    by_query, note = None, ""
    if queries is not None and y.min() >= 0 and 0 < y.max() <= _HIGHEST_GRADE:
        utility = utility | {"baseline": np.zeros(len(y))}  # equal ones share places
        # If every row is relevant, all orders have the same MAP and MRR.
        names = list(_METRICS) if y.min() == 0 else list(_METRICS)[:2]
        codes = list(dict.fromkeys(qid.tolist()))
        labels = [str(queries[code]) for code in codes]
        frames = [
            pl.DataFrame(
                {"model": [model] * len(labels), "query": labels}
                | {n: _METRICS[n](y, values, qid, average=False) for n in names}
            )
            for model, values in utility.items()
        ]
        by_query = pl.concat(frames).filter(pl.col(_MAIN).is_not_nan())
        means = by_query.group_by("model").agg(pl.col(names).mean())
        for row in means.iter_rows(named=True):
            rows[row.pop("model")] |= row
        without = len(labels) - by_query["query"].n_unique()
        note = EXPONENTIAL + (
            f" {_count(without)} without a relevant row (a grade above 0) "
            f"{'is' if without == 1 else 'are'} left out."
        ) * bool(without)
    table = pl.DataFrame([{"model": name, **row} for name, row in rows.items()])
    return OrderQuality(table, unit, by_query, note)
