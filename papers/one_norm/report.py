# SPDX-License-Identifier: BSD-3-Clause
"""Paths and reductions beside those of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from papers.figures import COLORS, add_legend, drawing
from papers.one_norm.data import DATA, read
from papers.one_norm.experiments import (
    EXPERIMENTS,
    LAMBDAS,
    SLACKS,
)
from papers.results import Results
from papers.tables import NOT_YET, Sample, markdown, paragraph, pick
from papers.verdicts import errors_apart, listed, spell

__all__ = ["TITLE", "write"]

TITLE = "1-norm ranking and convex hulls"
TABLE_1 = {
    "artificial": ("640,000", "174,816"),
    "concrete": ("271,590", "178,822"),
    "abalone": ("1,105,700", "178,060"),
}
TABLE_2 = {
    "normal": (13, 32, 85, 159, 274, 358, 527, 637),
    "uniform": (19, 72, 152, 306, 496, 661, 759, 852),
}
# Half a unit for each of the 824 training items of concrete.
HALF = 412
TAU = {"artificial": 1.0, "concrete": 0.803, "abalone": 0.644}


def write(quick: bool, folder: Path | None, figures: Path) -> str:
    """Write all of it."""
    paths, reduction, hull, sex, axis = (
        Results(experiment, quick, folder).table() for experiment in EXPERIMENTS
    )
    text = "### Figures 1 and 2: weights and τ-b against α\n\n"
    for data in ("abalone", "concrete"):
        path = figures / f"003-{data}.svg"
        if _draw(paths, data, path):
            text += f"![{data}](figures/{path.name})\n\n"
    text += _taus(paths) + _answer(paths) + _why(paths) + _beyond(paths)
    text += "\n### The λ axis\n\n" + _lambdas(axis)
    text += "\n### Table 1: rows of the program\n\n" + _rows(reduction, sex)
    return text + "\n### Table 2: corners of 1000 points\n\n" + _corners(hull) + "\n"


def _best(rows: list[dict[str, Any]], data: str, slack: str) -> dict[str, float]:
    """Give the best of each measure along the path, by its mean over the folds."""
    own = [r for r in rows if r["data"] == data and r["slack"] == slack]
    if not own:
        return {}
    swapped = np.mean([row["swapped"] for row in own], axis=0)
    known = [row["own"] for row in own if "own" in row]
    return {
        # Of the training pairs, at the same α.
        "own": float(np.mean(known, axis=0)[swapped.argmin()]) if known else np.nan,
        "swapped": float(swapped.min()),
        "tau": float(np.mean([row["tau"] for row in own], axis=0).max()),
        "cut": float(np.mean([row["cut"] for row in own], axis=0).max()),
        "gamma": float((1.0 - 2.0 * swapped).max()),
        "folds": len(own),
    }


def _answer(rows: list[dict[str, Any]]) -> str:
    """Say what the paper's τ-b can be."""
    found = {data: _best(rows, data, "hull") for data in DATA}
    if not all(found.values()):
        return NOT_YET
    made, concrete, abalone = (found[d] for d in ("artificial", "concrete", "abalone"))
    return paragraph(
        f"""Same protocol, but perhaps not the same τ-b. Not reproduced;
        {concrete["folds"]:.0f} folds, as in the paper. Its program is `hull`:
        equation (5) on the corners of each
        grade (`item` if every row is kept, `item-weighted` if the sum of slacks is over
        pairs as printed). Which τ-b is meant? Not that of utilities and grades: tied
        grades keep it below 1, at {made["tau"]:.3f} on the artificial set where every
        pair is in order, and there the paper reports 1. So utilities must have been cut
        into grades first, or tied pairs left out. Cut, τ-b is {made["cut"]:.3f},
        {concrete["cut"]:.3f} and {abalone["cut"]:.3f}; over untied pairs (γ of Goodman
        and Kruskal, one less twice the swapped pairs) it is {made["gamma"]:.3f},
        {concrete["gamma"]:.3f} and {abalone["gamma"]:.3f}; the paper has
        {TAU["artificial"]:.0f}, {TAU["concrete"]} and {TAU["abalone"]}. No single
        reading gives both of its numbers on real data. Ruled out: the choice of α (the
        best of 25 is shown), the form of the slack (three are), the reduction, and a
        better linear utility, since least squares reaches .63 and .38 plain even in
        sample."""
    )


