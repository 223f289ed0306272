# SPDX-License-Identifier: BSD-3-Clause
"""Ratings and leaderboards against evalica (Rust) and elote (pure Python)."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import (
    PeakMemory,
    interleaved,
    processor_ratio,
    processor_seconds,
    slope,
)
from benchmarks.rows import Row
from tiebreak import BradleyTerry, Elo, Leaderboard, Pairs, audit
from tiebreak.datasets import load_published
from tiebreak.solvers import minimize_newton

MILLION = 1_000_000


def make_votes(n: int, n_items: int, seed: int = 0) -> tuple[Pairs, np.ndarray]:
    """Draw comparisons from Davidson's model with ν = 0.7."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n_items)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = strength[right] - strength[left]
    odds = np.stack([np.exp(-d / 2), np.full(n, 0.7), np.exp(d / 2)])
    share = np.cumsum(odds / odds.sum(axis=0), axis=0)
    # As Outcome.parse and the loaders give it.
    y = ((rng.random(n) > share[:2]).sum(axis=0) - 1).astype(np.int8)
    return Pairs(None, left, right, names=[f"model {i}" for i in range(n_items)]), y


def elo_against_peers() -> Iterator[Row]:
    """A million Elo updates against evalica's Rust and elote's Python."""
    import evalica
    from evalica import _brzo

    pairs, y = make_votes(MILLION, 200)
    words = {-1: evalica.Winner.X, 0: evalica.Winner.Draw, 1: evalica.Winner.Y}
    left, right = pairs.left.tolist(), pairs.right.tolist()
    winners, ones = [words[outcome] for outcome in y.tolist()], np.ones(len(y))

    def ours():
        return Elo(4.0, init=1000.0).fit(pairs, y)

    def rust_core():
        return _brzo.elo(
            xs=left, ys=right, winners=winners, weights=ones, total=200,
            initial=1000.0, base=10.0, scale=400.0, k=4.0,
            win_weight=1.0, tie_weight=0.5,
        )  # fmt: skip

    def our_ratings():
        return ours().utility(pairs.names)

    difference = np.abs(our_ratings() - rust_core()).max()
    if difference > 1e-6:
        raise AssertionError(f"ratings differ by {difference}")
    a, b, ratio = interleaved(ours, rust_core, repeat=7)
    note = f"{1e3 * a:.0f} ms against {1e3 * b:.0f} ms; equal to {difference:.0e}"
    yield Row(
        "Elo, 10⁶ games: times faster than evalica's core",
        f"{ratio:.1f}×",
        "≥ 10×",
        ratio >= 10,
        note,
    )
    names = pairs.names
    left_names, right_names = names[pairs.left].tolist(), names[pairs.right].tolist()
    a, b, ratio = interleaved(
        lambda: Elo(4.0).fit(Pairs(None, left_names, right_names), y),
        lambda: evalica.elo(left_names, right_names, winners),
        repeat=3,
    )
    yield Row(
        "Elo, 10⁶ games from lists of names: times faster than evalica.elo",
        f"{ratio:.1f}×",
        "",
        None,
        f"{a:.2f} s against {b:.2f} s",
    )

    try:
        from elote import EloCompetitor
    except ModuleNotFoundError:
        name = "Elo, 10⁶ games: times faster than elote"
        yield Row(name, "–", "≥ 1000×", None, "elote is not installed")
        return

    def python_library():
        players = [EloCompetitor(initial_rating=1000, k_factor=4) for _ in range(200)]
        for i, j, outcome in zip(left, right, y.tolist(), strict=True):
            if outcome == 0:
                players[i].tied(players[j])
            elif outcome < 0:
                players[i].beat(players[j])
            else:
                players[i].lost_to(players[j])
        return np.array([player.rating for player in players])

    start = time.perf_counter()
    ratings = python_library()
    seconds = time.perf_counter() - start
    difference = np.abs(our_ratings() - ratings).max()
    if difference > 1e-6:
        raise AssertionError(f"ratings differ by {difference}")
    a = min(_timed(ours) for _ in range(5))
    yield Row(
        "Elo, 10⁶ games: times faster than elote",
        f"{seconds / a:.0f}×",
        "≥ 1000×",
        seconds / a >= 1000,
        f"{1e3 * a:.0f} ms against {seconds:.1f} s; equal to {difference:.0e}",
    )


