# SPDX-License-Identifier: BSD-3-Clause
"""Run the short tests as other machines would: ``make test-machines``.

Rounding differs from processor to processor, and dependencies from Python to Python.
``OPENBLAS_CORETYPE`` lets OpenBLAS use the code of another processor, and
``NUMBA_CPU_NAME=generic`` lets numba compile for any. Each Python that is found gets an
environment of its own beside ``.venv``. Prints one table at the end; the exit code is 1
when a run failed.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE_TYPES = ("Haswell", "Sandybridge", "Prescott")
PYTHONS = [f"python3.{minor}" for minor in range(11, 20)]


def find_pythons() -> list[str]:
    """Find the interpreters of `PYTHONS`, on the path or installed by pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = []
    for name in PYTHONS:
        version = name.removeprefix("python")
        installed = sorted(pyenv.glob(f"{version}.*/bin/{name}"))
        path = str(installed[-1]) if installed else shutil.which(name)
        if (
            path
            and subprocess.run([path, "-c", "import venv, ensurepip"]).returncode == 0
        ):
            paths.append(path)
    return paths


@functools.cache
def prepare(python: str) -> Path:
    """Make the environment of an interpreter, or find it; gives its own Python."""
    folder = ROOT / f".venv-{Path(python).name}"
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--editable", ".[test]"], cwd=ROOT, check=True)
    return own


def run_tests(python: Path, variables: dict[str, str], words: list[str]) -> str:
    """Run the tests, and give the last line of pytest, or how the run ended."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    env = os.environ | variables
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    lines = done.stdout.splitlines()
    for line in lines:
        if re.match(r"FAILED|ERROR", line):
            print(f"    {line}", flush=True)
    last = lines[-1].strip("= ") if lines else ""
    return last if "passed" in last else f"exit code {done.returncode}: {last}"


def main() -> int:
    """Run every combination, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", nargs="*", default=find_pythons())
    parser.add_argument("--core-types", nargs="*", default=CORE_TYPES)
    parser.add_argument("--jobs", default="auto")
    parser.add_argument("tests", nargs="*", help="default: all short tests")
    options = parser.parse_args()
    words = ["--numprocesses", options.jobs, "--dist", "worksteal", *options.tests]
    newest = options.python[-1]
    runs = [(python, {}) for python in options.python]
    runs += [(newest, {"OPENBLAS_CORETYPE": name}) for name in options.core_types]
    runs += [(newest, {"NUMBA_CPU_NAME": "generic"})]
    table = []
    for python, variables in runs:
        label = " ".join(f"{k}={v}" for k, v in variables.items()) or "this processor"
        print(f"{Path(python).name}, {label}", flush=True)
        result = run_tests(prepare(python), variables, words)
        table.append((Path(python).name, label, result))
    print(f"\n{'Python':<12}{'machine':<32}result")
    for python, label, result in table:
        print(f"{python:<12}{label:<32}{result}")
    return int(any("failed" in row[2] or "exit code" in row[2] for row in table))


if __name__ == "__main__":
    sys.exit(main())
