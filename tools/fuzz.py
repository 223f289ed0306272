# SPDX-License-Identifier: BSD-3-Clause
"""Look for files, numbers and arguments that break something: ``make fuzz MINUTES=5``.

Six kinds of tries take turns: files of results with changed bytes, lines that grow,
model files with changed arrays or bytes, requests to the asking page, models on numbers
at the edge, and arguments of the command.
Tries run in child processes of many tries each, with a limit on memory and one on the
seconds of a processor for each, so that a crash, a hang and a flood are seen. A refusal
is an error that our own code raises, or that of a check of scikit-learn. Anything else
is a defect: another error, an answer that is not finite, a signal, a limit, work that
grows faster than a line, a status of 500 or a page that no longer answers. The seed
decides all tries; no network is used but that within this machine.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import io
import lzma
import math
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHAPES = ROOT / "tests" / "io" / "shapes"
KINDS = ("files", "lines", "models", "requests", "numbers", "arguments")
_MEMORY = 6 << 30  # bytes of addresses
_SECONDS = 60  # of a processor, for one try
_TRIES = 40  # of one child
_WRONG = "DEFECT"
_CHECKS = (os.sep + "tiebreak" + os.sep, "sklearn" + os.sep + "utils")

Try = tuple[str, Callable[[], str]]


# What is tried


def change_bytes(rng: random.Random, content: bytes) -> tuple[str, bytes]:
    """Change a text or a packed file at random, once to four times."""
    said = []
    for _ in range(rng.randint(1, 4)):
        what = rng.choice(("put", "cut", "drop", "flip", "line", "again", "cell", "cr"))
        at = rng.randrange(len(content) + 1)
        head, tail = content[:at], content[at:]
        lines = content.split(b"\n")
        row = rng.randrange(len(lines))
        if what == "put":
            content = head + rng.choice(_BYTES) + tail
        elif what == "cut":
            content = head
        elif what == "drop":
            content = head + tail[rng.randint(1, 9) :]
        elif what == "flip":
            content = head + rng.randbytes(2) + tail[2:]
        elif what == "line":
            content = b"\n".join([*lines[:row], *lines[row + 1 :]])
        elif what == "again":
            content = b"\n".join([*lines[:row], *lines[row : row + 1], *lines[row:]])
        elif what == "cell":
            content = b"\n".join(_change_cell(rng, lines, row))
        else:
            content = content.replace(b"\n", rng.choice([b"\r", b"\r\n"]))
        said.append(f"{what} {at}")
    return ", ".join(said), content


_BYTES = [
    *(bytes([k]) for k in (0, 9, 10, 13, 26, 27, 34, 39, 44, 59, 127, 155, 255)),
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xae", b'"' * 3, b"," * 50, b"9" * 400,
    b"x" * 140_000, b"1e400", b"-1e-320", b"NaN", b"inf", b"{", b"[]", b"null", b"=1+1",
]  # fmt: skip
_CELLS = [b"", b" ", b"nan", b"-1", b"0", b"1e308", b"9" * 30, b"tie", b"left", b"x"]
_CELLS += [b"2026-13-45", b"1e-320", b"\xc3", b'"', b"None", b"true", b"0.5"]


def _change_cell(rng: random.Random, lines: list[bytes], row: int) -> list[bytes]:
    mark = max((b",", b"\t", b";", b":", b" "), key=lines[row].count)
    cells = lines[row].split(mark)
    cells[rng.randrange(len(cells))] = rng.choice(_CELLS)
    return [*lines[:row], mark.join(cells), *lines[row + 1 :]]


def file_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Files of all known forms with changed bytes, read, ranked and audited."""
    paths = sorted(path for path in SHAPES.iterdir() if path.is_file())
    paths += binary_files(folder)
    while True:
        path = rng.choice(paths)
        said, content = change_bytes(rng, path.read_bytes())
        if rng.random() < 0.2:
            packer = rng.choice(("gzip", "bz2", "lzma", "zstd"))
            said, content = f"{said}, {packer}", pack(packer, content)
            if rng.random() < 0.5:
                more, content = change_bytes(rng, content)
                said += f", {more}"
        place = folder / f"changed {path.name}"
        command = rng.choice(_COMMANDS)
        words = [place if word == "FILE" else word for word in command]
        yield (
            f"{' '.join(command)} {path.name}: {said}",
            lambda p=place, c=content, w=words: (p.write_bytes(c), run_command(w))[1],
        )