def davidson_against_newman() -> Iterator[Row]:
    """Davidson's model of a million comparisons of 200 items against evalica's."""
    import evalica

    pairs, y = make_votes(MILLION, 200)
    words = {-1: evalica.Winner.X, 0: evalica.Winner.Draw, 1: evalica.Winner.Y}
    left, right = pairs.left.tolist(), pairs.right.tolist()
    winners = [words[outcome] for outcome in y.tolist()]

    def peer():
        return evalica.newman(left, right, winners, tolerance=1e-9, limit=10_000)

    def ours():
        return BradleyTerry("davidson", alpha=0).fit(pairs, y)

    score = np.log(peer().scores.sort_index().to_numpy())
    difference = np.abs(score - score.mean() - ours().utility(pairs.names)).max()
    if difference > 1e-6:
        raise AssertionError(f"strengths differ by {difference}")
    a, b, ratio = interleaved(ours, peer, repeat=7)
    yield Row(
        "Davidson, 10⁶ comparisons of 200 items: times faster than evalica's Newman",
        f"{ratio:.1f}×",
        "≥ 20×",
        ratio >= 20,
        f"{1e3 * a:.0f} ms against {1e3 * b:.0f} ms; equal to {difference:.0e}",
    )
    seconds = min(_timed(lambda: BradleyTerry().fit(pairs, y)) for _ in range(2))
    yield Row(
        "tie model and prior learned, 10⁶ comparisons of 200 items",
        f"{seconds:.1f} s",
        "",
        None,
    )


def leaderboard_of_votes() -> Iterator[Row]:
    """The leaderboard of the language-model votes and its intervals."""
    name = "leaderboard of lm_arena_140k with intervals"
    try:
        votes = load_published("lm_arena_140k")
    except FileNotFoundError:
        yield Row(name, "–", "≤ 5 s", None, "the data set is not here")
        return
    seconds = _timed(
        lambda: Leaderboard.from_results(
            votes.pairs,
            votes.y,
            model=BradleyTerry("davidson", alpha=0),
        )
    )
    yield Row(name, f"{seconds:.1f} s", "≤ 5 s", seconds <= 5)


def growth_of_ratings() -> Iterator[Row]:
    """How ratings grow with size."""
    sizes = [250_000, 500_000, 1_000_000, 2_000_000]
    for label, model, n_items in (
        ("Elo, 54,000 items", Elo("fide"), 54_000),
        ("Davidson, 200 items", BradleyTerry("davidson", alpha=0), 200),
    ):
        seconds = []
        for n in sizes:
            pairs, y = make_votes(n, n_items)
            model.fit(pairs, y)
            seconds.append(min(_timed(lambda: model.fit(pairs, y)) for _ in range(3)))  # noqa: B023
        yield Row(
            f"growth in games: {label}",
            f"n^{slope(sizes, seconds):.2f}",
            "≤ n^1.3",
            slope(sizes, seconds) <= 1.3,
            f"{seconds[-1]:.2f} s for {sizes[-1]:,} games",
        )


def intervals_of_many_items() -> Iterator[Row]:
    """Standard errors of many strengths, against the dense inverse of the Hessian."""
    n_items = 6000
    model = BradleyTerry("davidson", alpha=0.5).fit(*make_votes(10 * n_items, n_items))

    def ours():
        return model.distribution("model").errors()

    def dense():
        objective = model._problem.objective(0.5)
        objective.expand(model._solution())
        return np.sqrt(np.diag(np.linalg.inv(objective.hessian()))[:n_items])

    apart = np.abs(ours() / dense() - 1.0).max()
    if apart > 0.15:
        raise AssertionError(f"standard errors differ by {apart:.0%}")
    a, b, ratio = interleaved(ours, dense, repeat=3)
    yield Row(
        f"standard errors of {n_items:,} items / numpy.linalg.inv",
        f"{ratio:.1f}×",
        "",
        None,
        f"{a:.1f} s and {b:.1f} s; they differ by {apart:.1%} at most",
    )
    players = 100_000
    pairs, y = make_votes(10 * players, players)
    with PeakMemory() as memory:
        seconds = _timed(lambda: Leaderboard.from_results(pairs, y))
    yield Row(
        f"leaderboard with intervals, {players:,} players, {len(y):,} games",
        f"{seconds:.0f} s",
        "≤ 60 s and 2,000 MB",
        seconds <= 60 and memory.used <= 2000,
        f"{memory.used:.0f} MB above the games",
    )


