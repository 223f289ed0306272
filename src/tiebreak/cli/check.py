# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak check``: what the data can support."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tiebreak.cli.cluster import connected
from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.io import ReadOptions
from tiebreak.outofcore import running
from tiebreak.pipeline.comparisons import ComparisonData, read_comparisons
from tiebreak.pipeline.held_out import check_data
from tiebreak.pipeline.partitions import is_partitioned, read_partitions


def run(
    file: Path,
    reading: ReadOptions,
    *,
    dask: str | None = None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Read, check and print."""
    with ExitStack() as stack:
        steps = stack.enter_context(Steps(shown=not (quiet or as_json)))
        data: Any
        if dask is not None or is_partitioned(file):
            client = stack.enter_context(connected(dask, steps))
            stack.enter_context(running(client=client))
            data, sentences = read_partitions(file, reading, steps, client)
        else:
            steps(f"reading {file.name}")
            data, sentences = read_comparisons(file, reading)
        report = None
        if isinstance(data, ComparisonData) and data.by_name is not None:
            steps("checking the data")
            report = check_data(data)
    if as_json:
        found = {} if report is None else report.to_dict()
        print_json({"recognized": sentences} | found)
        return
    output = Output(quiet=quiet)
    output.say(sentences)
    if report is not None:
        output.print(report)
