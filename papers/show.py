# SPDX-License-Identifier: BSD-3-Clause
"""Write all tables and figures, the papers' numbers beside ours."""

from __future__ import annotations

import importlib
from pathlib import Path

from papers.registry import PAPERS
from tiebreak.data.atomic import atomic_path

__all__ = ["write_report"]

_HEAD = """# Results

What the papers report beside what this library gives, from `python -m papers run` and
`python -m papers show`. "±" is the standard deviation over repetitions, as the papers
have it. The folder of each paper says how its protocol was read.

"""


def write_report(quick: bool = False, folder: Path | None = None) -> Path:
    """Write RESULTS.md and its figures.

    Parameters
    ----------
    quick : bool, default=False
        Whether from the small run.
    folder : Path, optional
        Where the results are, and for a small run where the report goes too.

    Returns
    -------
    Path
        The report.
    """
    home = Path(__file__).parent
    if quick:
        home = folder or home / "results" / "quick"
    figures = home / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    parts = [_HEAD]
    for paper, name in PAPERS.items():
        module = importlib.import_module(f"papers.{name}.report")
        parts.append(f"## {paper}: {module.TITLE}\n\n")
        parts.append(module.write(quick, folder, figures))
    path = home / "RESULTS.md"
    with atomic_path(path) as temporary:
        temporary.write_text("".join(parts), encoding="utf-8")
    return path
