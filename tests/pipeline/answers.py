# SPDX-License-Identifier: BSD-3-Clause
"""Rank comparisons that were made by hand, without a file."""

from tiebreak.options import RankOptions
from tiebreak.pipeline.rank import Source, rank_source
from tiebreak.pipeline.source import Asked


def rank_data(data, title="", detected=(), **options):
    """Give the answer of comparisons, or of graded items in files."""
    asked = RankOptions(title=title, **options)
    found = Asked(data) if hasattr(data, "pairs") else data
    return rank_source(Source(found, list(detected), title), asked)
