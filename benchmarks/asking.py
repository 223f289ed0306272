# SPDX-License-Identifier: BSD-3-Clause
"""How many answers `tiebreak ask` needs, beside other ways of choosing pairs.

``python -m benchmarks.asking study`` simulates people (`tiebreak.ask.simulate`), writes
``benchmarks/asking.jsonl`` and prints the table of docs/ask.md; ``stop`` measures how
often the goal is truly met when the rule says stop; ``load`` lets 50 people answer a
real server for a minute; ``speed`` times an answer with 1,000 items.

All strategies are judged by the same model, fitted to the answers they collected. The
others are written from their publications: merge sort, whose comparisons are asked one
after the other and which begins anew when it is done; and ASAP (Mikhailiuk, Wilmot,
Perez-Ortiz, Yue and Mantiuk, 2020): the scores have independent normal posteriors by
expectation propagation in Thurstone's model, pairs have the expected Kullback-Leibler
divergence of the posteriors after and before the answer, and the minimum spanning tree
of its inverse is the next batch. Ties are unknown to both: a fair coin decides them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import norm

from tiebreak.ask.choose import Chooser, Pair, Settings
from tiebreak.ask.simulate import OwnAsker, People, run
from tiebreak.io.answers import read_answers
from tiebreak.metrics import kendall_tau_b

RESULTS = Path(__file__).parent / "asking.jsonl"
SIZES = {20: (8, 800), 100: (2, 2500), 500: (1, 5000)}  # items: seeds, answers
SPREAD = 2.0
POINTS = 50  # at which the order is looked at


class Others(OwnAsker):
    """Pairs come from a list; the model only judges them."""

    def __init__(self, n_items: int, seed: int) -> None:
        super().__init__(n_items, Settings(repeat=0.0), seed)
        self.n, self.rng = n_items, np.random.default_rng(seed)
        self.pairs = self.choose()

    def choose(self) -> Iterator[Pair]:
        """Give the pairs."""
        raise NotImplementedError

    def ask(self, rater: int) -> Pair | None:
        """Take the next pair."""
        pair = next(self.pairs)
        self.chooser.note(rater, pair.left, pair.right)
        return pair

    def tell(self, pair: Pair, y: int) -> None:
        """Remember who is better; a coin decides a tie."""
        self.better = y if y else int(self.rng.choice([-1, 1]))
        super().tell(pair, y)


class MergeSort(Others):
    """Merge sort, worst first, again and again."""

    def choose(self) -> Iterator[Pair]:
        """Merge runs of twice the length, until there is one."""
        while True:
            runs = [[int(i)] for i in self.rng.permutation(self.n)]
            while len(runs) > 1:
                merged = []
                for a, b in zip(runs[::2], runs[1::2], strict=False):
                    out: list[int] = []
                    while a and b:
                        yield Pair(a[0], b[0], "merge")
                        out.append((a if self.better > 0 else b).pop(0))
                    merged.append(out + a + b)
                runs = merged + (runs[-1:] if len(runs) % 2 else [])


class ASAP(Others):
    """Active sampling by expected information and spanning trees."""

    def __init__(self, n_items: int, seed: int) -> None:
        self.games: list[tuple[int, int]] = []  # winner, loser
        super().__init__(n_items, seed)

    def choose(self) -> Iterator[Pair]:
        """Give batch after batch."""
        while True:
            mean, variance = propagate(self.n, self.games)
            gain = expected_gain(mean, variance)
            # Nearly equal gains in random order, as the start has nothing else.
            gain *= 1 + 1e-6 * self.rng.random(gain.shape)
            cost = 1 / np.maximum(gain, 1e-300)
            tree = minimum_spanning_tree(np.triu(cost, 1)).tocoo()
            for k in self.rng.permutation(tree.nnz):
                yield Pair(int(tree.row[k]), int(tree.col[k]), "asap")

    def tell(self, pair: Pair, y: int) -> None:
        """Keep winner and loser."""
        super().tell(pair, y)
        won = (pair.right, pair.left) if self.better > 0 else (pair.left, pair.right)
        self.games.append(won)


def propagate(n: int, games: list[tuple[int, int]], sweeps: int = 4):
    """Posteriors of scores with prior N(0, 1); an answer has noise of variance 1."""
    precision, shift = np.ones(n), np.zeros(n)
    sites = np.zeros((len(games), 4))  # precision and shift of winner and loser
    for _ in range(sweeps):
        for k, (i, j) in enumerate(games):
            own = sites[k]
            cp, cs = precision[[i, j]] - own[[0, 2]], shift[[i, j]] - own[[1, 3]]
            m, v = cs / cp, 1 / cp
            c2 = v.sum() + 1.0
            z = (m[0] - m[1]) / np.sqrt(c2)
            ratio = np.exp(norm.logpdf(z) - norm.logcdf(z))
            w = ratio * (ratio + z)
            m = m + np.array([1, -1]) * v / np.sqrt(c2) * ratio
            v = v * (1 - v / c2 * w)
            new = np.array([1 / v[0], m[0] / v[0], 1 / v[1], m[1] / v[1]])
            sites[k] = new - np.array([cp[0], cs[0], cp[1], cs[1]])
            precision[[i, j]], shift[[i, j]] = new[[0, 2]], new[[1, 3]]
    return shift / precision, 1 / precision


def expected_gain(mean, variance):
    """Expected divergence of the posteriors after an answer from those before it."""
    c2 = variance[:, None] + variance + 1.0
    total = np.zeros_like(c2)
    for sign in (1, -1):
        z = sign * (mean[:, None] - mean) / np.sqrt(c2)
        ratio = np.exp(norm.logpdf(z) - norm.logcdf(z))
        w = ratio * (ratio + z)
        part = 0.0
        for v in (variance[:, None], variance[None, :]):
            moved, shrunk = v / np.sqrt(c2) * ratio, 1 - v / c2 * w
            part = part + 0.5 * (shrunk + moved**2 / v - 1 - np.log(shrunk))
        total += norm.cdf(z) * part
    return total


def strategies(n: int, seed: int):
    """Makers of all strategies, by name."""

    def own(**more):
        return lambda: OwnAsker(n, Settings(repeat=0.0, **more), seed)

    return {
        "information": own(),
        "information, top:5": own(goal="top:5"),
        "random": own(strategy="random"),
        "swiss": own(strategy="swiss"),
        "merge sort": lambda: MergeSort(n, seed),
        "ASAP": lambda: ASAP(n, seed),
    }


def study() -> None:
    """Simulate what is not in the file of results yet."""
    done = set()
    if RESULTS.exists():
        rows = map(json.loads, RESULTS.read_text("utf-8").splitlines())
        done = {(row["items"], row["strategy"], row["seed"]) for row in rows}
    sizes = [int(size) for size in sys.argv[2:]] or list(SIZES)
    for n in sizes:
        seeds, most = SIZES[n]
        for seed in range(seeds):
            for name, make in strategies(n, seed).items():
                if (n, name, seed) in done:
                    continue
                people = People.draw(n, seed, SPREAD)
                best, asker = np.argsort(-people.theta)[:5], make()
                looks = np.unique(np.geomspace(n, most, POINTS).astype(int))
                tau, top = [], []
                for count in run(people, asker, most):
                    if count in looks:
                        asker.chooser.refit()
                        known = asker.utilities()
                        tau.append(round(float(kendall_tau_b(known, people.theta)), 4))
                        top.append(set(np.argsort(-known)[:5]) == set(best))
                row = {"items": n, "strategy": name, "seed": seed, "tau": tau}
                row |= {"top": [int(t) for t in top], "answers": looks.tolist()}
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    print(table())


def needed() -> dict[tuple[int, str], list[int | None]]:
    """Answers until the mean of τ is .8 and .9, and half of the top fives are right."""
    rows = [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]
    found = {}
    for key in dict.fromkeys((row["items"], row["strategy"]) for row in rows):
        own = [row for row in rows if (row["items"], row["strategy"]) == key]
        at = np.array(own[0]["answers"], float)
        tau = np.mean([row["tau"] for row in own], axis=0)
        top = np.mean([row["top"] for row in own], axis=0)
        found[key] = [
            _crossing(at, v, g) for v, g in ((tau, 0.8), (tau, 0.9), (top, 0.5))
        ]
    return found


def _crossing(at, values, goal) -> int | None:
    """Where a curve stays above a goal for good, between two looks linearly."""
    below = np.flatnonzero(values < goal)
    if not len(below):
        return int(at[0])
    k = below[-1]
    if k + 1 == len(at):
        return None
    part = (goal - values[k]) / (values[k + 1] - values[k])
    return int(at[k] + part * (at[k + 1] - at[k]))


def table() -> str:
    """Write the table of docs/ask.md; in parentheses, the change from random."""
    lines = [
        "| items | strategy | τ = .8 | τ = .9 | top 5 |",
        "|---:|---|---:|---:|---:|",
    ]
    for (n, name), values in (found := needed()).items():
        base = found.get((n, "random"), [None] * 3)
        cells = []
        for value, other in zip(values, base, strict=True):
            if value is None:
                cells.append(f"> {SIZES[n][1]:,}")
            else:
                less = "" if other is None else f" ({100 * (value / other - 1):+.0f} %)"
                cells.append(f"{value:,}" + less * (name != "random"))
        lines.append(f"| {n} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def stop() -> None:
    """How often the goal is met when the rule says so."""
    for n, goal, seeds in ((8, "best", 60), (10, "top:3", 40), (10, "ranking", 40)):
        for level in (0.8, 0.95):
            right, count, claimed = [], [], []
            for seed in range(seeds):
                people = People.draw(n, seed, SPREAD, careless=0.0)
                asker = OwnAsker(n, Settings(goal, level, repeat=0.0), seed)
                for _ in run(people, asker, 3000):
                    asker.chooser.refit()
                    if asker.chooser.reached:
                        break
                count.append(len(asker.chooser))
                claimed.append(asker.chooser.goal.certainty(asker.chooser.beliefs))
                right.append(share_right(asker.chooser, people.theta))
            print(f"{goal} of {n} at {level}: claimed {np.mean(claimed):.3f}, true "
                  f"{np.mean(right):.3f} ± {np.std(right) / seeds**0.5:.3f}, answers "
                  f"{np.median(count):.0f}", flush=True)  # fmt: skip


def share_right(chooser: Chooser, theta) -> float:
    """What the goal claims, with the true utilities."""
    order, slack = np.argsort(-chooser.beliefs.mean), chooser.beliefs.threshold
    theta, k = theta[order], chooser.goal.top
    if k:
        return float(theta[k:].max() - theta[:k].min() <= slack)
    i, j = np.triu_indices(len(theta), 1)
    return float(np.mean(theta[j] - theta[i] <= slack))


def load(n_people: int = 50, seconds: float = 60.0, n_items: int = 1000) -> None:
    """Let people answer a real server; count what is saved, and how fast."""
    folder = Path(tempfile.mkdtemp())
    texts = folder / "texts.txt"
    texts.write_text("\n".join(f"text {i}" for i in range(n_items)), encoding="utf-8")
    names = ",".join(f"p{k}" for k in range(n_people))
    words = ["ask", str(texts), "--port", "0", "--raters", names]
    server = subprocess.Popen(
        [sys.executable, "-m", "tiebreak", *words], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"COLUMNS": "500"},
    )  # fmt: skip
    said = ""
    while "Ctrl-C" not in said:
        said += server.stdout.readline()
    took: list[float] = []
    saved: list[int] = []
    end = time.monotonic() + seconds

    def answer(base: str, key: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        with httpx.Client(base_url=base, timeout=60) as client:
            page = client.get("/", params={"key": key}).text
            csrf = re.search(r'name="csrf" content="(\w+)"', page)[1]
            headers = {"Origin": base, "X-CSRF-Token": csrf}
            state = client.get("/api/state").json()
            while time.monotonic() < end:
                time.sleep(rng.exponential(1.5))  # to look at the pair
                number = state["questions"][0]["number"]
                body = {"question": number, "seconds": 1.5}
                body["outcome"] = str(rng.choice(["left", "tie", "right"]))
                start = time.perf_counter()
                state = client.post("/api/answer", json=body, headers=headers).json()
                took.append(time.perf_counter() - start)
                saved.append(number)

    links = re.findall(r"(http://\S+)/\?key=(\S+)", said)
    threads = [
        threading.Thread(target=answer, args=(*link, k)) for k, link in enumerate(links)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.kill()
    server.communicate()
    kept = read_answers(folder / "texts.answers.sqlite").height
    ms = 1000 * np.array(took)
    print(
        f"{n_people} people, {n_items} items: {len(saved)} answers acknowledged, "
        f"{len(set(saved))} different, {kept} in the file; median "
        f"{np.median(ms):.0f} ms, 95 % below {np.quantile(ms, 0.95):.0f} ms"
    )


def speed(n_items: int = 1000, n_answers: int = 10_000) -> None:
    """Time of an answer and the choice of the next pair, after many answers."""
    people = People.draw(n_items, 0, SPREAD)
    asker = OwnAsker(n_items, Settings(), 0)
    chooser, rng = asker.chooser, np.random.default_rng(0)
    for _ in range(n_answers):
        left, right = rng.choice(n_items, 2, replace=False)
        pair = Pair(int(left), int(right), "random")
        chooser.note(0, *pair[:2])
        chooser.close(*pair[:2])
        chooser.learn(*pair[:2], people.answer(pair), update=False)
    chooser.refit()
    chooser.ask(1)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(20):
        pair = chooser.ask(0)
        chooser.close(*pair[:2])
        chooser.learn(*pair[:2], people.answer(pair))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"an answer and a choice: {50 * wall:.0f} ms, {50 * cpu:.0f} ms of processor")


if __name__ == "__main__":
    started = time.monotonic()
    {"study": study, "stop": stop, "table": lambda: print(table()), "load": load,
     "speed": speed}[sys.argv[1]]()  # fmt: skip
    print(f"{time.monotonic() - started:.0f} s")
