# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from tiebreak.cli.command import Files, command
from tiebreak.cli.console import Screen
from tiebreak.options import RankOptions, ReadOptions


@command("Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`")
def check(file: Files, reading: ReadOptions, screen: Screen) -> None:
    """Say what the results in a FILE can support, before anything is fitted."""
    from tiebreak.cli.files import read_files
    from tiebreak.data.messages import speaking_of

    with screen.steps() as steps:
        source = read_files(file, reading, RankOptions(), steps)
        steps("checking the data")
        from tiebreak.pipeline.held_out import check_data

        with speaking_of(source.nouns):
            reports = [] if source.named is None else [check_data(source)]
    with speaking_of(source.nouns):
        checked = reports[0].to_dict() if reports else {}
        screen.show({"recognized": source.detected} | checked, reports)
