# SPDX-License-Identifier: BSD-3-Clause
"""Try the oldest releases that are allowed: ``python -m tools.oldest``.

Makes a virtual environment with exactly the lower bounds of ``pyproject.toml``: those
of the package, and those of what the tests import. Runs the short tests there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Of the extra "test"; the others judge style, draw the site or are peers.
_TOOLS = ("hypothesis", "jsonschema", "lightgbm", "pandas", "psutil", "pyarrow")
_TOOLS += ("pytest", "pytest-xdist", "xlsxwriter")
FOLDERS = ("data", "io", "kernels", "losses", "metrics", "solvers", "models", "ratings")
FOLDERS += ("selection", "persistence", "robustness", "pipeline", "laws", "cli")


def lower_bounds(requirements: list[str]) -> list[str]:
    """Give ``name==bound`` of requirements ``name>=bound``, extras kept."""
    out = []
    for requirement in requirements:
        found = re.match(r"([\w.-]+(?:\[[\w,]+\])?)(?:>=|~=|==)([\w.]+)", requirement)
        if found is None:
            raise ValueError(f"{requirement!r} has no lower bound; expected name>=1.2.")
        out.append(f"{found[1]}=={found[2]}")
    return out


def pins() -> list[str]:
    """Give the lower bounds of the package and of the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    used = [line for line in extras["test"] if re.split(r"[>=~\[]", line)[0] in _TOOLS]
    files = extras["excel"] + extras["zstd"]
    return lower_bounds(project["dependencies"] + used + files)


def main() -> int:
    """Install and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-oldest")
    parser.add_argument("--jobs", default="auto")
    parser.add_argument("tests", nargs="*", default=[f"tests/{f}" for f in FOLDERS])
    asked = parser.parse_args()
    chosen = pins()
    print(" ".join(chosen), flush=True)
    python = asked.venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(asked.venv, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *chosen], check=True)
    subprocess.run([*install, "--no-deps", "-e", str(ROOT)], check=True)
    run = [str(python), "-m", "pytest", "-q", "--numprocesses", asked.jobs]
    return subprocess.run([*run, *asked.tests], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