def pack(packer: str, content: bytes) -> bytes:
    """Pack a file."""
    if packer == "zstd":
        import pyarrow as pa

        return bytes(pa.Codec(packer).compress(content, asbytes=True))
    return {"gzip": gzip, "bz2": bz2, "lzma": lzma}[packer].compress(content)


def binary_files(folder: Path) -> list[Path]:
    """Write the formats that are no text: Parquet, Arrow, and answers in SQLite."""
    import polars as pl

    from tiebreak.io.answers import SCHEMA

    rows = [("a", "b", "left"), ("b", "c", "tie"), ("c", "a", "right")] * 4
    frame = pl.DataFrame(rows, ["left", "right", "outcome"], orient="row")
    frame.write_parquet(folder / "votes.parquet")
    frame.write_ipc(folder / "votes.arrow")
    with contextlib.closing(sqlite3.connect(folder / "answers.db")) as db:
        db.executescript(SCHEMA)
        db.executemany("INSERT INTO items VALUES (?, ?, '', 1)", enumerate("abc"))
        db.execute("INSERT INTO raters VALUES (0, 'Ada', 'key')")
        answers = [
            (k, 0, k % 3, (k + 1) % 3, None, "r", 1e9, "left", 2.5, 1e9 + k)
            for k in range(9)
        ]
        db.executemany(f"INSERT INTO questions VALUES ({'?,' * 9}?)", answers)
        db.commit()
    return [folder / name for name in ("votes.parquet", "votes.arrow", "answers.db")]


_COMMANDS = [
    ["check", "FILE"],
    ["check", "FILE", "--json"],
    ["rank", "FILE", "--json"],
    ["rank", "FILE", "--print", "markdown", "--skip-bad-rows"],
    ["audit", "FILE", "--json", "--neighbors", "2", "--top", "2"],
    ["next", "FILE", "-n", "3"],
    ["judges", "FILE"],
    ["ask", "FILE", "--port", "0"],
    ["ask", "items.csv", "--answers", "FILE", "--export", "answers.csv"],
]


def line_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Files in which a piece is repeated, and the same with eight times as many."""
    paths = sorted(path for path in SHAPES.iterdir() if path.is_file())
    pieces = [*" \t01a>=<-{[('#:;,", "1.", "A ", " > ", "1-", "{1,", '""', "1:1 ", "é"]

    def attempt(path: Path, at: int, piece: str, end: str) -> str:
        content = path.read_bytes()
        place, took = folder / f"long {path.name}", []
        for n in (4_000, 32_000):
            long = (piece * n + end).encode()
            place.write_bytes(content[:at] + long + content[at:])
            start = time.process_time()
            if wrong := run_command(["check", place]):
                return wrong
            took.append(time.process_time() - start)
        slow = took[1] > 2.0 and took[1] > 16.0 * took[0]
        return f"{took[0]:.2f} s became {took[1]:.2f} s" if slow else ""

    while True:
        path = rng.choice(paths)
        ends = [0, 0, path.read_bytes().find(b"\n") + 1, rng.randrange(1000)]
        asked = path, rng.choice(ends), rng.choice(pieces), rng.choice(("", "x", "1"))
        what = (
            f"check {path.name}: {asked[2]!r} many times, {asked[3]!r}, at {asked[1]}"
        )
        yield what, lambda asked=asked: attempt(*asked)


def request_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Requests to the asking page, whole or not, with the right key or another one."""
    import tiebreak.ask.server as server
    from tiebreak.ask.choose import Settings
    from tiebreak.ask.engine import Engine
    from tiebreak.ask.items import read_items
    from tiebreak.ask.store import Store

    server.PATIENCE = 1.0
    path = folder / "texts.txt"
    path.write_text("\n".join(f"text {k}" for k in range(8)))
    items, store = read_items(path), Store(folder / "answers.sqlite")
    store.enter({item.name: item.hash for item in items.items})
    key = store.rater("Ada").token
    listening = server.open_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    engine = Engine(items.prompts, store, Settings())
    site = server.Site(engine, items, "Which?", False, True, port)
    app = site.app(server.allowed_hosts("127.0.0.1", port))
    threading.Thread(target=server.serve, args=(app, listening), daemon=True).start()

    def send(request: bytes) -> bytes:
        reply = b""
        with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
            with contextlib.suppress(ConnectionError):
                raw.sendall(request)
            with contextlib.suppress(ConnectionError):
                while part := raw.recv(1 << 16):
                    reply += part
        return reply

    honest = (
        f"GET /api/state?key={key} HTTP/1.1\r\nHost: localhost:{port}\r\n"
        "Connection: close\r\n\r\n"
    ).encode()

    def attempt(request: bytes) -> str:
        status = send(request)[:12]
        state = send(honest)
        wrong = status[9:10] == b"5" or b" 200 OK" not in state[:20]
        return f"{status!r}, then {state[:12]!r}" if wrong else ""

    odd = ["", "0", "-1", str(2**63), "9" * 4400, "1e999", "NaN", "null", "[]", "{}"]
    odd += [
        "[" * 3900,
        '{"a":' * 700,
        '"\\ud800"',
        '"left"',
        "true",
        "é\0",
        "%00",
        "*/*",
    ]
    paths = ["/", "/organizer", "/join", "/api/state", "/api/board", "/api/answer"]
    paths += ["/api/undo", "/file/0", "/file/", "/assets/ask.js", "/assets/", "//", "*"]

    def usual(value: Any, share: float = 0.8) -> Any:
        return value if rng.random() < share else rng.choice(odd)

    while True:
        secret = usual(rng.choice([key, key, key, site.join, site.organizer]))
        number, outcome = usual(rng.randint(1, 9)), usual('"left"')
        body = usual(f'{{"question": {number}, "outcome": {outcome}, "seconds": 1}}')
        if rng.random() < 0.2:
            csrf = usual(site._token(site.join))
            body = f"name={usual('Bo')}&key={usual(site.join)}&csrf={csrf}"
        host = usual(f"localhost:{port}", 0.9)
        head = {"Host": host, "Origin": usual(f"http://{host}"), "Connection": "close"}
        head["Cookie"] = f"{site.cookie}={usual(secret)}"
        head["X-CSRF-Token"] = usual(site._token(secret))
        head["Content-Length"] = usual(len(body.encode()))
        more = ["Transfer-Encoding: chunked", "Range: bytes=0-", "Expect: 100-continue"]
        lines = [f"{k}: {v}" for k, v in head.items()]
        lines += rng.sample(more, rng.choice([0, 0, 0, 1]))
        verb = usual(rng.choice(["GET", "POST", "POST", "HEAD"]), 0.95)
        where = rng.choice(paths) + usual("", 0.9) + usual(f"?key={secret}")
        text = "\r\n".join([f"{verb} {where} HTTP/1.1", *lines, "", body])
        said, request = "", text.encode()
        if rng.random() < 0.3:
            said, request = change_bytes(rng, request)
        yield f"{verb} {where[:60]}: {said}", lambda request=request: attempt(request)


