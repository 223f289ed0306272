# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak judges``: how well judges agree with each other and with themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions, read_file
from tiebreak.options import RankOptions
from tiebreak.pipeline.comparisons import as_comparisons


def run(
    file: Path,
    reading: ReadOptions,
    *,
    people: list[str],
    question: str | None,
    options: RankOptions,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, compare judges and print."""
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        words = (question,) if question else ()
        read = read_file(file, replace(reading, words=words))
        data = as_comparisons(read)
        rater = data.columns.get("rater")
        if data.by_name is None or rater is None or read.kind == "grades":
            raise ValueError(
                "The file does not say who judged; name the column that does with "
                "--rater."
            )
        steps("comparing judges")
        from tiebreak.ratings import check_judges

        report = check_judges(
            data.by_name,
            data.y,
            rater.astype(str),
            people=people,
            question=read.others[question].astype(str) if question else None,
            level=options.level,
        )
    if read.exchanged is not None or not data.sided:  # nobody was left
        table = report.table.with_columns(left=pl.lit(None, pl.Float64))
        report = replace(report, table=table)
    sentences = [*read.sentences, *read.questions, *data.notes]
    if as_json:
        print_json({"recognized": sentences} | report.to_dict())
        return
    output = Output(quiet=quiet)
    output.say(sentences)
    output.print(report)
