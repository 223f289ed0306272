# SPDX-License-Identifier: BSD-3-Clause
"""Compare with ties on real results, and see what ties teach on simulated ones.

Run it with ``make demo``. First the 64 matches of the 2022 football World Cup: a
leaderboard and a few predictions. Then the simulation of Venuto, Hocking, Sphanurattana
and Sugiyama, whose figure 3 it draws: level curves learned without ties (*rank*), with
ties turned into opposite wins (*rank2*), and with ties as ties (*compare*).
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from tiebreak import Outcome, Pairs, RankSVM, SVMCompare, ThresholdCompare, save, tune
from tiebreak.datasets import load_worldcup2022, make_norms
from tiebreak.report import TuningDisplay

SHOWN = [
    ("Argentina", "France"),
    ("Croatia", "Morocco"),
    ("Qatar", "Brazil"),
    ("Spain", "Japan"),
    ("Senegal", "England"),
]


def compare_teams(console: Console, folder: Path) -> None:
    """Fit a comparer on the World Cup and print what it says."""
    cup = load_worldcup2022()
    model = ThresholdCompare(SVMCompare(kernel="linear", C=1.0, tie_weight=1))
    model.fit(cup.pairs, cup.y)
    teams = cup.pairs.names
    best_first = model.order(teams)
    utility = model.utility(teams)

    table = Table(title="2022 World Cup: 64 matches, shoot-outs count as draws")
    for name, justify in [("", "right"), ("team", "left"), ("utility", "right")]:
        table.add_column(name, justify=justify)
    for name in ("won", "drawn", "lost"):
        table.add_column(name, justify="right")
    for place, team in enumerate(best_first[:12], start=1):
        on_left, on_right = cup.pairs.left == team, cup.pairs.right == team
        result = np.concatenate([-cup.y[on_left], cup.y[on_right]])
        counts = [str((result == sign).sum()) for sign in (1, 0, -1)]
        table.add_row(str(place), teams[team], f"{utility[team]:+.2f}", *counts)
    console.print(table)
    console.print(f"[dim]... and {len(teams) - 12} more teams.[/dim]\n")

    left, right = zip(*SHOWN, strict=True)
    predicted = model.predict(Pairs(None, left, right))
    console.print("[bold]If they met again[/bold] (left, tie or right):")
    for (a, b), outcome in zip(SHOWN, predicted, strict=True):
        word = Outcome(outcome).word
        winner = {"left": a, "right": b}.get(word, "a draw")
        console.print(f"  {a} – {b}: [bold]{word}[/bold], that is {winner}")
    console.print(
        f"\nThe threshold of a tie is {model.threshold_:.2f}; it explains "
        f"{100 * model.score(cup.pairs, cup.y):.0f} % of the matches it was fitted on. "
        "Three to seven matches a team are few: this shows the tool, not the truth.\n"
    )
    file = save(model, folder / "worldcup2022.tiebreak")
    console.print(f"Model: {file}")


def draw_simulation(console: Console, folder: Path) -> None:
    """Tune three methods on simulated comparisons and draw their level curves."""
    train = make_norms(100, norm=1, random_state=1)
    validation = make_norms(400, norm=1, random_state=2)
    test = make_norms(5000, norm=1, random_state=3)
    grid = {"C": np.geomspace(1e-3, 1e3, 10), "gamma": np.geomspace(2**-7, 2**4, 10)}
    models = {
        "rank": ThresholdCompare(RankSVM(ties="ignore")),
        "rank2": ThresholdCompare(RankSVM(ties="both")),
        "compare": SVMCompare(tie_weight=1),
    }
    fitted = {}
    for name, model in models.items():
        inner = "" if name == "compare" else "ranker__"
        start = time.perf_counter()
        search = tune(
            model,
            train.pairs,
            train.y,
            {inner + key: values for key, values in grid.items()},
            validation=(validation.pairs, validation.y),
        )
        seconds = time.perf_counter() - start
        fitted[name] = search.best_estimator_
        error = 1 - search.best_estimator_.score(test.pairs, test.y)
        console.print(
            f"  {name:8s} test error {100 * error:4.1f} %  "
            f"[dim](100 models tuned in {seconds:.1f} s)[/dim]"
        )
        if name == "compare":
            TuningDisplay(search).plot().figure_.savefig(folder / "grid.png")
    picture = draw_curves(fitted, train)
    picture.savefig(folder / "level_curves.png")
    console.print(f"Pictures: {folder / 'level_curves.png'}, {folder / 'grid.png'}")


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
    """Run both parts and say where the files are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("tiebreak-demo"))
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    compare_teams(console, folder)
    console.print(
        "\n[bold]What ties teach[/bold]: 100 simulated pairs, half of them ties"
    )
    draw_simulation(console, folder)


if __name__ == "__main__":
    main()
