# SPDX-License-Identifier: BSD-3-Clause
"""The picture of a grid of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from tiebreak.metrics import get_scorer, scorer_names

__all__ = ["draw_grid"]

_FIXED = ("score", "spread", "place", "converged")


def draw_grid(table: pl.DataFrame, best: dict[str, Any], scoring: str) -> Figure:
    """Draw scores over the first two parameters that vary, or over one.

    Parameters
    ----------
    table : polars.DataFrame
        The table of a :class:`~tiebreak.selection.TuneResult`.
    best : dict
        The chosen combination.
    scoring : str
        Name of the metric, for the scale.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = [
        name
        for name in table.columns
        if name not in _FIXED
        and not name.startswith("split_")
        and table[name].n_unique() > 1
    ]
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes = figure.add_subplot()
    if len(names) >= 2:
        _draw_cells(figure, axes, table, names[:2], best, scoring)
    else:
        _draw_curve(axes, table, names[0] if names else table.columns[0], best, scoring)
    rest = ", ".join(f"{n} = {_label(best[n])}" for n in names[2:])
    chosen = ", ".join(f"{n} = {_label(best[n])}" for n in names[:2])
    axes.set_title(
        f"Best: {chosen or 'the only combination'}"
        + (f"\n(each cell: best over the others, here {rest})" if rest else ""),
        fontsize=11,
    )
    return figure


def _draw_cells(
    figure: Figure,
    axes: Any,
    table: pl.DataFrame,
    names: list[str],
    best: dict[str, Any],
    scoring: str,
) -> None:
    x, y = names
    xs, ys = _values(table, x), _values(table, y)
    cells = np.full((len(ys), len(xs)), np.nan)
    for a, b, score in zip(table[x], table[y], table["score"], strict=True):
        i, j = ys.index(b), xs.index(a)
        cells[i, j] = (
            np.nanmax([cells[i, j], score]) if cells[i, j] == cells[i, j] else score
        )
    picture = axes.imshow(cells, origin="lower", aspect="auto", cmap="cividis")
    colors = figure.colorbar(picture, ax=axes)
    colors.set_label(_score_label(scoring))
    axes.set_xticks(range(len(xs)), [_label(v) for v in xs], rotation=45, ha="right")
    axes.set_yticks(range(len(ys)), [_label(v) for v in ys])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.plot(
        _place(xs, best[x]),
        _place(ys, best[y]),
        marker="o",
        markersize=15,
        markerfacecolor="none",
        markeredgecolor="white",
        markeredgewidth=2.5,
    )
    axes.plot(
        _place(xs, best[x]),
        _place(ys, best[y]),
        marker="o",
        markersize=15,
        markerfacecolor="none",
        markeredgecolor="black",
        markeredgewidth=1.0,
    )


def _draw_curve(
    axes: Any, table: pl.DataFrame, name: str, best: dict[str, Any], scoring: str
) -> None:
    values = _values(table, name)
    best_of = {
        v: table.filter(pl.col(name).eq_missing(v)).sort("score", nulls_last=True)[-1]
        for v in values
    }
    score = np.array([best_of[v]["score"][0] for v in values])
    spread = np.array([best_of[v]["spread"][0] for v in values])
    places = np.arange(len(values))
    axes.plot(places, score, marker="o", color="#1f4e79")
    if spread.any():
        axes.fill_between(
            places, score - spread, score + spread, color="#1f4e79", alpha=0.2, lw=0
        )
    at = _place(values, best.get(name))
    axes.plot(at, score[at], "o", ms=14, mfc="none", mec="#c1440e", mew=2)
    axes.set_xticks(places, [_label(v) for v in values], rotation=45, ha="right")
    axes.set_xlabel(name)
    axes.set_ylabel(_score_label(scoring))
    axes.grid(alpha=0.3)


def _values(table: pl.DataFrame, name: str) -> list[Any]:
    column = table[name].unique(maintain_order=True)
    return (column.sort() if column.dtype.is_numeric() else column).to_list()


def _place(values: list[Any], value: Any) -> int:
    if value in values:
        return values.index(value)
    return values.index(str(value))


def _label(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _score_label(scoring: str) -> str:
    known = scoring in scorer_names()
    if known and not getattr(get_scorer(scoring), "greater_is_better", True):
        return f"minus {scoring} (higher is better)"
    return scoring