def _why(rows: list[dict[str, Any]]) -> str:
    """Say what leaving out all but corners does to the ranking."""
    best = {
        (data, slack): _best(rows, data, slack)
        for data in ("concrete", "abalone")
        for slack in ("pair", "item", "hull", "random")
    }
    if not all(best.values()):
        return ""

    def percent(data: str, slack: str, kind: str) -> str:
        return f"{100 * best[data, slack][kind]:.1f}"

    def parts(data: str) -> str:
        return listed(
            [
                f"""`{slack}` {percent(data, slack, "swapped")} % of the test and
                {percent(data, slack, "own")} % of the training pairs"""
                for slack in ("item", "hull", "random")
            ]
        )

    return paragraph(
        f"""Why the hull ranks concrete better: not as a regularizer, for it swaps fewer
        pairs of the training items too. At their best α on concrete swap
        {parts("concrete")}; `random` has as many rows of each grade, not corners. The
        cause is that one slack per item is a poor stand-in for swapped pairs: a slack
        of ½ on every item pays for all pairs, at {HALF} for w = 0, and table 1 has
        392.8 for the best w, so that the program hardly cares which w it is. Without
        the rows inside the hulls w is nearer that of `pair`, which counts pairs
        (cosine {_cosine(rows, "concrete", "hull"):.3f}, with all rows
        {_cosine(rows, "concrete", "item"):.3f}). On abalone swap {parts("abalone")}:
        corners do not help there (cosines {_cosine(rows, "abalone", "hull"):.3f} and
        {_cosine(rows, "abalone", "item"):.3f}), but fewer rows of the large middle
        grade do ({_cosine(rows, "abalone", "random"):.3f}), since the sum of slacks
        counts items and not pairs."""
    )


def _cosine(rows: list[dict[str, Any]], data: str, slack: str) -> float:
    """Cosine of the weights of two programs at their best α, mean of the folds."""
    best = []
    for kind in (slack, "pair"):
        own = [r for r in rows if r["data"] == data and r["slack"] == kind]
        place = int(np.mean([row["swapped"] for row in own], axis=0).argmin())
        w = np.array([row["coefs"][place] for row in own])
        best.append(w / np.linalg.norm(w, axis=1, keepdims=True))
    return float((best[0] * best[1]).sum(axis=1).mean())


def _lambdas(rows: list[dict[str, Any]]) -> str:
    lines, last = [], {}
    for data in DATA[1:]:
        for slack in ("item", "hull"):
            for scale in ("deviation", "range"):
                own = [
                    row
                    for row in rows
                    if (row["data"], row["slack"], row["scale"]) == (data, slack, scale)
                ]
                if not own:
                    continue
                kept = np.mean([row["kept"] for row in own], axis=0)
                tau = np.mean([row["tau"] for row in own], axis=0)
                shown = [LAMBDAS.index(value) for value in (1.0, 3.0, 9.25, 13.0)]
                cells = [f"{kept[i]:.1f}, {tau[i]:.3f}" for i in shown]
                lines.append([data, slack, scale, *cells, f"{LAMBDAS[tau.argmax()]:g}"])
                last[data, slack, scale] = kept, tau
    header = ["", "program", "features divided by"]
    header += [f"λ = {v}" for v in ("1", "3", "9.25", "13")]
    table = markdown([*header, "best λ"], lines)
    if len(last) < 8:
        return table + NOT_YET
    left = {
        data: listed([f"{kept[i]:.1f}" for i in (1, 2)])
        for data in DATA[1:3]
        for kept, _ in [last[data, "hull", "deviation"]]
    }
    flat = last["concrete", "item", "deviation"][1]
    return table + paragraph(
        f"""Other protocol: the paper does not say how it scales features, and λ depends
        on it. Shown are the features kept, of its eight, and τ-b of the test items. It
        says of concrete that two weights are zero from λ = 2 on and that 12 to 14 is
        best; of abalone that one is zero beyond 2 and that 9 to 9.5 is best. With
        standardized features `hull` has {left["concrete"]} weights of concrete at 2 and
        3 and {left["abalone"]} of abalone, so that the first of them go about where
        the paper says, but not two at once. On abalone it still has weights at 9.25,
        where `item` has none; on concrete it is `item` that has six weights from 11 on.
        τ-b is flat while weights are left ({flat.min():.3f} to {flat.max():.3f} in the
        first row) and falls with them; nowhere is it best at the paper's λ."""
    )


