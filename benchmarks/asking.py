# SPDX-License-Identifier: BSD-3-Clause
"""How many answers `tiebreak ask` needs, beside other ways of choosing pairs.

``python -m benchmarks.asking study`` simulates people (`simulated_people.py`), adds
what is missing to ``benchmarks/asking.jsonl``, prints its table and
draws its picture; ``calls`` counts the calls of a noisy judge in `Study.run`; ``load``
lets 200 people answer a real server for a minute, each about once in two seconds;
``speed`` times an answer with 1,000 items.

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
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import norm
from sklearn.isotonic import isotonic_regression

from benchmarks.simulated_people import OwnAsker, People, run
from tiebreak import Study
from tiebreak.ask.choose import Pair, Settings
from tiebreak.ask.engine import FEWEST, MORE, rate_answers
from tiebreak.data.jit import njit
from tiebreak.io.answers import read_answers
from tiebreak.metrics import kendall_tau_b

RESULTS = Path(__file__).parent / "asking.jsonl"
PICTURE = RESULTS.parents[1] / "docs" / "images" / "asking.svg"
SIZES = {20: (20, 1500), 100: (20, 8000), 500: (6, 30_000)}  # items: seeds, answers
SPREAD = 2.0
POINTS = 40  # at which the order is looked at
RESAMPLES = 200  # of the seeds, for standard errors


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
        self.chooser.answer(pair.left, pair.right, y, update=False)


class RandomPairs(Others):
    """Two items at random."""

    def choose(self) -> Iterator[Pair]:
        """Draw without looking at any answer."""
        while True:
            yield Pair(*self.rng.choice(self.n, 2, replace=False).tolist(), "random")


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
            games = np.array(self.games, np.int64).reshape(-1, 2)
            mean, variance = propagate(self.n, games[:, 0], games[:, 1], 4)
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


@njit(cache=True, nogil=True)
def propagate(n, winner, loser, sweeps):
    """Posteriors of scores with prior N(0, 1); an answer has noise of variance 1."""
    precision, shift = np.ones(n), np.zeros(n)
    sites = np.zeros((len(winner), 4))  # precision and shift of winner and loser
    for _ in range(sweeps):
        for k in range(len(winner)):
            i, j = winner[k], loser[k]
            pi, si = precision[i] - sites[k, 0], shift[i] - sites[k, 1]
            pj, sj = precision[j] - sites[k, 2], shift[j] - sites[k, 3]
            c2 = 1 / pi + 1 / pj + 1.0
            z = (si / pi - sj / pj) / math.sqrt(c2)
            tail = 0.5 * math.erfc(-z / math.sqrt(2.0))
            ratio = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) / tail
            w = ratio * (ratio + z)
            mi, mj = si / pi + ratio / pi / math.sqrt(c2), sj / pj
            mj -= ratio / pj / math.sqrt(c2)
            precision[i], precision[j] = pi / (1 - w / pi / c2), pj / (1 - w / pj / c2)
            shift[i], shift[j] = mi * precision[i], mj * precision[j]
            sites[k, 0], sites[k, 1] = precision[i] - pi, shift[i] - si
            sites[k, 2], sites[k, 3] = precision[j] - pj, shift[j] - sj
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
        "random": lambda: RandomPairs(n, seed),
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
                        tau.append(round(float(kendall_tau_b(known, people.theta)), 3))
                        top.append(int(set(np.argsort(-known)[:5]) == set(best)))
                row = {"items": n, "strategy": name, "seed": seed, "tau": tau}
                row |= {"top": top, "answers": looks.tolist()}
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    print(table())
    draw()


def curves() -> dict[tuple[int, str], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Looks, τ and whether the top five are right, by items and strategy.

    Only seeds that every strategy has done count, so that all had the same items.
    """
    rows = [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]
    by_key = {(row["items"], row["strategy"], row["seed"]): row for row in rows}
    found = {}
    for n in sorted({row["items"] for row in rows}):
        names = list(strategies(n, 0))
        seeds = [seed for seed in range(SIZES[n][0])
                 if all((n, name, seed) in by_key for name in names)]  # fmt: skip
        for name in names if seeds else []:
            own = [by_key[n, name, seed] for seed in seeds]
            tau, top = (np.array([row[key] for row in own]) for key in ("tau", "top"))
            found[n, name] = np.array(own[0]["answers"]), tau, top
    return found


def needed(looks, tau, top) -> list[float]:
    """Answers until the mean of τ is .8 and .9, and half of the top fives are right."""
    wanted = ((tau, 0.8), (tau, 0.9), (top, 0.5))
    return [_crossing(looks, values.mean(axis=0), goal) for values, goal in wanted]