def model_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Model files with one changed array, or with changed bytes."""
    from tests.persistence.fuzz_models import attempt, variants
    from tests.persistence.make_models import CASES, make

    models = folder / "models"
    models.mkdir()
    make(models)
    paths = sorted(models.iterdir())
    while True:
        path = rng.choice(paths)
        shape = CASES[path.stem][1]
        cases = list(variants(path))
        for what, content in rng.sample(cases, min(8, len(cases))):
            args = content, shape, folder / "changed.tiebreak"
            yield what, lambda args=args: defect(attempt(*args))
        change, content = change_bytes(rng, path.read_bytes())
        args = content, shape, folder / "changed.tiebreak"
        yield f"{path.stem}: {change}", lambda args=args: defect(attempt(*args))


def defect(word: str) -> str:
    """Give nothing for a word that is no defect."""
    return "" if word in ("refused", "used") else word


def number_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Models on features, weights and penalties at the edge of what floats hold."""
    import numpy as np

    import tiebreak as tb

    left = np.array([0, 1, 2, 3, 4, 0, 1, 2])
    right = np.array([1, 2, 3, 4, 0, 2, 3, 0])
    y = np.array([-1, -1, 0, 1, 1, -1, 1, 0])
    sizes = [1e-320, 1e-300, 1e-160, 1e-8, 1.0, 1e8, 1e160, 1e300, math.inf, math.nan]
    names = ["BradleyTerry", "PlackettLuce", "Elo", "Glicko", "Glicko2"]
    names += ["JudgeBradleyTerry"]
    graded = ["RankRLS", "OrdinalSVM", "ExpectedRankRegression", "L1Ranker", "OrderSVM"]
    graded += ["MatchingPursuit", "RankingPursuit", "CoRankingPursuit", "SwapSVM"]
    graded += ["HedgeOrder"]
    features = ["LogisticCompare", "SVMCompare", "RankSVM", "RankBoost"]
    features += ["MaxMarginCompare", "MajorityCompare"]
    features += ["BoostedUtility", "ThresholdCompare", "WithoutTies"]
    ready = {"BoostedUtility": 3}
    ready |= {"ThresholdCompare": tb.RankSVM(), "WithoutTies": tb.LogisticCompare()}

    def attempt(
        name: str, of_X: float, of_w: float, of_p: float, where: str, kernel: str
    ) -> str:
        numbers = np.random.default_rng(0).normal(size=(5, 3))
        with np.errstate(all="ignore"):
            X = numbers.copy()
            X[:, 0] *= of_X
            if where == "all":
                X = numbers * of_X
            weight = np.ones(8)
            weight[0 if where == "one" else slice(None)] *= of_w
        given: Any = {}
        model = getattr(tb, name)(*([ready[name]] if name in ready else []))
        penalty = next((p for p in ("alpha", "C") if p in model.get_params()), None)
        if penalty is not None and of_p != 1.0:
            given = {penalty: of_p}
        if kernel and "kernel" in model.get_params():
            given["kernel"] = kernel
        model.set_params(**given)
        if name in names:
            items = np.array(list("abcde"))
            pairs = tb.Pairs(left=items[left], right=items[right])
        else:
            pairs = tb.Pairs(X, left, right)
        weights = {} if of_w == 1.0 else {"sample_weight": weight}
        try:
            outcome = np.where(y == 0, 1, y) if name == "WithoutTies" else y
            if name == "JudgeBradleyTerry":
                weights["rater"] = np.array(list("xyxyxyxy"))
            if name in graded:
                weights = {} if of_w == 1.0 else {"sample_weight": weight[:5]}
                model.fit(X, np.array([0, 1, 2, 1, 0]), **weights)
                found = model.predict(X)
            else:
                model.fit(pairs, outcome, **weights)
                asked = getattr(model, "decision_function", model.predict)
                found = asked(pairs)
        except Exception as error:
            return refusal(error)
        if not np.isfinite(np.asarray(found, dtype=float)).all():
            return "the answer is not finite"
        gap = getattr(model, "gap_", 0.0)
        return "" if gap == gap else "the certificate is no number"

    while True:
        name = rng.choice(names + graded + features)
        asked = name, *(rng.choice(sizes) for _ in range(2))
        asked += rng.choice([1.0, 1.0, *sizes]), rng.choice(["one", "all"])
        asked += (rng.choice(["", "", "linear", "rbf", "poly"]),)
        yield " ".join(map(str, asked)), lambda asked=asked: attempt(*asked)


