# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak judges``: how well judges agree with each other and with themselves."""

from dataclasses import replace
from typing import Annotated

from typer import Option

from tiebreak.cli.command import File, command
from tiebreak.cli.console import Screen
from tiebreak.options import RankOptions, ReadOptions


@command(
    "Examples: `tiebreak judges votes.csv` · `tiebreak judges votes.csv --rater "
    "annotator --people ann --people bo`",
    ranking=("level",),
)
def judges(
    file: File,
    reading: ReadOptions,
    options: RankOptions,
    screen: Screen,
    people: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Compare all other judges with these; more than once for more people.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="What was asked, such as the prompt; without it, votes on the same "
            "two items answer the same question.",
        ),
    ] = None,
) -> None:
    """Say how well the judges of a FILE agree, and whom to drop or weigh less."""
    import polars as pl

    from tiebreak.data import Lists
    from tiebreak.io import read_file
    from tiebreak.pipeline.read import select_rows

    with screen.steps() as steps:
        steps(f"reading {file.name}")
        read = read_file(file, replace(reading, words=(question,) if question else ()))
        source = select_rows(read, RankOptions())
        data = source.named
        rater = None if data is None else data.columns.get("rater")
        if data is None or rater is None:
            raise ValueError("Who judged? Name that column with --rater.")
        steps("comparing judges")
        from tiebreak.ratings import check_judges

        report = check_judges(
            data.pairs,
            data.y,
            rater.astype(str),
            people=people or [],
            question=data.others[question].astype(str) if question else None,
            level=options.level,
        )
    lists = isinstance(read.data, Lists)
    if "exchanged" in data.marks or not source.sided or lists:  # nobody was left
        table = report.table.with_columns(left=pl.lit(None, pl.Float64))
        report = replace(report, table=table)
    screen.show({"recognized": source.detected} | report.to_dict(), [report])
