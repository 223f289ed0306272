# SPDX-License-Identifier: BSD-3-Clause
"""The real command in processes that need not import everything first.

One process imports the commands, and forks for every run. A child is a process of its
own, with its own arguments, environment, standard output and exit code; only the
seconds of the imports are saved.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass

_PARENT = """
import gc, json, os, sys
import skops.io
import rich.live, rich.spinner, rich.table, typer.main, typer.rich_utils
try:
    import typer._adapters  # which newer ones import when arguments are read
except ImportError:
    pass
import tiebreak.cli.app, tiebreak.cli.rank, tiebreak.cli.compare
import tiebreak.cli.convert, tiebreak.report.page
from tiebreak.cli import main
gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        for path, number in ((os.devnull, 0), (asked["out"], 1), (asked["err"], 2)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
        os.chdir(asked["cwd"])
        os.environ.update(asked["environment"])
        exec(asked["before"])
        sys.argv = ["tiebreak", *asked["words"]]
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code or 0)  # taking everything down takes as long as a run
        os._exit(99)
    print("child", child, flush=True)
    print("code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


# Counts what a command does, as Python tells its audit hooks, from the moment it
# listens to signals; sends a signal at one of these moments. No clock is involved, so
# a busy machine finds the command at the same place.
_AT_MOMENT = """
import os, signal, sys
counted = os.open({path!r}, os.O_CREAT | os.O_RDWR | os.O_TRUNC)
count = 0
def watch(event, given):
    global count
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL or not all(
        any(word in str(one) for one in (event, *given)) for word in {words!r}
    ):
        return
    count += 1
    os.pwrite(counted, str(count).encode(), 0)
    if count == {moment}:
        os.kill(os.getpid(), {number})
sys.addaudithook(watch)
"""


def signal_at(moment, path, words=(), number=signal.SIGINT):
    """Write what a command does before it begins, to be sent a signal on its way.

    The moment is a number of audit events that mention all the words. How many there
    were is written to a file; the moment 0 never comes, and only counts.
    """
    return _AT_MOMENT.format(
        moment=moment, path=str(path), words=tuple(words), number=int(number)
    )


@dataclass
class Done:
    """How a run ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def line(self):
        """The one line on standard error, which there must be."""
        assert "Traceback" not in self.stderr
        lines = self.stderr.splitlines()
        assert len(lines) == 1, self.stderr
        assert lines[0].startswith("tiebreak: ")
        return lines[0].removeprefix("tiebreak: ")


class Processes:
    """Runs commands, each in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.parent = subprocess.Popen(
            [sys.executable, "-c", _PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, *words, cwd=None, before="", err=None, **environment):
        """Start a command."""
        self.out, self.err = self.folder / "stdout", self.folder / "stderr"
        for path in (self.out, self.err):
            path.unlink(missing_ok=True)
        asked = {
            "words": [str(word) for word in words],
            "cwd": str(cwd or self.folder),
            "before": before,
            "out": str(self.out),
            "err": str(err or self.err),
            "environment": {"COLUMNS": "120"} | environment,
        }
        self.parent.stdin.write(json.dumps(asked) + "\n")
        self.parent.stdin.flush()
        self.child = self._answer("child")

    def _answer(self, to):
        word, number = self.parent.stdout.readline().split()
        assert word == to
        return int(number)

    def signal(self, number):
        """Send a signal to the command that was started, if it still runs."""
        with suppress(ProcessLookupError):
            os.kill(self.child, number)

    def end(self):
        """Wait for the command to end."""
        code = self._answer("code")
        texts = [
            path.read_text(encoding="utf-8") if path.exists() else ""
            for path in (self.out, self.err)
        ]
        return Done(code, *texts)

    def run(self, *words, **options):
        """Run a command to its end."""
        self.start(*words, **options)
        return self.end()

    def close(self):
        """End the parent."""
        self.parent.communicate()


def run_alone(*words, cwd=None, **environment):
    """Run a command in a process that begins with nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tiebreak", *map(str, words)],
        capture_output=True,
        cwd=cwd,
        env=os.environ | {"COLUMNS": "120"} | environment,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