def _crossing(at, values, goal) -> float:
    """Where a curve, made increasing, passes a goal; between two looks linearly."""
    values = isotonic_regression(values)
    if values[-1] < goal:
        return math.inf
    k = max(int(np.argmax(values >= goal)), 1)
    part = max(0.0, (goal - values[k - 1]) / (values[k] - values[k - 1]))
    return float(at[k - 1] + part * (at[k] - at[k - 1]))


def table() -> str:
    """Write the table of the README; in parentheses, the change from random."""
    lines = ["| items | strategy | τ = .8 | τ = .9 | top 5 | runs |"]
    lines.append("|---:|---|---:|---:|---:|---:|")
    found, rng = curves(), np.random.default_rng(0)
    for (n, name), (looks, tau, top) in found.items():
        runs, values = len(tau), needed(looks, tau, top)
        base = needed(*found[n, "random"])
        some = rng.integers(0, runs, (RESAMPLES, runs))
        errors = [needed(looks, tau[rows], top[rows]) for rows in some]
        cells = []
        for value, error, other in zip(values, np.transpose(errors), base, strict=True):
            if np.isinf(value):
                cells.append(f"> {looks[-1]:,}")
                continue
            # Runs that do not arrive count as if they did at the end.
            cell = f"{value:,.0f} ± {np.minimum(error, looks[-1]).std():,.0f}"
            if name != "random":
                less = value / min(other, looks[-1]) - 1
                cell += f" ({'<' * bool(np.isinf(other))}{100 * less:+.0f} %)"
            cells.append(cell.replace("-", "−"))
        lines.append(f"| {n} | {name} | {' | '.join(cells)} | {runs} |")
    return "\n".join(lines)


def draw() -> None:
    """Draw τ by answers into docs/images/asking.svg."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    found = curves()
    sizes = sorted({n for n, _ in found})
    settings = {"svg.hashsalt": "asking", "font.size": 9, "axes.spines.top": False}
    with mpl.rc_context(settings | {"axes.spines.right": False}):
        figure, axes = plt.subplots(
            1, len(sizes), figsize=(9.5, 3.1), sharey=True, squeeze=False
        )
        for n, ax in zip(sizes, axes[0], strict=True):
            for k, (name, dashes) in enumerate(_LINES.items()):
                looks, tau, _ = found[n, name]
                ax.plot(looks / n, tau.mean(axis=0), dashes, color=f"C{k}", label=name)
            ax.set(title=f"{n} items", xscale="log", ylim=(0.3, 1))
            ax.set_xlabel("answers per item")
            ax.set_yticks([0.4, 0.6, 0.8, 0.9])
            ax.xaxis.set_major_formatter("{x:g}")
            ax.grid(alpha=0.3)
        axes[0, 0].set_ylabel("Kendall's τ with the truth")
        axes[0, -1].legend(frameon=False, loc="lower right")
        figure.tight_layout()
        figure.savefig(PICTURE, metadata={"Date": None})
        plt.close(figure)


_LINES = {"information": "-", "random": ":", "swiss": "--", "merge sort": "-.",
          "ASAP": "--"}  # fmt: skip


def stop_once(
    n: int, goal: str, spread: float, seed: int, level: float, most: int
) -> tuple[float, int] | None:
    """How true the goal is when the page would say that it is reached, and when."""
    people = People.draw(n, seed, spread)
    asker = OwnAsker(n, Settings(goal, level), seed)
    looked = 0
    for count in run(people, asker, most):
        if count < max(MORE * looked, FEWEST * n):
            continue
        looked = count
        board = rate_answers(asker.rows, level)
        if asker.chooser.goal.look(board, n, level).reached:
            top = asker.chooser.goal.top
            by = ["could_be_best", "rating"] if top == 1 else "rating"
            order = board.table.sort(by, descending=True)["item"].to_numpy()
            return share_right(people.theta[order], top), count
    return None


def share_right(theta, top: int) -> float:
    """What a goal claims of items, best first, by their true utilities."""
    if top:
        return float(theta[top:].max() < theta[:top].min())
    i, j = np.triu_indices(len(theta), 1)
    return float(np.mean(theta[j] < theta[i]))


def calls_until(tau: float, n: int, strategy: str, seeds: int, most: int) -> float:
    """Calls of `Study.run` until the mean of Kendall's τ over some seeds is reached."""
    looks = np.unique(np.geomspace(n, most, POINTS).astype(int))
    curves = np.empty((seeds, len(looks)))
    for seed in range(seeds):
        people = People.draw(n, seed, SPREAD)

        def judge(left: str, right: str, people: People = people) -> str:
            sign = people.answer(Pair(int(left), int(right), ""))
            return ("left", "tie", "right")[sign + 1]

        names = [str(k) for k in range(n)]
        with Study(names, strategy=strategy, level=0.9999, random_state=seed) as study:
            for k, more in enumerate(np.diff(looks, prepend=0).tolist()):
                study.run(judge, more, both_orders=False, parallel=1)
                study._engine.chooser.refit()
                known = study._engine.chooser.beliefs.mean
                curves[seed, k] = kendall_tau_b(known, people.theta)
    return _crossing(looks, curves.mean(axis=0), tau)


