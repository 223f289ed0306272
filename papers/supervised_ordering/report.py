# SPDX-License-Identifier: BSD-3-Clause
"""Table 2 and figures 2 to 4 beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from papers.figures import COLORS, add_legend, drawing
from papers.results import Results
from papers.supervised_ordering.experiments import DATA, EXPERIMENTS, NOISE
from papers.supervised_ordering.methods import METHODS, MORE
from papers.supervised_ordering.sushi import MORE as OTHERS
from papers.supervised_ordering.sushi import PUBLISHED, SUSHI
from papers.tables import Sample, markdown, paired_mark, paragraph, pick

__all__ = ["TITLE", "write"]

TITLE = "supervised ordering"
NAMES = dict(zip(METHODS, ("Cohen", "RB", "SVOR", "OSVM", "ERR"), strict=True))
TABLE_2A = {
    "li/num": (0.860, 0.959, 0.914, 0.886, 0.982),
    "li/bin": (0.966, 0.978, 0.885, 0.868, 0.895),
    "nl/num": (0.682, 0.763, 0.911, 0.878, 0.935),
    "nl/bin": (0.786, 0.875, 0.866, 0.842, 0.830),
}
TABLE_2B = {
    "nl/num": (0.652, 0.719, 0.818, 0.797, 0.813),
    "nl/bin": (0.764, 0.842, 0.817, 0.809, 0.796),
}


def write(quick: bool, folder: Path | None, figures: Path) -> str:
    """Write all of it."""
    table, noise, sizes = (
        Results(experiment, quick, folder).table() for experiment in EXPERIMENTS[:3]
    )
    text = "### Table 2(a): ρ without noise\n\n" + _table(table, TABLE_2A, noisy=False)
    text += paragraph(
        """Reproduced for Cohen and RankBoost. Better for the three others, by .01 to
        .10: ours are solved to a relative gap of 10⁻³; what the solvers of the survey
        reached is not known. SVOR is the best method on data that are not linear, and
        not ERR or RankBoost. The spread over draws of `nl` is that between squares
        and cubes: no weighted vote of attributes can follow a square."""
    )
    text += "\n### Table 2(b): ρ with noise\n\n" + _table(table, TABLE_2B, noisy=True)
    text += paragraph(
        """Reproduced for Cohen and RankBoost, better for the others. Order SVM is the
        one that noise hurts least, where the survey has SVOR and RankBoost ahead."""
    )
    text += "\nOther settings of the same methods, which the survey mentions:\n\n"
    text += _more(table)
    _draw_noise(noise, figures / "004-noise.svg")
    text += "\n### Figures 2 and 3: noise\n\n![noise](figures/004-noise.svg)\n\n"
    _draw_sizes([*table, *sizes], figures / "004-sizes.svg")
    text += "### Figure 4: sizes\n\n![sizes](figures/004-sizes.svg)\n\n"
    text += "### Table 3: ρ on orders of sushi\n\n"
    text += _sushi(Results(SUSHI, quick, folder).table()) + "\n"
    text += "### Table 1: measured seconds of one fold\n\n" + _times(table)
    return text + (
        "\nThe NEWS data of table 3 are proprietary and cannot be had, so those rows "
        "are not here.\n\n"
    )


def _pick(rows: list[dict[str, Any]], value: str, **settings: Any) -> Sample:
    """Give the draws with these settings, those not named at their defaults."""
    names = ("order_noise", "attribute_noise", "n_items", "n_orders", "length")
    wanted = dict.fromkeys(names) | settings
    return Sample(
        row[value]
        for row in rows
        if all(row.get(name) == level for name, level in wanted.items())
    )


def _settings(data: str, noisy: bool) -> dict[str, Any]:
    if not noisy:
        return {"data": data}
    return {
        "data": data,
        "order_noise": 0.01,
        "attribute_noise": NOISE[data[-3:]],
    }


def _table(
    rows: list[dict[str, Any]], theirs: Mapping[str, tuple[float, ...]], noisy: bool
) -> str:
    lines = []
    for data, published in theirs.items():
        settings = _settings(data, noisy)
        ours = {m: _pick(rows, "true", method=m, **settings) for m in METHODS}
        if not len(ours["err"]):
            ours = {
                m: Sample(
                    r["true"] for r in rows if r["method"] == m and r["data"] == data
                )
                for m in METHODS
            }
        if not len(ours["err"]):
            continue
        ranked = sorted(METHODS, key=lambda m: -ours[m].mean)
        line = [data]
        for method, value in zip(METHODS, published, strict=True):
            place = ranked.index(method)
            mark = ""
            if place + 1 < len(ranked):
                mark = paired_mark(ours[method], ours[ranked[place + 1]])
            line += [f"{value:.3f}", f"{ours[method].show(3)} [{place + 1}]{mark}"]
        lines.append([*line, f"{len(ours['err'])}"])
    header = [""]
    for method in METHODS:
        header += [f"{NAMES[method]}, paper", "ours"]
    return markdown([*header, "draws"], lines)


def _more(rows: list[dict[str, Any]]) -> str:
    lines = []
    for noisy in (False, True):
        for data in DATA[2:] if noisy else DATA:
            settings = _settings(data, noisy)
            found = [_pick(rows, "true", method=m, **settings) for m in MORE[:-1]]
            if any(len(sample) for sample in found):
                label = f"{data}, noisy" if noisy else data
                lines.append([label, *(sample.show(3) for sample in found)])
    return markdown(["", *MORE[:-1]], lines)


def _sushi(rows: list[dict[str, Any]]) -> str:
    lines = []
    for (n, length, sample), published in PUBLISHED.items():
        own = {"n": n, "length": length, "sample": sample}
        ours = [pick(rows, "empirical", method=m, **own) for m in (*METHODS, *OTHERS)]
        line = [f"{n}:{length} {sample}"]
        for value, found in zip(published, ours, strict=False):
            line += [f"{value:.3f}", found.show(3)]
        lines.append([*line, *(found.show(3) for found in ours[len(published) :])])
    header = [""]
    for method in METHODS:
        header += [f"{NAMES[method]}, paper", "ours"]
    return markdown([*header, *OTHERS], lines) + paragraph(
        """The broad samples are reproduced. The narrow ones are of another cluster
        than those of the survey, so that only the order of the methods can be
        compared."""
    )


def _times(rows: list[dict[str, Any]]) -> str:
    lines = []
    for method in METHODS:
        line = [NAMES[method]]
        for kind in ("num", "bin"):
            for step in ("fit", "predict"):
                found = Sample(
                    row[step]
                    for row in rows
                    if row["method"] == method and row["data"].endswith(kind)
                )
                line.append(f"{found.mean:.3f}" if len(found) else "—")
        lines.append(line)
    header = ["", "5 numbers: learn", "order", "15 bits: learn", "order"]
    return markdown(header, lines)


def _curve(
    axes: Any, points: list[tuple[float, Sample]], color: str, **more: Any
) -> None:
    kept = [(x, sample) for x, sample in points if len(sample)]
    if kept:
        x = [place for place, _ in kept]
        axes.plot(x, [s.mean for _, s in kept], marker="o", ms=3, color=color, **more)


def _draw_noise(rows: list[dict[str, Any]], path: Path) -> None:
    with drawing(path, 2, sharey=True) as (order, attribute):
        for color, method in zip(COLORS, METHODS, strict=False):
            for axes, name in ((order, "order_noise"), (attribute, "attribute_noise")):
                levels = sorted({row.get(name, 0.0) for row in rows})
                points = []
                for level in levels:
                    wanted = {name: level} if level else {"order_noise": 0.0}
                    sample = _pick(rows, "true", method=method, data="nl/num", **wanted)
                    points.append((100.0 * level, sample))
                _curve(axes, points, color, label=NAMES[method])
        order.set(xlabel="order noise, %", ylabel="true ρ, nl/num")
        attribute.set(xlabel="attribute noise, %")
        add_legend(order)


def _draw_sizes(rows: list[dict[str, Any]], path: Path) -> None:
    default = {"n_items": 1000, "n_orders": 300, "length": 10}
    labels = {"n_items": "items", "n_orders": "lists", "length": "length of lists"}
    with drawing(path, 3, 2) as all_axes:
        places = [(data, name) for data in DATA[2:] for name in default]
        for axes, (data, name) in zip(all_axes, places, strict=True):
            noisy = name != "length"
            settings = _settings(data, noisy)
            values = sorted({row.get(name, default[name]) for row in rows})
            for color, method in zip(COLORS, METHODS, strict=False):
                points = []
                for value in values:
                    wanted = {} if value == default[name] else {name: value}
                    sample = _pick(rows, "true", method=method, **settings, **wanted)
                    points.append((value, sample))
                _curve(axes, points, color, label=NAMES[method])
            axes.set_xscale("log")
            axes.set(xlabel=labels[name], title=data)
        all_axes[0].set_ylabel("true ρ")
        all_axes[3].set_ylabel("true ρ")
        add_legend(all_axes[0])
