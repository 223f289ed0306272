# SPDX-License-Identifier: BSD-3-Clause
"""Finished cells stay, whatever happens to the runner."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from papers.experiment import Experiment, cell_key, generator
from papers.results import Results
from papers.runner import run_experiments
from papers.tables import Sample, markdown, paired_mark, pick
from tests.papers.slow import GATE, SLOW
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]


def cells(quick):
    return [{"number": i, "word": "a"} for i in range(3 if quick else 6)]


def square(number, word):
    if number == 4:
        raise ValueError("four is not liked")
    return {"square": number**2, "drawn": generator(word, number).random()}


EXPERIMENT = Experiment("test", "squares", cells, square)


@pytest.mark.extended
def test_cells_are_kept_and_failures_told(tmp_path, capsys):
    console = Console(stderr=True, width=200)
    assert run_experiments([EXPERIMENT], quick=False, folder=tmp_path, console=console)
    told = capsys.readouterr().err
    assert "four is not liked" in told
    assert "test: 0 cells are there, 6 to do" in told
    results = Results(EXPERIMENT, False, tmp_path)
    assert [row["square"] for row in results.table()] == [0, 1, 4, 9, 25]
    assert results.missing() == [{"number": 4, "word": "a"}]
    quick = Results(EXPERIMENT, True, tmp_path / "other")
    assert len(quick.missing()) == 3


def test_a_torn_line_is_computed_again(tmp_path):
    results = Results(EXPERIMENT, True, tmp_path)
    for settings in cells(True):
        results.add(settings, {"square": 0})
    whole = results.path.read_bytes()
    # Torn lines may be longer than the one that takes their place.
    results.path.write_bytes(whole[:-5] + b" " * 100)
    again = Results(EXPERIMENT, True, tmp_path)
    assert again.missing() == cells(True)[-1:]
    again.add(cells(True)[-1], {"square": 0})
    assert results.path.read_bytes() == whole


def test_numbers_that_json_does_not_know(tmp_path):
    results = Results(EXPERIMENT, True, tmp_path)
    results.add(cells(True)[0], {"a": float("nan"), "b": [float("inf"), 1.0]})
    row = Results(EXPERIMENT, True, tmp_path).table()[0]
    assert (row["a"], row["b"]) == (None, [None, 1.0])


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_started_again_it_gives_the_same(tmp_path, number):
    """SIGKILL reaches the runner alone, and its workers must not go on without it."""
    code = (
        "import sys; from pathlib import Path; from papers.runner import *\n"
        "from tests.papers.slow import SLOW\n"
        "if __name__ == '__main__':\n"
        "    run_experiments([SLOW], quick=False, jobs=2, folder=Path(sys.argv[1]))\n"
    )
    program = tmp_path / "program.py"
    program.write_text(code)
    gate = tmp_path / "gate"
    path = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    environment = os.environ | {"PYTHONPATH": path, GATE: str(gate)}

    def start(folder):
        return subprocess.Popen(
            [sys.executable, str(program), str(folder)],
            env=environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    killed = tmp_path / "killed" / "slow.jsonl"
    process = start(killed.parent)
    wait_for(lambda: killed.exists() and killed.read_bytes().count(b"\n") >= 2)
    if number == signal.SIGKILL:
        os.kill(process.pid, number)
    else:
        os.killpg(process.pid, number)
    gate.touch()
    process.wait()
    before = killed.read_bytes()
    wait_for(lambda: not _group_lives(process.pid))
    assert before.count(b"\n") <= 4
    assert start(killed.parent).wait() == 0
    assert killed.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    tables = [Results(SLOW, False, killed.parent).table()]
    assert start(tmp_path / "whole").wait() == 0
    tables.append(Results(SLOW, False, tmp_path / "whole").table())
    drawn = [[row["drawn"] for row in table] for table in tables]
    assert len(drawn[0]) == 12
    assert drawn[0] == drawn[1]


def _group_lives(group):
    """Tell whether a process of the group runs; a zombie does not."""
    return any(
        process.info["status"] != psutil.STATUS_ZOMBIE and _group_of(process) == group
        for process in psutil.process_iter(["status"])
    )


def _group_of(process):
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return None


def test_keys_do_not_depend_on_the_order_of_settings():
    assert cell_key({"a": 1, "b": "x"}) == cell_key({"b": "x", "a": 1})
    assert json.loads(cell_key({"a": 1})) == {"a": 1}
    one, two = generator("a", 1).random(), generator("a", 2).random()
    assert one == generator("a", 1).random()
    assert one != two


def test_samples_and_tables():
    rows = [{"a": 1, "v": 2.0}, {"a": 1, "v": 4.0}, {"a": 2, "v": None}]
    sample = pick(rows, "v", a=1)
    assert (sample.mean, len(sample)) == (3.0, 2)
    assert sample.show(1) == "3.0 ± 1.4"
    assert pick(rows, "v", a=2).show() == "—"
    low, high = Sample([1.0, 2.0, 3.1]), Sample([2.0, 3.0, 4.0])
    assert paired_mark(low, high) == "††"
    assert paired_mark(low, low) == ""
    assert markdown(["x", "y"], [["1", "2"]]) == "| x | y |\n|---|---|\n| 1 | 2 |\n"
