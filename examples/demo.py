# SPDX-License-Identifier: BSD-3-Clause
"""Rank twelve years of football, forecast matches, and see what ties teach.

Run it with ``make demo``. First the World Cup of 2022 alone, which is too little to say
who is best; then all international matches since 2014. Last the simulation of Venuto,
Hocking, Sphanurattana and Sugiyama, whose figure 3 it draws: level curves learned
without ties (*rank*), with ties turned into opposite wins (*rank2*), and with ties as
ties (*compare*).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tiebreak import Pairs, RankSVM, SVMCompare, ThresholdCompare, rank, tune
from tiebreak.datasets import make_norms

MATCHES = [("Spain", "Argentina"), ("Japan", "Germany"), ("Brazil", "Norway")]


def rank_football(console: Console) -> Any:
    """Rank one tournament, then twelve years; forecast matches."""
    console.print("[bold]64 matches[/bold], the World Cup of 2022:")
    console.print(" ", *rank("worldcup2022").summary()[:1])
    console.print("\n[bold]All matches since 2014[/bold]:")
    result = rank("football", title="International football since 2014")
    who, *how_good = result.summary()
    parts = result.parts(console.width, rows=10)
    console.print(next(part for part in parts if isinstance(part, Table)))
    model = result.model
    left, right = zip(*MATCHES, strict=True)
    forecast = model.predict_proba(Pairs(None, left, right), advantage=0)
    console.print("On neutral ground, in 90 or 120 minutes:")
    for a, b, (win, draw, loss) in zip(left, right, forecast, strict=True):
        console.print(f"  {a} beats {b} {win:.0%}, a draw {draw:.0%}, {b} {loss:.0%}")
    console.print("\n[bold]Who is best, and how sure is that?[/bold]", who)
    console.print("[bold]The forecast:[/bold]", *how_good)
    table = result.quality.table
    ours, base = table["log_loss"][:2]
    console.print(
        f"Its log loss on {table['n_test'][0]:,} later matches is {ours:.3f}; that of "
        f"the shares of outcomes is {base:.3f}."
    )
    return result


def draw_simulation(console: Console, folder: Path) -> None:
    """Tune three methods on simulated comparisons and draw their level curves."""
    train = make_norms(100, norm=1, random_state=1)
    validation = make_norms(400, norm=1, random_state=2)
    test = make_norms(5000, norm=1, random_state=3)
    grid = {"C": np.geomspace(1e-3, 1e3, 10), "gamma": np.geomspace(2**-7, 2**4, 10)}
    models = {
        "rank": (ThresholdCompare(RankSVM(ties="ignore")), "without ties"),
        "rank2": (ThresholdCompare(RankSVM(ties="both")), "ties as two wins"),
        "compare": (SVMCompare(tie_weight=1), "ties as ties"),
    }
    fitted = {}
    for name, (model, how) in models.items():
        inner = "" if name == "compare" else "ranker__"
        search = tune(
            model,
            train.pairs,
            train.y,
            {inner + key: values for key, values in grid.items()},
            validation=(validation.pairs, validation.y),
        )
        fitted[name] = search.best_estimator_
        error = 1 - search.best_estimator_.score(test.pairs, test.y)
        console.print(f"  {name:8s}{how:18s}wrong in {error:.1%} of new pairs")
    picture = draw_curves(fitted, train)
    picture.savefig(folder / "level_curves.png")
    console.print(f"Level curves: {folder / 'level_curves.png'}")


def draw_curves(models: dict[str, Any], train: Any) -> Figure:
    """Draw pairs, and level curves of what was learned from them."""
    figure = Figure(
        figsize=(2.8 * (1 + len(models)), 3.9), dpi=150, layout="constrained"
    )
    panels = figure.subplots(1, 1 + len(models), sharex=True, sharey=True)
    ends = np.asarray(train.pairs)
    ties, others = ends[train.y == 0], ends[train.y != 0]
    swap = train.y[train.y != 0] < 0
    others[swap] = others[swap][:, ::-1]
    add_curves(panels[0], "training pairs", train.utility, train.threshold, "#A6A6A6")
    panels[0].plot(*ties.T, color="#D55E00", linewidth=1.3)
    arrows = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.009}
    steps = others[:, 1] - others[:, 0]
    panels[0].quiver(*others[:, 0].T, *steps.T, color="#0072B2", **arrows)
    for axes, (name, model) in zip(panels[1:], models.items(), strict=True):
        threshold = getattr(model, "threshold_", None)
        add_curves(axes, name, model.utility, threshold, "#1F3B57", filled=True)
    words = "orange: ties; arrows to the better item; darker: higher utility"
    figure.supxlabel(words, fontsize=8)
    return figure


def add_curves(
    axes: Axes, title: str, utility: Any, threshold: Any, color: str, filled=False
) -> None:
    """Draw level curves of a utility over the square of the points."""
    grid = np.linspace(-3.2, 3.2, 121)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    values = utility(points).reshape(len(grid), -1)
    n_steps = np.ptp(values) / threshold if threshold else np.inf
    note, levels = "evenly spaced curves", np.linspace(values.min(), values.max(), 25)
    if n_steps < np.inf:
        apart = threshold * np.ceil(n_steps / 25)
        levels = np.arange(values.min(), values.max() + apart, apart)
        note = f"curves {apart / threshold:.0f} × the threshold apart"
    if filled:
        axes.contourf(grid, grid, values, levels, cmap="Blues", alpha=0.8)
    axes.contour(
        grid, grid, values, levels, colors=color, linewidths=0.7, linestyles="-"
    )
    axes.set_title(title, fontsize=11, pad=18)
    axes.text(0.5, 1.03, note, transform=axes.transAxes, ha="center", fontsize=7.5)
    axes.set_box_aspect(1)


def main() -> None:
    """Run all parts and say where the files are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("tiebreak-demo"))
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    result = rank_football(console)
    console.print(
        "\n[bold]What ties teach[/bold]: 100 simulated pairs, half of them ties"
    )
    draw_simulation(console, folder)
    result.report(folder / "report.html")
    console.print(f"\nReport: {folder / 'report.html'}")


if __name__ == "__main__":
    main()
