# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions
from tiebreak.io.result import in_command
from tiebreak.pipeline.comparisons import (
    ComparisonData,
    is_partitioned,
    read_comparisons,
)


def run(
    files: list[Path],
    reading: ReadOptions,
    *,
    dask: str | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, check and print."""
    output = Output(quiet=quiet or as_json)
    with ExitStack() as stack:
        steps = Steps(shown=not (quiet or as_json))
        data: Any
        with steps:
            if dask is not None or (len(files) == 1 and is_partitioned(files[0])):
                from tiebreak.cli.cluster import connected
                from tiebreak.outofcore import running
                from tiebreak.pipeline.partitions import read_partitions

                client = stack.enter_context(connected(dask, steps))
                stack.enter_context(running(client=client))
                data, sentences = read_partitions(files[0], reading, steps, client)
            else:
                steps(f"reading {files[0].name}")
                file: Any = files[0] if len(files) == 1 else files
                data, sentences = read_comparisons(file, reading)
        output.say(sentences)  # before all that takes seconds to import
        report = None
        if isinstance(data, ComparisonData) and data.by_name is not None:
            from tiebreak.pipeline.held_out import check_data

            with steps:
                steps("checking the data")
                report = check_data(data).worded(_of_rank)
    if as_json:
        found = {} if report is None else report.to_dict()
        print_json({"recognized": sentences} | found)
    elif report is not None:
        output.print(report)


def _of_rank(text: str) -> str:
    """Write options, of which this command has none, as those of ``tiebreak rank``."""
    return re.sub(r"(?<![\w-])--(position)", r"rank --\1", in_command(text))
