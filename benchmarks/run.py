# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks and print one table: ``python -m benchmarks.run [-k NAME]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy
import sklearn
from rich.console import Console
from rich.table import Table

from benchmarks.cases import CASES
from benchmarks.rows import Row
from tiebreak import __version__


def describe_machine() -> str:
    """What the figures were measured on, without names."""
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, tiebreak {__version__}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def markdown_line(row: Row) -> str:
    """The row as the tables of the README have it."""
    mark = {None: "", True: "kept", False: "**not kept**"}[row.kept]
    value = f"{row.value} ({row.note})" if row.note else row.value
    return f"| {row.name} | {value} | {row.promise} | {mark} |"


def main() -> None:
    """Measure, print, and exit with an error if a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "-k", metavar="NAME", default="", help="cases whose name has it; A or B"
    )
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument(
        "--markdown", action="store_true", help="also print the rows for a README"
    )
    options = parser.parse_args()
    console = Console(highlight=False, width=None)
    table = Table(title="ratios against peers; answers were compared before times")
    for name in ("what", "measured", "promised", "", "note"):
        table.add_column(name, overflow="fold")
    rows: list[Row] = []
    parts = options.k.split(" or ")
    chosen = [
        case for name, case in CASES.items() if any(part in name for part in parts)
    ]
    if not chosen:
        parser.error(f"no case has {options.k!r} in its name; there are {list(CASES)}")
    for case in chosen:
        console.print(f"[dim]{case.__doc__}[/dim]")
        for row in case():
            rows.append(row)
            mark = {None: "", True: "kept", False: "[bold]not kept[/bold]"}[row.kept]
            console.print(f"  {row.name}: {row.value} {mark} {row.note}")
            table.add_row(row.name, row.value, row.promise, mark, row.note)
    console.print(table)
    console.print(describe_machine())
    if options.markdown:
        print("\n".join(map(markdown_line, rows)))
    if options.json:
        report = {"machine": describe_machine(), "rows": [asdict(r) for r in rows]}
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))
    if any(row.kept is False for row in rows):
        console.print("[bold]Some promises were not kept on this run.[/bold]")


if __name__ == "__main__":
    main()
