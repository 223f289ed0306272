# SPDX-License-Identifier: BSD-3-Clause
"""Few items have scores, many have none: two views that are to agree.

The data are invented: every item is measured twice, by two noisy instruments of two
numbers each, and 20 of 400 items have a (noisy) score. Run it with
``python examples/semi_supervised.py [FOLDER]``; the picture goes to FOLDER, by default
the current one.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tiebreak import CoRankingPursuit, RankingPursuit

VIEWS = [[0, 1], [2, 3]]  # columns of the first and of the second instrument
NUS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
N_ITEMS, N_SCORED, N_DRAWS = 400, 20, 8


def simulate(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw items, their scores (NaN where there is none) and the true utility."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(N_ITEMS, 2))
    X = np.hstack([truth + 0.2 * rng.normal(size=truth.shape) for _ in VIEWS])
    utility = truth @ [1.0, 0.5]
    y = np.full(N_ITEMS, np.nan)
    y[:N_SCORED] = utility[:N_SCORED] + rng.normal(size=N_SCORED)
    return X, y, utility


def main(folder: Path) -> None:
    """Learn with more and less agreement; count pairs of items without a score."""
    alone, together = [], np.zeros((N_DRAWS, len(NUS)))
    agreement = np.zeros_like(together)
    for draw in range(N_DRAWS):
        X, y, utility = simulate(draw)
        scored = ~np.isnan(y)
        X_rest, rest = X[~scored], utility[~scored]
        simple = RankingPursuit(15, backfit=False).fit(X[scored], y[scored])
        alone.append(simple.score(X_rest, rest))
        for column, nu in enumerate(NUS):
            model = CoRankingPursuit(
                15, views=VIEWS, nu=nu, objective="functions", indices="shared"
            ).fit(X, y)  # all 400 rows: those with y = NaN are for agreement
            together[draw, column] = model.score(X_rest, rest)
            agreement[draw, column] = model.agreement_[0, 1]

    print(f"{N_SCORED} of {N_ITEMS} items have a score; mean of {N_DRAWS} draws")
    print("Pairs of items without a score that are put in the right order:")
    print(f"  RankingPursuit, scored items only   {np.mean(alone):.3f}")
    for column, nu in enumerate(NUS):
        print(
            f"  CoRankingPursuit, nu = {nu:<5g}        "
            f"{together[:, column].mean():.3f}   "
            f"(views agree on {agreement[:, column].mean():.3f})"
        )
    better = np.sum(together.max(axis=1) > together[:, 0])
    print(f"Some agreement helped in {better} of {N_DRAWS} draws.")
    print("How much is for a validation set to say: fit(..., validation=(X, y)).")

    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(6, 3.4), layout="constrained")
    axes = figure.subplots()
    shown = [NUS[1] / 3, *NUS[1:]]  # a place for 0 on an axis of logarithms
    axes.semilogx(shown, together.T, color="0.8", linewidth=1)
    axes.semilogx(shown, together.mean(axis=0), "o-", label="mean of all draws")
    axes.axhline(np.mean(alone), linestyle=":", color="0.3", label="scored items only")
    axes.set_xticks(shown, [f"{nu:g}" for nu in NUS])
    axes.set(xlabel="price of disagreement ν", ylabel="pairs in the right order")
    axes.legend(frameon=False)
    figure.savefig(folder / "semi_supervised.png")
    print(f"\nPicture: {folder / 'semi_supervised.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
