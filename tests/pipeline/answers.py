# SPDX-License-Identifier: BSD-3-Clause
"""Rank data that were made by hand, without a file."""

from tiebreak.options import RankOptions
from tiebreak.pipeline.rank import rank_source
from tiebreak.pipeline.source import Source


def rank_data(data, title="", detected=(), **options):
    """Give the answer of data, or of a source."""
    source = data
    if not isinstance(data, Source):
        source = Source(data, list(detected), title)
    return rank_source(source, RankOptions(title=title, **options))
