# SPDX-License-Identifier: BSD-3-Clause
"""One table of all methods, and which of them can be told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from papers.all_methods.experiments import EXPERIMENTS, METHODS
from papers.figures import drawing
from papers.results import Results
from papers.swapped_pairs.experiments import SIZES
from papers.tables import NOT_YET, markdown, paragraph, pick
from papers.verdicts import listed

__all__ = ["TITLE", "mean_ranks", "means_of_sets", "write"]

TITLE = "all methods on all data sets"


def write(quick: bool, folder: Path | None, figures: Path) -> str:
    """Write the table, mean ranks and the critical difference."""
    rows = Results(EXPERIMENTS[0], quick, folder).table()
    names, means = means_of_sets(rows)
    lines = []
    for j, method in enumerate(METHODS):
        own = [row["seconds"] for row in rows if row["method"] == method]
        shown = [f"{100 * value:.1f}" for value in means[:, j]]
        lines.append([method, *shown, f"{np.mean(own):.1f}" if own else "—"])
    text = "Percent of swapped pairs, mean of the splits, and seconds of a choice.\n\n"
    text += markdown(["", *names, "s"], lines)
    whole = np.isfinite(means).all(axis=1)
    if whole.sum() >= 2:
        _draw(means[whole], figures / "all-methods.svg")
        text += "\n![critical differences](figures/all-methods.svg)\n"
        text += _words(means[whole], len({row["split"] for row in rows}))
    else:
        text += NOT_YET
    return text + "\n"


def means_of_sets(rows: list[dict[str, Any]]) -> tuple[list[str], np.ndarray]:
    """Give the data sets, and the share of swapped pairs by set and method."""
    names = [name for name in SIZES if any(row["data"] == name for row in rows)]
    means = np.array(
        [[pick(rows, "swapped", data=d, method=m).mean for m in METHODS] for d in names]
    )
    return names, means.reshape(len(names), len(METHODS))


def mean_ranks(means: np.ndarray) -> np.ndarray:
    """Mean rank of every method over data sets, 1 the best."""
    return np.asarray(stats.rankdata(means, axis=1)).mean(axis=0)


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Nemenyi's: mean ranks that differ by less cannot be told apart."""
    q = float(stats.studentized_range.ppf(1.0 - level, n_methods, np.inf))
    return q / np.sqrt(2.0) * float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def _words(means: np.ndarray, n_splits: int) -> str:
    difference = critical_difference(means.shape[1], len(means))
    p = float(stats.friedmanchisquare(*means.T).pvalue)
    ranks = mean_ranks(means)
    names = list(METHODS)
    best = int(np.argmin(ranks))
    apart = [
        f'"{names[j]}"'
        for j in np.argsort(ranks)
        if ranks[j] - ranks[best] > difference
    ]
    behind = f"only {listed(apart)}" if apart else "none"
    return paragraph(
        f"""Not in any of the papers: {len(means)} sets, {n_splits} splits.
        "{names[best]}" has the best mean rank, {ranks[best]:.1f}; of the others
        {behind} can be told apart from it. Methods joined by a bar differ by less than
        the critical difference of {difference:.1f} (Nemenyi, 5 %); the test of Friedman
        that all are equal: p = {p:.1e}."""
    )


def _draw(means: np.ndarray, path: Path) -> None:
    ranks, names = mean_ranks(means), list(METHODS)
    difference = critical_difference(len(names), len(means))
    order = np.argsort(ranks)
    with drawing(path, 2, 1) as all_axes:
        axes: Any = all_axes[0]
        all_axes[1].set_axis_off()
        for place, j in enumerate(order):
            axes.plot([ranks[j]], [-place], "o", color="#0072b2", ms=4)
            axes.annotate(
                names[j], (ranks[j], -place), xytext=(6, -3),
                textcoords="offset points", fontsize=7, annotation_clip=False,
            )  # fmt: skip
        n_bars = 0
        for place in range(len(order)):
            end = place
            while (
                end + 1 < len(order)
                and ranks[order[end + 1]] - ranks[order[place]] < difference
            ):
                end += 1
            known = place > 0 and (
                ranks[order[end]] - ranks[order[place - 1]] < difference
            )
            if end > place and not known:
                n_bars += 1
                x = ranks.min() - 0.3 * n_bars
                axes.plot([x, x], [-place, -end], color="#777777", lw=2)
        axes.set(xlabel="mean rank", yticks=[])
        axes.spines["left"].set_visible(False)
