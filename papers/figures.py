# SPDX-License-Identifier: BSD-3-Clause
"""Small pictures for the report, as SVG that is the same in every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from tiebreak.data.atomic import atomic_path

__all__ = ["COLORS", "add_legend", "drawing", "log_ticks"]

# Distinct also for people who do not tell red from green (Okabe and Ito).
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


@contextmanager
def drawing(
    path: Path, n_columns: int = 1, n_rows: int = 1, **options: Any
) -> Iterator[Any]:
    """Give axes to draw on, and write the picture at the end.

    Parameters
    ----------
    path : Path
        The SVG file.
    n_columns, n_rows : int
        How many axes.
    **options
        For ``Figure.subplots``.

    Yields
    ------
    ndarray of Axes
        One row after the other, flat.
    """
    style: Any = {"svg.hashsalt": path.name, "font.size": 9, "axes.spines.top": False}
    with rc_context(style | {"axes.spines.right": False, "legend.frameon": False}):
        figure = Figure(figsize=(3.1 * n_columns, 2.7 * n_rows), layout="constrained")
        yield figure.subplots(n_rows, n_columns, squeeze=False, **options).ravel()
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})


def log_ticks(axes: Any, values: Sequence[float], labels: Sequence[str] = ()) -> None:
    """Make the horizontal axis logarithmic, with these values on it and no others."""
    axes.set_xscale("log")
    axes.set_xticks(list(values), list(labels) or [f"{value:g}" for value in values])
    axes.minorticks_off()


def add_legend(axes: Any, size: float = 7) -> None:
    """Name the lines, if there are any yet."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=size)
