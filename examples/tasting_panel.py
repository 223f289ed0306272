# SPDX-License-Identifier: BSD-3-Clause
"""A tasting panel: people score wines, ties are common, and people have tastes.

The panel is invented: 16 people score 8 wines from 1 to 5. Run it with
``python examples/tasting_panel.py [FOLDER]``; the scores (a CSV file) and the picture
go to FOLDER, by default the current one.
"""

import sys
import textwrap
from pathlib import Path

import numpy as np
import polars as pl

from tiebreak import BradleyTerry, Leaderboard, check_pairs
from tiebreak.io import read_file
from tiebreak.report import LeaderboardDisplay
from tiebreak.selection import RaterKFold, evaluate_folds

# From the best to the worst, on average over tasters.
WINES = ("Barolo", "Riesling", "Rioja", "Malbec", "Chablis", "Gamay", "Merlot", "Port")
N_TASTERS = 16


def simulate_panel() -> pl.DataFrame:
    """Draw scores from 1 to 5: what all agree on, a taste, and a strict or mild hand.

    One taster, the last, gives every wine a 3.
    """
    rng = np.random.default_rng(7)
    quality = np.linspace(1.0, -1.0, len(WINES))
    taste = rng.normal(scale=0.7, size=(N_TASTERS, len(WINES)))
    hand = rng.normal(scale=0.8, size=(N_TASTERS, 1))
    liking = 3 + quality + taste + hand + rng.normal(scale=0.5, size=taste.shape)
    liking[-1] = 3
    score = np.clip(np.round(liking), 1, 5).astype(int)
    taster = np.repeat([f"taster {n:02d}" for n in range(1, N_TASTERS + 1)], len(WINES))
    wine = np.tile(WINES, N_TASTERS)
    return pl.DataFrame({"taster": taster, "wine": wine, "score": score.ravel()})


def main(folder: Path) -> None:
    """Read the scores as comparisons, check the panel, rate the wines."""
    folder.mkdir(parents=True, exist_ok=True)
    simulate_panel().write_csv(folder / "panel.csv")
    panel = read_file(folder / "panel.csv")
    for sentence in panel.sentences:
        print(textwrap.fill(sentence, 80))
    pairs, y, taster = panel.data.pairs, panel.data.y, panel.data.columns["rater"]

    report = check_pairs(pairs, y, rater=taster, sided=panel.sided)
    for finding in report.findings:
        if finding.code == "constant_rater":
            print(textwrap.fill(f"Check: {finding.message}", 80))

    model = BradleyTerry().fit(pairs, y, rater=taster)
    board = Leaderboard(model)
    for row in board.table.iter_rows(named=True):
        print(
            f"{row['rank']:3d}  {row['item']:10s} {row['rating']:5.0f}   "
            f"{row['lower']:.0f} to {row['upper']:.0f}   group {row['group']}"
        )
    # Sixteen people are sixteen opinions, however many pairs each of them decides.
    alone = BradleyTerry().fit(pairs, y)
    ratio = model.standard_errors() / alone.standard_errors()
    print(
        "Counting people instead of pairs makes intervals "
        f"{np.median(ratio):.1f} times as wide."
    )

    result = evaluate_folds(
        BradleyTerry(), pairs, y, cv=RaterKFold(4),
        groups=taster,
    )  # fmt: skip
    for row in result.table.iter_rows(named=True):
        print(f"  a new taster, by {row['model']:13s} log loss {row['log_loss']:.3f}")

    picture = LeaderboardDisplay(board).plot()
    picture.figure_.savefig(folder / "tasting_panel.png")
    print(f"\nPicture: {folder / 'tasting_panel.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
