# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1 and 2 beside ours, and how sparse the solutions are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scipy import stats

from papers.ranking_pursuit.experiments import EXPERIMENTS, METHODS, SEMI
from papers.ranking_pursuit.jester import GROUPS
from papers.results import Results
from papers.tables import Sample, markdown, pick

__all__ = ["TITLE", "write"]

TITLE = "ranking pursuit"
NAMES = {
    "rls": "RLS",
    "matching": "matching pursuit",
    "ranksvm": "RankSVM",
    "rankrls": "RankRLS",
    "pursuit": "ranking pursuit",
    "co-halves": "semi-supervised, two halves of the users",
    "co-kernels": "semi-supervised, Gaussian and linear kernel",
}
PUBLISHED = {
    False: {
        "rls": (0.425, 0.419, 0.383),
        "matching": (0.428, 0.417, 0.381),
        "ranksvm": (0.412, 0.404, 0.372),
        "rankrls": (0.409, 0.407, 0.374),
        "pursuit": (0.410, 0.404, 0.373),
    },
    True: {
        "rls": (0.449, 0.434, 0.405),
        "matching": (0.451, 0.433, 0.404),
        "ranksvm": (0.428, 0.417, 0.391),
        "rankrls": (0.429, 0.418, 0.393),
        "pursuit": (0.428, 0.417, 0.393),
        "co-halves": (0.419, 0.411, 0.381),
    },
}


def write(quick: bool, folder: Path | None, figures: Path) -> str:
    """Write both tables and the claim on sparsity."""
    rows = Results(EXPERIMENTS[0], quick, folder).table()
    text = "### Table 1: disagreement, all scores\n\n" + _table(rows, hide=False)
    text += "\n### Table 2: disagreement, half of the scores hidden\n\n"
    text += _table(rows, hide=True) + "\n" + _tests(rows) + "\n\n"
    return text


def _table(rows: list[dict[str, Any]], hide: bool) -> str:
    lines = []
    for method in (*METHODS, *(SEMI if hide else ())):
        published = PUBLISHED[hide].get(method)
        line = [NAMES[method]]
        for place, group in enumerate(GROUPS):
            own = {"group": group, "method": method, "hide": hide}
            ours = pick(rows, "disagreement", **own)
            line += [f"{published[place]:.3f}" if published else "—", ours.show(3)]
        share = Sample(
            r["support"] for r in rows if r["method"] == method and r["hide"] == hide
        )
        lines.append([*line, f"{100 * share.mean:.0f} %" if len(share) else "—"])
    header = [""]
    for group in GROUPS:
        header += [f"{group}, paper", "ours"]
    return markdown([*header, "training jokes in the solution"], lines)


def _tests(rows: list[dict[str, Any]]) -> str:
    """Wilcoxon tests of the semi-supervised method over groups and runs."""
    parts = []
    for method in SEMI:
        ours = pick(rows, "disagreement", method=method, hide=True)
        rival = pick(rows, "disagreement", method="pursuit", hide=True)
        if len(ours) == len(rival) and len(ours) > 5:
            p = float(stats.wilcoxon(ours.values, rival.values).pvalue)
            sign = "less" if ours.mean < rival.mean else "more"
            parts.append(
                f"{NAMES[method]}: {sign} disagreement than ranking pursuit, "
                f"{ours.mean:.3f} against {rival.mean:.3f} (Wilcoxon p = {p:.3f})"
            )
    return "; ".join(parts) + "." if parts else ""
