# SPDX-License-Identifier: BSD-3-Clause
"""Items never compared before: what features know and names do not.

Invented products with three features are compared by people. Cross-validation over
*rows* tests products that the model has seen in other rows; `ItemKFold` tests pairs of
products that it has never seen. Run it with ``python examples/unseen_items.py
[FOLDER]``; the picture goes to FOLDER, by default the current one.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import KFold

from tiebreak import (
    BradleyTerry,
    LogisticCompare,
    MajorityCompare,
    Pairs,
    SVMCompare,
    ThresholdCompare,
)
from tiebreak.metrics import comparison_error, comparison_roc_curve
from tiebreak.selection import ItemKFold

N_PRODUCTS, N_ROWS = 60, 3000


def simulate() -> tuple[Pairs, np.ndarray]:
    """Draw comparisons; liking is largest in the middle of the first feature."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_PRODUCTS, 3))
    liking = -1.5 * X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=N_PRODUCTS)
    left = rng.integers(N_PRODUCTS, size=N_ROWS)
    right = (left + rng.integers(1, N_PRODUCTS, size=N_ROWS)) % N_PRODUCTS
    noisy = liking[right] - liking[left] + rng.logistic(size=N_ROWS)
    y = np.where(np.abs(noisy) < 0.8, 0, np.sign(noisy)).astype(int)
    names = [f"product {number}" for number in range(N_PRODUCTS)]
    return Pairs(X, left, right, names=names), y


def held_out(model: object, pairs: Pairs, y: np.ndarray, folds: object) -> tuple:
    """Give outcomes, predictions and differences of all rows that were held out."""
    parts = []
    for train, test in folds.split(pairs, y):
        model.fit(pairs[train], y[train])
        parts.append(
            (y[test], model.predict(pairs[test]), model.difference(pairs[test]))
        )
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def main(folder: Path) -> None:
    """Print errors on seen and unseen products, and draw the ROC curves."""
    pairs, y = simulate()
    by_name = Pairs(None, pairs.names[pairs.left], pairs.names[pairs.right])
    print(f"{len(y):,} simulated comparisons of {pairs.n_items} products")
    rows, items = KFold(5, shuffle=True, random_state=0), ItemKFold(3, random_state=0)
    kept = sum(len(test) for _, test in items.split(pairs, y))
    print(f"ItemKFold(3) tests {kept} rows: both products new to the model\n")

    print("share of wrong outcomes      products seen   products new")
    error = comparison_error(*held_out(BradleyTerry(alpha=0.1), by_name, y, rows)[:2])
    print(f"  BradleyTerry, by name          {error:.3f}            -")
    try:
        held_out(BradleyTerry(alpha=0.1), by_name, y, items)
    except ValueError as refusal:
        reason = str(refusal).split(":")[0]
    models = {
        "SVMCompare, features": ThresholdCompare(
            SVMCompare(C=1.0, gamma=0.3, tie_weight=1)
        ),
        "LogisticCompare, features": LogisticCompare(alpha=1.0, kernel="rbf"),
        "always the same": MajorityCompare(),
    }
    figure = Figure(figsize=(4.8, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 0.5], "--", color="0.5", label="coin tosses")
    for name, model in models.items():
        seen = comparison_error(*held_out(model, pairs, y, rows)[:2])
        truth, predicted, difference = held_out(model, pairs, y, items)
        new = comparison_error(truth, predicted)
        print(f"  {name:27s}    {seen:.3f}          {new:.3f}")
        if name.startswith("SVM"):
            curve = comparison_roc_curve(truth, difference)[:2]
            axes.plot(*curve, label="SVMCompare, products new")
    print(f"\nBradleyTerry on new products: {reason}.")

    folder.mkdir(parents=True, exist_ok=True)
    axes.set(xlabel="ties called different", ylabel="winners called right")
    axes.legend(frameon=False)
    figure.savefig(folder / "unseen_items.png")
    print(f"\nPicture: {folder / 'unseen_items.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