def _beyond(rows: list[dict[str, Any]]) -> str:
    """Say what the path is like where hulls fail."""
    parts = []
    for slack in SLACKS[:3]:
        own = [r for r in rows if r["data"] == "bank32nh" and r["slack"] == slack]
        if not own:
            return ""
        swapped = np.mean([row["swapped"] for row in own], axis=0)
        best = int(np.argmin(swapped))
        kept = np.mean([np.count_nonzero(row["coefs"][best]) for row in own])
        seconds = Sample(row["seconds"] for row in own).mean
        parts.append(
            f"""`{slack}` {seconds:.1f} s and {100 * swapped[best]:.1f} % swapped with
            {kept:.0f} features"""
        )
    return paragraph(
        f"""Beyond the paper: bank32nh has 32 features, where all points are corners of
        their hulls and the reduction leaves every row. The exact path of 25 values of
        α on 6,553 items takes for a fold, and swaps of the test pairs at its best:
        {listed(parts)} ({len(own)} folds)."""
    )


def _taus(rows: list[dict[str, Any]]) -> str:
    lines = []
    for data in (*DATA, "bank32nh"):
        for slack in SLACKS:
            own = [r for r in rows if r["data"] == data and r["slack"] == slack]
            if not own:
                continue
            # Chosen by the mean over folds, as the paper's best λ is.
            best = _best(rows, data, slack)
            kept = [int(np.count_nonzero(row["coefs"][-1])) for row in own]
            lines.append(
                [
                    data,
                    slack,
                    f"{TAU[data]}" if data in TAU and slack == "hull" else "",
                    f"{best['tau']:.3f}",
                    f"{best['cut']:.3f}",
                    f"{best['gamma']:.3f}",
                    f"{np.mean(kept):.1f} of {len(own[0]['coefs'][0])}",
                    f"{Sample(row['seconds'] for row in own).mean:.2f}",
                ]
            )
    header = ["", "slack", "best τ-b, paper", "best τ-b", "best τ-b of cut utilities"]
    header += ["best γ", "features at the smallest α", "seconds of a path"]
    return markdown(header, lines)


def _rows(rows: list[dict[str, Any]], sex: list[dict[str, Any]]) -> str:
    lines = []
    for data in DATA:
        found = {
            kind: [r for r in rows if r["data"] == data and r["reduction"] == kind]
            for kind in ("none", "hull", "threshold")
        }
        if not found["threshold"]:
            continue
        line = [data, *TABLE_1[data]]
        line.append(f"{Sample(r['pairs'] for r in found['threshold']).mean:,.0f}")
        for kind in ("hull", "threshold"):
            line.append(f"{Sample(r['rows'] for r in found[kind]).mean:,.0f}")
        for kind in ("none", "hull", "threshold"):
            seconds = Sample(r["seconds"] for r in found[kind])
            line.append(f"{seconds.mean:.2f}" if len(seconds) else "—")
        for kind in ("hull", "threshold"):
            line.append(f"{Sample(r['objective'] for r in found[kind]).mean:.1f}")
        lines.append(line)
    header = ["", "pairs, paper", "hull, paper", "pairs", "hull", "thresholds"]
    header += ["s, all pairs", "s, hull", "s, thresholds", "optimum, hull", "exact"]
    return markdown(header, lines) + _row_words(rows, sex)


