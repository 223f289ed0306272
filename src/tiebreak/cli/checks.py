# SPDX-License-Identifier: BSD-3-Clause
"""What the data can support, also when alike comparisons were added up."""

from __future__ import annotations

from dataclasses import replace

from tiebreak import check_pairs
from tiebreak.cli.knowledge import Knowledge
from tiebreak.ratings.pairs_report import PairsReport

__all__ = ["check_known"]

# These speak of single rows by number, and there are none of counts.
_OF_ROWS = ("unsorted", "weightless")


def check_known(known: Knowledge) -> PairsReport:
    """Check comparisons of items with names.

    Parameters
    ----------
    known : Knowledge
        The comparisons.

    Returns
    -------
    PairsReport
        Of many files that were too long to be taken row by row, without what can be
        said of single rows only: repeated ones, and whether they are in order of time.
    """
    rows = known.whole
    assert rows.by_name is not None
    report = check_pairs(rows.by_name, rows.y, **rows.columns, sided=rows.sided)
    if rows.parted is None:
        return report
    findings = tuple(f for f in report.findings if f.code not in _OF_ROWS)
    return replace(
        report, n_rows=rows.parted.n_rows, repeated_rows=None, findings=findings
    )
