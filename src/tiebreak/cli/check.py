# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from tiebreak.cli.command import Files, command
from tiebreak.cli.console import Screen
from tiebreak.options import RankOptions, ReadOptions


@command("Examples: `tiebreak check votes.csv` · `tiebreak check votes.csv --json`")
def check(file: Files, reading: ReadOptions, screen: Screen) -> None:
    """Say what a FILE, or a folder of files, can support, before anything is fitted."""
    from tiebreak.cli.files import read_files
    from tiebreak.data.messages import speaking_of

    steps = screen.steps()
    with steps:
        source = read_files(file, reading, RankOptions(), steps)
    report = None
    if source.named is not None:
        from tiebreak.pipeline.held_out import check_data

        with steps, speaking_of(source.nouns):
            steps("checking the data")
            report = check_data(source)
    with speaking_of(source.nouns):
        checked = {} if report is None else report.to_dict()
        shown = [report] if report else []
        screen.show({"recognized": source.detected} | checked, shown)
