# SPDX-License-Identifier: BSD-3-Clause
"""Tables in Markdown, and the statistics that papers print in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["NOT_YET", "Sample", "markdown", "paired_mark", "paragraph", "pick"]

NOT_YET = "\nNot judged: too few of its cells are finished.\n"
"""What stands under a table or figure that nothing can be said of yet."""


class Sample:
    """Repetitions of one number.

    Parameters
    ----------
    values : iterable of float
        The repetitions; None is left out.
    """

    def __init__(self, values: Iterable[float | None]) -> None:
        self.values = np.array([v for v in values if v is not None], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean, NaN without repetitions."""
        return float(self.values.mean()) if len(self) else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation of the repetitions."""
        return float(self.values.std(ddof=1)) if len(self) > 1 else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.deviation / float(np.sqrt(max(len(self), 1)))

    def show(self, digits: int = 2, factor: float = 1.0) -> str:
        """Write mean and standard deviation."""
        if not len(self):
            return "—"
        mean, spread = factor * self.mean, factor * self.deviation
        return f"{mean:.{digits}f} ± {spread:.{digits}f}"


def pick(rows: Iterable[dict[str, Any]], value: str, **settings: Any) -> Sample:
    """Give one result of the cells that have these settings."""
    return Sample(
        row[value]
        for row in rows
        if all(row[name] == wanted for name, wanted in settings.items())
    )


def paired_mark(ours: Sample, other: Sample) -> str:
    """Mark a significant difference of paired repetitions: † at 5 %, †† at 1 %."""
    if len(ours) != len(other) or len(ours) < 2:
        return ""
    if np.array_equal(ours.values, other.values):
        return ""
    p = float(stats.ttest_rel(ours.values, other.values).pvalue)
    return "††" if p < 0.01 else "†" if p < 0.05 else ""


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def paragraph(text: str) -> str:
    """Write a paragraph, without the line breaks of the source."""
    return "\n" + " ".join(text.split()) + "\n"
