# SPDX-License-Identifier: BSD-3-Clause
"""Ranked lists: what people like, from lists of ten kinds of sushi.

Uses Kamishima's SUSHI preference data where they are present, see
``tiebreak.datasets.load_sushi_orders``; else invented kinds and people. Run it with
``python examples/sushi.py [FOLDER]``; the picture goes to FOLDER, by default the
current one.
"""

import math
import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tiebreak import Leaderboard, OnItems, Orders, PlackettLuce, RankSVM
from tiebreak.datasets import load_sushi_orders
from tiebreak.metrics import swapped_pairs
from tiebreak.report import LeaderboardDisplay

MINOR_GROUP = 2  # a feature that is a number without an order
FEW, MANY = 40, 1000  # lists to learn from


def load_lists() -> tuple[str, Orders, Orders]:
    """Give a name, lists of the same ten kinds, and lists of ten of 100 kinds."""
    try:
        ten, hundred = (load_sushi_orders(part, download=False).orders for part in "ab")
    except FileNotFoundError:
        return simulate_lists()
    # Write the group as indicators, one for each of its twelve values.
    group = hundred.values[:, [MINOR_GROUP]]
    rest = np.delete(hundred.values, MINOR_GROUP, axis=1)
    features = np.hstack([rest, group == np.unique(group)])
    return "lists of sushi", ten, hundred.with_items(features)


def simulate_lists(n_people: int = 1500) -> tuple:
    """Draw lists of kinds with six features; five of them matter to people."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(100, 6))
    liking = features @ [1.0, -0.8, 0.6, 0.4, 0.3, 0.0] + 0.2 * rng.normal(size=100)
    names = np.array([f"kind {number:02d}" for number in range(100)])

    def draw(kinds: np.ndarray) -> list[int]:
        return kinds[np.argsort(-liking[kinds] - 1.5 * rng.gumbel(size=10))].tolist()

    same = [draw(np.arange(10)) for _ in range(n_people)]
    some = [draw(rng.choice(100, 10, replace=False)) for _ in range(n_people)]
    ten = Orders(features[:10], same, names=names[:10])
    return "simulated lists", ten, Orders(features, some, names=names)


def right_pairs(utility: np.ndarray, lists: Orders) -> float:
    """Share of the pairs in the lists that utilities of all kinds put in order."""
    number = np.repeat(np.arange(len(lists)), lists.lengths)
    return 1 - swapped_pairs(-lists.position, utility[lists.flat], qid=number)


def main(folder: Path) -> None:
    """Rate ten kinds; then compare names and features on lists that were held out."""
    what, ten, hundred = load_lists()
    print(f"{len(ten):,} {what} of the same ten kinds")
    model = PlackettLuce().fit(ten[:MANY])
    # Of two kinds the first is preferred with odds of exp(difference) to one.
    board = Leaderboard(model, scale=1, base=math.e, anchor=0)
    for row in board.table.iter_rows(named=True):
        print(
            f"  {row['item']:10s} {row['rating']:+.2f}   "
            f"({row['lower']:+.2f} to {row['upper']:+.2f})"
        )

    print(
        f"\nLists of ten of {hundred.n_items} kinds: share of pairs in the right order"
    )
    test = hundred[-500:]
    for n_lists in (FEW, MANY):
        lists = hundred[:n_lists]
        # Strengths of names: a kind that nobody saw yet is in the middle.
        names = PlackettLuce().fit(lists)
        # A function of features learns from every list about every kind.
        machine = RankSVM(kernel="linear", loss="squared_hinge", C=0.1)
        features = make_pipeline(OnItems(StandardScaler()), machine).fit(lists)
        known = dict(zip(names.items_, names.strength_, strict=True))
        guess = np.array([known.get(kind, 0.0) for kind in hundred.names])
        by_name = right_pairs(guess, test)
        by_features = right_pairs(features.predict(hundred.values), test)
        print(
            f"  from {n_lists:4d} lists: by name {by_name:.3f} "
            f"({len(known)} kinds seen), by features {by_features:.3f}"
        )

    folder.mkdir(parents=True, exist_ok=True)
    picture = LeaderboardDisplay(board).plot()
    picture.figure_.savefig(folder / "sushi.png")
    print(f"\nPicture: {folder / 'sushi.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