def argument_tries(rng: random.Random, folder: Path) -> Iterator[Try]:
    """Commands with options and values at random."""
    import typer

    import tiebreak as tb
    from tiebreak.cli.app import app

    group: Any = typer.main.get_command(app)
    votes = folder / "votes.csv"
    rows = ["a,b,left", "b,c,left", "c,a,right", "a,c,right", "c,b,tie", "b,a,left"]
    votes.write_text("\n".join(["left,right,outcome", *rows, ""]))
    values = ["", "0", "-1", "1", "2", "5", "0.5", "1e400", "nan", "left", "auto"]
    values += ["x" * 3000, "\x1b[2J", "\u202e", "a,b", "a=1", "..", "2020-01-01"]
    values += ["é", "a > b"]
    values += [str(votes), str(folder), "99999999999999999999"]
    given = ["a", "b", str(folder / "new.csv"), str(folder / "none.csv"), "-"]
    names = sorted(set(group.commands) - {"data"})  # it downloads
    pairs = tb.Pairs(left=list("abca"), right=list("bcac"))
    model = tb.save(tb.BradleyTerry().fit(pairs, [-1, -1, 1, 0]), folder / "model")
    given += [str(model)]
    while True:
        name = rng.choice(names)
        places = [
            p for p in group.commands[name].params if not p.opts[0].startswith("-")
        ]
        words = [name, *(rng.choice([*given, str(votes)]) for _ in places)]
        words[1:2] = [str(model if name in ("predict", "evaluate") else votes)]
        options = [p for p in group.commands[name].params if p.opts[0].startswith("--")]
        options = [p for p in options if p.opts[0] not in ("--help", "--out")]
        for option in rng.sample(options, min(len(options), rng.randint(0, 3))):
            words.append(option.opts[0])
            if not getattr(option, "is_flag", False):
                words.append(rng.choice(values))
        if name in ("predict", "evaluate"):
            words[2:3] = [str(votes)]
        if name == "ask":
            words += ["--port", "0"]
        if name in ("rank", "audit"):
            words += ["--out", str(folder / "out"), "--force"]
        yield " ".join(words)[:200], lambda words=words: run_command(words)


