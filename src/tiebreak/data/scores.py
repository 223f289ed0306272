# SPDX-License-Identifier: BSD-3-Clause
"""Scores of items on tasks, the comparisons that they make, and mean differences.

A difference of exactly the tolerance is a tie. A relative one is |a - b| divided by
max(|a|, |b|), and 0 of two zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from tiebreak.data.arrays import Codes, Flags, Floats
from tiebreak.data.columns import as_column, row_slices
from tiebreak.data.items import LARGEST, as_float_array, check_names, within_bounds
from tiebreak.data.messages import list_rows

_BLOCK = 1 << 20  # comparisons at a time
_ROUNDING = 8.0 * np.finfo(np.float64).eps  # of means of seeds, relative


@dataclass(frozen=True)
class Tolerance:
    """Scores that differ by no more are tied: an absolute number, or a share."""

    size: float = 0.0
    relative: bool = False

    @classmethod
    def parse(cls, value: Any, name: str = "tie_within") -> Tolerance:
        """Read 0.5, "0.5" or "1%"."""
        match = re.fullmatch(r"([\d.]+(?:e-?\d+)?)\s*(%?)", str(value).strip(), re.I)
        try:
            size = float(match[1]) if match else np.nan
        except ValueError:
            size = np.nan
        if match is None or not np.isfinite(size):
            raise ValueError(
                f"{name} must be a number such as 0.5, or 1%; got {value!r}."
            )
        return cls(size / 100.0, True) if match[2] else cls(size)

    def __str__(self) -> str:
        return f"{100 * self.size:g} %" if self.relative else f"{self.size:g}"


def read_scores(table: Any, tie_within: Any, lower_is_better: Any) -> ScoreTable:
    """Check a table of numbers whose rows are tasks and whose columns are items."""
    tasks = None
    if hasattr(table, "iloc"):
        tasks = as_column(table.index, "tasks")
    elif isinstance(table, pl.DataFrame) and table.width > 1:
        first = table.to_series(0)
        if not first.dtype.is_numeric():
            tasks, table = as_column(first, "tasks"), table.drop(first.name)
    scores = as_float_array(table, "scores")
    known = np.where(np.isnan(scores), 0.0, scores)
    if not within_bounds(known):
        wrong = np.flatnonzero(~(np.abs(known) <= LARGEST).all(axis=1))
        raise ValueError(
            f"scores must be numbers of at most {LARGEST:g} in size, or missing: "
            f"{list_rows(wrong)}."
        )
    named = hasattr(table, "columns")
    names = list(table.columns) if named else range(scores.shape[1])
    tasks = np.arange(len(scores)) if tasks is None else tasks
    lower = np.broadcast_to(np.asarray(lower_is_better, dtype=bool), len(scores))
    tolerance = Tolerance.parse(tie_within)
    units = np.arange(len(scores))
    return ScoreTable(check_names(names, None), tasks, scores, lower, tolerance, units)


def average_cells(
    task: Codes, item: Codes, score: Floats, shape: tuple[int, int]
) -> Floats:
    """Mean score of each item on each task, NaN where there is none, (T, N)."""
    cell, n_cells = task * shape[1] + item, shape[0] * shape[1]
    known = ~np.isnan(score)
    count = np.bincount(cell[known], minlength=n_cells)
    total = np.bincount(cell[known], score[known], n_cells)
    out = np.full(n_cells, np.nan)
    return np.divide(total, count, out=out, where=count > 0).reshape(shape)


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of N items on T tasks."""

    names: NDArray[Any]  # (N,) of the items
    tasks: NDArray[Any]  # (T,) names
    scores: Floats  # (T, N), NaN where missing
    lower: Flags  # (T,) whether lower is better
    tolerance: Tolerance
    unit: Codes  # (T,) from 0; tasks of one unit depend on each other

    def compare(self) -> tuple[Codes, Codes, NDArray[np.int8], Codes]:
        """List left, right, outcome and task of every two scores of a task, (n,)."""
        one, two = np.triu_indices(len(self.names), 1)
        parts = []
        for rows in row_slices(len(self.tasks), max(_BLOCK // max(len(one), 1), 1)):
            ahead, slack = self._ahead(rows, one, two)
            task, pair = np.nonzero(~np.isnan(ahead))
            by = ahead[task, pair]
            y = np.sign(np.where(np.abs(by) <= slack[task, pair], 0.0, by))
            parts.append((one[pair], two[pair], y.astype(np.int8), task + rows.start))
        left, right, y, task = map(np.concatenate, zip(*parts, strict=True))
        return left, right, y, task

    def _ahead(self, rows: slice, one: Any, two: Any) -> tuple[Floats, Floats]:
        """By how much two is better than one, (t, m), and up to where that is a tie."""
        a, b = self.scores[rows][:, one], self.scores[rows][:, two]
        ahead, size = b - a, np.maximum(np.abs(a), np.abs(b))
        ahead[self.lower[rows]] *= -1.0
        if self.tolerance.relative:
            np.divide(ahead, size, out=ahead, where=size > 0.0)
            size = np.ones_like(size)
        return ahead, self.tolerance.size + _ROUNDING * size

    def differences(self, level: float) -> pl.DataFrame:
        """Mean differences of every two items over units, all intervals at once.

        Columns ``item`` and ``other``, the better one first, ``difference`` (of scores,
        or in percent), ``lower`` and ``upper`` (Student's t, Bonferroni), and
        ``equal``: the interval is within the tolerance. Pairs need two common units.
        """
        n = len(self.names)
        tail = (1.0 - level) / max(n * (n - 1), 1)
        parts: list[pl.DataFrame] = []
        for i, (mean, error, count) in enumerate(self._unit_means()):
            j = np.flatnonzero(count > 1)
            behind = mean[j] < 0.0
            apart, half = np.abs(mean[j]), -stdtrit(count[j] - 1.0, tail) * error[j]
            unit = 100.0 if self.tolerance.relative else 1.0
            columns = {
                "item": self.names[np.where(behind, i + 1 + j, i)],
                "other": self.names[np.where(behind, i, i + 1 + j)],
                "difference": unit * apart,
                "lower": unit * (apart - half),
                "upper": unit * (apart + half),
                "equal": apart + half <= self.tolerance.size,
            }
            parts.append(pl.DataFrame(columns))
        return pl.concat(parts).filter(pl.col("difference").is_not_nan())

    def _unit_means(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Mean, error and number of units of item i minus each later one."""
        n, n_units, every = len(self.names), int(self.unit.max()) + 1, slice(None)
        for i in range(n - 1):
            later = np.arange(i + 1, n)
            ahead, _ = self._ahead(every, later, np.full(len(later), i))
            known = ~np.isnan(ahead)
            sums, counts = np.zeros((2, n_units, len(later)))
            np.add.at(sums, self.unit, np.where(known, ahead, 0.0))
            np.add.at(counts, self.unit, known)
            met = counts > 0
            of_unit = np.divide(sums, counts, out=np.zeros_like(sums), where=met)
            count = met.sum(axis=0).astype(np.float64)
            mean = of_unit.sum(axis=0) / np.maximum(count, 1.0)
            square = (np.where(met, of_unit - mean, 0.0) ** 2).sum(axis=0)
            error = np.sqrt(square / np.maximum(count * (count - 1.0), 1.0))
            yield mean, error, count
