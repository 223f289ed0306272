# SPDX-License-Identifier: BSD-3-Clause
"""Whether the fewest votes are the fewest, and what an audit costs.

``python -m benchmarks.audit`` draws small data (2 to 5 items, up to 14 votes), and
compares the number of votes with that of a search through all sets of votes, once as an
audit answers, and once by the search for influential votes alone. ``python -m
benchmarks.audit arena`` audits 135,624 votes on language models, and prints seconds and
the memory of the process; ``football`` and ``chess`` do the same.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed

import tiebreak
from tests.oracles.fewest_votes import fewest_votes
from tests.robustness.test_fewest import ALPHA, draw_votes, leader, problem
from tiebreak import datasets
from tiebreak.robustness.fewest import EQUAL, OverturnSearch, fewest, vote_changes

LOADERS = {
    "arena": partial(datasets.load_published, "lm_arena_140k"),
    "football": partial(datasets.load_published, "football1872"),
    "chess": datasets.load_chess,
}


def compare(case: int, reverse: bool) -> tuple[int | None, int | None, int | None]:
    """The number of an audit, of its search alone, and of all sets."""
    rng = np.random.default_rng([case, reverse])
    n_items, n_votes = int(rng.integers(2, 6)), int(rng.integers(3, 15))
    left, right, outcome = draw_votes(rng, n_items, n_votes)
    votes, strengths, start = problem(left, right, outcome, n_items)
    pairs = leader(start, n_items)
    if min(start.claim(*pair) for pair in pairs) <= EQUAL:
        return 0, 0, 0
    changes = vote_changes(votes, reverse=reverse)
    found = fewest(strengths, start, changes, pairs)
    alone = [OverturnSearch(strengths, start, changes, *pair).run() for pair in pairs]
    numbers = [one.number for one in alone if one is not None]
    most = n_votes if found is None else found.number
    truth = fewest_votes(
        left, right, outcome, n_items, ALPHA, pairs, most, reverse=reverse
    )
    return None if found is None else found.number, min(numbers, default=None), truth


def count_equal(n_cases: int) -> None:
    """Print the shares of cases in which the numbers are equal."""
    for reverse in (False, True):
        cases = Parallel(n_jobs=-1, batch_size=20)(
            delayed(compare)(case, reverse) for case in range(n_cases)
        )
        told = [case for case in cases if case != (0, 0, 0)]
        equal = sum(found == truth for found, _, truth in told)
        alone = sum(found == truth for _, found, truth in told)
        below = sum(
            found is not None and truth is not None and found < truth
            for found, _, truth in told
        )
        what = "reversal" if reverse else "removal"
        print(
            f"{what}: {len(told)} cases; {100 * equal / len(told):.2f} % equal to all "
            f"sets, {100 * alone / len(told):.2f} % by the search alone; {below} below"
        )


def clocks() -> tuple[float, float]:
    """Seconds that passed, and those that processors worked."""
    return time.perf_counter(), time.process_time()


def measure(name: str) -> None:
    """Print the seconds of each step of an audit, and the memory."""
    data = LOADERS[name]()
    warnings.simplefilter("ignore")
    steps: list[tuple[float, float, str]] = []
    found = tiebreak.audit(
        data.pairs, data.y, progress=lambda step: steps.append((*clocks(), step))
    )
    steps.append((*clocks(), "end"))
    for (began, worked, step), (ended, until, _) in pairwise(steps):
        print(f"{ended - began:6.2f} s, {until - worked:6.2f} s of processors: {step}")
    first = next(step for step in steps if step[2].startswith("claim 1 "))
    for what, (began, worked, _) in (("all claims", first), ("audit", steps[0])):
        wall, used = steps[-1][0] - began, steps[-1][1] - worked
        print(f"{wall:6.2f} s, {used:6.2f} s of processors: {what}")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{megabytes:.0f} MB")
    for one in found.claims:
        removed = None if one.removal is None else one.removal.number
        reversed_ = None if one.reversal is None else one.reversal.number
        share = f"{100 * (removed or 0) / found.n_votes:.4f} %"
        print(f"{one.claim}: {one.verdict}; remove {removed} ({share}), {reversed_}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", choices=sorted(LOADERS))
    parser.add_argument("--cases", type=int, default=2000)
    asked = parser.parse_args()
    if asked.data:
        measure(asked.data)
    else:
        count_equal(asked.cases)
