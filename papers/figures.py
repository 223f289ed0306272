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


def add_legend(axes: Any, place: str = "below") -> None:
    """Name the lines, if there are any yet, where no line can run through the names.

    Parameters
    ----------
    axes : Axes
        Where the lines are.
    place : {"below", "beside", "inside"}
        Below the whole picture, beside the axes, or inside where there is room.
    """
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    if place == "below":
        n = min(len(labels), 6)
        axes.figure.legend(
            handles, labels, loc="outside lower center", ncols=n, fontsize=8
        )
    elif place == "beside":
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=6)
    else:
        axes.legend(fontsize=7)
