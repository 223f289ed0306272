# SPDX-License-Identifier: BSD-3-Clause
"""The real command ``tiebreak data``, with a real server on this machine."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.datasets.serving import Answer, closed_port, serve
from tests.waiting import PATIENCE, wait_for
from tiebreak.datasets import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
TABLE = b"left,right,outcome\nAda,Bo,left\nBo,Ada,tie\n" * 2000

# Runs the command with one more set in the registry, which is served at an address.
PROGRAM = """
import sys
from types import MappingProxyType
import tiebreak.datasets.registry as registry
from tests.datasets.serving import one_file
content = (b"left,right,outcome\\nAda,Bo,left\\nBo,Ada,tie\\n") * 2000
toy = one_file(sys.argv.pop(1), content)
registry.REGISTRY = MappingProxyType({**registry.REGISTRY, "toy": toy})
from tiebreak.cli import main
main()
"""


@pytest.fixture
def environment(tmp_path):
    """Give variables for a user without a data folder and with an empty cache."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "TIEBREAK_DATA" and not name.lower().endswith("_proxy")
    }
    return kept | {
        "XDG_CACHE_HOME": str(tmp_path / "xdg"),
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }


def run(environment, *words, url=None, program=("-m", "tiebreak"), **more):
    program = program if url is None else ("-c", PROGRAM, url)
    return subprocess.run(
        [sys.executable, *program, "data", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment | more,
        cwd=ROOT,
        check=False,
    )


def test_list(environment, tmp_path):
    mine = tmp_path / "mine"
    for file in REGISTRY["football"].files:
        (mine / file.name).parent.mkdir(parents=True, exist_ok=True)
        (mine / file.name).touch()
    cache = tmp_path / "xdg" / "tiebreak" / "llmfao"
    cache.mkdir(parents=True)
    (cache / "llmfao.csv").touch()
    done = run(environment, "list", TIEBREAK_DATA=str(mine))
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    for dataset in REGISTRY.values():
        assert dataset.name in done.stdout
        assert f"{dataset.rows:,}" in done.stdout
    assert "CC BY-NC-SA 4.0" in text
    assert f"Cache: {tmp_path / 'xdg' / 'tiebreak'}" in text
    done = run(environment, "list", "--json", TIEBREAK_DATA=str(mine))
    assert (done.returncode, done.stderr) == (0, "")
    found = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert list(found) == list(REGISTRY)
    assert found["football"]["where"] == "data folder"
    assert found["football"]["folder"] == str(mine / "football")
    assert found["llmfao"]["where"] == "cache"
    assert found["sushi"]["where"] == "not here"
    assert found["sushi"]["folder"] is None
    assert found["worldcup2022"]["where"] == "bundled"
    assert "Kaggle" in found["chess_fide2011"]["by_hand"]
    assert found["mq2008"]["by_hand"] is None
    assert found["mq2008"]["rows"] == 2874


@pytest.mark.extended
def test_the_bundled_set_can_be_ranked_at_once(environment, tmp_path):
    done = run(environment, "get", "worldcup2022")
    assert done.returncode == 0, done.stderr
    (path,) = done.stdout.splitlines()
    assert path.endswith("worldcup2022.csv")
    assert "public record" in done.stderr
    checked = subprocess.run(
        [sys.executable, "-m", "tiebreak", "check", path, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(checked.stdout)["n_comparisons"] == 64
    assert not (tmp_path / "xdg").exists()


@pytest.mark.extended
def test_get_downloads_once_and_tells_the_terms(environment, tmp_path):
    path = tmp_path / "xdg" / "tiebreak" / "toy" / "table.csv"
    with serve() as server:
        server.answers["/table.csv"] = Answer(TABLE)
        url = f"{server.url}/table.csv"
        done = run(environment, "get", "toy", "worldcup2022", url=url)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == str(path)
        assert len(done.stdout.splitlines()) == 2
        assert "toy: Do as you like." in done.stderr
        assert "Please cite: Nobody." in done.stderr
        assert path.read_bytes() == TABLE
        path.write_bytes(b"broken")
        done = run(environment, "get", "toy", "--json", url=url)
        assert done.returncode == 0, done.stderr
        assert "downloaded again" in done.stderr
        (found,) = json.loads(done.stdout)
        assert found["paths"] == [str(path)]
        assert found["where"] == "cache"
        assert found["terms"] == "Do as you like."
        assert path.read_bytes() == TABLE
        done = run(environment, "get", "-q", "toy", url=url)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}\n", "")
        assert server.asked == ["/table.csv"] * 2


@pytest.mark.extended
def test_what_cannot_be_had_is_one_line(environment, tmp_path):
    proxy = f"http://127.0.0.1:{closed_port()}"
    with serve() as server:
        for words, options, said in [
            (["toy"], {"url": f"{server.url}/gone"}, "answers 404 Not Found"),
            (["football"], {"HTTPS_PROXY": proxy}, "cannot be reached"),
            (["chess_fide2011"], {}, "Kaggle"),
        ]:
            done = run(environment, "get", *words, **options)
            assert done.returncode == 3, done.stderr
            assert done.stdout == ""
            (line,) = done.stderr.splitlines()
            assert line.startswith(f"tiebreak: {words[0]}: ")
            assert said in line
            assert not (tmp_path / "xdg").exists()


@pytest.mark.extended
def test_wrong_names_and_places(environment, tmp_path):
    done = run(environment, "get", "football", "footbal")
    assert done.returncode == 2
    assert "Did you mean 'football'?" in " ".join(done.stderr.replace("│", "").split())
    assert run(environment, "get").returncode == 2
    blocked = tmp_path / "file"
    blocked.touch()
    done = run(environment, "get", "llmfao", XDG_CACHE_HOME=str(blocked))
    assert done.returncode == 5
    assert "Cannot write" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.extended
@pytest.mark.skipif(sys.platform == "win32", reason="no interrupt for one process")
def test_an_interrupt_leaves_nothing(environment, tmp_path):
    wait = threading.Event()
    with serve() as server:
        server.answers["/table.csv"] = Answer(TABLE, wait=wait)
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, f"{server.url}/table.csv", "data", "get",
             "toy"],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        try:
            wait_for(lambda: list((tmp_path / "xdg").rglob(".served")))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            wait.set()
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "tiebreak: Interrupted; nothing is left half written."
    assert not (tmp_path / "xdg").exists()
