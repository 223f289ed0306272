# SPDX-License-Identifier: BSD-3-Clause
"""Find the few features that matter, with the 1-norm and cross-validation.

The data are invented, because then it is known which features matter: 4 of 40. Run it
with ``python examples/feature_selection.py [FOLDER]``; the picture goes to FOLDER, by
default the current one.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tiebreak import L1RankerCV, RankSVM

N_FEATURES = 40
WEIGHTS = {3: 1.0, 11: -0.8, 20: 0.6, 34: 0.5}


def simulate(n_items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw items with grades from 0 to 4, by four of their features and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, N_FEATURES))
    value = sum(weight * X[:, j] for j, weight in WEIGHTS.items())
    value += rng.normal(scale=0.7, size=n_items)
    return X, np.digitize(value, [-1.5, -0.5, 0.5, 1.5])


def main(folder: Path) -> None:
    """Follow the path, choose by cross-validation, and test on new items."""
    X, y = simulate(80, seed=0)
    fresh, grades = simulate(2000, seed=1)
    print(f"{len(y)} items, grades 0 to 4, {N_FEATURES} features; 4 of them matter")

    model = L1RankerCV(n_alphas=13, eps=0.05, cv=4).fit(X, y)
    print("\n  alpha   features   held out: pairs in the right order")
    for row in range(2, len(model.alphas_), 2):
        n_used = np.count_nonzero(model.coef_path_[row])
        score = 1 + model.scores_[row].mean()  # scores are minus the swapped share
        mark = "   <- chosen" if model.alphas_[row] == model.alpha_ else ""
        print(f"  {model.alphas_[row]:6.1f}   {n_used:8d}   {score:.3f}{mark}")

    print(f"\nChosen: alpha {model.alpha_:.1f} with {len(model.selected_)} features")
    largest = np.argsort(-np.abs(model.coef_))[:6]
    for j in largest:
        truth = WEIGHTS.get(int(j), 0.0)
        print(f"  feature {j:2d}  weight {model.coef_[j]:+.2f}   (truth {truth:+.1f})")

    # The ordinary machine uses every feature, here with the best C in hindsight.
    machines = [
        RankSVM(kernel="linear", loss="squared_hinge", C=C).fit(X, y)
        for C in np.geomspace(1e-5, 1e-1, 9)
    ]
    dense = max(machine.score(fresh, grades) for machine in machines)
    print("\nPairs of 2000 new items in the right order:")
    print(f"  L1RankerCV, {len(model.selected_):2d} features  ", end="")
    print(f"{model.score(fresh, grades):.3f}")
    print(f"  RankSVM,    {N_FEATURES:2d} features  {dense:.3f}")

    folder.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    weights, errors = figure.subplots(2, sharex=True)
    weights.semilogx(model.alphas_, model.coef_path_, color="0.8", linewidth=1)
    for j in WEIGHTS:
        weights.semilogx(model.alphas_, model.coef_path_[:, j], label=f"feature {j}")
    errors.semilogx(model.alphas_, -model.scores_.mean(axis=1), "o-")
    for axes, label in ((weights, "weight"), (errors, "pairs in the wrong order")):
        axes.axvline(model.alpha_, linestyle=":", color="0.3")
        axes.set_ylabel(label)
    errors.set_xlabel("alpha")
    weights.legend(frameon=False)
    figure.savefig(folder / "feature_selection.png")
    print(f"\nPicture: {folder / 'feature_selection.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