def calls(n: int = 100, seeds: int = 5, most: int = 8000, tau: float = 0.9) -> None:
    """How many calls information saves, beside random pairs."""
    needed = {s: calls_until(tau, n, s, seeds, most) for s in ("information", "random")}
    less = 1 - needed["information"] / needed["random"]
    print(f"{n} items, τ = {tau:g}, {seeds} seeds: {needed}, {100 * less:.0f} % fewer")


def load(n_people: int = 200, seconds: float = 60.0, n_items: int = 1000) -> None:
    """Let people answer a real server, once in two seconds; count what is saved."""
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
    started = threading.Barrier(n_people + 1)

    def answer(address: str, key: str, seed: int) -> None:
        rng, own = np.random.default_rng(seed), {"Host": address}
        client = HTTPConnection(address, timeout=60)

        def call(method: str, path: str, body: dict | None = None) -> bytes:
            text = None if body is None else json.dumps(body)
            try:
                client.request(method, path, text, own)
                return client.getresponse().read()
            except ConnectionError:  # closed meanwhile; browsers open another one
                client.close()
                client.request(method, path, text, own)
                return client.getresponse().read()

        page = call("GET", f"/?key={key}").decode()
        own["X-CSRF-Token"] = re.search(r'name="csrf" content="(\w+)"', page)[1]
        port = address.rpartition(":")[2]
        own["Origin"] = f"http://{address}"
        own["Cookie"] = f"tiebreak_ask_{port}={key}"
        state = json.loads(call("GET", "/api/state"))
        started.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(rng.uniform(1.0, 3.0))  # to look at the pair
            number = state["questions"][0]["number"]
            body = {"question": number, "seconds": 1.0}
            body["outcome"] = ("left", "tie", "right")[rng.integers(3)]
            start = time.perf_counter()
            reply = call("POST", "/api/answer", body)
            took.append(time.perf_counter() - start)
            state = json.loads(reply)
            saved.append(number)

    links = re.findall(r"http://(\S+)/\?key=(\S+)", said)
    threads = [
        threading.Thread(target=answer, args=(*link, k)) for k, link in enumerate(links)
    ]
    for thread in threads:
        thread.start()
    started.wait()
    before = _processor_seconds(server.pid)
    for thread in threads:
        thread.join()
    used = _processor_seconds(server.pid) - before
    server.kill()
    server.communicate()
    kept = read_answers(folder / "texts.answers.sqlite").height
    ms = 1000 * np.array(took)
    print(
        f"{n_people} people, {n_items} items: {len(saved)} answers acknowledged, "
        f"{len(set(saved))} different, {kept} in the file; median "
        f"{np.median(ms):.0f} ms, 95 % below {np.quantile(ms, 0.95):.0f} ms, "
        f"99 % below {np.quantile(ms, 0.99):.0f} ms; "
        f"{1000 * used / len(saved):.1f} ms of processor each; load of the machine "
        f"{os.getloadavg()[0]:.1f}"
    )


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def speed(n_items: int = 1000, n_answers: int = 10_000) -> None:
    """Time of an answer and the choice of the next pair, after many answers."""
    people = People.draw(n_items, 0, SPREAD)
    asker = OwnAsker(n_items, Settings(), 0)
    chooser, rng = asker.chooser, np.random.default_rng(0)
    for _ in range(n_answers):
        left, right = rng.choice(n_items, 2, replace=False)
        pair = Pair(int(left), int(right), "random")
        chooser.note(0, *pair[:2])
        chooser.answer(*pair[:2], people.answer(pair), update=False)
    chooser.refit()
    chooser.ask(1)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(20):
        pair = chooser.ask(0)
        chooser.answer(*pair[:2], people.answer(pair))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"an answer and a choice: {50 * wall:.0f} ms, {50 * cpu:.0f} ms of processor")


if __name__ == "__main__":
    started = time.monotonic()
    {"study": study, "table": lambda: print(table()), "draw": draw, "speed": speed,
     "load": lambda: load(seconds=float((sys.argv[2:] or [60])[0])),
     "calls": calls}[sys.argv[1]]()  # fmt: skip
    print(f"{time.monotonic() - started:.0f} s")
