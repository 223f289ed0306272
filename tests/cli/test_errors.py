# SPDX-License-Identifier: BSD-3-Clause
"""Bad files, bad places and interruptions: one line, an exit code, nothing halfway."""

import gzip
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.cli.processes import run_alone, signal_at
from tests.waiting import wait_for

HEADER = "left,right,outcome\n"
GOOD = "Ada,Bo,left\nBo,Ada,left\nAda,Bo,tie\n"
COLOR = r"\x1b\[(?:\d+;)*3\d"
RESULTS = ("report.html", "leaderboard.csv", "model.tiebreak")


@pytest.fixture
def votes(tmp_path):
    """Write votes that take a moment to rank."""
    rng = np.random.default_rng(1)
    left = rng.integers(0, 12, 1500)
    right = (left + rng.integers(1, 12, 1500)) % 12
    d = (right - left) / 6 + rng.logistic(size=1500)
    words = np.where(np.abs(d) < 0.5, "tie", np.where(d > 0, "right", "left"))
    names = np.array([f"item {i}" for i in range(12)])
    path = tmp_path / "votes.csv"
    pl.DataFrame(
        {"left": names[left], "right": names[right], "outcome": words}
    ).write_csv(path)
    return path


BAD_FILES = {
    "empty": (b"", ["the file is empty"]),
    "only a header": (HEADER, ["a header and no rows"]),
    "gzip cut short": (gzip.compress((HEADER + GOOD * 99).encode())[:-9], ["cut sh"]),
    "unknown outcomes": (
        HEADER + GOOD + "Ada,Bo,won\nBo,Ada,lost\nAda,Bo,won\n",
        ["3 rows", "line 5 ('won')", "line 6 ('lost')", "line 7 ('won')"],
    ),
    "nothing but itself": (HEADER + "Ada,Ada,tie\n", ["no comparison is left"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_one_line_and_nothing_is_written(processes, tmp_path, case):
    content, words = BAD_FILES[case]
    path, out = tmp_path / "bad", tmp_path / "out"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = processes.run("rank", path, "--out", out)
    assert done.code == 3, done.stderr
    assert done.line.startswith(f"{path}: ")
    assert len(done.line) < 600
    for word in words:
        assert word in done.line
    assert done.stdout == ""
    assert not out.exists()


def test_things_that_are_not_files(processes, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, word in (
        (tmp_path, "no Parquet or Arrow file in this folder"),
        (tmp_path / "none.csv", "No such file"),
        (tmp_path / "pipe", "not a regular file"),
        ("/dev/null", "not a regular file"),
    ):
        done = processes.run("rank", path, "--out", tmp_path / "out")
        assert done.code == 3
        assert word in done.line
    assert not (tmp_path / "out").exists()


def test_strange_names_are_names(processes, tmp_path):
    long = "x" * 10_000
    rows = [
        f"{long},🍣 sushi,left", "שלום,مرحبا,right", "Ada ,Bo,tie", "Ada,Bo,left",
        f"Bo,{long},left", "🍣 sushi,שלום,left", "مرحبا,Ada,left", "Bo,Ada,tie",
        "\x1b[31mred,Bo,left", "Bo,\x1b[31mred,tie",
    ]  # fmt: skip
    path = tmp_path / "strange.csv"
    text = "\r\n".join(["left,right,outcome", *rows * 3, ""])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    done = processes.run("rank", path, "--out", tmp_path / "out")
    assert done.code == 0, done.stderr
    assert "'Ada' (2 ways)" in " ".join(done.stdout.split())
    board = pl.read_csv(tmp_path / "out" / "leaderboard.csv")
    named = {long, "🍣 sushi", "שלום", "مرحبا", "Ada", "Bo", "\x1b[31mred"}
    assert set(board["item"]) == named
    # Names neither flood the terminal nor steer it.
    assert len(done.stdout) < 8_000
    assert not set("\0\x1b") & set(done.stdout)


@pytest.mark.extended
def test_warnings_and_errors_do_not_pollute_json(processes, tmp_path):
    path = tmp_path / "few.csv"
    rows = "Zoë,Bo,left\nBo,Cy,left\nCy,Bo,left\nDi,Ed,left\n" * 9
    path.write_text(HEADER + rows, "utf-8")
    done = processes.run("rank", path, "--out", tmp_path / "out", "--json")
    assert (done.code, done.stderr) == (0, "")
    found = json.loads(done.stdout, parse_constant=pytest.fail)
    assert found["checks"]["components"] == [["Di", "Ed"]]
    assert "Zoë" in {row["item"] for row in found["leaderboard"]}
    for command in ("check", "compare"):
        done = processes.run(command, path, "--json")
        assert (done.code, done.stderr) == (0, "")
        json.loads(done.stdout, parse_constant=pytest.fail)
    path.write_text(HEADER)
    done = processes.run("rank", path, "--json")
    assert (done.code, done.stdout) == (3, "")
    assert done.line


def test_colors_only_where_they_are_wanted(processes, votes):
    colored = processes.run("check", votes, FORCE_COLOR="1", TERM="xterm-256color")
    plain = processes.run(
        "check", votes, FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1"
    )
    assert re.search(COLOR, colored.stdout)
    assert not re.search(COLOR, plain.stdout)
    assert "\x1b" not in processes.run("check", votes).stdout


@pytest.mark.extended
def test_few_characters_are_enough(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + "Zoë,Bo,left\nBo,Zoë,left\nZoë,Bo,tie\n" * 9, "utf-8")
    few = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run_alone("rank", path, "--out", tmp_path / "out", **few)
    assert (done.code, done.stderr) == (0, "")
    assert "Zo?" in done.stdout
    assert done.stdout.isascii()
    done = run_alone("check", path, "--json", **few)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["n_comparisons"] == 27


# Places that cannot be written to. What is asked for is refused before minutes of work.


def fill(out):
    """Put older results into a folder."""
    out.mkdir()
    for name in RESULTS:
        (out / name).write_text("old")


def texts(out):
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.extended
def test_places_that_are_no_folders(processes, votes, tmp_path):
    for out in (votes, votes / "deep", "/dev/full", "/dev/full/deep"):
        done = processes.run("rank", votes, "--out", out)
        assert done.code == 5
        assert done.line.startswith(f"Cannot write {out}: ")
    fill(tmp_path / "out")
    (tmp_path / "out" / "report.html").unlink()
    (tmp_path / "out" / "report.html").mkdir()
    done = processes.run("rank", votes, "--out", tmp_path / "out")
    assert done.code == 5
    assert "report.html: Is not a regular file" in done.line
    assert (tmp_path / "out" / "leaderboard.csv").read_text() == "old"
    done = processes.run("convert", votes, votes / "table.csv")
    assert done.code == 5
    assert "cannot be written" in done.line


AS_NOBODY = "os.setgroups([]); os.setgid(65534); os.setuid(65534)"


@pytest.fixture
def open_folder():
    """Give a folder that everybody may enter, which the folders of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.extended
def test_no_permission(processes, votes, open_folder):
    votes = Path(shutil.copy(votes, open_folder))
    fill(open_folder / "out")
    before = AS_NOBODY if os.geteuid() == 0 else ""
    (open_folder / "out").chmod(0o555)
    closed = open_folder / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        for out in (open_folder / "out", open_folder / "out" / "deep", closed / "deep"):
            done = processes.run("rank", votes, "--out", out, before=before)
            assert done.code == 5, done.stderr
            assert re.search("Permission denied|write-protected", done.line)
        votes.chmod(0)
        for path in (votes, closed / "votes.csv"):
            done = processes.run("rank", path, "--print", "csv", before=before)
            assert done.code == 3
            assert "Permission denied" in done.line
    finally:
        (open_folder / "out").chmod(0o755)
        closed.chmod(0o755)
    assert set(texts(open_folder / "out").values()) == {b"old"}
    assert len(texts(open_folder / "out")) == len(RESULTS)


LIMIT = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"
)


@pytest.mark.extended
def test_a_file_that_grows_too_large(processes, votes, tmp_path):
    out = tmp_path / "out"
    done = processes.run("rank", votes, "--out", out, before=LIMIT.format(4000))
    assert done.code == 5, done.stderr
    assert done.line == f"Cannot write {out / 'report.html'}: File too large."
    assert not out.exists()


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of 128 KiB, if this user may."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(where)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command to mount a disk")
    if done.returncode:
        pytest.skip("this user may not mount a disk")
    yield where
    subprocess.run(["umount", str(where)], check=True)


def test_a_full_disk_leaves_the_older_results(processes, votes, small_disk):
    out = small_disk / "out"
    fill(out)
    # Room for the report, but not for all three.
    size = 128 * 1024 - 4 * 4096
    (small_disk / "ballast").write_bytes(b"x" * (size - 40_000))
    done = processes.run("rank", votes, "--out", out)
    assert done.code == 5, done.stderr
    assert done.line.startswith(f"Cannot write {out}/")
    assert "No space left on device" in done.line
    assert texts(out) == dict.fromkeys(RESULTS, b"old")


def test_printing_to_a_full_disk(processes, votes, tmp_path):
    full = "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
    for words in (("check",), ("check", "--json")):
        done = processes.run(*words, votes, before=full)
        assert done.code == 5
        assert done.line == (
            "Cannot write to standard output: No space left on device."
        )


@pytest.mark.extended
def test_a_reader_that_goes_away(votes, tmp_path):
    out = tmp_path / "out"
    for words in (("rank", votes, "--out", out), ("check", votes, "--json")):
        with subprocess.Popen(
            [sys.executable, "-m", "tiebreak", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as started:
            assert started.stdout.readline()
            started.stdout.close()
            assert started.stderr.read() == b""
            assert started.wait() == 0
    # The report was asked for, and is there.
    assert set(texts(out)) == set(RESULTS)


def test_closed_outputs(processes, votes):
    assert processes.run("check", votes, before="os.close(1)").code == 0
    done = processes.run("rank", "none.csv", before="os.close(1); os.close(2)")
    assert done.code == 3


# Interruptions


def is_whole(out, old):
    """Whether a folder holds the older results or the new ones, and nothing else."""
    found = texts(out)
    assert set(found) == set(RESULTS)
    fresh = {found[name] != b"old" for name in RESULTS}
    assert len(fresh) == 1
    return fresh == {not old}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")],
)
def test_a_signal_while_results_are_written(
    processes, votes, tmp_path, number, code, word
):
    out = tmp_path / "out"
    fill(out)
    # Of three files, the model is the last.
    words = ("open", ".tiebreak-", "model.tiebreak")
    before = signal_at(1, tmp_path / "count", words, number)
    done = processes.run("rank", votes, "--out", out, before=before)
    assert done.code == code, done.stderr
    assert done.line == f"{word}; nothing is left half written."
    assert is_whole(out, old=True)


@pytest.mark.extended
def test_signals_at_any_moment(processes, votes, tmp_path, rng):
    out = tmp_path / "out"
    fill(out)
    words = ["rank", votes, "--out", out]
    count = tmp_path / "count"
    assert processes.run(*words, before=signal_at(0, count)).code == 0
    moments = int(count.read_text())
    assert moments > 100
    interrupted = 0
    # Evenly over the run, the end included, and a little off.
    for share in (np.arange(8) + rng.random(8)) / 7:
        for name in RESULTS:
            (out / name).write_text("old")
        before = signal_at(1 + int(share * moments), count)
        done = processes.run(*words, before=before)
        if done.code == 0:
            assert is_whole(out, old=False)
            continue
        assert done.code == 130, done.stderr
        assert done.line == "Interrupted; nothing is left half written."
        interrupted += is_whole(out, old=True)
    assert interrupted >= 4


def test_a_folder_that_was_made_is_not_left_behind(processes, votes, tmp_path):
    out = tmp_path / "one" / "two"
    before = """
import os, signal
from tiebreak.cli import files
read = files.read_files
def interrupted(*words):
    os.kill(os.getpid(), signal.SIGINT)
    return read(*words)
files.read_files = interrupted
"""
    done = processes.run("rank", votes, "--out", out, before=before)
    assert done.code == 130, done.stderr
    assert not (tmp_path / "one").exists()


def test_a_signal_during_the_imports(votes, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "tiebreak", "rank", votes, "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        # As soon as the program is listening, which Linux tells.
        status = f"/proc/{started.pid}/status"
        if not os.path.exists(status):
            started.kill()
            pytest.skip("only Linux tells when a program listens")
        wait_for(lambda: _catches(status, signal.SIGTERM))
        started.send_signal(signal.SIGINT)
        assert started.wait() == 130
        assert started.stderr.read() == (
            "tiebreak: Interrupted; nothing is left half written.\n"
        )
    assert not (tmp_path / "out").exists()


def _catches(status, number):
    with open(status) as lines:
        caught = next(line for line in lines if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


# What is going on


@pytest.mark.extended
def test_steps_are_shown_on_a_terminal_only(processes, votes, tmp_path):
    def read(*words):
        ours, theirs = pty.openpty()
        processes.start(
            "rank", votes, "--out", tmp_path / "out", *words,
            err=os.ttyname(theirs), TERM="xterm",
        )  # fmt: skip
        seen = b""
        os.set_blocking(ours, False)
        done = processes.end()
        while True:
            try:
                seen += os.read(ours, 65536)
            except BlockingIOError:
                break
        os.close(ours)
        os.close(theirs)
        assert done.code == 0
        return seen.decode()

    shown = read()
    for step in ("reading votes.csv", "fitting bradley-terry", "writing"):
        assert step in shown
    assert read("--quiet") == ""
    assert read("--json") == ""