def half_life_of_chess() -> Iterator[Row]:
    """The half-life of 7,301 chess players, with all threads that BLAS takes."""
    name = "BradleyTerry(half_life='auto') of 65,053 chess games"
    path = Path(os.environ.get("TIEBREAK_DATA", "")) / "chess_kaggle2010/games.csv.gz"
    if not path.is_file():
        yield Row(name, "–", "≤ 14 s", None, "the data set is not here")
        return
    games = pl.read_csv(path)
    pairs = Pairs(None, games["white"].cast(str), games["black"].cast(str))
    y = np.sign(0.5 - games["score"].to_numpy()).astype(np.int8)
    seconds = []
    for half_life in (None, "auto"):
        start, model = time.process_time(), BradleyTerry(half_life=half_life)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some players never lost
            model.fit(pairs, y, period=games["month"])
        seconds.append(time.process_time() - start)
    yield Row(
        name,
        f"{seconds[1]:.1f} s",
        "≤ 14 s",
        seconds[1] <= 14,
        f"{seconds[0]:.1f} s without one, processor time; 71 s in version 0.2.0",
    )


def audit_of_many_items() -> Iterator[Row]:
    """The default audit of 20,000 items, one thread."""
    n_items = 20_000
    pairs, y = make_votes(10 * n_items, n_items)
    seconds = processor_seconds(lambda: audit(pairs, y), 1)
    yield Row(
        f"audit of {n_items:,} items, {len(y):,} games, twelve claims",
        f"{seconds:.0f} s",
        "≤ 60 s",
        seconds <= 60,
        "processor time",
    )


def davidson_against_choix() -> Iterator[Row]:
    """Davidson's model of counted votes of 200 items against choix's dense I-LSR."""
    import choix

    sizes, seconds = [100, 200, 400], []
    for n_items in sizes:
        pairs, y = make_votes(25 * n_items**2, n_items)
        decided = y != 0
        model = BradleyTerry("davidson", alpha=0).fit(pairs[decided], y[decided])
        table = np.zeros((n_items, n_items))
        table[model.pair_left_, model.pair_right_] = model.pair_counts_[:, 0]
        table[model.pair_right_, model.pair_left_] = model.pair_counts_[:, 2]

        def ours(model=model):
            return minimize_newton(
                model._problem.objective(0.0), model._problem.start()
            )

        def peer(table=table):
            return choix.ilsr_pairwise_dense(table)

        apart = np.abs(peer() - peer().mean() - ours().x).max()
        if apart > 1e-6:
            raise AssertionError(f"strengths differ by {apart}")
        seconds.append(processor_ratio(ours, peer, 21))
    for n_items, (a, b, ratio) in zip(sizes, seconds, strict=True):
        yield Row(
            f"Davidson on ready counts, {n_items} items: times faster than choix's "
            "dense I-LSR",
            f"{ratio:.2f}×",
            "≥ 1×",
            ratio >= 1,
            f"{1e3 * a:.1f} ms against {1e3 * b:.1f} ms",
        )
    growth = [slope(sizes, [times[side] for times in seconds]) for side in (0, 1)]
    yield Row(
        "growth of these in items, ours and choix's",
        f"n^{growth[0]:.2f} and n^{growth[1]:.2f}",
        "",
        None,
        f"{sizes[-1] * (sizes[-1] - 1) // 2:,} pairs at the end",
    )


def big_tables() -> Iterator[Row]:
    """Time and memory of ten million votes by name, and of their probabilities."""
    n = 10 * MILLION
    codes = np.random.default_rng(0).integers(0, 200, (2, n), dtype=np.int16)
    codes[1, codes[0] == codes[1]] = 200
    names = np.array([f"model {i}" for i in range(201)])
    left, right = names[codes]
    del codes
    Pairs(None, left[:MILLION], right[:MILLION])
    with PeakMemory() as memory:
        start = time.process_time()
        pairs = Pairs(None, left, right)
        seconds = time.process_time() - start
    result = (pairs.left.nbytes + pairs.right.nbytes) / 1e6
    yield Row(
        "Pairs of 10⁷ named votes: peak memory over the result",
        f"{memory.used / result:.2f}×",
        "≤ 1.5×",
        memory.used <= 1.5 * result,
        f"{memory.used:.0f} MB, {seconds:.1f} s of processor time",
    )
    del left, right
    y = np.resize(np.array([-1, 0, 1], dtype=np.int8), n)
    model = BradleyTerry("davidson", alpha=0).fit(pairs, y)
    with PeakMemory() as memory:
        start = time.process_time()
        result = model.predict_proba(pairs).nbytes / 1e6
        seconds = time.process_time() - start
    yield Row(
        "their probabilities: peak memory over the result",
        f"{memory.used / result:.2f}×",
        "≤ 1.5×",
        memory.used <= 1.5 * result,
        f"{memory.used:.0f} MB, {seconds:.1f} s of processor time",
    )


def _timed(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


CASES = (
    elo_against_peers,
    davidson_against_newman,
    leaderboard_of_votes,
    growth_of_ratings,
    intervals_of_many_items,
    half_life_of_chess,
    audit_of_many_items,
    davidson_against_choix,
    big_tables,
)
