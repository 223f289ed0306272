# SPDX-License-Identifier: BSD-3-Clause
"""Rank language models by pairwise votes, with ties, raters and categories.

Needs two sets of votes: see ``tiebreak.datasets.load_lm_arena`` and ``load_llmfao``.
Run it with ``python examples/language_models.py``.
"""

import numpy as np
import polars as pl
from rich.console import Console

from tiebreak import BradleyTerry, Leaderboard, check_pairs
from tiebreak.datasets import load_llmfao, load_lm_arena


def main() -> None:
    """Print leaderboards, where models shine, and what to ask next."""
    console = Console()
    votes = load_lm_arena()
    console.rule(f"{len(votes.y):,} votes of an arena")
    console.print(check_pairs(votes.pairs, votes.y))
    board = Leaderboard.from_results(
        votes.pairs,
        votes.y,
        by={name: votes.tags[name] for name in ("math", "creative_writing")},
        model=BradleyTerry(alpha=0.01),
        interval="bootstrap",
    )
    console.print(board)
    ranks = board.by_category().pivot("category", index="item", values="rank")
    console.print("Ranks by category", ranks.head(10))
    moved = ranks.with_columns(gain=pl.col("all") - pl.col("math"))
    console.print("Better at math than overall", moved.top_k(3, by="gain"))
    console.print("Most informative votes to collect next", board.next_pairs(5))

    crowd = load_llmfao()
    n_raters = len(np.unique(crowd.rater))
    console.rule(f"{len(crowd.y):,} votes of {n_raters} people")
    console.print(check_pairs(crowd.pairs, crowd.y, rater=crowd.rater))
    model = BradleyTerry().fit(crowd.pairs, crowd.y, rater=crowd.rater)
    console.print(Leaderboard(model))
    alone, together = model.standard_errors("sandwich"), model.standard_errors()
    console.print(
        "Votes of one person depend on each other: clustered by person, standard "
        f"errors are {np.median(together / alone):.2f} times those of single votes."
    )


if __name__ == "__main__":
    main()
