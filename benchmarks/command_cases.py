# SPDX-License-Identifier: BSD-3-Clause
"""The command from its start to its files: seconds, and memory of the whole process."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import in_child, run_command, run_module, run_python, slope
from benchmarks.rating_cases import MILLION, make_votes
from benchmarks.rows import Row


def write_votes(path: Path, n: int, *, judges: int = 0, dated: bool = False) -> Path:
    """Write simulated votes on 200 items as CSV; with judges and days, if asked for."""
    pairs, y = make_votes(n, 200)
    names, words = pl.Series(pairs.names), pl.Series(["model_a", "tie", "model_b"])
    columns = {
        "model_a": names.gather(pairs.left),
        "model_b": names.gather(pairs.right),
        "winner": words.gather(y.astype("int64") + 1),
    }
    if judges:
        users = pl.Series([f"user {i}" for i in range(judges)])
        columns["judge"] = users.gather(np.arange(n) * 7919 % judges)
    if dated:
        days = np.datetime64("2023-07-01") + np.arange(n) * 365 // n
        columns["date"] = pl.Series(days)
    pl.DataFrame(columns).write_csv(path)
    return path


def start_of_the_command() -> Iterator[Row]:
    """``tiebreak --help``, which must not wait for solvers."""
    runs = [run_command("--help") for _ in range(7)]
    seconds = statistics.median(run.seconds for run in runs)
    processor = statistics.median(run.processor for run in runs)
    yield Row(
        "tiebreak --help",
        f"{processor:.2f} s of a processor",
        "≤ 0.5 s",
        processor <= 0.5,
        f"{seconds:.2f} s by the clock",
    )


def rank_seven_rows() -> Iterator[Row]:
    """Seven rows with report and model file, against the import of scikit-learn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        path.write_text("winner,loser\na,b\nb,c\na,c\nc,a\nb,a\nd,b\nc,d\n")
        out, runs = Path(folder) / "out", []
        for _ in range(5):
            start = run_python("import sklearn.svm").processor
            ours = run_command("rank", path, "--out", out, "-q").processor
            runs.append((ours, start, run_python(_OURS).processor))
    ours, start, imported = np.median(runs, axis=0)
    yield Row(
        "tiebreak rank, seven rows, with report and model file",
        f"{ours:.1f} s of a processor",
        "≤ 3 s",
        bool(ours <= 3.0),
        f"import sklearn.svm takes {start:.1f} s",
    )
    yield Row(
        "from tiebreak import SVMCompare / import sklearn.svm",
        f"{imported / start:.2f}×",
        "≤ 2×",
        bool(imported <= 2.0 * start),
    )


_OURS = "from tiebreak import SVMCompare"


def rank_a_million() -> Iterator[Row]:
    """A million comparisons of 200 items, against evalica's command without report."""
    sizes, ours, theirs = [MILLION // 4, MILLION], {}, []
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "votes.csv", Path(folder) / "out"
        sides = {"model_a": "left", "model_b": "right"}
        for n in sizes:
            write_votes(path, n)
            runs = [run_command("rank", path, "--out", out, "-q") for _ in range(3)]
            ours[n] = min(runs, key=lambda run: run.processor)
        table = pl.read_csv(path).with_columns(pl.col("winner").replace(sides))
        table.rename(sides).write_csv(path)
        words = "-i", path, "-o", out / "peer.csv", "pairwise", "bradley-terry"
        for _ in range(3):
            theirs.append(run_module("evalica", *words))
        # Its ties are half a win for each side, so strengths differ a little.
        both = pl.read_csv(out / "leaderboard.csv").join(
            pl.read_csv(out / "peer.csv"), "item"
        )
        agree = np.corrcoef(both["rating"], np.log(both["score"]))[0, 1]
        if len(both) != 200 or agree < 0.999:
            raise AssertionError(f"ratings agree only to {agree}")
        size = (out / "report.html").stat().st_size
    best, peer = ours[MILLION], min(theirs, key=lambda run: run.processor)
    growth = slope(sizes, [ours[n].processor for n in sizes])
    yield Row(
        "tiebreak rank, 10⁶ comparisons of 200 items, with report",
        f"{best.processor:.1f} s of a processor",
        "≤ 5 s",
        best.processor <= 5,
        f"{best.peak:.0f} MB, n^{growth:.2f} from a quarter of them; the report has "
        f"{size / 1e3:.0f} kB; evalica's command: {peer.processor:.1f} s, "
        f"{peer.peak:.0f} MB, no report",
    )


def rank_ten_million() -> Iterator[Row]:
    """Ten million comparisons of 200 items within 2 GB, imports included."""
    for judges, what in ((0, ""), (300_000, ", with 300,000 judges and days")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "votes.csv"
            # Not here: the peak of a child begins with the memory of its parent.
            options = {"judges": judges, "dated": bool(judges)}
            in_child("write_votes", path=str(path), n=10 * MILLION, **options)
            out = Path(folder) / "out"
            run = run_command("rank", path, "--out", out, "-q")
        yield Row(
            f"tiebreak rank, 10⁷ comparisons{what}: memory of the process",
            f"{run.peak:.0f} MB",
            "≤ 2000 MB",
            run.peak <= 2000,
            f"{run.seconds:.0f} s, {run.processor:.0f} s of a processor",
        )


def rank_a_folder() -> Iterator[Row]:
    """Ten million votes by 200 raters in twenty files, and the same in one."""
    with tempfile.TemporaryDirectory() as folder:
        one, parts, runs = Path(folder) / "one.csv", Path(folder) / "parts", []
        parts.mkdir()
        part = parts / "00.csv"
        in_child("write_votes", path=str(part), n=MILLION // 2, judges=200)
        header, _, rows = part.read_bytes().partition(b"\n")
        with one.open("wb") as file:
            file.write(header + b"\n")
            for number in range(20):
                file.write(rows)
                (parts / f"{number:02}.csv").write_bytes(header + b"\n" + rows)
        for source in (one, parts / "*.csv"):
            out = Path(folder) / "out"
            runs.append(run_command("rank", source, "--out", out, "-q"))
    whole, files = runs
    yield Row(
        "tiebreak rank, 10⁷ votes by 200 raters, memory of twenty files over one",
        f"{files.peak / whole.peak:.2f}×",
        "≤ 1×",
        files.peak <= 1.02 * whole.peak,  # runs differ by one percent
        f"{files.peak:.0f} MB against {whole.peak:.0f} MB; {files.processor:.0f} s "
        f"against {whole.processor:.0f} s of a processor",
    )


CASES = (
    start_of_the_command, rank_seven_rows, rank_a_million, rank_ten_million,
    rank_a_folder,
)  # fmt: skip