def _row_words(rows: list[dict[str, Any]], sex: list[dict[str, Any]]) -> str:
    """Compare numbers of rows with the paper's, and optima with the exact ones."""
    parts, below, share = [], [], []
    for data in DATA:
        own = {
            kind: [r for r in rows if r["data"] == data and r["reduction"] == kind]
            for kind in ("hull", "threshold")
        }
        if not own["hull"] or not own["threshold"]:
            return NOT_YET
        theirs = int(TABLE_1[data][1].replace(",", ""))
        ours = Sample(r["rows"] for r in own["hull"]).mean
        parts.append(f"{100 * (ours / theirs - 1):+.0f} % on {data}")
        exact = Sample(r["objective"] for r in own["threshold"]).mean
        below.append(1.0 - Sample(r["objective"] for r in own["hull"]).mean / exact)
        share.append(Sample(r["rows"] for r in own["threshold"]).mean / ours)
    folds = len({row["fold"] for row in rows})
    return paragraph(
        f"""Same protocol. Reproduced: the same pairs, and after the hull about as
        many rows as in the
        paper ({", ".join(parts)}; {spell(folds)} folds). {_sex(sex)}
        But the reduction is not exact once slacks are positive: its optimum is
        {100 * min(below):.0f} to {100 * max(below):.0f} % below the exact one, because
        rows that it leaves out are violated. The threshold form is exact with
        {100 * min(share):.1f} to {100 * max(share):.1f} % of the rows of the hull."""
    )


def _sex(rows: list[dict[str, Any]]) -> str:
    """Say what explains the rows of abalone."""
    found = Sample(row["rows"] for row in rows if row["data"] == "abalone")
    if not len(found):
        return ""
    return f"""Ours are more on abalone because its sex is three indicators; with sex as
        one number, the paper's eight attributes, they are {found.mean:,.0f}."""


def _corners(rows: list[dict[str, Any]]) -> str:
    lines = []
    for kind, published in TABLE_2.items():
        for who in ("paper", "ours"):
            line = [f"{kind}, {who}"]
            for d, value in zip(range(2, 10), published, strict=True):
                found = pick(rows, "corners", kind=kind, dimension=d)
                ours = found.show(0) if len(found) else "—"
                line.append(f"{value}" if who == "paper" else ours)
            lines.append(line)
    apart = []
    for kind, published in TABLE_2.items():
        for d, value in zip(range(2, 10), published, strict=True):
            found = pick(rows, "corners", kind=kind, dimension=d)
            # One draw of theirs varies as one of ours.
            apart.append(
                errors_apart(found, value, spread=found.deviation, repetitions=1)
            )
    # More or fewer corners are neither better nor worse.
    known = [abs(z) for z in apart if z is not None]
    text = markdown(["", *(f"{d}" for d in range(2, 10))], lines)
    if not known:
        return text + NOT_YET
    same = sum(z <= 2.0 for z in known)
    draws = len(pick(rows, "corners", kind="normal", dimension=2))
    return text + paragraph(
        f"""Same protocol. Reproduced: {same} of {len(known)} counts of the paper, one
        draw each, are
        within two standard errors of our means of {spell(draws)} draws, and the
        farthest is {max(known):.1f} away (of so few draws, standard errors are
        themselves uncertain)."""
    )


def _draw(rows: list[dict[str, Any]], data: str, path: Path) -> bool:
    """Draw weights of the first fold, and τ-b over all folds."""
    own = {
        slack: [r for r in rows if r["data"] == data and r["slack"] == slack]
        for slack in SLACKS[:4]
    }
    if not own["pair"]:
        return False
    with drawing(path, 2) as (weights, score):
        first = own["pair"][0]
        coefs = np.array(first["coefs"])
        for j, name in enumerate(read(data).names):
            color = COLORS[j % len(COLORS)]
            style = "-" if j < len(COLORS) else "--"
            weights.plot(first["alphas"], coefs[:, j], style, color=color, label=name)
        weights.set(xscale="log", xlabel="α", ylabel="weights, slack per pair")
        add_legend(weights, "beside")
        for color, slack in zip(COLORS, own, strict=False):
            if not own[slack]:
                continue
            share = np.array(own[slack][0]["alphas"]) / own[slack][0]["alphas"][0]
            tau = np.mean([row["tau"] for row in own[slack]], axis=0)
            # Both forms of an item's slack may have one curve.
            style = "--" if slack == "item-weighted" else "-"
            score.plot(share, tau, style, color=color, label=slack)
        score.set(xscale="log", xlabel="α / largest α", ylabel="τ-b of test items")
        add_legend(score, "inside")
    return True
