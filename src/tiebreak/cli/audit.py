# SPDX-License-Identifier: BSD-3-Clause
"""``tiebreak audit``: which claims of a leaderboard survive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from typer import Exit

from tiebreak.cli.console import Output, Steps, print_json
from tiebreak.cli.errors import INTERRUPTED
from tiebreak.cli.rank import OWN, refuse_other_files, result_names, write_result
from tiebreak.cli.signals import interruptible, say
from tiebreak.data.atomic import atomic_path, check_folder, refuse_to_replace
from tiebreak.io import ReadOptions
from tiebreak.options import RankOptions
from tiebreak.pipeline.audit import (
    audit_data,
    changed_votes,
    read_votes,
    strength_options,
)


def run(
    file: Path,
    reading: ReadOptions,
    options: RankOptions,
    *,
    claims: list[str] | None,
    top: int,
    neighbors: int,
    votes: Path | None,
    out: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    command: str,
) -> None:
    """Read, audit, print, and write votes that claims hang on and a report."""
    output = Output(quiet=quiet)
    written = [] if out is None else [out / name for name in OWN]
    refuse_to_replace([file, reading.items], [votes, *written])
    if out is not None:
        if not force:
            refuse_other_files(out)
        check_folder(out, result_names(options))
    with Steps(shown=not (quiet or as_json)) as steps:
        steps(f"reading {file.name}")
        source = read_votes(file, reading, options)
        data: Any = source.found
        with interruptible():
            found = audit_data(
                data,
                claims=claims,
                top=top,
                neighbors=neighbors,
                level=options.level,
                progress=steps,
                **strength_options(options),
            )
        if out is not None:
            from tiebreak.pipeline.rank import rank_source
            from tiebreak.pipeline.report import report_data

            answer = rank_source(source, options, progress=steps)
            steps("writing the report")
            page = replace(report_data(answer, command), audit=found.to_dict())
            write_result(answer, source, page, out)
    if votes is not None:
        with atomic_path(votes) as temporary:
            changed_votes(found, data.data).write_csv(temporary)
    if as_json:
        print_json({"recognized": source.detected} | found.to_dict())
    else:
        output.say(source.detected)
        output.print(found)
        if votes is not None:
            output.say([f"The votes that claims hang on: {votes}"])
        if out is not None:
            output.say([f"Report: {out / OWN[0]}"])
    if not found.complete:
        say(f"Interrupted after {len(found.claims)} claims, which are finished.")
        raise Exit(INTERRUPTED)
