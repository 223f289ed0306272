# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce the papers: ``python -m papers run 001`` and ``python -m papers show``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from papers.registry import find
from papers.results import Results
from papers.runner import run_experiments
from papers.show import write_report


def main(words: list[str] | None = None) -> int:
    """Read the command, do it, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run", help="compute what is missing; kill it and start it again at any time"
    )
    run.add_argument("names", nargs="*", help="such as 001 or 000-figure4; all without")
    run.add_argument("--jobs", type=int, help="processes; one for each core without")
    show = commands.add_parser("show", help="write RESULTS.md and the figures")
    commands.add_parser("list", help="list the experiments and what is finished")
    for command in (run, show):
        command.add_argument("--quick", action="store_true", help="a small slice of it")
        command.add_argument("--folder", type=Path, help="where results are kept")
    options = parser.parse_args(words)
    console = Console(stderr=True, highlight=False)
    try:
        if options.command == "run":
            failed = run_experiments(
                find(options.names),
                quick=options.quick,
                jobs=options.jobs,
                folder=options.folder,
                console=console,
            )
            if failed:
                console.print(f"{failed} cells failed; the others are kept.")
            return 1 if failed else 0
        if options.command == "show":
            path = write_report(options.quick, options.folder)
            console.print(f"wrote {path}")
        else:
            for experiment in find([]):
                n = len(experiment.cells(False))
                results = Results(experiment, quick=False)
                have = n - len(results.missing())
                took = sum(row["cpu_seconds"] for row in results.table()) / 60.0
                print(
                    f"{experiment.name:14s} {have:5d} of {n:5d} {took:6.1f} min  "
                    f"{experiment.title}"
                )
    except (ValueError, FileNotFoundError) as error:
        console.print(str(error), style="red")
        return 2
    except KeyboardInterrupt:
        console.print("Interrupted. Finished cells are kept; start again to go on.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
