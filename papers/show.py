# SPDX-License-Identifier: BSD-3-Clause
"""Write all tables and figures, the papers' numbers beside ours."""

from __future__ import annotations

import importlib
from pathlib import Path

from papers.registry import PAPERS, find
from papers.results import Results
from tiebreak.data.atomic import atomic_path

__all__ = ["write_report"]

_HEAD = """# Results

What the papers report beside what this library gives, from `python -m papers run` and
`python -m papers show`. "±" is the standard deviation over repetitions, as the papers
have it. The folder of each paper says how its protocol was read. Numbers are compared
in standard errors of the difference of two means: up to two of them, a number counts as
reproduced, and beyond that as better or worse; only numbers of the same protocol are
counted, and each table says whether it has the same protocol, another one, or other
data. Seconds are those of the processor.
Sentences that quote numbers are made from the results, together with this page.

"""


def write_report(quick: bool = False, folder: Path | None = None) -> Path:
    """Write RESULTS.md and its figures.

    Parameters
    ----------
    quick : bool, default=False
        Whether from the small run.
    folder : Path, optional
        Where the results are and the report goes; by default in the project.

    Returns
    -------
    Path
        The report.
    """
    project = Path(__file__).parent
    home = folder or (project / "results" / "quick" if quick else project)
    figures = home / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    parts = [_HEAD, _time(quick, folder)]
    for paper, name in PAPERS.items():
        module = importlib.import_module(f"papers.{name}.report")
        parts.append(f"## {paper}: {module.TITLE}\n\n")
        parts.append(module.write(quick, folder, figures))
    parts[-1] = parts[-1].rstrip("\n") + "\n"
    path = home / "RESULTS.md"
    with atomic_path(path) as temporary:
        temporary.write_text("".join(parts), encoding="utf-8")
    return path


def _time(quick: bool, folder: Path | None) -> str:
    """Say how long everything takes, and what is missing."""
    seconds, n_cells, n_missing = 0.0, 0, 0
    for experiment in find([]):
        results = Results(experiment, quick, folder)
        rows = results.table()
        n_missing += len(results.missing())
        n_cells += len(rows)
        seconds += sum(row["cpu_seconds"] for row in rows)
    if not n_cells:
        return ""
    took = f"{seconds / 3600:.1f} hours" if seconds > 3600 else f"{seconds:.0f} seconds"
    if not n_missing:
        return (
            f"The full run takes about {took} of one core: {n_cells:,} cells, the sum "
            "of the processor time of each.\n\n"
        )
    return (
        f"Of {n_cells + n_missing:,} cells {n_cells:,} are finished, which took {took} "
        "of one core; tables show what there is.\n\n"
    )
