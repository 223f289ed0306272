# SPDX-License-Identifier: BSD-3-Clause
"""Build what a release would publish, and try it where nothing else of ours is.

``make release-check`` runs it. It builds the sdist, and the wheel from the sdist;
checks what is in them and that every place says the same version; then, for each
interpreter and each of the two archives, makes a virtual environment in a temporary
folder, installs the archive there as a stranger would, and runs the command, the demo
and ``smoke.py``. It publishes nothing and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import archives

ROOT = Path(__file__).resolve().parents[1]
# What an environment must not inherit: ways to reach this repository or its data.
_NOT_INHERITED = ("PYTHON", "TIEBREAK", "VIRTUAL_ENV", "__PYVENV")


class CheckError(Exception):
    """A step went wrong; the message says which and how."""


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def run(command: list[str | Path], folder: Path, env: dict[str, str]) -> str:
    """Run a command, say how long it took, and give what it printed."""
    words = [str(word) for word in command]
    start = time.perf_counter()
    done = subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    shown = " ".join([Path(words[0]).name, *words[1:]])
    say(f"  {time.perf_counter() - start:5.1f} s  {shown}")
    if done.returncode != 0:
        raise CheckError(f"{shown}\nexit code {done.returncode}\n{done.stdout}")
    return done.stdout


def clean_environment() -> dict[str, str]:
    """The variables of this process, without those that lead back here."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_NOT_INHERITED)
    }
    # PYTHONUTF8 lets the tables of the demo be printed into a pipe everywhere.
    return kept | {"PYTHONNOUSERSITE": "1", "PYTHONUTF8": "1", "MPLBACKEND": "agg"}


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; gives the paths of both."""
    say("building the sdist, and the wheel from it")
    run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT],
        ROOT,
        os.environ.copy(),
    )
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_archives(sdist: Path, wheel: Path) -> str:
    """Check contents and metadata of both archives; gives their version."""
    in_sdist, in_wheel = archives.names_in(sdist), archives.names_in(wheel)
    say(f"contents: {len(in_sdist)} files in the sdist, {len(in_wheel)} in the wheel")
    version = wheel.name.split("-")[1]
    metadata = archives.text_in(wheel, f"tiebreak-{version}.dist-info/METADATA")
    changelog = archives.text_in(sdist, "CHANGELOG.md")
    findings = [
        *archives.sdist_findings(in_sdist),
        *archives.wheel_findings(wheel.name, in_wheel),
        *archives.metadata_findings(metadata),
        *archives.version_findings(
            {
                "wheel": version,
                "sdist": sdist.name.removesuffix(".tar.gz").split("-")[1],
                "CHANGELOG": archives.changelog_version(changelog),
            }
        ),
    ]
    if findings:
        raise CheckError("\n".join(findings))
    _note_uncommitted(in_sdist)
    return version


def _note_uncommitted(names: list[str]) -> None:
    """Say which files would be published though git does not know them."""
    listed = subprocess.run(
        ["git", "ls-files"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if listed.returncode == 0:
        known = {*listed.stdout.splitlines(), "PKG-INFO"}
        for name in sorted(set(names) - known):
            say(f"  note: {name} is not in git")


def try_archive(archive: Path, python: str, version: str, demo: str) -> None:
    """Install an archive in an environment of its own, and use it from there."""
    env = clean_environment()
    with tempfile.TemporaryDirectory(prefix="tiebreak-release-") as name:
        folder = Path(name).resolve()
        work = folder / "work"
        work.mkdir()
        run([python, "-m", "venv", folder / "env"], work, env)
        programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        own, command = programs / "python", programs / "tiebreak"
        run([own, "-m", "pip", "install", "--quiet", archive], work, env)
        run([own, "-W", "error", "-c", "import tiebreak"], work, env)
        said = run([command, "--version"], work, env)
        if said.split() != ["tiebreak", version]:
            raise CheckError(f"tiebreak --version says {said!r}, expected {version}")
        shutil.copy(ROOT / "tools" / "smoke.py", work)
        for line in run([own, "smoke.py", version], work, env).splitlines():
            say(f"           {line}")
        package = Path(run([own, "-c", _WHERE], work, env).strip())
        table = package / "datasets" / "worldcup2022.csv"
        run([command, "rank", table, "--out", "cup"], work, env)
        (work / "demo.py").write_text(demo, encoding="utf-8")
        pictures = f"{archive}[plot]"
        run([own, "-m", "pip", "install", "--quiet", pictures], work, env)
        run([own, "demo.py", "--out", "demo"], work, env)
        for made in ["cup/report.html", "cup/leaderboard.csv", "demo/level_curves.png"]:
            if not (work / made).is_file():
                raise CheckError(f"{made} was not written")


_WHERE = "import tiebreak; print(tiebreak.__path__[0])"


def main() -> int:
    """Run all checks; the exit code is 1 when one fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--python",
        nargs="+",
        default=[sys.executable],
        help="interpreters to try the archives with (default: the one that runs this)",
    )
    pythons = parser.parse_args().python
    try:
        with tempfile.TemporaryDirectory(prefix="tiebreak-build-") as folder:
            sdist, wheel = build(Path(folder))
            version = check_archives(sdist, wheel)
            demo = archives.text_in(sdist, "examples/demo.py")
            for python in pythons:
                for archive in (wheel, sdist):
                    say(f"{archive.name} with {python}")
                    try_archive(archive, python, version, demo)
    except CheckError as failure:
        say(f"release-check failed: {failure}")
        return 1
    say(f"tiebreak {version} can be released")
    return 0


if __name__ == "__main__":
    sys.exit(main())