# How a try is judged


def run_command(words: list[Any]) -> str:
    """Run a command in this process; give what was wrong, or nothing."""
    import typer

    from tiebreak.cli.app import app

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sys.argv = ["tiebreak", *map(str, words)]
        try:
            command = typer.main.get_command(app)
            code = command([str(w) for w in words], standalone_mode=False)
            wrong = "exit 1" if code == 1 else ""
        except (typer.Exit, SystemExit) as end:
            code = getattr(end, "exit_code", getattr(end, "code", 0))
            wrong = "exit 1" if code == 1 else ""
        except Exception as error:
            usage = hasattr(error, "format_message") or isinstance(error, typer.Abort)
            wrong = "" if usage else refusal(error)
    if not wrong and any(mark in out.getvalue() for mark in ("\x1b]", "\u202e")):
        wrong = "what is printed acts"
    return wrong


def refusal(error: Exception) -> str:
    """Give nothing for an error that was meant, else what it is and where."""
    places = traceback.extract_tb(error.__traceback__)
    meant = isinstance(error, (ValueError, TypeError, OSError, MemoryError))
    ours = bool(places) and any(part in places[-1].filename for part in _CHECKS)
    # A linear program that is given up, and so on: raised by us, of any kind.
    known = type(error).__module__.startswith("tiebreak")
    if known or (meant and (ours or isinstance(error, (OSError, MemoryError)))):
        return ""
    last = next((p for p in reversed(places) if _CHECKS[0] in p.filename), None)
    where = f" at {Path(last.filename).name}:{last.lineno}" if last else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}{where}"


_TRIED = {
    "files": file_tries,
    "lines": line_tries,
    "models": model_tries,
    "requests": request_tries,
    "numbers": number_tries,
    "arguments": argument_tries,
}


def child(kind: str, seed: int, skip: int) -> None:
    """Make tries, and print each before it is made and what came of it."""
    os.environ["TIEBREAK_DEBUG"] = "1"
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if kind != "requests":
        with contextlib.suppress(ImportError):
            import tiebreak.ask.server as server

            server.serve = lambda app, listening: listening.close()
    real = sys.stdout
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tries = _TRIED[kind](random.Random(seed), Path(folder))
        for number in range(_TRIES):
            what, attempt = next(tries)
            if number < skip:
                continue
            print(f"{number} {what!r}", end="\t", file=real, flush=True)
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            try:
                wrong = attempt()
            except Exception as error:
                wrong = refusal(error) or f"{type(error).__name__}: {error}"[:200]
            signal.setitimer(signal.ITIMER_PROF, 0)
            print(f"{_WRONG} {wrong}" if wrong else "fine", file=real, flush=True)


def run_child(kind: str, seed: int) -> tuple[int, list[str]]:
    """Run a child to its end, again behind a try that ended it; count, and defects."""
    done, skip, defects = 0, 0, []
    while skip < _TRIES:
        command = [sys.executable, "-m", "tools.fuzz", "--child", kind]
        command += ["--seed", str(seed), "--skip", str(skip)]
        ended = subprocess.run(
            command, capture_output=True, cwd=ROOT, check=False, text=True
        )
        lines = ended.stdout.splitlines()
        done += len(lines)
        for line in lines:
            what, _, word = line.partition("\t")
            if word.startswith(_WRONG):
                defects.append(f"{kind} {seed} {what}: {word}")
        if ended.returncode == 0:
            break
        last = lines[-1] if lines else ""
        if not last or "\t" not in last:
            return done, [*defects, f"{kind} {seed}: {ended.stderr[-300:]}"]
        defects.append(f"{kind} {seed} {last[:300]} ended in {ended.returncode}")
        skip = int(last.split()[0]) + 1
    return done, defects


def main() -> int:
    """Try for some minutes, and print how many tries and which defects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--child", choices=KINDS)
    parser.add_argument("--skip", type=int, default=0)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.seed, asked.skip)
        return 0
    until = time.monotonic() + 60.0 * asked.minutes
    tried, found, seed = dict.fromkeys(asked.kinds, 0), [], asked.seed
    while time.monotonic() < until:
        for kind in asked.kinds:
            if time.monotonic() < until:
                done, defects = run_child(kind, seed)
                tried[kind] += done
                found += defects
                for defect in defects:
                    print(defect, flush=True)
        seed += 1
        counts = ", ".join(f"{number:,} {kind}" for kind, number in tried.items())
        total = f"{sum(tried.values()):,} tries ({counts})"
        print(f"{total}, {len(found)} defects", flush=True)
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
